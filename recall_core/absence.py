"""Why something is not in an answer, and the way from the store to one, as responses."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from recall_core import respond
from recall_core.asking import Ask, Pack, asserted, stats_view
from recall_core.contract import Response
from recall_core.explain.funnel import trace as traced
from recall_core.explain.whynot.question import Asker, Question
from recall_core.explain.whynot.why import why_not as explained


def question_of(words: str | None, ask: Ask, pack: Pack, *, rql: str | None) -> Question:
    """Words or a query with their options, as the question that is looked into."""
    return Question(
        words=words or "",
        rql=rql,
        mode=ask.mode,
        filter=ask.filter,
        k=ask.k,
        settings=ask.settings,
        exact=ask.exact,
        budget_tokens=pack.budget_tokens,
        diversity=pack.diversity,
        counter=pack.counter,
    )


def pack_of(question: Question) -> Pack:
    """How such a question is packed."""
    return Pack(budget_tokens=question.budget_tokens, diversity=question.diversity, counter=question.counter)


def why_not(
    asker: Asker, question: Question, target: str, ask: Ask, *, fixes: bool, notes: Sequence[str]
) -> Response:
    """The account of one target. Raises UnknownTarget, SnapshotMismatch."""
    started = perf_counter()
    done = explained(asker, question, target, fixes=fixes)
    found = asserted(done.found, ask)
    return respond.ok(
        query=respond.query_echo(found.plan, found.pool, limit=found.plan.limit),
        whynot=done.view,
        stats=stats_view(found, started),
        warnings=[*notes, *found.warnings],
    )


def trace(asker: Asker, question: Question, ask: Ask, *, notes: Sequence[str]) -> Response:
    """The funnel of one question. Raises SnapshotMismatch."""
    started = perf_counter()
    done = traced(asker, question)
    found = asserted(done.found, ask)
    return respond.ok(
        query=respond.query_echo(found.plan, found.pool, limit=found.plan.limit),
        trace=done.view,
        stats=stats_view(found, started),
        warnings=[*notes, *found.warnings],
    )
