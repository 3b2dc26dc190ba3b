"""The workbench application: connects keys and threads to the session, and the session to the screen."""

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

from recall_core import personal
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
"""Longest wait of a key for a computing thread, which a key does several times. Python's default is 5 ms."""
NARROW = 100
"""Width below which the panes after the results share one place. The style sheet has the same number."""
MOST_PAIRS = 256  # of colours; a theme has a few dozen
_REMOTE_FONT = re.compile(r"\s*@font-face \{[^}]*\}")


class WholeCells(ScrollBarRender):
    """A scrollbar whose thumb covers whole cells, since not every terminal draws parts of a cell."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


@lru_cache(MOST_PAIRS)
def inner_outer(base: Color, background: Color) -> tuple[Style, Style]:
    """Return the style within a widget's edge and the style around it.

    Textual 8 caches these pairs with the widget's lines, and so keeps the drawn lines of the last 1,024 widgets
    (Textualize/textual#6665). Harmless once that is fixed.
    """
    return Style(background=base + background), Style(background=base)


def _actions() -> type[Provider]:
    """Return the provider that the palette searches."""
    return Actions


class Workbench(Host):
    """A session over a store. store: the --store value, or None for the store of the current folder."""

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
        ScrollBar.renderer = WholeCells  # shared by the whole process
        StylesCache.get_inner_outer = staticmethod(inner_outer)  # type: ignore[assignment]
        self._shades = cache(themes.Shades)
        self.turns = Turns(self, self._deal)
        self.stopped: tuple[Exception, str] | None = None
        """The defect that ended it, and the query text at that time."""

    def get_default_screen(self) -> Bench:
        """Return the panes."""
        return self.bench

    def get_driver_class(self) -> type[Driver]:
        """Return the driver for a terminal that may go away, unless the environment names another."""
        kind = super().get_driver_class()
        return TerminalDriver if issubclass(TerminalDriver, kind) else kind

    def refresh_css(self, animate: bool = True) -> None:
        """Refresh the style sheet with the theme's colours. Before there are panes, only set the variables."""
        if self.bench.is_mounted:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def on_mount(self) -> None:
        """Open the store and load the engine after the first frame."""
        self.call_after_refresh(self._behind_first_frame)

    async def on_event(self, event: events.Event) -> None:
        """Queue user input until the first frame, since no field has the focus before."""
        if isinstance(event, INPUT) and not event.is_forwarded:
            await self.turns.take(*(apart(event, self.table) if isinstance(event, Key) else (event,)))
        else:
            await super().on_event(event)

    async def _deal(self, event: events.Event) -> None:
        """Handle an input event. Of the mouse buttons only the left one acts."""
        self.pressed_at = event.time
        if not (isinstance(event, MouseDown | MouseUp) and event.button > LEFT):
            await super().on_event(event)

    async def on_unmount(self) -> None:
        """Stop all threads. The writer finishes its tasks; `run` waits for it."""
        self.turns.stop()
        store_handlers.stop_reembed(self)
        await asyncio.to_thread(self.threads.stop)

    # Messages of threads and panes.

    def on_happened(self, message: Happened) -> None:
        """Change the session after a worker's event."""
        event = message.event
        if isinstance(event, Crashed):
            raise event.error
        before = self.session
        self.become(after(before, event), is_reported=True)
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
                text = f"{error.message.rstrip('.')}. The previous settings still apply."
                self.notify(text, severity="warning", markup=False)
            case Waits(error):
                text = f"{error.message} Until :trust --yes accepts it, only the lexical signal is used."
                self.notify(text, severity="warning", timeout=15, markup=False)
            case Changed():
                ingest.folders_changed(self)
            case Unwatched(error):
                self.warn(reason_of(error))
            case TaskDone():
                store_handlers.task_ended(self, event)

    def on_resize(self, event: Resize) -> None:
        """Show fewer panes on a narrow screen."""
        is_narrow = event.size.width < NARROW
        if is_narrow != self.session.is_narrow:
            self.become(self.session._replace(is_narrow=is_narrow))
        elif self.bench.is_mounted:
            self.lay_out()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Make the focused pane the active one."""
        pane = self.bench.pane_of(event.widget)
        if pane is not None and pane != self.session.pane:
            self.become(state.focus_pane(self.session, pane))

    def watch_app_focus(self, focused: bool) -> None:
        """Focus the active pane in a browser tab that was opened in the background."""
        if focused and self.bench.is_mounted and self.screen is self.bench and self.bench.focused is None:
            self.bench.give_focus(self.session.pane)

    async def on_do(self, message: Do) -> None:
        """Do what was clicked, typed or chosen in a pane."""
        await self.perform(message.action, *message.arguments)

    def on_driver_signal_resume(self) -> None:
        """Redraw everything after a shell has used the terminal."""
        self.refresh(layout=True)

    # Keys, and the actions of Textual.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave a key without a meaning in the active pane to the focused field."""
        return self._takes(str(parameters[0])) if action == "command" else super().check_action(action, parameters)

    async def action_command(self, key: str) -> None:
        """Run the action of a key in the active pane."""
        action = by_key(key, self.session, self.table)
        if action is not None:
            await self.perform(action.id)

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        """Return the screen as SVG, in a font of the viewer's machine."""
        return _REMOTE_FONT.sub("", super().export_screenshot(title=title, simplify=simplify))

    def get_line_filters(self) -> list[LineFilter]:
        """Return filters for control characters and the theme's shades, before Textual's own filters."""
        colourless = [NoColor()] if self.theme == themes.NO_COLOUR else []
        return [self._shades(self.theme), *super().get_line_filters(), *colourless]

    async def action_help(self) -> None:
        """Show the keys, for dialogs with their own key for it."""
        await self.perform("help")

    def action_command_palette(self) -> None:
        """Show the palette, for Textual's own key."""
        shell.command_palette(self)

    async def action_leave(self) -> None:
        """Quit, also from a dialog."""
        await self.perform("leave")

    async def action_quit(self) -> None:
        """Quit, for Textual's own ^q."""
        await self.perform("leave")

    def action_help_quit(self) -> None:
        """Explain ^c when nothing is selected."""
        self.notify("Nothing is selected to copy. ^q quits.")

    @property
    def question(self) -> PastQuestion:
        """The question in the field, or about to be, with its filter and changed settings."""
        return self.given or question_of(self.session, self.bench.query_text)

    # Private methods.

    def _fatal_error(self) -> None:
        """Stop after a defect without printing Textual's page of code and values. `run` reports it."""
        if self._exception is not None and self.stopped is None:
            self.stopped = self._exception, self.bench.query_text
        self._close_messages_no_wait()

    def panic(self, *_renderables: object) -> None:
        """Treat errors with a page of their own as defects."""
        self._fatal_error()

    def _takes(self, key: str) -> bool:
        """Return True if a key is a command now. A focused field takes the keys it can type."""
        if is_printable(key) and isinstance(self.bench.focused, Editor | Input):
            return False
        if key in ("tab", "escape") and self.bench.is_offering:
            return False  # the open list takes Tab and Esc
        action = by_key(key, self.session, self.table)
        if action is None or not (self.bench.has_room or action.id == "leave"):
            return False  # its effect would be invisible
        return action.when.holds(self.session) or action.label != ""  # a labelled action reports why it cannot run

    def _stopped_from_outside(self) -> None:
        """Quit after a signal. The query is saved and offered at the next start."""
        with suppress(OSError):  # the terminal may be gone, so the error cannot be shown
            home.crash.keep_query(self.bench.query_text, os.environ)
        self.exit(return_code=Interrupted.exit_code)

    def _look_around(self) -> None:
        """Do periodic work that can wait."""
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
        if self.keymap.shared and (faults := keymap.summarize_faults(self.keymap.shared)) != self.remembered.reported:
            self.notify(faults, severity="warning", timeout=15, markup=False)
            shell.remember(self, Preferences(reported=faults))


def run(store: str | None, *, streams: Streams, question: str = "") -> int:
    """Open the workbench and return its exit code. After a defect, print a line to stderr and save a report.

    question: asked at the start.
    """
    gc.disable()  # before the first frame there is no garbage, and collecting takes a tenth of that time
    sys.setswitchinterval(SWITCH_SECONDS)
    color = personal.load(os.environ).color
    if color == "never":
        os.environ["NO_COLOR"] = "1"  # where Textual looks for it
    elif color == "always":
        os.environ.pop("NO_COLOR", None)
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
