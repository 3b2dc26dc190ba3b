"""Layout: build paragraphs, headings, items and preformatted lines from words, with their marks."""

from __future__ import annotations

import re
from typing import NamedTuple

from recall_core.marks import Mark

HEADING, ITEM, BLOCK = 1, 3, 7
"""Levels of units."""

_NAME_CHARS = 120
_SHORT = 200  # longest paragraph that can be the tag of an indented one below it
_TAGS = 8  # tags that can share a body
_BULLET = re.compile(r"[^\w\s]{1,2}|o|\(?(?:\d{1,3}|[A-Za-z])[.)]|\[\d{1,3}\]")


class _Item(NamedTuple):
    """State around an indented part. ends_here: the part itself made the item, which ends with it."""

    is_item: bool
    is_marked: bool
    ends_here: bool


class ManLayout:
    """A text under construction, added in reading order. number: source line in the file."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self.filled = True
        """True if lines are joined to paragraphs; False keeps each line."""
        self.compact = False
        """True if there are no empty lines between items."""
        self._space = self._next_space = " "
        self._parts: list[str] = []
        self._size = 0
        self._pieces: list[str] = []
        self._lines: list[str] = []
        self._numbers: list[int] = []
        self._number = 0
        self._glued = False
        self._indent = ""
        self._gap = ""
        self._tag: list[str] | None = None
        self._tag_number = 0
        self._separator = "\n"
        self.in_tag = False
        """True while a tag is read."""
        self._in_item = False
        self._is_marked = False
        self._to_end = False
        self._outer: list[_Item] = []
        self._items_around = 0

    def done(self) -> str:
        """Finish and return the text."""
        self.end()
        self._bare_tag()
        return "".join(self._parts)

    @property
    def is_empty(self) -> bool:
        """True if the current paragraph has no words yet."""
        return not self._pieces and not self._lines

    def add(self, text: str, number: int, *, glued: bool = False) -> None:
        """Add a piece to the current paragraph, or to the open tag."""
        pieces = self._pieces
        if pieces:
            if not (glued or self._glued):
                pieces.append(self._space)
                self._space = self._next_space
        else:
            self._space = self._next_space
            self._number = number
        self._glued = False
        pieces.append(text)

    @property
    def is_spaced(self) -> bool:
        """True if pieces are separated by spaces."""
        return bool(self._next_space)

    def spaced(self, *, is_on: bool) -> None:
        """Set whether pieces are separated by spaces, starting with the piece after next."""
        self._next_space = " " if is_on else ""
        self._space = " "

    def glue(self) -> None:
        """Add the next piece without a space."""
        self._glued = True

    def line(self, text: str, number: int) -> None:
        """Add a line of its own with its spaces."""
        self.line_break()
        self._lines.append(text.rstrip())
        self._numbers.append(number)

    def indented(self, text: str, number: int) -> None:
        """Begin a line that keeps its leading spaces; the next pieces continue it."""
        self.line_break()
        if self.filled:
            self._indent = text[: len(text) - len(text.lstrip(" "))]
        self.add(text, number)

    def line_break(self) -> None:
        """Begin a new line."""
        if self._pieces and not self.in_tag:
            text = "".join(self._pieces)
            self._pieces = []
            self._lines.append(self._indent + _collapsed(text) if self.filled else text.rstrip())
            self._numbers.append(self._number)
            self._indent = ""
        self._glued = False

    def blank(self, number: int) -> None:
        """Add an empty line to preformatted text; otherwise end the paragraph."""
        if self.filled:
            self.end()
        elif self._lines or self._pieces:
            self.line("", number)

    def end(self) -> None:
        """End the paragraph or the preformatted lines."""
        if self.in_tag:
            self.tag_end()
        self.line_break()
        lines, numbers = self._take_lines()
        while lines and not lines[-1]:
            lines.pop()
        if not lines:
            return
        if self.filled:
            self._put("\n".join(lines), numbers[0])
        else:
            self._put_block(lines, numbers)

    def heading(self, name: str, level: int, number: int) -> None:
        """Add a heading, which ends all items."""
        self.end()
        self._bare_tag()
        self._outer.clear()
        self._items_around = 0
        self._in_item = self._is_marked = self._to_end = False
        self._gap = "\n\n"
        self._begin(number, Mark(0, "heading", name[:_NAME_CHARS].rstrip(), level))
        self._write(name)
        self._gap = "\n"

    def tag(self, number: int, *, separator: str = "\n", more: bool = False) -> None:
        """Begin the tag of an item, up to `tag_end`. more: another tag of the same item."""
        self.end()
        if self._tag is not None and (more or self.compact) and len(self._tag) < _TAGS:
            self.in_tag = True
            return
        self._bare_tag()
        self._tag, self._tag_number, self._separator = [], number, separator
        self.in_tag = self._in_item = True

    def tag_end(self) -> None:
        """End the tag; the item's body follows."""
        if self.in_tag:
            self.in_tag = False
            text = _collapsed("".join(self._pieces))
            self._pieces = []
            self._glued = False
            if text and self._tag is not None:
                self._tag.append(text)

    def end_item(self) -> None:
        """End the item; the next text is not part of this list."""
        self.end()
        self._bare_tag()
        if self._is_marked:
            self._to_end = True
        self._in_item = self._is_marked = False

    def enter(self, *, is_named: bool = True) -> None:
        """Begin an indented part. is_named: a short paragraph above it is its tag."""
        ends_here = is_named and self._is_tag_of_next()
        if ends_here:
            self.line_break()
            lines, numbers = self._take_lines()
            self._bare_tag()
            self._tag, self._tag_number, self._separator = lines, numbers[0], "\n"
            self._in_item = True
        self.end()
        if self._tag:
            self._bare_tag()
            self._gap = "\n"
        self._outer.append(_Item(self._in_item, self._is_marked, ends_here))
        self._items_around += self._in_item
        self._in_item = self._is_marked = False

    def leave(self) -> None:
        """End the part that `enter` began."""
        self.end()
        self._bare_tag()
        if self._outer:
            self._to_end = self._to_end or self._is_marked
            self._in_item, self._is_marked, ends_here = self._outer.pop()
            self._items_around -= self._in_item
            if ends_here:
                self.end_item()

    def block(self, lines: list[str], number: int) -> None:
        """Add lines that stay together, such as table rows."""
        self.end()
        if lines:
            self._put_block(lines, [number] * len(lines))

    def _take_lines(self) -> tuple[list[str], list[int]]:
        """Take the lines of the ending paragraph, with their line numbers."""
        taken = self._lines, self._numbers
        self._lines, self._numbers = [], []
        return taken

    def _is_tag_of_next(self) -> bool:
        if self._in_item or self.in_tag or self._tag is not None or not self.filled or self.is_empty:
            return False
        return len(self._lines) < _TAGS and sum(map(len, self._lines)) + sum(map(len, self._pieces)) <= _SHORT

    def _bare_tag(self) -> None:
        """Add a tag that has no body."""
        if self._tag is not None and not self.in_tag:
            tags, self._tag = self._tag, None
            if tags:
                self._begin_item()
                self._write("\n".join(tags))

    def _begin_item(self) -> None:
        is_top = not self._items_around
        mark = Mark(0, "item", "", ITEM) if is_top else None
        self._is_marked = self._is_marked or is_top
        self._begin(self._tag_number, mark)

    def _begin(self, number: int, mark: Mark | None = None) -> None:
        """Begin new text here, with a mark if given."""
        if self._size:
            self._write(self._gap or ("\n" if self.compact and self._in_item else "\n\n"))
        self._gap = ""
        at = self._size
        if self._to_end:
            if mark is None:
                self.marks.append(Mark(at, "end", "", ITEM))
            self._to_end = False
        self.marks.append(Mark(at, "line", str(number)))
        if mark:
            self.marks.append(mark._replace(offset=at))

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._size += len(text)

    def _put(self, text: str, number: int) -> None:
        if self._tag is None:
            self._begin(number)
        else:
            text = self._tagged(text)
        self._write(text)

    def _tagged(self, text: str) -> str:
        tags, self._tag = self._tag or [], None
        self._begin_item()
        tag = "\n".join(tags)
        separator = " " if _BULLET.fullmatch(tag) else self._separator
        return f"{tag}{separator if tag and text else ''}{text}"

    def _put_block(self, lines: list[str], numbers: list[int]) -> None:
        if self._tag is not None:
            self._write(self._tagged(""))
            self._gap = "\n"
        self._begin(numbers[0])
        self.marks.append(Mark(self._size, "block", "", BLOCK))
        is_after_blank = False
        for i, line in enumerate(lines):
            if i:
                self._write("\n")
            if is_after_blank and line:
                self.marks.append(Mark(self._size, "line", str(numbers[i])))
            is_after_blank = not line
            self._write(line)
        self.marks.append(Mark(self._size, "end", "", BLOCK))


def _collapsed(text: str) -> str:
    return " ".join(text.split())
