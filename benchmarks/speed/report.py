"""Collect all figures of a run as JSON, and print them as text."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from benchmarks.speed import budgets, cold, filling, peers, resident, signed, warm
from benchmarks.speed.budgets import Verdict
from benchmarks.speed.lab import Lab, has, opened
from benchmarks.speed.rows import Row, as_json
from benchmarks.speed.slider import slider
from benchmarks.timing import Comparison

PARTS: Mapping[str, Callable[[Lab], Iterator[Row]]] = {
    "warm": warm.answers,
    "about": warm.about_answers,
    "whynot": warm.why_not,
    "lsh": signed.by_signatures,
    "slider": lambda lab: (_row(lab, found) for found in _slider(lab)),
    "cold": cold.starts,
    "add": filling.adding,
}
"""Measurements of a lab, by name. `file` and `memory` are the others."""
OTHERS = ("file", "memory")


class Growth(NamedTuple):
    """The cost ratio of two sizes, one four times the other."""

    name: str
    embedding: str
    chunks: tuple[int, int]
    factor: float
    most: float | None


class Run(NamedTuple):
    """A run. stores: the folder of the stores."""

    sizes: Sequence[int]
    embeddings: Sequence[str]
    parts: Sequence[str]
    stores: Path
    rounds: int


def measured(
    run: Run, say: Callable[[str], None], keep: Callable[[dict[str, Any]], None] = lambda _: None
) -> dict[str, Any]:
    """Return every figure at every size.

    A full run takes long: `say` prints each figure, and `keep` gets all figures so far after each store.
    """
    figures: dict[str, Any] = {"machine": machine(run), "stores": [], "rows": [], "files": [], "memory": []}
    figures |= {"growth": [], "budgets": []}
    for embedding in run.embeddings:
        if not has(embedding):
            figures["machine"]["absent"].append(embedding)
            continue
        for chunks in run.sizes:
            with opened(run.stores, embedding, chunks, rounds=run.rounds) as lab:
                say(f"{embedding}, {chunks} chunks: {lab.made.kind}")
                figures["stores"].append(as_json(lab.made))
                _measure(lab, run.parts, figures, say)
            figures["growth"] = [as_json(each) for each in growth(figures["rows"])]
            figures["budgets"] = [as_json(each) for each in budgets.verdicts(figures)]
            keep(figures)
    return figures


def machine(run: Run) -> dict[str, Any]:
    """Return the versions and settings that the figures depend on."""
    return {
        "python": sys.version.split()[0],
        "sqlite": apsw.sqlite_lib_version(),
        "numpy": version("numpy"),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "rounds": run.rounds,
        "absent": peers.absent(),
    }


def growth(rows: Sequence[Mapping[str, Any]]) -> Iterator[Growth]:
    """Yield the growth of our own cost from each size to the next."""
    for name, embedding in dict.fromkeys((row["name"], row["embedding"]) for row in rows):
        found = {
            row["chunks"]: row["ours_ms"]["median"]
            for row in rows
            if row["name"] == name and row["embedding"] == embedding
        }
        for (few, before), (many, after) in pairwise(sorted(found.items())):
            factor = (after / before) ** (log(4) / log(many / few))
            yield Growth(name, embedding, (few, many), round(factor, 2), budgets.factor(name))


def table(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures as lines of text."""
    yield f"{'':28}{'':6}{'chunks':>7}  {'ours, ms':>10}  {'peer, ms':>10}  {'ratio':>8}  (least to most)"
    for row in figures["rows"]:
        ours, its, ratio = row["ours_ms"]["median"], row["peer_ms"]["median"], row["ratio"]
        whose = "our" if row["name"].endswith(signed.LSH) else "its"
        recall = "" if row["recall"] is None else f", {whose} recall@10 {row['recall']:.2f}"
        shown = f"{ratio['median']:>8.2f}  ({ratio['least']:.2f} to {ratio['most']:.2f}) x {row['peer']}{recall}"
        yield f"{row['name']:<28}{row['embedding']:<6}{row['chunks']:>7}  {ours:>10.3f}  {its:>10.3f}  {shown}"
    yield ""
    for row in figures["files"]:
        yield f"{'file':<28}{row['embedding']:<6}{row['chunks']:>7}  {row['file_bytes'] / 1e6:.1f} MB"
    for row in figures["memory"]:
        allowed = "" if row["allowed_mb"] is None else f", {row['allowed_mb']} MB allowed"
        shown = f"{row['resident_mb']:.0f} MB, at most {row['peak_mb']:.0f}{allowed}"
        yield f"{'memory, warm':<28}{row['embedding']:<6}{row['chunks']:>7}  {shown}"
    yield ""
    for row in figures["growth"]:
        few, many = row["chunks"]
        yield f"{row['name']:<28}{row['embedding']:<6}{few:>7} to {many}: {row['factor']:.2f} for 4 x"
    yield ""
    yield from verdict_lines([Verdict(**row) for row in figures["budgets"]])
    yield from (f"not installed, not measured: {name}" for name in figures["machine"]["absent"])


def verdict_lines(found: Sequence[Verdict]) -> Iterator[str]:
    """Yield each budget and its verdict."""
    for each in found:
        aim = "" if each.aim is None else f", {each.aim:g} is the aim"
        shown = f"{each.ratio:>8.2f}  at most {each.most:g}{aim} x {each.peer}: {each.said}"
        yield f"{each.name:<36}{each.embedding:<6}{each.chunks:>7}  {shown}"


def _measure(lab: Lab, parts: Sequence[str], figures: dict[str, Any], say: Callable[[str], None]) -> None:
    for name in parts:
        if name == "file":
            figures["files"].append(as_json(filling.weight(lab)))
        elif name == "memory":
            figures["memory"] += map(as_json, resident.memory(lab))
        else:
            for row in PARTS[name](lab):
                say(f"  {row.name}: {row.ours_ms.median:.2f} ms, {row.ratio.median:.2f} x {row.peer}")
                figures["rows"].append(as_json(row))


def _slider(lab: Lab) -> Iterator[Comparison]:
    words = lab.asker.draw("8 words", 1)[0].text
    return slider(lab.recall, words, chunks=lab.chunks, rounds=lab.rounds)


def _row(lab: Lab, found: Comparison) -> Row:
    return Row(found.name, lab.made.embedding, lab.chunks, found.peer, found.ours_ms, found.peer_ms, found.ratio)
