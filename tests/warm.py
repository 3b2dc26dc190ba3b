"""Processes of `recall` that start at once: forks of a process that has imported the program.

For tests of streams, signals and exit codes that do not test the start itself. A fork takes a tenth of the time of a
new interpreter, and an MCP server a twentieth.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import CompletedProcess
from threading import Thread
from typing import IO, Any, Literal

ROOT = Path(__file__).parents[1]
PATIENCE = 200.0
"""Seconds that suffice for a process to end on the busiest machine."""
PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
CLOSED = None
"""A stream that the process does not have."""

Kind = Literal["commands", "http", "ingest", "mcp", "providers"]
Stream = int | None


class Warm:
    """The process that forks."""

    def __init__(self, kind: Kind) -> None:
        self._door, theirs = socket.socketpair()
        command = [sys.executable, "-m", "tests.warm_server", str(theirs.fileno()), kind]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(command, cwd=ROOT, env=environment, pass_fds=(theirs.fileno(),))
        theirs.close()

    def fork(self, order: Mapping[str, Any], descriptors: Sequence[int]) -> int:
        """Start a process and return its id. descriptors: its streams, and the one that gets its exit code."""
        socket.send_fds(self._door, [b"\0"], [*descriptors])
        self._door.sendall(json.dumps([*order.values()]).encode() + b"\n")
        reply = self._door.recv(32)
        assert reply, "the forking process has exited"
        return int(reply)

    def end(self) -> None:
        """End the process and everything it started that still runs."""
        self._door.close()
        self._process.wait(PATIENCE)


_WARM: dict[str, Warm] = {}


def end() -> None:
    """End the forking processes. The next order starts another one."""
    for kind in list(_WARM):
        _WARM.pop(kind).end()


class Process:
    """A process like `subprocess.Popen`. Streams: PIPE, DEVNULL, CLOSED or a descriptor."""

    def __init__(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], module: str = "recall_core",
        program: str = "", kind: Kind = "commands", stdin: Stream = DEVNULL, stdout: Stream = PIPE,
        stderr: Stream = PIPE, text: bool = True, start_new_session: bool = False,
    ) -> None:  # fmt: skip
        self.returncode: int | None = None
        asked, ours, theirs = (stdin, stdout, stderr), list[Any](), dict[int, int]()
        for number, stream in enumerate(asked):
            ours.append(None)
            if stream == PIPE:
                reads, writes = os.pipe()
                mine, theirs[number] = (reads, writes) if number else (writes, reads)
                mode = "r" if number else "w"
                ours[number] = open(mine, mode, encoding="utf-8") if text else open(mine, mode + "b")  # noqa: SIM115
            elif stream is not None:
                theirs[number] = os.open(os.devnull, os.O_RDWR) if stream == DEVNULL else os.dup(stream)
        self.stdin, self.stdout, self.stderr = ours
        self._status, status = os.pipe()
        order = {
            "argv": [*argv], "module": module, "program": program, "cwd": str(cwd), "env": {**env},
            "streams": [*theirs], "is_leader": start_new_session,
        }  # fmt: skip
        if kind not in _WARM:
            _WARM[kind] = Warm(kind)
        self.pid = _WARM[kind].fork(order, [*theirs.values(), status])
        for each in (*theirs.values(), status):
            os.close(each)

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        return self._ended(0)

    def wait(self, timeout: float = PATIENCE) -> int:
        """Return the exit code once the process has ended; negative for a signal."""
        code = self._ended(timeout)
        assert code is not None, f"process {self.pid} still runs after {timeout} s"
        return code

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float = PATIENCE) -> tuple[Any, Any]:
        """Return the remaining stdout and stderr once the process has ended."""
        read: dict[int, Any] = {}

        def drain(number: int, stream: IO[Any]) -> None:
            read[number] = stream.read()

        streams = [
            (number, each)
            for number, each in enumerate((self.stdout, self.stderr))
            if each is not None and not each.closed
        ]
        threads = [Thread(target=drain, args=each) for each in streams]
        for each in threads:
            each.start()
        self.wait(timeout)
        for each in threads:
            each.join()
        self.close()
        return read.get(0), read.get(1)

    def close(self) -> None:
        """Close this end of the pipes."""
        for each in (self.stdin, self.stdout, self.stderr):
            if each is not None:
                with suppress(BrokenPipeError):
                    each.close()

    def _ended(self, timeout: float) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
            self.returncode = int(os.read(self._status, 32) or -signal.SIGKILL)
            os.close(self._status)
        return self.returncode


def run(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], module: str = "recall_core", program: str = "",
    kind: Kind = "commands", stdin: Stream = DEVNULL, stdout: Stream = PIPE, stderr: Stream = PIPE,
) -> CompletedProcess[str]:  # fmt: skip
    """Run a command to its end."""
    process = Process(
        argv, cwd=cwd, env=env, module=module, program=program, kind=kind, stdin=stdin, stdout=stdout,
        stderr=stderr,
    )  # fmt: skip
    out, err = process.communicate()
    return CompletedProcess([module, *argv], process.wait(), out, err)
