"""What search, context and ingest answer, what the care of a store answers, and what embedders and reembed answer."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from recall_core.contract.ledger import ExplainView, PassageView, RankedView, RecallView
from recall_core.contract.store import RootView
from recall_core.types import MatchKind


class RanksEcho(TypedDict, total=False):
    """The constant of reciprocal rank fusion, where that is how scores are made."""

    rrf_k: float
    """Where ranks make the points: weight / (rrf_k + rank). Stage values are only shown then."""


class SignalEcho(TypedDict):
    """One signal of the effective plan."""

    signal: str
    text: NotRequired[str]
    """What is looked for, unless it has more than 1,000 characters: the question gives those once."""
    weight: float
    bound: NotRequired[float]
    """The query's BM25 bound (lexical only)."""
    normalizer: NotRequired[NormalizerEcho]
    terms: NotRequired[list[TermEcho]]


class NormalizerEcho(RanksEcho):
    """How raw values became stage values: divided by a bound that no value exceeds, or measured on the pool, of whose
    pool_size candidates the lowest and highest value became 0 and 1 (`max`: 0 stays 0).
    """

    method: Literal["bound", "max", "minmax"]
    bound: NotRequired[float]
    low: NotRequired[float]
    high: NotRequired[float]
    pool_size: NotRequired[int]


class TermEcho(TypedDict):
    """A phrase of the lexical query with its document frequency and idf in this store."""

    text: str
    df: int
    idf: float
    words: NotRequired[int]
    """Of a phrase of several, whose idf is the sum of theirs, how many."""


class CosineEcho(TypedDict, total=False):
    """The least cosine of rows without a query word, where one is set."""

    min_cosine: float
    """Absent for 0."""


class ModelsEcho(TypedDict, total=False):
    """The models beyond the plain ones, and the lists that words were dropped by."""

    stop_words: str
    """The lists of words that were not looked for, or "none"; absent for the English function words alone."""
    rerank: RerankEcho
    lexical_model: LexicalModelEcho


class PlanEcho(RanksEcho, CosineEcho, ModelsEcho):
    """Everything that decided the order."""

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
    """What of the question was not looked for by words, beyond function words, in order and as it was written."""
    plan: PlanEcho


class QueryEcho(WordingEcho, PlanPart):
    """The question as it was understood, after defaults."""

    limit: int
    offset: int


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
    place: NotRequired[str]
    """Where the file has it, for a document that is not the file's own text, such as "line 207"."""


class PlaceView(TypedDict):
    """Where a text stands too: the chunk there and its lines."""

    id: str
    path: str
    offset: int
    line_start: int
    line_end: int
    place: NotRequired[str]


class CopiesView(TypedDict):
    """Other chunks with the very text of one that stands for them."""

    count: int
    """All that pass the filter."""
    places: list[PlaceView]
    """The first ten of them, by path and offset."""


class PassagePart(TypedDict, total=False):
    """The part of a hit that has its passage, where it has one."""

    passage: PassageView


class MatchedPart(TypedDict, total=False):
    """The part of a hit that says why it is there, where a signal was asked."""

    matched: MatchKind
    """Why the row is there: "both" (it has a query word, and a cosine above 0 that was asked for), "words" (a query
    word alone), "meaning" (no query word), or in a context "pinned" (no query word, and no cosine above 0 or
    min_cosine)."""
    cosine: float
    """Of a row without a query word, where both signals were asked."""


class CopiesPart(TypedDict, total=False):
    """The part of a hit that tells of its copies, where there are any."""

    copies: CopiesView
    """Where a list shows a text once, and others hold this one."""


class ResultView(PassagePart, MatchedPart, CopiesPart):
    """One hit. score, passage and matched are absent when nothing was asked of a signal."""

    score: NotRequired[float]
    doc: NotRequired[DocView]
    chunk: NotRequired[ChunkView]
    recall_injected: NotRequired[bool]
    recall: NotRequired[RecallView]
    explain: NotRequired[ExplainView]


class SparseView(TypedDict):
    """What sparse-document recall did to an answer: injections made, or which condition failed.

    Counts are of documents, each of those that the count before it left.
    """

    injections: int
    reason: str
    """Is "injected", or the first condition that left nothing: "no_vector", "whole_list" (nothing can be missing),
    "not_short", "too_far", "already_present", "no_row", "not_mostly_long" (no more than half of the rows are
    long_rows), "max_injections"."""
    looked_at: int
    near: int
    """Documents with a chunk among the nearest `looked_at` chunks."""
    short: int
    """Documents of at most `threshold` chunks."""
    within_ceiling: int
    """Documents within the distance `ceiling`."""
    present: int
    """Documents that are in the list."""
    blocked: int
    """Documents that get no row because no more rows may be given away."""
    rows: int
    long_rows: int
    """Of the list's `rows`, those of documents with more chunks than `threshold`."""
    threshold: int
    ceiling: float


class QueryPart(TypedDict, total=False):
    """The question, where there is one."""

    query: QueryEcho
    """The question as it was understood."""


class NextPart(TypedDict, total=False):
    """The next page, while there is one."""

    next_offset: int
    """The offset of the next page, while there is one."""


class SparsePart(TypedDict, total=False):
    """The part of a response that tells of sparse-document recall, where there is something to tell."""

    sparse: SparseView
    """What sparse-document recall did."""


class StatsView(TypedDict):
    """Of one answer. took_ms and timings are the only keys the store and the query do not determine."""

    word_hits: NotRequired[int]
    """How many of the total_hits rows of a hybrid answer the words match; the others are there by meaning alone."""
    took_ms: float
    total_hits: NotRequired[int]
    copies: NotRequired[int]
    """How many of total_hits are not shown, because one before them has their text; absent where none is."""
    snapshot: NotRequired[str]
    exact: NotRequired[bool]
    index: NotRequired[str]
    digest: NotRequired[str]
    timings: NotRequired[dict[str, float]]
    examined: NotRequired[int]
    """Rows that an index which skips rows has proposed, whose cosines were worked out."""
    without_text: NotRequired[int]
    """Of stats and init: documents without a text, and so without a chunk."""


class RemovedView(TypedDict):
    """What rm did, or, in a dry run, would do."""

    documents: int
    dry_run: bool
    paths: list[str]
    purged: bool
    backups: list[str]
    copies: NotRequired[list[str]]
    """Documents that stay and share a text with a purged one."""


class TrustView(TypedDict):
    """What a recall.toml says that waits until it is accepted."""

    toml: str
    acts: list[str]
    """In words, none where nothing waits."""
    sha256: NotRequired[str]
    """Of all acts, for RECALL_TRUST."""
    accepted: bool
    """They may happen."""
    kept: bool
    """They may happen from now on, and not for this run alone."""


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
    `labels` are the title, source, times, tags or metadata of one whose texts are there.
    """

    kind: Literal["document", "text", "labels", "root", "judgement"]
    path: str
    """The folder of a root, the query of a judgement, and "" where nobody knows it."""
    place: NotRequired[str]


class CheckView(TypedDict):
    """One check of doctor."""

    code: str
    severity: Literal["ok", "warning", "error"]
    evidence: str
    """What was counted."""
    fix: NotRequired[str]
    """A command."""
    lost: NotRequired[list[LostView]]
    """What mending could not bring back."""
    files: NotRequired[list[str]]
    """What killed commands left, or what was removed of that."""


class CompactView(TypedDict):
    """What compact freed."""

    tombstones: int
    bytes_before: int
    bytes_after: int
    signatures: NotRequired[int]
    """How many vectors have one by now, where the settings want an index of them."""
    reason: NotRequired[str]
    """Why the file is larger than before, where it is."""


class TransferView(TypedDict):
    """What export wrote or import read."""

    documents: int
    chunks: int
    sha256: str
    path: NotRequired[str]
    inactive_roots: NotRequired[list[str]]
    """Folders that came in and are not synced until accepted."""
    waiting_roots: NotRequired[list[RootView]]
    """Every root of the store that waits."""
    accepted_roots: NotRequired[list[RootView]]
    """Those that this import accepted."""
    unchanged: NotRequired[int]
    """Documents that were here already, each as it came."""


class BackupView(TypedDict):
    """A backup that was written, and every byte of it checked."""

    path: str
    bytes: int
    """Of its file."""
    documents: int
    chunks: int
    digest: str


class RecoveredView(TypedDict):
    """A store made of what could be read of a damaged one."""

    path: str
    documents: int
    chunks: int
    without_vector: int
    """Chunks whose vector is to be made yet."""
    digest: str
    lost: list[LostView]


class WarmView(TypedDict):
    """What warm did."""

    reranker: str
    texts: int
    """Distinct texts of the store."""
    kept: int
    """How many of them have a vector."""
    embedded: int
    """Texts that this run read."""
    questions: int
    """Questions that it asked."""
    left: int
    """Texts, or questions, that it did not come to."""
    bytes: int
    """Of all that is kept for rerankers."""


class VerifiedView(TypedDict):
    """A file that was checked, without a change to it. Of a damaged one nothing is counted."""

    path: str
    kind: Literal["store", "export"]
    documents: NotRequired[int]
    chunks: NotRequired[int]
    digest: NotRequired[str]
    """Of a store."""
    sha256: NotRequired[str]
    """Of an export, as its last line has it."""


class ErrorView(TypedDict):
    """Why there is no answer."""

    code: str
    message: str
    details: Any
    hint: str | None


class EmbedderView(TypedDict):
    """An embedder by name."""

    name: str
    purpose: str
    available: bool
    """It can be used here and now."""
    reason: str
    """Why not, or what to know about it."""
    network: bool
    """Texts leave this machine."""
    in_use: bool
    dimension: NotRequired[int]
    """Absent where only the provider knows."""
    max_input: NotRequired[int]
    vector_weight: float
    """The weight that init writes."""
    hint: NotRequired[str]
    texts_per_second: NotRequired[float]
    """Measured, with --probe."""
    probed: NotRequired[bool]
    """False where its server was not asked."""


class ReembedView(TypedDict):
    """What reembed did."""

    embedder: str
    previous: str
    dimension: int
    chunks: int
    vectors: int
    embedded: int
    """Distinct texts that were sent to the embedder."""
    reused: int
    """Found in an earlier run."""
    tokens: NotRequired[int]


class TwinsView(TypedDict):
    """Candidates that say almost the same words, by rank."""

    ranks: list[int]
    wasted_tokens: int
    """Of the packed ones behind the first."""


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


class SwapView(RankedView):
    """A candidate that another packing would add or drop."""


class AlternativeView(TypedDict):
    """The other packing, where it reaches more value under the same budget."""

    pack: str
    value: float
    used_tokens: int
    adds: list[SwapView]
    drops: list[SwapView]


class AccountView(TypedDict):
    """The worth of a context, over these candidates: the best 200, or as far down as chunks were packed."""

    pack: str
    candidates: int
    value: float
    """The packed chunks' scores added up, of a cut one the share that is in the text; without scores each chunk is
    worth 1."""
    bound: float
    """No choice of these candidates under this budget is worth more."""
    efficiency: float | None
    """`value` / `bound`."""
    coverage: NotRequired[CoverageView]
    """Left out where the question has no known words."""
    documents: int
    redundancy: float
    """The share of word 3-shingles that repeat earlier ones."""
    duplicates: list[TwinsView]
    truncated_tokens: int
    """Of the cut chunk, left out."""
    tokens: SpentView
    alternative: NotRequired[AlternativeView]


class ContextChunk(PassagePart, MatchedPart, CopiesPart):
    """A packed chunk with its provenance. copies, matched and cosine are as of a hit; the passage is of the whole
    chunk, also if less of it was packed.
    """

    id: str
    doc_id: str
    offset: int
    """Of a cut chunk, that of the part that was packed."""
    tokens: int
    text: NotRequired[str]
    """Of a cut chunk, the part that was packed."""
    path: str
    hash: str
    mtime: str
    recall_injected: NotRequired[bool]
    explain: NotRequired[ExplainView]


class ContextBlock(TypedDict):
    """A stretch of one document in the context, under one header."""

    n: int
    path: str
    doc_id: str
    offset: int
    end: int
    line_start: int
    line_end: int
    place: NotRequired[str]
    """Of its best hit's passage."""
    text: NotRequired[str]
    hash: str
    mtime: str
    chunk_ids: list[str]
    ranks: list[int]
    truncated: bool
    cut: NotRequired[Literal["start", "end", "both"]]
    """What of its chunk is missing, of a truncated block."""
    heading: NotRequired[str]
    """Of its best hit's passage."""
    text_range: NotRequired[list[int]]
    """From where to where of the context's text it is; with numbers before its lines, these included."""
    state: NotRequired[Literal["modified", "missing"]]


class OmittedView(RankedView):
    """Candidates left out, and why."""

    reason: str
    count: int
    """Above 1 only for the tail behind the chunk that ended packing."""


class AccountPart(TypedDict, total=False):
    """The account, where it is asked for."""

    account: AccountView


class SizesView(TypedDict, total=False):
    """Sizes of a context that not every one has."""

    estimated_model_tokens: int
    """What a model's own tokens would come to, where words are counted."""
    reserved_tokens: int
    """Of the budget, for chunks that sparse-document recall brought in; all others have the rest."""


class ContextView(SizesView, AccountPart):
    """A context under its budget: count(text) == used_tokens <= budget_tokens, and the packed chunks plus the counts
    of omitted add up to candidates.
    """

    text: str
    budget_tokens: int
    used_tokens: int
    counter: str
    candidates: int
    chunks: list[ContextChunk]
    blocks: list[ContextBlock]
    omitted: list[OmittedView]
