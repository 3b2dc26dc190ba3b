"""What context answers: the packed text with its sources, and what it is worth."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from recall_core.contract.ledger import ExplainView, PassageView
from recall_core.contract.views import CopiesView
from recall_core.types import MatchKind


class TwinsView(TypedDict):
    """Candidates that say almost the same words, by rank. wasted_tokens: of the packed ones behind the first."""

    ranks: list[int]
    wasted_tokens: int


class TermCoverView(TypedDict):
    """A phrase of the question, and whether the text of a packed chunk holds it."""

    text: str
    idf: float
    packed: bool


class CoverageView(TypedDict):
    """How much of the question's words the context holds: their idf over that of all known ones."""

    share: float
    terms: list[TermCoverView]


class SpentView(TypedDict):
    """What the used tokens are spent on; the three add up to used_tokens."""

    chunks: int
    headers: int
    separators: int


class SwapView(TypedDict):
    """A candidate that another packing would add or drop."""

    rank: int
    id: str
    path: str


class AlternativeView(TypedDict):
    """The other packing, where it reaches more value under the same budget."""

    pack: str
    value: float
    used_tokens: int
    adds: list[SwapView]
    drops: list[SwapView]


class AccountView(TypedDict):
    """The worth of a context, over these candidates: the best 200, or as far down as chunks were packed.

    value: the packed chunks' scores added up, of a cut one the share that is in the text; without scores each chunk
    is worth 1. bound: no choice of these candidates under this budget is worth more. efficiency: value / bound.
    redundancy: the share of word 3-shingles that repeat earlier ones. truncated_tokens: of the cut chunk, left out.
    coverage is left out where the question has no known words.
    """

    pack: str
    candidates: int
    value: float
    bound: float
    efficiency: float | None
    coverage: NotRequired[CoverageView]
    documents: int
    redundancy: float
    duplicates: list[TwinsView]
    truncated_tokens: int
    tokens: SpentView
    alternative: NotRequired[AlternativeView]


class ContextChunk(TypedDict):
    """A packed chunk with its provenance. offset, text: of a cut chunk, those of the part that was packed.
    passage: of the whole chunk, also if less of it was packed. copies, matched, cosine: as of a hit."""

    id: str
    doc_id: str
    offset: int
    tokens: int
    text: NotRequired[str]
    path: str
    hash: str
    mtime: str
    recall_injected: NotRequired[bool]
    matched: NotRequired[MatchKind]
    cosine: NotRequired[float]
    passage: NotRequired[PassageView]
    copies: NotRequired[CopiesView]
    explain: NotRequired[ExplainView]


class ContextBlock(TypedDict):
    """A stretch of one document in the context, under one header.

    cut: what of its chunk is missing, of a truncated block. heading, place: of its best hit's passage.
    text_range: from where to where of the context's text; with numbers before its lines, these included.
    """

    n: int
    path: str
    doc_id: str
    offset: int
    end: int
    line_start: int
    line_end: int
    place: NotRequired[str]
    text: NotRequired[str]
    hash: str
    mtime: str
    chunk_ids: list[str]
    ranks: list[int]
    truncated: bool
    cut: NotRequired[Literal["start", "end", "both"]]
    heading: NotRequired[str]
    text_range: NotRequired[list[int]]
    state: NotRequired[Literal["modified", "missing"]]


class OmittedView(TypedDict):
    """Candidates left out, and why. count is above 1 only for the tail behind the chunk that ended packing."""

    reason: str
    rank: int
    count: int
    id: str
    path: str


class AccountPart(TypedDict, total=False):
    """The account, where it is asked for."""

    account: AccountView


class SizesView(TypedDict, total=False):
    """What a model's own tokens would come to, where words are counted; and what of the budget is kept for chunks
    that sparse-document recall brought in, where there are any."""

    estimated_model_tokens: int
    reserved_tokens: int


class ContextView(TypedDict):
    """A context under its budget: count(text) == used_tokens <= budget_tokens, and
    the packed chunks plus the counts of omitted add up to candidates. reserved_tokens: of the budget, for chunks that
    sparse-document recall brought in; all others have the rest."""

    text: str
    budget_tokens: int
    used_tokens: int
    counter: str
    estimated_model_tokens: NotRequired[int]
    reserved_tokens: NotRequired[int]
    candidates: int
    chunks: list[ContextChunk]
    blocks: list[ContextBlock]
    omitted: list[OmittedView]
    account: NotRequired[AccountView]
