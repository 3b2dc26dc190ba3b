"""One open connection to a store's file: statements, transactions and the file itself."""

from __future__ import annotations

from _thread import RLock  # see recall_core.store.one_thread
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from recall_core import shell
from recall_core.config import BUSY_TIMEOUT_MS
from recall_core.errors import StoreError
from recall_core.store.one_thread import ThreadGuard
from recall_core.store.sqlite.connect import MEMORY, translated
from recall_core.store.sqlite.write import SqliteWriter

FOLD_WAIT_MS = 200  # what has been written is safe in the log: nobody is kept waiting for readers to be done with it


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
        self._file = _file_at(path)
        self._log = _file_at(f"{path}-wal")
        self._has_written = False
        self._is_left = False
        self._is_ended = False
        db.pragma("query_only", True)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Every row of one statement; SQLite's failures become RecallErrors."""
        with translated(self.path):
            if self._is_ended:
                raise apsw.InterruptError
            return self.db.execute(sql, parameters).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A write transaction: all of it or, when the block fails, nothing."""
        if not self.writable:
            raise StoreError("read_only", f"{self.path} cannot be written.", hint=f"ls -l {self.path}")
        with self.unlocked():
            self.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.execute("COMMIT")
                self._has_written = True
            finally:
                self._roll_back()

    @contextmanager
    def writer(self) -> Iterator[SqliteWriter]:
        """A transaction in which files are put and taken away; see ports.Writer."""
        with self.transaction():
            batch = SqliteWriter(self.execute)
            yield batch
            batch.finish()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Everything read inside this block is of one state of the store."""
        if self.db.in_transaction:
            yield
            return
        self.execute("BEGIN")
        try:
            yield
        finally:
            self._roll_back()

    @contextmanager
    def unlocked(self) -> Iterator[None]:
        """SQLite refuses to write through this connection outside this block."""
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

    def purge(self) -> bool:
        """Drop tombstones and leave no byte of their text in the file or its log; False if a reader prevents it."""
        self.drop_tombstones()
        with self.unlocked():
            self.execute("VACUUM")
            busy, _, _ = self.execute("PRAGMA wal_checkpoint(TRUNCATE)")[0]
        return bool(busy == 0)

    def drop_tombstones(self) -> int:
        """Delete what rm and edits left behind, and the vectors kept for their texts; returns how many documents."""
        with self.transaction():
            gone = len(self.execute("DELETE FROM doc WHERE deleted = 1 RETURNING rowid"))
            self.execute("DELETE FROM vec_cache")
            self.execute(
                "DELETE FROM vec_next WHERE text_hash NOT IN (SELECT text_hash FROM chunk WHERE deleted = 0)"
            )
            self.execute("INSERT INTO chunk_fts(chunk_fts) VALUES('optimize')")
            self.execute("UPDATE meta SET value = '0' WHERE key = 'tombstones'")
        return gone

    def changes(self) -> int:
        """Another number once anyone but this connection has committed anything."""
        return int(self.execute("PRAGMA data_version")[0][0])

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
        has_other_log = self._log is not None and _file_at(f"{self.path}-wal") != self._log
        return self._is_left or has_other_log or _file_at(self.path) != self._file

    def is_there(self) -> bool:
        """True when a file stands in the store's place, be it this one or another."""
        return _file_at(self.path) is not None

    def leave(self) -> None:
        """Another file stands here: finish the old one, and take its log and that log's index out of the way.

        SQLite would read the new file through them. Raises StoreError `store_needs_recovery` while someone reads.
        """
        log, index = Path(f"{self.path}-wal"), Path(f"{self.path}-shm")
        if self._log is not None and _file_at(str(log)) == self._log:
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
        """Bytes of the file, its log included."""
        if self.path == MEMORY:
            return int(self.db.pragma("page_count")) * int(self.db.pragma("page_size"))
        return _size_at(self.path) + _size_at(f"{self.path}-wal")


def _file_at(path: str) -> tuple[int, int] | None:
    """What tells the file at this path from every other; None where there is none."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _size_at(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        return 0
