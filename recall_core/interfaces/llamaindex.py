"""Recall as llama-index's vector store and retriever. Needs the extra `llamaindex`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from recall_core.errors import UsageError
from recall_core.interfaces.documents import Document, awaitable
from recall_core.interfaces.foreign import (
    ReadableStore,
    RecallSearch,
    compare,
    package_missing,
    search_diverse,
    unknown_filter,
)
from recall_core.interfaces.in_memory import InMemoryVectorStore
from recall_core.interfaces.metadata_filters import All, In, MetadataFilter, Not
from recall_core.interfaces.metadata_filters import Any as AnyOf

try:
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle, TextNode
    from llama_index.core.vector_stores.types import (
        BasePydanticVectorStore,
        MetadataFilters,
        VectorStoreQuery,
        VectorStoreQueryResult,
    )
    from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict
except ModuleNotFoundError as error:
    raise package_missing("llama-index-core", "llamaindex") from error

_ID = "_node_id"
_OPERATORS = {"nin": "not in"}
_CITED = {"path", "lines", "place", "title"}
"""Metadata that models read; the rest would repeat the text, or is for programs."""
_PREFETCH = 4.0
"""Nearest nodes that mmr chooses from, per result, unless the query says."""


class RecallNodeStore(BasePydanticVectorStore):
    """llama-index's vector store over one of Recall's: an InMemoryVectorStore, or a FileVectorStore(folder).

    Modes are `default` and `mmr`. Similarities are cosines, from -1 to 1. A key without a value passes != and nin.
    Raises the errors of the store, UsageError `unknown_filter`, and `bad_value` for another mode or argument.
    """

    stores_text: bool = True
    _store: ReadableStore = PrivateAttr()

    def __init__(self, store: ReadableStore | None = None) -> None:
        super().__init__()
        self._store = InMemoryVectorStore() if store is None else store

    @property
    def client(self) -> ReadableStore:
        """Recall's store."""
        return self._store

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Store nodes with their embeddings, all or none, and return their ids."""
        self._store.add(
            Document(
                node.node_id,
                node.get_content(metadata_mode=MetadataMode.NONE),
                {**node_to_metadata_dict(node, remove_text=True), _ID: node.node_id},
                node.get_embedding(),
            )
            for node in nodes
        )
        return [node.node_id for node in nodes]

    def get_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None) -> list[BaseNode]:
        """Return the nodes with these ids, or all, that pass the filters, by id."""
        return [_node(each) for each in self._store.get(node_ids, _filter(filters))]

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        """Remove the nodes of a document."""
        self._store.delete([each.id for each in self._store.get(filter=compare("ref_doc_id", "==", ref_doc_id))])

    def delete_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **_: Any
    ) -> None:
        """Remove the nodes with these ids that pass the filters. Without both, remove nothing."""
        if node_ids is not None or filters is not None:
            self._store.delete([each.id for each in self._store.get(node_ids, _filter(filters))])

    def clear(self) -> None:
        """Remove all nodes."""
        self._store.delete([each.id for each in self._store.get()])

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """Return the nearest nodes, best first, ties by id. mmr takes mmr_threshold, mmr_prefetch_factor and _k."""
        options = {"mmr_threshold", "mmr_prefetch_factor", "mmr_prefetch_k"} if query.mode == "mmr" else set()
        if query.mode not in ("default", "mmr") or query.query_embedding is None or kwargs.keys() - options:
            message = (
                f"The query has no embedding, or mode {query.mode} or an argument of {sorted(kwargs)} is unknown."
            )
            raise UsageError("bad_value", message, hint='mode="default" or mode="mmr"')
        given = [_filter(query.filters), *_id_filter("ref_doc_id", query.doc_ids), *_id_filter(_ID, query.node_ids)]
        where = All(tuple(each for each in given if each is not None))
        k = query.similarity_top_k
        if query.mode == "mmr":
            chosen = (query.mmr_threshold, kwargs.get("mmr_threshold"))
            relevance = next((each for each in chosen if each is not None), 0.5)
            fetch_k = kwargs.get("mmr_prefetch_k") or int(k * kwargs.get("mmr_prefetch_factor", _PREFETCH))
            found = search_diverse(
                self._store, query.query_embedding, k=k, fetch_k=fetch_k, relevance=relevance, where=where
            )
        else:
            found = self._store.search(query.query_embedding, k, where)
        nodes = [_node(each.document) for each in found]
        ids = [each.document.id for each in found]
        return VectorStoreQueryResult(nodes=nodes, similarities=[each.score for each in found], ids=ids)

    def persist(self, persist_path: str, fs: Any = None) -> None:
        """Write all nodes as JSON, to a file or a file system of fsspec. A FileVectorStore needs no persist."""
        text = json.dumps([each.to_json() for each in self._store.get()])
        if fs is not None:
            fs.pipe_file(persist_path, text.encode())
        else:
            Path(persist_path).write_text(text, encoding="utf-8")

    @classmethod
    def from_persist_path(cls, persist_path: str, fs: Any = None, *, store: ReadableStore | None = None) -> Self:
        """Return a store with the nodes that `persist` wrote. store: as for the class."""
        raw = Path(persist_path).read_bytes() if fs is None else fs.cat_file(persist_path)
        made = cls(store)
        documents = [Document.from_json(each) for each in json.loads(raw)]
        zeros = [0.0] * max((len(each.embedding) for each in documents if each.embedding is not None), default=1)
        made.client.add(Document(each.id, each.content, each.metadata, each.embedding or zeros) for each in documents)
        return made


class RecallNodeRetriever(BaseRetriever):
    """llama-index's retriever over a Recall store: words and meaning, as `recall search`.

    store: a path or KIND:WHERE, as for `Recall.open`. It opens with the first query.
    filters: RQL, llama-index's MetadataFilters, or a MetadataFilter of Recall.
    The text of a node is the chunk. The metadata carries path, lines, place, hash, score, passage, title, tags, meta
    (the document's own metadata) and the answer's warnings. A query's own embeddings are not used.
    Raises the errors of `Recall.search`, and UsageError `unknown_filter`.
    """

    def __init__(
        self,
        store: str,
        *,
        similarity_top_k: int = 4,
        mode: str = "hybrid",
        filters: str | MetadataFilters | MetadataFilter | None = None,
    ) -> None:
        super().__init__()
        self.similarity_top_k = similarity_top_k
        self.mode = mode
        self.filters = filters
        self._search = RecallSearch(store)
        self.close = self._search.close
        """Close the store. May be called twice."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        where = self.filters if isinstance(self.filters, str) else _filter(self.filters)
        found = self._search.search(query_bundle.query_str, k=self.similarity_top_k, mode=self.mode, where=where)
        unread = [sorted(each.metadata.keys() - _CITED) for each in found]
        return [
            NodeWithScore(
                node=TextNode(
                    id_=each.id,
                    text=each.text,
                    metadata=each.metadata,
                    excluded_llm_metadata_keys=keys,
                    excluded_embed_metadata_keys=keys,
                ),
                score=each.score,
            )
            for each, keys in zip(found, unread, strict=True)
        ]

    _aretrieve = awaitable(_retrieve)


def _node(document: Document) -> BaseNode:
    node = metadata_dict_to_node(document.metadata, document.content)
    node.embedding = None if document.embedding is None else list(document.embedding)
    return node


def _id_filter(key: str, values: Sequence[str] | None) -> list[MetadataFilter]:
    return [] if values is None else [In(key, tuple(values))]


def _filter(filters: Any) -> MetadataFilter | None:
    """Return the filter of llama-index's MetadataFilters or MetadataFilter; ours and None as they are."""
    if filters is None or isinstance(filters, MetadataFilter):
        return filters
    if not isinstance(filters, MetadataFilters):
        return compare(filters.key, _OPERATORS.get(filters.operator.value, filters.operator.value), filters.value)
    inner = tuple(each for one in filters.filters if (each := _filter(one)) is not None)
    if not inner:
        return None  # as in llama-index's own store, whatever the condition
    match filters.condition and filters.condition.value:
        case "and" | None:
            return All(inner)
        case "or":
            return AnyOf(inner)
        case "not":
            return Not(AnyOf(inner))
    raise unknown_filter(f"{filters.condition!r} is not a condition")
