"""The figures of an evaluation: means with intervals, comparisons and single queries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec
import numpy as np

from recall_core.contract.judging import (
    ComparisonView,
    EvaluationView,
    IntervalView,
    MeasureView,
    ModeView,
    QueryValuesView,
    RegressionView,
)
from recall_core.deadline import check
from recall_core.errors import UsageError
from recall_core.evaluate.formats import parse_run, read_text
from recall_core.evaluate.judgements import Names
from recall_core.evaluate.measures import DIGITS, EPSILON, Condition, Measure, bounds, judged_share
from recall_core.evaluate.questions import PLURAL, Questions, Unit
from recall_core.shell import AGAIN, Hint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESAMPLES = 2_000
FLIPS = 10_000
SEED = 20_090_719  # arbitrary, but fixed so that intervals are reproducible
SIGNIFICANT = 0.05
_EXACT = 13  # queries up to which all 2^n sign assignments are tried instead of 10,000 random ones
_ROWS = 1_000  # sign assignments per block


class Paired(NamedTuple):
    """One measure's per-query differences: their mean with a 95 % interval, and their distribution."""

    difference: float
    low: float
    high: float
    p: float
    wins: int
    losses: int
    ties: int

    @property
    def verdict(self) -> str:
        """The verdict as text."""
        if self.p >= SIGNIFICANT or self.difference == 0:
            return "no significant difference"
        return "better" if self.difference > 0 else "worse"


def intervals(columns: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Return the 95 % percentile interval of each column's mean, by 2,000 resamples of its rows (Efron 1979).

    Each column has one value per query. All columns share the resamples. Deterministic.
    """
    values = np.asarray(columns, dtype=np.float64).T
    queries = len(values)
    counts = np.random.default_rng(SEED).multinomial(queries, np.full(queries, 1 / queries), size=RESAMPLES)
    means = counts @ values / queries
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    return [(_round(left), _round(right)) for left, right in zip(low, high, strict=True)]


def compare_columns(after: Sequence[Sequence[float]], before: Sequence[Sequence[float]]) -> list[Paired]:
    """Compare each column of `after` with that of `before`. A column has one value per query, in query order."""
    differences = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    differences[np.abs(differences) <= EPSILON] = 0.0
    bounds = intervals(differences.tolist())
    chances = sign_flip(differences.T)
    found = []
    for column, (low, high), p in zip(differences, bounds, chances, strict=True):
        wins, losses = int((column > 0).sum()), int((column < 0).sum())
        ties = len(column) - wins - losses
        found.append(Paired(_round(column.mean()), low, high, p, wins, losses, ties))
    return found


def sign_flip(differences: Floats) -> list[float]:
    """Return each column's two-sided p: the share of random signs with a mean as far from 0 (Fisher 1935).

    differences: (queries, columns). Up to 13 queries, all assignments are tried. With more, 10,000 random ones are
    drawn; the observed one counts as one of them, so p is never 0. Deterministic.
    """
    observed = np.abs(differences.sum(axis=0)) - EPSILON
    exceeding = np.zeros(differences.shape[1], dtype=np.int64)
    tried = 0
    for signs in _signs(len(differences)):
        check()
        exceeding += (np.abs(signs @ differences) >= observed).sum(axis=0)
        tried += len(signs)
    extra = 0 if len(differences) <= _EXACT else 1
    return [_round(p) for p in (exceeding + extra) / (tried + extra)]


def _signs(queries: int) -> Iterator[Floats]:
    """Yield rows of -1 and 1, one sign per query, in blocks."""
    if queries <= _EXACT:
        numbers = np.arange(2**queries)[:, None] >> np.arange(queries)
        yield np.where(numbers & 1, -1.0, 1.0)
        return
    draw = np.random.default_rng(SEED + 1)
    for _ in range(FLIPS // _ROWS):
        yield np.where(draw.integers(0, 2, size=(_ROWS, queries)), -1.0, 1.0)


def _round(value: float) -> float:
    """Round to the decimals of all values; 0 has no sign."""
    return round(float(value), DIGITS) + 0.0


RUN = "run"
"""The mode name of a TREC run."""

Values = Mapping[str, Mapping[str, float]]
"""Values by measure, then query."""


_MEASURED = Hint("eval", json=True)


class _BaselineMeasure(msgspec.Struct):
    measure: str
    values: dict[str, float]


class _Mode(msgspec.Struct):
    mode: str
    measures: list[_BaselineMeasure]


class _Evaluation(msgspec.Struct):
    modes: Annotated[list[_Mode], msgspec.Meta(min_length=1)]
    unit: Unit = "doc"  # older answers without a unit measured documents


class _BaselineAnswer(msgspec.Struct):
    evaluation: _Evaluation


class Baseline(NamedTuple):
    """Values by mode, then measure, then query."""

    modes: Mapping[str, Values]

    def against(self, mode: str) -> str | None:
        """Return the mode to compare this one with: the same name, else the baseline's only mode."""
        if mode in self.modes:
            return mode
        return next(iter(self.modes)) if len(self.modes) == 1 else None

    def values_for(self, mode: str, measure: str, queries: Iterable[str]) -> dict[str, float]:
        """Return the baseline's values for these queries, in their order. Queries without a value are left out."""
        against = self.against(mode)
        known = {} if against is None else self.modes[against].get(measure, {})
        return {query: known[query] for query in queries if query in known}


def find_fallen(after: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    """Return the queries whose value fell, with the difference, largest fall first."""
    differences = {query: after[query] - value for query, value in before.items()}
    lower = {query: difference for query, difference in differences.items() if difference < -EPSILON}
    return dict(sorted(lower.items(), key=lambda each: (each[1], each[0])))


def read_baseline(path: Path, measured: Callable[[dict[str, list[str]]], Values], *, unit: Unit = "doc") -> Baseline:
    """Return the baseline in a file. measured: returns the values of a run, given as query id to document names.

    unit: the current unit; an answer for the other unit raises `bad_baseline`.
    Raises UsageError `bad_baseline`, `bad_run`.
    """
    text = read_text(path)
    if not text.lstrip().startswith("{"):
        return Baseline({RUN: measured(parse_run(text, name=str(path)))})
    try:
        answer = msgspec.json.decode(text, type=_BaselineAnswer)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise UsageError(
            "bad_baseline",
            f"{path} is neither the output of {_MEASURED} nor a TREC run: {error}.",
            hint=f"{_MEASURED} > before.json",
        ) from error
    if answer.evaluation.unit != unit:
        message = f"{path} measured {PLURAL[answer.evaluation.unit]}, but this run measures {PLURAL[unit]}."
        raise UsageError("bad_baseline", message, hint=Hint(AGAIN, unit=answer.evaluation.unit))
    modes = answer.evaluation.modes
    return Baseline({mode.mode: {each.measure: each.values for each in mode.measures} for mode in modes})


REGRESSIONS_SHOWN = 10


class Setup(NamedTuple):
    """Everything known before the first query runs."""

    questions: Questions
    names: Names
    modes: tuple[str, ...]
    measures: tuple[Measure, ...]
    depth: int
    conditions: tuple[Condition, ...]
    baseline: Baseline | None


class _ComparedValues(NamedTuple):
    """The comparison partner of a mode, with its display name."""

    name: str
    is_baseline: bool
    values: Values


Rankings = Mapping[str, Mapping[str, Sequence[str]]]
"""Documents, best first, by mode and query."""


def evaluation_view(board: Setup, rankings: Rankings, measured: Mapping[str, Values]) -> EvaluationView:
    """Return the figures of an evaluation. measured: values by mode."""
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
    """Return the rounded mean of at least one value."""
    return round(sum(values) / len(values), DIGITS)


def query_views(board: Setup, measured: Mapping[str, Values]) -> Iterator[QueryValuesView]:
    """Yield every query with its values."""
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
    """Return the figures of a mode. spreads: the intervals of its measures, in order."""
    views = []
    for measure in board.measures:
        found = measured[measure.name]
        cutoff = measure.cutoff or board.depth
        judged = [judged_share(grades, rankings[query], cutoff) for query, grades in board.questions.grades.items()]
        shares = [share for share in judged if share is not None]
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


def _reach(measure: Measure, asked: Questions, rankings: Mapping[str, Sequence[str]]) -> IntervalView | None:
    """Return the range of the mean, if each unjudged hit is irrelevant or has the best grade."""
    found = [bounds(measure, grades, rankings[query], best=asked.best) for query, grades in asked.grades.items()]
    pairs = [pair for pair in found if pair is not None]
    return _interval((mean([low for low, _ in pairs]), mean([high for _, high in pairs]))) if pairs else None


def _interval(ends: tuple[float, float]) -> IntervalView:
    return IntervalView(low=ends[0], high=ends[1])


def _pairs(board: Setup, measured: Mapping[str, Values]) -> Iterator[tuple[str, _ComparedValues]]:
    """Yield each mode with each later one, then each mode with its baseline."""
    for number, mode in enumerate(board.modes):
        for other in board.modes[number + 1 :]:
            yield mode, _ComparedValues(other, is_baseline=False, values=measured[other])
    for mode in board.modes:
        name = None if board.baseline is None else board.baseline.against(mode)
        if board.baseline is not None and name is not None:
            yield mode, _ComparedValues(name, is_baseline=True, values=board.baseline.modes[name])


def _comparisons(mode: str, other: _ComparedValues, board: Setup, measured: Values) -> Iterator[ComparisonView]:
    """Yield one comparison for each shared measure, over the shared queries."""
    measures = [measure for measure in measured if measure in other.values]
    if not measures:
        return
    known = [other.values[measure].keys() for measure in measures]
    queries = [query for query in board.questions.grades if all(query in each for each in known)]
    if not queries:
        return
    before = [{query: other.values[measure][query] for query in queries} for measure in measures]
    after = [{query: measured[measure][query] for query in queries} for measure in measures]
    results = compare_columns([list(each.values()) for each in after], [list(each.values()) for each in before])
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
            regressions=[
                RegressionView(query=query, text=board.questions.texts[query], before=old[query], after=new[query])
                for query in list(find_fallen(new, old))[:REGRESSIONS_SHOWN]
            ],
        )
