"""Measure the memory of a process that has answered some questions. `memory` runs this module as a script in a store.

Arguments: the file of questions, one a line, and the megabytes that the store may keep in memory ("" for the
default).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.speed.lab import Lab, settle
from benchmarks.speed.warm import USUAL
from recall_core.api.recall import Recall
from recall_core.config import Config

ALLOWED_MB = (64, 256, 512)
_QUESTIONS = 30


class Memory(NamedTuple):
    """Resident megabytes after thirty questions. allowed_mb: value of the memory setting, None for the default."""

    embedding: str
    chunks: int
    allowed_mb: int | None
    resident_mb: float
    peak_mb: float
    vectors_mb: float


def memory(lab: Lab) -> Iterator[Memory]:
    """Yield a warm process with the default, then with each value of `memory_mb`, if the store has that setting."""
    asked = lab.home / "asked.txt"
    asked.write_text("".join(f"{each.text}\n" for each in lab.asker.draw(USUAL, _QUESTIONS)), encoding="utf-8")
    info = lab.recall.store.info()
    for allowed in (None, *(ALLOWED_MB if "memory_mb" in Config._fields else ())):
        command = [
            sys.executable,
            "-m",
            "benchmarks.speed.resident",
            str(lab.home),
            "" if allowed is None else str(allowed),
        ]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = json.loads(output.splitlines()[-1])
        vectors_mb = round(4 * info.dimension * info.vectors / 1e6, 1)
        yield Memory(lab.made.embedding, lab.chunks, allowed, found["resident_mb"], found["peak_mb"], vectors_mb)


def main(home: Path, allowed: str) -> None:
    """Ask the questions, and print the memory of the process."""
    questions = (home / "asked.txt").read_text(encoding="utf-8").splitlines()
    with Recall.open(start=home) as recall:
        if allowed:
            recall.engine.store.memory_mb = int(allowed)
        settle(recall, lambda: recall.search(questions[0]))
        for question in questions:
            recall.search(question)
        print(json.dumps(_held()))


def _held() -> dict[str, float]:
    """Return the memory of this process in megabytes, from /proc."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines())
    return {"resident_mb": int(status["VmRSS"].split()[0]) / 1e3, "peak_mb": int(status["VmHWM"].split()[0]) / 1e3}


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
