"""Sparse-document recall on hand-made pools, one row per case; then through a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from recall_core.config import Config
from recall_core.errors import UsageError
from recall_core.ports import Reranker
from recall_core.rank.fuse import best_of_each_document, rank
from recall_core.rank.sparse import Given, Recalled, Report, near_documents, recall_short
from recall_core.retrieve import answer as answering
from recall_core.retrieve.plan import plan_rql, plan_words
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import Key, Pool
from tests.builders import EMBEDDER, memory_store, new_file, put

WORDY = Config(bm25_weight=1.0, vector_weight=0.0)


class Doc(NamedTuple):
    """A document of a case: each chunk's lexical value and cosine, and its total number of chunks."""

    chunks: Sequence[tuple[float, float | None]]
    count: int = 0


def long(lexical: float, cosine: float = 0.1) -> Doc:
    return Doc([(lexical, cosine)], 5)


def short(lexical: float, cosine: float, *more: tuple[float, float]) -> Doc:
    return Doc([(lexical, cosine), *more])


def pool(docs: Sequence[Doc], *, semantic: bool = True) -> Pool:
    rows = [(doc, chunk) for doc, each in enumerate(docs) for chunk in range(len(each.chunks))]
    keys = tuple(Key(100 + n, doc, f"{doc:02}.txt", chunk, 1) for n, (doc, chunk) in enumerate(rows))
    lexical = tuple(docs[doc].chunks[chunk][0] for doc, chunk in rows)
    cosines = tuple(docs[doc].chunks[chunk][1] for doc, chunk in rows) if semantic else ()
    return Pool(keys, lexical, cosines, 1.0, (), exact=True, index_kind="exact")


def recall(
    docs: Sequence[Doc], limit: int, config: Config = WORDY, *, semantic: bool = True, by_document: bool = False
) -> Recalled:
    given = pool(docs, semantic=semantic)
    ranking = rank(given, config)
    if by_document:
        ranking = best_of_each_document(given, ranking)
    counts = {doc: each.count or len(each.chunks) for doc, each in enumerate(docs)}
    looked_at = near_documents(given, ranking, limit=limit)
    return recall_short(given, ranking, config, limit=limit, chunk_counts={doc: counts[doc] for doc in looked_at})


FULL = [long(0.9), long(0.8), long(0.7)]
SHORT = Doc([(0.75, 0.1)])
CUT = WORDY._replace(min_score=0.5)

CASES = {
    "the list is not full": ([long(0.9), short(0.1, 0.9)], 5, CUT, [0, 1], {1: Given(0.1, None)}, "injected"),
    "the list is full": ([*FULL, short(0.1, 0.9)], 3, WORDY, [0, 1, 3], {3: Given(0.1, 2)}, "injected"),
    "present once": ([*FULL, short(1.0, 0.9)], 3, WORDY, [3, 0, 1], {}, "already_present"),
    "present in the last row": ([*FULL, short(0.75, 0.9)], 3, WORDY, [0, 1, 3], {}, "already_present"),
    "present just behind the last row": (
        [*FULL, long(0.5), short(0.6, 0.9)], 3, WORDY, [0, 1, 4], {4: Given(0.1, 2)}, "injected",
    ),
    "present more than once": ([*FULL, short(1.0, 0.9, (0.95, 0.95))], 3, WORDY, [3, 4, 0], {}, "already_present"),
    "its other chunk is present": ([*FULL, short(1.0, 0.1, (0.0, 0.95))], 3, WORDY, [3, 0, 1], {}, "already_present"),
    "two chunks": ([*FULL, short(0.1, 0.85, (0.0, 0.9))], 3, WORDY, [0, 1, 4], {4: Given(0.1, 2)}, "injected"),
    "three chunks": ([*FULL, short(0.1, 0.9, (0.0, 0.1), (0.0, 0.1))], 3, WORDY, [0, 1, 2], {}, "not_short"),
    "as many chunks as another threshold": (
        [*FULL, short(0.1, 0.9, (0.0, 0.1), (0.0, 0.1))], 3, WORDY._replace(sparse_chunk_threshold=3), [0, 1, 3],
        {3: Given(0.1, 2)}, "injected",
    ),
    "one chunk more than another threshold": (
        [*FULL, short(0.1, 0.9, (0.0, 0.1))], 3, WORDY._replace(sparse_chunk_threshold=1), [0, 1, 2], {}, "not_short",
    ),
    "its chunks count, not those in the pool": ([*FULL, Doc([(0.1, 0.9)], 3)], 3, WORDY, [0, 1, 2], {}, "not_short"),
    "at another ceiling": (
        [*FULL, short(0.1, 0.7)], 3, WORDY._replace(sparse_distance_ceiling=0.3), [0, 1, 3], {3: Given(0.3, 2)},
        "injected",
    ),
    "just above another ceiling": (
        [*FULL, short(0.1, 0.699999)], 3, WORDY._replace(sparse_distance_ceiling=0.3), [0, 1, 2], {}, "too_far",
    ),
    "just above a ceiling below the usual one": (
        [*FULL, short(0.1, 0.899999)], 3, WORDY._replace(sparse_distance_ceiling=0.1), [0, 1, 2], {}, "too_far",
    ),
    "at the ceiling 0": (
        [*FULL, short(0.1, 1.0)], 3, WORDY._replace(sparse_distance_ceiling=0.0), [0, 1, 3], {3: Given(0.0, 2)},
        "injected",
    ),
    "at the ceiling": ([*FULL, short(0.1, 0.8)], 3, WORDY, [0, 1, 3], {3: Given(0.2, 2)}, "injected"),
    "just above the ceiling": ([*FULL, short(0.1, 0.799999)], 3, WORDY, [0, 1, 2], {}, "too_far"),
    "just below the ceiling": (
        [*FULL, short(0.1, 0.800001)], 3, WORDY, [0, 1, 3], {3: Given(0.199999, 2)}, "injected",
    ),
    "not in the raw top": ([*FULL, *[long(0.2, 0.95)] * 50, short(0.1, 0.9)], 3, WORDY, [0, 1, 2], {}, "not_short"),
    "last in the raw top": (
        [*FULL, *[long(0.2, 0.95)] * 49, short(0.1, 0.9)], 3, WORDY, [0, 1, 52], {52: Given(0.1, 2)}, "injected",
    ),
    "last in three times the list": (
        [*[long(0.9)] * 17, *[long(0.2, 0.95)] * 50, short(0.1, 0.9)], 17, WORDY, [*range(16), 67],
        {67: Given(0.1, 16)}, "injected",
    ),
    "not in three times the list": (
        [*[long(0.9)] * 17, *[long(0.2, 0.95)] * 51, short(0.1, 0.9)], 17, WORDY, [*range(17)], {}, "not_short",
    ),
    "fifty where three times the list is less": (
        [*[long(0.9)] * 16, *[long(0.2, 0.95)] * 49, short(0.1, 0.9)], 16, WORDY, [*range(15), 65],
        {65: Given(0.1, 15)}, "injected",
    ),
    "no more than fifty where three times the list is less": (
        [*[long(0.9)] * 16, *[long(0.2, 0.95)] * 50, short(0.1, 0.9)], 16, WORDY, [*range(16)], {}, "not_short",
    ),
    "two are tied": ([*FULL, short(0.1, 0.9), short(0.2, 0.9)], 3, WORDY, [0, 1, 3], {3: Given(0.1, 2)}, "injected"),
    "two are tied for the last place in the raw top": (
        [*FULL, *[long(0.2, 0.95)] * 49, short(0.1, 0.9), short(0.3, 0.9)], 3,
        WORDY._replace(sparse_max_injections=2), [0, 1, 52], {52: Given(0.1, 2)}, "injected",
    ),
    "two of its chunks are tied": (
        [*FULL, short(0.1, 0.9, (0.0, 0.9))], 3, WORDY, [0, 1, 3], {3: Given(0.1, 2)}, "injected",
    ),
    "the nearest of two": (
        [*FULL, short(0.2, 0.9), short(0.1, 0.95)], 3, WORDY, [0, 1, 4], {4: Given(0.05, 2)}, "injected",
    ),
    "no injection allowed": (
        [*FULL, short(0.1, 0.9)], 3, WORDY._replace(sparse_max_injections=0), [0, 1, 2], {}, "max_injections",
    ),
    "two injections": (
        [*FULL, short(0.1, 0.9), short(0.1, 0.95)], 3, WORDY._replace(sparse_max_injections=2), [0, 4, 3],
        {4: Given(0.05, 1), 3: Given(0.1, 2)}, "injected",
    ),
    "two injections and one free row": (
        [long(0.9), long(0.8), short(0.1, 0.9), short(0.1, 0.95)], 3, CUT._replace(sparse_max_injections=2),
        [0, 3, 2], {3: Given(0.05, 1), 2: Given(0.1, None)}, "injected",
    ),
    "limit 1": ([*FULL, short(0.1, 0.9)], 1, WORDY, [3], {3: Given(0.1, 0)}, "injected"),
    "limit 1 and two injections": (
        [*FULL, short(0.1, 0.9), short(0.1, 0.95)], 1, WORDY._replace(sparse_max_injections=2), [4],
        {4: Given(0.05, 0)}, "injected",
    ),
    "limit 0": ([*FULL, short(0.1, 0.9)], 0, WORDY, [], {}, "no_row"),
    "min_score had cut it": ([*FULL, short(0.1, 0.9)], 3, CUT, [0, 1, 3], {3: Given(0.1, 2)}, "injected"),
    "min_score had cut every row": ([long(0.4), short(0.1, 0.9)], 3, CUT, [], {}, "not_mostly_long"),
    "no row of a long document": ([SHORT, SHORT, SHORT, short(0.1, 0.9)], 3, WORDY, [0, 1, 2], {}, "not_mostly_long"),
    "fewer than half of the rows": (
        [long(0.9), SHORT, SHORT, short(0.1, 0.9)], 3, WORDY, [0, 1, 2], {}, "not_mostly_long",
    ),
    "half of the rows": (
        [long(0.9), long(0.85), SHORT, SHORT, short(0.1, 0.9)], 4, WORDY, [0, 1, 2, 3], {}, "not_mostly_long",
    ),
    "one row more than half": (
        [long(0.9), long(0.85), SHORT, short(0.1, 0.9)], 3, WORDY, [0, 1, 3], {3: Given(0.1, 2)}, "injected",
    ),
    "half of a list that min_score made shorter": (
        [long(0.9), SHORT, long(0.4), long(0.4), short(0.1, 0.9)], 4, CUT, [0, 1], {}, "not_mostly_long",
    ),
    "a list of length 1 with a short document": ([SHORT, short(0.1, 0.9)], 1, WORDY, [0], {}, "not_mostly_long"),
    "rows count, not documents": (
        [Doc([(0.9, 0.1), (0.85, 0.1), (0.84, 0.1)], 9), SHORT, SHORT, short(0.1, 0.9)], 5, WORDY, [0, 1, 2, 3, 5],
        {5: Given(0.1, 4)}, "injected",
    ),
    "as many chunks as is short for another threshold": (
        [Doc([(0.9, 0.1)], 3), Doc([(0.8, 0.1)], 3), Doc([(0.7, 0.1)], 3), short(0.1, 0.9)], 3,
        WORDY._replace(sparse_chunk_threshold=3), [0, 1, 2], {}, "not_mostly_long",
    ),
    "the list as it was before the row was given away": (
        [long(0.9), long(0.85), long(0.8), SHORT, SHORT, short(0.1, 0.9), short(0.1, 0.95)], 5,
        WORDY._replace(sparse_max_injections=2), [0, 1, 2, 6, 5], {6: Given(0.05, 3), 5: Given(0.1, 4)}, "injected",
    ),
    "too far and not mostly long": ([SHORT, SHORT, short(0.1, 0.5)], 2, WORDY, [0, 1], {}, "too_far"),
    "no injection allowed and not mostly long": (
        [SHORT, SHORT, short(0.1, 0.9)], 2, WORDY._replace(sparse_max_injections=0), [0, 1], {}, "not_mostly_long",
    ),
    "one row fewer than there are candidates": (
        [*FULL, short(0.1, 0.9)], 3, WORDY, [0, 1, 3], {3: Given(0.1, 2)}, "injected",
    ),
    "nothing can be missing": ([*FULL, short(0.1, 0.9)], 4, WORDY, [0, 1, 2, 3], {}, "whole_list"),
    "without a vector": ([Doc([(0.9, None)]), Doc([(0.8, None)])], 1, WORDY, [0], {}, "no_vector"),
    "a document without a vector is not near": (
        [*FULL, Doc([(0.1, None)])], 3, WORDY._replace(sparse_distance_ceiling=1.0), [0, 1, 2], {}, "not_short",
    ),
    "a filter excludes it": (FULL, 2, WORDY, [0, 1], {}, "not_short"),
}  # fmt: skip


def test_table_of_cases() -> None:
    for case in CASES.values():
        docs, limit, config, page, given, reason = case
        found = recall(docs, limit, config)
        assert found.ranking.order[: min(limit, found.ranking.kept)] == page, case
        assert (dict(found.given), found.report.reason) == (given, reason), case
        assert found.report.injections == len(given), case


def test_lexical_query_never_injects() -> None:
    found = recall([*FULL, short(0.1, 0.9)], 3, semantic=False)
    assert (found.given, found.report) == ({}, Report(0, "no_vector", 0, 0, 0, 0, 0, 0))


def test_displaced_row_follows_the_list() -> None:
    found = recall([*FULL, long(0.6), short(0.1, 0.9)], 3)
    assert found.ranking.order == [0, 1, 4, 2, 3]


def test_row_cut_by_min_score_is_added_to_the_list() -> None:
    docs = [*FULL, long(0.3), short(0.2, 0.9)]
    found = recall(docs, 3, CUT)
    assert (found.ranking.kept, found.ranking.order) == (4, [0, 1, 4, 2, 3])
    assert found.ranking[2].score == 0.2


def test_document_list_injects_the_row_of_the_document() -> None:
    found = recall([*FULL, short(0.1, 0.3, (0.0, 0.9))], 3, by_document=True)
    assert (found.ranking.order, dict(found.given)) == ([0, 1, 3, 2], {3: Given(0.1, 2)})


def test_report_counts_documents_stage_by_stage() -> None:
    docs = [*FULL, short(1.0, 0.9), short(0.1, 0.85), short(0.1, 0.84), short(0.1, 0.5)]
    report = recall(docs, 3).report
    assert (report.looked_at, report.near, report.short, report.within_ceiling) == (7, 7, 4, 3)
    assert (report.present, report.injections, report.blocked) == (1, 1, 1)
    assert (report.rows, report.long_rows) == (3, 2)


def test_nothing_is_blocked_if_more_injections_would_not_help() -> None:
    report = recall([SHORT, SHORT, short(0.1, 0.9)], 2, WORDY._replace(sparse_max_injections=0)).report
    assert (report.within_ceiling, report.present, report.blocked) == (1, 0, 0)


def test_document_list_counts_each_document_once() -> None:
    documents = [Doc([(0.9, 0.1), (0.85, 0.1), (0.84, 0.1)], 9), SHORT, SHORT, short(0.1, 0.9)]
    report = recall(documents, 3, by_document=True).report
    assert (report.reason, report.rows, report.long_rows) == ("not_mostly_long", 3, 1)


def test_three_list_lengths_or_fifty_chunks_are_examined() -> None:
    for limit, looked_at in [(0, 50), (1, 50), (16, 50), (17, 51), (18, 54), (20, 60), (21, 60)]:
        found = recall([*[long(0.9)] * 59, short(0.1, 0.9)], limit)
        assert found.report.looked_at == looked_at, limit


QUESTION = "sleepy otter"
RARE = Config(embedding_dim=64, bm25_weight=1.0, vector_weight=0.0, sparse_distance_ceiling=0.6, collapse=False)


@pytest.fixture(scope="module")
def store() -> SqliteStore:
    """Return fifteen long documents with otter in every chunk, and a short one that describes something sleepy."""
    made = memory_store()
    files = [new_file(f"long{n:02}.txt", ["otter " * 9, "otter river ", "otter fish "]) for n in range(15)]
    put(made, *files, new_file("short.txt", ["sleepyotter sleepy otters "]))
    return made


def ask(
    store: SqliteStore,
    config: Config = RARE,
    *,
    k: int | None = 5,
    mode: str = "hybrid",
    reranker: Reranker | None = None,
) -> answering.Answer:
    plan = plan_words("otter", config=config, mode=mode, filter_text=None, k=k, exact=False)
    plan = plan._replace(semantic=None if plan.semantic is None else QUESTION)
    return answering.answer(plan, store, EMBEDDER, reranker)


def test_short_document_takes_only_the_last_row(store: SqliteStore) -> None:
    found, plain = ask(store), ask(store, RARE._replace(sparse_recall=False))
    shown, expected = answering.page(found, store), answering.page(plain, store)
    assert [hit.doc.path for hit in shown[:4]] == [hit.doc.path for hit in expected[:4]]
    assert shown[4].doc.path == "short.txt"
    assert shown[4].injection is not None
    assert expected[4].chunk is not None
    assert shown[4].injection.displaced == expected[4].chunk.id
    assert found.total == plain.total
    assert plain.recall is None


class Backwards:
    """A reranker that prefers later texts."""

    identity = "backwards-1"

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return values from 0 to 1 in the order of the texts."""
        return [place / len(texts) for place in range(len(texts))]


def test_row_is_taken_from_the_reranked_list(store: SqliteStore) -> None:
    config = RARE._replace(rerank="backwards", rerank_rows=5, rerank_weight=1.0)
    plain = ask(store, config._replace(sparse_recall=False), reranker=Backwards())
    first = answering.page(ask(store, RARE._replace(sparse_recall=False)), store)[0].chunk
    expected = answering.page(plain, store)

    shown = answering.page(ask(store, config, reranker=Backwards()), store)

    assert [hit.chunk for hit in shown[:4]] == [hit.chunk for hit in expected[:4]]
    assert expected[4].chunk == first
    assert first is not None
    assert shown[4].injection is not None
    assert (shown[4].doc.path, shown[4].injection.displaced) == ("short.txt", first.id)


def test_changed_weight_looks_up_no_document_again(store: SqliteStore) -> None:
    found = ask(store)
    moved = answering.weigh(found, RARE._replace(vector_weight=0.1), store)
    assert moved.known is found.known
    back = answering.weigh(moved, RARE, store)
    assert back.ranked is not None
    assert found.ranked is not None
    assert back.ranked.order == found.ranked.order


def test_context_of_the_whole_list_misses_nothing(store: SqliteStore) -> None:
    found = answering.packable(ask(store, k=None), store)
    assert found.recall is not None
    assert (found.recall.report.reason, found.recall.given) == ("whole_list", {})
    assert found.ranked is not None
    assert found.fused is not None
    assert found.ranked.order == found.fused.order


def test_full_list_context_appends_rows_cut_by_min_score(store: SqliteStore) -> None:
    found = answering.packable(ask(store, RARE._replace(min_score=0.55), k=None), store)
    *_, last = answering.candidates(found, store)
    assert last.doc.path == "short.txt"
    assert last.injection is not None
    assert last.injection.displaced is None


def test_full_list_context_has_room_for_every_injection() -> None:
    made = memory_store()
    files = [new_file(f"long{n:02}.txt", ["otter " * 9, "otter river ", "otter fish "]) for n in range(15)]
    shorts = [new_file(f"short{n}.txt", ["sleepyotter sleepy otters "]) for n in range(3)]
    put(made, *files, *shorts)
    config = RARE._replace(min_score=0.55, sparse_max_injections=2)
    plain = answering.packable(ask(made, config._replace(sparse_recall=False), k=None), made)

    found = answering.packable(ask(made, config, k=None), made)

    listed = [hit.doc.path for hit in answering.candidates(found, made)]
    assert listed == [*(hit.doc.path for hit in answering.candidates(plain, made)), "short0.txt", "short1.txt"]


def test_query_recalls_only_on_request(store: SqliteStore) -> None:
    text = f"SELECT * FROM doc USING lexical('otter'), semantic('{QUESTION}') LIMIT 5"
    found = answering.answer(plan_rql(text, config=RARE, exact=False), store, EMBEDDER)
    assert found.recall is None
    told = plan_rql(f"{text} OPTION sparse_recall ON", config=RARE, exact=False)
    shown = answering.page(answering.answer(told, store, EMBEDDER), store)
    assert [hit.doc.path for hit in shown if hit.injection] == ["short.txt"]
    by_set = plan_rql(text, config=RARE, exact=False, settings=("sparse_recall=true",))
    assert by_set.config.sparse_recall


def test_offset_or_other_order_refuses_recall() -> None:
    for clauses, code in [
        ("LIMIT 5 OFFSET 5", "sparse_with_offset"),
        ("ORDER BY doc.path", "sparse_with_order"),
        ("ORDER BY score ASC", "sparse_with_order"),
    ]:
        text = f"SELECT * FROM chunk USING semantic('x') {clauses}"
        with pytest.raises(UsageError) as error:
            plan_rql(text, config=Config(), exact=False, settings=("sparse_recall=true",))
        assert error.value.code == code, clauses
        with pytest.raises(UsageError) as error:
            plan_rql(f"{text} OPTION sparse_recall ON", config=Config(), exact=False)
        assert error.value.code == code, clauses


def test_order_by_score_descending_is_the_default_order() -> None:
    text = "SELECT * FROM chunk USING semantic('x') ORDER BY score DESC OPTION sparse_recall ON"
    assert plan_rql(text, config=Config(), exact=False).config.sparse_recall


def test_packing_reads_the_full_list_in_order() -> None:
    for rows in [1, 24, 25, 88, 89, 200]:
        made = memory_store()
        put(made, *(new_file(f"{n:03}.txt", [f"otter {n}"]) for n in range(rows)))
        whole = ask(made, RARE._replace(sparse_recall=False), k=None)
        for start in [0, 3]:
            found = whole._replace(plan=whole.plan._replace(offset=start))

            packed = list(answering.candidates(found, made))

            assert packed == answering.hits(found, made, start=start, stop=rows), (start, rows)
            assert len(packed) == max(0, rows - start), (start, rows)
