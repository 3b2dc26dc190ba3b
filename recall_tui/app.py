"""The workbench application: wires keys and threads to the session, and the session to the screen."""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import ClassVar

from textual import events
from textual.command import Provider
from textual.driver import Driver
from textual.events import DescendantFocus, Key, MouseDown, MouseUp, Paste, Resize
from textual.filter import LineFilter, NoColor
from textual.scrollbar import ScrollBar
from textual.widgets import Input

from recall_core.adapters.streams import Streams
from recall_core.errors import Interrupted
from recall_tui import themes
from recall_tui.actions.keys import is_printable
from recall_tui.actions.table import by_key, is_valid
from recall_tui.gc_policy import REST_SECONDS, Tidying
from recall_tui.handlers.budget import BudgetActions
from recall_tui.handlers.explain import ExplainActions
from recall_tui.handlers.judge import JudgeActions
from recall_tui.handlers.line import LineActions
from recall_tui.handlers.panes import PaneActions
from recall_tui.handlers.profiles import ProfileActions
from recall_tui.handlers.query import QueryActions
from recall_tui.handlers.shell import ShellActions
from recall_tui.handlers.store import StoreActions
from recall_tui.handlers.weights import WeightActions
from recall_tui.home import keymap, preferences
from recall_tui.leaving import finish
from recall_tui.messages import Happened
from recall_tui.screens.bench import Bench
from recall_tui.screens.dialog import Dialog
from recall_tui.showing import Showing
from recall_tui.signals import listening
from recall_tui.state import session as state
from recall_tui.state.events import (
    Changed,
    Crashed,
    Ended,
    Event,
    Ran,
    StoreOpened,
    TaskDone,
    Unread,
    Unusable,
    Unwatched,
)
from recall_tui.state.session import Session
from recall_tui.state.transitions import after
from recall_tui.terminal import TerminalDriver, apart
from recall_tui.texts import Texts, to_keep
from recall_tui.threads.ports import Clock
from recall_tui.threads.threads import Threads
from recall_tui.widgets.borders import WholeCells, let_go_of_closed_widgets
from recall_tui.widgets.draw import ASCII, glyphs_for
from recall_tui.widgets.editor import Editor

LEFT = 1  # button
TRAIL = 20  # actions that the report of a defect names

NARROW = 100
"""Columns below which one pane at a time shows what is behind the results; the style sheet has the same number."""


def _actions() -> type[Provider]:
    """What the palette searches."""
    from recall_tui.palette import Actions  # noqa: PLC0415 - a dialog may wait until it is opened

    return Actions


class Workbench(
    QueryActions,
    PaneActions,
    BudgetActions,
    ExplainActions,
    WeightActions,
    ProfileActions,
    StoreActions,
    JudgeActions,
    ShellActions,
    LineActions,
):
    """One session over one store. store: the --store value, or None for the store of the current folder."""

    TITLE = "Recall"
    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_actions}

    def __init__(self, store: str | None = None, *, clock: Clock = time.monotonic) -> None:
        colourless = "NO_COLOR" in os.environ
        super().__init__(ansi_color=True if colourless else None)
        self.remembered = preferences.load(os.environ)
        for each in themes.THEMES:
            self.register_theme(each)
        liked = self.remembered.theme if self.remembered.theme in themes.NAMES else themes.NAMES[0]
        self.theme = themes.NO_COLOUR if colourless else liked
        self.set_class(glyphs_for(os.environ) is ASCII, "-ascii")
        ScrollBar.renderer = WholeCells  # Textual has one for all of a process
        let_go_of_closed_widgets()
        self.session = Session()
        self.store = store
        self.clock = clock
        self.tidying = Tidying(clock)
        self.showing = Showing(self._show, self.set_timer)
        self.crew = Threads(store, self._happened, clock)
        self.keymap = keymap.read(os.environ)
        self.table = self.keymap.table
        self.bench = Bench(store, self.table)
        self.texts = Texts(self, self.bench)
        self._shades = cache(themes.Shades)
        self._typed_ahead: list[Key | Paste] | None = []
        self.trail: deque[str] = deque(maxlen=TRAIL)
        self.stopped: tuple[Exception, str] | None = None
        """The defect that ended it, and what was written then."""

    def get_default_screen(self) -> Bench:
        """The panes."""
        return self.bench

    def get_driver_class(self) -> type[Driver]:
        """The one for a terminal that may go away, unless the environment names another."""
        kind = super().get_driver_class()
        return TerminalDriver if issubclass(TerminalDriver, kind) else kind

    def refresh_css(self, animate: bool = True) -> None:
        """The style sheet with the colours of the theme; before there are panes it has yet to be read, once."""
        if self.bench.is_mounted:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def on_mount(self) -> None:
        """Open the store, and load the engine for it, behind the first frame."""
        self.call_after_refresh(self._behind_first_frame)

    async def on_event(self, event: events.Event) -> None:
        """What is typed before the first frame waits for it: while no field has the focus, a letter is a command.

        Of the mouse only the left button acts.
        """
        if isinstance(event, events.InputEvent) and not event.is_forwarded:
            self.pressed_at = event.time
        if self._typed_ahead is not None and isinstance(event, Key | Paste):
            self._typed_ahead.append(event)
        elif isinstance(event, Key) and not event.is_forwarded:
            for key in apart(event, self.table):
                await super().on_event(key)
        elif not (isinstance(event, MouseDown | MouseUp) and event.button > LEFT):
            await super().on_event(event)

    async def on_unmount(self) -> None:
        """Leave no thread behind but that which writes; `run` waits for it."""
        self.stop_reembed()
        await asyncio.to_thread(self.crew.stop)

    # What the threads and the panes say.

    def on_happened(self, message: Happened) -> None:
        """A worker's event changes the session."""
        event = message.event
        if isinstance(event, Crashed):
            raise event.error
        before = self.session
        self.become(after(before, event))
        self.selection_moved(before)
        match event:
            case StoreOpened() if not (self.crew.is_open or self.is_welcoming):
                self.crew.open(self.session)
            case Unusable(error):
                self.crew.lose()
                self.welcome(error)
            case Ran():
                self.command_ran(event)
            case Ended():
                self.ingest_ended(event)
            case StoreOpened():
                self.store_opened(before, is_altered=event.is_altered)
            case Unread(error):
                self.settings_unread(error)
            case Changed():
                self.folders_changed()
            case Unwatched():
                self.watch_failed(event)
            case TaskDone():
                self.chore_ended(event)

    def on_resize(self, event: Resize) -> None:
        """A narrow screen shows fewer panes, which want less of the store."""
        is_narrow = event.size.width < NARROW
        if is_narrow != self.session.is_narrow:
            self.become(self.session._replace(is_narrow=is_narrow))
        elif self.bench.is_mounted:
            self.lay_out()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """The focus decides which pane is in front."""
        pane = self.bench.pane_of(event.widget)
        if pane is not None and pane != self.session.pane:
            self.become(state.focused(self.session, pane))

    def watch_app_focus(self, focused: bool) -> None:
        """A browser's tab that was opened behind others has no focus to give back when it comes to the front."""
        if focused and self.bench.is_mounted and self.screen is self.bench and self.bench.focused is None:
            self.bench.give_focus(self.session.pane)

    # Actions, named as in the table.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The table decides what is valid; everything else is Textual's."""
        if action == "command":
            return self._takes(str(parameters[0]))
        typed = f"{action}({', '.join(map(repr, parameters))})" if parameters else action
        known = next((each for each in self.table.actions if each.id == typed), None)
        return super().check_action(action, parameters) if known is None else is_valid(known, self.session)

    async def action_command(self, key: str) -> None:
        """Do what a key means in the pane in front."""
        action = by_key(key, self.session, self.table)
        if action is not None:
            await self.perform(action.id)

    def get_line_filters(self) -> list[LineFilter]:
        """Nothing that a terminal obeys, and the signals in the shades of the theme, before Textual's own filters."""
        colourless = [NoColor()] if self.theme == themes.NO_COLOUR else []
        return [self._shades(self.theme), *super().get_line_filters(), *colourless]

    async def perform(self, action: str) -> None:
        """Do an action of the table, named as there."""
        self.trail.append(action)
        await self.run_action(f"app.{action}")

    async def action_help(self) -> None:
        """Show the keys."""
        from recall_tui.screens.help import HelpScreen  # noqa: PLC0415 - a dialog may wait until it is opened

        await self.push_screen(HelpScreen(self.table, self.session.pane))

    def action_command_palette(self) -> None:
        """Show the palette, once."""
        from recall_tui.palette import Palette  # noqa: PLC0415 - a dialog may wait until it is opened

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette", placeholder="Search for commands"))

    def action_leave(self) -> None:
        """Quit."""
        self.become(state.settled(self.session))
        self.exit(return_code=0)

    async def action_quit(self) -> None:
        """Textual's own ^q, which comes before the table's."""
        self.action_leave()

    def action_help_quit(self) -> None:
        """What ^c means where nothing is selected."""
        self.notify("^q leaves the workbench; ^c copies what is selected, and here nothing is.")

    # How it is done.

    def become(self, session: Session) -> None:
        """Keep an answered query, ask the store for what the session wants, and show it."""
        if (past := to_keep(session)) is not None:
            self.texts.remember(past)
            session = session._replace(kept=past, kept_at=session.question)
        before, self.session = self.session, session
        self.tidying.moved()
        self.crew.serve(before, session)
        self.question_began(before)
        self.showing.follow(before, session)

    def _show(self) -> None:
        if self.bench.is_mounted and self.is_running:  # a thread may have its say while the panes are taken down
            self.bench.show(self.session)
            self.lay_out()
            if isinstance(self.screen, Dialog):
                self.screen.show_session(self.session)

    def _fatal_error(self) -> None:
        """Textual's way out of a defect, without its page of code and values: `run` says what has happened."""
        if self._exception is not None and self.stopped is None:
            self.stopped = self._exception, self.bench.written
        self._close_messages_no_wait()

    def panic(self, *_renderables: object) -> None:
        """Errors that bring a page of their own are defects too."""
        self._fatal_error()

    def _takes(self, key: str) -> bool:
        """True when a key is a command by now; a field that is edited takes what it can type."""
        if is_printable(key) and isinstance(self.bench.focused, Editor | Input):
            return False
        if key in ("tab", "escape") and self.bench.is_offering:
            return False  # Tab and Esc are the list's while it is open
        action = by_key(key, self.session, self.table)
        if action is None or not (self.bench.has_room or action.id == "leave"):
            return False  # what nobody would see
        return is_valid(action, self.session)

    def _happened(self, event: Event) -> None:
        self.post_message(Happened(event))

    def _stopped_from_outside(self) -> None:
        """A signal ends it as a person does, but for what is written: that is offered again."""
        from recall_tui.home.crash import keep_query  # noqa: PLC0415 - only for who is interrupted

        with suppress(OSError):  # the terminal may be gone, and there is nobody to tell
            keep_query(self.bench.written, os.environ)
        self.exit(return_code=Interrupted.exit_code)

    def _look_around(self) -> None:
        """What can wait for a quiet moment."""
        if isinstance(self._driver, TerminalDriver) and self._driver.is_gone():
            self._stopped_from_outside()
        self.tidying.look()

    async def _behind_first_frame(self) -> None:
        self.tidying.begin()
        self.set_interval(REST_SECONDS, self._look_around)
        if self.stops is not None:
            self.stops.heed(self._stopped_from_outside)
        self.crew.open(self.session)
        typed, self._typed_ahead = self._typed_ahead or [], None
        for event in typed:
            await self.on_event(event)
        self.texts.offer_interrupted()
        if self.keymap.faults:
            self.notify(keymap.told(self.keymap.faults), severity="warning", timeout=15, markup=False)


def run(store: str | None, *, streams: Streams) -> int:
    """Open the workbench and return its exit code; a defect has a line on stderr and a report."""
    gc.disable()  # nothing is garbage before the first frame, and looking for it takes a tenth of the time to it
    app = Workbench(store)
    with listening() as app.stops:
        app.run()
    unwritten = finish(app.crew.chores, streams)
    if app.return_code == Interrupted.exit_code:
        raise Interrupted("interrupted", "Interrupted.")
    if app.stopped is None:
        return app.return_code or unwritten
    from recall_tui.home import crash  # noqa: PLC0415 - only for a defect

    error, query = app.stopped
    defect = crash.Defect(error, tuple(app.trail), query)
    streams.stderr.write(crash.left_behind(defect, os.environ))
    return crash.EXIT_CODE
