"""The `hash` embedder: signed feature hashing of words and character n-grams, the same bytes on every machine.

It matches spelling, not meaning, but is deterministic, offline and tolerant of typos. A cosine of two of its vectors
can be split into the matches of each word and the collisions.
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

_PLAIN_CHARS = 4096  # below this, plain Python is faster than importing NumPy


class HashEmbedder:
    """Turns texts into unit vectors by feature hashing; deterministic, offline, without a model.

    dimension: a power of two from 16 to 65,536. Raises ConfigError `bad_value` for any other.
    """

    def __init__(self, dimension: int = 512) -> None:
        if not 16 <= dimension <= 65_536 or dimension & (dimension - 1):
            message = f"A hash vector cannot have {dimension} components, only a power of two from 16 to 65536."
            raise ConfigError("bad_value", message, hint="embedding_dim = 512")
        self.dimension = dimension
        self.identity = f"hash-{_VERSION}:{dimension}"

    max_input = None
    """There is no limit in tokens; see features.MAX_CHARS."""

    def windows(self, texts: Sequence[str]) -> list[int]:
        """Return 1 per text: a text is never divided."""
        return [1] * len(texts)

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return one vector per text, in order: little-endian float32, unit length, b"" for a text without features.

        A text of only stop words and punctuation has no features. A vector does not depend on the other texts. Code
        points beyond MAX_CHARS do not count.
        """
        if sum(map(len, texts)) <= _PLAIN_CHARS:
            return embed_plain(texts, self.dimension)
        return embed_numpy(texts, self.dimension)

    def shares(self, question: str, texts: Sequence[str]) -> list[list[Share]]:
        """Split each text's cosine with the query into shares per query word; see ports.Additive.

        A `feature` share counts words and grams that the text has in common with the query word. A `collision` share
        counts different features that fall on one component: noise, which may be negative.
        """
        return word_shares(question, texts, self.dimension)

    def shares_of(
        self, question: str, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[list[float]]:
        """Return each span's share from words that match query words or their grams; see ports.Locating."""
        value = _value_words(question)
        return [_span_shares(value, *each) for each in zip(texts, spans, strict=True)]


def embed_plain(texts: Sequence[str], dimension: int) -> list[Vector]:
    """Embed like HashEmbedder.embed, without NumPy: fast to start, about 1 MB per second."""
    return [_embed_one(text, dimension) for text in texts]


def embed_numpy(texts: Sequence[str], dimension: int) -> list[Vector]:
    """Embed like HashEmbedder.embed, with NumPy; the same bytes as `embed_plain`."""
    return embed.hash_batch.embed(texts, dimension)


def _embed_one(text: str, dimension: int) -> Vector:
    sums = plain_sums(text, dimension)
    squares = sum(x * x for x in sums)
    if squares == 0:
        return b""
    norm = math.sqrt(squares)
    return pack(f"<{dimension}f", *[x / norm for x in sums])


class HashKind(NamedTuple):
    """The `hash` kind."""

    name: str = "hash"
    purpose: str = "spelling, not meaning: for typos, tests, and machines with nothing else"
    vector_weight: float = 0.1

    def sends_text(self, config: Config) -> bool:
        """Return False."""
        return False

    def missing(self, config: Config) -> None:
        """Return None: it needs no package or file."""
        return

    def dimension(self, config: Config) -> int:
        """Return the configured dimension."""
        return config.embedding_dim

    def recognises(self, identity: str, config: Config) -> bool:
        """Return True if the identity has this version and the dimension in these settings."""
        return identity == f"hash-{_VERSION}:{config.embedding_dim}"

    def new(self, config: Config, *, dimension: int | None = None) -> HashEmbedder:
        """Return the embedder. Raises ConfigError `bad_value` for an invalid dimension."""
        return HashEmbedder(dimension or config.embedding_dim)


HASH = HashKind()

_PLAIN_SHARE_CHARS = 100_000  # below this, plain Python is faster than importing NumPy

_SHORTEST = min(GRAMS)


class _AskedWord(NamedTuple):
    """A word of the query: its grams' weights, and the pairs from `features`."""

    word: str
    times: int
    grams: Counter[str]
    gram_weight: int
    features: list[tuple[int, int]]


def word_shares(question: str, texts: Sequence[str], dimension: int) -> list[list[Share]]:
    """Return the shares of each text's cosine with the query. They add up to it, as integers over the norms.

    Kind "feature" counts words and grams that are in both; "collision" is the rest. Without features in text or query
    there are no shares. Words are in query order.
    """
    query_words = _asked_words(question, dimension)
    query_grams = list(dict.fromkeys(gram for each in query_words for gram in each.grams))
    length = _length(plain_sums(question, dimension))
    return [
        list(_shares(query_words, query_grams, text, sums, length * _length(sums))) if length else []
        for text, sums in zip(texts, _sums(texts, dimension), strict=True)
    ]


def _asked_words(question: str, dimension: int) -> list[_AskedWord]:
    return [
        _AskedWord(word, log_tf(n), Counter(_grams(word)), gram_weight(len(word)), features(word, dimension))
        for word, n in words(question).items()
    ]


class _WordValues(NamedTuple):
    """Values of a text's words for the cosine with a query: each word's own weight and that of shared grams.

    shortest: shortest grams; each word with a value contains one, unless it is too short for grams.
    """

    of: Callable[[str], int]
    shortest: list[str]


def _value_words(question: str) -> _WordValues:
    word_values: dict[str, int] = {}
    grams: dict[str, int] = {}
    for word, n in words(question).items():
        word_values[word] = log_tf(n) * WORD_WEIGHT * WORD_WEIGHT
        for gram in _grams(word):
            grams[gram] = grams.get(gram, 0) + log_tf(n) * gram_weight(len(word))

    @cache
    def value(word: str) -> int:
        shared = sum([grams[gram] for gram in _grams(word) if gram in grams])
        return word_values.get(word, 0) + gram_weight(len(word)) * shared

    return _WordValues(value, [gram for gram in grams if len(gram) == _SHORTEST])


def _span_shares(value: _WordValues, text: str, spans: Sequence[tuple[int, int]]) -> list[float]:
    """Return each span's share of the text's `feature` shares. A word's share is divided among its occurrences.

    spans: cover all words of the text except those above the first span.
    """
    check()
    if text.isascii() and len(text) <= MAX_CHARS:
        counts: Mapping[str, int] = words(text)
        likely: Iterable[str] = _select_with_grams(counts, value.shortest)
    else:
        counts = Counter()
        for start, end in [(0, spans[0][0]), *spans] if spans else []:
            counts.update(words(text[start:end]))
        likely = counts
    once = {
        word: word_value * log_tf(counts[word]) / counts[word] for word in likely if (word_value := value.of(word))
    }
    parts = _count_in_spans(text, spans, once) if once else [{} for _ in spans]
    return [round(sum([once[word] * n for word, n in part.items()]), 6) for part in parts]


def _count_in_spans(text: str, spans: Sequence[tuple[int, int]], wanted: Container[str]) -> list[dict[str, int]]:
    """Return the count of each wanted word per span, in order of appearance."""
    if not text.isascii():
        counts = [words(text[start:end]) for start, end in spans]
        return [{word: n for word, n in part.items() if word in wanted} for part in counts]
    parts: list[dict[str, int]] = [{} for _ in spans]
    starts = [start for start, _ in spans]
    for place, word in ascii_words(text):
        if word in wanted and (number := bisect_right(starts, place) - 1) >= 0:
            parts[number][word] = parts[number].get(word, 0) + 1
    return parts


def _select_with_grams(candidates: Iterable[str], grams: Sequence[str]) -> set[str]:
    """Return the words that contain one of the grams."""
    listed = list(candidates)
    spelled = " ".join(listed)  # words contain no spaces, so no gram crosses into the next word
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
    query_words: Sequence[_AskedWord], query_grams: Sequence[str], text: str, sums: Sequence[float], lengths: float
) -> Iterator[Share]:
    if not lengths:
        return
    check()
    counts = words(text)
    grams = _weigh_grams(counts, query_grams)
    for each in query_words:
        own = WORD_WEIGHT * WORD_WEIGHT * log_tf(counts[each.word]) if each.word in counts else 0
        shared = each.gram_weight * sum(n * grams.get(gram, 0) for gram, n in each.grams.items())
        true = each.times * (own + shared)
        every = each.times * sum(weight * sums[component] for component, weight in each.features)
        name = each.word.removeprefix("<").removesuffix(">")
        if true:
            yield Share("feature", name, true / lengths)
        if every != true:
            yield Share("collision", name, (every - true) / lengths)


def _weigh_grams(counts: dict[str, int], wanted: Sequence[str]) -> dict[str, int]:
    """Return the weight of each wanted gram in a text of these words. wanted: per word, shorter grams first."""
    spelled = " ".join(counts)  # words contain no spaces, so no gram crosses into the next word
    starts = list(accumulate([len(word) + 1 for word in counts], initial=0))
    items = list(counts.items())
    found: dict[str, int] = {}
    for gram in wanted:
        if len(gram) > _SHORTEST and gram[:-1] not in found:
            continue
        at = spelled.find(gram)
        weight = 0
        while at >= 0:
            word, n = items[bisect_right(starts, at) - 1]
            weight += log_tf(n) * gram_weight(len(word))
            at = spelled.find(gram, at + 1)
        if weight:
            found[gram] = weight
    return found
