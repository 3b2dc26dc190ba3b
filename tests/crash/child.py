"""A process that runs commands in its own forks, which start at once, and kills them on request.

Orders come in as lines of JSON, and each result goes out as one line.
"""

from __future__ import annotations

import io
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from tests.crash.harness import commits_told

ROOT = Path(__file__).parents[2]
_PRELOADED = (
    "recall_core.adapters.commands",
    "recall_core.api.write",
    "recall_core.embed.hash",
    "recall_core.ingest.pipeline",
    "recall_core.maintain.doctor",
    "recall_core.maintain.rechunk",
    "recall_core.maintain.embedders",
    "recall_core.maintain.remove",
    "recall_core.maintain.transfer",
    "recall_core.store.sqlite.store",
    "numpy",
    "tomlkit",
)


class Order(NamedTuple):
    """A command line, killed `delay` seconds after `commits` reported commits; never if delay is None."""

    argv: list[str]
    commits: int = 0
    delay: float | None = None


class Ended(NamedTuple):
    """The end of a command. told: seconds from its start to each commit. generation: the last reported one."""

    is_killed: bool
    code: int
    told: list[float]
    generation: int
    seconds: float


class Child:
    """The process, seen from outside."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, argv: Sequence[str], *, commits: int = 0, delay: float | None = None) -> Ended:
        """Run a command to its end, or until it is killed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(Order(list(argv), commits, delay)) + "\n")
        self._process.stdin.flush()
        return Ended._make(json.loads(self._process.stdout.readline()))


@contextmanager
def started() -> Iterator[Child]:
    """Yield the process for the length of the block."""
    command = [sys.executable, "-m", "tests.crash.child"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    ) as process:
        yield Child(process)
        assert process.stdin is not None
        process.stdin.close()


def _run_order(order: Order) -> Ended:
    reads, writes = os.pipe()
    start = monotonic()
    pid = os.fork()
    if pid == 0:
        os.close(reads)
        _run(order.argv, writes)
    os.close(writes)
    told, last = _follow(order, reads, start)
    if order.delay is not None:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    for line in _lines(reads):
        told.append(monotonic() - start)
        last = max(last, int(line))
    os.close(reads)
    is_killed = os.WIFSIGNALED(status)
    return Ended(is_killed, -1 if is_killed else os.WEXITSTATUS(status), told, last, monotonic() - start)


def _follow(order: Order, reads: int, start: float) -> tuple[list[float], int]:
    """Return the time of each commit and the last generation, up to the moment in the order or to the end."""
    told: list[float] = []
    last = 0
    until = None
    while True:
        if until is None and order.delay is not None and len(told) >= order.commits:
            until = monotonic() + order.delay
        patience = None if until is None else max(0.0, until - monotonic())
        if not select.select([reads], [], [], patience)[0]:
            return told, last
        told_now = os.read(reads, 65_536).split()
        if not told_now:
            return told, last
        told += [monotonic() - start] * len(told_now)
        last = max(last, *map(int, told_now))


def _lines(reads: int) -> list[bytes]:
    found = b""
    while piece := os.read(reads, 65_536):
        found += piece
    return found.split()


def _run(argv: list[str], writes: int) -> None:
    """Run the command in the fork; never return."""
    code = 70
    try:
        with commits_told(lambda generation: os.write(writes, b"%d\n" % generation)):
            code = cli.main(argv, streams=Streams(io.StringIO(), io.StringIO(), io.StringIO()))
    finally:
        os._exit(code)


def main() -> None:
    """Serve until the input ends."""
    for name in _PRELOADED:
        __import__(name)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_run_order(Order(*json.loads(line)))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
