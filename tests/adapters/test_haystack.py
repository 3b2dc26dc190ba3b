"""Haystack's adapter: Haystack's own test classes on memory and on a file, fields, filters, the retriever."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
pytest.importorskip("haystack", reason="needs the extra haystack")

from haystack import Document, Pipeline
from haystack.dataclasses import ByteStream, SparseEmbedding
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy
from haystack.errors import FilterError
from haystack.testing.document_store import (
    CountDocumentsByFilterTest,
    DocumentStoreBaseExtendedTests,
    create_filterable_docs,
)
from haystack.testing.document_store_async import (
    CountDocumentsAsyncTest,
    CountDocumentsByFilterAsyncTest,
    DeleteAllAsyncTest,
    DeleteByFilterAsyncTest,
    DeleteDocumentsAsyncTest,
    FilterDocumentsAsyncTest,
    UpdateByFilterAsyncTest,
    WriteDocumentsAsyncTest,
)
from numpy import array
from numpy.linalg import norm
from numpy.random import default_rng

from recall_core.errors import DimensionMismatch, UsageError
from recall_core.interfaces.haystack import RecallDocumentStore, RecallEmbeddingRetriever

RANDOM = default_rng(48)
VECTORS = RANDOM.normal(size=(40, 8)).tolist()
QUERY = RANDOM.normal(size=8).tolist()


@pytest.fixture(params=["memory", "file"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    return None if request.param == "memory" else str(tmp_path / "kept")


@pytest.fixture
def small(folder: str | None) -> Iterator[RecallDocumentStore]:
    store = RecallDocumentStore(folder, embedding_dimension=8)
    yield store
    store.close()


def unit(vector: Sequence[float]) -> list[float]:
    wide = array(vector)
    return (wide / norm(wide)).tolist()  # type: ignore[no-any-return]


class TestDocumentStore(
    DocumentStoreBaseExtendedTests,
    CountDocumentsByFilterTest,
    CountDocumentsAsyncTest,
    CountDocumentsByFilterAsyncTest,
    DeleteAllAsyncTest,
    DeleteByFilterAsyncTest,
    DeleteDocumentsAsyncTest,
    FilterDocumentsAsyncTest,
    UpdateByFilterAsyncTest,
    WriteDocumentsAsyncTest,
):
    @pytest.fixture
    def document_store(self, folder: str | None) -> Iterator[RecallDocumentStore]:
        store = RecallDocumentStore(folder)
        yield store
        store.close()

    @staticmethod
    def assert_documents_are_equal(received: list[Document], expected: list[Document]) -> None:
        """Compare by id: embeddings have length 1 here, and documents come by id."""
        assert [each.id for each in received] == sorted(each.id for each in expected)
        wanted = {each.id: each.to_dict() for each in expected}
        for document in received:
            ours, theirs = document.to_dict(), wanted[document.id]
            embedding, theirs_embedding = ours.pop("embedding"), theirs.pop("embedding")
            assert ours == theirs
            assert embedding == (theirs_embedding and pytest.approx(unit(theirs_embedding), abs=1e-6))

    def test_write_documents(self, document_store: RecallDocumentStore) -> None:
        self.test_write_documents_duplicate_fail(document_store)  # Haystack leaves it to each store what NONE is

    async def test_write_documents_async(self, document_store: RecallDocumentStore) -> None:
        await self.test_write_documents_duplicate_fail_async(document_store)


def written(store: Any) -> Any:
    """Store forty documents, of which every fifth has no embedding."""
    store.write_documents(
        [
            Document(
                id=f"d{number:02}",
                content=f"Text {number}",
                meta={"year": 2000 + number, "day": f"2026-11-{number % 28 + 1:02}"}
                if number % 4
                else {"draft": True},
                embedding=vector if number % 5 else None,
            )
            for number, vector in enumerate(VECTORS)
        ]
    )
    return store


def where(operator: str, value: Any, field: str = "meta.year") -> dict[str, Any]:
    return {"field": field, "operator": operator, "value": value}


def test_every_field_comes_back(small: RecallDocumentStore) -> None:
    document = Document(
        id="a",
        blob=ByteStream(b"\0\xff", {"from": "disk"}, "image/png"),
        meta={"content": "in meta", "tags": ["x", {"y": None}]},
        score=0.5,
        sparse_embedding=SparseEmbedding([1, 7], [0.5, 2.0]),
    )
    texts = [Document(id="b", content=""), Document(id="c", content="Line\r\n\tend \n", meta={"x": None})]
    small.write_documents([document, *texts])

    assert small.filter_documents() == [document, *texts]


@pytest.mark.parametrize("policy", list(DuplicatePolicy))
def test_repeated_ids_are_written_as_in_haystack(small: RecallDocumentStore, policy: DuplicatePolicy) -> None:
    theirs = InMemoryDocumentStore()
    outcomes: list[int | None] = []
    for store in (small, theirs):
        store.write_documents([Document(id="a", content="old")])
        try:
            outcomes.append(
                store.write_documents([Document(id=each[0], content=each) for each in ("b1", "a2", "b3")], policy)
            )
        except DuplicateDocumentError:
            outcomes.append(None)

    assert outcomes[0] == outcomes[1]
    if outcomes[0] is None:
        assert small.count_documents() == 1  # all or none
    else:
        assert small.filter_documents() == sorted(theirs.filter_documents(), key=lambda each: each.id)


def test_nothing_is_written_in_silence(small: RecallDocumentStore) -> None:
    with pytest.raises(ValueError, match="_haystack"):
        small.write_documents([Document(content="a", meta={"_haystack": 1})])
    with pytest.raises(UsageError, match="would change in JSON"):
        small.write_documents([Document(content="a", meta={"when": (1, 2)})])
    with pytest.raises(DimensionMismatch):
        small.write_documents([Document(content="a"), Document(content="b", embedding=[1.0])])
    assert small.count_documents() == 0


@pytest.mark.parametrize(
    "filters",
    [
        None,
        where("==", 2005),
        where("==", None),
        where("!=", 2005),
        where(">", 2010),
        where("<=", 2010),
        where(">", "2026-11-09", "meta.day"),
        where("<=", "2026-11-09", "day"),
        where("in", [2001, None]),
        where("not in", [2001, None]),
        where("==", True, "meta.draft"),
        {"operator": "NOT", "conditions": [where(">", 2010), where("<", 2020)]},
        {"operator": "OR", "conditions": [where(">", 2030), {"operator": "AND", "conditions": [where("<", 2005)]}]},
    ],
)
def test_retriever_finds_what_haystack_finds(small: RecallDocumentStore, filters: dict[str, Any] | None) -> None:
    theirs = written(InMemoryDocumentStore(embedding_similarity_function="cosine"))
    wanted = theirs.embedding_retrieval(QUERY, filters=filters, top_k=9)
    found = RecallEmbeddingRetriever(written(small), filters, top_k=9).run(QUERY, {})["documents"]

    assert [each.id for each in found] == [each.id for each in wanted]
    assert [each.score for each in found] == pytest.approx([each.score for each in wanted], abs=1e-6)
    assert len(small.filter_documents(filters)) == len(theirs.filter_documents(filters))


@pytest.mark.parametrize(
    "filters",
    [
        where("contains", "x"),
        where(">", "later"),
        where(">", True),
        where("==", [1]),
        where("==", 1, "meta.person.age"),
        where("==", "a", "id"),
        {**where("==", 1), "conditions": []},
        {"operator": "XOR", "conditions": []},
        {"operator": "AND", "conditions": [{}]},
        "meta.year > 2010",
    ],
)
def test_unknown_filters_are_refused(small: RecallDocumentStore, filters: Any) -> None:
    with pytest.raises(FilterError) as error:
        small.filter_documents(filters)

    assert error.value.code == "unknown_filter"  # type: ignore[attr-defined]


def test_pipeline_runs_and_loads_again(tmp_path: Path) -> None:
    store = written(RecallDocumentStore(str(tmp_path / "kept"), 8))
    pipeline = Pipeline()
    pipeline.add_component("retriever", RecallEmbeddingRetriever(store, where(">", 2010), top_k=3))
    answer = pipeline.run({"retriever": {"query_embedding": QUERY}})
    loaded = Pipeline.loads(pipeline.dumps(), allowed_modules=["recall_core.interfaces.haystack"])

    assert len(answer["retriever"]["documents"]) == 3
    assert loaded.run({"retriever": {"query_embedding": QUERY}}) == answer
    loaded.get_component("retriever").document_store.close()
    store.close()


def test_sixteen_threads_write_each_id_once(small: RecallDocumentStore) -> None:
    documents = [Document(id=f"d{number}", content="a") for number in range(200)]
    barrier = Barrier(16)

    def write(_: int) -> int:
        barrier.wait()
        return small.write_documents(documents, DuplicatePolicy.SKIP)

    with ThreadPoolExecutor(16) as threads:
        counts = threads.map(write, range(16))

    assert sum(counts) == small.count_documents() == 200


def test_filterable_documents_survive_a_restart(tmp_path: Path) -> None:
    store = RecallDocumentStore(str(tmp_path / "kept"))
    store.write_documents(create_filterable_docs())
    before = store.filter_documents()
    store.close()
    again = RecallDocumentStore.from_dict(store.to_dict())

    assert again.filter_documents() == before
    again.close()
