"""The indexed form of a text, and its terms with their places.

The form is what FTS5 tokenizes. It differs from the text where characters fold, where a script has no blanks between
words (overlapping pairs, as Lucene's CJKBigramFilter makes them), and where a sign makes another word (`c++`, `.net`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import apsw

from recall_core.deadline import check
from recall_core.named import NamedTuple
from recall_core.words.fold import fold, fold_with_places, private

TOKENIZER = "porter unicode61 remove_diacritics 2"

_TOKENIZERS = apsw.Connection(":memory:")
"""Tokenizers need a connection; that of a store may be in use."""
_FOLDING: Any = _TOKENIZERS.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])
_STEMMING: Any = _TOKENIZERS.fts5_tokenizer(TOKENIZER.split()[0], TOKENIZER.split()[1:])


class Term(NamedTuple):
    """A term of a text, with the half-open range of code points that it covers."""

    start: int
    end: int
    term: str


def form(text: str, *, is_whole: bool = True) -> str:
    """Return the indexed form of a text, which is the text itself where nothing differs.

    is_whole: the text ends where its document's text may end. A question's part does not: its last run of characters
    may go on in a document, so that its last character is not a term by itself.
    """
    folded = fold(text)
    end = len(folded)
    return _pattern(folded).sub(lambda found: f" {' '.join(each for each, _, _ in _terms_of(found, is_whole or found.end() < end))} ", folded)


def tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a form before stemming."""
    return tuple(_FOLDING(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False))


def stems(text: str) -> tuple[str, ...]:
    """Return the terms of a form."""
    check()
    return tuple(_STEMMING(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False))


def terms(text: str) -> list[Term]:
    """Return the terms of a text in order, with their places in it."""
    folded, starts, ends = fold_with_places(text)
    written, places = _form_with_places(folded)
    code_points = _code_points(written)
    found = _STEMMING(written.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=True, include_colocated=False)
    return [
        Term(starts[places[code_points[start]][0]], ends[places[code_points[end] - 1][1] - 1], term)
        for start, end, term in found
    ]


def _form_with_places(folded: str) -> tuple[str, Sequence[tuple[int, int]]]:
    """Return the form, and for each of its characters the range of the folded text that its term covers."""
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    at = 0
    for found in _pattern(folded).finditer(folded):
        pieces.append(folded[at : found.start()])
        places += [(place, place + 1) for place in range(at, found.start())]
        for term, start, end in _terms_of(found, True):
            pieces += [" ", term]
            places += [(start, end)] * (len(term) + 1)
        pieces.append(" ")
        places.append((found.start(), found.end()))
        at = found.end()
    pieces.append(folded[at:])
    places += [(place, place + 1) for place in range(at, len(folded))]
    return "".join(pieces), places


def _terms_of(found: re.Match[str], is_end: bool) -> Iterator[tuple[str, int, int]]:
    """Yield what a run or a sign is in the form, each piece with its range: pairs, then the last character alone."""
    start, end = found.span()
    if found[0][0] in _SIGNS:
        yield "".join(private(ord(sign)) for sign in found[0]), start, end
        return
    cuts = [start, *(start + each.end() for each in _cluster().finditer(found[0]))]
    units = list(zip(cuts, cuts[1:], strict=False))
    for (first, _), (_, last) in zip(units, units[1:], strict=False):
        yield found.string[first:last], first, last
    if is_end or len(units) == 1:
        first, last = units[-1]
        yield found.string[first:last], first, last


_SIGNS = "+#$@."
_SIGN = (
    r"[+#$@.](?:(?<=[A-Za-z0-9]\+)\+(?!\+)|(?<=#)(?:(?<=[A-Za-z]#)(?<!\w\w#)(?!\w)|(?<![\w#&/]#)(?=[A-Za-z_]))"
    r"|(?<=\$)(?<![\w$]\$)(?=[A-Za-z_{])|(?<=@)(?<![\w.@]@)(?=[A-Za-z_])|(?<=\.)(?<![^\s(,:=`]\.)(?=[A-Za-z]))"
)
"""`++` after a letter, `#` after one letter, and `# $ @ .` before a word. It begins with a set, so that searching is fast."""
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
    """Match a character that pairs are made of: of Han, Kana and Hangul one, else a consonant with its vowels and marks."""
    return re.compile(_CLUSTER, re.DOTALL)


def _code_points(text: str) -> Sequence[int]:
    """Return the code point of each byte offset in UTF-8, with one entry more than there are bytes."""
    if text.isascii():
        return range(len(text) + 1)
    places: list[int] = []
    for at, mark in enumerate(text):
        places += [at] * len(mark.encode())
    return [*places, len(text)]
