"""Near-duplicates among candidates: groups of chunks that say almost the same words."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Sequence
from itertools import chain

SHINGLE_WORDS = 3
NEAR = 0.8
"""Jaccard similarity of word 3-shingles from which two texts count as near-duplicates (Broder 1997)."""


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Every run of three words, lower-cased; a shorter text is one shingle, an empty one none."""
    words = text.lower().split()
    if len(words) <= SHINGLE_WORDS:
        return frozenset([tuple(words)] if words else [])
    return frozenset(zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False))


def near_duplicates(texts: Sequence[str], *, near: float = NEAR) -> tuple[tuple[int, ...], ...]:
    """Groups of positions whose texts are alike, each led by its first, in order of their leaders.

    Similarity is exact, by an inverted index over shingles: pairs that share none are never looked at. A text joins
    the group of the first earlier leader it is near to; a leader is a text that is near to none.
    """
    numbers: dict[tuple[str, ...], int] = {}
    sets = [[numbers.setdefault(shingle, len(numbers)) for shingle in shingles(text)] for text in texts]
    holders: list[list[int]] = [[] for _ in numbers]
    groups: dict[int, list[int]] = {}
    for position, own in enumerate(sets):
        shared = Tally(chain.from_iterable(map(holders.__getitem__, own)))
        near_to = [
            leader for leader, common in shared.items() if common >= near * (len(own) + len(sets[leader]) - common)
        ]
        if near_to:
            groups[min(near_to)].append(position)
            continue
        groups[position] = [position]
        for shingle in own:
            holders[shingle].append(position)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
