"""Lines of a text with their offsets, and the marks of headings and blocks together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from recall_core.marks import Mark

BLOCK_LEVEL = 7
"""Below every heading."""
DEEPEST_HEADING = 6


class Block(NamedTuple):
    """A half-open stretch of a text that stays whole where it fits; blocks may hold blocks."""

    start: int
    end: int


def marks_of(headings: Iterable[Mark], blocks: Iterable[Block]) -> tuple[Mark, ...]:
    """The marks of headings and blocks, in text order; a block in a block is one level deeper."""
    marks = [*headings]
    open_ends: list[int] = []
    for block in sorted(blocks, key=lambda each: (each.start, -each.end)):
        while open_ends and open_ends[-1] <= block.start:
            open_ends.pop()
        level = BLOCK_LEVEL + len(open_ends)
        marks += (Mark(block.start, "block", "", level), Mark(block.end, "end", "", level))
        open_ends.append(block.end)
    return tuple(sorted(marks, key=lambda mark: (mark.offset, mark.kind != "end", mark.level)))


class Line(NamedTuple):
    """A line of a text without its line end. start, end: its offsets, the line end included."""

    start: int
    end: int
    text: str


def lines_of(text: str) -> list[Line]:
    """The lines of a text; LF, CR LF and CR end a line. Blanks at its end are no part of a line's text."""
    lines: list[Line] = []
    start = 0
    for each in text.replace("\r\n", " \n").replace("\r", "\n").split("\n"):
        end = min(start + len(each) + 1, len(text))
        lines.append(Line(start, end, each.rstrip()))
        start = end
    if lines[-1].start == lines[-1].end:
        lines.pop()
    return lines
