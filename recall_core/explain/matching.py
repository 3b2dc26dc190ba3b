"""Which row of one store is which row of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recall_core.ports import Store
from recall_core.types import Row, Table


class Pair(NamedTuple):
    """One row by its rowid (of a chunk, or of a document where rows are documents) on each side; None: not there."""

    a: int | None
    b: int | None


def same(a: Iterable[int], b: Iterable[int]) -> list[Pair]:
    """The rows of either list, of one store: every row is itself. Those of a first."""
    return [Pair(rowid, rowid) for rowid in dict.fromkeys((*a, *b))]


def across(a: Sequence[int], b: Sequence[int], stores: tuple[Store, Store], *, table: Table) -> list[Pair]:
    """The rows of either list with their like in the other store; those of a first.

    Documents are alike by path. Chunks are of documents alike by path, and alike themselves by text, and where no
    text is equal by offset.
    """
    wanted = [_places(rowids, store, table) for rowids, store in zip((a, b), stores, strict=True)]
    paths = list(dict.fromkeys([*wanted[0].values(), *wanted[1].values()]))
    pairs = [pair for path in paths for pair in _alike(path, stores, table)]
    of_a = {pair.a: pair for pair in pairs if pair.a is not None}
    of_b = {pair.b: pair for pair in pairs if pair.b is not None}
    return list(dict.fromkeys([*(of_a[rowid] for rowid in a), *(of_b[rowid] for rowid in b)]))


def alike_chunks(a: Sequence[Row], b: Sequence[Row]) -> list[Pair]:
    """The chunks of two versions of one document: pairs of equal texts, then of equal offsets, then the rest alone.

    Rows in order of offset. Texts that repeat pair up in that order.
    """
    waiting: dict[str, list[Row]] = {}
    for row in reversed(b):
        waiting.setdefault(row.chunk.text, []).append(row)
    found = {row.rowid: waiting[row.chunk.text].pop() for row in a if waiting.get(row.chunk.text)}
    taken = {row.rowid for row in found.values()}
    by_offset = {row.chunk.offset: row for row in b if row.rowid not in taken}
    for row in a:
        if row.rowid not in found and row.chunk.offset in by_offset:
            found[row.rowid] = by_offset.pop(row.chunk.offset)
    taken = {row.rowid for row in found.values()}
    pairs = [Pair(row.rowid, found[row.rowid].rowid if row.rowid in found else None) for row in a]
    return pairs + [Pair(None, row.rowid) for row in b if row.rowid not in taken]


def _places(rowids: Sequence[int], store: Store, table: Table) -> dict[int, str]:
    """rowid to path."""
    if table == "doc":
        return {rowid: document.path for rowid, document in store.documents(rowids).items()}
    return {row.rowid: row.doc.path for row in store.fetch(rowids)}


def _alike(path: str, stores: tuple[Store, Store], table: Table) -> list[Pair]:
    ids = [_document(path, store) for store in stores]
    if table == "doc":
        a, b = (None if each is None else store.rowid("doc", each) for each, store in zip(ids, stores, strict=True))
        return [Pair(a, b)]
    rows = [[] if each is None else store.chunks_of(each) for each, store in zip(ids, stores, strict=True)]
    return alike_chunks(*rows)


def _document(path: str, store: Store) -> str | None:
    """The live document at exactly this path."""
    found = [full for kind, full in store.resolve(path) if kind == "doc"]
    if len(found) != 1:
        return None
    rowid = store.rowid("doc", found[0])
    return found[0] if store.documents([rowid])[rowid].path == path else None
