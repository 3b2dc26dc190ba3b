"""The shapes of a ledger: what a score adds up from, down to its leaves, and two of them side by side."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

LeafKind = Literal[
    "term",
    "feature",
    "collision",
    "token",
    "sentence",
    "removal",
    "other",
    "rank",
    "scale",
    "clipped",
    "residual",
    "rounding",
]


class PassageView(TypedDict):
    """The lines or sentences of a chunk that hold most of what was asked for, at most 240 code points of it.

    document_text[offset:end] == text; lines count from 1, inclusive. matches: what the full-text index counts there,
    each [offset, end, phrase of the question], in code points of the document. title_matches: the same in the
    document's title, in its own code points.
    heading: names of the units (sections, definitions, turns) that contain all of the passage, outermost first.
    place: where the file has the passage if not at these lines, such as `page 3` or `turn 7`.
    before, after: with lines around it, the document from the beginning of the first of these lines to the passage,
    and from there to the end of the last.
    """

    text: str
    offset: int
    end: int
    line_start: int
    line_end: int
    matches: list[list[int | str]]
    title_matches: list[list[int | str]]
    heading: NotRequired[str]
    place: NotRequired[str]
    before: NotRequired[str]
    after: NotRequired[str]


class ColumnsView(TypedDict):
    """A figure of each column of the full-text index."""

    title: float
    body: float


class LeafView(TypedDict):
    """One summand of a part's points. contribution: the same in the signal's own unit, BM25 or cosine.

    term: a phrase of the query, tf times in each column of a row that is length tokens long (average_length over
    all rows), in df chunks; floored: its idf is the least there is, since half the chunks or more hold it; words: of
    a phrase of several, whose idf is the sum of theirs, how many.
    feature, collision: a word of the question that the text holds in whole or in part; noise from features that
    share its components. token: a word of the text. sentence: one of the text, with its exact Shapley value.
    removal: what the cosine loses without that sentence, which does not add up; residual: what is left over then,
    or where a vector was made of something else than the text at hand.
    other: `count` smaller leaves together. rank: the points of reciprocal rank fusion. scale: what minmax takes from
    every candidate. clipped: a cosine below 0 counts 0. rounding: stage values have 6 decimals.
    """

    kind: LeafKind
    text: str
    points: float
    contribution: NotRequired[float]
    df: NotRequired[int]
    idf: NotRequired[float]
    floored: NotRequired[bool]
    words: NotRequired[int]
    tf: NotRequired[ColumnsView]
    length: NotRequired[ColumnsView]
    average_length: NotRequired[ColumnsView]
    count: NotRequired[int]


class PartView(TypedDict):
    """One signal's share of the score; the points of all parts add up to the score, and those of the leaves to the
    points, within 1e-9. leaves: absent where nothing smaller is known."""

    signal: str
    raw: float | None
    value: float
    weight: float
    rank: int | None
    points: float
    leaves: NotRequired[list[LeafView]]


class StageValues(TypedDict, total=False):
    """The value of each signal. raw_score: the RRF sum before it is scaled."""

    lexical: float
    semantic: float
    rerank: float
    raw_score: float


class ExplainView(TypedDict):
    """Stage values, and the parts that add up to the score. raw_score: the RRF sum before it is scaled.

    summary: what the row's place rests on, in a sentence for a person.
    """

    lexical: NotRequired[float]
    semantic: NotRequired[float]
    rerank: NotRequired[float]
    raw_score: NotRequired[float]
    parts: list[PartView]
    summary: NotRequired[str]


class RecallView(TypedDict):
    """Why a hit has a slot that its score did not earn: its document is short, and its chunk near the question.

    distance: 1 - cosine. displaced: the chunk that stood in the slot, absent where the slot was free.
    knowledge_item_id: the document's id.
    """

    recall_injected: bool
    reason: str
    chunk_id: str
    knowledge_item_id: str
    distance: float
    displaced: NotRequired[str]


class NeighbourView(TypedDict):
    """The row right above or below. margin: the upper score minus the lower. decided_by: what settled the order:
    "score"; where scores are equal "path", "offset" or "fused" (their order before the reranker); "order_by" or
    "recall" (sparse-document recall gave one its row). flips_at: the semantic share of the weights at which they
    change places, null for none; absent where the weights do not decide."""

    side: Literal["above", "below"]
    rank: int
    id: str
    path: str
    margin: float
    decided_by: str
    flips_at: NotRequired[float | None]


class WeightIntervalView(TypedDict):
    """Semantic shares of the weights from low to high; an open end is not part of them."""

    low: float
    high: float
    low_open: bool
    high_open: bool


class StabilityView(TypedDict):
    """How far the weights are from changing the first k rows, at most 8: their order, or which rows they are.

    weight: the semantic share of the weights now. A distance is null when no weight changes anything. fragile: the
    order changes within 0.02.
    """

    k: int
    weight: float
    order: WeightIntervalView
    members: WeightIntervalView
    order_distance: float | None
    members_distance: float | None
    fragile: bool


class CopyView(TypedDict):
    """The row that stands for a chunk with the same text."""

    rank: int
    id: str
    path: str


class LedgerView(TypedDict):
    """A chunk's place and the ledger of its score.

    rank: in the whole list of `of` rows, null where the list does not hold the chunk; then absent says why:
    "not_in_pool" (no signal proposed it), "filtered", "below_min_score", "below_min_cosine", "copy" (copy_of, a row
    before it, has its very text), "document" (a better chunk of its document stands for it) or "no_score" (the query
    asks for none).
    residual: score - sum of all leaves, a part without leaves counting as one.
    """

    id: str
    path: str
    line_start: int
    line_end: int
    place: NotRequired[str]
    heading: NotRequired[str]
    passage: NotRequired[PassageView]
    rank: int | None
    of: int
    absent: NotRequired[
        Literal["not_in_pool", "filtered", "below_min_score", "below_min_cosine", "copy", "document", "no_score"]
    ]
    copy_of: NotRequired[CopyView]
    hint: NotRequired[str]
    score: NotRequired[float]
    explain: NotRequired[ExplainView]
    residual: NotRequired[float]
    neighbours: NotRequired[list[NeighbourView]]
    recall: NotRequired[RecallView]


class DifferenceView(TypedDict):
    """One leaf of either ledger: its points in the first and in the second, 0 where it is missing, and the first
    minus the second."""

    signal: str
    kind: str
    text: str
    points: float
    other_points: float
    delta: float


class SubtotalView(TypedDict):
    """What a signal gives in the first and in the second, and the first minus the second: the signals add up to the
    difference of the scores."""

    signal: str
    points: float
    other_points: float
    delta: float


class VersusView(TypedDict):
    """Two chunks side by side. winner: the id of the one that ranks higher; margin: its score minus the other's,
    below 0 only where decided_by is "recall" or "order_by". decided_by and flips_at as for neighbours. differences:
    the largest first; they add up to the first score minus the second. subtotals: the same by signal."""

    winner: str
    margin: float
    decided_by: str
    flips_at: NotRequired[float | None]
    differences: list[DifferenceView]
    subtotals: list[SubtotalView]


class ExplanationView(TypedDict):
    """Why a chunk scores what it scores for a question, whatever its rank; with another, why more or less."""

    chunk: LedgerView
    other: NotRequired[LedgerView]
    versus: NotRequired[VersusView]
    stability: NotRequired[StabilityView]
