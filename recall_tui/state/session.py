"""What the workbench knows, and how every event changes it: pure, and without a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from recall_core.errors import Interrupted
from recall_core.rql.parser import is_query
from recall_tui.state.analyses import Analysis, Stamp
from recall_tui.state.completion import Lookup
from recall_tui.state.grouping import BY_RANK, Grouping, grouping_of
from recall_tui.state.records import (
    FIRST_WINDOW,
    ContextState,
    JudgeState,
    QueryState,
    ResultsState,
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
"""The panes of which a narrow screen shows one; a wider one shows all but that explain and store share a place."""
View = Literal["ledger", "passage", "whynot", "funnel", "compare"]
VIEWS: tuple[View, ...] = ("ledger", "passage", "whynot", "funnel", "compare")
"""The tabs of the explain pane."""

BUDGET_MOST = 10_000_000
WORDS_K = 50
"""Rows that plain words list, unless another number is asked for."""


class Session(NamedTuple):
    """Everything the screen shows. An answer stays while a newer question is unanswered or cannot be parsed."""

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
    """The chosen line of each list that is not the results, by name."""
    zoomed: bool = False
    is_narrow: bool = False
    analyses: Mapping[Analysis, tuple[Stamp, object]] = {}
    """What was found out; `found` gives what still holds."""
    analysing: tuple[Analysis, int, int] | None = None
    """A long analysis under way: how many of its steps are done, and of how many."""


def asked(session: Session, text: str, at: float) -> Session:
    """The session with a new question under way; an empty one has no answer and asks nothing."""
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
    """True while the newest question has been under way for long."""
    return session.query.busy and session.query.lingers == session.query.question


def given_up(session: Session) -> Session:
    """The session with its newest question cancelled; what the one before it found stays."""
    trouble = Interrupted("interrupted", "The query was cancelled.", hint="F5 runs it again")
    return session._replace(
        query=session.query._replace(given_up=session.query.question, busy=False, trouble=trouble)
    )


def lacking(session: Session, lookups: Sequence[Lookup]) -> Session:
    """The session with these lookups wanted, and no older ones: the cursor has left their place."""
    return session._replace(
        query=session.query._replace(
            lookups=tuple(lookup for lookup in lookups if lookup not in session.query.entries)
        )
    )


def settled(session: Session) -> Session:
    """The session with its text let stand: its answer is worth remembering."""
    return session._replace(query=session.query._replace(is_settled=True))


def chosen(session: Session, row: int) -> Session:
    """The session with another row selected, kept inside the list."""
    if session.results.answer is None:
        return session
    row = max(0, min(row, listed(session.results.answer)[1] - 1))
    return session._replace(
        results=session.results._replace(selected=row, hit=session.results.hits.get(row, session.results.hit))
    )


def chosen_at(session: Session, place: int) -> Session:
    """The session with the row selected that is painted at this place, kept inside the list."""
    if session.results.answer is None:
        return session
    last = max(0, listed(session.results.answer)[1] - 1)
    return chosen(session, session.results.grouping.row(max(0, min(place, last))))


def went_on(session: Session, rows: int) -> Session:
    """The session with the row selected that is painted so many rows below the selected one."""
    return chosen_at(session, session.results.grouping.place(session.results.selected) + rows)


def regrouped(session: Session) -> Session:
    """The session with its rows below their documents, or by rank again."""
    is_grouped = not session.results.is_grouped
    grouping = grouping_in(session.results.answer, is_grouped=is_grouped)
    return session._replace(results=session.results._replace(is_grouped=is_grouped, grouping=grouping))


def grouping_in(answer: Answer | None, *, is_grouped: bool) -> Grouping:
    """How the rows of an answer are listed."""
    return grouping_of(answer, *listed(answer)) if is_grouped and answer is not None else BY_RANK


def looking_at(session: Session, first: int, end: int) -> Session:
    """The session with the list's visible places wanted, and two screenfuls around them before one is left."""
    rows = max(20, end - first)
    if (first, end) == session.results.seen:
        return session
    results = session.results._replace(seen=(first, end))
    if not (results.window[0] <= max(0, first - rows) and end + rows <= results.window[1]):
        results = results._replace(window=(max(0, first - 2 * rows), end + 2 * rows))
    return session._replace(results=results)


def budgeted(session: Session, budget_tokens: int) -> Session:
    """The session with another token budget, at least 1."""
    return session._replace(context=session.context._replace(budget_tokens=max(1, min(budget_tokens, BUDGET_MOST))))


def focused(session: Session, pane: Pane) -> Session:
    """The session with another pane in front."""
    tab = pane if pane in TABS else session.tab
    return session._replace(
        pane=pane, tab=tab, query=session.query._replace(is_settled=session.query.is_settled or pane != "query")
    )


def stepped(session: Session, panes: int) -> Pane:
    """The pane that many steps further round; the ingest pane only counts while its strip stands there."""
    reachable = [pane for pane in PANES if pane != "ingest" or has_strip(session) or pane == session.pane]
    return reachable[(reachable.index(session.pane) + panes) % len(reachable)]


def listed(answer: Answer) -> tuple[int, int]:
    """The rank before the first listed row, and how many rows the list has: what LIMIT and OFFSET leave, or k."""
    offset = answer.plan.offset
    return offset, max(0, min(answer.plan.limit, answer.total - offset))


def k_of(session: Session) -> int | None:
    """The rows that are asked for, as --k takes them; None leaves it to the LIMIT of a query in RQL."""
    if session.weights.k is not None or is_query(session.query.text):
        return session.weights.k
    return WORDS_K


def filter_of(plan: Plan) -> str | None:
    """The expression that words were filtered by; a query in RQL has it in its text."""
    return plan.filters if plan.rql is None else None


def is_stale(session: Session) -> bool:
    """True while what is listed does not answer what is written."""
    return session.query.trouble is not None and session.results.answer is not None


def has_strip(session: Session) -> bool:
    """True while the ingest pane has a line on the screen although it is not in front."""
    return session.store.run is not None or session.store.watching


def is_ingesting(session: Session) -> bool:
    """True while a run is under way."""
    return session.store.run is not None and not session.store.run.ended


def is_seen(session: Session, pane: Pane) -> bool:
    """True when the pane stands on the screen."""
    if session.zoomed:
        return pane == session.pane
    if pane in ("query", "results"):
        return True
    if pane == "ingest":
        return session.pane == "ingest"
    if session.is_narrow:
        return pane == session.tab
    return pane in ("weights", "context", "judge") or (pane == "store") == (session.tab == "store")


def pointed(session: Session, name: str, row: int, rows: int) -> Session:
    """The session with another line of a list chosen, kept inside its rows."""
    return session._replace(cursors={**session.cursors, name: max(0, min(row, rows - 1))})
