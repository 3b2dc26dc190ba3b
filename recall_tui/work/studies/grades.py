"""All judgements of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_tui.state.judging import Judged
from recall_tui.state.studies import Study
from recall_tui.work.studying import Lab

if TYPE_CHECKING:
    from recall_core.evaluate.grades import Judgement


def study(lab: Lab, _study: Study) -> Judged:
    """Every judged query with its judgements by path, each at the document that it is of at this moment."""
    from recall_core.evaluate.judgements import digest, ids_of, names_of, stored, stored_queries  # noqa: PLC0415 - as above the engine

    store = lab.recall.store
    with store.reading():
        texts = stored_queries(store)
        found = stored(store, names_of(store)).judgements if texts else ()
        state = digest(store)
    places: dict[str, dict[str, list[Judgement]]] = {}
    for judgement in found:
        places.setdefault(judgement.query, {}).setdefault(judgement.spot.path, []).append(judgement)
    grouped = {query: {path: tuple(each) for path, each in paths.items()} for query, paths in places.items()}
    return Judged(texts, ids_of(texts), grouped, state)
