"""The workbench application: wires keys and threads to the session, and the session to the screen."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache, partial
from typing import ClassVar

from textual import events
from textual._styles_cache import StylesCache
from textual.color import Color
from textual.command import Provider
from textual.driver import Driver
from textual.events import DescendantFocus, Key, MouseDown, MouseUp, Resize
from textual.filter import LineFilter, NoColor
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.style import Style
from textual.widgets import Input

from recall_core.adapters.streams import Streams
from recall_core.errors import Interrupted
from recall_tui import home, themes
from recall_tui.actions.action import is_printable
from recall_tui.actions.table import by_key
from recall_tui.handlers import ingest, judge, query, shell
from recall_tui.handlers import store as store_handlers
from recall_tui.handlers.shell import Actions
from recall_tui.home import keymap
from recall_tui.home.history import PastQuestion
from recall_tui.home.preferences import Preferences
from recall_tui.host import REST_SECONDS, Happened, Host, reason_of
from recall_tui.screens.bench import Bench
from recall_tui.state import session as state
from recall_tui.state.events import (
    Changed,
    Crashed,
    Ended,
    Ran,
    StoreOpened,
    TaskDone,
    Unread,
    Unusable,
    Unwatched,
    Waits,
)
from recall_tui.state.transitions import after
from recall_tui.state.weighing import question_of
from recall_tui.terminal import INPUT, TerminalDriver, Turns, apart, listening
from recall_tui.threads import Clock
from recall_tui.threads.writing import finish_tasks
from recall_tui.widgets import Do
from recall_tui.widgets.draw import ASCII, glyphs_for
from recall_tui.widgets.editor import Editor

LEFT = 1  # button
SWITCH_SECONDS = 0.001
"""A key waits for a thread that computes at most so long, several times on its way; Python's own is 5 ms."""
NARROW = 100
"""Columns below which one pane at a time shows what is behind the results; the style sheet has the same number."""
MOST_PAIRS = 256  # of colours; a theme has a few dozen
_REMOTE_FONT = re.compile(r"\s*@font-face \{[^}]*\}")


class WholeCells(ScrollBarRender):
    """Begins and ends its thumb between two cells, since not every terminal draws parts of one."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


@lru_cache(MOST_PAIRS)
def inner_outer(base: Color, background: Color) -> tuple[Style, Style]:
    """Return the style within a widget's edge and the one around it.

    Textual 8 remembers these pairs by the widget's line cache too, and so keeps the painted lines of the last 1,024
    widgets (Textualize/textual#6665). Harmless where that is mended.
    """
    return Style(background=base + background), Style(background=base)


def _actions() -> type[Provider]:
    """What the palette searches."""
    return Actions


class Workbench(Host):
    """One session over one store. store: the --store value, or None for the store of the current folder."""

    TITLE = "Recall"
    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_actions}

    def __init__(self, store: str | None = None, *, clock: Clock = time.monotonic) -> None:
        colourless = "NO_COLOR" in os.environ
        super().__init__(store, clock=clock, ansi_color=True if colourless else None)
        for each in themes.THEMES:
            self.register_theme(each)
        liked = self.remembered.theme if self.remembered.theme in themes.NAMES else themes.NAMES[0]
        self.theme = themes.NO_COLOUR if colourless else liked
        self.set_class(glyphs_for(os.environ) is ASCII, "-ascii")
        ScrollBar.renderer = WholeCells  # Textual has one for all of a process
        StylesCache.get_inner_outer = staticmethod(inner_outer)  # type: ignore[assignment]
        self._shades = cache(themes.Shades)
        self.turns = Turns(self, self._deal)
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
        """What a person does has its turn from the first frame on: before, no field has the focus for a letter."""
        if isinstance(event, INPUT) and not event.is_forwarded:
            await self.turns.take(*(apart(event, self.table) if isinstance(event, Key) else (event,)))
        else:
            await super().on_event(event)

    async def _deal(self, event: events.Event) -> None:
        """Of the mouse only the left button acts."""
        self.pressed_at = event.time
        if not (isinstance(event, MouseDown | MouseUp) and event.button > LEFT):
            await super().on_event(event)

    async def on_unmount(self) -> None:
        """Leave no thread behind but that which writes; `run` waits for it."""
        self.turns.stop()
        store_handlers.stop_reembed(self)
        await asyncio.to_thread(self.threads.stop)

    # What the threads and the panes say.

    def on_happened(self, message: Happened) -> None:
        """A worker's event changes the session."""
        event = message.event
        if isinstance(event, Crashed):
            raise event.error
        before = self.session
        self.become(after(before, event), is_told=True)
        judge.selection_moved(self, before)
        match event:
            case StoreOpened() if not (self.threads.is_open or ingest.is_welcoming(self)):
                self.threads.open(self.session)
            case Unusable(error):
                self.threads.lose()
                ingest.welcome(self, error)
            case Ran():
                query.command_ran(self, event)
            case Ended():
                ingest.ingest_ended(self, event)
            case StoreOpened():
                store_handlers.store_opened(self, before, event)
            case Unread(error):
                said = f"{error.message.rstrip('.')}. The settings read before still apply."
                self.notify(said, severity="warning", markup=False)
            case Waits(error):
                said = f"{error.message} Until :trust --yes accepts it, only the lexical signal is used."
                self.notify(said, severity="warning", timeout=15, markup=False)
            case Changed():
                ingest.folders_changed(self)
            case Unwatched(error):
                self.warn(reason_of(error))
            case TaskDone():
                store_handlers.task_ended(self, event)

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
            self.become(state.focus_pane(self.session, pane))

    def watch_app_focus(self, focused: bool) -> None:
        """A browser's tab that was opened behind others has no focus to give back when it comes to the front."""
        if focused and self.bench.is_mounted and self.screen is self.bench and self.bench.focused is None:
            self.bench.give_focus(self.session.pane)

    async def on_do(self, message: Do) -> None:
        """Do what was clicked, typed or chosen in a pane."""
        await self.perform(message.action, *message.arguments)

    def on_driver_signal_resume(self) -> None:
        """A shell has had the terminal, and nothing of what was drawn before is on it."""
        self.refresh(layout=True)

    # Keys, and the actions of Textual.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A key that means nothing in the pane in front is left to the field that has the focus."""
        return self._takes(str(parameters[0])) if action == "command" else super().check_action(action, parameters)

    async def action_command(self, key: str) -> None:
        """Do what a key means in the pane in front."""
        action = by_key(key, self.session, self.table)
        if action is not None:
            await self.perform(action.id)

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        """The screen as SVG, in a font of the machine that shows it."""
        return _REMOTE_FONT.sub("", super().export_screenshot(title=title, simplify=simplify))

    def get_line_filters(self) -> list[LineFilter]:
        """Nothing that a terminal obeys, and the signals in the shades of the theme, before Textual's own filters."""
        colourless = [NoColor()] if self.theme == themes.NO_COLOUR else []
        return [self._shades(self.theme), *super().get_line_filters(), *colourless]

    async def action_help(self) -> None:
        """Show the keys, where a dialog has a key of its own for it."""
        await self.perform("help")

    def action_command_palette(self) -> None:
        """Show the palette, by Textual's own key for it."""
        shell.command_palette(self)

    async def action_leave(self) -> None:
        """Quit, from a dialog too."""
        await self.perform("leave")

    async def action_quit(self) -> None:
        """Textual's own ^q, which comes before the table's."""
        await self.perform("leave")

    def action_help_quit(self) -> None:
        """What ^c means where nothing is selected."""
        self.notify("Nothing is selected to copy. ^q quits.")

    @property
    def question(self) -> PastQuestion:
        """The question in the field, or about to be, with its filter and changed settings."""
        return self.given or question_of(self.session, self.bench.query_text)

    # How it is done.

    def _fatal_error(self) -> None:
        """Textual's way out of a defect, without its page of code and values: `run` says what has happened."""
        if self._exception is not None and self.stopped is None:
            self.stopped = self._exception, self.bench.query_text
        self._close_messages_no_wait()

    def panic(self, *_renderables: object) -> None:
        """Errors that bring a page of their own are defects too."""
        self._fatal_error()

    def _takes(self, key: str) -> bool:
        """Return True if a key is a command now; a field that is edited takes what it can type."""
        if is_printable(key) and isinstance(self.bench.focused, Editor | Input):
            return False
        if key in ("tab", "escape") and self.bench.is_offering:
            return False  # Tab and Esc are the list's while it is open
        action = by_key(key, self.session, self.table)
        if action is None or not (self.bench.has_room or action.id == "leave"):
            return False  # what no one would see
        return action.when.holds(self.session) or action.label != ""  # which says why it does nothing

    def _stopped_from_outside(self) -> None:
        """A signal ends it as a person does, but for what is written: that is offered again."""
        with suppress(OSError):  # the terminal may be gone, and there is no one to tell
            home.crash.keep_query(self.bench.query_text, os.environ)
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
        self.threads.open(self.session)
        await self.turns.begin()
        await self.turns.take(
            events.Callback(partial(query.ask_given, self)), events.Callback(partial(query.offer_interrupted, self))
        )
        if self.keymap.faults:
            self.notify(keymap.summarize_faults(self.keymap.faults), severity="warning", timeout=15, markup=False)
        if self.keymap.shared and (said := keymap.summarize_faults(self.keymap.shared)) != self.remembered.told:
            self.notify(said, severity="warning", timeout=15, markup=False)
            shell.remember(self, Preferences(told=said))


def run(store: str | None, *, streams: Streams, question: str = "") -> int:
    """Open the workbench and return its exit code; a defect has a line on stderr and a report.

    question: asked at the start.
    """
    gc.disable()  # nothing is garbage before the first frame, and looking for it takes a tenth of the time to it
    sys.setswitchinterval(SWITCH_SECONDS)
    app = Workbench(store)
    app.given = PastQuestion(question) if question else None
    with listening() as app.stops:
        app.run()
    unwritten = finish_tasks(app.threads.writer, streams)
    if app.return_code == Interrupted.exit_code:
        raise Interrupted("interrupted", "Interrupted.")
    if app.stopped is None:
        return app.return_code or unwritten

    error, query = app.stopped
    defect = home.crash.Defect(error, tuple(app.trail), query)
    streams.stderr.write(home.crash.leave_report(defect, os.environ))
    return home.crash.EXIT_CODE
