"""What eval and judge answer: figures, verdicts on fixtures, a proposed ceiling, judgements read and written."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


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
