"""The order of an answer's rows where a query names it, ended by the natural order."""

from __future__ import annotations

from collections.abc import Iterable

from recall_core.rql.ast import Field, OrderKey, Score
from recall_core.rql.fields import value_of
from recall_core.types import Hit


def ordered(hits: Iterable[Hit], keys: Iterable[OrderKey]) -> list[Hit]:
    """The hits by these keys; rows without a value last in either direction; then path, offset and id.

    Text orders by code point. A metadata key orders numbers, among them FALSE as 0 and TRUE as 1, before text.
    """
    found = sorted(hits, key=_natural)
    for key in reversed(tuple(keys)):
        known = [(value, hit) for hit in found if (value := _sortable(key.by, hit)) is not None]
        missing = [hit for hit in found if _sortable(key.by, hit) is None]
        known.sort(key=lambda pair: pair[0], reverse=key.descending)
        found = [hit for _, hit in known] + missing
    return found


def _natural(hit: Hit) -> tuple[str, int, str]:
    if hit.chunk is None:
        return hit.doc.path, 0, hit.doc.id
    return hit.doc.path, hit.chunk.offset, hit.chunk.id


def _sortable(by: Field | Score, hit: Hit) -> tuple[bool, str | float] | None:
    value = hit.score if isinstance(by, Score) else value_of(by, hit.doc, hit.chunk)
    if isinstance(value, tuple):
        value = value[0] if value else None
    return None if value is None else (isinstance(value, str), value)
