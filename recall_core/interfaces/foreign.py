"""What the adapters to other ecosystems share: filters, diverse results, hits of a Recall store."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from recall_core._lazy import np
from recall_core.api.serving import ConnectionPool, StoreSettings
from recall_core.errors import UsageError
from recall_core.interfaces.documents import Document, SearchResult, VectorStore
from recall_core.interfaces.in_memory import unit_vectors
from recall_core.interfaces.metadata_filters import All, Eq, In, MetadataFilter, Not, Range
from recall_core.interfaces.metadata_filters import Any as AnyOf
from recall_core.shell import install_extra


class ReadableStore(VectorStore, Protocol):
    """A VectorStore that returns its documents, as InMemoryVectorStore and FileVectorStore do."""

    def get(
        self,
        ids: Iterable[str] | None = None,
        filter: MetadataFilter | None = None,  # noqa: A002 - as for `search`
    ) -> list[Document]:
        """Return documents with their embeddings; see `InMemoryVectorStore.get`."""


class FoundChunk(NamedTuple):
    """A chunk that RecallSearch found. metadata is JSON values."""

    id: str
    text: str
    score: float
    metadata: dict[str, Any]


class RecallSearch:
    """Searches a Recall store by words and meaning. Many threads may use it at once; each call waits its turn.

    store: a path or KIND:WHERE, as for `Recall.open`. Raises the errors of `Recall.search`.
    """

    def __init__(self, store: str) -> None:
        self._pool = ConnectionPool(StoreSettings(store))
        self.close = self._pool.close
        """Close the store. May be called twice."""

    def search(self, words: str, *, k: int, mode: str, where: MetadataFilter | str | None) -> list[FoundChunk]:
        """Return the best k chunks, best first. where: a filter, or RQL."""
        rql = where.to_rql() if isinstance(where, MetadataFilter) else where
        answer = self._pool.ask(lambda recall: recall.search(words, k=k, mode=mode, filter=rql)).result()
        found = []
        for hit in answer["results"]:
            doc, chunk, score = hit["doc"], hit["chunk"], hit["score"]
            metadata = {
                "path": doc["path"],
                "lines": [chunk["line_start"], chunk["line_end"]],
                "place": chunk.get("place"),
                "hash": doc["hash"],
                "score": score,
                "passage": hit["passage"]["text"],
                "title": doc["title"],
                "tags": doc["tags"],
                "meta": doc.get("meta", {}),
                "warnings": list(answer["warnings"]),
            }
            found.append(FoundChunk(chunk["id"], chunk["text"], score, metadata))
        return found


def package_missing(package: str, extra: str) -> UsageError:
    """Return the error for an adapter whose package cannot be imported."""
    message = f"recall_core.interfaces.{extra} needs the package {package}, which cannot be imported."
    return UsageError("package_missing", message, hint=install_extra(extra))


def unknown_filter(reason: str) -> UsageError:
    """Return the error for a filter of another ecosystem that Recall does not have."""
    hint = "compare a key by ==, !=, <, <=, >, >=, in or not in; join by and, or, not"
    return UsageError("unknown_filter", f"The filter cannot be used: {reason}.", hint=hint)


def compare(key: Any, operator: str, value: Any) -> MetadataFilter:
    """Return the filter for a comparison: ==, !=, <, <=, >, >=, in, not in.

    A key without a value passes != and not in, and nothing else but == None. Raises UsageError `unknown_filter`.
    """
    if operator in ("in", "not in") and not isinstance(value, list | tuple | set | frozenset):
        raise unknown_filter(f"{operator!r} needs a list, not {value!r}")
    if operator in _ORDERS and (value is None or isinstance(value, bool)):
        raise unknown_filter(f"{value!r} has no order")
    if operator not in _COMPARISONS:
        raise unknown_filter(f"{operator!r} is not an operator")
    try:
        return _COMPARISONS[operator](key, value)
    except UsageError as error:
        raise unknown_filter(error.message.rstrip(".")) from error


_ORDERS = ("<", "<=", ">", ">=")
_COMPARISONS: dict[str, Callable[[Any, Any], MetadataFilter]] = {
    "==": Eq,
    "!=": lambda key, value: Not(Eq(key, value)),
    "<": lambda key, value: All((Range(key, max=value), Not(Eq(key, value)))),
    "<=": lambda key, value: Range(key, max=value),
    ">": lambda key, value: All((Range(key, min=value), Not(Eq(key, value)))),
    ">=": Range,
    "in": In,
    "not in": lambda key, value: Not(In(key, value)),
}


def mongo_filter(value: object) -> MetadataFilter | None:
    """Return the filter of {"key": value, "key": {"$gt": value}, "$or": [...]}; None for None.

    Entries are joined by and. A MetadataFilter is returned as it is. Raises UsageError `unknown_filter`, and
    `rql_too_large` for too many levels.
    """
    if value is None or isinstance(value, MetadataFilter):
        return value
    if not isinstance(value, Mapping):
        raise unknown_filter(f"{value!r} is not a dictionary")
    terms = tuple(_mongo_terms(value))
    return terms[0] if len(terms) == 1 else All(terms)


_MONGO = {
    "$eq": "==",
    "$ne": "!=",
    "$gt": ">",
    "$gte": ">=",
    "$lt": "<",
    "$lte": "<=",
    "$in": "in",
    "$nin": "not in",
}


def _mongo_terms(value: Mapping[Any, Any]) -> Iterator[MetadataFilter]:
    for key, wanted in value.items():
        match key, wanted:
            case (("$and" | "$or"), [*parts]):
                inner = tuple(each for part in parts if (each := mongo_filter(part)) is not None)
                if len(inner) < len(parts):
                    raise unknown_filter("None is not a filter")
                yield All(inner) if key == "$and" else AnyOf(inner)
            case "$not", Mapping():
                yield Not(All(tuple(_mongo_terms(wanted))))
            case str(), Mapping() if not key.startswith("$") and wanted:
                for operator, operand in wanted.items():
                    yield compare(key, _MONGO.get(operator, str(operator)), operand)
            case str(), _ if not key.startswith("$"):
                yield compare(key, "==", wanted)
            case _:
                raise unknown_filter(f"{key!r} is not an operator for {wanted!r}")


def haystack_filter(value: object) -> MetadataFilter:
    """Return the filter of {"field": "meta.key", "operator": ">", "value": 1} and the like.

    Filters are joined by {"operator": "AND", "conditions": [...]}, OR, or NOT, which passes unless all of them pass.
    Only numbers and dates have an order; dates compare as text. Nothing passes an order with None.
    Raises UsageError `unknown_filter`, and `rql_too_large` for too many levels.
    """
    match value:
        case {"operator": "AND" | "OR" | "NOT" as operator, "conditions": [*parts], **rest} if not rest:
            inner = tuple(map(haystack_filter, parts))
            return AnyOf(inner) if operator == "OR" else All(inner) if operator == "AND" else Not(All(inner))
        case {"field": str(field), "operator": operator, "value": wanted, **rest} if not rest:
            key = field.removeprefix("meta.")
            if "." in key or field in _HAYSTACK_FIELDS:
                raise unknown_filter(f"{field!r} is not meta.KEY")
            if operator in ("in", "not in") and not isinstance(wanted, list):
                raise unknown_filter(f"{operator!r} needs a list, not {wanted!r}")
            if operator in _ORDERS and wanted is None:
                return AnyOf(())
            if operator in _ORDERS and isinstance(wanted, str) and not _DATE.match(wanted):
                raise unknown_filter(f"{wanted!r} is not a date such as 2026-11-28, and other text has no order")
            return compare(key, operator, wanted)
    raise unknown_filter(f"{value!r} is not a comparison, AND, OR or NOT")


_HAYSTACK_FIELDS = ("id", "content", "blob", "meta", "score", "embedding", "sparse_embedding")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?![^T ])")


def search_diverse(
    store: ReadableStore,
    query: Sequence[float],
    *,
    k: int,
    fetch_k: int,
    relevance: float,
    where: MetadataFilter | None,
) -> list[SearchResult]:
    """Return k of the fetch_k nearest documents by maximal marginal relevance, in the order of choice.

    relevance: weight of the cosine with the query, from 0 to 1; the rest goes to the distance from the documents
    already chosen. Ties go by rank. Carbonell and Goldstein, SIGIR 1998.
    """
    if not 0 <= relevance <= 1:
        message = f"The weight of relevance must be from 0 to 1, not {relevance}."
        raise UsageError("bad_value", message, hint="0.5")
    near = store.search(query, max(fetch_k, k), where)
    embeddings = {each.id: each.embedding for each in store.get([found.document.id for found in near])}
    pool = [(found, vector) for found in near if (vector := embeddings.get(found.document.id)) is not None]
    if not pool or k <= 0:
        return []
    vectors = unit_vectors([vector for _, vector in pool]).astype(np.float64)
    scores = np.array([found.score for found, _ in pool])
    chosen, closest = [0], vectors @ vectors[0]
    while len(chosen) < min(k, len(pool)):
        marginal = relevance * scores - (1 - relevance) * closest
        marginal[chosen] = -np.inf
        chosen.append(int(marginal.argmax()))
        closest = np.maximum(closest, vectors @ vectors[chosen[-1]])
    return [pool[place][0] for place in chosen]
