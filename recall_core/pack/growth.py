"""The order in which parts of a chunk that does not fit are taken: its passage first, then the text around it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise, zip_longest

from recall_core.pack.graphemes import floor_boundary
from recall_core.types import Hit
from recall_core.words.form import spaceless

Span = tuple[int, int]
"""A half-open range of code points in a chunk's text."""

_PREFIX = (0, 0)


class Growth:
    """The growth order of one chunk: nested spans of its text, up to the whole text.

    It starts with the best-matching word of the passage, then adds the passage's other words, then lines after and
    before the passage in turn. Words of the passage are whole. A line may be cut at a grapheme. The order depends
    only on the chunk and its passage, so a larger budget shows a superset. Without a passage it starts at the
    beginning of the text.
    """

    def __init__(self, hit: Hit, *, is_prefix: bool = False) -> None:
        self.text = "" if hit.chunk is None else hit.chunk.text
        self._steps = [_PREFIX, (0, len(self.text))]
        self._divisible_from = 0
        passage = None if is_prefix else hit.passage
        if passage is not None and hit.chunk is not None:
            first = hit.chunk.offset
            span, match = (
                (start - first, end - first) for start, end in ((passage.offset, passage.end), passage.match)
            )
            words = _by_words(self.text, span, match)
            self._steps = [*words, *_by_lines(self.text, span)]
            self._divisible_from = len(words)
        self._sizes = [end - start for start, end in self._steps]

    def span(self, size: int) -> Span:
        """Return the largest span of the order with at most `size` code points; an empty one if there is none."""
        at = bisect_right(self._sizes, size) - 1
        if at < 0:
            return _PREFIX
        start, end = self._steps[at]
        more = size - self._sizes[at]
        if at + 1 == len(self._steps) or at + 1 < self._divisible_from:
            return start, end
        if self._steps[at + 1][1] > end:
            return start, max(end, floor_boundary(self.text, end + more))
        return _ceiling(self.text, start - more, start), end

    def longest(self, count: Callable[[str], int], wanted: int, fitting: Callable[[Span], bool]) -> Span | None:
        """Return the longest fitting span short of the whole text with at least `wanted` tokens.

        It uses bisection, so a `fitting` that accepts more spans never gives a shorter one.
        """
        low, high = self.least(count, wanted), len(self.text)
        if low is None or low == high or not fitting(self.span(low)):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            if fitting(self.span(middle)):
                low = middle
            else:
                high = middle
        start, end = self.span(low)
        return None if end - start == len(self.text) else (start, end)

    def least(self, count: Callable[[str], int], wanted: int) -> int | None:
        """Return the size of the shortest span with this many tokens; None if the whole text has fewer."""
        if count(self.text) < wanted:
            return None
        low, high = 0, len(self.text)
        while high - low > 1:
            middle = (low + high) // 2
            start, end = self.span(middle)
            if count(self.text[start:end]) >= wanted:
                high = middle
            else:
                low = middle
        start, end = self.span(high)
        return end - start


def _by_words(text: str, passage: Span, match: Span) -> list[Span]:
    """Return the match's words, then spans that add the next word of the passage, the previous one, and so on."""
    words, last = [*_words(text, *passage)], max(match[1], match[0] + 1)
    held = [place for place, (start, end) in enumerate(words) if start < last and end > match[0]]
    if not held:
        return [passage]
    ends = [*(end for _, end in words[held[-1] + 1 : -1]), passage[1]]
    starts = [*(start for start, _ in reversed(words[1 : held[0]])), passage[0]]
    return _outward((words[held[0]][0], words[held[-1]][1]), ends, starts)


def _words(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield runs without white space; in scripts without word spaces, single characters."""
    for run in re.finditer(r"\S+", text[start:end]):
        first, last = start + run.start(), start + run.end()
        seams = (first + at for each in spaceless(run[0]) for at in (each, each + 1))
        inner = sorted({at for at in seams if first < at < last and floor_boundary(text, at) == at})
        yield from pairwise([first, *inner, last])


def _by_lines(text: str, passage: Span) -> list[Span]:
    """Return the passage, then spans that complete its end lines and add lines after and before in turn."""
    start, end = passage
    ends = [end + found.start() for found in re.finditer("\n", text[end:])]
    starts = [found.end() for found in re.finditer("\n", text[:start])]
    return _outward(passage, [*ends, len(text)], [*reversed(starts), 0])[1:]


def _outward(span: Span, ends: Iterable[int], starts: Iterable[int]) -> list[Span]:
    """Return the span, extended in turn to the next of these ends and of these starts."""
    spans = [span]
    for later, earlier in zip_longest(ends, starts):
        start, end = spans[-1]
        if later is not None and later > end:
            spans.append((start, end := later))
        if earlier is not None and earlier < start:
            spans.append((earlier, end))
    return spans


def _ceiling(text: str, place: int, most: int) -> int:
    """Return the first grapheme boundary at or after the place, up to `most`, which is a boundary."""
    return next((at for at in range(place, most) if floor_boundary(text, at) == at), most)
