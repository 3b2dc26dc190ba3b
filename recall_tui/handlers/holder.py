"""What every group of actions stands on: the session, the screen, the threads, and the step to the next session."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from textual.app import App

from recall_core.errors import RecallError
from recall_core.types import Progress
from recall_tui.actions.table import Table
from recall_tui.screens.bench import Bench
from recall_tui.signals import Stops, without_interrupts
from recall_tui.state import session as state
from recall_tui.state.session import Session
from recall_tui.threads.ports import Clock
from recall_tui.threads.threads import Threads
from recall_tui.threads.writer_thread import WriterTask
from recall_tui.widgets.draw import NOTICE_CELLS, cut, glyphs_in

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel
    from textual.screen import ScreenResultCallbackType
    from textual.widget import AwaitMount

    from recall_core.api.recall import Recall
    from recall_tui.screens.confirm import Check

WRONG_SECONDS = 15.0  # a failure stays on the screen, three times as long as a notice


class Holder(App[None]):
    """An application with a session that is shown on a bench."""

    session: Session
    bench: Bench
    crew: Threads
    clock: Clock
    table: Table
    """The actions with the keys in force."""
    store: str | None
    """The --store value, or None for the store of the current folder."""
    pressed_at: float = 0.0
    """When the newest key was pressed, or the mouse used, by their own clock."""
    stops: Stops | None = None
    """The signals of a process that is all the workbench's own."""

    @abstractmethod
    def become(self, session: Session) -> None:
        """Let this be the session: the store is asked for what it wants, and the screen shows it."""

    def move(self, session: Session) -> None:
        """Become this session with settings moved; where they make a new search, its time begins here."""
        is_new = session.question != self.session.question
        self.become(session._replace(asked_at=self.clock()) if is_new else session)

    def take(self, session: Session) -> None:
        """Become this session, with its question in the editor: ^z there brings back the text before."""
        is_other = session.text != self.session.text
        self.move(session)
        if is_other and self.bench.editor.text != session.text:
            self.bench.editor.put(session.text)

    @abstractmethod
    async def perform(self, action: str) -> None:
        """Do an action of the table, named as there."""

    @abstractmethod
    def take_theme(self, name: str) -> None:
        """Show this theme, and remember it."""

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Lend the terminal out, with its Ctrl-C. Textual takes it back only where the borrower does not fail."""
        failure: RecallError | OSError | None = None
        with without_interrupts(), super().suspend():
            try:
                yield
            except (RecallError, OSError) as error:
                failure = error
        if failure is not None:
            raise failure

    def copy(self, text: str, what: str) -> None:
        """Put a text on the clipboard and say so, in one line."""
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
        """Say something for a while: what went wrong long enough to be read and typed after."""
        seconds = WRONG_SECONDS if timeout is None and severity == "error" else timeout
        super().notify(message, title=title, severity=severity, timeout=seconds, markup=markup)

    def warn(self, message: str) -> None:
        """Say what went wrong."""
        self.notify(message, severity="error", markup=False)

    def confirm(
        self, title: str, question: str, then: ScreenResultCallbackType[bool], *, command: str = ""
    ) -> AwaitMount:
        """Ask a question of yes or no; `command` does in a shell what a yes does."""
        from recall_tui.screens.confirm import ConfirmScreen  # noqa: PLC0415 - a dialog may wait until it is opened

        return self.push_screen(ConfirmScreen(title, question, command=command), then)

    def prompt(
        self, title: str, value: str, hint: str, check: Check, then: ScreenResultCallbackType[str | None]
    ) -> AwaitMount:
        """Ask for a line of text that `check` has nothing against."""
        from recall_tui.screens.confirm import PromptScreen  # noqa: PLC0415 - a dialog may wait until it is opened

        return self.push_screen(PromptScreen(title, value, hint, check), then)

    def ask(self) -> None:
        """Ask what is written."""
        if self.bench.is_attached:  # the keys may come to rest only after the workbench has been left
            self.become(state.asked(self.session, self.bench.editor.text, self.clock()))

    def do(self, name: str, run: Callable[[Recall, Callable[[Progress], None]], str]) -> None:
        """Do something to the store, in the background; its end is told by a Chored event."""
        self.become(self.session._replace(chore=name))
        self.crew.do(WriterTask(name, run))
