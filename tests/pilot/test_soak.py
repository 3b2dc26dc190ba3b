"""Random keys, clicks, sizes and questions for as long as it is let: nothing breaks, and memory stays flat."""

from __future__ import annotations

import asyncio
import gc
import random
import time
from pathlib import Path
from statistics import median

import pytest
from textual.widgets import Input

from recall_tui.actions.table import ACTIONS
from tests.workbench_corpus import TEXTS
from tests.workbench_driver import Driver, workbench

LEAVING = {"leave", "edit_outside", "open_pager"}
"""Actions that end the workbench, or lend the terminal that a test does not have."""
KEYS = sorted({key for action in ACTIONS if action.id not in LEAVING for key in action.keys})
QUESTIONS = (
    "token budget",
    "household tea",
    "keep the manual in mind",
    "",
    "SELECT * FROM chunk USING lexical('budget'), semantic('tea') LIMIT 5",
    "SELECT * FROM doc LIMIT 20",
    "SELECT nonsense",
    "打开文件 café",
)
SIZES = ((120, 40), (80, 24), (200, 60), (60, 20), (50, 10))
TYPED = ("docs", "500", "x", "nowhere/else", "y")


class Wanderer:
    """Does one random thing after another; the same seed does the same things."""

    def __init__(self, bench: Driver, seed: int) -> None:
        self.bench = bench
        self.random = random.Random(seed)
        self.done: list[str] = []

    async def step(self) -> None:
        kind = self.random.choices(("key", "ask", "size", "click", "type", "out"), (60, 10, 2, 12, 6, 10))[0]
        self.done.append(kind)
        await getattr(self, f"_{kind}")()

    async def _key(self) -> None:
        key = self.random.choice(KEYS)
        self.done[-1] = key
        await self.bench.press(*[key] * self.random.choice((1, 1, 1, 5)))

    async def _ask(self) -> None:
        text = self.random.choice(QUESTIONS)
        self.done[-1] = f"ask {text!r}"
        self.bench.app.bench.editor.text = text
        await asyncio.sleep(self.random.choice((0.0, 0.2)))

    async def _size(self) -> None:
        await self.bench.pilot.resize_terminal(*self.random.choice(SIZES))

    async def _click(self) -> None:
        width, height = self.bench.app.size
        at = self.random.randrange(width), self.random.randrange(height - 1)  # the last row has a way out
        self.done[-1] = f"click {at}"
        await self.bench.pilot.click(offset=at)

    async def _type(self) -> None:
        if isinstance(self.bench.app.focused, Input):
            await self.bench.type(self.random.choice(TYPED))
            await self.bench.press("enter")

    async def _out(self) -> None:
        await self.bench.press(*["escape"] * self.random.choice((1, 3)))


async def wander(store: Path, seconds: float, seed: int) -> None:
    """Random things for so long. The live objects of the last quarter are no more than those after the first."""
    live: list[int] = []
    async with workbench(store) as bench:
        wanderer = Wanderer(bench, seed)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await wanderer.step()
            assert bench.app._exception is None, wanderer.done[-30:]
            assert bench.app.is_running, wanderer.done[-30:]
            if len(wanderer.done) % 100 == 0:
                await bench.press(*["escape"] * 5)
                await bench.until(lambda now: not now.busy, seconds=30)
                gc.collect()
                live.append(len(gc.get_objects()))
    assert len(wanderer.done) >= 100
    quarter = len(live) // 4
    if quarter >= 2:
        assert median(live[-quarter:]) <= 1.25 * median(live[quarter : 2 * quarter]), live


@pytest.mark.timeout(300)
async def test_half_a_minute_of_random_keys_clicks_and_sizes(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    await wander(own_store, seconds=30, seed=7)

    assert all((tmp_path / path).exists() for path in TEXTS)


@pytest.mark.slow
@pytest.mark.timeout(3 * 3600)
async def test_two_hours_of_random_keys_clicks_and_sizes(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    await wander(own_store, seconds=2 * 3600, seed=1)
