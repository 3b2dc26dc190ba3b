"""Estimate how many tokens a text is to a language model whose vocabulary has 100,000 entries or more.

Such vocabularies differ in their rare entries and share their common ones. A text is cut into the longest pieces that
four of them share (`pieces.json`). Another vocabulary of that size has most of these pieces too, so it rarely needs
more tokens. Digits, and short runs of spaces, tabs or line ends, are one token each. A character without a piece
costs its bytes at most. Words add up: the estimate never sinks as a text grows, and two texts with white space
between them never count less than both in one.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

from recall_core.deadline import check
from recall_core.named import NamedTuple

UNIT = 16
"""Units of a token."""

SHARES = 64
"""Shares of the whole cost, which a script's words are a number of."""

DIGITS = "!#$%&()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_{|}~"
"""What bits and costs are written with: 0 to 63."""

_LATIN_END = 0x24F
_SHORT = 32  # characters of a run that may well come again, so that its cost is remembered
_AT_ONCE = 1 << 11  # runs between two looks at the deadline
_REMEMBERED = 1 << 14
FORMS: tuple[Callable[[str], str], ...] = (
    str,
    str.capitalize,
    str.upper,
    lambda word: f" {word}",
    lambda word: f" {word.capitalize()}",
    lambda word: f" {word.upper()}",
)
"""How a word of Latin letters may be written: one for each bit of its entry, from the lowest."""


_RUNS = r" {1,24}(?=[ \r\n])|\n{1,5}|\t{1,4}| ?[A-Za-z\u00c0-\u024f]+| ?[!-/:-@\[-`{-~]+| ?[^\x00-\u024f\s]+|[\s\S]"
"""White space, words, marks, words of other scripts. A word takes the last space before it along."""


def modern_tokens(text: str) -> int:
    """Return about the greatest count among large vocabularies. Linear in the length."""
    runs, units = re.findall(_RUNS, text), 0
    count = _remembered if max(map(len, runs), default=0) <= _SHORT else _count
    for start in range(0, len(runs), _AT_ONCE):
        check()
        units += sum(map(count, runs[start : start + _AT_ONCE]))
    return -(-units // UNIT)


def _count(run: str) -> int:
    return _remembered(run) if len(run) <= _SHORT else _units(run)


def _units(run: str) -> int:
    """Return the cost of a run. A space before a word is a token of its own if that is cheaper."""
    if run.isspace() and run.isascii():
        return UNIT
    units = min(_cut(run), UNIT + _cut(run[1:])) if run[0] == " " else _cut(run)
    script = ord(run[run[0] == " "])
    if script > _LATIN_END:
        for first, last, share in _table().scripts:
            if first <= script <= last:
                return units * share // SHARES
    return units


_remembered = lru_cache(_REMEMBERED)(_units)


def _cut(run: str) -> int:
    """Return the cost of the longest pieces, from left to right.

    The end of a run counts as one piece if a piece begins with it: otherwise a text could count less as it grows.
    """
    table = _table()
    units = place = 0
    while place < len(run):
        rest = run[place : place + table.longest]
        if len(run) - place < table.longest and table.begins(rest):
            return units + UNIT
        size = min(len(rest), table.reach.get(rest[0], 0))
        while size and rest[:size] not in table.pieces:
            size -= 1
        units += UNIT if size else _alone(rest[0])
        place += size or 1
    return units


class _Pieces(NamedTuple):
    """What `python -m benchmarks.tokens modern-fit` has learnt."""

    pieces: frozenset[str]
    ordered: list[str]
    reach: dict[str, int]
    """Characters of the longest piece by its first character."""
    longest: int
    """Characters of the longest piece."""
    blocks: str
    """The cost of a character without a piece, by the block of 64 it belongs to."""
    scripts: list[tuple[int, int, int]]
    """First and last character of a script, and the share of their pieces that its words cost."""

    def begins(self, text: str) -> bool:
        """Return True if a piece begins with the text."""
        if text in self.pieces:
            return True
        place = bisect_left(self.ordered, text)
        return place < len(self.ordered) and self.ordered[place].startswith(text)


@cache
def _table() -> _Pieces:
    """Read the pieces. ␣ is a space; a Latin entry says how many characters it shares with the one before."""
    table = json.loads(Path(__file__).with_name("pieces.json").read_text("utf-8"))
    pieces, word = [piece.replace("␣", " ") for piece in " ".join(table["others"]).split()], ""
    for shared, rest, forms in re.findall("(.)([a-z\xdf-\u024f]*)(.)", "".join(table["latin"])):
        word = word[: int(shared, 36)] + rest
        bits = DIGITS.index(forms)
        pieces += (form(word) for bit, form in enumerate(FORMS) if bits >> bit & 1)
    reach: dict[str, int] = {}
    for piece in pieces:
        reach[piece[0]] = max(len(piece), reach.get(piece[0], 0))
    blocks = "".join(table["blocks"])
    return _Pieces(frozenset(pieces), sorted(pieces), reach, max(reach.values()), blocks, table["scripts"])


def _alone(character: str) -> int:
    """Return the cost of a character without a piece: at most its bytes, since every vocabulary has all bytes."""
    block, blocks = ord(character) >> 6, _table().blocks
    return DIGITS.index(blocks[block]) if block < len(blocks) else 4 * UNIT
