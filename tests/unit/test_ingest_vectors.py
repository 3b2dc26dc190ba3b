"""The number of texts per call, and the requirements on an embedder's answer."""

from __future__ import annotations

import pytest

from recall_core.ingest.vectors import (
    BATCH_TEXTS,
    CALL_SECONDS,
    TEXT_CHARS,
    Pace,
    TextVector,
    cost,
    embed,
    embed_in_calls,
)
from tests.embedders import CountingEmbedder, WindowedEmbedder

SHORT, LONG = "x" * 500, "x" * 2_500


def pace_calls(texts: list[str], *, overhead: float, each: float) -> tuple[list[int], list[float]]:
    """Return size and duration of each call; the embedder has these costs per call and per 1,000 characters."""
    pace, sizes, seconds = Pace(), [], []
    while texts:
        size = pace.next_call(texts)
        chars = cost(texts[:size])
        sizes.append(size)
        seconds.append(overhead + each * chars / 1_000)
        pace.note(chars, seconds[-1], is_full=size < len(texts))
        texts = texts[size:]
    return sizes, seconds


@pytest.mark.parametrize("each", [1 / 3, 1 / 20, 1 / 60, 1 / 400])
def test_slow_model_gets_small_calls_to_show_progress(each: float) -> None:
    _, seconds = pace_calls([SHORT] * 300 + [LONG] * 100, overhead=0.001, each=each)

    assert max(seconds[4:]) <= CALL_SECONDS + each * (len(LONG) + TEXT_CHARS) / 1_000


def test_fast_embedder_soon_gets_full_batches() -> None:
    sizes, _ = pace_calls([SHORT] * 9_000, overhead=0.0001, each=1 / 5_000)

    assert sizes[8:-1] == [BATCH_TEXTS] * (len(sizes) - 9)


def test_remote_provider_gets_large_calls_despite_latency() -> None:
    sizes, _ = pace_calls([SHORT] * 5_000, overhead=0.5, each=1 / 1_000)

    assert sizes[:4] == [4, 8, 16, 32]
    assert min(sizes[7:-1]) >= 128


def test_model_loading_time_does_not_lengthen_later_calls() -> None:
    pace = Pace()
    pace.note(2_000, 3.0, is_full=True)

    for _ in range(6):
        pace.note(pace.chars, pace.chars / 10_000, is_full=True)

    assert 0.2 < pace.chars / 10_000 <= CALL_SECONDS


def test_call_size_without_speedup_is_dropped() -> None:
    pace = Pace()
    for chars, seconds in ((4_000, 0.1), (8_000, 0.2), (8_000, 1.0)):
        pace.note(chars, seconds, is_full=True)

    assert pace.chars == 4_000


def test_partial_call_does_not_affect_full_calls() -> None:
    pace = Pace()
    for _ in range(8):
        pace.note(pace.chars, pace.chars / 1e6, is_full=True)
    before = pace.chars, pace.chars_per_second

    pace.note(100, 0.3, is_full=False)

    assert (pace.chars, pace.chars_per_second) == before


def test_text_larger_than_any_call_is_sent_alone() -> None:
    pace = Pace()

    assert [pace.next_call(["x" * 9_999, ""]), pace.next_call(["", "x" * 9_999]), pace.next_call([""])] == [1, 1, 1]


def test_texts_are_answered_in_order_call_by_call() -> None:
    embedder = CountingEmbedder()
    texts = {bytes([n]): f"text {n} ".ljust(500, "x") for n in range(50)}

    answers = list(embed_in_calls(texts, embedder, Pace()))

    assert [key for each in answers for key in each] == list(texts)
    assert embedder.calls == [4, 8, 16, 22]
    assert answers[0][b"\0"] == TextVector(embedder.embed([texts[b"\0"]])[0])


def test_only_embedders_with_bounded_input_get_windows() -> None:
    text = "word " * 20

    assert [made.windows for made in embed([text, "short"], WindowedEmbedder())] == [3, 1]
    assert [made.windows for made in embed([text], CountingEmbedder())] == [1]
