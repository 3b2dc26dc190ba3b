"""Promises of the chunker for every text."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.ingest.chunk import chunk
from recall_core.ingest.parse.text import outline_marks
from recall_core.marks import Mark, Outline
from recall_core.text import Counter, counter
from recall_core.types import Span

ROOT = Path(__file__).parents[2]

# fmt: off
PIECES = (
    "word", "longer-word", "x" * 40, " ", "  ", "\n", "\n\n", "\r\n", "\r\n\r\n", "\t", "A sentence ends. ", "why? ",
    "# Heading\n", "\n## Deeper\n", "\n```\n", "\n~~~ python\n", "def work():\n", "\n\nclass Thing:\n", "    pass\n",
    "---\n", "===\n", "漢字", "。", "e\u0301", "\u0301", "👩\u200d🚀", "é", "\u200d", "\u3000", "\x1c", "\u2028", "#",
    "`", "- item\n",
)
# fmt: on
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join) | st.text(max_size=200)
CONFIGS = st.builds(
    lambda tokens, share, chars: Config(
        chunk_tokens=tokens, overlap_tokens=tokens * share // 10, max_chunk_chars=chars
    ),
    st.integers(1, 30),
    st.integers(0, 9),
    st.integers(16, 120),
)
COUNTERS = st.sampled_from(
    [counter("whitespace"), counter("approx"), Counter("bytes", lambda text: len(text.encode()))]
)


def spans_of(text: str, config: Config, ruler: Counter, *, markdown: bool) -> tuple[Span, ...]:
    return chunk(text, counter=ruler, config=config, marks=outline_marks(text, markdown=markdown))


@given(TEXTS, CONFIGS, COUNTERS, st.booleans())
def test_spans_cover_the_text_without_a_gap(text: str, config: Config, ruler: Counter, markdown: bool) -> None:
    spans = spans_of(text, config, ruler, markdown=markdown)

    assert bool(spans) == bool(text.strip())
    if spans:
        assert spans[0].offset == 0
        assert spans[-1].end == len(text)
    for before, after in pairwise(spans):
        assert before.offset < after.offset <= before.end < after.end


@given(TEXTS, CONFIGS, COUNTERS, st.booleans())
def test_no_span_exceeds_a_limit(text: str, config: Config, ruler: Counter, markdown: bool) -> None:
    spans = spans_of(text, config, ruler, markdown=markdown)

    for span in spans:
        assert span.end - span.offset <= config.max_chunk_chars
        assert span.tokens == ruler.count(text[span.offset : span.end])
        assert span.tokens <= config.chunk_tokens or span.end == span.offset + 1


@given(TEXTS, CONFIGS, COUNTERS, st.booleans())
def test_no_overlap_exceeds_its_limit(text: str, config: Config, ruler: Counter, markdown: bool) -> None:
    spans = spans_of(text, config, ruler, markdown=markdown)

    for before, after in pairwise(spans):
        assert ruler.count(text[after.offset : before.end]) <= config.overlap_tokens


@given(TEXTS, CONFIGS, COUNTERS)
def test_no_overlap_reaches_across_a_heading(text: str, config: Config, ruler: Counter) -> None:
    joints = Outline(outline_marks(text, markdown=True), len(text)).joints

    spans = spans_of(text, config, ruler, markdown=True)

    for before, after in pairwise(spans):
        assert not [joint for joint in joints if after.offset < joint <= before.end]


@given(TEXTS, CONFIGS, COUNTERS, st.booleans())
def test_fitting_block_is_never_split(text: str, config: Config, ruler: Counter, markdown: bool) -> None:
    marks = outline_marks(text, markdown=markdown)

    spans = spans_of(text, config, ruler, markdown=markdown)

    expect_whole(text, marks, spans, config, ruler)


@st.composite
def marked(draw: st.DrawFn) -> tuple[str, tuple[Mark, ...]]:
    """Return a text with nested units, and pages across them."""
    text = draw(TEXTS)
    offsets = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    kinds = st.sampled_from(["heading", "block", "end", "class", "function", "statements", "page", "turn", "line"])
    return text, tuple(Mark(offset, draw(kinds), "x", draw(st.integers(1, 4))) for offset in offsets)


@given(marked(), CONFIGS, COUNTERS)
def test_spans_cover_text_for_any_marks(
    given_text: tuple[str, tuple[Mark, ...]], config: Config, ruler: Counter
) -> None:
    text, marks = given_text

    spans = chunk(text, counter=ruler, config=config, marks=marks)

    assert bool(spans) == bool(text.strip())
    for before, after in pairwise(spans):
        assert before.offset < after.offset <= before.end < after.end
    if spans:
        assert (spans[0].offset, spans[-1].end) == (0, len(text))
        expect_whole(text, marks, spans, config, ruler)


def expect_whole(text: str, marks: Sequence[Mark], spans: Sequence[Span], config: Config, ruler: Counter) -> None:
    """Check that no cut goes through a unit that fits."""
    found = Outline(marks, len(text))
    for cut in [span.end for span in spans[:-1]]:
        units = found.units_around(cut)
        fitting = [unit for unit in units if fits(text[unit.start : unit.end], config, ruler)]
        assert not fitting, (cut, fitting)


def fits(text: str, config: Config, ruler: Counter) -> bool:
    return len(text) <= config.max_chunk_chars and ruler.count(text) <= config.chunk_tokens


LETTERS = st.lists(
    st.sampled_from(["e\u0301", "a", "👩\u200d🚀", "\r\n", " ", ". ", "。", "。\u0301"]), max_size=80
).map("".join)


@given(LETTERS, st.integers(1, 10), st.integers(0, 5))
def test_letter_is_never_split_from_its_combining_marks(text: str, tokens: int, share: int) -> None:
    config = Config(chunk_tokens=tokens, overlap_tokens=tokens * share // 10, max_chunk_chars=16)

    spans = spans_of(text, config, counter("whitespace"), markdown=False)

    for place in [span.offset for span in spans] + [span.end for span in spans]:
        assert text[place : place + 1] not in ("\u0301", "\u200d")
        assert text[place - 1 : place] != "\u200d"
        assert text[place - 1 : place + 1] != "\r\n"


SPANS = """
import random
from recall_core.config import Config
from recall_core.ingest.chunk import chunk
from recall_core.ingest.parse.text import outline_marks
from recall_core.marks import Mark, Outline
from recall_core.text import counter
from tests.property.test_chunk import PIECES

for seed in range(60):
    draw = random.Random(seed)
    text = "".join(draw.choices(PIECES, k=80))
    config = Config(chunk_tokens=12, overlap_tokens=4, max_chunk_chars=90)
    ruler = counter(draw.choice(["whitespace", "approx"]))
    print(ascii(chunk(text, counter=ruler, config=config, marks=outline_marks(text, markdown=seed % 2 == 0))))
"""


def test_spans_are_the_same_in_every_process_and_locale() -> None:
    def spans(**environment: str) -> bytes:
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environment}
        return subprocess.run([sys.executable, "-c", SPANS], env=environment, capture_output=True, check=True).stdout

    plain = spans(PYTHONHASHSEED="0", LC_ALL="C.UTF-8")

    assert plain.count(b"\n") == 60
    assert spans(PYTHONHASHSEED="4711", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0") == plain


@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", "a ", ".", "\r\n", "\u0301", "```\n", "# h\n", "\n\ndef f\n", "- ", "=\n"]
)
def test_chunking_monotonous_text_terminates(unit: str) -> None:
    text = unit * 3000 + "end"

    for markdown in (True, False):
        spans = spans_of(text, Config(max_chunk_chars=200), counter("whitespace"), markdown=markdown)

        assert spans[-1].end == len(text)
        assert len(spans) < len(text) / 20
