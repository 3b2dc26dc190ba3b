"""Vectors for new chunks: found again by their text, or asked from the embedder and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recall_core.errors import EmbedError
from recall_core.ports import Embedder, Store
from recall_core.types import NewFile, Vector
from recall_core.vector import flaws

BATCH_TEXTS = 256


def missing_texts(files: Sequence[NewFile], store: Store) -> dict[bytes, str]:
    """text_hash to text of every distinct chunk text that the store has no vector for, in order of appearance."""
    texts = {
        chunk.text_hash: chunk.text for file in files for document in file.documents for chunk in document.chunks
    }
    cached = store.cached_vectors(list(texts))
    return {text_hash: text for text_hash, text in texts.items() if text_hash not in cached}


def with_vectors(file: NewFile, vectors: Mapping[bytes, Vector]) -> NewFile:
    """The file with these vectors in its chunks; a chunk whose text is not among them keeps None."""
    documents = tuple(
        document._replace(
            chunks=tuple(chunk._replace(vector=vectors.get(chunk.text_hash)) for chunk in document.chunks)
        )
        for document in file.documents
    )
    return file._replace(documents=documents)


def embed(texts: Sequence[str], embedder: Embedder) -> list[Vector]:
    """The embedder's vectors, one a text, fit to be stored.

    Raises EmbedError `embed_invalid` for a wrong number or dimension, NaN, infinity or a length other than 1.
    """
    vectors = embedder.embed(texts)
    if len(vectors) != len(texts):
        raise _invalid(embedder, f"{len(vectors)} vectors for {len(texts)} texts")
    for reason in flaws(vectors, dimension=embedder.dimension).values():
        raise _invalid(embedder, reason)
    return vectors


def _invalid(embedder: Embedder, reason: str) -> EmbedError:
    return EmbedError("embed_invalid", f"The embedder {embedder.identity} returned nonsense: {reason}.")
