"""An answered question as a response: hits listed or packed, explained, and checked against files and snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from recall_core import views
from recall_core.api.packing import packing, terms
from recall_core.config import Config
from recall_core.contract import OK
from recall_core.errors import SnapshotMismatch, StaleError
from recall_core.retrieve import Answer, Plan, plan_rql, targets
from recall_core.retrieve.answer import candidate_range, packable, page
from recall_core.retrieve.freshness import State, stale_documents
from recall_core.shell import AGAIN, Hint
from recall_core.views import explain_view

if TYPE_CHECKING:
    from recall_core.api.engine import Engine
    from recall_core.config import Settings
    from recall_core.contract.packing import AccountPart
    from recall_core.contract.replaying import ReceiptPart
    from recall_core.contract.responses import (
        CompletionResponse,
        ContextResponse,
        ExplainResponse,
        NextPart,
        RqlResponse,
        SearchResponse,
        SweepResponse,
    )
    from recall_core.contract.views import StatsView
    from recall_core.evaluate.tune_question import PinTarget
    from recall_core.retrieve.asking import Ask, Pack
    from recall_core.store.port import Store
    from recall_core.types import Document, Hit, Packed


def listed(engine: Engine, plan: Plan, ask: Ask) -> SearchResponse:
    """The page that the plan asks for."""
    started = perf_counter()
    refresh(engine, ask)
    with engine.store.reading():
        return listing(engine, answered(engine, plan, ask, is_read_on=True), ask, started=started)


def query_checked(text: str, settings: Settings | Sequence[str] = ()) -> RqlResponse:
    """A query that can be asked, in its canonical spelling. Raises RqlError."""
    from recall_core.rql.print import print_query  # noqa: PLC0415 - a search never needs it

    plan = plan_rql(text, config=Config(), exact=False, settings=settings)
    assert plan.query is not None  # noqa: S101 - a plan of RQL has its tree
    return {**OK, "rql": {"text": print_query(plan.query)}, "warnings": list(plan.warnings)}


def query_formatted(text: str) -> RqlResponse:
    """A query in its canonical spelling, below its comments. Raises RqlError."""
    from recall_core.rql.parser import format_query  # noqa: PLC0415 - a search never needs it

    return {**OK, "rql": {"text": format_query(text)}, "warnings": []}


def query_completed(engine: Engine, text: str, cursor: int) -> CompletionResponse:
    """What may stand at a cursor of a query that is being written."""
    from recall_core.rql.complete import SUGGESTIONS  # noqa: PLC0415 - a search never needs it

    with engine.store.reading():
        return views.completion(text, cursor, engine.store.vocabulary(SUGGESTIONS))


def packed(engine: Engine, plan: Plan, ask: Ask, pack: Pack) -> ContextResponse:
    """The ranked list packed under the budget."""
    started = perf_counter()
    refresh(engine, ask)
    with engine.store.reading():
        return context(engine, answered(engine, plan, ask, is_read_on=True), ask, pack, started=started)


def explained(engine: Engine, plan: Plan, ask: Ask, chunk: str, versus: str | None) -> ExplainResponse:
    """Why a chunk scores what it scores, whatever its rank; beside another."""
    from recall_core.explain.explanation import explanation  # noqa: PLC0415 - a search never needs it

    started = perf_counter()
    refresh(engine, ask)
    with engine.store.reading():
        answer = answered(engine, plan, ask)
        embedder = None if plan.semantic is None else engine.embedder
        targeted = [each for each in (chunk, versus) if each is not None]
        rows = [targets.chunk(engine.store, each, base=engine.base) for each in targeted]
        _, stale = checked((row.doc for row in rows), ask, store=engine.store, base=engine.base)
        return {
            **OK,
            "query": views.query_echo(plan, answer.pool, limit=plan.limit),
            "explanation": explanation(answer, *rows, store=engine.store, embedder=embedder),
            **views.sparse_part(answer, explain=True),
            "stats": stats_view(answer, started),
            "warnings": [*engine.notes(), *answer.warnings, *stale],
        }


def swept(engine: Engine, plan: Plan, ask: Ask, wishes: tuple[PinTarget, ...], *, breaks: bool) -> SweepResponse:
    """One answer at every weight, or the weights that grant wishes."""
    from recall_core.evaluate.grid import not_swept  # noqa: PLC0415 - a search never needs it
    from recall_core.evaluate.tune_question import tuning_view  # noqa: PLC0415

    started = perf_counter()
    with engine.store.reading():
        answer = answered(engine, plan, ask)
        tuning = tuning_view(answer, wishes, engine, breaks=breaks)
        return {
            **OK,
            "query": views.query_echo(plan, answer.pool, limit=plan.limit),
            "tuning": tuning,
            "stats": stats_view(answer, started),
            "warnings": [*engine.notes(), *answer.warnings, *not_swept(answer.plan.config)],
        }


def refresh(engine: Engine, ask: Ask) -> None:
    """Bring the store up to date first, where the question wants that; what earlier ones have made is kept."""
    engine.keep_vectors()
    if ask.fresh:
        from recall_core.api.filling import sync  # noqa: PLC0415 - few questions write

        for _ in sync(engine):
            pass


def answered(engine: Engine, plan: Plan, ask: Ask, *, is_read_on: bool = False) -> Answer:
    """The answer, if the store is still the one the caller has in mind. Raises SnapshotMismatch."""
    return asserted(engine.answer(plan, is_read_on=is_read_on), ask)


def listing(engine: Engine, found: Answer, ask: Ask, *, started: float) -> SearchResponse:
    """The page of an answer."""
    began = perf_counter()
    shown = page(found, engine.store)
    states, stale = checked((hit.doc for hit in shown), ask, store=engine.store, base=engine.base)
    found = _timed(found, "fetch", began)
    began = perf_counter()
    leaves = engine.leaves(found, shown) if ask.explain else [None] * len(shown)
    found = _timed(found, "explain", began) if ask.explain else found
    plan = found.plan
    following = plan.offset + len(shown)
    has_more = shown and following < found.total and _is_paged(found)
    next_part: NextPart = {"next_offset": following} if has_more else {}
    receipt: ReceiptPart = {}
    if ask.receipt:
        from recall_core.api.receipts import receipt_of_rows  # noqa: PLC0415 - few answers have one

        receipt["receipt"] = receipt_of_rows(found, ask, engine.store)
    return {
        **OK,
        "query": views.query_echo(plan, found.pool, limit=plan.limit),
        "results": [
            views.result_view(hit, plan, states, explain=ask.explain, leaves=each)
            for hit, each in zip(shown, leaves, strict=True)
        ],
        **views.sparse_part(found, explain=ask.explain),
        "stats": stats_view(found, started),
        "warnings": [*engine.notes(), *found.warnings, *stale],
        **next_part,
        **receipt,
    }


def context(engine: Engine, found: Answer, ask: Ask, options: Pack, *, started: float) -> ContextResponse:
    """The context of an answer."""
    began = perf_counter()
    store = engine.store
    found = packable(found, store)
    seen: list[Hit] = []
    made = packing(found, options, store=store, seen=seen)
    states, stale = checked((block.doc for block in made.blocks), ask, store=store, base=engine.base)
    found = _timed(found, "pack", began)
    start, stop = candidate_range(found)
    hits = {hit.chunk.id: hit for hit in seen if hit.chunk is not None}
    view = views.context_view(made, hits, states, _account(found, made, options, store) if ask.explain else {})
    if ask.explain:
        shown = [hits[chunk["id"]] for chunk in view["chunks"]]
        for chunk, hit, leaves in zip(view["chunks"], shown, engine.leaves(found, shown), strict=True):
            if hit.score is not None:
                chunk["explain"] = explain_view(hit, found.plan, leaves)
    receipt: ReceiptPart = {}
    if ask.receipt:
        from recall_core.api.receipts import receipt_of_context  # noqa: PLC0415 - few answers have one

        receipt["receipt"] = receipt_of_context(found, ask, options, view, store)
    return {
        **OK,
        "query": views.query_echo(found.plan, found.pool, limit=stop - start),
        **views.sparse_part(found, explain=ask.explain),
        "context": view,
        "stats": stats_view(found, started),
        "warnings": [*engine.notes(), *found.warnings, *made.warnings, *stale],
        **receipt,
    }


def _account(found: Answer, made: Packed, options: Pack, store: Store) -> AccountPart:
    from recall_core.retrieve.worth import account_view  # noqa: PLC0415 - few contexts are explained

    return {"account": account_view(made, found, terms(found, options, store), store)}


def asserted(found: Answer, ask: Ask) -> Answer:
    """The answer, if the store is still the one the caller has in mind. Raises SnapshotMismatch."""
    if ask.snapshot is not None and not (len(ask.snapshot) >= 6 and found.digest.startswith(ask.snapshot)):
        raise SnapshotMismatch(
            "snapshot_mismatch",
            f"The store's digest is {found.digest[:12]}, not {ask.snapshot[:12]}.",
            hint=Hint(AGAIN, snapshot=found.digest[:12]),
            details={"digest": found.digest},
        )
    return found


def stats_view(found: Answer, started: float) -> StatsView:
    """The figures of an answer. started: perf_counter() when the question came."""
    return {
        "took_ms": round((perf_counter() - started) * 1000, 3),
        "total_hits": found.total,
        "snapshot": found.snapshot,
        "exact": found.exact,
        "index": found.pool.index_kind if found.pool else "none",
        "digest": found.digest,
        "timings": found.timings,
    }


def checked(
    documents: Iterable[Document], ask: Ask, *, store: Store, base: Path
) -> tuple[dict[str, State], list[str]]:
    """What happened to the files behind an answer, and the warnings that say so. Raises StaleError if asked to."""
    shown = {document.id: document.path for document in documents}
    states = stale_documents(list(shown), store=store, base=base)
    warnings = [f"W_STALE: {shown[doc_id]} was {_PAST[state]} since it was read" for doc_id, state in states.items()]
    if states and ask.strict_fresh:
        paths = sorted(shown[doc_id] for doc_id in states)
        remove = Hint("rm", paths[0])
        raise StaleError(
            "stale",
            f"{len(paths)} of the documents changed on disk: {', '.join(paths[:3])}.",
            hint=remove if ask.fresh else f"{Hint('sync')}, or {remove} where that skips it",
            details={"paths": paths},
        )
    return states, warnings


_PAST: dict[State, str] = {"modified": "changed", "missing": "deleted or moved"}


def _is_paged(found: Answer) -> bool:
    """Sparse-document recall does not go with the OFFSET that another page of a query would need."""
    return found.recall is None or found.plan.rql is None


def _timed(found: Answer, stage: str, began: float) -> Answer:
    spent = round((perf_counter() - began) * 1000, 3)
    return found._replace(timings={**found.timings, stage: spent})
