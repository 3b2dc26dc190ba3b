"""Reranking: its scores, the rows it changes, and its calls of a model."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from recall_core.config import Config, override
from recall_core.errors import ConfigError, EmbedError
from recall_core.rank.fuse import best_of_each_document, rank
from recall_core.rank.weighing import head, rescore
from recall_core.retrieve import answer as answering
from recall_core.retrieve.plan import plan_rql, plan_words
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import Key, Pool
from recall_core.views import explain_view, plan_echo
from tests.builders import EMBEDDER, memory_store, new_file, put


class Overlap:
    """The share of the query's words in a text; counts its texts."""

    identity = "overlap-1"

    def __init__(self) -> None:
        self.texts = 0

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        self.texts += len(texts)
        words = set(question.split())
        return [len(words & set(text.split())) / len(words) for text in texts]


class Broken(Overlap):
    """A reranker that always returns these values."""

    def __init__(self, values: list[float]) -> None:
        super().__init__()
        self.values = values

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return self.values


def pool(lexical: Sequence[float]) -> Pool:
    keys = tuple(Key(n, n, f"{n}.txt", 0, 1) for n in range(len(lexical)))
    return Pool(keys, tuple(lexical), (), 1.0, (), exact=True, index_kind="exact")


def test_score_is_the_weighted_mean_with_the_reranker_value() -> None:
    config = Config(rerank_rows=2, rerank_weight=0.25)
    ranking = rescore(rank(pool([0.8, 0.6, 0.4]), config), {0: 0.0, 1: 1.0}, config)
    assert ranking.order == [1, 0, 2]
    assert [each.score for each in ranking] == pytest.approx([0.7, 0.6, 0.3])


def test_unscored_row_has_no_reranker_part_and_never_overtakes() -> None:
    config = Config(rerank_rows=2, rerank_weight=0.5)
    ranking = rescore(rank(pool([0.8, 0.6, 0.6]), config), {0: 0.0, 1: 0.0}, config)
    assert ranking.order == [0, 1, 2]
    assert [[part.signal for part in each.parts] for each in ranking] == [["lexical", "rerank"]] * 2 + [["lexical"]]


def test_reranker_part_has_value_weight_rank_and_points() -> None:
    config = Config(rerank_rows=2, rerank_weight=0.5)
    part = rescore(rank(pool([0.8, 0.6]), config), {0: 0.25, 1: 0.75}, config)[0].parts[-1]
    assert (part.signal, part.raw, part.value, part.weight, part.rank, part.points) == (
        "rerank", 0.75, 0.75, 0.5, 1, 0.375,
    )  # fmt: skip


def test_equal_scores_keep_their_order() -> None:
    config = Config(rerank_rows=3, rerank_weight=1.0)
    ranking = rank(pool([0.2, 0.8, 0.5]), config)
    assert rescore(ranking, dict.fromkeys(range(3), 0.5), config).order == ranking.order == [1, 2, 0]


def test_min_score_applies_to_the_new_score() -> None:
    config = Config(rerank_rows=2, rerank_weight=0.5, min_score=0.5)
    ranking = rescore(rank(pool([0.9, 0.3, 0.6]), config), {0: 0.0, 2: 1.0}, config)
    assert (ranking.order[: ranking.kept], len(ranking)) == ([2], 3)


def test_only_documents_that_pass_min_score_after_reranking_count() -> None:
    config = Config(rerank_rows=3, rerank_weight=0.25, min_score=0.5)
    given = pool([0.9, 0.8, 0.4, 0.3, 0.6])
    keys = tuple(key._replace(doc_rowid=doc) for key, doc in zip(given.keys, (0, 0, 1, 1, 2), strict=True))
    given = given._replace(keys=keys)
    documents = best_of_each_document(given, rank(given, config))
    ranking = rescore(documents, {0: 1.0, 2: 0.9, 4: 0.0}, config)
    assert (ranking.order[: ranking.kept], len(ranking)) == ([0, 2], 3)


def test_head_is_the_best_rows_or_all_if_fewer() -> None:
    for rows, best in [(1, [1]), (2, [1, 2]), (3, [1, 2, 0]), (4, [1, 2, 0])]:
        config = Config(rerank_rows=rows)
        assert head(rank(pool([0.2, 0.8, 0.5]), config), config) == best, rows


def test_tied_rows_enter_the_head_by_path() -> None:
    for rows, best in [(1, [2]), (2, [2, 0]), (3, [2, 0, 1]), (4, [2, 0, 1, 3])]:
        config = Config(rerank_rows=rows)
        assert head(rank(pool([0.5, 0.5, 0.8, 0.5]), config), config) == best, rows


def test_row_below_min_score_may_return_after_reranking() -> None:
    config = Config(rerank_rows=2, rerank_weight=0.5, min_score=0.5)
    ranking = rank(pool([0.9, 0.3, 0.2]), config)
    assert (ranking.kept, head(ranking, config)) == (1, [0, 1])
    again = rescore(ranking, {0: 0.9, 1: 1.0}, config)
    assert again.order[: again.kept] == [0, 1]


def test_new_score_of_exactly_min_score_is_kept() -> None:
    for value, kept in [(0.5, 1), (0.499999, 0)]:
        config = Config(rerank_rows=1, rerank_weight=1.0, min_score=0.5)
        assert rescore(rank(pool([0.9]), config), {0: value}, config).kept == kept, value


def test_rows_below_the_head_keep_their_order() -> None:
    config = Config(rerank_rows=2, rerank_weight=0.5)
    ranking = rank(pool([0.2, 0.8, 0.5, 0.9, 0.5, 0.5]), config)
    assert ranking.order == [3, 1, 2, 4, 5, 0]
    assert rescore(ranking, {3: 0.0, 1: 0.2}, config).order == [1, 3, 2, 4, 5, 0]


def test_tied_row_below_the_head_stays_below() -> None:
    config = Config(rerank_rows=2, rerank_weight=0.5)
    ranking = rank(pool([0.5, 0.8, 0.5, 0.5]), config)
    after = rescore(ranking, {1: 0.0, 0: 0.0}, config)
    assert (ranking.order, after.order) == ([1, 0, 2, 3], [1, 0, 2, 3])


def test_tied_values_rank_in_previous_order() -> None:
    config = Config(rerank_rows=3, rerank_weight=0.5)
    ranking = rescore(rank(pool([0.2, 0.8, 0.5]), config), {0: 0.5, 1: 0.5, 2: 0.9}, config)
    assert {each.position: each.parts[-1].rank for each in ranking} == {2: 1, 1: 2, 0: 3}


def test_reranker_reads_one_to_ten_thousand_rows() -> None:
    for rows in [1, 10_000]:
        assert override(Config(), [f"rerank_rows={rows}"]).rerank_rows == rows, rows


def test_rerank_rows_of_zero_or_too_many_is_refused() -> None:
    for rows in [0, 10_001]:
        with pytest.raises(ConfigError) as caught:
            override(Config(), [f"rerank_rows={rows}"])
        assert caught.value.code == "bad_value", rows


def test_empty_ranking_stays_empty() -> None:
    assert len(rescore(rank(pool([]), Config()), {}, Config())) == 0


CONFIG = Config(embedding_dim=64, rerank="overlap", rerank_rows=3, rerank_weight=0.9, sparse_recall=False)


@pytest.fixture(scope="module")
def store() -> SqliteStore:
    made = memory_store()
    texts = ["cache cache cache ", "cache of the keys ", "cache key expiry ", "cache ", "expiry "]
    put(made, *(new_file(f"{n}.txt", [text]) for n, text in enumerate(texts)))
    return made


def ask(store: SqliteStore, reranker: Overlap, config: Config = CONFIG) -> answering.Answer:
    plan = plan_words("cache key expiry", config=config, mode="hybrid", filter_text=None, k=None, exact=False)
    return answering.answer(plan, store, EMBEDDER, reranker)


def test_reranker_reads_the_best_rows_and_decides_their_order(store: SqliteStore) -> None:
    for fusion in ["weighted", "rrf"]:
        reranker = Overlap()
        found = ask(store, reranker, CONFIG._replace(fusion=fusion))
        shown = answering.page(found, store)
        values = [part.value for hit in shown for part in hit.parts if part.signal == "rerank"]
        assert (reranker.texts, len(values)) == (3, 3), fusion
        assert shown[0].chunk is not None, fusion
        assert shown[0].chunk.text == "cache key expiry ", fusion
        for hit in shown:
            assert hit.score == sum(part.points for part in hit.parts), fusion


def test_changed_weight_asks_the_model_only_about_new_rows(store: SqliteStore) -> None:
    reranker = Overlap()
    found = ask(store, reranker)
    moved = answering.weigh(found, CONFIG._replace(rerank_weight=0.1), store, reranker)
    assert (reranker.texts, moved.known) == (3, found.known)
    answering.weigh(moved, CONFIG._replace(rerank_rows=5), store, reranker)
    assert reranker.texts == 5


def test_reranker_reads_and_scores_only_the_best_rows(store: SqliteStore) -> None:
    for rows in range(1, 7):
        plain = ask(store, Overlap(), CONFIG._replace(rerank=""))
        best = [hit.doc.path for hit in answering.page(plain, store)]
        reranker = Overlap()

        shown = answering.page(ask(store, reranker, CONFIG._replace(rerank_rows=rows, rerank_weight=0.5)), store)

        read = {hit.doc.path for hit in shown if hit.parts[-1].signal == "rerank"}
        assert (reranker.texts, read) == (min(rows, 5), set(best[:rows])), rows
        assert [hit.doc.path for hit in shown if hit.doc.path not in read] == best[rows:], rows


def test_rows_that_leave_the_head_lose_their_part(store: SqliteStore) -> None:
    wide = ask(store, Overlap(), CONFIG._replace(rerank_rows=5))

    back = answering.weigh(wide, CONFIG._replace(rerank_rows=2), store, Overlap())

    assert answering.page(back, store) == answering.page(ask(store, Overlap(), CONFIG._replace(rerank_rows=2)), store)


def test_document_queries_rerank_the_best_documents() -> None:
    made = memory_store()
    put(
        made,
        new_file("a.txt", ["cache key ", "cache key "]),
        new_file("b.txt", ["cache "]),
        new_file("c.txt", ["key "]),
    )
    text = "SELECT * FROM doc USING lexical('cache key') OPTION rerank hash"
    plan = plan_rql(text, config=CONFIG._replace(rerank_rows=2), exact=False)
    reranker = Overlap()

    shown = answering.page(answering.answer(plan, made, EMBEDDER, reranker), made)

    assert reranker.texts == 2
    assert [hit.parts[-1].signal == "rerank" for hit in shown] == [True, True, False]


def test_another_reranker_is_asked_again(store: SqliteStore) -> None:
    other = Overlap()
    answering.weigh(ask(store, Overlap()), CONFIG._replace(rerank="other"), store, other)
    assert other.texts == 3


def test_reweighted_answer_equals_a_new_query(store: SqliteStore) -> None:
    config = CONFIG._replace(bm25_weight=0.2, vector_weight=0.8, rerank_rows=2)
    weighed, asked = answering.weigh(ask(store, Overlap()), config, store, Overlap()), ask(store, Overlap(), config)
    assert answering.page(weighed, store) == answering.page(asked, store)


def test_nonsense_from_a_reranker_is_refused(store: SqliteStore) -> None:
    for values in [[0.5], [0.5, 1.5, 0.0], [0.5, float("nan"), 0.0]]:
        with pytest.raises(EmbedError) as error:
            ask(store, Broken(values))
        assert error.value.code == "rerank_invalid", values


def test_query_is_reranked_only_on_request(store: SqliteStore) -> None:
    text = "SELECT * FROM chunk USING lexical('cache')"
    assert plan_rql(text, config=CONFIG, exact=False).config.rerank == ""
    assert plan_rql(f"{text} OPTION rerank hash", config=Config(), exact=False).config.rerank == "hash"
    off = plan_rql(f"{text} OPTION rerank OFF", config=CONFIG, exact=False, settings=("rerank=overlap",))
    assert off.config.rerank == ""


def test_plan_and_explanation_name_the_reranker(store: SqliteStore) -> None:
    found = ask(store, Overlap(), CONFIG._replace(fusion="rrf", bm25_weight=1.0, vector_weight=1.0))
    assert found.pool is not None
    assert plan_echo(found.plan, found.pool)["rerank"] == {"model": "overlap", "rows": 3, "weight": 0.9}
    explained = [explain_view(hit, found.plan) for hit in answering.page(found, store)]
    assert ["rerank" in view for view in explained] == [True] * 3 + [False] * 2
    assert max(view["raw_score"] for view in explained) < 2 / 60
