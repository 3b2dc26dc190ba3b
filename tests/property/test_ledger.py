"""Ledgers: leaves add up to scores for every query, setting and shape of the expression."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import lru_cache
from math import fsum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.api.engine import Engine
from recall_core.api.recall import Ask, Pack, Recall
from recall_core.config import Config
from recall_core.contract.ledger import ExplainView
from recall_core.contract.responses import SearchResponse
from recall_core.embed.features import features, log_tf, plain_sums, words
from recall_core.embed.hash import HashEmbedder, word_shares
from recall_core.rank.bm25 import contributions
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import RawQuery
from tests.builders import memory_store, new_file, put
from tests.examples import examples
from tests.sixty_questions import SHAPES as SHAPES_OF_WORDS

WORDS = [
    "alpha",
    "beta",
    "Betas",
    "naïve",
    "running",
    "run",
    "色",
    "红色",
    "ก",
    "the",
    "a b c",
    "U.S.",
    "find",
    "x86",
]
TEXTS = st.lists(st.sampled_from([*WORDS, "alpha alpha", "filler filler"]), min_size=1, max_size=12).map(" ".join)
TITLES = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
DOCUMENTS = st.lists(st.tuples(TITLES, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1, max_size=7)
BARE = ["alpha", "beta", "run", "色", "unknown", '"alpha beta"', "run*", "^alpha", "naïve", '"红 色"']
PHRASES = st.sampled_from(BARE)
NEAR = st.tuples(*[st.sampled_from(["alpha", "beta", "run", '"alpha alpha"'])] * 2, st.integers(0, 4)).map(
    lambda drawn: f"NEAR({drawn[0]} {drawn[1]}, {drawn[2]})"
)
SHAPES = st.recursive(
    PHRASES | NEAR,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["AND", "OR", "NOT", "AND", "OR"]), inner).map(
            lambda drawn: f"({drawn[0]} {drawn[1]} {drawn[2]})"
        )
        | st.tuples(st.sampled_from(["title", "body", "- title", "{title body}"]), inner).map(
            lambda drawn: f"({drawn[0]} : ({drawn[1]}))"
        )
    ),
    max_leaves=6,
)
QUESTIONS = st.lists(
    st.sampled_from([*WORDS, "unknown", "al*", "ru*", "title:run", "-betas", '"alpha beta"'])
    | st.sampled_from(SHAPES_OF_WORDS),
    min_size=1,
    max_size=6,
).map(" ".join)
SETTINGS = st.fixed_dictionaries(
    {
        "normalize": st.sampled_from(["bound", "max", "minmax"]),
        "fusion": st.sampled_from(["weighted", "weighted", "rrf"]),
        "bm25_weight": st.sampled_from([0.0, 0.3, 0.9, 7.0]),
        "vector_weight": st.sampled_from([0.1, 1.0]),
        "title_weight": st.sampled_from([0.0, 1.0, 3.0]),
        "lexical_model": st.sampled_from(["fts5", "bm25f"]),
        "match": st.sampled_from(["any", "all"]),
        "stop_words": st.sampled_from(["none", "english", "leftovers", "questions"]),
        "rerank": st.sampled_from(["", "hash"]),
        "sparse_distance_ceiling": st.sampled_from([0.2, 2.0]),
        "min_score": st.sampled_from([0.0, 0.0, 0.2]),
        "min_cosine": st.sampled_from([0.0, 0.0, 0.2]),
    }
).map(lambda chosen: tuple(f"{key}={value}" for key, value in chosen.items()))


def store_of(documents: Sequence[tuple[str, Sequence[str]]]) -> SqliteStore:
    store = memory_store()
    files = [
        new_file(f"{n}.txt", [f"{text} " for text in texts], title=title)
        for n, (title, texts) in enumerate(documents)
    ]
    put(store, *files)
    return store


def recall_of(documents: Sequence[tuple[str, Sequence[str]]]) -> Recall:
    return Recall(Engine(store_of(documents), config=Config(embedding_dim=64), base=Path("/nowhere")))


def check(explain: ExplainView, score: float) -> None:
    """Check that a score is the sum of its parts to the last bit, and each part that of its leaves."""
    assert sum(part["points"] for part in explain["parts"]) == score
    for part in explain["parts"]:
        if "leaves" in part:
            assert fsum(leaf["points"] for leaf in part["leaves"]) == pytest.approx(part["points"], abs=1e-9)
            assert "residual" not in [leaf["kind"] for leaf in part["leaves"]]
        else:
            assert part["signal"] == "rerank"


@given(documents=DOCUMENTS, match=SHAPES, weight=st.sampled_from([0.0, 0.5, 3.0]))
@examples(20)
def test_phrases_add_up_to_bm25_for_every_shape(
    documents: list[tuple[str, list[str]]], match: str, weight: float
) -> None:
    store = store_of(documents)
    query = RawQuery(match)
    if store.syntax_error(RawQuery(match)) is not None:
        return
    expected = store.lexical(query, where=None, k=None, title_weight=weight)
    standing = store.phrases(query, store.term_stats(query), list(expected))
    for rowid, raw in expected.items():
        assert fsum(contributions(standing, rowid, Config(title_weight=weight))) == pytest.approx(raw, abs=1e-9)


@given(documents=DOCUMENTS, words=QUESTIONS, mode=st.sampled_from(["hybrid", "lexical", "semantic"]), chosen=SETTINGS)
@examples(40)
def test_leaves_add_up_to_the_score(
    documents: list[tuple[str, list[str]]], words: str, mode: str, chosen: tuple[str, ...]
) -> None:
    recall = recall_of(documents)
    ask = Ask(k=4, mode=mode, settings=chosen, explain=True)
    answer = recall.search(words, ask)
    for result in answer["results"]:
        check(result["explain"], result["score"])
        explained = recall.explain(words, result["chunk"]["id"], ask)["explanation"]["chunk"]
        assert explained["score"] == result["score"]
        assert abs(explained["residual"]) < 1e-9
        check(explained["explain"], explained["score"])


@given(documents=DOCUMENTS, match=SHAPES, table=st.sampled_from(["chunk", "doc"]))
@examples(40)
def test_leaves_of_raw_expressions_add_up_to_score(
    documents: list[tuple[str, list[str]]], match: str, table: str
) -> None:
    text = match.replace("'", "''")
    rql = f"SELECT * FROM {table} USING lexical_fts('{text}'), semantic('alpha') LIMIT 5"
    for result in recall_of(documents).query(rql, Ask(explain=True))["results"]:
        check(result["explain"], result["score"])


@given(documents=DOCUMENTS, words=QUESTIONS, chosen=SETTINGS)
@examples(20)
def test_explaining_changes_no_other_field(
    documents: list[tuple[str, list[str]]], words: str, chosen: tuple[str, ...]
) -> None:
    recall = recall_of(documents)
    plain, explained = (recall.search(words, Ask(k=3, settings=chosen, explain=each)) for each in (False, True))
    assert [result.pop("explain", None) for result in explained["results"]].count(None) == 0
    assert as_bytes(plain) == as_bytes(explained)
    contexts = [
        recall.context(words, Ask(settings=chosen, explain=each), Pack(budget_tokens=60)) for each in (False, True)
    ]
    for chunk in contexts[1]["context"]["chunks"]:
        del chunk["explain"]
    del contexts[1]["context"]["account"]
    assert as_bytes(contexts[0]) == as_bytes(contexts[1])


def as_bytes(response: SearchResponse) -> str:
    response["stats"].pop("took_ms")
    response["stats"].pop("timings")
    response.pop("sparse", None)
    return json.dumps(response)


@given(question=QUESTIONS, text=TEXTS, dimension=st.sampled_from([16, 64, 512]))
def test_word_shares_match_their_definition(question: str, text: str, dimension: int) -> None:
    asked, held = plain_sums(question, dimension), plain_sums(text, dimension)
    lengths = fsum(x * x for x in asked) ** 0.5 * fsum(x * x for x in held) ** 0.5
    (shares,) = word_shares(question, [text], dimension)
    if not lengths:
        assert shares == []
        return
    dot = sum(a * b for a, b in zip(asked, held, strict=True))
    assert fsum(share.value for share in shares) == pytest.approx(dot / lengths, abs=1e-12)
    for word, n in words(question).items():
        true = sum(
            log_tf(n) * log_tf(m) * weight * other
            for mine, weight in features_of(word, dimension)
            for held_word, m in words(text).items()
            for theirs, other in features_of(held_word, dimension)
            if mine == theirs
        )
        shown = fsum(share.value for share in shares if share.kind == "feature" and share.text == word.strip("<>"))
        assert shown == pytest.approx(true / lengths, abs=1e-12)


def features_of(word: str, dimension: int) -> list[tuple[tuple[bool, str], int]]:
    """Return a word's features by spelling, with their signed weights."""
    grams = [word[at : at + n] for at in range(len(word) - 2) for n in (3, 4, 5) if at + n <= len(word)]
    names = [(True, word), *((False, gram) for gram in grams)]
    return [(name, weight) for name, (_, weight) in zip(names, features(word, dimension), strict=True)]


@lru_cache
def cranfield() -> Recall:
    folder = os.environ.get("RECALL_DATA")
    if not folder:
        pytest.skip("needs RECALL_DATA with cranfield/")
    lines = (Path(folder) / "cranfield" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    return recall_of([(each["title"], [each["text"]]) for each in documents if each["text"].strip()])


@pytest.mark.slow
def test_leaves_add_up_on_cranfield() -> None:
    recall = cranfield()
    path = Path(os.environ["RECALL_DATA"]) / "cranfield" / "queries.jsonl"
    questions = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    for number, question in enumerate(questions):
        chosen = (
            f"lexical_model={['fts5', 'bm25f'][number % 2]}",
            f"normalize={['bound', 'max', 'minmax'][number % 3]}",
        )
        for result in recall.search(question, Ask(k=20, settings=chosen, explain=True))["results"]:
            check(result["explain"], result["score"])


def test_hash_embedder_splits_its_cosines_by_word() -> None:
    assert HashEmbedder(64).shares("alpha", ["alpha", ""])[1] == []
