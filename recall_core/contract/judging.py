"""What eval, judge and tune answer. A weight is the semantic share: vector_weight / (bm25_weight + vector_weight)."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from recall_core.contract.ledger import WeightIntervalView


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
    """One query. relevant: documents or chunks that were judged relevant to it; values: by mode, then by measure."""

    query: str
    text: str
    relevant: int
    values: dict[str, dict[str, float]]


class EvaluationView(TypedDict):
    """How good the ranking is. It serves as a baseline later.

    unit: what every figure is of: chunks, or documents, each by its best chunk.
    queries: evaluated, each with a relevant document or chunk; unjudged and without_relevant: passed over, because
    nothing or nothing relevant is known for them. judgements: graded documents or chunks of the evaluated queries;
    unknown: those among them that the store does not hold. depth: hits of each query that were ranked.
    """

    unit: Literal["chunk", "doc"]
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


class RateView(TypedDict):
    """A share of what was counted: passed / of, null where of is 0, with Wilson's 95 % interval."""

    passed: int
    of: int
    rate: float | None
    interval: IntervalView | None


class InjectedView(TypedDict):
    """A slot that sparse-document recall gave away. relevant: a gold chunk, or one that holds every fact.

    displaced: the chunk that lost its slot; displaced_relevant: it was gold.
    """

    chunk_id: str
    path: str
    distance: float
    relevant: bool
    displaced: NotRequired[str]
    displaced_relevant: bool


class CauseView(TypedDict):
    """The stage that lost the fact. rank: of the best gold chunk with the fact, in the whole ranked list."""

    code: str
    detail: str
    rank: NotRequired[int]


class FixtureView(TypedDict):
    """One fixture. forced: its gold, packed alone, holds every fact; on: what retrieval packs does; without: the
    same with sparse-document recall off; baseline: what it is compared with. gold_hit: a gold chunk is packed.
    blocked: which condition of sparse-document recall left the gold document out."""

    id: str
    query: str
    verdict: str
    forced: bool
    on: bool
    without: bool
    baseline: bool
    gold_hit: bool
    sparse: NotRequired[bool]
    cause: NotRequired[CauseView]
    blocked: NotRequired[str]
    injections: NotRequired[list[InjectedView]]


class SparseRecallView(TypedDict):
    """What sparse-document recall gave. sparse_recall_hit_rate: relevant injections of all of them (its precision);
    recovery_rate: sparse fixtures that fail without it and pass with it, of those that fail without it.
    displaced_relevant: injections that cost a gold chunk its slot. blocked: of the failures left, by condition."""

    sparse_recall_injections: int
    sparse_recall_hit_rate: RateView
    sparse_recall_false_positive_rate: RateView
    recovery_rate: RateView
    displaced_relevant: int
    blocked: dict[str, int]


class FixtureConditionView(TypedDict):
    """A condition of --gate, the value it was held against (null where nothing was counted), and whether it holds."""

    condition: str
    value: float | None
    holds: bool


class FixturesView(TypedDict):
    """The verdicts on a file of fixtures, and the rates that a gate may ask for.

    baseline: "without_sparse_recall", or "recorded" where an earlier answer was given. without: passed with
    sparse-document recall off. regressions: verdicts retrieval_regression; dense_regressions: of documents that are
    not short.
    """

    fixtures: int
    k: int
    budget_tokens: int
    baseline: str
    forced: RateView
    on: RateView
    sparse_on: RateView
    dense_on: RateView
    gold_hit: RateView
    without: RateView
    sparse_without: RateView
    verdicts: dict[str, int]
    regressions: int
    dense_regressions: int
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
    """What a ceiling would do to the judged queries. recall: of the relevant short documents that are left out of
    the list; f: the harmonic mean of precision and recall."""

    ceiling: float
    injections: int
    relevant: int
    precision: RateView
    recall: RateView
    f: float | None


class CalibrationView(TypedDict):
    """A sparse_distance_ceiling proposed from judged queries. proposed: absent where no relevant short document is
    near and left out. held_out: the same search on all queries but one, measured on that one, over all of them.
    mostly_long: queries with a list of which more than half belongs to long documents; nothing is injected into any
    other. can_fire: some short document that may be injected is within the ceiling that is set."""

    queries: int
    k: int
    embedder: str
    mostly_long: int
    left_out: int
    relevant: DistancesView
    irrelevant: DistancesView
    current: CeilingView
    can_fire: bool
    proposed: NotRequired[CeilingView]
    held_out: NotRequired[CeilingView]
    setting: NotRequired[str]


class BandView(TypedDict):
    """Weights between low and high, both left out."""

    low: float
    high: float


class CombinationView(TypedDict):
    """Settings that were tried, as they differ from the current ones, with the highest mean of any weight.

    cells: stretches of weights over which no query changes its value. best_weights: all of them with that mean.
    gain: the highest mean less the current one.
    """

    settings: dict[str, str | float]
    cells: int
    best: float
    best_weights: list[BandView]
    gain: float


class CurveView(TypedDict):
    """The mean over all weights, exactly: between weights[i] and weights[i + 1] it is means[i]."""

    weights: list[float]
    means: list[float]


class ChangeView(TypedDict):
    """One query under the current settings and under the best."""

    query: str
    text: str
    before: float
    after: float


class RecommendedView(TypedDict):
    """What to set. weight: the middle of the widest part of the plateau; mean: there."""

    weight: float
    mean: float
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
    """How near the current weight is to changing what the queries show.

    fragile: queries whose first rows change their order when the weight moves by less than .02. median: of the
    distances to the nearest such weight, null where no query has one.
    """

    fragile: int
    median: float | None


class PowerView(TypedDict):
    """What these judgements can tell, by how far the queries differ in what the best weight gains them.

    deviation: of those differences, null for one query. detectable: the least gain that a paired test of so many
    queries finds in 80 % of cases, two-sided at 5 %, null where all queries gain the same. more_queries: how many
    more judged queries it takes to find a gain as large as `gain` in 80 % of cases, and more_queries_expected one as
    large as `expected_gain`: 0 where these are enough, null where there is no gain or more than a million are needed.
    """

    deviation: float | None
    detectable: float | None
    more_queries: int | None
    more_queries_expected: int | None


class SurerStepView(TypedDict):
    """The smallest change whose gain is sure, and what to set for it.

    Of all weights in hundredths under every combination, and of every combination at the current weight, the change
    of the fewest settings, of which the weight is one; then the nearest weight; then the surest gain. expected_gain:
    what the gain is worth, told because it passed the test. p: one-sided, corrected for all weights of all
    combinations; at most .05.
    """

    weight: float
    mean: float
    settings: dict[str, str | float]
    gain: float
    gain_interval: IntervalView
    expected_gain: float
    p: float


class JudgedTuningView(TypedDict):
    """One measure over all weights, on judged queries.

    unit: what is ranked and graded, chunks, or documents, each by its best chunk.
    Counts are those of eval. current and best: the mean under the current settings, and the highest of all; gain:
    best - current, and what of it is left when each query is measured at the weight that is best for the others
    (honest_gain). expected_gain: what other queries may be expected to gain: honest_gain, and no more than a gain is
    worth that is told because it passed the test, where p_picked is at most .05.
    p: two-sided, of the best weight; p_picked: of as sure a gain in any cell of any
    combination, so that it accounts for the picking. best_weights, plateau, best_weight_interval, curve: of the best
    combination.
    surer_step: null where no change is sure, or there are fewer than 10 queries.
    plateau: weights whose difference to the best is within one standard error. judged: the share of the first rows
    that have a judgement, under the current settings (current) and at the recommended weight or else the best (best).
    """

    measure: str
    unit: Literal["chunk", "doc"]
    queries: int
    unjudged: int
    without_relevant: int
    judgements: int
    unknown: int
    current: float
    best: float
    settings: dict[str, str | float]
    best_weights: list[BandView]
    plateau: list[BandView]
    best_weight_interval: IntervalView
    gain: float
    gain_interval: IntervalView
    honest_gain: float
    expected_gain: float
    power: PowerView
    p: float
    p_picked: float
    stability: SteadyView
    judged: dict[str, float]
    combinations: list[CombinationView]
    winners: list[ChangeView]
    losers: list[ChangeView]
    surer_step: SurerStepView | None
    recommended: RecommendedView | None
    refused: NotRequired[RefusedView]
    applied: NotRequired[AppliedView]
    curve: NotRequired[CurveView]


class ShiftView(TypedDict):
    """A row that changes its place. before, after: ranks below and above the break point, null outside the list.

    place: where the file has it, as in answers.
    """

    id: str
    path: str
    line_start: int
    line_end: int
    before: int | None
    after: int | None
    place: NotRequired[str]


class BreakPointView(TypedDict):
    """A weight at which the list changes. At 0 and at 1, ties there against the weights beside."""

    weight: float
    changes: list[ShiftView]


class SweepView(TypedDict):
    """What every weight does to the first k rows of one answer.

    order and members: the weights around the current one that keep the rows in their order, and that keep them at
    all; the distances are to the nearest end, null where there is none. fragile: order_distance is below .02.
    texts: how many the candidates have, where a text counts once and some are copies.
    """

    k: int
    candidates: int
    texts: NotRequired[int]
    orders: int
    sets: int
    order: WeightIntervalView
    members: WeightIntervalView
    order_distance: float | None
    members_distance: float | None
    fragile: bool
    break_points: NotRequired[list[BreakPointView]]


class WishView(TypedDict):
    """What must be in the first k rows (in) or must not (out), and the weights that grant it.

    chunks: how many the target names; candidates: those of them that the question has as candidates.
    """

    want: str
    target: str
    chunks: int
    candidates: int
    weights: list[WeightIntervalView]
    holds: bool


class ProposedView(TypedDict):
    """A weight that grants every wish, nearest to the current one. confirmed: ranking again with it shows so."""

    weight: float
    settings: dict[str, str | float]
    confirmed: bool


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
