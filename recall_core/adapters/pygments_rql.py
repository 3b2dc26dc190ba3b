"""The Pygments lexer of RQL, for syntax highlighting of queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from pygments.lexer import Lexer
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
    _TokenType,
)

from recall_core.rql.highlight import MarkKind, highlight

TOKENS: dict[MarkKind, _TokenType] = {
    "keyword": Keyword,
    "constant": Keyword.Constant,
    "field": Name.Attribute,
    "table": Name.Class,
    "function": Name.Function,
    "option": Name.Property,
    "operator": Operator,
    "punctuation": Punctuation,
    "string": String,
    "number": Number,
    "comment": Comment.Single,
    "name": Name,
    "error": Error,
}


class RqlLexer(Lexer):
    """Recall's query language."""

    name = "Recall RQL"
    aliases: ClassVar[list[str]] = ["recall-rql"]  # Pygments has another language named rql
    priority = 0.5  # and it uses the same file names
    filenames: ClassVar[list[str]] = ["*.rql"]
    mimetypes: ClassVar[list[str]] = ["text/x-rql"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """Yield (offset, token type, text) for the whole text, including white space."""
        end = 0
        for mark in highlight(text):
            if mark.start > end:
                yield end, Whitespace, text[end : mark.start]
            yield mark.start, TOKENS[mark.kind], text[mark.start : mark.end]
            end = mark.end
        if end < len(text):
            yield end, Whitespace, text[end:]
