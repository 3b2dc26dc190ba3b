"""Measure checks of the files behind answers, and of every text and vector: `python -m benchmarks.checks`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import corpus
from benchmarks.timing import Comparison, Cost, average, compare, cpu, on_one_thread
from recall_core.api.recall import Ask, Recall
from recall_core.store.values import StoreCheck

SIZES = (1_000, 5_000)
ANSWERS = 1_000
MOST_RATIO = 1.1
"""Highest allowed ratio of the cost of an answer after `chmod -R` and one sync to its cost before."""

_ASK = Ask(k=10)
_QUESTIONS = 40
_CHECKED: tuple[StoreCheck, ...] = ("texts", "vector_values")


def measure(chunks: int, home: Path, *, answers: int, rounds: int) -> Iterator[Comparison]:
    """Yield every comparison at one size. home: an empty folder. answers: the minimum of a round."""
    asked = corpus.questions(_QUESTIONS).middling
    questions = asked * -(-answers // len(asked))
    with _filled(home / "one", chunks) as changed, _filled(home / "other", chunks) as left:
        count = left.store.info().chunks
        before = average(partial(_search, left), questions)
        ours = _after_rights(changed, average(partial(_search, changed), questions))
        yield compare("answers after chmod -R", ours, "before", before, chunks=count, rounds=rounds)
        peer = cpu(partial(_check, left, ("integrity",)))
        own = cpu(partial(_check, left, _CHECKED))
        yield compare("texts and vectors", own, "integrity_check", peer, chunks=count, rounds=rounds)


def _filled(home: Path, chunks: int) -> Recall:
    corpus.write(home / "docs", chunks)
    Recall.init(str(home), settings=corpus.SETTINGS)
    recall = Recall.open(str(home))
    recall.index(str(home / "docs"))
    return recall


def _after_rights(recall: Recall, cost: Cost) -> Cost:
    """Return the cost right after `chmod` of every file and a sync. Neither is part of the cost."""

    def after() -> float:
        for place in (recall.engine.base / "docs").iterdir():
            place.chmod(place.stat().st_mode ^ 0o040)
        for _ in recall.sync():
            pass
        return cost()

    return after


def _search(recall: Recall, words: str) -> None:
    assert all(not warning.startswith("W_STALE") for warning in recall.search(words, _ASK)["warnings"])


def _check(recall: Recall, codes: Sequence[StoreCheck]) -> None:
    for code in codes:
        assert recall.store.check(code).severity == "ok"


def table(found: Sequence[Comparison]) -> Iterator[str]:
    """Yield the figures as lines of text. Checks are given for a thousand chunks."""
    for one in found:
        share = 1 if one.name.startswith("answers") else 1_000 / one.chunks
        costs = f"{one.ours_ms.median * share:>9.3f} ms  {one.peer} {one.peer_ms.median * share:.3f} ms"
        spread = f"{one.ratio.median:.2f} ({one.ratio.least:.2f} to {one.ratio.most:.2f})"
        yield f"{one.name:<24}{one.chunks:>7} chunks {costs}  ratio {spread}"


def over(found: Sequence[Comparison]) -> list[str]:
    """Return the names of answers that cost too much after `chmod`."""
    return [one.name for one in found if one.name.startswith("answers") and one.ratio.median > MOST_RATIO]


def main() -> int:
    """Measure, print and write JSON if asked to. Return 1 if an answer costs too much after `chmod`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checks", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="CHUNKS")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures to FILE as JSON")
    options = parser.parse_args()
    found: list[Comparison] = []
    for chunks in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            found += measure(chunks, Path(folder), answers=ANSWERS, rounds=options.rounds)
    print("\n".join(table(found)))
    if options.out is not None:
        options.out.write_text(json.dumps([_as_json(one) for one in found], indent=1) + "\n", encoding="utf-8")
    return int(bool(over(found)))


def _as_json(one: Comparison) -> dict[str, Any]:
    return {key: value._asdict() if hasattr(value, "_asdict") else value for key, value in one._asdict().items()}


if __name__ == "__main__":
    on_one_thread("benchmarks.checks")
    sys.exit(main())
