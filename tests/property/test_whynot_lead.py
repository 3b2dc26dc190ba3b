"""Shortcuts of whynot: what stays ahead, ranks in a full list, and equal retrievals."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.api.engine import Engine
from recall_core.config import Settings
from recall_core.explain.whynot.fix import Start, is_led_in_deeper_pools, lead
from recall_core.explain.whynot.fixes import is_filtered_out
from recall_core.explain.whynot.question import (
    KeptAsker,
    Question,
    keep_reads,
    plan_of,
    retrieval,
    with_settings,
    with_spelling,
    with_word,
)
from recall_core.explain.whynot.stages import full_ranks
from recall_core.explain.whynot.target import Sought
from recall_core.explain.whynot.word_fixes import rare_words
from recall_core.retrieve import pool as pool_module
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import LiteralQuery
from tests.builders import memory_store, new_file, put
from tests.examples import examples
from tests.property.test_whynot import QUESTIONS, asker_of, made, shows

POOLS = st.none() | st.integers(1, 12)
"""The depth of a bounded pool; None for a complete one."""


def weights(share: float) -> Settings:
    """Return weights with this semantic share."""
    return {"bm25_weight": round(1 - share, 1), "vector_weight": share}


OTHERS: list[Settings] = [
    {},
    {"sparse_distance_ceiling": 2.0, "sparse_chunk_threshold": 1, "sparse_recall": True},
    {"rerank": "hash", "rerank_rows": 20, "rerank_weight": 1.0},
    {"min_cosine": 0.6},
]
"""Settings that admit a row or remove rows before it, whatever its score."""
VALUES = st.sampled_from([{**weights(share), **others} for share in (0.1, 0.5, 0.9) for others in OTHERS])


def start_of(
    seed: int, question: Question, pick: int, depth: int | None, values: Settings
) -> tuple[SqliteStore, KeptAsker, Start, Sought]:
    """Return a query with its answer, of a bounded pool or a complete one, and a chunk of the store."""
    question = with_settings(question, {"pool": depth or 200, **values})
    store = made(seed)
    keys = store.candidates(None)
    key = keys[pick % len(keys)]
    asker = keep_reads(asker_of(store))
    found = asker.answer(plan_of(question, asker))
    return store, asker, Start(question, found), Sought(store.fetch([key.rowid])[0], key.doc_rowid, None)


@pytest.fixture(params=[20_000, 0], ids=["whole", "bounded"], autouse=True)
def most_vectors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "EXACT_VECTORS", request.param)


def try_words(asker: KeptAsker, start: Start, sought: Sought) -> Sequence[tuple[Question, bool]]:
    """Return the query with each word of the chunk's text added, and whether whynot skips it."""
    words = rare_words(asker, start, sought)
    led = lead(asker, start, sought, words)
    questions = [with_word(start.question, word.text) for word in words]
    return [
        (question, led is not None and led.stays(plan_of(question, asker), word))
        for question, word in zip(questions, words, strict=True)
    ]


@examples(50)
@given(
    seed=st.integers(0, 3),
    question=QUESTIONS,
    pick=st.integers(0, 10_000),
    depth=POOLS,
    values=VALUES,
)
def test_skipped_word_brings_nothing_in(
    seed: int, question: Question, pick: int, depth: int | None, values: Settings
) -> None:
    store, asker, start, sought = start_of(seed, question, pick, depth, values)
    for changed, is_passed_over in try_words(asker, start, sought):
        assert not (is_passed_over and shows(store, changed, sought.row)), changed


@examples(25)
@given(
    seed=st.integers(0, 3),
    question=QUESTIONS,
    pick=st.integers(0, 10_000),
    depth=POOLS,
    values=VALUES,
)
def test_skipped_spelling_brings_nothing_in(
    seed: int, question: Question, pick: int, depth: int | None, values: Settings
) -> None:
    typed = "zqxj"
    store, asker, start, sought = start_of(seed, with_word(question, typed), pick, depth, values)
    terms = store.term_stats(LiteralQuery("", store.analyzer.each(words_of(store))))
    words = [term for term in terms if term.df]
    led = lead(asker, start, sought, words)
    if led is None:
        return
    for word in words:
        changed = with_spelling(start.question, lambda text, word=word: text.replace(typed, word.text))
        if led.stays(plan_of(changed, asker), word, instead_of=typed):
            assert not shows(store, changed, sought.row), changed


def words_of(store: SqliteStore) -> list[str]:
    """Return every word in the texts of the store."""
    texts = [row.chunk.text for row in store.fetch([key.rowid for key in store.candidates(None)])]
    return list(dict.fromkeys(store.analyzer.tokens(" ".join(texts))))


@examples(50)
@given(
    seed=st.integers(0, 3), question=QUESTIONS, pick=st.integers(0, 10_000), depth=st.integers(1, 12), values=VALUES
)
def test_row_led_in_deeper_pools_appears_in_none(
    seed: int, question: Question, pick: int, depth: int, values: Settings
) -> None:
    store, asker, start, sought = start_of(seed, question, pick, depth, values)
    if start.answer.pool is None or start.answer.pool.exact or not is_led_in_deeper_pools(asker, start, sought):
        return
    deeper = [with_settings(start.question, {"pool": each}) for each in range(depth, depth + 30, 3)]
    for changed in (*deeper, start.question._replace(exact=True)):
        assert not shows(store, changed, sought.row), changed


@examples(40)
@given(seed=st.integers(0, 3), question=QUESTIONS, pick=st.integers(0, 10_000), depth=st.integers(1, 12))
def test_full_ranks_cover_every_row(seed: int, question: Question, pick: int, depth: int) -> None:
    _, asker, start, sought = start_of(seed, question, pick, depth, weights(0.5))
    pool = start.answer.pool
    if pool is None or pool.exact or pool.lexical_model != "fts5":
        return
    ranks = full_ranks(asker, start.answer.plan, start.answer, sought)
    whole = asker_of(asker.store).answer(start.answer.plan._replace(exact=True))
    assert whole.pool is not None
    for signal, raw in (("lexical", whole.pool.lexical), ("semantic", whole.pool.semantic)):
        order = [at for at, value in enumerate(raw) if value is not None]
        order.sort(key=lambda at: -(raw[at] or 0.0))
        listed = [whole.pool.keys[at].rowid for at in order]
        rank = listed.index(sought.row.rowid) + 1 if sought.row.rowid in listed else None
        assert ranks[signal] == rank


@examples(40)
@given(
    seed=st.integers(0, 3),
    question=QUESTIONS,
    values=st.dictionaries(
        st.sampled_from(["k", "fusion", "normalize", "vector_weight", "min_score", "sparse_recall", "pool", "match"]),
        st.just(None),
    ),
    depth=st.integers(1, 6),
)
def test_equal_retrieval_settings_give_the_same_candidates(
    seed: int, question: Question, values: dict[str, None], depth: int
) -> None:
    others = {"fusion": "rrf", "normalize": "max", "vector_weight": 0.3, "min_score": 0.2, "sparse_recall": False}
    changed = {"pool": depth, "match": "all", **others}
    asker: Engine = asker_of(made(seed))
    one = plan_of(question, asker)
    other = plan_of(
        with_settings(question, {key: changed[key] for key in values if key in changed})._replace(
            k=7 if "k" in values else question.k
        ),
        asker,
    )
    if retrieval(one) == retrieval(other):
        assert asker.answer(one).pool == asker.answer(other).pool
    else:
        assert {"pool", "match"} & set(values)


@given(seed=st.integers(0, 3), question=QUESTIONS, pick=st.integers(0, 10_000))
def test_filtered_row_never_appears_under_other_settings(seed: int, question: Question, pick: int) -> None:
    store, asker, start, sought = start_of(seed, question, pick, None, {})
    if not is_filtered_out(start, sought, store.has_words):
        return
    for changed in (with_settings(question, {"match": "any"}), question._replace(k=1_000, exact=True)):
        assert not shows(store, changed, sought.row)
    assert asker.answer(start.answer.plan).pool is start.answer.pool


def test_copies_of_one_text_hide_a_row_like_one_copy() -> None:
    store = memory_store()
    texts = ["alpha beta\n"] * 6 + ["alpha beta gamma delta\n", *(f"omega zeta {n}\n" for n in range(9))]
    put(store, *(new_file(f"{n:02}.txt", [text]) for n, text in enumerate(texts)))
    values: Settings = {"pool": 4, "sparse_recall": False}
    question = with_settings(Question(words="alpha beta", k=3), values)
    asker = keep_reads(asker_of(store))
    start = Start(question, asker.answer(plan_of(question, asker)))
    sought = Sought(store.fetch([store.candidates(None)[6].rowid])[0], 7, None)

    assert shows(store, question._replace(exact=True), sought.row)
    assert not is_led_in_deeper_pools(asker, start, sought)
