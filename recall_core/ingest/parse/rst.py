"""The reStructuredText parser: adorned titles as sections, with literal blocks, code and tables kept whole."""

from __future__ import annotations

import re
from array import array
from itertools import accumulate

from recall_core.ingest.parse.front_matter import Value
from recall_core.ingest.parse.markup import (
    DEEPEST_HEADING,
    MarkupBlock,
    document,
    marks_of,
    short_name,
    strip_markup,
    with_line_feeds,
)
from recall_core.ingest.parse.text import decode
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument


class Rst:
    """Reads reStructuredText. The title is that of a field list at the top, else the first heading, else the name."""

    version = 1
    reads = "text"
    is_verbatim = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document. Raises IngestError `binary_file` or `not_utf8`."""
        text = decode(raw, path=path)
        outline = _RstOutline(text)
        marks = marks_of(outline.headings, outline.blocks)
        return document(raw, text, marks, path=path, digest=digest, said=outline.fields)


_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*+")
_DIRECTIVE = re.compile(r"[ \t]*+\.\.[ \t]+([A-Za-z][\w:.+-]*?)[ \t]?::(?:[ \t]|\Z)")
_NO_TITLE = re.compile(r"(?:[-+*•‣⁃]|\.\.|>>>|\||__)(?:[ \t]|\Z)|:[^:\s][^:]*:[ \t]")
_EXPLICIT = re.compile(r"\.\.(?:[ \t]+|\Z)")
_NO_COMMENT = re.compile(r"\.\.[ \t]+(?:_|\[[^\]]*\](?:[ \t]|\Z)|\|[^|]+\|[ \t]|__(?:[ \t]|\Z))")
_GRID = re.compile(r"[ \t]*+\+(?:[-=]+\+)+")
_SIMPLE_TABLE = re.compile(r"[ \t]*+=+(?: +=+)+")
_FIELD = re.compile(r":([^:\s](?:[^:\n]{0,98}[^:\s])?):(?:[ \t]+|\Z)")
_WHOLE = frozenset(
    "code code-block sourcecode parsed-literal literalinclude math table csv-table list-table raw productionlist"
    " doctest testcode testoutput testsetup prompt graphviz digraph uml mermaid highlight toctree".split()
)
"""Directives that are kept whole together with their content."""


class _RstOutline:
    """Headings, blocks and fields of a text."""

    def __init__(self, text: str) -> None:
        self.headings: list[Mark] = []
        self.blocks: list[MarkupBlock] = []
        self.fields: dict[str, Value] = {}
        self._texts = with_line_feeds(text).split("\n")
        self._starts = array("I", accumulate((len(line) + 1 for line in self._texts), initial=0))
        self._starts[-1] = len(text)
        for i, line in enumerate(self._texts):
            self._texts[i] = line.rstrip()
        self._styles: dict[str, int] = {}
        self._is_top = True  # only titles and comments so far
        i = 0
        while i < len(self._texts):
            i = self._group(i) if self._texts[i] else i + 1

    def _group(self, i: int) -> int:
        """Read what begins at a non-empty line after an empty one. Return the line to continue at."""
        text = self._texts[i]
        if text[0] in " \t":
            return self._text(i)
        if after := self._title(i):
            return after
        if _EXPLICIT.match(text):
            return self._explicit(i)
        if self._is_top and _FIELD.match(text):
            return self._field_list(i)
        self._is_top = False
        return self._text(i)

    def _title(self, i: int) -> int:
        """Read a title with its adornments. Return the line after it, or 0 if there is no title."""
        above, below, over = self._text_at(i), self._text_at(i + 1), self._text_at(i + 2)
        if _NO_TITLE.match(above):
            return 0
        if _ADORNMENT.fullmatch(above):
            is_title = below and over == above and (len(above) >= min(4, len(below.strip())))
            return self._heading(i, below, f"{above[0]} over") + 3 if is_title else 0
        if below and _ADORNMENT.fullmatch(below) and (len(below) >= 4 or len(below) >= len(above)):
            return self._heading(i, above, below[0]) + 2
        return 0

    def _heading(self, i: int, title: str, style: str) -> int:
        level = min(self._styles.setdefault(style, len(self._styles) + 1), DEEPEST_HEADING)
        self.headings.append(Mark(self._starts[i], "heading", rst_name(title.strip()), level))
        return i

    def _explicit(self, i: int) -> int:
        """Read a directive, a target, a footnote or a comment."""
        text = self._texts[i]
        if _DIRECTIVE.match(text) or _NO_COMMENT.match(text):
            self._is_top = self._is_top and not _DIRECTIVE.match(text)
            return self._text(i)
        return self._below(i)

    def _field_list(self, i: int) -> int:
        while i < len(self._texts) and (found := _FIELD.match(self._texts[i])):
            after = self._below(i)
            rest = [text.strip() for text in self._texts[i + 1 : after]]
            value = " ".join(filter(None, [self._texts[i][found.end() :], *rest]))
            if value:
                self.fields.setdefault(found[1].lower(), value)
            i = after
        self._is_top = False
        return i

    def _text(self, i: int) -> int:
        """Read the lines up to the next empty one, with any block that they introduce."""
        while i < len(self._texts) and self._texts[i]:
            text = self._texts[i]
            found = _DIRECTIVE.match(text) if ".." in text else None
            if found and found[1].lower() in _WHOLE:
                return self._block(i, self._below(i))
            if text.endswith("::") and not found:
                return self._literal(i)
            if _GRID.fullmatch(text):
                rows = range(i, len(self._texts))
                after = (k for k in rows if not self._texts[k].lstrip().startswith(("+", "|")))
                return self._block(i, next(after, len(self._texts)))
            if _SIMPLE_TABLE.fullmatch(text):
                return self._block(i, self._simple_table(i))
            i += 1
        return i

    def _literal(self, i: int) -> int:
        """Read the literal block that this line introduces with a final `::`."""
        first = i + 1
        while first < len(self._texts) and not self._texts[first]:
            first += 1
        after = self._below(i) if first > i + 1 else first
        return self._block(first, after) if first < after else i + 1

    def _block(self, first: int, after: int) -> int:
        """Add the lines up to the last non-empty one as a block."""
        last = after
        while not self._texts[last - 1]:
            last -= 1
        self.blocks.append(MarkupBlock(self._starts[first], self._starts[last]))
        return after

    def _below(self, i: int) -> int:
        """Return the next line that is neither empty nor indented deeper."""
        indent = _width(self._texts[i])
        return next(
            (k for k in range(i + 1, len(self._texts)) if (each := self._texts[k]) and _width(each) <= indent),
            len(self._texts),
        )

    def _simple_table(self, i: int) -> int:
        """Return the line after a table. It ends at its third border, or at a border before an empty line."""
        borders = (k for k in range(i + 1, len(self._texts)) if _SIMPLE_TABLE.fullmatch(self._texts[k]))
        for count, k in enumerate(borders, start=2):
            if count == 3 or not self._text_at(k + 1):
                return k + 1
        return i + 1

    def _text_at(self, i: int) -> str:
        return self._texts[i] if i < len(self._texts) else ""


def _width(text: str) -> int:
    """Return the indent of a line, with tab stops every eight columns."""
    blanks = text[: len(text) - len(text.lstrip(" \t"))]
    return len(blanks.expandtabs(8)) if "\t" in blanks else len(blanks)


_TITLE_HAS_MARKUP = re.compile(r"[`*|\\]|_(?!\w)")
_TITLE_MARKUP = [
    re.compile(r"``([^`\n]+)``"),
    re.compile(r"(?::[\w:+.-]{1,40}:)?`([^`<\n]*[^`<\s])[ ]*(?:<[^`>]*>)?`_{0,2}"),
    re.compile(r"\*\*([^*\n]+)\*\*"),
    re.compile(r"(?<![\w*])\*([^*\s](?:[^*\n]*[^*\s])?)\*(?![\w*])"),
    re.compile(r"(?<![\w|])\|([^|\s](?:[^|\n]*[^|\s])?)\|_{0,2}(?![\w|])"),
    re.compile(r"(?<![\w.-])([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)__?(?=[\s'\")\]}>/:.,;!?-]|\Z)"),
    re.compile(r"\\(.)"),
]


def rst_name(title: str) -> str:
    """Return a reStructuredText title without emphasis, roles, link targets and backslashes."""
    return strip_markup(title, _TITLE_MARKUP) if _TITLE_HAS_MARKUP.search(title) else short_name(title)
