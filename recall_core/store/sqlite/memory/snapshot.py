"""One state of a store in memory, how it is read, and how all connections of this process to one file share it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
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
from recall_core.store.sqlite.memory.rows import KEYS, SIZES, LiveRows, pieces_of
from recall_core.store.sqlite.memory.words import Postings, TermFrequencies, WordSearch, is_that_of_fts5
from recall_core.store.sqlite.postings import index_totals
from recall_core.store.sqlite.records import Execute
from recall_core.text import STOP_WORDS
from recall_core.types import LiteralQuery, Vector

if TYPE_CHECKING:
    from recall_core.rql.ast import Expr
    from recall_core.store.sqlite.memory.rows import Places

MEGABYTE = 1_000_000
_POSTINGS_SHARE = 4  # postings have at most this part of the memory
_LEAST_POSTING = 100  # rows whose posting is read in no time
_VOCABULARY = "SELECT term, doc FROM chunk_vocab"
_VOCABULARY_SHARE = 4  # of the part of postings, terms have at most this one
_FILTERS_SHARE = 16  # the rows that filters let through have at most this part
_VECTORS = "SELECT chunk, embedding FROM vec"
_PASSING = "SELECT group_concat(c.rowid) FROM doc d JOIN chunk c ON c.doc = d.rowid WHERE {condition}"


class Snapshot:
    """What a question needs of one state of a store. For several threads, each with its own connection to that state.

    matrix: None where there is no room for vectors.  nearby: None where there are no signatures, or no room for them.
    """

    def __init__(
        self, state: State, rows: LiveRows, matrix: Matrix | None, room: int, nearby: Nearby | None = None
    ) -> None:
        self.state = state
        self.rows = rows
        self.matrix = matrix
        self.nearby = nearby
        self.vocabulary: TermFrequencies | None = None
        """Once it is read, where there is room."""
        room_of_words = max(room // _POSTINGS_SHARE, MEGABYTE)
        self._vocabulary_room = room_of_words // _VOCABULARY_SHARE
        self._postings = Postings(rows, room_of_words - self._vocabulary_room)
        self._passing: OrderedDict[object, Places] = OrderedDict()
        self._passing_bytes = 0
        self._passing_room = max(room // _FILTERS_SHARE, MEGABYTE)
        self._rounds_alike = is_that_of_fts5()
        self._lock = Lock()

    def words(self, execute: Execute, query: LiteralQuery) -> WordSearch | None:
        """The query over these rows; None where FTS5 itself has to be asked what it means, or scores it otherwise."""
        if not self._rounds_alike:
            return None
        stems = lexical.stems_of(query)
        if stems is None:
            return None
        tokens = {each: phrase.tokens for each, phrase in zip(stems, query.phrases, strict=True)}
        postings = {each: self._postings.of(each, tokens[each], execute) for each in tokens}
        words = dict.fromkeys((token,) for phrase in query.long_phrases for token in phrase.tokens)
        dfs = {token: df for (token,), df in lexical.frequencies(execute, list(words)).items()}
        return WordSearch(self.rows, query, stems, postings, dfs)

    def read_words(self, db: apsw.Connection, execute: Execute) -> Iterator[None]:
        """Read the vocabulary, and the longest postings, which a question would wait for, as far as there is room."""
        found: list[tuple[int, str]] = []
        vocabulary = TermFrequencies()
        for piece in pieces_of(db.execute(_VOCABULARY)):
            found += [(df, stem) for stem, df in piece if df >= _LEAST_POSTING]
            if vocabulary.nbytes <= self._vocabulary_room:
                vocabulary.put(piece)
            yield
        if vocabulary.nbytes <= self._vocabulary_room:
            self.vocabulary = vocabulary
        silent = {stem for word in STOP_WORDS for stem in lexical.stem_tokens(word)}
        for _, stem in sorted(found, reverse=True):
            if stem not in silent:
                if self._postings.is_half_full:
                    return
                self._postings.of((stem,), (stem,), execute)
                yield

    def cosines(self, query: Vector, among: Places | None) -> Mapping[int, float]:
        """rowid to cosine, of the rows that have a vector; among these places, or of all. Only of a wide matrix."""
        assert self.matrix is not None  # noqa: S101 - see above
        places = None if among is None and self.matrix.is_full else self.matrix.present(among)
        return self.rows.scores(places, self.matrix.cosines(query, places))

    def best(self, query: Vector, k: int, places: Places) -> Mapping[int, float]:
        """The k best cosines of these rows, in natural order, that have a vector: best first, ties as they stand."""
        assert self.matrix is not None  # noqa: S101 - as above
        values = self.matrix.cosines(query, places)
        order = (-values).argsort(kind="stable")[:k]
        return dict(self.rows.scores(places[order], values[order], is_natural=False))

    def passing(self, where: Expr, execute: Execute) -> Places:
        """Return the places, ascending, of the rows that a filter lets through."""
        condition, parameters = records.condition_of(where, None)
        with self._lock:
            kept = self._passing.get((condition, parameters))
        if kept is None:
            found = execute(_PASSING.format(condition=condition), parameters)[0][0] or ""
            kept = np.sort(self.rows.places(np.fromstring(found, dtype=np.int64, sep=",")))
        with self._lock:
            if (condition, parameters) not in self._passing:
                self._passing_bytes += kept.nbytes
            self._passing[condition, parameters] = kept
            self._passing.move_to_end((condition, parameters))
            while self._passing_bytes > self._passing_room and len(self._passing) > 1:
                self._passing_bytes -= self._passing.popitem(last=False)[1].nbytes
        return kept


class SnapshotReader:
    """A snapshot that is read, piece by piece, of what a connection sees inside one transaction.

    found: once it can be asked; what is read behind that saves a question time. room: bytes that it may take.
    """

    def __init__(self, db: apsw.Connection, execute: Execute, state: State, room: int) -> None:
        self._db = db
        self._execute = execute
        self._state = state
        self._room = room
        self.found: Snapshot | None = None

    def pieces(self) -> Iterator[None]:
        """Read, with room for a pause after each piece. Raises ValueError where the store contradicts itself."""
        rows = LiveRows()
        yield from rows.read(self._db.execute(KEYS), self._db.execute(SIZES))
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
            raise ValueError("the full-text index counts other tokens than its rows have")
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
        """Return an empty one, where signatures are kept and there is room for them."""
        signing = lsh.made_with(self._execute)
        nearby = None if signing is None else Nearby(len(rows), signing.bits)
        return nearby if nearby is not None and nearby.nbytes <= room else None

    def _matrix(self, rows: LiveRows, room: int) -> Matrix | None:
        """Return an empty one, as wide as there is room for."""
        dimension = int(self._execute("SELECT value FROM meta WHERE key = 'dimension'")[0][0])
        for is_wide in (True, False):
            if len(rows) * (1 + dimension * (4 if is_wide else 2)) <= room:
                return Matrix(len(rows), dimension, is_wide=is_wide)
        return None


def read_at_once(db: apsw.Connection, execute: Execute, state: State, room: int) -> Snapshot | None:
    """A snapshot of what this connection sees, without a pause. None where the store does not agree with itself."""
    reading = SnapshotReader(db, execute, state, room)
    try:
        for _ in reading.pieces():
            pass
    except ValueError:
        return None
    return reading.found


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

    def find(self, state: State) -> Snapshot | None:
        """Return the snapshot of that state, if there is one."""
        kept = self._kept
        return kept if kept is not None and kept.state == state else None

    def get(self, state: State, megabytes: int) -> Snapshot | None:
        """Return the same; where there is none a thread begins to read it, which may take so much memory."""
        with self._changed:
            found = self.find(state)
            if found is None and not self._is_reading and self._failed != state and self._users:
                self._is_reading = True
                self.reads += 1
                Thread(target=self._read, args=(megabytes,), name="recall-memory", daemon=True).start()
            return found

    def begin(self) -> None:
        """Note that a question begins: the thread that reads makes way."""
        with self._changed:
            self._asking += 1

    def end(self) -> None:
        """Note that it has ended."""
        with self._changed:
            self._asking -= 1
            self._changed.notify_all()

    def wait(self, state: State, megabytes: int) -> Snapshot | None:
        """Return the same once all of it is read; None where it cannot be, as where somebody has written since.

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
                return self.find(state)
            finally:
                self._waiting -= 1

    def _read(self, megabytes: int) -> None:
        """In a thread of its own, with a connection of its own."""
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
                self._changed.wait_for(
                    lambda: not self._asking or self._waiting or not self._users,
                    timeout=_YIELDING * (perf_counter() - started),
                )


class Lease:
    """One connection's part in what is shared of its file. `leave` it where the connection is closed."""

    def __init__(self, shared: Shared, file: FileId) -> None:
        self.shared: Shared | OwnSnapshot = shared
        shared.join()
        self._leave = partial(_Files.leave, file, shared)
        self._dropped = finalize(self, self._leave, is_waited_for=False)
        """What happens where nobody closes the connection. It may happen in any thread, so it waits for none."""
        self._dropped.atexit = False

    def leave(self) -> None:
        """Ask no more questions. Who leaves last waits for the thread, which needs no longer than a piece."""
        if self._dropped.detach():
            self._leave(is_waited_for=True)


class OwnSnapshot:
    """What `Shared` is, of a store that no other connection can see: what is asked for is read at once."""

    def __init__(self, db: apsw.Connection, execute: Execute) -> None:
        self._db, self._execute = db, execute
        self._kept: tuple[State, Snapshot | None] | None = None
        self.shared = self

    def find(self, state: State) -> Snapshot | None:
        """Return the snapshot of that state, if there is one."""
        return self._kept[1] if self._kept is not None and self._kept[0] == state else None

    def get(self, state: State, megabytes: int) -> Snapshot | None:
        """Return the snapshot of that state."""
        if self._kept is None or self._kept[0] != state:
            self._kept = state, read_at_once(self._db, self._execute, state, megabytes * MEGABYTE)
        return self._kept[1]

    wait = get

    def begin(self) -> None:
        """Do nothing: no thread has to make way."""

    end = leave = begin


def lease(db: apsw.Connection, execute: Execute, path: str, file: FileId | None) -> Lease | OwnSnapshot:
    """Return the part of a connection to the file at this path, None for a store in memory."""
    return OwnSnapshot(db, execute) if file is None else _Files.lease(path, file)


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
