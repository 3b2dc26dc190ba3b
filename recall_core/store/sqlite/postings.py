"""Occurrences of each phrase of a query in the index, and scores of phrases and of very long queries."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from weakref import ref

import apsw

from recall_core.config import BM25_K1, Config
from recall_core.deadline import check
from recall_core.rank import bm25
from recall_core.rank.bm25 import FTS5_B, idf
from recall_core.rql.ast import Expr
from recall_core.store.port import Instance
from recall_core.store.sqlite.compile import Compiled, compile_filter
from recall_core.store.sqlite.lexical import (
    AT_ONCE,
    MATCHING,
    Counts,
    OfStems,
    Stems,
    alternatives,
    count_rows_of_phrases,
    expression,
    frequencies,
    phrase_counts,
    phrase_stat,
    quote,
    repeat_for_phrases,
    scores,
    scores_of,
    stem_frequencies,
)
from recall_core.store.sqlite.records import Execute, stored_analyzer
from recall_core.types import LexicalQuery, LiteralQuery, Occurrences, Phrase, RawQuery, Row, TermStat
from recall_core.words.analyzer import Analyzer


def register(db: apsw.Connection) -> None:
    """Register the functions that full-text statements call."""
    db.register_fts5_function("recall_phrases", count_rows_of_phrases)
    db.register_fts5_function("recall_occurrences", _count_occurrences)
    db.register_fts5_function("recall_counted", _count_in_row)
    db.register_fts5_function("recall_instances", _locate)
    db.create_scalar_function("recall_tokens", _tokens_of, 1, deterministic=True)
    held = ref(db)  # a connection that refers to itself is never freed

    def phrase_of(*texts: Any) -> str:
        connection = held()
        assert connection is not None  # noqa: S101 - it runs the statement
        phrase = stored_analyzer(lambda sql, values=(): connection.execute(sql, values).fetchall()).phrase(*texts)
        return quote(phrase) if phrase else '""'

    db.create_scalar_function("recall_phrase", phrase_of, 1, deterministic=True)


_LOOK_UP = 40  # posting entries read in the time in which FTS5 finds one row among them

_AMONG = " AND rowid IN (SELECT value FROM json_each(?))"

_SIZES = "SELECT id, sz FROM chunk_fts_docsize"
_SIZES_OF = f"{_SIZES} WHERE id IN (SELECT value FROM json_each(?))"


def occurrences(
    execute: Execute,
    query: LiteralQuery,
    rowids: Sequence[int] | None,
    of_stems: OfStems | None = None,
) -> Occurrences:
    """Return occurrences; see store.port.Search. of_stems: see `lexical.frequencies`."""
    rows, totals = index_totals(execute)
    dfs = frequencies(execute, query.phrases, of_stems)
    phrases = {phrase.key: phrase for phrase in query.phrases}
    is_united = any(phrase.any_of for phrase in query.phrases)
    if rowids is not None and not is_united and _LOOK_UP * len(rowids) < sum(dfs.values()):
        counts = _in_rows(execute, list(phrases.values()), rowids)
    else:
        wanted = None if rowids is None else frozenset(rowids)
        counts = {}
        for key, phrase in phrases.items():
            counts[key] = phrase_counts(execute, phrase)
            if wanted is not None:
                counts[key] = {rowid: found for rowid, found in counts[key].items() if rowid in wanted}
    return Occurrences(
        phrases=tuple(phrase_stat(execute, phrase, dfs[phrase.key], rows) for phrase in query.phrases),
        counts=tuple(counts[phrase.key] for phrase in query.phrases),
        lengths=lengths(execute, sorted(set().union(*counts.values()))),
        averages=(totals[0] / rows, totals[1] / rows) if rows else (0.0, 0.0),
        rows=rows,
    )


def lengths(execute: Execute, rowids: Sequence[int]) -> Counts:
    """Return rowid to the number of its tokens in title and body."""
    return {rowid: pair(size) for rowid, size in execute(_SIZES_OF, (json.dumps(list(rowids)),))}


def read_sizes(db: apsw.Connection) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield every row of the index with the number of its tokens in title and body."""
    return ((rowid, pair(size)) for rowid, size in db.execute(_SIZES))


def index_totals(execute: Execute) -> tuple[int, tuple[int, int]]:
    """Return the number of rows in the index, and their tokens in title and body, from FTS5's averages record."""
    (record,) = execute("SELECT block FROM chunk_fts_data WHERE id = 1")[0]
    rows, *totals = _varints(record) or [0, 0, 0]
    return rows, _two(totals)


def _in_rows(execute: Execute, phrases: Sequence[Phrase], rowids: Sequence[int]) -> dict[Stems, Counts]:
    """Return every phrase in these rows, in one pass over the rows with any of them."""
    counts: dict[Stems, Counts] = {phrase.terms: {} for phrase in phrases}
    if not phrases or not rowids:
        return counts
    anywhere = " OR ".join(quote(phrase) for phrase in phrases)
    for rowid, found in execute(MATCHING + _AMONG, (anywhere, json.dumps(list(rowids)))):
        for phrase, (title, body) in zip(phrases, json.loads(found), strict=True):
            if title or body:
                counts[phrase.terms][rowid] = (title, body)
    return counts


def _count_occurrences(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    """Return for each phrase of the expression how often it occurs in the current row's title and body."""
    places = map(api.phrase_locations, range(api.phrase_count))
    return json.dumps([[len(column) for column in columns] for columns in places])


@lru_cache(maxsize=4096)
def pair(packed: bytes) -> tuple[int, int]:
    """Return two packed numbers. Cached, because many rows have equal lengths."""
    return _two(_varints(packed))


def _two(numbers: Sequence[int]) -> tuple[int, int]:
    title, body = numbers
    return title, body


def _varints(packed: bytes) -> list[int]:
    """Decode SQLite's varints: seven bits a byte, the highest first, the last byte below 128.

    A ninth byte, which would carry eight bits, occurs only in numbers above 2^56 and never here.
    """
    numbers = [0]
    for byte in packed:
        numbers[-1] = numbers[-1] << 7 | byte & 127
        if byte < 128:
            numbers.append(0)
    return numbers[:-1]


_COUNTED = "SELECT rowid, recall_counted(chunk_fts) FROM chunk_fts WHERE chunk_fts MATCH ? AND "

_THESE = "rowid IN (SELECT value FROM json_each(?))"

# FTS5 counts a NEAR group under a column filter again in rows after its last match when it walks from row to row, but
# not when it seeks one. Scores are made walking, so their phrases must be counted walking. The plus prevents seeking.
_WALKING = "+" + _THESE


def count_phrases(
    execute: Execute, query: LexicalQuery, terms: Sequence[TermStat], rowids: Sequence[int]
) -> Occurrences:
    """Return each phrase of the expression in these rows, as FTS5's bm25() counts it. Rows that do not match are left
    out.

    Only places count that satisfy the column filter, NEAR, ^ and the operators around a phrase. In a row that
    `a OR (b AND c)` matches by a alone, b counts 0. terms: `term_stats` of the same query, one for each phrase.
    """
    if isinstance(query, LiteralQuery) and query.is_weighed:
        return of_matching(occurrences(execute, query, rowids), query)
    sql = _COUNTED + (_WALKING if isinstance(query, RawQuery) else _THESE)
    found = [] if query.is_empty or not rowids else execute(sql, (expression(query), json.dumps(list(rowids))))
    counts: list[dict[int, tuple[int, int]]] = []
    lengths: dict[int, tuple[int, int]] = {}
    rows, totals = 0, (0, 0)
    for rowid, packed in found:
        places, length, total, rows = json.loads(packed)
        lengths[rowid], totals = (length[0], length[1]), (total[0], total[1])
        counts = counts or [{} for _ in places]
        for phrase, (title, body) in zip(counts, places, strict=True):
            if title or body:
                phrase[rowid] = (title, body)
    averages = (totals[0] / rows, totals[1] / rows) if rows else (0.0, 0.0)
    of_terms = repeat_for_phrases(query, counts) if counts else [{} for _ in terms]
    return Occurrences(tuple(terms), tuple(of_terms), lengths, averages, rows)


def of_matching(found: Occurrences, query: LiteralQuery) -> Occurrences:
    """Return the occurrences without those in rows that the query does not match."""
    if query.match == "any":
        return found
    rows = set.intersection(*map(set, found.counts)) if found.counts else set()
    counts = tuple({row: each[row] for row in rows} for each in found.counts)
    return found._replace(counts=counts, lengths={row: found.lengths[row] for row in rows})


def _count_in_row(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    """Return for the current row places and tokens by column, and for the index tokens by column and rows."""
    places = [[len(column) for column in api.phrase_locations(number)] for number in range(api.phrase_count)]
    columns = range(api.column_count)
    sizes = [api.column_size(column) for column in columns], [api.column_total_size(column) for column in columns]
    return json.dumps([places, *sizes, api.row_count])


_NATURAL = """
SELECT c.rowid FROM json_each(?) j JOIN chunk c ON c.rowid = j.value JOIN doc d ON d.rowid = c.doc
ORDER BY d.path, c.offset
"""


class Phrased:
    """Scores of a literal query with phrases of several words: FTS5 finds the rows, `rank.bm25` scores them."""

    def __init__(self, execute: Execute, query: LiteralQuery) -> None:
        self._execute, self._query = execute, query
        self._match = expression(query)

    def scores(
        self, *, where: Expr | None, k: int | None, title_weight: float, also: Sequence[int] = ()
    ) -> dict[int, float]:
        """Return scores like `lexical.scores`. For a bounded list see `Search.lexical`."""
        if k is None:
            matching = scores(self._execute, self._match, where=where, k=None, title_weight=title_weight)
            return self._score(list(matching), title_weight)
        holding = self._rows_with_phrases(where, k, title_weight)
        near = scores(self._execute, self._match, where=where, k=k + len(holding), title_weight=title_weight)
        raws = self._score(list({**near, **holding}), title_weight)
        order = [rowid for (rowid,) in self._execute(_NATURAL, (json.dumps(list(raws)),))]
        order.sort(key=lambda rowid: -raws[rowid])
        best = {rowid: raws[rowid] for place, rowid in enumerate(order) if place < k or rowid in holding}
        left = [rowid for rowid in also if rowid not in best]
        return best | self.scores_of(left, title_weight=title_weight) if left else best

    def scores_of(self, rowids: Sequence[int], *, title_weight: float) -> dict[int, float]:
        """Return scores like `lexical.scores_of`."""
        matching = scores_of(self._execute, self._match, rowids, title_weight=title_weight)
        return self._score(list(matching), title_weight)

    def _rows_with_phrases(self, where: Expr | None, k: int, title_weight: float) -> dict[int, float]:
        """Return at most k matching rows with a phrase of several words: the rarest phrase first, its best rows
        first.

        Rows with only single words rank the same by either weight. So these rows and the k rows that FTS5 proposes
        contain the k best of all, unless more than k rows contain a phrase.
        """
        matches = [self._match]  # a row that matches all of a query contains each of its phrases
        if self._query.match == "any":
            long = {phrase.terms: phrase for phrase in self._query.long_phrases}
            dfs = frequencies(self._execute, list(long.values()))
            matches = [quote(long[terms]) for terms in sorted(long, key=dfs.__getitem__)]
        found: dict[int, float] = {}
        for match in matches:
            for rowid, raw in scores(self._execute, match, where=where, k=k, title_weight=title_weight).items():
                if len(found) < k:
                    found.setdefault(rowid, raw)
        return found

    def _score(self, rowids: Sequence[int], title_weight: float) -> dict[int, float]:
        found = occurrences(self._execute, self._query, rowids)
        values = bm25.scores(found, rowids, Config(title_weight=title_weight))
        return dict(zip(rowids, values, strict=True))


FEW = 1000

"""Up to this many phrases FTS5's own bm25() is as fast; its time grows with their square, this module's does not."""


_HELD = """
WITH wanted(term, weight) AS MATERIALIZED (SELECT value ->> 0, value ->> 1 FROM json_each(?1)),
     norm(row, held) AS MATERIALIZED (
         SELECT id, ?2 * (1 - ?5 + ?5 * recall_tokens(sz) / ?3) FROM chunk_fts_docsize),
     counted(row, weight, frequency) AS (
         SELECT i.doc, w.weight, sum(CASE i.col WHEN 'title' THEN ?4 ELSE 1.0 END)
         FROM wanted w JOIN chunk_instance i ON i.term = w.term GROUP BY w.term, i.doc)
SELECT counted.row, sum(weight * frequency * (?2 + 1) / (frequency + norm.held)) AS raw
FROM counted JOIN norm ON norm.row = counted.row GROUP BY counted.row
"""

"""The formula of rank.bm25 in SQL."""

_CHOSEN = """
SELECT c.rowid, raws.value ->> 1 AS raw FROM json_each(?) raws JOIN chunk c ON c.rowid = raws.value ->> 0
JOIN doc d ON d.rowid = c.doc WHERE ({}) ORDER BY {} LIMIT ?
"""


def is_long(query: LexicalQuery) -> bool:
    """Return True if the query joins more phrases than FTS5 should get at once."""
    if isinstance(query, RawQuery):
        return bool(alternatives(query))
    return query.match == "any" and len(query.phrases) > FEW


def long_scores(
    execute: Execute,
    query: LexicalQuery,
    *,
    where: Expr | None,
    k: int | None,
    title_weight: float,
    also: Sequence[int] = (),
) -> dict[int, float]:
    """Return scores like `lexical.scores`."""
    raws = _raws(execute, query, title_weight)
    if where is None and k is None:
        return dict(sorted(raws.items()))
    passing = Compiled("1") if where is None else compile_filter(where, table="chunk")
    order = "c.rowid" if k is None else "raw DESC, d.path, c.offset"
    given = json.dumps([[rowid, raw] for rowid, raw in raws.items()])
    chosen: dict[int, float] = dict(
        execute(_CHOSEN.format(passing.sql, order), (given, *passing.params, -1 if k is None else k))
    )
    return chosen | {rowid: raws[rowid] for rowid in also if rowid in raws}


def long_scores_of(
    execute: Execute, query: LexicalQuery, rowids: Sequence[int], *, title_weight: float
) -> dict[int, float]:
    """Return scores like `lexical.scores_of`."""
    raws = _raws(execute, query, title_weight) if rowids else {}
    return {rowid: raws[rowid] for rowid in sorted(rowids) if rowid in raws}


_ROUNDING = 1e-9
"""More than the relative rounding error of any score."""


def weighed_scores(
    execute: Execute,
    query: LiteralQuery,
    *,
    where: Expr | None,
    k: int | None,
    title_weight: float,
    also: Sequence[int] = (),
) -> dict[int, float]:
    """Return scores like `lexical.scores`, for phrases with other weights than FTS5's.

    SQL adds in another order than `rank.bm25`, so it only proposes the rows.
    """
    near = long_scores(execute, query, where=where, k=None, title_weight=title_weight)
    if k is None:
        return weighed_scores_of(execute, query, list(near), title_weight=title_weight)
    if len(near) > k > 0:
        least = sorted(near.values(), reverse=True)[k - 1] * (1 - _ROUNDING)
        near = {rowid: raw for rowid, raw in near.items() if raw >= least}
    raws = weighed_scores_of(execute, query, list(near), title_weight=title_weight)
    order = [rowid for (rowid,) in execute(_NATURAL, (json.dumps(list(raws)),))]
    order.sort(key=lambda rowid: -raws[rowid])
    best = {rowid: raws[rowid] for rowid in order[:k]}
    left = [rowid for rowid in also if rowid not in best]
    return best | weighed_scores_of(execute, query, left, title_weight=title_weight)


def weighed_scores_of(
    execute: Execute, query: LiteralQuery, rowids: Sequence[int], *, title_weight: float
) -> dict[int, float]:
    """Return scores like `lexical.scores_of`, for phrases with other weights than FTS5's."""
    found = of_matching(occurrences(execute, query, sorted(rowids)), query)
    matching = [rowid for rowid in sorted(rowids) if rowid in found.lengths]
    values = bm25.scores(found, matching, Config(title_weight=title_weight))
    return dict(zip(matching, values, strict=True))


def _raws(execute: Execute, query: LexicalQuery, title_weight: float) -> dict[int, float]:
    """Return rowid to raw BM25 of every row with a phrase: the sum over phrases, computed in parts."""
    if isinstance(query, RawQuery):
        by_times: dict[int, list[str]] = {}
        for written, times in Counter(alternatives(query)).items():
            by_times.setdefault(times, []).append(written)
        return _add_scores(execute, by_times, {}, title_weight)
    if query.match == "all":
        found = of_matching(occurrences(execute, query, None), query)
        rowids = sorted(found.lengths)
        return dict(zip(rowids, bm25.scores(found, rowids, Config(title_weight=title_weight)), strict=True))
    words = Counter(phrase.terms[0] for phrase in query.phrases if phrase.is_plain)
    return _with_phrases(execute, query, _by_words(execute, words, title_weight), title_weight)


def _with_phrases(
    execute: Execute, query: LiteralQuery, raws: dict[int, float], title_weight: float
) -> dict[int, float]:
    """Return raws plus the scores of phrases of several words, each with the weight of its words."""
    if not query.long_phrases:
        return raws
    found = occurrences(execute, query._replace(phrases=query.long_phrases), None)
    rowids = sorted(set().union(*found.counts))
    values = bm25.scores(found, rowids, Config(title_weight=title_weight))
    return raws | {rowid: raws.get(rowid, 0.0) + value for rowid, value in zip(rowids, values, strict=True)}


def _add_scores(
    execute: Execute, by_times: Mapping[int, Sequence[str]], raws: dict[int, float], title_weight: float
) -> dict[int, float]:
    """Return raws plus the scores of phrases in FTS5 syntax. by_times: phrases by how often each counts."""
    for times, phrases in by_times.items():
        for start in range(0, len(phrases), AT_ONCE):
            some = " OR ".join(phrases[start : start + AT_ONCE])
            for rowid, raw in scores(execute, some, where=None, k=None, title_weight=title_weight).items():
                raws[rowid] = raws.get(rowid, 0.0) + times * raw
    return raws


def _by_words(execute: Execute, words: Counter[str], title_weight: float) -> dict[int, float]:
    """Return rowid to raw BM25 of single words. words: how often each occurs in the query."""
    rows, lengths = index_totals(execute)
    if not rows or not sum(lengths):
        return {}
    dfs = stem_frequencies(execute, words)
    weights = [[word, idf(df, rows) * words[word]] for word, df in dfs.items()]
    return dict(execute(_HELD, (json.dumps(weights), BM25_K1, sum(lengths) / rows, title_weight, FTS5_B)))


def _tokens_of(*sizes: Any) -> int:  # SQLite's arguments have no narrower type
    return sum(sum(pair(size)) for size in sizes)


_FOUND = "SELECT rowid, recall_instances(chunk_fts) FROM chunk_fts WHERE chunk_fts MATCH ? AND "

_HOLDING = "SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ? AND rowid IN (SELECT value FROM json_each(?))"

_Place = tuple[int, int, int, int]
"""Column, first token, number of tokens, and phrase of one occurrence in a row."""


def instances(
    execute: Execute, query: LexicalQuery, terms: Sequence[TermStat], rows: Sequence[Row], analyzer: Analyzer
) -> list[tuple[Instance, ...]]:
    """Return instances; see store.port.Search."""
    if query.is_empty or not rows:
        return [() for _ in rows]
    if isinstance(query, LiteralQuery):
        matching = {row.rowid for row in rows}
        if query.match == "all" and query.is_weighed:
            matching = set(of_matching(occurrences(execute, query, sorted(matching)), query).lengths)
        elif query.match == "all":
            matching = {row for (row,) in execute(_HOLDING, (expression(query), json.dumps(sorted(matching))))}
        return literal_instances(query, rows, matching, analyzer)
    places = _find_places(execute, query, terms, rows)
    return [_in_row(row, sorted(places.get(row.rowid, ())), analyzer) for row in rows]


def literal_instances(
    query: LiteralQuery, rows: Sequence[Row], matching: Collection[int], analyzer: Analyzer
) -> list[tuple[Instance, ...]]:
    """Return the instances of a literal query. matching: the rows that the query matches; others have none."""
    numbers: tuple[dict[Stems, int], dict[Stems, int]] = {}, {}
    for number, phrase in enumerate(query.phrases):
        for each in phrase.any_of or (phrase,):
            for column in numbers[:1] if phrase.in_title else numbers:
                column.setdefault(each.terms, number)
    return [_in_terms(row, numbers, analyzer) if row.rowid in matching else () for row in rows]


def _find_places(
    execute: Execute, query: RawQuery, terms: Sequence[TermStat], rows: Sequence[Row]
) -> Mapping[int, set[_Place]]:
    """Return rowid to the places that FTS5 counts there."""
    found: dict[int, set[_Place]] = {}
    first_of: dict[Hashable, int] = {}
    rowids = json.dumps([row.rowid for row in rows])
    for match, numbers in _groups(query, len(terms)):
        for rowid, packed in execute(_FOUND + _WALKING, (match, rowids)):
            for number, (stems, columns) in zip(numbers, json.loads(packed), strict=True):
                phrase = first_of.setdefault((*stems, terms[number].df), number)
                places = found.setdefault(rowid, set())
                for column, firsts in enumerate(columns):
                    places.update((column, first, len(stems), phrase) for first in firsts)
    return found


def _groups(query: RawQuery, phrases: int) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield expressions small enough for FTS5, each with the numbers of its phrases in the query, in order.

    The query stays in one piece if an operator decides what counts. It is divided if OR alone joins its phrases.
    """
    written = alternatives(query)
    if not written:
        yield expression(query), range(phrases)
        return
    firsts: dict[str, int] = {}
    for number, phrase in enumerate(written):
        firsts.setdefault(phrase, number)
    distinct = list(firsts)
    for start in range(0, len(distinct), AT_ONCE):
        some = distinct[start : start + AT_ONCE]
        yield " OR ".join(some), [firsts[phrase] for phrase in some]


def _locate(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    """Return for each phrase of the expression its tokens, and by column the token positions where it starts."""
    return json.dumps([[stems, api.phrase_locations(number)] for number, stems in enumerate(api.phrases)])


def _in_row(row: Row, places: Sequence[_Place], analyzer: Analyzer) -> tuple[Instance, ...]:
    """Return the instances at these places of one row. places: sorted."""
    check()
    found: list[Instance] = []
    for column, text in enumerate((row.doc.title, row.chunk.text)):
        held = [place for place in places if place[0] == column]
        if held:
            own = analyzer.locate(text)
            found += _span(
                [place for place in held if place[1] + place[2] <= len(own)], own
            )  # names follow the title
    return tuple(found)


def _in_terms(row: Row, phrases: Sequence[Mapping[Stems, int]], analyzer: Analyzer) -> tuple[Instance, ...]:
    """Return the instances in one row of phrases that count wherever their terms occur in the title, or the text."""
    check()
    found: list[Instance] = []
    for column, text in enumerate((row.doc.title, row.chunk.text)):
        by_first: dict[str, list[tuple[Stems, int]]] = {}
        for stems, number in phrases[column].items():
            by_first.setdefault(stems[0], []).append((stems, number))
        terms = analyzer.locate(text)
        own = [term for _, _, term in terms]
        held = [
            (column, first, len(stems), number)
            for first, stem in enumerate(own)
            if stem in by_first
            for stems, number in by_first[stem]
            if len(stems) == 1 or tuple(own[first : first + len(stems)]) == stems
        ]
        held.sort()
        found += _span(held, terms)
    return tuple(found)


def _span(places: Sequence[_Place], terms: Sequence[tuple[int, int, str]]) -> Iterator[Instance]:
    """Yield places in terms as code points of the text."""
    for column, first, size, phrase in places:
        yield Instance(phrase, terms[first][0], terms[first + size - 1][1], in_title=column == 0)
