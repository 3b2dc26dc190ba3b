"""The seams: what an embedder, a parser, a token counter's owner and a store must offer. One screen each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from recall_core.config import Config
from recall_core.rql.ast import Expr, OrderKey
from recall_core.types import (
    Document,
    Fingerprint,
    Key,
    LexicalQuery,
    NewFile,
    Occurrences,
    Root,
    Row,
    StoreInfo,
    Table,
    TermStat,
    Vector,
)


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def identity(self) -> str:
        """Model, version and dimension; vectors of another identity are never compared with these."""

    @property
    def dimension(self) -> int:
        """Components of every vector."""

    @property
    def max_input(self) -> int | None:
        """Tokens of its own that it reads at once; None without a bound. A longer text is the mean of its windows."""

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """One vector a text, in order: `dimension` little-endian float32, unit length, b"" without a feature.

        is_query: the texts are questions, for models that tell questions from documents.
        Raises EmbedError; the caller checks length, finiteness and norm before anything is stored.
        """

    def windows(self, texts: Sequence[str]) -> list[int]:
        """How many windows each text takes: 1 where it fits into max_input."""


class Share(NamedTuple):
    """A summand of a cosine: what one word, token or sentence gives."""

    kind: Literal["feature", "collision", "token"]
    """A word of the question that the text holds, in whole or in part; one that only fell on another's component;
    a word of the text, as a model's tokens spell it."""
    text: str
    value: float


@runtime_checkable
class Additive(Protocol):
    """What an embedder may offer beside `Embedder`: its cosines taken apart, exactly and at little cost."""

    def shares(self, question: str, texts: Sequence[str]) -> list[list[Share]]:
        """For each text, shares that add up to its cosine with the question within 1e-9, float32 storage aside.

        Deterministic, in an order of their own; empty where the question or the text has no vector.
        """


@runtime_checkable
class Interruptible(Protocol):
    """What an embedder that waits for others may offer beside `Embedder`."""

    def interrupt(self) -> None:
        """From another thread: end the call that runs, or else the next one and only that; it raises Interrupted."""


class EmbedderKind(Protocol):
    """How one kind of embedder is recognised and made. Built-in kinds and those of plug-ins look alike.

    A setting names a kind by its name, with an argument of its own behind a colon where it takes one (`onnx:DIR`).
    """

    @property
    def name(self) -> str:
        """What stands in recall.toml before any colon."""

    @property
    def purpose(self) -> str:
        """What it is good for, in one line."""

    @property
    def vector_weight(self) -> float:
        """The weight of its vectors beside a lexical weight of 1 minus it, which init writes down."""

    def sends_text(self, config: Config) -> bool:
        """Whether texts leave this machine."""

    def missing(self, config: Config) -> str | None:
        """Why it cannot be used here, or None; found out without loading a model and without a request."""

    def dimension(self, config: Config) -> int | None:
        """Components of its vectors, where that is known without loading a model or a request."""

    def recognises(self, identity: str, config: Config) -> bool:
        """Whether these settings may well stand for the embedder of that identity; cheap, no model is loaded."""

    def new(self, config: Config, *, dimension: int | None = None) -> Embedder:
        """An embedder by these settings. dimension: what the store recorded, or None for a new store.

        Loading may wait until something is embedded. Raises EmbedError `embedder_unavailable`.
        """


class Reranker(Protocol):
    """Scores texts again, one by one, against a question."""

    @property
    def identity(self) -> str:
        """Model and version."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One value from 0 to 1 a text, in order, the same for the same pair every time. Raises EmbedError."""


class ParsedDocument(NamedTuple):
    """A document inside a file. record: its name behind `#`, or None when the file is the document."""

    record: str | None
    text: str
    title: str
    hash: str
    size: int
    meta: Mapping[str, Any]
    markdown: bool = False


class Parser(Protocol):
    """Turns a file's bytes into documents."""

    def parse(self, raw: bytes, *, path: str, digest: str) -> Iterable[ParsedDocument]:
        """The documents of one file, in file order. digest: sha256 of raw.

        Raises IngestError with a code and a reason where the bytes are not what this parser reads.
        """


class Writer(Protocol):
    """One atomic batch of changes; everything becomes visible at once when its `with` block ends."""

    def put(self, file: NewFile) -> None:
        """Replace whatever the store holds for this file's path by these documents."""

    def refresh(self, path: str, *, size: int, mtime_ns: int) -> None:
        """Record that a file was touched and its bytes did not change."""

    def relabel(
        self,
        path: str,
        *,
        tags: tuple[str, ...] | None,
        source: str | None,
        meta: Mapping[str, Any] | None,
    ) -> bool:
        """Replace labels of a file's documents (None keeps what stands); True when anything changed."""

    def tombstone(self, paths: Iterable[str]) -> int:
        """Take these files' documents, or single records, out of every index; returns how many documents left."""

    def put_root(self, root: Root) -> None:
        """Remember a root, once."""

    def keep_vectors(self, vectors: Mapping[bytes, tuple[Vector, int]]) -> None:
        """Keep text_hash to (vector, windows) for chunks that come later; no answer changes."""


class Store(Protocol):
    """One database. Every reading method sees one consistent state; natural order is (path, offset, id)."""

    def info(self) -> StoreInfo:
        """Identity, sizes, generation and digest."""

    def embedder(self) -> str:
        """Identity of the embedder that made the vectors."""

    def writer(self) -> AbstractContextManager[Writer]:
        """A write transaction; StoreLocked when another process keeps the lock past the busy timeout."""

    def known(self, path: str) -> Fingerprint | None:
        """The file as last read, or None."""

    def files(self) -> Iterator[Fingerprint]:
        """Every live file by path."""

    def roots(self) -> tuple[Root, ...]:
        """Every remembered root, in the order they were added."""

    def cached_vectors(self, text_hashes: Sequence[bytes]) -> dict[bytes, Vector]:
        """Vectors of this embedder already known for these texts."""

    def tokens(self, text: str) -> tuple[str, ...]:
        """The text as the index folds it, before stemming."""

    def term_stats(self, query: LexicalQuery) -> tuple[TermStat, ...]:
        """One entry a phrase, in query order."""

    def occurrences(self, query: LexicalQuery, rowids: Sequence[int] | None) -> Occurrences:
        """How often each phrase of a literal query stands in these rows, or in every row that holds one."""

    def phrases(self, query: LexicalQuery, terms: Sequence[TermStat], rowids: Sequence[int]) -> Occurrences:
        """Each phrase of any expression as it counts in these rows. terms: `term_stats` of the same query."""

    def syntax_error(self, match: str) -> str | None:
        """What the full-text index finds wrong with a raw expression, or None."""

    def candidates(self, where: Expr | None, *, rowids: Sequence[int] | None = None) -> tuple[Key, ...]:
        """Live chunks that pass the filter (and are among rowids), in natural order."""

    def lexical(
        self, query: LexicalQuery, *, where: Expr | None, k: int | None, title_weight: float
    ) -> dict[int, float]:
        """rowid to raw BM25 >= 0 of matching rows; the k best, ties in natural order, or all when k is None."""

    def lexical_scores(self, query: LexicalQuery, rowids: Sequence[int], *, title_weight: float) -> dict[int, float]:
        """rowid to raw BM25 of those of these rows that match."""

    def cosines(self, vector: Vector, *, where: Expr | None, rowids: Sequence[int] | None = None) -> dict[int, float]:
        """rowid to cosine, rounded half-even to 6 decimals, of every live vector the filter lets through."""

    def nearest(self, vector: Vector, *, where: Expr | None, k: int) -> dict[int, float]:
        """The k best of `cosines`, ties in natural order."""

    def fetch(self, rowids: Sequence[int]) -> list[Row]:
        """Chunks with their documents, in the order asked for."""

    def documents(self, rowids: Sequence[int]) -> dict[int, Document]:
        """Documents by rowid, with or without chunks."""

    def chunks_of(self, doc_id: str) -> list[Row]:
        """A live document's chunks by offset."""

    def rowid(self, kind: str, full_id: str) -> int:
        """The rowid behind a full id; kind is "doc" or "chunk"."""

    def size_bytes(self) -> int:
        """Bytes the store takes, its log included."""

    def chunk_counts(self, doc_rowids: Sequence[int]) -> dict[int, int]:
        """doc rowid to how many live chunks the document has."""

    def scan(
        self, where: Expr | None, *, table: Table, order: tuple[OrderKey, ...], limit: int | None, offset: int
    ) -> tuple[int, list[tuple[int, int | None]]]:
        """How many rows pass, and one page of (doc rowid, chunk rowid or None) in the asked order."""

    def resolve(self, target: str) -> list[tuple[str, str]]:
        """What a path, an id or a unique prefix names: (kind, full id) pairs, kind "doc" or "chunk"."""

    def document_at(self, path: str) -> str | None:
        """The id of the live document of that path."""

    def text_of(self, doc_id: str) -> str:
        """A document's whole text, put together from its chunks."""

    def sources(self, doc_ids: Sequence[str]) -> dict[str, Fingerprint]:
        """doc.id to the file it was read from, for those that are live."""

    def reading(self) -> AbstractContextManager[None]:
        """Everything read inside this block is of one state of the store, whatever others write meanwhile."""

    def interrupt(self) -> None:
        """Abort the statement that runs in another thread."""

    def close(self) -> None:
        """Checkpoint if this was the last connection, and let go of the file."""
