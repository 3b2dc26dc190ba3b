"""Store interface, part one: open, search and write a store, and list its content. Part two is `care`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from recall_core.named import NamedTuple
from recall_core.rql.ast import Expr, OrderKey, Predicate, Words
from recall_core.store.care import Judgements, JudgementWriter, Maintenance
from recall_core.types import (
    Chunk,
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
        Level,
        ListedDocument,
        Lost,
        MadeWith,
        Nearest,
        Sizes,
        Source,
        Totals,
        VectorIndex,
    )
    from recall_core.words.analyzer import Analyzer


class Search(Protocol):
    """Search over a store: filters, words, vectors, and the chunks themselves.

    A store may answer in tuples and dicts. A store with arrays may return `rank.columns.KeyColumns` and `Scores`
    instead;
    then a long pool is ranked without an object for each row.
    """

    def candidates(self, where: Expr | None, *, rowids: Sequence[int] | None = None) -> Sequence[Key]:
        """Return live chunks that pass the filter (and are among rowids), in natural order."""

    def scan(
        self, where: Expr | None, *, table: Table, order: tuple[OrderKey, ...], limit: int | None, offset: int
    ) -> tuple[int, list[tuple[int, int | None]]]:
        """Return the number of passing rows, and one page of (doc rowid, chunk rowid or None) in the given order."""

    def steps(self, where: Expr | None, *, table: Table, order: tuple[OrderKey, ...]) -> tuple[str, ...]:
        """Return the store's own plan for `scan`, one line for each step."""

    def filter_counts(self, where: Expr, *, table: Table) -> FilterCounts:
        """Return how many rows each part of a filter passes. A top-level AND is a chain whose terms remove rows in
        order."""

    def is_native(self, predicate: Predicate | Words) -> bool:
        """Return True if the database compares a column or a tag itself, with an index if it has one.

        False if a pattern or a metadata value is evaluated for each row.
        """

    @property
    def analyzer(self) -> Analyzer:
        """What a word is in this store: forms, terms and their places."""

    def syntax_error(self, raw: RawQuery) -> str | None:
        """Return the full-text index's error for a raw expression, or None.

        A store without the capability `lexical_fts` never gets this call or a RawQuery.
        """

    def term_stats(self, query: LexicalQuery, *, is_searched: bool = True) -> tuple[TermStat, ...]:
        """Return one entry for each phrase, in query order. idf: see `rank.bm25`; for several words it is their sum.

        is_searched: a search for these words follows, so its data may be read along.
        """

    def terms_beginning(
        self, letters: Sequence[str], shortest: int, longest: int, *, also: Sequence[str], most: int
    ) -> Mapping[str, int]:
        """Return terms, as `stems` gives them, with the number of chunks that contain each.

        The terms begin with one of `letters` and have `shortest` to `longest` code points; terms of `also` that the
        index has are added. If there are more than `most`, returns those in the most chunks; ties in code point
        order.
        """

    def terms_ending(self, letters: str, *, most: int) -> Sequence[str]:
        """Return terms that end with these letters, those in the most chunks first, ties in code point order.

        Reads the whole vocabulary.
        """

    def texts_with(self, term: str, *, most: int) -> Sequence[str]:
        """Return the title and the text of at most `most` live chunks with this term, each as one text."""

    def occurrences(self, query: LiteralQuery, rowids: Sequence[int] | None) -> Occurrences:
        """Return how often each phrase of a literal query occurs in these rows, or for None in every row."""

    def phrases(self, query: LexicalQuery, terms: Sequence[TermStat], rowids: Sequence[int]) -> Occurrences:
        """Return the occurrences of each phrase of any expression in these rows. terms: `term_stats` of the same
        query."""

    def instances(
        self, query: LexicalQuery, terms: Sequence[TermStat], rows: Sequence[Row]
    ) -> list[tuple[Instance, ...]]:
        """Return for each row the places that `phrases` counts, the title first, each in text order."""

    def lexical(
        self, query: LexicalQuery, *, where: Expr | None, k: int | None, title_weight: float, also: Sequence[int] = ()
    ) -> Mapping[int, float]:
        """Return rowid to raw BM25 >= 0 of matching rows: the k best, ties in natural order, or all if k is None.

        also: with k, matching rows of these are added. All of them pass the filter.

        With k, the result has every row that contains a phrase of several words: at most k rows, the rarest phrase
        first. If more rows contain one, a row that would be among the k best only because of a phrase may be missing.
        """

    def lexical_scores(
        self, query: LexicalQuery, rowids: Sequence[int], *, title_weight: float
    ) -> Mapping[int, float]:
        """Return rowid to raw BM25 of the matching rows among these."""

    def cosines(
        self, vector: Vector, *, where: Expr | None, rowids: Sequence[int] | None = None
    ) -> Mapping[int, float]:
        """Return rowid to cosine, rounded half-even to 6 decimals, of every live vector that passes the filter."""

    def estimates(self, vector: Vector, *, where: Expr | None) -> Estimates | None:
        """Return every live chunk that passes the filter, in natural order, with its cosine within a proven bound.

        Return None if `cosines` costs no more, or if no bound is possible. A store without the capability `estimates`
        never gets this call.
        """

    def nearest(self, vector: Vector, *, where: Expr | None, k: int) -> Nearest:
        """Return the k best of `cosines`, best first, ties in natural order, and whether they are exact."""

    def shortlist(self, vector: Vector, index: VectorIndex, *, where: Expr | None, k: int) -> Sequence[int] | None:
        """Return the k passing rows that an index proposes, nearest first.

        By signatures these are the rows whose signatures differ least from the vector's, ties in natural order.
        Return None if a vector is not in the index, see `store.signatures`. A store without the capability
        `signatures` or `hnsw` never gets this call.
        """

    def ahead(self, vector: Vector, rowid: int, *, where: Expr | None) -> int | None:
        """Return how many rows of the filter come before this one by `cosines`, ties in natural order.

        Return None if the row does not pass the filter.
        """

    def vectors(self, rowids: Sequence[int]) -> dict[int, Vector]:
        """Return chunk rowid to vector of these chunks, by rowid; chunks without a vector are left out."""

    def reranked(self, maker: str, hashes: Sequence[bytes], *, is_query: bool) -> dict[bytes, Vector]:
        """Return text_hash to stored vector of this reranker; damaged vectors are left out.

        maker: names the reranker with its model.
        is_query: True for vectors of queries.
        """

    def has_words(self, text: str, chunk: Chunk) -> bool:
        """Return True if a live chunk has these words next to each other, in its text, its title or its names.

        A text without words is in no chunk. See `rql.ast.Words`.
        """

    def is_indexed(self, rowid: int) -> bool:
        """Return True if the full-text index contains a chunk."""

    def same_texts(self, rowids: Sequence[int]) -> Mapping[int, int]:
        """Return index in rowids to a number that chunks with the same text share; texts that appear once are left
        out."""

    def twins(self, rowids: Sequence[int]) -> Mapping[int, Sequence[int]]:
        """Return chunk rowid to all live chunks with the same text, by rowid; texts that appear once are left out."""

    def fetch(self, rowids: Sequence[int]) -> list[Row]:
        """Return chunks with their documents, in the given order."""


class Catalog(Protocol):
    """Content of the store: files, documents, chunks by place, roots, names, counts."""

    def info(self) -> StoreInfo:
        """Return the identity, sizes, generation and digest."""

    def catch_up(self, digest: str) -> None:
        """Wait, for a bounded time, until a replica has this digest or one that begins like this.

        Returns at once if the store is not a replica. Raises SnapshotMismatch `replica_behind`.
        """

    def generation(self) -> int:
        """Return the number of transactions that changed the stored content."""

    def embedder(self) -> str:
        """Return the identity of the embedder that made the vectors."""

    def size_bytes(self) -> int:
        """Return the size of the store in bytes, including its log."""

    def totals(self) -> Totals:
        """Return token and text counts of the live chunks. They are kept up to date, like `info`."""

    def sizes(self) -> Sizes:
        """Return what takes up the space. Looks at every page; small tables are not counted."""

    def all_chunks(self) -> int:
        """Return the number of chunks, including those of removed documents."""

    def known(self, path: str) -> Fingerprint | None:
        """Return the file as last read, or None."""

    def files(self) -> Iterator[Fingerprint]:
        """Yield every live file by path."""

    def settle(self, file: Fingerprint, stamp: Stamp) -> None:
        """Remember that a file with this status still has the bytes that were read; used by `sources` only.

        The next writer stores ctime and inode; neither digest nor generation changes.
        """

    def live_files(self) -> Iterator[NewFile]:
        """Yield every live file by path, ready for another store, one at a time.

        Its documents are sorted by path and their chunks by offset. Each chunk has its vector, b"" for none.
        """

    def sources(self, doc_ids: Sequence[str]) -> dict[str, Fingerprint]:
        """Return doc.id to the file it was read from, for live documents."""

    def roots(self) -> tuple[Root, ...]:
        """Return every active root, in the order they were added."""

    def known_roots(self) -> tuple[KnownRoot, ...]:
        """Return every root with its state, in the same order."""

    def root_sources(self) -> tuple[Source, ...]:
        """Return every root with its documents, in the order they were added."""

    def cached_vectors(self, text_hashes: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the known vectors of this embedder for these texts."""

    def given_vectors(self, rowids: Sequence[int] | None = None) -> list[int]:
        """Return the rowids of the live chunks whose vector was given (see `text.given_by`), of these or of all."""

    def documents(self, rowids: Sequence[int]) -> dict[int, Document]:
        """Return documents by rowid, with or without chunks."""

    def document_at(self, path: str) -> str | None:
        """Return the id of the live document of that path."""

    def document_files(self) -> list[tuple[str, str | None]]:
        """Return every live document's path with the path of its file, by path. The two differ for records."""

    def list_documents(
        self, prefix: str, *, glob: str | None, limit: int | None, offset: int
    ) -> tuple[int, list[ListedDocument]]:
        """Return the number of live documents whose path has the prefix and matches the glob, and one page by path.

        The prefix is compared by code point; the glob as by `rql.patterns.glob_match`.

        limit: None for all from the offset on.
        """

    def parsers(self) -> dict[str, int]:
        """Return parser name to number of files it read, by name. The name is the first word of a file's settings."""

    def text_of(self, doc_id: str) -> str:
        """Return a document's whole text, joined from its chunks."""

    def marks_of(self, doc_id: str) -> tuple[Mark, ...]:
        """Return a document's marks as stored, or (). Raises StoreCorrupt for damaged marks."""

    def resolve(self, target: str) -> list[tuple[str, str]]:
        """Return (kind, full id) pairs for a live path, an id or a unique id prefix; kind is "doc" or "chunk"."""

    def rowid(self, kind: str, full_id: str) -> int:
        """Return the rowid of a full id; kind is "doc" or "chunk"."""

    def paths_below(self, folder: str) -> list[str]:
        """Return paths of the live documents below this folder, or of the records in this file, sorted.

        "." is the store's own folder. Documents outside of it have absolute paths and are not below it.
        """

    def folder(self, path: str, most: int) -> FolderListing:
        """Return the folders and files directly in a folder, at most `most`.

        path: ends with a slash; "" is the start of all relative paths, "/" is everything outside the store's own
        folder.
        """

    def paths_with(self, words: Sequence[str], most: int) -> list[str]:
        """Return paths of live documents that contain each word, ignoring case; the shortest first, ties by path.

        Without words, the most recently changed come first.
        """

    def removed_below(self, folder: str) -> list[str]:
        """Return paths of removed documents whose text is still stored, at or below the folder; see `paths_below`."""

    def copies_of(self, paths: Sequence[str]) -> list[str]:
        """Return paths of other live documents that share a chunk's text with any version of these, sorted."""

    def removed_path(self, target: str) -> str | None:
        """Return the path of a removed document by its path, its id or a chunk's id, or None."""

    def short_documents(self, threshold: int) -> list[int]:
        """Return one chunk rowid of every live document with at most `threshold` chunks, by path."""

    def chunk_counts(self, doc_rowids: Sequence[int]) -> dict[int, int]:
        """Return doc rowid to the number of its live chunks."""

    def chunks_of(self, doc_id: str) -> list[Row]:
        """Return a live document's chunks by offset."""

    def chunks_of_file(self, path: str, *, place: str | None = None) -> list[int]:
        """Return the rowids of the live chunks of every document in a file, in natural order. place: only those with
        it."""

    def chunks_of_lines(self, doc_id: str, first: int, last: int) -> list[int]:
        """Return rowids of a document's live chunks that overlap these lines, by offset."""

    def chunks_near(self, doc_id: str, first: int, last: int) -> list[int]:
        """Return rowids of a document's live chunks that overlap these code points, by offset."""

    def chunks_with(self, text: str) -> list[int]:
        """Return rowids of the live chunks that contain a text verbatim, in natural order."""

    def vocabulary(self, most: int) -> Vocabulary:
        """Return suggestions for a query that is being typed, at most `most` entries for each kind.

        Values are sorted by frequency, paths and ids by code point, days newest first.
        """


class StoreKind(Protocol):
    """A kind of store: opens and creates stores. Built-in kinds and plug-ins have the same interface.

    A store's URL is `KIND:WHERE`. The kind interprets WHERE.
    """

    @property
    def name(self) -> str:
        """The part of the URL before the colon."""

    @property
    def levels(self) -> frozenset[Level]:
        """What its stores offer. The rest raises UsageError `not_offered`."""

    def open(self, where: str) -> Store:
        """Open an existing store. Raises StoreError, StoreCorrupt or StoreLocked with a hint."""

    def create(
        self, where: str, *, embedder: str, dimension: int, counter: str, chunker: str, mode: int = ...
    ) -> Store:
        """Create a new, empty store; on failure leave nothing. See `StoreInfo` for the settings. Raises StoreError.

        mode: of a store that is a file, 0600 by default.
        """

    def discard(self, where: str) -> None:
        """Delete a store, as far as it exists."""

    def unfinished(self, where: str) -> str:
        """Return the WHERE of a store that is being made for this place, until `publish`."""

    def publish(self, where: str) -> None:
        """Move the closed store at `unfinished(where)` to its place, in one step.

        Raises StoreError `store_exists`, StoreLocked.
        """

    def aside(self, where: str) -> AbstractContextManager[Store]:
        """Copy the store for the duration of the block. Changes to the copy do not reach the store.

        Raises the same errors as `open` for the store itself.
        """

    def recover(
        self, where: str, target: str, *, made_with: Callable[[], MadeWith | None]
    ) -> tuple[Store, tuple[Lost, ...]]:
        """Build a new store at target from the readable data of a damaged one. Return it with the losses.

        The old store is only read. Raises StoreError, and StoreCorrupt if nothing can be read.

        made_with: called if the old store cannot say what it was made with.
        """


class Store(Search, Catalog, Judgements, Maintenance, Protocol):
    """One open database, for one thread at a time. Raises RecallErrors only."""

    @property
    def path(self) -> str:
        """The store's location, as errors and answers name it."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Optional abilities of this store."""

    memory_mb: int
    """Megabytes that data in memory may take, from the second query about a state on; 0 for none."""

    upgrade: str
    """The upgrade that opening an older store made, or "": a sentence without a full stop. Who prints it clears it.
    """

    @property
    def guard(self) -> ThreadGuard:
        """Guard of the connection. A caller with several threads makes each call through it."""

    def reading(self) -> AbstractContextManager[None]:
        """Read one state of the store in this block, even if others write meanwhile."""

    def writer(self) -> AbstractContextManager[Writer]:
        """Open a write transaction; StoreLocked if another process keeps the lock longer than the busy timeout."""

    def changes(self) -> int:
        """Return a number that changes after any other connection commits."""

    def fold(self, wait_ms: int = ...) -> bool:
        """Write the log into the file, so that a copy of the file is complete. Return False if that is not possible
        now.

        wait_ms: how long to wait for others; the store chooses the default.
        """

    def is_there(self) -> bool:
        """Return True if a store exists at this store's location, this one or another."""

    def is_replaced(self) -> bool:
        """Return True if the store at this location is gone or another one. The open store would answer from the
        past."""

    def leave(self) -> None:
        """Finish this store and delete its leftover files, because another store replaced it.

        Raises StoreError `store_needs_recovery` while another process reads.
        """

    def interrupt(self) -> None:
        """Abort the statement that runs in another thread."""

    def end(self) -> None:
        """Abort the running statement, called from another thread, and every statement that follows."""

    def close(self) -> None:
        """Close the store. May be called twice."""


@runtime_checkable
class TextRanking(Protocol):
    """A store that scores words by Postgres's ts_rank_cd, for `lexical_model = "ts_rank"`."""

    def text_ranks(self, query: LiteralQuery, *, where: Expr | None, title_weight: float) -> Mapping[int, float]:
        """Return rowid to score, within [0, 1) and with 6 decimals, of every matching row, in natural order."""


class Instance(NamedTuple):
    """One place where the index counts a phrase: a half-open range of code points in a chunk's text or title.

    The range covers the phrase as written, from the first letter of its first token to the last of its last.
    """

    phrase: int
    """Number of the phrase in the query, from 0; the first one if the index sees several as equal."""
    start: int
    end: int
    in_title: bool = False


class Writer(Protocol):
    """One atomic batch of changes. All become visible when the `with` block ends."""

    @property
    def judgements(self) -> JudgementWriter:
        """Changes to judgements in the same batch."""

    def use_language(self, language: str) -> bool:
        """Use the words of this language in a store without documents. Return False if the store has documents.

        language: as in the setting, but not `auto`.
        """

    def put(self, file: NewFile) -> None:
        """Replace everything stored for this file's path with these documents."""

    def refresh(self, path: str, *, size: int, mtime_ns: int) -> None:
        """Record that a file has a new size or mtime but the same bytes."""

    def settle(self, path: str, digest: str, stamp: Stamp) -> None:
        """Record ctime and inode of a file whose size, mtime and bytes (by sha256) have not changed."""

    def relabel(
        self,
        path: str,
        *,
        tags: tuple[str, ...] | None,
        source: str | None,
        meta: Mapping[str, MetaValue] | None,
    ) -> bool:
        """Replace labels of a file's documents; None keeps a label. Return True if anything changed.

        meta: these keys are set; others stay, because a record's own fields are among them.
        """

    def tombstone(self, paths: Iterable[str]) -> int:
        """Remove these files' documents, or single records, from every index. Return the number of documents."""

    def put_root(self, root: Root, *, is_active: bool = True) -> None:
        """Remember a root, once. is_active: False keeps a new root inactive until it is put again with True."""

    def leave_out(self, root: Root, paths: Iterable[str]) -> None:
        """Record that these files or records of a root are not read again."""

    def take_back(self, paths: Iterable[str]) -> None:
        """Allow these files and records to be read again, under every root."""

    def begin_purge(self, paths: Iterable[str], *, asked: Iterable[str] = (), day: int | None = None) -> None:
        """Record that a purge must leave nothing of these documents. `Store.purge` clears the record.

        asked: hashes of the names given to the purge, see `Maintenance.last_purge`.
        day: of a purge of old sessions, see `Maintenance.retention_day`; it has no names.
        """

    def renew_root(self, root: Root) -> None:
        """Make a remembered root the newest. Its files stay with it."""

    def edit_root(self, before: Root, after: Root, paths: Iterable[str]) -> None:
        """Replace a remembered root, in the same position. paths: files that are `is_edited` from now on."""

    def forget_roots(self, folders: Iterable[str]) -> None:
        """Stop syncing these folders."""

    def forget_root(self, root: Root) -> None:
        """Delete one root, even if its folder has others. Its documents stay."""

    def keep_told(self, skips: Iterable[str]) -> None:
        """Store the skips that were reported, replacing the previous ones; see `Maintenance.told_skips`."""

    def cut_by(self, *, chunker: str, counter: str) -> None:
        """Record the chunker and the token counter in use from now on; see `StoreInfo`."""

    def keep_vectors(self, vectors: Mapping[bytes, tuple[Vector, int]]) -> None:
        """Store text_hash to (vector, windows) for later chunks. No answer changes."""
