"""Every speed budget in one table, and the check of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from benchmarks.speed.cold import BARE, NAIVE
from benchmarks.speed.filling import INSERT
from benchmarks.speed.peers import BOTH, FTS5, LANCE, NUMPY

SMALL, MIDDLE, LARGE = 1_400, 20_000, 100_000
EVERY_SIZE = 0
KEPT_MB, BESIDE_MB = 120, 80
"""Megabytes allowed on top of 1.5 times the vectors, and on top of the memory setting of the store."""


class Budget(NamedTuple):
    """The highest allowed ratio of a row. aim: a better ratio to reach. embedding: "" for every embedder."""

    name: str
    chunks: int
    peer: str
    most: float
    aim: float | None = None
    embedding: str = ""


class Verdict(NamedTuple):
    """A budget and the measured ratio."""

    name: str
    embedding: str
    chunks: int
    peer: str
    ratio: float
    most: float
    aim: float | None
    said: str


BUDGETS = (
    Budget("lexical, 5 words", LARGE, FTS5, 0.3, aim=0.1),
    Budget("vector, 5 words", LARGE, NUMPY, 1.35),
    Budget("vector, 5 words", LARGE, NUMPY, 0.3, embedding="hash"),
    Budget("hybrid, 5 words", LARGE, BOTH, 1.0),
    Budget("hybrid, 5 words", LARGE, BOTH, 0.6, embedding="hash"),
    Budget("hybrid, 5 words", LARGE, LANCE, 1.0),
    Budget("hybrid, filter of 1 %", LARGE, BOTH, 0.25),
    Budget("hybrid, filter of .1 %", LARGE, BOTH, 0.08),
    Budget("hybrid, 5 words", MIDDLE, BOTH, 2.3, aim=1.8),
    Budget("context, 4,000 tokens", LARGE, "search", 1.4),
    Budget("explain", LARGE, "search", 1.2),
    Budget("why not, with fixes", LARGE, "search", 4.0),
    Budget("why not", MIDDLE, "search", 4.0),
    Budget("why not, a misspelt word", MIDDLE, "search", 5.0),
    Budget("why not, a context", MIDDLE, "search", 5.0),
    Budget("cold --version", EVERY_SIZE, BARE, 1.8),
    Budget("cold get", EVERY_SIZE, BARE, 5.0, aim=4.0),
    Budget("cold stats", EVERY_SIZE, BARE, 6.0),
    Budget("cold search", SMALL, BARE, 6.0, aim=4.5),
    Budget("cold search", MIDDLE, BARE, 13.0, aim=10.0),
    Budget("cold search", LARGE, BARE, 20.0, aim=16.0),
    Budget("cold search", LARGE, NAIVE, 1.1),
    Budget("add, no vectors", LARGE, INSERT, 1 / 0.5, aim=1 / 0.7),
    Budget("add", LARGE, INSERT, 1 / 0.3, embedding="hash"),
)
_FACTORS = {
    "lexical, 1 word": 1.5,
    "lexical, all of 3 words": 4.6,
    "lexical, 5 words": 4.6,
    "lexical, 8 words": 4.6,
    "vector, 5 words": 4.6,
    "hybrid, in 5 files": 1.3,
    "add, no vectors": 5.0,
    "add": 5.0,
    "cold --version": 1.2,
}
"""Highest allowed growth for four times as many chunks. For `add`, a quarter more per chunk."""


def factor(name: str) -> float | None:
    """Return the highest allowed growth for four times as many chunks."""
    return _FACTORS.get(name)


def verdicts(figures: Mapping[str, Any]) -> Iterator[Verdict]:
    """Yield every budget that was measured: rows first, then files, memory and growth."""
    for budget in BUDGETS:
        for row in figures["rows"]:
            if _is_meant(budget, row):
                yield _verdict(row, budget._replace(chunks=row["chunks"]), row["ratio"]["median"])
    for row in figures["files"]:
        yield _verdict(row, Budget("file", row["chunks"], "1.1 x vectors + 1.85 x text", 1.0), row["ratio"])
    for row in figures["memory"]:
        allowed = row["allowed_mb"]
        meant = 1.5 * row["vectors_mb"] + KEPT_MB if allowed is None else allowed + BESIDE_MB
        name = "memory, warm" if allowed is None else f"memory, warm, memory_mb = {allowed}"
        yield _verdict(row, Budget(name, row["chunks"], f"{meant:.0f} MB", 1.0), round(row["resident_mb"] / meant, 3))
    for row in figures["growth"]:
        if row["most"] is not None:
            few, many = row["chunks"]
            yield _verdict(row, Budget(row["name"], many, f"growth from {few}", row["most"]), row["factor"])


def missed(results: Iterable[Verdict]) -> list[Verdict]:
    """Return the budgets that were missed."""
    return [each for each in results if each.said.startswith("missed")]


def _is_meant(budget: Budget, row: Mapping[str, Any]) -> bool:
    """Return True if a budget applies. A budget for one embedder replaces the one for all."""
    if (row["name"], row["peer"]) != (budget.name, budget.peer) or budget.chunks not in (EVERY_SIZE, row["chunks"]):
        return False
    stricter = any(
        each.embedding == row["embedding"] for each in BUDGETS if each[:3] == budget[:3] and each.embedding
    )
    return budget.embedding == row["embedding"] or (not budget.embedding and not stricter)


def _verdict(row: Mapping[str, Any], budget: Budget, ratio: float) -> Verdict:
    most, aim = round(budget.most, 3), None if budget.aim is None else round(budget.aim, 3)
    outcome = f"missed by {ratio / most:.2f} x"
    if ratio <= most:
        outcome = "aim met" if aim is not None and ratio <= aim else "met"
    return Verdict(budget.name, row["embedding"], budget.chunks, budget.peer, ratio, most, aim, outcome)
