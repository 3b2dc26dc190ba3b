"""Measure two ways to do the same in turns, so that other work on the machine affects both."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import process_time
from typing import NamedTuple

Cost = Callable[[], float]
"""Does the work once and returns its processor time in milliseconds."""

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_ONE_THREAD = dict.fromkeys(_THREADS, "1")


class Spread(NamedTuple):
    """The median, least and most of some rounds."""

    median: float
    least: float
    most: float


class Comparison(NamedTuple):
    """A measurement and its peer. ratio: ours divided by the peer's, within each round."""

    name: str
    peer: str
    chunks: int
    ours_ms: Spread
    peer_ms: Spread
    ratio: Spread


def compare(name: str, ours: Cost, peer_name: str, peer: Cost, *, chunks: int, rounds: int) -> Comparison:
    """Measure both in turns, after one round that does not count."""
    pairs = [(ours(), peer()) for _ in range(rounds + 1)][1:]
    return Comparison(
        name,
        peer_name,
        chunks,
        ours_ms=spread([one for one, _ in pairs]),
        peer_ms=spread([other for _, other in pairs]),
        ratio=spread([one / other for one, other in pairs]),
    )


def cpu(work: Callable[[], object]) -> Cost:
    """Return the cost of a call in this process."""

    def cost() -> float:
        started = process_time()
        work()
        return (process_time() - started) * 1000

    return cost


def average(work: Callable[[str], object], questions: Sequence[str]) -> Cost:
    """Return the average cost of these questions."""

    def cost() -> float:
        started = process_time()
        for question in questions:
            work(question)
        return (process_time() - started) * 1000 / len(questions)

    return cost


def child(arguments: Sequence[str], *, cwd: Path) -> Cost:
    """Return the cost of a new interpreter with these arguments, from start to end. Raises CalledProcessError if it
    fails.

    The interpreter may write compiled modules, like an installed program, even if this process may not.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def cost() -> float:
        before = getrusage(RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], cwd=cwd, env=environment, check=True, capture_output=True)
        after = getrusage(RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000

    return cost


def on_one_thread(module: str) -> None:
    """Start `python -m module` again with NumPy limited to one thread, unless it is already."""
    if any(os.environ.get(name) != value for name, value in _ONE_THREAD.items()):
        os.execve(sys.executable, [sys.executable, "-m", module, *sys.argv[1:]], {**os.environ, **_ONE_THREAD})


def spread(costs: Sequence[float]) -> Spread:
    """Summarize some rounds in three numbers."""
    return Spread(round(median(costs), 4), round(min(costs), 4), round(max(costs), 4))
