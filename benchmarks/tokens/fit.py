"""Learn how likely a token ends between two characters, from the token counts of words.

Most weights follow Llama-2, which counts the most in nearly every text. Long words without a space follow the highest
count. A word that is counted too low weighs more than one that is counted too high, so that errors are upwards.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize, nnls
from scipy.sparse import csr_matrix

from benchmarks.tokens.corpus import Sample
from benchmarks.tokens.vocabularies import LARGEST, Count
from recall_core.model_tokens import DIGITS, UNIT

ACCENTED = "\xe9"
SYMBOLS = "".join(map(chr, range(0x21, 0x7F))) + ACCENTED

_LATIN_END = 0x250
_LONG = 40  # characters from which a word gets the highest count; for short words, that would be chance
_PIECE = 400  # characters of a word that are counted together
_LETTERS = re.compile("(?<![A-Za-z])[A-Za-z][a-z]+(?![A-Z])")
_COMMON = 1_500
_OFTEN = 20  # a word repeated in one text is not common
_WEIGHTS = {"prose": 1.0, "code": 1.0, "json": 1.0, "table": 1.2, "base64": 1.0, "hex": 0.7, "Latin": 0.8}
_TOO_LOW = {"prose": 2.6, "code": 4.0, "json": 4.0, "table": 3.0, "base64": 3.0, "hex": 2.6, "Latin": 2.6}
"""Weight of counting a word of each kind too low, relative to too high."""
_TIED = 2.0
"""Strength of the tie of a pair's weight to the weight of its kind, such as lower-case letter before digit."""
SCRIPTS = (
    (0x370, 0x3FF), (0x400, 0x52F), (0x590, 0x5FF), (0x600, 0x77F), (0x900, 0x97F), (0x980, 0x9FF), (0xB80, 0xBFF),
    (0xE00, 0xE7F), (0x1000, 0x109F), (0x10A0, 0x10FF), (0x1780, 0x17FF), (0x1E00, 0x1EFF),
)  # fmt: skip
_SURPLUS = 1.05  # safety margin: every letter of a script counts by the average


class Word(NamedTuple):
    """A run without white space. times: occurrences in samples of this kind."""

    text: str
    kind: str
    times: int
    tokens: int


def words(samples: Iterable[Sample], counts: Mapping[str, Count]) -> list[Word]:
    """Return every word of the kinds that pairs are learnt from."""
    found: Counter[tuple[str, str]] = Counter()
    for kind, text in samples:
        for word in text.split() if kind in _WEIGHTS else ():
            pieces = (word[start : start + _PIECE] for start in range(0, len(word), _PIECE))
            found.update((piece, kind) for piece in pieces if all(ord(each) < _LATIN_END for each in piece))
    return [Word(text, kind, times, _tokens(text, counts)) for (text, kind), times in found.items()]


def _tokens(word: str, counts: Mapping[str, Count]) -> int:
    """Count the tokens of a word after a space, which belongs to it, or at the beginning of a line."""
    most = min(counts[LARGEST](word), counts[LARGEST]("\n" + word) - 2)
    return max(most, *(count(word) for count in counts.values())) if len(word) >= _LONG else most


def common_words(found: Sequence[Word], count: Count) -> list[str]:
    """Return the words of prose and code that occur in most different words of text and are one token. Sorted."""
    held: Counter[str] = Counter()
    for word in found:
        if word.kind in ("prose", "code"):
            held.update({run.lower(): min(word.times, _OFTEN) for run in _LETTERS.findall(word.text)})
    of_one = (run for run, _ in held.most_common() if count(run) == 1)
    return sorted(islice(of_one, _COMMON))


def pair_weights(found: Sequence[Word], common: Iterable[str]) -> dict[str, float]:
    """Return the weight of each pair of symbols, and of each first symbol of a word as a pair with a space.

    No token ends between the letters of a common word, or of the beginning of one.
    """
    beginnings = {word[:length] for word in common for length in range(1, len(word) + 1)}
    rows = [_pairs(word.text, beginnings) for word in found]
    keys = [first + second for first in " " + SYMBOLS for second in SYMBOLS]
    kinds = sorted({_kind(key) for key in keys})
    x, place = _matrix(rows, keys), {kind: n for n, kind in enumerate(kinds)}
    member = np.array([place[_kind(key)] for key in keys])
    pooled = csr_matrix((np.ones(len(keys)), (np.arange(len(keys)), member)))
    y = np.array([float(word.tokens) for word in found])
    importance = _importance(found), np.array([_TOO_LOW[word.kind] for word in found])
    least = np.array([1.0 if key[0] == " " else 0.0 for key in keys])
    by_kind = _solved(
        x @ pooled, y, importance, prior=np.full(len(kinds), 0.5), tied=1e-3, least=np.zeros(len(kinds))
    )
    weights = _solved(x, y, importance, prior=np.maximum(by_kind[member], least), tied=_TIED, least=least)
    return dict(zip(keys, weights.tolist(), strict=True))


def _pairs(word: str, beginnings: Container[str]) -> Counter[str]:
    pairs = Counter(map("".join, pairwise(" " + _symbols(word))))
    for run in _LETTERS.findall(word):
        if run.lower() in beginnings:
            pairs.subtract(map("".join, pairwise(run)))
    return +pairs


def _symbols(word: str) -> str:
    return "".join(each if "!" <= each <= "~" else ACCENTED for each in word)


def _kind(pair: str) -> str:
    return "".join(
        "a" if each.islower() else "A" if each.isupper() else "0" if each.isdigit() else each for each in pair
    )


def _matrix(rows: Sequence[Counter[str]], keys: Sequence[str]) -> csr_matrix:
    place = {key: n for n, key in enumerate(keys)}
    cells = [(n, place[key], times) for n, row in enumerate(rows) for key, times in row.items()]
    at_row, at_key, values = zip(*cells, strict=True)
    return csr_matrix((np.array(values, float), (at_row, at_key)), shape=(len(rows), len(keys)))


def _importance(found: Sequence[Word]) -> Any:
    """Return the weight of each word: equal by kind, and less for long words, whose error grows with the length."""
    whole: Counter[str] = Counter()
    for word in found:
        whole[word.kind] += word.times * word.tokens
    return np.array([
        min(word.times, 30) ** 0.8 * _WEIGHTS[word.kind] * 1e5 / whole[word.kind] / max(1, word.tokens) ** 0.7
        for word in found
    ])  # fmt: skip


def _solved(x: csr_matrix, y: Any, importance: tuple[Any, Any], *, prior: Any, tied: float, least: Any) -> Any:
    """Return weights from `least` to the largest digit.

    importance: of each word, and its factor if the word is counted too low.
    """
    weight, too_low = importance

    def loss(weights: Any) -> tuple[float, Any]:
        error, away = x @ weights - y, weights - prior
        weighed = weight * np.where(error < 0, too_low, 1) * error
        return float(weighed @ error + tied * (away @ away)), 2 * (x.T @ weighed) + 2 * tied * away

    bounds = [(each, 63 / UNIT) for each in least]
    return minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 400}).x


def script_costs(
    samples: Sequence[Sample], counts: Mapping[str, Count], rest: Callable[[str], float]
) -> list[tuple[int, int, int]]:
    """Return the first and last character of each script, and the cost of a character in units.

    rest: the cost of everything else in a text.
    """
    foreign = [text for kind, text in samples if kind in ("Latin", "other")]
    greatest = np.array([max(count(text) for count in counts.values()) for text in foreign], float)
    x = np.array([[sum(a <= ord(each) <= b for each in text) for a, b in SCRIPTS] for text in foreign], float)
    left = greatest - np.array([rest(text) for text in foreign])
    costs, _ = nnls(x / greatest[:, None], left / greatest)
    return [(a, b, round(cost * _SURPLUS * UNIT)) for (a, b), cost in zip(SCRIPTS, costs, strict=True)]


def whole_characters(count: Count) -> str:
    """Return characters outside all alphabets that are one token each: common Chinese, kana, hangul and marks."""
    codes = (*range(0x2010, 0xD7A4), *range(0xF900, 0xFB00), *range(0xFE30, 0xFFE7))
    return "".join(chr(code) for code in codes if chr(code).isprintable() and count(f"a{chr(code)}") == 2)


def write(
    path: Path, pairs: Mapping[str, float], common: Sequence[str], scripts: Sequence[tuple[int, int, int]], whole: str
) -> None:
    """Write the table that `recall_core.model_tokens` reads.

    Its symbols are the visible ASCII characters, and one for all accented letters. The row of a symbol has the costs
    of
    each symbol after it.
    """
    table = {
        "starts": _row(pairs, " "),
        "ends": [_row(pairs, symbol) for symbol in SYMBOLS],
        "common": wrap(" ".join(common), 118),
        "scripts": scripts,
        "whole": whole,
    }
    path.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _row(pairs: Mapping[str, float], symbol: str) -> str:
    return "".join(DIGITS[min(63, round(pairs[symbol + each] * UNIT))] for each in SYMBOLS)
