"""Run the workbench and an idle list without a terminal, and record when they draw the effects of keys."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from rich.console import RenderableType
from textual.app import App, ComposeResult
from textual.events import Key
from textual.screen import Screen
from textual.widgets import OptionList

from recall_tui.app import Workbench

SIZE = (120, 40)
ROWS = 1_000
STEPS = 40
FRAME = 1 / 30  # seconds between repeated keys of a terminal
REST = 0.5  # seconds before the held key, so that earlier changes are drawn
_PATIENCE = 30.0


class Steps(NamedTuple):
    """A key held down. drawn: how many of its states were drawn; one frame may cover several."""

    latencies_ms: tuple[float, ...]
    drawn: int


class Drawing(App[None]):
    """An application that records its state at each draw."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.drawings: list[tuple[float, float]] = []

    def state(self) -> float:
        """Return the value that the keys change."""
        raise NotImplementedError

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        super()._display(screen, renderable)
        if renderable is not None and self.is_running:
            self.drawings.append((perf_counter(), self.state()))


class Watched(Drawing, Workbench):
    """The workbench. Its state is the semantic weight of the ranking it shows."""

    CSS_PATH = str(Path(inspect.getfile(Workbench)).with_name("app.tcss"))

    def state(self) -> float:
        answer = self.session.results.answer
        return answer.plan.config.vector_weight if answer is not None else -1.0


class Listed(Drawing):
    """The peer: a list of a thousand rows without anything else."""

    def compose(self) -> ComposeResult:
        yield OptionList(*(f"row {number:04}" for number in range(ROWS)))

    def state(self) -> float:
        highlighted = self.query_one(OptionList).highlighted
        return float(highlighted if highlighted is not None else -1)


async def slid(store: Path, question: str) -> Steps:
    """Move the slider to the right by .01, again and again, over the answer to a question."""
    app = Watched(str(store))
    async with app.run_test(size=SIZE) as pilot:
        await _until(lambda: app.session.store.info is not None)
        app.bench.editor.text = question
        await _until(lambda: app.session.context.packed is not None and not app.session.query.busy)
        await pilot.press("escape", "4")
        await asyncio.sleep(REST)
        first = app.state()
        goals = [round(first + step / 100, 2) for step in range(1, STEPS + 1)]
        return await _held(app, "shift+right", goals)


async def moved() -> Steps:
    """Move the cursor of the idle list down as often."""
    app = Listed()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        first = app.state()
        return await _held(app, "down", [first + step for step in range(1, STEPS + 1)])


async def searched(store: Path, words: str, gaps: Sequence[float]) -> int:
    """Return how many searches these keys start. gaps: seconds after each key."""
    app = Watched(str(store))
    async with app.run_test(size=SIZE):
        await _until(lambda: app.session.store.info is not None)
        for mark, gap in zip(words, gaps, strict=True):
            app.post_message(Key("space" if mark == " " else mark, mark))
            await asyncio.sleep(gap)
        await _until(
            lambda: (
                app.session.query.text == words
                and app.session.results.answer is not None
                and not app.session.query.busy
            )
        )
        return app.session.query.question


async def _held(app: Drawing, key: str, goals: Sequence[float]) -> Steps:
    """Hold a key and measure each draw. Raises RuntimeError if the last state is never drawn."""
    app.drawings.clear()
    pressed = []
    for _ in goals:
        pressed.append(perf_counter())
        app.post_message(Key(key, None))
        await asyncio.sleep(FRAME)
    await _until(lambda: bool(app.drawings) and app.drawings[-1][1] >= goals[-1])
    latencies = [
        (next(at for at, state in app.drawings if at > start and state >= goal) - start) * 1000
        for start, goal in zip(pressed, goals, strict=True)
    ]
    return Steps(tuple(latencies), len(set(goals) & {state for _, state in app.drawings}))


async def _until(holds: Callable[[], bool]) -> None:
    end = perf_counter() + _PATIENCE
    while not holds():
        if perf_counter() > end:
            raise RuntimeError("the application never draws the expected state")
        await asyncio.sleep(0.005)
