"""Words in memory: terms, postings, and lexical scores, computed operation by operation like FTS5."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, reduce
from itertools import accumulate
from operator import add
from random import Random
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import apsw

from recall_core._lazy import np
from recall_core.config import BM25_K1, Config
from recall_core.deadline import check
from recall_core.rank import bm25
from recall_core.rank.bm25 import idf, weigh
from recall_core.store.sqlite.blocks import execute_on
from recall_core.store.sqlite.lexical import Stems, phrase_counts
from recall_core.store.sqlite.memory.matrix import kth_best, places_at_least
from recall_core.store.sqlite.memory.rows import LiveRows
from recall_core.store.sqlite.postings import read_sizes
from recall_core.types import LiteralQuery, Occurrences, Phrase, TermStat
from recall_core.words.analyzer import PORTER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recall_core.store.sqlite.memory.rows import LiveRows, Places

_FEW = 8  # up to one row in this many are looked up in postings; more rows are taken from the sums of all rows
_EXACT = 2.0**20  # a weight that is a multiple of 1 / _EXACT gives exact sums in any order


class Matches(NamedTuple):
    """Places of rows, and the raw BM25 of each."""

    places: Places
    raws: NDArray[np.float64]


class WordSearch:
    """One literal query over the rows of a store.

    postings: by the phrases' terms.
    dfs: document frequencies by term, for the words of phrases of several words.
    """

    def __init__(
        self,
        rows: LiveRows,
        query: LiteralQuery,
        postings: Mapping[Stems, Posting],
        dfs: Mapping[str, int],
    ) -> None:
        self.query = query
        self._rows = rows
        self._stems: list[Stems] = [phrase.key for phrase in query.phrases]
        self._postings = postings
        self._dfs = dfs
        self._last: tuple[object, tuple[NDArray[np.float64], NDArray[np.int32]]] | None = None

    @property
    def terms(self) -> tuple[TermStat, ...]:
        """See `Search.term_stats`."""
        rows = len(self._rows)
        return tuple(weigh(each, self._df(each.key), self._dfs, rows) for each in self.query.phrases)

    def _df(self, stems: Stems) -> int:
        return len(self._postings[stems].places)

    def all(self, among: Places | None, title_weight: float) -> Matches:
        """Return every matching row, among these if given, in natural order."""
        found = self._matching(self._stems, among, title_weight)
        return self._score_again(found, title_weight) if self.query.long_phrases else found

    def best(self, k: int, among: Places | None, title_weight: float) -> Matches:
        """Return the k best, best first, ties in natural order; see `Search.lexical` for phrases of several words."""
        matching = self._matching(self._stems, among, title_weight)
        if not self.query.long_phrases:
            return _best(matching, k)
        if self.query.is_weighed:
            return _best(self._score_again(matching, title_weight), k)
        holding = self._rows_with_phrases(matching, k, among, title_weight)

        near = _best(matching, k + len(holding)).places
        both = np.union1d(near, holding).astype(np.int32)
        ranked = _sort(self._score_again(Matches(both, np.zeros(len(both))), title_weight))
        kept = np.isin(ranked.places, holding)
        kept[:k] = True
        return Matches(ranked.places[kept], ranked.raws[kept])

    def scores(
        self, *, k: int | None, among: Places | None, title_weight: float, also: Sequence[int]
    ) -> Mapping[int, float]:
        """Return scores; see `Search.lexical`."""
        if k is None:
            return self._rows.scores(*self.all(among, title_weight))
        best = dict(self._rows.scores(*self.best(k, among, title_weight), is_natural=False)) if k > 0 else {}
        left = [rowid for rowid in also if rowid not in best]
        return best | dict(self.scores_of(left, title_weight=title_weight)) if left else best

    def scores_of(self, rowids: Sequence[int], *, title_weight: float) -> Mapping[int, float]:
        """Return scores; see `Search.lexical_scores`."""
        return self._rows.scores(*self.all(self._rows.natural(rowids), title_weight))

    def occurrences(self, rowids: Sequence[int] | None) -> Occurrences:
        """Return occurrences; see `Search.occurrences`."""
        rows = self._rows
        wanted = np.ones(len(rows), dtype=np.bool_)
        if rowids is not None:
            wanted[:] = False
            wanted[rows.natural(rowids)] = True
        counts: dict[Stems, dict[int, tuple[int, int]]] = {}
        held = np.zeros(len(rows), dtype=np.bool_)
        for stems in dict.fromkeys(self._stems):
            found = self._postings[stems]
            chosen = wanted[found.places]
            held[found.places[chosen]] = True
            title, body = found.times()
            counts[stems] = self._pairs(found.places[chosen], title[chosen], body[chosen])
        places = np.flatnonzero(held)
        return Occurrences(
            phrases=self.terms,
            counts=tuple(counts[stems] for stems in self._stems),
            lengths=self._pairs(places, rows.title_lengths[places], rows.body_lengths[places]),
            averages=self._averages,
            rows=len(rows),
        )

    def _pairs(
        self, places: NDArray[np.integer], title: NDArray[np.float64], body: NDArray[np.float64]
    ) -> dict[int, tuple[int, int]]:
        pairs = zip(title.astype(int).tolist(), body.astype(int).tolist(), strict=True)
        return dict(zip(self._rows.keys.rowids[places].tolist(), pairs, strict=True))

    @property
    def _averages(self) -> tuple[float, float]:
        rows, (title, body) = len(self._rows), self._rows.totals
        return (title / rows, body / rows) if rows else (0.0, 0.0)

    def _rows_with_phrases(self, matching: Matches, k: int, among: Places | None, title_weight: float) -> Places:
        """Return at most k matching rows with a phrase of several words: the rarest first, its best rows first."""
        if self.query.match == "all":
            return _best(matching, k).places
        held = np.empty(0, dtype=np.int32)
        long = dict.fromkeys(phrase.key for phrase in self.query.long_phrases)
        for stems in sorted(long, key=self._df):
            best = _best(self._matching([stems], among, title_weight), k).places
            held = np.concatenate([held, best[~np.isin(best, held)][: k - len(held)]])
        return held

    def _matching(self, phrases: Sequence[Stems], among: Places | None, title_weight: float) -> Matches:
        """Return matching rows, in natural order, scored operation by operation like FTS5's bm25() (sqlite
        fts5_aux.c)."""
        least = len(phrases) if self.query.match == "all" else 1
        if among is not None and len(among) < len(self._rows) // _FEW:
            totals, holds = self._score_few(phrases, among, title_weight)
            chosen = places_at_least(holds, least)
            return Matches(among[chosen], totals[chosen])
        totals, holds = self._score_all(tuple(phrases), title_weight)
        places = places_at_least(holds, least) if among is None else among[holds[among] >= least]
        return Matches(places, totals[places])

    def _score_few(
        self, phrases: Sequence[Stems], among: Places, title_weight: float
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return for each of these rows its score and how many of the phrases it contains."""
        totals = np.zeros(len(among))
        holds = np.zeros(len(among), dtype=np.int32)
        for stems in phrases:
            check()
            posting = self._postings[stems]
            if len(posting.places):
                at = posting.places.searchsorted(among)
                own = np.flatnonzero(posting.places.take(at, mode="clip") == among)
                totals[own] += self._contribution(posting.at(at[own]), len(posting.places), title_weight)
                holds[own] += 1
        return totals, holds

    def _contribution(self, found: Posting, df: int, title_weight: float) -> NDArray[np.float64]:
        """Return the score that a phrase with this df gives to each of these rows."""
        held, times = self._rows.held[found.places], _frequencies(found, title_weight)
        given: NDArray[np.float64] = idf(df, len(self._rows)) * (times * (BM25_K1 + 1.0) / (times + held))
        return given

    def _score_all(
        self, phrases: tuple[Stems, ...], title_weight: float
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return for every row its score and how many of the phrases it contains. Cached for the whole query."""
        if self._last is not None and self._last[0] == (phrases, title_weight):
            return self._last[1]
        rows = self._rows
        totals = np.zeros(len(rows))
        holds = np.zeros(len(rows), dtype=np.int32)
        for stems in phrases:
            check()
            found = self._postings[stems]
            if len(found.places):
                totals[found.places] += self._contribution(found, len(found.places), title_weight)
                holds[found.places] += 1
        if phrases == tuple(self._stems):
            self._last = (phrases, title_weight), (totals, holds)
        return totals, holds

    def _score_again(self, found: Matches, title_weight: float) -> Matches:
        """Return the same rows scored with the formula of `rank.bm25`, which weighs a phrase by its words."""
        rows = self._rows
        totals = np.zeros(len(rows))
        config = Config(title_weight=title_weight)
        for term, stems in zip(self.terms, self._stems, strict=True):
            posting = self._postings[stems]
            if len(posting.places):
                lengths = rows.title_lengths[posting.places], rows.body_lengths[posting.places]
                tf = posting.times()
                totals[posting.places] += bm25.contribution(self._averages, term.idf, tf, lengths, config)
        return Matches(found.places, totals[found.places])


def _frequencies(found: Posting, title_weight: float) -> NDArray[np.float64]:
    """Return the title's weight for each title occurrence and 1 for each in the body, added one by one like FTS5."""
    title, body = found.times()
    if found.in_title is None:
        return body
    if title_weight * _EXACT == round(title_weight * _EXACT):
        weighed: NDArray[np.float64] = title_weight * title + body
        return weighed
    pairs, which = np.unique(np.stack([title, body]), axis=1, return_inverse=True)
    ones = [[title_weight] * int(title) + [1.0] * int(body) for title, body in pairs.T.tolist()]
    sums: NDArray[np.float64] = np.array([reduce(add, each, 0.0) for each in ones])[which.reshape(-1)]
    return sums


def _best(found: Matches, k: int) -> Matches:
    """Return the k best, best first; ties in the given natural order."""
    if k <= 0:
        return Matches(found.places[:0], found.raws[:0])
    if len(found.places) > k:
        chosen = places_at_least(found.raws, kth_best(found.raws, k))
        found = Matches(found.places[chosen], found.raws[chosen])
    ranked = _sort(found)
    return Matches(ranked.places[:k], ranked.raws[:k])


def _sort(found: Matches) -> Matches:
    order = (-found.raws).argsort(kind="stable")
    return Matches(found.places[order], found.raws[order])


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
    """Rows that contain a word or a phrase, by place, ascending, with its counts in the smallest fitting integers.

    in_title: None if no title contains it.
    """

    places: Places
    in_title: NDArray[np.unsignedinteger] | None
    in_body: NDArray[np.unsignedinteger]

    def times(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the counts in title and body."""
        body = self.in_body.astype(np.float64)
        return np.zeros_like(body) if self.in_title is None else self.in_title.astype(np.float64), body

    def at(self, numbers: NDArray[np.intp]) -> Posting:
        """Return the entries with these numbers."""
        title = None if self.in_title is None else self.in_title[numbers]
        return Posting(self.places[numbers], title, self.in_body[numbers])

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.places.nbytes + self.in_body.nbytes + (0 if self.in_title is None else self.in_title.nbytes)


class Postings:
    """Cache of the postings used last, by their stems, up to `room` bytes. Safe for several threads."""

    def __init__(self, rows: LiveRows, room: int) -> None:
        self._rows = rows
        self._room = room
        self._kept: OrderedDict[Stems, Posting] = OrderedDict()
        self._lock = Lock()
        self.nbytes = 0

    def of(self, phrase: Phrase, execute: Execute) -> Posting:
        """Return the posting of a phrase. execute: of a connection that reads the state of these rows."""
        stems = phrase.key
        with self._lock:
            if stems in self._kept:
                self._kept.move_to_end(stems)
                return self._kept[stems]
        check()
        found = self._word(stems[0], execute) if len(stems) == 1 else self._several(phrase, execute)
        with self._lock:
            if stems not in self._kept:
                self._kept[stems] = found
                self.nbytes += found.nbytes
                while self.nbytes > self._room and len(self._kept) > 1:
                    self.nbytes -= self._kept.popitem(last=False)[1].nbytes
        return found

    @property
    def is_half_full(self) -> bool:
        """True once postings that are loaded ahead take half of the room."""
        return 2 * self.nbytes >= self._room

    def _word(self, stem: str, execute: Execute) -> Posting:
        joined = execute(_OCCURRENCES, (stem,))[0][0]
        found = np.fromstring(joined or "", dtype=np.int64, sep=",")
        rowids, is_body = found >> 1, found & 1
        first = np.flatnonzero(np.diff(rowids, prepend=-1))
        times = np.diff(first, append=len(rowids))
        body = np.add.reduceat(is_body, first) if len(first) else times
        return self._posting(rowids[first], times - body, body)

    def _several(self, phrase: Phrase, execute: Execute) -> Posting:
        return self._of_counts(phrase_counts(execute, phrase))

    def _of_counts(self, counts: Mapping[int, tuple[int, int]]) -> Posting:
        pairs = np.array(list(counts.values()), dtype=np.int64).reshape(-1, 2)
        return self._posting(np.array(list(counts), dtype=np.int64), pairs[:, 0], pairs[:, 1])

    def _posting(self, rowids: Integers, title: Integers, body: Integers) -> Posting:
        places = self._rows.places(rowids)
        if len(places) > 1 and bool((np.diff(places) < 0).any()):
            order = np.argsort(places)
            places, title, body = places[order], title[order], body[order]
        small = np.min_scalar_type(int(max(title.max(initial=0), body.max(initial=0))))
        return Posting(places, title.astype(small) if title.any() else None, body.astype(small))


_BEHIND_ALL = b"\xff"
"""A byte that UTF-8 does not use; it sorts after every continuation of a prefix."""


class TermFrequencies:
    """All terms of one state of a store, in ascending order, stored compactly."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._ends = array("i")
        self._lengths = array("i")
        self._frequencies = array("i")

    def put(self, terms: Sequence[tuple[str, int]]) -> None:
        """Append the next terms."""
        encoded = [term.encode() for term, _ in terms]
        self._ends.extend(accumulate(map(len, encoded[1:]), initial=len(self._text) + len(encoded[0])))
        self._text += b"".join(encoded)
        self._lengths.extend([len(term) for term, _ in terms])
        self._frequencies.extend([df for _, df in terms])

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        numbers = (self._ends, self._lengths, self._frequencies)
        return len(self._text) + sum(each.itemsize * len(each) for each in numbers)

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return for each of these terms the number of rows that contain it, if there are any."""
        found: dict[str, int] = {}
        for term in terms:
            wanted = term.encode()
            at = bisect_left(range(len(self._ends)), wanted, key=self._term)
            if at < len(self._ends) and self._term(at) == wanted:
                found[term] = self._frequencies[at]
        return found

    def beginning(self, letters: Sequence[str], shortest: int, longest: int) -> dict[str, int]:
        """Return term to number of rows, for terms of these lengths in code points that start with one of these
        letters."""
        lengths, every = np.frombuffer(self._lengths, dtype=np.intc), range(len(self._ends))
        found: dict[str, int] = {}
        for letter in letters:
            first = bisect_left(every, letter.encode(), key=self._term)
            stop = bisect_left(every, letter.encode() + _BEHIND_ALL, key=self._term)
            of_letter = lengths[first:stop]
            if not len(of_letter):
                continue
            text = self._text[self._ends[first - 1] if first else 0 : self._ends[stop - 1]].decode()
            ends, chosen = np.cumsum(of_letter), np.flatnonzero((of_letter >= shortest) & (of_letter <= longest))
            starts = (ends - of_letter)[chosen].tolist()
            terms = [text[start:end] for start, end in zip(starts, ends[chosen].tolist(), strict=True)]
            frequencies = np.frombuffer(self._frequencies, dtype=np.intc)[first:stop][chosen].tolist()
            found.update(zip(terms, frequencies, strict=True))
        return found

    def _term(self, at: int) -> bytes:
        return bytes(self._text[self._ends[at - 1] if at else 0 : self._ends[at]])


_ROWS = 200
_WORDS = ("ant", "bee", "cat", "dog", "elk", "fox")
_WEIGHTS = (3.0, 1.7)

_TABLES = f"""
CREATE VIRTUAL TABLE chunk_fts USING fts5(title, body, tokenize='{PORTER}');
CREATE VIRTUAL TABLE chunk_instance USING fts5vocab(chunk_fts, instance);
"""
_KEYS = "SELECT id, id, '', id, 0 FROM chunk_fts_docsize ORDER BY id"
_SCORES = "SELECT rowid, -bm25(chunk_fts, ?, 1.0) FROM chunk_fts WHERE chunk_fts MATCH ? ORDER BY rowid"


@cache
def is_that_of_fts5() -> bool:
    """Return True if this module scores some invented rows exactly like FTS5.

    A compiler may fuse a product and a sum and round only once.
    """
    db = apsw.Connection(":memory:")
    db.execute(_TABLES)
    random = Random(0)  # noqa: S311 - rows to score
    for _ in range(_ROWS):
        title, body = (" ".join(random.choices(_WORDS, k=random.randint(1, most))) for most in (5, 60))
        db.execute("INSERT INTO chunk_fts(title, body) VALUES(?, ?)", (title, body))

    execute = execute_on(db)
    rows = LiveRows()
    for _ in rows.read(db.execute(_KEYS), read_sizes(db)):
        pass
    postings = Postings(rows, 1 << 20)
    query = LiteralQuery("", tuple(Phrase(word, (word,), (word,)) for word in _WORDS))
    held = {each.key: postings.of(each, execute) for each in query.phrases}
    words = WordSearch(rows, query, held, {})
    for weight in _WEIGHTS:
        found = words.all(None, weight)
        ours = list(zip(rows.keys.rowids[found.places].tolist(), found.raws.tolist(), strict=True))
        if ours != execute(_SCORES, (weight, " OR ".join(_WORDS))):
            return False
    return True
