"""Measure the processor and wall seconds of each test file, children included."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REPORT = Path("reports", "seconds.tsv")


class Stopwatch:
    """A pytest plug-in that writes `reports/seconds.tsv`: one line per test file, the slowest first.

    Processor seconds include threads and every child process that a test waited for. Under pytest-xdist each worker
    measures its own files and sends the sums to the controller.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._cases: dict[str, int] = defaultdict(int)
        self._cpu: dict[str, float] = defaultdict(float)
        self._wall: dict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Add the cost of one test, with its fixtures, to its file."""
        file = item.nodeid.partition("::")[0]
        cpu, wall = _cpu(), time.perf_counter()
        result = yield
        self._add(file, 1, _cpu() - cpu, time.perf_counter() - wall)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Iterator[None]:
        """Count the import of all test files as a separate file."""
        cpu, wall = _cpu(), time.perf_counter()
        result = yield
        self._add("(collection)", 0, _cpu() - cpu, time.perf_counter() - wall)
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the figures of a worker."""
        for file, row in getattr(node, "workeroutput", {}).get("seconds", {}).items():
            self._add(file, *row)

    def pytest_sessionfinish(self) -> None:
        """Send the sums to the controller, or write them if there is no controller."""
        rows = {file: (self._cases[file], self._cpu[file], self._wall[file]) for file in self._cpu}
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["seconds"] = rows
            return
        path = self._config.rootpath / REPORT
        path.parent.mkdir(exist_ok=True)
        ordered = sorted(rows.items(), key=lambda row: (-row[1][1], row[0]))
        lines = [f"{cpu:.2f}\t{wall:.2f}\t{cases}\t{file}\n" for file, (cases, cpu, wall) in ordered]
        path.write_text("".join(["cpu\twall\tcases\tfile\n", *lines]), encoding="utf-8")

    def _add(self, file: str, cases: int, cpu: float, wall: float) -> None:
        self._cases[file] += cases
        self._cpu[file] += cpu
        self._wall[file] += wall


def _cpu() -> float:
    return sum(os.times()[:4])
