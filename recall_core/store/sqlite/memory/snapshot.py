"""One state of a store in memory, and how it is read: rows, vectors, postings, and what filters let through."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import TYPE_CHECKING

from recall_core._lazy import np
from recall_core.store.sqlite import blocks, copies, lexical, lsh, records
from recall_core.store.sqlite.memory.arithmetic import is_that_of_fts5
from recall_core.store.sqlite.memory.matrix import Matrix
from recall_core.store.sqlite.memory.nearby import Nearby
from recall_core.store.sqlite.memory.postings import Postings
from recall_core.store.sqlite.memory.rows import KEYS, SIZES, LiveRows, pieces_of
from recall_core.store.sqlite.memory.terms import TermFrequencies
from recall_core.store.sqlite.memory.words import WordSearch
from recall_core.store.sqlite.postings import index_totals
from recall_core.store.sqlite.records import Execute
from recall_core.store.sqlite.state import State
from recall_core.text import STOP_WORDS
from recall_core.types import LiteralQuery, Vector

if TYPE_CHECKING:
    import apsw

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

    def words(self, db: apsw.Connection, execute: Execute, query: LiteralQuery) -> WordSearch | None:
        """The query over these rows; None where FTS5 itself has to be asked what it means, or scores it otherwise."""
        if not self._rounds_alike:
            return None
        stems = lexical.stems_of(db, query)
        if stems is None:
            return None
        tokens = {each: phrase.tokens for each, phrase in zip(stems, query.phrases, strict=True)}
        postings = {each: self._postings.of(each, tokens[each], db, execute) for each in tokens}
        words = dict.fromkeys((token,) for phrase in query.long_phrases for token in phrase.tokens)
        dfs = {token: df for (token,), df in lexical.frequencies(db, execute, list(words)).items()}
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
        silent = {stem for word in STOP_WORDS for stem in lexical.stemmed_tokens(db, word)}
        for _, stem in sorted(found, reverse=True):
            if stem not in silent:
                if self._postings.is_half_full:
                    return
                self._postings.of((stem,), (stem,), db, execute)
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
        """The places, ascending, of the rows that a filter lets through."""

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
        """An empty one, where signatures are kept and there is room for them."""
        signing = lsh.made_with(self._execute)
        nearby = None if signing is None else Nearby(len(rows), signing.bits)
        return nearby if nearby is not None and nearby.nbytes <= room else None

    def _matrix(self, rows: LiveRows, room: int) -> Matrix | None:
        """An empty one, as wide as there is room for."""
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
