"""The changes that events from threads make to the session. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from recall_core.config import Config
from recall_core.types import StoreInfo
from recall_tui.state import explaining, judging, packing, store_pane, tuning, weighing
from recall_tui.state.events import (
    Advanced,
    AnalysisDone,
    AnalysisMoved,
    Answered,
    Charted,
    Cited,
    Ended,
    Event,
    Failed,
    Fetched,
    Held,
    Learned,
    OfGeneration,
    OfQuestion,
    Ran,
    Repacked,
    Reweighed,
    StoreOpened,
    TaskDone,
    TaskMoved,
    Unusable,
    Unwatched,
)
from recall_tui.state.judging import JudgedQueries
from recall_tui.state.packing import forget_line, take_context
from recall_tui.state.records import LASTING, SCOPES, TASKS_AT, Analysis, Lookup, Packing, Stamp, Tweaks
from recall_tui.state.runs import Run
from recall_tui.state.session import Session, grouping_in, k_of, latest, list_range, result_of, stamp_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall_core.retrieve.answer import Answer

MOST_KEPT = 50  # results of a kind; a long list would otherwise keep a document for every row
VERBS = ("added", "updated", "unchanged", "removed")


def after(session: Session, event: Event) -> Session:  # noqa: C901, PLR0911 - one line for each event
    """Return the session after the event. Stale events do not change it."""
    match event:
        case StoreOpened():
            return _take_store(session, event)
        case Learned(lookup, entry):
            wanted = tuple(other for other in session.query.lookups if other != lookup)
            return session._replace(
                query=session.query._replace(entries={**session.query.entries, lookup: entry}, lookups=wanted)
            )
        case Advanced() | Held() | Ended() if session.store.run:
            return session._replace(store=session.store._replace(run=run_after(session.store.run, event)))
        case Unusable():
            return session._replace(store=session.store._replace(is_storeless=True))
        case Unwatched():
            return session._replace(store=session.store._replace(watching=False))
        case AnalysisDone():
            return _take_result(session, event)
        case AnalysisMoved(analysis, done, total):
            return session._replace(analysing=(analysis, done, total))
        case TaskMoved(name, progress):
            return session._replace(store=session.store._replace(task=name, task_progress=progress))
        case Ran():
            return session._replace(store=session.store._replace(tasks_done=session.store.tasks_done + 1))
        case TaskDone():
            store = session.store._replace(task="", task_progress=None, tasks_done=session.store.tasks_done + 1)
            fresh = session._replace(store=store)
            is_failed = event.error is not None
            return judging.finish_grading(fresh, failed=is_failed) if event.name == judging.GRADE else fresh
        case Answered() | Failed() | Charted() | Cited() if event.question == session.query.question:
            return _of_question(session, event)
        case Reweighed() | Fetched() | Repacked() if event.generation == session.query.generation:
            return _of_generation(session, event)
    return session


def _take_store(session: Session, event: StoreOpened) -> Session:
    is_same = session.store.info is not None and _stage(session.store.info) == _stage(event.info)
    fresh = session._replace(store=session.store._replace(info=event.info, is_storeless=False))
    if event.config is not None:
        is_moved = (
            session.weights.saved is not None and session.weights.saved.budget_tokens == event.config.budget_tokens
        )
        budget_tokens = session.context.budget_tokens if is_moved else event.config.budget_tokens
        fresh = weighing.adopt_saved(
            fresh._replace(
                weights=fresh.weights._replace(toml=event.toml),
                context=fresh.context._replace(budget_tokens=budget_tokens),
            ),
            event.config,
        )
    if event.is_written:
        fresh = fresh._replace(store=fresh.store._replace(writes=session.store.writes + 1))
    if _is_judged_elsewhere(session, event):
        fresh = fresh._replace(store=fresh.store._replace(tasks_done=session.store.tasks_done + 1))
    return fresh if is_same else fresh._replace(query=fresh.query._replace(entries={}, lookups=()))


def _stage(info: StoreInfo) -> tuple[int, str]:
    """Return the identity of a store's state. Another store may have the same generation."""
    return info.generation, info.digest


def _is_judged_elsewhere(session: Session, event: StoreOpened) -> bool:
    """Return True if another program changed the judgements since they were read."""
    known = latest(session, "grades", JudgedQueries)
    if not event.judged or not isinstance(known, JudgedQueries) or session.store.task or session.judge.gradings:
        return False
    return known.digest != event.judged


def _take_result(session: Session, event: AnalysisDone) -> Session:
    """Return the session with a result, without results that are no longer valid."""
    valid = {
        analysis: kept
        for analysis, kept in session.analyses.items()
        if analysis.kind in LASTING or kept[0] == stamp_of(session, analysis)
    }
    if event.stamp == stamp_of(session, event.analysis):
        if event.analysis.kind == "grades":
            session = judging.drop_read_gradings(session, event.stamp[TASKS_AT])
        valid.pop(event.analysis, None)
        valid[event.analysis] = event.stamp, event.result
        most = 1 if event.analysis.kind in LASTING else MOST_KEPT
        for old in [analysis for analysis in valid if analysis.kind == event.analysis.kind][:-most]:
            del valid[old]
    return session._replace(analyses=valid)


def _of_question(session: Session, event: OfQuestion) -> Session:
    match event:
        case Answered():
            return _take_answer(session, event)
        case Failed(_, error):
            return session._replace(query=session.query._replace(trouble=error, busy=False))
        case Charted(_, chart):
            return session._replace(weights=session.weights._replace(chart=chart))
        case Cited(_, passages, matched):
            known = {**session.results.passages, **passages}
            spans = {**session.results.matched, **matched}
            return session._replace(results=session.results._replace(passages=known, matched=spans))


def _of_generation(session: Session, event: OfGeneration) -> Session:
    match event:
        case Reweighed():
            return _take_weights(session, event)
        case Fetched(_, hits, states, before, matched):
            fresh = session._replace(
                results=session.results._replace(
                    hits={**session.results.hits, **hits},
                    states={**session.results.states, **states},
                    matched={**session.results.matched, **matched},
                ),
                weights=session.weights._replace(saved_ranks={**session.weights.saved_ranks, **before}),
            )
            return fresh._replace(
                results=fresh.results._replace(
                    hit=fresh.results.hits.get(session.results.selected, session.results.hit)
                )
            )
        case Repacked():
            return take_context(session, event)


def _take_answer(session: Session, event: Answered) -> Session:
    """Return the session with an answer. Keep the selection if only the store changed."""
    answer, before = event.answer, session.results.answer
    same = before is not None and before.plan.text == answer.plan.text
    selected, is_listed = 0, True
    if before is not None and is_refreshed(before, answer):
        selected, is_listed = follow_row(before, session.results.selected, answer)
    elif same:
        selected = min(session.results.selected, max(0, list_range(answer)[1] - 1))
    fresh = session if same else forget_line(session)
    return fresh._replace(
        results=fresh.results._replace(
            answer=answer,
            ranked_at=event.generation,
            answered=event.question,
            hits=event.hits,
            states=event.states,
            matched=event.matched,
            passages=event.passages,
            with_words=event.with_words,
            grouping=grouping_in(answer, is_grouped=session.results.is_grouped),
            selected=selected,
            displaced=session.results.displaced + (not is_listed),
            hit=event.hits.get(selected),
            took_ms=max(0.0, (event.at - session.query.asked_at) * 1000)
            if session.query.busy
            else session.results.took_ms,
        ),
        weights=fresh.weights._replace(plain=event.plain, fixed=event.fixed, saved_ranks=event.before, chart=None),
        query=fresh.query._replace(trouble=None, busy=False),
    )


def _take_weights(session: Session, event: Reweighed) -> Session:
    """Return the session with the pool ranked again. The selection stays at its row, where the user is looking."""
    selected = max(0, min(session.results.selected, list_range(event.answer)[1] - 1))
    is_asked = session.query.text == event.answer.plan.text
    return session._replace(
        results=session.results._replace(
            answer=event.answer,
            ranked_at=event.generation,
            hits=event.hits,
            states=event.states,
            matched=event.matched,
            passages={**session.results.passages, **event.passages},
            with_words=event.with_words,
            grouping=grouping_in(event.answer, is_grouped=session.results.is_grouped),
            selected=selected,
            hit=event.hits.get(selected),
        ),
        weights=session.weights._replace(plain=event.plain, saved_ranks=event.before),
        query=session.query._replace(trouble=None if is_asked else session.query.trouble),
    )


def is_refreshed(before: Answer, answer: Answer) -> bool:
    """Return True if the same question was answered from another state of the store."""
    is_other = (before.generation, before.digest) != (answer.generation, answer.digest)
    return is_other and before.plan.text == answer.plan.text


def follow_row(before: Answer, row: int, answer: Answer) -> tuple[int, bool]:
    """Return the row that this row of the older answer has become, and whether its document is still listed.

    It is the same place of the document, else the document's first row, else the row with the same number. Rows
    without a signal cannot be followed.
    """
    older, newer = _positions(before), _positions(answer)
    number = max(0, min(row, list_range(answer)[1] - 1))
    if before.pool is None or answer.pool is None or row >= len(older):
        return number, True
    was, keys, first = before.pool.keys[older[row]], answer.pool.keys, None
    for place, position in enumerate(newer):
        key = keys[position]
        if key.path == was.path:
            if key.offset == was.offset:
                return place, True
            first = place if first is None else first
    return (number, False) if first is None else (first, True)


def _positions(answer: Answer) -> Sequence[int]:
    """Return the listed rows, by position in the pool."""
    first, rows = list_range(answer)
    return () if answer.ranked is None else answer.ranked.order[first : first + rows]


def run_after(run: Run, event: Advanced | Held | Ended) -> Run:
    """Return the run after the event."""
    if isinstance(event, Advanced):
        return run._replace(meter=event.meter)
    if isinstance(event, Held):
        return run._replace(hold="held" if event.is_held else "")
    if event.error is not None:
        hint = f" ({event.error.hint})" if event.error.hint else ""
        return run._replace(ended="failed", hold="", summary=f"{event.error.message}{hint}")
    if event.view is None:
        summary = "cancelled; committed files are kept, F5 in pane 7 resumes"
        return run._replace(ended="cancelled", hold="", summary=summary)
    counts = [f"{event.view[verb]:,} {verb}" for verb in VERBS if event.view[verb]]  # type: ignore[literal-required]
    return run._replace(ended="done", hold="", summary=", ".join(counts) or "nothing to add")


class QueryRequest(NamedTuple):
    """Everything that the screen needs from the store now. The newest request replaces older ones."""

    generation: int
    text: str
    window: tuple[int, int]
    packing: Packing
    lookups: tuple[Lookup, ...] = ()
    question: int = 0
    settings: Tweaks = MappingProxyType({})
    saved: Config | None = None
    k: int | None = None
    seen: tuple[int, int] = (0, 0)
    """Visible places of the window, whose rows have their passages."""
    is_grouped: bool = False
    """Places are those of grouped rows, not ranks."""
    is_k_moved: bool = False
    """The user changed the number of rows, so it also applies to the context."""
    filter: str = ""
    is_given_up: bool = False
    """The question was cancelled. If it has an answer, the answer stays."""


def query_request(session: Session) -> QueryRequest:
    """Return the request for the query thread."""
    return QueryRequest(
        generation=session.query.generation,
        text=session.query.text,
        window=session.results.window,
        seen=session.results.seen,
        is_grouped=session.results.is_grouped,
        packing=Packing(session.context.budget_tokens, session.context.pins, session.context.drops),
        lookups=session.query.lookups,
        question=session.query.question,
        settings=session.weights.tweaks,
        saved=session.weights.saved,
        k=k_of(session),
        is_k_moved=session.weights.k is not None,
        filter=session.query.filter,
        is_given_up=session.query.given_up == session.query.question,
    )


WANTS: tuple[Callable[[Session], Iterator[Analysis]], ...] = (
    explaining.wants,
    packing.wants,
    judging.wants,
    store_pane.wants,
    tuning.wants,
)
"""The analyses of each pane. The explain pane comes first, the slow curves come last."""


def wanted_analyses(session: Session) -> tuple[tuple[Analysis, Stamp], ...]:
    """Return the analyses that are not done yet, or none while a question is being answered.

    While the question has an error, only analyses of the store are wanted. While the pool is ranked again, none of
    the current order, since the result would be stored for the new one.
    """
    if session.store.info is None or session.query.busy:
        return ()
    analyses = dict.fromkeys(analysis for wants in WANTS for analysis in wants(session))
    if session.results.answer is not None and session.results.ranked_at != session.query.generation:
        analyses = dict.fromkeys(analysis for analysis in analyses if SCOPES[analysis.kind] != "answer")
    if session.query.trouble is not None:
        analyses = dict.fromkeys(analysis for analysis in analyses if SCOPES[analysis.kind] in ("store", "file"))
    return tuple(
        (analysis, stamp_of(session, analysis))
        for analysis in analyses
        if result_of(session, analysis, object) is None
    )
