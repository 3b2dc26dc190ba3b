"""The session, everything the screen shows, and the changes that several panes make to it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from recall_core import rql
from recall_core.errors import Interrupted, RecallError
from recall_core.rql.parser import is_query
from recall_tui.state.grouping import BY_RANK, Grouping, grouping_of
from recall_tui.state.records import (
    FIRST_WINDOW,
    SCOPES,
    Analysis,
    ContextState,
    JudgeState,
    Kind,
    Lookup,
    QueryState,
    QueryTab,
    ResultsState,
    Scope,
    Stamp,
    StoreState,
    WeightsState,
)

if TYPE_CHECKING:
    from recall_core.retrieve.answer import Answer
    from recall_core.retrieve.plan import Plan

Pane = Literal["query", "results", "explain", "weights", "context", "judge", "ingest", "store"]
PANES: tuple[Pane, ...] = ("query", "results", "explain", "weights", "context", "judge", "ingest", "store")
"""In the order of their digits and of Tab."""
Tab = Literal["explain", "weights", "context", "judge", "store"]
TABS: tuple[Tab, ...] = ("explain", "weights", "context", "judge", "store")
"""Panes that share one place on a narrow screen. On a wider screen only explain and store share a place."""
View = Literal["ledger", "passage", "whynot", "funnel", "compare"]
VIEWS: tuple[View, ...] = ("ledger", "passage", "whynot", "funnel", "compare")
"""The tabs of the explain pane."""
BUDGET_MOST = 10_000_000
WORDS_K = 50
"""Rows listed for plain words by default."""


class Session(NamedTuple):
    """Everything the screen shows. An answer stays while a newer question has no answer or an error."""

    query: QueryState = QueryState()
    results: ResultsState = ResultsState()
    weights: WeightsState = WeightsState()
    context: ContextState = ContextState()
    judge: JudgeState = JudgeState()
    store: StoreState = StoreState()
    pane: Pane = "query"
    tab: Tab = "explain"
    view: View = "ledger"
    cursors: Mapping[str, int] = {}
    """The chosen line of each list other than the results, by name."""
    zoomed: bool = False
    is_narrow: bool = False
    analyses: Mapping[Analysis, tuple[Stamp, object]] = {}
    """Results of analyses. `result_of` returns those that are still valid."""
    analysing: tuple[Analysis, int, int] | None = None
    """A long analysis that is running, with its steps done and in total."""


def ask(session: Session, text: str, at: float) -> Session:
    """Return the session with a new question being searched. An empty text has no answer and asks nothing."""
    is_same = text == session.query.text
    window = session.results.window if is_same else (0, FIRST_WINDOW)
    height = session.results.seen[1] - session.results.seen[0]
    settled = session.pane != "query" or (session.query.is_settled and text == session.query.text)
    fresh = session._replace(
        query=session.query._replace(
            text=text,
            generation=session.query.generation + 1,
            question=session.query.question + 1,
            asked_at=at,
            is_settled=settled,
        ),
        results=session.results._replace(window=window, seen=session.results.seen if is_same else (0, height)),
    )
    if not text.strip():
        return fresh._replace(
            results=fresh.results._replace(answer=None, hits={}, hit=None, selected=0, grouping=BY_RANK),
            weights=fresh.weights._replace(saved_ranks={}, chart=None),
            context=fresh.context._replace(packed=None, block_tokens=()),
            query=fresh.query._replace(trouble=None, busy=False),
        )
    return fresh._replace(query=fresh.query._replace(busy=True))


def is_lingering(session: Session) -> bool:
    """Return True while the newest question takes long."""
    return session.query.busy and session.query.lingers == session.query.question


def give_up(session: Session) -> Session:
    """Return the session with its newest question cancelled. The answer before it stays."""
    trouble = Interrupted("interrupted", "The query was cancelled.", hint="F5 runs it again")
    return session._replace(
        query=session.query._replace(given_up=session.query.question, busy=False, trouble=trouble)
    )


def want_lookups(session: Session, lookups: Sequence[Lookup]) -> Session:
    """Return the session that wants these lookups, and none for an older place of the cursor."""
    return session._replace(
        query=session.query._replace(
            lookups=tuple(lookup for lookup in lookups if lookup not in session.query.entries)
        )
    )


def settle(session: Session) -> Session:
    """Return the session with its text settled, so that its answer goes into the history."""
    return session._replace(query=session.query._replace(is_settled=True))


def select_row(session: Session, row: int) -> Session:
    """Return the session with another row selected, kept inside the list."""
    if session.results.answer is None:
        return session
    row = max(0, min(row, list_range(session.results.answer)[1] - 1))
    return session._replace(
        results=session.results._replace(selected=row, hit=session.results.hits.get(row, session.results.hit))
    )


def select_place(session: Session, place: int) -> Session:
    """Return the session with the row at this place on the screen selected, kept inside the list."""
    if session.results.answer is None:
        return session
    last = max(0, list_range(session.results.answer)[1] - 1)
    return select_row(session, session.results.grouping.row(max(0, min(place, last))))


def move_selection(session: Session, rows: int) -> Session:
    """Return the session with the row selected that is drawn `rows` rows below the selected one."""
    return select_place(session, session.results.grouping.place(session.results.selected) + rows)


def toggle_grouping(session: Session) -> Session:
    """Return the session with its rows grouped by document, or by rank again."""
    is_grouped = not session.results.is_grouped
    grouping = grouping_in(session.results.answer, is_grouped=is_grouped)
    return session._replace(results=session.results._replace(is_grouped=is_grouped, grouping=grouping))


def grouping_in(answer: Answer | None, *, is_grouped: bool) -> Grouping:
    """Return the order in which the rows of an answer are listed."""
    return grouping_of(answer, *list_range(answer)) if is_grouped and answer is not None else BY_RANK


def look_at(session: Session, first: int, end: int) -> Session:
    """Return the session that wants the visible places of the list, with two screenfuls around them."""
    rows = max(20, end - first)
    if (first, end) == session.results.seen:
        return session
    results = session.results._replace(seen=(first, end))
    if not (results.window[0] <= max(0, first - rows) and end + rows <= results.window[1]):
        results = results._replace(window=(max(0, first - 2 * rows), end + 2 * rows))
    return session._replace(results=results)


def set_budget(session: Session, budget_tokens: int) -> Session:
    """Return the session with another token budget, at least 1."""
    return session._replace(context=session.context._replace(budget_tokens=max(1, min(budget_tokens, BUDGET_MOST))))


def focus_pane(session: Session, pane: Pane) -> Session:
    """Return the session with another active pane."""
    tab = pane if pane in TABS else session.tab
    return session._replace(
        pane=pane, tab=tab, query=session.query._replace(is_settled=session.query.is_settled or pane != "query")
    )


def next_pane(session: Session, panes: int) -> Pane:
    """Return the pane that many steps further, wrapping around. The ingest pane counts only while it is visible."""
    reachable = [pane for pane in PANES if pane != "ingest" or has_strip(session) or pane == session.pane]
    return reachable[(reachable.index(session.pane) + panes) % len(reachable)]


def list_range(answer: Answer) -> tuple[int, int]:
    """Return the rank before the first listed row, and the number of listed rows: from LIMIT and OFFSET, or k."""
    offset = answer.plan.offset
    return offset, max(0, min(answer.plan.limit, answer.total - offset))


def k_of(session: Session) -> int | None:
    """Return the number of rows for --k. None leaves it to the LIMIT of a query in RQL."""
    if session.weights.k is not None or is_query(session.query.text):
        return session.weights.k
    return WORDS_K


def filter_of(plan: Plan) -> str | None:
    """Return the filter of plain words. A query in RQL has its filter in the text, and so have words with `-word`."""
    if plan.rql is not None:
        return None
    if plan.typed is None or not plan.typed.excluded:
        return plan.filters
    excluded = [rql.ast.Not(rql.ast.Words(word)) for word in plan.typed.excluded]
    terms = plan.where.terms if isinstance(plan.where, rql.ast.And) else (plan.where,)
    own = tuple(each for each in terms if each is not None and each not in excluded)
    return rql.print.print_filter(rql.ast.And(own) if len(own) > 1 else own[0]) if own else None


def is_stale(session: Session) -> bool:
    """Return True while the list does not answer the current text."""
    return session.query.trouble is not None and session.results.answer is not None


def has_strip(session: Session) -> bool:
    """Return True while the ingest pane has its one line on the screen."""
    return session.store.run is not None or session.store.watching


def is_ingesting(session: Session) -> bool:
    """Return True while an ingest run is running."""
    return session.store.run is not None and not session.store.run.ended


def is_seen(session: Session, pane: Pane) -> bool:
    """Return True if the pane is visible."""
    if session.zoomed:
        return pane == session.pane
    if pane in ("query", "results"):
        return True
    if pane == "ingest":
        return session.pane == "ingest"
    if session.is_narrow:
        return pane == session.tab
    return pane in ("weights", "context", "judge") or (pane == "store") == (session.tab == "store")


def move_cursor(session: Session, name: str, row: int, rows: int) -> Session:
    """Return the session with another line of a list chosen, kept inside its rows."""
    return session._replace(cursors={**session.cursors, name: max(0, min(row, rows - 1))})


def stamp_of(session: Session, analysis: Analysis) -> Stamp:
    """Return the counters that an analysis depends on. Until a newer question has rows, those of the rows shown."""
    info = session.store.info
    store = (info.generation if info else 0, int(info.digest, 16) if info else 0, session.store.tasks_done)
    is_shown = session.results.answered == session.query.question
    of_scope: dict[Scope, Stamp] = {
        "file": (session.store.writes,),
        "store": (),
        "question": (session.results.answered,),
        "answer": (session.query.question, session.query.generation)
        if is_shown
        else (session.results.answered, session.results.ranked_at),
    }
    return (*store, *of_scope[SCOPES[analysis.kind]])


Result = TypeVar("Result")


def result_of(session: Session, analysis: Analysis | None, of: type[Result]) -> Result | RecallError | None:
    """Return the result of an analysis, its error, or None if it is not done or not wanted."""
    if analysis is None:
        return None
    stamp, result = session.analyses.get(analysis, ((), None))
    if result is None or stamp != stamp_of(session, analysis):
        return None
    assert isinstance(result, (of, RecallError))  # noqa: S101 - each kind of analysis has one type of result
    return result


def value_of(session: Session, analysis: Analysis | None, of: type[Result]) -> Result | None:
    """Return the result of an analysis, or None without one or after an error."""
    result = result_of(session, analysis, of)
    return result if isinstance(result, of) else None


def latest(session: Session, kind: Kind, of: type[Result]) -> Result | RecallError | None:
    """Return the newest result of a lasting kind, perhaps an outdated one, or None before the first."""
    result = next((result for analysis, (_, result) in session.analyses.items() if analysis.kind == kind), None)
    assert result is None or isinstance(result, (of, RecallError))  # noqa: S101 - as above
    return result


MOST_TABS = 9
"""Most tabs that fit in a title."""


def tabs_of(session: Session, text: str) -> tuple[QueryTab, ...]:
    """Return every tab, with the current text in the open one. text: of the field."""
    query = session.query
    tabs = query.tabs or (QueryTab(),)
    return (*tabs[: query.tab], QueryTab(text, query.filter), *tabs[query.tab + 1 :])


def has_tabs(session: Session) -> bool:
    """Return True if there are several tabs."""
    return len(session.query.tabs) > 1


def open_tab(session: Session, text: str) -> Session:
    """Return the session with a new empty tab open, after all others."""
    tabs = tabs_of(session, text)
    return _at((*tabs, QueryTab()), len(tabs), session) if len(tabs) < MOST_TABS else session


def go_to_tab(session: Session, text: str, place: int) -> Session:
    """Return the session with the tab at this place open, counted from 0 and wrapping around."""
    tabs = tabs_of(session, text)
    return _at(tabs, place % len(tabs), session)


def close_tab(session: Session) -> Session:
    """Return the session without the open tab, at the tab before it. The only tab becomes empty instead."""
    tabs = session.query.tabs[: session.query.tab] + session.query.tabs[session.query.tab + 1 :]
    return _at(tabs or (QueryTab(),), max(0, session.query.tab - 1), session)


def _at(tabs: tuple[QueryTab, ...], place: int, session: Session) -> Session:
    return session._replace(query=session.query._replace(tabs=tabs, tab=place, filter=tabs[place].filter))
