"""Frozen values that the store, the pure functions and the user interfaces exchange."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from recall_core.named import NamedTuple
from recall_core.text import cite, document_id, nfc

if TYPE_CHECKING:
    from recall_core.marks import Mark

Signal = Literal["lexical", "semantic", "rerank"]
SIGNALS: tuple[Signal, ...] = ("lexical", "semantic", "rerank")
"""All signals, in display order."""
MatchKind = Literal["words", "meaning", "both", "pinned"]
"""Why a row is in an answer: it has a query word, its meaning is close, both, or the user pinned it."""
Table = Literal["chunk", "doc"]
MetaValue = str | int | float | bool | None
Vector = bytes
"""Little-endian float32 components, unit length. b"": the text has no feature and no vector."""


class Span(NamedTuple):
    """A half-open range of code points in a document's text, with its size in the store's tokens."""

    offset: int
    end: int
    tokens: int
    heading: str | None = None


class Document(NamedTuple):
    """One version of one ingested file or record."""

    id: str
    path: str
    """`/`-separated, NFC, relative to the store's directory if the file is below it. Records are `file#record`."""
    hash: str
    mtime: str
    """Fixed-width UTC, `YYYY-MM-DDTHH:MM:SS.ffffffZ`."""
    size: int
    title: str
    source: str | None
    tags: tuple[str, ...]
    meta: Mapping[str, Any]


class Chunk(NamedTuple):
    """A verbatim slice of a document's text: `document_text[offset:end] == text`, in code points."""

    id: str
    doc_id: str
    offset: int
    end: int
    line_start: int
    line_end: int
    """Lines count from 1. Both are inclusive."""
    tokens: int
    heading: str | None
    text: str
    is_title: bool = False  # the document has no other text; the title is not indexed and embedded a second time
    place: str | None = None  # in the file, if the lines are not the file's: `page 3-4`, or `line 207` of a record


class Row(NamedTuple):
    """A chunk with its document."""

    rowid: int
    doc: Document
    chunk: Chunk

    @property
    def where(self) -> str:
        """The citation of the chunk."""
        return cite(self.doc.path, self.chunk.line_start, self.chunk.line_end, self.chunk.place)


class Key(NamedTuple):
    """The fields of a chunk for ordering, grouping and packing, without its text."""

    rowid: int
    doc_rowid: int
    path: str
    offset: int
    tokens: int


class Phrase(NamedTuple):
    """A unit of a literal lexical query: index tokens that must be adjacent."""

    text: str
    """As the user wrote it."""
    tokens: tuple[str, ...]
    """Folded like the index, before stemming."""
    terms: tuple[str, ...]
    """As the index stores them, one for each token."""
    share: float = 1.0
    """Factor of the weight."""
    is_joined: bool = False
    """The user wrote the tokens in one piece, as in `node.js`."""
    any_of: tuple[Phrase, ...] = ()
    """If there are any, each of these counts as the phrase."""

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes the phrase's occurrences from those of other phrases."""
        return ("", *(" ".join(each.terms) for each in self.any_of)) if self.any_of else self.terms

    @property
    def is_within_words(self) -> bool:
        """True if the word is only the end of longer words."""
        return bool(self.any_of) and all(
            len(each.terms) == 1 and each.terms[0] != self.terms[0] and each.terms[0].endswith(self.terms[0])
            for each in self.any_of
        )

    @property
    def is_plain(self) -> bool:
        """True for a single word with its full weight, which is all that FTS5 can score."""
        return len(self.terms) == 1 and self.share == 1 and not self.any_of


class LiteralQuery(NamedTuple):
    """The typed words and phrases, folded for the full-text index."""

    text: str
    phrases: tuple[Phrase, ...]
    match: Literal["any", "all"] = "any"
    """any: a row must contain one of the phrases. all: a row must contain each phrase."""
    dropped: tuple[str, ...] = ()
    """Other words that are not searched for, besides function words, in order and as written."""

    @property
    def is_empty(self) -> bool:
        """True if nothing can match."""
        return not self.phrases

    @property
    def long_phrases(self) -> tuple[Phrase, ...]:
        """The phrases that are not plain words. Code that ignores them would treat each as one rare word."""
        return tuple(phrase for phrase in self.phrases if not phrase.is_plain)

    @property
    def is_weighed(self) -> bool:
        """True if rows without a phrase of several words may rank differently than by FTS5's weights."""
        return any(phrase.share != 1 or phrase.any_of for phrase in self.phrases)


class RawQuery(NamedTuple):
    """An expression in the syntax of the store's full-text index. Only the index can split it into phrases."""

    text: str

    @property
    def is_empty(self) -> bool:
        """True if nothing can match."""
        return not self.text


LexicalQuery = LiteralQuery | RawQuery


class TermStat(NamedTuple):
    """The weight of a phrase in this store.

    df: rows that contain it.
    idf: as in FTS5, at least 1e-6, or 0 for 0 rows. For a quoted phrase, the sum over its words, with repetition.
    words: number of words.
    """

    text: str
    df: int
    idf: float
    words: int = 1


class Occurrences(NamedTuple):
    """The occurrences of each phrase of a literal query: the input of lexical scores.

    Rows are rowids. Each pair is (title, body). phrases and counts are parallel, in query order.
    """

    phrases: tuple[TermStat, ...]
    counts: tuple[Mapping[int, tuple[int, int]], ...]
    """For each phrase: occurrences by row. Equal phrases share one mapping."""
    lengths: Mapping[int, tuple[int, int]]  # tokens, at least of the rows in counts
    averages: tuple[float, float]  # mean tokens per row over the index
    rows: int  # live chunks in the index


class Pool(NamedTuple):
    """All candidates of the signals with their raw values, before weighing.

    Columns are parallel, in natural order (path, offset, id), so that a stable sort by score breaks ties in that
    order. An unused signal has an empty column. A column is a tuple or an equivalent array, see `rank.columns`.

    lexical: raw BM25 >= 0, or None without a matching term.
    semantic: cosine in [-1, 1], rounded half-even to 6 decimals, or None without a vector.
    dropped: see `LiteralQuery`.
    """

    keys: Sequence[Key]
    lexical: Sequence[float | None]
    semantic: Sequence[float | None]
    bound: float
    """The BM25 bound B of the query, which no chunk can exceed. 0 if the store contains none of the terms."""
    terms: tuple[TermStat, ...]
    exact: bool
    """False if an index or a pool limit skipped rows that pass the filter."""
    index_kind: str
    warnings: tuple[str, ...] = ()
    lexical_model: str = "fts5"
    """Source of the lexical values and the bound: FTS5's bm25, or bm25f."""
    dropped: tuple[str, ...] = ()
    shortlist: tuple[int, ...] | None = None
    """Rowids that a vector index proposed to the semantic signal, nearest first, or None without an index."""
    query: LexicalQuery | None = None


class Part(NamedTuple):
    """A signal's share of a score. The points of a hit's parts add up to its score."""

    signal: Signal
    raw: float | None
    """BM25 (lexical) or cosine (semantic), or None without a value."""
    value: float
    """The normalized value, before weighing."""
    weight: float
    rank: int | None
    """Rank in the signal's order over the pool, from 1, or None if absent."""
    points: float


class Ranked(NamedTuple):
    """A candidate after weighing: position in the pool's columns, score and parts."""

    position: int
    score: float
    parts: tuple[Part, ...]


class Injection(NamedTuple):
    """A row added by sparse-document recall. distance: 1 - cosine. displaced: the chunk it replaces."""

    distance: float
    displaced: str | None


class Twins(NamedTuple):
    """Other chunks with the same text that pass the filter."""

    number: int
    first: tuple[Row, ...]
    """The first of them, in natural order."""


class HitPassage(NamedTuple):
    """The passage of a chunk that matches best, in code points of its document. See `retrieve.passage`."""

    offset: int
    end: int
    match: tuple[int, int]
    """The first occurrence of the rarest query phrase in the passage. Without one, an empty span at its start."""
    heading: str | None
    place: str | None


class Hit(NamedTuple):
    """A chunk in an answer, with its score and the ledger of the score. Without a query, score is None."""

    rank: int
    score: float | None
    doc: Document
    chunk: Chunk | None
    """None only for a document without chunks in a FROM doc query."""
    parts: tuple[Part, ...]
    injection: Injection | None = None  # set if sparse-document recall added the hit
    twins: Twins | None = None
    """Set if other chunks have the same text and the list shows copies once."""
    passage: HitPassage | None = None
    """Set if the hit is to be packed."""
    matched: MatchKind | None = None
    """None without a signal. "pinned" occurs only in a context."""

    @property
    def cosine(self) -> float | None:
        """The raw value of the semantic signal, or None."""
        return next((part.raw for part in self.parts if part.signal == "semantic"), None)


class StoreInfo(NamedTuple):
    """The figures of a store."""

    path: str
    schema_version: int
    embedder: str
    dimension: int
    counter: str
    chunker: str
    tokenizer: str
    """The tokenizer of the full-text index, and the stop words of queries."""
    generation: int
    digest: str
    documents: int
    chunks: int
    vectors: int
    tombstones: int
    windowed: int
    """Vectors that are the mean of several windows, because their text exceeds the embedder's max_input."""
    snapshot: str  # newest doc.mtime of the live documents, or ""


class Stamp(NamedTuple):
    """The status of a file, to detect changes without reading it. None: unknown.

    ctime 0: the file had just changed when it was read, so a later change may be undetected.
    """

    size: int
    mtime_ns: int
    ctime_ns: int | None = None
    inode: int | None = None


class Fingerprint(NamedTuple):
    """A file as the store last read it."""

    path: str
    size: int
    mtime_ns: int
    hash: str
    settings: str
    """Parser, chunker and counter of its chunks. If they differ, the file must be read again."""
    documents: int
    os_path: str
    """Path in the disk's spelling, "" for a document without a file."""
    ctime_ns: int | None = None
    inode: int | None = None

    @property
    def stamp(self) -> Stamp:
        """The status of the file when it was read."""
        return Stamp(self.size, self.mtime_ns, self.ctime_ns, self.inode)

    def may_be(self, stamp: Stamp) -> bool:
        """Return True if a file with this status may be unchanged. Unknown values match anything."""
        is_known = self.ctime_ns in (None, stamp.ctime_ns) and self.inode in (None, stamp.inode)
        return is_known and (self.size, self.mtime_ns) == (stamp.size, stamp.mtime_ns)


class Root(NamedTuple):
    """A folder or file that was added, with the rules to add it again."""

    folder: str
    globs: tuple[str, ...] = ()
    ignores: tuple[str, ...] = ()
    parser: str = "auto"
    tags: tuple[str, ...] = ()
    source: str | None = None
    meta: tuple[tuple[str, MetaValue], ...] = ()
    hidden: bool = False
    gitignore: bool = True
    follow: bool = False
    encoding: str = ""  # of files that do not declare one; "" for UTF-8


def is_granted(roots: Iterable[Root], path: str) -> bool:
    """Return True if this file, or a folder above it whose rules may include it, was added.

    An import may name other files, which must not be read.
    """
    for root in roots:
        folder = nfc(root.folder)
        prefix = "" if folder == "." else f"{folder.rstrip('/')}/"
        below = path.removeprefix(prefix)
        is_hidden = below.startswith(".") or "/." in below
        if path == folder or (path.startswith(prefix) and below[:1] != "/" and (root.hidden or not is_hidden)):
            return True
    return False


class NewChunk(NamedTuple):
    """A chunk to store."""

    span: Span
    line_start: int
    line_end: int
    text: str
    text_hash: bytes
    """Key of the vector: sha256 of the embedded text, see text.embedded_hash."""
    vector: Vector | None
    """None: look up the vector by text_hash. b"": the text has no vector."""
    windows: int = 1
    """The number of windows averaged in the vector."""
    is_title: bool = False
    place: str | None = None


class NewDocument(NamedTuple):
    """A document version to store, with all its chunks."""

    path: str
    hash: str
    title: str
    size: int
    tags: tuple[str, ...]
    source: str | None
    meta: Mapping[str, Any]
    chunks: tuple[NewChunk, ...]
    read_by: str = ""  # see `text.document_id`
    marks: tuple[Mark, ...] = ()  # for a rechunk without the file

    @property
    def id(self) -> str:
        """The document id."""
        return document_id(self.path, self.hash, self.read_by)


class NewFile(NamedTuple):
    """A file with all its documents: the unit that one transaction replaces."""

    path: str
    os_path: str
    """Path in the disk's spelling, "" for a document without a file."""
    size: int
    mtime_ns: int
    hash: str
    settings: str
    root: Root | None
    documents: tuple[NewDocument, ...]
    ctime_ns: int | None = None
    inode: int | None = None
    """ctime_ns and inode are of this machine. Exports do not contain them."""


class Skip(NamedTuple):
    """A file that was not indexed, with the reason. kind: from its first bytes, such as `PDF`."""

    path: str
    code: str
    reason: str
    kind: str = ""


Stage = Literal["discover", "read", "chunk", "embed", "index", "commit", "ask", "copy", "done"]


class Progress(NamedTuple):
    """Progress of an ingest run, a reembed or a copy. Counters only grow. files_total is 0 until discovery ends.

    The stage `ask` counts queries instead of files, the stage `copy` counts pages."""

    stage: Stage
    path: str
    files_done: int
    files_total: int
    documents: int
    chunks: int
    embedded: int
    reused: int
    """Chunks whose vector was reused."""
    unchanged: int
    added: int
    updated: int
    removed: int
    skipped: tuple[Skip, ...]
    waiting: int = 0
    """Texts of the counted chunks that are not embedded yet."""
    tokens: int | None = None
    """Tokens that the embedder's provider charged for this run, or None if not counted."""
    without_text: int = 0
    """Documents without text."""
    notes: tuple[tuple[str, str], ...] = ()
    """(path, remark about how it was read), reported at the end of a run."""


Cut = Literal["start", "end", "both"]


class Block(NamedTuple):
    """A verbatim span of a document in a context, made of one or more adjacent chunks."""

    number: int
    doc: Document
    offset: int
    end: int
    line_start: int
    line_end: int
    text: str
    chunk_ids: tuple[str, ...]
    ranks: tuple[int, ...]
    cut: Cut | None = None
    """The missing part of its chunk, or None for a complete chunk."""
    heading: str = ""
    place: str | None = None
    """heading and place are of the best hit's passage, else of its chunk. Lines are of the whole block."""
    imitates: bool = False
    """True if a line of its text looks like a header or footer. The real header then counts the lines below it."""

    @property
    def truncated(self) -> bool:
        """True if a part of its chunk is missing."""
        return self.cut is not None


OmissionReason = Literal[
    "budget", "diversity", "duplicate", "copy", "below_min_score", "below_min_cosine", "dropped", "empty"
]


class Omission(NamedTuple):
    """Candidates that were not packed, with the reason. One entry per candidate, one for the rest after packing
    ended, and one for the copies of a packed text."""

    reason: OmissionReason
    rank: int
    chunks: int
    chunk_id: str
    path: str


class Packed(NamedTuple):
    """A context that fits its budget: count(text) == used_tokens <= budget_tokens."""

    text: str
    budget_tokens: int
    used_tokens: int
    counter: str
    candidates: int
    blocks: tuple[Block, ...]
    omitted: tuple[Omission, ...]
    warnings: tuple[str, ...] = ()
    reserved_for: tuple[str, ...] = ()
    """Chunks added by sparse-document recall, which have a reserved part of the budget."""
    reserved_tokens: int = 0
    """Size of the reserved part."""
    reserved_used_tokens: int = 0
    """Tokens used of the reserved part."""


UNIT_TOLERANCE = 1e-3  # far above rounding errors of float32 components and of models
