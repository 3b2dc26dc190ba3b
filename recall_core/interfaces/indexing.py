"""From texts to a vector store and back: embed, index, retrieve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal
from uuid import uuid4

from recall_core import config
from recall_core._lazy import np
from recall_core.embed.registry import new_embedder, resolve_auto
from recall_core.errors import (
    EmbedError,
    InvalidResponse,
    Other,
    ProviderError,
    RateLimited,
    RecallError,
    Timeout,
    UsageError,
    expect_choice,
)
from recall_core.ingest.vectors import BATCH_TEXTS
from recall_core.ingest.vectors import embed as embed_checked
from recall_core.interfaces.documents import (
    Document,
    Embedding,
    SearchResult,
    VectorStore,
    awaitable,
    check_id,
)
from recall_core.interfaces.metadata_filters import MetadataFilter
from recall_core.types import Vector

_KINDS: dict[str, type[EmbedError]] = {
    "embed_invalid": InvalidResponse,
    "provider_invalid_response": InvalidResponse,
    "provider_rate_limited": RateLimited,
    "provider_timeout": Timeout,
}
"""Classes by code. Other codes of embedders are a ProviderError."""


class ModelEmbedding:
    """An Embedding by one of Recall's embedders: `hash`, `local`, `openai` and others.

    settings: as in recall.toml, such as embedding_model="…", allow_network=True. name may be `auto`.
    Many threads may use it at once. Raises the errors of `embed`, and ConfigError for wrong settings.
    """

    def __init__(self, name: str, **settings: config.SettingValue) -> None:
        chosen = config.replace(config.Config(), {"embedding": name, **settings}, where="ModelEmbedding")
        with _typed_errors():
            self._embedder = new_embedder(resolve_auto(chosen)[0])

    @property
    def dimension(self) -> int:
        """Components of every vector."""
        with _typed_errors():
            return self._embedder.dimension

    def embed(self, text: str) -> list[float]:
        """Return the vector of a query; all zeros if it has no feature.

        Raises InvalidResponse, RateLimited, Timeout, ProviderError, Other.
        """
        with _typed_errors():
            return self._numbers(self._embedder.embed([text], is_query=True)[0])

    def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per document's text, in order; all zeros for a text without a feature.

        Raises the errors of `embed`.
        """
        batches = (texts[start : start + BATCH_TEXTS] for start in range(0, len(texts), BATCH_TEXTS))
        with _typed_errors():
            made = [one.vector for batch in batches for one in embed_checked(batch, self._embedder)]
            return [self._numbers(vector) for vector in made]

    aembed = awaitable(embed)
    aembed_batch = awaitable(embed_batch)

    def _numbers(self, vector: Vector) -> list[float]:
        numbers: list[float] = np.frombuffer(vector, dtype="<f4").tolist()
        return numbers or [0.0] * self._embedder.dimension


class Indexer:
    """Embeds documents and adds them to a store.

    ids: `given` refuses a document without an id, `uuid` gives it a new one.
    """

    def __init__(self, embedding: Embedding, store: VectorStore, *, ids: Literal["given", "uuid"] = "given") -> None:
        expect_choice("ids", ids, ("given", "uuid"))
        self._embedding = embedding
        self._store = store
        self._ids = ids

    def index(self, documents: Iterable[Document]) -> list[str]:
        """Add documents in one call of the store, and return their ids. Embeds those without an embedding.

        Raises InvalidId before anything is embedded, the errors of `ModelEmbedding.embed`, and the store's.
        """
        named = [
            replace(each, id=str(uuid4())) if self._ids == "uuid" and not each.id else each for each in documents
        ]
        for each in named:
            check_id(each.id)
        texts = [each.content for each in named if each.embedding is None]
        made = iter(self._embed(texts) if texts else ())
        self._store.add([replace(each, embedding=next(made)) if each.embedding is None else each for each in named])
        return [each.id for each in named]

    aindex = awaitable(index)

    def _embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        with _typed_errors():
            vectors, dimension = self._embedding.embed_batch(texts), self._embedding.dimension
        if len(vectors) != len(texts) or any(len(vector) != dimension for vector in vectors):
            message = (
                f"The embedding did not return one vector of {dimension} components for each of {len(texts)} texts."
            )
            raise InvalidResponse("embed_invalid", message, hint="check the embedding's dimension")
        return vectors


class Retriever:
    """Finds documents for a query in words.

    k: most results. score_threshold: least score of a result, itself included; None for no limit.
    """

    def __init__(
        self, embedding: Embedding, store: VectorStore, *, k: int = 10, score_threshold: float | None = None
    ) -> None:
        if k < 0:
            raise UsageError("bad_value", "k must be at least 0.", hint="k=10")
        self._embedding = embedding
        self._store = store
        self._k = k
        self._least = score_threshold

    def retrieve(
        self,
        query: str,
        filter: MetadataFilter | None = None,  # noqa: A002 - as for `search`
    ) -> list[SearchResult]:
        """Return the nearest documents that pass the filter, best first, ties by id.

        Raises the errors of `ModelEmbedding.embed`, and the store's.
        """
        with _typed_errors():
            vector = self._embedding.embed(query)
        found = self._store.search(vector, self._k, filter)
        return [each for each in found if self._least is None or each.score >= self._least]

    aretrieve = awaitable(retrieve)


@contextmanager
def _typed_errors() -> Iterator[None]:
    """Raise an embedder's errors as the class of their kind, and those of foreign code as Other."""
    try:
        yield
    except EmbedError as error:
        kind = type(error) if type(error) is not EmbedError else _KINDS.get(error.code, ProviderError)
        raise kind(error.code, error.message, hint=error.hint, details=error.details) from error
    except RecallError:
        raise
    except Exception as error:  # foreign code may raise anything
        message = f"The embedding failed: {type(error).__name__}: {error}."
        raise Other("embedder_failed", message, hint="see its cause") from error
