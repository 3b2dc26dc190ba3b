"""A real terminal: tmux on a private socket, which tests type into and read."""

from __future__ import annotations

import os
import shlex
import subprocess
import termios
import time
import tty
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


class Terminal:
    """One tmux session on a private socket."""

    def __init__(self, socket: Path) -> None:
        self._tmux = ["tmux", "-S", str(socket), "-f", os.devnull]

    def start(self, command: str, *, cwd: Path, size: tuple[int, int] = (120, 40), **more: str) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        environment |= more
        subprocess.run(
            [*self._tmux, "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), command],
            cwd=cwd, env={**environment, "PYTHONPATH": str(ROOT)}, check=True,
        )  # fmt: skip

    def record(self, file: Path) -> None:
        """Record every further byte that the programs in the session write."""
        subprocess.run([*self._tmux, "pipe-pane", f"exec cat > {shlex.quote(str(file))}"], check=True)

    def press(self, *keys: str) -> None:
        subprocess.run([*self._tmux, "send-keys", *keys], check=True)

    def type(self, text: str) -> None:
        subprocess.run([*self._tmux, "send-keys", "-l", text], check=True)

    def resize(self, width: int, height: int) -> None:
        subprocess.run([*self._tmux, "resize-window", "-x", str(width), "-y", str(height)], check=True)

    def screen(self) -> str:
        return self._ask("capture-pane", "-p")

    def coloured(self) -> str:
        """Return the screen with its colours as escape sequences."""
        return self._ask("capture-pane", "-p", "-e")

    def is_alternate(self) -> bool:
        return self._ask("display-message", "-p", "#{alternate_on}").strip() == "1"

    def is_read_by_key(self) -> bool:
        """Return True while a program reads each key at once; keys typed before would stay in the terminal."""
        terminal = os.open(self._ask("display-message", "-p", "#{pane_tty}").strip(), os.O_RDONLY | os.O_NOCTTY)
        try:
            return not termios.tcgetattr(terminal)[tty.LFLAG] & termios.ECHO
        finally:
            os.close(terminal)

    def is_sane(self) -> bool:
        """Return True if the terminal suits a shell: cursor, wrapped lines, main screen and a mouse that selects."""
        flags = "#{cursor_flag} #{wrap_flag} #{alternate_on} #{mouse_any_flag} #{mouse_sgr_flag}"
        return self._ask("display-message", "-p", flags).split() == ["1", "1", "0", "0", "0"]

    def wait_for(self, holds: Callable[[str], object], *, seconds: float = 120.0) -> str:
        deadline, pause = time.monotonic() + seconds, 0.05
        while not holds(screen := self.screen()):
            if time.monotonic() > deadline:
                pytest.fail(f"no match within {seconds} s; the screen is\n{screen}")
            time.sleep(pause)
            pause = min(0.4, pause * 1.5)  # each look starts a process
        return screen

    def stop(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)

    def _ask(self, *command: str) -> str:
        return subprocess.run([*self._tmux, *command], check=True, capture_output=True, text=True).stdout
