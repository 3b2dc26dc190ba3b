"""A pasted text as a question: scores of very many words, which FTS5 alone would take minutes for."""

from __future__ import annotations

import pytest

from recall_core.config import Config
from recall_core.rank.bm25 import scores
from recall_core.retrieve.query import literal
from recall_core.rql.filters import parse_filter
from recall_core.store.sqlite import lexical, postings
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import LiteralQuery
from tests.builders import fish_store, memory_store

WORDS = 'fishes story blue "fish fish" 色 "红色" unheard it\'s blue '


@pytest.fixture
def store() -> SqliteStore:
    return fish_store()


def long_query(store: SqliteStore, *, match: str = "any") -> LiteralQuery:
    query = literal(WORDS * (postings.FEW // 8 + 1), tokens=store.tokens, match=match)
    assert len(query.phrases) > postings.FEW
    return query


def test_very_many_words_score_as_fts5_scores_them(store: SqliteStore) -> None:
    query = long_query(store)
    expected = lexical.scores(store.execute, lexical.expression(query), where=None, k=None, title_weight=3.0)
    assert postings.is_long(query)
    assert store.lexical(query, where=None, k=None, title_weight=3.0) == pytest.approx(expected, rel=1e-12)
    assert list(store.lexical(query, where=None, k=None, title_weight=3.0)) == sorted(expected)


def test_very_many_words_score_as_the_formula_of_the_core_says(store: SqliteStore) -> None:
    query = long_query(store)
    found = store.lexical(query, where=None, k=None, title_weight=3.0)
    expected = scores(store.occurrences(query, list(found)), list(found), Config(title_weight=3.0))
    assert list(found.values()) == pytest.approx(expected, rel=1e-12)


def test_very_many_words_respect_the_filter_and_the_number_of_rows(store: SqliteStore) -> None:
    query, where = long_query(store), parse_filter("doc.path != 'b.txt'")
    for k in (None, 0, 1, 2):
        expected = lexical.scores(store.execute, lexical.expression(query), where=where, k=k, title_weight=3.0)
        found = store.lexical(query, where=where, k=k, title_weight=3.0)
        assert found == pytest.approx(expected, rel=1e-12)
        assert list(found) == list(expected)


def test_very_many_words_score_the_rows_that_are_asked_for(store: SqliteStore) -> None:
    query, rowids = long_query(store), [key.rowid for key in store.candidates(None)][1:]
    expected = lexical.scores_of(store.execute, lexical.expression(query), rowids, title_weight=3.0)
    assert store.lexical_scores(query, rowids, title_weight=3.0) == pytest.approx(expected, rel=1e-12)
    assert store.lexical_scores(query, [], title_weight=3.0) == {}


def test_words_that_must_all_match_are_left_to_fts5(store: SqliteStore) -> None:
    assert not postings.is_long(long_query(store, match="all"))


def test_very_many_words_in_an_empty_store_find_nothing() -> None:
    empty = memory_store()
    assert empty.lexical(long_query(empty), where=None, k=None, title_weight=1.0) == {}
