"""What the workbench knows, and how every event changes it: pure, and without a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from recall_core.config import Config
from recall_core.errors import Interrupted, RecallError
from recall_core.types import Hit, Packed, Progress, StoreInfo
from recall_tui.home.history import PastQuestion
from recall_tui.state.analyses import Analysis, Stamp
from recall_tui.state.completion import Lookup, LookupResult
from recall_tui.state.runs import Run

if TYPE_CHECKING:
    from recall_core.evaluate.grades import Regrade
    from recall_core.retrieve import Answer, Plan
    from recall_core.retrieve.freshness import State
    from recall_tui.home.profiles import Profile
    from recall_tui.state.chart import Chart
    from recall_tui.state.fixes import Tried
    from recall_tui.state.judging import Grading
    from recall_tui.state.tuning import PinnedChunk

Pane = Literal["query", "results", "explain", "weights", "context", "judge", "ingest", "store"]
PANES: tuple[Pane, ...] = ("query", "results", "explain", "weights", "context", "judge", "ingest", "store")
"""In the order of their digits and of Tab."""
Tab = Literal["explain", "weights", "context", "judge", "store"]
TABS: tuple[Tab, ...] = ("explain", "weights", "context", "judge", "store")
"""The panes of which a narrow screen shows one; a wider one shows all but that explain and store share a place."""
View = Literal["ledger", "passage", "absence", "funnel", "versus"]
VIEWS: tuple[View, ...] = ("ledger", "passage", "absence", "funnel", "versus")
"""The tabs of the explain pane."""

Tweaks: TypeAlias = Mapping[str, str | float | bool]
"""Settings that are moved away from their saved values, by key."""

FIRST_WINDOW = 100  # rows fetched with an answer, before the list has said what it shows
BUDGET_MOST = 10_000_000


class Packing(NamedTuple):
    """How a context is packed. pins, drops: ids of chunks that must be in it, or must not."""

    budget_tokens: int
    pins: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()


class Waiting(NamedTuple):
    """A chunk that is pinned or forced out, and that the question does not have. path: "" once the store has not."""

    chunk_id: str
    path: str


class QuestionChange(NamedTuple):
    """A question that took the place of another in one step with settings: text and filter, of each."""

    before: tuple[str, str]
    after: tuple[str, str]


class Moved(NamedTuple):
    """What a person has moved away from where it is saved."""

    tweaks: Mapping[str, str | float | bool] = {}
    k: int | None = None
    asked: QuestionChange | None = None
    """Among what can be undone, or made again: the question that came with the step away from here."""


class Session(NamedTuple):
    """Everything the screen shows. An answer stays while a newer question is unanswered or cannot be parsed."""

    text: str = ""
    generation: int = 0
    """Counts questions and moved settings; an event of an older one changes nothing."""
    question: int = 0
    """Counts questions alone."""
    busy: bool = False
    lingers: int = -1
    """The question that has been under way for so long that it is offered to give it up, counted."""
    given_up: int = -1
    """The question that was given up, counted."""
    asked_at: float = 0.0
    """Seconds on the caller's clock when the newest question was asked."""
    took_ms: float = 0.0
    """From the question to its first rows."""
    answer: Answer | None = None
    ranked_at: int = 0
    """The generation that `answer` belongs to: a setting that has moved since is not in its order yet."""
    answered: int = 0
    """The question that `answer` belongs to, counted."""
    window: tuple[int, int] = (0, FIRST_WINDOW)
    """Rows the list wants: first and end."""
    hits: Mapping[int, Hit] = {}
    """The fetched rows by their place in the list, from 0."""
    states: Mapping[str, State] = {}
    """What happened to the file of a fetched row since it was read, by doc.id; nothing happened to the others."""
    matched: Mapping[str, tuple[tuple[int, int], ...]] = {}
    """Where words of the question stand in the titles and headings of the fetched rows, by their text."""
    selected: int = 0
    displaced: int = 0
    """Counts how often another document came under the selection because the one before it left the list."""
    hit: Hit | None = None
    """The selected hit; the one before it until its own has arrived."""
    trouble: RecallError | None = None
    """Why the newest question has no answer; the older answer is stale then."""
    budget_tokens: int = 2_000
    pins: tuple[str, ...] = ()
    """Chunks that a person forced into the context, by id."""
    drops: tuple[str, ...] = ()
    """Chunks that a person forced out of it."""
    packed: Packed | None = None
    block_tokens: tuple[int, ...] = ()
    packing: Packing | None = None
    """How `packed` was packed, with the pins and drops that were among its candidates."""
    packed_at: int = 0
    """The generation that `packed` belongs to."""
    waiting: tuple[Waiting, ...] = ()
    """Pins and drops that were not among its candidates: they wait for a question that has them."""
    unfolded: str = ""
    """The id of a chunk whose block is shown whole."""
    info: StoreInfo | None = None
    is_storeless: bool = False  # no store can be opened; before the first is open, one may be
    saved: Config | None = None
    """The settings in recall.toml."""
    toml: Path | None = None
    tweaks: Mapping[str, str | float | bool] = {}
    k: int | None = None
    """Rows that are asked for; None leaves it to the question: its LIMIT, or for words the whole ranking."""
    undo: tuple[Moved, ...] = ()
    """What was moved before the newest change, and before those."""
    redo: tuple[Moved, ...] = ()
    """What was undone, the newest last."""
    plain: Config | None = None
    """The settings of the answer's question without tweaks."""
    fixed: tuple[str, ...] = ()
    """The settings that the answer's question itself decides."""
    before: Mapping[int, int | None] = {}
    chart: Chart | None = None
    must: tuple[PinnedChunk, ...] = ()
    """Chunks that shall be among the first rows of a question, or shall not."""
    is_of_all: bool = False
    """The curve is the mean of all judged queries, not that of the question."""
    profile: Profile | None = None
    """The kept settings that were chosen last."""
    entries: Mapping[Lookup, LookupResult] = {}
    """What completion knows of the store as it is."""
    lookups: tuple[Lookup, ...] = ()
    """What completion still wants to know."""
    filter: str = ""
    """An expression that the rows of plain words have to satisfy; a query in RQL has its own."""
    is_settled: bool = False
    """The person has let the text stand: ran it, went on from it, or left."""
    kept: PastQuestion = PastQuestion("")
    """The question that went into the history last."""
    kept_at: int = 0
    """Which question that was, counted."""
    run: Run | None = None
    watching: bool = False
    """The store follows its folders."""
    is_behind: bool = False
    """Something changed in them that no run has begun to read, or that one could not."""
    synced: Mapping[str, str] = {}
    """The time of day at which each folder was last brought up to date by this workbench."""
    studied: Mapping[Analysis, tuple[Stamp, object]] = {}
    """What was found out; `found` gives what still holds."""
    gradings: tuple[Grading, ...] = ()
    """Grades that were given and that no finding has yet, the newest last."""
    regrades: tuple[Regrade, ...] = ()
    """What was graded, the newest last, for an undo."""
    studying: tuple[Analysis, int, int] | None = None
    """A long study under way: how many of its steps are done, and of how many."""
    chore: str = ""
    """What is being done to the store."""
    chore_progress: Progress | None = None
    chores: int = 0
    """Counts chores that ended: judgements and repairs change what studies find."""
    writes: int = 0
    """Counts what was seen to be written, by whomever: it may change the file alone."""
    pane: Pane = "query"
    tab: Tab = "explain"
    view: View = "ledger"
    sought: str = ""
    """What is missed: a path, lines, an id or a text, as `recall whynot` takes it."""
    picking: str | None = None
    """What has been typed to find it, while that is asked for."""
    marked: Hit | None = None
    """The hit that the selected one is compared with."""
    applied: tuple[Tried, ...] = ()
    """The fixes that were tried, the newest last; `standing` gives those that still are."""
    cursors: Mapping[str, int] = {}
    """The chosen line of each list that is not the results, by name."""
    zoomed: bool = False
    is_narrow: bool = False


def asked(session: Session, text: str, at: float) -> Session:
    """The session with a new question under way; an empty one has no answer and asks nothing."""
    window = session.window if text == session.text else (0, FIRST_WINDOW)
    settled = session.pane != "query" or (session.is_settled and text == session.text)
    fresh = session._replace(
        text=text,
        generation=session.generation + 1,
        question=session.question + 1,
        asked_at=at,
        window=window,
        is_settled=settled,
    )
    if not text.strip():
        return fresh._replace(
            answer=None,
            hits={},
            before={},
            hit=None,
            selected=0,
            packed=None,
            block_tokens=(),
            chart=None,
            trouble=None,
            busy=False,
        )
    return fresh._replace(busy=True)


def is_lingering(session: Session) -> bool:
    """True while the newest question has been under way for long."""
    return session.busy and session.lingers == session.question


def given_up(session: Session) -> Session:
    """The session with its newest question cancelled; what the one before it found stays."""
    trouble = Interrupted("interrupted", "The question was cancelled.", hint="F5 asks it again")
    return session._replace(given_up=session.question, busy=False, trouble=trouble)


def assignments(tweaks: Tweaks) -> tuple[str, ...]:
    """The tweaks as --set takes them."""
    return tuple(f"{key}={str(value).lower()}" for key, value in tweaks.items())


def lacking(session: Session, lookups: Sequence[Lookup]) -> Session:
    """The session with these lookups wanted, and no older ones: the cursor has left their place."""
    return session._replace(lookups=tuple(lookup for lookup in lookups if lookup not in session.entries))


def settled(session: Session) -> Session:
    """The session with its text let stand: its answer is worth remembering."""
    return session._replace(is_settled=True)


def chosen(session: Session, row: int) -> Session:
    """The session with another row selected, kept inside the list."""
    if session.answer is None:
        return session
    row = max(0, min(row, listed(session.answer)[1] - 1))
    return session._replace(selected=row, hit=session.hits.get(row, session.hit))


def looking_at(session: Session, first: int, end: int) -> Session:
    """The session with the list's visible rows wanted, and two screenfuls around them before one is left."""
    rows = max(20, end - first)
    if session.window[0] <= max(0, first - rows) and end + rows <= session.window[1]:
        return session
    return session._replace(window=(max(0, first - 2 * rows), end + 2 * rows))


def budgeted(session: Session, budget_tokens: int) -> Session:
    """The session with another token budget, at least 1."""
    return session._replace(budget_tokens=max(1, min(budget_tokens, BUDGET_MOST)))


def focused(session: Session, pane: Pane) -> Session:
    """The session with another pane in front."""
    tab = pane if pane in TABS else session.tab
    return session._replace(pane=pane, tab=tab, is_settled=session.is_settled or pane != "query")


def stepped(session: Session, panes: int) -> Pane:
    """The pane that many steps further round; the ingest pane only counts while its strip stands there."""
    reachable = [pane for pane in PANES if pane != "ingest" or has_strip(session) or pane == session.pane]
    return reachable[(reachable.index(session.pane) + panes) % len(reachable)]


def listed(answer: Answer) -> tuple[int, int]:
    """The rank before the first listed row, and how many rows the list has.

    Plain words list the whole ranking unless a number of rows is asked for; a query in RQL lists what its LIMIT and
    OFFSET leave.
    """
    if answer.plan.rql is None and not answer.plan.is_capped:
        return 0, answer.total
    offset = answer.plan.offset
    return offset, max(0, min(answer.plan.limit, answer.total - offset))


def filter_of(plan: Plan) -> str | None:
    """The expression that words were filtered by; a query in RQL has it in its text."""
    return plan.filters if plan.rql is None else None


def is_stale(session: Session) -> bool:
    """True while what is listed does not answer what is written."""
    return session.trouble is not None and session.answer is not None


def has_strip(session: Session) -> bool:
    """True while the ingest pane has a line on the screen although it is not in front."""
    return session.run is not None or session.watching


def is_ingesting(session: Session) -> bool:
    """True while a run is under way."""
    return session.run is not None and not session.run.ended


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
