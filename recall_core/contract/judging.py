"""What eval, judge and tune answer. A weight is the semantic share: vector_weight / (bm25_weight + vector_weight)."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from recall_core.contract.ledger import FirmnessView, WeightIntervalView


class IntervalView(TypedDict):
    """A 95 % confidence interval, by bootstrap over queries unless another source is named."""

    low: float
    high: float


class MeasureView(TypedDict):
    """One measure of one mode, over all evaluated queries."""

    measure: str
    mean: float
    interval: IntervalView
    judged: float | None
    """The share of the hits down to the measure's cutoff (or to the depth) that have a judgement, as a mean over
    queries; null without hits."""
    bounds: IntervalView | None
    """The least and the most that the mean could be, each unjudged hit being either irrelevant or of the highest
    grade (one in between can raise ndcg@k a little further); null but for p@k and ndcg@k."""
    values: dict[str, float]
    """By query id."""


class ModeView(TypedDict):
    """How well one mode ranks."""

    mode: str
    measures: list[MeasureView]


class ChangeView(TypedDict):
    """One query under the current settings and under the best."""

    query: str
    text: str
    before: float
    after: float


class RegressionView(ChangeView):
    """A query that fell."""


class ComparisonView(TypedDict):
    """One mode against another mode of this run, or against the baseline, query by query."""

    mode: str
    against: str
    """The other mode; of a baseline, the mode it was measured in, or "run" for a TREC run."""
    baseline: bool
    measure: str
    queries: int
    difference: float
    """Mean of (this - other)."""
    interval: IntervalView
    p: float
    """Two-sided, by sign-flip randomisation."""
    verdict: str
    """Is "better" or "worse" where p < .05, else "no significant difference"."""
    wins: int
    losses: int
    ties: int
    regressions: list[RegressionView]
    """The queries that fell furthest, worst first, at most 10."""


class ConditionView(TypedDict):
    """A condition of --gate, the value it was held against, null where there is none, and whether it holds."""

    condition: str
    value: float | None
    holds: bool


class QueryValuesView(TypedDict):
    """One query."""

    query: str
    text: str
    relevant: int
    """Documents or chunks that were judged relevant to it."""
    values: dict[str, dict[str, float]]
    """By mode, then by measure."""


class CountsView(TypedDict):
    """What figures over judged queries are of."""

    unit: Literal["chunk", "doc"]
    """What every figure is of: chunks, or documents, each by its best chunk."""
    queries: int
    """Evaluated, each with a relevant document or chunk."""
    unjudged: int
    """Passed over, because nothing is known for them."""
    without_relevant: int
    """Passed over, because nothing relevant is known for them."""
    judgements: int
    """Graded documents or chunks of the evaluated queries."""
    unknown: int
    """Those among them that the store does not hold."""


class EvaluationView(CountsView):
    """How good the ranking is. It serves as a baseline later."""

    depth: int
    """Hits of each query that were ranked."""
    modes: list[ModeView]
    comparisons: list[ComparisonView]
    gate: NotRequired[list[ConditionView]]
    runs: NotRequired[list[str]]
    per_query: NotRequired[list[QueryValuesView]]


class JudgedView(TypedDict):
    """What judge read or wrote: queries and judgements, and how many of these name no live document."""

    queries: int
    judgements: int
    unknown: int
    paths: NotRequired[list[str]]
    """The files that were written."""


class RateView(TypedDict):
    """A share of what was counted: passed / of, null where of is 0, with Wilson's 95 % interval."""

    passed: int
    of: int
    rate: float | None
    interval: IntervalView | None


class InjectedView(TypedDict):
    """A slot that sparse-document recall gave away."""

    chunk_id: str
    path: str
    distance: float
    relevant: bool
    """A gold chunk, or one that holds every fact."""
    displaced: NotRequired[str]
    """The chunk that lost its slot."""
    displaced_relevant: bool
    """The displaced chunk was gold."""


class CauseView(TypedDict):
    """The stage that lost the fact."""

    code: str
    detail: str
    rank: NotRequired[int]
    """Of the best gold chunk with the fact, in the whole ranked list."""


class FixtureView(TypedDict):
    """One fixture."""

    id: str
    query: str
    verdict: str
    forced: bool
    """Its gold, packed alone, holds every fact."""
    on: bool
    """What retrieval packs does."""
    without: bool
    """The same with sparse-document recall off."""
    baseline: bool
    """What it is compared with."""
    gold_hit: bool
    """A gold chunk is packed."""
    sparse: NotRequired[bool]
    cause: NotRequired[CauseView]
    blocked: NotRequired[str]
    """Which condition of sparse-document recall left the gold document out."""
    injections: NotRequired[list[InjectedView]]


class SparseRecallView(TypedDict):
    """What sparse-document recall gave."""

    sparse_recall_injections: int
    sparse_recall_hit_rate: RateView
    """Relevant injections of all of them (its precision)."""
    sparse_recall_false_positive_rate: RateView
    recovery_rate: RateView
    """Sparse fixtures that fail without it and pass with it, of those that fail without it."""
    displaced_relevant: int
    """Injections that cost a gold chunk its slot."""
    blocked: dict[str, int]
    """Of the failures left, by condition."""


class FixtureConditionView(ConditionView):
    """A condition of --gate, the value it was held against (null where nothing was counted), and whether it holds."""

    value: float | None
    """Null where nothing was counted."""


class FixturesView(TypedDict):
    """The verdicts on a file of fixtures, and the rates that a gate may ask for."""

    fixtures: int
    k: int
    budget_tokens: int
    baseline: str
    """Is "without_sparse_recall", or "recorded" where an earlier answer was given."""
    forced: RateView
    on: RateView
    sparse_on: RateView
    dense_on: RateView
    gold_hit: RateView
    without: RateView
    """Passed with sparse-document recall off."""
    sparse_without: RateView
    verdicts: dict[str, int]
    regressions: int
    """Verdicts `retrieval_regression`."""
    dense_regressions: int
    """Those of documents that are not short."""
    sparse_recall: SparseRecallView
    gate: NotRequired[list[FixtureConditionView]]
    results: list[FixtureView]


class DistancesView(TypedDict):
    """1 - cosine over a set of chunks; null where there is none."""

    count: int
    least: float | None
    median: float | None
    most: float | None


class CeilingView(TypedDict):
    """What a ceiling would do to the judged queries."""

    ceiling: float
    injections: int
    relevant: int
    precision: RateView
    recall: RateView
    """Of the relevant short documents that are left out of the list."""
    f: float | None
    """The harmonic mean of precision and recall."""


class CalibrationView(TypedDict):
    """A sparse_distance_ceiling proposed from judged queries."""

    queries: int
    k: int
    embedder: str
    mostly_long: int
    """Queries with a list of which more than half belongs to long documents; nothing is injected into any other."""
    left_out: int
    relevant: DistancesView
    irrelevant: DistancesView
    current: CeilingView
    can_fire: bool
    """Some short document that may be injected is within the ceiling that is set."""
    proposed: NotRequired[CeilingView]
    """Absent where no relevant short document is near and left out."""
    held_out: NotRequired[CeilingView]
    """The same search on all queries but one, measured on that one, over all of them."""
    setting: NotRequired[str]


class BandView(TypedDict):
    """Weights between low and high, both left out."""

    low: float
    high: float


class CombinationView(TypedDict):
    """Settings that were tried, as they differ from the current ones, with the highest mean of any weight."""

    settings: dict[str, str | float]
    cells: int
    """Stretches of weights over which no query changes its value."""
    best: float
    best_weights: list[BandView]
    """All of them with that mean."""
    gain: float
    """The highest mean less the current one."""


class CurveView(TypedDict):
    """The mean over all weights, exactly: between weights[i] and weights[i + 1] it is means[i]."""

    weights: list[float]
    means: list[float]


class RecommendedView(TypedDict):
    """What to set."""

    weight: float
    """The middle of the widest part of the plateau."""
    mean: float
    """At that weight."""
    settings: dict[str, str | float]


class RefusedView(TypedDict):
    """Why nothing is recommended."""

    code: str
    reason: str


class AppliedView(TypedDict):
    """The file that was changed, and what was put into it."""

    path: str
    settings: dict[str, str | float]


class SteadyView(TypedDict):
    """How near the current weight is to changing what the queries show."""

    fragile: int
    """Queries whose first rows change their order when the weight moves by less than .02."""
    median: float | None
    """Of the distances to the nearest such weight, null where no query has one."""


class PowerView(TypedDict):
    """What these judgements can tell, by how far the queries differ in what the best weight gains them."""

    deviation: float | None
    """Of those differences, null for one query."""
    detectable: float | None
    """The least gain that a paired test of so many queries finds in 80 % of cases, two-sided at 5 %, null where all
    queries gain the same."""
    more_queries: int | None
    """How many more judged queries it takes to find a gain as large as `gain` in 80 % of cases: 0 where these are
    enough, null where there is no gain or more than a million are needed."""
    more_queries_expected: int | None
    """The same for a gain as large as `expected_gain`."""


class SurerStepView(TypedDict):
    """The smallest change whose gain is sure, and what to set for it.

    Of all weights in hundredths under every combination, and of every combination at the current weight, the change
    of the fewest settings, of which the weight is one; then the nearest weight; then the surest gain.
    """

    weight: float
    mean: float
    settings: dict[str, str | float]
    gain: float
    gain_interval: IntervalView
    expected_gain: float
    """What the gain is worth, told because it passed the test."""
    p: float
    """One-sided, corrected for all weights of all combinations; at most .05."""


class JudgedTuningView(CountsView):
    """One measure over all weights, on judged queries."""

    measure: str
    current: float
    """The mean under the current settings."""
    best: float
    """The highest mean of all."""
    settings: dict[str, str | float]
    best_weights: list[BandView]
    """Of the best combination."""
    plateau: list[BandView]
    """Weights of the best combination whose difference to the best is within one standard error."""
    best_weight_interval: IntervalView
    """Of the best combination."""
    gain: float
    """`best` less `current`."""
    gain_interval: IntervalView
    honest_gain: float
    """What is left of the gain when each query is measured at the weight that is best for the others."""
    expected_gain: float
    """What other queries may be expected to gain: honest_gain, and no more than a gain is worth that is told because
    it passed the test, where p_picked is at most .05."""
    power: PowerView
    p: float
    """Two-sided, of the best weight."""
    p_picked: float
    """Of as sure a gain in any cell of any combination, so that it accounts for the picking."""
    stability: SteadyView
    judged: dict[str, float]
    """The share of the first rows that have a judgement, under the current settings (current) and at the recommended
    weight or else the best (best)."""
    combinations: list[CombinationView]
    winners: list[ChangeView]
    losers: list[ChangeView]
    surer_step: SurerStepView | None
    """Null where no change is sure, or there are fewer than 10 queries."""
    recommended: RecommendedView | None
    refused: NotRequired[RefusedView]
    applied: NotRequired[AppliedView]
    curve: NotRequired[CurveView]
    """Of the best combination."""


class ShiftView(TypedDict):
    """A row that changes its place."""

    id: str
    path: str
    line_start: int
    line_end: int
    before: int | None
    """The rank below the break point, null outside the list."""
    after: int | None
    """The rank above the break point, null outside the list."""
    place: NotRequired[str]
    """Where the file has it, as in answers."""


class BreakPointView(TypedDict):
    """A weight at which the list changes. At 0 and at 1, ties there against the weights beside."""

    weight: float
    changes: list[ShiftView]


class SweepView(FirmnessView):
    """What every weight does to the first k rows of one answer."""

    candidates: int
    texts: NotRequired[int]
    """How many the candidates have, where a text counts once and some are copies."""
    orders: int
    sets: int
    break_points: NotRequired[list[BreakPointView]]


class WishView(TypedDict):
    """What must be in the first k rows (in) or must not (out), and the weights that grant it."""

    want: str
    target: str
    chunks: int
    """How many the target names."""
    candidates: int
    """Those of them that the question has as candidates."""
    weights: list[WeightIntervalView]
    holds: bool


class ProposedView(TypedDict):
    """A weight that grants every wish, nearest to the current one."""

    weight: float
    settings: dict[str, str | float]
    confirmed: bool
    """Ranking again with it shows so."""


class PinnedView(TypedDict):
    """The weights that grant all wishes; where there are none, wishes that conflict and need each other to."""

    k: int
    wishes: list[WishView]
    weights: list[WeightIntervalView]
    conflict: list[int]
    proposed: ProposedView | None


class TuningView(TypedDict):
    """The current weight, and what was asked for: judged queries, one answer at every weight, or wishes."""

    weight: float
    judged: NotRequired[JudgedTuningView]
    sweep: NotRequired[SweepView]
    pinned: NotRequired[PinnedView]
