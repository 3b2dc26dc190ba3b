"""Postings of words and phrases as arrays, read out of FTS5's own index once and kept while there is room."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from recall_core._lazy import np
from recall_core.deadline import check
from recall_core.store.sqlite.lexical import Stems
from recall_core.store.sqlite.postings import phrase_counts

if TYPE_CHECKING:
    import apsw
    import numpy as np
    from numpy.typing import NDArray

    from recall_core.store.sqlite.memory.rows import LiveRows, Places
    from recall_core.store.sqlite.records import Execute

    Integers = NDArray[np.int64]

_OCCURRENCES = """
SELECT group_concat((doc << 1) + (col = 'body')) FROM chunk_instance WHERE term = ?
"""


class Posting(NamedTuple):
    """The rows that hold a word or a phrase, by place, ascending, and how often, in numbers as small as they may be.

    in_title: None where no title holds it.
    """

    places: Places
    in_title: NDArray[np.unsignedinteger] | None
    in_body: NDArray[np.unsignedinteger]

    def times(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How often in title and body."""

        body = self.in_body.astype(np.float64)
        return np.zeros_like(body) if self.in_title is None else self.in_title.astype(np.float64), body

    def at(self, numbers: NDArray[np.intp]) -> Posting:
        """The entries of these numbers alone."""
        title = None if self.in_title is None else self.in_title[numbers]
        return Posting(self.places[numbers], title, self.in_body[numbers])

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return self.places.nbytes + self.in_body.nbytes + (0 if self.in_title is None else self.in_title.nbytes)


class Postings:
    """Those that were asked for last, by their stems; `room` bytes of them. For several threads."""

    def __init__(self, rows: LiveRows, room: int) -> None:
        self._rows = rows
        self._room = room
        self._kept: OrderedDict[Stems, Posting] = OrderedDict()
        self._lock = Lock()
        self.nbytes = 0

    def of(self, stems: Stems, tokens: tuple[str, ...], db: apsw.Connection, execute: Execute) -> Posting:
        """Of a word, or of words that stand one behind the other in a column, which FTS5 finds by their tokens.

        db, execute: of a connection that reads the state of these rows.
        """
        with self._lock:
            if stems in self._kept:
                self._kept.move_to_end(stems)
                return self._kept[stems]
        check()
        found = self._word(stems[0], execute) if len(stems) == 1 else self._phrase(tokens, db, execute)
        with self._lock:
            self._keep(stems, found)
        return found

    @property
    def is_half_full(self) -> bool:
        """Whether what is read ahead leaves as much room for what is asked for."""
        return 2 * self.nbytes >= self._room

    def _keep(self, stems: Stems, found: Posting) -> None:
        if stems in self._kept:
            return
        self._kept[stems] = found
        self.nbytes += found.nbytes
        while self.nbytes > self._room and len(self._kept) > 1:
            self.nbytes -= self._kept.popitem(last=False)[1].nbytes

    def _word(self, stem: str, execute: Execute) -> Posting:

        joined = execute(_OCCURRENCES, (stem,))[0][0]
        found = np.fromstring(joined or "", dtype=np.int64, sep=",")
        rowids, is_body = found >> 1, found & 1
        first = np.flatnonzero(np.diff(rowids, prepend=-1))
        times = np.diff(first, append=len(rowids))
        body = np.add.reduceat(is_body, first) if len(first) else times
        return self._posting(rowids[first], times - body, body)

    def _phrase(self, tokens: tuple[str, ...], db: apsw.Connection, execute: Execute) -> Posting:

        counts = phrase_counts(db, execute, tokens)
        pairs = np.array(list(counts.values()), dtype=np.int64).reshape(-1, 2)
        return self._posting(np.array(list(counts), dtype=np.int64), pairs[:, 0], pairs[:, 1])

    def _posting(self, rowids: Integers, title: Integers, body: Integers) -> Posting:

        places = self._rows.places(rowids)
        if len(places) > 1 and bool((np.diff(places) < 0).any()):
            order = np.argsort(places)
            places, title, body = places[order], title[order], body[order]
        small = np.min_scalar_type(int(max(title.max(initial=0), body.max(initial=0))))
        return Posting(places, title.astype(small) if title.any() else None, body.astype(small))
