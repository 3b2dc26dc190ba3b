"""The sixth decimal of a cosine is exact: float64 decides and float32 only proposes, on data that can tell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from array import array
from collections.abc import Callable, Sequence
from math import fsum, nextafter, sqrt
from operator import mul
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from recall_core.api.recall import Ask, Recall
from recall_core.rql.parser import parse_filter
from recall_core.store.sqlite import vectors
from recall_core.store.sqlite.connect import load_vector_functions
from recall_core.store.sqlite.store import SqliteStore, create_store
from recall_core.types import NewFile, Vector
from tests.builders import EMBEDDER, memory_store, new_file, put

ROOT = Path(__file__).parents[2]
IS_NIGHT = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
DIMENSION = 64
ROWS = 300
WORDS = "an anteater with seven brothers"

Ways = Callable[[Vector, Sequence[Vector]], list[float]]
Made = Callable[[int], tuple[Vector, list[Vector]]]


def pack_floats(components: NDArray[np.float64]) -> Vector:
    """Return components as float32, scaled to length 1."""
    return (components / np.linalg.norm(components)).astype("<f4").tobytes()


def exact(query: Vector, row: Vector) -> float:
    """Return the reference cosine: the correctly rounded float64 sum, half-even to six decimals; no -0.0."""
    return max(-1.0, min(1.0, round(fsum(map(mul, array("f", query), array("f", row))), 6))) + 0.0


def beside(query: Vector, cosine: float, noise: NDArray[np.float64]) -> Vector:
    """Return a vector at this cosine to the query, as near as float32 allows."""
    q = np.frombuffer(query, dtype="<f4").astype(np.float64)
    q /= np.linalg.norm(q)
    across = noise - noise @ q * q
    return pack_floats(cosine * q + sqrt(1 - cosine * cosine) * across / np.linalg.norm(across))


def near_halves(query: Vector) -> list[Vector]:
    """Return rows around four cosines, each within 5e-8 of the half of a sixth decimal, and some that round to 0."""
    rng = np.random.default_rng(20)
    centres = (0.7003215, 0.7003225, 0.2500005, -0.6003215, -0.0000001)
    rows = []
    for n in range(ROWS):
        cosine = centres[n % 5] + float(rng.uniform(-5e-8, 5e-8))
        rows.append(beside(query, cosine, rng.normal(size=len(query) // 4)))
    return rows


QUERY = EMBEDDER.embed([WORDS], is_query=True)[0]
HALVES = near_halves(QUERY)


def plain(query: Vector, rows: Sequence[Vector]) -> list[float]:
    return vectors._plain(query, vectors.rows_of(list(enumerate(rows))))


def multiply(query: Vector, rows: Sequence[Vector]) -> list[float]:
    return vectors._multiply(query, vectors.rows_of(list(enumerate(rows))))


each_way = [plain, multiply]


def bits(values: Sequence[float]) -> list[str]:
    """Return values as text, so that -0.0 differs from 0.0."""
    return [value.hex() for value in values]


def float32_distances(query: Vector, rows: Sequence[Vector]) -> list[float]:
    """Return the distances computed by sqlite-vec."""
    store = memory_store()
    load_vector_functions(store.db)
    return [store.execute("SELECT vec_distance_cosine(?, ?)", (query, row))[0][0] for row in rows]


def best_first(values: Sequence[float]) -> list[int]:
    return sorted(range(len(values)), key=lambda n: (-values[n], n))


def test_data_can_tell_float32_from_float64() -> None:
    settled = [exact(QUERY, row) for row in HALVES]
    matrix = np.frombuffer(b"".join(HALVES), dtype="<f4").reshape(ROWS, -1)
    numpy32 = (matrix @ np.frombuffer(QUERY, dtype="<f4")).astype(np.float64)
    sqlite32 = [1 - distance for distance in float32_distances(QUERY, HALVES)]
    for values in (numpy32.tolist(), sqlite32):
        assert sum(round(value, 6) != right for value, right in zip(values, settled, strict=True)) > 10
        assert best_first(values) != best_first(settled)
    assert len(set(settled)) < 12  # many ties, in natural order
    assert sum(str(round(fsum(map(mul, array("f", QUERY), array("f", row))), 6)) == "-0.0" for row in HALVES) > 10


def test_values_around_the_half_match_float64() -> None:
    for way in each_way:
        assert bits(way(QUERY, HALVES)) == bits([exact(QUERY, row) for row in HALVES]), way


def test_cosine_exactly_on_the_half_rounds_to_even() -> None:
    for way in each_way:
        for steps, rounded in [
            (1, 0.007812),
            (3, 0.023438),
            (5, 0.039062),
            (7, 0.054688),
            (-1, -0.007812),
            (-3, -0.023438),
            (63, 0.492188),
        ]:
            cosine = steps / 2**7  # only these numbers have an exact half below 1 in float64: odd multiples of 2**-7
            row = np.array([cosine, sqrt(1 - cosine * cosine), 0.0]).astype("<f4").tobytes()
            query = np.array([1.0, 0.0, 0.0]).astype("<f4").tobytes()

            assert way(query, [row]) == [rounded], (way, steps)


def vectors_for(cosine: float) -> tuple[Vector, Vector]:
    """Return vectors whose products add up to this float64 to the last bit, though not from left to right."""
    high = float(np.float32(cosine))
    middle = float(np.float32(cosine - high))
    row = np.array([0.75, high, middle, cosine - high - middle, -0.75]).astype("<f4").tobytes()
    return np.ones(5, dtype="<f4").tobytes(), row


def test_last_bit_next_to_the_half_decides() -> None:
    for way in each_way:
        for millionths in [0, 1, 2, 3, 10, 77, 1_024, 4_098, 65_537, 123_456, 345_678, 481_024]:
            half = (millionths + 0.5) / 1e6
            for cosine in (nextafter(half, 0), half, nextafter(half, 1)):
                for value in (cosine, -cosine):
                    query, row = vectors_for(value)
                    assert fsum(map(mul, array("f", query), array("f", row))) == value, (way, millionths)
                    assert bits(way(query, [row])) == bits([round(value, 6) + 0.0]), (way, millionths)


def test_no_cosine_exceeds_one() -> None:
    for way in each_way:
        query = np.array([0.6, 0.8000005]).astype("<f4").tobytes()
        opposite = np.array([-0.6, -0.8000005]).astype("<f4").tobytes()

        assert fsum(map(mul, array("f", query), array("f", query))) > 1.0000005, way
        assert way(query, [query, opposite]) == [1.0, -1.0], way


def file_of(n: int, vector: Vector) -> NewFile:
    """Return a single document added by a program, so that no file can disagree with it."""
    file = new_file(f"d{n:03}.txt", [f"text {n}"])
    (document,) = file.documents
    (chunk,) = document.chunks
    document = document._replace(chunks=(chunk._replace(vector=vector),))
    return file._replace(os_path="", documents=(document,))


@pytest.fixture(scope="module")
def store() -> SqliteStore:
    made = memory_store()
    put(made, *_backwards(HALVES))
    return made


def _backwards(rows: Sequence[Vector]) -> list[NewFile]:
    """Return documents added in reverse natural order."""
    return [file_of(n, row) for n, row in enumerate(rows)][::-1]


def test_every_store_query_settles_them_equally(store: SqliteStore) -> None:
    expected = bits([exact(QUERY, row) for row in HALVES])
    rowids = [key.rowid for key in store.candidates(None)]
    somewhere = parse_filter("doc.path GLOB '*.txt' AND chunk.tokens > 0")
    answers = [store.cosines(QUERY, where=None) for _ in range(3)]  # the third is answered from memory
    answers += [store.cosines(QUERY, where=somewhere), store.cosines(QUERY, where=None, rowids=rowids)]
    answers += [
        store.nearest(QUERY, where=None, k=ROWS).cosines,
        store.nearest(QUERY, where=somewhere, k=2 * ROWS).cosines,
    ]

    assert [bits([found[rowid] for rowid in rowids]) for found in answers] == [expected] * len(answers)


def test_nearest_rows_are_best_by_float64_with_natural_ties(store: SqliteStore) -> None:
    values = [exact(QUERY, row) for row in HALVES]
    rowids = [key.rowid for key in store.candidates(None)]
    best = [rowids[n] for n in best_first(values)]

    for k in (0, 1, 2, 7, 40, 59, 60, 61, 119, 180, 240, ROWS, ROWS + 1):
        assert list(store.nearest(QUERY, where=None, k=k).cosines) == best[:k]


def in_blocks(dimension: int) -> tuple[Vector, list[Vector]]:
    """Return a query of equal components, and rows of two values at one cosine.

    Every partial sum is rounded in the same direction, so that the errors of a float32 distance add up.
    """
    rng = np.random.default_rng(1)
    query = pack_floats(np.ones(dimension))
    cosine = 1 - 1e-3
    rows = []
    for n in range(150):
        signs = np.where(np.arange(dimension) < rng.integers(1, dimension), 1.0, -1.0)
        signs *= rng.choice([-1, 1])
        rows.append(beside(query, cosine, rng.permutation(signs) if n % 2 else signs))
    return query, rows


def of_lengths(dimension: int) -> tuple[Vector, list[Vector]]:
    """Return rows near one cosine, between .9991 and 1.0009 long: the length of a stored vector counts."""
    rng = np.random.default_rng(2)
    query = pack_floats(rng.normal(size=dimension))
    rows = []
    for _ in range(150):
        cosine = 0.8 + float(rng.uniform(-4e-4, 4e-4))
        row = np.frombuffer(beside(query, cosine, rng.normal(size=dimension)), dtype="<f4")
        rows.append((row * rng.uniform(0.9991, 1.0009)).astype("<f4").tobytes())
    return query, rows


def test_float32_errors_exclude_no_row_from_the_proposals() -> None:
    for dimension in [512, 1024, 3072] if IS_NIGHT else [512, 1024]:
        for made in [in_blocks, of_lengths]:
            query, rows = made(dimension)
            store = create_store(
                ":memory:", embedder="by hand", dimension=dimension, counter="whitespace", chunker="none"
            )
            put(store, *_backwards(rows))
            values = [exact(query, row) for row in rows]
            rowids = [key.rowid for key in store.candidates(None)]
            best = [rowids[n] for n in best_first(values)]

            for k in (1, 3, 10, 50):
                assert list(store.nearest(query, where=None, k=k).cosines) == best[:k], (dimension, made)


def across(dimension: int) -> tuple[Vector, list[Vector]]:
    """Return a query and rows of a few equal sizes, whose products rise and fall again.

    The sum is nearly zero, and its second half does not cancel the errors of the first.
    """
    rows = []
    for n in range(1, 150):
        up = np.full(dimension // 2, 1 + n * 2.0**-12)
        rows.append(pack_floats(np.concatenate([up, -np.roll(up, n)])))
    return pack_floats(np.ones(dimension)), rows


def test_float32_errors_stay_within_the_estimate() -> None:
    for dimension in [512, 1024, 3072]:
        for made in [in_blocks, of_lengths, across]:
            query, rows = made(dimension)
            floor, slope = vectors._spread(dimension, dimension, sqrt(fsum(x * x for x in array("f", query))))
            estimates = [1 - distance for distance in float32_distances(query, rows)]
            off = [abs(exact(query, row) - each) for row, each in zip(rows, estimates, strict=True)]

            assert all(each <= floor + slope * abs(value) for each, value in zip(off, estimates, strict=True)), (
                dimension,
                made,
            )


ANSWERS = """
import json, os, sys
from recall_core.retrieve import pool
from recall_core.api.recall import Ask, Recall

with_numpy = sys.argv[2] == "yes"
if with_numpy:
    import numpy
def answer(k, bounded, warm, estimated):
    if estimated:
        pool._FEW_CHUNKS = 0
    if bounded:
        pool.EXACT_VECTORS = 0
    with Recall.open(sys.argv[1]) as recall:
        for _ in range(3 if warm else 1):
            ask = Ask(k=k, mode="semantic", explain=True, settings=("pool=60", "sparse_recall=off"))
            found = recall.search(sys.argv[3], ask)["results"]
    assert with_numpy or warm or "numpy" not in sys.modules
    print(json.dumps([[row["doc"]["path"], row["score"], row["explain"]["parts"]] for row in found]), flush=True)

for case in json.loads(sys.argv[4]):
    if not (child := os.fork()):
        answer(*case)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
CASES = [
    (60, False, False, False),
    (60, True, False, False),
    (60, False, False, True),
    (60, True, True, False),
    (300, False, False, True),
]
if IS_NIGHT:
    CASES += [(60, True, False, True), (60, False, True, False)]
"""Rows, and whether the search is bounded, warm and estimated."""


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("sixth")
    Recall.init(str(base), settings=(f"embedding_dim={DIMENSION}",))
    with Recall.open(str(base)) as recall:
        put(recall.store, *_backwards(HALVES))
    return base / "recall.db"


@pytest.fixture(scope="module")
def answers(on_disk: Path) -> dict[tuple[str, tuple[int, bool, bool, bool]], str]:
    """Return the answers of processes with and without NumPy, one process per case."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = {}
    for numpy in ("no", "yes"):
        cases = CASES if IS_NIGHT or numpy == "no" else CASES[1::2] + CASES[-1:]
        command = [sys.executable, "-c", ANSWERS, str(on_disk), numpy, WORDS, json.dumps(cases)]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
        for case, line in zip(cases, done.stdout.splitlines(), strict=True):
            found[numpy, case] = line
    return found


def test_warm_cold_sql_and_numpy_give_the_same_answer(answers: dict[Any, str]) -> None:
    values = [exact(QUERY, row) for row in HALVES]
    expected = [(f"d{n:03}.txt", values[n]) for n in best_first(values)[:60]]
    for case, answer in answers.items():
        rows = json.loads(answer)
        if case[1][0] == 60:
            assert [(path, parts[0]["raw"]) for path, _, parts in rows] == expected, case
            assert [(score, parts[0]["value"]) for _, score, parts in rows] == [
                (value, value) for _, value in expected
            ], case
            assert [parts[0]["rank"] for _, _, parts in rows] == list(range(1, 61)), case


def test_cosine_that_rounds_to_zero_has_no_sign(answers: dict[Any, str]) -> None:
    for case, answer in answers.items():
        if case[1][0] == 300:
            assert '"raw": 0.0' in answer, case
            assert "-0.0," not in answer, case


def test_search_agrees_with_the_referee(on_disk: Path) -> None:
    with Recall.open(str(on_disk)) as recall:
        rows = recall.search(WORDS, Ask(k=ROWS, mode="semantic", explain=True))["results"]

    told = {row["doc"]["path"]: row["explain"]["parts"][0]["raw"] for row in rows}
    assert told == {f"d{n:03}.txt": exact(QUERY, row) for n, row in enumerate(HALVES)}
