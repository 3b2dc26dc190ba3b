"""Measure a million chunks by the command line: add, cold search, many searches. Each runs in its own process.

`python -m benchmarks.million --home DIR [--chunks N]`. Each process is compared with one that does the same with FTS5
and NumPy alone: the texts in a full-text table, the vectors in one file. It prints processor time and peak resident
memory. DIR keeps the store; a second run with it only searches.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import numpy as np

from benchmarks import corpus, prose
from benchmarks.speed import peers
from benchmarks.speed.asked import Asker, Question
from benchmarks.speed.lab import settle
from benchmarks.speed.warm import USUAL
from benchmarks.timing import on_one_thread
from recall_core.api.recall import Recall
from recall_core.embed.hash import HashEmbedder

ROUNDS = 5
_WARM = 20
_BATCH = 512
_PIECES, _ADDED, _ASKED = "pieces.jsonl", "added.json", "asked.txt"
_FTS5, _VECTORS = "bare.db", "vectors.raw"


class Cost(NamedTuple):
    """The cost of one process: milliseconds of processor time, and the peak of resident megabytes."""

    ms: float
    mb: float


def main() -> None:
    """Build the missing files, then search."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.million", description=__doc__)
    parser.add_argument("--home", type=Path, required=True, metavar="DIR")
    parser.add_argument("--chunks", type=int, default=1_000_000, metavar="N")
    options = parser.parse_args()
    home: Path = options.home
    if not (home / _ADDED).exists():
        _add(home, options.chunks)
    ours, its = (Cost(*each) for each in json.loads((home / _ADDED).read_text(encoding="utf-8")))
    _tell("add", ours, its)
    questions = (home / _ASKED).read_text(encoding="utf-8").splitlines()
    for round_, question in enumerate(questions[:ROUNDS]):
        ours = _process(home, "-m", "recall_core", "search", question)
        _tell(f"cold search, {round_ + 1}", ours, _process(home, "-m", __spec__.name, "cold", question))
    ours, its = (_process(home, "-m", __spec__.name, way, *questions[ROUNDS:]) for way in ("warm", "matmul"))
    _tell(f"{len(questions) - ROUNDS} searches in one process", ours, its)


def _add(home: Path, chunks: int) -> None:
    home.mkdir(parents=True, exist_ok=True)
    pieces = prose.prose(chunks).pieces
    prose.write(home / "docs", pieces)
    with (home / _PIECES).open("w", encoding="utf-8") as lines:
        lines.writelines(f"{json.dumps(piece)}\n" for piece in pieces)
    asked = Asker(pieces).draw(USUAL, ROUNDS + _WARM)
    (home / _ASKED).write_text("".join(f"{each.text}\n" for each in asked), encoding="utf-8")
    Recall.init(str(home), embedding="hash", settings=corpus.SETTINGS)
    ours = _process(home, "-m", "recall_core", "add", "docs")
    its = _process(home, "-m", __spec__.name, "fill")
    (home / _ADDED).write_text(json.dumps([ours, its]), encoding="utf-8")


def _process(home: Path, *arguments: str) -> Cost:
    """Run Python in that folder. Raises SystemExit if it fails."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", _MEASURED, "output.txt", sys.executable, *arguments]
    output = subprocess.run(command, cwd=home, env=environment, stdout=subprocess.PIPE, check=True).stdout
    code, ms, mb = json.loads(output)
    if code:
        tail = (home / "output.txt").read_text(encoding="utf-8")[-500:]
        raise SystemExit(f"{arguments[1]} {arguments[2]} failed: {tail}")
    return Cost(ms, mb)


_MEASURED = """
import json, os, sys
child = os.fork()
if not child:
    out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1), os.dup2(out, 2)
    os.execv(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(child, 0)
print(json.dumps([status, (used.ru_utime + used.ru_stime) * 1000, used.ru_maxrss / 1024]))
"""
"""Runs a command and prints its cost. Memory of the process that starts a command counts as resident, so a small
process
must start it."""


def _tell(name: str, ours: Cost, its: Cost) -> None:
    print(
        f"{name}: {ours.ms:,.0f} ms, {ours.mb:,.0f} MB; FTS5 + NumPy {its.ms:,.0f} ms, {its.mb:,.0f} MB; "
        f"{ours.ms / its.ms:.2f} times the time, {ours.mb / its.mb:.2f} times the memory",
        flush=True,
    )


def fill() -> None:
    """Insert the texts into a full-text table and write the vectors to a file: the peer of `add`."""
    peers.insert(Path(_FTS5), [], batch=_BATCH)
    db, embedder = apsw.Connection(_FTS5), HashEmbedder()
    with Path(_PIECES).open(encoding="utf-8") as lines, Path(_VECTORS).open("wb") as raw:
        pieces = map(json.loads, lines)
        while batch := list(islice(pieces, _BATCH)):
            with db:
                db.executemany("INSERT INTO ft(title, body) VALUES('', ?)", [(piece,) for piece in batch])
            raw.writelines(embedder.embed(batch))


def ask(questions: Sequence[str], *, in_memory: bool) -> None:
    """Search by both signals, fuse by rank and print the ten best texts.

    in_memory: read the vectors into memory instead of mapping the file.
    """
    db = apsw.Connection(_FTS5)
    embedder = HashEmbedder()
    read = np.fromfile if in_memory else np.memmap
    matrix: Any = read(_VECTORS, dtype="<f4").reshape(-1, embedder.dimension)
    best = "SELECT rowid - 1, bm25(ft, 3.0, 1.0) AS score FROM ft WHERE ft MATCH ? ORDER BY score LIMIT 100"
    for text in questions:
        match = peers.expression(Question(text, tuple(text.split())))
        vector = np.frombuffer(embedder.embed([text], is_query=True)[0], "<f4")
        words = [row for row, _ in db.execute(best, (match,))]
        for row in peers.fused(words, peers.nearest(matrix, vector, 100)):
            for (body,) in db.execute("SELECT body FROM ft WHERE rowid = ?", (row + 1,)):
                print(body)


def ask_recall(questions: Sequence[str]) -> None:
    """Ask the same questions of an open store."""
    with Recall.open(start=Path()) as recall:
        settle(recall, lambda: recall.search(questions[0]))
        for question in questions:
            recall.search(question)


if __name__ == "__main__":
    if sys.argv[1:2] == ["fill"]:
        fill()
    elif sys.argv[1:2] in (["cold"], ["matmul"]):
        ask(sys.argv[2:], in_memory=sys.argv[1] == "matmul")
    elif sys.argv[1:2] == ["warm"]:
        ask_recall(sys.argv[2:])
    else:
        on_one_thread("benchmarks.million")
        main()
