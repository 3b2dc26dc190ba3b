"""The passage by its definition: a search of every window of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from recall_core.pack.graphemes import floor_boundary
from recall_core.retrieve.passage import LONGEST
from recall_core.store.port import Instance

Span = tuple[int, int]
ENDS = re.compile(r"[.!?…]+[)\]\"'”’»*_]*\s++(?![a-z])|[。！？｡]+[」』）〉》”’]*\s*")


def units(text: str) -> list[Span]:
    """Return the lines, and the sentences within a line, without surrounding blanks."""
    found, start = [], 0
    for line in text.split("\n"):
        cuts = [0, *(end.end() for end in ENDS.finditer(line)), len(line)]
        for first, last in pairwise(cuts):
            bare = line[first:last].strip()
            if bare:
                begin = start + line.index(bare, first)
                found.append((begin, begin + len(bare)))
        start += len(line) + 1
    return found


def worth_of(found: Sequence[Instance], weights: Sequence[float], start: int, end: int) -> float:
    """Return the summed weights of the phrases inside the window, each counted once."""
    inside = {each.phrase for each in found if start <= each.start and each.end <= end}
    return round(sum(weights[phrase] for phrase in inside), 9)


def check_window(text: str, found: Sequence[Instance], weights: Sequence[float], best: Span | None) -> None:
    """Check that the window is the best run of units, or cut from something longer and worth more than any run."""
    if not found:
        assert best is None
        return
    assert best is not None
    start, end = best
    found = [each._replace(end=min(each.end, floor_boundary(text, each.start + LONGEST))) for each in found]
    own = units(text)
    runs = [(first, last) for i, (first, _) in enumerate(own) for _, last in own[i:] if last - first <= LONGEST]
    every = [(-worth_of(found, weights, *run), run[1] - run[0], run[0]) for run in runs]
    longer = [unit for unit in own if unit[1] - unit[0] > LONGEST]
    cuts = [
        (one.start, other.end)
        for one in found
        for other in found
        if 0 < other.end - one.start <= LONGEST
        and any(first <= one.start and other.end <= last for first, last in longer)
    ]
    value = -worth_of(found, weights, start, end)
    assert 0 < end - start <= LONGEST
    assert value < 0
    assert value <= min([each[0] for each in every] + [-worth_of(found, weights, *cut) for cut in cuts], default=0.0)
    if (start, end) in runs:
        assert (value, end - start, start) == min(every)
    else:
        equals = [each[1:] for each in every if each[0] == value]
        assert all((end - start, start) < equal for equal in equals)
