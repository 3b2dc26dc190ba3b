"""A clock that runs back, stops or jumps between two commands changes no result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.crash.child import ROOT

CLOCKS = {
    "right": (0, 0, 0, 0, 0, 0),
    "going back": (0, -3_600, -86_400, -(10**8), -(10**9), -(10**9) - 1),
    "leaping": (0, 10**9, -(10**9), 10**9, 0, 3),
    "standing still": (None,) * 6,
}
"""Seconds that the clock is ahead during each command; None: it stands still."""

_RUN = """
import io, json, os, sys, time
from pathlib import Path

real, ahead = time.time_ns, [0]
began = real()
def time_ns():
    return began if ahead[0] is None else real() + ahead[0] * 10**9
time.time_ns, time.time = time_ns, lambda: time_ns() / 10**9

from recall_core import Recall
from tests.crash.harness import SETTINGS, command, errors, notes, write

def play(base, clock):
    told, clock = [], iter(clock)
    def step(*argv):
        ahead[0] = next(clock)
        code, answer = command(base, *argv)
        told.append([code, [row["doc"].get("state") for row in answer.get("results", [])], sorted(errors(base))])
    def now(name):
        os.utime(base / name, ns=(time_ns(), time_ns()))

    Recall.init(str(base), settings=SETTINGS)
    notes(base, 3)
    for number in range(3):
        now(f"notes/note00{number}.md")
    step("add", "{base}/notes")
    write(base, "notes/note001.md", (base / "notes/note001.md").read_text().swapcase())
    now("notes/note001.md")
    step("search", "quokka", "--k", "3")
    step("sync")
    (base / "notes/note002.md").unlink()
    step("sync")
    step("rm", "--purge", "{base}/notes/note000.md")
    step("search", "quokka", "--k", "3")
    assert command(base, "export", "--out", "{base}/out.jsonl")[0] == 0
    return told

clocks = json.loads(sys.argv[2])
print(json.dumps({name: play(Path(sys.argv[1]) / name, clock) for name, clock in clocks.items()}))
"""


def test_clock_changes_between_commands_change_no_result(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _RUN, str(tmp_path), json.dumps(CLOCKS)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False, capture_output=True, text=True,
    )  # fmt: skip

    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert [code for code, _, _ in told["right"]] == [0] * 6
    assert "modified" in told["right"][1][1]
    assert {wrong for _, _, found in told["right"] for wrong in found} == set()
    assert told == dict.fromkeys(CLOCKS, told["right"])
    exports = [
        [_timeless(line) for line in (tmp_path / name / "out.jsonl").read_text().splitlines()] for name in CLOCKS
    ]
    assert all(export == exports[0] for export in exports)


def _timeless(line: str) -> object:
    """Return a line of an export without its times."""
    return {key: value for key, value in json.loads(line).items() if key not in ("mtime_ns", "digest", "sha256")}
