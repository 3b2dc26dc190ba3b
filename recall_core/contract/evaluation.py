"""What eval and judge answer."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class IntervalView(TypedDict):
    """A 95 % confidence interval, by bootstrap over queries unless another source is named."""

    low: float
    high: float


class MeasureView(TypedDict):
    """One measure of one mode, over all evaluated queries.

    judged: the share of the hits down to the measure's cutoff (or to the depth) that have a judgement, as a mean
    over queries; null without hits. bounds: the least and the most that the mean could be, each unjudged hit being
    either irrelevant or of the highest grade (one in between can raise ndcg@k a little further); null but for p@k and
    ndcg@k. values: by query id.
    """

    measure: str
    mean: float
    interval: IntervalView
    judged: float | None
    bounds: IntervalView | None
    values: dict[str, float]


class ModeView(TypedDict):
    """How well one mode ranks."""

    mode: str
    measures: list[MeasureView]


class RegressionView(TypedDict):
    """A query that fell."""

    query: str
    text: str
    before: float
    after: float


class ComparisonView(TypedDict):
    """One mode against another mode of this run, or against the baseline, query by query.

    against: the other mode; of a baseline, the mode it was measured in, or "run" for a TREC run. difference: mean of
    (this - other). p: two-sided, by sign-flip randomisation. verdict: "better" or "worse" where p < .05, else
    "no significant difference". regressions: the queries that fell furthest, worst first, at most 10.
    """

    mode: str
    against: str
    baseline: bool
    measure: str
    queries: int
    difference: float
    interval: IntervalView
    p: float
    verdict: str
    wins: int
    losses: int
    ties: int
    regressions: list[RegressionView]


class ConditionView(TypedDict):
    """A condition of --gate, the value it was held against, null where there is none, and whether it holds."""

    condition: str
    value: float | None
    holds: bool


class QueryValuesView(TypedDict):
    """One query. relevant: how many documents were judged relevant to it; values: by mode, then by measure."""

    query: str
    text: str
    relevant: int
    values: dict[str, dict[str, float]]


class EvaluationView(TypedDict):
    """How good the ranking is. It serves as a baseline later.

    queries: evaluated, each with a relevant document; unjudged and without_relevant: passed over, because nothing or
    nothing relevant is known for them. judgements: of the evaluated queries; unknown: those among them whose
    document the store does not hold. depth: hits of each query that were ranked.
    """

    queries: int
    unjudged: int
    without_relevant: int
    judgements: int
    unknown: int
    depth: int
    modes: list[ModeView]
    comparisons: list[ComparisonView]
    gate: NotRequired[list[ConditionView]]
    runs: NotRequired[list[str]]
    per_query: NotRequired[list[QueryValuesView]]


class JudgedView(TypedDict):
    """What judge read or wrote: queries and judgements, and how many of these name no live document.

    paths: the files that were written.
    """

    queries: int
    judgements: int
    unknown: int
    paths: NotRequired[list[str]]
