"""Lexical scores from occurrences: FTS5's scores to nine digits, and BM25F by its definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.rank.bm25 import IDF_FLOOR, bound, contributions, idf, plain, score_columns, scores
from recall_core.store.sqlite import lexical
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import LiteralQuery
from recall_core.words.question import literal
from tests.builders import memory_store, new_file, put
from tests.sixty_questions import SHAPES

WORDS = ["alpha", "beta", "Betas", "naïve", "running", "run", "色", "红色", "ก", "the"]
TEXTS = st.lists(st.sampled_from([*WORDS, "alpha alpha", "filler filler filler"]), min_size=1, max_size=12).map(
    " ".join
)
TITLES = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
DOCUMENTS = st.lists(st.tuples(TITLES, TEXTS), min_size=1, max_size=8)
PHRASES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(lambda words: '"' + " ".join(words) + '"')
QUESTIONS = st.lists(
    st.sampled_from([*WORDS, "unknown"]) | PHRASES | st.sampled_from(SHAPES), min_size=1, max_size=6
).map(" ".join)
MODELS = st.builds(
    lambda k1, b, weight: Config(lexical_model="bm25f", bm25_k1=k1, bm25_b=b, title_weight=weight),
    st.sampled_from([0.0, 0.9, 1.2, 100.0]) | st.floats(0, 100),
    st.sampled_from([0.0, 0.4, 1.0]) | st.floats(0, 1),
    st.sampled_from([0.0, 1.0, 3.0]) | st.floats(0, 1_000),
)


def store_of(documents: list[tuple[str, str]]) -> SqliteStore:
    store = memory_store()
    put(store, *(new_file(f"{n}.txt", [text], title=title) for n, (title, text) in enumerate(documents)))
    return store


def question(store: SqliteStore, words: str, match: str = "any") -> LiteralQuery:
    return literal(words, analyzer=store.analyzer, match=match, stop_words="questions")


@given(
    documents=DOCUMENTS,
    words=QUESTIONS,
    weight=st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    match=st.sampled_from(["any", "all"]),
)
def test_fts5_formula_reproduces_fts5_scores(
    documents: list[tuple[str, str]], words: str, weight: float, match: str
) -> None:
    store = store_of(documents)
    query = question(store, words, match)
    matching = lexical.scores(store.execute, lexical.expression(query), where=None, k=None, title_weight=weight)
    expected = dict.fromkeys(matching, 0.0)
    rows = store.info().chunks
    for phrase, term in zip(query.phrases, store.term_stats(query), strict=True):
        alone = lexical.scores(store.execute, lexical.quote(phrase), where=None, k=None, title_weight=weight)
        for rowid in alone.keys() & expected.keys():
            expected[rowid] += alone[rowid] * term.idf / idf(term.df, rows)
    found = scores(store.occurrences(query, list(expected)), list(expected), Config(title_weight=weight))
    assert found == pytest.approx(list(expected.values()), rel=1e-9, abs=1e-300)
    assert store.lexical(query, where=None, k=None, title_weight=weight) == pytest.approx(
        expected, rel=1e-9, abs=1e-300
    )


@given(documents=DOCUMENTS, words=st.lists(st.sampled_from([*WORDS, "unknown"]), min_size=1, max_size=4))
def test_phrase_idf_is_the_sum_of_its_words(documents: list[tuple[str, str]], words: list[str]) -> None:
    store = store_of(documents)
    (term,) = store.term_stats(question(store, f'"{" ".join(words)}"'))
    alone = store.term_stats(
        question(store, " ".join(f'"{token}"' for token in store.analyzer.tokens(" ".join(words), ends="inner")))
    )
    assert term.idf == (sum(each.idf for each in alone) if term.df else 0.0)
    assert term.words == len(alone)


@given(documents=DOCUMENTS, words=QUESTIONS, config=MODELS, bm25f=st.booleans())
def test_no_row_scores_above_the_bound(
    documents: list[tuple[str, str]], words: str, config: Config, bm25f: bool
) -> None:
    config = config if bm25f else config._replace(lexical_model="fts5")
    store = store_of(documents)
    query = question(store, words)
    found = store.occurrences(query, None)
    most = max(scores(found, [key.rowid for key in store.candidates(None)], config), default=0.0)
    assert most <= bound(store.term_stats(query), config) * (1 + 1e-12)


@given(rows=st.integers(1, 40))
def test_rarer_phrase_weighs_more_and_none_below_floor(rows: int) -> None:
    weights = [idf(df, rows) for df in range(1, rows + 1)]
    assert weights == sorted(weights, reverse=True)
    assert idf(0, rows) == 0.0
    assert (weights[-1], min(weights)) == (IDF_FLOOR, IDF_FLOOR)


@given(documents=DOCUMENTS, words=QUESTIONS)
def test_rows_with_a_phrase_are_the_matching_rows(documents: list[tuple[str, str]], words: str) -> None:
    store = store_of(documents)
    query = question(store, words)
    rows = set(store.lexical(query, where=None, k=None, title_weight=1.0))
    assert set().union(*store.occurrences(query, None).counts) == rows


@given(documents=DOCUMENTS, words=QUESTIONS, config=MODELS, bm25f=st.booleans())
def test_contributions_add_up_to_score_to_the_last_bit(
    documents: list[tuple[str, str]], words: str, config: Config, bm25f: bool
) -> None:
    config = config if bm25f else config._replace(lexical_model="fts5")
    store = store_of(documents)
    found = store.occurrences(question(store, words), None)
    rows = [key.rowid for key in store.candidates(None)]
    totals = []
    for rowid in rows:
        total = 0.0
        for share in contributions(found, rowid, config):
            total += share
        totals.append(total)
    assert totals == plain(found, rows, config) == score_columns(found, rows, config) == scores(found, rows, config)
    assert totals[1:] == plain(found, rows[1:], config) == score_columns(found, rows[1:], config)


@given(documents=DOCUMENTS, words=QUESTIONS, config=MODELS)
def test_bm25f_matches_robertson_and_zaragoza(documents: list[tuple[str, str]], words: str, config: Config) -> None:
    store = store_of(documents)
    found = store.occurrences(question(store, words), None)
    weights, k1, b = (config.title_weight, 1.0), config.bm25_k1, config.bm25_b
    for rowid in set().union(*found.counts):
        for phrase, counts, share in zip(
            found.phrases, found.counts, contributions(found, rowid, config), strict=True
        ):
            frequency = 0.0
            for column in (0, 1):
                tf = counts.get(rowid, (0, 0))[column]
                if tf:
                    norm = 1 - b + b * found.lengths[rowid][column] / found.averages[column]
                    frequency += weights[column] * tf / norm
            expected = phrase.idf * (k1 + 1) * frequency / (k1 + frequency) if frequency else 0.0
            assert share == pytest.approx(expected, rel=1e-12)
            assert 0 <= share <= (k1 + 1) * phrase.idf * (1 + 1e-12)
