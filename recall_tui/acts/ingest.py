"""Adding folders, and the first store."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recall_core.errors import RecallError
from recall_tui import session as state
from recall_tui.acts.holder import Holder
from recall_tui.events import Ended
from recall_tui.opening import create_store
from recall_tui.runs import Run
from recall_tui.screens.prompt import PromptScreen
from recall_tui.screens.welcome import WelcomeScreen

if TYPE_CHECKING:
    from recall_core.service import Recall


class IngestActions(Holder):
    """The part of the group Store that reads files."""

    def on_welcome_screen_named(self, message: WelcomeScreen.Named) -> None:
        """Create a store and fill it."""
        if wrong := missing(message.folder):
            self.warn(wrong)
            return
        self.pop_screen()
        self._ingest(message.folder, partial(create_store, self.store))

    async def action_add_folder(self) -> None:
        """Ask for a folder to ingest."""
        if state.is_ingesting(self.session):
            self.notify("An ingest run is under way; ^g cancels it.")
            return
        prompt = PromptScreen("Add a folder or a file", "", "a path, then Enter; what is unchanged is kept", missing)
        await self.push_screen(prompt, self._folder_typed)

    def action_cancel(self) -> None:
        """Stop the ingest run."""
        self.crew.cancel()

    def welcome(self, error: RecallError) -> None:
        """Say why there is no store, and offer to make one."""
        self.push_screen(WelcomeScreen(error, self.store or "the current folder"))

    def ingest_ended(self, event: Ended) -> None:
        """The files are in, or not: the question is asked again."""
        self.crew.ingested()
        if not self.crew.is_open and event.error is not None:
            self.welcome(event.error)
        elif self.session.text:
            self.ask()

    def _ingest(self, folder: str, opener: Callable[[], Recall] | None = None) -> None:
        self.become(self.session._replace(run=Run(folder)))
        self.crew.ingest(folder, opener)

    def _folder_typed(self, typed: str | None) -> None:
        if typed is not None:
            self._ingest(typed)


def missing(path: str) -> str:
    """What is wrong with a path to add; "" when it is there."""
    return "" if path and Path(path).expanduser().exists() else f"There is no file or folder {path!r}."
