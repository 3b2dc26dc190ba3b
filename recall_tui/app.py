"""The workbench application: wires keys and threads to the session, and the session to the screen."""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.command import Provider
from textual.events import DescendantFocus
from textual.timer import Timer

from recall_tui import session as state
from recall_tui.actions import ACTIONS, by_key, is_valid
from recall_tui.acts.budget import BudgetActions
from recall_tui.acts.panes import PaneActions
from recall_tui.acts.weights import WeightActions
from recall_tui.events import Crashed, Ended, Event, Opened, Unusable
from recall_tui.messages import Chosen, Happened, Lacking, LookingAt, Typed
from recall_tui.opening import create_store, open_store
from recall_tui.palette import Actions
from recall_tui.screens.bench import Bench
from recall_tui.screens.help import HelpScreen
from recall_tui.screens.prompt import PromptScreen
from recall_tui.screens.welcome import WelcomeScreen
from recall_tui.session import Session
from recall_tui.shell import command
from recall_tui.texts import Texts
from recall_tui.widgets.draw import ASCII, glyphs_for
from recall_tui.work import Clock, IngestThread, QueryThread

if TYPE_CHECKING:
    from recall_core.errors import RecallError
    from recall_core.service import Recall

LIVE_SECONDS = 0.13  # after the last key; shorter searches words nobody meant, longer feels slow


class Workbench(PaneActions, BudgetActions, WeightActions):
    """One session over one store. store: the --store value, or None for the store of the current folder."""

    TITLE = "Recall"
    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Actions}

    def __init__(self, store: str | None = None, *, clock: Clock = time.monotonic) -> None:
        colourless = "NO_COLOR" in os.environ
        super().__init__(ansi_color=True if colourless else None)
        self.theme = "ansi-dark" if colourless else "textual-dark"
        self.set_class(glyphs_for(os.environ) is ASCII, "-ascii")
        self.session = Session()
        self._store = store
        self._clock = clock
        self._searching: QueryThread | None = None
        self._ingesting: IngestThread | None = None
        self._typing: Timer | None = None
        self.bench = Bench(store)
        self._texts = Texts(self, self.bench)

    def get_default_screen(self) -> Bench:
        """The panes."""
        return self.bench

    def on_mount(self) -> None:
        """Open the store, and load the engine for it, behind the first frame."""
        self.call_after_refresh(self._behind_first_frame)

    async def on_unmount(self) -> None:
        """Leave no thread behind."""
        await asyncio.to_thread(self._stop_work)

    # What the threads and the panes say.

    def on_happened(self, message: Happened) -> None:
        """A worker's event changes the session."""
        event = message.event
        if isinstance(event, Crashed):
            raise event.error
        self.become(state.after(self.session, event))
        match event:
            case Opened() if self._searching is None:
                self._open()
            case Unusable(error):
                self._searching = None
                self._welcome(error)
            case Ended():
                self._ingest_ended(event)

    def on_typed(self, message: Typed) -> None:
        """A search follows when the keys rest."""
        if self._typing is not None:
            self._typing.stop()
        if message.text != self.session.text:
            self._typing = self.set_timer(LIVE_SECONDS, self._ask)

    def on_lacking(self, message: Lacking) -> None:
        """Completion has a question for the store."""
        self.become(state.lacking(self.session, message.lookups))

    def on_chosen(self, message: Chosen) -> None:
        """A row was clicked."""
        self.become(state.chosen(self.session, message.row))

    def on_looking_at(self, message: LookingAt) -> None:
        """The list shows rows that have to be fetched."""
        self.become(state.looking_at(self.session, message.first, message.end))

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """The focus decides which pane is in front."""
        pane = self.bench.pane_of(event.widget)
        if pane is not None and pane != self.session.pane:
            self.become(state.focused(self.session, pane))

    def on_welcome_screen_named(self, message: WelcomeScreen.Named) -> None:
        """Create a store and fill it."""
        if wrong := missing(message.folder):
            self.notify(wrong, severity="error")
            return
        self.pop_screen()
        self._ingest(message.folder, partial(create_store, self._store))

    # Actions, named as in the table.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The table decides what is valid; everything else is Textual's."""
        if action in ("next_pane", "step_out") and self.bench.is_offering:
            return False  # Tab and Esc are the list's while it is open
        if action == "command":
            return self.bench.focused is not self.bench.editor and is_valid(by_key(str(parameters[0])), self.session)
        typed = f"{action}({', '.join(map(repr, parameters))})" if parameters else action
        for known in ACTIONS:
            if known.id == typed:
                return is_valid(known, self.session)
        return super().check_action(action, parameters)

    async def action_command(self, key: str) -> None:
        """Do what a printable key means in the nav state."""
        await self.run_action(f"app.{by_key(key).id}")

    def action_run(self) -> None:
        """Ask what is written, and mean it."""
        self._ask()
        self.become(state.settled(self.session))

    async def action_open_history(self) -> None:
        """Choose an earlier query."""
        await self._texts.pick()

    async def action_save_query(self) -> None:
        """Save the query to a file."""
        await self._texts.ask_save()

    async def action_load_query(self) -> None:
        """Load a query from a file."""
        await self._texts.ask_load()

    def action_edit_outside(self) -> None:
        """Edit the query in another program."""
        self._texts.edit_outside()

    async def action_add_folder(self) -> None:
        """Ask for a folder to ingest."""
        if state.is_ingesting(self.session):
            self.notify("An ingest run is under way; ^g cancels it.")
            return
        prompt = PromptScreen("Add a folder or a file", "", "a path, then Enter; what is unchanged is kept", missing)
        await self.push_screen(prompt, self._folder_typed)

    def action_cancel(self) -> None:
        """Stop the ingest run."""
        if self._ingesting is not None:
            self._ingesting.cancel()

    def action_copy_command(self) -> None:
        """Put the command that reproduces the pane on the clipboard."""
        if typed := command(self.session, self._store):
            self.copy(typed, typed)

    async def action_help(self) -> None:
        """Show the keys."""
        await self.push_screen(HelpScreen())

    def action_leave(self) -> None:
        """Quit."""
        self.become(state.settled(self.session))
        self.exit(return_code=0)

    async def action_quit(self) -> None:
        """Textual's own ^q, which comes before the table's."""
        self.action_leave()

    # How it is done.

    def become(self, session: Session) -> None:
        """Keep an answered query, ask the store for what the session wants, and show it."""
        if text := state.to_keep(session):
            self._texts.remember(text)
            session = session._replace(kept=text)
        before, self.session = self.session, session
        if self._searching is not None and state.wish(session) != state.wish(before):
            self._searching.submit(state.wish(session))
        if self.bench.is_mounted and self.is_running:  # a thread may have its say while the panes are taken down
            self.bench.show(session)

    def _ask(self) -> None:
        if not self.bench.is_attached:
            return  # the keys came to rest only after the workbench had been left
        if self._typing is not None:
            self._typing.stop()
        self.become(state.asked(self.session, self.bench.editor.text, self._clock()))

    def _happened(self, event: Event) -> None:
        self.post_message(Happened(event))

    def _behind_first_frame(self) -> None:
        gc.freeze()
        gc.enable()
        self._open()

    def _open(self) -> None:
        self._searching = QueryThread(partial(open_store, self._store), self._happened, self._clock)
        self._searching.submit(state.wish(self.session))
        self._searching.start()

    def _welcome(self, error: RecallError) -> None:
        self.push_screen(WelcomeScreen(error, self._store or "the current folder"))

    def _ingest(self, folder: str, opener: Callable[[], Recall]) -> None:
        self.become(self.session._replace(run=state.Run(folder)))
        self._ingesting = IngestThread(opener, folder, self._happened, self._clock)
        self._ingesting.start()

    def _ingest_ended(self, event: Ended) -> None:
        self._ingesting = None
        if self._searching is None and event.error is not None:
            self._welcome(event.error)
        elif self.session.text:
            self._ask()

    def _folder_typed(self, typed: str | None) -> None:
        if typed is not None:
            self._ingest(typed, partial(open_store, self._store))

    def _stop_work(self) -> None:
        for thread in (self._ingesting, self._searching):
            if thread is not None:
                thread.stop()


def missing(path: str) -> str:
    """What is wrong with a path to add; "" when it is there."""
    return "" if path and Path(path).expanduser().exists() else f"There is no file or folder {path!r}."


def run(store: str | None) -> int:
    """Open the workbench and return its exit code."""
    gc.disable()  # nothing is garbage before the first frame, and looking for it takes a tenth of the time to it
    app = Workbench(store)
    app.run()
    return app.return_code or 0
