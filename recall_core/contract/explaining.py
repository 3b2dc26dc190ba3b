"""Responses of whynot, trace, diff, report and replay."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from recall_core.contract.judging import ConditionView
from recall_core.contract.ledger import PassageView, WeightIntervalView
from recall_core.contract.views import ChunkView, DocView, PlanEcho


class SoughtView(TypedDict):
    """A chunk of the target."""

    chunk_id: str
    path: str
    line_start: int
    line_end: int
    place: NotRequired[str]
    rank: int | None
    """Rank in the full list, from 1, or null if not listed."""
    passage: NotRequired[PassageView]


class TargetView(TypedDict):
    """The target: the typed `text`, the `kind` of name, and the number of chunks it names."""

    text: str
    kind: Literal["chunk", "document", "lines", "file", "text"]
    chunks: int
    chosen: NotRequired[SoughtView]
    """The best-ranked chunk of the target."""
    others: NotRequired[list[SoughtView]]
    """Up to 10 other chunks, best first."""


class FailingView(TypedDict):
    """A predicate that the row fails, and the row's value (null if it has none)."""

    predicate: str
    value: str | int | float | bool | list[str] | None


class SoughtTermView(TypedDict):
    """A phrase of the query."""

    text: str
    df: int
    """Chunks in this store that contain it."""
    idf: NotRequired[float]
    """Absent with ts_rank, which weighs no words."""
    floored: NotRequired[bool]
    """True if the phrase is so frequent that it hardly counts. Absent with ts_rank."""
    words: NotRequired[int]
    """Number of words of a longer phrase. Its idf is the sum over its words."""
    stem: NotRequired[str]
    """The index term, if it differs from the text."""
    title: NotRequired[int]
    """Occurrences in the chunk's title. Left out for queries in FTS5 syntax."""
    body: NotRequired[int]
    """Occurrences in the chunk's text. Left out for queries in FTS5 syntax."""


class RivalView(TypedDict):
    """A chunk that ranks ahead of the target."""

    chunk_id: str
    path: str
    lexical: NotRequired[float]
    semantic: NotRequired[float]
    score: NotRequired[float]


class EvidenceView(TypedDict, total=False):
    """The figures of a stage. Each stage has the keys that apply to it."""

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
    """A stage: its status, the reason as a sentence and as figures, and its verdict."""

    stage: str
    status: Literal["pass", "fail", "not_applicable"]
    detail: str
    code: NotRequired[str]
    evidence: NotRequired[EvidenceView]
    hint: NotRequired[str]
    """A command that would fix it by changing the store. It is not tried."""


class FixView(TypedDict):
    """A change that adds the target to the answer."""

    kind: str
    """Kind of the change."""
    change: str
    command: str
    """The changed query as a command."""
    settings: list[str]
    """The change as settings, `key=value`, as far as settings can express it."""
    size: float
    """Size of the change, in the unit of its kind."""
    confirmed: bool
    """True if the changed query returned the target."""
    weights: NotRequired[WeightIntervalView]
    """All semantic weights around the proposed one that return the target."""
    next_smaller: NotRequired[str]
    """The next smaller change. It was tried and is not enough."""


class WordsView(TypedDict):
    """Words of the target that were tried as additions to the query, until one worked."""

    tried: int
    """Number of words tried."""
    most: int
    """Most words to try: 20, or 3 for the case in `few_for`."""
    of: int
    """Number of candidate words."""
    few_for: NotRequired[Literal["context", "match", "model"]]


class ProofView(TypedDict):
    """Proof that no weight ranks the target in the first k by score.

    If the list shows copies once, ranks count texts, each at its best copy.
    """

    kind: Literal["never"]
    k: int
    best_rank: int
    """The best rank of the target, at weights such as `at`."""
    at: float | None
    always_ahead: int
    """Number of chunks ahead of it at every weight."""
    ahead: list[RivalView]
    """The first chunks ahead of it at its best rank."""


class WhyNotView(TypedDict):
    """Why a target is missing. `verdict`: `present`, or that of the first stage that fails."""

    target: TargetView
    present: bool
    verdict: str
    stages: list[StageView]
    fixes: NotRequired[list[FixView]]
    words: NotRequired[WordsView]
    proof: NotRequired[ProofView]
    no_proof: NotRequired[str]
    """Why there is no proof, if no weight seems to rank the target in the first k."""


class PredicateView(TypedDict):
    """A part of the filter. Terms of a top-level AND also count the rows they remove."""

    kind: Literal["predicate", "and", "or", "not"]
    text: str
    rows: int
    """Live rows that pass this part alone."""
    missing: NotRequired[int]
    """Rows without a value for this part."""
    native: NotRequired[bool]
    removed_alone: NotRequired[int]
    """Rows that this term removes alone."""
    removed_in_order: NotRequired[int]
    """Rows that this term removes after the terms before it."""
    removed_only_by_this: NotRequired[int]
    """Rows that only this term removes."""
    terms: NotRequired[list[PredicateView]]
    """Operands of an AND, OR or NOT."""


class FunnelStageView(TypedDict):
    """A step of a query: rows in and rows out."""

    stage: str
    rows_in: int
    rows_out: int


class TraceView(TypedDict):
    """The steps from the store to the answer."""

    table: str
    stages: list[FunnelStageView]
    filter: NotRequired[list[PredicateView]]
    timings: dict[str, float]
    """Milliseconds per stage. They vary from run to run."""


class SideView(TypedDict):
    """One side of a comparison."""

    settings: dict[str, Any]
    """Settings that differ from the other side."""
    store: NotRequired[str]
    """Path of the store, if two stores are compared."""
    digest: str
    plan: NotRequired[PlanEcho]
    """The full ranking of a single query."""


class FactorView(TypedDict):
    """The effect of one factor on a score. The points of a move add up to its delta.

    Factors: weights, fusion, normalizer (its method, bound, low and high), lexical and semantic (raw value and rank),
    rerank."""

    factor: str
    points: float


class SignalShareView(TypedDict):
    """The points of a signal in a and in b, and the difference. The deltas of the signals add up to the delta of the
    move."""

    signal: str
    a: float
    b: float
    delta: float


class AbsenceView(TypedDict):
    """Why a row is missing from a side: `store`, `filter`, `no_match`, `pool`, `min_score` or `min_cosine`."""

    side: Literal["a", "b"]
    cause: str


class StandingView(TypedDict):
    """The rank and score of a row on one side."""

    rank: int | None
    """Rank in the full list, or null if absent."""
    score: float | None
    injected: NotRequired[bool]
    """True if sparse-document recall added the row."""
    displaced: NotRequired[bool]
    """True if sparse-document recall replaced the row."""


class MoveView(TypedDict):
    """A row in the first k of a side."""

    kind: Literal["same", "moved", "new", "gone"]
    """`new`: not in the first k of a. `gone`: not in the first k of b."""
    a: StandingView
    b: StandingView
    delta: float | None
    """Score in b minus score in a, or null unless both exist."""
    causes: list[FactorView]
    subtotals: list[SignalShareView]
    absent: list[AbsenceView]
    doc: DocView
    """Value in b, else in a."""
    chunk: NotRequired[ChunkView]
    """Value in b, else in a."""


class SetChangeView(TypedDict):
    """Number of rows in the first k of one side that are missing from the other side, for one reason."""

    side: Literal["a", "b"]
    cause: str
    rows: int


class QueryDiffView(TypedDict):
    """A query of a set: its figures, and whether its first row changed."""

    query: str
    text: str
    rbo: float
    jaccard: float
    first_changed: bool


class DiffView(TypedDict):
    """A comparison of two rankings. For a set of queries, rbo and jaccard are means."""

    a: SideView
    b: SideView
    k: int
    p: float
    depth: int
    rbo: float
    """Rank-biased overlap with persistence p over the first `depth` rows, extrapolated."""
    jaccard: float
    """Jaccard similarity of the first k rows."""
    rbo_min: NotRequired[float]
    """Value of the query that changed most."""
    jaccard_min: NotRequired[float]
    """Value of the query that changed most."""
    queries: NotRequired[int]
    queries_changed: int
    """Number of queries whose first k rows changed order."""
    firsts_changed: int
    """Number of queries whose first row changed."""
    sets: list[SetChangeView]
    moves: NotRequired[list[MoveView]]
    changed: NotRequired[list[QueryDiffView]]
    """Queries whose first k rows changed, largest change first."""
    gate: NotRequired[list[ConditionView]]


class RankStepView(TypedDict):
    """A rank that is valid for semantic weights from `low` to `high`."""

    low: float
    high: float
    rank: int


class RankLineView(TypedDict):
    """The rank of a result at every semantic weight."""

    result: int
    """Index in `results`, from 0."""
    steps: list[RankStepView]


class ReportView(TypedDict):
    """The parts of a report other than results and context."""

    weight: NotRequired[float]
    """The semantic weight of the ranking."""
    depth: NotRequired[int]
    lines: NotRequired[list[RankLineView]]
    """Rank lines of the best results, if weights of two signals decide the order. Ranks beyond `depth` are left
    out."""
    html: NotRequired[str]
    """Path of the written file."""
    markdown: NotRequired[str]
    """Path of the written file."""


class ReceiptView(TypedDict):
    """The receipt of an answer."""

    sha256: str
    """Digest of the receipt."""
    text: NotRequired[str]
    """Contents of the receipt file."""
    path: NotRequired[str]
    """Path of the written file."""


class ReceiptPart(TypedDict, total=False):
    """The part of a response with a receipt, if requested."""

    receipt: ReceiptView
    """The receipt, to compare with a later answer."""


class ReplayChangeView(TypedDict):
    """A difference from the receipt."""

    kind: str
    what: NotRequired[Literal["edited", "deleted", "relabelled", "gone", "new", "moved", "score", "cut"]]
    """For a document: edited, deleted or relabelled (in `fields`). For a row: gone, new, moved (before and after are
    ranks), score, or cut (its end)."""
    key: NotRequired[str]
    """The setting, or the part of the plan or context."""
    path: NotRequired[str]
    id: NotRequired[str]
    """Offset of the row's chunk."""
    fields: NotRequired[list[str]]
    before: NotRequired[str | int | float | bool | None]
    after: NotRequired[str | int | float | bool | None]


class ReplayView(TypedDict):
    """An answer compared with its receipt. Changes of version or store do not affect `identical`."""

    identical: bool
    """True if rows, scores, documents, text and settings are identical."""
    rows: int
    """Digest of the receipt."""
    sha256: str
    changes: list[ReplayChangeView]
