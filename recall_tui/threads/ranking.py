"""An answer's rows for the screen, ranked again under other settings, and its context packed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from recall_core import api, retrieve
from recall_core.config import Config, keyed
from recall_core.evaluate.measures import RETRIEVAL
from recall_core.text import counter
from recall_core.types import Hit
from recall_tui.state.events import Repacked
from recall_tui.state.packing import to_pack
from recall_tui.state.records import Packing, Waiting, cited
from recall_tui.state.requests import QueryRequest
from recall_tui.state.session import grouping_in, listed
from recall_tui.state.weighing import KEYS

if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_core.contract.ledger import PassageView
    from recall_core.retrieve.answer import Answer
    from recall_core.retrieve.freshness import State
    from recall_core.retrieve.plan import Plan
    from recall_core.store.port import Store
    from recall_tui.state.events import Ranks, Spans


def take_over(recall: Recall, saved: Config | None, keys: Iterable[str] = KEYS) -> None:
    """Go by these settings as the workbench knows them from recall.toml."""
    if saved is not None:
        recall.engine.config = recall.config._replace(**{key: getattr(saved, key) for key in keys})


def weighed(recall: Recall, answer: Answer, plan: Plan) -> Answer:
    """The candidates of an answer ranked as another plan of its question does; what chose them stays."""
    kept = {key: getattr(answer.plan.config, key) for key in RETRIEVAL}
    paged = answer.plan._replace(limit=plan.limit, offset=plan.offset, is_capped=plan.is_capped)
    return recall.engine.weigh(answer._replace(plan=paged), plan.config._replace(**kept))


def understood(recall: Recall, request: QueryRequest) -> Plan:
    """The requested question under the saved settings."""
    return recall.engine.plan(request.text, api.recall.Ask(filter=request.filter or None))


def moved(recall: Recall, plan: Plan, request: QueryRequest) -> Plan:
    """A question under the settings that are moved."""
    return recall.engine.replan(plan, api.recall.Ask(settings=request.settings, k=request.k))


def fixed(plan: Plan) -> tuple[str, ...]:
    """The settings that a query's OPTION clause decides, by key."""
    return () if plan.query is None else tuple(key for key in keyed(dict(plan.query.options)) if key in KEYS)


States = dict[str, "State | None"]

"""By doc.id, None where the file is as it was read. It grows as rows are asked for."""


def rows_at(answer: Answer, window: tuple[int, int], *, is_grouped: bool) -> list[int]:
    """The rows that are painted at the places of a window, first and end, by rank from 0."""
    count = listed(answer)[1]
    return grouping_in(answer, is_grouped=is_grouped).rows(min(window[0], count), min(window[1], count))


def rows_of(recall: Recall, answer: Answer, rows: Sequence[int]) -> dict[int, Hit]:
    """These rows, which ascend, by their place in the list."""
    offset = listed(answer)[0]
    hits: dict[int, Hit] = {}
    for _, run in groupby(enumerate(rows), lambda each: each[1] - each[0]):
        run_rows = [row for _, row in run]
        found = recall.engine.hits(answer, offset + run_rows[0], offset + run_rows[-1] + 1)
        hits.update(zip(run_rows, found, strict=True))
    return hits


def among(rows: Mapping[int, Hit], wanted: Iterable[int]) -> dict[int, Hit]:
    """Those of the rows that are wanted."""
    return {row: rows[row] for row in wanted if row in rows}


def rows_with_words(answer: Answer) -> int | None:
    """How many rows of the whole ranking hold a word of the question; None unless words and meaning were asked."""
    return retrieve.answer.rows_with_words(answer)


def states_of(recall: Recall, rows: dict[int, Hit], known: States) -> dict[str, State]:
    """What happened to the files of these rows since they were read, by doc.id. Each file is looked at once."""
    documents = list(dict.fromkeys(hit.doc.id for hit in rows.values()))
    if unknown := [each for each in documents if each not in known]:
        found = retrieve.freshness.stale_documents(unknown, store=recall.store, base=recall.engine.base)
        known.update({each: found.get(each) for each in unknown})
    return {each: state for each in documents if (state := known[each]) is not None}


def matched_in(
    rows: Mapping[int, Hit], passages: Mapping[str, PassageView | None], answer: Answer, store: Store
) -> dict[str, Spans]:
    """Return where words of the question are in the titles and headings of these rows, by title or heading."""
    phrases = tuple(term.text for term in answer.pool.terms) if answer.pool else ()
    texts = {hit.doc.title for hit in rows.values()}
    texts |= {cited(hit, passages.get(hit.chunk.id))[1] for hit in rows.values() if hit.chunk}
    ordered = sorted(texts - {""})
    found = zip(ordered, store.spans(ordered, phrases), strict=True)
    return {text: tuple(spans) for text, spans in found if spans}


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


def before_of(answer: Answer, rows: Iterable[int], ranks: Mapping[int, int]) -> Ranks:
    """The rank that each of these rows had in another ranking of the same pool."""
    if answer.ranked is None or not ranks:
        return {}
    offset, order = listed(answer)[0], answer.ranked.order
    return {row: ranks.get(order[offset + row]) for row in rows}


def repacked(recall: Recall, answer: Answer, request: QueryRequest) -> Repacked:
    """The answer under the requested budget. A pin or a drop that is no candidate waits, and changes nothing."""
    budget_tokens, pins, drops = request.packing
    answer = to_pack(answer, is_k_moved=request.is_k_moved)
    waiting = _waiting(recall, answer, (*pins, *drops)) if pins or drops else ()
    absent = {each.chunk_id for each in waiting}
    pins, drops = (tuple(each for each in ids if each not in absent) for ids in (pins, drops))
    packed = recall.engine.pack(answer, api.recall.Pack(budget_tokens=budget_tokens, pins=pins, drops=drops))
    count = counter(packed.counter).count
    block_tokens = tuple(count(block.text) for block in packed.blocks)
    return Repacked(request.generation, packed, block_tokens, Packing(budget_tokens, pins, drops), waiting)


def _waiting(recall: Recall, answer: Answer, chunk_ids: tuple[str, ...]) -> tuple[Waiting, ...]:
    """Those of the chunks that are gone from the store, or may not be packed for this answer."""
    store = recall.store
    waiting = []
    with store.reading():
        found = retrieve.answer.packable(answer, store)
        start, stop = retrieve.answer.candidate_range(found)
        if found.pool is not None and found.ranked is not None:
            keys = found.pool.keys
            positions = found.ranked.order[start:stop]
            if found.copies is not None:
                positions = [each for position in positions for each in found.copies.alike(position)]
            inside = {keys[position].rowid for position in positions}
        else:
            inside = _scanned(recall, found, start, stop)
        for chunk_id in chunk_ids:
            if ("chunk", chunk_id) not in store.resolve(chunk_id):
                waiting.append(Waiting(chunk_id, ""))
            elif (rowid := store.rowid("chunk", chunk_id)) not in inside:
                waiting.append(Waiting(chunk_id, store.fetch([rowid])[0].doc.path))
    return tuple(waiting)


def _scanned(recall: Recall, found: Answer, start: int, stop: int) -> set[int]:
    """The chunks of rows that have no scores; a row that is a document stands for its first chunk."""
    plan, store = found.plan, recall.store
    rows = retrieve.copies.listed(plan, store, start=start, stop=stop)
    if plan.table != "doc":
        return {chunk for _, chunk in rows if chunk is not None}
    documents = store.documents([doc for doc, _ in rows]).values()
    firsts = [chunks[0] for each in documents if (chunks := store.chunks_of(each.id))]
    return {row.rowid for row in firsts}
