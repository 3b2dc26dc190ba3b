"""Grading a row: the change that it takes, shown before it is stored, confirmed, or taken back. Pure, no screen."""

from __future__ import annotations

from recall_core.errors import RecallError
from recall_core.evaluate.judgements import Regrade, free_id, regrade_chunk, undo_of
from recall_tui.state.judging import Grading, JudgedQueries, judged, spot_of, words_of
from recall_tui.state.results import latest
from recall_tui.state.session import Session, went_on

GRADE = "Grade"
"""The name of the task that writes one."""
UNDO_MOST = 200


def switched(session: Session) -> Session:
    """The session with grading begun, or ended."""
    return session._replace(judge=session.judge._replace(is_grading=not session.judge.is_grading))


def last_grade(session: Session) -> tuple[str, str] | None:
    """The newest grade that can be taken back, `no grade` where it was cleared, and the path that it is of."""
    if not session.judge.regrades:
        return None
    change = session.judge.regrades[-1]
    newest = (*change.added, *change.removed)[0]
    return (str(newest.grade) if change.added else "no grade"), newest.spot.path


def why_not(session: Session) -> str:
    """Why the selected row cannot be graded, or ""."""
    if session.results.answer is None or not session.results.answer.total:
        return "Nothing to grade: no results."
    if session.results.hits.get(session.results.selected) is None:
        return "The row is still being read."
    if not words_of(session.results.answer):
        return "The query has no words, so its results cannot be graded."
    known = latest(session, "grades", JudgedQueries)
    if isinstance(known, RecallError):
        return known.message
    return "The judgements are still being read." if known is None else ""


def change_for(session: Session, grade: int | None) -> Regrade:
    """What gives the selected row this grade; `why_not` has said that it can be graded."""
    known, answer = judged(session), session.results.answer
    assert known is not None and answer is not None  # noqa: S101, PT018 - see above
    text, spot = words_of(answer), spot_of(session.results.hits[session.results.selected], answer.plan.table)
    query = known.ids.get(text)
    if query is None:
        return regrade_chunk(free_id(known.texts), text, (), spot, grade)._replace(begins=grade is not None)
    return regrade_chunk(query, known.texts[query], known.places.get(query, {}).get(spot.path, ()), spot, grade)


def changes(change: Regrade) -> bool:
    """True when something is different after it."""
    return change.removed != change.added


def graded(session: Session, change: Regrade) -> Session:
    """The session with a change on its way into the store, and shown as if it were there."""
    undo = (*session.judge.regrades, change)[-UNDO_MOST:]
    return session._replace(
        judge=session.judge._replace(gradings=(*session.judge.gradings, Grading(change)), regrades=undo)
    )


def advanced(session: Session) -> Session:
    """The session with the next row selected, as one grades down a list."""
    return went_on(session, 1)


def ungraded(session: Session) -> tuple[Session, Regrade]:
    """The session with the newest grade being taken back, and the change that does it; there is one."""
    *earlier, last = session.judge.regrades
    change = undo_of(last)
    gradings = (*session.judge.gradings, Grading(change, is_undo=True))
    return session._replace(judge=session.judge._replace(gradings=gradings, regrades=tuple(earlier))), change


def ended(session: Session, *, failed: bool) -> Session:
    """The session once the oldest grading that was not written is, or cannot be; then it never was."""
    place = next((place for place, each in enumerate(session.judge.gradings) if each.written is None), None)
    if place is None:
        return session
    before, grading, after = (
        session.judge.gradings[:place],
        session.judge.gradings[place],
        session.judge.gradings[place + 1 :],
    )
    if not failed:
        return session._replace(
            judge=session.judge._replace(
                gradings=(*before, grading._replace(written=session.store.tasks_done), *after)
            )
        )
    regrades = tuple(each for each in session.judge.regrades if each is not grading.change)
    if grading.is_undo:
        regrades = (*regrades, undo_of(grading.change))
    return session._replace(judge=session.judge._replace(gradings=(*before, *after), regrades=regrades))


def confirmed(session: Session, tasks: int) -> Session:
    """The session once judgements were read after so many tasks: those gradings stand in them."""
    if not session.judge.gradings:
        return session
    left = tuple(each for each in session.judge.gradings if each.written is None or each.written > tasks)
    return session._replace(judge=session.judge._replace(gradings=left))
