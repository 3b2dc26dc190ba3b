"""What every group of actions stands on: the session, the screen, and the step from one session to the next."""

from __future__ import annotations

from abc import abstractmethod

from textual.app import App

from recall_tui.screens.bench import Bench
from recall_tui.session import Session


class Holder(App[None]):
    """An application with a session that is shown on a bench."""

    session: Session
    bench: Bench

    @abstractmethod
    def become(self, session: Session) -> None:
        """Let this be the session: the store is asked for what it wants, and the screen shows it."""

    def copy(self, text: str, what: str) -> None:
        """Put a text on the clipboard and say so."""
        self.copy_to_clipboard(text)
        self.notify(f"Copied: {what}", markup=False)
