"""What whynot, trace, diff, report and replay answer."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from recall_core.contract.judging import ConditionView
from recall_core.contract.ledger import PassageView, WeightIntervalView
from recall_core.contract.views import ChunkView, DocView, PlanEcho


class SoughtView(TypedDict):
    """A chunk that the target names."""

    chunk_id: str
    path: str
    line_start: int
    line_end: int
    place: NotRequired[str]
    rank: int | None
    """In the whole list, from 1; null where it is not listed."""
    passage: NotRequired[PassageView]


class TargetView(TypedDict):
    """What was asked for: `text` as typed, what `kind` of name it is, and how many chunks it names."""

    text: str
    kind: Literal["chunk", "document", "lines", "file", "text"]
    chunks: int
    chosen: NotRequired[SoughtView]
    """The one that stands for it, the best ranked."""
    others: NotRequired[list[SoughtView]]
    """At most 10 more, best first."""


class FailingView(TypedDict):
    """A predicate that the row fails, and the row's own value, null where it has none."""

    predicate: str
    value: str | int | float | bool | list[str] | None


class SoughtTermView(TypedDict):
    """A phrase of the question."""

    text: str
    df: int
    """Chunks of this store that hold it."""
    idf: float
    floored: bool
    """So frequent that it hardly counts."""
    words: NotRequired[int]
    """Words of a phrase of several, whose idf is the sum of theirs."""
    stem: NotRequired[str]
    """What the index looks for, where that is not the text itself."""
    title: NotRequired[int]
    """How often it is in the chunk's title; left out where the question is in FTS5's own syntax."""
    body: NotRequired[int]
    """How often it is in the chunk's text; left out likewise."""


class RivalView(TypedDict):
    """A chunk that stands in the way."""

    chunk_id: str
    path: str
    lexical: NotRequired[float]
    semantic: NotRequired[float]
    score: NotRequired[float]


class EvidenceView(TypedDict, total=False):
    """What a stage goes by; each stage has the keys that concern it."""

    rules: list[str]
    state: str
    failing: list[FailingView]
    drop: list[list[str]]
    terms: list[SoughtTermView]
    missing: list[str]
    raw: float | None
    value: float
    points: float
    rank: int | None
    of: int
    depth: int
    score: float
    last_score: float
    gap: float
    key: str
    against: RivalView
    min_score: float
    min_cosine: float
    cosine: float
    rank_before: int
    reason: str
    first: int
    last: int
    cap: int
    siblings: list[str]
    block: int
    needed_tokens: int
    left_tokens: int
    kept_chars: int
    of_chars: int


class StageView(TypedDict):
    """One stage: its status, what is behind it in a sentence and in figures, and the verdict it gives."""

    stage: str
    status: Literal["pass", "fail", "not_applicable"]
    detail: str
    code: NotRequired[str]
    evidence: NotRequired[EvidenceView]
    hint: NotRequired[str]
    """What to type where the cure would change the store, which is not tried."""


class FixView(TypedDict):
    """A change that brings the target in."""

    kind: str
    """What is changed."""
    change: str
    command: str
    """The changed question, to be typed."""
    settings: list[str]
    """`key=value` for what a setting can say."""
    size: float
    """How much is changed, in the kind's own unit."""
    confirmed: bool
    """The changed question was asked and answered with the target."""
    weights: NotRequired[WeightIntervalView]
    """Every share of the semantic weight around the proposed one that does."""
    next_smaller: NotRequired[str]
    """The next smaller change, which was asked too, in vain."""


class WordsView(TypedDict):
    """Words of the target that were tried as an addition to the question, until one brought it in."""

    tried: int
    """How many were."""
    most: int
    """How many may be, 20, or 3 for what `few_for` names."""
    of: int
    """How many there are."""
    few_for: NotRequired[Literal["context", "match"]]


class ProofView(TypedDict):
    """No weight brings the target among the first k by score.

    Where a list shows a text once, texts are counted, each by its best copy, that of the target too.
    """

    kind: Literal["never"]
    k: int
    best_rank: int
    """The best it reaches, at weights like `at`."""
    at: float | None
    always_ahead: int
    """How many chunks lead it at every weight."""
    ahead: list[RivalView]
    """The first of those that lead it where it is best."""


class WhyNotView(TypedDict):
    """Whether the target is in the answer; `verdict` is `present`, or the first stage's that fails."""

    target: TargetView
    present: bool
    verdict: str
    stages: list[StageView]
    fixes: NotRequired[list[FixView]]
    words: NotRequired[WordsView]
    proof: NotRequired[ProofView]
    no_proof: NotRequired[str]
    """Why there is none, where no weight seems to bring the target among the first k."""


class PredicateView(TypedDict):
    """A part of the filter. The terms of an AND at the top also say what they remove."""

    kind: Literal["predicate", "and", "or", "not"]
    text: str
    rows: int
    """How many pass it alone, of all live rows."""
    missing: NotRequired[int]
    """Rows without a value for it."""
    native: NotRequired[bool]
    removed_alone: NotRequired[int]
    """Rows that it removes alone."""
    removed_in_order: NotRequired[int]
    """Rows that it removes after the terms before it."""
    removed_only_by_this: NotRequired[int]
    """Rows that it removes of those that pass all the others."""
    terms: NotRequired[list[PredicateView]]
    """What an AND, OR or NOT is made of."""


class FunnelStageView(TypedDict):
    """One step of a question: rows that came in, rows that went on."""

    stage: str
    rows_in: int
    rows_out: int


class TraceView(TypedDict):
    """The way from the store to the answer."""

    table: str
    stages: list[FunnelStageView]
    filter: NotRequired[list[PredicateView]]
    timings: dict[str, float]
    """Milliseconds of each stage, which differ from run to run."""


class SideView(TypedDict):
    """One of the two that are compared."""

    settings: dict[str, Any]
    """Those that differ from the other side's."""
    store: NotRequired[str]
    """Its path, where two stores are compared."""
    digest: str
    plan: NotRequired[PlanEcho]
    """Of the one question, in full."""


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
    """Where a row stands on one side."""

    rank: int | None
    """In the full list, null where it is absent."""
    score: float | None
    injected: NotRequired[bool]
    """Sparse-document recall gave it its row."""
    displaced: NotRequired[bool]
    """Sparse-document recall gave its row away."""


class MoveView(TypedDict):
    """A row in the first k of either side."""

    kind: Literal["same", "moved", "new", "gone"]
    """`new`: not in the first k of a. `gone`: not in those of b."""
    a: StandingView
    b: StandingView
    delta: float | None
    """The score in b less that in a, null without both."""
    causes: list[FactorView]
    subtotals: list[SignalShareView]
    absent: list[AbsenceView]
    doc: DocView
    """As in b, else as in a."""
    chunk: NotRequired[ChunkView]
    """As in b, else as in a."""


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
    """Two rankings compared. Of a set of questions rbo and jaccard are means."""

    a: SideView
    b: SideView
    k: int
    p: float
    depth: int
    rbo: float
    """Rank-biased overlap with persistence p over the first `depth` rows, extrapolated."""
    jaccard: float
    """Of the first k."""
    rbo_min: NotRequired[float]
    """Of the question that changed most."""
    jaccard_min: NotRequired[float]
    """Of the question that changed most."""
    queries: NotRequired[int]
    queries_changed: int
    """How many questions have another order of their first k."""
    firsts_changed: int
    """How many questions have another first row."""
    sets: list[SetChangeView]
    moves: NotRequired[list[MoveView]]
    changed: NotRequired[list[QueryDiffView]]
    """Questions whose first k changed, the most changed first."""
    gate: NotRequired[list[ConditionView]]


class RankStepView(TypedDict):
    """A rank that holds from `low` to `high`, shares of the semantic weight."""

    low: float
    high: float
    rank: int


class RankLineView(TypedDict):
    """A result's rank at every share of the semantic weight."""

    result: int
    """Its place in `results`, from 0."""
    steps: list[RankStepView]


class ReportView(TypedDict):
    """What a report shows beside results and context."""

    weight: NotRequired[float]
    """The semantic share that the order was made with."""
    depth: NotRequired[int]
    lines: NotRequired[list[RankLineView]]
    """Of the best results, where two signals and their weights made the order; ranks beyond `depth` are left out."""
    html: NotRequired[str]
    """The file that was written."""
    markdown: NotRequired[str]
    """The file that was written."""


class ReceiptView(TypedDict):
    """A receipt of this answer."""

    sha256: str
    """Its seal."""
    text: NotRequired[str]
    """What a file of it holds."""
    path: NotRequired[str]
    """The file that was written."""


class ReceiptPart(TypedDict, total=False):
    """The receipt, where one is wanted."""

    receipt: ReceiptView
    """What the answer was, to be held against a later one."""


class ReplayChangeView(TypedDict):
    """Something that is another than in the receipt."""

    kind: str
    what: NotRequired[Literal["edited", "deleted", "relabelled", "gone", "new", "moved", "score", "cut"]]
    """Of a document: edited, deleted or relabelled (fields: in what). Of a row: gone, new, moved (before and after
    are its ranks), score, or cut (its end)."""
    key: NotRequired[str]
    """Which setting, or part of the plan or the context."""
    path: NotRequired[str]
    id: NotRequired[str]
    """Of the row's chunk."""
    fields: NotRequired[list[str]]
    before: NotRequired[str | int | float | bool | None]
    after: NotRequired[str | int | float | bool | None]


class ReplayView(TypedDict):
    """An answer compared with its receipt. Changes of version and store alone leave it identical."""

    identical: bool
    """Its rows, scores, documents and text are, and what it was asked under."""
    rows: int
    """Of the receipt."""
    sha256: str
    changes: list[ReplayChangeView]
