"""Where the words of a question stand in a text, found as the full-text index finds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import apsw

from recall_core.store.sqlite.schema import TOKENIZER
from recall_core.text import spaced


class _Token(NamedTuple):
    """A stem of a text, with the code points that it stands for."""

    start: int
    end: int
    stem: str


def term_spans(text: str, phrases: Sequence[str]) -> list[tuple[int, int]]:
    """Half-open ranges of code points that a phrase matches, in order and merged where they overlap."""
    return stem_spans(text, stemmed(tuple(phrases)))


@lru_cache(maxsize=1)  # a pasted text has thousands, and its rows are drawn at every step of a weight
def stemmed(phrases: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """The stems of each phrase, for `stem_spans` of many texts."""
    return frozenset(tuple(token.stem for token in _tokens(phrase)) for phrase in phrases) - {()}


def stem_spans(text: str, wanted: frozenset[tuple[str, ...]]) -> list[tuple[int, int]]:
    """`term_spans` of phrases whose stems are known."""
    if not wanted:
        return []
    found = list(_tokens(text))
    first = {stems[0] for stems in wanted}
    spans: list[tuple[int, int]] = []
    for at, token in enumerate(found):
        if token.stem not in first:
            continue
        for stems in wanted:
            run = found[at : at + len(stems)]
            if tuple(each.stem for each in run) == stems:
                spans.append((token.start, run[-1].end))
    return _merged(sorted(spans))


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _tokens(text: str) -> Iterator[_Token]:
    """The stems of a text as the index holds them; its own places, whatever was spaced out for the index."""
    indexed = spaced(text)
    places = _places(text, indexed)
    found = _tokenizer()(
        indexed.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=True, include_colocated=False
    )
    code_points = _code_points(indexed)
    for start, end, stem in found:
        first, last = code_points[start], code_points[end] - 1
        yield _Token(places[first], places[last] + 1, stem)


@cache
def _tokenizer() -> Any:  # apsw gives its tokenizers no public type
    name, *arguments = TOKENIZER.split()
    return apsw.Connection(":memory:").fts5_tokenizer(name, arguments)


def _code_points(text: str) -> Sequence[int]:
    """Byte offset in UTF-8 to code point, with one entry more than there are bytes."""
    if text.isascii():
        return range(len(text) + 1)
    places: list[int] = []
    for at, mark in enumerate(text):
        places += [at] * len(mark.encode())
    return [*places, len(text)]


def _places(text: str, indexed: str) -> Sequence[int]:
    """Code point of the indexed text to the one that it stands for; the blanks put in stand for the mark beside."""
    if text == indexed:
        return range(len(text))
    places: list[int] = []
    at = 0
    for mark in indexed:
        is_own = at < len(text) and mark == text[at]
        places.append(at if is_own else max(0, at - 1))
        at += is_own
    return places
