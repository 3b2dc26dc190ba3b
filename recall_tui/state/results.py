"""What studies found out, and for how long it holds."""

from __future__ import annotations

from typing import TypeVar

from recall_core.errors import RecallError
from recall_tui.state.analyses import SCOPES, Analysis, Kind, Scope, Stamp
from recall_tui.state.session import Session


def stamp_of(session: Session, study: Analysis) -> Stamp:
    """What the finding of a study depends on; while a newer question has no rows, those that are shown."""
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
    return (*store, *of_scope[SCOPES[study.kind]])


Finding = TypeVar("Finding")


def found(session: Session, study: Analysis, of: type[Finding]) -> Finding | RecallError | None:
    """What a study found, an error where it failed, None while it is not done."""
    stamp, finding = session.analyses.get(study, ((), None))
    if finding is None or stamp != stamp_of(session, study):
        return None
    assert isinstance(finding, (of, RecallError))  # noqa: S101 - a kind of study has one kind of finding
    return finding


def lately(session: Session, kind: Kind, of: type[Finding]) -> Finding | RecallError | None:
    """The newest finding of a lasting kind, which may hold no longer; None before the first."""
    finding = next((finding for study, (_, finding) in session.analyses.items() if study.kind == kind), None)
    assert finding is None or isinstance(finding, (of, RecallError))  # noqa: S101 - as above
    return finding
