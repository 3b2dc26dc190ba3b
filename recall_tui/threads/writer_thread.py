"""The thread that writes: judgements, repairs, imports, one task after the other and none left out."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recall_core.config import Config, load
from recall_core.errors import ConfigError, RecallError
from recall_core.types import Progress
from recall_tui.state.events import Crashed, StoreOpened, TaskDone, TaskMoved
from recall_tui.threads import Clock, Post

if TYPE_CHECKING:
    from recall_core.api.recall import Recall

REPORT_SECONDS = 0.05

Say = Callable[[Progress], None]


class WriterTask(NamedTuple):
    """Something to do to the store. run gives back what was done, in a line; it calls `say` as it gets on."""

    name: str
    run: Callable[[Recall, Say], str]


class WriterThread:
    """Does tasks in the order in which they were given, through a connection of its own."""

    def __init__(self, opener: Callable[[], Recall], post: Post, clock: Clock) -> None:
        self._opener = opener
        self._post = post
        self._clock = clock
        self._waiting: queue.SimpleQueue[WriterTask | None] = queue.SimpleQueue()
        self._unfinished: deque[str] = deque()
        self._untold: list[TaskDone] = []
        """Those that failed, until somebody has heard of it."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live, name="recall-writer", daemon=True)
        self._said = 0.0

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The names of the tasks that have not ended, the one under way first."""
        return tuple(self._unfinished)

    @property
    def untold(self) -> tuple[TaskDone, ...]:
        """The tasks that failed and of which nobody was told."""
        return tuple(self._untold)

    def start(self) -> None:
        """Begin to listen; the store is opened for the first task."""
        self._thread.start()

    def submit(self, task: WriterTask) -> None:
        """Put a task behind those that wait."""
        self._unfinished.append(task.name)
        self._waiting.put(task)

    def told(self, event: TaskDone) -> None:
        """Somebody has heard how this task went."""
        if event in self._untold:
            self._untold.remove(event)

    def stop(self, timeout: float = 2.0) -> None:
        """Have it end once everything is done that was given; waits at most `timeout` seconds."""
        self._waiting.put(None)
        self.finish(timeout)

    def finish(self, timeout: float | None = None) -> bool:
        """Wait until it has ended, at most `timeout` seconds; True when it has."""
        return self._over.wait(timeout)  # a join() that Ctrl-C breaks off would take the thread for ended

    def _live(self) -> None:
        try:
            while (task := self._waiting.get()) is not None:
                self._do(task)
                self._unfinished.popleft()
        except BaseException as error:  # noqa: BLE001 - a defect must reach the screen, not die with the thread
            self._post(Crashed(error))
        finally:
            self._over.set()

    def _do(self, task: WriterTask) -> None:
        """A connection for each task: an idle one would hold on to an old state of the store."""
        try:
            with self._opener() as recall:
                before = recall.config
                summary = task.run(recall, lambda progress: self._moved(task.name, progress))
                written = None if recall.config is before else _settings_at(recall.engine.toml)
                self._post(StoreOpened(recall.store.info(), written, recall.engine.toml))
                self._post(TaskDone(task.name, summary))
        except RecallError as error:
            failed = TaskDone(task.name, "", error)
            self._untold.append(failed)
            self._post(failed)

    def _moved(self, name: str, progress: Progress) -> None:
        now = self._clock()
        if now - self._said >= REPORT_SECONDS:
            self._said = now
            self._post(TaskMoved(name, progress))


def _settings_at(toml: Path) -> Config | None:
    """What is saved by now: a person may have saved something else while the task was under way."""
    with suppress(ConfigError):
        return load(toml)
    return None
