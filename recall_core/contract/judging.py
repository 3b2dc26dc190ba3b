"""Responses of eval, judge and tune. A weight is the semantic share: vector_weight / (bm25_weight +
vector_weight)."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from recall_core.contract.ledger import FirmnessView, WeightIntervalView


class IntervalView(TypedDict):
    """A 95 % confidence interval, by bootstrap over queries unless stated otherwise."""

    low: float
    high: float


class MeasureView(TypedDict):
    """A measure of a mode over all evaluated queries."""

    measure: str
    mean: float
    interval: IntervalView
    judged: float | None
    """Mean share of judged hits, down to the measure's cutoff or the depth. null without hits."""
    bounds: IntervalView | None
    """Bounds of the mean if unjudged hits are irrelevant or have the highest grade. Only for p@k and ndcg@k, else
    null. An intermediate grade can raise ndcg@k slightly above the bound."""
    values: dict[str, float]
    """Values by query id."""


class ModeView(TypedDict):
    """The ranking quality of a mode."""

    mode: str
    measures: list[MeasureView]


class ChangeView(TypedDict):
    """A query under the current and the best settings."""

    query: str
    text: str
    before: float
    after: float


class RegressionView(ChangeView):
    """A query that got worse."""


class ComparisonView(TypedDict):
    """A mode compared per query with another mode of this run or with the baseline."""

    mode: str
    against: str
    """The other mode. For a baseline, its mode, or "run" for a TREC run."""
    baseline: bool
    measure: str
    queries: int
    difference: float
    """Mean of (this - other)."""
    interval: IntervalView
    p: float
    """Two-sided p value, by sign-flip randomization."""
    verdict: str
    """One of "better" and "worse" if p < .05, else "no significant difference"."""
    wins: int
    losses: int
    ties: int
    regressions: list[RegressionView]
    """Up to 10 queries that lost most, worst first."""


class ConditionView(TypedDict):
    """A condition of --gate, the measured value (null if there is none), and whether the condition holds."""

    condition: str
    value: float | None
    holds: bool


class QueryValuesView(TypedDict):
    """The results of a query."""

    query: str
    text: str
    relevant: int
    """Number of relevant documents or chunks."""
    values: dict[str, dict[str, float]]
    """Values by mode, then by measure."""


class CountsView(TypedDict):
    """The data behind figures over judged queries."""

    unit: Literal["chunk", "doc"]
    """Unit of the figures: chunks, or documents (each at its best chunk)."""
    queries: int
    """Evaluated queries: those with a relevant document or chunk."""
    unjudged: int
    """Skipped queries without a judgement."""
    without_relevant: int
    """Skipped queries without a relevant document or chunk."""
    judgements: int
    """Judgements of the evaluated queries."""
    unknown: int
    """Judgements of documents or chunks that are not in the store."""


class EvaluationView(CountsView):
    """The ranking quality. Can be the baseline of a later eval."""

    depth: int
    """Ranked hits per query."""
    modes: list[ModeView]
    comparisons: list[ComparisonView]
    gate: NotRequired[list[ConditionView]]
    runs: NotRequired[list[str]]
    per_query: NotRequired[list[QueryValuesView]]


class JudgedView(TypedDict):
    """The queries and judgements that judge read or wrote. unknown: judgements of documents not in the store."""

    queries: int
    judgements: int
    unknown: int
    paths: NotRequired[list[str]]
    """Paths of the written files."""


class RateView(TypedDict):
    """A rate: passed / of (null if of is 0), with Wilson's 95 % interval."""

    passed: int
    of: int
    rate: float | None
    interval: IntervalView | None


class InjectedView(TypedDict):
    """A row added by sparse-document recall."""

    chunk_id: str
    path: str
    distance: float
    relevant: bool
    """True for a gold chunk or a chunk that contains every fact."""
    displaced: NotRequired[str]
    """The replaced chunk."""
    displaced_relevant: bool
    """True if the replaced chunk was gold."""


class CauseView(TypedDict):
    """The stage that lost a fact."""

    code: str
    detail: str
    rank: NotRequired[int]
    """Rank of the best gold chunk with the fact, in the full list."""


class FixtureView(TypedDict):
    """The result of a fixture."""

    id: str
    query: str
    verdict: str
    forced: bool
    """True if the gold chunks, packed alone, contain every fact."""
    on: bool
    """True if the retrieved context contains every fact."""
    without: bool
    """True if the context without sparse-document recall contains every fact."""
    baseline: bool
    """The result compared with."""
    gold_hit: bool
    """True if a gold chunk is packed."""
    sparse: NotRequired[bool]
    cause: NotRequired[CauseView]
    blocked: NotRequired[str]
    """The condition of sparse-document recall that excluded the gold document."""
    injections: NotRequired[list[InjectedView]]


class SparseRecallView(TypedDict):
    """The effect of sparse-document recall."""

    sparse_recall_injections: int
    sparse_recall_hit_rate: RateView
    """Precision: relevant injections among all injections."""
    sparse_recall_false_positive_rate: RateView
    recovery_rate: RateView
    """Among sparse fixtures that fail without sparse-document recall, the share that pass with it."""
    displaced_relevant: int
    """Injections that replaced a gold chunk."""
    blocked: dict[str, int]
    """Remaining failures by condition."""


class FixtureConditionView(ConditionView):
    """A condition of --gate, the measured value (null without cases), and whether the condition holds."""

    value: float | None
    """null without cases."""


class FixturesView(TypedDict):
    """The verdicts on a file of fixtures, and the rates for --gate."""

    fixtures: int
    k: int
    budget_tokens: int
    baseline: str
    """Either "without_sparse_recall", or "recorded" with an earlier answer as --baseline."""
    forced: RateView
    on: RateView
    sparse_on: RateView
    dense_on: RateView
    gold_hit: RateView
    without: RateView
    """Pass rate without sparse-document recall."""
    sparse_without: RateView
    verdicts: dict[str, int]
    regressions: int
    """Number of `retrieval_regression` verdicts."""
    dense_regressions: int
    """The ones whose documents are not short."""
    sparse_recall: SparseRecallView
    gate: NotRequired[list[FixtureConditionView]]
    results: list[FixtureView]


class DistancesView(TypedDict):
    """Distances (1 - cosine) of a set of chunks, null if it is empty."""

    count: int
    least: float | None
    median: float | None
    most: float | None


class CeilingView(TypedDict):
    """The effect of a ceiling on the judged queries."""

    ceiling: float
    injections: int
    relevant: int
    precision: RateView
    recall: RateView
    """Recall of the relevant short documents that are missing from the list."""
    f: float | None
    """Harmonic mean of precision and recall."""


class CalibrationView(TypedDict):
    """A proposed sparse_distance_ceiling, from judged queries."""

    queries: int
    k: int
    embedder: str
    mostly_long: int
    """Queries whose list is more than half from long documents. Other lists get no injection."""
    left_out: int
    relevant: DistancesView
    irrelevant: DistancesView
    current: CeilingView
    can_fire: bool
    """True if a short document that may be injected is within the current ceiling."""
    proposed: NotRequired[CeilingView]
    """Absent if no relevant short document is near and missing."""
    held_out: NotRequired[CeilingView]
    """Leave-one-out result: each query is measured at the ceiling chosen without it."""
    setting: NotRequired[str]


class BandView(TypedDict):
    """Weights between low and high, exclusive."""

    low: float
    high: float


class CombinationView(TypedDict):
    """Tried settings that differ from the current ones, and their best mean over all weights."""

    settings: dict[str, str | float]
    cells: int
    """Intervals of weights in which no query changes its value."""
    best: float
    best_weights: list[BandView]
    """All intervals with the best mean."""
    gain: float
    """Best mean minus current mean."""


class CurveView(TypedDict):
    """The exact mean at every weight: means[i] between weights[i] and weights[i + 1]."""

    weights: list[float]
    means: list[float]


class RecommendedView(TypedDict):
    """The recommended settings."""

    weight: float
    """The middle of the widest part of the plateau."""
    mean: float
    """Mean at the recommended weight."""
    settings: dict[str, str | float]


class RefusedView(TypedDict):
    """Why nothing is recommended."""

    code: str
    reason: str


class AppliedView(TypedDict):
    """The changed file and the settings written to it."""

    path: str
    settings: dict[str, str | float]


class SteadyView(TypedDict):
    """The distance of the current weight from a change in the results of the queries."""

    fragile: int
    """Queries whose first rows change order if the weight moves by less than .02."""
    median: float | None
    """Median distance to the nearest weight that changes the order, null without one."""


class PowerView(TypedDict):
    """The statistical power of the judgements, from the spread of the gains per query."""

    deviation: float | None
    """Standard deviation of the gains, null for one query."""
    detectable: float | None
    """Smallest gain that a paired test with this many queries detects in 80 % of cases (two-sided, 5 %). null if all
    queries gain the same."""
    more_queries: int | None
    """Judged queries to add to detect a gain of `gain` in 80 % of cases. 0 if these are enough, null without a gain
    or above a million."""
    more_queries_expected: int | None
    """Like more_queries, for a gain of `expected_gain`."""


class SurerStepView(TypedDict):
    """The smallest change with a significant gain, and its settings.

    Candidates: all combinations at every weight in steps of .01, and at the current weight. Chosen by the fewest
    changed settings (the weight is one), then the nearest weight, then the most certain gain.
    """

    weight: float
    mean: float
    settings: dict[str, str | float]
    gain: float
    gain_interval: IntervalView
    expected_gain: float
    """Expected gain, corrected for the selection by the test."""
    p: float
    """One-sided p value, corrected for all weights of all combinations. At most .05."""


class JudgedTuningView(CountsView):
    """A measure on judged queries at all weights."""

    measure: str
    current: float
    """Mean under the current settings."""
    best: float
    """Highest mean of all."""
    settings: dict[str, str | float]
    best_weights: list[BandView]
    """Value for the best combination."""
    plateau: list[BandView]
    """Weights of the best combination within one standard error of the best mean."""
    best_weight_interval: IntervalView
    """Value for the best combination."""
    gain: float
    """`best` minus `current`."""
    gain_interval: IntervalView
    honest_gain: float
    """Gain if each query is measured at the weight that is best for the other queries."""
    expected_gain: float
    """Gain to expect on other queries: honest_gain, or less if p_picked is at most .05, to correct for the
    selection by the test."""
    power: PowerView
    p: float
    """Two-sided p value of the best weight."""
    p_picked: float
    """p value corrected for choosing among all weights of all combinations."""
    stability: SteadyView
    judged: dict[str, float]
    """Share of judged rows among the first rows: under the current settings (current), and at the recommended or
    else the best weight (best)."""
    combinations: list[CombinationView]
    winners: list[ChangeView]
    losers: list[ChangeView]
    surer_step: SurerStepView | None
    """null without a significant change or with fewer than 10 queries."""
    recommended: RecommendedView | None
    refused: NotRequired[RefusedView]
    applied: NotRequired[AppliedView]
    curve: NotRequired[CurveView]
    """Value for the best combination."""


class ShiftView(TypedDict):
    """A row that changes its rank."""

    id: str
    path: str
    line_start: int
    line_end: int
    before: int | None
    """Rank below the break point, null outside the list."""
    after: int | None
    """Rank above the break point, null outside the list."""
    place: NotRequired[str]
    """Place in the file, as in answers."""


class BreakPointView(TypedDict):
    """A weight at which the list changes. At 0 and 1: ties there, compared with adjacent weights."""

    weight: float
    changes: list[ShiftView]


class SweepView(FirmnessView):
    """The effect of every weight on the first k rows of an answer."""

    candidates: int
    texts: NotRequired[int]
    """Number of distinct texts, if copies count once and some candidates are copies."""
    orders: int
    sets: int
    break_points: NotRequired[list[BreakPointView]]


class WishView(TypedDict):
    """A target that must be in the first k rows (in) or not (out), and the weights that satisfy it."""

    want: str
    target: str
    chunks: int
    """Number of chunks of the target."""
    candidates: int
    """Number of those chunks that are candidates."""
    weights: list[WeightIntervalView]
    holds: bool


class ProposedView(TypedDict):
    """The weight nearest to the current one that satisfies every pin."""

    weight: float
    settings: dict[str, str | float]
    confirmed: bool
    """True if ranking again with this weight satisfies every pin."""


class PinnedView(TypedDict):
    """The weights that satisfy all pins. If there are none, a minimal set of conflicting pins."""

    k: int
    wishes: list[WishView]
    weights: list[WeightIntervalView]
    conflict: list[int]
    proposed: ProposedView | None


class TuningView(TypedDict):
    """The current weight, and one result: judged queries, an answer at every weight, or pins."""

    weight: float
    judged: NotRequired[JudgedTuningView]
    sweep: NotRequired[SweepView]
    pinned: NotRequired[PinnedView]
