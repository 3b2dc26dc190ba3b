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

    document_text[offset:end] == text; lines count from 1, inclusive.
    """

    text: str
    offset: int
    end: int
    line_start: int
    line_end: int
    matches: list[list[int | str]]
    """What the full-text index counts there, each [offset, end, phrase of the question], in code points of the
    document."""
    title_matches: list[list[int | str]]
    """The same in the document's title, in its own code points."""
    heading: NotRequired[str]
    """Names of the units (sections, definitions, turns) that contain all of the passage, outermost first."""
    place: NotRequired[str]
    """Where the file has the passage if not at these lines, such as `page 3` or `turn 7`."""
    before: NotRequired[str]
    """The document from the beginning of the first line around the passage to the passage, with lines around it."""
    after: NotRequired[str]
    """The document from the end of the passage to the end of the last line around it."""


class ColumnsView(TypedDict):
    """A figure of each column of the full-text index."""

    title: float
    body: float


class LeafView(TypedDict):
    """One summand of a part's points."""

    kind: LeafKind
    """`term`: a phrase of the query. `feature`, `collision`: a word of the question that the text holds in whole
    or in part; noise from features that share its components. `token`: a word of the text. `sentence`: one of the
    text, with its exact Shapley value. `removal`: what the cosine loses without that sentence, which does not add
    up. `residual`: what is left over then, or where a vector was made of something else than the text at hand.
    `other`: `count` smaller leaves together. `rank`: the points of reciprocal rank fusion. `scale`: what minmax
    takes from every candidate. `clipped`: a cosine below 0 counts 0. `rounding`: stage values have 6 decimals."""
    text: str
    points: float
    contribution: NotRequired[float]
    """The same in the signal's own unit, BM25 or cosine."""
    df: NotRequired[int]
    """Chunks that hold the phrase."""
    idf: NotRequired[float]
    floored: NotRequired[bool]
    """Its idf is the least there is, since half the chunks or more hold it."""
    words: NotRequired[int]
    """Words of a phrase of several, whose idf is the sum of theirs."""
    tf: NotRequired[ColumnsView]
    """How often the phrase is in each column of the row."""
    length: NotRequired[ColumnsView]
    """Tokens of each column of the row."""
    average_length: NotRequired[ColumnsView]
    """The same, on average over all rows."""
    count: NotRequired[int]
    """Leaves that this one stands for."""


class PartView(TypedDict):
    """One signal's share of the score; the points of all parts add up to the score, and those of the leaves to the
    points, within 1e-9.
    """

    signal: str
    raw: float | None
    value: float
    weight: float
    rank: int | None
    points: float
    leaves: NotRequired[list[LeafView]]
    """Absent where nothing smaller is known."""


class StageValues(TypedDict, total=False):
    """The value of each signal."""

    lexical: float
    semantic: float
    rerank: float
    raw_score: float
    """The RRF sum before it is scaled."""


class ExplainView(StageValues):
    """Stage values, and the parts that add up to the score."""

    parts: list[PartView]
    summary: NotRequired[str]
    """What the row's place rests on, in a sentence for a person."""


class RecallView(TypedDict):
    """Why a hit has a slot that its score did not earn: its document is short, and its chunk near the question."""

    recall_injected: bool
    reason: str
    chunk_id: str
    knowledge_item_id: str
    """The document's id."""
    distance: float
    """1 - cosine."""
    displaced: NotRequired[str]
    """The chunk that stood in the slot, absent where the slot was free."""


class RankedView(TypedDict):
    """A row by its rank, its chunk's id and its path."""

    rank: int
    id: str
    path: str


class NeighbourView(RankedView):
    """The row right above or below."""

    side: Literal["above", "below"]
    margin: float
    """The upper score minus the lower."""
    decided_by: str
    """What settled the order: "score"; where scores are equal "path", "offset" or "fused" (their order before the
    reranker); "order_by" or "recall" (sparse-document recall gave one its row)."""
    flips_at: NotRequired[float | None]
    """The semantic share of the weights at which they change places, null for none; absent where the weights do not
    decide."""


class WeightIntervalView(TypedDict):
    """Semantic shares of the weights from low to high; an open end is not part of them."""

    low: float
    high: float
    low_open: bool
    high_open: bool


class FirmnessView(TypedDict):
    """How far the weights are from changing the first k rows. A distance is null when no weight changes anything."""

    k: int
    order: WeightIntervalView
    """The weights around the current one that keep the rows in their order."""
    members: WeightIntervalView
    """The weights around the current one that keep the rows at all."""
    order_distance: float | None
    """To the nearest end of `order`."""
    members_distance: float | None
    """To the nearest end of `members`."""
    fragile: bool
    """The order changes within 0.02."""


class StabilityView(FirmnessView):
    """How far the weights are from changing the first k rows, at most 8: their order, or which rows they are."""

    weight: float
    """The semantic share of the weights now."""


class CopyView(RankedView):
    """The row that stands for a chunk with the same text."""


class LedgerView(TypedDict):
    """A chunk's place and the ledger of its score."""

    id: str
    path: str
    line_start: int
    line_end: int
    place: NotRequired[str]
    heading: NotRequired[str]
    passage: NotRequired[PassageView]
    rank: int | None
    """In the whole list of `of` rows, null where the list does not hold the chunk."""
    of: int
    absent: NotRequired[
        Literal["not_in_pool", "filtered", "below_min_score", "below_min_cosine", "copy", "document", "no_score"]
    ]
    """Why the list does not hold it: "not_in_pool" (no signal proposed it), "filtered", "below_min_score",
    "below_min_cosine", "copy" (`copy_of`, a row before it, has its very text), "document" (a better chunk of its
    document stands for it) or "no_score" (the query asks for none)."""
    copy_of: NotRequired[CopyView]
    hint: NotRequired[str]
    score: NotRequired[float]
    explain: NotRequired[ExplainView]
    residual: NotRequired[float]
    """The score less the sum of all leaves, where a part without leaves counts as one."""
    neighbours: NotRequired[list[NeighbourView]]
    recall: NotRequired[RecallView]


class SubtotalView(TypedDict):
    """What a signal gives in the first and in the second, and the first minus the second: the signals add up to the
    difference of the scores."""

    signal: str
    points: float
    other_points: float
    delta: float


class DifferenceView(SubtotalView):
    """One leaf of either ledger: its points in the first and in the second, 0 where it is missing, and the first
    minus the second."""

    kind: str
    text: str


class VersusView(TypedDict):
    """Two chunks side by side."""

    winner: str
    """The id of the one that ranks higher."""
    margin: float
    """Its score minus the other's, below 0 only where decided_by is "recall" or "order_by"."""
    decided_by: str
    """As for neighbours."""
    flips_at: NotRequired[float | None]
    """As for neighbours."""
    differences: list[DifferenceView]
    """The largest first; they add up to the first score minus the second."""
    subtotals: list[SubtotalView]
    """The same by signal."""


class ExplanationView(TypedDict):
    """Why a chunk scores what it scores for a question, whatever its rank; with another, why more or less."""

    chunk: LedgerView
    other: NotRequired[LedgerView]
    versus: NotRequired[VersusView]
    stability: NotRequired[StabilityView]
