"""What search, context and ingest answer, what the care of a store answers, and what embedders and reembed answer."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from recall_core.contract.ledger import ExplainView, PassageView, RecallView
from recall_core.contract.store import RootView
from recall_core.types import MatchKind


class SignalEcho(TypedDict):
    """One signal of the effective plan. bound: the query's BM25 bound (lexical only).

    text: what is looked for, unless it has more than 1,000 characters: the question gives those once.
    """

    signal: str
    text: NotRequired[str]
    weight: float
    bound: NotRequired[float]
    normalizer: NotRequired[NormalizerEcho]
    terms: NotRequired[list[TermEcho]]


class NormalizerEcho(TypedDict):
    """How raw values became stage values: divided by a bound that no value exceeds, or measured on the pool, of
    whose pool_size candidates the lowest and highest value became 0 and 1 (`max`: 0 stays 0).

    rrf_k: the points come from ranks, weight / (rrf_k + rank), and the stage values are only shown.
    """

    method: Literal["bound", "max", "minmax"]
    bound: NotRequired[float]
    low: NotRequired[float]
    high: NotRequired[float]
    pool_size: NotRequired[int]
    rrf_k: NotRequired[float]


class TermEcho(TypedDict):
    """A phrase of the lexical query with its document frequency and idf in this store.

    words: of a phrase of several, whose idf is the sum of theirs, how many.
    """

    text: str
    df: int
    idf: float
    words: NotRequired[int]


class RanksEcho(TypedDict, total=False):
    """The constant of reciprocal rank fusion, where that is how scores are made."""

    rrf_k: float


class CosineEcho(TypedDict, total=False):
    """The least cosine of rows without a query word, where one is set."""

    min_cosine: float


class ModelsEcho(TypedDict, total=False):
    """The models beyond the plain ones, and the lists that words were dropped by."""

    stop_words: str
    rerank: RerankEcho
    lexical_model: LexicalModelEcho


class PlanEcho(TypedDict):
    """Everything that decided the order. stop_words: the lists of words that were not looked for, or "none"; absent
    for the English function words alone. min_cosine: absent for 0."""

    mode: str
    fusion: str
    normalize: str
    weights: dict[str, float]
    rrf_k: NotRequired[float]
    min_score: float
    min_cosine: NotRequired[float]
    pool: int
    index: str
    sparse: bool
    stop_words: NotRequired[str]
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


class WordingEcho(TypedDict, total=False):
    """The words or the query, and the filter of both."""

    text: str
    rql: str
    filters: str


class PlanPart(TypedDict, total=False):
    """The effective plan, where signals were asked, and what was not looked for by words, where anything was."""

    dropped: list[str]
    plan: PlanEcho


class QueryEcho(TypedDict):
    """The question as it was understood, after defaults. dropped: what of it was not looked for by words, beyond
    function words, in order and as it was written."""

    text: NotRequired[str]
    rql: NotRequired[str]
    filters: NotRequired[str]
    limit: int
    offset: int
    dropped: NotRequired[list[str]]
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
    """A verbatim slice: document_text[offset:end] == text, in code points; lines count from 1, inclusive.

    place: where the file has it, for a document that is not the file's own text, such as "line 207".
    """

    id: NotRequired[str]
    doc_id: NotRequired[str]
    offset: NotRequired[int]
    tokens: NotRequired[int]
    text: NotRequired[str]
    end: NotRequired[int]
    line_start: NotRequired[int]
    line_end: NotRequired[int]
    heading: NotRequired[str]
    place: NotRequired[str]


class PlaceView(TypedDict):
    """Where a text stands too: the chunk there and its lines."""

    id: str
    path: str
    offset: int
    line_start: int
    line_end: int
    place: NotRequired[str]


class CopiesView(TypedDict):
    """Other chunks with the very text of one that stands for them. count: all that pass the filter; places: the first
    ten of them, by path and offset."""

    count: int
    places: list[PlaceView]


class PassagePart(TypedDict, total=False):
    """The part of a hit that has its passage, where it has one."""

    passage: PassageView


class MatchedPart(TypedDict, total=False):
    """The part of a hit that says why it is there, where a signal was asked.

    matched: "both" (the row has a query word, and a cosine above 0 that was asked for), "words" (a query word alone),
    "meaning" (no query word), or in a context "pinned" (no query word, and no cosine above 0 or min_cosine).
    cosine: of a row without a query word, where both signals were asked.
    """

    matched: MatchKind
    cosine: float


class CopiesPart(TypedDict, total=False):
    """The part of a hit that tells of its copies, where there are any."""

    copies: CopiesView


class ResultView(TypedDict):
    """One hit. score, passage and matched are absent when nothing was asked of a signal. copies: where the list shows
    a text once, and others hold this one."""

    score: NotRequired[float]
    doc: NotRequired[DocView]
    chunk: NotRequired[ChunkView]
    passage: NotRequired[PassageView]
    matched: NotRequired[MatchKind]
    cosine: NotRequired[float]
    recall_injected: NotRequired[bool]
    recall: NotRequired[RecallView]
    copies: NotRequired[CopiesView]
    explain: NotRequired[ExplainView]


class SparseView(TypedDict):
    """What sparse-document recall did to an answer: injections made, or which condition failed.

    Counts are of documents, each of those that the count before it left: near (a chunk among the nearest `looked_at`
    chunks), short (at most `threshold` chunks), within the distance `ceiling`, of these present in the list, and
    blocked because no more rows may be given away. long_rows: of the list's `rows`, those of documents with more
    chunks than `threshold`. reason: "injected", or the first condition that left nothing: "no_vector", "whole_list"
    (nothing can be missing), "not_short", "too_far", "already_present", "no_row", "not_mostly_long" (no more than
    half of the rows are long_rows), "max_injections".
    """

    injections: int
    reason: str
    looked_at: int
    near: int
    short: int
    within_ceiling: int
    present: int
    blocked: int
    rows: int
    long_rows: int
    threshold: int
    ceiling: float


class QueryPart(TypedDict, total=False):
    """The question, where there is one."""

    query: QueryEcho


class NextPart(TypedDict, total=False):
    """The next page, while there is one."""

    next_offset: int


class SparsePart(TypedDict, total=False):
    """The part of a response that tells of sparse-document recall, where there is something to tell."""

    sparse: SparseView


class StatsView(TypedDict):
    """Of one answer. took_ms and timings are the only keys the store and the query do not determine.
    copies: how many of total_hits are not shown, because one before them has their text; absent where none is.
    word_hits, of a hybrid answer: how many of the total_hits rows the words match; the others are there by meaning
    alone. without_text, of stats and init: documents without a text, and so without a chunk.
    examined: rows that an index which skips rows has proposed, whose cosines were worked out."""

    took_ms: float
    total_hits: NotRequired[int]
    copies: NotRequired[int]
    word_hits: NotRequired[int]
    snapshot: NotRequired[str]
    exact: NotRequired[bool]
    index: NotRequired[str]
    digest: NotRequired[str]
    timings: NotRequired[dict[str, float]]
    examined: NotRequired[int]
    without_text: NotRequired[int]


class RemovedView(TypedDict):
    """What rm did, or, in a dry run, would do. copies: documents that stay and share a text with a purged one."""

    documents: int
    dry_run: bool
    paths: list[str]
    purged: bool
    backups: list[str]
    copies: NotRequired[list[str]]


class TrustView(TypedDict):
    """What a recall.toml says that waits until it is accepted. acts: in words, none where nothing waits; sha256: of
    all of them, for RECALL_TRUST; accepted: they may happen; kept: from now on, and not for this run alone."""

    toml: str
    acts: list[str]
    sha256: NotRequired[str]
    accepted: bool
    kept: bool


class TextView(TypedDict):
    """What get found: a document, a chunk, lines of a document, or what of it lies at a place (`page 3`)."""

    kind: Literal["doc", "chunk", "lines", "place"]
    doc: DocView
    chunk: NotRequired[ChunkView]
    place: NotRequired[str]
    line_start: NotRequired[int]
    line_end: NotRequired[int]
    text: str


class LostView(TypedDict):
    """What could not be read of a damaged store. A `text` is a chunk of the document of that path, at that place;
    `labels` are the title, source, times, tags or metadata of one whose texts are there. path: the folder of a root,
    the query of a judgement, and "" where nobody knows it."""

    kind: Literal["document", "text", "labels", "root", "judgement"]
    path: str
    place: NotRequired[str]


class CheckView(TypedDict):
    """One check of doctor. evidence: what was counted; fix: a command. lost: what mending could not bring back.

    files: what killed commands left, or what was removed of that.
    """

    code: str
    severity: Literal["ok", "warning", "error"]
    evidence: str
    fix: NotRequired[str]
    lost: NotRequired[list[LostView]]
    files: NotRequired[list[str]]


class CompactView(TypedDict):
    """What compact freed. signatures: how many vectors have one by now, where the settings want an index of them.
    reason: why the file is larger than before, where it is."""

    tombstones: int
    bytes_before: int
    bytes_after: int
    signatures: NotRequired[int]
    reason: NotRequired[str]


class TransferView(TypedDict):
    """What export wrote or import read. inactive_roots: folders that came in and are not synced until accepted.

    waiting_roots: every root of the store that waits. accepted_roots: those that this import accepted.
    unchanged: documents that were here already, each as it came.
    """

    documents: int
    chunks: int
    sha256: str
    path: NotRequired[str]
    inactive_roots: NotRequired[list[str]]
    waiting_roots: NotRequired[list[RootView]]
    accepted_roots: NotRequired[list[RootView]]
    unchanged: NotRequired[int]


class BackupView(TypedDict):
    """A backup that was written, and every byte of it checked. bytes: of its file."""

    path: str
    bytes: int
    documents: int
    chunks: int
    digest: str


class RecoveredView(TypedDict):
    """A store made of what could be read of a damaged one. without_vector: chunks whose vector is to be made yet."""

    path: str
    documents: int
    chunks: int
    without_vector: int
    digest: str
    lost: list[LostView]


class WarmView(TypedDict):
    """What warm did. texts: distinct ones of the store, of which so many have a vector (kept). embedded: texts that
    this run read; questions: that it asked. left: texts, or questions, that it did not come to. bytes: of all that is
    kept for rerankers."""

    reranker: str
    texts: int
    kept: int
    embedded: int
    questions: int
    left: int
    bytes: int


class VerifiedView(TypedDict):
    """A file that was checked, without a change to it. Of a damaged one nothing is counted. digest: of a store;
    sha256: of an export, as its last line has it."""

    path: str
    kind: Literal["store", "export"]
    documents: NotRequired[int]
    chunks: NotRequired[int]
    digest: NotRequired[str]
    sha256: NotRequired[str]


class ErrorView(TypedDict):
    """Why there is no answer."""

    code: str
    message: str
    details: Any
    hint: str | None


class EmbedderView(TypedDict):
    """An embedder by name. available: it can be used here and now; reason: why not, or what to know about it.

    network: texts leave this machine. dimension is absent where only the provider knows. vector_weight: the weight
    that init writes. texts_per_second: measured, with --probe. probed: false where its server was not asked.
    """

    name: str
    purpose: str
    available: bool
    reason: str
    network: bool
    in_use: bool
    dimension: NotRequired[int]
    max_input: NotRequired[int]
    vector_weight: float
    hint: NotRequired[str]
    texts_per_second: NotRequired[float]
    probed: NotRequired[bool]


class ReembedView(TypedDict):
    """What reembed did. embedded: distinct texts that were sent to the embedder; reused: found in an earlier run."""

    embedder: str
    previous: str
    dimension: int
    chunks: int
    vectors: int
    embedded: int
    reused: int
    tokens: NotRequired[int]


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
