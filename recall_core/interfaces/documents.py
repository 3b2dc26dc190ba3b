"""Documents, and the protocols of what embeds and stores them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from recall_core._lazy import msgspec
from recall_core.errors import DimensionMismatch, EmbedError, InvalidId, UsageError

if TYPE_CHECKING:
    import msgspec

    from recall_core.interfaces.metadata_filters import MetadataFilter

_UNFIT = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters, lone surrogates

Self_ = TypeVar("Self_")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Document:
    """A text with an id. Stores return documents without their embeddings."""

    id: str
    content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    """JSON values by name, nested or not."""
    embedding: Sequence[float] | None = None
    """A vector of any length above 0; all zeros if the text has no feature."""

    def to_json(self) -> dict[str, Any]:
        """Return the document as JSON values. The embedding is a list."""
        embedding = None if self.embedding is None else [float(each) for each in self.embedding]
        return {"id": self.id, "content": self.content, "metadata": self.metadata, "embedding": embedding}

    @staticmethod
    def from_json(value: object) -> Document:
        """Return the document of these JSON values. metadata and embedding may be absent.

        Raises UsageError `bad_document`.
        """
        match value:
            case {"id": str(id_), "content": str(content), **rest}:
                metadata, embedding = rest.get("metadata", {}), rest.get("embedding")
                if isinstance(metadata, dict) and (embedding is None or isinstance(embedding, list)):
                    return Document(id_, content, metadata, embedding)
        message = "This is not a document."
        raise UsageError("bad_document", message, hint='{"id": "a", "content": "text", "metadata": {}}')


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A document without its embedding. score: cosine with the query from -1 to 1, to six decimals."""

    document: Document
    score: float


class Embedding(Protocol):
    """Turns texts into vectors."""

    @property
    def dimension(self) -> int:
        """Components of every vector."""

    def embed(self, text: str) -> Sequence[float]:
        """Return the vector of a query."""

    def embed_batch(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector per document's text, in order."""


class VectorStore(Protocol):
    """Stores documents by id and finds the nearest."""

    def add(self, documents: Iterable[Document]) -> None:
        """Store documents, all or none. A document replaces the stored one with its id.

        The first document fixes the number of components. A document whose embedding is all zeros is never found.
        Raises InvalidId, DimensionMismatch; EmbedError `vector_missing` without an embedding; UsageError `bad_vector`
        for NaN or infinity, `duplicate_id` for an id given twice, `bad_document`.
        """

    def search(
        self,
        query_embedding: Sequence[float],
        top_k: int,
        filter: MetadataFilter | None = None,  # noqa: A002 - its name in the interface
    ) -> list[SearchResult]:
        """Return the top_k nearest of the documents that pass the filter, best first, ties by id.

        A query of all zeros finds nothing. Raises DimensionMismatch; UsageError `bad_vector`, `bad_value`.
        """

    def delete(self, ids: Iterable[str]) -> int:
        """Remove the documents with these ids, if any, and return how many there were."""


def awaitable(
    method: Callable[Concatenate[Self_, Arguments], Result],
) -> Callable[Concatenate[Self_, Arguments], Coroutine[Any, Any, Result]]:
    """Return the awaitable twin of a method, for the class body. It runs the method in a thread."""

    @wraps(method)
    async def twin(self: Self_, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return await asyncio.to_thread(getattr(self, method.__name__), *args, **kwargs)

    return twin


def check_documents(documents: Sequence[Document], dimension: int) -> list[Sequence[float]]:
    """Return the embeddings of these documents, which all have one size.

    dimension: the store's, or 0 if the first document decides.
    Raises InvalidId, DimensionMismatch, EmbedError `vector_missing`, UsageError `duplicate_id`.
    """
    known: set[str] = set()
    embeddings = []
    for document in documents:
        check_id(document.id)
        if document.id in known:
            message = f"Two documents have the id {document.id!r}."
            raise UsageError("duplicate_id", message, hint="give each document an id of its own")
        known.add(document.id)
        if document.embedding is None:
            message = f"Document {document.id!r} has no embedding."
            raise EmbedError("vector_missing", message, hint="Indexer(embedding, store).index(documents)")
        dimension = dimension or len(document.embedding)
        if len(document.embedding) != dimension or not dimension:
            raise DimensionMismatch(dimension or 1, len(document.embedding))
        embeddings.append(document.embedding)
    return embeddings


def copy_metadata(documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Return copies of the documents' metadata. Raises UsageError `bad_document` for what is not JSON values."""
    given = [each.metadata for each in documents]
    try:
        copies: list[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(given))
    except (TypeError, ValueError, RecursionError):
        copies = []
    if copies != given or not all(isinstance(each, dict) for each in copies):
        if len(documents) > 1:
            return [copy for each in documents for copy in copy_metadata([each])]
        message = f"The metadata of document {documents[0].id!r} would change in JSON."
        raise UsageError("bad_document", message, hint="use text keys, and text, finite numbers, lists, dicts, None")
    return copies


def check_id(id_: str) -> None:
    """Raise InvalidId for an id that is empty, or has control characters or lone surrogates."""
    if not id_ or _UNFIT.search(id_):
        message = f"{id_!r} cannot be the id of a document."
        raise InvalidId("bad_id", message, hint='a text without control characters; Indexer(…, ids="uuid") makes ids')
