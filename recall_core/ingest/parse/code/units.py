"""From definitions, wherever they were found, to marks: what begins where, how deep, and where other code follows."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recall_core.marks import Mark

DEEPEST = 500
"""Levels of definitions inside of each other that are marked."""

_HOLDERS = frozenset(("class", "enum", "impl", "interface", "module", "object", "struct", "trait"))
_LONGEST_NAME = 120
_LONGEST_PREFIX = 120  # of what stands before a definition on its line and is taken for a part of it

_CLOSER = (
    rb"(?:[)\]};,]++|@?end[a-z]*+\b[.;]?+|(?:fi|done|esac)\b|\?>"
    rb"|\#[ \t]*+(?:(?:elif|endregion)\b[^\n]*+|(?:endif|else)\b))"  # with words behind it, `# else` is a comment
)
_CLOSED = re.compile(
    rb"(?:[ \t\r\f]*+(?:(?:" + _CLOSER + rb"[ \t\r]*+)++(?:(?://|/\*|\#|--)[^\n]*+)?+)?+(?:\n|\Z))*+", re.IGNORECASE
)


class Definition(NamedTuple):
    """A definition at the bytes [start, end) of a source, and what it is called."""

    start: int
    end: int
    kind: str
    name: str


class Above(NamedTuple):
    """What belongs to the definition below: a comment directly above it, or what is bound to it from further up."""

    start: int
    end: int
    is_bound: bool = False


def clip_name(words: str) -> str:
    """A name as marks have it: one line, and not longer than can be read at a glance."""
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + "…"


def marks_of(source: bytes, definitions: Iterable[Definition], above: Sequence[Above]) -> tuple[Mark, ...]:
    """The marks of a source in UTF-8, by code points.

    definitions: by start, those that hold others first.  above: by start, none inside of another. What is defined in
    a function has no mark; a function in a class is a `method`. Other code behind a definition is `statements`.
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
    """Definitions as they come, those that are open, and the marks so far by bytes."""

    def __init__(self, source: bytes, above: Sequence[Above]) -> None:
        self.marks: list[Mark] = []
        self._source = source
        self._above = above
        self._starts = [each.start for each in above]
        self._opened: list[_Open] = []
        self._behind = 0  # what stands before this belongs to no definition that follows; 0 until there is one

    def add(self, definition: Definition) -> None:
        last = self._closed_before(definition.start)
        holder = self._opened[-1] if self._opened else None
        if holder and (holder.kind not in _HOLDERS or len(self._opened) == DEEPEST):
            return
        begin = self._begin(definition.start)
        if last:
            self._rest(last, begin)
        level = len(self._opened) + 1
        is_method = definition.kind == "function" and holder and holder.kind != "module"
        kind = "method" if is_method else definition.kind
        self.marks.append(Mark(begin, kind, definition.name, level))
        self._opened.append(_Open(definition.start, definition.end, kind, level))
        self._behind = max(1, definition.start)

    def close(self) -> None:
        """There are no more definitions."""
        last = self._closed_before(len(self._source))
        if last:
            self._rest(last, len(self._source))

    def _closed_before(self, start: int) -> _Open | None:
        """The outermost definition that ends between the last one and this offset."""
        closed: _Open | None = None
        while self._opened and self._opened[-1].end <= start:
            if closed:
                self._rest(closed, self._opened[-1].end)
            closed = self._opened.pop()
        if closed:
            self._behind = closed.end
        return closed

    def _begin(self, start: int) -> int:
        """Where the definition begins: its line, or that of the comments and decorators above it."""
        begin = self._line(start)
        if begin is None:
            return start
        i = bisect_left(self._starts, begin)
        while i > 0 and self._above[i - 1].start >= self._behind:
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
        """The beginning of the line; None where something else that is marked stands on it, or too much."""
        line = self._source.rfind(b"\n", self._behind, start) + 1
        if (line == 0 and self._behind > 0) or start - line > _LONGEST_PREFIX:
            return None
        return line

    def _rest(self, closed: _Open, limit: int) -> None:
        """Marks what follows a definition up to the limit, if it is more than the ends of what is around."""
        line = self._source.find(b"\n", closed.end, limit) + 1
        if line == 0:
            return
        skipped = _CLOSED.match(self._source, line, limit)
        begin = skipped.end() if skipped else line
        if self._source[begin:limit].strip():
            self.marks.append(Mark(begin, "statements", "", closed.level))


def _by_code_points(source: bytes, marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """The marks, which come in order, with offsets in code points."""
    if source.isascii():
        return tuple(marks)
    found: list[Mark] = []
    offset = reached = 0
    for mark in marks:
        offset += len(source[reached : mark.offset].decode(errors="replace"))
        reached = mark.offset
        found.append(mark._replace(offset=offset))
    return tuple(found)
