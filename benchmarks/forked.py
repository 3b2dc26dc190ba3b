"""Run tests in copies of the checkout. Each run is a fork of a process that has imported Recall's dependencies."""

from __future__ import annotations

import compileall
import gc
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from math import ceil
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import NamedTuple

PYTEST = ("-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow")
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist", "screenshots", "reports")
_OURS = ("benchmarks", "recall_core", "recall_tui", "tests")
_WARMED = (
    "hypothesis.strategies",
    "numpy",
    "apsw",
    "msgspec",
    "textual.app",
    "textual.widgets",
    "pygments",
    "tomlkit",
)
_CLOCK = 5
"""Seconds of wall clock allowed for a second of processor time, because the machine may be busy."""
_MEMORY_BYTES = 6 * 2**30
"""Memory limit of a child. A change can make a loop endless."""


class Job(NamedTuple):
    """A function that a child runs in a copy of the checkout with one file changed. Its result is the exit status."""

    name: str
    run: Callable[[], int]
    limit: float
    """Seconds of processor time. The limit by wall clock is several times higher, for a child that only waits."""
    path: str = ""
    changed: bytes = b""


class Ended(NamedTuple):
    job: Job
    status: int | None
    """None if the time ran out."""
    seconds: float


def warm() -> None:
    """Import the modules that every child needs and no change touches."""
    for name in [name for name in os.environ if name.startswith(("TEXTUAL_", "RECALL_"))]:
        del os.environ[name]
    for point in entry_points(group="pytest11"):
        point.load()
    for name in _WARMED:
        with suppress(ModuleNotFoundError):
            import_module(name)
    gc.freeze()


def say(text: str) -> None:
    """Print progress."""
    print(text, file=sys.stderr, flush=True)


def files(root: Path) -> Iterator[Path]:
    """Yield every file of a checkout that belongs into a copy."""
    for folder, folders, names in os.walk(root):
        left_out = _LEFT_OUT(folder, [*folders, *names])
        folders[:] = sorted(set(folders) - left_out)
        yield from (Path(folder, name) for name in sorted(set(names) - left_out))


def copies(root: Path, place: Path, count: int) -> list[Path]:
    """Make `count` copies of a checkout.

    The copies are compiled so that Python notices a file that changes twice within a second.
    """
    trees = [place / f"copy{n}" for n in range(count)]
    for tree in trees:
        shutil.copytree(trees[0] if tree != trees[0] else root, tree, ignore=_LEFT_OUT if tree == trees[0] else None)
        if tree == trees[0]:
            compileall.compile_dir(tree, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    return trees


def in_children(jobs: Iterable[Job], trees: list[Path]) -> Iterator[Ended]:
    """Run every job once and yield each as it ends. At most one child runs in each tree."""
    waiting, free = deque(jobs), list(trees)
    running: dict[int, tuple[Job, Path, bytes, float]] = {}
    try:
        while waiting or running:
            while waiting and free:
                job, tree = waiting.popleft(), free.pop()
                whole = _exchanged(job, tree, job.changed)
                running[_forked(job, tree)] = (job, tree, whole, time.monotonic())
            for child, (job, tree, whole, start) in list(running.items()):
                ended, status = os.waitpid(child, os.WNOHANG)
                seconds = time.monotonic() - start
                if ended or seconds > _CLOCK * job.limit:
                    _end(child, reaped=bool(ended))
                    del running[child]
                    _exchanged(job, tree, whole)
                    free.append(tree)
                    code = os.waitstatus_to_exitcode(status) if ended else None
                    yield Ended(job, None if code == -signal.SIGXCPU else code, seconds)
            time.sleep(0.01)
    finally:
        for child in running:
            _end(child, reaped=False)


def _exchanged(job: Job, tree: Path, source: bytes) -> bytes:
    """Write the file that a job changes and return its previous content."""
    if not job.path:
        return b""
    before = (tree / job.path).read_bytes()
    (tree / job.path).write_bytes(source)
    return before


def _forked(job: Job, tree: Path) -> int:
    child = os.fork()
    if child:
        return child
    status = 3
    try:
        _enter(tree, ceil(job.limit))
        status = job.run()
    finally:
        os._exit(status)


def _end(child: int, *, reaped: bool) -> None:
    """End a child and every process that it started. They share its process group."""
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not reaped:
        os.waitpid(child, 0)


def _enter(tree: Path, cpu_seconds: int) -> None:
    """Prepare this process to run in a copy: own session and home, limits, no output, no module of this checkout."""
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    home = tree.with_suffix(".home")
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    os.chdir(tree)
    sys.path[:] = [str(tree), *(place for place in sys.path if place and not Path(place, "benchmarks").is_dir())]
    for name in [name for name in sys.modules if name.partition(".")[0] in _OURS]:
        del sys.modules[name]
    sys.dont_write_bytecode = True
    os.environ |= {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "RECALL_HYPOTHESIS": "mutants"}
    os.environ |= {"HOME": str(home), "TMPDIR": str(home)}
    tempfile.tempdir = None
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, resource.RLIM_INFINITY))
    quiet = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(quiet, descriptor)
