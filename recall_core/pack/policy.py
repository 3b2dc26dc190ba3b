"""The packing that a config selects: in rank order, or for the highest value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recall_core import pack as packings
from recall_core.config import Config
from recall_core.pack import greedy
from recall_core.pack.layout import ALONE, Alike
from recall_core.text import Counter
from recall_core.types import Hit, Packed


class Terms(NamedTuple):
    """The pins and drops of a packed context. pinned, dropped: chunk ids."""

    config: Config
    counter: Counter
    pinned: frozenset[str]
    dropped: frozenset[str]


def pack(
    candidates: Iterable[Hit],
    *,
    total: int,
    budget_tokens: int,
    counter: Counter,
    config: Config,
    pinned: frozenset[str] = frozenset(),
    dropped: frozenset[str] = frozenset(),
    injected: Sequence[Hit] = (),
    alike: Alike = ALONE,
) -> Packed:
    """Return a context packed as config.pack selects. Arguments as for `greedy.pack`."""
    packing = greedy.pack
    if config.pack == "optimal":
        packing = packings.optimal.pack_optimal
    return packing(
        candidates,
        total=total,
        budget_tokens=budget_tokens,
        counter=counter,
        config=config,
        pinned=pinned,
        dropped=dropped,
        injected=injected,
        alike=alike,
    )
