"""Postings of words and phrases as arrays, read out of FTS5's own index once and kept while there is room."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from recall_core.deadline import check

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recall_core.store.sqlite.memory.rows import Places, Rows
    from recall_core.store.sqlite.records import Execute

_ROW = 33  # bits below a row's number: one for the column, the others for the place in it
_COLUMN = 32

_OCCURRENCES = """
SELECT group_concat((doc << 1) + (col = 'body')) FROM chunk_instance WHERE term = ?
"""

_POSITIONS = f"""
SELECT group_concat((doc << {_ROW}) + ((col = 'body') << {_COLUMN}) + offset) FROM chunk_instance WHERE term = ?
"""

Stems = tuple[str, ...]


class Posting(NamedTuple):
    """The rows that hold a word or a phrase, by place, ascending; how often, in title and body, as float64."""

    places: Places
    title: NDArray[np.float64]
    body: NDArray[np.float64]
    in_title: bool
    """Whether any title holds it."""

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return self.places.nbytes + self.title.nbytes + self.body.nbytes


class Postings:
    """Those that were asked for last, by their stems; `room` bytes of them. For several threads."""

    def __init__(self, rows: Rows, room: int) -> None:
        self._rows = rows
        self._room = room
        self._kept: OrderedDict[Stems, Posting] = OrderedDict()
        self._lock = Lock()
        self.nbytes = 0

    def of(self, stems: Stems, execute: Execute) -> Posting:
        """Of a word, or of words that stand one behind the other in a column, as FTS5 counts a phrase."""
        with self._lock:
            if stems in self._kept:
                self._kept.move_to_end(stems)
                return self._kept[stems]
        check()
        found = self._counted(*(_word(execute, *stems) if len(stems) == 1 else _phrase(execute, stems)))
        with self._lock:
            self._keep(stems, found)
        return found

    def _keep(self, stems: Stems, found: Posting) -> None:
        if stems in self._kept:
            return
        self._kept[stems] = found
        self.nbytes += found.nbytes
        while self.nbytes > self._room and len(self._kept) > 1:
            self.nbytes -= self._kept.popitem(last=False)[1].nbytes

    def _counted(self, rowids: NDArray[np.int64], is_body: NDArray[np.int64]) -> Posting:
        """From one entry an occurrence, those of a row together."""
        import numpy as np  # noqa: PLC0415 - a process that asks once needs none of this

        first = np.flatnonzero(np.diff(rowids, prepend=-1))
        times = np.diff(first, append=len(rowids)).astype(np.float64)
        body = np.add.reduceat(is_body, first).astype(np.float64) if len(first) else times
        places = self._rows.places(rowids[first])
        if len(places) > 1 and bool((np.diff(places) < 0).any()):
            order = np.argsort(places)
            places, times, body = places[order], times[order], body[order]
        title = times - body
        return Posting(places, title, body, bool(title.any()))


def _word(execute: Execute, stem: str) -> tuple[Any, Any]:
    found = _numbers(execute(_OCCURRENCES, (stem,))[0][0])
    return found >> 1, found & 1


def _phrase(execute: Execute, stems: Stems) -> tuple[Any, Any]:
    """Where each word stands as far behind the first one as in the phrase: the rarest word's places decide."""
    import numpy as np  # noqa: PLC0415 - as above

    where = {stem: _numbers(execute(_POSITIONS, (stem,))[0][0]) for stem in dict.fromkeys(stems)}
    starts = None
    for at, stem in sorted(enumerate(stems), key=lambda each: len(where[each[1]])):
        begun = where[stem] - at
        starts = begun if starts is None else np.intersect1d(starts, begun, assume_unique=True)
    assert starts is not None  # noqa: S101 - no phrase is without a word
    return starts >> _ROW, starts >> _COLUMN & 1


def _numbers(joined: str | None) -> NDArray[np.int64]:
    import numpy as np  # noqa: PLC0415 - as above

    return np.fromstring(joined or "", dtype=np.int64, sep=",")
