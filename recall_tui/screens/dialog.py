"""What every dialog over the panes stands on: it is left once, however much arrives together."""

from __future__ import annotations

from typing import Any

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, Screen

from recall_tui.screens.sized import Result, SizedScreen
from recall_tui.state.session import Session


class Dialog(ModalScreen[Result], SizedScreen[Result]):
    """A modal screen that can be left only while it is in front.

    A key that comes with a click is on its way here before the click has closed it; Textual would then close the
    screen below too.
    """

    CSS_PATH = "dialogs.tcss"

    def show_session(self, session: Session) -> None:
        """What the dialog shows of the session, if anything."""

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Leave with this result, unless it has been left already."""
        return super().dismiss(result) if is_in_front(self) else AwaitComplete()


def is_in_front(screen: Screen[Any]) -> bool:
    """True until the screen is left or another one is put above it."""
    return screen in screen.app.screen_stack[-1:]
