"""Responses of a query: hits listed, packed or explained, checked against the files, with a receipt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from recall_core import api, evaluate, explain, maintain, retrieve, rql, views
from recall_core._lazy import hashlib
from recall_core._version import __version__
from recall_core.api.context import context_view, packing, ranges, terms
from recall_core.config import Config, settings_of
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
from recall_core.views import explain_view

if TYPE_CHECKING:
    from recall_core.api.engine import Engine
    from recall_core.config import GivenSettings
    from recall_core.contract.explaining import ReceiptPart, ReceiptView
    from recall_core.contract.ledger import PassageView
    from recall_core.contract.responses import (
        ContextResponse,
        ExplainResponse,
        RqlResponse,
        SearchResponse,
        SweepResponse,
    )
    from recall_core.contract.views import (
        AccountPart,
        ContextView,
        CopiesPart,
        NextPart,
        PassagePart,
        PlaceView,
        ResultView,
        StatsView,
    )
    from recall_core.evaluate.tune_question import PinTarget
    from recall_core.maintain.receipts import Receipt, ReceiptContext, ReceiptPacking, ReceiptQuestion, ReceiptRow
    from recall_core.retrieve.asking import Ask, Pack
    from recall_core.types import Document, Hit, Packed, Row


@contextmanager
def fresh_reading(engine: Engine, ask: Ask) -> Iterator[float]:
    """Update the store if the query wants that, and read one state of it inside the block.

    Yields perf_counter() of the start.
    """
    started = perf_counter()
    refresh(engine, ask)
    with engine.store.reading():
        yield started


def query_checked(text: str, settings: GivenSettings = ()) -> RqlResponse:
    """Return a valid query in its canonical spelling. Raises RqlError."""
    plan = plan_rql(text, config=Config(), exact=False, settings=settings)
    assert plan.query is not None  # noqa: S101 - a plan of RQL has its tree
    return {**OK, "rql": {"text": rql.print.print_query(plan.query)}, "warnings": list(plan.warnings)}


def query_formatted(text: str) -> RqlResponse:
    """Return a query in its canonical spelling, below its comments. Raises RqlError."""
    return {**OK, "rql": {"text": rql.parser.format_query(text)}, "warnings": []}


def explain_chunk(engine: Engine, plan: Plan, ask: Ask, chunk: str | None, versus: str | None) -> ExplainResponse:
    """Explain the score of a chunk, or of the first hit, at any rank; compare it with another chunk."""
    with fresh_reading(engine, ask) as started:
        answer = engine.answer(plan)
        expect_snapshot(answer, ask)
        embedder = None if plan.semantic is None else engine.embedder
        targeted = (chunk,) if versus is None else (chunk, versus)
        rows = [explain.explanation.named_chunk(engine, answer, each) for each in targeted]
        _, stale = check_files((row.doc for row in rows), ask, store=engine.store, base=engine.base)
        return {
            **OK,
            "query": views.query_echo(plan, answer.pool, limit=plan.limit),
            "explanation": explain.explanation.explanation(answer, *rows, store=engine.store, embedder=embedder),
            **views.sparse_part(answer, explain=True),
            "stats": stats_view(answer, started),
            "warnings": [*engine.notes(), *answer.warnings, *stale],
        }


def sweep(
    engine: Engine, plan: Plan, ask: Ask, wishes: tuple[PinTarget, ...], *, breaks: bool, collapse: bool
) -> SweepResponse:
    """Return one answer at every weight, or the weights that satisfy wishes. collapse: count a text's copies once."""
    if collapse and plan.table == "doc":
        message = f"{flag('collapse')} works on chunks, but these rows are documents."
        raise UsageError("collapse_of_documents", message, hint="FROM chunk")
    with fresh_reading(engine, ask) as started:
        copies = (
            evaluate.measures.with_each_copy(plan.config, engine.store) if plan.collapses and not collapse else ()
        )
        answer = engine.answer(plan._replace(config=plan.config._replace(collapse=collapse)))
        expect_snapshot(answer, ask)
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
    """Update the store, or wait for a replica, if the query wants that. Vectors from earlier queries are saved."""
    engine.keep_vectors()
    if ask.snapshot is not None:
        engine.store.catch_up(ask.snapshot)
    if ask.fresh:
        for _ in api.write.sync(engine):
            pass


def listing(
    engine: Engine, answer: Answer, ask: Ask, *, started: float, checked: dict[str, State | None] | None = None
) -> SearchResponse:
    """Return the page of an answer. Raises SnapshotMismatch, and StaleError if requested.

    checked: see check_files.
    """
    expect_snapshot(answer, ask)
    began = perf_counter()
    store = engine.store
    listed = with_words_only(answer) if ask.documents_with_words else answer
    shown = page(listed, store)
    states, stale = check_files(_named_documents(shown), ask, store=store, base=engine.base, checked=checked)
    answer = _add_time(answer, "fetch", began)
    began = perf_counter()
    leaves = engine.leaves(answer, shown) if ask.explain else [None] * len(shown)
    answer = _add_time(answer, "explain", began) if ask.explain else answer
    began = perf_counter()
    plan = answer.plan
    shows_text = plan.select is None or (plan.table == "chunk" and "chunk.text" in plan.select)
    has_passages = ask.passages and plan.mode != "filter" and shows_text and not ask.documents_with_words
    passages = engine.passages(answer, shown) if has_passages else [None] * len(shown)
    if ask.lines_around:
        texts = {hit.doc.id: store.text_of(hit.doc.id) for hit in shown}
        passages = [
            passage and retrieve.passage.with_lines(passage, texts[hit.doc.id], ask.lines_around)
            for passage, hit in zip(passages, shown, strict=True)
        ]
    answer = _add_time(answer, "passages", began) if any(passages) else answer
    following = plan.offset + len(shown)
    is_paged = listed.recall is None or plan.rql is None  # sparse recall excludes the OFFSET of a query
    has_more = shown and following < listed.total and is_paged
    next_part: NextPart = {"next_offset": following} if has_more else {}
    receipt: ReceiptPart = {"receipt": receipt_of_rows(answer, ask, store)} if ask.receipt else {}
    results: list[ResultView] = [
        {
            **views.result_view(hit, plan, states, explain=ask.explain, leaves=each, passage=passage),
            **_copies_part(hit),
        }
        for hit, each, passage in zip(shown, leaves, passages, strict=True)
    ]
    if ledgers := [(view["explain"], hit) for view, hit in zip(results, shown, strict=True) if "explain" in view]:
        explain.ledger.add_sentences([view for view, _ in ledgers], [hit for _, hit in ledgers], answer, store)
    return {
        **OK,
        "query": views.query_echo(plan, answer.pool, limit=plan.limit),
        "results": results,
        **views.sparse_part(answer, explain=ask.explain or ask.verbose),
        "stats": stats_view(answer, started, rows_with_words(answer)),
        "warnings": [*engine.notes(), *listed.warnings, *_warn_unmatched(answer, store), *stale],
        **next_part,
        **receipt,
    }


def context(
    engine: Engine,
    answer: Answer,
    ask: Ask,
    options: Pack,
    *,
    started: float,
    checked: dict[str, State | None] | None = None,
) -> ContextResponse:
    """Return the context of an answer. Raises SnapshotMismatch, and StaleError if requested.

    checked: see check_files.
    """
    expect_snapshot(answer, ask)
    began = perf_counter()
    store = engine.store
    answer = packable(answer, store)
    seen: list[Hit] = []
    made = packing(answer, options, store=store, cite=engine.cited, seen=seen)
    start, stop = candidate_range(answer)
    hits = _with_twins({hit.chunk.id: hit for hit in seen if hit.chunk is not None}, made, answer, store)
    packed = [hits[each] for block in made.blocks for each in block.chunk_ids]
    states, stale = check_files(_named_documents(packed), ask, store=store, base=engine.base, checked=checked)
    answer = _add_time(answer, "pack", began)
    on = terms(answer, options, store)
    account: AccountPart = {}
    if ask.explain:
        account["account"] = retrieve.worth.account_view(made, answer, on, store, engine.cited)
    view = context_view(made, hits, states, account)
    for block, place in zip(view["blocks"], ranges(made, on), strict=True):
        block["text_range"] = list(place)
    shown = [hits[chunk["id"]] for chunk in view["chunks"]]
    began = perf_counter()
    view["chunks"] = [
        {
            **chunk,
            **views.matched_part(hit, answer.plan, is_pinned=chunk["id"] in on.pinned),
            **_passage_part(passage),
            **_copies_part(hit),
        }
        for chunk, hit, passage in zip(view["chunks"], shown, engine.passages(answer, shown), strict=True)
    ]
    answer = _add_time(answer, "passages", began) if shown else answer
    if ask.explain:
        for chunk, hit, leaves in zip(view["chunks"], shown, engine.leaves(answer, shown), strict=True):
            if hit.score is not None:
                chunk["explain"] = explain_view(hit, answer.plan, leaves)
    receipt: ReceiptPart = {}
    if ask.receipt:
        if (names := engine.names) is not None:  # a receipt has the store's paths
            typed = {key: names.typed(hit.doc.path) for key, hit in hits.items()}
            hits = {key: hit._replace(doc=hit.doc._replace(path=typed[key])) for key, hit in hits.items()}
        receipt["receipt"] = receipt_of_context(answer, ask, options, view, packed=hits, store=store)
    if options.lean:
        for part in (*view["chunks"], *view["blocks"]):
            del part["text"]
    return {
        **OK,
        "query": views.query_echo(answer.plan, answer.pool, limit=stop - start),
        **views.sparse_part(answer, explain=ask.explain or ask.verbose),
        "context": view,
        "stats": stats_view(answer, started, rows_with_words(answer)),
        "warnings": [*engine.notes(), *answer.warnings, *_warn_unmatched(answer, store), *made.warnings, *stale],
        **receipt,
    }


def _named_documents(hits: Iterable[Hit]) -> Iterator[Document]:
    """Yield the documents of these hits, and of the copies that the answer names."""
    for hit in hits:
        yield hit.doc
        if hit.twins is not None:
            yield from (row.doc for row in hit.twins.first)


def _passage_part(passage: PassageView | None) -> PassagePart:
    return {} if passage is None else {"passage": passage}


def _with_twins(hits: dict[str, Hit], made: Packed, answer: Answer, store: Store) -> dict[str, Hit]:
    """Return the hits by chunk id, with the packed copies."""
    if not answer.plan.collapses or not (answer.struck or answer.known.texts):
        return hits
    read = {row.chunk.id: rowid for rowid, row in answer.rows.items()}
    ids = [each for block in made.blocks for each in block.chunk_ids]
    packed = {each: read[each] if each in read else store.rowid("chunk", each) for each in ids}
    twins = twins_of(answer, list(packed.values()), store)
    return {**hits, **{each: hits[each]._replace(twins=twins.get(rowid)) for each, rowid in packed.items()}}


def _copies_part(hit: Hit) -> CopiesPart:
    """Return how many other chunks have a hit's text, and the first of their places."""
    if hit.twins is None:
        return {}
    return {"copies": {"count": hit.twins.number, "places": [_place_view(row) for row in hit.twins.first]}}


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


def expect_snapshot(answer: Answer, ask: Ask) -> None:
    """Raise SnapshotMismatch if the store is not in the state that the caller expects."""
    if ask.snapshot is not None and not (len(ask.snapshot) >= 6 and answer.digest.startswith(ask.snapshot)):
        raise SnapshotMismatch(
            "snapshot_mismatch",
            f"The store's digest is {answer.digest[:12]}, not {ask.snapshot[:12]}.",
            hint=Hint(AGAIN, snapshot=answer.digest[:12]),
            details={"digest": answer.digest},
        )


def stats_view(answer: Answer, started: float, word_hits: int | None = None) -> StatsView:
    """Return the statistics of an answer.

    started: perf_counter() at the start. word_hits: rows that contain the query's words.
    """
    view: StatsView = {
        "took_ms": round((perf_counter() - started) * 1000, 3),
        "total_hits": answer.total + answer.struck,
        "snapshot": answer.snapshot,
        "exact": answer.exact,
        "index": answer.pool.index_kind if answer.pool else "none",
        "digest": answer.digest,
        "timings": answer.timings,
    }
    if answer.pool is not None and answer.pool.shortlist is not None:
        view["examined"] = len(answer.pool.shortlist)
    if answer.struck:
        view["copies"] = answer.struck
    if word_hits is not None:
        view["word_hits"] = word_hits
    return view


def _warn_unmatched(answer: Answer, store: Store) -> Iterator[str]:
    """Yield a warning if the filter leaves no row, or if a query with words matched by meaning alone."""
    where = answer.plan.where
    if not answer.total and where is not None:
        count = partial(store.scan, table=answer.plan.table, order=(), limit=0, offset=0)
        patterns: list[str] = []
        if not count(where)[0] and count(None)[0]:
            would_match = count(_in_any_folder(where, patterns))[0]
            hint = f"; did you mean GLOB {' and '.join(patterns)}?" if would_match else ""
            yield f"W_EMPTY_FILTER: no row passes the filter{hint}"
    if answer.total and rows_with_words(answer) == 0:
        least = "every word" if answer.plan.config.match == "all" else "a word"
        yield f"W_NO_MATCH: no row has {least} of the query; rows are ranked by meaning alone"


def _in_any_folder(expr: Expr, patterns: list[str]) -> Expr:
    """Return the filter with each bare file name matching in any folder. Adds these patterns to `patterns`."""
    match expr:
        case Like(op="GLOB", field=Field(name="path")) if not set(expr.pattern) & set("/'\\"):
            patterns.append(f"'**/{expr.pattern}'")
            return expr._replace(pattern=f"**/{expr.pattern}")
        case Not():
            return Not(_in_any_folder(expr.operand, patterns))
        case And() | Or():
            return expr._replace(terms=tuple(_in_any_folder(term, patterns) for term in expr.terms))
    return expr


def check_files(
    documents: Iterable[Document],
    ask: Ask,
    *,
    store: Store,
    base: Path,
    checked: dict[str, State | None] | None = None,
) -> tuple[dict[str, State], list[str]]:
    """Return the state of changed files behind an answer, with warnings. Raises StaleError if requested.

    checked: receives the state of every file, by document; None if it is unchanged.
    """
    shown = {document.id: document.path for document in documents}
    states = stale_documents(list(shown), store=store, base=base)
    if checked is not None:
        checked.update({doc_id: states.get(doc_id) for doc_id in shown})
    warnings = [f"W_STALE: {shown[doc_id]} was {_PAST[state]} after it was read" for doc_id, state in states.items()]
    if states and ask.strict_fresh:
        paths = sorted(shown[doc_id] for doc_id in states)
        remove = Hint("rm", paths[0])
        raise StaleError(
            "stale",
            f"{len(paths)} of the documents changed on disk: {', '.join(paths[:3])}.",
            hint=remove if ask.fresh else f"{Hint('sync')}, or {remove} if that skips it",
            details={"paths": paths},
        )
    return states, warnings


_PAST: dict[State, str] = {"modified": "changed", "missing": "deleted or moved"}


def _add_time(answer: Answer, stage: str, began: float) -> Answer:
    spent = round((perf_counter() - began) * 1000, 3)
    return answer._replace(timings={**answer.timings, stage: spent})


def receipt_of_rows(answer: Answer, ask: Ask, store: Store) -> ReceiptView:
    """Return the receipt of the page."""
    rows = [
        _receipt_row(hit, None if hit.chunk is None else (hit.chunk.id, hit.chunk.offset, hit.chunk.end))
        for hit in page(answer, store)
    ]
    return receipt_view(_receipt(answer, _question(answer.plan, ask), rows, store, config=answer.plan.config))


def receipt_of_context(
    answer: Answer, ask: Ask, pack: Pack, context: ContextView, *, packed: Mapping[str, Hit], store: Store
) -> ReceiptView:
    """Return the receipt of a context: its chunks in order of the text, each as far as it was packed.

    answer: as from `packable`. packed: hits by chunk id.
    """
    rows = [
        _receipt_row(packed[chunk["id"]], (chunk["id"], chunk["offset"], chunk["offset"] + len(chunk["text"])))
        for chunk in context["chunks"]
    ]
    receipts = maintain.receipts
    config, _, pinned, dropped = terms(answer, pack, store)
    given = pack._replace(pins=tuple(sorted(pinned)), drops=tuple(sorted(dropped)))._asdict()
    packing = receipts.ReceiptPacking(**{name: given[name] for name in receipts.ReceiptPacking.__struct_fields__})
    digest = hashlib.sha256(context["text"].encode()).hexdigest()
    made = receipts.ReceiptContext(digest, context["used_tokens"], context["counter"])
    return receipt_view(
        _receipt(answer, _question(answer.plan, ask, packing), rows, store, config=config, context=made)
    )


def _question(plan: Plan, ask: Ask, packing: ReceiptPacking | None = None) -> ReceiptQuestion:
    """Return the query with its own settings as checked by the plan."""
    own = settings_of(ask.settings, where=flag("set"))
    return maintain.receipts.ReceiptQuestion(
        text=plan.text,
        is_rql=plan.rql is not None,
        mode=ask.mode,  # type: ignore[arg-type]  # the plan was made of it
        filter=ask.filter,
        k=ask.k,
        exact=ask.exact,
        settings={key: getattr(plan.config, key) for key in sorted(own)},
        packing=packing,
    )


def _receipt(
    answer: Answer,
    question: ReceiptQuestion,
    rows: Sequence[ReceiptRow],
    store: Store,
    *,
    config: Config,
    context: ReceiptContext | None = None,
) -> Receipt:
    """Return the receipt of these rows. config: the settings used to list or pack them."""
    receipts, plan = maintain.receipts, answer.plan
    return receipts.Receipt(
        recall_receipt=receipts.FORMAT,
        version=__version__,
        question=question,
        plan=receipts.EffectivePlan(
            mode=plan.mode,
            table=plan.table,
            filters=plan.filters,
            limit=plan.limit,
            offset=plan.offset,
            index=answer.pool.index_kind if answer.pool else "none",
        ),
        settings=receipts.in_force(config, is_packed=context is not None, is_rql=question.is_rql),
        store=receipts.ReceiptState(digest=answer.digest, embedder=store.embedder(), counter=answer.counter),
        rows=tuple(rows),
        total=answer.total + answer.struck,
        context=context,
    )


def _receipt_row(hit: Hit, chunk: tuple[str, int, int] | None) -> ReceiptRow:
    chunk_id, offset, end = chunk or (None, None, None)
    return maintain.receipts.ReceiptRow(
        rank=hit.rank,
        score=hit.score,
        path=hit.doc.path,
        doc=hit.doc.id,
        hash=hit.doc.hash,
        labels=maintain.receipts.labels_of(hit.doc),
        chunk=chunk_id,
        offset=offset,
        end=end,
    )


def receipt_view(receipt: Receipt) -> ReceiptView:
    """Return a receipt as a JSON view, sealed and named by its hash."""
    text = maintain.receipts.seal(receipt)
    return {"sha256": json.loads(text)["sha256"], "text": text}
