"""Response parts of search, context, embedders, reembed and the maintenance commands."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from recall_core.contract.ledger import ExplainView, PassageView, RankedView, RecallView
from recall_core.contract.store import RootView
from recall_core.types import MatchKind


class RanksEcho(TypedDict, total=False):
    """The constant of reciprocal rank fusion, if used."""

    rrf_k: float
    """Points are weight / (rrf_k + rank). Stage values are informational then."""


class SignalEcho(TypedDict):
    """A signal of the effective plan."""

    signal: str
    text: NotRequired[str]
    """The searched text. Left out above 1,000 characters: the query contains it."""
    weight: float
    bound: NotRequired[float]
    """The query's BM25 bound (lexical only)."""
    normalizer: NotRequired[NormalizerEcho]
    terms: NotRequired[list[TermEcho]]


class NormalizerEcho(RanksEcho):
    """The normalization of raw values to stage values.

    bound: divided by a bound that no value exceeds. minmax: the lowest and highest of the pool_size candidates
    become 0 and 1. max: like minmax, but 0 stays 0.
    """

    method: Literal["bound", "max", "minmax"]
    bound: NotRequired[float]
    low: NotRequired[float]
    high: NotRequired[float]
    pool_size: NotRequired[int]


class TermEcho(TypedDict):
    """A phrase of the lexical query, with its document frequency and idf in this store."""

    text: str
    df: int
    idf: NotRequired[float]
    """Absent with ts_rank, which weighs no words."""
    words: NotRequired[int]
    """Number of words of a longer phrase. Its idf is the sum over its words."""


class CosineEcho(TypedDict, total=False):
    """The minimum cosine of rows without a query word, if set."""

    min_cosine: float
    """Absent if 0."""


class ModelsEcho(TypedDict, total=False):
    """Non-default models, and the stop word lists."""

    stop_words: str
    """Stop word lists, or "none". Absent for the English function words only."""
    rerank: RerankEcho
    lexical_model: LexicalModelEcho


class PlanEcho(RanksEcho, CosineEcho, ModelsEcho):
    """Everything that decides the order."""

    mode: str
    fusion: str
    normalize: str
    weights: dict[str, float]
    min_score: float
    pool: int
    index: str
    sparse: bool
    signals: list[SignalEcho]


class RerankEcho(TypedDict):
    """The reranker: `model` rescored the best `rows`, with this share of the score."""

    model: str
    rows: int
    weight: float


class LexicalModelEcho(TypedDict):
    """The lexical formula instead of FTS5's: `bm25f` with these constants, or `ts_rank`."""

    model: str
    k1: NotRequired[float]
    b: NotRequired[float]
    title_weight: float


class WordingEcho(TypedDict, total=False):
    """The query in words or RQL, and the filter."""

    text: str
    rql: str
    filters: str


class PlanPart(TypedDict, total=False):
    """The effective plan, if signals are used, and the dropped words, if any."""

    dropped: list[str]
    """Words that were not searched for, besides function words, in order and as written."""
    plan: PlanEcho


class QueryEcho(WordingEcho, PlanPart):
    """The query as interpreted, with defaults."""

    limit: int
    offset: int


class DocView(TypedDict):
    """A document version. Optional keys are left out if the document has no value or SELECT excludes them."""

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
    """A verbatim slice: document_text[offset:end] == text, in code points. Lines count from 1, inclusive."""

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
    """Place in the file, if the lines are not the file's, such as "line 207"."""


class PlaceView(TypedDict):
    """A copy of a text: its chunk and lines."""

    id: str
    path: str
    offset: int
    line_start: int
    line_end: int
    place: NotRequired[str]


class CopiesView(TypedDict):
    """Other chunks with the same text."""

    count: int
    """Number of copies that pass the filter."""
    places: list[PlaceView]
    """The first ten copies, by path and offset."""


class PassagePart(TypedDict, total=False):
    """The passage of a hit, if it has one."""

    passage: PassageView


class MatchedPart(TypedDict, total=False):
    """Why a hit matches, if signals are used."""

    matched: MatchKind
    """Why the row matches: "both" (a query word and a cosine above 0), "words" (a query word only), "meaning" (no
    query word), or in a context "pinned" (no query word, and no cosine above 0 or min_cosine)."""
    cosine: float
    """Cosine of a row without a query word, if both signals are used."""


class CopiesPart(TypedDict, total=False):
    """The copies of a hit, if any."""

    copies: CopiesView
    """Set if the list shows copies once and other chunks have this text."""


class ResultView(PassagePart, MatchedPart, CopiesPart):
    """A hit. score, passage and matched are absent if the query uses no signal."""

    score: NotRequired[float]
    doc: NotRequired[DocView]
    chunk: NotRequired[ChunkView]
    recall_injected: NotRequired[bool]
    recall: NotRequired[RecallView]
    explain: NotRequired[ExplainView]


class SparseView(TypedDict):
    """The effect of sparse-document recall on an answer: injections, or the condition that failed.

    Counts are of documents. Each count applies to the documents left by the count before it.
    """

    injections: int
    reason: str
    """Either "injected", or the first condition that left no document: "no_vector", "whole_list" (nothing is
    missing), "not_short", "too_far", "already_present", "no_row", "not_mostly_long" (at most half of the rows are
    long_rows), "max_injections"."""
    looked_at: int
    near: int
    """Documents with a chunk among the nearest `looked_at` chunks."""
    short: int
    """Documents with at most `threshold` chunks."""
    within_ceiling: int
    """Documents within the distance `ceiling`."""
    present: int
    """Documents already in the list."""
    blocked: int
    """Documents without a row because of the limit on injections."""
    rows: int
    long_rows: int
    """Rows, of all `rows` in the list, whose documents have more chunks than `threshold`."""
    threshold: int
    ceiling: float


class QueryPart(TypedDict, total=False):
    """A response part with the query, if there is one."""

    query: QueryEcho
    """The query as Recall interpreted it."""


class NextPart(TypedDict, total=False):
    """A response part with the next page, if there is one."""

    next_offset: int
    """Offset of the next page, if there is one."""


class SparsePart(TypedDict, total=False):
    """A response part about sparse-document recall, if it added something or was asked to explain."""

    sparse: SparseView
    """The effect of sparse-document recall."""


class StatsView(TypedDict):
    """Time and totals of an answer. Only took_ms, timings and cached do not depend on store and query alone."""

    word_hits: NotRequired[int]
    """Rows of total_hits with a query word, in a hybrid answer. The others match by meaning only."""
    took_ms: float
    total_hits: NotRequired[int]
    copies: NotRequired[int]
    """Rows of total_hits that are hidden as copies of an earlier row. Absent if 0."""
    snapshot: NotRequired[str]
    exact: NotRequired[bool]
    index: NotRequired[str]
    digest: NotRequired[str]
    timings: NotRequired[dict[str, float]]
    cached: NotRequired[bool]
    """True if a server gave this answer before, and neither store nor files have changed. Else absent."""
    examined: NotRequired[int]
    """Rows proposed by an approximate index, whose cosines were computed."""
    without_text: NotRequired[int]
    """stats and init: documents without text, and so without chunks."""


class RemovedView(TypedDict):
    """The outcome of rm, or its forecast in a dry run."""

    documents: int
    dry_run: bool
    paths: list[str]
    purged: bool
    backups: list[str]
    copies: NotRequired[list[str]]
    """Remaining documents that share a text with a purged one."""


class TrustView(TypedDict):
    """The settings of a recall.toml that need acceptance."""

    toml: str
    acts: list[str]
    """The effects in words. Empty if nothing needs acceptance."""
    sha256: NotRequired[str]
    """Digest of all acts, for RECALL_TRUST."""
    accepted: bool
    """True if they are accepted."""
    kept: bool
    """True if the acceptance is saved. False if it is for this run only."""


class DaemonView(TypedDict):
    """The state of recalld."""

    running: bool
    socket: str
    pid: NotRequired[int]
    """Its process."""
    seconds: NotRequired[int]
    """Seconds since its start."""
    answers: NotRequired[int]
    """Queries that it has run."""
    bytes: NotRequired[int]
    """Its memory, 0 if the system does not say."""
    stores: list[str]
    """Files of open stores."""


class SettingView(TypedDict):
    """A setting of a person."""

    name: str
    value: str | int | float | bool
    """The value in effect. After a change: the value that was written, or the default."""
    default: str | int | float | bool
    origin: str
    """`built-in`, the path of the file, or the environment variable."""
    meaning: str


class TextView(TypedDict):
    """The result of get: a document, a chunk, lines of a document, or the text at a place (`page 3`)."""

    kind: Literal["doc", "chunk", "lines", "place"]
    doc: DocView
    chunk: NotRequired[ChunkView]
    place: NotRequired[str]
    line_start: NotRequired[int]
    line_end: NotRequired[int]
    text: str


class LostView(TypedDict):
    """A part of a damaged store that could not be read.

    `text`: a chunk of the document at that path and place. `labels`: title, source, times, tags or metadata of a
    document whose texts were read.
    """

    kind: Literal["document", "text", "labels", "root", "judgement"]
    path: str
    """Folder of a root or query of a judgement, "" if unknown."""
    place: NotRequired[str]


class CheckView(TypedDict):
    """A check of doctor."""

    code: str
    severity: Literal["ok", "warning", "error"]
    evidence: str
    """The counted items."""
    fix: NotRequired[str]
    """A command that repairs it."""
    lost: NotRequired[list[LostView]]
    """What the repair could not restore."""
    files: NotRequired[list[str]]
    """Files left by killed commands, or those removed."""


class CompactView(TypedDict):
    """What compact removed and freed."""

    tombstones: int
    bytes_before: int
    bytes_after: int
    signatures: NotRequired[int]
    """Number of vectors in the index, if the settings use one."""
    reason: NotRequired[str]
    """Why the file grew, if it did."""


class TransferView(TypedDict):
    """The amounts that export or copy wrote, or import read."""

    documents: int
    chunks: int
    sha256: str
    path: NotRequired[str]
    inactive_roots: NotRequired[list[str]]
    """Imported folders that are not synced until accepted."""
    waiting_roots: NotRequired[list[RootView]]
    """All roots of the store that are not accepted."""
    accepted_roots: NotRequired[list[RootView]]
    """Roots that this import accepted."""
    unchanged: NotRequired[int]
    """Documents that already exist with the same content."""


class BackupView(TypedDict):
    """A verified backup."""

    path: str
    bytes: int
    """Size of the file."""
    documents: int
    chunks: int
    digest: str


class RecoveredView(TypedDict):
    """A new store with the readable parts of a damaged one."""

    path: str
    documents: int
    chunks: int
    without_vector: int
    """Chunks without a vector yet."""
    digest: str
    lost: list[LostView]


class WarmView(TypedDict):
    """The outcome of warm."""

    reranker: str
    texts: int
    """Distinct texts in the store."""
    kept: int
    """Texts with a stored vector."""
    embedded: int
    """Texts that this run embedded."""
    questions: int
    """Queries that this run processed."""
    left: int
    """Texts or queries not processed in time."""
    bytes: int
    """Size of all stored reranker vectors."""


class VerifiedView(TypedDict):
    """A checked file. A damaged file has no counts."""

    path: str
    kind: Literal["store", "export"]
    documents: NotRequired[int]
    chunks: NotRequired[int]
    digest: NotRequired[str]
    """Digest of a store."""
    sha256: NotRequired[str]
    """Digest of an export, from its last line."""


class ErrorView(TypedDict):
    """An error."""

    code: str
    message: str
    details: Any
    hint: str | None


class EmbedderView(TypedDict):
    """An embedder."""

    name: str
    purpose: str
    available: bool
    """True if it can be used here."""
    reason: str
    """Why it cannot be used, or a remark."""
    network: bool
    """True if it sends texts to other machines."""
    in_use: bool
    dimension: NotRequired[int]
    """Absent if only the provider knows it."""
    max_input: NotRequired[int]
    vector_weight: float
    """The semantic weight that init saves."""
    hint: NotRequired[str]
    texts_per_second: NotRequired[float]
    """Measured with --probe."""
    probed: NotRequired[bool]
    """False if its server was not contacted."""


class ReembedView(TypedDict):
    """The outcome of reembed."""

    embedder: str
    previous: str
    dimension: int
    chunks: int
    vectors: int
    embedded: int
    """Distinct texts sent to the embedder."""
    reused: int
    """Texts embedded in an earlier run."""
    given: NotRequired[int]
    """Replaced vectors that programs had given."""
    tokens: NotRequired[int]


class ReindexView(TypedDict):
    """The outcome of reindex."""

    words: str
    """Name of the words in use."""
    previous: str
    """Name of the words before, "" for those of stores that were made before words had names."""
    chunks: int
    """Indexed chunks, 0 if the store had these words."""


class TwinsView(TypedDict):
    """Near-duplicate candidates, by rank."""

    ranks: list[int]
    wasted_tokens: int
    """Tokens of the packed ones after the first."""


class TermCoverView(TypedDict):
    """A phrase of the query, and whether a packed chunk contains it."""

    text: str
    idf: float
    packed: bool


class CoverageView(TypedDict):
    """Share of the query's words in the context: their idf divided by the idf of all known words."""

    share: float
    terms: list[TermCoverView]


class SpentView(TypedDict):
    """Use of the tokens. The three values add up to used_tokens."""

    chunks: int
    headers: int
    separators: int


class SwapView(RankedView):
    """A candidate that the alternative packing adds or drops."""


class AlternativeView(TypedDict):
    """The alternative packing, if it reaches a higher value with the same budget."""

    pack: str
    value: float
    used_tokens: int
    adds: list[SwapView]
    drops: list[SwapView]


class AccountView(TypedDict):
    """The account of a context, over its candidates: the best 200, or more if chunks further down were packed."""

    pack: str
    candidates: int
    value: float
    """Sum of the scores of packed chunks. A cut chunk counts by its share in the text. Without scores, a chunk counts
    1."""
    bound: float
    """Upper bound of the value with these candidates and this budget."""
    efficiency: float | None
    """`value` / `bound`."""
    coverage: NotRequired[CoverageView]
    """Left out if the store contains none of the query's words."""
    documents: int
    redundancy: float
    """Share of word 3-shingles that repeat earlier ones."""
    duplicates: list[TwinsView]
    truncated_tokens: int
    """Tokens cut from the last chunk."""
    tokens: SpentView
    alternative: NotRequired[AlternativeView]


class ContextChunk(PassagePart, MatchedPart, CopiesPart):
    """A packed chunk and its source. copies, matched and cosine as in a hit. The passage is that of the whole
    chunk, even if only a part was packed.
    """

    id: str
    doc_id: str
    offset: int
    """For a cut chunk, the value of the packed part."""
    tokens: int
    text: NotRequired[str]
    """For a cut chunk, the packed part."""
    path: str
    hash: str
    mtime: str
    recall_injected: NotRequired[bool]
    explain: NotRequired[ExplainView]


class ContextBlock(TypedDict):
    """A span of a document in the context, under one header."""

    n: int
    path: str
    doc_id: str
    offset: int
    end: int
    line_start: int
    line_end: int
    place: NotRequired[str]
    """As in the passage of its best hit."""
    text: NotRequired[str]
    hash: str
    mtime: str
    chunk_ids: list[str]
    ranks: list[int]
    truncated: bool
    cut: NotRequired[Literal["start", "end", "both"]]
    """The missing part of its chunk, for a truncated block."""
    heading: NotRequired[str]
    """As in the passage of its best hit."""
    text_range: NotRequired[list[int]]
    """Start and end in the context's text, including line numbers."""
    state: NotRequired[Literal["modified", "missing"]]


class OmittedView(RankedView):
    """Candidates that were not packed, with the reason."""

    reason: str
    count: int
    """Above 1 only for the candidates after the chunk that ended packing."""


class AccountPart(TypedDict, total=False):
    """The account, if requested."""

    account: AccountView


class SizesView(TypedDict, total=False):
    """Optional sizes of a context."""

    estimated_model_tokens: int
    """Estimated model tokens, if the counter counts words."""
    reserved_tokens: int
    """Part of the budget reserved for chunks added by sparse-document recall."""


class ContextView(SizesView, AccountPart):
    """A context within its budget: count(text) == used_tokens <= budget_tokens. The packed chunks and the counts of
    omitted add up to candidates.
    """

    text: str
    budget_tokens: int
    used_tokens: int
    counter: str
    candidates: int
    chunks: list[ContextChunk]
    blocks: list[ContextBlock]
    omitted: list[OmittedView]
