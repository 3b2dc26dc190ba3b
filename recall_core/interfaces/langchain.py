"""Recall as LangChain's vector store and retriever. Needs the extra `langchain`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self
from uuid import uuid4

from recall_core.errors import UsageError
from recall_core.interfaces.documents import Document as OurDocument
from recall_core.interfaces.foreign import (
    ReadableStore,
    RecallSearch,
    mongo_filter,
    package_missing,
    search_diverse,
)
from recall_core.interfaces.in_memory import InMemoryVectorStore
from recall_core.interfaces.metadata_filters import MetadataFilter

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.vectorstores import VectorStore
    from pydantic import PrivateAttr
except ModuleNotFoundError as error:
    raise package_missing("langchain-core", "langchain") from error

Filter = MetadataFilter | dict[str, Any] | None
"""A MetadataFilter, or {"key": value, "key": {"$gt": value}, "$or": [...]}; see `mongo_filter`."""


class RecallVectorStore(VectorStore):
    """LangChain's VectorStore over one of Recall's: an InMemoryVectorStore, or a FileVectorStore(folder).

    Scores are cosines, from -1 to 1. Relevance scores are (1 + cosine) / 2. Searches refuse arguments they do not
    know. Raises the errors of the store, and UsageError `unknown_filter`.
    """

    def __init__(self, embedding: Embeddings, store: ReadableStore | None = None) -> None:
        self._embedding = embedding
        self.store = InMemoryVectorStore() if store is None else store

    @property
    def embeddings(self) -> Embeddings:
        """The embedding of texts and queries."""
        return self._embedding

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: Sequence[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
    ) -> list[str]:
        """Embed and store texts, all or none, and return their ids. A text without an id gets a UUID.

        Raises UsageError `bad_value` unless there are as many metadatas and ids as texts.
        """
        contents = list(texts)
        return self._add(contents, self._embedding.embed_documents(contents), metadatas, ids)

    def add_embeddings(
        self,
        text_embeddings: Iterable[tuple[str, Sequence[float]]],
        metadatas: Sequence[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
    ) -> list[str]:
        """Store texts with vectors of your own; see `add_texts`. Equal texts may have different vectors."""
        pairs = list(text_embeddings)
        return self._add([text for text, _ in pairs], [vector for _, vector in pairs], metadatas, ids)

    def _add(
        self,
        texts: Sequence[str],
        vectors: Sequence[Sequence[float]],
        metadatas: Sequence[dict[str, Any]] | None,
        ids: Sequence[str | None] | None,
    ) -> list[str]:
        given = (texts, vectors, metadatas or [{}] * len(texts), ids or [None] * len(texts))
        if len(set(map(len, given))) > 1:
            sizes = ", ".join(str(len(each)) for each in given)
            message = f"The numbers of texts, vectors, metadatas and ids differ: {sizes}."
            raise UsageError("bad_value", message, hint="give as many of each")
        documents = [
            OurDocument(id_ or str(uuid4()), text, metadata, vector)
            for text, vector, metadata, id_ in zip(*given, strict=True)
        ]
        self.store.add(documents)
        return [each.id for each in documents]

    def delete(self, ids: Sequence[str] | None = None) -> bool:
        """Remove the documents with these ids, if any; all documents if ids is None."""
        self.store.delete([each.id for each in self.store.get()] if ids is None else ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents with these ids in the order given, without those that do not exist."""
        found = {each.id: each for each in self.store.get(ids)}
        return _documents(found[id_] for id_ in ids if id_ in found)

    def similarity_search(self, query: str, k: int = 4, *, filter: Filter = None) -> list[Document]:  # noqa: A002
        """Return the k nearest documents that pass the filter, best first, ties by id."""
        return self.similarity_search_by_vector(self._embedding.embed_query(query), k, filter=filter)

    def similarity_search_by_vector(
        self,
        embedding: Sequence[float],
        k: int = 4,
        *,
        filter: Filter = None,  # noqa: A002 - LangChain's name
    ) -> list[Document]:
        """Return the documents nearest to a vector; see `similarity_search`."""
        return _documents(each.document for each in self.store.search(embedding, k, mongo_filter(filter)))

    def similarity_search_with_score(
        self,
        query: str,
        k: int = 4,
        *,
        filter: Filter = None,  # noqa: A002 - as above
    ) -> list[tuple[Document, float]]:
        """Return the k nearest documents with their cosines; see `similarity_search`."""
        found = self.store.search(self._embedding.embed_query(query), k, mongo_filter(filter))
        return list(zip(_documents(each.document for each in found), (each.score for each in found), strict=True))

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        *,
        filter: Filter = None,  # noqa: A002 - as above
    ) -> list[Document]:
        """Return k of the fetch_k nearest documents, near to the query and far from each other."""
        vector = self._embedding.embed_query(query)
        return self.max_marginal_relevance_search_by_vector(vector, k, fetch_k, lambda_mult, filter=filter)

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: Sequence[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        *,
        filter: Filter = None,  # noqa: A002 - as above
    ) -> list[Document]:
        """Return diverse documents near a vector; see `max_marginal_relevance_search`."""
        found = search_diverse(
            self.store, embedding, k=k, fetch_k=fetch_k, relevance=lambda_mult, where=mongo_filter(filter)
        )
        return _documents(each.document for each in found)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        embedding: Embeddings,
        metadatas: Sequence[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        store: ReadableStore | None = None,
    ) -> Self:
        """Return a vector store with these texts; see `add_texts`. store: as for the class."""
        made = cls(embedding, store)
        made.add_texts(texts, metadatas, ids=ids)
        return made

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda cosine: (1 + cosine) / 2


class RecallRetriever(BaseRetriever):
    """LangChain's retriever over a Recall store: words and meaning, as `recall search`.

    The page_content is the chunk. The metadata carries path, lines, place, hash, score, passage, title, tags, meta
    (the document's own metadata) and the answer's warnings. `invoke` takes k, mode and filter too.
    Raises the errors of `Recall.search`, and UsageError `unknown_filter`.
    """

    store: str
    """A path or KIND:WHERE, as for `Recall.open`."""
    k: int = 4
    mode: str = "hybrid"
    filter: Any = None
    """RQL, or a filter of RecallVectorStore."""
    _search: RecallSearch = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Prepare the store. It opens with the first query."""
        super().model_post_init(context)
        self._search = RecallSearch(self.store)

    def close(self) -> None:
        """Close the store. May be called twice."""
        self._search.close()

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        mode: str | None = None,
        filter: Any = None,  # noqa: A002 - as above
    ) -> list[Document]:
        chosen = self.filter if filter is None else filter
        where = chosen if isinstance(chosen, str) else mongo_filter(chosen)
        found = self._search.search(query, k=self.k if k is None else k, mode=mode or self.mode, where=where)
        return [Document(id=each.id, page_content=each.text, metadata=each.metadata) for each in found]


def _documents(documents: Iterable[OurDocument]) -> list[Document]:
    return [Document(id=each.id, page_content=each.content, metadata=each.metadata) for each in documents]
