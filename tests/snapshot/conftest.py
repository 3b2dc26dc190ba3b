"""Pictures of the workbench in the top-level snapshots/, compared byte for byte."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import pytest
import pytest_textual_snapshot
from syrupy.location import PyTestLocation
from textual.pilot import Pilot

from recall_core.files import write_private
from recall_tui import host
from recall_tui.app import Workbench
from tests.workbench_corpus import build_store
from tests.workbench_driver import Driver, Untidied, is_settled, let_go

PATIENCE = 500  # checks of an unchanged session, since one set by hand may never settle
BASELINES = Path(__file__).parents[2] / "snapshots"

Steps = Callable[[Driver], Awaitable[None]]


class Picture(Protocol):
    """Takes the steps at a size and compares the screen. is_answered: wait for the answer first."""

    def __call__(self, steps: Steps, size: tuple[int, int], *, is_answered: bool = True) -> bool: ...


class TopLevelImages(pytest_textual_snapshot.SVGImageExtension):  # type: ignore[misc]
    """The plug-in's images, in the project's own folder."""

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """Return one folder for each test module, so that a picture names its test."""
        return str(BASELINES / test_location.basename)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the start folder. Pictures have its name, not its path."""
    (folder := tmp_path / "notes").mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    return folder


@pytest.fixture
def store(home: Path) -> Path:
    """Return the small store, found from the start folder."""
    return build_store(home)


@pytest.fixture
def light(home: Path) -> None:
    """Open the workbench in its light theme."""
    write_private(home / "state" / "recall" / "workbench.json", '{"theme": "light"}')


@pytest.fixture
def picture(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Picture:
    """Return a function that opens the workbench, takes the steps and compares the screen."""
    monkeypatch.setattr(pytest_textual_snapshot, "SVGImageExtension", TopLevelImages)
    monkeypatch.setattr(host, "LONG_SECONDS", 3_600.0)  # a slow machine must not change a picture
    compare = request.getfixturevalue("snap_compare")

    def take(steps: Steps, size: tuple[int, int], *, is_answered: bool = True) -> bool:
        app = Workbench(None, clock=lambda: 0.0)
        app.tidying = Untidied(app.clock)

        async def run_before(pilot: Pilot[None]) -> None:
            await pilot.pause()
            app.bench.editor.cursor_blink = False
            await steps(Driver(app, pilot))
            await pilot.pause()
            looks, seen = 0, app.session
            while is_answered and not is_settled(app.session) and looks < PATIENCE:
                await pilot.pause(0.02)
                looks, seen = looks + 1 if app.session is seen else 0, app.session
            await pilot.pause()

        is_same = bool(compare(app, terminal_size=size, run_before=run_before))
        let_go()
        return is_same

    return take
