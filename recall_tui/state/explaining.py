"""The tabs of the explain pane: what each asks of the store, what it gets, and the fixes tried. Pure."""

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
"""What a stretch of a document is: a word of the question, or what its language makes of it."""


class RowsAround(NamedTuple):
    """What is around a row, as far as the sentence above its ledger needs it."""

    chunks: int
    """Of the whole store."""
    first: Mapping[int, tuple[str, ...]]
    """The phrases of the question that each of the first rows holds, by rank; empty where rows are documents."""
    df: Mapping[str, int]
    """How many chunks hold each phrase of the question."""
    held: tuple[str, ...] = ()
    """The phrases of the question that the row holds."""
    above: Hit | None = None
    """The row right above."""
    held_above: tuple[str, ...] = ()
    of_documents: bool = False
    """Rows are documents."""


class Ledger(NamedTuple):
    """The result of a ledger: what `recall explain CHUNK --json` says under `explanation`, and the rows around it."""

    view: ExplanationView
    around: RowsAround | None = None


class Comparison(NamedTuple):
    """Two chunks side by side: what `recall explain A --vs B --json` says under `explanation`."""

    view: ExplanationView


class Funnel(NamedTuple):
    """What `recall trace --json` says under `trace`."""

    view: TraceView


class FixOffer(NamedTuple):
    """One thing that brings in what is missed, as the workbench can do it. Fields that change nothing are empty."""

    kind: str
    change: str
    command: str
    doubt: str = ""
    """The next smaller change, which would not do."""
    proof: str = ""
    """Where the target is with it."""
    text: str | None = None
    filter: str | None = None
    settings: Tweaks = MappingProxyType({})
    k: int | None = None
    budget_tokens: int | None = None
    pin: str = ""


class Missing(NamedTuple):
    """What `recall whynot --json` says under `whynot`, of the list, or of the context where the list has it."""

    view: WhyNotView
    in_list: bool
    """The list shows it, so that the context was asked."""
    remedies: tuple[FixOffer, ...] = ()
    k: int | None = None
    """How many rows the list may have; None where nothing bounds it."""


class LineMark(NamedTuple):
    """A stretch of a line, in its code points."""

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
    """A chunk by its place in the document."""

    id: str
    offset: int
    end: int
    line_start: int
    line_end: int
    tokens: int
    place: str | None = None
    """Where the file has it, where its lines are not the file's; of a record for all of it."""


class DocumentPassage(NamedTuple):
    """A document around one of its chunks. from_start, to_end: nothing is left out on that side."""

    path: str
    chunk_id: str
    lines: tuple[PassageLine, ...]
    chunks: tuple[Stretch, ...]
    from_start: bool
    to_end: bool


class Paths(NamedTuple):
    """Paths of documents that hold every typed word. are_all: False where there are more of them."""

    paths: tuple[str, ...]
    are_all: bool


# What is wanted.


def chunk_of(session: Session) -> str:
    """Return the id of the selected chunk, or ""."""
    return (
        session.results.hit.chunk.id
        if session.results.hit is not None and session.results.hit.chunk is not None
        else ""
    )


def short(chunk_id: str) -> str:
    """Return as many digits of an id as a person has to see, and a command to be given."""
    return chunk_id[:DIGITS]


def ledger_analysis(session: Session) -> Analysis | None:
    """Return the analysis that takes the selected hit's score apart."""
    return Analysis("ledger", chunk) if (chunk := chunk_of(session)) else None


def passage_analysis(session: Session) -> Analysis | None:
    """Return the analysis that reads the document around the selected hit."""
    plan = session.results.answer.plan if session.results.answer else None
    return Analysis("passage", chunk, (plan and plan.lexical) or "") if (chunk := chunk_of(session)) else None


def whynot_analysis(session: Session) -> Analysis | None:
    """Return the analysis that looks for what is missed. Its context depends on budget, pins and drops."""
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
    """Return the hit to compare with: the marked one, else the one above, of the first the one below."""
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
    """Yield what is to be found out for the view in front."""
    if session.results.picking is not None:
        yield Analysis("paths", session.results.picking)
    if not is_seen(session, "explain"):
        return
    for analysis_of in _ANALYSES[session.view]:
        if (analysis := analysis_of(session)) is not None:
            yield analysis


# What a person does.


def turn_to(session: Session, view: View) -> Session:
    """Return the session with the explain pane in front, at this tab."""
    return focus_pane(session, "explain")._replace(view=view)


def step_view(session: Session, tabs: int) -> Session:
    """Return the session that many tabs further, round the ends."""
    return session._replace(view=VIEWS[(VIEWS.index(session.view) + tabs) % len(VIEWS)])


def seek_target(session: Session, target: str) -> Session:
    """Return the session at the tab that says why the target is not there."""
    fresh = session._replace(results=session.results._replace(sought=target), cursors={**session.cursors, "fixes": 0})
    return turn_to(fresh, "whynot")


def toggle_mark(session: Session) -> Session:
    """Mark the selected hit, to compare others with it; marking it again takes the mark off."""
    hit: Hit | None = session.results.hit
    if hit is None or hit.chunk is None:
        return session
    was = session.results.marked.chunk.id if session.results.marked and session.results.marked.chunk else ""
    return session._replace(results=session.results._replace(marked=None if was == hit.chunk.id else hit))


FIX_CURSOR = "fixes"
Value = TypeVar("Value")


def whynot_of(session: Session) -> Missing | None:
    """Return what was found out about what is missed, where it was."""
    return value_of(session, whynot_analysis(session), Missing)


def chosen_remedy(session: Session) -> FixOffer | None:
    """Return the fix that the cursor is on."""
    whynot = whynot_of(session)
    if session.view != "whynot" or whynot is None or not whynot.remedies:
        return None
    return whynot.remedies[min(session.cursors.get(FIX_CURSOR, 0), len(whynot.remedies) - 1)]


def is_doable(remedy: FixOffer) -> bool:
    """Return True when the workbench can make the change; else it is for the command line alone."""
    is_asked = remedy.text is not None or remedy.filter is not None
    return bool(is_asked or remedy.settings or remedy.k or remedy.budget_tokens or remedy.pin)


def apply_fix(session: Session, remedy: FixOffer, at: float) -> Session:
    """Return the session under the fix. at: seconds on the caller's clock, for a text that is asked again."""
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
    """Return the fixes that are being tried, the newest last: of each, something is as it or a later one made it.

    One is over, too, once what it changed was changed back in another pane, or into something else.
    """
    now, fixes = _parts(_state(session)), session.weights.applied
    made = [_parts(fix.after) for fix in fixes]
    return tuple(
        fix
        for place, fix in enumerate(fixes)
        if any(any(now.get(part) == after.get(part) for after in made[place:]) for part in _parts_left(fix, now))
    )


def take_fix_back(session: Session, at: float, *, whole: bool = False) -> Session:
    """Take back the newest fix that is being tried, or, whole, all of them. The rest stays as it is."""
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
    """Return a state taken apart, by the name of each part; what is not there has none."""
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
    """Return the parts that a fix changed and that are not what they were before it."""
    before, after = _parts(fix.before), _parts(fix.after)
    changed = [part for part in {**before, **after} if before.get(part) != after.get(part)]
    return [part for part in changed if now.get(part) != before.get(part)]


def _without(now: FixState, fix: Tried) -> FixState:
    """Return a state in which all that is as a fix made it is as it was before; the rest stays."""
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
    """Pins, or what is forced out, without what came into them and with what left them."""
    kept = tuple(each for each in now if each in before or each not in after)
    return kept + tuple(each for each in before if each not in after and each not in kept)
