"""LangChain's adapter: langchain-tests, MMR, filters, threads, equal texts, the retriever."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("langchain_tests", reason="needs langchain-tests, see `make adapters`")

from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from langchain_tests.integration_tests import RetrieversIntegrationTests, VectorStoreIntegrationTests
from numpy import array
from numpy.random import default_rng

from recall_core import Recall
from recall_core.errors import UsageError
from recall_core.interfaces import Eq
from recall_core.interfaces.foreign import ReadableStore
from recall_core.interfaces.langchain import RecallRetriever, RecallVectorStore

EMBEDDING = DeterministicFakeEmbedding(size=16)
ROWS: tuple[dict[str, Any], ...] = (
    {"year": 2024, "lang": "de"},
    {"year": 2025, "lang": "en"},
    {"year": 2026.5},
    {"year": "2026", "lang": None},
    {"lang": "fr", "draft": True},
)


@pytest.fixture
def langchain(store: ReadableStore) -> RecallVectorStore:
    return RecallVectorStore(EMBEDDING, store)


class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, store: ReadableStore) -> RecallVectorStore:
        return RecallVectorStore(self.get_embeddings(), store)


class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def notes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        for number in range(4):
            Path(f"n{number}.md").write_text(f"# Deploy {number}\n\nUndo deploy number {number}.\n")
        with Recall.open("library.db", create=True) as recall:
            recall.index(*(f"n{number}.md" for number in range(4)))

    @property
    def retriever_constructor(self) -> type[RecallRetriever]:
        return RecallRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"store": "library.db", "mode": "lexical"}

    @property
    def retriever_query_example(self) -> str:
        return "undo deploy"

    def test_metadata_cites_the_passage(self) -> None:
        retriever = RecallRetriever(store="library.db", k=1)
        (found,) = retriever.invoke("undo deploy number 2", filter="doc.path = 'n2.md'")

        assert found.metadata["path"] == "n2.md"
        assert found.metadata["lines"] == [1, 3]
        assert found.metadata["passage"] == "Undo deploy number 2."
        assert set(found.metadata) >= {"place", "hash", "score", "warnings", "meta"}
        assert retriever.invoke("undo", filter={"team": "ops"}) == []

    def test_sixteen_threads_share_a_retriever(self) -> None:
        retriever = RecallRetriever(store="library.db", k=4)
        with ThreadPoolExecutor(16) as threads:
            answers = list(threads.map(retriever.invoke, ["undo deploy"] * 32))

        assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, "01234"),
        ({"year": 2024}, "0"),
        ({"year": {"$ne": 2024}}, "1234"),
        ({"year": {"$gt": 2024}}, "12"),
        ({"year": {"$gte": 2024, "$lt": 2026}}, "01"),
        ({"year": {"$lte": 2025}}, "01"),
        ({"lang": {"$in": ["de", "fr"]}}, "04"),
        ({"lang": {"$nin": ["de", "fr"]}}, "123"),
        ({"lang": None}, "23"),
        ({"$or": [{"lang": "de"}, {"draft": True}]}, "04"),
        ({"$not": {"lang": "de", "year": 2024}}, "1234"),
        ({"$and": [{"year": {"$gt": 0}}, {"lang": "en"}]}, "1"),
        (Eq("lang", "en"), "1"),
    ],
)
def test_filters_of_langchain_pass_the_right_documents(langchain: RecallVectorStore, wanted: Any, found: str) -> None:
    langchain.add_texts([f"text {number}" for number in range(5)], ROWS, ids=list("01234"))
    answer = langchain.similarity_search("text", 5, filter=wanted)

    assert "".join(sorted(str(each.id) for each in answer)) == found


@pytest.mark.parametrize(
    "wanted",
    [
        {"year": {"$near": 1}},
        {"year": {}},
        {"year": [1]},
        {"year": {"$in": "de"}},
        {"year": {"$gt": None}},
        {"year": {"$gt": True}},
        {"year": float("nan")},
        {"$nor": []},
        {"$or": {"a": 1}},
        {"$or": [None]},
        {1: 2},
        lambda document: True,
        "doc.meta.year = 1",
    ],
)
def test_unknown_filters_are_refused(wanted: Any) -> None:
    with pytest.raises(UsageError) as error:
        RecallVectorStore(EMBEDDING).similarity_search("text", filter=wanted)

    assert error.value.code == "unknown_filter"


def test_unknown_arguments_are_refused(langchain: RecallVectorStore) -> None:
    with pytest.raises(TypeError):
        langchain.similarity_search("text", where="x")


def test_mmr_agrees_with_langchains_own(langchain: RecallVectorStore) -> None:
    random = default_rng(3)
    vectors = random.normal(size=(40, 6)).tolist()
    query = random.normal(size=6).tolist()
    langchain.add_embeddings([("text", vector) for vector in vectors], ids=[f"{number:02}" for number in range(40)])
    nearest = [int(str(each.id)) for each in langchain.similarity_search_by_vector(query, 20)]
    for weight in (0.0, 0.3, 0.5, 1.0):
        chosen = maximal_marginal_relevance(array(query), [vectors[each] for each in nearest], weight, 7)
        found = langchain.max_marginal_relevance_search_by_vector(query, 7, 20, weight)

        assert [int(str(each.id)) for each in found] == [nearest[each] for each in chosen], weight


def test_mmr_applies_the_filter(langchain: RecallVectorStore) -> None:
    langchain.add_texts([f"text {number}" for number in range(5)], ROWS)
    retriever = langchain.as_retriever(search_type="mmr", search_kwargs={"k": 2, "filter": {"lang": "de"}})

    assert [each.page_content for each in retriever.invoke("text")] == ["text 0"]


def test_relevance_scores_are_from_zero_to_one(langchain: RecallVectorStore) -> None:
    langchain.add_embeddings([("same", [1.0] * 16), ("opposite", [-1.0] * 16)])
    langchain._embedding = _Constant()
    scored = langchain.similarity_search_with_relevance_scores("same")

    assert [(each.page_content, score) for each, score in scored] == [("same", 1.0), ("opposite", 0.0)]


class _Constant(DeterministicFakeEmbedding):
    size: int = 16

    def embed_query(self, text: str) -> list[float]:
        return [1.0] * 16


def test_equal_texts_keep_different_vectors(langchain: RecallVectorStore) -> None:
    langchain.add_embeddings([("same", [1, 0]), ("same", [0, 1])], ids=["east", "north"])

    assert [each.id for each in langchain.similarity_search_by_vector([0, 1])] == ["north", "east"]
    assert [each.id for each in langchain.similarity_search_by_vector([1, 0])] == ["east", "north"]


def test_sixteen_threads_add_search_and_delete(langchain: RecallVectorStore) -> None:
    def work(number: int) -> Sequence[str | None]:
        ids = [f"{number}-{each}" for each in range(4)]
        langchain.add_texts(ids, [{"thread": number}] * 4, ids=ids)
        langchain.delete(ids[:1])
        return sorted(str(each.id) for each in langchain.similarity_search("text", 9, filter={"thread": number}))

    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(work, range(16)))

    assert answers == [[f"{number}-{each}" for each in (1, 2, 3)] for number in range(16)]


def test_wrong_numbers_of_ids_store_nothing(langchain: RecallVectorStore) -> None:
    with pytest.raises(UsageError):
        langchain.add_texts(["a", "b"], ids=["a"])

    assert langchain.get_by_ids(["a"]) == []


def test_delete_without_ids_removes_all(langchain: RecallVectorStore) -> None:
    langchain.add_texts(["a", "b"])
    langchain.delete()

    assert langchain.similarity_search("a") == []
