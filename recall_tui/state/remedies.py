"""Fixes that are tried: settings, budget, pins and text change together, and come back together. Pure."""

from __future__ import annotations

from typing import NamedTuple

from recall_tui.state import weighing
from recall_tui.state.explaining import Absence, Remedy, absence_study
from recall_tui.state.session import Moved, Session, asked, budgeted, found

CURSOR = "fixes"


class Before(NamedTuple):
    """What a fix may change, as it was before it."""

    text: str
    filter: str
    moved: Moved
    budget_tokens: int
    pins: tuple[str, ...]
    drops: tuple[str, ...]


def absence_of(session: Session) -> Absence | None:
    """What was found out about what is missed, where it was."""
    study = absence_study(session)
    finding = found(session, study, of=Absence) if study is not None else None
    return finding if isinstance(finding, Absence) else None


def chosen_remedy(session: Session) -> Remedy | None:
    """The fix that the cursor is on."""
    absence = absence_of(session)
    if session.view != "absence" or absence is None or not absence.remedies:
        return None
    return absence.remedies[min(session.cursors.get(CURSOR, 0), len(absence.remedies) - 1)]


def is_doable(remedy: Remedy) -> bool:
    """True when the workbench can make the change; else it is for the command line alone."""
    is_asked = remedy.text is not None or remedy.filter is not None
    return bool(is_asked or remedy.settings or remedy.k or remedy.budget_tokens or remedy.pin)


def applied(session: Session, remedy: Remedy, at: float) -> Session:
    """The session under the fix. at: seconds on the caller's clock, for a text that is asked anew."""
    before = _now(session)
    fresh = weighing.tweaked(session, remedy.settings) if remedy.settings else session
    if remedy.k is not None:
        fresh = weighing.put(fresh, Moved(fresh.tweaks, remedy.k))
    if remedy.budget_tokens is not None:
        fresh = budgeted(fresh, remedy.budget_tokens)
    if remedy.pin:
        drops = tuple(each for each in fresh.drops if each != remedy.pin)
        fresh = fresh._replace(pins=(*fresh.pins, remedy.pin), drops=drops)
    if remedy.filter is not None:
        fresh = fresh._replace(filter=remedy.filter)
    if remedy.text is not None or remedy.filter is not None:
        fresh = asked(fresh, session.text if remedy.text is None else remedy.text, at)
    cursors = {**session.cursors, CURSOR: 0}
    return fresh._replace(applied=(*session.applied, before), cursors=cursors)


def taken_back(session: Session, at: float, *, whole: bool = False) -> Session:
    """The session before the newest fix, or, whole, before the first."""
    if not session.applied:
        return session
    left = () if whole else session.applied[:-1]
    before = session.applied[len(left)]
    fresh = weighing.put(session, before.moved)._replace(pins=before.pins, drops=before.drops, applied=left)
    fresh = budgeted(fresh, before.budget_tokens)
    if (before.text, before.filter) == (session.text, session.filter):
        return fresh
    return asked(fresh._replace(filter=before.filter), before.text, at)


def _now(session: Session) -> Before:
    moved = Moved(session.tweaks, session.k)
    return Before(session.text, session.filter, moved, session.budget_tokens, session.pins, session.drops)
