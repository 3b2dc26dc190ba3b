"""Several workers, which parse files before their turn while the caller is at something else.

Each has a thread of its own, which watches over its clock and its memory, and ends with it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Thread

from recall_core.errors import IngestError
from recall_core.ingest.parse.worker import AHEAD_BYTES, SECONDS, Worker
from recall_core.ports import ParsedDocument

MOST_WORKERS = 4
MOST_WAITING = 16
"""Files that are parsed, or wait for it, before their turn."""
AHEAD_REPLY_BYTES = 8 << 20
"""Of what is made of one of them: more than that is made at its turn."""


def cores() -> int:
    """How many workers may be at work at the same time: one for each processor that this process may use."""
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
    return min(usable or 1, MOST_WORKERS)


class _FileAhead:
    """A file that is to be parsed, and in the end what was made of it, or why it was not."""

    def __init__(self, parser: str, raw: bytes, path: str, digest: str) -> None:
        self.parser, self.raw, self.path, self.digest = parser, raw, path, digest
        self.is_done = Event()
        self.documents: list[ParsedDocument] | None = None
        self.error: Exception | None = None

    def run(self, worker: Worker) -> None:
        try:
            self.documents = worker.parse(self.parser, self.raw, path=self.path, digest=self.digest)
        except Exception as error:  # noqa: BLE001 - it is raised where the file is asked for
            self.error = error
        finally:
            self.raw = b""
            self.is_done.set()


class WorkerPool:
    """Parses files in the order in which they are begun, at most `workers` at a time; of one thread.

    seconds: for each file.  Nothing is started before the first file, and a further worker only where a file waits.
    """

    def __init__(self, workers: int, *, seconds: float = SECONDS) -> None:
        self._workers = workers
        self._seconds = seconds
        self._begun: dict[str, _FileAhead] = {}
        self._queue: SimpleQueue[_FileAhead | None] = SimpleQueue()
        self._threads: list[Thread] = []
        self._stop = Event()

    def has_room(self, size: int) -> bool:
        """Whether another file of so many bytes may be begun."""
        waiting = sum(len(file.raw) for file in self._begun.values())
        return len(self._begun) < MOST_WAITING and waiting + size <= AHEAD_BYTES

    def begin(self, parser: str, raw: bytes, *, key: str, path: str, digest: str) -> None:
        """Have a file parsed, if there is room. key: what it is asked for by; the rest as `Worker.parse` has it."""
        if not self.has_room(len(raw)):
            return
        file = _FileAhead(parser, raw, path, digest)
        at_work = sum(not each.is_done.is_set() for each in self._begun.values())
        if len(self._threads) <= min(at_work, self._workers - 1):
            with suppress(RuntimeError):  # the system has no more threads: those that there are do it
                thread = Thread(target=self._work, name="recall-parse", daemon=True)
                thread.start()
                self._threads.append(thread)
        if self._threads:
            self._begun[key] = file
            self._queue.put(file)

    def parsed(self, parser: str, *, key: str, digest: str) -> list[ParsedDocument] | None:
        """What was made of a file, once it is done, or what its parser raises; None where it is to be parsed again.

        That is a file that was not begun, or has changed since, and one that gave its worker trouble: it is tried
        once more by itself, and with all that a file may take. Only the time that it has is not given twice.
        """
        file = self._begun.get(key)
        if file is None or (file.parser, file.digest) != (parser, digest):
            return None
        file.is_done.wait()
        if file.error is None:
            return file.documents
        if isinstance(file.error, IngestError) and file.error.code == "parser_crashed":
            return None
        raise file.error

    def forget(self, key: str) -> None:
        """Make room for others: the turn of this file is over."""
        self._begun.pop(key, None)

    def close(self) -> None:
        """End all workers, whatever they are at, and wait until they have ended."""
        self._stop.set()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        with Worker(seconds=self._seconds, reply_bytes=AHEAD_REPLY_BYTES, stop=self._stop) as worker:
            while (file := self._queue.get()) is not None and not self._stop.is_set():
                file.run(worker)
