"""One state of a store in memory: how it is loaded, and how all connections of this process to a file share it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from os import register_at_fork
from threading import Condition, Lock, RLock, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import finalize

import apsw

from recall_core._lazy import np
from recall_core.errors import RecallError
from recall_core.store.sqlite import blocks, copies, lexical, lsh, records
from recall_core.store.sqlite.connect import STATE, FileId, State, connect, file_at, state_of
from recall_core.store.sqlite.memory.matrix import Matrix, Nearby
from recall_core.store.sqlite.memory.rows import KEYS, LiveRows, pieces_of
from recall_core.store.sqlite.memory.words import Postings, TermFrequencies, WordSearch, is_that_of_fts5
from recall_core.store.sqlite.postings import index_totals, read_sizes
from recall_core.store.sqlite.records import Execute, stored_analyzer
from recall_core.text import STOP_WORDS
from recall_core.types import LiteralQuery, Phrase, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recall_core.rql.ast import Expr
    from recall_core.store.sqlite.memory.rows import Places

MEGABYTE = 1_000_000
_POSTINGS_SHARE = 4  # postings take at most this fraction of the memory
_LEAST_POSTING = 100  # postings of fewer rows take no noticeable time to read
_VOCABULARY = "SELECT term, doc FROM chunk_vocab"
_VOCABULARY_SHARE = 4  # terms take at most this fraction of the postings' memory
_FILTERS_SHARE = 16  # rows that pass filters take at most this fraction of the memory
_VECTORS = "SELECT chunk, embedding FROM vec"
_PASSING = "SELECT group_concat(c.rowid) FROM doc d JOIN chunk c ON c.doc = d.rowid WHERE {condition}"


class Snapshot:
    """One state of a store in memory. Safe for several threads, each with its own connection to that state.

    matrix: None if there is no room for vectors.
    nearby: None if there are no signatures, or no room for them.
    """

    def __init__(
        self, state: State, rows: LiveRows, matrix: Matrix | None, room: int, nearby: Nearby | None = None
    ) -> None:
        self.state = state
        self.rows = rows
        self.matrix = matrix
        self.nearby = nearby
        self.vocabulary: TermFrequencies | None = None
        """None until it is loaded, and if there is no room."""
        room_of_words = max(room // _POSTINGS_SHARE, MEGABYTE)
        self._vocabulary_room = room_of_words // _VOCABULARY_SHARE
        self._postings = Postings(rows, room_of_words - self._vocabulary_room)
        self._passing: OrderedDict[object, Places] = OrderedDict()
        self._passing_bytes = 0
        self._passing_room = max(room // _FILTERS_SHARE, MEGABYTE)
        self._rounds_alike = is_that_of_fts5()
        self._lock = Lock()

    def words(self, execute: Execute, query: LiteralQuery) -> WordSearch | None:
        """Return the query over these rows, or None if FTS5 must interpret it or rounds differently."""
        if not self._rounds_alike:
            return None
        postings = {each.key: self._postings.of(each, execute) for each in query.phrases}
        dfs = lexical.stem_frequencies(execute, [term for phrase in query.long_phrases for term in phrase.terms])
        return WordSearch(self.rows, query, postings, dfs)

    def read_words(self, db: apsw.Connection, execute: Execute) -> Iterator[None]:
        """Load the vocabulary and the longest postings, which a query would wait for, as far as there is room."""
        found: list[tuple[int, str]] = []
        vocabulary = TermFrequencies()
        for piece in pieces_of(db.execute(_VOCABULARY)):
            found += [(df, stem) for stem, df in piece if df >= _LEAST_POSTING]
            if vocabulary.nbytes <= self._vocabulary_room:
                vocabulary.put(piece)
            yield
        if vocabulary.nbytes <= self._vocabulary_room:
            self.vocabulary = vocabulary
        silent = set(stored_analyzer(execute).stem(sorted(STOP_WORDS)))
        for _, stem in sorted(found, reverse=True):
            if stem not in silent:
                if self._postings.is_half_full:
                    return
                self._postings.of(Phrase(stem, (stem,), (stem,)), execute)
                yield

    def cosines(self, query: Vector, among: Places | None) -> Mapping[int, float]:
        """Return rowid to cosine of the rows with a vector, among these places or all. Needs a wide matrix."""
        assert self.matrix is not None  # noqa: S101 - see above
        places = None if among is None and self.matrix.is_full else self.matrix.present(among)
        return self.rows.scores(places, self.matrix.cosines(query, places))

    def best(self, query: Vector, k: int, places: Places) -> Mapping[int, float]:
        """Return the k best cosines of these rows, best first, ties in the given order. All of them have a vector."""
        assert self.matrix is not None  # noqa: S101 - as above
        values = self.matrix.cosines(query, places)
        order = (-values).argsort(kind="stable")[:k]
        return dict(self.rows.scores(places[order], values[order], is_natural=False))

    def passing(self, where: Expr, execute: Execute) -> Places:
        """Return the places, ascending, of the rows that pass a filter."""
        condition, parameters = records.condition_of(where, None)

        def read() -> NDArray[np.int64]:
            found = execute(_PASSING.format(condition=condition), parameters)[0][0] or ""
            return np.fromstring(found, dtype=np.int64, sep=",")

        return self.keep_passing((condition, parameters), read)

    def keep_passing(self, filtered: object, read: Callable[[], Sequence[int] | NDArray[np.int64]]) -> Places:
        """Return the places, ascending, of the rows that a filter passes. read: returns their rowids."""
        with self._lock:
            kept = self._passing.get(filtered)
        if kept is None:
            kept = np.sort(self.rows.places(read()))
        with self._lock:
            if filtered not in self._passing:
                self._passing_bytes += kept.nbytes
            self._passing[filtered] = kept
            self._passing.move_to_end(filtered)
            while self._passing_bytes > self._passing_room and len(self._passing) > 1:
                self._passing_bytes -= self._passing.popitem(last=False)[1].nbytes
        return kept


class SnapshotReader:
    """Loads a snapshot, piece by piece, from the state that a connection sees in one transaction.

    found: set once the snapshot can be used; pieces loaded later only save time.
    room: maximum size in bytes.
    """

    def __init__(self, db: apsw.Connection, execute: Execute, state: State, room: int) -> None:
        self._db = db
        self._execute = execute
        self._state = state
        self._room = room
        self.found: Snapshot | None = None

    def pieces(self) -> Iterator[None]:
        """Load the pieces, with a pause possible after each. Raises ValueError if the store contradicts itself."""
        rows = LiveRows()
        yield from rows.read(self._db.execute(KEYS), read_sizes(self._db))
        rows.put_copies(copies.numbers(self._execute, None))
        room = self._room - rows.nbytes
        if room < 0:
            return
        nearby = self._nearby(rows, room - room // _POSTINGS_SHARE - room // _FILTERS_SHARE)
        if nearby is not None:
            room -= nearby.nbytes
            for piece in pieces_of(self._db.execute(lsh.SIGNATURES)):
                nearby.put(rows.places([row for row, _ in piece]), [signature for _, signature in piece])
                yield
        matrix = self._matrix(rows, room - room // _POSTINGS_SHARE - room // _FILTERS_SHARE)
        if matrix is not None:
            for rowids, parts in self._vectors():
                matrix.put(rows.places(rowids), parts)
                yield
        _, totals = index_totals(self._execute)
        if totals != rows.totals:
            raise ValueError("the token counts of the full-text index do not match its rows")
        self.found = Snapshot(self._state, rows, matrix, room, nearby)
        yield
        yield from self.found.read_words(self._db, self._execute)

    def _vectors(self) -> Iterator[tuple[list[int], list[bytes]]]:
        if blocks.are_here(self._execute):
            yield from blocks.scan(self._execute)
            return
        for piece in pieces_of(self._db.execute(_VECTORS)):
            yield [row for row, _ in piece], [vector for _, vector in piece]

    def _nearby(self, rows: LiveRows, room: int) -> Nearby | None:
        """Return an empty object if there are signatures and room for them."""
        signing = lsh.made_with(self._execute)
        nearby = None if signing is None else Nearby(len(rows), signing.bits)
        return nearby if nearby is not None and nearby.nbytes <= room else None

    def _matrix(self, rows: LiveRows, room: int) -> Matrix | None:
        """Return an empty matrix, as wide as there is room for."""
        dimension = int(self._execute("SELECT value FROM meta WHERE key = 'dimension'")[0][0])
        for is_wide in (True, False):
            if len(rows) * (1 + dimension * (4 if is_wide else 2)) <= room:
                return Matrix(len(rows), dimension, is_wide=is_wide)
        return None


def read_at_once(db: apsw.Connection, execute: Execute, state: State, room: int) -> Snapshot | None:
    """Return a snapshot of the state that this connection sees, loaded at once, or None if the store contradicts
    itself."""
    reading = SnapshotReader(db, execute, state, room)
    try:
        for _ in reading.pieces():
            pass
    except ValueError:
        return None
    return reading.found


_YIELDING = 4  # while a query runs, the loading thread pauses this many times as long as its last piece took


class Shared:
    """Data shared for one file: at most one snapshot, at most one thread that loads the next one, and a count of
    users."""

    def __init__(self, path: str, file: FileId) -> None:
        self._path = path
        self._file = file
        self._changed = Condition()  # of a reentrant lock
        self._users = 0
        self._asking = 0
        self._waiting = 0
        self._kept: Snapshot | None = None
        self._is_reading = False
        self._failed: State | None = None
        self.reads = 0
        """Number of snapshots whose loading was started."""

    def join(self) -> None:
        """Add a user."""
        with self._changed:
            self._users += 1

    def leave(self, *, is_waited_for: bool) -> bool:
        """Remove a user. Return True if it was the last. is_waited_for: wait until the loading thread has stopped."""
        with self._changed:
            self._users -= 1
            self._changed.notify_all()
            if self._users:
                return False
            if is_waited_for:
                self._changed.wait_for(lambda: not self._is_reading)
            self._kept = None
            return True

    def find(self, state: State) -> Snapshot | None:
        """Return the snapshot of this state, or None."""
        kept = self._kept
        return kept if kept is not None and kept.state == state else None

    def get(self, state: State, megabytes: int) -> Snapshot | None:
        """Return the snapshot of this state. If there is none, start a thread that loads it in this much memory."""
        with self._changed:
            found = self.find(state)
            if found is None and not self._is_reading and self._failed != state and self._users:
                self._is_reading = True
                self.reads += 1
                Thread(target=self._read, args=(megabytes,), name="recall-memory", daemon=True).start()
            return found

    def begin(self) -> None:
        """Note that a query begins, so that the loading thread pauses."""
        with self._changed:
            self._asking += 1

    def end(self) -> None:
        """Note that a query has ended."""
        with self._changed:
            self._asking -= 1
            self._changed.notify_all()

    def wait(self, state: State, megabytes: int) -> Snapshot | None:
        """Wait until the snapshot is complete and return it, or None if it cannot be loaded, for example after a
        write.

        Running queries do not delay the loading meanwhile.
        """
        with self._changed:
            self._waiting += 1
            self._changed.notify_all()
            try:
                is_begun = False
                while not is_begun:  # a thread that others started may load an earlier state
                    before = self.reads
                    found = self.get(state, megabytes)
                    if not self._is_reading:
                        return found
                    is_begun = self.reads > before
                    self._changed.wait_for(lambda: not self._is_reading)
                return self.find(state)
            finally:
                self._waiting -= 1

    def _read(self, megabytes: int) -> None:
        """Load the snapshot in this thread, with its own connection."""
        found: Snapshot | None = None
        state: State | None = None
        try:
            with closing(connect(self._path).db) as db:
                execute = blocks.execute_on(db)
                db.pragma("query_only", True)
                db.execute("BEGIN")
                state = state_of(execute(STATE))
                if file_at(self._path) == self._file:
                    found = self._in_pieces(SnapshotReader(db, execute, state, megabytes * MEGABYTE))
        except (apsw.Error, RecallError, MemoryError, ValueError, TypeError, LookupError, OverflowError):
            pass  # the statement that meets the error reports it
        with self._changed:
            self._is_reading = False
            if found is None:
                self._failed = state
            self._changed.notify_all()

    def _in_pieces(self, reading: SnapshotReader) -> Snapshot | None:
        """Load until the end, or until there are no users left. Share the snapshot as soon as it can be used."""
        pieces = reading.pieces()
        while True:
            started = perf_counter()
            is_over = next(pieces, self) is self
            with self._changed:
                if self._users:
                    self._kept = reading.found or self._kept
                if is_over or not self._users:
                    return reading.found
                self._changed.wait_for(
                    lambda: not self._asking or self._waiting or not self._users,
                    timeout=_YIELDING * (perf_counter() - started),
                )


class Lease:
    """One connection's share in its file's data. Call `leave` when the connection is closed."""

    def __init__(self, shared: Shared, file: FileId) -> None:
        self.shared: Shared | OwnSnapshot = shared
        shared.join()
        self._leave = partial(_Files.leave, file, shared)
        self._dropped = finalize(self, self._leave, is_waited_for=False)
        """Cleans up if the connection is never closed. It may run in any thread, so it does not wait for the loading
        thread."""
        self._dropped.atexit = False

    def leave(self) -> None:
        """Give up the share. The last one waits for the loading thread, for at most one piece."""
        if self._dropped.detach():
            self._leave(is_waited_for=True)


class OwnSnapshot:
    """Counterpart of `Shared` for a store that no other connection can see; loads at once."""

    def __init__(self, db: apsw.Connection, execute: Execute) -> None:
        self._db, self._execute = db, execute
        self._kept: tuple[State, Snapshot | None] | None = None
        self.shared = self

    def find(self, state: State) -> Snapshot | None:
        """Return the snapshot of this state, or None."""
        return self._kept[1] if self._kept is not None and self._kept[0] == state else None

    def get(self, state: State, megabytes: int) -> Snapshot | None:
        """Return the snapshot of this state."""
        if self._kept is None or self._kept[0] != state:
            self._kept = state, read_at_once(self._db, self._execute, state, megabytes * MEGABYTE)
        return self._kept[1]

    wait = get

    def begin(self) -> None:
        """Do nothing, because there is no loading thread."""

    end = leave = begin


def lease(db: apsw.Connection, execute: Execute, path: str, file: FileId | None) -> Lease | OwnSnapshot:
    """Return a share in the file's data for this connection. file: None for a store in memory."""
    return OwnSnapshot(db, execute) if file is None else _Files.lease(path, file)


class _Files:
    """Shared data by file."""

    shared: ClassVar[dict[FileId, Shared]] = {}
    lock: ClassVar[Any] = RLock()  # reentrant, because a dropped lease leaves in any thread

    @classmethod
    def lease(cls, path: str, file: FileId) -> Lease:
        """Add a lease."""
        with cls.lock:
            return Lease(cls.shared.setdefault(file, Shared(path, file)), file)

    @classmethod
    def leave(cls, file: FileId, shared: Shared, *, is_waited_for: bool) -> None:
        """Remove a lease. Leases from before a fork are unknown here and ignored."""
        with cls.lock:
            if cls.shared.get(file) is shared and shared.leave(is_waited_for=is_waited_for):
                del cls.shared[file]

    @classmethod
    def forget(cls) -> None:
        """Start from nothing after a fork, because the threads are gone and their locks may stay locked."""
        cls.shared, cls.lock = {}, RLock()


register_at_fork(after_in_child=_Files.forget)
