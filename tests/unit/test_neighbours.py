"""Near pairs and best cosines: the limit, the exclusions and the order."""

from __future__ import annotations

from array import array
from math import sqrt

import pytest

from recall_core.store.sqlite import maintenance
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import NewFile, Vector
from tests.builders import memory_store, new_file, put
from tests.damage import change_vectors


def at(cosine: float) -> Vector:
    """Return a unit vector with that cosine to the first axis."""
    return array("f", [cosine, sqrt(1 - cosine * cosine), *[0.0] * 62]).tobytes()


def with_vectors(path: str, vectors: list[Vector]) -> NewFile:
    """Return a file of one chunk per vector, with unique content."""
    made = new_file(path, [f"{path} chunk {number}. " for number in range(len(vectors))])
    document = made.documents[0]
    chunks = tuple(chunk._replace(vector=vector) for chunk, vector in zip(document.chunks, vectors, strict=True))
    return made._replace(documents=(document._replace(chunks=chunks),))


def store_of(**vectors: list[Vector]) -> SqliteStore:
    store = memory_store()
    put(store, *(with_vectors(path, found) for path, found in vectors.items()))
    return store


def test_pair_at_the_limit_is_near() -> None:
    for cosine, pairs in [(1.0, 1), (0.9500004, 1), (0.95, 1), (0.9499, 0), (0.949999, 0)]:
        store = store_of(a=[at(1.0)], b=[at(cosine)])

        assert store.near_pairs(least=0.95, shown=3).pairs == pairs, (cosine, pairs)


def test_chunks_of_one_or_equal_documents_are_not_paired() -> None:
    store = store_of(a=[at(1.0), at(1.0)])
    content = with_vectors("copy", [at(1.0)]).documents[0]
    original = store.execute("SELECT hash FROM doc")[0][0]
    put(store, with_vectors("copy", [at(1.0)])._replace(documents=(content._replace(hash=original),)))

    assert store.near_pairs(least=0.95, shown=3) == (0, ())


def test_first_pairs_are_sorted_by_path_and_offset() -> None:
    store = store_of(c=[at(1.0)], a=[at(0.1), at(0.96)], b=[at(1.0)])

    near = store.near_pairs(least=0.95, shown=2)

    named = {row.rowid: (row.doc.path, row.chunk.offset > 0) for row in store.fetch([*store.in_order()])}
    assert near.pairs == 3
    assert [(named[one], named[other], cosine) for one, other, cosine in near.first] == [
        (("a", True), ("b", False), 0.96),
        (("a", True), ("c", False), 0.96),
    ]


def test_block_size_does_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(**{f"f{number}": [at(1.0 - number % 3 / 10)] for number in range(20)})
    whole = store.near_pairs(least=0.95, shown=50)

    monkeypatch.setattr(maintenance, "_PAIR_ROWS", 6)
    monkeypatch.setattr(maintenance, "_PAIR_COLUMNS", 4)

    assert store.near_pairs(least=0.95, shown=50) == whole
    assert store.near_pairs(least=0.95, shown=5) == (whole.pairs, whole.first[:5])


def test_removed_chunks_and_invalid_vectors_are_skipped() -> None:
    store = store_of(a=[at(1.0)], b=[at(1.0)], c=[at(1.0)], d=[at(1.0)])
    with store.writer() as writer:
        writer.tombstone(["a"])
    store.db.pragma("query_only", False)
    change_vectors(store.db)
    store.db.execute("UPDATE vec SET embedding = zeroblob(8) WHERE chunk = 2")
    store.db.pragma("query_only", True)

    assert store.near_pairs(least=0.95, shown=3) == (1, ((3, 4, 1.0),))
    assert store.bests({2: at(1.0), 3: at(0.5)}) == {3: (0.5, 0.5)}


def test_empty_store_has_no_pair_and_no_best() -> None:
    store = memory_store()

    assert store.near_pairs(least=0.95, shown=3) == (0, ())
    assert store.bests({}) == {}


def test_best_cosine_of_any_chunk_accompanies_its_own() -> None:
    store = store_of(a=[at(0.2)], b=[at(1.0)])

    assert store.bests({1: at(1.0)}) == {1: (0.2, 1.0)}
    assert store.vectors([2, 9]) == {2: at(1.0)}


def test_chunks_are_sorted_by_path_and_offset() -> None:
    store = memory_store()
    put(store, new_file("b", ["one ", "two"]), new_file("a", ["three"]))

    assert [row.chunk.text for row in store.fetch([*store.in_order()])] == ["three", "one ", "two"]
