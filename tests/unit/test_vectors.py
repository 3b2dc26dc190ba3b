from __future__ import annotations

import struct
from array import array
from math import fsum, sqrt
from operator import mul

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recall_core.store.sqlite import vectors
from recall_core.types import Vector

DIMENSION = 24


def unit(components: list[float]) -> Vector:
    norm = sqrt(sum(x * x for x in components)) or 1.0
    return struct.pack(f"<{DIMENSION}f", *(x / norm for x in components))


UNITS = st.lists(st.floats(-1, 1), min_size=DIMENSION, max_size=DIMENSION).filter(any).map(unit)


@given(UNITS, st.lists(UNITS, max_size=20))
@settings(max_examples=200)
def test_plain_python_numpy_and_exact_sums_agree(query: Vector, rows: list[Vector]) -> None:
    packed = vectors.rows_of(list(enumerate(rows)))
    plain = vectors._plain(query, packed)
    q = array("f", query)
    exact = [max(-1.0, min(1.0, round(fsum(map(mul, q, array("f", row))), 6))) for row in rows]
    assert plain == vectors._vectorised(query, packed) == exact


def test_a_sum_that_lies_on_the_border_is_settled_exactly() -> None:
    # components whose products sum to 0.0000005 up to rounding: the order of summation would decide the last digit
    rng = np.random.default_rng(7)
    query = unit([1.0] + [0.0] * (DIMENSION - 1))
    rows = []
    for number in range(2_000):
        value = np.float32((number - 1_000 + 0.5) / 1e6)
        noise = rng.normal(size=DIMENSION - 1).astype("<f4")
        rows.append((number, struct.pack(f"<{DIMENSION}f", value, *noise)))
    packed = vectors.rows_of(rows)
    assert vectors._plain(query, packed) == vectors._vectorised(query, packed)


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
