"""Compare the vector stores of `recall_core.interfaces` with those of LangChain, Chroma and FAISS, in one run.

    pip install langchain-core chromadb faiss-cpu
    python -m benchmarks.vector_stores [DOCUMENTS...]

Every store gets the same vectors of 256 components and answers the same queries in turn. An answer is exact if its
ids are those of float64 cosines to six decimals, ties by id. Chroma's index is approximate. FAISS is a matrix of
float32 without ids and metadata; without faiss-cpu it is left out. NumPy and FAISS use one thread: on a machine with
other work, threads of one product wait for each other.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import chromadb
import numpy as np
from langchain_core.documents import Document as Theirs
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore as Store

from benchmarks.timing import on_one_thread
from recall_core.interfaces import Document, Eq, FileVectorStore, InMemoryVectorStore, VectorStore

DIMENSION = 256
QUERIES = 300
K = 10
_BATCH = 5_000  # Chroma takes at most 5,461 documents at once

try:
    import faiss
except ImportError:
    faiss = None

Search = Callable[[list[float], bool], list[str]]
"""A query and whether to filter, to ids."""


class Peer(NamedTuple):
    """A store. index: adds the documents and returns how to search."""

    name: str
    index: Callable[[list[Document]], Search]


def ours(store: VectorStore) -> Callable[[list[Document]], Search]:
    def index(documents: list[Document]) -> Search:
        store.add(documents)
        only = Eq("lang", "de")
        return lambda query, is_filtered: [
            each.document.id for each in store.search(query, K, only if is_filtered else None)
        ]

    return index


def langchain(documents: list[Document]) -> Search:
    class Known(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [list(each.embedding or ()) for each in documents]

        def embed_query(self, text: str) -> list[float]:
            raise NotImplementedError

    store = Store(Known())
    theirs = [Theirs(page_content=each.content, metadata=each.metadata, id=each.id) for each in documents]
    store.add_documents(theirs)

    def search(query: list[float], is_filtered: bool) -> list[str]:
        passes = (lambda each: each.metadata["lang"] == "de") if is_filtered else None
        found = store.similarity_search_with_score_by_vector(query, K, filter=passes)
        return [str(each.id) for each, _ in found]

    return search


def chroma(client: Any) -> Callable[[list[Document]], Search]:
    def index(documents: list[Document]) -> Search:
        collection = client.create_collection(f"n{len(documents)}", metadata={"hnsw:space": "cosine"})
        for start in range(0, len(documents), _BATCH):
            some = documents[start : start + _BATCH]
            collection.add(
                ids=[each.id for each in some],
                documents=[each.content for each in some],
                metadatas=[each.metadata for each in some],
                embeddings=[each.embedding for each in some],
            )

        def search(query: list[float], is_filtered: bool) -> list[str]:
            where = {"lang": "de"} if is_filtered else None
            return list(collection.query(query_embeddings=[query], n_results=K, where=where)["ids"][0])

        return search

    return index


def flat(documents: list[Document]) -> Search:
    matrix = np.array([each.embedding for each in documents], dtype=np.float32)
    faiss.normalize_L2(matrix)
    index = faiss.IndexFlatIP(DIMENSION)
    index.add(matrix)
    ids = [each.id for each in documents]
    passing = [row for row, each in enumerate(documents) if each.metadata["lang"] == "de"]
    only = faiss.SearchParameters(sel=faiss.IDSelectorBatch(passing))

    def search(query: list[float], is_filtered: bool) -> list[str]:
        unit = np.array([query], dtype=np.float32)
        faiss.normalize_L2(unit)
        return [ids[row] for row in index.search(unit, K, params=only if is_filtered else None)[1][0]]

    return search


def exact(documents: list[Document], queries: Sequence[list[float]], *, is_filtered: bool) -> list[list[str]]:
    chosen = [each for each in documents if not is_filtered or each.metadata["lang"] == "de"]
    matrix = np.array([each.embedding for each in chosen])
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    cosines = np.array(queries) @ matrix.T / np.linalg.norm(queries, axis=1)[:, None]
    return [[chosen[place].id for place in np.argsort(-np.round(row, 6), kind="stable")[:K]] for row in cosines]


def resident_mb() -> float:
    """Return the memory in use, after giving back what the allocator keeps from before."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def measure(count: int, peers: Sequence[Peer]) -> Iterator[str]:
    chance = np.random.default_rng(48)
    vectors = chance.standard_normal((count, DIMENSION)).tolist()
    documents = [
        Document(f"{n:06}", f"text {n}", {"lang": "de" if n % 3 else "en", "n": n}, vector)
        for n, vector in enumerate(vectors)
    ]
    queries = chance.standard_normal((QUERIES, DIMENSION)).tolist()
    pairs = [
        (
            _seconds(lambda: np.array(vectors, dtype=np.float32)),
            _seconds(lambda: InMemoryVectorStore().add(documents)),
        )
        for _ in range(31)
    ]
    conversion = median(each for each, _ in pairs)
    low, middle, high = np.percentile([indexed / each for each, indexed in pairs], (10, 50, 90))
    yield f"{count} documents: NumPy converts the lists in {1e3 * conversion:.1f} ms"
    yield f"  indexed in memory in {middle:.2f} x of that (80 % of 31 pairs: {low:.2f} to {high:.2f})"
    searches: dict[str, Search] = {}
    for peer in peers:
        before, began = resident_mb(), perf_counter()
        searches[peer.name] = peer.index(documents)
        taken = perf_counter() - began
        yield f"  {peer.name:20} indexed in {taken / conversion:7.1f} x, RSS {before:.0f} -> {resident_mb():.0f} MB"
    for is_filtered in (False, True):
        wanted = exact(documents, queries, is_filtered=is_filtered)
        times: dict[str, list[float]] = {name: [] for name in searches}
        right = dict.fromkeys(searches, 0)
        for query, ids in zip(queries, wanted, strict=True):
            for name, search in searches.items():
                began = perf_counter()
                found = search(query, is_filtered)
                times[name].append(perf_counter() - began)
                right[name] += found == ids
        first = np.percentile(times[peers[0].name], (50, 95))
        for name, taken_by in times.items():
            p50, p95 = np.percentile(taken_by, (50, 95))
            yield (
                f"  {name:20} {'filtered' if is_filtered else 'all':8} exact {right[name]}/{QUERIES}"
                f"  p50 {1e3 * p50:7.2f} ms ({p50 / first[0]:5.1f} x)"
                f"  p95 {1e3 * p95:7.2f} ms ({p95 / first[1]:5.1f} x)"
            )


def _seconds(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


def main(counts: Sequence[int]) -> None:
    for count in counts:
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as opened:
            file = opened.enter_context(FileVectorStore(Path(folder, "recall")))
            peers = (
                Peer("recall in memory", ours(InMemoryVectorStore())),
                Peer("recall on disk", ours(file)),
                Peer("langchain in memory", langchain),
                Peer("chroma in memory", chroma(chromadb.EphemeralClient())),
                Peer("chroma on disk", chroma(chromadb.PersistentClient(str(Path(folder, "chroma"))))),
            )
            if faiss is not None:
                peers += (Peer("faiss flat", flat),)
            print("\n".join(measure(count, peers)), flush=True)


if __name__ == "__main__":
    on_one_thread("benchmarks.vector_stores")
    main([int(each) for each in sys.argv[1:]] or [1_000, 10_000])
