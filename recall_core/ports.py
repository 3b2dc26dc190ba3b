"""The seams: what an embedder, a reranker and a parser must offer; of a store, see `recall_core.store.port`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from recall_core.config import Config
from recall_core.marks import Mark
from recall_core.named import NamedTuple
from recall_core.types import Vector


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
class Locating(Protocol):
    """What an embedder may offer beside `Embedder`: which part of a text its cosines come from, at little cost."""

    def shares_of(
        self, question: str, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[list[float]]:
        """For each text what each of its spans, in code points, gives to its cosine with the question: how they
        compare within one text counts, and the unit does not. Nothing is embedded anew; same input, same numbers.
        """


@runtime_checkable
class Interruptible(Protocol):
    """What an embedder that waits for others may offer beside `Embedder`."""

    def interrupt(self) -> None:
        """From another thread: end the call that runs, or else the next one and only that; it raises Interrupted."""


@runtime_checkable
class OfFiles(Protocol):
    """What an embedder whose model is in files may offer beside `Embedder`."""

    @property
    def checksum(self) -> str:
        """What tells the model, and what is done with it, from all others, in hex; nothing is loaded for it."""


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
    """A document inside a file. record: its name behind `#`, or None when the file is the document.

    hash and size are of the bytes that the document is read from: the file's, or those of the record.
    """

    record: str | None
    text: str
    title: str
    hash: str
    size: int
    meta: Mapping[str, Any]
    marks: tuple[Mark, ...] = ()
    """Where its units begin, by offset; those of one offset from the outermost inwards. See `recall_core.marks`."""
    is_title: bool = False
    """Its text is its title, because it has no other: no title is indexed and embedded above it."""
    place: str | None = None
    """Where the file has all of it, for a record: `line 207`. Places of parts of a text are marks."""
    tags: tuple[str, ...] = ()
    """What the file itself is tagged with, beside the tags that it is added with."""
    notes: tuple[str, ...] = ()
    """What whoever adds the file should be told of how it was read, without its name: `page 3 has no text`."""


class Parser(Protocol):
    """Turns a file's bytes into documents. One object reads many files.

    A parser may also say, as attributes of its class, what else is true of it; each has a default:
    `version` (1): raised whenever it reads any file differently, so that files are read again.
    `reads` ("bytes"): "text" where it wants the file as UTF-8 without a byte order mark, whatever its encoding was;
    it is never called then with bytes that are not UTF-8.
    `is_verbatim` (False): the text of each document is the whole file, decoded, so that its lines are the file's.
    `is_foreign` (False): of a built-in one, that it runs code that may crash, hang or take all memory. It is called
    in a process of its own for every file, as each parser of a plug-in is; other built-in ones only for large files.
    """

    def parse(self, raw: bytes, *, path: str, digest: str) -> Iterable[ParsedDocument]:
        """The documents of one file, in file order. digest: sha256 of the file's bytes.

        path: for messages, and for what a name tells of a file; nothing is opened by it. Same bytes and name, same
        documents, in any process and any locale.
        Raises IngestError with a code and a reason where the bytes are not what this parser reads, and no other.
        """
