"""What `hash` reads in a text, in plain Python: its words, their features, and the whole numbers that they add up to.

Everything is made of whole numbers, so that a sum is the same in any order, here and in arrays (`hash_batch`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from operator import add

from recall_core.deadline import check
from recall_core.embed.fold import SEPARATORS, SOLID, fold
from recall_core.text import STOP_WORDS

MAX_CHARS = 1 << 17
"""Code points of a text that count. It bounds a vector's squared length before normalisation, see `WORD_WEIGHT`."""

WORD_CHARS = 64
"""Code points after which a word is cut."""

_ASCII_WORD = re.compile(f"[0-9a-z]{{1,{WORD_CHARS}}}")

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


def ascii_words(text: str) -> Iterator[tuple[int, str]]:
    """Every word of a text in ASCII in order, stop words too, as `words` spells it, with the place it begins at."""
    return ((found.start(), f"<{found[0]}>") for found in _ASCII_WORD.finditer(text.lower()))


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


def _mixed(value: int) -> int:
    value &= _MASK
    value = ((value ^ value >> 33) * MIX_1) & _MASK
    value = ((value ^ value >> 33) * MIX_2) & _MASK
    return value ^ value >> 33


def _gram_weight(grams: int) -> int:
    return round(WORD_WEIGHT / math.sqrt(grams)) if grams else 0
