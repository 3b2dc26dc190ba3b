"""Storage of vectors: sixteen to a block, in slots that are zeroed on removal and reused."""

from __future__ import annotations

import struct
from math import atan2, cos, sin
from pathlib import Path

from recall_core.store.sqlite import blocks, records, vectors
from recall_core.store.sqlite.connect import load_vector_functions
from recall_core.store.sqlite.memory.snapshot import read_at_once
from recall_core.store.sqlite.store import SqliteStore, create_store
from tests.builders import new_file, put

DIMENSION = 16
ANGLE = 0.03


def vector(number: int) -> bytes:
    """Return a unit vector unique to this number, up to a hundred."""
    return struct.pack(f"<{DIMENSION}f", cos(number * ANGLE), sin(number * ANGLE), *([0.0] * (DIMENSION - 2)))


def store_of(count: int, path: str = ":memory:") -> SqliteStore:
    store = create_store(path, embedder="e-1", dimension=DIMENSION, counter="whitespace", chunker="c")
    load_vector_functions(store.db)
    add(store, range(count))
    return store


def add(store: SqliteStore, numbers: range) -> None:
    for number in numbers:
        file = new_file(f"{number:03}.txt", [f"text {number}"])
        document = file.documents[0]
        chunks = tuple(chunk._replace(vector=vector(number)) for chunk in document.chunks)
        put(store, file._replace(documents=(document._replace(chunks=chunks),)))


def remove(store: SqliteStore, *numbers: int) -> None:
    with store.writer() as writer:
        writer.tombstone([f"{number:03}.txt" for number in numbers])


def numbers_of(store: SqliteStore) -> dict[int, int]:
    """Return chunk rowid to number of its vector, as the view shows it."""
    rows = store.execute("SELECT chunk, embedding FROM vec ORDER BY chunk")
    return {chunk: round(atan2(*struct.unpack(f"<{DIMENSION}f", each)[1::-1]) / ANGLE) for chunk, each in rows}


def content(store: SqliteStore) -> bytes:
    return b"".join([each for (each,) in store.execute("SELECT embeddings FROM vec_block ORDER BY block")])


def free(store: SqliteStore) -> int:
    return int(store.execute("SELECT count(*) FROM vec_free")[0][0])


def test_sixteen_vectors_share_a_row() -> None:
    for count in [1, 15, 16, 17, 40]:
        store = store_of(count)

        assert numbers_of(store) == {number + 1: number for number in range(count)}, count
        assert store.execute("SELECT count(*) FROM vec_block") == [(-(-count // 16),)], count
        assert free(store) == -count % 16, count
        assert len(content(store)) == 4 * DIMENSION * (count + free(store)), count


def test_removed_vector_is_zeroed_and_its_slot_reused() -> None:
    store = store_of(16)
    with store.transaction():
        store.execute("DELETE FROM vec_cache")

    remove(store, 3, 7)

    assert numbers_of(store) == {number + 1: number for number in range(16) if number not in (3, 7)}
    zeroes = bytes(4 * DIMENSION)
    parts = [content(store)[i : i + len(zeroes)] for i in range(0, 16 * len(zeroes), len(zeroes))]
    assert [i for i, part in enumerate(parts) if part == zeroes] == [3, 7]

    add(store, range(20, 22))
    assert store.execute("SELECT count(*) FROM vec_block") == [(1,)]
    assert free(store) == 0
    assert {*numbers_of(store).values()} == {*range(16), 20, 21} - {3, 7}


def test_vectors_are_read_by_rowid_after_slots_are_reused() -> None:
    store = store_of(20)
    remove(store, 2, 11, 17)
    add(store, range(30, 34))

    rowids, components = blocks.join(blocks.scan(store.execute))
    assert rowids == list(numbers_of(store))
    assert components == b"".join(map(vector, numbers_of(store).values()))
    assert list(store.cosines(vector(1), where=None)) == list(numbers_of(store))


def test_doctor_finds_a_lost_block_and_no_vector_is_confused() -> None:
    store = store_of(20)
    with store.transaction():
        store.execute("DELETE FROM vec_block WHERE block = 1")

    assert [*store.cosines(vector(1), where=None)] == [17, 18, 19, 20]
    assert store.check("vector_values").severity == "error"

    store.rebuild(copy=None, made_with=lambda: None)
    made = {row: (vector(row - 1), 1) for rows in store.without_vector() for row, _ in rows}
    assert [*made] == [*range(1, 17)]
    store.put_vectors(embedder=store.embedder(), made=made)
    assert numbers_of(store) == {number + 1: number for number in range(20)}
    assert store.check("vector_values").severity == "ok"


def test_compacting_closes_gaps_and_keeps_answers() -> None:
    store = store_of(50)
    remove(store, *range(0, 40, 2))
    add(store, range(60, 63))
    before = numbers_of(store)

    store.compact()

    assert numbers_of(store) == before
    assert store.execute("SELECT count(*) FROM vec_block") == [(-(-len(before) // 16),)]
    assert [chunk for (chunk,) in store.execute("SELECT chunk FROM vec_place ORDER BY place")] == list(before)
    last = store.execute("SELECT max(block) FROM vec_block")
    store.compact()
    assert store.execute("SELECT max(block) FROM vec_block") == last
    assert store.check("vector_values").severity == store.check("counts").severity == "ok"


def test_rollback_removes_added_vectors(tmp_path: Path) -> None:
    store = store_of(5, str(tmp_path / "r.db"))
    before = content(store), free(store)

    with store.without_writers():  # changes inside this block are rolled back
        store.execute("DELETE FROM vec_place WHERE chunk = 2")
        assert free(store) == before[1] + 1

    assert (content(store), free(store)) == before
    store.close()


def best(store: SqliteStore, asked: bytes, *, k: int) -> dict[int, float]:
    """Return the k best of every vector by cosine, ties in natural order."""
    cosines = store.cosines(asked, where=None)
    order = [key.rowid for key in store.candidates(None) if key.rowid in cosines]
    return {rowid: cosines[rowid] for rowid in sorted(order, key=lambda rowid: -cosines[rowid])[:k]}


def test_nearest_rows_have_the_highest_cosines() -> None:
    store = store_of(40)
    remove(store, 4, 5)
    add(store, range(50, 51))

    for k in (0, 1, 5, 39, 100):
        near = store.nearest(vector(12), where=None, k=k)
        assert list(near.cosines.items()) == list(best(store, vector(12), k=k).items())
        assert vectors.near_of_all(store.execute, vector(12), k=k) is not None


def test_ties_beyond_the_limit_follow_natural_order() -> None:
    store = create_store(":memory:", embedder="e-1", dimension=DIMENSION, counter="whitespace", chunker="c")
    for number in range(100):
        file = new_file(f"{99 - number:03}.txt", [f"text {number}"])
        document = file.documents[0]
        put(
            store,
            file._replace(documents=(document._replace(chunks=(document.chunks[0]._replace(vector=vector(1)),)),)),
        )

    near = store.nearest(vector(1), where=None, k=3)

    assert vectors.near_of_all(store.execute, vector(1), k=3) is None
    assert list(near.cosines) == [100, 99, 98]


def test_vector_without_live_chunk_is_never_nearest() -> None:
    store = store_of(20)
    with store.transaction():
        store.execute("DROP TRIGGER chunk_tombstone")
        store.execute("UPDATE chunk SET deleted = 1 WHERE rowid IN (3, 4)")
        store.execute("UPDATE doc SET deleted = 1 WHERE rowid IN (3, 4)")

    near = store.nearest(vector(2), where=None, k=18)

    assert len(near.cosines) == 18
    assert not {3, 4} & {*near.cosines}


def test_vectors_in_memory_equal_blocks_with_or_without_gaps() -> None:
    store = store_of(70)
    remove(store, *range(16, 32), 40, 41)
    add(store, range(80, 83))

    state = store.state()
    snapshot = read_at_once(store.db, store.execute, state, 1 << 30)

    assert snapshot is not None
    assert dict(snapshot.cosines(vector(3), None)) == store.cosines(vector(3), where=None)


def test_block_estimates_equal_single_estimates() -> None:
    for filtered in [False, True]:
        store = store_of(40)
        remove(store, 3, 20)
        add(store, range(50, 52))
        with store.transaction():
            store.execute("DELETE FROM vec_place WHERE chunk = 9")
        condition = records.LIVE + " AND c.rowid < 4" * filtered

        found = vectors.estimates(store.execute, vector(7), condition, (), in_blocks=True)

        assert found == vectors.estimates(store.execute, vector(7), condition, (), in_blocks=False), filtered
        assert found is not None, filtered
        assert len(found.rowids) == (3 if filtered else 40), filtered
