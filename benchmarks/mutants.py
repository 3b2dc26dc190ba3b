"""Count the small faults that the tests notice: `make mutants`, or a part: `python -m benchmarks.mutants --part 1/4`.

A mutant is one change to one module (`benchmarks.mutation`). The tests that reach its line run against it in a copy
of
the checkout (`benchmarks.forked`). Results are kept in .mutants/. A killed mutant never runs again; a survivor runs
again after any file of the checkout changed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from benchmarks.forked import PYTEST, Ended, Job, copies, files, in_children, say, warm
from benchmarks.mutation import Change, is_called, sampled, statements, used_from
from benchmarks.reach import MAP_SECONDS, Reach, reached

FILES = (
    "recall_core/rank/*.py",
    "recall_core/retrieve/*.py",
    "recall_core/pack/*.py",
    "recall_core/ingest/**/*.py",
    "recall_core/store/sqlite/write.py",
    "recall_core/store/sqlite/schema.py",
    "recall_core/store/sqlite/opened.py",
    "recall_core/store/sqlite/maintenance.py",
)
"""The files to mutate: code that ranks, packs, cuts and writes rows."""
TESTS = ("tests/unit", "tests/property", "tests/conformance", "tests/golden")
PARTS = 4

MOST_TESTS = 200
MOST_SECONDS = 20.0
"""Limits of the tests that run against a mutant: their number and their processor time. The nearest by name run
first."""
PATIENCE = 3.0
"""Factor on the time that the tests take without the mutant. `--grace` adds some seconds to start."""

Row = dict[str, Any]


class Mutant(NamedTuple):
    path: str
    change: Change
    source: bytes

    @property
    def key(self) -> str:
        """The same for the same change to the same source."""
        return sha256(self.source + b"\0" + self.change.applied(self.source)).hexdigest()[:16]


def planned(root: Path, patterns: Iterable[str], *, seed: int, count: int) -> list[Mutant]:
    """Return `count` mutants, spread over the files by their statements. Larger files make up for small ones."""
    sized = sorted((statements((root / path).read_bytes()), path) for path in _paths(root, patterns))
    total, passed = sum(size for size, _ in sized), 0
    mutants: list[Mutant] = []
    for size, path in sized:
        passed += size
        source = (root / path).read_bytes()
        share = round(count * passed / total) - len(mutants)
        mutants += [Mutant(path, change, source) for change in sampled(source, share, Random(f"{seed} {path}"))]
    return sorted(mutants)


def chosen(mutant: Mutant, reach: Reach) -> list[str]:
    """Return the tests to run against a mutant: the nearest within the limits, the quickest file first."""
    seconds, cost = reach.seconds, defaultdict[str, float](float)
    taken: list[str] = []
    for test in sorted(
        _reaching(mutant, reach), key=lambda test: (-_nearness(mutant.path, test), seconds[test], test)
    ):
        if taken and (len(taken) == MOST_TESTS or sum(cost.values()) + seconds[test] > MOST_SECONDS):
            break
        taken.append(test)
        cost[_file(test)] += seconds[test]
    return sorted(taken, key=lambda test: (cost[_file(test)], _file(test), seconds[test], test))


def _reaching(mutant: Mutant, reach: Reach) -> set[str]:
    """Return the tests that reach the line. For a line that runs at import, return those that reach its users."""
    lines, change = reach.tests[mutant.path], mutant.change
    if is_called(mutant.source, change.statement):
        return {test for line in (change.line, change.statement) for test in lines.get(line, ())}
    users = used_from(mutant.source, change.statement)
    return {test for line in users or {0} for test in lines.get(line, ())}


def _nearness(path: str, test: str) -> int:
    *rooms, module = Path(path).with_suffix("").parts
    words = Path(_file(test)).stem.split("_")
    return 2 * (module in words) + sum(room in words for room in rooms)


def _file(test: str) -> str:
    return test.partition("::")[0]


class _Failed:
    """A pytest plug-in that writes down the tests that failed."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(f"{report.nodeid}\n")


def tried(
    mutants: list[Mutant], reach: Reach, trees: list[Path], tree: str, grace: float, *, killers: bool = False
) -> Iterator[Row]:
    """Yield the result of each mutant as it ends. Then check that the tests that noticed any pass without a change.

    killers: run every chosen test and record all that fail, instead of stopping at the first.
    """
    by_key = {mutant.key: mutant for mutant in mutants}
    with tempfile.TemporaryDirectory() as notes:
        jobs = []
        for key, mutant in by_key.items():
            tests = chosen(mutant, reach)
            run = partial(_test, tests, Path(notes, key), *(() if killers else ("-x",)))
            limit = PATIENCE * sum(reach.seconds[test] for test in tests) + grace
            jobs.append(Job(key, run, limit, mutant.path, mutant.change.applied(mutant.source)))
        noticed: set[str] = set()
        for ended in in_children(jobs, trees):
            note = Path(notes, ended.job.name)
            by = list(dict.fromkeys(note.read_text(encoding="utf-8").splitlines())) if note.exists() else []
            noticed |= set(by)
            yield _row(by_key[ended.job.name], ended, by, tree)
        _control(sorted(noticed), trees, Path(notes, "control"))


def _test(tests: list[str], note: Path, *options: str) -> int:
    """Run tests in a child and write down which failed. Return 0 if there are no tests."""
    return int(pytest.main([*PYTEST, *options, *tests], plugins=[_Failed(note)])) if tests else 0


def _row(mutant: Mutant, ended: Ended, by: list[str], tree: str) -> Row:
    outcome = {None: "timeout", 0: "survived"}.get(ended.status, "killed")
    place = {"path": mutant.path, "line": mutant.change.line, "change": mutant.change.shown(mutant.source)}
    return {
        "key": mutant.key,
        **place,
        "outcome": outcome,
        "by": by,
        "seconds": round(ended.seconds, 1),
        "tree": tree,
    }


def _control(tests: list[str], trees: list[Path], note: Path) -> None:
    for ended in in_children([Job("control", partial(_test, tests, note), MAP_SECONDS)], trees):
        if ended.status != 0:
            failed = note.read_text(encoding="utf-8") if note.exists() else f"exit status {ended.status}"
            raise SystemExit(
                f"These tests also fail without a change, so the mutants they killed may survive:\n{failed}"
            )


def report(mutants: list[Mutant], rows: dict[str, Row]) -> Iterator[str]:
    """Yield a line for each file, one for all, and every survivor with its change."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for mutant in mutants:
        counts[mutant.path][rows[mutant.key]["outcome"]] += 1
    counts["all"] = Counter(rows[mutant.key]["outcome"] for mutant in mutants)
    yield f"{'module':<44}{'killed':>8}{'survived':>10}{'timeout':>9}{'score':>8}"
    for name, count in counts.items():
        figures = f"{count['killed']:>8}{count['survived']:>10}{count['timeout']:>9}"
        yield f"{name:<44}{figures}{score(count):>7.1f}%"
    for row in (rows[mutant.key] for mutant in mutants):
        if row["outcome"] == "survived":
            yield f"{row['path']}:{row['line']}  {row['change']}"


def score(outcomes: Counter[str]) -> float:
    """Return the percentage of mutants that were noticed."""
    return 100 * (1 - outcomes["survived"] / max(1, outcomes.total()))


def main() -> int:
    """Run the remaining mutants of a part, and print the results of all of them."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # let `finally` end the children first
    root = options.root.resolve()
    kept, tree = root / ".mutants", digest(root)
    kept.mkdir(exist_ok=True)
    results = kept / f"results-{options.seed}.jsonl"
    mutants = planned(root, options.files, seed=options.seed, count=options.count)
    n, parts = options.part or (None, PARTS)
    shares = [mutants[start::parts] for start in ([n - 1] if n else range(parts))]
    mutants = sorted(mutant for share in shares for mutant in share)
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)  # tests that drop root's privileges read files in it
        trees: list[Path] = []
        for share in shares:
            rows = _known(results)
            left = [mutant for mutant in share if not _is_done(rows.get(mutant.key), tree)]
            say(f"{len(share)} mutants, {len(left)} to try")
            if left and not trees:
                warm()
                trees = copies(root, Path(place), options.workers)
                reach = reached(_paths(root, options.files), options.tests, trees, _map_folder(kept, tree))
                say(f"branch coverage: {reach.branches:.1f} %")
            for row in tried(left, reach, trees, tree, options.grace, killers=options.killers) if left else ():
                with results.open("a", encoding="utf-8") as file:
                    file.write(f"{json.dumps(row)}\n")
    rows = _known(results)
    print("\n".join(report(mutants, rows)))
    return int(score(Counter(rows[mutant.key]["outcome"] for mutant in mutants)) < options.least)


def digest(root: Path) -> str:
    """Return a hash of every file that a test may read."""
    whole = sha256()
    for file in files(root):
        whole.update(f"{file.relative_to(root)}\0".encode() + sha256(file.read_bytes()).digest())
    return whole.hexdigest()[:16]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--part", type=_part, metavar="I/N", help="run only every N-th mutant, starting at the I-th")
    parser.add_argument("--grace", type=float, default=10, metavar="SECONDS", help="extra time for a mutant to start")
    parser.add_argument("--killers", action="store_true", help="record every test that notices a mutant")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--least", type=float, default=0, metavar="SCORE", help="exit 1 if the score is below SCORE per cent"
    )
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the checkout")
    parser.add_argument("--files", nargs="+", default=FILES, metavar="PATTERN", help="files to mutate")
    parser.add_argument("--tests", nargs="+", default=TESTS, metavar="FOLDER", help="folders of the tests")
    return parser.parse_args()


def _part(text: str) -> tuple[int, int]:
    n, parts = (int(number) for number in text.split("/"))
    if not 0 < n <= parts:
        raise ValueError(text)
    return n, parts


def _paths(root: Path, patterns: Iterable[str]) -> list[str]:
    found = {pattern: [path.relative_to(root).as_posix() for path in root.glob(pattern)] for pattern in patterns}
    for pattern, paths in found.items():
        if not paths:
            raise SystemExit(f"No file matches {pattern}. Was it moved?")
    return sorted({path for paths in found.values() for path in paths})


def _map_folder(kept: Path, tree: str) -> Path:
    """Return the folder of the map of this tree. Remove the maps of other trees."""
    folder = kept / f"map-{tree}"
    for other in kept.glob("map-*"):
        if other != folder:
            shutil.rmtree(other)
    folder.mkdir(exist_ok=True)
    return folder


def _known(results: Path) -> dict[str, Row]:
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    return {row["key"]: row for row in map(json.loads, lines)}


def _is_done(row: Row | None, tree: str) -> bool:
    return row is not None and (row["outcome"] != "survived" or row["tree"] == tree)


if __name__ == "__main__":
    sys.exit(main())
