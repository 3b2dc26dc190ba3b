"""What the workbench knows, and how every event changes it: pure, and without a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from recall_core.config import Config
from recall_core.errors import RecallError
from recall_core.types import Hit, Packed, Progress, StoreInfo
from recall_tui.events import (
    Advanced,
    Answered,
    Charted,
    Ended,
    Event,
    Failed,
    Fetched,
    Learned,
    OfQuestion,
    Opened,
    Repacked,
    Weighed,
)
from recall_tui.lexicon import Entry, Lookup

if TYPE_CHECKING:
    from recall_core.retrieve import Answer
    from recall_core.retrieve.freshness import State
    from recall_tui.chart import Chart

Pane = Literal["query", "results", "explain", "weights", "context", "ingest"]
PANES: tuple[Pane, ...] = ("query", "results", "explain", "weights", "context", "ingest")
"""In the order of their digits and of Tab."""
Tab = Literal["explain", "weights", "context"]

Tweaks: TypeAlias = Mapping[str, str | float | bool]
"""Settings that are moved away from their saved values, by key."""

FIRST_WINDOW = 100  # rows fetched with an answer, before the list has said what it shows
VERBS = ("added", "updated", "unchanged", "removed")
BUDGET_MOST = 10_000_000


class Run(NamedTuple):
    """An ingest run: the folder, its newest progress, chunks a second, and how it ended once it has."""

    folder: str
    progress: Progress | None = None
    rate: float = 0.0
    ended: Literal["", "done", "cancelled", "failed"] = ""
    summary: str = ""


class Session(NamedTuple):
    """Everything the screen shows. An answer stays while a newer question is unanswered or cannot be parsed."""

    text: str = ""
    generation: int = 0
    """Counts questions and moved settings; an event of an older one changes nothing."""
    question: int = 0
    """Counts questions alone."""
    busy: bool = False
    asked_at: float = 0.0
    """Seconds on the caller's clock when the newest question was asked."""
    took_ms: float = 0.0
    """From the question to its first rows."""
    answer: Answer | None = None
    window: tuple[int, int] = (0, FIRST_WINDOW)
    """Rows the list wants: first and end."""
    hits: Mapping[int, Hit] = {}
    """The fetched rows by their place in the list, from 0."""
    states: Mapping[str, State] = {}
    """What happened to the file of a fetched row since it was read, by doc.id; nothing happened to the others."""
    selected: int = 0
    hit: Hit | None = None
    """The selected hit; the one before it until its own has arrived."""
    trouble: RecallError | None = None
    """Why the newest question has no answer; the older answer is stale then."""
    budget_tokens: int = 2_000
    packed: Packed | None = None
    block_tokens: tuple[int, ...] = ()
    info: StoreInfo | None = None
    saved: Config | None = None
    """The settings in recall.toml."""
    toml: Path | None = None
    tweaks: Mapping[str, str | float | bool] = {}
    undo: tuple[Tweaks, ...] = ()
    """The tweaks before the newest change, and before those."""
    plain: Config | None = None
    """The settings of the answer's question without tweaks."""
    fixed: tuple[str, ...] = ()
    """The settings that the answer's question itself decides."""
    before: Mapping[int, int | None] = {}
    chart: Chart | None = None
    entries: Mapping[Lookup, Entry] = {}
    """What completion knows of the store as it is."""
    lookups: tuple[Lookup, ...] = ()
    """What completion still wants to know."""
    is_settled: bool = False
    """The person has let the text stand: ran it, went on from it, or left."""
    kept: str = ""
    """The query that went into the history last."""
    run: Run | None = None
    pane: Pane = "query"
    tab: Tab = "explain"
    """Which of the three a narrow screen shows."""
    zoomed: bool = False


class Wish(NamedTuple):
    """All that the screen wants of the store now; the newest wish replaces every older one."""

    generation: int
    text: str
    window: tuple[int, int]
    budget_tokens: int
    lookups: tuple[Lookup, ...] = ()
    question: int = 0
    settings: tuple[str, ...] = ()
    """`key=value` for each tweak, as --set takes them."""
    saved: Config | None = None


def after(session: Session, event: Event) -> Session:
    """The session once the event has happened; stale events leave it as it is."""
    match event:
        case Opened():
            return _opened(session, event)
        case Learned(lookup, entry):
            wanted = tuple(other for other in session.lookups if other != lookup)
            return session._replace(entries={**session.entries, lookup: entry}, lookups=wanted)
        case Advanced() | Ended() if session.run:
            return session._replace(run=_run_after(session.run, event))
        case Charted(question, chart) if question == session.question:
            return session._replace(chart=chart)
        case Answered() | Weighed() | Fetched() | Repacked() | Failed() if event.generation == session.generation:
            return _of_question(session, event)
    return session


def _opened(session: Session, event: Opened) -> Session:
    is_same = session.info is not None and session.info.generation == event.info.generation
    fresh = session._replace(info=event.info)
    if event.config is not None:
        fresh = fresh._replace(saved=event.config, toml=event.toml, budget_tokens=event.config.budget_tokens)
    return fresh if is_same else fresh._replace(entries={}, lookups=())


def _of_question(session: Session, event: OfQuestion) -> Session:
    match event:
        case Answered():
            return _answered(session, event)
        case Weighed():
            return _weighed(session, event)
        case Fetched(_, hits, states, before):
            hit = hits.get(session.selected, session.hit)
            return session._replace(hits=hits, states=states, before=before, hit=hit)
        case Repacked(_, packed, block_tokens):
            return session._replace(packed=packed, block_tokens=block_tokens)
        case Failed(_, error):
            return session._replace(trouble=error, busy=False)


def _answered(session: Session, event: Answered) -> Session:
    answer = event.answer
    same = session.answer is not None and session.answer.plan.text == answer.plan.text
    selected = min(session.selected, max(0, listed(answer)[1] - 1)) if same else 0
    return session._replace(
        answer=answer,
        hits=event.hits,
        states=event.states,
        plain=event.plain,
        fixed=event.fixed,
        before=event.before,
        chart=None,
        selected=selected,
        hit=event.hits.get(selected),
        trouble=None,
        busy=False,
        took_ms=max(0.0, (event.at - session.asked_at) * 1000),
    )


def _weighed(session: Session, event: Weighed) -> Session:
    """The selection stays on its row: what stands there is what a person watches."""
    selected = max(0, min(session.selected, listed(event.answer)[1] - 1))
    is_asked = session.text == event.answer.plan.text
    return session._replace(
        answer=event.answer,
        hits=event.hits,
        states=event.states,
        plain=event.plain,
        before=event.before,
        selected=selected,
        hit=event.hits.get(selected),
        trouble=None if is_asked else session.trouble,
    )


def _run_after(run: Run, event: Advanced | Ended) -> Run:
    if isinstance(event, Advanced):
        return run._replace(progress=event.progress, rate=event.rate)
    if event.error is not None:
        hint = f" ({event.error.hint})" if event.error.hint else ""
        return run._replace(ended="failed", summary=f"{event.error.message}{hint}")
    if event.view is None:
        return run._replace(ended="cancelled", summary="cancelled; what was committed stays, add it again to go on")
    counts = [f"{event.view[verb]} {verb}" for verb in VERBS if event.view[verb]]  # type: ignore[literal-required]
    return run._replace(ended="done", summary=", ".join(counts) or "nothing to add")


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


def wish(session: Session) -> Wish:
    """What the query thread should make true."""
    return Wish(
        generation=session.generation,
        text=session.text,
        window=session.window,
        budget_tokens=session.budget_tokens,
        lookups=session.lookups,
        question=session.question,
        settings=assignments(session.tweaks),
        saved=session.saved,
    )


def assignments(tweaks: Tweaks) -> tuple[str, ...]:
    """The tweaks as --set takes them."""
    return tuple(f"{key}={str(value).lower()}" for key, value in tweaks.items())


def lacking(session: Session, lookups: Sequence[Lookup]) -> Session:
    """The session with these lookups wanted, and no older ones: the cursor has left their place."""
    return session._replace(lookups=tuple(lookup for lookup in lookups if lookup not in session.entries))


def settled(session: Session) -> Session:
    """The session with its text let stand: its answer is worth remembering."""
    return session._replace(is_settled=True)


def to_keep(session: Session) -> str:
    """The query that belongs into the history and is not there yet, or ""."""
    answer = session.answer
    if not session.is_settled or session.busy or session.trouble is not None or answer is None:
        return ""
    return session.text if session.text != session.kept else ""


def chosen(session: Session, row: int) -> Session:
    """The session with another row selected, kept inside the list."""
    if session.answer is None:
        return session
    row = max(0, min(row, listed(session.answer)[1] - 1))
    return session._replace(selected=row, hit=session.hits.get(row, session.hit))


def looking_at(session: Session, first: int, end: int) -> Session:
    """The session with the list's visible rows and one screenful around them wanted."""
    margin = max(20, end - first)
    if session.window[0] <= first and end <= session.window[1]:
        return session
    return session._replace(window=(max(0, first - margin), end + margin))


def budgeted(session: Session, budget_tokens: int) -> Session:
    """The session with another token budget, at least 1."""
    return session._replace(budget_tokens=max(1, min(budget_tokens, BUDGET_MOST)))


def focused(session: Session, pane: Pane) -> Session:
    """The session with another pane in front."""
    tab = pane if pane in ("explain", "weights", "context") else session.tab
    return session._replace(pane=pane, tab=tab, is_settled=session.is_settled or pane != "query")


def stepped(session: Session, panes: int) -> Pane:
    """The pane that many steps further round; the ingest strip only counts while there is a run to show."""
    reachable = [pane for pane in PANES if pane != "ingest" or session.run is not None]
    place = reachable.index(session.pane) if session.pane in reachable else 0
    return reachable[(place + panes) % len(reachable)]


def listed(answer: Answer) -> tuple[int, int]:
    """The rank before the first listed row, and how many rows the list has.

    Plain words list the whole ranking; a query in RQL lists what its LIMIT and OFFSET leave.
    """
    if answer.plan.rql is None:
        return 0, answer.total
    offset = answer.plan.offset
    return offset, max(0, min(answer.plan.limit, answer.total - offset))


def is_stale(session: Session) -> bool:
    """True while what is listed does not answer what is written."""
    return session.trouble is not None and session.answer is not None


def is_ingesting(session: Session) -> bool:
    """True while a run is under way."""
    return session.run is not None and not session.run.ended
