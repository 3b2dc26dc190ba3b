"""The tutorial, done step by step on the demo store."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import opened
from tests.e2e.command_line import typed_here
from tests.served import Served
from tests.terminal import ROOT, Terminal
from tests.walk import TUTORIAL, Step, steps

TMUX = {"Esc": "Escape"}
"""Keys of the page with other names in tmux."""
DOM = {"Esc": "Escape", "Up": "ArrowUp", "Down": "ArrowDown", "Left": "ArrowLeft", "Right": "ArrowRight"}
"""Keys of the page with other names in a browser."""


MODULES = (
    "subprocess", "sched", "threading", "queue", "socket", "selectors", "signal", "shutil", "pathlib", "tempfile",
    "timeit", "trace", "cmd", "code", "pdb", "getopt", "optparse", "shlex", "glob", "fileinput", "zipfile", "tarfile",
    "json/decoder", "json/encoder", "asyncio/subprocess", "asyncio/timeouts", "asyncio/tasks", "asyncio/events",
    "concurrent/futures/_base", "concurrent/futures/thread", "multiprocessing/process", "multiprocessing/pool",
)  # fmt: skip
"""The part of the library for the tutorial in CI; nightly runs use all of it."""
IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
MAKE = f"""
import sys
from pydoc_data import topics
from recall_tui.demo import main
topics.topics = dict(list(topics.topics.items())[:{None if IS_NIGHTLY else 20}])
sys.exit(main())
"""
"""The demo over some topics of the reference in CI, and over all at night."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the demo store, made like `make demo` without a terminal."""
    folder = tmp_path_factory.mktemp("demo")
    source = Path(sysconfig.get_path("stdlib"))
    if not IS_NIGHTLY:
        whole, source = source, tmp_path_factory.mktemp("library")
        for name in MODULES:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(whole / f"{name}.py", source / f"{name}.py")
    subprocess.run(
        [sys.executable, "-c", MAKE, "--dir", str(folder), "--source", str(source)],
        stdin=subprocess.DEVNULL, capture_output=True, cwd=ROOT, check=True,
    )  # fmt: skip
    return folder


@pytest.fixture
def own_demo(demo: Path, tmp_path: Path) -> Path:
    """Return a copy that the tutorial may write to."""
    return Path(shutil.copytree(demo, tmp_path / "demo", symlinks=True))


@pytest.fixture
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path_factory.mktemp("tmux") / "socket")
    yield terminal
    terminal.stop()


def tmux_key(key: str) -> str:
    """Return the tmux name of a key on the page."""
    return f"C-{key[1:]}" if key.startswith("^") and len(key) > 1 else TMUX.get(key, key)


def test_every_tutorial_step_expects_something() -> None:
    found = steps(TUTORIAL.read_text(encoding="utf-8"))

    assert len(found) >= 3
    assert all(step.done and step.seen for step in found)


def test_the_first_commands_search_a_folder_of_notes(tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("Questions are collected in my own words.\n", encoding="utf-8")
    block = TUTORIAL.read_text(encoding="utf-8").split("```")[1]

    *commands, search = [line for line in block.splitlines() if line.startswith("recall ")]
    for command in commands:
        assert typed_here(command, tmp_path).returncode == 0, command
    assert "plan.md:1" in typed_here(search, tmp_path).stdout


def dom_key(key: str) -> str:
    """Return the browser name of a key on the page."""
    return f"Control+{key[1:]}" if key.startswith("^") and len(key) > 1 else DOM.get(key, key)


@pytest.mark.tmux
def test_every_tutorial_step_works(terminal: Terminal, own_demo: Path) -> None:
    workbench = shlex.join([sys.executable, "-m", "recall_tui"])
    terminal.start(f"{workbench}; echo exit=$?; exec sleep 60", cwd=own_demo, size=(120, 40))
    terminal.wait_for(lambda screen: "chunks" in screen)

    for step in steps(TUTORIAL.read_text(encoding="utf-8")):
        take(terminal, step)
    terminal.press("C-q")

    terminal.wait_for(lambda screen: "exit=0" in screen)


@pytest.mark.chromium
@pytest.mark.slow
def test_every_tutorial_step_works_in_a_browser(own_demo: Path, tmp_path: Path) -> None:
    served = Served(own_demo / "recall.db", tmp_path)
    try:
        with opened(tmp_path / "profile", width=1160, height=780) as browser:
            browser.goto(served.address)
            browser.wait_for(lambda screen: "chunks" in screen)
            for step in steps(TUTORIAL.read_text(encoding="utf-8")):
                for each in step.done:
                    browser.type(each) if step.verb == "type" else browser.key(dom_key(each))
                browser.wait_for(lambda screen, seen=step.seen: all(text in screen for text in seen))
            browser.key("Control+q")
            browser.until(lambda: "The session has ended." in browser.text())
            assert browser.complaints() == []
    finally:
        code, _, _ = served.stop()
    assert code == 0


def take(terminal: Terminal, step: Step) -> None:
    """Do a step and wait for the expected screen."""
    for each in step.done:
        if step.verb == "type":
            terminal.type(each)
        else:
            terminal.press(tmux_key(each))
    terminal.wait_for(lambda screen: all(text in screen for text in step.seen))
