"""A pasted text as a query: scores of very many words, which FTS5 alone would take minutes for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw
import pytest

from recall_core.config import Config
from recall_core.rank.bm25 import scores
from recall_core.rql.filters import parse_filter
from recall_core.store.sqlite import lexical, postings
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import LiteralQuery, RawQuery
from recall_core.words.question import literal
from tests.builders import fish_store, memory_store

WORDS = 'fishes story blue fish red 色 "one" unheard it\'s blue '
PHRASES = 'fishes story blue "fish two" 色 "红 色" unheard "one fish two" blue '


@pytest.fixture
def store() -> SqliteStore:
    return fish_store()


def long_query(store: SqliteStore, words: str = WORDS, *, match: str = "any") -> LiteralQuery:
    query = literal(words * (postings.FEW // 8 + 1), analyzer=store.analyzer, match=match)
    assert len(query.phrases) > postings.FEW
    return query


def test_very_many_words_score_as_in_fts5(store: SqliteStore) -> None:
    query = long_query(store)
    expected = lexical.scores(store.execute, lexical.expression(query), where=None, k=None, title_weight=3.0)
    assert postings.is_long(query)
    assert store.lexical(query, where=None, k=None, title_weight=3.0) == pytest.approx(expected, rel=1e-12)
    assert list(store.lexical(query, where=None, k=None, title_weight=3.0)) == sorted(expected)


@pytest.mark.parametrize("words", [WORDS, PHRASES])
def test_very_many_words_score_by_the_core_formula(store: SqliteStore, words: str) -> None:
    query = long_query(store, words)
    found = store.lexical(query, where=None, k=None, title_weight=3.0)
    expected = scores(store.occurrences(query, list(found)), list(found), Config(title_weight=3.0))
    assert list(found.values()) == pytest.approx(expected, rel=1e-12)
    some = list(found)[1:]
    assert store.lexical_scores(query, some, title_weight=3.0) == {rowid: found[rowid] for rowid in some}


def test_very_many_words_respect_filter_and_row_limit(store: SqliteStore) -> None:
    query, where = long_query(store), parse_filter("doc.path != 'b.txt'")
    for k in (None, 0, 1, 2):
        expected = lexical.scores(store.execute, lexical.expression(query), where=where, k=k, title_weight=3.0)
        found = store.lexical(query, where=where, k=k, title_weight=3.0)
        assert found == pytest.approx(expected, rel=1e-12)
        assert list(found) == list(expected)


def test_very_many_words_score_only_requested_rows(store: SqliteStore) -> None:
    query, rowids = long_query(store), [key.rowid for key in store.candidates(None)][1:]
    expected = lexical.scores_of(store.execute, lexical.expression(query), rowids, title_weight=3.0)
    assert store.lexical_scores(query, rowids, title_weight=3.0) == pytest.approx(expected, rel=1e-12)
    assert store.lexical_scores(query, [], title_weight=3.0) == {}


def test_match_all_is_left_to_fts5(store: SqliteStore) -> None:
    assert not postings.is_long(long_query(store, match="all"))


def test_very_many_words_in_an_empty_store_find_nothing() -> None:
    empty = memory_store()
    assert empty.lexical(long_query(empty), where=None, k=None, title_weight=1.0) == {}


RAW = ("fish*", "red", '"blue fish"', "^one", "fish *", "nowhere*", '"!!"', "色*", 're* + "fish"', "fish")


def raw_query(repeats: int) -> RawQuery:
    """Return a query with every alternative repeated in turn."""
    return RawQuery(" OR ".join(RAW * repeats))


@contextmanager
def record_expressions(store: SqliteStore) -> Iterator[list[str]]:
    """Record every text that a statement gives FTS5 to match."""
    asked: list[str] = []

    def trace(_cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
        asked.extend(each for each in bindings or () if "MATCH" in sql and isinstance(each, str))
        return True

    store.db.exec_trace = trace
    try:
        yield asked
    finally:
        store.db.exec_trace = None


def test_equal_prefixes_of_a_raw_query_are_looked_up_once(store: SqliteStore) -> None:
    query = RawQuery(" OR ".join(["fish*", "re*"] * 2500))
    with record_expressions(store) as asked:
        assert store.syntax_error(query) is None
        terms = store.term_stats(query)
        found = store.lexical(query, where=None, k=None, title_weight=3.0)
        store.lexical_scores(query, list(found), title_weight=3.0)
        store.phrases(query, terms, list(found))
    assert (len(terms), bool(found)) == (5000, True)
    assert len(asked) >= 6
    assert {text.count("fish*") for text in asked if not text.startswith("[")} == {1}


@pytest.mark.parametrize("repeats", [11, 40])
def test_very_many_raw_alternatives_score_as_in_fts5(store: SqliteStore, repeats: int) -> None:
    query = raw_query(repeats)
    assert postings.is_long(query)
    expected = lexical.scores(store.execute, query.text, where=None, k=None, title_weight=3.0)
    assert store.lexical(query, where=None, k=None, title_weight=3.0) == pytest.approx(expected, rel=1e-12)
    where = parse_filter("doc.path != 'b.txt'")
    filtered = lexical.scores(store.execute, query.text, where=where, k=2, title_weight=3.0)
    found = store.lexical(query, where=where, k=2, title_weight=3.0)
    assert found == pytest.approx(filtered, rel=1e-12)
    assert list(found) == list(filtered)
    assert store.lexical_scores(query, list(expected)[1:], title_weight=3.0) == pytest.approx(
        {rowid: expected[rowid] for rowid in list(expected)[1:]}, rel=1e-12
    )


def test_repeated_raw_alternatives_repeat_their_figures(store: SqliteStore) -> None:
    few, many = raw_query(1), raw_query(11)
    once, often = store.term_stats(few), store.term_stats(many)
    rowids = [key.rowid for key in store.candidates(None)]
    assert often == once * 11
    assert store.phrases(many, often, rowids).counts == store.phrases(few, once, rowids).counts * 11
    assert store.phrases(RawQuery(" OR ".join(["nowhere*"] * 200)), (), rowids).counts == ()


def test_other_raw_queries_are_not_split(store: SqliteStore) -> None:
    for raw in [
        "a AND b",
        "a b",
        "title : a",
        "(a OR b)",
        "NEAR(a b)",
        "- title : a",
        "a NOT b",
        "OR a",
        'a "',
        "a OR",
        "a OR OR b",
        "a.b",
    ]:
        text = " OR ".join(["fish*"] * 200 + [raw])
        assert lexical.alternatives(RawQuery(text)) == (), raw
        assert lexical.expression(RawQuery(text)) == text, raw
