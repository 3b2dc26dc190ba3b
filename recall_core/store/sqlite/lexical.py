"""Full text: literal queries in FTS5 syntax, document frequencies, BM25 of rows, and places of words in a text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import apsw

from recall_core.deadline import check
from recall_core.errors import StoreError
from recall_core.rank.bm25 import phrase_idf
from recall_core.rql.ast import Expr
from recall_core.store.sqlite.compile import Compiled, compile_filter
from recall_core.store.sqlite.records import Execute
from recall_core.store.sqlite.schema import TOKENIZER
from recall_core.text import space_cjk
from recall_core.types import LexicalQuery, LiteralQuery, Phrase, RawQuery, TermStat

Each = TypeVar("Each")


_DOCUMENT = apsw.FTS5_TOKENIZE_DOCUMENT
_TOKENIZERS = apsw.Connection(":memory:")
"""A separate connection for tokenizers, because the store's may be in use."""
_FOLDING: Any = _TOKENIZERS.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])
_STEMMING: Any = _TOKENIZERS.fts5_tokenizer(TOKENIZER.split()[0], TOKENIZER.split()[1:])


def fold_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of the text as unicode61 folds them: lower case, without diacritics, before stemming."""
    return tuple(_FOLDING(text.encode(), _DOCUMENT, None, include_offsets=False, include_colocated=False))


def stem_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of the text as the index stores them."""
    check()
    return tuple(_STEMMING(text.encode(), _DOCUMENT, None, include_offsets=False, include_colocated=False))


def place_tokens(content: bytes) -> list[tuple[int, int, str]]:
    """Return the tokens of a text as the index stores them, each with its first byte and the end of its last."""
    tokens: list[tuple[int, int, str]] = _STEMMING(
        content, _DOCUMENT, None, include_offsets=True, include_colocated=False
    )
    return tokens


Stems = tuple[str, ...]

OfStems = Callable[[Iterable[str]], dict[str, int]]
"""Returns for each of these stems the number of rows that contain it, if there are any."""


def stems_of(query: LiteralQuery) -> list[Stems] | None:
    """Return the stems of each phrase, one for each token. Return None if a token has several stems or none."""
    found: list[Stems] = []
    for phrase in query.phrases:
        each = [stem_tokens(token) for token in phrase.tokens]
        if not each or any(len(stems) != 1 for stems in each):
            return None
        found.append(tuple(stems[0] for stems in each))
    return found


def phrase_stat(execute: Execute, phrase: Phrase, df: int, rows: int) -> TermStat:
    """Return the weight of a phrase. df: number of rows with the phrase, of `rows`."""
    check()
    of_words = [df]
    if len(phrase.tokens) > 1:
        found = frequencies(execute, [(each,) for each in phrase.tokens])
        of_words = [found[each,] for each in phrase.tokens]
    return TermStat(phrase.text, df, phrase_idf(df, of_words, rows), len(of_words))


def expression(query: LexicalQuery) -> str:
    """Return the query in FTS5 syntax, "" if nothing can match. In a very long OR, equal alternatives appear once."""
    if isinstance(query, RawQuery):
        return " OR ".join(dict.fromkeys(alternatives(query))) or query.text
    return (" OR " if query.match == "any" else " AND ").join(quote(phrase.tokens) for phrase in query.phrases)


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


def quote(tokens: Sequence[str]) -> str:
    """Return the phrase in FTS5 syntax. No token of the index contains a double quote."""
    return '"' + " ".join(tokens) + '"'


def frequencies(
    execute: Execute,
    phrases: Sequence[tuple[str, ...]],
    of_stems: OfStems | None = None,
) -> dict[tuple[str, ...], int]:
    """Return tokens of each phrase to the number of rows with the phrase. One statement looks up all single words.

    of_stems: counts rows of stems without a statement.
    """
    stems = {tokens: stem_tokens(tokens[0]) for tokens in phrases if len(tokens) == 1}
    words = {tokens: found[0] for tokens, found in stems.items() if len(found) == 1}
    held: dict[str, int] = {}
    if words:
        stems_asked = json.dumps(sorted(set(words.values())))
        held = of_stems(words.values()) if of_stems else dict(execute(_FREQUENCIES, (stems_asked,)))
    counted: dict[tuple[str, ...], int] = {}
    for tokens in phrases:
        if tokens in words:
            counted[tokens] = held.get(words[tokens], 0)
        else:
            sql = "SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH ?"
            counted[tokens] = int(execute(sql, (quote(tokens),))[0][0])
    return counted


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


class _StemSpan(NamedTuple):
    """A stem in a text, with its range of code points."""

    start: int
    end: int
    stem: str


@lru_cache(maxsize=1)  # a pasted text has thousands, and its rows are drawn again at every step of a weight
def stem_phrases(phrases: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """Return the stems of each phrase, for `stem_spans` of many texts."""
    return frozenset(tuple(token.stem for token in _tokens(phrase)) for phrase in phrases) - {()}


def stem_spans(text: str, wanted: frozenset[tuple[str, ...]]) -> list[tuple[int, int]]:
    """Return half-open ranges of code points that match a run of stems, in order; overlapping ranges are merged."""
    if not wanted:
        return []
    check()
    found = list(_tokens(text))
    first = {stems[0] for stems in wanted}
    spans: list[tuple[int, int]] = []
    for at, token in enumerate(found):
        if token.stem not in first:
            continue
        for stems in wanted:
            run = found[at : at + len(stems)]
            if tuple(each.stem for each in run) == stems:
                spans.append((token.start, run[-1].end))
    return _merge(sorted(spans))


def _merge(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _tokens(text: str) -> Iterator[_StemSpan]:
    """Yield the stems of a text as the index stores them, with places in the text before spacing."""
    indexed = space_cjk(text)
    places = _places(text, indexed)
    code_points = _code_points(indexed)
    for start, end, stem in place_tokens(indexed.encode()):
        first, last = code_points[start], code_points[end] - 1
        yield _StemSpan(places[first], places[last] + 1, stem)


def _code_points(text: str) -> Sequence[int]:
    """Return byte offset in UTF-8 to code point, with one more entry than there are bytes."""
    if text.isascii():
        return range(len(text) + 1)
    places: list[int] = []
    for at, mark in enumerate(text):
        places += [at] * len(mark.encode())
    return [*places, len(text)]


def _places(text: str, indexed: str) -> Sequence[int]:
    """Return for each code point of the indexed text its place in the text. Inserted blanks map to a neighbour."""
    if text == indexed:
        return range(len(text))
    places: list[int] = []
    at = 0
    for mark in indexed:
        is_own = at < len(text) and mark == text[at]
        places.append(at if is_own else max(0, at - 1))
        at += is_own
    return places
