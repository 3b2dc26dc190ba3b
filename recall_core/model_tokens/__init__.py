"""Estimate how many tokens a text is, for the language model that needs the most.

No vocabulary is needed. A word costs as much as its first character, plus for each two neighbours the probability
that a token ends between them (`costs.json`, learnt from the vocabularies of five models). Line ends and tabs are
tokens; up to sixteen spaces are one. A character of another script costs its script's average. Word costs add up, so
the estimate never decreases as a text grows, and never increases when two texts are joined with white space.
"""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from itertools import product
from operator import add
from pathlib import Path

from recall_core.deadline import check
from recall_core.model_tokens.modern import modern_tokens
from recall_core.named import NamedTuple

__all__ = ["model_tokens", "modern_tokens"]

UNIT = 32
"""Units per token."""

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-"
"""Digits of encoded costs: 0 to 63 units."""

_ACCENTED = "\xe9"
_SYMBOLS = "".join(map(chr, range(0x21, 0x7F))) + _ACCENTED
_SHORT = 96  # characters of a word short enough to cache
_AT_ONCE = 1 << 10  # words between two checks of the deadline: 4 ms of new words
_WORDS, _CHARACTERS = 1 << 14, 1 << 12  # cache sizes


def model_tokens(text: str) -> int:
    """Return about the largest count of any model: rarely below, rarely more than a fifth above. Linear in length."""
    patterns = _patterns()
    narrow = text if text.isascii() else patterns.wide.sub(" ", text)
    words = narrow.split()
    lengths = list(map(len, words))
    count = _remembered if max(lengths, default=0) <= _SHORT else _count
    units = 0
    for start in range(0, len(words), _AT_ONCE):
        check()
        units += sum(map(count, words[start : start + _AT_ONCE]))
    if narrow is not text:
        units += sum(map(_wide_cost, patterns.wide.findall(text)))
    line_ends = len(narrow) - sum(lengths) - narrow.count(" ")
    return line_ends + len(patterns.gap.findall(text)) - (-units // UNIT)


class _Patterns(NamedTuple):
    """Patterns. wide: characters beyond Latin letters. gap: a token of spaces that does not belong to a word.

    A word includes one space before it. Digits, characters of other scripts and line ends include none. Any character
    could follow the end of the text.
    """

    wide: re.Pattern[str]
    gap: re.Pattern[str]
    odd: re.Pattern[str]
    letters: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    patterns = (
        "[^\x00-\u024f]",
        r" (?![!-/:-~])(?: {0,15}(?=\s))?",
        "[^!-~]",
        "(?<![A-Za-z])[A-Za-z][a-z]+(?![A-Z])",
    )
    return _Patterns(*map(re.compile, patterns))


def _word(word: str) -> int:
    """Return the cost of a run without white space, in units. A common word is one token, and so are its prefixes."""
    starts, ends, beginnings, *_ = _costs()
    patterns = _patterns()
    if not (word.isascii() and word.isprintable()):
        word = patterns.odd.sub(_ACCENTED, word)
    elif len(word) > 1 and word.isalpha() and word[1:].islower() and word.lower() in beginnings:
        return starts[word[0]]
    units = starts[word[0]] + sum(map(ends.__getitem__, map(add, word, word[1:])))
    for run in patterns.letters.findall(word):
        if run.lower() in beginnings:
            units -= sum(map(ends.__getitem__, map(add, run, run[1:])))
    return units


_remembered = lru_cache(_WORDS)(_word)


def _count(word: str) -> int:
    return _remembered(word) if len(word) <= _SHORT else _word(word)


class _Costs(NamedTuple):
    """Costs learnt by `python -m benchmarks.tokens fit`, in units."""

    starts: dict[str, int]
    """By first character of a word."""
    ends: dict[str, int]
    """By two neighbouring characters."""
    beginnings: frozenset[str]
    """Prefixes of common words, including the words themselves: each is one token."""
    scripts: list[tuple[int, int, int]]
    """First and last character of a script, and the cost of one of its characters."""
    whole: str
    """Characters beyond U+200F that are one token each."""


@cache
def _costs() -> _Costs:
    table = json.loads(Path(__file__).with_name("costs.json").read_text("utf-8"))
    value = dict(zip(DIGITS, range(len(DIGITS)), strict=True))
    pairs = map("".join, product(_SYMBOLS, repeat=2))
    words = " ".join(table["common"]).split()
    return _Costs(
        starts=dict(zip(_SYMBOLS, map(value.__getitem__, table["starts"]), strict=True)),
        ends=dict(zip(pairs, map(value.__getitem__, "".join(table["ends"])), strict=True)),
        beginnings=frozenset(word[:length] for word in words for length in range(1, len(word) + 1)),
        scripts=table["scripts"],
        whole=table["whole"],
    )


@lru_cache(_CHARACTERS)
def _wide_cost(character: str) -> int:
    """Return the cost of a character beyond Latin letters, in units: at most its bytes, which each vocabulary has."""
    costs = _costs()
    if character in costs.whole:
        return UNIT
    code = ord(character)
    for first, last, units in costs.scripts:
        if first <= code <= last:
            return units
    return UNIT * (2 if code < 0x800 else 3 if code < 0x10000 else 4)
