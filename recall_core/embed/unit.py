"""Scaling a vector to length 1: the same components give the same bytes on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, isfinite, sqrt
from struct import Struct, pack

from recall_core.types import Vector


def unit(components: Sequence[float]) -> Vector:
    """The components as little-endian float32 of length 1; b"" where all are 0, which has no direction.

    The length is a correctly rounded sum, so the order of addition does not matter. Components that are not finite
    are passed on as they are, for the check that stands before every write.
    """
    norm = sqrt(fsum([x * x for x in components])) if all(map(isfinite, components)) else 1.0
    if norm == 0:
        return b""
    return pack(f"<{len(components)}f", *[x / norm for x in components])


def components(vector: Vector) -> tuple[float, ...]:
    """The components of a stored vector."""
    return Struct(f"<{len(vector) // 4}f").unpack(vector)
