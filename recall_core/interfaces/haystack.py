"""Recall as Haystack's document store and retriever. Needs the extra `haystack`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from threading import Lock
from typing import Any, Self

from recall_core.errors import UsageError
from recall_core.interfaces.documents import Document as OurDocument
from recall_core.interfaces.documents import awaitable
from recall_core.interfaces.foreign import haystack_filter, package_missing
from recall_core.interfaces.in_file import FileVectorStore
from recall_core.interfaces.in_memory import InMemoryVectorStore
from recall_core.interfaces.metadata_filters import MetadataFilter

try:
    from haystack import Document, component, default_to_dict
    from haystack.document_stores.errors import DuplicateDocumentError
    from haystack.document_stores.types import DuplicatePolicy
    from haystack.errors import FilterError
except ModuleNotFoundError as error:
    raise package_missing("haystack-ai", "haystack") from error

_OTHERS = "_haystack"
"""Key in the metadata for the fields that Recall's documents do not have."""


class RefusedFilter(UsageError, FilterError):
    """A filter that Recall does not have, as Haystack's FilterError."""


class DuplicateDocument(UsageError, DuplicateDocumentError):
    """A document whose id is stored already, as Haystack's DuplicateDocumentError."""


class BadDocument(UsageError, ValueError):
    """A value that cannot be stored as a document, as the ValueError that Haystack expects."""


class RecallDocumentStore:
    """Haystack's DocumentStore, in memory, or in a folder as a FileVectorStore.

    folder: None for memory. It may contain a FileVectorStore already.
    embedding_dimension: components of every embedding.
    A document without an embedding is stored, and never found by embedding. All fields are kept. Embeddings come back
    with length 1. Many threads may use one store. Methods named *_async run in a thread.
    Raises the errors of the store, RefusedFilter, DuplicateDocument, BadDocument.
    """

    def __init__(self, folder: str | None = None, embedding_dimension: int = 768) -> None:
        self.folder = folder
        self.embedding_dimension = embedding_dimension
        file = ExitStack()
        self.store = InMemoryVectorStore() if folder is None else file.enter_context(FileVectorStore(folder))
        """Recall's store."""
        self.delete_documents, self.delete_documents_async = self.store.delete, self.store.adelete
        """Remove the documents with these ids, if any."""
        self.close = file.close
        """Close the file, if there is one. May be called twice."""
        self._lock = Lock()

    def to_dict(self) -> dict[str, Any]:
        """Return the settings. Documents in memory are not part of them."""
        data: dict[str, Any] = default_to_dict(self, folder=self.folder, embedding_dimension=self.embedding_dimension)
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return a store with these settings."""
        return cls(**data["init_parameters"])

    def count_documents(self, filters: dict[str, Any] | None = None) -> int:
        """Return the number of documents, or of those that pass the filter."""
        return len(self.store.get(filter=_filter(filters)) if filters else self.store)

    count_documents_by_filter = count_documents

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """Return the documents that pass the filter, or all, by id."""
        return [_theirs(each) for each in self.store.get(filter=_filter(filters))]

    def write_documents(self, documents: Sequence[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE) -> int:
        """Store documents, all or none, and return how many. NONE is the same as FAIL.

        OVERWRITE counts every document given, and the last with an id stays.
        """
        if not isinstance(documents, list) or not all(isinstance(each, Document) for each in documents):
            raise BadDocument("bad_document", "This is not a list of documents.", hint='[Document(content="text")]')
        with self._lock:
            known = {each.id for each in self.store.get([each.id for each in documents])}
            chosen: dict[str, Document] = {}
            for document in documents:
                if document.id in known and policy == DuplicatePolicy.SKIP:
                    continue
                if document.id in known and policy != DuplicatePolicy.OVERWRITE:
                    message = f"A document with the id {document.id!r} exists already."
                    raise DuplicateDocument("duplicate_id", message, hint="policy=DuplicatePolicy.OVERWRITE")
                known.add(document.id)
                chosen[document.id] = document
            self.store.add(map(self._ours, chosen.values()))
        return len(documents if policy == DuplicatePolicy.OVERWRITE else chosen)

    def update_by_filter(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        """Set these keys in the metadata of documents that pass the filter, and return how many passed."""
        with self._lock:
            found = self.filter_documents(filters)
            self.store.add(self._ours(replace(each, meta={**each.meta, **meta})) for each in found)
        return len(found)

    def delete_by_filter(self, filters: dict[str, Any]) -> int:
        """Remove the documents that pass the filter, and return how many there were."""
        return self.store.delete([each.id for each in self.store.get(filter=_filter(filters))])

    def delete_all_documents(self) -> None:
        """Remove all documents. The number of components stays."""
        self.delete_by_filter({})

    count_documents_async = awaitable(count_documents)
    count_documents_by_filter_async = count_documents_async
    filter_documents_async = awaitable(filter_documents)
    write_documents_async = awaitable(write_documents)
    update_by_filter_async = awaitable(update_by_filter)
    delete_by_filter_async = awaitable(delete_by_filter)
    delete_all_documents_async = awaitable(delete_all_documents)

    def _ours(self, document: Document) -> OurDocument:
        if _OTHERS in document.meta:
            message = f"The metadata of document {document.id!r} has the key {_OTHERS}, which is Recall's."
            raise BadDocument("bad_document", message, hint="rename the key")
        fields = replace(document, meta={}, embedding=None).to_dict(flatten=False)
        others = {key: fields[key] for key in ("blob", "score", "sparse_embedding") if fields[key] is not None}
        others |= {"content": None} if document.content is None else {}
        metadata = {**document.meta, _OTHERS: others} if others else document.meta
        embedding = [0.0] * self.embedding_dimension if document.embedding is None else document.embedding
        return OurDocument(document.id, document.content or "", metadata, embedding)


@component
class RecallEmbeddingRetriever:
    """Haystack's retriever over a RecallDocumentStore, by embedding.

    filters: Haystack's dictionary, for runs without filters of their own.
    top_k: most documents of a run that does not say how many.
    Documents come best first, ties by id, without embeddings. Their score is the cosine, from -1 to 1.
    """

    def __init__(
        self, document_store: RecallDocumentStore, filters: dict[str, Any] | None = None, top_k: int = 10
    ) -> None:
        self.document_store = document_store
        self.filters = filters
        self.top_k = top_k

    @component.output_types(documents=list[Document])
    def run(
        self, query_embedding: list[float], filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """Return the nearest documents that pass the filters as `documents`; see `VectorStore.search`."""
        where = _filter(filters or self.filters)
        found = self.document_store.store.search(query_embedding, self.top_k if top_k is None else top_k, where)
        return {"documents": [_theirs(each.document, score=each.score) for each in found]}


def _theirs(document: OurDocument, **fields: Any) -> Document:
    others = document.metadata.pop(_OTHERS, {})
    content = {"id": document.id, "content": document.content, "embedding": document.embedding}
    return Document.from_dict({**content, "meta": document.metadata, **others, **fields})


def _filter(filters: Any) -> MetadataFilter | None:
    """Return the filter of Haystack's dictionary; None for an empty one."""
    try:
        return haystack_filter(filters) if filters else None
    except UsageError as error:
        raise RefusedFilter(error.code, error.message, hint=error.hint) from error
