"""The terminal of a workbench disappears: the workbench ends, and its query is kept for the next one."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recall_tui.home.crash import kept_queries
from tests.terminal import Terminal
from tests.workbench_corpus import build_store

PATIENCE = 120.0


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    running = Terminal(tmp_path / "tmux")
    yield running
    running.stop()


def _until(holds: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.tmux
@pytest.mark.parametrize(
    "keys",
    [
        {"Escape": " NAV ", "3": "━ 3 Explain", "e": "lent"},
        pytest.param({"F4": "lent"}, marks=pytest.mark.slow),
        pytest.param({}, marks=pytest.mark.slow),
    ],
    ids=["pager", "editor", "panes"],
)
def test_closed_terminal_ends_the_workbench_and_its_child(
    terminal: Terminal, tmp_path: Path, keys: dict[str, str]
) -> None:
    store = build_store(tmp_path)
    lent = tmp_path / "lent"
    lent.write_text("#!/bin/sh\necho lent\nread line </dev/tty\n", encoding="utf-8")
    lent.chmod(0o755)
    command = f"echo $$ > pid; exec {sys.executable} -m recall_tui --store {store}"
    terminal.start(f"sh -c '{command}'", cwd=tmp_path, PAGER=str(lent), EDITOR=str(lent))
    terminal.wait_for(lambda screen: "37 documents" in screen)
    terminal.type("household tea")
    terminal.wait_for(lambda screen: "notes/diary.txt" in screen)
    for key, shown in keys.items():
        terminal.press(key)
        terminal.wait_for(lambda screen, shown=shown: shown in screen)

    terminal.stop()

    pid = int((tmp_path / "pid").read_text(encoding="utf-8"))
    _until(lambda: not _is_running(pid), "the workbench is still there")
    (kept,) = kept_queries({"HOME": str(tmp_path)})
    assert kept.query == "household tea"


@pytest.mark.tmux
@pytest.mark.skipif(sys.platform != "linux", reason="reads the process state from /proc")
def test_lost_terminal_ends_a_background_workbench(terminal: Terminal, tmp_path: Path) -> None:
    """timeout(1) runs its child in the background, where Textual stops it; a lost terminal sends SIGCONT too."""
    command = f"echo $$ > pid; exec {sys.executable} -m recall_tui --store {build_store(tmp_path)}"
    (tmp_path / "started").write_text(command, encoding="utf-8")
    terminal.start("bash -c 'timeout 500 sh started; sleep 1'", cwd=tmp_path)
    _until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "it has not started")
    pid = int((tmp_path / "pid").read_text(encoding="utf-8"))
    _until(lambda: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T", "it is not stopped")
    for _ in range(12):
        terminal.resize(80, 24)
        terminal.resize(120, 40)

    terminal.stop()

    _until(lambda: not _is_running(pid), "the workbench is still there")


_NAMES_THREADS = """
import os, signal, sys, threading
from recall_tui.__main__ import main
def write_names(number, frame):
    with open("being written", "w") as file:
        file.writelines(thread.name + "\\n" for thread in threading.enumerate())
    os.replace("being written", "threads")
signal.signal(signal.SIGUSR1, write_names)
open("pid", "w").write(str(os.getpid()))
sys.exit(main())
"""


def _threads_of_terminal(folder: Path, pid: int) -> list[str]:
    """Return the sorted names of Textual's threads in the process that runs _NAMES_THREADS there."""
    written = folder / "threads"
    written.unlink(missing_ok=True)
    os.kill(pid, signal.SIGUSR1)
    _until(written.exists, "it did not say which threads it has")
    return sorted(name for name in written.read_text(encoding="utf-8").split() if name.startswith("textual-"))


@pytest.mark.tmux
def test_resumed_process_has_one_reader_and_one_writer(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "named.py").write_text(_NAMES_THREADS, encoding="utf-8")
    terminal.start(f"{sys.executable} named.py --store {build_store(tmp_path)}", cwd=tmp_path)
    terminal.wait_for(lambda screen: "37 documents" in screen)
    terminal.type("household")
    terminal.wait_for(lambda screen: "notes/diary.txt" in screen)
    pid = int((tmp_path / "pid").read_text(encoding="utf-8"))
    assert _threads_of_terminal(tmp_path, pid) == ["textual-input", "textual-output"]

    for number in (signal.SIGCONT, signal.SIGSTOP, signal.SIGCONT):
        os.kill(pid, number)
        time.sleep(0.5)

    _until(
        lambda: terminal.type(".") or "household." in terminal.screen(), "it reads no key"
    )  # a busy terminal drops some keys
    terminal.type(" tea and its price")
    terminal.wait_for(lambda screen: re.search(r"household\.+ tea and its price", screen))
    assert _threads_of_terminal(tmp_path, pid) == ["textual-input", "textual-output"]


_SIGNALLED = """
import os, signal, sys
from textual.drivers._writer_thread import WriterThread
from recall_tui.__main__ import main
write, left = WriterThread.write, [5]
def write_signalled(thread, text):
    if "household" in text and left:
        left.pop()
        with thread._queue.mutex:
            os.kill(os.getpid(), signal.SIGCONT)
    write(thread, text)
WriterThread.write = write_signalled
sys.exit(main())
"""


@pytest.mark.tmux
def test_sigcont_while_drawing_does_not_stop_the_workbench(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "signalled.py").write_text(_SIGNALLED, encoding="utf-8")
    terminal.start(f"{sys.executable} signalled.py --store {build_store(tmp_path)}", cwd=tmp_path)
    terminal.wait_for(lambda screen: "37 documents" in screen)
    terminal.type("household")
    terminal.wait_for(lambda screen: "notes/diary.txt" in screen)
    terminal.type(" tea")
    terminal.wait_for(lambda screen: "household tea" in screen)


def test_lost_terminal_without_signal_ends_the_workbench(tmp_path: Path) -> None:
    store = build_store(tmp_path)
    outside, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
    process = subprocess.Popen(
        [sys.executable, "-m", "recall_tui", "--store", str(store)],
        env=environment, stdin=inside, stdout=inside, stderr=inside, start_new_session=True,
    )  # fmt: skip
    os.close(inside)
    try:
        drawn = b""
        while b"37 documents" not in drawn:
            assert select.select([outside], [], [], PATIENCE)[0], drawn
            drawn += os.read(outside, 65_536)
        os.close(outside)
        assert process.wait(PATIENCE) != 0
    finally:
        process.kill()
