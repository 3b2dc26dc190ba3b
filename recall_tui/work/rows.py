"""Rows of an answer for the list, the states of their files, and their ranks under other settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from recall_core.types import Hit
from recall_tui.state.session import listed

if TYPE_CHECKING:
    from recall_core.retrieve import Answer
    from recall_core.retrieve.freshness import State
    from recall_core.service import Recall
    from recall_tui.state.events import Ranks, Spans

Window = tuple[int, int]
"""Rows of the list: first and end."""
States = dict[str, "State | None"]
"""By doc.id, None where the file is as it was read. It grows as rows are asked for."""


def rows_of(recall: Recall, answer: Answer, window: Window) -> dict[int, Hit]:
    """The rows of the window by their place in the list, in order."""
    offset, count = listed(answer)
    first, end = min(window[0], count), min(window[1], count)
    return dict(enumerate(recall.hits(answer, offset + first, offset + end), start=first))


def states_of(recall: Recall, rows: dict[int, Hit], known: States) -> dict[str, State]:
    """What happened to the files of these rows since they were read, by doc.id. Each file is looked at once."""
    from recall_core.retrieve.freshness import stale_documents  # noqa: PLC0415 - the engine loads behind the first frame

    documents = list(dict.fromkeys(hit.doc.id for hit in rows.values()))
    if unknown := [each for each in documents if each not in known]:
        found = stale_documents(unknown, store=recall.store, base=recall.base)
        known.update({each: found.get(each) for each in unknown})
    return {each: state for each in documents if (state := known[each]) is not None}


def matched_in(rows: Mapping[int, Hit], answer: Answer) -> dict[str, Spans]:
    """Where the words of the question stand in the titles and headings of these rows, by their text."""
    from recall_core.store.sqlite.spans import stem_spans, stemmed  # noqa: PLC0415 - the engine loads behind the frame

    wanted = stemmed(tuple(term.text for term in answer.pool.terms) if answer.pool else ())
    texts = {text for hit in rows.values() for text in (hit.doc.title, hit.chunk and hit.chunk.heading) if text}
    return {text: tuple(spans) for text in sorted(texts) if (spans := stem_spans(text, wanted))}


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
