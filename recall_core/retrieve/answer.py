"""A plan answered, in steps that can be taken apart: search once, rank and page and pack as often as one likes."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import NamedTuple

from recall_core.config import Config
from recall_core.ports import Embedder, Store
from recall_core.rank.fuse import Ranking, best_of_each_document, rank
from recall_core.retrieve.plan import Plan
from recall_core.retrieve.pool import retrieve
from recall_core.types import Document, Hit, Pool, Row

_FETCH_ROWS = 64  # texts read at a time while packing or listing


class Answer(NamedTuple):
    """A question answered. ranked is the whole list, best first; without a signal it is None and rows are scanned."""

    plan: Plan
    pool: Pool | None
    ranked: Ranking | None
    total: int
    """Rows in the full list, whatever LIMIT and OFFSET say."""
    digest: str
    generation: int
    snapshot: str
    took_ms: float
    timings: dict[str, float]
    warnings: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Nothing that the filter lets through was skipped."""
        return self.pool is None or self.pool.exact


def answer(plan: Plan, store: Store, embedder: Embedder | None) -> Answer:
    """Search and rank. The store is read at one state; no text is fetched unless ORDER BY needs it."""
    started = perf_counter()
    with store.reading():
        info = store.info()
        pool = retrieve(plan, store, embedder) if plan.mode != "filter" else None
        retrieved = perf_counter()
        if pool is None:
            ranked, total = None, store.scan(plan.where, table=plan.table, order=(), limit=0, offset=0)[0]
        else:
            ranked = _ranking(pool, plan, store)
            total = ranked.kept
    done = perf_counter()
    timings = {"retrieve": _ms(started, retrieved), "rank": _ms(retrieved, done)}
    warnings = plan.warnings + (pool.warnings if pool else ())
    if pool is not None and not pool.exact and plan.offset + plan.limit > total:
        warnings += (f"W_POOL_END: the list ends at the {total} candidates of the pool; OPTION exact ON reads on",)
    return Answer(
        plan=plan,
        pool=pool,
        ranked=ranked,
        total=total,
        digest=info.digest,
        generation=info.generation,
        snapshot=info.snapshot,
        took_ms=_ms(started, done),
        timings=timings,
        warnings=warnings,
    )


def weigh(found: Answer, config: Config, store: Store) -> Answer:
    """The same pool under other ranking settings; the store is asked only where ORDER BY names a field."""
    if found.pool is None:
        return found
    plan = found.plan._replace(config=config)
    ranked = _ranking(found.pool, plan, store)
    return found._replace(plan=plan, ranked=ranked, total=ranked.kept)


def hits(found: Answer, store: Store, *, start: int, stop: int) -> list[Hit]:
    """Ranks start + 1 to stop of the full list, with their texts."""
    stop = min(stop, found.total)
    if start >= stop:
        return []
    if found.pool is None or found.ranked is None:
        return _scanned(found.plan, store, start, stop)
    chosen = found.ranked[start:stop]
    rows = {row.rowid: row for row in store.fetch([found.pool.keys[each.position].rowid for each in chosen])}
    listed = []
    for number, each in enumerate(chosen, start=start + 1):
        row = rows[found.pool.keys[each.position].rowid]
        listed.append(Hit(number, each.score, row.doc, row.chunk, each.parts))
    return listed


def page(found: Answer, store: Store) -> list[Hit]:
    """The rows that LIMIT and OFFSET ask for."""
    return hits(found, store, start=found.plan.offset, stop=found.plan.offset + found.plan.limit)


def candidates(found: Answer, store: Store) -> Iterator[Hit]:
    """Every hit that may be packed, in rank order, read a few at a time; see `candidate_range`."""
    start, stop = candidate_range(found)
    for first in range(start, stop, _FETCH_ROWS):
        for hit in hits(found, store, start=first, stop=min(stop, first + _FETCH_ROWS)):
            yield _with_chunk(hit, store)


def candidate_range(found: Answer) -> tuple[int, int]:
    """The stretch of the full list that may be packed: all of it, unless a limit was asked for."""
    plan = found.plan
    if not plan.is_capped:
        return plan.offset, max(plan.offset, found.total)
    return plan.offset, max(plan.offset, min(found.total, plan.offset + plan.limit))


def _ranking(pool: Pool, plan: Plan, store: Store) -> Ranking:
    ranked = rank(pool, plan.config)
    if plan.table == "doc":
        ranked = best_of_each_document(pool, ranked)
    return _by_keys(pool, ranked, plan, store) if plan.order else ranked


def _by_keys(pool: Pool, ranked: Ranking, plan: Plan, store: Store) -> Ranking:
    """The kept candidates in the order that ORDER BY names."""
    from recall_core.rql.order import ordered  # noqa: PLC0415 - few questions have one

    chosen = ranked[: ranked.kept]
    rows = {row.rowid: row for row in store.fetch([pool.keys[each.position].rowid for each in chosen])}
    found = []
    for each in chosen:
        row = rows[pool.keys[each.position].rowid]
        found.append(Hit(each.position, each.score, row.doc, row.chunk, ()))
    return ranked.reordered([hit.rank for hit in ordered(found, plan.order)])


def _scanned(plan: Plan, store: Store, start: int, stop: int) -> list[Hit]:
    _, rows = store.scan(plan.where, table=plan.table, order=plan.order, limit=stop - start, offset=start)
    documents: dict[int, Document] = {}
    chunks: dict[int, Row] = {}
    if plan.table == "doc":
        documents = store.documents([doc for doc, _ in rows])
    else:
        chunks = {row.rowid: row for row in store.fetch([chunk for _, chunk in rows if chunk is not None])}
    listed = []
    for number, (doc, chunk) in enumerate(rows, start=start + 1):
        if chunk is None:
            listed.append(Hit(number, None, documents[doc], None, ()))
        else:
            listed.append(Hit(number, None, chunks[chunk].doc, chunks[chunk].chunk, ()))
    return listed


def _with_chunk(hit: Hit, store: Store) -> Hit:
    """A document without a scored chunk is represented by its first."""
    if hit.chunk is not None:
        return hit
    rows = store.chunks_of(hit.doc.id)
    return hit._replace(chunk=rows[0].chunk) if rows else hit


def _ms(start: float, stop: float) -> float:
    return round((stop - start) * 1000, 3)
