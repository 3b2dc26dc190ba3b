"""Lexical scores from postings: FTS5's own formula in its own order of operations, and `rank.bm25` of phrases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, NamedTuple

from recall_core._lazy import np
from recall_core.config import BM25_K1, Config
from recall_core.deadline import check
from recall_core.rank import bm25
from recall_core.rank.bm25 import idf, phrase_idf
from recall_core.store.sqlite.memory.matrix import kth_best, places_at_least
from recall_core.types import LiteralQuery, Occurrences, TermStat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recall_core.store.sqlite.lexical import Stems
    from recall_core.store.sqlite.memory.postings import Posting
    from recall_core.store.sqlite.memory.rows import LiveRows, Places

_FEW = 8  # one row in so many, or fewer, are looked up in postings; more are taken out of the sums of all rows
_EXACT = 2.0**20  # a weight of so many parts gives exact sums, in whatever order


class Matches(NamedTuple):
    """LiveRows by place, and the raw BM25 of each."""

    places: Places
    raws: NDArray[np.float64]


class WordSearch:
    """One literal query over the rows of a store.

    stems: of each of its phrases. postings: by these. dfs: of the words of phrases of several, by token.
    """

    def __init__(
        self,
        rows: LiveRows,
        query: LiteralQuery,
        stems: Sequence[Stems],
        postings: Mapping[Stems, Posting],
        dfs: Mapping[str, int],
    ) -> None:
        self.query = query
        self._rows = rows
        self._stems = stems
        self._postings = postings
        self._dfs = dfs
        self._last: tuple[object, tuple[NDArray[np.float64], NDArray[np.int32]]] | None = None

    @property
    def terms(self) -> tuple[TermStat, ...]:
        """See `Search.term_stats`."""
        rows = len(self._rows)
        stats = []
        for phrase, stems in zip(self.query.phrases, self._stems, strict=True):
            df = self._df(stems)
            of_words = [df] if len(phrase.tokens) == 1 else [self._dfs[token] for token in phrase.tokens]
            stats.append(TermStat(phrase.text, df, phrase_idf(df, of_words, rows), len(of_words)))
        return tuple(stats)

    def _df(self, stems: Stems) -> int:
        return len(self._postings[stems].places)

    def all(self, among: Places | None, title_weight: float) -> Matches:
        """Every row that matches, among these where they are given, in natural order."""
        found = self._matching(self._stems, among, title_weight)
        return self._rescored(found, title_weight) if self.query.long_phrases else found

    def best(self, k: int, among: Places | None, title_weight: float) -> Matches:
        """The k best, best first, ties in natural order; see `Search.lexical` for phrases of several words."""
        matching = self._matching(self._stems, among, title_weight)
        if not self.query.long_phrases:
            return _best(matching, k)
        holding = self._holding(matching, k, among, title_weight)

        near = _best(matching, k + len(holding)).places
        both = np.union1d(near, holding).astype(np.int32)
        ranked = _sorted(self._rescored(Matches(both, np.zeros(len(both))), title_weight))
        kept = np.isin(ranked.places, holding)
        kept[:k] = True
        return Matches(ranked.places[kept], ranked.raws[kept])

    def scores(
        self, *, k: int | None, among: Places | None, title_weight: float, also: Sequence[int]
    ) -> Mapping[int, float]:
        """See `Search.lexical`."""
        if k is None:
            return self._rows.scores(*self.all(among, title_weight))
        best = dict(self._rows.scores(*self.best(k, among, title_weight), is_natural=False)) if k > 0 else {}
        left = [rowid for rowid in also if rowid not in best]
        return best | dict(self.scores_of(left, title_weight=title_weight)) if left else best

    def scores_of(self, rowids: Sequence[int], *, title_weight: float) -> Mapping[int, float]:
        """See `Search.lexical_scores`."""
        return self._rows.scores(*self.all(self._rows.natural(rowids), title_weight))

    def occurrences(self, rowids: Sequence[int] | None) -> Occurrences:
        """See `Search.occurrences`."""

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

    def _holding(self, matching: Matches, k: int, among: Places | None, title_weight: float) -> Places:
        """At most k rows that match and hold a phrase of several words: the rarest first, its best rows first."""

        if self.query.match == "all":
            return _best(matching, k).places
        held = np.empty(0, dtype=np.int32)
        phrases = zip(self.query.phrases, self._stems, strict=True)
        long = dict.fromkeys(stems for phrase, stems in phrases if len(phrase.tokens) > 1)
        for stems in sorted(long, key=self._df):
            best = _best(self._matching([stems], among, title_weight), k).places
            held = np.concatenate([held, best[~np.isin(best, held)][: k - len(held)]])
        return held

    def _matching(self, phrases: Sequence[Stems], among: Places | None, title_weight: float) -> Matches:
        """The rows that match, in natural order, by FTS5's bm25() (sqlite fts5_aux.c), operation by operation."""
        least = len(phrases) if self.query.match == "all" else 1
        if among is not None and len(among) < len(self._rows) // _FEW:
            totals, holds = self._of_few(phrases, among, title_weight)
            chosen = places_at_least(holds, least)
            return Matches(among[chosen], totals[chosen])
        totals, holds = self._added_up(tuple(phrases), title_weight)
        places = places_at_least(holds, least) if among is None else among[holds[among] >= least]
        return Matches(places, totals[places])

    def _of_few(
        self, phrases: Sequence[Stems], among: Places, title_weight: float
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """For each of these rows its score, and how many of the phrases it holds."""

        totals = np.zeros(len(among))
        holds = np.zeros(len(among), dtype=np.int32)
        for stems in phrases:
            check()
            posting = self._postings[stems]
            if len(posting.places):
                at = posting.places.searchsorted(among)
                own = np.flatnonzero(posting.places.take(at, mode="clip") == among)
                totals[own] += self._gives(posting.at(at[own]), len(posting.places), title_weight)
                holds[own] += 1
        return totals, holds

    def _gives(self, found: Posting, df: int, title_weight: float) -> NDArray[np.float64]:
        """What a phrase that df rows hold gives to each of these."""
        held, times = self._rows.held[found.places], _frequencies(found, title_weight)
        given: NDArray[np.float64] = idf(df, len(self._rows)) * (times * (BM25_K1 + 1.0) / (times + held))
        return given

    def _added_up(
        self, phrases: tuple[Stems, ...], title_weight: float
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """For every row its score, and how many of the phrases it holds; that of the whole query is kept."""

        if self._last is not None and self._last[0] == (phrases, title_weight):
            return self._last[1]
        rows = self._rows
        totals = np.zeros(len(rows))
        holds = np.zeros(len(rows), dtype=np.int32)
        for stems in phrases:
            check()
            found = self._postings[stems]
            if len(found.places):
                totals[found.places] += self._gives(found, len(found.places), title_weight)
                holds[found.places] += 1
        if phrases == tuple(self._stems):
            self._last = (phrases, title_weight), (totals, holds)
        return totals, holds

    def _rescored(self, found: Matches, title_weight: float) -> Matches:
        """The same rows by the formula of `rank.bm25`, which weighs a phrase by its words."""

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
    """The title's weight for each place there and 1 for each of the body, added one by one as FTS5 does."""

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
    """The k best, best first; ties in natural order, in which they are given."""
    if k <= 0:
        return Matches(found.places[:0], found.raws[:0])
    if len(found.places) > k:
        chosen = places_at_least(found.raws, kth_best(found.raws, k))
        found = Matches(found.places[chosen], found.raws[chosen])
    ranked = _sorted(found)
    return Matches(ranked.places[:k], ranked.raws[:k])


def _sorted(found: Matches) -> Matches:
    order = (-found.raws).argsort(kind="stable")
    return Matches(found.places[order], found.raws[order])
