"""Weights of words, and lexical scores from occurrences: FTS5's own formula, and BM25F."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from math import log
from operator import add
from typing import TYPE_CHECKING, TypeVar

from recall_core._lazy import np
from recall_core.config import BM25_K1, Config
from recall_core.deadline import check
from recall_core.types import Occurrences, Phrase, TermStat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]

Number = TypeVar("Number", float, "Column")

IDF_FLOOR = 1e-6  # FTS5's floor for a term in half the rows or more (sqlite fts5_aux.c)

FTS5_B = 0.75  # fixed in FTS5's bm25()

_PLAIN_COUNTS = 500  # below this, plain Python is faster than filling arrays

_PLAIN_COUNTS_COLD = 100_000  # below this, plain Python is faster than importing NumPy


def idf(df: int, rows: int) -> float:
    """Return FTS5's inverse document frequency, ln((N - df + .5) / (df + .5)), floored; 0 for an unknown term."""
    if df == 0:
        return 0.0
    value = log((rows - df + 0.5) / (df + 0.5))
    return value if value > 0 else IDF_FLOOR


def weigh(phrase: Phrase, df: int, dfs: Mapping[str, int], rows: int) -> TermStat:
    """Return the weight of a phrase with this document frequency; 0 if df is 0.

    Several words weigh the sum of their idf, as in Lucene. By its own df, a phrase would weigh no more than one rare
    word, regardless of its length. Words typed in one piece weigh at least the idf of the phrase.

    dfs: document frequencies of the phrase's terms, used for several; unknown terms are left out.
    """
    own = idf(df, rows)
    words = 1 if phrase.any_of and not phrase.is_joined else len(phrase.terms)
    if words > 1 and df:
        of_words = reduce(add, (idf(dfs.get(term, 0), rows) for term in phrase.terms), 0.0)
        own = max(own, of_words) if phrase.is_joined else of_words
    return TermStat(phrase.text, df, own if phrase.share == 1 else own * phrase.share, words)


def bound(terms: Iterable[TermStat], config: Config) -> float:
    """Return the upper bound of a score: (k1 + 1) times the sum of idf over all phrases, by config.lexical_model.

    1 for ts_rank, whose scores are below 1.
    """
    if config.lexical_model == "ts_rank":
        return 1.0
    k1 = config.bm25_k1 if config.lexical_model == "bm25f" else BM25_K1
    return (k1 + 1) * reduce(add, (term.idf for term in terms), 0.0)


def contributions(found: Occurrences, rowid: int, config: Config) -> list[float]:
    """Return each phrase's contribution to a row's score, in query order; 0 if the row does not contain it.

    The formula depends on config.lexical_model, with idf from `Occurrences.phrases` and w the title's weight, 1 for
    body:
    fts5: idf * f * 2.2 / (f + 1.2 * (.25 + .75 * length / average length)), where f = sum of w * tf over the two
    columns, and length is the length of both together (sqlite fts5_aux.c).
    bm25f: idf * (k1 + 1) * f / (f + k1), where f = sum of w * tf / (1 - b + b * length / average length), each column
    by its own length (Robertson and Zaragoza 2009).
    `scores` adds the contributions from left to right.
    """
    given = [counts.get(rowid) for counts in found.counts]
    lengths = found.lengths[rowid] if any(given) else (0, 0)
    return [
        0.0 if tf is None else contribution(found.averages, phrase.idf, tf, lengths, config)
        for phrase, tf in zip(found.phrases, given, strict=True)
    ]


def scores(found: Occurrences, rowids: Sequence[int], config: Config) -> list[float]:
    """Return the scores of these rows, in their order: the sum of `contributions`, to the last bit."""
    work = sum(map(len, found.counts))
    is_small = work < (_PLAIN_COUNTS if "numpy" in sys.modules else _PLAIN_COUNTS_COLD)
    return (plain if is_small else score_columns)(found, rowids, config)


def plain(found: Occurrences, rowids: Sequence[int], config: Config) -> list[float]:
    """Compute `scores` row by row."""
    totals = dict.fromkeys(rowids, 0.0)
    for phrase, counts in zip(found.phrases, found.counts, strict=True):
        check()
        for rowid, tf in counts.items():
            if rowid in totals:
                totals[rowid] += contribution(found.averages, phrase.idf, tf, found.lengths[rowid], config)
    return [totals[rowid] for rowid in rowids]


def score_columns(found: Occurrences, rowids: Sequence[int], config: Config) -> list[float]:
    """Compute `scores` phrase by phrase. Equal operations in equal order give equal bits."""
    places = {rowid: place for place, rowid in enumerate(rowids)}
    lengths = np.array([found.lengths.get(rowid, (0, 0)) for rowid in rowids], dtype=np.float64).reshape(-1, 2)
    totals = np.zeros(len(rowids))
    for phrase, counts in zip(found.phrases, found.counts, strict=True):
        check()
        held = counts if counts.keys() <= places.keys() else {row: counts[row] for row in counts if row in places}
        if held:
            at = np.fromiter(map(places.__getitem__, held), dtype=np.intp, count=len(held))
            tf = np.array(list(held.values()), dtype=np.float64)
            sizes = lengths[at]
            pairs = (tf[:, 0], tf[:, 1]), (sizes[:, 0], sizes[:, 1])
            totals[at] += contribution(found.averages, phrase.idf, *pairs, config)
    values: list[float] = totals.tolist()
    return values


def contribution(
    averages: tuple[float, float],
    idf: float,
    tf: tuple[Number, Number],
    lengths: tuple[Number, Number],
    config: Config,
) -> Number:
    """Return a phrase's contribution to one row's score, or to a column of scores; see `contributions`."""
    if config.lexical_model == "bm25f":
        k1, b = config.bm25_k1, config.bm25_b
        title = _saturate(tf[0], lengths[0], averages[0], b)
        frequency = config.title_weight * title + _saturate(tf[1], lengths[1], averages[1], b)
        value: Number = idf * ((k1 + 1) * frequency / (frequency + k1 + (frequency == 0)))
        return value
    frequency = config.title_weight * tf[0] + tf[1]
    length = (lengths[0] + lengths[1]) / (averages[0] + averages[1])
    held = BM25_K1 * (1 - FTS5_B + FTS5_B * length)
    return idf * ((BM25_K1 + 1) * frequency / (frequency + held))


def _saturate(tf: Number, length: Number, average: float, b: float) -> Number:
    """Return a term frequency normalized by the length of its column; 0 stays 0, even if the norm is 0."""
    if average == 0:
        return tf
    value: Number = tf / (1 - b + b * length / average + (tf == 0))
    return value
