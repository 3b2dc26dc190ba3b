"""Which vectors must not be stored."""

from __future__ import annotations

from collections.abc import Sequence

from recall_core._lazy import np
from recall_core.types import UNIT_TOLERANCE, Vector


def flaws(vectors: Sequence[Vector], *, dimension: int) -> dict[int, str]:
    """Index to reason, for the vectors that must not be stored: wrong size, NaN or infinity, not of length 1. An
    empty vector, which stands for a text without a feature, has no flaw."""

    found = {
        i: f"{len(vector) / 4:g} components instead of {dimension}"
        for i, vector in enumerate(vectors)
        if len(vector) not in (0, 4 * dimension)
    }
    sized = [i for i, vector in enumerate(vectors) if len(vector) == 4 * dimension]
    matrix = np.frombuffer(b"".join(vectors[i] for i in sized), dtype="<f4").reshape(len(sized), dimension)
    is_finite = np.isfinite(matrix).all(axis=1)
    lengths = np.sqrt((np.where(is_finite[:, None], matrix, 0.0).astype(np.float64) ** 2).sum(axis=1))
    for i, finite, length in zip(sized, is_finite.tolist(), lengths.tolist(), strict=True):
        if not finite:
            found[i] = "a component is NaN or infinite"
        elif abs(length - 1) > UNIT_TOLERANCE:
            found[i] = f"its length is {length:.4g}, not 1"
    return dict(sorted(found.items()))
