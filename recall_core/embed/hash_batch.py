"""What `hash` makes of many texts at once, with NumPy: the whole numbers that its `features` of each add up to.

All texts of a batch are one array of code points. Words are found where separators end, numbered by a sum over eight
bytes at a time, and hashed once each, those of one length together; then each is added to every text that holds it.
Where two words have one sum, which somebody would have to look for, the batch is read word by word.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recall_core.deadline import check
from recall_core.embed.features import (
    GRAMS,
    LOG_TF,
    MAX_CHARS,
    MIX_1,
    MIX_2,
    POWERS,
    SALTS,
    SEPARATORS,
    SOLID,
    WORD_CHARS,
    WORD_WEIGHT,
    fold,
    gram_weight,
    words,
)
from recall_core.text import STOP_WORDS
from recall_core.types import Vector

_BATCH_CHARS = 3 << 17
_BATCH_CELLS = 1 << 17
_ROW_BITS = 20  # for the number of a word in a batch, which has fewer code points
_STOPS = " ".join(sorted(STOP_WORDS))
_CODE_POINTS = 0x110000

Ints = NDArray[np.int64]
Codes = NDArray[np.uint64]


class Counted(NamedTuple):
    """Words of one length, and how often texts hold them."""

    codes: Codes
    """(words, length): the code points of each word."""
    words: Ints
    """For each pair of a word and a text that holds it, which word."""
    texts: Ints
    times: Ints


def embed(texts: Sequence[str], dimension: int) -> list[Vector]:
    """HashEmbedder.embed, in batches of bounded memory."""
    return [vector for batch in _batches(texts, dimension) for vector in _scale(sums(batch, dimension))]


def sums(texts: Sequence[str], dimension: int) -> NDArray[np.float64]:
    """The texts' vectors before they are scaled to length 1: one row each, of whole numbers."""
    added = np.zeros(len(texts) * dimension)
    log_tfs = np.array(LOG_TF, np.float64)
    for group in _count(texts):
        components, signed = _features(group.codes, dimension)
        cells, weights = components.take(group.words, axis=0), signed.take(group.words, axis=0)
        cells += (group.texts * dimension)[:, None]
        weights *= log_tfs[np.minimum(group.times, len(LOG_TF) - 1)][:, None]
        # float64 is exact here, in any order: every partial sum is a whole number below 2**53.
        np.add.at(added, cells.ravel(), weights.ravel())
    return added.reshape(len(texts), dimension)


def _batches(texts: Sequence[str], dimension: int) -> Iterator[Sequence[str]]:
    start = chars = 0
    for i, text in enumerate(texts):
        if i > start and (chars + len(text) > _BATCH_CHARS or (i - start) * dimension >= _BATCH_CELLS):
            check()
            yield texts[start:i]
            start, chars = i, 0
        chars += len(text)
    if start < len(texts):
        yield texts[start:]


def _scale(rows: NDArray[np.float64]) -> list[Vector]:
    norms = np.sqrt((rows * rows).sum(axis=1))
    is_empty = norms == 0
    norms[is_empty] = 1
    raw, size = (rows / norms[:, None]).astype("<f4").tobytes(), 4 * rows.shape[1]
    return [b"" if empty else raw[i * size : (i + 1) * size] for i, empty in enumerate(is_empty.tolist())]


def _count(texts: Sequence[str]) -> Iterator[Counted]:
    """The words of all texts: of those with characters that are written without spaces as `words` gives them."""
    folded = [text[:MAX_CHARS].lower() if text.isascii() else fold(text[:MAX_CHARS]) for text in texts]
    solid = [i for i, text in enumerate(folded) if not text.isascii() and _solid().search(text)]
    yield from _one_by_one(texts, solid)
    for i in solid:
        folded[i] = ""
    found = Words(folded)
    if found.are_told_apart():
        yield from found.count()
    else:
        yield from _one_by_one(texts, sorted({*range(len(texts))} - {*solid}))


def _one_by_one(texts: Sequence[str], asked: Sequence[int]) -> Iterator[Counted]:
    """The words of those texts that are asked for, counted one text after the other."""
    held: defaultdict[int, list[tuple[str, int, int]]] = defaultdict(list)
    for i in asked:
        for word, n in words(texts[i]).items():
            held[len(word)].append((word, i, n))
    for length, rows in held.items():
        numbers = {word: number for number, word in enumerate(dict.fromkeys(word for word, _, _ in rows))}
        codes = np.frombuffer("".join(numbers).encode("utf-32-le"), "<u4").astype(np.uint64).reshape(-1, length)
        columns = np.array([(numbers[word], i, n) for word, i, n in rows], np.int64).T
        yield Counted(codes, *columns)


class Words:
    """The words of a batch of folded texts in which every word stands between separators, each with its place.

    The stop words are a text of their own, before all others.
    """

    def __init__(self, folded: Sequence[str]) -> None:
        self.codes = _codes("\n".join(("", _STOPS, *folded, "")))
        is_word = _classes()[self.codes]
        edges = np.flatnonzero(is_word[1:] != is_word[:-1]) + 1
        self.starts, self.lengths = _cut(edges[::2], edges[1::2])
        texts = np.cumsum([1 + len(_STOPS) + 1, *(len(text) + 1 for text in folded)])
        self.first_of_text = np.searchsorted(self.starts, texts)  # text i has the words from here on
        self.parts = list(_parts(self.codes, self.starts, self.lengths))
        self.numbers, self.first = _number(self._totals())

    def _totals(self) -> Codes:
        totals = self.parts[0][1].copy()
        for held, part in self.parts[1:]:
            before = totals[held]
            totals[held] = (before ^ before >> np.uint64(32)) * np.uint64(MIX_1) + part
        return totals

    def are_told_apart(self) -> bool:
        """Whether the words that have one number are one word."""
        first = self.first[self.numbers]
        if not np.array_equal(self.lengths[first], self.lengths):
            return False
        whole = np.zeros(len(self.starts), np.uint64)
        for held, part in self.parts:
            whole[held] = part
            if not np.array_equal(whole[first[held]], part):
                return False
        return True

    def count(self) -> Iterator[Counted]:
        """Those that are no stop words, each between its marks."""
        is_stop = np.zeros(len(self.first), bool)
        is_stop[self.numbers[: self.first_of_text[0]]] = True
        words, texts, times = self._pairs(is_stop)
        lengths = self.lengths[self.first]
        of_pairs = lengths[words]
        place = np.zeros(len(lengths), np.int64)
        for length in np.unique(of_pairs).tolist():
            own = np.flatnonzero((lengths == length) & ~is_stop)
            place[own] = np.arange(len(own))
            pairs = np.flatnonzero(of_pairs == length)
            yield Counted(self._marked(own, length), place[words[pairs]], texts[pairs], times[pairs])

    def _pairs(self, is_stop: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints]:
        """Word, text, and how often it holds the word."""
        ends = np.append(self.first_of_text[1:], len(self.starts))
        texts = np.repeat(np.arange(len(ends)), ends - self.first_of_text)
        numbers = self.numbers[self.first_of_text[0] :]
        held = ~is_stop[numbers]
        pairs = np.sort(texts[held] << _ROW_BITS | numbers[held])
        starts = np.flatnonzero(np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)])
        times = np.diff(np.append(starts, len(pairs)))
        distinct = pairs[starts]
        return distinct & ((1 << _ROW_BITS) - 1), distinct >> _ROW_BITS, times

    def _marked(self, numbers: Ints, length: int) -> Codes:
        codes = np.empty((len(numbers), length + 2), np.uint64)
        codes[:, 0], codes[:, -1] = ord("<"), ord(">")
        codes[:, 1:-1] = self.codes[self.starts[self.first[numbers]][:, None] + np.arange(length)]
        return codes


def _codes(text: str) -> NDArray[np.uint8] | NDArray[np.uint32]:
    if text.isascii():
        return np.frombuffer(text.encode(), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _parts(
    codes: NDArray[np.uint8] | NDArray[np.uint32], starts: Ints, lengths: Ints
) -> Iterator[tuple[Ints, Codes]]:
    """Eight bytes of every word, as a number, then the next eight of those that go on: which words, their part."""
    raw = codes.tobytes() + bytes(8)
    eights = np.ndarray(len(raw) - 7, "<u8", raw, strides=(1,))
    masks = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
    held, first, left = np.arange(len(starts)), starts * codes.itemsize, lengths * codes.itemsize
    while len(held):
        yield held, eights[first] & masks[np.minimum(left, 8)]
        further = np.flatnonzero(left > 8)
        held, first, left = held[further], first[further] + 8, left[further] - 8


def _cut(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Start and length of each word; a long one is several."""
    lengths = ends - starts
    if not len(lengths) or lengths.max() <= WORD_CHARS:
        return starts, lengths
    pieces = -(-lengths // WORD_CHARS)
    within = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    cut = np.repeat(starts, pieces) + within * WORD_CHARS
    return cut, np.minimum(np.repeat(ends, pieces) - cut, WORD_CHARS)


def _number(totals: Codes) -> tuple[Ints, Ints]:
    """A number for each word, one for equal totals, and for each number a place where it stands."""
    order = np.argsort(totals)
    ordered = totals[order]
    is_new = np.append(True, ordered[1:] != ordered[:-1])
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(is_new) - 1
    return numbers, order[is_new]


def _features(codes: Codes, dimension: int) -> tuple[Ints, NDArray[np.float64]]:
    """`hash.features` of words of one length: components and signed weights, a row each."""
    powers = np.array(POWERS[: max(codes.shape[1], 1)], np.uint64)
    hashes = [(codes * powers).sum(axis=1, dtype=np.uint64, keepdims=True) + np.uint64(SALTS[0])]
    for n in GRAMS:
        grams = codes.shape[1] - n + 1
        if grams > 0:
            value = codes[:, :grams].copy()
            for i in range(1, n):
                value += codes[:, i : grams + i] * powers[i]
            hashes.append(value + np.uint64(SALTS[n]))
    mixed = np.concatenate(hashes, axis=1)
    for factor in (MIX_1, MIX_2):
        mixed ^= mixed >> np.uint64(33)
        mixed *= np.uint64(factor)
    mixed ^= mixed >> np.uint64(33)
    weights = np.full(mixed.shape[1], gram_weight(codes.shape[1]), np.float64)
    weights[0] = WORD_WEIGHT
    signed = np.where(mixed >> np.uint64(63), -weights, weights)
    return (mixed & np.uint64(dimension - 1)).astype(np.int64), signed


@cache
def _solid() -> re.Pattern[str]:
    return re.compile(f"[{SOLID}]")


@cache
def _classes() -> NDArray[np.bool_]:
    """Of each code point whether it is part of a word that stands between separators."""
    is_word = np.ones(_CODE_POINTS, bool)
    for separators in re.finditer("(.)-(.)|(.)", SEPARATORS + SOLID, re.DOTALL):
        first, last, alone = separators.groups()
        is_word[ord(first or alone) : ord(last or alone) + 1] = False
    return is_word
