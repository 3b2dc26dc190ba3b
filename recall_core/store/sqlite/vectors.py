"""Cosines, exact to the sixth decimal, whether computed with NumPy, in plain Python or proposed by SQL."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Sequence
from math import fsum, sqrt
from operator import mul
from typing import TYPE_CHECKING, Any, NamedTuple

from recall_core import rank
from recall_core._lazy import np
from recall_core.deadline import check
from recall_core.store.sqlite.blocks import BITS, IN_BLOCK
from recall_core.store.sqlite.records import Execute
from recall_core.types import UNIT_TOLERANCE, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recall_core.rank.estimates import Estimates

# MATERIALIZED computes a distance used twice only once. No cosine distance is above 2.
_NEAR = """
WITH proposed AS MATERIALIZED (
  SELECT v.chunk AS chunk, vec_distance_cosine(v.embedding, ?) AS distance
  FROM doc d JOIN chunk c ON c.doc = d.rowid JOIN vec v ON v.chunk = c.rowid WHERE {condition}
)
SELECT chunk FROM proposed
WHERE distance <= coalesce((SELECT distance FROM proposed ORDER BY distance LIMIT 1 OFFSET ?), 2.0) + ?
"""

# The order of the blocks makes SQLite read each block once for its sixteen vectors. Sorted without a temporary table.
_SIZE = f"length(b.embeddings) >> {BITS}"
_OWN = f"substr(b.embeddings, 1 + (p.place & {IN_BLOCK - 1}) * ({_SIZE}), {_SIZE})"
_OF_ALL = f"""
SELECT p.chunk, vec_distance_cosine({_OWN}, ?1) AS distance
FROM vec_block b CROSS JOIN vec_place p ON p.place BETWEEN b.block << {BITS} AND (b.block << {BITS}) + {IN_BLOCK - 1}
"""
_TIES = 64


_AROUND = """
WITH own AS MATERIALIZED (SELECT vec_distance_cosine(embedding, ?) AS distance FROM vec WHERE chunk = ?),
proposed AS MATERIALIZED (
  SELECT v.chunk AS chunk, vec_distance_cosine(v.embedding, ?) AS distance
  FROM doc d JOIN chunk c ON c.doc = d.rowid JOIN vec v ON v.chunk = c.rowid WHERE {condition}
)
SELECT NULL, count(*) FROM proposed, own WHERE proposed.distance < own.distance - ?
UNION ALL SELECT chunk, 0 FROM proposed, own WHERE abs(proposed.distance - own.distance) <= ?
"""

_ESTIMATES = """
SELECT c.rowid, CASE WHEN v.chunk IS NOT NULL THEN coalesce(vec_distance_cosine(v.embedding, ?), {none}) END
FROM doc d JOIN chunk c ON c.doc = d.rowid LEFT JOIN vec v ON v.chunk = c.rowid
WHERE {condition} ORDER BY d.path, c.offset
"""
_NATURAL = "SELECT c.rowid FROM doc d JOIN chunk c ON c.doc = d.rowid WHERE {condition} ORDER BY d.path, c.offset"
_MOST = 4  # if a filter passes more than one row in this many, computing every distance is cheaper
NO_DISTANCE = 9  # distance of a vector of length 0

DECIMALS = 6
SCALE = 1_000_000  # 10 to the power of DECIMALS
_DOUBT = 1e-4  # in units of the last decimal: far above the rounding error of any float64 dot product here
_FLOAT32_STEP = 2.0**-23  # twice the rounding error of one operation
_PLAIN_PRODUCTS = 600_000  # below this, plain Python is faster than importing NumPy
_UNSIGNED = 0.0  # added to -0.0 it gives 0.0, which prints without a sign
_BLOCK_ROWS = 256  # a block of float64 rows stays in the CPU cache


class Rows(NamedTuple):
    """Concatenated vectors, and the rowid of each."""

    rowids: Sequence[int]
    components: bytes


def rows_of(found: Sequence[tuple[int, bytes]]) -> Rows:
    """Build rows from (rowid, vector) pairs, in order."""
    return Rows([rowid for rowid, _ in found], b"".join([vector for _, vector in found]))


def cosines(query: Vector, rows: Rows) -> dict[int, float]:
    """Return rowid to cosine with the query, rounded half-even to 6 decimals and clipped to [-1, 1].

    Dot products of the same float32 vectors differ in the last bits with the order of summation. If those bits could
    change the sixth decimal, the sum is computed again exactly (math.fsum). So every implementation gives one result.
    """
    is_small = len(rows.rowids) * len(_places(array("f", query))) < _PLAIN_PRODUCTS
    values = (_plain if is_small and "numpy" not in sys.modules else _multiply)(query, rows)
    return dict(zip(rows.rowids, values, strict=True))


def near(execute: Execute, query: Vector, condition: str, parameters: Sequence[Any], *, k: int) -> list[int]:
    """Return the k nearest rows by sqlite-vec's float32 distance, and all that could tie with the last."""
    if k == 0:
        return []
    found = execute(_NEAR.format(condition=condition), (query, *parameters, k - 1, doubt(len(query) // 4)))
    return [rowid for (rowid,) in found]


def around(
    execute: Execute, query: Vector, rowid: int, condition: str, parameters: Sequence[Any]
) -> tuple[int, list[int]]:
    """Return how many rows are certainly nearer than this one, and the rows for which a float32 distance cannot
    decide.

    The second list contains this row, unless the condition excludes it.
    """
    most = doubt(len(query) // 4)
    found = execute(_AROUND.format(condition=condition), (query, rowid, query, *parameters, most, most))
    return sum(count for _, count in found), [chunk for chunk, _ in found if chunk is not None]


def near_of_all(execute: Execute, query: Vector, *, k: int) -> list[int] | None:
    """Return `near` without a condition, in a store with vector blocks. Return None if too many rows might tie."""
    if k == 0:
        return []
    most = 2 * k + _TIES
    found = [
        row
        for row in execute(f"{_OF_ALL} ORDER BY distance NULLS LAST LIMIT ?2", (query, most))
        if row[1] is not None
    ]
    furthest = (found[k - 1][1] if len(found) >= k else 2.0) + doubt(len(query) // 4)
    if len(found) == most and found[-1][1] <= furthest:
        return None
    return [rowid for rowid, distance in found if distance <= furthest]


def estimates(
    execute: Execute, query: Vector, condition: str, parameters: Sequence[Any], *, in_blocks: bool
) -> Estimates | None:
    """Return every passing row in natural order with sqlite-vec's estimate of its cosine, or None if it has none.

    The estimate is 1 - distance, the cosine of two directions in single precision, times the query's length.
    """
    found = _distances_by_block(execute, query, condition, parameters) if in_blocks else None
    if found is None:
        found = execute(_ESTIMATES.format(condition=condition, none=NO_DISTANCE), (query, *parameters))
    return estimates_of(query, found)


def estimates_of(query: Vector, found: Sequence[tuple[Any, ...]]) -> Estimates | None:
    """Return the estimates of rows with their cosine distance, a quotient of sums in single precision, or None.

    found: rowid and distance, None without a vector, NO_DISTANCE of a vector of length 0.
    """
    q = array("f", query)
    length = sqrt(fsum(map(mul, q, q)))
    distances = [distance for _, distance in found]
    if NO_DISTANCE in distances:
        return None
    cosines = [None if distance is None else length * (1.0 - distance) for distance in distances]
    return rank.estimates.Estimates([rowid for rowid, _ in found], cosines, *_spread(len(q), len(_places(q)), length))


def _distances_by_block(
    execute: Execute, query: Vector, condition: str, parameters: Sequence[Any]
) -> list[tuple[Any, ...]] | None:
    """Return the rows of `_ESTIMATES`, or None if few rows pass, so that single lookups are cheaper."""
    natural = execute(_NATURAL.format(condition=condition), parameters)
    if _MOST * len(natural) < execute("SELECT count(*) FROM vec_place")[0][0]:
        return None
    found: dict[int, float | None] = dict(execute(f"{_OF_ALL} ORDER BY p.chunk", (query,)))
    return [
        (rowid, (NO_DISTANCE if found[rowid] is None else found[rowid]) if rowid in found else None)
        for (rowid,) in natural
    ]


def _spread(dimension: int, places: int, length: float) -> tuple[float, float]:
    """Return how far a cosine from `cosines` may be from its estimate: (floor, slope) of `Estimates`.

    With u = 2 ** -24: a float32 sum of n non-zero terms, in any order, has an error of n * u times the sum of their
    sizes, to first order (Higham 2002, section 3.1); zero terms add no error. So the sum of products has an error of
    places * u times both lengths, the square of the query places * u and that of the row dimension * u of itself, the
    roots and the quotient half as much, and later roundings some u. A stored vector may be too long or short by
    UNIT_TOLERANCE, which changes a product but not a direction. Errors proportional to the cosine are the slope, the
    rest the floor. One tenth more covers the second order, which would need a slope a hundred times larger. Rounding
    the last decimal adds half a unit.
    """
    u = 2.0**-24
    proportional = UNIT_TOLERANCE + (places + dimension) * u / 2 + 4 * u
    absolute = places * u + 4 * u
    return 1.1 * length * absolute + 0.6 / SCALE, 1.1 * proportional


def doubt(dimension: int) -> float:
    """Return how far above the k-th distance a row may be that is among the k best, or ties with the last of them.

    Both distances may be off by the rounding of three float32 sums, one operation a component each (Higham 2002,
    section 3.1). Both rows may be too long or short by UNIT_TOLERANCE, which changes a product but not a distance.
    Cosines tie within one unit of the last decimal.
    """
    return 2 * ((dimension + 4) * _FLOAT32_STEP + UNIT_TOLERANCE) + 2 / SCALE


def _plain(query: Vector, rows: Rows) -> list[float]:
    q = array("f", query)
    places = _places(q)
    components = [q[place] for place in places]
    values = []
    for start in range(0, len(rows.components), len(query)):
        row = array("f", rows.components[start : start + len(query)])
        values.append(_settle(sum(map(mul, components, map(row.__getitem__, places))) * SCALE, q, row))
    return values


def _places(q: array[float]) -> list[int]:
    """Return the places where a query is not 0; few, if it is the hash of a few words."""
    return [place for place, component in enumerate(q) if component]


def _settle(scaled: float, q: array[float], row: array[float]) -> float:
    nearest = round(scaled)
    value = float(nearest) / SCALE
    if abs(abs(scaled - nearest) - 0.5) < _DOUBT:
        value = round(fsum(map(mul, q, row)), DECIMALS)  # a product with SCALE would be rounded itself
    return max(-1.0, min(1.0, value)) + _UNSIGNED


def _multiply(query: Vector, rows: Rows) -> list[float]:
    q = np.frombuffer(query, dtype="<f4").astype(np.float64)
    matrix = np.frombuffer(rows.components, dtype="<f4").reshape(-1, len(q))
    scaled = np.empty(len(matrix))
    for start in range(0, len(matrix), _BLOCK_ROWS):
        check()
        scaled[start : start + _BLOCK_ROWS] = matrix[start : start + _BLOCK_ROWS].astype(np.float64) @ q
    values: list[float] = settle_all(scaled, query, lambda place: array("f", matrix[place].tobytes())).tolist()
    return values


def settle_all(
    sums: NDArray[np.float64], query: Vector, row_of: Callable[[int], array[float]]
) -> NDArray[np.float64]:
    """Return cosines from float64 dot products: rounded, and computed again exactly if in doubt. Changes `sums`.

    row_of: returns the vector at a place.
    """
    sums *= SCALE
    nearest = np.rint(sums)
    doubtful = np.abs(np.abs(sums - nearest) - 0.5) < _DOUBT
    values: NDArray[np.float64] = np.clip(nearest / SCALE, -1.0, 1.0) + _UNSIGNED
    for place in np.flatnonzero(doubtful).tolist():
        values[place] = _settle(float(sums[place]), array("f", query), row_of(place))
    return values
