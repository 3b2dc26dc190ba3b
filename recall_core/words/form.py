"""The indexed form of a text: what the full-text index tokenizes.

The form differs from the text where characters fold, where a script has no blanks between words (overlapping pairs,
as Lucene's CJKBigramFilter makes them), and where a sign makes another word (`c++`, `.net`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple

from recall_core.text import SPACELESS
from recall_core.words.fold import fold, fold_with_places, kept_characters, private


class MappedForm(NamedTuple):
    """A form, and for each of its code points the half-open range of the text that it comes from."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


Ends = Literal["all", "inner", "none"]
"""Which runs of a script without blanks end with their last character alone.

all: in a document. inner: in a phrase of a question, whose last run may go on in a document. none: in loose words.
"""


def form_of(text: str, *, ends: Ends = "all") -> str:
    """Return the indexed form of a text, which is the text itself where nothing differs."""
    return spell_words(fold(text), ends=ends)


def spell_words(folded: str, *, ends: Ends = "all") -> str:
    """Return a folded text with runs of scripts without blanks as pairs, and with signs of words as letters."""
    end = len(folded)

    def spell(found: re.Match[str]) -> str:
        is_end = ends == "all" or (ends == "inner" and found.end() < end)
        return f" {' '.join(term for term, _, _ in _terms_of(found, is_end))} "

    return _pattern(folded).sub(spell, folded)


def form_with_places(text: str) -> MappedForm:
    """Return the form of a whole text with the places of its code points in the text."""
    folded, starts, ends = fold_with_places(text)
    pieces: list[str] = []
    firsts: list[int] = []
    lasts: list[int] = []
    at = 0

    def copy(stop: int) -> None:
        pieces.append(folded[at:stop])
        firsts.extend(starts[at:stop])
        lasts.extend(ends[at:stop])

    for found in _pattern(folded).finditer(folded):
        copy(found.start())
        for term, start, end in _terms_of(found, True):
            pieces += [" ", term]
            firsts += [starts[start]] * (len(term) + 1)
            lasts += [ends[end - 1]] * (len(term) + 1)
        pieces.append(" ")
        firsts.append(starts[found.start()])
        lasts.append(ends[found.end() - 1])
        at = found.end()
    if not at:
        return MappedForm(folded, starts, ends)
    copy(len(folded))
    return MappedForm("".join(pieces), firsts, lasts)


def spaceless(text: str) -> list[int]:
    """Return the places of characters of scripts without blanks between words."""
    return [] if text.isascii() else [found.start() for found in _spaceless().finditer(text)]


@cache
def _spaceless() -> re.Pattern[str]:
    return re.compile(f"[{SPACELESS}]")


def readable(token: str) -> str:
    """Return a token with its marks and signs as people write them."""
    return token if token.isascii() else _private().sub(lambda found: _written()[found[0]], token)


def is_sign(token: str) -> bool:
    """Return True for a sign that makes another word of the word next to it, such as `++`."""
    return not token.isascii() and token[0] in _SIGN_TOKENS


def is_single(token: str) -> bool:
    """Return True for a single character of a script whose words are pairs."""
    return not token.isascii() and _unit().fullmatch(token) is not None


@cache
def _unit() -> re.Pattern[str]:
    return re.compile(f"[{_HAN_AND_KANA}{_HANGUL}]|(?=[{_SOUTHEAST}]){_CLUSTER}", re.DOTALL)


@cache
def _written() -> dict[str, str]:
    """Return the private-use characters of forms, each with the character that people write."""
    return {private(ord(letter)): letter for letter in kept_characters()} | {
        private(ord(sign)): sign for sign in _SIGNS
    }


@cache
def _private() -> re.Pattern[str]:
    return re.compile(f"[{''.join(_written())}]")


def _terms_of(found: re.Match[str], is_end: bool) -> Iterator[tuple[str, int, int]]:
    """Yield what a run or a sign is in the form, each piece with its range: pairs, then the last character alone."""
    start, end = found.span()
    if found[0][0] in _SIGNS:
        yield "".join(private(ord(sign)) for sign in found[0]), start, end
        return
    cuts = [start, *(start + each.end() for each in _cluster().finditer(found[0]))]
    units = list(pairwise(cuts))
    for (first, _), (_, last) in pairwise(units):
        yield found.string[first:last], first, last
    if is_end or len(units) == 1:
        first, last = units[-1]
        yield found.string[first:last], first, last


_SIGNS = "+#$@."
_SIGN_TOKENS = frozenset(map(private, map(ord, _SIGNS)))
_WORD = (
    "0-9A-Z_a-z\u00aa\u00b5\u00ba\u00c0-\u02ff\u0370-\u1fff\u2c00-\u2dff\u3005-\ud7ff\uf900-\ufdff"
    "\U00010000-\U0010ffff"
)
"""What counts as a letter next to a sign: blocks of scripts, because the `w` of `re` differs between Pythons."""
_SIGN = r"[+#$@.](?:" + "|".join((
    r"(?<=[A-Za-z0-9]\+)\+(?!\+)",
    r"(?<=[A-Za-z]#)(?<![\w][\w]#)(?![\w])",
    r"(?<=#)(?<![\w#&/]#)(?=[A-Za-z_])",
    r"(?<=\$)(?<![\w$]\$)(?=[A-Za-z_{])",
    r"(?<=@)(?<![\w.@]@)(?:(?<=[^\n]@)(?<!\s[ \t]@)|(?![\w.]+(?:\(|[ \t]*\r?\n)))(?=[A-Za-z_])",
    r"(?<=\.)(?:(?<![\s\S]\.)|(?<=[\n(`]\.)|(?<=[^\sm] \.)|(?<=[^o]m \.))(?=[A-Za-z])",
)).replace(r"\w", _WORD) + ")"  # fmt: skip
"""`++` after a letter, `#` after one letter, and `# $ @ .` before a word. Not a decorator on a line of its own, a
chained call, or the dot of `from .module`. It begins with a set, so that searching is fast."""
_HAN_AND_KANA = (
    "\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_HANGUL = "\uac00-\ud7a3"
_MARK = "\U000f0e00-\U000f0eff\U000f1000-\U000f109f\U000f1780-\U000f17ff"
_SOUTHEAST = f"\u0e01-\u0e4e\u0e81-\u0edf\u1000-\u1021\u1023-\u103f\u1050-\u108f\u1780-\u17d3\u17dc{_MARK}"
_STACKED = "[\U000f1039\U000f17d2]"
"""Signs that put the next consonant below the one before: virama of Burmese, coeng of Khmer."""
_CLUSTER = f"[\u0e40-\u0e44\u0ec0-\u0ec4]?.(?:{_STACKED}.|[{_MARK}\u0e30\u0e32\u0e45\u0eb0\u0eb2])*"


def _pattern(folded: str) -> re.Pattern[str]:
    """Return what finds runs and signs in a folded text."""
    return _signs() if folded.isascii() else _runs_and_signs()


@cache
def _signs() -> re.Pattern[str]:
    return re.compile(_SIGN)


@cache
def _runs_and_signs() -> re.Pattern[str]:
    return re.compile(f"[{_HAN_AND_KANA}]+|[{_HANGUL}]+|[{_SOUTHEAST}]+|{_SIGN}")


@cache
def _cluster() -> re.Pattern[str]:
    """Match a unit of pairs: a character of Han, Kana or Hangul, else a consonant with its vowels and marks."""
    return re.compile(_CLUSTER, re.DOTALL)
