"""Estimate how many tokens a text is for a language model with a vocabulary of 100,000 entries or more.

Such vocabularies share their common entries and differ in rare ones. A text is cut into the longest pieces that four
of them share (`pieces.json`). Another vocabulary of that size has most of these pieces, so it rarely needs more
tokens. Digits and short runs of spaces, tabs or line ends are one token each. A character without a piece costs at
most its bytes. Word costs add up, so the estimate never decreases as a text grows, and never increases when two texts
are joined with white space.
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
"""Units per token."""

SHARES = 64
"""Denominator of a script's share in the cost of its words."""

DIGITS = "!#$%&()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_{|}~"
"""Digits of encoded bits and costs: 0 to 63."""

_LATIN_END = 0x24F
_SHORT = 32  # characters of a run short enough to cache
_AT_ONCE = 1 << 11  # runs between two checks of the deadline
_REMEMBERED = 1 << 14
FORMS: tuple[Callable[[str], str], ...] = (
    str,
    str.capitalize,
    str.upper,
    lambda word: f" {word}",
    lambda word: f" {word.capitalize()}",
    lambda word: f" {word.upper()}",
)
"""Spellings of a word in Latin letters: one for each bit of its entry, from the lowest."""


_RUNS = r" {1,24}(?=[ \r\n])|\n{1,5}|\t{1,4}| ?[A-Za-z\u00c0-\u024f]+| ?[!-/:-@\[-`{-~]+| ?[^\x00-\u024f\s]+|[\s\S]"
"""White space, words, marks, words of other scripts. A word includes the last space before it."""


def modern_tokens(text: str) -> int:
    """Return about the largest count among large vocabularies. Linear in the length."""
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
    units = min(_cut_cost(run), UNIT + _cut_cost(run[1:])) if run[0] == " " else _cut_cost(run)
    script = ord(run[run[0] == " "])
    if script > _LATIN_END:
        for first, last, share in _table().scripts:
            if first <= script <= last:
                return units * share // SHARES
    return units


_remembered = lru_cache(_REMEMBERED)(_units)


def _cut_cost(run: str) -> int:
    """Return the cost of the longest pieces, from left to right.

    If a piece begins with the end of a run, the end counts as one piece. Otherwise the count could decrease as a text
    grows.
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
        units += UNIT if size else _character_cost(rest[0])
        place += size or 1
    return units


class _Pieces(NamedTuple):
    """Pieces learnt by `python -m benchmarks.tokens modern-fit`."""

    pieces: frozenset[str]
    ordered: list[str]
    reach: dict[str, int]
    """Length of the longest piece, by its first character."""
    longest: int
    """Length of the longest piece."""
    blocks: str
    """Cost of a character without a piece, by its block of 64."""
    scripts: list[tuple[int, int, int]]
    """First and last character of a script, and its words' share of the cost of their pieces."""

    def begins(self, text: str) -> bool:
        """Return True if a piece begins with the text."""
        if text in self.pieces:
            return True
        place = bisect_left(self.ordered, text)
        return place < len(self.ordered) and self.ordered[place].startswith(text)


@cache
def _table() -> _Pieces:
    """Read the pieces. ␣ is a space. A Latin entry starts with the number of characters it shares with the last."""
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


def _character_cost(character: str) -> int:
    """Return the cost of a character without a piece: at most its bytes, which every vocabulary has."""
    block, blocks = ord(character) >> 6, _table().blocks
    return DIGITS.index(blocks[block]) if block < len(blocks) else 4 * UNIT
