"""Fixes that are tried: settings, budget, pins and text change together, and come back together. Pure."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from recall_tui.state import weighing
from recall_tui.state.explaining import FixOffer, Missing, whynot_analysis
from recall_tui.state.records import Moved, Tweaks
from recall_tui.state.results import result_of
from recall_tui.state.session import Session, asked, budgeted

CURSOR = "fixes"

Value = TypeVar("Value")


class State(NamedTuple):
    """All that a fix may change."""

    text: str
    filter: str
    moved: Moved
    budget_tokens: int
    pins: tuple[str, ...]
    drops: tuple[str, ...]


class Tried(NamedTuple):
    """A fix that was tried: what stood before it, and what it made of that."""

    before: State
    after: State
    change: str = ""
    """What it changes, in words."""


def whynot_of(session: Session) -> Missing | None:
    """What was found out about what is missed, where it was."""
    analysis = whynot_analysis(session)
    result = result_of(session, analysis, of=Missing) if analysis is not None else None
    return result if isinstance(result, Missing) else None


def chosen_remedy(session: Session) -> FixOffer | None:
    """The fix that the cursor is on."""
    whynot = whynot_of(session)
    if session.view != "whynot" or whynot is None or not whynot.remedies:
        return None
    return whynot.remedies[min(session.cursors.get(CURSOR, 0), len(whynot.remedies) - 1)]


def is_doable(remedy: FixOffer) -> bool:
    """True when the workbench can make the change; else it is for the command line alone."""
    is_asked = remedy.text is not None or remedy.filter is not None
    return bool(is_asked or remedy.settings or remedy.k or remedy.budget_tokens or remedy.pin)


def applied(session: Session, remedy: FixOffer, at: float) -> Session:
    """The session under the fix. at: seconds on the caller's clock, for a text that is asked anew."""
    fresh = weighing.tweaked(session, remedy.settings) if remedy.settings else session
    if remedy.k is not None:
        fresh = weighing.put(fresh, Moved(fresh.weights.tweaks, remedy.k))
    if remedy.budget_tokens is not None:
        fresh = budgeted(fresh, remedy.budget_tokens)
    if remedy.pin:
        drops = tuple(each for each in fresh.context.drops if each != remedy.pin)
        fresh = fresh._replace(context=fresh.context._replace(pins=(*fresh.context.pins, remedy.pin), drops=drops))
    if remedy.filter is not None:
        fresh = fresh._replace(query=fresh.query._replace(filter=remedy.filter))
    if remedy.text is not None or remedy.filter is not None:
        fresh = asked(fresh, session.query.text if remedy.text is None else remedy.text, at)
    cursors = {**session.cursors, CURSOR: 0}
    tried = Tried(_state(session), _state(fresh), remedy.change)
    return fresh._replace(weights=fresh.weights._replace(applied=(*standing(session), tried)), cursors=cursors)


def standing(session: Session) -> tuple[Tried, ...]:
    """The fixes that are being tried, the newest last: of each, something is as it or a later one made it.

    One is over, too, once what it changed was changed back in another pane, or into something else.
    """
    now, fixes = _parts(_state(session)), session.weights.applied
    made = [_parts(fix.after) for fix in fixes]
    return tuple(
        fix
        for place, fix in enumerate(fixes)
        if any(any(now.get(part) == after.get(part) for after in made[place:]) for part in _left(fix, now))
    )


def taken_back(session: Session, at: float, *, whole: bool = False) -> Session:
    """The session without the newest fix that is being tried, or, whole, without any. The rest stays as it is."""
    fixes = standing(session)
    left = () if whole else fixes[:-1]
    state = _state(session)
    for fix in reversed(fixes[len(left) :]):
        state = _without(state, fix)
    put = weighing.put(session, state.moved)
    fresh = put._replace(
        context=put.context._replace(pins=state.pins, drops=state.drops),
        weights=put.weights._replace(applied=left),
    )
    fresh = budgeted(fresh, state.budget_tokens)
    if (state.text, state.filter) == (session.query.text, session.query.filter):
        return fresh
    return asked(fresh._replace(query=fresh.query._replace(filter=state.filter)), state.text, at)


def _state(session: Session) -> State:
    moved = Moved(session.weights.tweaks, session.weights.k)
    return State(
        session.query.text,
        session.query.filter,
        moved,
        session.context.budget_tokens,
        session.context.pins,
        session.context.drops,
    )


def _parts(state: State) -> dict[str, object]:
    """A state taken apart, by the name of each part; what is not there has none."""
    return {
        "text": state.text,
        "filter": state.filter,
        "k": state.moved.k,
        "budget": state.budget_tokens,
        **{f"set {key}": value for key, value in state.moved.tweaks.items()},
        **{f"pin {chunk_id}": True for chunk_id in state.pins},
        **{f"exclude {chunk_id}": True for chunk_id in state.drops},
    }


def _left(fix: Tried, now: dict[str, object]) -> list[str]:
    """The parts that a fix changed and that are not what they were before it."""
    before, after = _parts(fix.before), _parts(fix.after)
    changed = [part for part in {**before, **after} if before.get(part) != after.get(part)]
    return [part for part in changed if now.get(part) != before.get(part)]


def _without(now: State, fix: Tried) -> State:
    """A state in which all that is as a fix made it is as it was before; the rest stays."""
    before, after = fix.before, fix.after
    return State(
        _back(now.text, before.text, after.text),
        _back(now.filter, before.filter, after.filter),
        Moved(
            _settings(now.moved.tweaks, before.moved.tweaks, after.moved.tweaks),
            _back(now.moved.k, before.moved.k, after.moved.k),
        ),
        _back(now.budget_tokens, before.budget_tokens, after.budget_tokens),
        _marks(now.pins, before.pins, after.pins),
        _marks(now.drops, before.drops, after.drops),
    )


def _back(now: Value, before: Value, after: Value) -> Value:
    return before if now == after else now


def _settings(now: Tweaks, before: Tweaks, after: Tweaks) -> Tweaks:
    back = {key: _back(now.get(key), before.get(key), after.get(key)) for key in weighing.KEYS}
    return {key: value for key, value in back.items() if value is not None}


def _marks(now: tuple[str, ...], before: tuple[str, ...], after: tuple[str, ...]) -> tuple[str, ...]:
    """Pins, or what is forced out, without what came into them and with what left them."""
    kept = tuple(each for each in now if each in before or each not in after)
    return kept + tuple(each for each in before if each not in after and each not in kept)
