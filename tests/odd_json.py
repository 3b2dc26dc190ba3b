"""Odd JSON values: expected shapes in unexpected places."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

_LEAVES = (None, True, 0, -1, 3.5, 10**40, "", "user", "text", "a\x00b", "\ud800", "# h\n\n```", "é題", [], {})


def odd(seed: int, *, keys: Sequence[str], words: Sequence[str] = (), depth: int = 4) -> Any:
    """Return a value with these keys and words, the same for the same seed."""
    return _make(random.Random(seed), keys, [*_LEAVES, *words], depth)


def _make(chance: random.Random, keys: Sequence[str], leaves: Sequence[Any], depth: int) -> Any:
    kind = chance.random()
    if depth == 0 or kind < 0.25:
        return chance.choice(leaves)
    count = chance.randrange(5)
    if kind < 0.5:
        return [_make(chance, keys, leaves, depth - 1) for _ in range(count)]
    return {chance.choice(keys): _make(chance, keys, leaves, depth - 1) for _ in range(count)}
