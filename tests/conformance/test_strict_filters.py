"""A filter that matches 20 of thousands of rows returns exactly these in every mode, like brute force."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall_core.api.engine import Engine
from recall_core.api.recall import Ask, Pack, Recall
from recall_core.config import Config
from recall_core.retrieve import pool
from recall_core.rql.match import match
from recall_core.rql.parser import parse_filter
from recall_core.types import NewChunk, Row, Span
from tests import builders
from tests.builders import memory_store, new_file, put

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()
FAR = f"{' '.join(WORDS)} retry {' '.join(reversed(WORDS))} "
MODES = ("hybrid", "lexical", "semantic")
FILES, CHUNKS, KEPT = 200, 100 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 25, 20
CONFIG = Config(embedding_dim=64, collapse=False)


@lru_cache
def chunk(text: str) -> NewChunk:
    """Return a chunk of this text at offset 0. Few distinct texts keep thousands of chunks cheap to embed."""
    return builders.new_chunk(text)


def files(count: int, chunks: int) -> Iterator[builders.NewFile]:
    """Yield files whose chunks all contain `retry`; those of the first file score lowest."""
    for n in range(count):
        texts = [f"retry {' '.join(WORDS[: 1 + (n + i) % 9])} {WORDS[n % 10]} " for i in range(chunks)]
        if n == 0:
            texts = [FAR] * chunks
        made = new_file(f"d{n:03}.txt", ["".join(texts)], tags=["kept"] if n == 0 else ["other"], meta={"n": n})
        offset, spans = 0, []
        for text in texts:
            one = chunk(text)
            spans.append(one._replace(span=Span(offset, offset + len(text), one.span.tokens)))
            offset += len(text)
        yield made._replace(documents=(made.documents[0]._replace(chunks=tuple(spans)),))


@pytest.fixture(scope="module")
def large() -> Iterator[Recall]:
    store = memory_store()
    put(store, *files(FILES, CHUNKS))
    with Recall(Engine(store, config=CONFIG, base=Path("/nonexistent"))) as recall:
        yield recall


NATIVE = f"doc.tag = 'kept' AND chunk.offset < {KEPT * len(FAR)}"
SCANNED = "doc.meta.n = 199 AND doc.path GLOB 'd19?.txt' AND chunk.offset < 800"


@pytest.fixture(params=["whole pool", "bounded pool"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Set the store size: up to 20,000 vectors all rows are ranked, above that each signal's best."""
    if request.param == "bounded pool":
        monkeypatch.setattr(pool, "EXACT_VECTORS", 0)
    chosen: str = request.param
    return chosen


@pytest.mark.parametrize("mode", MODES)
def test_filter_returns_all_20_matching_rows_in_every_mode(large: Recall, size: str, mode: str) -> None:
    where = NATIVE
    assert large.stats()["store"]["chunks"] == FILES * CHUNKS

    response = large.search("retry alpha", Ask(mode=mode, filter=where, k=50))

    assert len(response["results"]) == response["stats"]["total_hits"] == KEPT
    assert {result["doc"]["path"] for result in response["results"]} == {"d000.txt"}
    assert len({result["chunk"]["id"] for result in response["results"]}) == KEPT
    unfiltered = large.search("retry alpha", Ask(mode=mode, k=200))
    assert "d000.txt" not in {result["doc"]["path"] for result in unfiltered["results"]}


@pytest.mark.parametrize("using", ["", "USING lexical('retry')", "USING semantic('retry'), lexical('retry')"])
def test_chunk_and_doc_queries_return_all_20_rows(large: Recall, size: str, using: str) -> None:
    where = NATIVE

    chunks = large.query(f"SELECT * FROM chunk {using} FILTER {where} LIMIT 100")
    documents = large.query(f"SELECT * FROM doc {using} FILTER {where} LIMIT 100")

    assert (len(chunks["results"]), chunks["stats"]["total_hits"]) == (KEPT, KEPT)
    assert [result["doc"]["path"] for result in documents["results"]] == ["d000.txt"]


@pytest.mark.parametrize("mode", MODES)
def test_context_packs_all_20_rows(large: Recall, size: str, mode: str) -> None:
    where = NATIVE

    context = large.context("retry", Ask(mode=mode, filter=where), Pack(budget_tokens=100_000))["context"]

    assert context["candidates"] == KEPT
    assert {part["path"] for part in context["chunks"]} == {"d000.txt"}


@pytest.mark.parametrize("mode", MODES)
def test_filter_without_index_is_equally_strict(large: Recall, size: str, mode: str) -> None:
    where = SCANNED
    expected = large.query(f"SELECT chunk.id FROM chunk FILTER {where} LIMIT 100")["stats"]["total_hits"]

    response = large.search("retry", Ask(mode=mode, filter=where, k=100))

    assert 0 < expected < 100
    assert len(response["results"]) == expected


# The sweep: every share of the rows, from none to all.

SMALL_FILES, SMALL_CHUNKS = 20, 30
MOST = SMALL_FILES * SMALL_CHUNKS


@lru_cache
def small() -> Recall:
    store = memory_store()
    put(store, *files(SMALL_FILES, SMALL_CHUNKS))
    return Recall(Engine(store, config=CONFIG._replace(pool=MOST), base=Path("/nonexistent")))


@lru_cache
def full_list(mode: str) -> list[tuple[str, float]]:
    """Return every row of the unfiltered answer, best first."""
    response = small().search("retry alpha kappa", Ask(mode=mode, k=MOST))
    return [(result["chunk"]["id"], result["score"]) for result in response["results"]]


@lru_cache
def rows() -> dict[str, Row]:
    store = small().store
    return {row.chunk.id: row for row in store.fetch([key.rowid for key in store.candidates(None)])}


questions = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(MODES),
        "where": st.builds(
            lambda shape, share: shape.format(docs=share * SMALL_FILES // 100, offset=share * 40),
            st.sampled_from(["doc.meta.n < {docs}", "chunk.offset < {offset}", "NOT doc.path >= 'd{docs:03}.txt'"]),
            st.integers(0, 100),
        ),
        "k": st.integers(0, MOST),
        "whole": st.booleans(),
    }
)


def check_against_brute_force(*, mode: str, where: str, k: int, whole: bool) -> None:
    expr = parse_filter(where)
    expected = [(each, score) for each, score in full_list(mode) if match(expr, rows()[each])]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "EXACT_VECTORS", 20_000 if whole else 0)
        response = small().search("retry alpha kappa", Ask(mode=mode, filter=where, k=k))

    found = [(result["chunk"]["id"], result["score"]) for result in response["results"]]
    assert found == expected[:k]
    assert response["stats"]["total_hits"] == len(expected)


@given(questions)
def test_filtered_answers_match_brute_force(question: dict[str, Any]) -> None:
    check_against_brute_force(**question)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=20_000, deadline=None)
@given(questions)
def test_filtered_answers_match_brute_force_at_length(question: dict[str, Any]) -> None:
    check_against_brute_force(**question)


@pytest.mark.parametrize(
    "where",
    ["doc.path = '{}'", "doc.path IN ('{}')", "doc.path GLOB '*/{}'", "doc.path LIKE '%{}'", "doc.path ILIKE '%{}'"],
)
def test_path_matches_in_any_unicode_form(where: str) -> None:
    store = memory_store()
    put(store, new_file("docs/caf\u00e9.md", ["one"]), new_file("docs/cafe.md", ["two"]))
    place = "docs/" if "*" not in where and "%" not in where else ""

    for name in ("caf\u00e9.md", "cafe\u0301.md"):
        expr = parse_filter(where.format(f"{place}{name}"))
        rows = store.fetch([key.rowid for key in store.candidates(expr)])

        assert [row.doc.path for row in rows] == ["docs/caf\u00e9.md"]
        assert all(match(expr, row) for row in rows)
