"""Every response's shape, written once: what search, context, ingest and the care of a store answer."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class SignalEcho(TypedDict):
    """One signal of the effective plan. bound: the query's BM25 bound (lexical only)."""

    signal: str
    text: str
    weight: float
    bound: NotRequired[float]
    terms: NotRequired[list[TermEcho]]


class TermEcho(TypedDict):
    """A phrase of the lexical query with its document frequency and idf in this store."""

    text: str
    df: int
    idf: float


class PlanEcho(TypedDict):
    """Everything that decided the order."""

    mode: str
    fusion: str
    normalize: str
    weights: dict[str, float]
    rrf_k: NotRequired[float]
    min_score: float
    pool: int
    index: str
    sparse: bool
    rerank: NotRequired[RerankEcho]
    lexical_model: NotRequired[LexicalModelEcho]
    signals: list[SignalEcho]


class RerankEcho(TypedDict):
    """The best `rows` of the fused order were scored again by `model`, which has this share of their score."""

    model: str
    rows: int
    weight: float


class LexicalModelEcho(TypedDict):
    """The lexical score in place of FTS5's own: BM25F with these constants."""

    model: str
    k1: float
    b: float
    title_weight: float


class QueryEcho(TypedDict):
    """The question as it was understood, after defaults."""

    text: NotRequired[str]
    rql: NotRequired[str]
    filters: NotRequired[str]
    limit: int
    offset: int
    plan: NotRequired[PlanEcho]


class DocView(TypedDict):
    """A document version. Optional keys are left out where the document has no such value or SELECT left it out."""

    id: NotRequired[str]
    path: NotRequired[str]
    mtime: NotRequired[str]
    hash: NotRequired[str]
    tag: NotRequired[str]
    source: NotRequired[str]
    tags: NotRequired[list[str]]
    title: NotRequired[str]
    meta: NotRequired[dict[str, Any]]
    state: NotRequired[Literal["modified", "missing"]]


class ChunkView(TypedDict):
    """A verbatim slice: document_text[offset:end] == text, in code points; lines count from 1, inclusive."""

    id: NotRequired[str]
    doc_id: NotRequired[str]
    offset: NotRequired[int]
    tokens: NotRequired[int]
    text: NotRequired[str]
    end: NotRequired[int]
    line_start: NotRequired[int]
    line_end: NotRequired[int]
    heading: NotRequired[str]


class PartView(TypedDict):
    """One signal's share of the score; the points of all parts add up to the score."""

    signal: str
    raw: float | None
    value: float
    weight: float
    rank: int | None
    points: float


class ExplainView(TypedDict):
    """Stage values, and the parts that add up to the score. raw_score: the RRF sum before it is scaled."""

    lexical: NotRequired[float]
    semantic: NotRequired[float]
    rerank: NotRequired[float]
    raw_score: NotRequired[float]
    parts: list[PartView]


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


class ResultView(TypedDict):
    """One hit. score is absent when nothing was asked of a signal."""

    score: NotRequired[float]
    doc: NotRequired[DocView]
    chunk: NotRequired[ChunkView]
    recall_injected: NotRequired[bool]
    recall: NotRequired[RecallView]
    explain: NotRequired[ExplainView]


class SparseView(TypedDict):
    """What sparse-document recall did to an answer: injections made, or which condition failed.

    Counts are of documents: near (a chunk among the nearest `looked_at`), short (few enough chunks), within the
    distance ceiling, already in the list, blocked because max_injections was reached. reason: "injected", or the
    first condition that left nothing.
    """

    injections: int
    reason: str
    looked_at: int
    near: int
    short: int
    within_ceiling: int
    present: int
    blocked: int
    threshold: int
    ceiling: float


class ContextChunk(TypedDict):
    """A packed chunk with its provenance."""

    id: str
    doc_id: str
    offset: int
    tokens: int
    text: str
    path: str
    hash: str
    mtime: str


class ContextBlock(TypedDict):
    """A stretch of one document as it stands in the context, under one header."""

    n: int
    path: str
    doc_id: str
    offset: int
    end: int
    line_start: int
    line_end: int
    text: str
    hash: str
    mtime: str
    chunk_ids: list[str]
    ranks: list[int]
    truncated: bool
    state: NotRequired[Literal["modified", "missing"]]


class OmittedView(TypedDict):
    """Candidates left out, and why. count is above 1 only for the tail behind the chunk that ended packing."""

    reason: str
    rank: int
    count: int
    id: str
    path: str


class ContextView(TypedDict):
    """A context under its budget: count(text) == used_tokens <= budget_tokens, and
    the packed chunks plus the counts of omitted add up to candidates."""

    text: str
    budget_tokens: int
    used_tokens: int
    counter: str
    estimated_model_tokens: NotRequired[int]
    candidates: int
    chunks: list[ContextChunk]
    blocks: list[ContextBlock]
    omitted: list[OmittedView]


class StatsView(TypedDict):
    """Of one answer. took_ms and timings are the only keys the store and the query do not determine."""

    took_ms: float
    total_hits: NotRequired[int]
    snapshot: NotRequired[str]
    exact: NotRequired[bool]
    index: NotRequired[str]
    digest: NotRequired[str]
    timings: NotRequired[dict[str, float]]


class SkipView(TypedDict):
    """A file that was found and not ingested."""

    path: str
    code: str
    reason: str


class IngestView(TypedDict):
    """What add or sync did. added, updated, unchanged, removed and files count files; documents and chunks are
    what those files hold, of which embedded were computed and reused found again by their text."""

    added: int
    updated: int
    unchanged: int
    removed: int
    files: int
    documents: int
    chunks: int
    embedded: int
    reused: int
    skipped: list[SkipView]


class StoreView(TypedDict):
    """A store at rest."""

    path: str
    schema_version: int
    embedder: str
    dimension: int
    counter: str
    chunker: str
    tokenizer: str
    documents: int
    chunks: int
    vectors: int
    without_vector: int
    tombstones: int
    truncated_share: float
    judgements: int
    generation: int
    digest: str
    bytes: int
    roots: list[str]
    note: NotRequired[str]


class RemovedView(TypedDict):
    """What rm did."""

    documents: int
    purged: bool
    backups: list[str]


class TextView(TypedDict):
    """What get found: a document, a chunk, or lines of a document."""

    kind: Literal["doc", "chunk", "lines"]
    doc: DocView
    chunk: NotRequired[ChunkView]
    line_start: NotRequired[int]
    line_end: NotRequired[int]
    text: str


class CheckView(TypedDict):
    """One check of doctor. evidence: what was counted; fix: a command."""

    code: str
    severity: Literal["ok", "warning", "error"]
    evidence: str
    fix: NotRequired[str]


class CompactView(TypedDict):
    """What compact freed."""

    tombstones: int
    bytes_before: int
    bytes_after: int


class TransferView(TypedDict):
    """What export wrote or import read."""

    documents: int
    chunks: int
    sha256: str
    path: NotRequired[str]


class ErrorView(TypedDict):
    """Why there is no answer."""

    code: str
    message: str
    details: Any
    hint: str | None
