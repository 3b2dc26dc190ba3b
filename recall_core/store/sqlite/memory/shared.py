"""The snapshot that all connections of this process to one file share, and the thread that reads it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from os import register_at_fork
from threading import Condition, RLock, Thread
from time import perf_counter
from typing import Any, ClassVar
from weakref import finalize

import apsw

from recall_core.errors import RecallError
from recall_core.store.sqlite.connect import connect
from recall_core.store.sqlite.memory.snapshot import MEGABYTE, Snapshot, SnapshotReader, read_at_once
from recall_core.store.sqlite.records import Execute
from recall_core.store.sqlite.state import FileId, State, file_at, state_of

_YIELDING = 4  # while a question runs, a piece is followed by a pause of so many times as long


class Shared:
    """Of one file: at most one snapshot, at most one thread that reads the next one, and how many use it."""

    def __init__(self, path: str, file: FileId) -> None:
        self._path = path
        self._file = file
        self._changed = Condition()  # of a lock that its holder may take again
        self._users = 0
        self._asking = 0
        self._waiting = 0
        self._kept: Snapshot | None = None
        self._is_reading = False
        self._failed: State | None = None
        self.reads = 0
        """How often a snapshot was begun to be read."""

    def join(self) -> None:
        """One more user."""
        with self._changed:
            self._users += 1

    def leave(self, *, is_waited_for: bool) -> bool:
        """One user less; True where it was the last. is_waited_for: the thread, which then reads nothing any more."""
        with self._changed:
            self._users -= 1
            self._changed.notify_all()
            if self._users:
                return False
            if is_waited_for:
                self._changed.wait_for(lambda: not self._is_reading)
            self._kept = None
            return True

    def kept(self, state: State) -> Snapshot | None:
        """The snapshot of that state, if there is one."""
        kept = self._kept
        return kept if kept is not None and kept.state == state else None

    def get(self, state: State, megabytes: int) -> Snapshot | None:
        """The same; where there is none a thread begins to read it, which may take so much memory."""
        with self._changed:
            found = self.kept(state)
            if found is None and not self._is_reading and self._failed != state and self._users:
                self._is_reading = True
                self.reads += 1
                Thread(target=self._read, args=(megabytes,), name="recall-memory", daemon=True).start()
            return found

    def ask(self) -> None:
        """A question begins: who reads makes way."""
        with self._changed:
            self._asking += 1

    def answered(self) -> None:
        """It has ended."""
        with self._changed:
            self._asking -= 1
            self._changed.notify_all()

    def wait(self, state: State, megabytes: int) -> Snapshot | None:
        """The same once all of it is read; None where it cannot be, as where somebody has written since.

        Questions that run do not hold it up.
        """
        with self._changed:
            self._waiting += 1
            self._changed.notify_all()
            try:
                is_begun = False
                while not is_begun:  # what others have begun may be of an earlier state
                    before = self.reads
                    found = self.get(state, megabytes)
                    if not self._is_reading:
                        return found
                    is_begun = self.reads > before
                    self._changed.wait_for(lambda: not self._is_reading)
                return self.kept(state)
            finally:
                self._waiting -= 1

    def _read(self, megabytes: int) -> None:
        """In a thread of its own, with a connection of its own."""
        found: Snapshot | None = None
        state: State | None = None
        try:
            with closing(connect(self._path).db) as db:

                def execute(sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
                    return db.execute(sql, parameters).fetchall()

                db.pragma("query_only", True)
                db.execute("BEGIN")
                state = state_of(execute)
                if file_at(self._path) == self._file:
                    found = self._in_pieces(SnapshotReader(db, execute, state, megabytes * MEGABYTE))
        except (apsw.Error, RecallError, MemoryError, ValueError, TypeError, LookupError, OverflowError):
            pass  # whoever asks is told, by the statement that meets it
        with self._changed:
            self._is_reading = False
            if found is None:
                self._failed = state
            self._changed.notify_all()

    def _in_pieces(self, reading: SnapshotReader) -> Snapshot | None:
        """Read to the end, or until nobody is left to ask; what can be asked is there for everyone."""
        pieces = reading.pieces()
        while True:
            started = perf_counter()
            is_over = next(pieces, self) is self
            with self._changed:
                if self._users:
                    self._kept = reading.found or self._kept
                if is_over or not self._users:
                    return reading.found
                self._changed.wait_for(self._is_quiet, timeout=_YIELDING * (perf_counter() - started))

    def _is_quiet(self) -> bool:
        return not self._asking or bool(self._waiting) or not self._users


class Lease:
    """One connection's part in a `Shared`: it says when a question begins and ends, and when it asks no more."""

    def __init__(self, shared: Shared, file: FileId) -> None:
        self._shared = shared
        self._file = file
        shared.join()
        self._dropped = finalize(self, _Files.leave, file, shared, is_waited_for=False)
        """What happens where nobody closes the connection. It may happen in any thread, so it waits for none."""
        self._dropped.atexit = False

    def kept(self, state: State) -> Snapshot | None:
        """See `Shared.kept`."""
        return self._shared.kept(state)

    def get(self, state: State, megabytes: int) -> Snapshot | None:
        """See `Shared.get`."""
        return self._shared.get(state, megabytes)

    def wait(self, state: State, megabytes: int) -> Snapshot | None:
        """See `Shared.wait`."""
        return self._shared.wait(state, megabytes)

    @property
    def reads(self) -> int:
        """See `Shared.reads`."""
        return self._shared.reads

    def begin(self) -> None:
        """A question begins."""
        self._shared.ask()

    def end(self) -> None:
        """It has ended."""
        self._shared.answered()

    def leave(self) -> None:
        """No more questions. Who leaves last waits for the thread, which needs no longer than a piece."""
        if self._dropped.detach():
            _Files.leave(self._file, self._shared, is_waited_for=True)


class OwnLease:
    """The same of a store that no other connection can see: what is asked for is read at once."""

    def __init__(self, db: apsw.Connection, execute: Execute) -> None:
        self._db, self._execute = db, execute
        self._kept: tuple[State, Snapshot | None] | None = None

    def kept(self, state: State) -> Snapshot | None:
        """The snapshot of that state, if there is one."""
        return self._kept[1] if self._kept is not None and self._kept[0] == state else None

    def get(self, state: State, megabytes: int) -> Snapshot | None:
        """The snapshot of that state."""
        if self._kept is None or self._kept[0] != state:
            self._kept = state, read_at_once(self._db, self._execute, state, megabytes * MEGABYTE)
        return self._kept[1]

    wait = get

    def begin(self) -> None:
        """Nobody else has to make way."""

    end = leave = begin


def lease(db: apsw.Connection, execute: Execute, path: str, file: FileId | None) -> Lease | OwnLease:
    """The part of a connection to the file at this path, None for a store in memory."""
    return OwnLease(db, execute) if file is None else _Files.lease(path, file)


class _Files:
    """What is shared, by file."""

    shared: ClassVar[dict[FileId, Shared]] = {}
    lock: ClassVar[Any] = RLock()  # what is dropped leaves wherever its thread stands at that moment

    @classmethod
    def lease(cls, path: str, file: FileId) -> Lease:
        """One more lease."""
        with cls.lock:
            return Lease(cls.shared.setdefault(file, Shared(path, file)), file)

    @classmethod
    def leave(cls, file: FileId, shared: Shared, *, is_waited_for: bool) -> None:
        """One lease less; of one from before a fork nothing is known here."""
        with cls.lock:
            if cls.shared.get(file) is shared and shared.leave(is_waited_for=is_waited_for):
                del cls.shared[file]

    @classmethod
    def forget(cls) -> None:
        """Right after a fork: the threads are gone, and what they held may be locked for good."""
        cls.shared, cls.lock = {}, RLock()


register_at_fork(after_in_child=_Files.forget)
