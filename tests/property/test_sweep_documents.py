"""The sweep ranks a document as its best chunk at every weight, like `rank`."""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.explain.lines import Lines, lines_of, sweepable
from recall_core.explain.sweep import Sweep, sweep, top_at
from recall_core.rank.fuse import best_of_each_document, rank
from recall_core.retrieve.plan import plan_words
from recall_core.retrieve.pool import gather
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import Key, Pool
from tests.builders import EMBEDDER, memory_store, new_file, put
from tests.property.test_sweep import any_lines, depths, every_piece, ranked_again
from tests.sixty_questions import SHAPES

K = 10
CELLS = 5_000
IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"

raws = st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5]), st.floats(0, 1))
"""Raw values of a signal; None for an absent candidate."""


@given(any_lines(), depths, st.data())
def test_document_ranks_as_its_best_chunk(lines: Lines, k: int, data: st.DataObject) -> None:
    documents = [data.draw(st.integers(0, 3)) for _ in lines.a]
    swept = sweep(lines, k, documents)

    for w in every_piece(lines):
        firsts: dict[int, int] = {}
        for position in ranked_again(lines, w):
            firsts.setdefault(documents[position], position)
        assert top_at(swept, w) == list(firsts.values())[:k]


@given(st.lists(st.tuples(raws, raws), max_size=9), st.sampled_from([0, 1, 60]), depths, st.data())
def test_ranks_are_swept_like_their_lines(
    columns: list[tuple[float | None, float | None]], rrf_k: int, k: int, data: st.DataObject
) -> None:
    keys = tuple(Key(number, number, f"{number:02}.md", 0, str(number)) for number in range(len(columns)))
    lexical, semantic = (tuple(column) for column in (zip(*columns, strict=True) if columns else ((), ())))
    pool = Pool(keys, lexical, semantic, 1.0, (), exact=True, index_kind="exact")
    config = Config(fusion="rrf", rrf_k=rrf_k)
    documents = [data.draw(st.integers(0, 3)) for _ in keys]

    ranks, lines = sweepable(pool, config), lines_of(pool, config)

    for found, expected in (
        (sweep(ranks, k), sweep(lines, k)),
        (sweep(ranks, k, documents), sweep(lines, k, documents)),
    ):
        assert found.weights == expected.weights
        assert found.orders.tolist() == expected.orders.tolist()


def test_every_cell_of_real_pools_matches_a_new_ranking() -> None:
    check_cells(7, (), cells=CELLS if IS_NIGHTLY else CELLS // 5)


def test_some_cells_of_every_query_shape_match() -> None:
    check_cells(8, SHAPES, cells=CELLS // 20)


@pytest.mark.slow
def test_every_cell_of_every_query_shape_matches() -> None:
    check_cells(9, SHAPES, cells=CELLS)


def check_cells(seed: int, shapes: tuple[str, ...], *, cells: int) -> None:
    """Run queries until `cells` cells of chunks and of documents are checked. shapes: further queries."""
    rng = random.Random(seed)
    words = ["".join(rng.choice("abcdeimnorst") for _ in range(rng.randint(3, 7))) for _ in range(300)]
    written = [*words, *(shape.strip('"') for shape in shapes * 2)]
    store = memory_store()
    put(store, *(new_file(f"{number}.md", texts(rng, written), title=rng.choice(words)) for number in range(90)))

    chunks = documents = 0
    while min(chunks, documents) < cells:
        config = Config(normalize=rng.choice(["bound", "max", "minmax"]), fusion=rng.choice(["weighted", "rrf"]))
        if shapes:
            model, dropped = rng.choice(["fts5", "bm25f"]), rng.choice(["none", "english", "leftovers", "questions"])
            config = config._replace(lexical_model=model, stop_words=dropped)
        asked = [*rng.choices(words, k=2 if shapes else 4), *rng.choices(shapes, k=4 if shapes else 0)]
        pool = pool_of(store, " ".join(asked), config)
        lines = lines_of(pool, config)
        chunks += compare(pool, config, sweep(lines, K), by_document=False)
        owners = [key.doc_rowid for key in pool.keys]
        documents += compare(pool, config, sweep(lines, K, owners), by_document=True)


def texts(rng: random.Random, words: list[str]) -> list[str]:
    return [" ".join(rng.choices(words, k=rng.randint(4, 30))) + "\n" for _ in range(rng.randint(1, 3))]


def pool_of(store: SqliteStore, text: str, config: Config) -> Pool:
    plan = plan_words(text, config=config, mode="hybrid", filter_text=None, k=K, exact=False)
    return gather(plan, store, EMBEDDER)


def compare(pool: Pool, config: Config, swept: Sweep, *, by_document: bool) -> int:
    """Rank again in the middle of every cell, compare, and return the number of cells."""
    cells = swept.orders[1::2].tolist()
    for low, high, row in zip(swept.weights[:-1], swept.weights[1:], cells, strict=True):
        weight = float((low + high) / 2)
        ranking = rank(pool, config._replace(bm25_weight=1 - weight, vector_weight=weight))
        if by_document:
            ranking = best_of_each_document(pool, ranking)
        assert row == ranking.order[:K]
    return len(cells)
