"""What whynot and trace answer."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from recall_core.contract.ledger import PassageView, WeightIntervalView


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
