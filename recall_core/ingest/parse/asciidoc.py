"""The AsciiDoc parser: titles as sections, with delimited blocks kept whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain, pairwise

from recall_core.ingest.parse.front_matter import NONE, Value, front_matter
from recall_core.ingest.parse.markup import (
    DEEPEST_HEADING,
    MarkupBlock,
    MarkupLine,
    document,
    emphasis,
    lines_of,
    marks_of,
    short_name,
    strip_markup,
)
from recall_core.ingest.parse.text import decode
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument


class Asciidoc:
    """Reads AsciiDoc. The title is that of the front matter, else the first heading, else the file name."""

    version = 1
    reads = "text"
    is_verbatim = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document. Raises IngestError `binary_file` or `not_utf8`."""
        text = decode(raw, path=path)
        front = front_matter(text) or NONE
        outline = _AsciidocOutline(text, front.end)
        marks = marks_of(outline.headings, outline.blocks)
        return document(raw, text, marks, path=path, digest=digest, front=front, said=outline.attributes)


_SECTION = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_UNDERLINES: Mapping[str, int] = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_UNDERLINE = re.compile(r"([=\-~^+])\1+")
_DELIMITER = re.compile(r"(?:(?:-{4,}|\.{4,}|={4,}|\*{4,}|\+{4,}|_{4,}|/{4,})|--|```[^`]*|[|,:!]={3,})")
_VERBATIM = (*"-.+/`|,:!",)
"""First character of delimiters whose block is skipped up to its end."""
_ATTRIBUTE = re.compile(r":([A-Za-z0-9_][\w-]*):(?:[ \t]+(.*))?")
_DISCRETE = ("[discrete", "[float")
_DEEPEST = 100  # nested delimited blocks


class _AsciidocOutline:
    """Headings, blocks and header attributes of a text. start: end of its front matter."""

    def __init__(self, text: str, start: int) -> None:
        self.headings: list[Mark] = []
        self.blocks = [MarkupBlock(0, start)] if start else []
        self.attributes: dict[str, Value] = {}
        self._open: dict[str, int] = {}  # start of each open block by delimiter, the innermost last
        self._is_header = True
        self._in_paragraph = self._is_discrete = False
        is_read = False
        for line, below in pairwise(chain(lines_of(text, start), [MarkupLine(len(text), len(text), "")])):
            is_read = not is_read and self._line(line, below.text)
        self.blocks += [MarkupBlock(start, len(text)) for start in self._open.values()]

    def _line(self, line: MarkupLine, below: str) -> bool:
        """Read a line. Return True if the line below belongs to it."""
        text = line.text
        if text in self._open:
            self._close(text, line.end)
        elif self._open and next(reversed(self._open)).startswith(_VERBATIM):
            return False
        elif not text:
            self._in_paragraph = False
            self._is_header = self._is_header and not self.headings and not self.attributes
        elif text.startswith("//") and not text.startswith("///"):
            return False
        elif self._is_header and text[0] == ":" and (found := _ATTRIBUTE.fullmatch(text)):
            if value := (found[2] or "").strip():
                self.attributes["title" if found[1] in ("doctitle", "title") else found[1]] = value
        elif self._in_paragraph and not (text[0] == "[" and text[-1] == "]"):
            self._opens(line)
        else:
            return self._block_start(line, below)
        return False

    def _block_start(self, line: MarkupLine, below: str) -> bool:
        text = line.text
        if not self._open and (found := _SECTION.fullmatch(text)):
            title = found[2].removesuffix(f" {found[1]}")
            self._heading(line, title, len(found[1]))
        elif not self._open and (level := _level_below(text, below)):
            self._heading(line, text, level)
            return True
        elif not self._opens(line):
            if _is_block_attribute(text):
                self._is_discrete = self._is_discrete or text.startswith(_DISCRETE)
                return False
            self._in_paragraph = not (text[0] == ":" and _ATTRIBUTE.fullmatch(text))
            self._is_header = self._is_header and bool(self.headings)
        self._is_discrete = False
        return False

    def _heading(self, line: MarkupLine, title: str, level: int) -> None:
        if not self._is_discrete:
            name = asciidoc_name(title)
            self.headings.append(Mark(line.start, "heading", name, min(level, DEEPEST_HEADING)))
        self._is_header = self._is_header and level == 1 and len(self.headings) == 1
        self._in_paragraph = False

    def _opens(self, line: MarkupLine) -> bool:
        """Return True if a delimited block begins at the line."""
        text = line.text
        if not _DELIMITER.fullmatch(text) or len(self._open) >= _DEEPEST:
            return False
        self._open["```" if text[0] == "`" else text] = line.start
        self._in_paragraph = self._is_header = self._is_discrete = False
        return True

    def _close(self, delimiter: str, end: int) -> None:
        """End the block of this delimiter, and unfinished blocks inside it."""
        while True:
            innermost, start = self._open.popitem()
            self.blocks.append(MarkupBlock(start, end))
            if innermost == delimiter:
                break
        self._in_paragraph = False


def _is_block_attribute(text: str) -> bool:
    """Return True for a line that belongs to the block below it: attributes, an anchor or a title."""
    return (text[0] == "[" and text[-1] == "]") or (text[0] == "." and text[1:2] not in ("", ".", " "))


def _level_below(text: str, below: str) -> int:
    """Return the level of a title underlined by the line below; 0 if it is not a title."""
    if not _UNDERLINE.fullmatch(below) or abs(len(text) - len(below)) > 1:
        return 0
    is_title = text[0] not in " \t.:[|/" and any(map(str.isalnum, text))
    return _UNDERLINES[below[0]] if is_title else 0


_TITLE_HAS_MARKUP = re.compile(r"[\[<`*_#]")
_TITLE_MARKUP = [
    re.compile(r"\[\[[^\[\]]*\]\]()"),
    re.compile(r"<<[^<>,]*+,[ ]*+([^<>]*+)>>"),
    re.compile(r"<<([^<>,]*)>>"),
    re.compile(r"(?<!\w)(?:link|xref|mailto|kbd|btn|footnote):[^\s\[\]]{0,200}\[([^\]]*)\]"),
    re.compile(r"(?<!\w)https?://[^\s\[\]]{1,200}\[([^\]]+)\]"),
    re.compile(r"(?<!\w)(?:image|icon):[^\s\[\]]{0,200}\[[^\]]*\]()"),
    *emphasis("`*_#"),
    re.compile(r"([`*_#])\1(?=\S)([^`*_#\n]+)\1\1"),
]


def asciidoc_name(title: str) -> str:
    """Return an AsciiDoc title without emphasis and anchors, and with macros reduced to their text."""
    return strip_markup(title, _TITLE_MARKUP) if _TITLE_HAS_MARKUP.search(title) else short_name(title)
