"""The thread that writes: judgements, repairs, imports, one chore after the other and none left out."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from recall_core.errors import RecallError
from recall_core.types import Progress
from recall_tui.state.events import Chored, ChoreMoved, Crashed, Opened
from recall_tui.work.ports import Clock, Post

if TYPE_CHECKING:
    from recall_core.service import Recall

REPORT_SECONDS = 0.05

Say = Callable[[Progress], None]


class Chore(NamedTuple):
    """Something to do to the store. run gives back what was done, in a line; it calls `say` as it gets on."""

    name: str
    run: Callable[[Recall, Say], str]


class ChoreThread:
    """Does chores in the order in which they were given, through a connection of its own."""

    def __init__(self, opener: Callable[[], Recall], post: Post, clock: Clock) -> None:
        self._opener = opener
        self._post = post
        self._clock = clock
        self._waiting: queue.SimpleQueue[Chore | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._live, name="recall-chores", daemon=True)
        self._said = 0.0

    def start(self) -> None:
        """Begin to listen; the store is opened for the first chore."""
        self._thread.start()

    def submit(self, chore: Chore) -> None:
        """Put a chore behind those that wait."""
        self._waiting.put(chore)

    def stop(self, timeout: float = 10.0) -> None:
        """Finish what was given, then end; waits at most `timeout` seconds."""
        self._waiting.put(None)
        if self._thread.ident is not None:
            self._thread.join(timeout)

    def _live(self) -> None:
        try:
            while (chore := self._waiting.get()) is not None:
                self._do(chore)
        except BaseException as error:  # noqa: BLE001 - a defect must reach the screen, not die with the thread
            self._post(Crashed(error))

    def _do(self, chore: Chore) -> None:
        """A connection a chore: an idle one would hold on to an old state of the store."""
        try:
            with self._opener() as recall:
                summary = chore.run(recall, lambda progress: self._moved(chore.name, progress))
                self._post(Opened(recall.store.info(), recall.config, recall.toml))
                self._post(Chored(chore.name, summary))
        except RecallError as error:
            self._post(Chored(chore.name, "", error))

    def _moved(self, name: str, progress: Progress) -> None:
        now = self._clock()
        if now - self._said >= REPORT_SECONDS:
            self._said = now
            self._post(ChoreMoved(name, progress))
