"""Compare a search through recalld, its processor time included, with the same search in a process of its own."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import corpus, timing
from recall_core import Recall
from recall_core.types import Root

BUDGETS = {1_400: 0.45, 100_000: 0.25}
"""Chunks of the store, and the most that a search may cost, as a part of its cold run."""

RECALL = "from recall_core.__main__ import program; program()"
"""What the installed command `recall` runs. `python -m recall_core` takes 5 ms more."""


def store_of(home: Path, chunks: int) -> Path:
    """Return a folder with a store of about so many chunks. Keeps it."""
    folder = home / f"daemon-{chunks}"
    if not (folder / "recall.db").exists():
        texts = folder / "texts"
        corpus.write(texts, chunks // corpus.PARAGRAPHS_PER_FILE)
        Recall.init(str(folder), embedding="hash", settings=corpus.SETTINGS)
        with Recall.open(start=folder) as recall:
            recall.index(str(texts), template=Root(""))
    return folder


@contextmanager
def recalld(runtime: str) -> Iterator[int]:
    """Run recalld in the block, and yield its process."""
    command = [sys.executable, "-m", "recall_core", "daemon", "run"]
    environ = {**os.environ, "XDG_RUNTIME_DIR": runtime}
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        process.stderr.readline()
        yield process.pid
        process.terminate()


def used_ms(process: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def compare(home: Path, chunks: int, rounds: int) -> timing.Comparison:
    """Search `rounds` times each way, in turns, for three words that differ each time."""
    folder = store_of(home, chunks)
    asked = iter(corpus.questions(2 * rounds + 20).middling)

    def search(variables: dict[str, str]) -> float:
        os.environ.update(variables)
        return timing.child(["-c", RECALL, "search", next(asked), "--json"], cwd=folder)()

    with TemporaryDirectory() as runtime, recalld(runtime) as process:
        os.environ["XDG_RUNTIME_DIR"] = runtime
        for _ in range(8):  # every connection opens the store
            search({"RECALL_DAEMON": "true"})

        def warm() -> float:
            before = used_ms(process)
            return search({"RECALL_DAEMON": "true"}) + used_ms(process) - before

        return timing.compare(
            "search through recalld",
            warm,
            "cold",
            lambda: search({"RECALL_DAEMON": "false"}),
            chunks=chunks,
            rounds=rounds,
        )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.daemon", description=__doc__)
    parser.add_argument("--home", type=Path, default=Path(".bench"), help="folder that keeps the stores")
    parser.add_argument("--sizes", default=",".join(map(str, BUDGETS)))
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print("| chunks | recalld and client | cold | ratio | at most |\n|---|---|---|---|---|")
    for chunks in map(int, options.sizes.split(",")):
        row = compare(options.home.resolve(), chunks, options.rounds)
        ratio = f"{row.ratio.median:.2f} ({row.ratio.least:.2f} to {row.ratio.most:.2f})"
        budget = BUDGETS.get(chunks, "")
        print(f"| {chunks} | {row.ours_ms.median:.0f} ms | {row.peer_ms.median:.0f} ms | {ratio} | {budget} |")
    return 0


if __name__ == "__main__":
    timing.on_one_thread("benchmarks.daemon")
    sys.exit(main())
