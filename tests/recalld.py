"""A recalld of a test's own, and command lines that run with it and without."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_TIMES = re.compile(rb',"cached":true|"took_ms":[0-9.e-]+|"timings":\{[^}]*\}|[0-9.]+ ms')
RECALL = (sys.executable, "-m", "recall_core")


class Outcome(NamedTuple):
    """What a command line printed, without times."""

    code: int
    stdout: bytes
    stderr: bytes


def environ_of(runtime: Path, **variables: str) -> dict[str, str]:
    """Return the environment of command lines whose recalld is in this folder."""
    return {**os.environ, "XDG_RUNTIME_DIR": str(runtime), **variables}


def run(argv: Sequence[str], *, folder: Path, environ: Mapping[str, str]) -> Outcome:
    """Run a command line in a process of its own."""
    done = subprocess.run(
        [*RECALL, *argv],
        cwd=folder,
        env=environ,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )
    return Outcome(done.returncode, without_times(done.stdout), without_times(done.stderr))


def without_times(output: bytes) -> bytes:
    """Return the output without what differs from run to run."""
    return _TIMES.sub(b"", output)


@contextmanager
def running(runtime: Path, environ: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run recalld in the block. environ: its environment, if not that of the tests."""
    process = subprocess.Popen(
        [*RECALL, "daemon", "run"],
        env=environ_of(runtime) if environ is None else environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        assert process.stderr.readline().startswith(b"recalld ")
        yield process
    finally:
        process.terminate()
        process.wait(timeout=60)
        process.stderr.close()
