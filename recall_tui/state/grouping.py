"""The rows of a list below their documents: their order and their lines on the screen. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from recall_core.rank.columns import documents_of

if TYPE_CHECKING:
    from recall_core.retrieve.answer import Answer

MOST_GROUPED = 2_000
"""Most rows that are grouped. Rows after them follow by rank."""


class ListLine(NamedTuple):
    """The content of a line. place: of a row. part: line within the row, or None for the heading above it."""

    place: int
    part: int | None


class Grouping(NamedTuple):
    """The order in which rows are drawn. A row is numbered by rank, a place by its order on the screen, both from 0.

    Without groups, and for rows after the grouped ones, both numbers are the same.
    """

    order: tuple[int, ...] = ()
    """The grouped rows in the order in which they are drawn."""
    places: tuple[int, ...] = ()
    """The place of each of these rows."""
    starts: tuple[int, ...] = ()
    """Places right below a heading: the first row of each document, and the first row that is not grouped."""

    def row(self, place: int) -> int:
        """Return the row at a place."""
        return self.order[place] if place < len(self.order) else place

    def place(self, row: int) -> int:
        """Return the place of a row."""
        return self.places[row] if row < len(self.places) else row

    def rows(self, first: int, end: int) -> list[int]:
        """Return the rows at the places from first to end (exclusive), best rank first."""
        return sorted(map(self.row, range(first, end)))

    def line(self, place: int, height: int) -> int:
        """Return the line on which the row at a place begins. height: lines of a row."""
        return place * height + bisect_right(self.starts, place)

    def at(self, line: int, height: int) -> ListLine:
        """Return the content of a line. Lines after the last row are counted as if there were more rows."""
        headings = bisect_right(range(len(self.starts)), line, key=lambda at: self.starts[at] * height + at)
        if not headings:
            return ListLine(*divmod(line, height))
        start = self.starts[headings - 1]
        below = line - self.line(start, height)
        if below < 0:
            return ListLine(start, None)
        place, part = divmod(below, height)
        return ListLine(start + place, part)

    def group(self, place: int) -> range:
        """Return the places of the rows below the same heading, or none if they are not below a document."""
        if place >= len(self.order):
            return range(0)
        group = bisect_right(self.starts, place)
        end = self.starts[group] if group < len(self.starts) else len(self.order)
        return range(self.starts[group - 1], end)


BY_RANK = Grouping()
"""No groups."""


def group_rows(documents: Sequence[object], rows: int) -> Grouping:
    """Group `rows` rows by document: documents by their best rank, the rows of each by rank.

    documents: of the first rows, by rank.
    """
    groups: dict[object, list[int]] = {}
    for row, document in enumerate(documents):
        groups.setdefault(document, []).append(row)
    order: list[int] = []
    starts: list[int] = []
    for group in groups.values():
        starts.append(len(order))
        order += group
    if len(order) < rows:
        starts.append(len(order))
    places = sorted(range(len(order)), key=order.__getitem__)
    return Grouping(tuple(order), tuple(places), tuple(starts))


def grouping_of(answer: Answer, first: int, rows: int) -> Grouping:
    """Group the listed rows by document, or by rank if `why_not` has a reason. first: the rank before them."""
    if answer.pool is None or answer.ranked is None or answer.plan.table == "doc":
        return BY_RANK
    positions = answer.ranked.order[first : first + min(rows, MOST_GROUPED)]
    return group_rows(documents_of(answer.pool.keys, positions), rows)


def why_not(answer: Answer) -> str:
    """Return why the rows of an answer cannot be grouped by document, or ""."""
    if answer.plan.table == "doc":
        return "Not grouped: each row is a document."
    return "" if answer.ranked is not None else "Not grouped: the rows have no scores."
