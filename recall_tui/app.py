"""The workbench application: wires keys and threads to the session, and the session to the screen."""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Callable
from typing import ClassVar

from textual.command import Provider
from textual.events import DescendantFocus, Resize
from textual.widgets import Input

from recall_core.errors import RecallError
from recall_tui import session as state
from recall_tui.actions.keys import is_printable
from recall_tui.actions.table import ACTIONS, by_key, is_valid
from recall_tui.acts.budget import BudgetActions
from recall_tui.acts.ingest import IngestActions
from recall_tui.acts.panes import PaneActions
from recall_tui.acts.query import QueryActions
from recall_tui.acts.weights import WeightActions
from recall_tui.events import Chored, Crashed, Ended, Event, Opened, Unusable
from recall_tui.messages import Happened
from recall_tui.palette import Actions
from recall_tui.screens.bench import Bench
from recall_tui.screens.help import HelpScreen
from recall_tui.session import Session
from recall_tui.texts import Texts
from recall_tui.transitions import after
from recall_tui.widgets.draw import ASCII, glyphs_for
from recall_tui.widgets.editor import Editor
from recall_tui.work.crew import Crew
from recall_tui.work.ports import Clock

NARROW = 100
"""Columns below which one pane at a time shows what is behind the results; the style sheet has the same number."""


class Workbench(QueryActions, PaneActions, BudgetActions, WeightActions, IngestActions):
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
        self.store = store
        self.clock = clock
        self.crew = Crew(store, self._happened, clock)
        self.bench = Bench(store)
        self.texts = Texts(self, self.bench)

    def get_default_screen(self) -> Bench:
        """The panes."""
        return self.bench

    def on_mount(self) -> None:
        """Open the store, and load the engine for it, behind the first frame."""
        self.call_after_refresh(self._behind_first_frame)

    async def on_unmount(self) -> None:
        """Leave no thread behind."""
        await asyncio.to_thread(self.crew.stop)

    # What the threads and the panes say.

    def on_happened(self, message: Happened) -> None:
        """A worker's event changes the session."""
        event = message.event
        if isinstance(event, Crashed):
            raise event.error
        self.become(after(self.session, event))
        match event:
            case Opened() if not self.crew.is_open:
                self.crew.open(self.session)
            case Unusable(error):
                self.crew.lose()
                self.welcome(error)
            case Ended():
                self.ingest_ended(event)
            case Chored(name, summary, error):
                self._say_done(name, summary, error)

    def on_resize(self, event: Resize) -> None:
        """A narrow screen shows fewer panes, which want less of the store."""
        is_narrow = event.size.width < NARROW
        if is_narrow != self.session.is_narrow:
            self.become(self.session._replace(is_narrow=is_narrow))

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """The focus decides which pane is in front."""
        pane = self.bench.pane_of(event.widget)
        if pane is not None and pane != self.session.pane:
            self.become(state.focused(self.session, pane))

    # Actions, named as in the table.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The table decides what is valid; everything else is Textual's."""
        if action == "command":
            return self._takes(str(parameters[0]))
        typed = f"{action}({', '.join(map(repr, parameters))})" if parameters else action
        for known in ACTIONS:
            if known.id == typed:
                return is_valid(known, self.session)
        return super().check_action(action, parameters)

    async def action_command(self, key: str) -> None:
        """Do what a key means in the pane in front."""
        action = by_key(key, self.session)
        if action is not None:
            await self.run_action(f"app.{action.id}")

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
            self.texts.remember(text)
            session = session._replace(kept=text)
        before, self.session = self.session, session
        self.crew.serve(before, session)
        if self.bench.is_mounted and self.is_running:  # a thread may have its say while the panes are taken down
            self.bench.show(session)

    def _takes(self, key: str) -> bool:
        """True when a key is a command by now; a field that is edited takes what it can type."""
        if is_printable(key) and isinstance(self.bench.focused, Editor | Input):
            return False
        if key in ("tab", "escape") and self.bench.is_offering:
            return False  # Tab and Esc are the list's while it is open
        action = by_key(key, self.session)
        return action is not None and is_valid(action, self.session)

    def _say_done(self, name: str, summary: str, error: RecallError | None) -> None:
        if error is not None:
            self.warn(f"{name}: {error.message}" + (f" ({error.hint})" if error.hint else ""))
        elif summary:
            self.notify(summary, markup=False)
        answer, info = self.session.answer, self.session.info
        if answer is not None and info is not None and answer.generation != info.generation:
            self.ask()

    def _happened(self, event: Event) -> None:
        self.post_message(Happened(event))

    def _behind_first_frame(self) -> None:
        gc.freeze()
        gc.enable()
        self.crew.open(self.session)


def run(store: str | None) -> int:
    """Open the workbench and return its exit code."""
    gc.disable()  # nothing is garbage before the first frame, and looking for it takes a tenth of the time to it
    app = Workbench(store)
    app.run()
    return app.return_code or 0
