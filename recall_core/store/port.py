"""The seam to a store: how it is opened, searched and written, and what it holds; `care` has the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from recall_core.named import NamedTuple
from recall_core.rql.ast import Expr, OrderKey, Predicate
from recall_core.store.care import Judgements, JudgementWriter, Maintenance
from recall_core.types import (
    Document,
    Fingerprint,
    Key,
    LexicalQuery,
    LiteralQuery,
    MetaValue,
    NewFile,
    Occurrences,
    RawQuery,
    Root,
    Row,
    Stamp,
    StoreInfo,
    Table,
    TermStat,
    Vector,
)

if TYPE_CHECKING:
    from recall_core.marks import Mark
    from recall_core.rank.estimates import Estimates
    from recall_core.rql.complete import Vocabulary
    from recall_core.store.one_thread import ThreadGuard
    from recall_core.store.values import (
        Capability,
        FilterCounts,
        FolderListing,
        KnownRoot,
        ListedDocument,
        Lost,
        MadeWith,
        Nearest,
        Signing,
        Sizes,
        Source,
        Totals,
    )


class Search(Protocol):
    """What a question asks: which rows pass a filter, which hold its words, which lie near, and what they say.

    A store may answer in tuples and dicts. One that holds what it knows in arrays may give `rank.columns.KeyColumns`
    and `Scores` in their place, from which a long pool is ranked without an object a row.
    """

    def candidates(self, where: Expr | None, *, rowids: Sequence[int] | None = None) -> Sequence[Key]:
        """Live chunks that pass the filter (and are among rowids), in natural order."""

    def scan(
        self, where: Expr | None, *, table: Table, order: tuple[OrderKey, ...], limit: int | None, offset: int
    ) -> tuple[int, list[tuple[int, int | None]]]:
        """Return how many rows pass, and one page of (doc rowid, chunk rowid or None) in the asked order."""

    def steps(self, where: Expr | None, *, table: Table, order: tuple[OrderKey, ...]) -> tuple[str, ...]:
        """Return how the store carries `scan` out, in its own words, a line a step."""

    def filter_counts(self, where: Expr, *, table: Table) -> FilterCounts:
        """Return what every part of a filter lets through. An AND at the top is the chain whose terms remove."""

    def is_native(self, predicate: Predicate) -> bool:
        """Return True if the database compares a column or a tag by itself, by an index where it has one.

        False where a pattern or a metadata value is worked out for each row.
        """

    def tokens(self, text: str) -> tuple[str, ...]:
        """Return the text as the index folds it, before stemming."""

    def stems(self, text: str) -> tuple[str, ...]:
        """Return the text as the index holds it."""

    def spans(self, texts: Sequence[str], phrases: Sequence[str]) -> list[list[tuple[int, int]]]:
        """For each text the half-open ranges of code points that a phrase matches, by the index's own stems.

        In order, and merged where they overlap.
        """

    def syntax_error(self, raw: RawQuery) -> str | None:
        """Return what the full-text index finds wrong with a raw expression, or None.

        Without the capability `lexical_fts` neither this nor a RawQuery is ever asked of a store.
        """

    def term_stats(self, query: LexicalQuery, *, is_searched: bool = True) -> tuple[TermStat, ...]:
        """One entry a phrase, in query order. idf: as `rank.bm25` has it, for a phrase of several words the sum.

        is_searched: a search for these words follows; what it needs may be read with them.
        """

    def terms_beginning(
        self, letters: str, shortest: int, longest: int, *, also: Sequence[str], most: int
    ) -> Mapping[str, int]:
        """Return the terms, as `stems` gives them, each with the number of chunks that hold it.

        Those of so many code points that begin with one of these letters, and those of `also` that the index has.
        Of more than `most` those of the most chunks, ties in code point order.
        """

    def occurrences(self, query: LiteralQuery, rowids: Sequence[int] | None) -> Occurrences:
        """Return how often each phrase of a literal query stands in these rows, or in every row that holds one."""

    def phrases(self, query: LexicalQuery, terms: Sequence[TermStat], rowids: Sequence[int]) -> Occurrences:
        """Return each phrase of any expression as it counts in these rows. terms: `term_stats` of the same query."""

    def instances(
        self, query: LexicalQuery, terms: Sequence[TermStat], rows: Sequence[Row]
    ) -> list[tuple[Instance, ...]]:
        """For each row where its text and title hold what `phrases` counts, the title first, each in text order."""

    def lexical(
        self, query: LexicalQuery, *, where: Expr | None, k: int | None, title_weight: float, also: Sequence[int] = ()
    ) -> Mapping[int, float]:
        """rowid to raw BM25 >= 0 of matching rows; the k best, ties in natural order, or all when k is None.

        also: with k, those of these rows, all of which pass the filter, that match come as well.

        With k, every row that holds a phrase of several words is there as well: at most k, the rarest phrase first.
        Where more rows hold one, a row whose place among the k best it would owe to a phrase may be missing.
        """

    def lexical_scores(
        self, query: LexicalQuery, rowids: Sequence[int], *, title_weight: float
    ) -> Mapping[int, float]:
        """rowid to raw BM25 of those of these rows that match."""

    def cosines(
        self, vector: Vector, *, where: Expr | None, rowids: Sequence[int] | None = None
    ) -> Mapping[int, float]:
        """rowid to cosine, rounded half-even to 6 decimals, of every live vector the filter lets through."""

    def estimates(self, vector: Vector, *, where: Expr | None) -> Estimates | None:
        """Every live chunk that the filter lets through, in natural order, with its cosine within a proven bound.

        None where `cosines` costs no more, or it cannot be told. Without the capability `estimates` it is never asked
        of a store.
        """

    def nearest(self, vector: Vector, *, where: Expr | None, k: int) -> Nearest:
        """The k best of `cosines`, best first, ties in natural order; and whether they are, or only come near."""

    def shortlist(self, vector: Vector, signing: Signing, *, where: Expr | None, k: int) -> Sequence[int] | None:
        """Rowids of the k rows, of those that the filter lets through, whose signatures differ from the vector's in
        the fewest bits, the nearest first, ties in natural order.

        None where not every vector has a signature that is made so, see `store.signatures`. Without the capability
        `signatures` it is never asked of a store.
        """

    def ahead(self, vector: Vector, rowid: int, *, where: Expr | None) -> int | None:
        """Return how many rows of the filter come before this one by `cosines`, ties in natural order.

        None where it is not among them.
        """

    def vectors(self, rowids: Sequence[int]) -> dict[int, Vector]:
        """chunk rowid to vector, for those of these chunks that have one, by rowid."""

    def reranked(self, maker: str, hashes: Sequence[bytes], *, is_query: bool) -> dict[bytes, Vector]:
        """text_hash to vector of those that this reranker made and that are kept; a damaged one is not.

        maker: names it with its model.  is_query: whether they are of questions.
        """

    def is_indexed(self, rowid: int) -> bool:
        """Return True if the full-text index holds a chunk."""

    def same_texts(self, rowids: Sequence[int]) -> Mapping[int, int]:
        """Place in rowids to a number that chunks of the very same text share; none where a text stands once."""

    def twins(self, rowids: Sequence[int]) -> Mapping[int, Sequence[int]]:
        """chunk rowid to all live chunks with its very text, by rowid; none where it stands once."""

    def fetch(self, rowids: Sequence[int]) -> list[Row]:
        """Return chunks with their documents, in the order asked for."""


class Catalog(Protocol):
    """What the store holds: files, documents, chunks by their place, roots, names, counts."""

    def info(self) -> StoreInfo:
        """Return the identity, sizes, generation and digest."""

    def generation(self) -> int:
        """Return how many transactions have changed what is stored."""

    def embedder(self) -> str:
        """Return the identity of the embedder that made the vectors."""

    def size_bytes(self) -> int:
        """Return the bytes that the store takes, its log included."""

    def totals(self) -> Totals:
        """Return what the live chunks come to; kept, as what `info` says."""

    def sizes(self) -> Sizes:
        """Return what takes up the room; every page is looked at. What is small counts nowhere."""

    def all_chunks(self) -> int:
        """Return how many chunks there are, those of removed documents too."""

    def known(self, path: str) -> Fingerprint | None:
        """Return the file as last read, or None."""

    def files(self) -> Iterator[Fingerprint]:
        """Return every live file by path."""

    def settle(self, file: Fingerprint, stamp: Stamp) -> None:
        """Keep in mind that a file with this status still has the bytes that were read; for `sources` alone.

        The next writer writes ctime and inode down; neither digest nor generation change.
        """

    def live_files(self) -> Iterator[NewFile]:
        """Return every live file by path, as it would be put into another store, one at a time.

        Its documents stand by path and their chunks by offset, each with its vector, b"" for none.
        """

    def sources(self, doc_ids: Sequence[str]) -> dict[str, Fingerprint]:
        """doc.id to the file it was read from, for those that are live."""

    def roots(self) -> tuple[Root, ...]:
        """Return every remembered root that is active, in the order they were added."""

    def known_roots(self) -> tuple[KnownRoot, ...]:
        """Return every remembered root with what is known of it, in the same order."""

    def root_sources(self) -> tuple[Source, ...]:
        """Return what came of every remembered root, in the order they were added."""

    def cached_vectors(self, text_hashes: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return vectors of this embedder already known for these texts."""

    def documents(self, rowids: Sequence[int]) -> dict[int, Document]:
        """Return documents by rowid, with or without chunks."""

    def document_at(self, path: str) -> str | None:
        """Return the id of the live document of that path."""

    def document_files(self) -> list[tuple[str, str | None]]:
        """Return every live document's path with the path of its file, by path; they differ for records."""

    def list_documents(
        self, prefix: str, *, glob: str | None, limit: int | None, offset: int
    ) -> tuple[int, list[ListedDocument]]:
        """Return how many live documents have a path that begins so and matches the glob, and a page of them by path.

        A path begins so code point by code point, and matches as `rql.patterns.glob_match` has it.
        limit: None for all from the offset on.
        """

    def parsers(self) -> dict[str, int]:
        """Return how many files were read by what, as the first word of their settings says; by name."""

    def text_of(self, doc_id: str) -> str:
        """Return a document's whole text, put together from its chunks."""

    def marks_of(self, doc_id: str) -> tuple[Mark, ...]:
        """A document's marks, as they were put; none where there are none. Raises StoreCorrupt for damaged ones."""

    def resolve(self, target: str) -> list[tuple[str, str]]:
        """Return what a live path, an id or a unique prefix names: (kind, full id) pairs, kind "doc" or "chunk"."""

    def rowid(self, kind: str, full_id: str) -> int:
        """Return the rowid behind a full id; kind is "doc" or "chunk"."""

    def paths_below(self, folder: str) -> list[str]:
        """Return paths of the live documents in this folder and its folders, or of the records in this file, sorted.

        "." is the store's own folder; what lies outside of it has a path from the root, and is not below.
        """

    def folder(self, path: str, most: int) -> FolderListing:
        """Return the folders and files right in a folder, at most so many of them.

        path: with a slash at its end; "" is where paths begin, and "/" what lies outside of the store's own folder.
        """

    def paths_with(self, words: Sequence[str], most: int) -> list[str]:
        """Paths of live documents that contain each of the words, in any case; the shortest first, ties by path.

        Without words the most recently changed first.
        """

    def removed_below(self, folder: str) -> list[str]:
        """Paths of the documents that have left and whose text the store still holds, as `paths_below` looks for
        live ones, that of the folder itself too."""

    def copies_of(self, paths: Sequence[str]) -> list[str]:
        """Return paths of other live documents that share a chunk's text with any version of these, sorted."""

    def removed_path(self, target: str) -> str | None:
        """The path of a document that has left, by its path, its id or a chunk's; None where nothing so named has."""

    def short_documents(self, threshold: int) -> list[int]:
        """Return a chunk rowid of every live document with at most so many chunks, by path."""

    def chunk_counts(self, doc_rowids: Sequence[int]) -> dict[int, int]:
        """doc rowid to how many live chunks the document has."""

    def chunks_of(self, doc_id: str) -> list[Row]:
        """Return a live document's chunks by offset."""

    def chunks_of_file(self, path: str, *, place: str | None = None) -> list[int]:
        """Rowids of the live chunks of every document in a file, in natural order. place: of those at this one."""

    def chunks_of_lines(self, doc_id: str, first: int, last: int) -> list[int]:
        """Return rowids of a document's live chunks that reach into these lines, by offset."""

    def chunks_near(self, doc_id: str, first: int, last: int) -> list[int]:
        """Return rowids of a document's live chunks that reach into these code points, by offset."""

    def chunks_with(self, text: str) -> list[int]:
        """Return rowids of the live chunks that contain a text verbatim, in natural order."""

    def vocabulary(self, most: int) -> Vocabulary:
        """Return what may be suggested while a query is typed, at most so many entries a call.

        Values come the most frequent first, but paths and ids in code point order and days the newest first.
        """


class StoreKind(Protocol):
    """How one kind of store is opened and made. Built-in kinds and those of plug-ins look alike.

    A store is named by a URL, `KIND:WHERE`; where: what stands behind the colon, for the kind to read.
    """

    @property
    def name(self) -> str:
        """Return what stands before the colon."""

    def open(self, where: str) -> Store:
        """Return an existing store. Raises StoreError, StoreCorrupt or StoreLocked with what to do about it."""

    def create(
        self, where: str, *, embedder: str, dimension: int, counter: str, chunker: str, mode: int = ...
    ) -> Store:
        """Return a new, empty store, or nothing at all; see `StoreInfo` for what it is to know. Raises StoreError.

        mode: of the files of a store that is one, 0600 by default.
        """

    def discard(self, where: str) -> None:
        """Take a store away, as far as it is there."""

    def aside(self, where: str) -> AbstractContextManager[Store]:
        """A copy of the store there, for as long as the block: whatever is done to it, nothing changes there.

        Raises as `open` does, of the store itself.
        """

    def recover(
        self, where: str, target: str, *, made_with: Callable[[], MadeWith | None]
    ) -> tuple[Store, tuple[Lost, ...]]:
        """A new store at target of what can be read of a damaged one, and what cannot; the old one is only read.

        made_with: asked where the old store cannot say what it was made with. Raises StoreError, StoreCorrupt where
        nothing can be read.
        """


class Store(Search, Catalog, Judgements, Maintenance, Protocol):
    """One database, opened, for one thread at a time. Raises RecallErrors only."""

    @property
    def path(self) -> str:
        """Return where it is kept, as errors and answers name it."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Return what it can do that not every store can."""

    memory_mb: int
    """Megabytes that what is kept in memory may take, from the second question about a state on; 0 for nothing."""

    upgrade: str
    """What opening it has changed, where it was of an earlier version, or "": a sentence without a full stop. Who has
    told it to a person empties it."""

    @property
    def guard(self) -> ThreadGuard:
        """Of the connection: who asks the store from several threads has each call go through it."""

    def reading(self) -> AbstractContextManager[None]:
        """Everything read inside this block is of one state of the store, whatever others write meanwhile."""

    def writer(self) -> AbstractContextManager[Writer]:
        """A write transaction; StoreLocked when another process keeps the lock past the busy timeout."""

    def changes(self) -> int:
        """Return another number once anyone but this connection has committed anything."""

    def fold(self, wait_ms: int = ...) -> bool:
        """Put what was written where a copy of the store takes it along; False where that cannot be for now.

        wait_ms: how long others are waited for, by default as the store thinks fit.
        """

    def is_there(self) -> bool:
        """Return True if a store stands in this one's place, be it this one or another."""

    def is_replaced(self) -> bool:
        """True when another one stands in the place of the open one by now, or none; it would answer for good."""

    def leave(self) -> None:
        """Another one stands here: finish the old one, and take away what it has left beside it.

        Raises StoreError `store_needs_recovery` while someone reads.
        """

    def interrupt(self) -> None:
        """Abort the statement that runs in another thread."""

    def end(self) -> None:
        """From another thread: abort its statement, and every one that it begins from now on."""

    def close(self) -> None:
        """Let go of the store, as often as one likes."""


class Instance(NamedTuple):
    """One place where the index counts a phrase: a half-open range of code points, of the chunk's text or the title.

    From the first letter of its first token to the last one of its last, as written.
    """

    phrase: int
    """Its number in the query, from 0; of phrases that are one to the index, the first."""
    start: int
    end: int
    in_title: bool = False


class Writer(Protocol):
    """One atomic batch of changes; everything becomes visible at once when its `with` block ends."""

    @property
    def judgements(self) -> JudgementWriter:
        """Changes to judgements in the same batch."""

    def put(self, file: NewFile) -> None:
        """Replace whatever the store holds for this file's path by these documents."""

    def refresh(self, path: str, *, size: int, mtime_ns: int) -> None:
        """Record that a file was touched and its bytes did not change."""

    def settle(self, path: str, digest: str, stamp: Stamp) -> None:
        """Record ctime and inode of a file whose size, time and bytes, of that sha256, are as they were read."""

    def relabel(
        self,
        path: str,
        *,
        tags: tuple[str, ...] | None,
        source: str | None,
        meta: Mapping[str, MetaValue] | None,
    ) -> bool:
        """Replace labels of a file's documents (None keeps what stands); True when anything changed.

        meta: these keys are set, others stay, because a record's own fields live there too.
        """

    def tombstone(self, paths: Iterable[str]) -> int:
        """Take these files' documents, or single records, out of every index; returns how many documents left."""

    def put_root(self, root: Root, *, is_active: bool = True) -> None:
        """Remember a root, once. is_active: False leaves a new one aside until it is put again without."""

    def leave_out(self, root: Root, paths: Iterable[str]) -> None:
        """Keep in mind that these files, or records, of a root are not read again."""

    def take_back(self, paths: Iterable[str]) -> None:
        """Let these files and records be read again, whatever root left them out."""

    def begin_purge(self, paths: Iterable[str], *, asked: Iterable[str] = ()) -> None:
        """Record, until `Store.purge` has done its work, that nothing of these documents may be left.

        asked: hashes of the names that the purge was asked for, see `Maintenance.last_purge`.
        """

    def renew_root(self, root: Root) -> None:
        """Make a remembered root the one that was added last; its files stay with it."""

    def edit_root(self, before: Root, after: Root, paths: Iterable[str]) -> None:
        """Change a remembered root in its place. paths: files that `is_edited` from now on."""

    def forget_roots(self, folders: Iterable[str]) -> None:
        """Stop syncing these folders."""

    def forget_root(self, root: Root) -> None:
        """Forget one root, whatever others there are of its folder; its documents stay."""

    def keep_told(self, skips: Iterable[str]) -> None:
        """Keep in mind which skips were told, in the place of those before; see `Maintenance.told_skips`."""

    def cut_by(self, *, chunker: str, counter: str) -> None:
        """Record what cuts texts into chunks and counts their tokens from now on; see `StoreInfo`."""

    def keep_vectors(self, vectors: Mapping[bytes, tuple[Vector, int]]) -> None:
        """Keep text_hash to (vector, windows) for chunks that come later; no answer changes."""
