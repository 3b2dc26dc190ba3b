"""Compare new processes with an interpreter that does nothing, and with a short script over SQLite and sqlite-vec."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.speed.asked import Question
from benchmarks.speed.lab import Lab
from benchmarks.speed.peers import FTS5, VEC0, Peers, expression
from benchmarks.speed.rows import Row, average_of, in_turns
from benchmarks.speed.warm import USUAL, any_file
from benchmarks.timing import child

BARE, NAIVE = "python -c pass", "a naive script"
SCRIPT = Path(__file__).with_name("naive.py")


def starts(lab: Lab) -> Iterator[Row]:
    """Yield each command, run in its own process."""
    peers = Peers(lab)
    for name in (FTS5, VEC0):
        peers.named(name)  # makes the files that the script reads

    def bare(_: Question) -> float:
        return child(["-c", "pass"], cwd=lab.home)()

    def naive(asked: Question) -> float:
        given = json.dumps({"match": expression(asked), "vector": peers.vector(asked).tolist()})
        (lab.home / "asked.json").write_text(given, encoding="utf-8")
        return child([str(SCRIPT)], cwd=lab.home)()

    ways: tuple[tuple[str, Callable[[Question], Sequence[str]]], ...] = (
        ("cold --version", lambda _: ["--version"]),
        ("cold get", lambda _: ["get", f"{any_file(lab)}:1-5"]),
        ("cold stats", lambda _: ["stats"]),
        ("cold search, words", lambda asked: ["search", "--bm25", asked.text]),
        ("cold search", lambda asked: ["search", asked.text]),
    )
    for name, arguments in ways:
        rounds = [lab.asker.draw(USUAL, 1) for _ in range(lab.rounds + 1)]
        peers_of_row = {BARE: bare, NAIVE: naive} if name == "cold search" else {BARE: bare}
        for peer, ours, its, ratio in in_turns(_recall(lab, arguments), peers_of_row, rounds, cost=average_of):
            yield Row(name, lab.made.embedding, lab.chunks, peer, ours, its, ratio)


def _recall(lab: Lab, arguments: Callable[[Question], Sequence[str]]) -> Callable[[Question], float]:
    return lambda asked: child(["-m", "recall_core", *arguments(asked)], cwd=lab.home)()
