"""Chunking: cut a document's text into spans that fit the token limit and end at natural breaks.

A span grows to the limit. It is then cut at the best break in its last part: a heading, an empty line, the end of a
sentence, whitespace, and as a last resort between two code points. Each cut depends only on text within
`max_chunk_chars` of it, so the work is proportional to the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from recall_core.config import Config
from recall_core.marks import Mark, Outline, Unit
from recall_core.text import Counter
from recall_core.types import Span

_CLOSE_ENOUGH = 0.95  # of the token limit; the search for a limit stops here unless the counter is `whitespace`
_CHARS_PER_TOKEN = 4  # first guess; does not change the result

_SPACE = re.compile(r"\s+")
_BLANK = re.compile(r"\n(?:[ \t\r]*+\n)++")
# Full stops of Latin and CJK scripts, with closing quotes, before whitespace not followed by a lower-case letter.
_SENTENCE = re.compile(r"(?:[.!?…][)\]\"'”’»*_]*+\s++(?![a-z])|[。！？｡][」』）〉》”’]*+\s*+)")
# Code points that belong to the one before: combining marks of common scripts, joiners, emoji modifiers. A literal,
# because the interpreter's own tables change with its Unicode version.
_JOINED = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0981-\u0983\u09bc\u09be-\u09cd\u0b82\u0bbe-\u0bcd\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u102b-\u103e\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\u200d\u20d0-\u20ff\u3099\u309a\ufe00-\ufe0f"
    "\ufe20-\ufe2f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)


def chunk(text: str, *, counter: Counter, config: Config, marks: Sequence[Mark]) -> tuple[Span, ...]:
    """Return the spans of a text, in order. They cover the whole text; neighbours may overlap.

    Starts and ends both increase strictly. A span has at most `chunk_tokens` tokens (unless a single code point has
    more) and at most `max_chunk_chars` characters. An overlap has at most `overlap_tokens` tokens and never crosses
    the start of a unit.
    Units (definitions, cells, turns, fenced code) are not divided if they fit into one span; of nested units, the
    largest that fits. A span's heading names the units that contain its first visible character. A text of
    whitespace only has no spans.
    """
    if not text or text.isspace():
        return ()
    limits = (config.chunk_tokens, config.overlap_tokens, config.max_chunk_chars)
    work = _Work(text, Outline(marks, len(text)), counter, *limits)
    spans: list[Span] = []
    start = last = 0
    while last < len(text):
        reach, is_full = _reach(work, start, last)
        end = _end(work, start, last, reach)
        spans.append(_span(work, start, end, full=reach if is_full else start))
        start, last = _next_start(work, start, end), end
    return tuple(spans)


class _Work(NamedTuple):
    text: str
    outline: Outline
    counter: Counter
    chunk_tokens: int
    overlap_tokens: int
    max_chars: int

    @property
    def counts_words(self) -> bool:
        """True if tokens are whitespace-separated words, which makes the reach exact."""
        return self.counter.name == "whitespace"

    def measure(self, start: int, end: int) -> int:
        return self.counter.count(self.text[start:end])

    def fits(self, start: int, end: int) -> bool:
        return end - start <= self.max_chars and self.measure(start, end) <= self.chunk_tokens

    def whole_around(self, position: int) -> Unit | None:
        """Return the largest unit that a cut here would divide although it fits into one span."""
        return next((unit for unit in self.outline.units_around(position) if self.fits(*unit)), None)

    def divides(self, position: int) -> bool:
        """Return True if a cut here divides a letter from its marks, or a unit that fits into one span."""
        return _is_joined(self.text, position) or self.whole_around(position) is not None


def _span(work: _Work, start: int, end: int, *, full: int) -> Span:
    text = work.text[start:end]
    first_visible = start + len(text) - len(text.lstrip())
    return Span(start, end, _tokens(work, start, end, full), work.outline.heading_at(min(first_visible, end - 1)))


def _tokens(work: _Work, start: int, end: int, full: int) -> int:
    """Return the number of tokens of a span. full: end of exactly `chunk_tokens` words; `start` if unknown.

    If the cut does not divide a word, counts only the words between the cut and `full`, which are fewer.
    """
    text = work.text
    if end == full or (end < full and (text[end - 1].isspace() or text[end].isspace())):
        return work.chunk_tokens - work.measure(end, full)
    return work.measure(start, end)


def _end(work: _Work, start: int, last: int, reach: int) -> int:
    """Return the end of the span that begins at start, beyond `last`, the end of the span before it."""
    if reach == len(work.text):
        return reach
    unit = work.whole_around(reach)
    if unit and unit.start > last:
        return unit.start
    if unit and unit.start == start:
        return unit.end
    end = _cut(work, start, last, reach)
    if work.counts_words:
        return end  # a part of a span that fits also fits
    while end > last + 1 and work.measure(start, end) > work.chunk_tokens:
        end = max(last + 1, end - 1 - (end - last) // 8)
    return end


def _reach(work: _Work, start: int, last: int) -> tuple[int, bool]:
    """Return the furthest end within the limits: exact for `whitespace`, nearly exact for other counters.

    Also return True if the text up to there has exactly `chunk_tokens` words and the next word begins there.
    """
    stop = min(start + work.max_chars, len(work.text))
    window = work.text[start:stop]
    if work.counts_words:
        words = window.split(None, work.chunk_tokens)
        is_full = len(words) > work.chunk_tokens
        return (stop - len(words[-1]) if is_full else stop), is_full
    return _search(work, start, last + 1, stop), False


def _search(work: _Work, start: int, low: int, stop: int) -> int:
    """Return the furthest end that fits, between low (which is assumed to fit) and stop."""
    guess, high = start + _CHARS_PER_TOKEN * work.chunk_tokens, stop + 1
    for attempt in range(32):
        if high - low <= 1:
            break
        guess = min(max(guess, low + 1), high - 1)
        tokens = work.measure(start, guess)
        if tokens > work.chunk_tokens:
            high = guess
        else:
            low = guess
            if tokens >= _CLOSE_ENOUGH * work.chunk_tokens:
                break
        by_ratio = start + (guess - start) * work.chunk_tokens // max(tokens, 1)
        guess = by_ratio if attempt < 4 else (low + high) // 2
    return low


def _cut(work: _Work, start: int, last: int, reach: int) -> int:
    """Return the best end in (last, reach]: a joint, else an empty line, the end of a sentence, and so on."""
    for joint in work.outline.joints_before(reach, max(last, start + (reach - start) // 4)):
        if not work.divides(joint):
            return joint
    least = max(last + 1, start + (reach - start) // 2)
    edges = [edge for unit in work.outline.units_around(reach) for edge in unit if least <= edge <= reach]
    for pattern in (_BLANK, _SENTENCE):
        ends = [*_ends(work, pattern, least, reach), *edges]
        best = next((end for end in sorted(ends, reverse=True) if not work.divides(end)), None)
        if best is not None:
            return best
        edges = []
    return _cut_anywhere(work, last, least, reach)


def _ends(work: _Work, pattern: re.Pattern[str], least: int, reach: int) -> list[int]:
    """Return the ends of matches in [least, reach]. Looks one code point past reach for the lookahead."""
    found = pattern.finditer(work.text, max(0, least - 4), min(reach + 1, len(work.text)))
    return [match.end() for match in found if least <= match.end() <= reach]


def _cut_anywhere(work: _Work, last: int, least: int, reach: int) -> int:
    """Return the last line end in [least, reach], else the last start of a word, else the last undivided letter."""
    text = work.text
    line = text.rfind("\n", least - 1, reach) + 1
    if line:
        return line
    # the last position up to reach that does not divide CR LF or a letter from its marks
    undivided = next((end for end in range(reach, last, -1) if not _is_joined(text, end)), reach)
    tail = text[last:undivided]
    word = undivided if tail[-1].isspace() else undivided - len(tail.split()[-1])
    return word if text[last:word].strip() else undivided


def _is_joined(text: str, position: int) -> bool:
    """Return True if a cut here would divide CR LF, or a letter from its marks."""
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    return (before == "\r" and after == "\n") or before == "\u200d" or _JOINED.match(after) is not None


def _next_start(work: _Work, start: int, end: int) -> int:
    """Return the start of the span after [start, end): inside its last part, or `end` if there is no overlap."""
    if not work.overlap_tokens or end == len(work.text):
        return end
    if work.outline.is_joint(end) or any(unit.start == end for unit in work.outline.units_around(end + 1)):
        return end
    chars = work.max_chars * work.overlap_tokens // work.chunk_tokens
    least = max(start + (end - start + 1) // 2, end - chars)
    overlap = _overlap(work, _earliest_start(work, least, end), end)
    if work.measure(overlap, end + 1) > work.chunk_tokens or not work.text[overlap:end].strip():
        return end
    return overlap


def _earliest_start(work: _Work, least: int, end: int) -> int:
    """Return the earliest start from which the text up to `end` has at most `overlap_tokens` tokens."""
    if work.counts_words:
        words = work.text[least:end].rsplit(None, work.overlap_tokens)
        return least + len(words[0]) if len(words) > work.overlap_tokens else least
    position = least
    while position < end and (tokens := work.measure(position, end)) > work.overlap_tokens:
        position += max(1, (end - position) * (tokens - work.overlap_tokens) // (tokens * 2))
    return position


def _overlap(work: _Work, least: int, end: int) -> int:
    """Return the best start in [least, end): after an empty line, a sentence, a line, a word, else any letter."""
    middle = (least + end) // 2
    for pattern, most in ((_BLANK, middle), (_SENTENCE, end - 1)):
        starts = _ends(work, pattern, least, most) if least < most else []
        best = next((position for position in starts if not work.divides(position)), None)
        if best is not None:
            return best
    if work.whole_around(least):
        return end
    line = work.text.find("\n", max(least - 1, 0), middle) + 1
    if line and not work.divides(line):
        return line
    gap = _SPACE.search(work.text, least, end)
    if gap and gap.end() < end:
        return gap.end()
    while least < end and _is_joined(work.text, least):
        least += 1
    return least
