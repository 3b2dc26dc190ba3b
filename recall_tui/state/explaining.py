"""The tabs of the explain pane: their analyses, the results, and the applied fixes. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from recall_core.types import Hit
from recall_tui.state import weighing
from recall_tui.state.records import Analysis, FixState, Moved, Tried, Tweaks
from recall_tui.state.session import VIEWS, Session, View, ask, focus_pane, is_seen, set_budget, value_of

if TYPE_CHECKING:
    from recall_core.contract.explaining import TraceView, WhyNotView
    from recall_core.contract.ledger import ExplanationView

DIGITS = 12
MarkKind = Literal["term", "keyword", "name", "string", "comment", "heading"]
"""Kind of a range in a document: a word of the query, or a token of its language."""


class RowsAround(NamedTuple):
    """The rows around a row, for the sentence above its ledger."""

    chunks: int
    """Number in the whole store."""
    first: Mapping[int, tuple[str, ...]]
    """The query's phrases in each of the first rows, by rank. Empty if rows are documents."""
    df: Mapping[str, int]
    """Number of chunks that contain each phrase of the query."""
    held: tuple[str, ...] = ()
    """The query's phrases in the row."""
    above: Hit | None = None
    """The row right above."""
    held_above: tuple[str, ...] = ()
    of_documents: bool = False
    """Rows are documents."""


class Ledger(NamedTuple):
    """The result of a ledger: `explanation` of `recall explain CHUNK --json`, and the rows around it."""

    view: ExplanationView
    around: RowsAround | None = None


class Comparison(NamedTuple):
    """Two chunks side by side: `explanation` of `recall explain A --vs B --json`."""

    view: ExplanationView


class Funnel(NamedTuple):
    """The `trace` of `recall trace --json`."""

    view: TraceView


class FixOffer(NamedTuple):
    """A fix that brings in the missing target, as the workbench applies it. Fields that change nothing are empty."""

    kind: str
    change: str
    command: str
    doubt: str = ""
    """The next smaller change, which is not enough."""
    proof: str = ""
    """Place of the target with the fix."""
    text: str | None = None
    filter: str | None = None
    settings: Tweaks = MappingProxyType({})
    k: int | None = None
    budget_tokens: int | None = None
    pin: str = ""


class Missing(NamedTuple):
    """The `whynot` of `recall whynot --json`, for the list, or for the context if the list has the target."""

    view: WhyNotView
    in_list: bool
    """The list has the target, so the analysis is about the context."""
    remedies: tuple[FixOffer, ...] = ()
    k: int | None = None
    """Most rows of the list, or None without a limit."""


class LineMark(NamedTuple):
    """A range of a line, in its code points."""

    start: int
    end: int
    kind: MarkKind


class PassageLine(NamedTuple):
    """A line of a document. offset: of its first code point in the document."""

    number: int
    offset: int
    text: str
    marks: tuple[LineMark, ...]


class Stretch(NamedTuple):
    """A chunk and its place in the document."""

    id: str
    offset: int
    end: int
    line_start: int
    line_end: int
    tokens: int
    place: str | None = None
    """Place in the file if the lines are not those of the file. For a record, the place of the whole record."""


class DocumentPassage(NamedTuple):
    """A document around one of its chunks. from_start, to_end: nothing is cut on that side."""

    path: str
    chunk_id: str
    lines: tuple[PassageLine, ...]
    chunks: tuple[Stretch, ...]
    from_start: bool
    to_end: bool


class Paths(NamedTuple):
    """Paths of documents that contain every typed word. are_all: False if there are more."""

    paths: tuple[str, ...]
    are_all: bool


# Analyses.


def chunk_of(session: Session) -> str:
    """Return the id of the selected chunk, or ""."""
    return (
        session.results.hit.chunk.id
        if session.results.hit is not None and session.results.hit.chunk is not None
        else ""
    )


def short(chunk_id: str) -> str:
    """Return the first digits of an id, enough for display and for a command."""
    return chunk_id[:DIGITS]


def ledger_analysis(session: Session) -> Analysis | None:
    """Return the analysis that explains the selected hit's score."""
    return Analysis("ledger", chunk) if (chunk := chunk_of(session)) else None


def passage_analysis(session: Session) -> Analysis | None:
    """Return the analysis that reads the document around the selected hit."""
    plan = session.results.answer.plan if session.results.answer else None
    return Analysis("passage", chunk, (plan and plan.lexical) or "") if (chunk := chunk_of(session)) else None


def whynot_analysis(session: Session) -> Analysis | None:
    """Return the analysis of the missing target. For the context it depends on budget, pins and drops."""
    if not session.results.sought or session.results.answer is None:
        return None
    return Analysis(
        "whynot",
        session.results.sought,
        " ".join([str(session.context.budget_tokens), *session.context.pins, *session.context.drops]),
    )


def funnel_analysis(session: Session) -> Analysis | None:
    """Return the analysis that counts rows from the store to the context."""
    return Analysis("funnel", str(session.context.budget_tokens)) if session.results.answer is not None else None


def other_hit(session: Session) -> Hit | None:
    """Return the hit to compare with: the marked one, else the one above, or below for the first row."""
    chunk, marked, selected = chunk_of(session), session.results.marked, session.results.selected
    if marked is not None and marked.chunk is not None and marked.chunk.id != chunk:
        return marked
    grouping = session.results.grouping
    place = grouping.place(selected)
    other = session.results.hits.get(grouping.row(place - 1 if place else 1))
    return other if other is not None and other.chunk is not None else None


def compare_analysis(session: Session) -> Analysis | None:
    """Return the analysis that compares the selected hit with the other one."""
    chunk, other = chunk_of(session), other_hit(session)
    if not chunk or other is None or other.chunk is None or other.chunk.id == chunk:
        return None
    answer = session.results.answer
    return None if answer is None or answer.pool is None else Analysis("compare", chunk, other.chunk.id)


_ANALYSES = {
    "ledger": (ledger_analysis, passage_analysis),
    "passage": (passage_analysis,),
    "whynot": (whynot_analysis,),
    "funnel": (funnel_analysis,),
    "compare": (compare_analysis,),
}


def wants(session: Session) -> Iterator[Analysis]:
    """Yield the analyses for the open tab."""
    if session.results.picking is not None:
        yield Analysis("paths", session.results.picking)
    if not is_seen(session, "explain"):
        return
    for analysis_of in _ANALYSES[session.view]:
        if (analysis := analysis_of(session)) is not None:
            yield analysis


# Actions.


def turn_to(session: Session, view: View) -> Session:
    """Return the session with this tab of the explain pane open."""
    return focus_pane(session, "explain")._replace(view=view)


def step_view(session: Session, tabs: int) -> Session:
    """Return the session `tabs` tabs further, wrapping around."""
    return session._replace(view=VIEWS[(VIEWS.index(session.view) + tabs) % len(VIEWS)])


def seek_target(session: Session, target: str) -> Session:
    """Return the session at the tab that explains why the target is missing."""
    fresh = session._replace(results=session.results._replace(sought=target), cursors={**session.cursors, "fixes": 0})
    return turn_to(fresh, "whynot")


def toggle_mark(session: Session) -> Session:
    """Mark the selected hit for comparison, or remove its mark."""
    hit: Hit | None = session.results.hit
    if hit is None or hit.chunk is None:
        return session
    was = session.results.marked.chunk.id if session.results.marked and session.results.marked.chunk else ""
    return session._replace(results=session.results._replace(marked=None if was == hit.chunk.id else hit))


FIX_CURSOR = "fixes"
Value = TypeVar("Value")


def whynot_of(session: Session) -> Missing | None:
    """Return the analysis of the missing target, if it is done."""
    return value_of(session, whynot_analysis(session), Missing)


def chosen_remedy(session: Session) -> FixOffer | None:
    """Return the fix under the cursor."""
    whynot = whynot_of(session)
    if session.view != "whynot" or whynot is None or not whynot.remedies:
        return None
    return whynot.remedies[min(session.cursors.get(FIX_CURSOR, 0), len(whynot.remedies) - 1)]


def is_doable(remedy: FixOffer) -> bool:
    """Return True if the workbench can apply the fix. Other fixes need the command line."""
    is_asked = remedy.text is not None or remedy.filter is not None
    return bool(is_asked or remedy.settings or remedy.k or remedy.budget_tokens or remedy.pin)


def apply_fix(session: Session, remedy: FixOffer, at: float) -> Session:
    """Return the session with the fix applied. at: seconds on the caller's clock, for a text that is asked again."""
    fresh = weighing.move_settings(session, remedy.settings) if remedy.settings else session
    if remedy.k is not None:
        fresh = weighing.set_moves(fresh, Moved(fresh.weights.tweaks, remedy.k))
    if remedy.budget_tokens is not None:
        fresh = set_budget(fresh, remedy.budget_tokens)
    if remedy.pin:
        drops = tuple(each for each in fresh.context.drops if each != remedy.pin)
        fresh = fresh._replace(context=fresh.context._replace(pins=(*fresh.context.pins, remedy.pin), drops=drops))
    if remedy.filter is not None:
        fresh = fresh._replace(query=fresh.query._replace(filter=remedy.filter))
    if remedy.text is not None or remedy.filter is not None:
        fresh = ask(fresh, session.query.text if remedy.text is None else remedy.text, at)
    cursors = {**session.cursors, FIX_CURSOR: 0}
    tried = Tried(_state(session), _state(fresh), remedy.change)
    return fresh._replace(weights=fresh.weights._replace(applied=(*fixes_in_force(session), tried)), cursors=cursors)


def fixes_in_force(session: Session) -> tuple[Tried, ...]:
    """Return the applied fixes, newest last.

    A fix counts while at least one of its changes still has the value that it, or a later fix, set. It ends when its
    changes were reverted or replaced in another pane.
    """
    now, fixes = _parts(_state(session)), session.weights.applied
    made = [_parts(fix.after) for fix in fixes]
    return tuple(
        fix
        for place, fix in enumerate(fixes)
        if any(any(now.get(part) == after.get(part) for after in made[place:]) for part in _parts_left(fix, now))
    )


def take_fix_back(session: Session, at: float, *, whole: bool = False) -> Session:
    """Undo the newest applied fix, or all of them if `whole`. Other changes stay."""
    fixes = fixes_in_force(session)
    left = () if whole else fixes[:-1]
    state = _state(session)
    for fix in reversed(fixes[len(left) :]):
        state = _without(state, fix)
    put = weighing.set_moves(session, state.moved)
    fresh = put._replace(
        context=put.context._replace(pins=state.pins, drops=state.drops),
        weights=put.weights._replace(applied=left),
    )
    fresh = set_budget(fresh, state.budget_tokens)
    if (state.text, state.filter) == (session.query.text, session.query.filter):
        return fresh
    return ask(fresh._replace(query=fresh.query._replace(filter=state.filter)), state.text, at)


def _state(session: Session) -> FixState:
    moved = Moved(session.weights.tweaks, session.weights.k)
    return FixState(
        session.query.text,
        session.query.filter,
        moved,
        session.context.budget_tokens,
        session.context.pins,
        session.context.drops,
    )


def _parts(state: FixState) -> dict[str, object]:
    """Return the parts of a state by name. Absent parts are left out."""
    return {
        "text": state.text,
        "filter": state.filter,
        "k": state.moved.k,
        "budget": state.budget_tokens,
        **{f"set {key}": value for key, value in state.moved.tweaks.items()},
        **{f"pin {chunk_id}": True for chunk_id in state.pins},
        **{f"exclude {chunk_id}": True for chunk_id in state.drops},
    }


def _parts_left(fix: Tried, now: dict[str, object]) -> list[str]:
    """Return the parts that a fix changed and that still differ from their values before it."""
    before, after = _parts(fix.before), _parts(fix.after)
    changed = [part for part in {**before, **after} if before.get(part) != after.get(part)]
    return [part for part in changed if now.get(part) != before.get(part)]


def _without(now: FixState, fix: Tried) -> FixState:
    """Return a state in which every part set by the fix has its value from before. Other parts stay."""
    before, after = fix.before, fix.after
    tweaks, earlier, later = now.moved.tweaks, before.moved.tweaks, after.moved.tweaks
    settings = {key: _back(tweaks.get(key), earlier.get(key), later.get(key)) for key in weighing.KEYS}
    return FixState(
        _back(now.text, before.text, after.text),
        _back(now.filter, before.filter, after.filter),
        Moved(
            {key: value for key, value in settings.items() if value is not None},
            _back(now.moved.k, before.moved.k, after.moved.k),
        ),
        _back(now.budget_tokens, before.budget_tokens, after.budget_tokens),
        _marks(now.pins, before.pins, after.pins),
        _marks(now.drops, before.drops, after.drops),
    )


def _back(now: Value, before: Value, after: Value) -> Value:
    return before if now == after else now


def _marks(now: tuple[str, ...], before: tuple[str, ...], after: tuple[str, ...]) -> tuple[str, ...]:
    """Return pins or drops without those that the fix added and with those that it removed."""
    remaining = tuple(each for each in now if each in before or each not in after)
    return remaining + tuple(each for each in before if each not in after and each not in remaining)
