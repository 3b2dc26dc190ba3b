"""Text assembled from the blocks of a marked-up file, with separators, marks and places.

A markup reader reports where blocks begin and end. The flow decides on white space, list markers and table bars.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from recall_core.ingest.parse.text import short
from recall_core.marks import Mark

BLOCK_LEVEL = 7  # below every heading
LONG_CELL = 500  # code points; a longer cell with breaks in it is page layout, not a row
MOST_BARS = 50  # for empty cells in a row
NEAR = 200  # code points after the last place within which only a paragraph gets its own place
SHORT = 200  # code points; a shorter text is split without checking it first

_OTHER_BLANKS = "\t\x1f\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""White space other than a blank or a line end."""

LINE, PARAGRAPH = "\n", "\n\n"


class Opened(NamedTuple):
    """Position of a flow when a unit began: code points, parts and marks so far."""

    size: int
    parts: int
    marks: int


class _TableRows:
    """A table. is_plain: each row is one line, until a cell turns out to contain blocks."""

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self.is_plain = True
        self.breaks: list[int] = []  # parts within cells; they become blanks if the table stays plain
        self.cells = self.bars = 0
        self.row_size = self.cell_size = opened.size


class TextFlow:
    """A text that grows at the end. Source positions (`at`, `until`) only increase."""

    def __init__(self) -> None:
        self.size = 0
        self.marks: list[Mark] = []
        self.places: list[tuple[int, int]] = []
        self._parts: list[str] = []
        self._gap = self._marker = ""
        self._until = 0
        self._lists: list[int | None] = []
        self._tables: list[_TableRows] = []
        self._cell: _TableRows | None = None  # the plain table whose cell is open
        self._pre: Opened | None = None
        self._open_anchors: list[Mark] = []
        self._loose_anchor: Mark | None = None
        self._anchor_around: Mark | None = None  # the last marked anchor, while its element is open

    def text(self) -> str:
        """Return the text so far."""
        return "".join(self._parts)

    def marks_with_places(self, byte_at: Callable[[int], int]) -> tuple[Mark, ...]:
        """Return the marks, and the places as `bytes`. byte_at: called with increasing positions."""
        found = [Mark(offset, "bytes", str(byte_at(at))) for offset, at in self.places]
        if found:
            found.append(Mark(self.size, "bytes", str(byte_at(self._until))))
        return tuple(sorted(found + self.marks, key=lambda mark: mark.offset))

    def words(self, text: str, at: int, until: int) -> None:
        """Add text, with each run of white space as one blank."""
        if not text:
            return
        if text[0].isspace() and self.size and not self._gap:
            self._gap = " "
        if text.isspace():
            return
        self._put(collapse_spaces(text), at, until)
        if text[-1].isspace():
            self._gap = " "

    def verbatim(self, text: str, at: int, until: int) -> None:
        """Add text with its white space, except empty lines at the start of preformatted text."""
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if self._pre and len(self._parts) == self._pre.parts:
            text = text.lstrip("\n")
        if text:
            self._put(text, at, until)

    def _put(self, text: str, at: int, until: int) -> None:
        gap = self._gap
        if gap:
            if self._cell and gap == LINE and self.size > self._cell.cell_size:
                self._cell.breaks.append(len(self._parts))
            self._parts.append(gap)
            self.size += len(gap)
            self._gap = ""
        if not self.places or gap == PARAGRAPH or self.size - self.places[-1][0] >= NEAR:
            self.places.append((self.size, at))
        if (self._open_anchors or self._loose_anchor) and not text.isspace():
            self._set_anchor()
        if self._marker:
            self._parts.append(self._marker)
            self.size += len(self._marker)
            self._marker = ""
        self._parts.append(text)
        self.size += len(text)
        self._until = until

    def add(self, text: str, marks: Sequence[Mark], at: int = 0, until: int = 0) -> None:
        """Add a finished text with its marks."""
        self.separate()
        before = self.size
        if text:
            before += len(self._gap) + len(self._marker)
            self._put(text, at, until)
            self.separate()
        self.marks += (mark._replace(offset=before + mark.offset) for mark in marks)

    def separate(self, gap: str = PARAGRAPH) -> None:
        """Start a new line; with `PARAGRAPH`, after an empty line."""
        cell = self._cell
        if cell:
            if self.size == cell.cell_size:
                return
            if self.size - cell.cell_size <= LONG_CELL:
                self._gap = LINE
                return
            self._lay_out()
        if self._pre:
            self._gap = "" if not self._parts or self._parts[-1].endswith("\n") else LINE
        elif self.size and self._gap != PARAGRAPH:
            self._gap = gap

    def line_break(self) -> None:
        """Add a line break. Two in a row make an empty line."""
        if self._pre:
            self.verbatim("\n", self._until, self._until)
        else:
            self.separate(PARAGRAPH if self._gap == LINE else LINE)

    def begin_unit(self) -> Opened:
        """Return the position of a unit that begins here."""
        return Opened(self.size, len(self._parts), len(self.marks))

    def since(self, opened: Opened) -> str:
        """Return the text added since this position."""
        return "".join(self._parts[opened.parts :])

    def _first(self, opened: Opened) -> int | None:
        """Return the offset of a unit's first text, after the gap; None if it has no text."""
        if len(self._parts) == opened.parts:
            return None
        first = self._parts[opened.parts]
        return opened.size + (len(first) if first in (" ", LINE, PARAGRAPH) else 0)

    def open_anchor(self, name: str, depth: int) -> None:
        """Begin an element with an id, at this nesting depth. The text that follows is cited by the id."""
        self._open_anchors.append(Mark(0, "anchor", name, depth))

    def close_anchors(self, depth: int) -> None:
        """End the elements deeper than `depth`. The first one without text names the text that follows."""
        while self._open_anchors and self._open_anchors[-1].level > depth:
            anchor = self._open_anchors.pop()
            self._loose_anchor = self._loose_anchor or anchor
        if self._anchor_around and self._anchor_around.level > depth:
            self._anchor_around = None

    def _set_anchor(self) -> None:
        """Mark the text that begins here with the innermost open anchor; outer elements are page layout."""
        anchor = self._open_anchors[-1] if self._open_anchors else self._loose_anchor
        if anchor:
            self.marks.append(anchor._replace(offset=self.size))
        self._anchor_around = self.marks[-1] if self._open_anchors else None
        self._open_anchors.clear()
        self._loose_anchor = None

    def open_heading(self) -> Opened:
        """Begin a heading."""
        self._lay_out()
        self.separate()
        self._marker = ""
        return self.begin_unit()

    def close_heading(self, opened: Opened, level: int, anchor: str = "", depth: int = 1) -> str:
        """End a heading. Return its name; "" if it has no text and no mark.

        Without an id of its own, the heading takes the id of an element that contains it and begins shortly before.

        anchor: the heading's id. depth: nesting depth of the id's element.
        """
        offset = self._first(opened)
        name = short_name(self.since(opened))
        if offset is not None and name:
            around, self._anchor_around = self._anchor_around, None
            if not anchor and around and 0 < offset - around.offset <= NEAR:
                anchor, depth = around.name, around.level
            if anchor:
                self.marks[opened.marks :] = (
                    mark for mark in self.marks[opened.marks :] if (mark.offset, mark.kind) != (offset, "anchor")
                )
                self._insert(opened, Mark(offset, "anchor", anchor, depth))
            self._insert(opened, Mark(offset, "heading", name, level))
        elif anchor:
            self.open_anchor(anchor, depth)
            self.close_anchors(depth - 1)
        self.separate()
        return name

    def open_pre(self) -> None:
        """Begin preformatted text."""
        if not self._pre:
            self._lay_out()
            self.separate()
            self._pre = self.begin_unit()

    def close_pre(self) -> None:
        """End preformatted text and strip its trailing white space."""
        opened, self._pre = self._pre, None
        if opened:
            self._trim(opened)
            self._block(opened)
            self._gap = ""
            self.separate()

    def _trim(self, opened: Opened) -> None:
        while len(self._parts) > opened.parts:
            last = self._parts.pop()
            trimmed = last.rstrip()
            self.size -= len(last) - len(trimmed)
            if trimmed:
                self._parts.append(trimmed)
                break
        while self.places and self.places[-1][0] >= self.size:
            self.places.pop()
        self.marks[opened.marks :] = (
            mark._replace(offset=min(mark.offset, self.size)) for mark in self.marks[opened.marks :]
        )

    def _block(self, opened: Opened) -> None:
        offset = self._first(opened)
        if offset is not None:
            self._insert(opened, Mark(offset, "block", "", BLOCK_LEVEL))
            self.marks.append(Mark(self.size, "end", "", BLOCK_LEVEL))

    def _insert(self, opened: Opened, mark: Mark) -> None:
        """Insert the mark of a finished unit before the marks of its content."""
        i = opened.marks
        while i < len(self.marks) and self.marks[i].offset < mark.offset:
            i += 1
        self.marks.insert(i, mark)

    def number(self, kind: str, *, is_empty: bool) -> None:
        """Mark a numbered place at the text that follows, or here if the place is empty."""
        self.marks.append(Mark(self.size if is_empty else self.size + len(self._gap), kind))

    @property
    def is_in_row(self) -> bool:
        """Return True inside a cell, where line breaks are not allowed."""
        return self._cell is not None

    def bullet(self, depth: int) -> None:
        """Begin a list item without an open list. depth: from 0."""
        self._marker = f"{'  ' * min(max(0, depth), 10)}- "

    def open_list(self, first: int | None = None) -> None:
        """Begin a list. first: number of the first item; None for a list without numbers."""
        self.separate(LINE if self._lists else PARAGRAPH)
        self._lists.append(first)

    def open_item(self, number: int | None = None) -> None:
        """Begin an item. number: its number if it does not continue the sequence."""
        self.separate(LINE)
        follows = self._lists[-1] if self._lists else None
        if follows is not None:
            follows = follows if number is None else number
            self._lists[-1] = follows + 1
        indent = "  " * min(max(0, len(self._lists) - 1), 10)
        self._marker = f"{indent}- " if follows is None else f"{indent}{follows}. "

    def close_list(self) -> None:
        """End a list."""
        self._lists.pop()
        self._marker = ""
        self.separate(LINE if self._lists else PARAGRAPH)

    def open_table(self) -> None:
        """Begin a table. A table row around it is page layout."""
        self._lay_out()
        self.separate()
        self._tables.append(_TableRows(self.begin_unit()))
        self._cell = None

    def open_row(self) -> None:
        """Begin a row of the innermost table."""
        table = self._tables[-1]
        self._cell = None
        self._marker = ""
        self.separate(LINE)
        table.cells, table.bars, table.row_size = 0, 0, self.size

    def open_cell(self) -> None:
        """Begin a cell of the row."""
        table = self._tables[-1]
        if not table.is_plain:
            self.separate(LINE)
            return
        if table.cells:
            table.bars = 1 if self.size > table.cell_size else min(table.bars + 1, MOST_BARS)
            if self.size > table.row_size:
                self._gap = " | " * table.bars
            else:
                self._marker = "| " * table.bars
        table.cells += 1
        table.cell_size = self.size
        self._cell = table

    def close_cell(self) -> None:
        """End a cell."""
        if self._cell and self.size > self._cell.cell_size:
            self._gap = ""
        self._cell = None

    def close_table(self) -> None:
        """End a table."""
        table = self._tables.pop()
        self._cell, self._marker, self._gap = None, "", ""
        if table.is_plain:
            for i in table.breaks:
                self._parts[i] = " "
            self._block(table.opened)
        self.separate()

    def _lay_out(self) -> None:
        """Treat the table of the open plain cell, if any, as page layout."""
        table = self._cell
        if table:
            table.is_plain = False
            self._cell = None
            if self.size == table.cell_size:
                self._gap, self._marker = "", ""
            self.separate(LINE)


def collapse_spaces(text: str) -> str:
    """Collapse each run of white space to one blank, like `" ".join(text.split())`.

    Most long texts only have line ends to replace, which takes a third of the time.
    """
    if len(text) > SHORT:
        line = " ".join(text.splitlines())
        if "  " not in line and not any(map(line.__contains__, _OTHER_BLANKS)):
            return line.strip(" ")
    return " ".join(text.split())


def short_name(text: str) -> str:
    """Return a short name on one line, without permalink signs."""
    return short(" ".join(text.split()).rstrip("¶ "))
