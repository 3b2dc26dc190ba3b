"""Cosines: exact to the sixth decimal, whether computed in NumPy, in plain Python or proposed by SQL."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from math import fsum
from operator import mul
from typing import Any

from recall_core.types import Vector

Execute = Callable[..., list[tuple[Any, ...]]]

DECIMALS = 6
_SCALE = 1_000_000  # 10 to the power of DECIMALS
_DOUBT = 1e-4  # in units of the last decimal: far above the rounding error of any float64 dot product here
_FLOAT32_DOUBT = 1e-5  # a float32 distance and a cosine of 6 decimals are never further apart
_PLAIN_ROWS = 2_000  # below this, plain Python costs less than importing NumPy
_BLOCK_ROWS = 4_096


def cosines(query: Vector, rows: Sequence[tuple[int, bytes]]) -> dict[int, float]:
    """rowid to cosine with the query, rounded half-even to 6 decimals and clipped to [-1, 1].

    Dot products of the same float32 vectors differ in the last bits with the order of summation. Wherever those
    bits could decide the sixth decimal, the sum is taken again exactly (math.fsum), so every way gives one result.
    """
    if len(rows) < _PLAIN_ROWS and "numpy" not in sys.modules:
        return dict(_plain(query, rows))
    return dict(_vectorised(query, rows))


def near(execute: Execute, query: Vector, condition: str, parameters: Sequence[Any], *, k: int) -> list[int]:
    """Rowids of the k nearest by sqlite-vec's float32 distance, and of all that could tie with the last of them."""
    if k == 0:
        return []
    proposed = (
        "SELECT v.chunk AS chunk, vec_distance_cosine(v.embedding, ?) AS distance "
        f"FROM doc d JOIN chunk c ON c.doc = d.rowid JOIN vec v ON v.chunk = c.rowid WHERE {condition}"
    )
    last = execute(f"{proposed} ORDER BY distance LIMIT 1 OFFSET ?", (query, *parameters, k - 1))
    within = last[0][1] + _FLOAT32_DOUBT if last else 2.0 + _FLOAT32_DOUBT
    found = execute(f"SELECT chunk FROM ({proposed}) WHERE distance <= ?", (query, *parameters, within))
    return [rowid for (rowid,) in found]


def _plain(query: Vector, rows: Iterable[tuple[int, bytes]]) -> Iterable[tuple[int, float]]:
    q = array("f", query)
    for rowid, blob in rows:
        row = array("f", blob)
        yield rowid, _settle(sum(map(mul, q, row)) * _SCALE, q, row)


def _settle(scaled: float, q: array[float], row: array[float]) -> float:
    nearest = round(scaled)
    if abs(abs(scaled - nearest) - 0.5) < _DOUBT:
        nearest = round(fsum(map(mul, q, row)) * _SCALE)
    return max(-1.0, min(1.0, float(nearest) / _SCALE))


def _vectorised(query: Vector, rows: Sequence[tuple[int, bytes]]) -> Iterable[tuple[int, float]]:
    import numpy as np  # noqa: PLC0415 - a small store never needs it

    q32 = array("f", query)
    q = np.frombuffer(query, dtype="<f4").astype(np.float64)
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = rows[start : start + _BLOCK_ROWS]
        matrix = np.frombuffer(b"".join(blob for _, blob in block), dtype="<f4").reshape(len(block), len(q))
        scaled = (matrix.astype(np.float64) @ q) * _SCALE
        nearest = np.rint(scaled)
        doubtful = np.abs(np.abs(scaled - nearest) - 0.5) < _DOUBT
        values = np.clip(nearest / _SCALE, -1.0, 1.0).tolist()
        for i in np.flatnonzero(doubtful).tolist():
            values[i] = _settle(float(scaled[i]), q32, array("f", block[i][1]))
        for (rowid, _), value in zip(block, values, strict=True):
            yield rowid, value
