"""An answered question as a response: hits listed or packed, explained, and checked against files and snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from recall_core import api, evaluate, explain, retrieve, rql, views
from recall_core.api.context import context_view, packing, ranges, terms
from recall_core.config import Config
from recall_core.contract import OK
from recall_core.errors import SnapshotMismatch, StaleError, UsageError
from recall_core.retrieve.answer import (
    Answer,
    candidate_range,
    packable,
    page,
    rows_with_words,
    twins_of,
    with_words_only,
)
from recall_core.retrieve.freshness import State, stale_documents
from recall_core.retrieve.plan import Plan, plan_rql
from recall_core.rql.ast import And, Expr, Field, Like, Not, Or
from recall_core.shell import AGAIN, Hint, flag
from recall_core.store.port import Store
from recall_core.types import Hit, Packed, Row, Twins
from recall_core.views import explain_view

if TYPE_CHECKING:
    from recall_core.api.engine import Engine
    from recall_core.config import GivenSettings
    from recall_core.contract.explaining import ReceiptPart
    from recall_core.contract.ledger import PassageView
    from recall_core.contract.responses import (
        CompletionResponse,
        ContextResponse,
        ExplainResponse,
        RqlResponse,
        SearchResponse,
        SweepResponse,
    )
    from recall_core.contract.views import (
        AccountPart,
        CopiesPart,
        CopiesView,
        NextPart,
        PassagePart,
        PlaceView,
        ResultView,
        StatsView,
        WordHitsPart,
    )
    from recall_core.evaluate.tune_question import PinTarget
    from recall_core.pack.policy import Terms
    from recall_core.retrieve.asking import Ask, Pack
    from recall_core.types import Document, Hit, Packed


def listed(engine: Engine, plan: Plan, ask: Ask) -> SearchResponse:
    """The page that the plan asks for."""
    started = perf_counter()
    refresh(engine, ask)
    with engine.store.reading():
        found = answered(engine, plan, ask, is_read_on=not ask.documents_with_words)
        return listing(engine, found, ask, started=started)


def query_checked(text: str, settings: GivenSettings = ()) -> RqlResponse:
    """A query that can be asked, in its canonical spelling. Raises RqlError."""
    plan = plan_rql(text, config=Config(), exact=False, settings=settings)
    assert plan.query is not None  # noqa: S101 - a plan of RQL has its tree
    return {**OK, "rql": {"text": rql.print.print_query(plan.query)}, "warnings": list(plan.warnings)}


def query_formatted(text: str) -> RqlResponse:
    """A query in its canonical spelling, below its comments. Raises RqlError."""
    return {**OK, "rql": {"text": rql.parser.format_query(text)}, "warnings": []}


def query_completed(engine: Engine, text: str, cursor: int) -> CompletionResponse:
    """What may stand at a cursor of a query that is being written."""
    with engine.store.reading():
        return views.completion(text, cursor, engine.store.vocabulary(rql.complete.SUGGESTIONS))


def packed(engine: Engine, plan: Plan, ask: Ask, pack: Pack) -> ContextResponse:
    """The ranked list packed under the budget."""
    started = perf_counter()
    refresh(engine, ask)
    with engine.store.reading():
        return context(engine, answered(engine, plan, ask, is_read_on=True), ask, pack, started=started)


def explained(engine: Engine, plan: Plan, ask: Ask, chunk: str | None, versus: str | None) -> ExplainResponse:
    """Explain why a chunk, or the first hit, scores what it scores, whatever its rank; compare it with another."""
    started = perf_counter()
    refresh(engine, ask)
    with engine.store.reading():
        answer = answered(engine, plan, ask)
        embedder = None if plan.semantic is None else engine.embedder
        targeted = (chunk,) if versus is None else (chunk, versus)
        rows = [explain.explanation.named_chunk(engine, answer, each) for each in targeted]
        _, stale = checked((row.doc for row in rows), ask, store=engine.store, base=engine.base)
        return {
            **OK,
            "query": views.query_echo(plan, answer.pool, limit=plan.limit),
            "explanation": explain.explanation.explanation(answer, *rows, store=engine.store, embedder=embedder),
            **views.sparse_part(answer, explain=True),
            "stats": stats_view(answer, started),
            "warnings": [*engine.notes(), *answer.warnings, *stale],
        }


def swept(
    engine: Engine, plan: Plan, ask: Ask, wishes: tuple[PinTarget, ...], *, breaks: bool, collapse: bool
) -> SweepResponse:
    """One answer at every weight, or the weights that grant wishes. collapse: count copies of a text once."""
    if collapse and plan.table == "doc":
        message = f"{flag('collapse')} counts a chunk's text once; here the rows are documents."
        raise UsageError("collapse_of_documents", message, hint="FROM chunk")
    started = perf_counter()
    with engine.store.reading():
        copies = (
            evaluate.measures.with_each_copy(plan.config, engine.store) if plan.collapses and not collapse else ()
        )
        answer = answered(engine, plan._replace(config=plan.config._replace(collapse=collapse)), ask)
        tuning = evaluate.tune_question.tuning_view(answer, wishes, engine, breaks=breaks)
        return {
            **OK,
            "query": views.query_echo(plan, answer.pool, limit=plan.limit),
            "tuning": tuning,
            "stats": stats_view(answer, started),
            "warnings": [
                *engine.notes(),
                *answer.warnings,
                *evaluate.measures.not_swept(answer.plan.config),
                *copies,
            ],
        }


def refresh(engine: Engine, ask: Ask) -> None:
    """Bring the store up to date first, where the question wants that; what earlier ones have made is kept."""
    engine.keep_vectors()
    if ask.fresh:
        for _ in api.write.sync(engine):
            pass


def answered(engine: Engine, plan: Plan, ask: Ask, *, is_read_on: bool = False) -> Answer:
    """The answer, if the store is still the one the caller has in mind. Raises SnapshotMismatch."""
    return asserted(engine.answer(plan, is_read_on=is_read_on), ask)


def listing(engine: Engine, found: Answer, ask: Ask, *, started: float) -> SearchResponse:
    """The page of an answer."""
    began = perf_counter()
    listed = with_words_only(found) if ask.documents_with_words else found
    shown = page(listed, engine.store)
    states, stale = checked(_told(shown), ask, store=engine.store, base=engine.base)
    found = _timed(found, "fetch", began)
    began = perf_counter()
    leaves = engine.leaves(found, shown) if ask.explain else [None] * len(shown)
    found = _timed(found, "explain", began) if ask.explain else found
    began = perf_counter()
    has_passages = ask.passages and _shows_text(found.plan) and not ask.documents_with_words
    passages = engine.passages(found, shown) if has_passages else [None] * len(shown)
    if ask.lines_around:
        passages = _with_lines(passages, shown, ask.lines_around, engine.store)
    found = _timed(found, "passages", began) if any(passages) else found
    plan, held = found.plan, rows_with_words(found)
    following = plan.offset + len(shown)
    is_paged = listed.recall is None or plan.rql is None  # sparse recall does not go with the OFFSET of a query
    has_more = shown and following < listed.total and is_paged
    next_part: NextPart = {"next_offset": following} if has_more else {}
    receipt: ReceiptPart = {}
    if ask.receipt:
        receipt["receipt"] = api.receipts.receipt_of_rows(found, ask, engine.store)
    results: list[ResultView] = [
        {
            **views.result_view(hit, plan, states, explain=ask.explain, leaves=each, passage=passage),
            **_copies_part(hit),
        }
        for hit, each, passage in zip(shown, leaves, passages, strict=True)
    ]
    _add_sentences(results, shown, found, engine.store)
    return {
        **OK,
        "query": views.query_echo(plan, found.pool, limit=plan.limit),
        "results": results,
        **views.sparse_part(found, explain=ask.explain or ask.verbose),
        "stats": {**stats_view(found, started), **_by_words(held)},
        "warnings": [*engine.notes(), *listed.warnings, *_unmatched(found, held, engine.store), *stale],
        **next_part,
        **receipt,
    }


def _add_sentences(results: Sequence[ResultView], shown: Sequence[Hit], found: Answer, store: Store) -> None:
    """A sentence to each ledger, where there are any."""
    explained = [(view["explain"], hit) for view, hit in zip(results, shown, strict=True) if "explain" in view]
    if explained:
        explain.ledger.add_sentences([view for view, _ in explained], [hit for _, hit in explained], found, store)


def context(engine: Engine, found: Answer, ask: Ask, options: Pack, *, started: float) -> ContextResponse:
    """The context of an answer."""
    began = perf_counter()
    store = engine.store
    found = packable(found, store)
    seen: list[Hit] = []
    made = packing(found, options, store=store, cite=engine.cited, seen=seen)
    start, stop = candidate_range(found)
    hits = _with_twins({hit.chunk.id: hit for hit in seen if hit.chunk is not None}, made, found, store)
    packed = [hits[each] for block in made.blocks for each in block.chunk_ids]
    states, stale = checked(_told(packed), ask, store=store, base=engine.base)
    found, held = _timed(found, "pack", began), rows_with_words(found)
    on = terms(found, options, store)
    view = context_view(made, hits, states, _account(found, made, on, engine) if ask.explain else {})
    for block, place in zip(view["blocks"], ranges(made, on), strict=True):
        block["text_range"] = list(place)
    shown = [hits[chunk["id"]] for chunk in view["chunks"]]
    began = perf_counter()
    view["chunks"] = [
        {
            **chunk,
            **views.matched_part(hit, found.plan, is_pinned=chunk["id"] in on.pinned),
            **_passage_part(passage),
            **_copies_part(hit),
        }
        for chunk, hit, passage in zip(view["chunks"], shown, engine.passages(found, shown), strict=True)
    ]
    found = _timed(found, "passages", began) if shown else found
    if ask.explain:
        for chunk, hit, leaves in zip(view["chunks"], shown, engine.leaves(found, shown), strict=True):
            if hit.score is not None:
                chunk["explain"] = explain_view(hit, found.plan, leaves)
    receipt: ReceiptPart = {}
    if ask.receipt:
        receipt["receipt"] = api.receipts.receipt_of_context(found, ask, options, view, packed=hits, store=store)
    if options.lean:
        for part in (*view["chunks"], *view["blocks"]):
            del part["text"]
    return {
        **OK,
        "query": views.query_echo(found.plan, found.pool, limit=stop - start),
        **views.sparse_part(found, explain=ask.explain or ask.verbose),
        "context": view,
        "stats": {**stats_view(found, started), **_by_words(held)},
        "warnings": [*engine.notes(), *found.warnings, *_unmatched(found, held, store), *made.warnings, *stale],
        **receipt,
    }


def _passage_part(passage: PassageView | None) -> PassagePart:
    return {} if passage is None else {"passage": passage}


def _with_lines(
    passages: Sequence[PassageView | None], hits: Sequence[Hit], lines: int, store: Store
) -> list[PassageView | None]:
    texts = {hit.doc.id: store.text_of(hit.doc.id) for hit in hits}
    return [
        None if passage is None else retrieve.passage.with_lines(passage, texts[hit.doc.id], lines)
        for passage, hit in zip(passages, hits, strict=True)
    ]


def _shows_text(plan: Plan) -> bool:
    """Whether a signal was asked, and the text of chunks is told."""
    is_told = plan.select is None or (plan.table == "chunk" and "chunk.text" in plan.select)
    return plan.mode != "filter" and is_told


def _with_twins(hits: dict[str, Hit], made: Packed, found: Answer, store: Store) -> dict[str, Hit]:
    if not found.plan.collapses or not (found.struck or found.known.texts):
        return hits

    return with_twins(hits, made, found, store)


def _told(hits: Iterable[Hit]) -> Iterator[Document]:
    """The documents of these hits, and of every other place of their texts that is told."""
    for hit in hits:
        yield hit.doc
        if hit.twins is not None:
            yield from (row.doc for row in hit.twins.first)


def _copies_part(hit: Hit) -> CopiesPart:
    if hit.twins is None:
        return {}

    return {"copies": copies_view(hit.twins)}


def _account(found: Answer, made: Packed, on: Terms, engine: Engine) -> AccountPart:
    return {"account": retrieve.worth.account_view(made, found, on, engine.store, engine.cited)}


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
    view: StatsView = {
        "took_ms": round((perf_counter() - started) * 1000, 3),
        "total_hits": found.total + found.struck,
        "snapshot": found.snapshot,
        "exact": found.exact,
        "index": found.pool.index_kind if found.pool else "none",
        "digest": found.digest,
        "timings": found.timings,
    }
    if found.pool is not None and found.pool.shortlist is not None:
        view["examined"] = len(found.pool.shortlist)
    return {**view, "copies": found.struck} if found.struck else view


def _by_words(held: int | None) -> WordHitsPart:
    return {} if held is None else {"word_hits": held}


def _unmatched(found: Answer, held: int | None, store: Store) -> Iterator[str]:
    """Yield a warning if the filter leaves no row, or if meaning alone ranked the rows although words were asked."""
    where = found.plan.where
    if not found.total and where is not None:
        count = partial(store.scan, table=found.plan.table, order=(), limit=0, offset=0)
        patterns: list[str] = []
        if not count(where)[0] and count(None)[0]:
            would_match = count(_in_any_folder(where, patterns))[0]
            hint = f"; did you mean GLOB {' and '.join(patterns)}?" if would_match else ""
            yield f"W_EMPTY_FILTER: nothing passes the filter{hint}"
    if held == 0 and found.total:
        least = "every word" if found.plan.config.match == "all" else "a word"
        yield f"W_NO_MATCH: no row has {least} of the question; they are ranked by meaning alone"


def _in_any_folder(expr: Expr, patterns: list[str]) -> Expr:
    """Return the filter with each pattern of a bare name matching in any folder; these are added to `patterns`."""
    match expr:
        case Like(op="GLOB", field=Field(name="path")) if not set(expr.pattern) & set("/'\\"):
            patterns.append(f"'**/{expr.pattern}'")
            return expr._replace(pattern=f"**/{expr.pattern}")
        case Not():
            return Not(_in_any_folder(expr.operand, patterns))
        case And() | Or():
            return expr._replace(terms=tuple(_in_any_folder(term, patterns) for term in expr.terms))
    return expr


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


def _timed(found: Answer, stage: str, began: float) -> Answer:
    spent = round((perf_counter() - began) * 1000, 3)
    return found._replace(timings={**found.timings, stage: spent})


def with_twins(hits: Mapping[str, Hit], made: Packed, found: Answer, store: Store) -> dict[str, Hit]:
    """The hits by the ids of their chunks, those that are packed with the other places of their texts."""
    read = {row.chunk.id: rowid for rowid, row in found.rows.items()}
    ids = [each for block in made.blocks for each in block.chunk_ids]
    packed = {each: read[each] if each in read else store.rowid("chunk", each) for each in ids}
    twins = twins_of(found, list(packed.values()), store)
    return {**hits, **{each: hits[each]._replace(twins=twins.get(rowid)) for each, rowid in packed.items()}}


def copies_view(twins: Twins) -> CopiesView:
    """How many others have a hit's text, and the first places of these."""
    return {"count": twins.number, "places": [_place_view(row) for row in twins.first]}


def _place_view(row: Row) -> PlaceView:
    chunk = row.chunk
    view: PlaceView = {
        "id": chunk.id,
        "path": row.doc.path,
        "offset": chunk.offset,
        "line_start": chunk.line_start,
        "line_end": chunk.line_end,
    }
    if chunk.place is not None:
        view["place"] = chunk.place
    return view
