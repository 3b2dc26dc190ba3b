"""llama-index's adapter: its answers are those of SimpleVectorStore, on memory and on a file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llamaindex")

from llama_index.core.schema import MetadataMode, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.simple import SimpleVectorStore
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from numpy.random import default_rng

from recall_core import Recall
from recall_core.errors import EmbedError, UsageError
from recall_core.interfaces import Eq
from recall_core.interfaces.foreign import ReadableStore
from recall_core.interfaces.llamaindex import RecallNodeRetriever, RecallNodeStore

RANDOM = default_rng(48)
QUERY = RANDOM.normal(size=8).tolist()
NODES = [
    TextNode(
        id_=f"n{number:02}",
        text=f"Text {number}",
        metadata={"year": 2000 + number, "lang": "de" if number % 3 else "en"} if number % 4 else {},
        embedding=RANDOM.normal(size=8).tolist(),
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"doc{number % 5}")},
    )
    for number in range(30)
]


@pytest.fixture
def ours(store: ReadableStore) -> RecallNodeStore:
    nodes = RecallNodeStore(store)
    assert nodes.add(NODES) == [node.node_id for node in NODES]
    return nodes


@pytest.fixture
def theirs() -> SimpleVectorStore:
    store = SimpleVectorStore()
    store.add(NODES)
    return store


def where(operator: str, value: Any, key: str = "year") -> MetadataFilter:
    return MetadataFilter(key=key, value=value, operator=FilterOperator(operator))


def assert_same(ours: RecallNodeStore, theirs: SimpleVectorStore, query: VectorStoreQuery, **kwargs: Any) -> None:
    found, wanted = ours.query(query, **kwargs), theirs.query(query, **kwargs)
    assert found.ids == wanted.ids
    if query.mode == VectorStoreQueryMode.DEFAULT:  # for mmr theirs are marginal
        assert found.similarities == pytest.approx(wanted.similarities, abs=1e-6)


@pytest.mark.parametrize("k", [1, 7, 99])
def test_query_finds_what_simple_finds(ours: RecallNodeStore, theirs: SimpleVectorStore, k: int) -> None:
    assert_same(ours, theirs, VectorStoreQuery(query_embedding=QUERY, similarity_top_k=k))


@pytest.mark.parametrize("condition", list(FilterCondition))
@pytest.mark.parametrize(
    "parts",
    [
        (),
        (where("==", 2005),),
        (where("!=", 2005),),
        (where("in", ["de"], "lang"), where(">", 2010)),
        (where("nin", ["de"], "lang"), where("<=", 2020)),
        (where(">=", 2010), where("<", 2020)),
    ],
)
def test_filters_pass_what_simple_passes(
    ours: RecallNodeStore, theirs: SimpleVectorStore, parts: tuple[MetadataFilter, ...], condition: FilterCondition
) -> None:
    filters = MetadataFilters(filters=list(parts), condition=condition)
    assert_same(ours, theirs, VectorStoreQuery(query_embedding=QUERY, similarity_top_k=30, filters=filters))


@pytest.mark.parametrize("weight", [0.1, 0.5, 1.0])
def test_mmr_begins_as_simple_does(ours: RecallNodeStore, theirs: SimpleVectorStore, weight: float) -> None:
    # From the third node on, theirs compares with the last choice only.
    query = VectorStoreQuery(query_embedding=QUERY, similarity_top_k=2, mode=VectorStoreQueryMode.MMR)
    assert_same(ours, theirs, query, mmr_threshold=weight, mmr_prefetch_k=30)


def test_query_limits_documents_and_nodes(ours: RecallNodeStore) -> None:
    of_documents = ours.query(VectorStoreQuery(query_embedding=QUERY, similarity_top_k=30, doc_ids=["doc1", "doc2"]))
    of_nodes = ours.query(VectorStoreQuery(query_embedding=QUERY, similarity_top_k=30, node_ids=["n03", "n07"]))

    assert len(of_documents.ids or ()) == 12
    assert sorted(of_nodes.ids or ()) == ["n03", "n07"]


def test_nodes_come_back_whole(ours: RecallNodeStore) -> None:
    (node,) = ours.get_nodes(["n07"])

    assert node.get_content() == "Text 7"
    assert node.metadata == NODES[7].metadata
    assert node.ref_doc_id == "doc2"


def test_delete_removes_the_nodes_of_a_document(ours: RecallNodeStore, theirs: SimpleVectorStore) -> None:
    ours.delete("doc3")
    theirs.delete("doc3")
    assert_same(ours, theirs, VectorStoreQuery(query_embedding=QUERY, similarity_top_k=30))


def test_delete_nodes_takes_ids_and_filters(ours: RecallNodeStore, theirs: SimpleVectorStore) -> None:
    filters = MetadataFilters(filters=[where(">", 2015)])
    ours.delete_nodes()  # theirs would remove all
    for store in (ours, theirs):
        store.delete_nodes(["n01"])
        store.delete_nodes(filters=filters)
    assert_same(ours, theirs, VectorStoreQuery(query_embedding=QUERY, similarity_top_k=30))
    ours.clear()
    assert ours.get_nodes() == []


def test_persisted_nodes_load_again(ours: RecallNodeStore, theirs: SimpleVectorStore, tmp_path: Path) -> None:
    ours.persist(str(tmp_path / "nodes.json"))
    loaded = RecallNodeStore.from_persist_path(str(tmp_path / "nodes.json"))
    assert_same(loaded, theirs, VectorStoreQuery(query_embedding=QUERY, similarity_top_k=9))


def test_sixteen_threads_query_at_once(ours: RecallNodeStore) -> None:
    query = VectorStoreQuery(query_embedding=QUERY, similarity_top_k=5)
    with ThreadPoolExecutor(16) as threads:
        answers = [each.ids for each in threads.map(ours.query, [query] * 48)]

    assert answers == [answers[0]] * 48


def test_equal_texts_keep_different_vectors(store: ReadableStore) -> None:
    nodes = RecallNodeStore(store)
    nodes.add(
        [TextNode(id_="east", text="same", embedding=[1, 0]), TextNode(id_="north", text="same", embedding=[0, 1])]
    )

    assert nodes.query(VectorStoreQuery(query_embedding=[0, 1], similarity_top_k=1)).ids == ["north"]


@pytest.mark.parametrize("operator", ["any", "all", "text_match", "contains", "is_empty"])
def test_unknown_filters_are_refused(ours: RecallNodeStore, operator: str) -> None:
    filters = MetadataFilters(filters=[where(operator, "de", "lang")])
    with pytest.raises(UsageError) as error:
        ours.get_nodes(filters=filters)

    assert error.value.code == "unknown_filter"


def test_unknown_modes_and_arguments_are_refused(ours: RecallNodeStore) -> None:
    with pytest.raises(UsageError):
        ours.query(VectorStoreQuery(query_embedding=QUERY, mode=VectorStoreQueryMode.HYBRID))
    with pytest.raises(UsageError):
        ours.query(VectorStoreQuery(query_embedding=QUERY), alpha=0.5)


async def test_store_may_be_awaited(ours: RecallNodeStore) -> None:
    found = await ours.aquery(VectorStoreQuery(query_embedding=QUERY, similarity_top_k=3))
    assert found.ids == ours.query(VectorStoreQuery(query_embedding=QUERY, similarity_top_k=3)).ids


def test_nodes_without_embedding_are_refused(store: ReadableStore) -> None:
    with pytest.raises((ValueError, EmbedError)):
        RecallNodeStore(store).add([TextNode(text="a")])


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    for number in range(4):
        Path(f"n{number}.md").write_text(f"---\nyear: {2020 + number}\n---\nUndo deploy number {number}.\n")
    with Recall.open("library.db", create=True) as recall:
        recall.index(*(f"n{number}.md" for number in range(4)))
    return "library.db"


def test_retriever_cites_the_passage(library: str) -> None:
    retriever = RecallNodeRetriever(library, similarity_top_k=1, filters="doc.path = 'n2.md'")
    (found,) = retriever.retrieve("undo deploy number 2")

    assert found.score is not None
    assert found.metadata["path"] == "n2.md"
    assert found.metadata["passage"] == "Undo deploy number 2."
    assert set(found.metadata) >= {"lines", "place", "hash", "score", "title", "tags", "meta", "warnings"}
    prompt = found.node.get_content(metadata_mode=MetadataMode.LLM)
    assert "n2.md" in prompt
    assert prompt.count("Undo deploy") == 1
    retriever.close()
    retriever.close()


@pytest.mark.parametrize(
    ("filters", "count"),
    [(None, 4), (MetadataFilters(filters=[where(">", 2021)]), 2), (Eq("year", 2021), 1), ("doc.meta.year < 2021", 1)],
)
def test_retriever_filters_the_documents(library: str, filters: Any, count: int) -> None:
    retriever = RecallNodeRetriever(library, mode="lexical", filters=filters)

    assert len(retriever.retrieve("undo deploy")) == count
    retriever.close()


async def test_threads_and_tasks_share_a_retriever(library: str) -> None:
    retriever = RecallNodeRetriever(library, filters=MetadataFilters(filters=[]))
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(retriever.retrieve, ["undo deploy"] * 32))

    assert answers == [await retriever.aretrieve("undo deploy")] * 32
    retriever.close()


def test_retriever_refuses_unknown_filters(library: str) -> None:
    retriever = RecallNodeRetriever(library, filters=MetadataFilters(filters=[where("contains", "x")]))
    with pytest.raises(UsageError) as error:
        retriever.retrieve("undo")

    assert error.value.code == "unknown_filter"
    retriever.close()
