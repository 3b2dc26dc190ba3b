"""Texts longer than a model reads at once: cut into windows, and put together again as one unit vector."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from recall_core._lazy import np
from recall_core.text import counter
from recall_core.types import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SPACED_WORD = re.compile(r"(?<!\s)\s*+\S++")


def cut(text: str, max_input: int) -> list[str]:
    """The text as windows that fit into max_input tokens: itself where it fits, else cut at whitespace.

    The model's own tokenizer is not at hand, so a quarter of max_input stays free for what the estimate misses. A
    word that is too long alone is cut between code points. No window for a text without a visible character.
    """
    room = max(1, max_input * 3 // 4)
    if not text.strip():
        return []
    count = counter("approx").count
    if len(text.encode("utf-8", "replace")) <= room or count(text) <= room:
        return [text]
    windows = [""]
    used = 0
    for piece in _pieces(text, room):
        tokens = count(piece)
        if used + tokens > room:
            windows.append("")
            used = 0
        windows[-1] += piece
        used += tokens
    return [window for window in windows if window.strip()]


def means(matrix: NDArray[np.float64], sizes: Sequence[int]) -> list[Vector]:
    """One vector a text from the unit vectors of its windows, `sizes[i]` consecutive rows each; b"" for none.

    Raises ValueError where windows point in opposite directions, so that their mean has no direction.
    """
    vectors = []
    done = 0
    for size in sizes:
        rows = matrix[done : done + size]
        done += size
        mean = unit(rows.mean(axis=0, keepdims=True)) if size > 1 else rows
        vectors.append(mean.astype("<f4").tobytes())
    return vectors


def unit(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows scaled to length 1. Raises ValueError for a row of zeros, NaN or infinity, which has no direction."""

    if not np.isfinite(matrix).all():
        raise ValueError("a component is NaN or infinite")
    # By the largest component first: squares of extreme components leave the range of a float.
    largest = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
    if not largest.all():
        raise ValueError("a vector is all zeros")
    scaled = matrix / largest
    lengths = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    units: NDArray[np.float64] = scaled / lengths
    return units


def _pieces(text: str, room: int) -> Iterator[str]:
    """Words with the whitespace before them; a longer one in slices, as a code point is a token at most."""
    for match in _SPACED_WORD.finditer(text):
        word = match[0]
        for start in range(0, len(word), room):
            yield word[start : start + room]
