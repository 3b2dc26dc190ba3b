"""Sizes of the terminal that change faster than a screen is laid out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.events import Callback, Resize
from textual.geometry import Size
from textual.screen import Screen

from recall_tui.screens.dialog import SizedScreen
from tests.workbench_driver import workbench

BEFORE, NOW = Size(80, 24), Size(120, 40)
MOST = 10


async def test_the_last_of_two_sizes_wins(shared_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench(shared_store, size=NOW) as bench:
        await bench.ask()

        screen = bench.app.screen
        monkeypatch.setattr(screen, "_screen_resized", _at_most(MOST, screen._screen_resized))

        for message in (Resize(BEFORE, BEFORE), Callback(callback=lambda: None), Resize(NOW, NOW)):
            screen.post_message(message)

        await bench.pilot.pause()
        assert screen.size == NOW


async def test_every_screen_takes_the_current_size(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        for kind in _kinds(Screen):
            if kind.__module__.startswith("recall_tui"):
                assert issubclass(kind, SizedScreen)
        await bench.press("escape", "ctrl+p")
        await bench.until(lambda _: bench.app.screen is not bench.app.bench)
        assert isinstance(bench.app.screen, SizedScreen)


def _at_most(times: int, lay_out: Callable[[Size], None]) -> Callable[[Size], None]:
    """Raise an error on the second call, which would otherwise loop forever."""
    done: list[Size] = []

    def counted(size: Size) -> None:
        done.append(size)
        assert len(done) <= times, done
        lay_out(size)

    return counted


def _kinds(kind: type) -> list[type]:
    return [each for sub in kind.__subclasses__() for each in (sub, *_kinds(sub))]
