"""What diff and report answer."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from recall_core.contract.evaluation import ConditionView
from recall_core.contract.views import ChunkView, DocView, PlanEcho


class SideView(TypedDict):
    """One of the two that are compared. settings: those that differ from the other side's. store: its path, where
    two stores are compared. plan: of the one question, in full."""

    settings: dict[str, Any]
    store: NotRequired[str]
    digest: str
    plan: NotRequired[PlanEcho]


class FactorView(TypedDict):
    """What one factor did to a score: weights, fusion, normalizer (the method, its bound or its low and high),
    lexical and semantic (the raw value and rank), rerank. The points of a move add up to its delta."""

    factor: str
    points: float


class SignalShareView(TypedDict):
    """What a signal gives to the score of a row in a and in b, and how much more in b. The deltas of a move add up to
    its own."""

    signal: str
    a: float
    b: float
    delta: float


class AbsenceView(TypedDict):
    """Why a row is not in the list of a side: `store`, `filter`, `no_match`, `pool`, `min_score` or `min_cosine`."""

    side: Literal["a", "b"]
    cause: str


class StandingView(TypedDict):
    """Where a row stands on one side. rank: in the full list, null where it is absent. injected, displaced: by
    sparse-document recall."""

    rank: int | None
    score: float | None
    injected: NotRequired[bool]
    displaced: NotRequired[bool]


class MoveView(TypedDict):
    """A row in the first k of either side. kind: `same`, `moved`, `new` (not in the first k of a) or `gone` (not in
    those of b). delta: the score in b less that in a, null without both. doc and chunk: as in b, else as in a."""

    kind: Literal["same", "moved", "new", "gone"]
    a: StandingView
    b: StandingView
    delta: float | None
    causes: list[FactorView]
    subtotals: list[SignalShareView]
    absent: list[AbsenceView]
    doc: DocView
    chunk: NotRequired[ChunkView]


class SetChangeView(TypedDict):
    """How many rows of the first k of one side are absent from the list of the other for one reason."""

    side: Literal["a", "b"]
    cause: str
    rows: int


class QueryDiffView(TypedDict):
    """One question of a set: its figures, and whether another row comes first."""

    query: str
    text: str
    rbo: float
    jaccard: float
    first_changed: bool


class DiffView(TypedDict):
    """Two rankings compared. rbo: rank-biased overlap with persistence p over the first `depth` rows, extrapolated;
    jaccard: of the first k. Of a set of questions both are means, and `changed` lists those whose first k changed,
    the most changed first.

    rbo_min, jaccard_min: of the question that changed most. firsts_changed, queries_changed: how many questions have
    another first row, and another order of their first k.
    """

    a: SideView
    b: SideView
    k: int
    p: float
    depth: int
    rbo: float
    jaccard: float
    rbo_min: NotRequired[float]
    jaccard_min: NotRequired[float]
    queries: NotRequired[int]
    queries_changed: int
    firsts_changed: int
    sets: list[SetChangeView]
    moves: NotRequired[list[MoveView]]
    changed: NotRequired[list[QueryDiffView]]
    gate: NotRequired[list[ConditionView]]


class RankStepView(TypedDict):
    """A rank that holds from `low` to `high`, shares of the semantic weight."""

    low: float
    high: float
    rank: int


class RankLineView(TypedDict):
    """A result's rank at every share of the semantic weight. result: its place in `results`, from 0."""

    result: int
    steps: list[RankStepView]


class ReportView(TypedDict):
    """What a report shows beside results and context. weight: the semantic share that the order was made with.
    lines: of the best results, where two signals and their weights made the order; ranks beyond `depth` are left out.
    html, markdown: the files that were written."""

    weight: NotRequired[float]
    depth: NotRequired[int]
    lines: NotRequired[list[RankLineView]]
    html: NotRequired[str]
    markdown: NotRequired[str]
