from __future__ import annotations

import struct
from array import array
from math import fsum, sqrt
from operator import mul

import apsw
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recall_core.rank.estimates import Estimates
from recall_core.store.sqlite import vectors
from recall_core.store.sqlite.connect import load_vector_functions
from recall_core.types import UNIT_TOLERANCE, Vector
from tests.examples import examples

DIMENSION = 24


def unit(components: list[float]) -> Vector:
    norm = sqrt(sum(x * x for x in components)) or 1.0
    return struct.pack(f"<{DIMENSION}f", *(x / norm for x in components))


UNITS = st.lists(st.floats(-1, 1), min_size=DIMENSION, max_size=DIMENSION).filter(any).map(unit)


@given(UNITS, st.lists(UNITS, max_size=20))
@examples(100)
def test_plain_python_numpy_and_exact_sums_agree(query: Vector, rows: list[Vector]) -> None:
    packed = vectors.rows_of(list(enumerate(rows)))
    plain = vectors._plain(query, packed)
    q = array("f", query)
    exact = [max(-1.0, min(1.0, round(fsum(map(mul, q, array("f", row))), 6))) for row in rows]
    assert plain == vectors._multiply(query, packed) == exact


def test_borderline_sum_is_settled_exactly() -> None:
    # components whose products sum to 0.0000005 up to rounding: the order of summation would decide the last digit
    rng = np.random.default_rng(7)
    query = unit([1.0] + [0.0] * (DIMENSION - 1))
    rows = []
    for number in range(2_000):
        value = np.float32((number - 1_000 + 0.5) / 1e6)
        noise = rng.normal(size=DIMENSION - 1).astype("<f4")
        rows.append((number, struct.pack(f"<{DIMENSION}f", value, *noise)))
    packed = vectors.rows_of(rows)
    assert vectors._plain(query, packed) == vectors._multiply(query, packed)


def test_sqlite_functions_load_without_importing_numpy() -> None:
    import subprocess  # noqa: PLC0415
    import sys  # noqa: PLC0415

    script = (
        "import apsw, sys; from recall_core.store.sqlite.connect import load_vector_functions;"
        "db = apsw.Connection(':memory:'); load_vector_functions(db);"
        "print(db.execute('SELECT vec_version()').fetchone()[0], 'numpy' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert output.split()[1] == "False"


def estimate_cosines(query: Vector, rows: list[Vector]) -> Estimates | None:
    """Return sqlite-vec's estimates of these vectors, at rowids from 0."""
    db = apsw.Connection(":memory:")
    load_vector_functions(db)
    db.execute("CREATE TABLE vec(chunk INTEGER PRIMARY KEY, embedding BLOB)")
    db.execute("CREATE TABLE chunk(doc, offset); CREATE TABLE doc(path)")
    db.execute("INSERT INTO doc(rowid, path) VALUES (0, 'a')")
    db.executemany("INSERT INTO vec VALUES (?, ?)", list(enumerate(rows)))
    db.executemany("INSERT INTO chunk(rowid, doc, offset) VALUES (?, 0, ?)", [(n, n) for n in range(len(rows))])
    return vectors.estimates(lambda *asked: db.execute(*asked).fetchall(), query, "1", (), in_blocks=False)


def test_no_cosine_exceeds_the_bound_of_its_estimate() -> None:
    for places in [3, 60, 512]:
        for length in [1 - 0.999 * UNIT_TOLERANCE, 1.0, 1 + 0.999 * UNIT_TOLERANCE]:
            rng = np.random.default_rng(places)
            asked = np.zeros(512)
            asked[rng.permutation(512)[:places]] = rng.normal(size=places)
            asked /= np.linalg.norm(asked)
            rows = rng.normal(size=(300, 512)) / 512**0.5
            rows -= (rows @ asked)[:, None] * asked
            along = np.concatenate([np.linspace(-3, 3, 150), np.linspace(-1e-6, 1e-6, 150)])
            rows += along[:, None] * asked  # from opposite to parallel to the query, and across it
            rows *= length / np.linalg.norm(rows, axis=1)[:, None]
            query, stored = asked.astype("<f4").tobytes(), [row.astype("<f4").tobytes() for row in rows]
            found = estimate_cosines(query, stored)
            assert found is not None, (places, length)
            exact = vectors.cosines(query, vectors.rows_of(list(enumerate(stored))))

            off = [abs(exact[n] - (estimate or 0.0)) for n, estimate in zip(found.rowids, found.cosines, strict=True)]
            within = [found.floor + found.slope * abs(estimate or 0.0) for estimate in found.cosines]
            assert list(found.rowids) == list(range(300)), (places, length)
            assert all(each <= most for each, most in zip(off, within, strict=True)), (places, length)
            if length != 1.0:  # the margin is needed
                assert max(each / most for each, most in zip(off, within, strict=True)) > 0.5, (places, length)


def test_zero_vector_is_not_estimated() -> None:
    query = unit([1.0] * DIMENSION)
    assert estimate_cosines(query, [query, bytes(4 * DIMENSION)]) is None
    assert estimate_cosines(query, [query, query]) is not None
