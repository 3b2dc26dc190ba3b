"""When the panes show a session: at once, or together with the ranking that is on its way."""

from __future__ import annotations

from collections.abc import Callable

from textual.timer import Timer

from recall_tui.state.session import Session
from recall_tui.state.weighing import is_ranking

RANKING_SECONDS = 0.025  # a ranking that is not there by then is not waited for


class Showing:
    """A step of a slider is drawn once: what was moved, and where that puts the rows.

    Drawn apart, the two take longer than a held key leaves between its steps, and frames are dropped.
    show: draws the session. later: calls after so many seconds, and gives what can stop it.
    """

    def __init__(self, show: Callable[[], None], later: Callable[[float, Callable[[], None]], Timer]) -> None:
        self._show = show
        self._later = later
        self._waiting: Timer | None = None

    def follow(self, before: Session, session: Session) -> None:
        """Show what has become of a session."""
        if not _is_step(before, session):
            self._now()
        elif self._waiting is None:
            self._waiting = self._later(RANKING_SECONDS, self._now)

    def _now(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        self._show()


def _is_step(before: Session, session: Session) -> bool:
    """True where settings were moved and nothing else: a focus can be given only to a pane that is seen."""
    return session.generation != before.generation and session.pane == before.pane and is_ranking(session)
