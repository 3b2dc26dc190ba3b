"""Lines of a text with their offsets, and the marks of headings and blocks together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from recall_core.marks import Mark

BLOCK_LEVEL = 7
"""Below every heading."""
DEEPEST_HEADING = 6


class MarkupBlock(NamedTuple):
    """A half-open stretch of a text that stays whole where it fits; blocks may hold blocks."""

    start: int
    end: int


def marks_of(headings: Iterable[Mark], blocks: Iterable[MarkupBlock]) -> tuple[Mark, ...]:
    """The marks of headings and blocks, in text order; a block in a block is one level deeper."""
    marks = [*headings]
    open_ends: list[int] = []
    for block in sorted(blocks, key=lambda each: (each.start, -each.end)):
        while open_ends and open_ends[-1] <= block.start:
            open_ends.pop()
        level = BLOCK_LEVEL + len(open_ends)
        marks += (Mark(block.start, "block", "", level), Mark(block.end, "end", "", level))
        open_ends.append(block.end)
    return tuple(sorted(marks, key=_order))


def _order(mark: Mark) -> tuple[int, int]:
    """Of one offset first what ends there, the innermost first, then what begins, the outermost first."""
    return mark.offset, -mark.level if mark.kind == "end" else mark.level


class MarkupLine(NamedTuple):
    """A line of a text without its line end. start, end: its offsets, the line end included."""

    start: int
    end: int
    text: str


def lines_of(text: str, start: int = 0) -> Iterator[MarkupLine]:
    """The lines of a text from an offset on. Blanks at its end are no part of a line's text."""
    text = with_line_feeds(text)
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield MarkupLine(start, end, text[start:end].rstrip())
        start = end


def with_line_feeds(text: str) -> str:
    """The text with LF in the place of CR, and blank and LF of CR LF: every offset stays."""
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text
