"""Full text: literal queries in FTS5 syntax, document frequencies, BM25 of rows, and places of words in a text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

import apsw

from recall_core.deadline import check
from recall_core.errors import StoreError
from recall_core.rank.bm25 import weigh
from recall_core.rql.ast import Expr
from recall_core.store.sqlite.compile import Compiled, compile_filter
from recall_core.store.sqlite.records import Execute
from recall_core.types import LexicalQuery, Phrase, RawQuery, TermStat

Each = TypeVar("Each")


Stems = tuple[str, ...]

OfStems = Callable[[Iterable[str]], dict[str, int]]
"""Returns for each of these stems the number of rows that contain it, if there are any."""


def phrase_stat(execute: Execute, phrase: Phrase, df: int, rows: int) -> TermStat:
    """Return the weight of a phrase. df: number of rows with the phrase, of `rows`."""
    check()
    dfs = stem_frequencies(execute, phrase.terms) if len(phrase.terms) > 1 else {}
    return weigh(phrase, df, dfs, rows)


def expression(query: LexicalQuery) -> str:
    """Return the query in FTS5 syntax, "" if nothing can match. In a very long OR, equal alternatives appear once."""
    if isinstance(query, RawQuery):
        return " OR ".join(dict.fromkeys(alternatives(query))) or query.text
    return (" OR " if query.match == "any" else " AND ").join(quote(phrase) for phrase in query.phrases)


AT_ONCE = 100
"""FTS5's time grows with the square of the number of phrases; up to this many it is short."""

_BARE = r"[A-Za-z0-9_\x1a\x80-\U0010ffff]"
_SPACE = r"[ \t\n\r]*+"
_PHRASE = rf'(?:"(?:[^"\0]|"")*+"|(?!(?:AND|OR|NOT)(?!{_BARE})){_BARE}++)(?:{_SPACE}\*)?'
_PHRASES = rf"(?:\^{_SPACE})?{_PHRASE}(?:{_SPACE}\+{_SPACE}{_PHRASE})*"
_ALTERNATIVE = rf"{_SPACE}({_PHRASES}){_SPACE}(?:OR(?!{_BARE})|(\Z))"


@lru_cache(maxsize=2)  # a search asks several times for the alternatives of its query
def alternatives(query: RawQuery) -> tuple[str, ...]:
    """Return the phrases of an expression that joins more than 100 by OR and nothing else, as written.

    Return () for any other expression. A row's score is the sum of the scores of these phrases.
    """
    found: list[str] = []
    at, is_whole = 0, False
    if query.text.count("OR") < AT_ONCE:
        return ()
    pattern = re.compile(_ALTERNATIVE)
    while not is_whole:
        alternative = pattern.match(query.text, at)
        if alternative is None:
            return ()
        found.append(alternative[1])
        at, is_whole = alternative.end(), alternative[2] is not None
    return tuple(found) if len(found) > AT_ONCE else ()


def quote(phrase: Phrase) -> str:
    """Return the phrase in FTS5 syntax. No token of the index contains a double quote."""
    return '"' + " ".join(phrase.indexed or phrase.tokens) + '"'


def frequencies(
    execute: Execute,
    phrases: Sequence[Phrase],
    of_stems: OfStems | None = None,
) -> dict[Stems, int]:
    """Return terms of each phrase to the number of rows with the phrase. One statement looks up all single words.

    of_stems: counts rows of stems without a statement.
    """
    words = [phrase.terms[0] for phrase in phrases if len(phrase.key) == 1]
    held: dict[str, int] = {}
    if words:
        held = of_stems(words) if of_stems else stem_frequencies(execute, words)
    counted: dict[Stems, int] = {}
    for phrase in phrases:
        if len(phrase.key) == 1:
            counted[phrase.key] = held.get(phrase.terms[0], 0)
        elif phrase.any_of:
            counted[phrase.key] = len(phrase_counts(execute, phrase))
        elif phrase.key not in counted:
            sql = "SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH ?"
            counted[phrase.key] = int(execute(sql, (quote(phrase),))[0][0])
    return counted


Counts = dict[int, tuple[int, int]]
"""rowid to two numbers: for the title and for the body."""

_WORDS = """
SELECT doc, sum(col = 'title'), sum(col = 'body') FROM chunk_instance
WHERE term IN (SELECT value FROM json_each(?)) GROUP BY doc
"""
MATCHING = "SELECT rowid, recall_occurrences(chunk_fts) FROM chunk_fts WHERE chunk_fts MATCH ?"


def phrase_counts(execute: Execute, phrase: Phrase) -> Counts:
    """Return rowid to counts of a phrase in title and body, for every row that contains it."""
    each = phrase.any_of or (phrase,)
    words = [one.terms[0] for one in each if len(one.terms) == 1]
    # A single word has postings; FTS5 combines those of several words.
    counts: Counts = (
        {row: (title, body) for row, title, body in execute(_WORDS, (json.dumps(words),))} if words else {}
    )
    for one in each:
        if len(one.terms) > 1:
            for row, found in execute(MATCHING, (quote(one),)):
                ((title, body),) = json.loads(found)
                before = counts.get(row, (0, 0))
                counts[row] = before[0] + title, before[1] + body
    return {row: (title, 0) for row, (title, _) in counts.items() if title} if phrase.in_title else counts


def stem_frequencies(execute: Execute, stems: Iterable[str]) -> dict[str, int]:
    """Return for each of these stems the number of rows that contain it, if there are any."""
    return dict(execute(_FREQUENCIES, (json.dumps(sorted(set(stems))),)))


_FREQUENCIES = "SELECT term, doc FROM chunk_vocab WHERE term IN (SELECT value FROM json_each(?))"


def raw_frequencies(execute: Execute, query: RawQuery) -> list[tuple[str, int]]:
    """Return each phrase of a raw FTS5 expression with its document frequency."""
    sql = "SELECT recall_phrases(chunk_fts) FROM chunk_fts WHERE chunk_fts MATCH ? LIMIT 1"
    found = execute(sql, (expression(query),))
    frequencies = [(text, df) for text, df in json.loads(found[0][0])] if found else []
    return repeat_for_phrases(query, frequencies) if frequencies else []


def repeat_for_phrases(query: LexicalQuery, found: Sequence[Each]) -> list[Each]:
    """Return one result for each phrase of the query. found: one result for each phrase of its `expression`."""
    written = alternatives(query) if isinstance(query, RawQuery) else ()
    if not written:
        return list(found)
    of_phrase = dict(zip(dict.fromkeys(written), found, strict=True))
    return [of_phrase[phrase] for phrase in written]


def count_rows_of_phrases(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    """Return each phrase of the expression with the number of rows that contain it, as JSON."""
    frequencies = []
    for number, phrase in enumerate(api.phrases):
        rows: list[int] = []
        api.query_phrase(number, lambda _api, seen: seen.append(1), rows)
        frequencies.append((" ".join(token or "" for token in phrase), len(rows)))
    return json.dumps(frequencies)


def check_syntax(execute: Execute, match: str) -> str | None:
    """Return None if FTS5 accepts the expression, else its error."""
    try:
        execute("SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ? LIMIT 0", (match,))
        execute("SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ? LIMIT 1", (match,))
    except StoreError as error:
        if isinstance(error.__cause__, apsw.SQLError):
            return str(error.__cause__)
        raise
    return None


def scores(
    execute: Execute,
    match: str,
    *,
    where: Expr | None,
    k: int | None,
    title_weight: float,
    also: Sequence[int] = (),
) -> dict[int, float]:
    """Return rowid to raw BM25 >= 0 of the rows that match and pass.

    With k, the k best come first, ties in natural order, followed by the matching rows of `also`.
    """
    if not match or (k == 0 and not also):
        return {}
    passing = Compiled("1") if where is None else compile_filter(where, table="chunk")
    joined = "" if where is None else "JOIN chunk c ON c.rowid = f.rowid JOIN doc d ON d.rowid = c.doc"
    found = (
        f"SELECT f.rowid AS row, -bm25(chunk_fts, ?, 1.0) AS raw FROM chunk_fts f {joined} "
        f"WHERE chunk_fts MATCH ? AND ({passing.sql})"
    )
    parameters = (title_weight, match, *passing.params)
    if k is None:
        return {rowid: abs(raw) for rowid, raw in execute(found, parameters)}
    rows = execute(_BEST.format(found), (*parameters, k, json.dumps(list(also)), k))
    return {rowid: abs(raw) for rowid, raw in rows}


_BEST = """
WITH found AS MATERIALIZED ({}),
     last AS MATERIALIZED (SELECT raw FROM found ORDER BY raw DESC LIMIT 1 OFFSET max(?, 1) - 1),
     asked AS MATERIALIZED (SELECT value AS row FROM json_each(?)),
     near AS MATERIALIZED (SELECT row, raw FROM found WHERE raw >= coalesce((SELECT raw FROM last), 0)),
     best AS MATERIALIZED (
       SELECT near.row AS row, near.raw AS raw FROM near CROSS JOIN chunk c ON c.rowid = near.row
       CROSS JOIN doc d ON d.rowid = c.doc ORDER BY near.raw DESC, d.path, c.offset LIMIT ?)
SELECT row, raw FROM best
UNION ALL
SELECT row, raw FROM found WHERE row IN (SELECT row FROM asked) AND row NOT IN (SELECT row FROM best)
"""
"""Only rows that may be listed are joined to other tables, because ties are ordered by path."""


def scores_of(execute: Execute, match: str, rowids: Sequence[int], *, title_weight: float) -> dict[int, float]:
    """Return rowid to raw BM25 of the matching rows among these."""
    if not match or not rowids:
        return {}
    # The plus keeps SQLite from querying FTS5 for each row, which would count every term again each time.
    found = execute(
        "SELECT rowid, -bm25(chunk_fts, ?, 1.0) FROM chunk_fts "
        "WHERE chunk_fts MATCH ? AND +rowid IN (SELECT value FROM json_each(?))",
        (title_weight, match, json.dumps(list(rowids))),
    )
    return {rowid: abs(raw) for rowid, raw in found}
