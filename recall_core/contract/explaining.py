"""What whynot, trace, diff, report and replay answer."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from recall_core.contract.judging import ConditionView
from recall_core.contract.ledger import PassageView, WeightIntervalView
from recall_core.contract.views import ChunkView, DocView, PlanEcho


class SoughtView(TypedDict):
    """A chunk that the target names. rank: in the whole list, from 1; null where it is not listed."""

    chunk_id: str
    path: str
    line_start: int
    line_end: int
    place: NotRequired[str]
    rank: int | None
    passage: NotRequired[PassageView]


class TargetView(TypedDict):
    """What was asked for: `text` as typed, what `kind` of name it is, and how many chunks it names.

    chosen: the one that stands for it, the best ranked. others: at most 10 more, best first.
    """

    text: str
    kind: Literal["chunk", "document", "lines", "file", "text"]
    chunks: int
    chosen: NotRequired[SoughtView]
    others: NotRequired[list[SoughtView]]


class FailingView(TypedDict):
    """A predicate that the row fails, and the row's own value, null where it has none."""

    predicate: str
    value: str | int | float | bool | list[str] | None


class SoughtTermView(TypedDict):
    """A phrase of the question. df, idf: in this store; floored: so frequent that it hardly counts.

    words: of a phrase of several, whose idf is the sum of theirs, how many.
    stem: what the index looks for, where that is not the text itself. title, body: how often it stands in the chunk;
    left out where the question is in FTS5's own syntax.
    """

    text: str
    df: int
    idf: float
    floored: bool
    words: NotRequired[int]
    stem: NotRequired[str]
    title: NotRequired[int]
    body: NotRequired[int]


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
    """One stage: its status, what is behind it in a sentence and in figures, and the verdict it gives.

    hint: what to type where the cure would change the store, which is not tried.
    """

    stage: str
    status: Literal["pass", "fail", "not_applicable"]
    detail: str
    code: NotRequired[str]
    evidence: NotRequired[EvidenceView]
    hint: NotRequired[str]


class FixView(TypedDict):
    """A change that brings the target in. confirmed: the changed question was asked and answered with the target.

    kind: what is changed. command: the changed question, to be typed. settings: `key=value` for what a setting can
    say. size: how much is changed, in the kind's own unit. weights: every share of the semantic weight around the
    proposed one that does. next_smaller: the next smaller change, which was asked too, in vain.
    """

    kind: str
    change: str
    command: str
    settings: list[str]
    size: float
    confirmed: bool
    weights: NotRequired[WeightIntervalView]
    next_smaller: NotRequired[str]


class WordsView(TypedDict):
    """Words of the target that were tried as an addition to the question, by name or text, until one brought it in.

    tried: how many were. most: how many may be, 20, or 3 for what `few_for` names. of: how many there are.
    """

    tried: int
    most: int
    of: int
    few_for: NotRequired[Literal["context", "match"]]


class ProofView(TypedDict):
    """No weight brings the target among the first k by score. best_rank: the best it reaches, at weights like `at`.

    always_ahead: how many chunks lead it at every weight; ahead: the first of those that lead it where it is best.
    Where a list shows a text once, texts are counted, each by its best copy, that of the target too.
    """

    kind: Literal["never"]
    k: int
    best_rank: int
    at: float | None
    always_ahead: int
    ahead: list[RivalView]


class WhyNotView(TypedDict):
    """Whether the target is in the answer; `verdict` is `present`, or the first stage's that fails.

    no_proof: why there is none, where no weight seems to bring the target among the first k.
    """

    target: TargetView
    present: bool
    verdict: str
    stages: list[StageView]
    fixes: NotRequired[list[FixView]]
    words: NotRequired[WordsView]
    proof: NotRequired[ProofView]
    no_proof: NotRequired[str]


class PredicateView(TypedDict):
    """A part of the filter. rows: how many pass it alone, of all live rows; missing: rows without a value for it.

    The terms of an AND at the top also say what they remove: alone, in their order, and of the rows that pass all the
    others. terms: what an AND, OR or NOT is made of.
    """

    kind: Literal["predicate", "and", "or", "not"]
    text: str
    rows: int
    missing: NotRequired[int]
    native: NotRequired[bool]
    removed_alone: NotRequired[int]
    removed_in_order: NotRequired[int]
    removed_only_by_this: NotRequired[int]
    terms: NotRequired[list[PredicateView]]


class FunnelStageView(TypedDict):
    """One step of a question: rows that came in, rows that went on."""

    stage: str
    rows_in: int
    rows_out: int


class TraceView(TypedDict):
    """The way from the store to the answer. timings: milliseconds of each stage, which differ from run to run."""

    table: str
    stages: list[FunnelStageView]
    filter: NotRequired[list[PredicateView]]
    timings: dict[str, float]


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


class ReceiptView(TypedDict):
    """A receipt of this answer. sha256: its seal. text: what a file of it holds; path: the file that was written."""

    sha256: str
    text: NotRequired[str]
    path: NotRequired[str]


class ReceiptPart(TypedDict, total=False):
    """The receipt, where one is wanted."""

    receipt: ReceiptView


class ReplayChangeView(TypedDict):
    """Something that is another than in the receipt. key: which setting, or part of the plan or the context.

    what, of a document: edited, deleted or relabelled (fields: in what); of a row: gone, new, moved (before and after
    are its ranks), score, or cut (its end). id: of the row's chunk.
    """

    kind: str
    what: NotRequired[Literal["edited", "deleted", "relabelled", "gone", "new", "moved", "score", "cut"]]
    key: NotRequired[str]
    path: NotRequired[str]
    id: NotRequired[str]
    fields: NotRequired[list[str]]
    before: NotRequired[str | int | float | bool | None]
    after: NotRequired[str | int | float | bool | None]


class ReplayView(TypedDict):
    """An answer beside its receipt. identical: its rows, scores, documents and text are, and what it was asked under.

    Changes of version and store alone leave it identical. rows: of the receipt.
    """

    identical: bool
    rows: int
    sha256: str
    changes: list[ReplayChangeView]
