"""Vectors in memory: exact cosines for as many documents as fit, without a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from recall_core._lazy import np
from recall_core.errors import DimensionMismatch, UsageError
from recall_core.interfaces.documents import (
    Document,
    SearchResult,
    awaitable,
    check_documents,
    check_id,
    copy_metadata,
)
from recall_core.store.sqlite.memory.matrix import kth_best
from recall_core.store.sqlite.vectors import SCALE, Rows, cosines
from recall_core.types import UNIT_TOLERANCE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recall_core.interfaces.metadata_filters import MetadataFilter

    Floats = NDArray[np.float32]

_FEW = 4  # if fewer than one row in this many passes a filter, only those rows are multiplied
_LEAST_ROWS = 64
_ROUNDING = 2.0**-24  # relative error of one float32 operation


class InMemoryVectorStore:
    """A VectorStore that ends with the process. Many threads may use it at once.

    Adding copies metadata, so later changes of a document do not reach the store. Searching returns copies.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._dimension = 0
        self._documents: list[tuple[str, str, dict[str, Any]]] = []  # id, content and metadata by row, also removed
        self._rows: dict[str, int] = {}
        self._vectors: Floats = np.empty((0, 0), dtype=np.float32)  # by row, with room for more
        self._is_live: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)

    def add(self, documents: Iterable[Document]) -> None:
        """Store documents, all or none; see `VectorStore.add`."""
        given = list(documents)
        if not given:
            return
        vectors = unit_vectors(check_documents(given, self._dimension))
        ids, contents, copies = [each.id for each in given], [each.content for each in given], copy_metadata(given)
        with self._lock:
            self._dimension = self._dimension or vectors.shape[1]
            if self._dimension != vectors.shape[1]:  # another thread added the first document
                raise DimensionMismatch(self._dimension, vectors.shape[1])
            self._remove(ids)
            self._reserve(len(ids))
            first, last = len(self._documents), len(self._documents) + len(ids)
            self._vectors[first:last] = vectors
            self._is_live[first:last] = vectors.any(axis=1)
            self._documents += zip(ids, contents, copies, strict=True)
            self._rows |= zip(ids, range(first, last), strict=True)

    def search(
        self,
        query_embedding: Sequence[float],
        top_k: int,
        filter: MetadataFilter | None = None,  # noqa: A002 - its name in the interface
    ) -> list[SearchResult]:
        """Return the nearest documents that pass the filter; see `VectorStore.search`."""
        with self._lock:  # rows below this count never change
            documents, dimension = self._documents, self._dimension
            vectors = self._vectors[: len(documents)]
            rows = np.flatnonzero(self._is_live[: len(documents)])
        if top_k < 0:
            raise UsageError("bad_value", "top_k must be at least 0.", hint="top_k=10")
        if not dimension:
            return []
        if len(query_embedding) != dimension:
            raise DimensionMismatch(dimension, len(query_embedding))
        query = unit_vectors([query_embedding])[0]
        if filter is not None:
            test = filter.test()
            rows = np.array([row for row in rows.tolist() if test(documents[row][2])], dtype=np.int64)
        if not top_k or not len(rows) or not query.any():
            return []
        if top_k < len(rows):
            is_few = len(rows) * _FEW < len(vectors)
            products = vectors[rows] @ query if is_few else (vectors @ query)[rows]
            # As in `Matrix.doubt`: float32 products are off by (d + 1) * 2^-24 (Higham 2002, section 3.1), and
            # cosines tie within a unit of the sixth decimal.
            doubt = 2 * (dimension + 1) * _ROUNDING * (1 + UNIT_TOLERANCE) ** 2 + 2 / SCALE
            rows = rows[products >= min(1.0, kth_best(products, top_k)) - doubt]
        found = cosines(query.tobytes(), Rows(rows.tolist(), vectors[rows].tobytes()))
        best = sorted(found, key=lambda row: (-found[row], documents[row][0]))[:top_k]
        nearest = [Document(*documents[row]) for row in best]
        return [
            SearchResult(replace(each, metadata=copy), found[row])
            for row, each, copy in zip(best, nearest, copy_metadata(nearest), strict=True)
        ]

    def delete(self, ids: Iterable[str]) -> int:
        """Remove the documents with these ids, if any, and return how many there were. Raises InvalidId."""
        given = list(ids)
        for id_ in given:
            check_id(id_)
        with self._lock:
            return self._remove(given)

    def get(
        self,
        ids: Iterable[str] | None = None,
        filter: MetadataFilter | None = None,  # noqa: A002 - as for `search`
    ) -> list[Document]:
        """Return documents with their embeddings, by id: those with these ids, or all, that pass the filter.

        An embedding has length 1, and is None if it was all zeros.
        """
        with self._lock:
            rows = dict(self._rows) if ids is None else {id_: self._rows[id_] for id_ in ids if id_ in self._rows}
            documents, vectors = self._documents, self._vectors
        test = filter.test() if filter is not None else lambda _: True
        found = [
            Document(*documents[row], embedding=vectors[row].tolist() if vectors[row].any() else None)
            for row in (rows[id_] for id_ in sorted(rows))
            if test(documents[row][2])
        ]
        return [replace(each, metadata=copy) for each, copy in zip(found, copy_metadata(found), strict=True)]

    aadd = awaitable(add)
    asearch = awaitable(search)
    adelete = awaitable(delete)
    aget = awaitable(get)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._rows)

    def _remove(self, ids: Iterable[str]) -> int:
        rows = [row for id_ in ids if (row := self._rows.pop(id_, None)) is not None]
        self._is_live[rows] = False
        return len(rows)

    def _reserve(self, count: int) -> None:
        """Make room for this many more rows. Where there is none, leave the removed rows behind.

        The old arrays stay as they are, because a search may be reading them.
        """
        if len(self._documents) + count <= len(self._vectors):
            return
        kept = list(self._rows.values())
        size = max(len(kept) + count, 2 * len(kept), _LEAST_ROWS)
        vectors, is_live = np.empty((size, self._dimension), dtype=np.float32), np.zeros(size, dtype=np.bool_)
        if kept:
            vectors[: len(kept)], is_live[: len(kept)] = self._vectors[kept], self._is_live[kept]
        self._vectors, self._is_live = vectors, is_live
        self._documents = [self._documents[row] for row in kept]
        self._rows = {id_: row for row, (id_, _, _) in enumerate(self._documents)}


def unit_vectors(vectors: Sequence[Sequence[float]]) -> Floats:
    """Return vectors of one size, at least one, as rows of length 1, or of zeros for zeros.

    Raises UsageError `bad_vector` for NaN, infinity, and what is not a number.
    """
    try:
        wide = np.array(vectors, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    except (TypeError, ValueError, OverflowError):
        wide = lengths = np.array([np.nan])
    if not np.isfinite(lengths).all():
        message = "A vector has a component that is NaN, infinite or not a number."
        raise UsageError("bad_vector", message, hint="a list of finite numbers")
    wide /= np.where(lengths > 0, lengths, 1.0)[:, None]
    return wide.astype(np.float32)
