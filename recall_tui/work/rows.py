"""Rows of an answer for the list: each text is read once, however often the weights put it elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from recall_core.types import Hit
from recall_tui.state.session import listed

if TYPE_CHECKING:
    from recall_core.retrieve import Answer
    from recall_core.retrieve.freshness import State
    from recall_core.service import Recall
    from recall_tui.state.events import Ranks

Window = tuple[int, int]
"""Rows of the list: first and end."""


class Seen(NamedTuple):
    """What was read for one question. It grows as rows are asked for."""

    hits: dict[int, Hit]
    """By chunk rowid, with the rank of the time."""
    states: dict[str, State | None]
    """By doc.id, None where the file is as it was read."""


def rows_of(recall: Recall, answer: Answer, window: Window, seen: Seen) -> dict[int, Hit]:
    """The rows of the window by their place in the list, in order."""
    offset, count = listed(answer)
    first, end = min(window[0], count), min(window[1], count)
    if answer.pool is None or answer.ranked is None:
        return dict(enumerate(recall.hits(answer, offset + first, offset + end), start=first))
    given = answer.recall.given if answer.recall else {}
    chosen = answer.ranked[offset + first : offset + end]
    rowids = [answer.pool.keys[each.position].rowid for each in chosen]
    rows: dict[int, Hit] = {}
    for row, (each, rowid) in enumerate(zip(chosen, rowids, strict=True), start=first):
        if rowid in seen.hits and each.position not in given:
            known = seen.hits[rowid]
            rows[row] = Hit(offset + row + 1, each.score, known.doc, known.chunk, each.parts)
    for start, stop in _stretches([row for row in range(first, end) if row not in rows]):
        for row, hit in enumerate(recall.hits(answer, offset + start, offset + stop), start=start):
            rows[row] = seen.hits[rowids[row - first]] = hit
    return {row: rows[row] for row in range(first, end)}


def states_of(recall: Recall, rows: dict[int, Hit], seen: Seen) -> dict[str, State]:
    """What happened to the files of these rows since they were read, by doc.id."""
    from recall_core.retrieve.freshness import stale_documents  # noqa: PLC0415 - the engine loads behind the first frame

    documents = list(dict.fromkeys(hit.doc.id for hit in rows.values()))
    if unknown := [each for each in documents if each not in seen.states]:
        found = stale_documents(unknown, store=recall.store, base=recall.base)
        seen.states.update({each: found.get(each) for each in unknown})
    return {each: state for each in documents if (state := seen.states[each]) is not None}


def ranks_of(answer: Answer) -> dict[int, int]:
    """The rank of every listed candidate, by its position in the pool."""
    if answer.ranked is None:
        return {}
    return {position: rank for rank, position in enumerate(answer.ranked.order[: answer.total], start=1)}


def ranks_among(answer: Answer, other: Answer) -> dict[int, int]:
    """The rank in another list of every candidate of this answer that it lists, by position in this one's pool."""
    if answer.pool is None or other.pool is None:
        return {}
    rowids = {other.pool.keys[position].rowid: rank for position, rank in ranks_of(other).items()}
    return {at: rowids[key.rowid] for at, key in enumerate(answer.pool.keys) if key.rowid in rowids}


def before_of(answer: Answer, window: Window, ranks: Mapping[int, int]) -> Ranks:
    """The rank that each row of the window had in another ranking of the same pool."""
    if answer.ranked is None or not ranks:
        return {}
    offset, count = listed(answer)
    first, end = min(window[0], count), min(window[1], count)
    positions = answer.ranked.order[offset + first : offset + end]
    return {row: ranks.get(position) for row, position in enumerate(positions, start=first)}


def _stretches(rows: Sequence[int]) -> Iterator[Window]:
    """Neighbouring rows together, so that one statement reads them."""
    start = 0
    for at in range(1, len(rows) + 1):
        if at == len(rows) or rows[at] != rows[at - 1] + 1:
            yield rows[start], rows[at - 1] + 1
            start = at
