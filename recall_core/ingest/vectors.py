"""Vectors for new chunks: found again by their text, or asked from the embedder and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recall_core.errors import EmbedError
from recall_core.ports import Embedder, Store
from recall_core.types import NewFile, Vector

BATCH_TEXTS = 256
_NORM_TOLERANCE = 1e-3  # of float32 components that some provider rounded


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
    width = 4 * embedder.dimension
    for vector in vectors:
        if vector and len(vector) != width:
            raise _invalid(embedder, f"{len(vector) / 4:g} components instead of {embedder.dimension}")
    _check_numbers([vector for vector in vectors if vector], embedder)
    return vectors


def _check_numbers(vectors: Sequence[Vector], embedder: Embedder) -> None:
    import numpy as np  # noqa: PLC0415 - 100 ms that nothing but embedding needs

    if not vectors:
        return
    matrix = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1).astype(np.float64)
    if not np.isfinite(matrix).all():
        raise _invalid(embedder, "a component is NaN or infinite")
    worst = float(np.abs(np.sqrt((matrix * matrix).sum(axis=1)) - 1).max())
    if worst > _NORM_TOLERANCE:
        raise _invalid(embedder, f"a vector's length is off 1 by {worst:.3g}")


def _invalid(embedder: Embedder, reason: str) -> EmbedError:
    return EmbedError("embed_invalid", f"The embedder {embedder.identity} returned nonsense: {reason}.")
