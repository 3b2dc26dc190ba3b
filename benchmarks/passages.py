"""Measure the cost of passages, per process and per row: `python -m benchmarks.passages [STORE]`."""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import process_time

from benchmarks import corpus
from recall_core.api.recall import Ask, Recall

CHUNKS = 10_000
QUESTIONS, ROWS = 40, 10
MOST_SHARE = 0.10
"""Largest share of the processor time of a `recall search` that passages may take."""
MOST_MS = 0.3
"""Most milliseconds a row, in a process that has asked before."""


def drawn(recall: Recall, count: int) -> list[str]:
    """Return `count` questions of one to six consecutive words of the store."""
    chosen = random.Random(count)
    rowids = [key.rowid for key in recall.store.candidates(None)]
    found = []
    for row in recall.store.fetch(chosen.choices(rowids, k=count)):
        words = row.chunk.text.split()
        start = chosen.randrange(max(1, len(words)))
        found.append(" ".join(words[start : start + chosen.randrange(1, 7)]) or "any")
    return found


def shares(home: Path, questions: Sequence[str]) -> Iterator[float]:
    """Yield, for each question asked by its own process, the share of processor time that passages take."""
    for question in questions:
        before = _children()
        argv = [sys.executable, "-m", "recall_core", "--store", str(home), "search", "--json", "--", question]
        done = subprocess.run(argv, capture_output=True, check=True)
        spent_ms = _children() - before
        yield json.loads(done.stdout)["stats"]["timings"].get("passages", 0.0) / spent_ms


def _children() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def row_costs(recall: Recall, questions: Sequence[str]) -> Iterator[float]:
    """Yield, for each question asked in this process, the processor time of a passage in milliseconds."""
    for question in questions:
        found = recall.engine.answer(recall.engine.words_plan(question, Ask()))
        hits = recall.engine.hits(found, 0, ROWS)
        started = process_time()
        made = recall.engine.passages(found, hits)
        if made:
            yield (process_time() - started) * 1000 / len(made)


def report(home: Path, questions: int) -> bool:
    """Print both figures. Return False if one is over its limit."""
    with Recall.open(str(home)) as recall:
        asked = drawn(recall, questions)
        recall.search(asked[0])
        costs = sorted(row_costs(recall, asked))
        chunks = recall.store.info().chunks
    of_processes = sorted(shares(home, asked))
    share, cost = median(of_processes), median(costs)
    print(f"{chunks} chunks, {questions} questions")
    print(f"of a process   {share:.1%}, at most {of_processes[-1]:.1%}  ({MOST_SHARE:.0%} at most)")
    print(f"a row          {cost:.3f} ms, at most {costs[-1]:.3f}  ({MOST_MS} at most)")
    return share <= MOST_SHARE and cost <= MOST_MS


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.passages", description=__doc__)
    parser.add_argument("store", nargs="?", type=Path, help="folder of a store (default: make one)")
    parser.add_argument("--chunks", type=int, default=CHUNKS, help="size of a store that is made")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    options = parser.parse_args(argv)
    if options.store is not None:
        return 0 if report(options.store, options.questions) else 1
    with tempfile.TemporaryDirectory() as folder:
        corpus.write(Path(folder, "docs"), options.chunks)
        Recall.init(folder, settings=corpus.SETTINGS)
        with Recall.open(folder) as recall:
            recall.index(str(Path(folder, "docs")))
        return 0 if report(Path(folder), options.questions) else 1


if __name__ == "__main__":
    sys.exit(main())
