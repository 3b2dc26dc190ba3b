"""What of a session belongs into the history, and what comes back from there. Pure, and without a screen."""

from __future__ import annotations

from recall_core.config import Config, override
from recall_core.errors import RecallError
from recall_core.types import Hit
from recall_tui.home.history import Past, Row
from recall_tui.state.session import Moved, Session, assignments, filter_of, listed
from recall_tui.state.weighing import KEYS

MOST_KEPT = 10  # rows of an answer that the history keeps


def to_keep(session: Session) -> Past | None:
    """The question that belongs into the history and is not there yet.

    Settings that are moved while an answer stands belong there once it is asked again.
    """
    answer = session.answer
    if not session.is_settled or session.busy or session.trouble is not None or answer is None:
        return None
    if session.question == session.kept_at or session.text != answer.plan.text:
        return None
    hits = [session.hits[row] for row in range(MOST_KEPT) if row in session.hits]
    rows = tuple(Row(hit.chunk.id if hit.chunk else hit.doc.id, _where(hit)) for hit in hits)
    rows_asked = () if session.k is None else (f"k={session.k}",)
    changed = filter_of(answer.plan) or "", (*assignments(session.tweaks), *rows_asked)
    digest = session.info.digest if session.info else ""
    past = Past(session.text, *changed, digest, rows, listed(answer)[0])
    return past if past[:3] != session.kept[:3] else None


def moved_by(past: Past) -> tuple[Moved, tuple[str, ...]]:
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
    return f"{hit.doc.path}:{hit.chunk.line_start}-{hit.chunk.line_end}" if hit.chunk else hit.doc.path
