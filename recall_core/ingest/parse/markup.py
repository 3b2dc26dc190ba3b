"""Helpers for markup read line by line: lines, blocks, heading names, and the document of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from recall_core.ingest.parse.front_matter import NONE, FrontMatter, Value, sorted_out
from recall_core.ingest.parse.text import short
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument


def document(
    raw: bytes,
    text: str,
    marks: tuple[Mark, ...],
    *,
    path: str,
    digest: str,
    front: FrontMatter = NONE,
    said: Mapping[str, Value] | None = None,
    notes: tuple[str, ...] = (),
) -> tuple[ParsedDocument, ...]:
    """Return the file's one document.

    The title is that of the front matter, else that of `said`, else the first heading with a name, else the file
    name.

    said: metadata from the markup itself, by key; front matter takes precedence.
    """
    title, tags, meta = sorted_out(said or {})
    title = front.title or title or next((mark.name for mark in marks if mark.name), "") or path.rpartition("/")[2]
    meta, tags, notes = {**meta, **front.meta}, tuple(dict.fromkeys((*front.tags, *tags))), (*front.notes, *notes)
    return (ParsedDocument(None, text, title, digest, len(raw), meta, marks, tags=tags, notes=notes),)


BLOCK_LEVEL = 7
"""Below every heading."""
DEEPEST_HEADING = 6


class MarkupBlock(NamedTuple):
    """A half-open range of a text that is kept whole if it fits. Blocks may contain blocks."""

    start: int
    end: int


def marks_of(headings: Iterable[Mark], blocks: Iterable[MarkupBlock]) -> tuple[Mark, ...]:
    """Return the marks of headings and blocks in text order. A block in a block is one level deeper."""
    marks = [*headings]
    open_ends: list[int] = []
    for block in sorted(blocks, key=lambda each: (each.start, -each.end)):
        while open_ends and open_ends[-1] <= block.start:
            open_ends.pop()
        level = BLOCK_LEVEL + len(open_ends)
        marks += (Mark(block.start, "block", "", level), Mark(block.end, "end", "", level))
        open_ends.append(block.end)
    # At equal offsets: ends first, innermost first; then starts, outermost first.
    return tuple(sorted(marks, key=lambda mark: (mark.offset, -mark.level if mark.kind == "end" else mark.level)))


class MarkupLine(NamedTuple):
    """A line of a text without its line end. start, end: offsets, including the line end."""

    start: int
    end: int
    text: str


def lines_of(text: str, start: int = 0) -> Iterator[MarkupLine]:
    """Yield the lines of a text from an offset on, without trailing blanks."""
    text = with_line_feeds(text)
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield MarkupLine(start, end, text[start:end].rstrip())
        start = end


def with_line_feeds(text: str) -> str:
    """Return the text with LF for CR, and a blank and LF for CR LF, which keeps all offsets."""
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text


MOST = 500
"""Code points of a title that are examined."""


def short_name(text: str) -> str:
    """Return the beginning of a title on one line."""
    return short(text[:MOST])


_EMPHASIS = r"(?<![\w%(m)s])%(m)s(?=\S)([^%(m)s\n]{0,200}[^\s%(m)s])%(m)s(?![\w%(m)s])"
"""Words between two marks that are not inside a word."""


def emphasis(marks: str) -> list[re.Pattern[str]]:
    """Return patterns for words between two of each mark."""
    return [re.compile(_EMPHASIS % {"m": re.escape(mark)}) for mark in marks]


def strip_markup(title: str, patterns: Iterable[re.Pattern[str]]) -> str:
    """Return a title as a name, with each match reduced to its last group."""
    title = title[:MOST]
    for pattern in patterns:
        title = pattern.sub(lambda found: found[found.lastindex or 0], title)
    return short_name(title)
