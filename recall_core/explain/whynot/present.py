"""Is it in the answer? Asked of the same page and the same context that a search would show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recall_core.explain.whynot.kept import KeptAsker
from recall_core.explain.whynot.question import Question, pack_of, planned
from recall_core.explain.whynot.target import Sought
from recall_core.rank.columns import KeyColumns, Series, positions_of
from recall_core.retrieve.answer import Answer, packable, standing_for
from recall_core.retrieve.asking import Asker
from recall_core.types import Block, Packed, Pool, Table


def answered(asker: Asker, question: Question) -> Answer:
    """The question asked, from its plan on."""
    return as_asked(asker, question, asker.answer(planned(question, asker)))


def as_asked(asker: Asker, question: Question, found: Answer) -> Answer:
    """The answer as it is listed; of a context, as it is packed."""
    if question.budget_tokens is None:
        return found
    return asker.packable(found) if isinstance(asker, KeptAsker) else packable(found, asker.store)


def is_present(asker: KeptAsker, question: Question, sought: Sought) -> bool:
    """Whether the question, asked anew, is answered with what is sought."""
    return is_shown(asker, question, answered(asker, question), sought)


def is_shown(asker: KeptAsker, question: Question, found: Answer, sought: Sought) -> bool:
    """Whether the page of an answer, or the context that is packed of it, shows what is sought."""
    if question.budget_tokens is not None:
        packed = asker.packed(found, pack_of(question))
        if packed is None and is_packed_by_rank(asker, found, sought):
            packed = packed_until(asker, question, found, sought)
        return is_packed(packed or asker.pack(found, pack_of(question)), found.plan.table, sought)
    at, plan = row_of(asker, found, sought), found.plan
    return at is not None and plan.offset <= at < min(plan.offset + plan.limit, found.total)


_WHOLE_CHUNKS = 2**24
"""More tokens than a part of a chunk has: none is packed."""


def packed_until(asker: KeptAsker, question: Question, found: Answer, sought: Sought) -> Packed:
    """Pack the list as far as what is sought: the rows behind it do not decide whether it is packed.

    If the whole chunk is sought, where another chunk would be cut is not worked out.
    """
    at, plan = row_of(asker, found, sought), found.plan
    limit = 0 if at is None else at + 1 - plan.offset
    if not plan.is_capped or limit < plan.limit:
        plan = plan._replace(limit=max(limit, 0), is_capped=True)
    is_whole = sought.snippet is None and sought.lines is None
    if is_whole:
        plan = plan._replace(config=plan.config._replace(min_fragment=_WHOLE_CHUNKS))
    return asker.pack(found._replace(plan=plan), pack_of(question), cites=not is_whole)


def is_packed_by_rank(asker: KeptAsker, found: Answer, sought: Sought) -> bool:
    """Return True if only the rows before it decide whether it is packed."""
    at, is_recalled = row_of(asker, found, sought), found.recall is not None and bool(found.recall.given)
    return at is not None and found.plan.config.pack == "rank" and not is_recalled


def is_packed(packed: Packed, table: Table, sought: Sought) -> bool:
    """Whether a context holds it: the whole chunk, or at least the text that was looked for."""
    for block in packed.blocks:
        if table == "doc" and block.doc.id == sought.row.doc.id:
            return True
        if sought.row.chunk.id in block.chunk_ids:
            return not block.truncated or _is_within(sought, block)
    return False


def _is_within(sought: Sought, block: Block) -> bool:
    """Return True if the part of a chunk that was packed contains the text or the lines that were looked for."""
    if sought.snippet is not None:
        return sought.snippet in block.text
    start, end = (sought.row.chunk.offset + each for each in sought.wanted)
    return sought.lines is not None and block.offset <= start and end <= block.end


def place(found: Answer, sought: Sought, *, order: Sequence[int] | None = None) -> int | None:
    """Its index in the ranked list (or in this order of the pool's positions), or None where it is not in it."""
    if found.pool is None or found.ranked is None:
        return None
    order = found.ranked.order if order is None else order
    if found.plan.table == "doc":
        documents = _documents_in(found.pool)
        return next((at for at, each in enumerate(order) if documents[each] == sought.doc_rowid), None)
    position = position_in(found.pool, sought)
    if position is None:
        return None
    return places_in(order, [position]).get(position)


def places_in(order: Sequence[int], positions: Iterable[int]) -> dict[int, int]:
    """Where these positions stand in a list, of those that do."""
    if isinstance(order, Series):
        found = ((position, (order.array == position).nonzero()[0].tolist()) for position in positions)
        return {position: at[0] for position, at in found if at}
    return {position: order.index(position) for position in positions if position in order}


def standing(found: Answer, sought: Sought) -> int | None:
    """The position of the row that stands for its text; None where it stands itself, or no row has its text."""
    if found.copies is None or found.pool is None:
        return None
    position = position_in(found.pool, sought)
    copies = standing_for(found)
    return copies.first(position) if position is not None and copies.is_struck(position) else None


def is_struck_unscored(asker: KeptAsker, found: Answer, sought: Sought) -> bool:
    """Whether, in a list without scores, a row before it has its text."""
    return found.pool is None and sought.row.rowid in asker.struck(found.plan)


def position_in(pool: Pool, sought: Sought) -> int | None:
    """The position of the chunk in the pool's columns, or None where it is no candidate."""
    rowid = sought.row.rowid
    if isinstance(pool.keys, KeyColumns):
        return next(iter((pool.keys.rowids == rowid).nonzero()[0].tolist()), None)
    return positions_of(pool.keys, [rowid]).get(rowid)


def rowids_in(pool: Pool) -> list[int]:
    """The candidates' own, by position."""
    keys = pool.keys
    return keys.rowids.tolist() if isinstance(keys, KeyColumns) else [key.rowid for key in keys]


def _documents_in(pool: Pool) -> list[int]:
    keys = pool.keys
    return keys.doc_rowids.tolist() if isinstance(keys, KeyColumns) else [key.doc_rowid for key in keys]


def position(found: Answer, sought: Sought) -> int | None:
    """Its position in the pool's columns; of a document, that of its best chunk."""
    at = place(found, sought)
    return None if at is None or found.ranked is None else found.ranked.order[at]


def row_of(asker: KeptAsker, found: Answer, sought: Sought) -> int | None:
    """Its index in the whole list, with scores or without; None where it is not in it."""
    if found.pool is not None:
        return place(found, sought)
    return asker.places(found.plan).get(sought.doc_rowid if found.plan.table == "doc" else sought.row.rowid)
