"""Marks: where the units of a text begin, as reported by its parser, and the places of its parts in the file.

A mark gives the start of a unit. Its end follows from other marks. There are four kinds of marks, by `Mark.kind`:

*Units of the text* nest by level: a unit ends at the next mark of its level or a lower one. `heading` names a
section. `block` is an unnamed unit to keep whole (fenced code, a table). `end` starts no unit and ends the one
before it. Every other kind (`function`, `class`, `row`, `statements`, …) is a unit that a chunk keeps whole if it
fits, and splits at if it does not.

*Places by number* (`NUMBERED`): the first `page` mark of a document is page 1, the next page 2, even without text. A
page ends at the next mark of its kind.

*Places by value* (`VALUED`): the name of a `line` or `bytes` mark is the line or byte of the file where the text
after the mark begins, up to the next such mark. They are addresses only: chunks do not split at them.

*Anchors* (`ANCHOR`): the name is the id of an element of a web page, the level is its depth. They are addresses only,
of the units that `anchor_unit` returns.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from recall_core.named import NamedTuple

NUMBERED = ("page", "cell", "turn", "cue", "paragraph", "chapter", "part")
VALUED = ("line", "bytes")
PLACES = (*NUMBERED, *VALUED)
"""Kinds used in citations. The first kind that a text has is used."""
ANCHOR = "anchor"

_FLAT = ("heading", "end")  # nested units that need not stay whole
_SOFT = ("block", "end")  # nested units that chunks do not split at

SEPARATOR = " › "
"""Joins the names of a heading path."""


class Mark(NamedTuple):
    """The start of a unit.

    offset: in code points of the document's text.
    level: from 1, the outermost.
    name: the name shown in `chunk.heading`, or the value of a place by value.
    """

    offset: int
    kind: str
    name: str = ""
    level: int = 1


class Unit(NamedTuple):
    """A half-open span of a text that belongs together."""

    start: int
    end: int


class Outline:
    """An index of the marks of one text. size: code points of the text."""

    def __init__(self, marks: Sequence[Mark], size: int) -> None:
        self._tree = _Tree([mark for mark in marks if mark.kind not in (*PLACES, ANCHOR)], size)
        numbered = {kind: [mark.offset for mark in marks if mark.kind == kind] for kind in NUMBERED}
        self._numbered = [(*offsets, size) for offsets in numbered.values() if offsets]
        joints = {mark.offset for mark in marks if mark.kind not in (*_SOFT, *VALUED, ANCHOR)}
        self.joints: tuple[int, ...] = tuple(sorted(joints))

    def joints_before(self, position: int, least: int) -> Iterable[int]:
        """Return the joints in (least, position], last first."""
        first, last = bisect_right(self.joints, least), bisect_right(self.joints, position)
        return (self.joints[i] for i in range(last - 1, first - 1, -1))

    def is_joint(self, position: int) -> bool:
        """Return True if a unit begins at the position."""
        i = bisect_left(self.joints, position)
        return i < len(self.joints) and self.joints[i] == position

    def heading_at(self, position: int) -> str | None:
        """Return the names of the units that contain the position, outermost first, or None without names."""
        return self._tree.path_at(position)

    def units_named(self, name: str) -> list[tuple[str, Unit]]:
        """Return the units with this name and their full paths, in text order.

        name: a full path, or the last parts of one. Units with exactly this path come first.
        """
        return sorted(self._tree.units_named(name), key=lambda each: each[0] != name)

    def names_within(self, start: int, end: int) -> tuple[str, ...]:
        """Return the names of the definitions that overlap [start, end), in text order, without duplicates.

        Definitions are named units that stay whole if they fit. Sections are not definitions.
        """
        return tuple(dict.fromkeys(self._tree.names_within(start, end)))

    def units_around(self, position: int) -> list[Unit]:
        """Return the units that a split at the position would divide, largest first."""
        found = self._tree.units_around(position)
        for offsets in self._numbered:
            i = bisect_right(offsets, position)
            if 0 < i < len(offsets) and offsets[i - 1] < position < offsets[i]:
                found.append(Unit(offsets[i - 1], offsets[i]))
        return sorted(found, key=lambda unit: (unit.start - unit.end, unit.start))


def heading_around(marks: Sequence[Mark], start: int, end: int) -> str | None:
    """Return the names of the units that contain all of [start, end), outermost first; None if none has a name.

    A unit that ends inside the span does not contain it, so a span across two methods belongs to their class.
    """
    opened: list[Mark] = []
    for mark in marks:
        if mark.offset >= max(end, start + 1):
            break
        if mark.kind in PLACES or mark.kind == ANCHOR:
            continue
        while opened and opened[-1].level >= mark.level:
            opened.pop()
        if mark.kind != "end" and mark.offset <= start:
            opened.append(mark)
    return SEPARATOR.join(mark.name for mark in opened if mark.name) or None


class _Tree:
    """Nested units in text order."""

    def __init__(self, marks: Sequence[Mark], size: int) -> None:
        self._marks = marks
        self._offsets = [mark.offset for mark in marks]
        self._ends = [size] * len(marks)
        self._parents = [-1] * len(marks)
        opened: list[int] = []
        for i, mark in enumerate(marks):
            while opened and marks[opened[-1]].level >= mark.level:
                self._ends[opened.pop()] = mark.offset
            self._parents[i] = opened[-1] if opened else -1
            if mark.kind != "end":
                opened.append(i)

    def _holding(self, position: int) -> Iterable[int]:
        """Return the units that contain a position, innermost first."""
        return self._outwards(bisect_right(self._offsets, position) - 1)

    def _outwards(self, i: int) -> Iterable[int]:
        while i >= 0:
            if self._marks[i].kind != "end":
                yield i
            i = self._parents[i]

    def path_at(self, position: int) -> str | None:
        names = [self._marks[i].name for i in self._holding(position) if self._marks[i].name]
        return SEPARATOR.join(reversed(names)) or None

    def units_named(self, name: str) -> Iterable[tuple[str, Unit]]:
        last = name.rpartition(SEPARATOR)[2]
        for i, mark in enumerate(self._marks):
            if mark.name.endswith(last) and mark.name:
                names = [self._marks[each].name for each in self._outwards(i)]
                path = SEPARATOR.join(filter(None, reversed(names)))
                if f"{SEPARATOR}{path}".endswith(SEPARATOR + name):
                    yield path, Unit(self._offsets[i], self._ends[i])

    def names_within(self, start: int, end: int) -> Iterable[str]:
        inside = range(bisect_right(self._offsets, start), bisect_left(self._offsets, end))
        for i in (*reversed([*self._holding(start)]), *inside):
            if defines(self._marks[i]):
                yield self._marks[i].name

    def units_around(self, position: int) -> list[Unit]:
        return [
            Unit(self._offsets[i], self._ends[i])
            for i in self._holding(position)
            if self._offsets[i] < position < self._ends[i] and self._marks[i].kind not in _FLAT
        ]


def is_session(marks: Sequence[Mark]) -> bool:
    """Return True for a conversation: the transcript of a session, or a chat."""
    return any(mark.kind == "turn" for mark in marks)


def defines(mark: Mark) -> bool:
    """Return True if a mark starts a named definition."""
    return bool(mark.name) and mark.kind not in (*_FLAT, *_SOFT, *PLACES, ANCHOR)


class Places:
    """The places of a text's parts in its file, of the first kind in PLACES that the marks contain."""

    def __init__(self, marks: Sequence[Mark]) -> None:
        kinds = {mark.kind for mark in marks}
        self.kind = next((kind for kind in PLACES if kind in kinds), "")
        own = [mark for mark in marks if mark.kind == self.kind]
        self._offsets = [mark.offset for mark in own]
        self._values = [mark.name for mark in own] if self.kind in VALUED else [str(i + 1) for i in range(len(own))]

    @property
    def bounds(self) -> tuple[str, str]:
        """Return the first and the last place."""
        return self._values[0], self._values[-1]

    def at(self, start: int, end: int) -> str | None:
        """Return a place such as `page 12`, `cell 7-9`, `line 207-214` or `bytes 120-380`, or None without places.

        A span before the first place counts as the first. Line ranges are inclusive; byte ranges end at the next
        place.
        """
        if not self.kind:
            return None
        first = max(0, bisect_right(self._offsets, start) - 1)
        last = max(first, bisect_left(self._offsets, end) - 1)
        after = bisect_left(self._offsets, end)
        following = self._values[after] if after < len(self._values) else ""
        if self.kind == "bytes":
            return f"bytes {self._values[first]}-{following}"
        one, other = self._values[first], self._values[last]
        if self.kind == "line" and following:
            other = str(max(int(other), int(following) - 1))
        return f"{self.kind} {one}" if one == other else f"{self.kind} {one}-{other}"


def stretch(marks: Sequence[Mark], size: int, kind: str, first: int, last: int) -> Unit | None:
    """Return the part of a text between two places, inclusive, or None if the text has neither. size: of the text."""
    own = [mark for mark in marks if mark.kind == kind]
    values = [int(mark.name) for mark in own] if kind in VALUED else list(range(1, len(own) + 1))
    within = [i for i, value in enumerate(values) if first <= value <= last]
    if kind in VALUED:  # a piece reaches from its value to the next
        start = max(0, bisect_right(values, first) - 1)
        end = bisect_right(values, last) if kind == "line" else bisect_left(values, last)
        within = list(range(start, max(start + 1, end))) if values and last >= values[0] else []
    if not within:
        return None
    after = within[-1] + 1
    return Unit(own[within[0]].offset, own[after].offset if after < len(own) else size)


def anchor_unit(marks: Sequence[Mark], size: int, name: str) -> Unit | None:
    """Return the unit of an anchor in a text of this size, or None if there is no such anchor.

    At a heading the unit is the whole section. Elsewhere it ends at the next heading or the next anchor that is not
    deeper, so that a definition includes its description. An anchor repeated at a heading includes the text before
    it.
    """
    own = [mark for mark in marks if mark.kind == ANCHOR and mark.name == name]
    if not own:
        return None
    start, anchor = own[0].offset, own[-1]
    section = next((mark.level for mark in marks if mark.kind == "heading" and mark.offset == anchor.offset), 0)
    for mark in marks:
        limit = 0
        if mark.kind == "heading":
            limit = section or mark.level
        elif mark.kind == ANCHOR and not section:
            limit = anchor.level
        if mark.offset > anchor.offset and mark.level <= limit:
            return Unit(start, mark.offset)
    return Unit(start, size)


def anchor_at(marks: Sequence[Mark], offset: int) -> str | None:
    """Return the nearest anchor at or before an offset whose `anchor_unit` contains the offset, or None."""
    sections = {mark.offset: mark.level for mark in marks if mark.kind == "heading"}
    highest = 0  # lowest level of the headings between the anchor and the offset, 0 without headings
    for mark in reversed(marks):
        if mark.offset > offset:
            continue
        if mark.kind == ANCHOR and (not highest or 0 < sections.get(mark.offset, 0) < highest):
            return mark.name
        if mark.kind == "heading":  # it follows an anchor at the same offset
            highest = min(mark.level, highest or mark.level)
    return None


def runs(marks: Sequence[Mark]) -> list[list[str | int]]:
    """Return marks in the format of exports: [kind, name, level, …] for each run of marks that differ only in offset.
    The numbers after level are the distances to the previous mark."""
    found: list[list[str | int]] = []
    last: tuple[str, str, int] | None = None
    reached = 0
    for mark in marks:
        if mark[1:] != last:
            last = mark[1:]
            found.append([mark.kind, mark.name, mark.level])
        found[-1].append(mark.offset - reached)
        reached = mark.offset
    return found


def dump(marks: Sequence[Mark]) -> str:
    """Return marks in the format of the store: `runs` as JSON."""
    return json.dumps(runs(marks), ensure_ascii=False, separators=(",", ":"))


def load(kept: str | list[list[str | int]]) -> tuple[Mark, ...]:
    """Return the marks from the result of `dump` or `runs`. Raises ValueError for anything else."""
    marks: list[Mark] = []
    reached = 0
    try:
        for kind, name, level, *steps in json.loads(kept) if isinstance(kept, str) else kept:
            for step in steps:
                reached += step  # type: ignore[operator]  # types are checked below
                marks.append(Mark(reached, kind, name, level))  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise ValueError(f"invalid marks: {error}") from error
    if any(tuple(map(type, mark)) != (int, str, str, int) for mark in marks):
        raise ValueError("invalid marks: wrong shape")
    return tuple(marks)


def why_unfit(marks: Sequence[Mark], size: int) -> str | None:
    """Return the problem with the marks of a text of `size` code points, or None."""
    last = 0
    for mark in marks:
        if mark.offset < last:
            return f"the mark {mark.kind} {mark.name!r} at {mark.offset} follows a mark at {last}"
        if mark.offset > size:
            return f"the mark {mark.kind} {mark.name!r} at {mark.offset} is outside the text"
        if mark.level < 1 or not mark.kind:
            return f"a mark at {mark.offset} has no kind, or level {mark.level}"
        last = mark.offset
    return None
