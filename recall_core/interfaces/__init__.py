"""Interfaces of retrieval pipelines: documents, embeddings, vector stores, filters, loaders, retrievers.

Internal is the error of a store that cannot be read or written.
"""

from recall_core._lazy import attach
from recall_core.errors import (
    DimensionMismatch,
    InvalidId,
    InvalidResponse,
    Other,
    ProviderError,
    RateLimited,
    Timeout,
)
from recall_core.errors import StoreError as Internal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall_core.interfaces.documents import Document, Embedding, SearchResult, VectorStore
    from recall_core.interfaces.in_file import FileVectorStore
    from recall_core.interfaces.in_memory import InMemoryVectorStore
    from recall_core.interfaces.indexing import Indexer, ModelEmbedding, Retriever
    from recall_core.interfaces.loading import FileLoader, PdfLoader, TextLoader, TextSplitter
    from recall_core.interfaces.metadata_filters import All, Any, Eq, In, MetadataFilter, Not, Range
else:
    _HOMES = {
        "documents": "Document Embedding SearchResult VectorStore",
        "in_file": "FileVectorStore",
        "in_memory": "InMemoryVectorStore",
        "indexing": "Indexer ModelEmbedding Retriever",
        "loading": "FileLoader PdfLoader TextLoader TextSplitter",
        "metadata_filters": "All Any Eq In MetadataFilter Not Range",
    }
    __getattr__ = attach(__name__, **{name: home for home, names in _HOMES.items() for name in names.split()})
