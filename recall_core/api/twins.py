"""Hits whose text stands in other places too, and what is told of those."""

from __future__ import annotations

from collections.abc import Mapping

from recall_core.contract.views import CopiesView, PlaceView
from recall_core.retrieve.answer import Answer, twins_of
from recall_core.store.port import Store
from recall_core.types import Hit, Packed, Row, Twins


def with_twins(hits: Mapping[str, Hit], made: Packed, found: Answer, store: Store) -> dict[str, Hit]:
    """The hits by the ids of their chunks, those that are packed with the other places of their texts."""
    read = {row.chunk.id: rowid for rowid, row in found.rows.items()}
    ids = [each for block in made.blocks for each in block.chunk_ids]
    packed = {each: read[each] if each in read else store.rowid("chunk", each) for each in ids}
    twins = twins_of(found, list(packed.values()), store)
    return {**hits, **{each: hits[each]._replace(twins=twins.get(rowid)) for each, rowid in packed.items()}}


def copies_view(twins: Twins) -> CopiesView:
    """How many others have a hit's text, and the first places of these."""
    return {"count": twins.number, "places": [_place_view(row) for row in twins.first]}


def _place_view(row: Row) -> PlaceView:
    chunk = row.chunk
    view: PlaceView = {
        "id": chunk.id,
        "path": row.doc.path,
        "offset": chunk.offset,
        "line_start": chunk.line_start,
        "line_end": chunk.line_end,
    }
    if chunk.place is not None:
        view["place"] = chunk.place
    return view
