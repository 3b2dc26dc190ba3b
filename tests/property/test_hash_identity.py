"""The two implementations of the `hash` embedder give the same bytes for every text in every batch."""

from __future__ import annotations

import math
import struct

from hypothesis import given
from hypothesis import strategies as st

from recall_core.embed.features import words
from recall_core.embed.hash import HashEmbedder, embed_numpy, embed_plain

ANY_TEXT = st.text(st.characters(codec=None))
WORDS = (
    "the",
    "search",
    "Engine",
    "chunks;",
    "CAFÉ",
    "检索",
    "데이터",
    "поиск",
    "🚀🛰",
    "it's",
    "v1_x",
    "ไทย",
    "e\u0301",
    "\0",
)
PROSE = st.lists(st.sampled_from(WORDS)).map(" ".join)
RUNS = st.builds(
    lambda unit, times, tail: unit * times + tail,
    st.sampled_from(["a", "xy", "中", "検索", "🚀", "ж", "a\u0301", "\U00010400", "a b "]),
    st.integers(0, 10_000),
    ANY_TEXT,
)
TEXTS = ANY_TEXT | PROSE | RUNS
DIMENSIONS = st.sampled_from([16, 64, 512, 1024])


@given(TEXTS, DIMENSIONS)
def test_plain_and_numpy_vectors_are_identical(text: str, dimension: int) -> None:
    assert embed_plain([text], dimension) == embed_numpy([text], dimension)


@given(st.lists(TEXTS, max_size=8), DIMENSIONS)
def test_vector_does_not_depend_on_its_batch(texts: list[str], dimension: int) -> None:
    alone = [embed_plain([text], dimension)[0] for text in texts]

    assert HashEmbedder(dimension).embed(texts) == alone
    assert embed_numpy(texts, dimension) == alone


@given(st.lists(PROSE, min_size=1, max_size=4), st.integers(100, 300))
def test_batch_boundary_does_not_show(texts: list[str], times: int) -> None:
    assert embed_numpy(texts * times, 1024) == embed_plain(texts, 1024) * times


@given(TEXTS)
def test_every_vector_is_empty_or_of_length_one(text: str) -> None:
    (vector,) = HashEmbedder(64).embed([text])

    assert vector == b"" or abs(math.hypot(*struct.unpack("<64f", vector)) - 1) < 1e-6


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_words_do_not_depend_on_other_text(text: str) -> None:
    assert words(f"{text} 中") == {**words(text), "中": 1}


LINE = st.lists(st.sampled_from(["Payment", "payments", "retry", "the", "a", "x1", "duck's", "w" * 70])).map(" ".join)


@given(st.lists(LINE, min_size=1, max_size=4), LINE, st.sampled_from(["payment retries", "the www", "", "x1 x1"]))
def test_ascii_spans_do_not_depend_on_other_text(lines: list[str], above: str, question: str) -> None:
    text, starts = above, []
    for line in lines:
        starts.append(len(text) + 1)
        text += f"\n{line}"
    spans = [(start, start + len(line)) for start, line in zip(starts, lines, strict=True)]
    embedder = HashEmbedder(64)
    (alone,) = embedder.shares_of(question, [text], [spans])
    (beside,) = embedder.shares_of(question, [f"{text}\n中"], [[*spans, (len(text) + 1, len(text) + 2)]])

    assert beside == [*alone, 0.0]
