"""The `hash` embedder: signed feature hashing of words and character n-grams, the same bytes on every machine.

It is lexical search in disguise: no meaning, but determinism, no network and some patience with typos. Of the cosine
of two of its vectors it can say what it is made of: each word's true matches, and its collisions.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from math import sqrt
from operator import add
from struct import pack

from recall_core.config import Config
from recall_core.deadline import check
from recall_core.embed.fold import SEPARATORS, SOLID, fold
from recall_core.errors import ConfigError
from recall_core.named import NamedTuple
from recall_core.ports import Share
from recall_core.text import STOP_WORDS
from recall_core.types import Vector

MAX_CHARS = 1 << 17

"""Code points of a text that count. It bounds a vector's squared length before normalisation, see `WORD_WEIGHT`."""

_VERSION = 1

WORD_CHARS = 64

"""Code points after which a word is cut."""

_ASCII_WORD = re.compile(f"[0-9a-z]{{1,{WORD_CHARS}}}")

_PLAIN_CHARS = 4096  # below it plain Python answers before NumPy is even imported

# A word weighs 16 and its grams together about as much in energy: round(16 / sqrt(grams)) each. A code point adds
# at most 32 that way (two features of 16), a repetition multiplies by at most 16, so the components of a text add
# up to at most 32 * 16 * 2**17 = 2**26 in absolute value and their squares to at most 2**52: every sum on the way
# is a whole number that float64 holds exactly, in any order of addition.
WORD_WEIGHT = 16

# round(16 * (1 + ln n)) for n occurrences, from 0; more than 31 count as 31. A literal: libraries differ in ln.
# fmt: off
LOG_TF = (
    0, 16, 27, 34, 38, 42, 45, 47, 49, 51, 53, 54, 56, 57, 58, 59,
    60, 61, 62, 63, 64, 65, 65, 66, 67, 68, 68, 69, 69, 70, 70, 71,
)

# fmt: on

GRAMS = (3, 4, 5)

"""The lengths of a word's grams."""

_MASK = (1 << 64) - 1

_BASE = 0x9E3779B97F4A7C15

POWERS = tuple(pow(_BASE, n, 1 << 64) for n in range(66))

SALTS = tuple((0xD6E8FEB86659FD93 + n * 0xC2B2AE3D27D4EB4F) & _MASK for n in range(6))

# The finaliser of MurmurHash3 x64 (Austin Appleby, public domain): every input bit reaches every output bit.
MIX_1 = 0xFF51AFD7ED558CCD

MIX_2 = 0xC4CEB9FE1A85EC53


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
        """No bound that counts in tokens; see MAX_CHARS."""
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


def words(text: str) -> dict[str, int]:
    """The distinct words of a text and how often each occurs, folded, without stop words.

    A word stands between angle brackets, the marks of its borders; words are cut after 64 code points. Scripts
    written without spaces, and emoji, give their single characters and neighbouring pairs, without marks.
    """
    folded = fold(text[:MAX_CHARS])
    if folded.isascii():
        return _marked(_ASCII_WORD.findall(folded))
    word, run = _wide_patterns()
    counts = Counter(_marked(word.findall(folded)))
    for solid in run.findall(folded):
        counts.update(solid)
        counts.update(map(add, solid, solid[1:]))
    return counts


def features(word: str, dimension: int) -> list[tuple[int, int]]:
    """The (component, signed weight) pairs of a word as `words` spells it: itself, then its 3- to 5-grams.

    A vector is the sum over words of log-tf times these pairs, before it is scaled to length 1.
    """
    codes = [ord(character) for character in word]
    whole = sum(code * power for code, power in zip(codes, POWERS, strict=False))
    hashes = [_mixed(whole + SALTS[0])]
    for start in range(len(codes) - 2):
        value = codes[start] + codes[start + 1] * _BASE
        for n, code in enumerate(codes[start + 2 : start + 5], 2):
            value += code * POWERS[n]
            hashes.append(_mixed(value + SALTS[n + 1]))
    gram = _gram_weight(len(hashes) - 1)
    weights = [WORD_WEIGHT] + [gram] * (len(hashes) - 1)
    return [(x & (dimension - 1), -w if x >> 63 else w) for x, w in zip(hashes, weights, strict=True)]


def embed_plain(texts: Sequence[str], dimension: int) -> list[Vector]:
    """HashEmbedder.embed without NumPy: fast to start, about 1 MB a second."""
    return [_plain(text, dimension) for text in texts]


def embed_numpy(texts: Sequence[str], dimension: int) -> list[Vector]:
    """HashEmbedder.embed with NumPy; the same bytes as `embed_plain`."""
    from recall_core.embed import hash_batch  # noqa: PLC0415 - a single query must not pay for NumPy

    return hash_batch.embed(texts, dimension)


def log_tf(n: int) -> int:
    """What a word that occurs n times counts, in sixteenths."""
    return LOG_TF[min(n, len(LOG_TF) - 1)]


@cache
def gram_weight(letters: int) -> int:
    """What each gram of a word of so many letters, marks included, weighs beside the word's own WORD_WEIGHT."""
    return _gram_weight(sum(max(0, letters - n + 1) for n in GRAMS))


def plain_sums(text: str, dimension: int) -> list[int]:
    """The text's vector before it is scaled to length 1."""
    check()
    sums = [0] * dimension
    for word, n in words(text).items():
        times = log_tf(n)
        for component, weight in features(word, dimension):
            sums[component] += times * weight
    return sums


@cache
def _wide_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A word, and a run of solid characters. Compiling takes 4 ms, which an ASCII query need not wait for."""
    return re.compile(f"[^{SEPARATORS}{SOLID}]{{1,{WORD_CHARS}}}"), re.compile(f"[{SOLID}]+")


def _marked(found: list[str]) -> dict[str, int]:
    return {f"<{word}>": n for word, n in Counter(found).items() if word not in STOP_WORDS}


def _plain(text: str, dimension: int) -> Vector:
    sums = plain_sums(text, dimension)
    squares = sum(x * x for x in sums)
    if squares == 0:
        return b""
    norm = math.sqrt(squares)
    return pack(f"<{dimension}f", *[x / norm for x in sums])


def _mixed(value: int) -> int:
    value &= _MASK
    value = ((value ^ value >> 33) * MIX_1) & _MASK
    value = ((value ^ value >> 33) * MIX_2) & _MASK
    return value ^ value >> 33


def _gram_weight(grams: int) -> int:
    return round(WORD_WEIGHT / math.sqrt(grams)) if grams else 0


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
    if "numpy" not in sys.modules and sum(map(len, texts)) <= _PLAIN_SHARE_CHARS:
        return [plain_sums(text, dimension) for text in texts]
    from recall_core.embed import hash_batch  # noqa: PLC0415 - few texts cost less without NumPy

    rows: Sequence[Sequence[float]] = hash_batch.sums(texts, dimension).tolist()
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
