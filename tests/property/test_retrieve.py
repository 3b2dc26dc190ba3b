"""Strict filters, complete scores and pages, compared with brute force over every row."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.rank.bm25 import scores
from recall_core.rank.columns import KeyColumns
from recall_core.rank.estimates import EstimatedColumn
from recall_core.retrieve import answer as answering
from recall_core.retrieve import pool
from recall_core.retrieve.plan import plan_rql, plan_words
from recall_core.rql.match import match
from recall_core.rql.parser import parse_filter
from recall_core.store.port import Store
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import LiteralQuery, Row
from recall_core.words.question import literal
from tests.arrays import ArrayStore
from tests.builders import EMBEDDER, memory_store, new_file, put
from tests.examples import examples
from tests.sixty_questions import SHAPES

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
CONFIG = Config(embedding_dim=64, collapse=False)
FILTERS = [
    None,
    "doc.tag = 'even'",
    "doc.tag IN ('even', 'third') AND chunk.tokens > 3",
    "NOT doc.path GLOB '*0.txt'",
    "doc.source IS NULL OR chunk.offset > 0",
    "doc.path = 'd7.txt'",
    "doc.tag = 'absent'",
    "NOT lexical('alpha gamma')",
]


@lru_cache
def store() -> SqliteStore:
    made = memory_store()
    files = []
    for n in range(40):
        texts = [" ".join(WORDS[(n * k + k) % 6] for k in range(1, 3 + (n + j) % 5)) + " " for j in range(1 + n % 3)]
        tags = [tag for tag, period in (("even", 2), ("third", 3)) if n % period == 0]
        files.append(new_file(f"d{n}.txt", texts, tags=tags, source="s" if n % 4 else None, title=WORDS[n % 6]))
    put(made, *files)
    return made


def rows() -> dict[int, Row]:
    return {row.rowid: row for row in store().fetch([key.rowid for key in store().candidates(None)])}


QUOTED = st.lists(st.sampled_from([*WORDS, "unknown"]), min_size=1, max_size=3).map(
    lambda words: f'"{" ".join(words)}"'
)
QUESTIONS = st.lists(
    st.sampled_from([*WORDS, "unknown"]) | QUOTED | st.sampled_from(SHAPES), min_size=1, max_size=5
).map(" ".join)


@given(
    words=QUESTIONS,
    where=st.sampled_from(FILTERS),
    mode=st.sampled_from(["hybrid", "lexical", "semantic"]),
    ranking=st.tuples(st.sampled_from(["weighted", "rrf"]), st.sampled_from(["none", "english", "questions"])),
    k=st.integers(0, 100),
)
def test_filtered_answer_matches_brute_force(
    words: str, where: str | None, mode: str, ranking: tuple[str, str], k: int
) -> None:
    config = CONFIG._replace(fusion=ranking[0], stop_words=ranking[1])
    plan = plan_words(words, config=config, mode=mode, filter_text=where, k=k, exact=False)
    found = answering.answer(plan, store(), EMBEDDER)
    listed = answering.page(found, store())
    expr = parse_filter(where) if where else None
    passing = {rowid for rowid, row in rows().items() if expr is None or match(expr, row, store().has_words)}
    query = pool.ask(plan, store(), EMBEDDER)
    lexical = score_rows(query.lexical, config) if isinstance(query.lexical, LiteralQuery) else {}
    cosines = store().cosines(query.vector, where=None) if query.vector else {}
    expected = passing if query.vector else passing & set(lexical)
    assert found.total == len(expected)
    assert len(listed) == min(k, len(expected))
    for hit in listed:
        rowid = store().rowid("chunk", hit.chunk.id if hit.chunk else "")
        assert rowid in expected
        raws = {part.signal: part.raw for part in hit.parts}
        assert raws.get("lexical", lexical.get(rowid)) == pytest.approx(lexical.get(rowid), rel=1e-12)
        assert raws.get("semantic", cosines.get(rowid)) == cosines.get(rowid)
        assert hit.score == sum(part.points for part in hit.parts)
    ordering = [(-(hit.score or 0), hit.doc.path, hit.chunk.offset if hit.chunk else 0) for hit in listed]
    assert ordering == sorted(ordering)


def score_rows(query: LiteralQuery, config: Config) -> dict[int, float]:
    """Return the score of every row that contains a phrase, by the core's formula over all of these rows."""
    counts = store().occurrences(query, None)
    holding = sorted(set().union(*counts.counts))
    return dict(zip(holding, scores(counts, holding, config), strict=True))


@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    where=st.sampled_from(FILTERS),
    using=st.sampled_from(["lexical('{0}')", "semantic('{0}')", "lexical('{0}'), semantic('{0}')"]),
    min_score=st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.9]),
    end=st.sampled_from(["LIMIT 100", "LIMIT 3", "LIMIT 5 OFFSET 2", "ORDER BY doc.path DESC LIMIT 100"]),
)
def test_document_counts_if_its_best_chunk_passes_min_score(
    words: str, where: str | None, using: str, min_score: float, end: str
) -> None:
    filtering = f"FILTER {where}" if where else ""
    ask = f"SELECT * FROM {{}} USING {using.format(words)} {filtering} {end} OPTION min_score {min_score}"
    chunks, documents = (
        answering.answer(plan_rql(ask.format(table), config=CONFIG, exact=False), store(), EMBEDDER)
        for table in ("chunk", "doc")
    )
    best: dict[str, float] = {}
    for hit in answering.hits(chunks, store(), start=0, stop=chunks.total):
        best[hit.doc.path] = max(best.get(hit.doc.path, 0.0), hit.score or 0.0)
    listed = answering.page(documents, store())
    assert all(score >= min_score for score in best.values())
    assert documents.total == len(best)
    assert len(listed) == max(0, min(documents.plan.limit, len(best) - documents.plan.offset))
    assert [hit.score for hit in listed] == [best[hit.doc.path] for hit in listed]


TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
QUERIES = st.builds(
    "SELECT * FROM {} {} {} {}".format,
    st.sampled_from(["chunk", "doc"]),
    st.one_of(
        st.just(""),
        TEXTS.map("USING semantic('{}')".format),
        TEXTS.map("USING lexical('{}')".format),
        st.builds("USING lexical('{}'), semantic('{}')".format, TEXTS, TEXTS),
    ),
    st.sampled_from([f"FILTER {where}" if where else "" for where in FILTERS]),
    st.sampled_from(["", "ORDER BY doc.path DESC", "ORDER BY doc.source, doc.mtime DESC", "ORDER BY doc.tag"]),
)


@examples(25)
@given(query=QUERIES, size=st.integers(1, 40))
def test_pages_partition_the_full_list(query: str, size: int) -> None:
    check_pages(query, size)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@settings(max_examples=20_000)
@given(query=QUERIES, size=st.integers(1, 40))
def test_pages_partition_the_full_list_at_length(query: str, size: int) -> None:
    check_pages(query, size)


def check_pages(query: str, size: int) -> None:
    def listed(limit: int, offset: int) -> list[str]:
        text = f"{query} LIMIT {limit} OFFSET {offset}"
        table = query.split()[3]
        plan = plan_rql(text, config=CONFIG, exact=False)
        found = answering.answer(plan, store(), EMBEDDER)
        hits = answering.page(found, store())
        return [hit.chunk.id if hit.chunk and table == "chunk" else hit.doc.id for hit in hits]

    whole = listed(10_000, 0)
    pages = [chunk for offset in range(0, len(whole) + size, size) for chunk in listed(size, offset)]
    assert pages == whole
    assert len(set(whole)) == len(whole)


@given(
    words=QUESTIONS, match=st.sampled_from(["any", "all"]), depth=st.integers(1, 8), where=st.sampled_from(FILTERS)
)
def test_bounded_lexical_list_keeps_best_and_all_phrase_rows(
    words: str, match: str, depth: int, where: str | None
) -> None:
    query = literal(words, analyzer=store().analyzer, match=match)
    expr = parse_filter(where) if where else None
    whole = store().lexical(query, where=expr, k=None, title_weight=3.0)
    bounded = store().lexical(query, where=expr, k=depth, title_weight=3.0)
    order = [key.rowid for key in store().candidates(None, rowids=list(whole))]
    best = sorted(order, key=lambda rowid: -whole[rowid])[:depth]
    counts = store().occurrences(query, list(whole))
    long = {phrase.text for phrase in query.long_phrases}
    held = [set(rows) for term, rows in zip(counts.phrases, counts.counts, strict=True) if term.text in long]
    holding = set().union(*held)
    assert bounded.items() <= whole.items()
    assert list(bounded.values()) == sorted(bounded.values(), reverse=True)
    if len(holding) <= depth:
        assert bounded.keys() == {*best, *holding}
    else:
        rarest = min(filter(None, held), key=len)
        assert depth <= len(bounded) <= 2 * depth
        assert rarest <= bounded.keys() or len(rarest) > depth


@pytest.mark.parametrize("words", ["alpha beta", "gamma", "zeta unknown delta", 'gamma "delta epsilon"'])
def test_bounded_pool_scores_its_candidates_completely(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_words(words, config=CONFIG._replace(pool=10), mode="hybrid", filter_text=None, k=5, exact=False)
    whole = answering.answer(plan, store(), EMBEDDER)
    monkeypatch.setattr(pool, "EXACT_VECTORS", 0)
    bounded = answering.answer(plan, store(), EMBEDDER)
    assert (whole.exact, bounded.exact) == (True, False)
    assert 10 <= bounded.total <= 20
    full = {hit.chunk.id: hit for hit in answering.hits(whole, store(), start=0, stop=10**6) if hit.chunk}
    for hit in answering.hits(bounded, store(), start=0, stop=100):
        assert hit.chunk is not None
        assert hit.score == full[hit.chunk.id].score
    exact = answering.answer(plan._replace(exact=True), store(), EMBEDDER)
    assert exact.exact
    assert exact.total == whole.total


def test_ingest_order_and_location_do_not_change_answers() -> None:
    files = [new_file(f"d{n}.txt", [f"{WORDS[n % 6]} {WORDS[n % 5]} tail"], tags=["t"]) for n in range(12)]
    answers = []
    for arrangement in (files, files[::-1], files[6:] + files[:6]):
        with tempfile.TemporaryDirectory() as folder:
            made = memory_store(str(Path(folder) / "r.db"))
            put(made, *arrangement)
            plan = plan_words("alpha beta", config=CONFIG, mode="hybrid", filter_text=None, k=20, exact=False)
            found = answering.answer(plan, made, EMBEDDER)
            answers.append([(hit.score, hit.doc, hit.chunk, hit.parts) for hit in answering.page(found, made)])
            made.close()
    assert answers[0] == answers[1] == answers[2]


@given(
    words=QUESTIONS,
    where=st.sampled_from(FILTERS),
    mode=st.sampled_from(["hybrid", "lexical", "semantic"]),
    ranking=st.tuples(st.sampled_from(["weighted", "rrf"]), st.sampled_from(["fts5", "bm25f"]), st.booleans()),
    size=st.tuples(st.sampled_from([0, 20_000]), st.integers(0, 12)),
)
def test_array_store_gives_the_same_answers(
    words: str, where: str | None, mode: str, ranking: tuple[str, str, bool], size: tuple[int, int]
) -> None:
    (fusion, model, by_document), (whole, k) = ranking, size
    config = CONFIG._replace(fusion=fusion, lexical_model=model, pool=7, sparse_distance_ceiling=0.6)
    plan = plan_words(words, config=config, mode=mode, filter_text=where, k=k, exact=False)
    plan = plan._replace(table="doc") if by_document else plan
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "EXACT_VECTORS", whole)
        for each in (store(), cast(Store, ArrayStore(store()))):
            answer = answering.answer(plan, each, EMBEDDER)
            packed = answering.packable(answer, each)
            hits = [answering.page(answer, each), list(answering.candidates(packed, each))]
            found.append(
                (hits, answer.pool, list(answer.ranked or ()), answer.total, answer.recall and answer.recall[1:])
            )

    assert found[1] == found[0]
    assert isinstance(found[1][1].keys if found[1][1] else None, KeyColumns)


@given(
    words=QUESTIONS,
    where=st.sampled_from(FILTERS),
    mode=st.sampled_from(["hybrid", "semantic"]),
    weights=st.tuples(st.sampled_from([0.0, 0.3, 0.9]), st.sampled_from([0.1, 0.7]), st.sampled_from([0.0, 0.2])),
    limit=st.integers(0, 15),
)
def test_page_of_estimated_cosines_matches_exact_cosines(
    words: str, where: str | None, mode: str, weights: tuple[float, float, float], limit: int
) -> None:
    bm25, semantic, least = weights
    config = CONFIG._replace(
        bm25_weight=bm25, vector_weight=semantic, min_score=least, sparse_distance_ceiling=0.8, lexical_model="bm25f"
    )
    plan = plan_words(words, config=config, mode=mode, filter_text=where, k=limit, exact=False)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "_FEW_CHUNKS", 0)
        patch.setattr(store(), "memory_mb", 0)
        for is_read_on in (False, True):
            with store().reading():
                answer = answering.answer(plan, store(), EMBEDDER, is_read_on=is_read_on)
                hits = answering.page(answer, store())
                packed = list(answering.candidates(answering.packable(answer, store()), store()))
                found.append(
                    (hits, packed, answer.total, answer.recall and answer.recall[1:], list(answer.ranked or ()))
                )

    assert found[1] == found[0]
    assert answer.pool is not None
    assert isinstance(answer.pool.semantic, EstimatedColumn) or not answer.pool.semantic
