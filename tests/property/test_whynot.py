"""Fixes keep their promise: a new query shows the target, and the next smaller change does not."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.api.engine import Engine
from recall_core.config import Config, settings_of
from recall_core.explain.whynot import ranking_fixes
from recall_core.explain.whynot.fixes import Fixes, fixes
from recall_core.explain.whynot.question import Question, pack_of, plan_of, with_limit, with_settings
from recall_core.explain.whynot.stages import drops, failing, without
from recall_core.explain.whynot.target import Sought
from recall_core.explain.whynot.why import why_not
from recall_core.retrieve import answer as answering
from recall_core.rql.ast import Expr
from recall_core.rql.match import match
from recall_core.rql.parser import parse_filter
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import Row
from tests.builders import EMBEDDER, memory_store, new_file, put
from tests.examples import examples
from tests.sixty_questions import SHAPES

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "omega"]
SIMILAR = ["alphabet", "betatron", "gammaray", "deltoid", "epsilons", "zetas", "omegas"]
"""Near the words for the hash embedder, and different words for the index."""
PHRASES = ['"alpha betatron"', '"gamma omegas"', '"delta epsilon zeta"']
CONFIG = Config(embedding_dim=64)
PREDICATES = [
    "doc.tag = 'even'",
    "chunk.tokens > 3",
    "doc.path GLOB '*0.txt'",
    "doc.source IS NULL",
    "doc.source = 's'",
    "chunk.offset > 0",
    "doc.meta.year >= 2003",
    "lexical('alpha')",
]
FILTERS = st.recursive(
    st.sampled_from(PREDICATES),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda parts: f"({' '.join(parts)})")
        | inner.map(lambda text: f"NOT ({text})")
    ),
    max_leaves=6,
)


@lru_cache(maxsize=4)
def made(seed: int) -> SqliteStore:
    """Return 24 documents of one to three chunks; for an odd seed, a third of them again under another title."""
    store = memory_store()
    vocabulary = [word for pair in zip(WORDS, SIMILAR, strict=True) for word in pair]
    files = []
    for n in range(24):
        texts = [
            " ".join(vocabulary[(n * k * (seed + 1) + k + j) % 14] for k in range(1, 3 + (n + j + seed) % 6)) + " "
            for j in range(1 + (n + seed) % 3)
        ]
        tags = [tag for tag, period in (("even", 2), ("third", 3)) if n % period == 0]
        meta = {"year": 2000 + n % 7} if n % 3 else {}
        files.append(
            new_file(f"d{n}.txt", texts, tags=tags, source="s" if n % 4 else None, meta=meta, title=WORDS[n % 7])
        )
        if seed % 2 and n % 3 == 0:
            files.append(new_file(f"e{n}.txt", texts, title=SIMILAR[n % 7]))
    put(store, *files)
    return store


def asker_of(store: SqliteStore) -> Engine:
    return Engine(store, config=CONFIG, base=Path(), embedder=EMBEDDER)


def shows(store: SqliteStore, question: Question, row: Row) -> bool:
    """Return True if a new search or context shows the chunk."""
    asker = asker_of(store)
    found = asker.answer(plan_of(question, asker))
    if question.budget_tokens is None:
        return row.chunk.id in {hit.chunk.id for hit in answering.page(found, store) if hit.chunk}
    packed = asker.pack(found, pack_of(question))
    return any(row.chunk.id in block.chunk_ids and not block.truncated for block in packed.blocks)


UNSAID = {name: st.just(value) for name, value in Question._field_defaults.items()}
"""Fixed defaults; otherwise hypothesis invents values for the defaults of a named tuple."""
UNASKED = {"rql", "changes", "exact", "budget_tokens", "diversity", "counter", "query", "where"}
SETTINGS = st.lists(
    st.sampled_from(
        [
            "fusion=rrf",
            "normalize=minmax",
            "normalize=max",
            "match=all",
            "stop_words=questions",
            "stop_words=leftovers",
            "min_score=0.4",
            "min_cosine=0.3",
            "sparse_recall=false",
            "sparse_distance_ceiling=0.9",
            "vector_weight=0.7",
            "title_weight=1",
        ]
    ),
    max_size=3,
    unique_by=lambda text: text.partition("=")[0],
).map(tuple)
QUESTIONS = st.builds(
    Question,
    **{name: UNSAID[name] for name in UNASKED},
    words=st.lists(st.sampled_from([*WORDS, "unknown", *PHRASES, *SHAPES]), min_size=1, max_size=5).map(" ".join),
    mode=st.sampled_from(["hybrid", "hybrid", "lexical", "semantic"]),
    filter=st.none() | FILTERS,
    k=st.integers(1, 8),
    settings=SETTINGS | SETTINGS.map(lambda texts: settings_of(texts, where="--set")),
)
CONTEXTS = st.builds(
    Question,
    **{name: UNSAID[name] for name in ("mode", "filter", "settings", *(UNASKED - {"budget_tokens", "diversity"}))},
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    k=st.none() | st.integers(1, 8),
    budget_tokens=st.integers(4, 60),
    diversity=st.none() | st.integers(0, 2),
)


def fixes_of(seed: int, question: Question, pick: int) -> tuple[SqliteStore, Row, Fixes] | None:
    """Return the fixes for a chunk that the query does not show, or None if it shows it."""
    store = made(seed)
    keys = store.candidates(None)
    key = keys[pick % len(keys)]
    row = store.fetch([key.rowid])[0]
    if shows(store, question, row):
        return None
    asker = asker_of(store)
    found = asker.answer(plan_of(question, asker))
    return store, row, fixes(asker, question, found, Sought(row, key.doc_rowid, None))


def check(store: SqliteStore, row: Row, done: Fixes) -> None:
    for change in done.changes:
        assert shows(store, change.question, row), change
        assert change.smaller is None or not shows(store, change.smaller, row), change
        if change.kind.split("+")[-1] in ("k", "budget", "diversity", "pool", "min_score", "min_cosine"):
            assert change.smaller is not None


@examples(25)
@given(seed=st.integers(0, 3), question=QUESTIONS, pick=st.integers(0, 10_000))
def test_every_fix_of_a_list_is_confirmed_and_minimal(seed: int, question: Question, pick: int) -> None:
    done = fixes_of(seed, question, pick)
    if done is None:
        return
    check(*done)
    store, row, found = done
    listed = answering.answer(plan_of(question, asker_of(store)), store, EMBEDDER)
    if listed.pool is not None and row.rowid in {key.rowid for key in listed.pool.keys}:
        assert found.changes or found.never


@examples(15)
@given(seed=st.integers(0, 3), question=CONTEXTS, pick=st.integers(0, 10_000))
def test_every_fix_of_a_context_is_confirmed_and_minimal(seed: int, question: Question, pick: int) -> None:
    done = fixes_of(seed, question, pick)
    if done is not None:
        check(*done)
        assert done[2].changes


@examples(25)
@given(seed=st.integers(0, 3), question=QUESTIONS, pick=st.integers(0, 10_000))
def test_smallest_k_is_the_minimum(seed: int, question: Question, pick: int) -> None:
    done = fixes_of(seed, with_settings(question, {"sparse_recall": False})._replace(filter=None), pick)
    if done is None:
        return
    store, row, found = done
    for change in found.changes:
        if change.kind == "k":
            assert change.question.k is not None
            assert not any(shows(store, with_limit(change.question, k), row) for k in range(change.question.k))


@examples(25)
@given(seed=st.integers(0, 3), question=QUESTIONS, pick=st.integers(0, 10_000), most=st.integers(1, 6))
def test_proven_misses_appear_at_no_weight(seed: int, question: Question, pick: int, most: int) -> None:
    plain = with_settings(question, {"sparse_recall": False, "min_score": 0})._replace(k=most)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking_fixes, "K_MOST", most)
        done = fixes_of(seed, plain, pick)
    if done is None:
        return
    store, row, found = done
    if found.never is None:
        return
    for weight in (n / 20 for n in range(21)):
        weights = {"bm25_weight": round(1 - weight, 2), "vector_weight": weight}
        assert not shows(store, with_settings(found.start.question, weights), row)
    assert len(found.never.winning.always_ahead) < len(store.candidates(None))


@given(seed=st.integers(0, 3), where=FILTERS.map(parse_filter), pick=st.integers(0, 10_000))
def test_dropping_the_fewest_predicates_admits_the_row(seed: int, where: Expr, pick: int) -> None:
    keys = made(seed).candidates(None)
    row = made(seed).fetch([keys[pick % len(keys)].rowid])[0]
    has_words = made(seed).has_words
    sets = drops(where, row, has_words)
    assert bool(sets) != match(where, row, has_words)
    every = {each.text for each in failing(where, row, has_words)}
    for dropped in sets:
        rest = without(where, dropped)
        assert rest is None or match(rest, row, has_words)
        assert set(dropped) <= every
        for fewer in combinations(dropped, len(dropped) - 1):
            left = without(where, fewer)
            assert left is not None
            assert not match(left, row, has_words)


@examples(40)
@given(seed=st.integers(0, 3), question=QUESTIONS | CONTEXTS, pick=st.integers(0, 10_000))
def test_verdict_is_the_first_failing_stage(seed: int, question: Question, pick: int) -> None:
    store = made(seed)
    keys = store.candidates(None)
    row = store.fetch([keys[pick % len(keys)].rowid])[0]
    view = why_not(asker_of(store), question, row.chunk.id, fixes=False).view
    failed = [stage["code"] for stage in view["stages"] if stage["status"] == "fail"]
    assert view["present"] == shows(store, question, row)
    assert view["verdict"] == ("present" if view["present"] else failed[0])
    if not view["present"]:
        assert set(failed) > {"stale"}  # this store has no files
