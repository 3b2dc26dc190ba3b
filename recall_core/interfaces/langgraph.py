"""A node for LangGraph that retrieves documents. It needs no package: a node is a function of the graph's state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from recall_core.errors import UsageError
from recall_core.interfaces.documents import Document
from recall_core.interfaces.foreign import mongo_filter
from recall_core.interfaces.indexing import Retriever
from recall_core.interfaces.metadata_filters import MetadataFilter


class HasQuery(Protocol):
    """A state, or a mapping with this key, that a retriever_node reads."""

    query: str


class HasRetrievedDocs(Protocol):
    """A state that receives the documents of a retriever_node, best first. They replace the ones before."""

    retrieved_docs: list[Document]


class HasMetadataFilter(Protocol):
    """A state whose documents pass a filter: a MetadataFilter, a dictionary as for `mongo_filter`, or None."""

    metadata_filter: MetadataFilter | dict[str, Any] | None


def retriever_node(retriever: Retriever) -> Callable[[Any], dict[str, list[Document]]]:
    """Return a node that reads query, and metadata_filter if the state has one, and writes retrieved_docs.

    The state is a mapping or an object; see HasQuery, HasRetrievedDocs, HasMetadataFilter. No document is a result,
    too. An error ends the graph: the node raises the errors of `Retriever.retrieve`, and UsageError `bad_value` for a
    state without a query, `unknown_filter`.
    """

    def retrieve(state: Any) -> dict[str, list[Document]]:
        values = state if isinstance(state, Mapping) else vars(state)
        query = values.get("query")
        if not isinstance(query, str):
            raise UsageError("bad_value", f"query in the state is {query!r}, not a text.", hint='{"query": "words"}')
        found = retriever.retrieve(query, mongo_filter(values.get("metadata_filter")))
        return {"retrieved_docs": [each.document for each in found]}

    return retrieve
