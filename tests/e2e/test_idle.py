"""The wake-ups of an idle workbench."""

from __future__ import annotations

import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.terminal import Terminal
from tests.workbench_corpus import build_store

PATIENCE = 60.0
MOST = 3
"""Wake-ups a second: one to check for a lost terminal, half a one for the store, and some in reserve."""


def _wakeups(pid: int) -> int:
    """Return how often the threads of a process have started to wait."""
    states = [each.read_text(encoding="ascii") for each in Path(f"/proc/{pid}/task").glob("*/status")]
    return sum(int(state.partition("\nvoluntary_ctxt_switches:")[2].split()[0]) for state in states)


@pytest.mark.skipif(sys.platform != "linux", reason="reads wake-ups from /proc")
def test_idle_workbench_wakes_at_most_three_times_a_second(tmp_path: Path) -> None:
    store = build_store(tmp_path)
    with Terminal([sys.executable, "-m", "recall_tui", str(store)], cwd=tmp_path) as terminal:
        terminal.until("37 documents")
        deadline, counts = time.monotonic() + PATIENCE, [0]
        # Let the work of the start finish first.
        while len(counts) < 2 or not 0 <= counts[-1] - counts[-2] <= MOST:
            assert time.monotonic() < deadline, [after - before for before, after in pairwise(counts)]
            terminal.rest(1)
            counts.append(_wakeups(terminal.pid))
