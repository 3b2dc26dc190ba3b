"""Find out which tests reach each line, and what each test costs, with coverage.py's dynamic contexts."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import NamedTuple

import coverage
import pytest

from benchmarks.forked import PYTEST, Job, in_children, say

MAP_SECONDS = 1800.0
_MAP_PIECES = 24
_INTERRUPTING = "tests/unit/test_one_thread.py::test_exception_from_a_signal_always_releases_the_guard"
"""This test raises an exception anywhere, also while coverage holds its lock, which is then never released."""


class Reach(NamedTuple):
    """The tests that reach each line of each file. Line 0 is the file as a whole."""

    tests: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]
    """Processor time of each test, without a change."""
    branches: float
    """Branch coverage of the files, in percent."""


def reached(paths: list[str], tests: Iterable[str], trees: list[Path], folder: Path) -> Reach:
    """Return the map from lines to tests, measured in parts. `folder` keeps each part."""
    found = [path for each in tests for path in sorted((trees[0] / each).rglob("test_*.py"))]
    names = [path.relative_to(trees[0]).as_posix() for path in found]
    pieces = {folder / f"{n}.json": names[n::_MAP_PIECES] for n in range(_MAP_PIECES) if names[n::_MAP_PIECES]}
    left = {kept: piece for kept, piece in pieces.items() if not kept.exists()}
    jobs = [Job(kept.stem, partial(_map, paths, piece, kept), MAP_SECONDS) for kept, piece in left.items()]
    for done, ended in enumerate(in_children(jobs, trees), start=1):
        say(f"measuring coverage: {done} of {len(jobs)}, {ended.seconds:.0f} s")
        if not (folder / f"{ended.job.name}.json").exists():
            raise SystemExit(f"The tests ended early with exit status {ended.status}.")
    reach = Reach({path: defaultdict(list) for path in paths}, {}, _branch_coverage(pieces, paths, trees[0]))
    for kept in pieces:
        piece = json.loads(kept.read_text(encoding="utf-8"))
        tests = list(piece["seconds"])
        reach.seconds.update(piece["seconds"])
        for path, lines in piece["lines"].items():
            for line, numbers in lines.items():
                reach.tests[path][int(line)] += [tests[n] for n in numbers]
    return reach


def _branch_coverage(pieces: Iterable[Path], paths: list[str], tree: Path) -> float:
    with chdir(tree), Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        whole = _coverage(None, paths)
        whole.combine([str(piece.with_suffix(".coverage")) for piece in pieces], keep=True)
        return whole.report(file=nowhere)


def _coverage(file: str | None, paths: list[str]) -> coverage.Coverage:
    """Return a measurement of these files, named relative to the copy of the checkout that it runs in."""
    measured = coverage.Coverage(data_file=file, branch=True, include=paths, config_file=False)
    measured.set_option("run:relative_files", True)
    return measured


def _map(paths: list[str], tests: list[str], kept: Path) -> int:
    """Run tests in a child. Write down which tests passed, their time and the lines they reached."""
    measured = _coverage(str(kept.with_suffix(".coverage")), paths)
    recorder = _Recorder(measured)
    measured.start()
    status = pytest.main([*PYTEST, f"--deselect={_INTERRUPTING}", *tests], plugins=[recorder])
    measured.stop()
    measured.save()
    passed = recorder.passed()
    numbers = {test: n for n, test in enumerate(passed)}
    lines = {}
    for path in paths:
        contexts = measured.get_data().contexts_by_lineno(path)
        found = {line: [numbers[test] for test in tests if test in numbers] for line, tests in contexts.items()}
        lines[path] = {**found, 0: sorted({number for some in found.values() for number in some})}
    part = kept.with_suffix(".part")
    part.write_text(json.dumps({"seconds": passed, "lines": lines}), encoding="utf-8")
    part.replace(kept)
    return int(status)


class _Recorder:
    """A pytest plug-in that names the running test to coverage and records the cost of tests that passed."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self._measured, self._bad = measured, set[str]()
        self._seconds: dict[str, float] = {}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._measured.switch_context(nodeid)
        self._seconds[nodeid] = -_cpu()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._seconds[nodeid] += _cpu()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._bad.add(report.nodeid)

    def passed(self) -> dict[str, float]:
        return {test: round(seconds, 4) for test, seconds in self._seconds.items() if test not in self._bad}


def _cpu() -> float:
    """Return the processor time of this process and its ended children, in seconds."""
    return sum(os.times()[:4])
