"""The tutorial, done step by step on the demo store, as its reader would."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal import ROOT, Terminal
from tests.walk import TUTORIAL, Step, steps

TMUX = {"Esc": "Escape", "Up": "Up", "Down": "Down", "Enter": "Enter", "Tab": "Tab", "Space": "Space"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo store, made as `make demo` makes it without a terminal."""
    folder = tmp_path_factory.mktemp("demo")
    subprocess.run(
        [sys.executable, "-m", "recall_tui.demo", "--dir", str(folder)],
        stdin=subprocess.DEVNULL, capture_output=True, cwd=ROOT, check=True,
    )  # fmt: skip
    return folder


@pytest.fixture
def own_demo(demo: Path, tmp_path: Path) -> Path:
    """A copy that the tutorial may write to."""
    return Path(shutil.copytree(demo, tmp_path / "demo", symlinks=True))


@pytest.fixture
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path_factory.mktemp("tmux") / "socket")
    yield terminal
    terminal.stop()


def tmux_key(key: str) -> str:
    """A key of the page as tmux names it."""
    return f"C-{key[1:]}" if key.startswith("^") and len(key) > 1 else TMUX.get(key, key)


def test_the_tutorial_has_steps_and_each_looks_for_something() -> None:
    found = steps(TUTORIAL.read_text(encoding="utf-8"))

    assert len(found) >= 3
    assert all(step.done and step.seen for step in found)


@pytest.mark.tmux
def test_every_step_of_the_tutorial_does_what_it_says(terminal: Terminal, own_demo: Path) -> None:
    workbench = shlex.join([sys.executable, "-m", "recall_tui", str(own_demo / "recall.db")])
    terminal.start(f"{workbench}; echo exit=$?; exec sleep 60", cwd=own_demo, size=(120, 40))
    terminal.wait_for(lambda screen: "chunks" in screen)

    for step in steps(TUTORIAL.read_text(encoding="utf-8")):
        take(terminal, step)
    terminal.press("C-q")

    terminal.wait_for(lambda screen: "exit=0" in screen)


def take(terminal: Terminal, step: Step) -> None:
    """Do a step and wait until the screen says what it should."""
    for each in step.done:
        if step.verb == "type":
            terminal.type(each)
        else:
            terminal.press(tmux_key(each))
    terminal.wait_for(lambda screen: all(text in screen for text in step.seen))
