"""The application as seen by the handlers: the session and its display, the threads, the dialogs."""

from __future__ import annotations

import gc
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from inspect import isawaitable
from math import inf
from typing import TYPE_CHECKING

from textual.app import App
from textual.message import Message
from textual.timer import Timer

from recall_core.errors import RecallError
from recall_core.types import Progress
from recall_tui import screens
from recall_tui.actions.action import Action
from recall_tui.actions.table import GESTURES
from recall_tui.home import history, keymap, preferences
from recall_tui.home.preferences import PaneSizes
from recall_tui.screens.bench import Bench
from recall_tui.screens.dialog import Dialog
from recall_tui.screens.line import Output
from recall_tui.state import session as state
from recall_tui.state.events import Event
from recall_tui.state.session import Session
from recall_tui.state.weighing import is_ranking, to_keep
from recall_tui.terminal import Stops, without_interrupts
from recall_tui.threads import Clock
from recall_tui.threads.threads import Threads
from recall_tui.threads.writing import WriterTask
from recall_tui.widgets.draw import NOTICE_CELLS, cut, glyphs_in

if TYPE_CHECKING:
    import threading

    from textual.notifications import SeverityLevel
    from textual.widget import AwaitMount

    from recall_core.api.recall import Recall
    from recall_tui.home.history import PastQuestion
    from recall_tui.opening import FirstStore
    from recall_tui.screens.dialog import Check
    from recall_tui.terminal import Turns

WRONG_SECONDS = 15.0  # a failure is shown three times as long as a notice
LONG_SECONDS = 1.0  # until a running question can be cancelled; sooner would flicker
RANKING_SECONDS = 0.025  # longest wait for a ranking before drawing
TRAIL = 20  # actions in the report of a defect


class Happened(Message):
    """A worker thread reports an event."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event


class Host(App[None]):
    """An application with a session shown on a bench."""

    stops: Stops | None = None
    """The signals of the process. None if the process is not the workbench's own."""
    pressed_at: float = 0.0
    """Time of the last key or mouse event, on the clock of these events."""
    displaced_at: float = -inf
    """Time when another document last moved under the selection by itself, on the clock of key events."""
    typing: Timer | None = None
    """Timer until the typed text is asked."""
    output: Output = Output()
    """The running command of the command line, or the output of the last one."""
    can_remember: bool = True
    """False after saving themes and sizes failed."""
    can_keep_questions: bool = True
    """False after writing the history failed."""
    query_file: str = ""
    """The .rql file named last."""
    given: PastQuestion | None = None
    """A question to ask at the start, from the command line or from before a page reload."""
    turns: Turns
    first_store: FirstStore | None = None
    """The choices for the first store, until it is open."""
    reembed_stop: threading.Event | None = None
    """Set it to stop the running re-embedding."""

    def __init__(self, store: str | None, *, clock: Clock = time.monotonic, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.store = store
        """The --store value, or None for the store of the current folder."""
        self.clock = clock
        self.remembered = preferences.load(os.environ)
        self.session = Session()
        self.keymap = keymap.read(os.environ)
        self.table = self.keymap.table
        """The actions with the keys in force."""
        self.bench = Bench(store, self.table)
        self.threads = Threads(store, self._post_event, clock)
        self.tidying = Tidying(clock)
        self.showing = Showing(self._show, self._show_rows, self.set_timer, self.call_later, self.is_typing)
        self.trail: deque[str] = deque(maxlen=TRAIL)
        """Ids of the newest actions."""

    async def perform(self, action: str, *arguments: object) -> None:
        """Run an action of the table if it is possible now, or a gesture with its arguments."""
        if action in GESTURES:
            does, function = GESTURES[action], action
        else:
            self.trail.append(action)
            known = self.table.find(action)
            if not known.when.holds(self.session):
                self.say_why_not(known)
                return
            module, function, *own = known.call
            does, arguments = known.step or module, tuple(own)
        if callable(does):
            self.become(does(self.session, *arguments))
            return
        handler = getattr(import_module(f"recall_tui.handlers.{does}"), function)
        if isawaitable(done := handler(self, *arguments)):
            await done

    def say_why_not(self, action: Action) -> None:
        """Report why an action is not possible now, unless that is still on the screen."""
        reason = self.table.spell(f"Not now: {action.when.needs}.")
        if all(shown.message != reason for shown in self._notifications):
            self.notify(reason, markup=False)

    def become(self, session: Session, *, is_reported: bool = False) -> None:
        """Replace the session: save an answered query, ask the store for what it wants, and show it.

        is_reported: the change comes from a thread. It is drawn together with other reports that wait.
        """
        if (past := to_keep(session)) is not None:
            self._keep_question(past)
            session = session._replace(query=session.query._replace(kept=past, kept_at=session.query.question))
        before, self.session = self.session, session
        self.tidying.mark_change()
        self.threads.serve(before, session)
        if session.query.busy and session.query.question != before.query.question:
            self.set_timer(LONG_SECONDS, partial(self._lingers, session.query.question))
        self.showing.follow(before, session, is_reported=is_reported)

    def _keep_question(self, past: PastQuestion) -> None:
        """Add an answered question to the history. Report the first failure only."""
        path = history.place(os.environ)
        if path is None or not self.can_keep_questions:
            return
        try:
            history.append(path, past)
        except OSError as error:
            self.can_keep_questions = False
            self.warn(f"The history cannot be written: {reason_of(error)}")

    def move(self, session: Session) -> None:
        """Replace the session by one with changed settings. If they need a new search, its time starts now."""
        is_new = session.query.question != self.session.query.question
        self.become(session._replace(query=session.query._replace(asked_at=self.clock())) if is_new else session)

    def take(self, session: Session) -> None:
        """Replace the session, and put its question into the editor. ^z there restores the text before."""
        is_other = session.query.text != self.session.query.text
        self.move(session)
        if is_other and self.bench.editor.text != session.query.text:
            self.bench.editor.put(session.query.text)

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Suspend the terminal for another program, with its Ctrl-C.

        Textual resumes only if the block raises nothing, so errors are raised after it.
        """
        failure: RecallError | OSError | None = None
        with without_interrupts(), super().suspend():
            try:
                yield
            except (RecallError, OSError) as error:
                failure = error
        if failure is not None:
            raise failure

    def copy(self, text: str, what: str) -> None:
        """Copy a text to the clipboard, with a notice in one line."""
        self.copy_to_clipboard(text)
        glyphs = glyphs_in(self)
        self.notify(cut(f"Copied: {what}", NOTICE_CELLS, glyphs), markup=False)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a notice. Errors stay long enough to be read and typed from."""
        seconds = WRONG_SECONDS if timeout is None and severity == "error" else timeout
        super().notify(message, title=title, severity=severity, timeout=seconds, markup=markup)

    def warn(self, message: str) -> None:
        """Show an error."""
        self.notify(message, severity="error", markup=False)

    def confirm(self, title: str, question: str, then: Callable[[], object], *, command: str = "") -> AwaitMount:
        """Ask a yes-or-no question, and call `then` after a yes. command: the shell command that does the same."""
        screen = screens.dialog.ConfirmScreen(title, question, command=command)
        return self.push_screen(screen, partial(_call_if_agreed, then))

    def prompt(self, title: str, value: str, hint: str, check: Check, then: Callable[[str], object]) -> AwaitMount:
        """Ask for a line of text that passes `check`, and call `then` with it."""

        async def answer(typed: str | None) -> None:
            if typed is not None and isawaitable(done := then(typed)):
                await done

        return self.push_screen(screens.dialog.PromptScreen(title, value, hint, check), answer)

    def ask(self) -> None:
        """Ask the text of the editor."""
        if self.bench.is_attached:  # the timer may fire after the workbench has quit
            self.become(state.ask(self.session, self.bench.editor.text, self.clock()))

    def do(self, name: str, run: Callable[[Recall, Callable[[Progress], None]], str]) -> None:
        """Run a task on the store in the background. A TaskDone event reports its end."""
        self.become(self.session._replace(store=self.session.store._replace(task=name)))
        self.threads.do(WriterTask(name, run))

    @property
    def layout(self) -> PaneSizes:
        """The pane sizes for a screen of this size."""
        return self.remembered.layouts.get(preferences.size_class(*self.size), PaneSizes())

    def lay_out(self) -> None:
        """Apply the pane sizes."""
        shown = PaneSizes() if self.session.zoomed else self.layout
        self.bench.body.lay_out(shown, is_narrow=self.session.is_narrow)

    def is_typing(self) -> bool:
        """Return True from a key in the query until its text is asked."""
        return self.session.pane == "query" and self.bench.query_text != self.session.query.text

    def _show(self) -> None:
        if self.bench.is_mounted and self.is_running:  # a thread may report while the panes are being removed
            self.bench.show(self.session)
            self.lay_out()
            if isinstance(self.screen, Dialog):
                self.screen.show_session(self.session)

    def _show_rows(self, then: Callable[[], None]) -> None:
        """Draw the rows of a query being edited, then the rest after their frame. Keys are handled in between."""
        if self.session.pane == "query" and self.screen is self.bench and self.bench.is_mounted:
            self.bench.show_rows(self.session)
            self.bench.call_after_refresh(then)
        else:
            then()

    def _lingers(self, question: int) -> None:
        """Offer to cancel the question if it is still running."""
        if self.session.query.busy and self.session.query.question == question:
            self.become(self.session._replace(query=self.session.query._replace(lingers=question)))

    def _post_event(self, event: Event) -> None:
        self.post_message(Happened(event))


async def _call_if_agreed(then: Callable[[], object], is_agreed: bool | None) -> None:
    if is_agreed and isawaitable(done := then()):
        await done


def reason_of(error: RecallError | OSError) -> str:
    """Return in one line why something failed."""
    if isinstance(error, RecallError):
        return f"{error.message} ({error.hint})" if error.hint else error.message
    if error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)


class Showing:
    """Draws related changes together, since drawing is slow.

    A step of the slider moves the knob and then the rows. Drawn separately, the two take longer than the interval of
    a held key, and frames would be dropped. Reports of several threads are also drawn together.

    show: draws the session.
    show_rows: draws its rows, and calls back after that frame.
    later: calls after some seconds, and returns the timer.
    soon: calls after the messages that already wait.
    is_typing: drawing results now would delay the next letter; the search after it shows them.
    """

    def __init__(
        self,
        show: Callable[[], None],
        show_rows: Callable[[Callable[[], None]], None],
        later: Callable[[float, Callable[[], None]], Timer],
        soon: Callable[[Callable[[], None]], object],
        is_typing: Callable[[], bool],
    ) -> None:
        self._show = show
        self._show_rows = show_rows
        self._later = later
        self._soon = soon
        self._is_typing = is_typing
        self._waiting: Timer | None = None
        self._is_due = False

    def follow(self, before: Session, session: Session, *, is_reported: bool = False) -> None:
        """Show a changed session. is_reported: a thread reported the change."""
        if _is_step(before, session):
            self._waiting = self._waiting or self._later(RANKING_SECONDS, self._now)
        elif not is_reported:
            self._now()
        elif not self._is_due:
            self._is_due = True
            self._soon(self._begin)

    def catch_up(self) -> None:
        """Show what waits, unless the user is typing."""
        if self._is_due and not self._is_typing():
            self._now()

    def _begin(self) -> None:
        if self._is_due and not self._is_typing():
            self._show_rows(self.catch_up)

    def _now(self) -> None:
        self._is_due = False
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        self._show()


def _is_step(before: Session, session: Session) -> bool:
    """Return True if only settings changed. Other changes may focus a pane, which must be visible first."""
    return session.query.generation != before.query.generation and session.pane == before.pane and is_ranking(session)


REST_SECONDS = 1.0  # without a change; a pause is then not noticed
ENOUGH = 10  # smaller collections before a full one, as in Python
SELDOM = 100  # the same without a pause, as in a long ingest


class Tidying:
    """Runs full garbage collections in pauses. Each takes a frame or two, which would stall a dragged slider."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._moved_at = clock()

    def begin(self) -> None:
        """Exclude what is loaded so far. From now on full collections wait for `look`."""
        gc.freeze()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, SELDOM)
        gc.enable()

    def mark_change(self) -> None:
        """Note a change on the screen."""
        self._moved_at = self._clock()

    def look(self) -> None:
        """Collect if there is a pause and enough garbage."""
        if self._clock() - self._moved_at >= REST_SECONDS and gc.get_count()[2] >= ENOUGH:
            gc.collect()
