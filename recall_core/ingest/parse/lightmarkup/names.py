"""Names of headings: what a reader sees of a title in one of the markup languages, on one line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST = 120
"""Code points of a name; a longer one is cut."""
_MOST = 500
"""Code points of a title that are looked at."""

_MOST_LINKS = 20
"""Brackets of a Markdown title that are looked at; with more of them it stays as it is."""

Definitions: TypeAlias = Callable[[], Mapping[str, Any]]
"""Gives the link definitions of a Markdown text, by their normalised label."""


def short_name(text: str) -> str:
    """The text on one line, white space collapsed, cut where it is longer than a name should be."""
    name = " ".join(text[:_MOST].split())
    return name if len(name) <= LONGEST else name[: LONGEST - 1].rstrip() + "…"


_SPECIAL = re.compile(r"[*\[\\<&~_]")
_SIMPLE = re.compile(
    r"(?<!`)`([^`]++)`(?!`)"  # code
    r"|!?\[((?:[^\[\]`*_\\<&~!]|`[^`\[\]]++`)*+)\]\([^()\s\\<>`]*+\)"  # a link or an image
)
_MARKED = re.compile(r"[*\[`\\]|<[A-Za-z/!?]|&[#A-Za-z]|~~|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
_ATTRIBUTES = re.compile(r"\{:?[ \t]*[#.][^{}]*\}\Z")


def markdown_name(title: str, definitions: Definitions) -> str:
    """A Markdown title without emphasis, code ticks, links and HTML, and without attributes at its end."""
    title = title[:_MOST]
    if title.endswith("}"):
        found = _ATTRIBUTES.search(title, title.rfind("{"))
        title = title[: found.start()] if found else title
    if not _SPECIAL.search(title) and "``" not in title and not title.count("`") % 2:
        return short_name(title.replace("`", ""))
    pieces = _SIMPLE.split(title)  # in threes: text, code, words of a link
    if not _MARKED.search(" ".join(pieces[::3])):
        pieces[2::3] = [words.replace("`", "") if words else "" for words in pieces[2::3]]
        return short_name("".join(filter(None, pieces)))
    if title.count("[") > _MOST_LINKS:
        return short_name(title)
    environment = {"references": definitions()} if "[" in title else {}
    library = _inline()
    return short_name("".join(_texts(library.inline.parse(title, library, environment, []))))


_EMPHASIS = r"(?<![\w%(m)s])%(m)s(?=\S)([^%(m)s\n]{0,200}[^\s%(m)s])%(m)s(?![\w%(m)s])"
"""Words between two marks, the marks not in a word."""


def _emphasis(marks: str) -> list[re.Pattern[str]]:
    return [re.compile(_EMPHASIS % {"m": re.escape(mark)}) for mark in marks]


def _replaced(title: str, patterns: Iterable[re.Pattern[str]]) -> str:
    """The title with every match put down to the last group that it has."""
    title = title[:_MOST]
    for pattern in patterns:
        title = pattern.sub(lambda found: found[found.lastindex or 0], title)
    return short_name(title)


_RST = [
    re.compile(r"``([^`\n]+)``"),
    re.compile(r"(?::[\w:+.-]{1,40}:)?`([^`<\n]*[^`<\s])[ ]*(?:<[^`>]*>)?`_{0,2}"),
    re.compile(r"\*\*([^*\n]+)\*\*"),
    re.compile(r"(?<![\w*])\*([^*\s](?:[^*\n]*[^*\s])?)\*(?![\w*])"),
    re.compile(r"(?<![\w|])\|([^|\s](?:[^|\n]*[^|\s])?)\|_{0,2}(?![\w|])"),
    re.compile(r"(?<![\w.-])([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)__?(?=[\s'\")\]}>/:.,;!?-]|\Z)"),
    re.compile(r"\\(.)"),
]


def rst_name(title: str) -> str:
    """A reStructuredText title without emphasis, roles, targets of links and backslashes."""
    return _replaced(title, _RST) if _RST_MARKED.search(title) else short_name(title)


_RST_MARKED = re.compile(r"[`*|\\]|_(?!\w)")

_ASCIIDOC = [
    re.compile(r"\[\[[^\[\]]*\]\]()"),
    re.compile(r"<<[^<>,]*+,[ ]*+([^<>]*+)>>"),
    re.compile(r"<<([^<>,]*)>>"),
    re.compile(r"(?<!\w)(?:link|xref|mailto|kbd|btn|footnote):[^\s\[\]]{0,200}\[([^\]]*)\]"),
    re.compile(r"(?<!\w)https?://[^\s\[\]]{1,200}\[([^\]]+)\]"),
    re.compile(r"(?<!\w)(?:image|icon):[^\s\[\]]{0,200}\[[^\]]*\]()"),
    *_emphasis("`*_#"),
    re.compile(r"([`*_#])\1(?=\S)([^`*_#\n]+)\1\1"),
]


def asciidoc_name(title: str) -> str:
    """An AsciiDoc title without emphasis, anchors, and macros other than their text."""
    return _replaced(title, _ASCIIDOC) if _ASCIIDOC_MARKED.search(title) else short_name(title)


_ASCIIDOC_MARKED = re.compile(r"[\[<`*_#]")

_ORG = [
    re.compile(r"\[\[[^\[\]]*\]\[([^\[\]]*)\]\]"),
    re.compile(r"\[\[([^\[\]]*)\]\]"),
    re.compile(r"<<<?([^<>]*)>>>?"),
    *_emphasis("=~*/_+"),
]


def org_name(title: str) -> str:
    """An Org title without emphasis and the targets of links."""
    return _replaced(title, _ORG) if _ORG_MARKED.search(title) else short_name(title)


_ORG_MARKED = re.compile(r"[\[<=~*/_+]")


@cache
def _inline() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - most texts have no such title

    rules = ["autolink", "backticks", "emphasis", "entity", "escape", "html_inline", "image", "link", "strikethrough"]
    return MarkdownIt("zero", {"html": True}).enable([*rules])


def _texts(tokens: Iterable[Token]) -> Iterable[str]:
    """What is to be read of inline tokens, the words for an image among them."""
    waiting = [*tokens][::-1]
    while waiting:
        token = waiting.pop()
        if token.type in ("text", "text_special", "code_inline"):
            yield token.content
        elif token.type == "image":
            waiting += (token.children or [])[::-1]
