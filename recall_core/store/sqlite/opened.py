"""One open connection to a store's file: statements, transactions, data in memory, and the file itself."""

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

LOOK_STEPS = 100  # SQLite instructions between two deadline checks, some microseconds
SIGNAL_STEPS = 10_000  # instructions between two signal checks, some milliseconds at most
FOLD_WAIT_MS = 200  # written data is safe in the log, so waiting longer for readers is not worth it

Done = TypeVar("Done")


class OpenStore:
    """One connection to one file; use one in each thread.

    Writes are possible only inside `transaction`. Raises RecallErrors only.
    """

    def __init__(self, db: apsw.Connection, path: str, *, writable: bool) -> None:
        self.db = db
        self.path = path
        self.writable = writable
        self.guard = ThreadGuard(path)
        self._ending = RLock()
        """Held while the connection is interrupted or closed, because SQLite forbids interrupting a closing
        connection."""
        self._file = file_at(path)
        self._log = file_at(f"{path}-wal")
        self._has_written = False
        self._has_sums = False
        self._is_left = False
        self._is_ended = False
        self._is_reading = False
        self.memory_mb = MEMORY_MB
        self._info_read: StoreInfo | None = None
        """The answer of `info` in the current `reading` block, which has one state."""
        self._lease: Lease | OwnSnapshot | None = None
        self._asked: dict[type, object] = {}
        """The last query of this block by its type: words or a vector."""
        self._memory: Snapshot | None = None
        """The data in memory for the state of this block."""
        self._has_looked = False
        self._is_making_way = False
        """True while the thread that reads the store into memory pauses for this query."""
        db.pragma("query_only", True)
        db.set_progress_handler(_heed_signals, SIGNAL_STEPS)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return every row of one statement. SQLite's errors become RecallErrors."""
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
        """Execute a statement without results once for each row of parameters."""
        with self.guard.turn(), translated(self.path):
            if self._is_ended:
                raise apsw.InterruptError
            if deadline.is_set():
                self._in_time(lambda: self.db.executemany(sql, rows))
            else:
                self.db.executemany(sql, rows)

    def _in_time(self, statement: Callable[[], Done]) -> Done:
        """Run a statement under a deadline. At the deadline TimedOut ends the statement and any wait for others."""
        deadline.check()
        self.db.set_busy_timeout(busy_timeout_ms())
        self.db.set_progress_handler(_check_deadline, LOOK_STEPS)
        try:
            return statement()
        finally:
            self.db.set_progress_handler(_heed_signals, SIGNAL_STEPS)
            self.db.set_busy_timeout(BUSY_TIMEOUT_MS)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Open a write transaction: everything is committed, or nothing if the block fails."""
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
        """Keep all writers out of this block. The block itself must not write, because a damaged file could not
        commit."""
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
        """Open a write transaction after finishing what interrupted processes left."""
        self.end_unfinished()
        with self.transaction():
            yield

    @contextmanager
    def writing_now(self, *, may_wait: bool) -> Iterator[bool]:
        """Open a write transaction for optional work. Try once without waiting, and yield False if that fails.

        may_wait: wait like every other writer, and finish what interrupted processes left.
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
                    self.execute("COMMIT")  # no checkpoint here: closing the last connection folds the log
            finally:
                self._roll_back()

    def _follow_sums(self) -> None:
        """Count changes by triggers from the first transaction on. They are temporary and do not change the file."""
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
        """Finish interrupted work in this store, as far as possible."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one state of the store in this block."""
        with self.guard.turn():
            if self.db.in_transaction:
                yield
                return
            try:  # a deadline can end BEGIN after it has begun
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
        """Return the data in memory of the current state, for a search for these words or this vector.

        Returns None for the first query about a state, because a process that asks once should not load what it does
        not need.
        The second query starts a thread that loads the state; until it is loaded, the result is None.
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
        """Return the data in memory of the current state. Only inside `reading`, which has one state."""
        if not (self._is_reading and self.guard.is_held):
            return None
        if self.db.txn_state() == apsw.SQLITE_TXN_WRITE:
            return None  # this connection's changes may still be rolled back
        if self._lease is not None and not self._is_making_way:
            self._lease.shared.begin()
            self._is_making_way = True
        if not self._has_looked and self._memory is None and self._lease is not None and self.memory_mb:
            self._has_looked = True
            self._memory = self._lease.shared.find(self.state())
        return self._memory

    def fill_memory(self) -> bool:
        """Load what a second query would load, and wait for it. Return False if that is not possible."""
        with self.reading():
            return self._share().wait(self.state(), self.memory_mb) is not None

    def _share(self) -> Shared | OwnSnapshot:
        """Return the data that this process shares for the file, and join its users."""
        if self._lease is None:
            self._lease = memory.snapshot.lease(self.db, self.execute, self.path, self._file)
        return self._lease.shared

    def _expect_in_place(self) -> None:
        """Raise StoreError `store_replaced` if the open file no longer has this name.

        Data read from it would be old, and data written to it would be lost.
        """
        if self._file is not None and file_at(self.path) != self._file:
            raise StoreError(
                "store_replaced",
                f"{self.path} was replaced or deleted while it was open; nothing was written.",
                hint="open it again, or put it back",
            )

    @contextmanager
    def unlock(self) -> Iterator[None]:
        """Allow writes through this connection inside this block."""
        with self.guard.turn():
            try:
                self.execute("PRAGMA query_only = OFF")  # takes effect even if interrupted
                yield
            finally:
                self._put_back("PRAGMA query_only = ON")

    def _roll_back(self) -> None:
        """Roll back the transaction, if one is open."""
        if self.db.in_transaction:
            self._put_back("ROLLBACK")

    def _put_back(self, sql: str) -> None:
        """Execute a statement even if a late interrupt hits it, which can happen only once."""
        with translated(self.path):
            try:
                self.db.execute(sql)
            except apsw.InterruptError:
                self.db.execute(sql)

    def catch_up(self, digest: str) -> None:
        """Do nothing: a file is never a replica."""

    def changes(self) -> int:
        """Return a number that changes after any other connection commits."""
        return int(self.execute("PRAGMA data_version")[0][0])

    def state(self) -> State:
        """Return the state, which changes with anything that a query can see; see `state_of`."""
        with making_sense(self.path):
            return state_of(self.execute(STATE))

    def interrupt(self) -> None:
        """Abort the statement that runs in another thread. Does nothing if none runs or the connection is closed."""
        with self._ending, suppress(apsw.ConnectionClosedError):
            self.db.interrupt()

    def end(self) -> None:
        """Abort the running statement, called from another thread, and every statement that follows."""
        self._is_ended = True
        self.interrupt()

    def close(self) -> None:
        """Close the file. May be called twice. Folds this connection's changes into the file."""
        if self._lease is not None:
            self._lease.leave()
            self._lease = None
        if self._has_written:
            self.fold()
            self._has_written = False
        with translated(self.path), self._ending:
            self.db.close()

    def fold(self, wait_ms: int = FOLD_WAIT_MS) -> bool:
        """Write the log into the file and empty it. Return False if that is not possible now.

        If another file were put in this place, SQLite would use a log with content for it.
        """
        if not self.writable or _size_at(f"{self.path}-wal") == 0:
            return self.writable
        with self.guard.turn():
            self.db.set_busy_timeout(wait_ms)
            try:
                busy, _, _ = self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() or (1, 0, 0)
            except apsw.Error:
                return False  # the changes stay in the log for the next fold
            finally:
                self.db.set_busy_timeout(BUSY_TIMEOUT_MS)
            return busy == 0

    def is_replaced(self) -> bool:
        """Return True if this place has another file or none. The open file would answer from the past."""
        has_other_log = self._log is not None and file_at(f"{self.path}-wal") != self._log
        return self._is_left or has_other_log or file_at(self.path) != self._file

    def is_there(self) -> bool:
        """Return True if a file exists at the store's place, this one or another."""
        return file_at(self.path) is not None

    def leave(self) -> None:
        """Finish this file and delete its log and the log's index, because another file replaced it.

        SQLite would apply them to the new file. Raises StoreError `store_needs_recovery` while another process reads.
        """
        log, index = Path(f"{self.path}-wal"), Path(f"{self.path}-shm")
        if self._log is not None and file_at(str(log)) == self._log:
            error = StoreError(
                "store_needs_recovery",
                f"{self.path} was replaced, but {log.name} still belongs to the old file.",
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
"""File or connection to the state of its last query."""


def _heed_signals() -> bool:
    """Return False to continue. Python has handled pending signals before this call."""
    return False


def _check_deadline() -> bool:
    """Check the deadline; SQLite calls this while it works. Raises TimedOut, Interrupted."""
    deadline.check()
    return False


def _size_at(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        return 0
