"""The shapes of ledgers: how a score adds up, down to its leaves, and the comparison of two."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

LeafKind = Literal[
    "term",
    "model",
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
    """The lines or sentences of a chunk that match the query best, at most 240 code points.

    document_text[offset:end] == text. Lines count from 1, inclusive.
    """

    text: str
    offset: int
    end: int
    line_start: int
    line_end: int
    matches: list[list[int | str]]
    """Matches that the full-text index counts, each [offset, end, query phrase], in code points of the document."""
    title_matches: list[list[int | str]]
    """Matches in the document's title, in code points of the title."""
    heading: NotRequired[str]
    """Names of the units (sections, definitions, turns) that contain all of the passage, outermost first."""
    place: NotRequired[str]
    """Place in the file if the lines are not the file's, such as `page 3` or `turn 7`."""
    before: NotRequired[str]
    """The document's text before the passage, from the start of the first context line. Only with context lines."""
    after: NotRequired[str]
    """The document's text after the passage, to the end of the last context line. Only with context lines."""


class ColumnsView(TypedDict):
    """A value per column of the full-text index."""

    title: float
    body: float


class LeafView(TypedDict):
    """A summand of a part's points."""

    kind: LeafKind
    """`term`: a phrase of the query. `model`: all words together, with ts_rank. `feature`: a word of the query that
    the text contains, in whole or in part. `collision`: noise from features that share its vector components.
    `token`: a word of the text. `sentence`: a sentence of the text, with its exact Shapley value. `removal`: the
    loss of cosine without a sentence; these do not add up. `residual`: the rest after removals, or if the vector is
    of another text. `other`: the sum of `count` smaller leaves. `rank`: points of reciprocal rank fusion. `scale`:
    the amount that minmax subtracts from every candidate. `clipped`: a cosine below 0 counts as 0. `rounding`:
    stage values have 6 decimals."""
    text: str
    points: float
    contribution: NotRequired[float]
    """The points in the signal's own unit: BM25, ts_rank or cosine."""
    df: NotRequired[int]
    """Chunks that contain the phrase."""
    idf: NotRequired[float]
    floored: NotRequired[bool]
    """True if the idf has its minimum, because at least half of the chunks contain the phrase."""
    words: NotRequired[int]
    """Number of words of a longer phrase. Its idf is the sum over its words."""
    tf: NotRequired[ColumnsView]
    """Occurrences of the phrase in each column of the row."""
    length: NotRequired[ColumnsView]
    """Tokens in each column of the row."""
    average_length: NotRequired[ColumnsView]
    """Mean of length over all rows."""
    count: NotRequired[int]
    """Number of leaves summed in this one."""


class PartView(TypedDict):
    """A signal's share of the score. Parts add up to the score, leaves to the points of their part, within 1e-9."""

    signal: str
    raw: float | None
    value: float
    weight: float
    rank: int | None
    points: float
    leaves: NotRequired[list[LeafView]]
    """Absent if the part cannot be split."""


class StageValues(TypedDict, total=False):
    """The value of each signal."""

    lexical: float
    semantic: float
    rerank: float
    raw_score: float
    """The RRF sum before scaling."""


class ExplainView(StageValues):
    """Stage values, and the parts that add up to the score."""

    parts: list[PartView]
    summary: NotRequired[str]
    """What decides the row's rank, as a sentence."""


class RecallView(TypedDict):
    """Why sparse-document recall added a hit: its document is short and its chunk is near the query."""

    recall_injected: bool
    reason: str
    chunk_id: str
    knowledge_item_id: str
    """Document id."""
    distance: float
    """1 - cosine."""
    displaced: NotRequired[str]
    """The replaced chunk. Absent if the row was free."""


class RankedView(TypedDict):
    """A row: rank, chunk id and path."""

    rank: int
    id: str
    path: str


class NeighbourView(RankedView):
    """The row directly above or below."""

    side: Literal["above", "below"]
    margin: float
    """Upper score minus lower score."""
    decided_by: str
    """What decided the order: "score"; for equal scores "path", "offset" or "fused" (order before reranking);
    "order_by"; or "recall" (sparse-document recall added a row)."""
    flips_at: NotRequired[float | None]
    """The semantic weight at which the rows swap, null if there is none. Absent if weights do not decide."""


class WeightIntervalView(TypedDict):
    """An interval of semantic weights. An open end is exclusive."""

    low: float
    high: float
    low_open: bool
    high_open: bool


class FirmnessView(TypedDict):
    """The distance of the weight from a change in the first k rows. A distance is null if no weight changes them."""

    k: int
    order: WeightIntervalView
    """The weights around the current one that keep the order of the rows."""
    members: WeightIntervalView
    """The weights around the current one that keep the same rows in any order."""
    order_distance: float | None
    """Distance to the nearest end of `order`."""
    members_distance: float | None
    """Distance to the nearest end of `members`."""
    fragile: bool
    """True if the order changes within 0.02."""


class StabilityView(FirmnessView):
    """The distance of the weight from a change in the order or the membership of the first k rows (at most 8)."""

    weight: float
    """The current semantic weight."""


class CopyView(RankedView):
    """The listed row with the same text."""


class LedgerView(TypedDict):
    """A chunk's rank and the ledger of its score."""

    id: str
    path: str
    line_start: int
    line_end: int
    place: NotRequired[str]
    heading: NotRequired[str]
    passage: NotRequired[PassageView]
    rank: int | None
    """Rank in the full list of `of` rows, or null if the chunk is not in the list."""
    of: int
    absent: NotRequired[
        Literal["not_in_pool", "filtered", "below_min_score", "below_min_cosine", "copy", "document", "no_score"]
    ]
    """Why the chunk is not in the list: "not_in_pool" (no signal found it), "filtered", "below_min_score",
    "below_min_cosine", "copy" (the earlier row `copy_of` has the same text), "document" (a better chunk represents
    its document) or "no_score" (the query computes no score)."""
    copy_of: NotRequired[CopyView]
    hint: NotRequired[str]
    score: NotRequired[float]
    explain: NotRequired[ExplainView]
    residual: NotRequired[float]
    """The score minus the sum of all leaves. A part without leaves counts as a leaf."""
    neighbours: NotRequired[list[NeighbourView]]
    recall: NotRequired[RecallView]


class SubtotalView(TypedDict):
    """The points of a signal in the first and second chunk, and the difference. The signals add up to the
    difference of the scores."""

    signal: str
    points: float
    other_points: float
    delta: float


class DifferenceView(SubtotalView):
    """A leaf of either ledger: its points in the first and second chunk (0 if missing), and the difference."""

    kind: str
    text: str


class VersusView(TypedDict):
    """A comparison of two chunks."""

    winner: str
    """Id of the chunk that ranks higher."""
    margin: float
    """The winner's score minus the other score. Below 0 only if decided_by is "recall" or "order_by"."""
    decided_by: str
    """As in `neighbours`."""
    flips_at: NotRequired[float | None]
    """As in `neighbours`."""
    differences: list[DifferenceView]
    """Differences, largest first. They add up to the first score minus the second."""
    subtotals: list[SubtotalView]
    """The differences by signal."""


class ExplanationView(TypedDict):
    """The ledger of a chunk for a query, at any rank, optionally compared with another chunk."""

    chunk: LedgerView
    other: NotRequired[LedgerView]
    versus: NotRequired[VersusView]
    stability: NotRequired[StabilityView]
