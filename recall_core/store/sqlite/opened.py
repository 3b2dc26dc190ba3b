"""One open connection to a store's file: statements, transactions, what it remembers, and the file itself."""

from __future__ import annotations

from _thread import RLock  # see recall_core.store.one_thread
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from recall_core import deadline, shell
from recall_core.config import BUSY_TIMEOUT_MS, MEMORY_MB
from recall_core.errors import StoreError
from recall_core.store import sqlite
from recall_core.store.one_thread import ThreadGuard
from recall_core.store.sqlite import memory
from recall_core.store.sqlite.connect import (
    MEMORY,
    STATE,
    State,
    busy_timeout_ms,
    file_at,
    making_sense,
    state_of,
    translated,
)
from recall_core.types import StoreInfo

if TYPE_CHECKING:
    from recall_core.store.sqlite.memory.snapshot import Lease, OwnSnapshot, Shared, Snapshot

LOOK_STEPS = 100  # instructions of SQLite between two looks at a deadline, some microseconds
SIGNAL_STEPS = 10_000  # instructions between two looks at whether a signal has come, some milliseconds at most
FOLD_WAIT_MS = 200  # what has been written is safe in the log: nobody is kept waiting for readers to be done with it

Done = TypeVar("Done")


class OpenStore:
    """One connection to one file; use one in each thread.

    Nothing can be written through it outside `transaction`. Raises RecallErrors only.
    """

    def __init__(self, db: apsw.Connection, path: str, *, writable: bool) -> None:
        self.db = db
        self.path = path
        self.writable = writable
        self.guard = ThreadGuard(path)
        self._ending = RLock()
        """Held while the connection is interrupted or closed: SQLite wants no interrupt of one that may close."""
        self._file = file_at(path)
        self._log = file_at(f"{path}-wal")
        self._has_written = False
        self._has_sums = False
        self._is_left = False
        self._is_ended = False
        self._is_reading = False
        self.memory_mb = MEMORY_MB
        self._info_read: StoreInfo | None = None
        """What `info` said in the `reading` block that runs, all of which is of one state."""
        self._lease: Lease | OwnSnapshot | None = None
        self._asked: dict[type, object] = {}
        """The question that was begun last in this block, by what it is in: words or a vector."""
        self._memory: Snapshot | None = None
        """What is in memory of the state of this block."""
        self._has_looked = False
        self._is_making_way = False
        """Whether who reads the store into memory makes way for the question that runs."""
        db.pragma("query_only", True)
        db.set_progress_handler(_heed_signals, SIGNAL_STEPS)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return every row of one statement; SQLite's failures become RecallErrors."""
        if not self.guard.is_held:
            with self.guard.turn():
                return self.execute(sql, parameters)
        with translated(self.path):
            if self._is_ended:
                raise apsw.InterruptError
            if deadline.is_set():
                return self._in_time(lambda: self.db.execute(sql, parameters).fetchall())
            return self.db.execute(sql, parameters).fetchall()

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement that returns nothing, once with each of these rows of parameters."""
        with self.guard.turn(), translated(self.path):
            if self._is_ended:
                raise apsw.InterruptError
            if deadline.is_set():
                self._in_time(lambda: self.db.executemany(sql, rows))
            else:
                self.db.executemany(sql, rows)

    def _in_time(self, statement: Callable[[], Done]) -> Done:
        """A statement under a deadline: once it is over, TimedOut ends the statement, and any wait for others."""
        deadline.check()
        self.db.set_busy_timeout(busy_timeout_ms())
        self.db.set_progress_handler(_look, LOOK_STEPS)
        try:
            return statement()
        finally:
            self.db.set_progress_handler(_heed_signals, SIGNAL_STEPS)
            self.db.set_busy_timeout(BUSY_TIMEOUT_MS)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A write transaction: all of it or, when the block fails, nothing."""
        self._follow_sums()
        with self.without_writers():
            sqlite.sums.learn(self.execute)
            yield

            sqlite.lsh.sign(self.execute, self.execute_many)
            self._expect_in_place()
            self.execute("COMMIT")
            self._has_written = True

    @contextmanager
    def without_writers(self) -> Iterator[None]:
        """Nobody writes inside this block, nor does the block. A damaged file could not be committed to."""
        if not self.writable:
            raise StoreError("read_only", f"{self.path} cannot be written.", hint=f"ls -l {self.path}")
        with self.unlock():
            try:  # as in `reading`
                self.execute("BEGIN IMMEDIATE")
                self._expect_in_place()
                yield
            finally:
                self._roll_back()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A write transaction before which whatever others have left half done is ended."""
        self.end_unfinished()
        with self.transaction():
            yield

    @contextmanager
    def writing_now(self, *, may_wait: bool) -> Iterator[bool]:
        """A write transaction for what may be left undone: one try that waits for nobody, and False where it fails.

        may_wait: as every other writer does, who ends what others have left half done, too.
        """
        if may_wait:
            with self.writing():
                yield True
            return
        if not self.writable or self._is_ended or self.db.in_transaction or self.is_replaced():
            yield False
            return
        self._follow_sums()
        with self.unlock():
            try:
                is_begun = self._begins_now()
                yield is_begun
                if is_begun:
                    self.execute("COMMIT")  # nobody waits for the log: who closes the file last folds it
            finally:
                self._roll_back()

    def _follow_sums(self) -> None:
        """From the first transaction on; the triggers are this connection's own, and leave the file as it is."""
        if self.writable and not self._has_sums:
            with self.unlock(), translated(self.path):
                sqlite.sums.follow(self.db)
            self._has_sums = True

    def _begins_now(self) -> bool:
        self.db.set_busy_timeout(0)
        with translated(self.path):
            try:
                self.db.execute("BEGIN IMMEDIATE")
            except apsw.BusyError:
                return False
            finally:
                self.db.set_busy_timeout(BUSY_TIMEOUT_MS)
        return True

    def end_unfinished(self) -> None:
        """End what was begun in this store and interrupted, as far as can be."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Everything read inside this block is of one state of the store."""
        with self.guard.turn():
            if self.db.in_transaction:
                yield
                return
            try:  # a time that is over can end BEGIN, too, once it has begun
                self.execute("BEGIN")
                self._expect_in_place()
                self._is_reading = True
                yield
            finally:
                self._is_reading, self._info_read = False, None
                self._asked, self._memory, self._has_looked = {}, None, False
                if self._is_making_way and self._lease is not None:
                    self._is_making_way = False
                    self._lease.shared.end()
                self._roll_back()

    def remember(self, asked: object) -> Snapshot | None:
        """Return what is in memory of the state that is read, for a search for these words or this vector.

        The first question about a state of the store gives None: a process that asks once should not read, nor hold,
        what it does not need. With the second a thread begins to read it, and until it has there is None.
        """
        kind = type(asked)
        if self._is_reading and not (kind in self._asked and self._asked[kind] == asked):
            is_new = kind in self._asked or not self._asked
            self._asked = {kind: asked} if is_new else self._asked | {kind: asked}
            is_written = self.db.txn_state() == apsw.SQLITE_TXN_WRITE
            if is_new and self._memory is None and self.memory_mb and not is_written:
                with making_sense(self.path):
                    state = state_of(self.execute(STATE))
                where = self._file or id(self)
                is_again, _asked_last[where] = _asked_last.get(where) == state, state
                if is_again:
                    self._memory = self._share().get(state, self.memory_mb)
        return self.in_memory()

    def in_memory(self) -> Snapshot | None:
        """Return what is in memory of the state that is read; only inside `reading`, all of which is of one state."""
        if not (self._is_reading and self.guard.is_held):
            return None
        if self.db.txn_state() == apsw.SQLITE_TXN_WRITE:
            return None  # what this connection has written may still be rolled back
        if self._lease is not None and not self._is_making_way:
            self._lease.shared.begin()
            self._is_making_way = True
        if not self._has_looked and self._memory is None and self._lease is not None and self.memory_mb:
            self._has_looked = True
            self._memory = self._lease.shared.find(self.state())
        return self._memory

    def fill_memory(self) -> bool:
        """Read what a second question would have read, and wait for it; False where it cannot be."""
        with self.reading():
            return self._share().wait(self.state(), self.memory_mb) is not None

    def _share(self) -> Shared | OwnSnapshot:
        """Return what the process keeps of the file, and take part in it."""
        if self._lease is None:
            self._lease = memory.snapshot.lease(self.db, self.execute, self.path, self._file)
        return self._lease.shared

    def _expect_in_place(self) -> None:
        """Raises StoreError `store_replaced` where what is open is no more the file of this name: whatever were read
        of it is of the past, and whatever were written to it would be lost."""
        if self._file is not None and file_at(self.path) != self._file:
            raise StoreError(
                "store_replaced",
                f"{self.path} was replaced or deleted while it was open; nothing was written.",
                hint="open it again, or put it back",
            )

    @contextmanager
    def unlock(self) -> Iterator[None]:
        """SQLite refuses to write through this connection outside this block."""
        with self.guard.turn():
            try:
                self.execute("PRAGMA query_only = OFF")  # it holds even where an interrupt meets it
                yield
            finally:
                self._put_back("PRAGMA query_only = ON")

    def _roll_back(self) -> None:
        """End the transaction, if there still is one."""
        if self.db.in_transaction:
            self._put_back("ROLLBACK")

    def _put_back(self, sql: str) -> None:
        """Execute it whatever happens: an interrupt that comes too late for a question can meet it, but only once."""
        with translated(self.path):
            try:
                self.db.execute(sql)
            except apsw.InterruptError:
                self.db.execute(sql)

    def changes(self) -> int:
        """Return another number once anyone but this connection has committed anything."""
        return int(self.execute("PRAGMA data_version")[0][0])

    def state(self) -> State:
        """Return another one once anything that a question may see is another; see `state_of`."""
        with making_sense(self.path):
            return state_of(self.execute(STATE))

    def interrupt(self) -> None:
        """Abort the statement that runs in another thread, or none where there is none, or no connection any more."""
        with self._ending, suppress(apsw.ConnectionClosedError):
            self.db.interrupt()

    def end(self) -> None:
        """From another thread: abort its statement, and every one that it begins from now on."""
        self._is_ended = True
        self.interrupt()

    def close(self) -> None:
        """Let go of the file, as often as one likes; what was written through this connection is folded into it."""
        if self._lease is not None:
            self._lease.leave()
            self._lease = None
        if self._has_written:
            self.fold()
            self._has_written = False
        with translated(self.path), self._ending:
            self.db.close()

    def fold(self, wait_ms: int = FOLD_WAIT_MS) -> bool:
        """Put the log into the file and leave it empty; False where that cannot be for now.

        A log with content would be taken for that of any file that is put into this one's place.
        """
        if not self.writable or _size_at(f"{self.path}-wal") == 0:
            return self.writable
        with self.guard.turn():
            self.db.set_busy_timeout(wait_ms)
            try:
                busy, _, _ = self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() or (1, 0, 0)
            except apsw.Error:
                return False  # all of it stands in the log, for the next one who folds
            finally:
                self.db.set_busy_timeout(BUSY_TIMEOUT_MS)
            return busy == 0

    def is_replaced(self) -> bool:
        """True when another file stands in the place of the open one by now, or none; it would answer for good."""
        has_other_log = self._log is not None and file_at(f"{self.path}-wal") != self._log
        return self._is_left or has_other_log or file_at(self.path) != self._file

    def is_there(self) -> bool:
        """Return True if a file stands in the store's place, be it this one or another."""
        return file_at(self.path) is not None

    def leave(self) -> None:
        """Another file stands here: finish the old one, and take its log and that log's index out of the way.

        SQLite would read the new file through them. Raises StoreError `store_needs_recovery` while someone reads.
        """
        log, index = Path(f"{self.path}-wal"), Path(f"{self.path}-shm")
        if self._log is not None and file_at(str(log)) == self._log:
            error = StoreError(
                "store_needs_recovery",
                f"{self.path} was replaced, and {log.name} beside it is still that of the file before.",
                hint=f"rm {shell.join((str(log), str(index)))}",
            )
            if not self.fold(BUSY_TIMEOUT_MS):
                raise error
            try:
                log.unlink(missing_ok=True)
                index.unlink(missing_ok=True)
            except OSError as cause:
                raise error from cause
        self._is_left = True

    def size_bytes(self) -> int:
        """Return the bytes of the file, its log included."""
        if self.path == MEMORY:
            return int(self.execute("PRAGMA page_count")[0][0]) * int(self.execute("PRAGMA page_size")[0][0])
        return _size_at(self.path) + _size_at(f"{self.path}-wal")


_asked_last: dict[object, State] = {}
"""By file or connection: the state that the last question was about."""


def _heed_signals() -> bool:
    """Go on; Python has handled by now what signals came while a statement ran, as it does between its own."""
    return False


def _look() -> bool:
    """What SQLite calls while it works. Raises TimedOut, Interrupted; True would end it as an interrupt does."""
    deadline.check()
    return False


def _size_at(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        return 0
