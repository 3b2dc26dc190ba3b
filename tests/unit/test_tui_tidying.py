"""Full collections run only in pauses."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from recall_tui.host import ENOUGH, REST_SECONDS, Tidying


@pytest.fixture
def full() -> Iterator[list[int]]:
    """Record the full collections, and restore the collector afterwards."""
    threshold, seen = gc.get_threshold(), list[int]()

    def note(phase: str, about: dict[str, Any]) -> None:
        if phase == "start" and about["generation"] == 2:
            seen.append(about["generation"])

    gc.callbacks.append(note)
    yield seen
    gc.callbacks.remove(note)
    gc.set_threshold(*threshold)
    gc.unfreeze()


def begun(now: list[float], full: list[int]) -> Tidying:
    """Return a Tidying that has just collected everything. now: its clock."""
    tidying = Tidying(lambda: now[0])
    gc.collect()
    tidying.begin()
    full.clear()
    return tidying


def test_no_full_collection_interrupts_work(full: list[int]) -> None:
    now = [0.0]
    tidying = begun(now, full)
    made: list[list[int]] = []

    for _ in range(3 * ENOUGH):
        now[0] += REST_SECONDS / 2
        tidying.mark_change()
        made += [[] for _ in range(10_000)]  # Python collects its two younger generations
        tidying.look()
        assert full == []

    now[0] += REST_SECONDS
    tidying.look()
    assert full == [2]


def test_a_pause_after_little_work_collects_nothing(full: list[int]) -> None:
    now = [0.0]
    tidying = begun(now, full)

    now[0] += 10 * REST_SECONDS
    tidying.look()

    assert full == []
