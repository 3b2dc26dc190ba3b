"""A context packed for the screen, with those pins and drops that its question has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_core.text import counter
from recall_tui.state.events import Repacked
from recall_tui.state.session import Packing, Waiting
from recall_tui.state.wishes import Wish

if TYPE_CHECKING:
    from recall_core.retrieve import Answer
    from recall_core.service import Recall


def repacked(recall: Recall, answer: Answer, wish: Wish) -> Repacked:
    """The answer under the wished budget. A pin or a drop that is no candidate waits, and changes nothing."""
    from recall_core.service import Pack  # noqa: PLC0415 - the engine loads behind the first frame

    budget_tokens, pins, drops = wish.packing
    waiting = _waiting(recall, answer, (*pins, *drops)) if pins or drops else ()
    absent = {each.chunk_id for each in waiting}
    pins, drops = (tuple(each for each in ids if each not in absent) for ids in (pins, drops))
    packed = recall.pack(answer, Pack(budget_tokens=budget_tokens, pins=pins, drops=drops))
    count = counter(packed.counter).count
    block_tokens = tuple(count(block.text) for block in packed.blocks)
    return Repacked(wish.generation, packed, block_tokens, Packing(budget_tokens, pins, drops), waiting)


def _waiting(recall: Recall, answer: Answer, chunk_ids: tuple[str, ...]) -> tuple[Waiting, ...]:
    """Those of the chunks that are gone from the store, or may not be packed for this answer."""
    from recall_core.retrieve.answer import candidate_range, packable  # noqa: PLC0415 - as above

    store = recall.store
    waiting = []
    with store.reading():
        found = packable(answer, store)
        start, stop = candidate_range(found)
        if found.pool is not None and found.ranked is not None:
            keys = found.pool.keys
            inside = {keys[position].rowid for position in found.ranked.order[start:stop]}
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
    _, rows = store.scan(plan.where, table=plan.table, order=plan.order, limit=stop - start, offset=start)
    if plan.table != "doc":
        return {chunk for _, chunk in rows if chunk is not None}
    documents = store.documents([doc for doc, _ in rows]).values()
    firsts = [chunks[0] for each in documents if (chunks := store.chunks_of(each.id))]
    return {row.rowid for row in firsts}
