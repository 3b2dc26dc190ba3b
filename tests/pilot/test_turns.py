"""Keys that arrive together act as if they arrived one by one."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest
from textual.events import Key, MouseDown, MouseUp, Paste
from textual.keys import _character_to_key
from textual.widgets import Input

from recall_tui.home import history
from recall_tui.home.history import PastQuestion
from recall_tui.screens.line import LineScreen
from tests.examples import mostly_nightly
from tests.workbench_driver import Driver, workbench

CHARACTERS = {"enter": "\r", "tab": "\t", "escape": "\x1b", "backspace": "\x7f"}
PASTED = "FROM chunk\nLIMIT 2"
"""Marks a paste among the names of keys."""


class State(NamedTuple):
    """The state that keys can change."""

    screen: str
    pane: str
    text: str
    cursor: tuple[int, int]
    offered: bool
    field: tuple[str, int] | None
    """Return the text and the cursor of the current input line, if any."""


def state(bench: Driver) -> State:
    editor, screen = bench.app.bench.editor, bench.app.screen
    line = next(iter(screen.query(Input)), None) if screen is not bench.app.bench else None
    field = (line.value, line.cursor_position) if line is not None else None
    name = type(screen).__name__
    return State(name, bench.session.pane, editor.text, editor.cursor_location, editor.offers.is_open, field)


def event(name: str) -> Key | Paste:
    """Return a paste, a key by its name, or the key for a character."""
    if name == PASTED:
        return Paste(PASTED)
    return Key(_character_to_key(name), name) if len(name) == 1 else Key(name, CHARACTERS.get(name))


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Start with the same history again."""
    homes = count()

    def begin() -> None:
        home = tmp_path / f"home{next(homes)}"
        monkeypatch.setenv("XDG_STATE_HOME", str(home))
        for text in ("household tea", "tea"):
            history.append(home / "recall" / "history.jsonl", PastQuestion(text))

    return begin


@asynccontextmanager
async def timeless(store: Path) -> AsyncIterator[Driver]:
    """Open a workbench whose editor merges any typing into one undo step."""
    async with workbench(store) as bench:
        bench.app.bench.editor.history.checkpoint_timer = math.inf
        yield bench


async def one_by_one(store: Path, keys: Sequence[str]) -> State:
    """Return the state when every key is handled before the next one is pressed."""
    async with timeless(store) as bench:
        for name in keys:
            bench.app.post_message(event(name))
            await bench.pilot.pause()
            await bench.pilot.pause()
        return state(bench)


async def together(store: Path, keys: Sequence[str], expected: State) -> None:
    """Post all keys before the first of them is handled."""
    async with timeless(store) as bench:
        for name in keys:
            bench.app.post_message(event(name))
        await bench.until(lambda _: state(bench) == expected, what=lambda: f"{state(bench)} is not {expected}")
        await bench.pilot.pause()
        assert state(bench) == expected


LINE = ("escape", "colon")
FILTER = ("escape", "slash")
RQL = "SELECT * FROM "


class Burst(NamedTuple):
    """Keys in one read, and the resulting text of the current field, with `|` for the cursor."""

    keys: tuple[str, ...]
    text: str
    screen: str = "Bench"


BURSTS = {
    "clear and write": Burst((*"tea", "ctrl+a", "ctrl+k", *"abc"), "abc|"),
    "move and write": Burst((*"ace", "left", "left", *"b", "right", *"d", "end", *"f", "home", *"_"), "_|abcdef"),
    "select and write": Burst((*"a teas", "shift+left", "shift+left", *"x", "ctrl+w", *"y"), "a y|"),
    "delete and write": Burst((*"abc", "backspace", *"d", "ctrl+u", *"ef", "home", "delete", *"g"), "g|f"),
    "undo and write": Burst(
        (*"tea", "enter", *"x", "enter", "ctrl+z", "ctrl+z", *"y", "ctrl+z", "ctrl+y"), "tea\ny|"
    ),
    "lines": Burst((*"tea", "enter", *"milk", "up", "home", *"a ", "down", "end", *"s"), "a tea\nmilks|"),
    "paste and write": Burst((*"SELECT * ", PASTED, "home", *"x", "ctrl+z", "end", *"0"), f"SELECT * {PASTED}0|"),
    "what is offered": Burst((*RQL, *"ch", "tab", *" L", "tab", *" 3"), f"{RQL}chunk LIMIT 3|"),
    "what is chosen": Burst((*RQL, "down", "enter", *" x"), f"{RQL}chunk x|"),
    "what is not taken": Burst((*RQL, "escape", *"d", "escape", "backspace"), f"{RQL}|"),
    "another pane": Burst((*"tea", "escape", "3", "1", *" cup", "tab", "2", "1", "home", *"a "), "a |tea cup"),
    "run": Burst((*"tea", "f5", *" cup", "left"), "tea cu|p"),
    "a line": Burst((*LINE, *"ab", "left", *"c", "ctrl+a", *"d", "end", *"e", "left"), "dacb|e", "LineScreen"),
    "a line cleared": Burst((*LINE, *"add", "ctrl+a", "ctrl+k", *"stats"), "stats|", "LineScreen"),
    "a line completed": Burst(
        (*LINE, *"sea", "tab", *"tea --ex", "tab", *"p", "tab"), "search tea --explain |", "LineScreen"
    ),
    "a line entered": Burst((*LINE, *"theme", "enter", *"stats", "up", "home", *"x"), "x|theme", "LineScreen"),
    "a line left": Burst((*LINE, *"stats", "escape", "1", *"tea"), "tea|"),
    "the filter": Burst((*FILTER, *"xy", "home", *"NOT ", "end", *"z"), "NOT xyz|", "PromptScreen"),
    "the filter cleared": Burst((*FILTER, *"a", "ctrl+a", "ctrl+k", *"doc.tag = 'x'", "enter", "1", *"tea"), "tea|"),
    "the history": Burst(("ctrl+r", *"house", "enter", *" cup", "home", *"a "), "a |household tea cup"),
    "an older text": Burst(("ctrl+r", *"tea", "down", "f5", *" cup"), "household tea cup|"),
}


def shown(burst: Burst) -> State:
    before, _, after = burst.text.partition("|")
    row, column = before.count("\n"), len(before.rpartition("\n")[2])
    if burst.screen == "Bench":
        return State("Bench", "query", before + after, (row, column), False, None)
    return State(burst.screen, "results", "", (0, 0), False, (before + after, column))


QUICK = ("paste and write", "what is offered", "a line completed")


@pytest.mark.parametrize("name", mostly_nightly(BURSTS, *QUICK))
async def test_each_key_of_one_read_waits_for_the_one_before(
    shared_store: Path, fresh: Callable[[], None], name: str
) -> None:
    fresh()

    await together(shared_store, BURSTS[name].keys, shown(BURSTS[name]))


async def test_a_key_waits_for_the_effects_of_earlier_keys(
    shared_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered = LineScreen.on_input_submitted

    async def passed_on_late(_screen: LineScreen, _event: Key) -> None:
        await asyncio.sleep(0.1)

    async def entered_late(screen: LineScreen, event: Input.Submitted) -> None:
        await asyncio.sleep(0.1)
        entered(screen, event)

    monkeypatch.setattr(LineScreen, "on_key", passed_on_late, raising=False)
    monkeypatch.setattr(LineScreen, "on_input_submitted", entered_late)

    await together(shared_store, (*LINE, *"theme", "enter", *"stats"), shown(Burst((), "stats|", "LineScreen")))


KEYS = (
    *("left", "right", "up", "down", "home", "end", "ctrl+a", "ctrl+e", "shift+left", "shift+right", "shift+end"),
    *("backspace", "delete", "ctrl+k", "ctrl+u", "ctrl+w", "ctrl+z", "ctrl+y", "enter", "tab", "escape", "1", "1"),
    *("colon", "slash", PASTED, *"abc 'f.", *"SELECT * FROM "),
)


@pytest.mark.parametrize(
    "begun",
    [*(pytest.param(begun, marks=pytest.mark.slow) for begun in ((), tuple(RQL), FILTER)), LINE],
    ids=["words", "rql", "filter", "line"],
)
async def test_keys_in_one_read_act_as_if_typed_separately(
    shared_store: Path, fresh: Callable[[], None], begun: tuple[str, ...]
) -> None:
    keys = (*begun, *random.Random(str(begun)).choices(KEYS, k=25))
    fresh()
    expected = await one_by_one(shared_store, keys)
    fresh()

    await together(shared_store, keys, expected)


async def test_a_click_keeps_its_place_between_keys(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask("tea")
        bench.app.bench.editor.move_cursor((0, 0))
        x, y = bench.app.bench.query_one("#results").content_region.offset
        place = {"x": x + 9, "y": y + 1, "delta_x": 0, "delta_y": 0, "button": 1}
        mouse = {**place, "shift": False, "meta": False, "ctrl": False}

        for name in ("end", *" cup", "home", *"a "):
            bench.app.post_message(event(name))
        bench.app.post_message(MouseDown(None, **mouse))  # type: ignore[arg-type]
        bench.app.post_message(MouseUp(None, **mouse))  # type: ignore[arg-type]
        for name in ("z", "4"):
            bench.app.post_message(event(name))

        await bench.until(lambda now: now.pane == "weights")
        assert bench.app.bench.editor.text == "a tea cup"
        assert list(bench.app.trail)[-2:] == ["zoom", "focus_pane('weights')"]
