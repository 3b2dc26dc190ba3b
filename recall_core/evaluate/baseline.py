"""What a run is compared with: an earlier answer of eval, or another system's TREC run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from recall_core.errors import UsageError
from recall_core.evaluate.measures import EPSILON
from recall_core.evaluate.runs import parse_run, read_text

RUN = "run"
"""The mode of a TREC run."""

Values = Mapping[str, Mapping[str, float]]
"""Measure to query to value."""


class _Measure(msgspec.Struct):
    measure: str
    values: dict[str, float]


class _Mode(msgspec.Struct):
    mode: str
    measures: list[_Measure]


class _Evaluation(msgspec.Struct):
    modes: Annotated[list[_Mode], msgspec.Meta(min_length=1)]


class _Answer(msgspec.Struct):
    evaluation: _Evaluation


class Baseline(NamedTuple):
    """Values by mode, then measure, then query."""

    modes: Mapping[str, Values]

    def against(self, mode: str) -> str | None:
        """The mode to compare this one with: of the same name, or else the only one there is."""
        if mode in self.modes:
            return mode
        return next(iter(self.modes)) if len(self.modes) == 1 else None

    def shared(self, mode: str, measure: str, queries: Iterable[str]) -> dict[str, float]:
        """The values to compare with, of those of these queries that the baseline has, in their order."""
        against = self.against(mode)
        known = {} if against is None else self.modes[against].get(measure, {})
        return {query: known[query] for query in queries if query in known}


def fallen(after: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    """The queries of `before` that have a lower value after, with the difference, the furthest fallen first."""
    differences = {query: after[query] - value for query, value in before.items()}
    lower = {query: difference for query, difference in differences.items() if difference < -EPSILON}
    return dict(sorted(lower.items(), key=lambda each: (each[1], each[0])))


def read_baseline(path: Path, measured: Callable[[dict[str, list[str]]], Values]) -> Baseline:
    """The baseline in a file. measured: the values of a run, given as query id to the file's documents.

    Raises UsageError `bad_baseline`, `bad_run`.
    """
    text = read_text(path)
    if not text.lstrip().startswith("{"):
        return Baseline({RUN: measured(parse_run(text, name=str(path)))})
    try:
        answer = msgspec.json.decode(text, type=_Answer)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise UsageError(
            "bad_baseline",
            f"{path} is neither an answer of recall eval --json nor a TREC run: {error}.",
            hint="recall eval --json > before.json",
        ) from error
    modes = answer.evaluation.modes
    return Baseline({mode.mode: {each.measure: each.values for each in mode.measures} for mode in modes})
