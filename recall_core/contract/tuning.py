"""What tune answers. A weight is the semantic share: vector_weight / (bm25_weight + vector_weight)."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from recall_core.contract.evaluation import IntervalView
from recall_core.contract.ledger import WeightIntervalView


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
