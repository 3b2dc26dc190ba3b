"""The nouns: frozen values that pass between the store, the pure functions and the screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from recall_core.named import NamedTuple
from recall_core.text import cite, document_id, nfc

if TYPE_CHECKING:
    from recall_core.marks import Mark

Signal = Literal["lexical", "semantic", "rerank"]
SIGNALS: tuple[Signal, ...] = ("lexical", "semantic", "rerank")
"""Every signal, in the order in which it is always shown."""
MatchKind = Literal["words", "meaning", "both", "pinned"]
"""Why a row is in an answer: it has a query word, its text is near in meaning, both, or a person pinned it."""
Table = Literal["chunk", "doc"]
MetaValue = str | int | float | bool | None
Vector = bytes
"""Little-endian float32 components, unit length; b"" means the text has no feature and so no vector."""


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
    """`/`-separated, NFC; relative to the store's directory where the file lies below it; `file#record`."""
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
    """Both lines count from 1 and are inclusive."""
    tokens: int
    heading: str | None
    text: str
    is_title: bool = False  # of a document without another text: no title is indexed and embedded above it
    place: str | None = None  # in the file, where its lines are not the file's: `page 3-4`; of a record `line 207`


class Row(NamedTuple):
    """A chunk with its document, as the store fetches it."""

    rowid: int
    doc: Document
    chunk: Chunk

    @property
    def where(self) -> str:
        """A citation of it."""
        return cite(self.doc.path, self.chunk.line_start, self.chunk.line_end, self.chunk.place)


class Key(NamedTuple):
    """What ordering, grouping and packing need to know of a chunk before its text is read."""

    rowid: int
    doc_rowid: int
    path: str
    offset: int
    tokens: int


class Phrase(NamedTuple):
    """One unit of a literal lexical query: the index tokens that must stand next to each other."""

    text: str
    """As the user wrote it."""
    tokens: tuple[str, ...]
    """As the index folds them, before stemming."""


class LiteralQuery(NamedTuple):
    """Words and phrases as they were typed, folded for the full-text index."""

    text: str
    phrases: tuple[Phrase, ...]
    match: Literal["any", "all"] = "any"
    """Whether a row must hold one of the phrases, or each of them."""
    dropped: tuple[str, ...] = ()
    """What else was typed and is not looked for, beyond function words: in order, as it was written."""

    @property
    def is_empty(self) -> bool:
        """Nothing can match."""
        return not self.phrases

    @property
    def long_phrases(self) -> tuple[Phrase, ...]:
        """Those of several words, which a function that knows nothing of them would take for one rare word each."""
        return tuple(phrase for phrase in self.phrases if len(phrase.tokens) > 1)


class RawQuery(NamedTuple):
    """An expression in the syntax of the store's own full-text index, which alone knows its phrases."""

    text: str

    @property
    def is_empty(self) -> bool:
        """Nothing can match."""
        return not self.text


LexicalQuery = LiteralQuery | RawQuery


class TermStat(NamedTuple):
    """A phrase's weight in this store: df of N rows hold it; idf is FTS5's, floored at 1e-6; 0 rows give idf 0.
    That of a quoted phrase is the sum of the idf of its `words`, each as often as it stands there."""

    text: str
    df: int
    idf: float
    words: int = 1


class Occurrences(NamedTuple):
    """How often each phrase of a literal query stands where: all that a lexical score is made of.

    Rows are named by rowid; every pair is of title and body. phrases and counts run in parallel, in query order.
    """

    phrases: tuple[TermStat, ...]
    counts: tuple[Mapping[int, tuple[int, int]], ...]
    """For each phrase the rows that hold it, and how often; equal phrases share one mapping."""
    lengths: Mapping[int, tuple[int, int]]  # tokens of at least the rows in counts
    averages: tuple[float, float]  # tokens of a row, over the whole index
    rows: int  # that the index holds: the live chunks


class Pool(NamedTuple):
    """Every candidate that some signal proposed, with all its raw signal values, before weighing.

    Columns run in parallel and stand in natural order (path, offset, id), so that a stable sort by score breaks
    ties as promised. lexical: raw BM25 >= 0, or None where no term matches. semantic: cosine in [-1, 1], rounded
    half-even to 6 decimals, or None where the chunk has no vector. A signal that was not asked for has an empty
    column. Each is a tuple, or equal to one that is an array: see `rank.columns`. dropped: see `LiteralQuery`.
    """

    keys: Sequence[Key]
    lexical: Sequence[float | None]
    semantic: Sequence[float | None]
    bound: float
    """The BM25 bound B of this query: no chunk can score more; 0 when no term is known."""
    terms: tuple[TermStat, ...]
    exact: bool
    """False when an index or a bounded pool skipped rows that the filter lets through."""
    index_kind: str
    warnings: tuple[str, ...] = ()
    lexical_model: str = "fts5"
    """Who gave the lexical values and the bound: FTS5's own bm25, or bm25f."""
    dropped: tuple[str, ...] = ()
    shortlist: tuple[int, ...] | None = None
    """Rowids of the rows that an index proposed to the semantic signal, the nearest first; None where none did."""


class Part(NamedTuple):
    """One signal's share of a score. The points of a hit's parts add up to its score."""

    signal: Signal
    raw: float | None
    """BM25 (lexical) or cosine (semantic); None where the chunk has no value for the signal."""
    value: float
    """The normalised stage value that was weighed."""
    weight: float
    rank: int | None
    """From 1 in the signal's own order over the pool; None when absent from it."""
    points: float


class Ranked(NamedTuple):
    """One candidate of a pool after weighing: its position in the pool's columns, its score and its parts."""

    position: int
    score: float
    parts: tuple[Part, ...]


class Injection(NamedTuple):
    """A slot that sparse-document recall gave away. distance: 1 - cosine. displaced: the chunk that stood there."""

    distance: float
    displaced: str | None


class Twins(NamedTuple):
    """Other chunks with the very text of one, among those that pass the filter."""

    number: int
    first: tuple[Row, ...]
    """Of them, in natural order."""


class HitPassage(NamedTuple):
    """What a chunk was chosen for, in code points of its document: see `retrieve.passage`."""

    offset: int
    end: int
    match: tuple[int, int]
    """Of the question's phrases in it the rarest, where it is first; without one, an empty span at its beginning."""
    heading: str | None
    place: str | None


class Hit(NamedTuple):
    """A chunk in an answer, with its score and the ledger that adds up to it. Without a query, score is None."""

    rank: int
    score: float | None
    doc: Document
    chunk: Chunk | None
    """None only for a document without chunks in a FROM doc answer."""
    parts: tuple[Part, ...]
    injection: Injection | None = None  # where sparse-document recall gave the hit its slot
    twins: Twins | None = None
    """Set where others hold its text, and the list shows a text once."""
    passage: HitPassage | None = None
    """Of a hit that is to be packed."""
    matched: MatchKind | None = None
    """None without a signal. Only a context has rows that are "pinned"."""

    @property
    def cosine(self) -> float | None:
        """Return the raw value of the semantic signal; None without one."""
        return next((part.raw for part in self.parts if part.signal == "semantic"), None)


class StoreInfo(NamedTuple):
    """What a store says of itself."""

    path: str
    schema_version: int
    embedder: str
    dimension: int
    counter: str
    chunker: str
    tokenizer: str
    """How text becomes words in the full-text index, and which stop words a query drops."""
    generation: int
    digest: str
    documents: int
    chunks: int
    vectors: int
    tombstones: int
    windowed: int
    """Vectors that are the mean of several windows, because the text is longer than the embedder's max_input."""
    snapshot: str  # the newest doc.mtime of the live documents, or ""


class Stamp(NamedTuple):
    """What tells a file from another at its place without reading it. None where it is not known.

    A ctime of 0 is that of a file which had only just changed when it was read: it may have changed again unseen.
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
    """Parser, chunker and counter that produced its chunks; another value means it must be read again."""
    documents: int
    os_path: str
    """As the disk spells it; "" where a program brought the document, and no file is behind it."""
    ctime_ns: int | None = None
    inode: int | None = None

    @property
    def stamp(self) -> Stamp:
        """What its status was."""
        return Stamp(self.size, self.mtime_ns, self.ctime_ns, self.inode)

    def may_be(self, stamp: Stamp) -> bool:
        """Whether a file of this status may be the one that was read: what is not known agrees with anything."""
        is_known = self.ctime_ns in (None, stamp.ctime_ns) and self.inode in (None, stamp.inode)
        return is_known and (self.size, self.mtime_ns) == (stamp.size, stamp.mtime_ns)


class Root(NamedTuple):
    """A folder (or single file) that was added, with everything needed to add it again."""

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
    encoding: str = ""  # of texts that do not say it themselves; "" for UTF-8


def is_granted(roots: Iterable[Root], path: str) -> bool:
    """Return True if somebody added the file of this path, or a folder above it whose rules may take it.

    An import names files that no one added, and these are not read.
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
    """A chunk on its way into the store. search_text: what is indexed, where it differs from text (CJK)."""

    span: Span
    line_start: int
    line_end: int
    text: str
    search_text: str | None
    text_hash: bytes
    """sha256 of the embedded text, see text.embedded_hash."""
    vector: Vector | None
    """None: look the vector up by text_hash; b"": the text has none."""
    windows: int = 1
    """How many windows the vector is the mean of."""
    is_title: bool = False
    place: str | None = None


class NewDocument(NamedTuple):
    """A document version on its way into the store, with all its chunks."""

    path: str
    hash: str
    title: str
    size: int
    tags: tuple[str, ...]
    source: str | None
    meta: Mapping[str, Any]
    chunks: tuple[NewChunk, ...]
    read_by: str = ""  # see `text.document_id`
    marks: tuple[Mark, ...] = ()  # so that it can be cut anew without its file

    @property
    def id(self) -> str:
        """The document's id."""
        return document_id(self.path, self.hash, self.read_by)


class NewFile(NamedTuple):
    """One file with every document it holds: the unit that is replaced in one transaction."""

    path: str
    os_path: str
    """As the disk spells it, to open it again; "" where no file is behind the document."""
    size: int
    mtime_ns: int
    hash: str
    settings: str
    root: Root | None
    documents: tuple[NewDocument, ...]
    ctime_ns: int | None = None
    inode: int | None = None
    """Of this machine: exports have neither."""


class Skip(NamedTuple):
    """A file that was found and not ingested, and why. kind: what it is, where its first bytes tell: `PDF`."""

    path: str
    code: str
    reason: str
    kind: str = ""


Stage = Literal["discover", "read", "chunk", "embed", "index", "commit", "ask", "copy", "done"]


class Progress(NamedTuple):
    """A moment of an ingest run, a reembed or a copy; counters only grow. files_total is 0 until discovery ends.
    In the stage `ask` queries are counted in the place of files, in `copy` pages."""

    stage: Stage
    path: str
    files_done: int
    files_total: int
    documents: int
    chunks: int
    embedded: int
    reused: int
    """Chunks whose vector was found again by its text."""
    unchanged: int
    added: int
    updated: int
    removed: int
    skipped: tuple[Skip, ...]
    waiting: int = 0
    """Texts, of the chunks counted so far, that the embedder has yet to read."""
    tokens: int | None = None
    """Tokens that the embedder's provider charged for this run; None where nobody counts."""
    without_text: int = 0
    """Documents that were read and have none."""
    notes: tuple[tuple[str, str], ...] = ()
    """(path, what is to be known of how it was read); told at the end of a run."""


Cut = Literal["start", "end", "both"]


class Block(NamedTuple):
    """A verbatim stretch of one document in a packed context, made of one or more touching chunks."""

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
    """What of its chunk is missing; None for a whole one."""
    heading: str = ""
    place: str | None = None
    """Both of its best hit's passage, else of that hit's chunk. Lines of the file are those of the whole block."""
    imitates: bool = False
    """A line of its text reads like a header or footer of the context: the real header counts the lines below it."""

    @property
    def truncated(self) -> bool:
        """Return True if a part of its chunk is missing."""
        return self.cut is not None


OmissionReason = Literal[
    "budget", "diversity", "duplicate", "copy", "below_min_score", "below_min_cosine", "dropped", "empty"
]


class Omission(NamedTuple):
    """Candidates that were not packed, and why. One entry a candidate; the tail after packing ended is one entry, and
    so are the copies of one text that is packed."""

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
    """Chunks that sparse-document recall brought in, and that have a part of the budget to themselves."""
    reserved_tokens: int = 0
    """That part."""
    reserved_used_tokens: int = 0
    """What they take of it, at most."""


UNIT_TOLERANCE = 1e-3  # float32 components and a foreign model's rounding stay far below it
