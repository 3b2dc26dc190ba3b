"""The report of one query, and replays of receipts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from recall_core.api import answers
from recall_core.api.answers import receipt_view
from recall_core.api.engine import Engine
from recall_core.api.whynot import question_of, trace
from recall_core.contract import OK
from recall_core.contract.explaining import RankLineView, RankStepView, ReplayView, ReportView
from recall_core.contract.responses import ReplayResponse, ReportResponse
from recall_core.contract.views import SparsePart
from recall_core.explain.lines import Lines, lines_of, weight_of
from recall_core.explain.whynot.question import with_trees
from recall_core.explain.winning import rank_line
from recall_core.maintain import receipts
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.asking import Ask, Pack
from recall_core.retrieve.plan import Plan
from recall_core.types import Ranked

if TYPE_CHECKING:
    from recall_core.contract.responses import ContextResponse, SearchResponse

MOST_LINES = 8

"""Lines that remain distinct in one picture."""

RANKS = 12

"""The least number of ranks in the picture."""


def report(engine: Engine, plan: Plan, ask: Ask, pack: Pack) -> ReportResponse:
    """Return the answer of search --explain, its funnel, the context from the same pool, and the rank lines.

    The context uses the whole list, ignoring k; for a query with a LIMIT, the limited list.
    """
    with answers.fresh_reading(engine, ask) as started:
        answer = engine.answer(plan)
        question = with_trees(question_of(plan.text, ask, Pack(), rql=plan.rql), plan)
        traced = trace(engine, question, ask)
        ask = ask._replace(explain=True)
        listed = answers.listing(engine, answer, ask, started=started)
        whole = answer._replace(plan=answer.plan._replace(is_capped=plan.rql is not None and answer.plan.is_capped))
        packed = answers.context(engine, whole, ask, pack, started=started)
    sparse: SparsePart = {"sparse": listed["sparse"]} if "sparse" in listed else {}
    return {
        **OK,
        "query": listed["query"],
        "results": listed["results"],
        **sparse,
        "context": packed["context"],
        "trace": traced["trace"],
        "report": report_view(answer),
        "stats": listed["stats"],
        "warnings": list(dict.fromkeys([*listed["warnings"], *packed["warnings"]])),
    }


def report_view(answer: Answer) -> ReportView:
    """Return the rank of the best rows at every semantic weight, if the weights decide the order."""
    pool, ranked, plan = answer.pool, answer.ranked, answer.plan
    if pool is None or ranked is None or not (pool.lexical and pool.semantic):
        return ReportView()
    if plan.table == "doc" or plan.order or plan.config.rerank:
        return ReportView()
    shown = ranked[plan.offset : min(answer.total, plan.offset + min(plan.limit, MOST_LINES))]
    depth = min(max(RANKS, plan.offset + len(shown)), len(pool.keys))
    lines = lines_of(pool, plan.config)
    texts = None if answer.copies is None else answer.copies.text_numbers
    views = _line_views(shown, lines, depth, texts)
    return ReportView(weight=float(weight_of(plan.config)), depth=depth, lines=views)


def _line_views(shown: Sequence[Ranked], lines: Lines, depth: int, texts: Sequence[int] | None) -> list[RankLineView]:
    return [
        RankLineView(
            result=number,
            steps=[
                RankStepView(low=float(where.low), high=float(where.high), rank=rank)
                for where, rank in rank_line(lines, each.position, texts).steps
                if rank <= depth
            ],
        )
        for number, each in enumerate(shown)
    ]


def replay(engine: Engine, given: Path | str) -> ReplayResponse:
    """Run the query of a receipt again under this store's settings, and return what changed.

    given: a file or text. Raises UsageError `bad_receipt`, `untrusted_receipt`, and the errors of the query.
    """
    before = (
        receipts.read(given) if isinstance(given, Path) else receipts.read_receipt(given.encode(errors="replace"))
    )
    question = before.question
    ask = Ask(question.k, question.mode, question.filter, question.settings, exact=question.exact, receipt=True)
    plan = engine.rql_plan(question.text, ask) if question.is_rql else engine.words_plan(question.text, ask)
    started = perf_counter()
    with engine.store.reading():
        counters = (engine.store.info().counter, engine.config.pack_counter)
        receipts.expect_harmless(question, plan.config, set_rerank=engine.config.rerank, counters=counters)
        answer = engine.answer(plan, is_read_on=True)
        response: SearchResponse | ContextResponse
        if question.packing is None:
            response = answers.listing(engine, answer, ask, started=started)
        else:
            packing, resolve = question.packing, engine.store.resolve
            pins, drops = (tuple(filter(resolve, ids)) for ids in (packing.pins, packing.drops))  # those that exist
            pack = Pack(
                packing.budget_tokens, packing.diversity, packing.counter, packing.format, pins, drops, packing.pack
            )
            response = answers.context(engine, answer, ask, pack, started=started)
        after = receipts.read_receipt(response["receipt"]["text"].encode())
        changes = list(receipts.changes(before, after, engine.store))
    view = ReplayView(
        identical=receipts.is_identical(changes),
        rows=len(before.rows),
        sha256=receipt_view(before)["sha256"],
        changes=changes,
    )
    return {**OK, "replay": view, "warnings": response["warnings"]}
