"""Near-duplicates: chunks of different documents that say almost the same."""

from __future__ import annotations

from recall_core.store.sqlite.check import Finding
from recall_core.store.sqlite.neighbours import near_pairs, place_of
from recall_core.store.sqlite.store import SqliteStore

NEAR = 0.95  # with the embedders here: an edited copy, a text on another page's template; well above two on one topic
_SHOWN = 3


def near_duplicates(store: SqliteStore) -> Finding:
    """How many pairs of chunks have a cosine of NEAR or more, and the first few by path and offset.

    Both chunks have vectors and stand in documents of different content; `duplicates` tells of those of the same.
    Never a warning: what is alike may be meant. Every two chunks are compared, exactly.
    """
    with store.reading():
        near = near_pairs(store, least=NEAR, shown=_SHOWN)
        rows = {row.rowid: row for row in store.fetch([rowid for pair in near.first for rowid in pair[:2]])}
    shown = [f"{place_of(rows[one])} and {place_of(rows[other])} ({cosine:.3f})" for one, other, cosine in near.first]
    first = f"; the first {', '.join(shown)}" if shown else ""
    return Finding("ok", f"{near.pairs} pairs of chunks in different documents have a cosine from {NEAR:g} on{first}")
