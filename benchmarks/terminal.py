"""Run a program in its own terminal: send keys, read output, measure its cost."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import NamedTuple, Self

PATIENCE = 60.0  # seconds to wait for output
SIZE = (40, 120)  # rows and columns
_CONTROLS = re.compile(r"\x1b(?:\[[0-9;:?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])|[\r\n]")
_KEPT = 400_000  # characters of output, several frames


class Cost(NamedTuple):
    """The cost of a program from start to end. peak_mb: None if the system does not report it for a running
    process."""

    seconds: float
    cpu_ms: float
    peak_mb: float | None


class Terminal:
    """One run of a program. Use it in a `with` block, which kills the program."""

    def __init__(self, arguments: Sequence[str], *, cwd: Path) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
        environment |= {"XDG_STATE_HOME": str(cwd), "XDG_CONFIG_HOME": str(cwd), "XDG_CACHE_HOME": str(cwd)}
        self.started = perf_counter()
        self._output = ""
        self._terminal, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
        self._process = subprocess.Popen(
            arguments, cwd=cwd, env=environment, stdin=inside, stdout=inside, stderr=inside, start_new_session=True
        )
        os.close(inside)

    @property
    def pid(self) -> int:
        """The process id of the program."""
        return self._process.pid

    def press(self, keys: str) -> float:
        """Send keys, discard earlier output and return the time."""
        self._output = ""
        at = perf_counter()
        os.write(self._terminal, keys.encode())
        return at

    def until(self, pattern: str, *, seconds: float = PATIENCE) -> tuple[float, re.Match[str]]:
        """Read until the output since the last key matches the pattern. Return the time and the match.

        Control sequences are removed before matching.

        Raises TimeoutError, and EOFError if the program ends.
        """
        wanted = re.compile(pattern)
        while (found := wanted.search(_CONTROLS.sub("", self._output))) is None:
            self._read(seconds)
        return perf_counter(), found

    def rest(self, seconds: float) -> None:
        """Read output for that many seconds."""
        end = perf_counter() + seconds
        while (left := end - perf_counter()) > 0 and select.select([self._terminal], [], [], left)[0]:
            self._read(left)

    def cpu_ms(self) -> float:
        """Return the processor time of all threads so far, or 0 on systems other than Linux."""
        tasks = Path(f"/proc/{self._process.pid}/task")
        return sum(int(each.read_text().split()[0]) for each in tasks.glob("*/schedstat")) / 1e6

    def end(self) -> Cost:
        """Kill the program and return its cost."""
        elapsed, peak_mb = perf_counter() - self.started, _peak_mb(self._process.pid)
        os.kill(self._process.pid, signal.SIGKILL)
        _, status, used = os.wait4(self._process.pid, 0)  # only wait4 reports the resource usage
        self._process.returncode = os.waitstatus_to_exitcode(status)
        os.close(self._terminal)
        return Cost(elapsed, (used.ru_utime + used.ru_stime) * 1000, peak_mb)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.returncode is None:
            self.end()

    def _read(self, seconds: float) -> None:
        if not select.select([self._terminal], [], [], seconds)[0]:
            raise TimeoutError(f"no match after {seconds} s; the last output was {self._output[-600:]!r}")
        try:
            read = os.read(self._terminal, 65_536)
        except OSError:  # Linux reports a closed terminal this way
            read = b""
        if not read:
            raise EOFError(f"the program ended; the last output was {self._output[-600:]!r}")
        self._output = (self._output + read.decode("utf-8", "replace"))[-_KEPT:]


def _peak_mb(pid: int) -> float | None:
    """Return the peak memory from /proc: the figure of wait4 includes memory of the parent."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except FileNotFoundError:
        return None
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else None
