"""What the history keeps of a question, and the settings that an earlier one was asked with."""

from __future__ import annotations

from recall_core.config import Config, assignments, override
from recall_core.errors import RecallError
from recall_core.text import cited
from recall_core.types import Hit
from recall_tui.home.history import KeptRow, PastQuestion
from recall_tui.state.records import Moved
from recall_tui.state.session import Session, filter_of, list_range
from recall_tui.state.weighing import KEYS

MOST_KEPT = 10  # rows of an answer that the history keeps


def to_keep(session: Session) -> PastQuestion | None:
    """The question that belongs into the history and is not there yet.

    Settings that are moved while an answer stands belong there once it is asked again.
    """
    answer = session.results.answer
    if not session.query.is_settled or session.query.busy or session.query.trouble is not None or answer is None:
        return None
    if session.query.question == session.query.kept_at or session.query.text != answer.plan.text:
        return None
    hits = [session.results.hits[row] for row in range(MOST_KEPT) if row in session.results.hits]
    rows = tuple(KeptRow(hit.chunk.id if hit.chunk else hit.doc.id, _where(hit)) for hit in hits)
    digest = session.store.info.digest if session.store.info else ""
    filters = filter_of(answer.plan) or ""
    past = PastQuestion(session.query.text, filters, _settings(session), digest, rows, list_range(answer)[0])
    return past if past[:3] != session.query.kept[:3] else None


def question_of(session: Session, text: str) -> PastQuestion:
    """The question as it stands, answered or not. text: what is written in the field."""
    return PastQuestion(text, session.query.filter, _settings(session))


def _settings(session: Session) -> tuple[str, ...]:
    """What is moved, as `key=value`."""
    rows = () if session.weights.k is None else (f"k={session.weights.k}",)
    return (*assignments(session.weights.tweaks), *rows)


def moved_by(past: PastQuestion) -> tuple[Moved, tuple[str, ...]]:
    """What was moved when it was asked, and what of its settings is none that can be moved."""
    moved, unknown = Moved(), []
    for setting in past.settings:
        key, _, value = setting.partition("=")
        if key == "k" and value.isdecimal() and int(value) > 0:
            moved = moved._replace(k=int(value))
        elif key in KEYS and (config := _under(setting)) is not None:
            moved = moved._replace(tweaks={**moved.tweaks, key: getattr(config, key)})
        else:
            unknown.append(setting)
    return moved, tuple(unknown)


def _under(setting: str) -> Config | None:
    try:
        return override(Config(), [setting])
    except RecallError:
        return None


def _where(hit: Hit) -> str:
    chunk = hit.chunk
    return cited(hit.doc.path, chunk.line_start, chunk.line_end, chunk.place) if chunk else hit.doc.path
