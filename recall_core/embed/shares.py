"""What the cosine of two hash vectors is made of: each word's true matches, and its collisions."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

from recall_core.embed.hash import (
    GRAMS,
    WORD_WEIGHT,
    features,
    gram_weight,
    log_tf,
    numpy_sums,
    plain_sums,
    words,
)
from recall_core.ports import Share

_PLAIN_CHARS = 100_000  # below it, plain Python costs less than importing NumPy
_SHORTEST = min(GRAMS)


class _Asked(NamedTuple):
    """A word of the question: how its grams weigh, and the pairs that `features` gives."""

    word: str
    times: int
    grams: Counter[str]
    gram_weight: int
    features: list[tuple[int, int]]


def word_shares(question: str, texts: Sequence[str], dimension: int) -> list[list[Share]]:
    """For each text the shares of its cosine with the question; they add up to it, in whole numbers over the norms.

    A share of kind "feature" counts where the same word or gram stands in both; "collision" is the rest. A text or
    question without a feature has no shares. Words come in the question's order.
    """
    asked = [
        _Asked(word, log_tf(n), Counter(_grams(word)), gram_weight(len(word)), features(word, dimension))
        for word, n in words(question).items()
    ]
    wanted = list(dict.fromkeys(gram for each in asked for gram in each.grams))
    length = _length(plain_sums(question, dimension))
    return [
        list(_shares(asked, wanted, text, sums, length * _length(sums))) if length else []
        for text, sums in zip(texts, _sums(texts, dimension), strict=True)
    ]


def _sums(texts: Sequence[str], dimension: int) -> Sequence[Sequence[float]]:
    if "numpy" not in sys.modules and sum(map(len, texts)) <= _PLAIN_CHARS:
        return [plain_sums(text, dimension) for text in texts]
    rows: Sequence[Sequence[float]] = numpy_sums(texts, dimension).tolist()
    return rows


def _length(sums: Sequence[float]) -> float:
    return sqrt(sum(x * x for x in sums))


def _grams(word: str) -> Iterator[str]:
    for n in GRAMS:
        yield from (word[start : start + n] for start in range(len(word) - n + 1))


def _shares(
    asked: Sequence[_Asked], wanted: Sequence[str], text: str, sums: Sequence[float], lengths: float
) -> Iterator[Share]:
    if not lengths:
        return
    held = words(text)
    grams = _held_grams(held, wanted)
    for each in asked:
        whole = WORD_WEIGHT * WORD_WEIGHT * log_tf(held[each.word]) if each.word in held else 0
        shared = each.gram_weight * sum(n * grams.get(gram, 0) for gram, n in each.grams.items())
        true = each.times * (whole + shared)
        every = each.times * sum(weight * sums[component] for component, weight in each.features)
        shown = each.word.removeprefix("<").removesuffix(">")
        if true:
            yield Share("feature", shown, true / lengths)
        if every != true:
            yield Share("collision", shown, (every - true) / lengths)


def _held_grams(held: dict[str, int], wanted: Sequence[str]) -> dict[str, int]:
    """What each wanted gram weighs in a text of these words. wanted: of each word the shorter ones first."""
    spelled = " ".join(held)  # no word holds a space, so no gram reaches from one into the next
    weights: list[int] = []  # of the word that each character of `spelled` belongs to
    for word, n in held.items():
        weights += [log_tf(n) * gram_weight(len(word))] * (len(word) + 1)
    found: dict[str, int] = {}
    for gram in wanted:
        if len(gram) > _SHORTEST and gram[:-1] not in found:
            continue
        at = spelled.find(gram)
        weight = 0
        while at >= 0:
            weight += weights[at]
            at = spelled.find(gram, at + 1)
        if weight:
            found[gram] = weight
    return found
