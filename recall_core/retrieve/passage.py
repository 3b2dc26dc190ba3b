"""The passage of a hit: the lines or sentences of its chunk that best match the query.

If the chunk contains words of the query, the passage is chosen by where the index counts them; otherwise by the parts
of its text that contribute most to its vector. It depends only on the chunk, the query and the weights of its words.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, reduce
from itertools import islice, pairwise
from math import fsum
from operator import itemgetter, or_
from typing import TYPE_CHECKING

from recall_core import pack
from recall_core.deadline import check
from recall_core.marks import SEPARATOR, Outline, Places, anchor_at, heading_around
from recall_core.ports import Embedder, Locating
from recall_core.retrieve.answer import embedded_of

if TYPE_CHECKING:
    from recall_core.contract.ledger import PassageView
    from recall_core.retrieve.answer import Answer
    from recall_core.store.port import Instance, Store
    from recall_core.types import Chunk, Row, TermStat

LONGEST = 240
"""Maximum code points of a passage: three lines of a terminal."""

Span = tuple[int, int]
"""A half-open range of code points in a chunk's text."""


_Match = tuple[int, int, int, int, int]
"""Start and end of a phrase; start and end of the units that show all of it; its number as a bit. A plain tuple,
because every row shown has dozens of matches."""

_Window = tuple[int, int, int]
"""Start and end, and the phrases within as bits."""


def passages(answer: Answer, rows: Sequence[Row], *, store: Store, embedder: Embedder | None) -> list[PassageView]:
    """Return the passage of each row, for a query with a signal. embedder: the one that embedded the query."""
    pool, plan = answer.pool, answer.plan
    query = pool.query if pool is not None else None
    terms = pool.terms if pool is not None else ()
    counted = [()] * len(rows) if query is None else store.instances(query, terms, rows)
    windows = [
        best_window(row.chunk.text, [instance for instance in each if not instance.in_title], terms)
        for row, each in zip(rows, counted, strict=True)
    ]
    without = [row for row, window in zip(rows, windows, strict=True) if window is None]
    others = iter(_locate_unmatched(without, plan.semantic, embedder))
    return [
        _with_place(_view(row, next(others) if window is None else window, each, terms), row, store)
        for row, window, each in zip(rows, windows, counted, strict=True)
    ]


def _with_place(passage: PassageView, row: Row, store: Store) -> PassageView:
    """Add the heading and the place of the passage, or those of its chunk if the document has no marks."""
    check()
    marks = store.marks_of(row.doc.id)
    heading, place = row.chunk.heading, row.chunk.place
    if marks:
        heading = heading_around(marks, passage["offset"], passage["end"])
        places = Places(marks)
        place = places.at(passage["offset"], passage["end"]) or place
        if places.kind == "bytes":  # a byte position in a web page is useless to readers
            if anchor := anchor_at(marks, passage["offset"]):
                place = f"id {anchor}"
            elif heading is not None:
                named = Outline(marks, passage["end"]).units_named
                names = (heading.rpartition(SEPARATOR)[2], heading)
                place = next((f"heading {name}" for name in names if len(named(name)) == 1), place)
    if heading is not None:
        passage["heading"] = heading
    if place is not None:
        passage["place"] = place
    return passage


def with_lines(passage: PassageView, text: str, lines: int) -> PassageView:
    """Add whole lines above and below the passage, from its document's text, and the rest of its own lines."""
    start, end = passage["offset"], passage["end"]
    first = text.rfind("\n", 0, start)
    for _ in range(min(lines, passage["line_start"] - 1)):
        first = text.rfind("\n", 0, first)
    last = text.find("\n", end)
    for _ in range(lines):
        last = text.find("\n", last + 1) if last >= 0 else last
    after = text[end:last] if last >= 0 else text[end:].removesuffix("\n")
    return {**passage, "before": text[first + 1 : start], "after": after}


def best_window(text: str, instances: Sequence[Instance], terms: Sequence[TermStat]) -> Span | None:
    """Return the run of units with the highest sum of idf over its distinct phrases; ties: the shortest, then the
    first.

    Return None if no phrase counts. A unit is a line, or a sentence of a line. A run has at most 240 code points. A
    longer unit, or a longer run that one match spans, is cut around its matches.
    """
    check()
    matches = sorted(_matches(text, instances))
    if not matches:
        return None
    worth: dict[int, float] = {}

    def worth_of(phrases: int) -> float:
        if phrases not in worth:
            check()
            worth[phrases] = fsum([term.idf for number, term in enumerate(terms) if phrases >> number & 1])
        return worth[phrases]

    best = (0.0, 0, 0)
    for start, end, phrases in _runs(matches):
        best = min(best, (-worth_of(phrases), end - start, start))
    for match, near in _in_long_units(matches):
        if worth_of(near) >= -best[0]:  # else no window around it is worth more
            start, end, phrases = _cut(text, match, matches)
            best = min(best, (-worth_of(phrases), end - start, start))
    return best[2], best[2] + best[1]


def _matches(text: str, instances: Iterable[Instance]) -> Iterator[_Match]:
    unit = (0, 0)
    lines: dict[int, list[Span]] = {}
    for phrase, start, stop, _ in instances:
        end = stop if stop - start <= LONGEST else _boundary(text, start + LONGEST)
        if not unit[0] <= start < unit[1]:
            unit = _unit_at(text, start, lines)
        last = unit[1] if end <= unit[1] else _unit_at(text, end - 1, lines)[1]
        yield start, end, unit[0], last, 1 << phrase


def _unit_at(text: str, place: int, lines: dict[int, list[Span]]) -> Span:
    """Return the unit that contains the place. lines: start of a line to its units, filled on demand."""
    start = text.rfind("\n", 0, place) + 1
    if start not in lines:
        end = text.find("\n", place)
        lines[start] = _sentences(text, start, len(text) if end < 0 else end)
    return next((unit for unit in lines[start] if place < unit[1]), (place, place + 1))


def _sentences(text: str, start: int, end: int) -> list[Span]:
    """Return the sentences of a line, without surrounding blanks."""
    ends = [found.end() for found in _sentence_end().finditer(text, start, end)]
    units = []
    for begin, stop in pairwise([start, *ends, end]):
        sentence = text[begin:stop]
        if bare := sentence.strip():
            first = begin + len(sentence) - len(sentence.lstrip())
            units.append((first, first + len(bare)))
    return units


@cache
def _sentence_end() -> re.Pattern[str]:
    """Return the pattern of sentence ends in Latin and CJK scripts, with closing marks, not followed by a small
    letter."""
    return re.compile(r"[.!?…]++[)\]\"'”’»*_]*+\s++(?![a-z])|[。！？｡]++[」』）〉》”’]*+\s*+")


def _runs(matches: Sequence[_Match]) -> Iterator[_Window]:
    """Yield runs of at most 240 code points, from a unit to the first unit that adds a phrase.

    Every other run of the same worth is at least as long or starts where one of these does.
    """
    by_last = sorted(matches, key=itemgetter(3))
    behind = 0
    for first in dict.fromkeys(map(itemgetter(2), matches)):
        phrases = 0
        while by_last[behind][3] <= first:
            behind += 1
        for start, _, _, last, phrase in islice(by_last, behind, None):
            if last > first + LONGEST:
                break
            if start >= first and not phrases & phrase:
                phrases |= phrase
                yield first, last, phrases


def _in_long_units(matches: Sequence[_Match]) -> Iterator[tuple[_Match, int]]:
    """Yield each match in a unit that is too long, with the phrases within 240 code points of it, as bits."""
    starts = [match[0] for match in matches]
    for match in matches:
        start, _, first, last, _ = match
        if last - first > LONGEST:
            near = matches[bisect_left(starts, start - LONGEST) : bisect_right(starts, start + LONGEST)]
            yield match, reduce(or_, [each[4] for each in near])


def _cut(text: str, match: _Match, matches: Sequence[_Match]) -> _Window:
    """Return 240 code points of a long unit around a match and as many later matches as fit."""
    start, _, first, last, _ = match
    near = _within(matches, start, min(start + LONGEST, last))
    begin, stop = _around(text, (start, max(each[1] for each in near)), (first, last))
    return begin, stop, reduce(or_, [each[4] for each in _within(matches, begin, stop)])


def _within(matches: Sequence[_Match], begin: int, stop: int) -> list[_Match]:
    near = matches[bisect_left(matches, (begin,)) : bisect_left(matches, (stop,))]
    return [each for each in near if each[1] <= stop]


def _around(text: str, core: Span, unit: Span) -> Span:
    """Return at most 240 code points of a unit with the core in the middle, cut at blanks, else between graphemes."""
    begin = max(unit[0], core[0] - (LONGEST - (core[1] - core[0])) // 2)
    stop = min(unit[1], begin + LONGEST)
    begin = max(unit[0], stop - LONGEST)
    if begin > unit[0]:
        words = (at for at in range(begin, core[0] + 1) if text[at - 1].isspace() and not text[at].isspace())
        letters = (at for at in range(begin, core[0]) if _boundary(text, at) == at)
        begin = next(words, None) or next(letters, core[0])
    if stop < unit[1]:
        words = (at for at in range(stop, core[1] - 1, -1) if text[at].isspace() and not text[at - 1].isspace())
        stop = next(words, None) or max(core[1], _boundary(text, stop))
    return begin, stop


def _boundary(text: str, place: int) -> int:
    return pack.graphemes.floor_boundary(text, place)


def _locate_unmatched(rows: Sequence[Row], question: str | None, embedder: Embedder | None) -> Iterator[Span]:
    """Yield for rows without a matched phrase the unit that adds most to the cosine, else the first useful one."""
    units = [_units(row.chunk.text) for row in rows]
    for row, own, given in zip(rows, units, _shares(rows, units, question, embedder), strict=True):
        check()
        best = max(given, default=0.0)
        start, end = own[given.index(best)] if best > 0 else _first(row.chunk, own)
        yield (start, end) if end - start <= LONGEST else _around(row.chunk.text, (start, start), (start, end))


def _shares(
    rows: Sequence[Row], units: Sequence[Sequence[Span]], question: str | None, embedder: object
) -> list[list[float]]:
    """Return how much each unit adds to its row's cosine; empty if the embedder cannot tell."""
    if not rows or question is None or not isinstance(embedder, Locating):
        return [[] for _ in rows]
    texts = [embedded_of(row.doc, row.chunk) for row in rows]
    above = [len(text) - len(row.chunk.text) for text, row in zip(texts, rows, strict=True)]
    placed = [[(start + at, end + at) for start, end in each] for each, at in zip(units, above, strict=True)]
    return embedder.shares_of(question, texts, placed)


def _units(text: str) -> list[Span]:
    check()
    units: list[Span] = []
    start = 0
    for line in text.split("\n"):
        units += _sentences(text, start, start + len(line))
        start += len(line) + 1
    return units


def _first(chunk: Chunk, units: Sequence[Span]) -> Span:
    """Return the first unit with a letter that is not a heading; else the first with a letter, else the first."""
    lettered = [unit for unit in units if any(map(str.isalpha, chunk.text[slice(*unit)]))]
    plain = (unit for unit in lettered if not _is_heading(chunk.text[slice(*unit)], chunk.heading))
    return next(plain, (lettered or units or [(0, 0)])[0])


def _is_heading(unit: str, heading: str | None) -> bool:
    return heading is not None and (unit.startswith("#") or unit == heading)


def _view(row: Row, window: Span, instances: Sequence[Instance], terms: Sequence[TermStat]) -> PassageView:
    """Return the passage with its matches and title matches. A match cut by the passage is shortened to it."""
    chunk, (start, end) = row.chunk, window
    held = (each for each in instances if not each.in_title and start <= each.start < end)
    shown = [(each, min(each.end, end)) for each in held if each.end <= end or each.end - each.start > LONGEST]
    line = chunk.line_start + chunk.text.count("\n", 0, start)
    return {
        "text": chunk.text[start:end],
        "offset": chunk.offset + start,
        "end": chunk.offset + end,
        "line_start": line,
        "line_end": line + chunk.text.count("\n", start, end),
        "matches": [
            [chunk.offset + each.start, chunk.offset + last, terms[each.phrase].text] for each, last in shown
        ],
        "title_matches": [[each.start, each.end, terms[each.phrase].text] for each in instances if each.in_title],
    }
