"""Compression: the best sentences of passages for a question, verbatim, within a token budget."""

from __future__ import annotations

import re
from collections import Counter as Tally
from collections.abc import Callable, Sequence
from itertools import chain
from math import log
from typing import NamedTuple

from recall_core.config import BM25_K1
from recall_core.text import Counter

_B = 0.75  # the length normalization of FTS5
# An empty line; or full stops of Latin and CJK scripts with closing marks, before whitespace that no lower-case
# letter follows.
_END = re.compile(
    r"\n[ \t\r]*+\n\s*+|(?<![.!?…])[.!?…]++[)\]\"'”’»*_]*+\s++(?![a-z])|[。！？｡]++[」』）〉》”’]*+\s*+"
)

Words = Callable[[str], Sequence[str]]
"""Return the words of a text in a comparable form."""


class Passage(NamedTuple):
    """A text to take sentences from: a verbatim slice of a document that begins at offset."""

    doc_id: str
    chunk_index: int
    offset: int
    text: str


class Excerpt(NamedTuple):
    """Neighbouring sentences of one passage: `document_text[offset:end] == text`, in code points."""

    doc_id: str
    chunk_index: int
    offset: int
    end: int
    text: str
    tokens: int
    score: float


def compress(
    passages: Sequence[Passage],
    *,
    score: Callable[[Sequence[str]], Sequence[float]],
    sentences: int,
    budget_tokens: int,
    counter: Counter,
) -> list[Excerpt]:
    """Return the best windows of this many sentences, best first, with at most budget_tokens in total.

    Ties go by document, chunk_index and offset. A window that overlaps a taken one of its document, or does not fit
    the rest of the budget, is skipped. A passage with fewer sentences is one window.
    score: texts to one value per text, higher is better; windows with 0 or less are never taken.
    """
    windows = [window for passage in passages for window in _windows(passage, sentences, counter)]
    values = score([window.text for window in windows])
    scored = [window._replace(score=value) for window, value in zip(windows, values, strict=True) if value > 0]
    taken: list[Excerpt] = []
    left = budget_tokens
    for window in sorted(scored, key=lambda each: (-each.score, each.doc_id, each.chunk_index, each.offset)):
        if window.tokens <= left and not any(_overlap(window, other) for other in taken):
            taken.append(window)
            left -= window.tokens
    return taken


def overlap(query: Sequence[str], texts: Sequence[str], *, words: Words) -> list[float]:
    """Return the BM25 of each text for the query's words, with idf and average length from these texts alone.

    idf = ln(1 + (N - df + .5) / (df + .5)), which is positive for any word (Lucene's form).
    """
    bags = [Tally(words(text)) for text in texts]
    lengths = [bag.total() for bag in bags]
    average = sum(lengths) / len(lengths) if any(lengths) else 1.0
    wanted = list(dict.fromkeys(query))
    frequencies = Tally(chain.from_iterable(bag.keys() & set(wanted) for bag in bags))
    values = []
    for bag, length in zip(bags, lengths, strict=True):
        held = BM25_K1 * (1 - _B + _B * length / average)
        value = 0.0
        for word in wanted:
            idf = log(1 + (len(bags) - frequencies[word] + 0.5) / (frequencies[word] + 0.5))
            value += idf * (BM25_K1 + 1) * bag[word] / (bag[word] + held)
        values.append(value)
    return values


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the begin and end of each sentence of a text, without surrounding whitespace.

    A sentence ends at an empty line, or at a full stop before whitespace that no lower-case letter follows.
    """
    ends = [found.end() for found in _END.finditer(text)]
    spans = []
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        sentence = text[start:end]
        if sentence.strip():
            begin = end - len(sentence.lstrip())
            spans.append((begin, begin + len(sentence.strip())))
    return spans


def _windows(passage: Passage, sentences: int, counter: Counter) -> list[Excerpt]:
    spans = sentence_spans(passage.text)
    windows = []
    for first in range(max(1, len(spans) - sentences + 1) if spans else 0):
        begin, end = spans[first][0], spans[min(first + sentences, len(spans)) - 1][1]
        text = passage.text[begin:end]
        place = passage.offset + begin, passage.offset + end
        windows.append(Excerpt(passage.doc_id, passage.chunk_index, *place, text, counter.count(text), 0.0))
    return windows


def _overlap(one: Excerpt, other: Excerpt) -> bool:
    return one.doc_id == other.doc_id and one.offset < other.end and other.offset < one.end
