"""What analyses found out, and for how long it holds."""

from __future__ import annotations

from typing import TypeVar

from recall_core.errors import RecallError
from recall_tui.state.analyses import SCOPES, Analysis, Kind, Scope, Stamp
from recall_tui.state.session import Session


def stamp_of(session: Session, analysis: Analysis) -> Stamp:
    """What the result of an analysis depends on; while a newer question has no rows, those that are shown."""
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


def result_of(session: Session, analysis: Analysis, of: type[Result]) -> Result | RecallError | None:
    """What an analysis found, an error where it failed, None while it is not done."""
    stamp, result = session.analyses.get(analysis, ((), None))
    if result is None or stamp != stamp_of(session, analysis):
        return None
    assert isinstance(result, (of, RecallError))  # noqa: S101 - a kind of analysis has one kind of result
    return result


def latest(session: Session, kind: Kind, of: type[Result]) -> Result | RecallError | None:
    """The newest result of a lasting kind, which may hold no longer; None before the first."""
    result = next((result for analysis, (_, result) in session.analyses.items() if analysis.kind == kind), None)
    assert result is None or isinstance(result, (of, RecallError))  # noqa: S101 - as above
    return result
