"""Adding folders, following them, and the first store."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from recall_core import paths
from recall_core.errors import RecallError, StoreLocked, UsageError, why_unread
from recall_core.types import Skip
from recall_tui import files
from recall_tui.handlers.holder import Holder
from recall_tui.opening import FirstStore, create_store
from recall_tui.state import session as state
from recall_tui.state.events import Ended, Unwatched
from recall_tui.state.runs import EVERYTHING, Run, may_hold
from recall_tui.state.store_pane import StoreOverview, cursor_of, is_outdated, shelf

if TYPE_CHECKING:
    from textual.widget import AwaitMount

    from recall_core.api.recall import Recall
    from recall_tui.screens.welcome import WelcomeScreen

UNDER_WAY = "An ingest run is under way; ^g cancels it."

NAMING = "a path, then Enter; what is unchanged is kept"

LATER = "An ingest run is under way; Enter again once it is over."

LOCKED_SECONDS = 3.0  # until a watch tries again to read what it could not while another program wrote the store


class IngestActions(Holder):
    """The part of the group Store that reads files."""

    _choice: FirstStore | None = None
    """What the first store is being made of, until it is open."""

    def on_welcome_screen_named(self, message: WelcomeScreen.Named) -> None:
        """Create a store and fill it, once: a second Enter may have been on its way."""
        if not self.is_welcoming:
            return
        choice = message.choice
        if wrong := missing(choice.folder):
            self.warn(wrong)
            return
        if not message.sends_text:
            self._create(choice)
            return
        question = f"{choice.embedder} is given the text of every file. allow_network = true is written down."
        self.confirm("Text leaves this machine", question, partial(self._agreed, choice))

    def on_welcome_screen_again(self) -> None:
        """Open the store once more."""
        if self.is_welcoming:
            self._close_welcome()
            self.crew.open(self.session)

    async def action_add_folder(self) -> None:
        """Ask for a folder to ingest."""
        if self._is_free():
            await self._ask_for_folder("", NAMING)

    def action_sync(self) -> None:
        """Bring every folder up to date."""
        if self._is_free():
            self._ingest(EVERYTHING)

    def action_repeat_run(self) -> None:
        """Run the same again."""
        if self.session.run is not None and self._is_free():
            self._ingest(self.session.run.folder)

    def action_hold(self) -> None:
        """Pause the run, or let it go on."""
        run = self.session.run
        if run is not None and may_hold(run):
            is_held = run.hold == ""
            self.become(self.session._replace(run=run._replace(hold="asked" if is_held else "")))
            self.crew.hold(is_held=is_held)

    def action_watch(self) -> None:
        """Follow the folders, or no longer."""
        is_on = not self.session.watching
        self.become(self.session._replace(watching=is_on, is_behind=False))
        self.crew.watch(is_on=is_on)

    def welcome(self, error: RecallError) -> None:
        """Say why there is no store, once, and offer to make one where that is what is missing."""
        if self.is_welcoming:
            return
        is_first = error.code == "no_store" and self.session.info is None  # one that was here may come back
        can_create = is_first or (self._choice is not None and error.code != "store_exists")
        from recall_tui.screens.welcome import WelcomeScreen  # noqa: PLC0415 - for who has no store

        self.push_screen(WelcomeScreen(error, self.store, can_create=can_create, before=self._choice))

    def ingest_ended(self, event: Ended) -> None:
        """The files are in, or not: the question is asked again, and what changed meanwhile is read."""
        self.crew.ingested()
        if not self.crew.is_open and event.error is not None:
            self.become(self.session._replace(run=None))
            self.welcome(event.error)
            return
        self._choice = None
        if event.view is not None:
            self._note_synced()
        if self.session.text and (self.session.answer is None or is_outdated(self.session)):
            self.ask()
        if self.session.watching:
            self._go_on_watching(event)

    def folders_changed(self) -> None:
        """Files changed below a watched folder: they are read, now or after the run that is under way."""
        self.become(self.session._replace(is_behind=True))
        if self.session.watching and not state.is_ingesting(self.session):
            self._ingest(EVERYTHING)

    def watch_failed(self, event: Unwatched) -> None:
        """Say why the folders are not watched."""
        self.warn(f"{event.error.message}" + (f" ({event.error.hint})" if event.error.hint else ""))

    async def action_open_skip(self) -> None:
        """Say why the chosen file was skipped, and offer to open it."""
        run = self.session.run
        if run is not None and run.skipped:
            skip = run.skipped[cursor_of(self.session)]
            question = f"{skip.path}\n\n{skip.reason} ({skip.code})\n\nOpen it in your editor?"
            await self.confirm("Skipped", question, partial(self._edit, skip))

    @property
    def is_welcoming(self) -> bool:
        """True while the screen without a store stands, be it behind another one."""
        from recall_tui.screens.welcome import WelcomeScreen  # noqa: PLC0415 - for who has no store

        return any(isinstance(screen, WelcomeScreen) for screen in self.screen_stack)

    def _close_welcome(self) -> None:
        """Close the screen without a store, and what stands before it."""
        while self.is_welcoming:
            self.pop_screen()

    def _is_free(self) -> bool:
        if state.is_ingesting(self.session):
            self.notify(UNDER_WAY)
            return False
        return True

    def _ingest(self, folder: str, opener: Callable[[], Recall] | None = None) -> None:
        is_owed = self.session.is_behind and folder == EVERYTHING
        self.become(self.session._replace(run=Run(folder, is_owed=is_owed), is_behind=False))
        self.crew.ingest(folder, opener)

    def _go_on_watching(self, event: Ended) -> None:
        run = self.session.run
        if isinstance(event.error, StoreLocked) and run is not None and run.is_owed:
            self.become(self.session._replace(is_behind=True))
            self.set_timer(LOCKED_SECONDS, self._catch_up)
        elif event.view is None:
            return
        elif run is not None and run.folder != EVERYTHING:
            self.crew.watch(is_on=True)  # the new folder too; its first answer brings all of them up to date
        elif self.session.is_behind:
            self._ingest(EVERYTHING)

    def _catch_up(self) -> None:
        """Read what a locked store kept from being read, unless a run has begun or the watch has ended since."""
        if self.session.watching and self.session.is_behind:
            self.folders_changed()

    def _agreed(self, choice: FirstStore, is_agreed: bool | None) -> None:
        if is_agreed:
            self._create(choice)

    def _create(self, choice: FirstStore) -> None:
        self._choice = choice
        self._close_welcome()
        self._ingest(choice.folder, partial(create_store, self.store, choice))

    def _ask_for_folder(self, typed: str, hint: str) -> AwaitMount:
        return self.prompt("Add a folder or a file", typed, hint, missing, self._folder_typed)

    def _folder_typed(self, typed: str | None) -> None:
        """Add it, unless a run has begun meanwhile: a watched folder may change at any time."""
        if typed is None:
            return
        if state.is_ingesting(self.session):
            self._ask_for_folder(typed, LATER)
        else:
            self._ingest(typed)

    def _note_synced(self) -> None:
        """Remember the time of day for what was read, under the names that the store has for it."""
        run, known, info = self.session.run, shelf(self.session), self.session.info
        if run is None or info is None:
            return
        roots = [source.root.folder for source in known.sources] if isinstance(known, StoreOverview) else []
        read = roots if run.folder == EVERYTHING else [_root_name(run.folder, Path(info.path).parent)]
        at = time.strftime("%H:%M")
        self.become(self.session._replace(synced={**self.session.synced, **dict.fromkeys(read, at)}))

    def _edit(self, skip: Skip, is_agreed: bool | None) -> None:
        if not is_agreed or self.session.info is None:
            return
        path = Path(self.session.info.path).parent / skip.path
        try:
            command = files.editor(os.environ)
            with self.suspend():
                subprocess.run([*command, str(path)], check=False)
        except SuspendNotSupported:
            self.warn("This terminal cannot be lent to an editor.")
        except UsageError as error:
            self.warn(f"{error.message} ({error.hint})" if error.hint else error.message)
        except OSError as error:
            self.warn(f"{path} cannot be edited: {why_unread(error)}.")


def _root_name(typed: str, base: Path) -> str:
    """What a store in the folder `base` calls the folder or file that was typed; as typed once nothing tells that."""
    from recall_core.paths import path_of  # noqa: PLC0415 - the engine loads behind the first frame

    try:
        return path_of(paths.expanded(typed), base)
    except RecallError:  # the folder that it starts from is gone
        return typed


def missing(path: str) -> str:
    """What is wrong with a path to add; "" when it is there."""
    is_there = path and os.path.exists(paths.expanded(path))  # noqa: PTH110 - False where nobody may look
    return "" if is_there else f"There is no file or folder {path!r}."
