"""Convert definitions to marks: start, depth, and other code after a definition."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recall_core.marks import Mark

DEEPEST = 500
"""Nesting levels of definitions that are marked."""

_HOLDERS = frozenset(("class", "enum", "impl", "interface", "module", "object", "struct", "trait"))
_LONGEST_NAME = 120
_LONGEST_PREFIX = 120  # longest text before a definition on its line that still belongs to it

_CLOSER = (
    rb"(?:[)\]};,]++|@?end[a-z]*+\b[.;]?+|(?:fi|done|esac)\b|\?>"
    rb"|\#[ \t]*+(?:(?:elif|endregion)\b[^\n]*+|(?:endif|else)\b))"  # followed by words, `# else` is a comment
)
_CLOSED = re.compile(
    rb"(?:[ \t\r\f]*+(?:(?:" + _CLOSER + rb"[ \t\r]*+)++(?:(?://|/\*|\#|--)[^\n]*+)?+)?+(?:\n|\Z))*+", re.IGNORECASE
)


class Definition(NamedTuple):
    """A definition at the bytes [start, end) of a source."""

    start: int
    end: int
    kind: str
    name: str


class Above(NamedTuple):
    """Text that belongs to the definition below: a comment directly above it, or text bound to it from further up."""

    start: int
    end: int
    is_bound: bool = False


def clip_name(words: str) -> str:
    """Return a name on one line, cut to a length that is easy to read."""
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + "…"


def marks_of(source: bytes, definitions: Iterable[Definition], above: Sequence[Above]) -> tuple[Mark, ...]:
    """Return the marks of a UTF-8 source, in code points.

    A definition in a function gets no mark; a function in a class is a `method`. Other code after a definition is
    `statements`.

    definitions: sorted by start, outer ones first.
    above: sorted by start, not nested.
    """
    nest = _Nest(source, above)
    for definition in definitions:
        nest.add(definition)
    nest.close()
    return _by_code_points(source, nest.marks)


class _Open(NamedTuple):
    start: int
    end: int
    kind: str
    level: int


class _Nest:
    """Nested definitions during the pass, with the marks so far in bytes."""

    def __init__(self, source: bytes, above: Sequence[Above]) -> None:
        self.marks: list[Mark] = []
        self._source = source
        self._above = above
        self._starts = [each.start for each in above]
        self._opened: list[_Open] = []
        self._floor = 0  # text before this offset cannot belong to the next definition; 0 before the first one

    def add(self, definition: Definition) -> None:
        last = self._close_before(definition.start)
        holder = self._opened[-1] if self._opened else None
        if holder and (holder.kind not in _HOLDERS or len(self._opened) == DEEPEST):
            return
        begin = self._begin(definition.start)
        if last:
            self._mark_statements(last, begin)
        level = len(self._opened) + 1
        is_method = definition.kind == "function" and holder and holder.kind != "module"
        kind = "method" if is_method else definition.kind
        self.marks.append(Mark(begin, kind, definition.name, level))
        self._opened.append(_Open(definition.start, definition.end, kind, level))
        self._floor = max(1, definition.start)

    def close(self) -> None:
        """End all open definitions."""
        last = self._close_before(len(self._source))
        if last:
            self._mark_statements(last, len(self._source))

    def _close_before(self, start: int) -> _Open | None:
        """Close the definitions that end before this offset. Return the outermost one."""
        closed: _Open | None = None
        while self._opened and self._opened[-1].end <= start:
            if closed:
                self._mark_statements(closed, self._opened[-1].end)
            closed = self._opened.pop()
        if closed:
            self._floor = closed.end
        return closed

    def _begin(self, start: int) -> int:
        """Return the start of the definition's line, or of the comments and decorators above it."""
        begin = self._line(start)
        if begin is None:
            return start
        i = bisect_left(self._starts, begin)
        while i > 0 and self._above[i - 1].start >= self._floor:
            i -= 1
            above = self._above[i]
            line = self._line(above.start)
            gap = self._source[above.end : max(begin, above.end)]
            if line is None or gap.strip() or (gap.count(b"\n") > 1 and not above.is_bound):
                break
            if not above.is_bound and self._source[line : above.start].strip():
                break
            begin = min(begin, line)
        return begin

    def _line(self, start: int) -> int | None:
        """Return the start of the line; None if another marked element is on it, or too much text."""
        line = self._source.rfind(b"\n", self._floor, start) + 1
        if (line == 0 and self._floor > 0) or start - line > _LONGEST_PREFIX:
            return None
        return line

    def _mark_statements(self, closed: _Open, limit: int) -> None:
        """Mark the code between a definition and the limit, unless it only closes enclosing blocks."""
        line = self._source.find(b"\n", closed.end, limit) + 1
        if line == 0:
            return
        skipped = _CLOSED.match(self._source, line, limit)
        begin = skipped.end() if skipped else line
        if self._source[begin:limit].strip():
            self.marks.append(Mark(begin, "statements", "", closed.level))


def _by_code_points(source: bytes, marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Return the marks, which are in order, with offsets in code points."""
    if source.isascii():
        return tuple(marks)
    found: list[Mark] = []
    offset = reached = 0
    for mark in marks:
        offset += len(source[reached : mark.offset].decode(errors="replace"))
        reached = mark.offset
        found.append(mark._replace(offset=offset))
    return tuple(found)
