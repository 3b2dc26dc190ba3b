"""`recall-tui --serve` as a process, for tests with browsers and foreign clients."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[1]
GONE = 120.0  # seconds that suffice for a process to end on the busiest machine


class Served:
    """`recall-tui --serve` as a process; without a port it takes a free one."""

    def __init__(self, store: Path, home: Path, *flags: str) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "recall_tui", str(store), "--serve", *(flags or ("--port", "0"))],
            env=environment, cwd=home, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    @property
    def port(self) -> int:
        port = urlsplit(self.address).port
        assert port is not None
        return port

    def status(self, path: str, **headers: str) -> int:
        """Return the HTTP status of a request with these headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=GONE)
        try:
            connection.request("GET", path, headers=headers)
            return connection.getresponse().status
        finally:
            connection.close()

    def workbenches(self) -> list[int]:
        """Return the ids of the running processes that the server started."""
        return [pid for pid, parent in running_processes().items() if parent == self.process.pid]

    def wait_for_workbenches(self, number: int) -> list[int]:
        deadline = time.monotonic() + GONE
        while len(running := self.workbenches()) != number:
            assert time.monotonic() < deadline, f"{len(running)} workbenches run, not {number}"
            time.sleep(0.05)
        return running

    def kill(self) -> None:
        """Kill the server alone, with a signal that it cannot handle."""
        self.process.kill()
        self.process.wait(timeout=GONE)

    def stop(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str, str]:
        """Return the exit code, and the output without the address."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)  # as a terminal sends it, to the whole process group
        out, err = self.process.communicate(timeout=GONE)
        return self.process.returncode, out, err


def running_processes() -> dict[int, int]:
    """Return every running process with its parent."""
    table = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True)
    rows = [line.split() for line in table.stdout.splitlines()]
    return {int(pid): int(parent) for pid, parent, state in rows if state[0] != "Z"}
