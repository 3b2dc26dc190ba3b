"""The interfaces of pipelines: the tests that the design names (core, retrieval, embeddings, graph), and edges."""

from __future__ import annotations

import asyncio
import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from types import SimpleNamespace

import numpy as np
import pytest

from recall_core.errors import EmbedError, RecallError, UsageError
from recall_core.interfaces import (
    All,
    Any,
    DimensionMismatch,
    Document,
    Eq,
    FileLoader,
    FileVectorStore,
    In,
    Indexer,
    InMemoryVectorStore,
    InvalidId,
    InvalidResponse,
    MetadataFilter,
    ModelEmbedding,
    Not,
    Other,
    PdfLoader,
    ProviderError,
    Range,
    RateLimited,
    Retriever,
    TextLoader,
    TextSplitter,
    Timeout,
    VectorStore,
)
from recall_core.interfaces.foreign import ReadableStore, mongo_filter, search_diverse
from recall_core.interfaces.langgraph import retriever_node
from recall_core.steps import ChunkPolicy
from tests.pdfs import pdf
from tests.provider_server import Reply, provider_server

FILTERS = (
    Eq("lang", "de"),
    Eq("a.b 'c' \"d\"", None),
    In("n", (1, True, "1", None, 2**70, 0.5)),
    Range("n", 1, None),
    Range("n"),
    All((Any(()), All((Eq("x", False),)))),
    Not(Any((Eq("x", 1), Range("n", 5)))),
)


class Hashing:
    """An Embedding without a model: one component per text length, from 0 to 3."""

    dimension = 4

    def embed(self, text: str) -> list[float]:
        return [float(len(text) % 4 == place) for place in range(4)]

    def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.embed(text) for text in texts]


class Failing(Hashing):
    """An Embedding that raises an error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def embed(self, text: str) -> list[float]:
        raise self.error


@pytest.fixture(params=["memory", "file"])
def new(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], VectorStore]]:
    """Return a function that makes an empty store, of each kind in turn."""
    with ExitStack() as opened:
        if request.param == "memory":
            yield InMemoryVectorStore
        else:
            yield lambda: opened.enter_context(FileVectorStore(mkdtemp(dir=tmp_path)))


@pytest.fixture
def filled(new: Callable[[], VectorStore]) -> Callable[..., VectorStore]:
    """Return a function that makes a store with these documents."""

    def fill(*documents: Document) -> VectorStore:
        store = new()
        store.add(documents)
        return store

    return fill


def ids(
    store: InMemoryVectorStore, query: Sequence[float], top_k: int = 10, only: MetadataFilter | None = None
) -> str:
    return " ".join(each.document.id for each in store.search(query, top_k, only))


# Core.


def test_serde_round_trip_for_document() -> None:
    for document in (
        Document("a", "text", {"n": 1, "x": [None, True, {"y": "é"}]}, [0.1, -2.0]),
        Document("b", ""),
    ):
        again = Document.from_json(json.loads(json.dumps(document.to_json())))
        assert again == document
        assert repr(again) == repr(document)


def test_serde_round_trip_for_metadata_filter() -> None:
    for one in FILTERS:
        again = MetadataFilter.from_json(json.loads(json.dumps(one.to_json())))
        assert again == one
        assert repr(again) == repr(one)  # 1 and True are equal, but not the same
    assert Range("n", 1).to_json() == {"Range": {"key": "n", "min": 1, "max": None}}  # as serde writes the enum


def test_error_formatting(filled: Callable[..., VectorStore]) -> None:
    error = DimensionMismatch(3, 2)
    assert (str(error), error.code) == ("A vector has 2 components instead of 3.", "dimension_mismatch")
    assert (error.expected, error.got, error.details) == (3, 2, {"expected": 3, "got": 2})
    with pytest.raises(InvalidId, match=r"^'' cannot be the id of a document\.$"):
        filled(Document("", "", {}, [1]))


# Retrieval.


def test_cosine_ranking_order_with_fixed_vectors(filled: Callable[..., VectorStore]) -> None:
    store = filled(
        Document("far", "", {}, [-2, 0]), Document("near", "", {}, [3, 3]), Document("same", "", {}, [0.5, 0])
    )
    found = store.search([7, 0], 10)
    assert [(each.document.id, each.score) for each in found] == [("same", 1.0), ("near", 0.707107), ("far", -1.0)]


def test_filter_semantics(filled: Callable[..., VectorStore]) -> None:
    metadata = (
        {"k": 1},
        {"k": True},
        {"k": "1"},
        {"k": None},
        {},
        {"k": [1]},
        {"k": 1.0, "j": 5},
        {"k": -3, "j": "b"},
    )
    expected = (
        (Eq("k", 1), "0 6"),
        (Eq("k", True), "1"),
        (Eq("k", "1"), "2"),
        (Eq("k", None), "3 4 5"),
        (In("k", (True, "1")), "1 2"),
        (In("k", ()), ""),
        (In("k", (None, -3)), "3 4 5 7"),
        (Range("k", 0, 1), "0 6"),
        (Range("k", max=0), "7"),
        (Range("k", min=""), "2"),
        (Range("k"), "0 2 6 7"),
        (Range("k", 0, "z"), ""),
        (Range("j", "a", "b"), "7"),
        (All(()), "0 1 2 3 4 5 6 7"),
        (Any(()), ""),
        (All((Eq("k", 1), Range("j", 5, 5))), "6"),
        (Any((Eq("k", True), Eq("j", "b"))), "1 7"),
    )
    store = filled(*(Document(str(n), "", each, [1.0]) for n, each in enumerate(metadata)))
    for one, passing in expected:
        assert ids(store, [1], only=one) == passing, one


def test_dimension_mismatch_on_add_and_search(filled: Callable[..., VectorStore]) -> None:
    store = filled(Document("a", "", {}, [1, 0]))
    for call in (
        lambda: store.add([Document("b", "", {}, [1, 0]), Document("c", "", {}, [1, 0, 0])]),
        lambda: store.search([1], 1),
    ):
        with pytest.raises(DimensionMismatch):
            call()
    assert ids(store, [1, 0]) == "a"


def test_invalid_id_handling_and_delete_idempotency(filled: Callable[..., VectorStore]) -> None:
    store = filled(Document("a", "", {}, [1]), Document("b", "", {}, [1]))
    for bad in ("", "a\n", "\x7f", "\ud800"):
        with pytest.raises(InvalidId):
            store.add([Document("c", "", {}, [1]), Document(bad, "", {}, [1])])
    assert (store.delete(["a", "nothing", "a"]), store.delete(["a"])) == (1, 0)
    assert ids(store, [1]) == "b"


def test_embedding_stripping(filled: Callable[..., VectorStore]) -> None:
    store = filled(Document("a", "text", {"n": [1]}, [1]))
    (found,) = store.search([1], 1)
    assert found.document == Document("a", "text", {"n": [1]}, None)


def test_score_threshold_inclusive_boundary(filled: Callable[..., VectorStore]) -> None:
    store = filled(Document("a", "", {}, [0, 3, 4, 0]), Document("b", "", {}, [0, 2.99, 4, 0]))
    found = Retriever(Hashing(), store, score_threshold=0.6).retrieve("x")
    assert [(each.document.id, each.score) for each in found] == [("a", 0.6)]


# Embeddings. tests/unit/test_embed_live.py asks the real providers.


def test_provider_answers_over_http() -> None:
    with provider_server(16) as server:
        embedding = ModelEmbedding("openai", embedding_url=server.url, embedding_model="m", embedding_dim=16)
        made = embedding.embed_batch(["one", "two"])
        assert made == [embedding.embed("one"), embedding.embed("two")]
        assert made == [
            pytest.approx(np.array(each) / np.linalg.norm(each), rel=1e-6)
            for each in map(server.vector, ("one", "two"))
        ]
        server.replies.append(Reply(401, b"{}"))
        with pytest.raises(ProviderError):
            embedding.embed("three")


# Graph. tests/adapters/test_langgraph.py runs the node in graphs of LangGraph.


def test_retriever_node_state_update(filled: Callable[..., VectorStore]) -> None:
    store = filled(Document("a", "text", {"k": 1}, [0, 1, 0, 0]), Document("b", "", {"k": 2}, [0, 1, 1, 0]))
    node = retriever_node(Retriever(Hashing(), store))
    states = (
        {"query": "x", "retrieved_docs": ["old"]},
        SimpleNamespace(query="x", metadata_filter=Eq("k", 2)),
        {"query": "x", "metadata_filter": {"k": 3}},
    )
    found = [node(state) for state in states]
    assert [[each.id for each in update.pop("retrieved_docs")] for update in found] == [["a", "b"], ["b"], []]
    assert found == [{}, {}, {}]


def test_retriever_node_threshold_filtering(filled: Callable[..., VectorStore]) -> None:
    store = filled(Document("a", "", {}, [0, 3, 4, 0]), Document("b", "", {}, [0, 2.99, 4, 0]))
    node = retriever_node(Retriever(Hashing(), store, score_threshold=0.6))
    assert node({"query": "x"}) == {"retrieved_docs": [Document("a", "")]}


def test_retriever_node_error_propagation(filled: Callable[..., VectorStore]) -> None:
    error = ZeroDivisionError("No.")
    for embedding, kind in ((Failing(error), Other), (Hashing(), DimensionMismatch)):
        with pytest.raises(kind):
            retriever_node(Retriever(embedding, filled(Document("a", "", {}, [1]))))({"query": "x"})


# The edges.


def test_filter_prints_as_rql() -> None:
    assert All((Eq("a.b", True), Any((In("n", (1, None)), Range("n", "a"))))).to_rql() == (
        "doc.meta.'a.b' = TRUE AND ((doc.meta.n IN (1) OR doc.meta.n IS NULL) OR doc.meta.n >= 'a')"
    )


def test_filter_comes_before_the_cut_and_ties_go_by_id(filled: Callable[..., VectorStore]) -> None:
    store = filled(*(Document(f"{n:02}", "", {"even": n % 2 == 0}, [1, 0]) for n in range(40, 0, -1)))
    assert ids(store, [1, 0], 3) == "01 02 03"
    assert ids(store, [1, 0], 3, Eq("even", True)) == "02 04 06"


def test_memory_and_file_give_the_same_answers(tmp_path: Path) -> None:
    chance = Random(3)

    def vector() -> list[float]:
        return [float(chance.randrange(-2, 3)) for _ in range(6)]

    documents = [
        Document(f"d{n}", f"text {n % 9}", {"n": n % 7, "x": chance.choice([None, True, 1, "1", [1]])}, vector())
        for n in range(400)
    ]
    memory = InMemoryVectorStore()
    with FileVectorStore(tmp_path) as file:
        for store in (memory, file):
            store.add(documents)
            store.add([Document("d7", "new", {}, [1.0] * 6)])
            assert store.delete(["d8", "d9", "d9"]) == 2
        for only in (None, *FILTERS, Eq("x", 1), Any((Eq("x", "1"), Range("n", 5)))):
            for top_k in (0, 1, 10, 500):
                query = vector()
                assert memory.search(query, top_k, only) == file.search(query, top_k, only)


def test_add_replaces_and_later_changes_do_not_reach_the_store(filled: Callable[..., VectorStore]) -> None:
    metadata = {"n": [1]}
    store = filled(Document("a", "old", metadata, [1, 0]))
    metadata["n"].append(2)
    store.search([1, 0], 1)[0].document.metadata["n"].append(3)
    assert store.search([1, 0], 1)[0].document.metadata == {"n": [1]}
    store.add([Document("a", "new", {}, [0, 1])])
    assert [(each.document.content, each.score) for each in store.search([1, 0], 9)] == [("new", 0.0)]


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (Document("b", "", {}, [math.nan, 1]), "bad_vector"),
        (Document("b", "", {}, [1, math.inf]), "bad_vector"),
        (Document("b", "", {}, ["x", 1]), "bad_vector"),
        (Document("b", "", {}, [[1, 2], [3, 4]]), "bad_vector"),
        (Document("b", "", {}, [10**400, 1]), "bad_vector"),
        (Document("b", "", {}, []), "dimension_mismatch"),
        (Document("b", "", {}, None), "vector_missing"),
        (Document("a2", "", {}, [1, 1]), "duplicate_id"),
        (Document("b", "", {"n": math.nan}, [1, 1]), "bad_document"),
        (Document("b", "", {1: 1}, [1, 1]), "bad_document"),
    ],
)
def test_refused_add_changes_nothing(filled: Callable[..., VectorStore], document: Document, code: str) -> None:
    store = filled(Document("a", "", {}, [1, 0]))
    with pytest.raises(RecallError) as error:
        store.add([Document("a2", "", {}, [1, 1]), document])
    assert error.value.code == code
    assert ids(store, [1, 0]) == "a"


def test_refused_first_add_fixes_no_dimension(new: Callable[[], VectorStore]) -> None:
    store = new()
    with pytest.raises(UsageError):
        store.add([Document("a", "", {}, [math.nan, 1, 1])])
    store.add([Document("a", "", {}, [1, 0])])
    assert ids(store, [1, 0]) == "a"


def test_document_of_zeros_is_never_found(filled: Callable[..., VectorStore]) -> None:
    store = filled(Document("a", "", {}, [0, 0]), Document("b", "", {}, [-1, 0]))
    assert (ids(store, [1, 0]), ids(store, [0, 0]), store.delete(["a"])) == ("b", "", 1)


def test_arrays_are_vectors_too(filled: Callable[..., VectorStore]) -> None:
    store = filled(Document("a", "", {}, np.array([1, 0], dtype=np.float32)))
    assert store.search(np.array([1.0, 1.0]), 1)[0].score == 0.707107


def test_get_returns_unit_vectors_by_id(filled: Callable[..., ReadableStore]) -> None:
    rows = [("b", "same", {"x": 1}, [3, 4]), ("a#1", "same", {"x": 2}, [1, 0]), ("z", "", {}, [0, 0])]
    store = filled(*(Document(*row) for row in rows))
    every = store.get()

    assert [each.id for each in every] == ["a#1", "b", "z"]
    assert [each.embedding for each in every] == [[1, 0], pytest.approx([0.6, 0.8]), None]
    assert [each.content for each in store.get(["z", "b", "absent"])] == ["same", ""]
    assert [each.id for each in store.get(filter=Not(Eq("x", 1)))] == ["a#1", "z"]
    assert store.get(["b"], Not(Eq("x", 1))) == store.get([]) == []
    assert [each.id for each in store.get([*map(str, range(40_000)), "z", "b", "z"], Not(Eq("x", 1)))] == ["z"]


def test_dictionary_filters_become_rql() -> None:
    wanted = {"year": {"$gt": 2024}, "$or": [{"lang": {"$in": ["de"]}}, {"$not": {"lang": None}}]}
    assert (made := mongo_filter(wanted)) is not None
    assert made.to_rql() == (
        "(doc.meta.year >= 2024 AND NOT doc.meta.year = 2024)"
        " AND (doc.meta.lang IN ('de') OR doc.meta.lang IS NOT NULL)"
    )
    for unknown in ({"year": {"$near": 1}}, {"year": [1]}, {"year": {"$lt": True}}, {"$or": [None]}, {1: 2}, "a = 1"):
        with pytest.raises(UsageError) as error:
            mongo_filter(unknown)
        assert error.value.code == "unknown_filter"


def test_diverse_results_skip_a_copy(filled: Callable[..., ReadableStore]) -> None:
    vectors = ([1, 0, 0], [0.99, 0.01, 0], [0.7, 0.7, 0])
    store = filled(*(Document(str(number), "t", {}, vector) for number, vector in enumerate(vectors)))
    for relevance, ids in ((0.4, "02"), (1.0, "01")):
        found = search_diverse(store, [1, 0, 0], k=2, fetch_k=3, relevance=relevance, where=None)
        assert "".join(each.document.id for each in found) == ids


def test_filter_refuses_what_metadata_cannot_have() -> None:
    deep: MetadataFilter = Eq("k", 1)
    for _ in range(64):
        deep = All((deep,))
    for make in (
        lambda: Eq("", 1),
        lambda: Eq("k\0", 1),
        lambda: Eq("k", "\ud800"),
        lambda: Eq("k", math.nan),
        lambda: Eq("k", [1]),
        lambda: Range("k", True),
        lambda: All(("x",)),
        lambda: MetadataFilter.from_json({"Nor": []}),
        lambda: Any((deep,)),
        lambda: Not(deep),
        lambda: Not("x"),
        lambda: MetadataFilter.from_json({"Any": [deep.to_json()]}),
        lambda: Document.from_json({"id": "a"}),
    ):
        with pytest.raises(UsageError) as error:
            make()
        assert error.value.code in ("bad_filter", "rql_too_large", "bad_document")
    assert MetadataFilter.from_json(deep.to_json()) == deep


def test_sixteen_threads_add_search_and_delete(new: Callable[[], VectorStore]) -> None:
    store = new()
    rounds = 60 if isinstance(store, InMemoryVectorStore) else 3

    def work(thread: int) -> None:
        for n in range(rounds):
            store.add([Document(f"{thread}-{n}-{part}", "", {"n": n}, [thread + 1, n, 1]) for part in range(3)])
            scores = [each.score for each in store.search([thread + 1, n, 1], 5, Eq("n", n))]
            assert scores[:2] == [1.0, 1.0]
            assert scores == sorted(scores, reverse=True)
            assert store.delete([f"{thread}-{n}-0"]) == 1

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(16)))
    assert len(store.search([1, 1, 1], 10_000)) == 16 * rounds * 2


def test_awaitable_twins_give_the_same_answers(new: Callable[[], VectorStore]) -> None:
    async def run() -> list[str]:
        store = new()
        await Indexer(Hashing(), store).aindex([Document("a", "x"), Document("b", "xx")])
        assert await store.adelete(["b"]) == 1
        await store.aadd([Document("c", "", {}, [0, 1, 1, 0])])
        found = await Retriever(Hashing(), store).aretrieve("x")
        assert found == await store.asearch([0, 1, 0, 0], 10)
        return [each.document.id for each in found]

    assert asyncio.run(run()) == ["a", "c"]


def test_indexer_refuses_empty_ids_or_makes_them() -> None:
    with pytest.raises(InvalidId):
        Indexer(Failing(ValueError()), InMemoryVectorStore()).index([Document("", "x")])
    store = InMemoryVectorStore()
    first, second = Indexer(Hashing(), store, ids="uuid").index([Document("", "x"), Document("own", "x")])
    assert (len(first), second, len(store)) == (36, "own", 2)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (EmbedError("embed_invalid", "No."), InvalidResponse),
        (EmbedError("provider_rate_limited", "No."), RateLimited),
        (EmbedError("provider_timeout", "No."), Timeout),
        (EmbedError("provider_failed", "No."), ProviderError),
        (ZeroDivisionError("No."), Other),
    ],
)
def test_errors_of_embeddings_have_a_class_each(error: Exception, kind: type[RecallError]) -> None:
    for call in (
        lambda: Indexer(Failing(error), InMemoryVectorStore()).index([Document("a", "x")]),
        lambda: Retriever(Failing(error), InMemoryVectorStore()).retrieve("x"),
    ):
        with pytest.raises(kind) as raised:
            call()
        assert raised.value.__cause__ is error
        assert raised.value.code == getattr(error, "code", "embedder_failed")


def test_indexer_refuses_vectors_of_another_number_or_size() -> None:
    class Short(Hashing):
        dimension = 5

    with pytest.raises(InvalidResponse):
        Indexer(Short(), InMemoryVectorStore()).index([Document("a", "x")])


def test_model_embedding_indexes_and_retrieves() -> None:
    embedding, store = ModelEmbedding("hash", embedding_dim=256), InMemoryVectorStore()
    Indexer(embedding, store).index([Document("a", "undo a deploy"), Document("b", "bake a cake"), Document("c", "")])
    assert embedding.dimension == 256
    assert [each.document.id for each in Retriever(embedding, store, k=1).retrieve("deploys")] == ["a"]
    assert Retriever(embedding, store).retrieve("") == []
    with pytest.raises(ProviderError):
        ModelEmbedding("no_such_model")


def test_loaders_and_splitter_keep_text_and_source(tmp_path: Path) -> None:
    note, paper, table = tmp_path / "note.md", tmp_path / "paper.pdf", tmp_path / "rows.jsonl"
    note.write_text("# One\n\nFirst words here. Second words there.\n")
    paper.write_bytes(pdf(["First page", "", "Third page"]))
    table.write_text('{"id": "r1", "text": "a row"}\n{"id": "r2", "text": "another"}\n')

    (text,) = TextLoader(note).load()
    assert (text.id, text.content, text.metadata["source"]) == (str(note), note.read_text(), str(note))
    pages = PdfLoader(paper).load()
    assert [(each.id, each.content, each.metadata["page"]) for each in pages] == [
        (f"{paper}#page=1", "First page", 1),
        (f"{paper}#page=3", "Third page", 3),
    ]
    assert len({each.id for each in FileLoader(table).load()}) == 2

    pieces = TextSplitter(ChunkPolicy(chunk_tokens=5, overlap_tokens=0)).split([text])
    assert "".join(each.content for each in pieces) == text.content
    assert [each.id for each in pieces] == [f"{note}#chunk={n}" for n in range(len(pieces))]
    assert all(text.content[each.metadata["offset"] :].startswith(each.content) for each in pieces)
    with pytest.raises(RecallError, match="cannot be read"):
        TextLoader(tmp_path / "missing.txt").load()


def test_core_asks_for_no_ecosystem() -> None:
    adapters = [f"recall_core.interfaces.{name}" for name in ("haystack", "langchain", "llamaindex")]
    run = [sys.executable, "-c", _IMPORT_ALL, *adapters]
    before, asked, missing = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split("\n")[:3]
    assert (before, asked, missing) == ("[]", "[]", "[]")


_IMPORT_ALL = """
import importlib, pkgutil, sys

asked, missing = [], []

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("langchain", "llama_index", "langgraph", "haystack", "chromadb")):
            asked.append(name)

sys.meta_path.insert(0, Watch())
import recall_core.adapters.cli, recall_core.api.recall
print([name for name in sys.modules if name.startswith("recall_core.interfaces")])
for module in pkgutil.walk_packages(recall_core.__path__, "recall_core."):
    if module.name not in sys.argv and not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            missing.append(str(error))
print(asked)
print(missing)
"""
