"""Near pairs match brute force for any vectors, documents and block size."""

from __future__ import annotations

from array import array
from math import cos, fsum, radians, sin
from operator import mul
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from recall_core.store.sqlite import maintenance
from recall_core.store.sqlite.store import create_store
from recall_core.types import Vector
from tests.builders import EMBEDDER, new_file, put

LEAST = 0.95
AT_THE_LIMIT = 18.194872  # degrees whose cosine is 0.95
ANGLES = st.sampled_from([0.0, 0.001, AT_THE_LIMIT, AT_THE_LIMIT + 0.0001, 2 * AT_THE_LIMIT, 30.0]) | st.floats(0, 40)


def unit(degrees: float) -> Vector:
    return array("f", [cos(radians(degrees)), sin(radians(degrees)), *[0.0] * 14]).tobytes()


def cosine(one: Vector, other: Vector) -> float:
    return round(fsum(map(mul, array("f", one), array("f", other))), 6)


@given(
    files=st.lists(st.tuples(st.lists(ANGLES, min_size=1, max_size=3), st.integers(0, 5)), max_size=8),
    rows=st.integers(1, 9),
    columns=st.integers(1, 9),
)
def test_near_pairs_match_brute_force(files: list[tuple[list[float], int]], rows: int, columns: int) -> None:
    store = create_store(
        ":memory:", embedder=EMBEDDER.identity, dimension=16, counter="whitespace", chunker="boundary-1:400:80:6000"
    )
    vectors: list[tuple[int, Vector]] = []
    for number, (angles, content) in enumerate(files):
        made = new_file(f"{number}.txt", [f"chunk {place} " for place in range(len(angles))])
        document = made.documents[0]
        chunks = tuple(c._replace(vector=unit(angle)) for c, angle in zip(document.chunks, angles, strict=True))
        put(store, made._replace(documents=(document._replace(hash=f"{content:064}", chunks=chunks),)))
        vectors += [(content, unit(angle)) for angle in angles]
    rowids = store.in_order()
    expected = [
        (rowids[i], rowids[j], cosine(one, other))
        for i, (content, one) in enumerate(vectors)
        for j, (other_content, other) in enumerate(vectors)
        if i < j and content != other_content and cosine(one, other) >= LEAST
    ]

    with patch.object(maintenance, "_PAIR_ROWS", rows), patch.object(maintenance, "_PAIR_COLUMNS", columns):
        near = store.near_pairs(least=LEAST, shown=4)

    assert near.pairs == len(expected)
    assert list(near.first) == expected[:4]
