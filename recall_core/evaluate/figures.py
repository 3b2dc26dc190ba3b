"""Measured rankings as the figures of an answer: means with their intervals, comparisons, single queries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from recall_core.contract.judging import (
    ComparisonView,
    EvaluationView,
    IntervalView,
    MeasureView,
    ModeView,
    QueryValuesView,
    RegressionView,
)
from recall_core.evaluate.compare import Baseline, Values, fallen, intervals, paired
from recall_core.evaluate.gate import Condition
from recall_core.evaluate.measures import DIGITS, Measure, bounds, judged_share
from recall_core.evaluate.names import Names
from recall_core.evaluate.questions import Questions

REGRESSIONS_SHOWN = 10


class Setup(NamedTuple):
    """Everything known before the first query is asked."""

    questions: Questions
    names: Names
    modes: tuple[str, ...]
    measures: tuple[Measure, ...]
    depth: int
    conditions: tuple[Condition, ...]
    baseline: Baseline | None


class _Other(NamedTuple):
    """What a mode is compared with, under the name that it is shown by."""

    name: str
    is_baseline: bool
    values: Values


Rankings = Mapping[str, Mapping[str, Sequence[str]]]
"""Mode to query to documents, best first."""


def evaluation_view(board: Setup, rankings: Rankings, measured: Mapping[str, Values]) -> EvaluationView:
    """The answer. measured: by mode."""
    asked = board.questions
    columns = [list(found.values()) for mode in board.modes for found in measured[mode].values()]
    spreads = iter(intervals(columns))
    return EvaluationView(
        unit=asked.unit,
        queries=len(asked.grades),
        unjudged=asked.unjudged,
        without_relevant=asked.without_relevant,
        judgements=asked.judgements,
        unknown=asked.unknown,
        depth=board.depth,
        modes=[_mode_view(mode, board, rankings[mode], measured[mode], spreads) for mode in board.modes],
        comparisons=[
            view
            for mode, other in _pairs(board, measured)
            for view in _comparisons(mode, other, board, measured[mode])
        ],
    )


def mean(values: Collection[float]) -> float:
    """The mean of at least one value, rounded."""
    return round(sum(values) / len(values), DIGITS)


def query_views(board: Setup, measured: Mapping[str, Values]) -> Iterator[QueryValuesView]:
    """Every query with its values."""
    for query, grades in board.questions.grades.items():
        yield QueryValuesView(
            query=query,
            text=board.questions.texts[query],
            relevant=sum(grade >= 1 for grade in grades.values()),
            values={
                mode: {measure: found[query] for measure, found in values.items()}
                for mode, values in measured.items()
            },
        )


def _mode_view(
    mode: str,
    board: Setup,
    rankings: Mapping[str, Sequence[str]],
    measured: Values,
    spreads: Iterator[tuple[float, float]],
) -> ModeView:
    """spreads: the intervals of the measures, in order."""
    views = []
    for measure in board.measures:
        found = measured[measure.name]
        shares = _judged(measure.cutoff or board.depth, board.questions, rankings)
        views.append(
            MeasureView(
                measure=measure.name,
                mean=mean(found.values()),
                interval=_interval(next(spreads)),
                judged=mean(shares) if shares else None,
                bounds=_reach(measure, board.questions, rankings),
                values=dict(found),
            )
        )
    return ModeView(mode=mode, measures=views)


def _judged(cutoff: int, asked: Questions, rankings: Mapping[str, Sequence[str]]) -> list[float]:
    shares = [judged_share(grades, rankings[query], cutoff) for query, grades in asked.grades.items()]
    return [share for share in shares if share is not None]


def _reach(measure: Measure, asked: Questions, rankings: Mapping[str, Sequence[str]]) -> IntervalView | None:
    """What the mean could be, each unjudged hit being either irrelevant or of the best grade."""
    found = [bounds(measure, grades, rankings[query], best=asked.best) for query, grades in asked.grades.items()]
    pairs = [pair for pair in found if pair is not None]
    return _interval((mean([low for low, _ in pairs]), mean([high for _, high in pairs]))) if pairs else None


def _interval(ends: tuple[float, float]) -> IntervalView:
    return IntervalView(low=ends[0], high=ends[1])


def _pairs(board: Setup, measured: Mapping[str, Values]) -> Iterator[tuple[str, _Other]]:
    """Each mode with each that follows, then each with what the baseline has for it."""
    for number, mode in enumerate(board.modes):
        for other in board.modes[number + 1 :]:
            yield mode, _Other(other, is_baseline=False, values=measured[other])
    for mode in board.modes:
        name = None if board.baseline is None else board.baseline.against(mode)
        if board.baseline is not None and name is not None:
            yield mode, _Other(name, is_baseline=True, values=board.baseline.modes[name])


def _comparisons(mode: str, other: _Other, board: Setup, measured: Values) -> Iterator[ComparisonView]:
    """One view a measure that both have, over the queries that both have."""
    measures = [measure for measure in measured if measure in other.values]
    if not measures:
        return
    known = [other.values[measure].keys() for measure in measures]
    queries = [query for query in board.questions.grades if all(query in each for each in known)]
    if not queries:
        return
    before = [{query: other.values[measure][query] for query in queries} for measure in measures]
    after = [{query: measured[measure][query] for query in queries} for measure in measures]
    results = paired([list(each.values()) for each in after], [list(each.values()) for each in before])
    for measure, result, new, old in zip(measures, results, after, before, strict=True):
        yield ComparisonView(
            mode=mode,
            against=other.name,
            baseline=other.is_baseline,
            measure=measure,
            queries=len(queries),
            difference=result.difference,
            interval=_interval((result.low, result.high)),
            p=result.p,
            verdict=result.verdict,
            wins=result.wins,
            losses=result.losses,
            ties=result.ties,
            regressions=_regressions(new, old, board.questions),
        )


def _regressions(after: Mapping[str, float], before: Mapping[str, float], asked: Questions) -> list[RegressionView]:
    return [
        RegressionView(query=query, text=asked.texts[query], before=before[query], after=after[query])
        for query in list(fallen(after, before))[:REGRESSIONS_SHOWN]
    ]
