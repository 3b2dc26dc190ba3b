"""Signals during the start of the workbench, and Ctrl-C in a program that uses its terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.terminal import ROOT, Terminal
from tests.workbench_corpus import build_store

PATIENCE = 60.0

RUNNER = """
import os, signal, sys
from recall_tui import __main__
from recall_tui.app import Bench, Workbench

number, (kind, place) = getattr(signal, sys.argv.pop(1)), sys.argv.pop(1).split(".")
meant = getattr(globals()[kind], place)

def stopped(self):
    os.kill(os.getpid(), number)
    return meant(self)

setattr(globals()[kind], place, stopped)
sys.exit(__main__.main())
"""


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    running = Terminal(tmp_path / "tmux")
    yield running
    running.stop()


BEFORE = [
    pytest.param(number, place, marks=[] if row == column == 0 else [pytest.mark.slow])
    for row, number in enumerate(("SIGTERM", "SIGINT", "SIGHUP"))
    for column, place in enumerate(("Workbench.get_default_screen", "Workbench.on_mount", "Bench.compose"))
]
"""The first pair is run in CI; the others are nightly."""


@pytest.mark.parametrize(("number", "place"), BEFORE)
def test_early_signal_restores_the_terminal_and_prints_one_line(tmp_path: Path, number: str, place: str) -> None:
    (tmp_path / "runner.py").write_text(RUNNER, encoding="utf-8")

    drawn, code = _on_a_terminal([sys.executable, "runner.py", number, place, str(build_store(tmp_path))], tmp_path)

    assert code == 130
    assert "Traceback" not in drawn
    assert drawn.rpartition("\x1b[?1049l")[2].count("Interrupted.") == 1  # on the previous screen


@pytest.mark.tmux
@pytest.mark.parametrize(
    "keys", [["Escape", "3", "e"], pytest.param(["F4"], marks=pytest.mark.slow)], ids=["pager", "editor"]
)
def test_ctrl_c_in_another_program_stays_there(terminal: Terminal, tmp_path: Path, keys: list[str]) -> None:
    store = build_store(tmp_path)
    lent = tmp_path / "lent"
    lent.write_text("#!/bin/sh\ntrap 'exit 0' INT\necho lent\nwhile :; do sleep 0.1; done\n", encoding="utf-8")
    lent.chmod(0o755)
    command = f"{sys.executable} -m recall_tui --store {store}; echo left $?; exec sleep 100"
    terminal.start(f"sh -c 'trap : INT; {command}'", cwd=tmp_path, PAGER=str(lent), EDITOR=str(lent))
    terminal.wait_for(lambda screen: "37 documents" in screen)
    terminal.type("household tea")
    terminal.wait_for(lambda screen: "notes/diary.txt" in screen)
    for key, shown in zip(keys, ["NAV", "NAV", "lent"] if len(keys) > 1 else ["lent"], strict=True):
        terminal.press(key)
        terminal.wait_for(lambda screen, shown=shown: shown in screen)

    terminal.press("C-c")

    terminal.wait_for(lambda screen: "notes/diary.txt" in screen)
    terminal.press("C-q")
    assert "left 0" in terminal.wait_for(lambda screen: "left" in screen)


def test_workbench_with_partial_terminal_does_not_start(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "recall_tui", str(build_store(tmp_path))]
    for elsewhere in ("stdin", "stdout", "stderr"):
        with (tmp_path / elsewhere).open("w+b") as file:
            drawn, code = _on_a_terminal(command, tmp_path, **{elsewhere: file.fileno()})

        drawn += (tmp_path / elsewhere).read_text(encoding="utf-8")
        assert code == 2, elsewhere
        assert "The workbench needs a terminal." in drawn, elsewhere
        assert "\x1b" not in drawn, elsewhere


def _on_a_terminal(command: list[str], folder: Path, **elsewhere: int) -> tuple[str, int]:
    """Return the complete output and the exit code."""
    outside, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
    process = subprocess.Popen(
        command, cwd=folder, env={**environment, "PYTHONPATH": str(ROOT)}, start_new_session=True,
        **{"stdin": inside, "stdout": inside, "stderr": inside, **elsewhere},
    )  # fmt: skip
    os.close(inside)
    drawn = b""
    try:
        with suppress(OSError):  # the other side is closed
            while select.select([outside], [], [], PATIENCE)[0]:
                drawn += os.read(outside, 65_536)
        return drawn.decode(errors="replace"), process.wait(PATIENCE)
    finally:
        process.kill()
        process.wait()
        os.close(outside)
