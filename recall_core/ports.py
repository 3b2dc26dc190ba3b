"""The interfaces of embedders, rerankers, parsers and counters. For stores, see `recall_core.store.port`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from recall_core.config import Config
from recall_core.marks import Mark
from recall_core.named import NamedTuple
from recall_core.types import Vector


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def identity(self) -> str:
        """Model, version and dimension. Vectors of different identities are never compared."""

    @property
    def dimension(self) -> int:
        """Components of every vector."""

    @property
    def max_input(self) -> int | None:
        """Most tokens per window, in the model's own tokens, or None. The vector of a longer text is the mean of its
        windows."""

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return one vector per text, in order: `dimension` little-endian float32, unit length, b"" without a
        feature.

        is_query: the texts are queries, for models that treat queries and documents differently.
        Raises EmbedError. The caller checks length, finiteness and norm before it stores a vector.
        """

    def windows(self, texts: Sequence[str]) -> list[int]:
        """Return the number of windows of each text, 1 if it fits into max_input."""


class Share(NamedTuple):
    """A summand of a cosine: the contribution of a word, token or sentence."""

    kind: Literal["feature", "collision", "token"]
    """feature: a word of the query that the text contains, in whole or in part.
    collision: a word that only shares a vector component with another word.
    token: a word of the text, as spelled by a model's tokens.
    """
    text: str
    value: float


@runtime_checkable
class Additive(Protocol):
    """Optional interface of an embedder that can split its cosines into exact shares at little cost."""

    def shares(self, question: str, texts: Sequence[str]) -> list[list[Share]]:
        """Return shares of each text that sum to its cosine with the query within 1e-9, apart from float32 rounding.

        The order is deterministic. The list is empty if the query or the text has no vector.
        """


@runtime_checkable
class Locating(Protocol):
    """Optional interface of an embedder that can say which part of a text its cosine comes from, at little cost."""

    def shares_of(
        self, question: str, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[list[float]]:
        """Return, for each text, the contribution of each span (in code points) to its cosine with the query.

        Values are comparable only within one text. Nothing is embedded. Deterministic.
        """


@runtime_checkable
class Interruptible(Protocol):
    """Optional interface of an embedder that waits for a server."""

    def interrupt(self) -> None:
        """Make the running call, else only the next call, raise Interrupted. Called from another thread."""


@runtime_checkable
class OfFiles(Protocol):
    """Optional interface of an embedder whose model is in files."""

    @property
    def checksum(self) -> str:
        """Return a hex checksum of the model and its processing. Does not load the model."""


class EmbedderKind(Protocol):
    """A kind of embedder, built in or from a plug-in.

    Settings use its name, followed by a colon and an argument if it takes one (`onnx:DIR`).
    """

    @property
    def name(self) -> str:
        """Name in recall.toml, before any colon."""

    @property
    def purpose(self) -> str:
        """The purpose of the embedder, on one line."""

    @property
    def vector_weight(self) -> float:
        """The semantic weight that init saves. The lexical weight is 1 minus it."""

    def sends_text(self, config: Config) -> bool:
        """Return True if texts leave this machine."""

    def missing(self, config: Config) -> str | None:
        """Return why the embedder cannot be used here, or None. Loads no model and sends no request."""

    def dimension(self, config: Config) -> int | None:
        """Return the dimension of its vectors, or None if that needs a model or a request."""

    def recognises(self, identity: str, config: Config) -> bool:
        """Return True if these settings may describe the embedder with this identity. Loads no model."""

    def new(self, config: Config, *, dimension: int | None = None) -> Embedder:
        """Return an embedder with these settings. dimension: that of the store, or None for a new store.

        The model may be loaded on first use. Raises EmbedError `embedder_unavailable`.
        """


class Reranker(Protocol):
    """Scores each text against a query again."""

    @property
    def identity(self) -> str:
        """Model and version."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return one value from 0 to 1 per text, in order. Deterministic. Raises EmbedError."""


CountTokens = Callable[[str], int]
"""Returns the tokens of a text, 0 for the empty text. Deterministic, in any process and locale.

A store keeps the name of its counter, so another way of counting needs another name. A part of a text should not
count more than the whole; otherwise some chunks are smaller than they could be.
"""


class ParsedDocument(NamedTuple):
    """A document inside a file.

    record: its name after `#`, or None if the file is the document.
    hash, size: of the bytes of the document, that is, of the file or the record.
    """

    record: str | None
    text: str
    title: str
    hash: str
    size: int
    meta: Mapping[str, Any]
    marks: tuple[Mark, ...] = ()
    """The starts of its units, by offset, then from the outermost inwards. See `recall_core.marks`."""
    is_title: bool = False
    """True if the document has no text but its title. The title is then not indexed and embedded a second time."""
    place: str | None = None
    """The place of a record in its file: `line 207`. Places of parts of a text are marks."""
    tags: tuple[str, ...] = ()
    """Tags from the file itself, in addition to those of `recall add`."""
    notes: tuple[str, ...] = ()
    """Remarks for the user about how the file was read, without its name: `page 3 has no text`."""


class Parser(Protocol):
    """Turns the bytes of a file into documents. One object reads many files.

    Optional class attributes, with defaults:
    `version` (1): increase it when any file is read differently, so that files are read again.
    `reads` ("bytes"): with "text", the file is converted to UTF-8 without a byte order mark. The parser never gets
    bytes that are not UTF-8.
    `is_verbatim` (False): the text of each document is the whole decoded file, so that lines match the file.
    `is_foreign` (False): the parser runs code that may crash, hang or exhaust memory, so each file is parsed in a
    separate process. This always applies to plug-ins. Other built-in parsers use a process only for large files.
    """

    def parse(self, raw: bytes, *, path: str, digest: str) -> Iterable[ParsedDocument]:
        """Return the documents of a file, in file order.

        path: for messages and information in the name. The parser does not open it.
        digest: sha256 of the file's bytes.
        The result depends only on bytes and path, in any process and locale.
        Raises only IngestError, with a code and a reason, if the parser cannot read the bytes.
        """
