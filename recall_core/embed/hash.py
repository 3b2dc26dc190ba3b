"""The `hash` embedder: signed feature hashing of words and character n-grams, the same bytes on every machine.

It is lexical search in disguise: no meaning, but determinism, no network and some patience with typos. Of the cosine
of two of its vectors it can say what it is made of: each word's true matches, and its collisions.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from math import sqrt
from operator import mul
from struct import pack

from recall_core import embed
from recall_core.config import Config
from recall_core.deadline import check
from recall_core.embed.features import (
    GRAMS,
    MAX_CHARS,
    WORD_WEIGHT,
    ascii_words,
    features,
    gram_weight,
    log_tf,
    plain_sums,
    words,
)
from recall_core.errors import ConfigError
from recall_core.named import NamedTuple
from recall_core.ports import Share
from recall_core.types import Vector

_VERSION = 1

_PLAIN_CHARS = 4096  # below it plain Python answers before NumPy is even imported


class HashEmbedder:
    """Turns texts into unit vectors by feature hashing; deterministic, offline, without a model.

    dimension: a power of two from 16 to 65,536.  Raises ConfigError `bad_value` for another.
    """

    def __init__(self, dimension: int = 512) -> None:
        if not 16 <= dimension <= 65_536 or dimension & (dimension - 1):
            message = f"A hash vector cannot have {dimension} components: it takes a power of two from 16 to 65536."
            raise ConfigError("bad_value", message, hint="embedding_dim = 512")
        self.dimension = dimension
        self.identity = f"hash-{_VERSION}:{dimension}"

    @property
    def max_input(self) -> None:
        """No bound that counts in tokens; see features.MAX_CHARS."""
        return

    def windows(self, texts: Sequence[str]) -> list[int]:
        """Always 1: a text is read at once."""
        return [1] * len(texts)

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """One vector a text, in order: little-endian float32, unit length, b"" for a text without a feature.

        A text has no feature when it is empty or holds only stop words and punctuation. A text's vector does not
        depend on its companions. Code points past MAX_CHARS do not count.
        """
        if sum(map(len, texts)) <= _PLAIN_CHARS:
            return embed_plain(texts, self.dimension)
        return embed_numpy(texts, self.dimension)

    def shares(self, question: str, texts: Sequence[str]) -> list[list[Share]]:
        """Of each text's cosine with the question, what each word of the question gives; see ports.Additive.

        A word gives a `feature` share where the text holds it, or a word with grams in common, and a `collision`
        share where features that differ fell on one component: noise, which may be negative.
        """
        return word_shares(question, texts, self.dimension)

    def shares_of(
        self, question: str, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[list[float]]:
        """What the words of each span give that hold a word of the question, or grams of one; see ports.Locating."""
        value = _values(question)
        return [_span_shares(value, *each) for each in zip(texts, spans, strict=True)]


def embed_plain(texts: Sequence[str], dimension: int) -> list[Vector]:
    """HashEmbedder.embed without NumPy: fast to start, about 1 MB a second."""
    return [_plain(text, dimension) for text in texts]


def embed_numpy(texts: Sequence[str], dimension: int) -> list[Vector]:
    """HashEmbedder.embed with NumPy; the same bytes as `embed_plain`."""
    return embed.hash_batch.embed(texts, dimension)


def _plain(text: str, dimension: int) -> Vector:
    sums = plain_sums(text, dimension)
    squares = sum(x * x for x in sums)
    if squares == 0:
        return b""
    norm = math.sqrt(squares)
    return pack(f"<{dimension}f", *[x / norm for x in sums])


class HashKind(NamedTuple):
    """How `hash` is recognised and made."""

    name: str = "hash"
    purpose: str = "spelling, not meaning: for typos, tests, and machines with nothing else"
    vector_weight: float = 0.1

    def sends_text(self, config: Config) -> bool:
        """Never."""
        return False

    def missing(self, config: Config) -> None:
        """Nothing: it needs no package and no file."""
        return

    def dimension(self, config: Config) -> int:
        """As set."""
        return config.embedding_dim

    def recognises(self, identity: str, config: Config) -> bool:
        """Whether the identity is of this version and of the dimension in these settings."""
        return identity == f"hash-{_VERSION}:{config.embedding_dim}"

    def new(self, config: Config, *, dimension: int | None = None) -> HashEmbedder:
        """The embedder. Raises ConfigError `bad_value` for a dimension it cannot have."""
        return HashEmbedder(dimension or config.embedding_dim)


HASH = HashKind()

_PLAIN_SHARE_CHARS = 100_000  # below it, plain Python costs less than importing NumPy

_SHORTEST = min(GRAMS)


class _AskedWord(NamedTuple):
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
    asked = _asked_words(question, dimension)
    wanted = list(dict.fromkeys(gram for each in asked for gram in each.grams))
    length = _length(plain_sums(question, dimension))
    return [
        list(_shares(asked, wanted, text, sums, length * _length(sums))) if length else []
        for text, sums in zip(texts, _sums(texts, dimension), strict=True)
    ]


def _asked_words(question: str, dimension: int) -> list[_AskedWord]:
    return [
        _AskedWord(word, log_tf(n), Counter(_grams(word)), gram_weight(len(word)), features(word, dimension))
        for word, n in words(question).items()
    ]


class _Valued(NamedTuple):
    """What a word of a text gives to the cosine with a question, once: its own weight and that of shared grams.

    shortest: one of these is in every word that gives anything, but for what is too short to have grams.
    """

    of: Callable[[str], int]
    shortest: list[str]


def _values(question: str) -> _Valued:
    whole: dict[str, int] = {}
    grams: dict[str, int] = {}
    for word, n in words(question).items():
        whole[word] = log_tf(n) * WORD_WEIGHT * WORD_WEIGHT
        for gram in _grams(word):
            grams[gram] = grams.get(gram, 0) + log_tf(n) * gram_weight(len(word))

    @cache
    def value(word: str) -> int:
        shared = sum([grams[gram] for gram in _grams(word) if gram in grams])
        return whole.get(word, 0) + gram_weight(len(word)) * shared

    return _Valued(value, [gram for gram in grams if len(gram) == _SHORTEST])


def _span_shares(value: _Valued, text: str, spans: Sequence[tuple[int, int]]) -> list[float]:
    """Of each word its share of the text's `feature` shares, divided among the places where it stands.

    spans: all of the text that has words, but for what stands above the first.
    """
    check()
    if text.isascii() and len(text) <= MAX_CHARS:
        held: Mapping[str, int] = words(text)
        likely: Iterable[str] = _with_grams(held, value.shortest)
    else:
        held = Counter()
        for start, end in [(0, spans[0][0]), *spans] if spans else []:
            held.update(words(text[start:end]))
        likely = held
    once = {word: given * log_tf(held[word]) / held[word] for word in likely if (given := value.of(word))}
    parts = _in_spans(text, spans, once) if once else [{} for _ in spans]
    return [round(sum([once[word] * n for word, n in part.items()]), 6) for part in parts]


def _in_spans(text: str, spans: Sequence[tuple[int, int]], wanted: Container[str]) -> list[dict[str, int]]:
    """By span how often it holds each of the wanted words, in their order there."""
    if not text.isascii():
        held = [words(text[start:end]) for start, end in spans]
        return [{word: n for word, n in part.items() if word in wanted} for part in held]
    parts: list[dict[str, int]] = [{} for _ in spans]
    starts = [start for start, _ in spans]
    for place, word in ascii_words(text):
        if word in wanted and (number := bisect_right(starts, place) - 1) >= 0:
            parts[number][word] = parts[number].get(word, 0) + 1
    return parts


def _with_grams(held: Iterable[str], grams: Sequence[str]) -> set[str]:
    """Those of these words that hold one of the grams."""
    listed = list(held)
    spelled = " ".join(listed)  # no word holds a space, so no gram reaches from one into the next
    starts = list(accumulate([len(word) + 1 for word in listed], initial=0))
    found = set()
    for gram in grams:
        at = spelled.find(gram)
        while at >= 0:
            number = bisect_right(starts, at) - 1
            found.add(listed[number])
            at = spelled.find(gram, starts[number + 1])
    return found


def _sums(texts: Sequence[str], dimension: int) -> Sequence[Sequence[float]]:
    if "numpy" not in sys.modules and sum(map(len, texts)) <= _PLAIN_SHARE_CHARS:
        return [plain_sums(text, dimension) for text in texts]

    rows: Sequence[Sequence[float]] = embed.hash_batch.sums(texts, dimension).tolist()
    return rows


def _length(sums: Sequence[float]) -> float:
    return sqrt(sum(map(mul, sums, sums)))


def _grams(word: str) -> list[str]:
    return [word[start : start + n] for n in GRAMS for start in range(len(word) - n + 1)]


def _shares(
    asked: Sequence[_AskedWord], wanted: Sequence[str], text: str, sums: Sequence[float], lengths: float
) -> Iterator[Share]:
    if not lengths:
        return
    check()
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
    starts = list(accumulate([len(word) + 1 for word in held], initial=0))
    counted = list(held.items())
    found: dict[str, int] = {}
    for gram in wanted:
        if len(gram) > _SHORTEST and gram[:-1] not in found:
            continue
        at = spelled.find(gram)
        weight = 0
        while at >= 0:
            word, n = counted[bisect_right(starts, at) - 1]
            weight += log_tf(n) * gram_weight(len(word))
            at = spelled.find(gram, at + 1)
        if weight:
            found[gram] = weight
    return found
