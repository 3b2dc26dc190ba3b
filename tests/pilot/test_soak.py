"""Random keys, clicks, sizes and questions for a chosen time: no defect, and memory stays flat."""

from __future__ import annotations

import asyncio
import gc
import random
import time
from functools import _lru_cache_wrapper
from math import inf
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from types import FrameType
from typing import NamedTuple
from weakref import WeakSet

import pytest
from textual._context import visible_screen_stack
from textual.messages import Prompt
from textual.widget import Widget
from textual.widgets import Input

from recall_tui.actions.table import ACTIONS
from tests.workbench_corpus import TEXTS
from tests.workbench_driver import Driver, workbench

pytestmark = pytest.mark.usefixtures("every_frame")

LEAVING = {"leave", "edit_outside", "open_pager"}
"""Actions that end the workbench, or need a real terminal."""
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
STEPS = 30  # between two looks at what is kept
MOST_MORE = 20_000  # objects; the history of a thousand questions is half of that, a leaked dialog a tenth
MOST_GROWTH = 1.1  # of the process
LONG = 40  # samples before memory has settled
PATIENCE = 50  # looks
DEPTH, MOST_LINES = 8, 200  # of the report on a leaked widget
TYPED = ("docs", "500", "x", "nowhere/else", "y")


class Wanderer:
    """Does one random thing after another. The same seed does the same things."""

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


class Before(NamedTuple):
    """Objects of other tests in the process, which may stay."""

    objects: int
    widgets: WeakSet[Widget]


class Sample(NamedTuple):
    """Return what a workbench keeps without a question and without a dialog."""

    objects: int
    peak: int


def alive() -> list[object]:
    """Return every object that the collector knows after a collection."""
    gc.unfreeze()
    gc.collect()
    return gc.get_objects()


def forget() -> None:
    """Clear the caches, which are bounded and full only after hours, and send an event to every widget.

    A widget otherwise keeps its last event, and with it a closed dialog.
    """
    for each in alive():  # in a function of its own, since its last local may belong to a closing dialog
        if isinstance(each, _lru_cache_wrapper) and each.__module__.startswith(("textual", "rich", "recall_tui")):
            each.cache_clear()
        if isinstance(each, Widget) and each.is_attached:
            each.post_message(Prompt())


def holders(kept: object) -> str:
    """Return what keeps an object in memory, and what keeps that, each indented."""
    lines: list[str] = []
    seen: set[int] = set()

    def look(held: object, depth: int) -> None:
        found = gc.get_referrers(held)
        seen.add(id(found))
        for each in found:
            if id(each) not in seen and depth < DEPTH and len(lines) < MOST_LINES and not isinstance(each, FrameType):
                seen.add(id(each))
                lines.append(f"{'  ' * depth}{type(each).__name__} {each!r:.150}")
                look(each, depth + 1)

    look(kept, 0)
    return "\n".join(lines)


async def rested(bench: Driver, before: Before, done: list[str]) -> Sample:
    """Close every dialog, clear the query, draw everything again, and check that no widget is without a screen."""
    await bench.press(*["escape"] * 6)
    for size in (SIZES[1], SIZES[0]):
        await bench.pilot.resize_terminal(*size)
    bench.app.bench.editor.text = ""
    await bench.until(lambda now: now.results.answer is None and not now.query.busy)
    forget()
    visible_screen_stack.set([])  # what this task drew last, perhaps a dialog, stays only in its context
    for look in range(PATIENCE):
        found = alive()
        objects = len(found)
        widgets = [each for each in found if isinstance(each, Widget) and each not in before.widgets]
        del found
        lost = [each for each in widgets if not each.is_attached]
        del widgets
        if not lost:
            break
        if look == PATIENCE - 1:
            pytest.fail(f"{lost} are on no screen after {done}. The first is held by\n{holders(lost[0])}")
        lost.clear()
        await bench.pilot.pause(0.1)  # a dialog may be closing
    return Sample(objects - before.objects, getrusage(RUSAGE_SELF).ru_maxrss)


async def wander(store: Path, seed: int, *, steps: float = inf, seconds: float = inf, every: int = STEPS) -> None:
    """Do random things for a number or a time. The second half keeps no more than the first.

    every: steps between two checks of memory. No widget outlives its dialog.
    """
    found = alive()
    before = Before(len(found), WeakSet(each for each in found if isinstance(each, Widget)))
    del found
    async with workbench(store, is_own=True) as bench:
        wanderer = Wanderer(bench, seed)
        end = time.monotonic() + seconds
        samples = []
        while len(wanderer.done) < steps and time.monotonic() < end:
            await wanderer.step()
            assert bench.app._exception is None, wanderer.done[-30:]
            assert bench.app.is_running, wanderer.done[-30:]
            if len(wanderer.done) % every == 0:
                samples.append(await rested(bench, before, wanderer.done[-every:]))
    assert len(samples) >= 2
    first, second = samples[: len(samples) // 2], samples[len(samples) // 2 :]
    assert max(each.objects for each in second) <= MOST_MORE + max(each.objects for each in first), samples
    if len(samples) >= LONG:
        assert second[-1].peak <= MOST_GROWTH * first[-1].peak, samples


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_random_input_causes_no_defect(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    await wander(own_store, seed=7, steps=6 * STEPS, every=STEPS)

    assert all((tmp_path / path).exists() for path in TEXTS)


@pytest.mark.slow
@pytest.mark.timeout(3 * 3600)
async def test_two_hours_of_random_input_cause_no_defect(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    await wander(own_store, seed=1, seconds=2 * 3600)
