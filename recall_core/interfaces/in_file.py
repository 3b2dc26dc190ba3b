"""A vector store in the file of a Recall store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import RLock
from typing import Self

from recall_core._lazy import np
from recall_core.api.put import PutDocument, id_of, path_of, vector_of
from recall_core.api.recall import Recall
from recall_core.errors import DimensionMismatch, StoreError, UsageError
from recall_core.interfaces.documents import (
    Document,
    SearchResult,
    awaitable,
    check_documents,
    check_id,
    copy_metadata,
)
from recall_core.interfaces.in_memory import unit_vectors
from recall_core.interfaces.metadata_filters import MetadataFilter
from recall_core.rql import ast
from recall_core.rql.filters import parse_filter

_BATCH = 10_000
"""Ids in one statement of SQL, which takes at most 32,766 values."""


class FileVectorStore:
    """A VectorStore in a folder, as `recall.db` with a `recall.toml`. Close it, or use it in a `with`.

    The first document makes the file, whose embedder is `given:N`. `recall` opens it, for all that Recall does. Many
    threads may use one object; calls wait for each other. Ties go by `doc.path`, which is the id with some characters
    escaped. Filters must fit into an RQL query. Raises Internal for a store that cannot be read or written.
    """

    def __init__(self, folder: Path | str) -> None:
        self._lock = RLock()
        self._folder = str(folder)
        try:
            self._recall: Recall | None = Recall.open(self._folder)
        except StoreError as error:
            if error.code != "no_store":
                raise
            self._recall = None

    @property
    def recall(self) -> Recall:
        """The store itself, for one thread at a time. Raises Internal `no_store` before the first document."""
        if self._recall is None:
            raise StoreError("no_store", f"{self._folder} has no documents yet.", hint="add a document first")
        return self._recall

    def add(self, documents: Iterable[Document]) -> None:
        """Store documents in one transaction; see `VectorStore.add`. A text without a vector is found by words."""
        given = list(documents)
        if not given:
            return
        with self._lock:
            embeddings = check_documents(given, self._dimension)
            unit_vectors(embeddings)  # a refused first call makes no store
            copies = copy_metadata(given)
            if self._recall is None:
                Recall.init(self._folder, embedding=f"given:{len(embeddings[0])}")
                self._recall = Recall.open(self._folder)
            self._recall.put(
                PutDocument(each.id, each.content, copy, vector if any(vector) else None)
                for each, copy, vector in zip(given, copies, embeddings, strict=True)
            )

    def search(
        self,
        query_embedding: Sequence[float],
        top_k: int,
        filter: MetadataFilter | None = None,  # noqa: A002 - its name in the interface
    ) -> list[SearchResult]:
        """Return the nearest documents that pass the filter; see `VectorStore.search`."""
        if top_k < 0:
            raise UsageError("bad_value", "top_k must be at least 0.", hint="top_k=10")
        with self._lock:
            if self._recall is None:
                return []
            if len(query_embedding) != self._dimension:
                raise DimensionMismatch(self._dimension, len(query_embedding))
            if not top_k or not any(query_embedding):
                return []
            vector = vector_of(query_embedding, self._dimension)
            where = None if filter is None else parse_filter(filter.to_rql())
            with self._recall.store.reading():
                cosines = self._recall.store.nearest(vector, where=where, k=top_k).cosines
                rows = self._recall.store.fetch(list(cosines))
        return [
            SearchResult(
                Document(id_of(row.doc.path) or row.doc.path, row.chunk.text, dict(row.doc.meta)), cosines[row.rowid]
            )
            for row in rows
        ]

    def delete(self, ids: Iterable[str]) -> int:
        """Remove the documents with these ids, if any, and return how many there were. Raises InvalidId."""
        given = list(ids)
        for id_ in given:
            check_id(id_)
        with self._lock:
            return 0 if self._recall is None else self._recall.delete(given)

    def get(
        self,
        ids: Iterable[str] | None = None,
        filter: MetadataFilter | None = None,  # noqa: A002 - as for `search`
    ) -> list[Document]:
        """Return documents with their embeddings; see `InMemoryVectorStore.get`."""
        paths = None if ids is None else tuple(dict.fromkeys(map(path_of, ids)))
        batches = [None] if paths is None else [paths[at : at + _BATCH] for at in range(0, len(paths), _BATCH)]
        condition = [] if filter is None else [parse_filter(filter.to_rql())]
        found: list[Document] = []
        with self._lock:
            if self._recall is None:
                return []
            store = self._recall.store
            with store.reading():
                for batch in batches:
                    terms = [*condition, *([] if batch is None else [ast.In(ast.Field("doc", "path"), batch)])]
                    where = ast.And(tuple(terms)) if terms[1:] else next(iter(terms), None)
                    keys = store.candidates(where)
                    vectors = store.vectors([key.rowid for key in keys])
                    by_document = {key.doc_rowid: vectors[key.rowid] for key in keys if key.rowid in vectors}
                    page = store.scan(where, table="doc", order=(), limit=None, offset=0)[1]
                    found += [
                        Document(
                            id_of(document.path) or document.path,
                            store.text_of(document.id),
                            dict(document.meta),
                            np.frombuffer(by_document[row], "<f4").tolist() if row in by_document else None,
                        )
                        for row, document in store.documents([row for row, _ in page]).items()
                    ]
        return sorted(found, key=lambda document: document.id)

    aadd = awaitable(add)
    asearch = awaitable(search)
    adelete = awaitable(delete)
    aget = awaitable(get)

    def __len__(self) -> int:
        """Return the number of documents."""
        with self._lock:
            return 0 if self._recall is None else self._recall.store.info().documents

    def close(self) -> None:
        """Close the store. May be called twice."""
        with self._lock:
            if self._recall is not None:
                self._recall.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _dimension(self) -> int:
        return 0 if self._recall is None else self._recall.store.info().dimension
