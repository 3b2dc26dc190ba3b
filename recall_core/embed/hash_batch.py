"""NumPy implementation of the `hash` embedder for many texts: the same integer sums as `features`.

All texts of a batch become one array of code points. Words are found at separators, numbered by a checksum over eight
bytes at a time, and hashed once each, grouped by length. Each is then added to every text that contains it. If two
words have the same checksum, which only happens on purpose, the batch is read word by word.
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
_ROW_BITS = 20  # for a word's number in a batch, which has fewer code points
_STOPS = " ".join(sorted(STOP_WORDS))
_CODE_POINTS = 0x110000

Ints = NDArray[np.int64]
Codes = NDArray[np.uint64]


class Counted(NamedTuple):
    """Words of one length, and their counts in the texts."""

    codes: Codes
    """(words, length): code points of each word."""
    words: Ints
    """Index of the word, for each pair of a word and a text that contains it."""
    texts: Ints
    times: Ints


def embed(texts: Sequence[str], dimension: int) -> list[Vector]:
    """Embed like HashEmbedder.embed, in batches of bounded memory."""
    return [vector for batch in _batches(texts, dimension) for vector in _scale(sums(batch, dimension))]


def sums(texts: Sequence[str], dimension: int) -> NDArray[np.float64]:
    """Return the texts' vectors before they are scaled to length 1: one row of integers each."""
    added = np.zeros(len(texts) * dimension)
    log_tfs = np.array(LOG_TF, np.float64)
    for group in _count(texts):
        components, signed = _features(group.codes, dimension)
        cells, weights = components.take(group.words, axis=0), signed.take(group.words, axis=0)
        cells += (group.texts * dimension)[:, None]
        weights *= log_tfs[np.minimum(group.times, len(LOG_TF) - 1)][:, None]
        # float64 is exact here, in any order: every partial sum is an integer below 2**53.
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
    """Yield the words of all texts. Texts in scripts without spaces are read by `words`."""
    folded = [text[:MAX_CHARS].lower() if text.isascii() else fold(text[:MAX_CHARS]) for text in texts]
    solid = [i for i, text in enumerate(folded) if not text.isascii() and _solid_pattern().search(text)]
    yield from _count_each(texts, solid)
    for i in solid:
        folded[i] = ""
    found = BatchWords(folded)
    if found.are_told_apart():
        yield from found.count()
    else:
        yield from _count_each(texts, sorted({*range(len(texts))} - {*solid}))


def _count_each(texts: Sequence[str], indexes: Sequence[int]) -> Iterator[Counted]:
    """Yield the words of the texts with these indexes, one text at a time."""
    by_length: defaultdict[int, list[tuple[str, int, int]]] = defaultdict(list)
    for i in indexes:
        for word, n in words(texts[i]).items():
            by_length[len(word)].append((word, i, n))
    for length, rows in by_length.items():
        numbers = {word: number for number, word in enumerate(dict.fromkeys(word for word, _, _ in rows))}
        codes = np.frombuffer("".join(numbers).encode("utf-32-le"), "<u4").astype(np.uint64).reshape(-1, length)
        columns = np.array([(numbers[word], i, n) for word, i, n in rows], np.int64).T
        yield Counted(codes, *columns)


class BatchWords:
    """Words of a batch of folded texts in which separators surround every word, with their places.

    The stop words are an additional text in front.
    """

    def __init__(self, folded: Sequence[str]) -> None:
        self.codes = _codes("\n".join(("", _STOPS, *folded, "")))
        is_word = _classes()[self.codes]
        edges = np.flatnonzero(is_word[1:] != is_word[:-1]) + 1
        self.starts, self.lengths = _cut(edges[::2], edges[1::2])
        texts = np.cumsum([1 + len(_STOPS) + 1, *(len(text) + 1 for text in folded)])
        self.first_of_text = np.searchsorted(self.starts, texts)  # first word of each text
        self.parts = list(_parts(self.codes, self.starts, self.lengths))
        self.numbers, self.first = _number(self._totals())

    def _totals(self) -> Codes:
        totals = self.parts[0][1].copy()
        for indexes, part in self.parts[1:]:
            before = totals[indexes]
            totals[indexes] = (before ^ before >> np.uint64(32)) * np.uint64(MIX_1) + part
        return totals

    def are_told_apart(self) -> bool:
        """Return True if no two different words have the same number."""
        first = self.first[self.numbers]
        if not np.array_equal(self.lengths[first], self.lengths):
            return False
        padded = np.zeros(len(self.starts), np.uint64)
        for indexes, part in self.parts:
            padded[indexes] = part
            if not np.array_equal(padded[first[indexes]], part):
                return False
        return True

    def count(self) -> Iterator[Counted]:
        """Yield the words that are not stop words, each between its marks."""
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
            yield Counted(self._add_marks(own, length), place[words[pairs]], texts[pairs], times[pairs])

    def _pairs(self, is_stop: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints]:
        """Return word, text and count for each pair of a word and a text."""
        ends = np.append(self.first_of_text[1:], len(self.starts))
        texts = np.repeat(np.arange(len(ends)), ends - self.first_of_text)
        numbers = self.numbers[self.first_of_text[0] :]
        is_word = ~is_stop[numbers]
        pairs = np.sort(texts[is_word] << _ROW_BITS | numbers[is_word])
        starts = np.flatnonzero(np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)])
        times = np.diff(np.append(starts, len(pairs)))
        distinct = pairs[starts]
        return distinct & ((1 << _ROW_BITS) - 1), distinct >> _ROW_BITS, times

    def _add_marks(self, numbers: Ints, length: int) -> Codes:
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
    """Yield the words' bytes eight at a time as numbers: the indexes of words that are long enough, and the parts."""
    raw = codes.tobytes() + bytes(8)
    eights = np.ndarray(len(raw) - 7, "<u8", raw, strides=(1,))
    masks = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
    indexes, first, left = np.arange(len(starts)), starts * codes.itemsize, lengths * codes.itemsize
    while len(indexes):
        yield indexes, eights[first] & masks[np.minimum(left, 8)]
        further = np.flatnonzero(left > 8)
        indexes, first, left = indexes[further], first[further] + 8, left[further] - 8


def _cut(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return the start and length of each word, with long words split."""
    lengths = ends - starts
    if not len(lengths) or lengths.max() <= WORD_CHARS:
        return starts, lengths
    pieces = -(-lengths // WORD_CHARS)
    piece = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    cut = np.repeat(starts, pieces) + piece * WORD_CHARS
    return cut, np.minimum(np.repeat(ends, pieces) - cut, WORD_CHARS)


def _number(totals: Codes) -> tuple[Ints, Ints]:
    """Return a number per word, equal for equal totals, and the index of one word per number."""
    order = np.argsort(totals)
    ordered = totals[order]
    is_new = np.append(True, ordered[1:] != ordered[:-1])
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(is_new) - 1
    return numbers, order[is_new]


def _features(codes: Codes, dimension: int) -> tuple[Ints, NDArray[np.float64]]:
    """Return `features` for words of one length: components and signed weights, one row per word."""
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
def _solid_pattern() -> re.Pattern[str]:
    return re.compile(f"[{SOLID}]")


@cache
def _classes() -> NDArray[np.bool_]:
    """Return for each code point whether it can be part of a separated word."""
    is_word = np.ones(_CODE_POINTS, bool)
    for separators in re.finditer("(.)-(.)|(.)", SEPARATORS + SOLID, re.DOTALL):
        first, last, alone = separators.groups()
        is_word[ord(first or alone) : ord(last or alone) + 1] = False
    return is_word
