"""Signatures of vectors: one bit for each random hyperplane, saying on which side of it the vector lies.

Two vectors whose signatures differ in few bits point in nearly the same direction (Charikar 2002). The hyperplanes
follow from the seed alone; their components are 1 or -1 (Achlioptas 2003). Vector components are first rounded to
whole numbers, so every sum is exact in any order and precision. Signatures are therefore the same bytes on every
machine, with and without NumPy.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING

from recall_core._lazy import np
from recall_core.store.values import Signing
from recall_core.text import sha256
from recall_core.types import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SCALE = 2**15
_PART = 256  # components of a hyperplane from one hash
_IN_FLOAT32 = 2**24  # whole numbers up to here are exact in float32
_SIGNS = 2**22  # hyperplane components that are expanded at a time
_BITS = bytes.maketrans(b"01", b"\0\1")


def signature(vector: Vector, signing: Signing) -> bytes:
    """Return the signature of one vector. Its first bit is the highest bit of the first byte."""
    return signatures([vector], signing)[0] if "numpy" in sys.modules else _plain(vector, signing)


def _plain(vector: Vector, signing: Signing) -> bytes:
    numbers = [round(component * _SCALE) for component in array("f", vector)]
    total, bits_set = sum(numbers), 0
    for plane in _planes(signing, len(numbers)):
        bits = f"{int.from_bytes(plane, 'big'):0{8 * len(plane)}b}".encode().translate(_BITS)
        bits_set = 2 * bits_set + (2 * sum(compress(numbers, bits)) > total)
    return bits_set.to_bytes(signing.bits // 8, "big")


def signatures(vectors: Sequence[Vector], signing: Signing) -> list[bytes]:
    """Return the signatures of vectors of one length, equal to `signature` of each."""
    floats = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1)
    dimension, used = floats.shape[1], np.flatnonzero(floats.any(axis=0))
    numbers = np.rint(floats[:, used].astype(np.float64) * _SCALE)
    if np.abs(numbers).sum(axis=1).max(initial=0) < _IN_FLOAT32:
        numbers = numbers.astype(np.float32)
    step = max(8, _SIGNS // dimension // 8 * 8)
    parts = []
    for first in range(0, signing.bits, step):
        signs = _signs(signing, dimension, first, step)[:, used]
        parts.append(np.packbits(numbers @ signs.T.astype(numbers.dtype) > 0, axis=1))
    return [row.tobytes() for row in np.concatenate(parts, axis=1)]


@lru_cache(maxsize=2)
def _signs(signing: Signing, dimension: int, first: int, count: int) -> NDArray[np.int8]:
    """Return the components of some hyperplanes, one hyperplane a row."""
    planes = np.frombuffer(b"".join(_planes(signing, dimension)), dtype=np.uint8).reshape(signing.bits, -1)
    bits = np.unpackbits(planes[first : first + count], axis=1, count=dimension)
    return 2 * bits.astype(np.int8) - 1


@lru_cache(maxsize=2)
def _planes(signing: Signing, dimension: int) -> tuple[bytes, ...]:
    """Return each hyperplane, one bit a component. A larger size only adds bits or components."""
    parts = range(-(-dimension // _PART))
    unused = -dimension % _PART
    planes = [
        b"".join(sha256(f"ann_lsh {signing.seed} {bit} {part}".encode()).digest() for part in parts)
        for bit in range(signing.bits)
    ]
    return tuple(plane[: len(plane) - unused // 8] for plane in planes)
