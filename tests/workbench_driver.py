"""A driver that operates the workbench by keys, as a user would, and waits for the results."""

from __future__ import annotations

import asyncio
import gc
import io
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path

import pytest
from textual.command import CommandList
from textual.css.query import NoMatches
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from recall_core.adapters.streams import Streams
from recall_tui import themes
from recall_tui.app import NARROW, Workbench
from recall_tui.handlers import store as store_handlers
from recall_tui.home import keymap, preferences
from recall_tui.host import SELDOM, Showing, Tidying
from recall_tui.panes.results import ResultsPane
from recall_tui.screens.dialog import READING_SECONDS, ConfirmScreen, UnaskedScreen
from recall_tui.state.session import Session
from recall_tui.state.transitions import wanted_analyses
from recall_tui.state.weighing import chart_to_scale, is_hybrid, why_no_lines
from recall_tui.terminal import Turns
from recall_tui.threads.threads import Threads
from recall_tui.threads.writing import finish_tasks
from recall_tui.widgets.chrome import StatusLine
from tests.rest import at_rest, paint_last, set_up
from tests.workbench_corpus import QUESTION

NAMES = {" ": "space", "\n": "enter"}
REMAINS = 25  # closed workbenches in memory between two full collections, at most; 6 MB each

PASSING = (
    *("can_keep_questions", "can_remember", "displaced_at", "first_store", "given", "output", "pressed_at"),
    *("query_file", "reembed_stop", "stops", "typing"),
)
"""Attributes of a workbench with an initial value in the class."""

RESET = "remembered session showing stopped store threads tidying trail turns".split()
"""Attributes of a workbench that change with the store."""
CONSTANT = ("_shades", "bench", "clock", "keymap", "table")
"""Attributes of a workbench that stay."""

_ended = count(1)
set_up()


class Untidied(Tidying):
    """A tidying that collects no garbage: a test process runs many workbenches one after another."""

    def begin(self) -> None:
        """Leave full collections to `let_go`, and freeze nothing."""
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, SELDOM)

    def look(self) -> None:
        """Collect nothing."""


def is_settled(session: Session) -> bool:
    """Return True if every pane has all its data."""
    answer = session.results.answer
    if session.query.busy:
        return False
    if session.query.trouble is not None:
        return True
    has_lines = (
        not answer or not is_hybrid(answer) or bool(why_no_lines(answer)) or chart_to_scale(session) is not None
    )
    return has_lines and not wanted_analyses(session)


class Driver:
    """The application under a pilot."""

    def __init__(self, app: Workbench, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot
        self.stderr = io.StringIO()
        """Output after it has been left."""
        self.code: int | None = None
        """Its exit code then."""

    @property
    def session(self) -> Session:
        return self.app.session

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        await self.press(*(NAMES.get(mark, mark) for mark in text))

    async def write(self, text: str) -> None:
        """Put the text into the focused field, its last three characters by key."""
        field = self.app.focused
        assert isinstance(field, TextArea | Input)
        if isinstance(field, TextArea):
            field.text = text[:-3]
            field.move_cursor(field.document.end)
        else:
            field.value = text[:-3]
            field.cursor_position = len(field.value)
        await self.pilot.pause()
        await self.type(text[-3:])

    async def until(
        self, holds: Callable[[Session], object], *, seconds: float = 60.0, what: Callable[[], str] | None = None
    ) -> None:
        """Wait until the session meets a condition and the screen shows it. A missing widget counts as not yet."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await at_rest()
            with suppress(NoMatches):
                if holds(self.session):
                    await self.pilot.pause()
                    return
            await asyncio.sleep(0.01)
        pytest.fail(f"no match within {seconds} s; {what() if what else f'the session is {self.session!r:.1500}'}")

    async def ask(self, text: str = QUESTION) -> None:
        """Paste a query over the text in the editor and wait for its rows and its context."""
        self.app.bench.editor.text = text
        await self.answered(text)

    async def answered(self, text: str) -> None:
        """Wait until this query has its rows and its context."""
        await self.until(
            lambda now: (
                now.results.answer
                and now.results.answer.plan.text == text
                and not now.query.busy
                and now.context.packed
            )
        )

    async def questioned(self) -> None:
        """Wait for a yes-no dialog that accepts keys."""
        await self.until(lambda _: isinstance(self.app.screen, ConfirmScreen))
        if isinstance(self.app.screen, UnaskedScreen):
            seen_at = Message().time
            await self.until(lambda _: Message().time > seen_at + READING_SECONDS)

    async def found(self, words: str) -> None:
        """Wait until the palette lists this entry first."""

        def is_first(_: Session) -> bool:
            lists = [each for each in self.app.screen.query(CommandList) if each.option_count]
            return any(words.lower() in str(each.get_option_at_index(0).hit.text).lower() for each in lists)

        await self.until(is_first)

    def painted(self, pane: str) -> str:
        """Return the text of a pane with its titles."""
        widget = self.app.screen.query_one(f"#{pane}")
        if isinstance(widget, Static):
            return str(widget.render())
        lines = [line for part in (widget.children or [widget]) for line in _lines_of(part)]
        return "\n".join([str(widget.border_title or ""), *lines, str(widget.border_subtitle or "")])


def _lines_of(widget: Widget) -> list[str]:
    return ["".join(segment.text for segment in widget.render_line(row)) for row in range(widget.size.height)]


@asynccontextmanager
async def workbench(
    store: Path | str | None, *, size: tuple[int, int] = (120, 40), is_own: bool = False
) -> AsyncIterator[Driver]:
    """Yield the application, open on a store, in a terminal of that size.

    is_own: start one for this test alone instead of the shared one, for tests of the start or of settings read at the
    start.
    """
    kept = None if is_own else await SHARED.take(store, size)
    if kept is not None:
        try:
            with kept.app._context():
                yield kept
        except BaseException:
            await SHARED.drop()
            raise
        await SHARED.give_back(kept)
        return
    app = Workbench(str(store) if store else None, clock=lambda: 0.0)
    app.tidying = Untidied(app.clock)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        driver = Driver(app, pilot)
        yield driver
        paint_last(app)
    driver.code = app.return_code or finish_tasks(
        app.threads.writer, Streams(io.StringIO(), io.StringIO(), driver.stderr)
    )
    let_go()


class Shared:
    """The workbench that the tests of one module share.

    Starting one takes eight times as long as opening another store in a running one. A test that quits it, or fails,
    ends it, and the next test starts another.
    """

    def __init__(self) -> None:
        self._is_on = False
        self._kept: Driver | None = None
        self._is_taken = False
        self._is_over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def during_module(self) -> AsyncIterator[None]:
        """Share one workbench inside this block."""
        self._is_on = True
        try:
            yield
        finally:
            self._is_on = False
            await self.drop()

    async def take(self, store: Path | str | None, size: tuple[int, int]) -> Driver | None:
        """Return the shared workbench with this store opened, or None if it cannot be shared."""
        if not self._is_on or self._is_taken or "NO_COLOR" in os.environ:
            return None
        if self._kept is None or self._kept.app.keymap != keymap.read(os.environ):
            await self.drop()
            await self._start(store, size)
        else:
            with self._kept.app._context():
                await _open(self._kept, store, size)
        assert self._kept is not None
        self._is_taken = True
        driver = self._kept = Driver(self._kept.app, self._kept.pilot)
        return driver

    async def give_back(self, driver: Driver) -> None:
        """Close the store after a passed test."""
        app = driver.app
        if not app.is_running:
            await self.drop()
            driver.code = app.return_code or 0
            return
        with app._context():
            paint_last(app)
            await _close(driver)
        self._is_taken = False
        driver.code = finish_tasks(app.threads.writer, Streams(io.StringIO(), io.StringIO(), driver.stderr))

    async def _start(self, store: Path | str | None, size: tuple[int, int]) -> None:
        """Run a workbench in its own task: Textual leaves its context in the task that entered it."""
        ready: asyncio.Future[Driver] = asyncio.get_running_loop().create_future()
        self._is_over = asyncio.Event()

        async def run(is_over: asyncio.Event) -> None:
            app = Workbench(str(store) if store else None, clock=lambda: 0.0)
            app.tidying = Untidied(app.clock)
            async with app.run_test(size=size) as pilot:
                await pilot.pause()
                ready.set_result(Driver(app, pilot))
                await is_over.wait()

        self._task = asyncio.create_task(run(self._is_over))
        await asyncio.wait([ready, self._task], return_when=asyncio.FIRST_COMPLETED)
        self._kept = ready.result() if ready.done() else None
        if self._kept is None:
            await self._task

    async def drop(self) -> None:
        """End the workbench. The next test starts another."""
        task, self._task, self._kept = self._task, None, None
        self._is_taken = False
        if task is not None:
            self._is_over.set()
            await task
            let_go()


SHARED = Shared()


async def _close(driver: Driver) -> None:
    """End the running work of the store: threads, timers, dialogs and messages."""
    app = driver.app
    store_handlers.stop_reembed(app)
    await asyncio.to_thread(app.threads.stop)
    while app.screen is not app.bench:
        await app.pop_screen()
    for timer in list(app._timers):
        timer.stop()
    app.clear_notifications()
    await driver.pilot.pause()


async def _open(driver: Driver, store: Path | str | None, size: tuple[int, int]) -> None:
    """Restore the state after a start with this store: what `Host` sets up, then the panes, then the store."""
    app, bench = driver.app, driver.app.bench
    app.turns.stop()
    bench.editor.close_offers()
    bench.editor.load_text("")
    await driver.pilot.resize_terminal(*size)
    await driver.pilot.pause()
    if app.typing is not None:
        app.typing.stop()

    for name in PASSING:
        vars(app).pop(name, None)
    app.stopped = None
    app.store = str(store) if store else None
    app.remembered = preferences.load(os.environ)
    app.theme = app.remembered.theme if app.remembered.theme in themes.NAMES else themes.NAMES[0]
    app.trail.clear()
    app.threads = Threads(app.store, app._post_event, app.clock)
    app.tidying = Untidied(app.clock)
    app.turns = Turns(app, app._deal)
    app.showing = Showing(app._show, app._show_rows, app.set_timer, app.call_later, app.is_typing)
    app.session = Session(is_narrow=size[0] < NARROW)

    bench.query_one(StatusLine)._store = app.store
    bench.query_one(ResultsPane)._looked = range(0)
    bench.query_one(ResultsPane)._is_followed = True
    bench.show(app.session)
    app.lay_out()
    for widget in bench.walk_children():
        widget.scroll_to(0, 0, animate=False, immediate=True)
    bench.give_focus("query")
    await driver.pilot.pause()
    await app._behind_first_frame()
    await driver.pilot.pause()


def let_go() -> None:
    """Release the last few workbenches, and freeze the permanent objects of the process at the first call."""
    if next(_ended) % REMAINS == 0:
        gc.collect()
        if not gc.get_freeze_count():
            gc.freeze()


FORM = ("weight", "fusion", "normalize", "min_score", "sparse_recall", "match", "lexical_model", "k", "pool")
"""The rows of the weights form while two signals are fused; rrf_k replaces normalize."""


def in_form(setting: str, *keys: str) -> tuple[str, ...]:
    """Return keys that move from the first form row to this setting, press the given keys, and move back up."""
    steps = FORM.index("normalize" if setting == "rrf_k" else setting)
    return (*["down"] * steps, *keys, *["up"] * steps)
