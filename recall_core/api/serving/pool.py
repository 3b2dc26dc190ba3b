"""Questions of many callers to one store: a few connections, a bounded queue, deadlines, and a cancel for each."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from pathlib import Path
from threading import Condition, Lock, Thread
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

from recall_core.api.recall import Recall
from recall_core.deadline import Cancel, Deadline, check, expected, until
from recall_core.errors import Busy, Interrupted, RecallError, StoreError, UsageError
from recall_core.ports import Embedder

Result = TypeVar("Result")
Work = Callable[[Recall], Result]
"""What is done for a caller, by a connection that nobody else uses meanwhile."""

CONNECTIONS = 4
QUEUE = 64
SHARE, LEAST_SHARE = 4, 8
"""One session may have a quarter of the queue, and at least so many places if there are more."""
SECONDS = 60.0
"""How long a question may take, the time in the queue included."""
_USUAL_SECONDS = 0.05
"""What a question takes, before any was answered."""
_NEWEST_SHARE = 0.1
"""Of the time of a question in the mean of those before it."""


class Asked(Generic[Result]):
    """A question in the queue, or being answered. `result` waits for it; `cancel` ends it, wherever it is."""

    def __init__(self, work: Work[Result], seconds: float, session: object = None) -> None:
        self.session = session
        self.future: Future[Result] = Future()
        self._cancel = Cancel()
        self._work = work
        self._deadline = Deadline(expected(seconds), monotonic, None, self._cancel)

    def cancel(self) -> None:
        """From any thread, as often as one likes: the answer is Interrupted, unless it is there already."""
        self._cancel.set()
        self.future.cancel()

    def result(self) -> Result:
        """The answer, once it is there. Raises what the work raised; Interrupted where it was cancelled."""
        try:
            return self.future.result()
        except CancelledError:
            raise Interrupted("interrupted", "The question was cancelled.", hint="ask it again") from None

    def answer(self, recall: Callable[[], Recall]) -> None:
        """Do the work, and leave its result, whatever that is; nothing where nobody waits any more."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            with until(self._deadline):
                check()  # its time may have gone by in the queue
                done = self._work(recall())
        except BaseException as error:  # noqa: BLE001 - whoever asked gets it
            self.future.set_exception(error)
        else:
            self.future.set_result(done)


class StoreSettings(NamedTuple):
    """Which store is served, as `Recall.open` takes it."""

    store: str | None = None
    start: Path | None = None
    trust: bool = False


class ConnectionPool:
    """Connections to one store, each with a thread of its own; questions wait in one queue, the oldest first.

    What is kept in memory of a state of the store is the same for all of them, and so is the embedder's model. A
    connection is opened with its first question, and opened anew where the store's file or its recall.toml is another
    by then. A store that is not there, or cannot be opened, is looked for again with each question.
    """

    def __init__(self, settings: StoreSettings, *, connections: int = CONNECTIONS, queue: int = QUEUE) -> None:
        self.settings = settings
        self._most = queue
        self._most_of_session = min(queue, max(LEAST_SHARE, queue // SHARE))
        self._queue: deque[Asked[Any]] = deque()
        self._changed = Condition()
        self._running: set[Asked[Any]] = set()
        self._is_closed = False
        self._mean_seconds = _USUAL_SECONDS
        self._models = _Models()
        self._threads = [
            Thread(target=self._serve, name=f"recall-serving-{number}", daemon=True) for number in range(connections)
        ]
        self._is_started = False

    def ask(self, work: Work[Result], *, seconds: float = SECONDS, session: object = None) -> Asked[Result]:
        """Put a question into the queue. session: whose it is, None for no one's.

        Raises Busy if the queue is full, or the session's share of it; UsageError `closed` after `close`.
        """
        asked = Asked(work, seconds, session)
        with self._changed:
            if self._is_closed:
                raise UsageError(
                    "closed", "This server is closing; it takes no more questions.", hint="start it again"
                )
            own = [each for each in self._queue if session is not None and each.session == session]
            if len(self._queue) >= self._most or len(own) >= self._most_of_session:
                self._queue = deque(each for each in self._queue if not each.future.cancelled())
                own = [each for each in own if not each.future.cancelled()]
            if len(self._queue) >= self._most or len(own) >= self._most_of_session:
                raise self._busy(len(own) if len(self._queue) < self._most else None)
            if not self._is_started:
                self._is_started = True
                for thread in self._threads:
                    thread.start()
            self._queue.append(asked)
            self._changed.notify()
        return asked

    def close(self) -> None:
        """Take no more questions, end those that run, and let go of the store."""
        with self._changed:
            self._is_closed = True
            left = [*self._queue, *self._running]
            self._changed.notify_all()
        for asked in left:
            asked.cancel()
        for thread in self._threads if self._is_started else ():
            thread.join()

    def _busy(self, own: int | None) -> Busy:
        """Return the error for a full queue. own: questions of the session, if only its share is full."""
        seconds = round(max(0.1, self._mean_seconds * len(self._queue) / len(self._threads)), 1)
        of_session = "" if own is None else " of this session"
        message = f"{len(self._queue) if own is None else own} questions{of_session} are waiting already."
        hint = f"ask again in {seconds:g} s"
        return Busy("busy", message, hint=hint, details={"retry_after_seconds": seconds})

    def _serve(self) -> None:
        """The life of one connection."""
        connection = _Connection(self.settings, self._models)
        try:
            while (asked := self._next()) is not None:
                started = monotonic()
                asked.answer(connection.recall)
                self._ended(asked, monotonic() - started)
        finally:
            connection.close()

    def _next(self) -> Asked[Any] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._is_closed)
            if not self._queue:
                return None
            asked = self._queue.popleft()
            self._running.add(asked)
            return asked

    def _ended(self, asked: Asked[Any], seconds: float) -> None:
        with self._changed:
            self._running.discard(asked)
            self._mean_seconds += _NEWEST_SHARE * (seconds - self._mean_seconds)


class _Models:
    """The embedders that connections share, by identity: Recall's own, which many threads may ask at once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[str, Embedder] = {}

    def give(self, recall: Recall) -> None:
        """Have it use the one that another connection has loaded already, or others use its own from now on."""
        with self._lock, suppress(RecallError):  # a question by words needs none, any other is told
            identity = recall.store.embedder()
            kept = self._kept.get(identity)
            if kept is not None:
                recall.engine.use_embedder(kept)
                return
            made = recall.engine.embedder
            if type(made).__module__.startswith("recall_core."):
                self._kept = {identity: made}


class _Connection:
    """One thread's Recall, opened when it is needed and again when what it was opened by has changed."""

    def __init__(self, settings: StoreSettings, models: _Models) -> None:
        self._settings = settings
        self._models = models
        self._recall: Recall | None = None
        self._toml: tuple[int, int, int] | None = None

    def recall(self) -> Recall:
        """An open store. Raises what opening it raises."""
        if self._recall is not None and self._is_outdated(self._recall):
            self.close()
        if self._recall is None:
            opened = Recall.open(self._settings.store, start=self._settings.start, trust=self._settings.trust)
            self._toml = _stamp(opened.engine.found.toml)
            opened.engine.is_for_others = True
            self._models.give(opened)
            self._recall = opened
        return self._recall

    def close(self) -> None:
        """Let go of the store, if it is open."""
        if self._recall is not None:
            with suppress(StoreError):  # what it held is another's by now
                self._recall.close()
            self._recall = None

    def _is_outdated(self, recall: Recall) -> bool:
        return recall.store.is_replaced() or _stamp(recall.engine.found.toml) != self._toml


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """What tells a file's content from an earlier one; None where it is not there."""
    try:
        status = os.stat(file)  # noqa: PTH116 - asked before every question
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
