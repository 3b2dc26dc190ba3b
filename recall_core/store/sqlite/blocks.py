"""Storage of the vectors in use: sixteen to a row, each at its own place.

One vector a row would leave a quarter of every page empty. Table `vec_place` has the place of a chunk's vector, with
its windows and checksum; `vec_block` has the bytes; `vec_free` lists the free places, which are zero. The view `vec`
shows each vector with its chunk as one row, like the table `vec` of older schemas. Code that reads a few vectors uses
`vec`; code that reads all of them, or writes, uses this module, a block at a time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from recall_core.types import Vector

if TYPE_CHECKING:
    import apsw

BITS = 4
"""A vector's place is its block's number followed by this many bits."""

IN_BLOCK = 1 << BITS

Execute = Callable[..., list[tuple[Any, ...]]]
ExecuteMany = Callable[[str, Iterable[Sequence[Any]]], object]
"""Executes a statement once for each row of parameters: `OpenStore.execute_many`."""


def execute_on(db: apsw.Connection) -> Execute:
    """Return a function that executes a statement on a connection and returns every row."""
    return lambda sql, parameters=(): db.execute(sql, parameters).fetchall()


NewVector = tuple[int, Vector, int, int]
"""Chunk rowid, vector, windows, checksum."""

_PIECE_BLOCKS = 64

SCHEMA = f"""
CREATE TABLE vec_block(block INTEGER PRIMARY KEY, embeddings BLOB NOT NULL);
CREATE TABLE vec_place(
  chunk INTEGER PRIMARY KEY REFERENCES chunk(rowid) ON DELETE CASCADE,
  place INTEGER NOT NULL UNIQUE,
  windows INTEGER NOT NULL,
  checksum INTEGER
);
CREATE TABLE vec_free(place INTEGER PRIMARY KEY);
CREATE INDEX vec_windowed ON vec_place(windows) WHERE windows > 1;

CREATE VIEW vec AS SELECT chunk, (
  SELECT substr(embeddings, 1 + (place & {IN_BLOCK - 1}) * (length(embeddings) >> {BITS}),
    length(embeddings) >> {BITS})
  FROM vec_block WHERE block = place >> {BITS}
) AS embedding, windows, checksum FROM vec_place;

CREATE TRIGGER vec_leave AFTER DELETE ON vec_place
BEGIN
  UPDATE vec_block SET embeddings = CAST(
    substr(embeddings, 1, (old.place & {IN_BLOCK - 1}) * (length(embeddings) >> {BITS}))
    || zeroblob(length(embeddings) >> {BITS})
    || substr(embeddings, 1 + ((old.place & {IN_BLOCK - 1}) + 1) * (length(embeddings) >> {BITS})) AS BLOB)
  WHERE block = old.place >> {BITS};
  INSERT OR IGNORE INTO vec_free(place) VALUES(old.place);
END;
"""

_FREE = f"""
SELECT f.place FROM vec_free f JOIN vec_block b ON b.block = f.place >> {BITS}
WHERE length(b.embeddings) = ? ORDER BY f.place LIMIT ?
"""
_READ = "SELECT embeddings FROM vec_block WHERE block = ?"
_OVERWRITE = "UPDATE vec_block SET embeddings = ?2 WHERE block = ?1"
_MOST_BLOCKS = 1 << 40
"""No store has this many blocks; a higher number is damage."""
_LAST = f"SELECT coalesce(max(block), 0) FROM vec_block WHERE block < {_MOST_BLOCKS}"
_NEW = "INSERT INTO vec_block(block, embeddings) VALUES(?, ?)"
_PLACE = "INSERT INTO vec_place(chunk, place, windows, checksum) VALUES(?, ?, ?, ?)"
_TAKE = "DELETE FROM vec_free WHERE place = ?"
_LEAVE = "INSERT INTO vec_free(place) VALUES(?)"

_SOME = f"SELECT block, embeddings FROM vec_block WHERE block > ? ORDER BY block LIMIT {_PIECE_BLOCKS}"
_HELD = "SELECT place, chunk FROM vec_place WHERE place BETWEEN ? AND ? ORDER BY place"
_IS_LOOSE = f"""
SELECT (SELECT count(*) FROM vec_free) >= {IN_BLOCK} OR EXISTS (
  SELECT 1 FROM (SELECT place, lag(place) OVER (ORDER BY chunk) AS before FROM vec_place) WHERE place < before)
"""
_PIECE = f"SELECT chunk, embedding FROM vec WHERE chunk > ? ORDER BY chunk LIMIT {_PIECE_BLOCKS * IN_BLOCK}"
_MOVE = "UPDATE vec_place SET place = ?2 WHERE chunk = ?1"


def are_here(execute: Execute) -> bool:
    """Return False for a read-only store of an older schema, in which `vec` is a table."""
    return bool(execute("SELECT 1 FROM sqlite_schema WHERE name = 'vec_block'"))


def scan(execute: Execute) -> Iterator[tuple[list[int], list[Vector]]]:
    """Yield the chunks of some blocks and the bytes of their vectors, concatenated, piece by piece.

    Full blocks are passed on whole; only from others is each vector sliced. Raises ValueError like `join`.
    """
    last = 0
    while some := execute(_SOME, (last,)):
        last = some[-1][0]
        if len({len(content) for _, content in some}) > 1:
            raise ValueError("vectors differ in length")
        held = execute(_HELD, (some[0][0] << BITS, (last << BITS) + IN_BLOCK - 1))
        rowids: list[int] = []
        parts: list[Vector] = []
        at = 0
        for block, content in some:
            own, at = _of_block(held, at, block)
            rowids += [chunk for _, chunk in own]
            parts += [content] if len(own) == IN_BLOCK else _slice(content, [place for place, _ in own])
        if rowids:
            yield rowids, parts


def _of_block(held: Sequence[tuple[int, int]], at: int, block: int) -> tuple[Sequence[tuple[int, int]], int]:
    """Return a block's taken places with their chunks, and the index at which the next block's places start."""
    first, end = block << BITS, block + 1 << BITS
    while at < len(held) and held[at][0] < first:  # of a lost block
        at += 1
    next_at = at + IN_BLOCK
    if next_at > len(held) or held[next_at - 1][0] >= end:
        next_at = at
        while next_at < len(held) and held[next_at][0] < end:
            next_at += 1
    return held[at:next_at], next_at


def _slice(content: bytes, places: Iterable[int]) -> list[Vector]:
    size = len(content) >> BITS
    starts = [(place & (IN_BLOCK - 1)) * size for place in places]
    return [content[start : start + size] for start in starts]


def join(pieces: Iterable[tuple[list[int], list[Vector]]]) -> tuple[list[int], bytes]:
    """Return the chunks of these pieces, ascending, and their vectors, concatenated.

    pieces: as from `scan`. Raises ValueError if lengths differ.
    """
    rowids: list[int] = []
    found: list[Vector] = []
    size = 0
    for some, parts in pieces:
        rowids += some
        found += parts
        size = size or sum(map(len, parts)) // len(some)
        if sum(map(len, parts)) != size * len(some):
            raise ValueError("vectors differ in length")
    components = b"".join(found)
    ordered = sorted(rowids)
    if rowids != ordered:
        starts = {chunk: i * size for i, chunk in enumerate(rowids)}
        components = b"".join([components[starts[chunk] : starts[chunk] + size] for chunk in ordered])
    return ordered, components


def put(execute: Execute, execute_many: ExecuteMany, rows: Sequence[NewVector]) -> None:
    """Store vectors for chunks that have none: in free places first, then in new blocks."""
    by_size: defaultdict[int, list[NewVector]] = defaultdict(list)
    for row in rows:
        by_size[len(row[1])].append(row)
    for size, alike in by_size.items():
        free = [place for (place,) in execute(_FREE, (IN_BLOCK * size, len(alike)))]
        _fill(execute, execute_many, alike[: len(free)], free)
        rest = alike[len(free) :]
        _note(execute_many, rest, _new_places(execute, execute_many, [vector for _, vector, _, _ in rest], size))


def _fill(execute: Execute, execute_many: ExecuteMany, rows: Sequence[NewVector], free: Sequence[int]) -> None:
    blocks: dict[int, bytearray] = {}
    for (_, vector, _, _), place in zip(rows, free, strict=True):
        block, at = place >> BITS, (place & (IN_BLOCK - 1)) * len(vector)
        if block not in blocks:
            blocks[block] = bytearray(execute(_READ, (block,))[0][0])
        blocks[block][at : at + len(vector)] = vector
    execute_many(_TAKE, [(place,) for place in free])
    execute_many(_OVERWRITE, [(block, bytes(content)) for block, content in blocks.items()])
    _note(execute_many, rows, free)


def _new_places(execute: Execute, execute_many: ExecuteMany, vectors: Sequence[Vector], size: int) -> Sequence[int]:
    """Store these vectors in new blocks and return their places. The rest of the last block is free."""
    first, blocks = int(execute(_LAST)[0][0]) + 1, -(-len(vectors) // IN_BLOCK)
    size_of_block = IN_BLOCK * size
    content = b"".join(vectors).ljust(blocks * size_of_block, b"\0")
    execute_many(_NEW, [(first + i, content[i * size_of_block : (i + 1) * size_of_block]) for i in range(blocks)])
    places = range(first << BITS, first + blocks << BITS)
    execute_many(_LEAVE, [(place,) for place in places[len(vectors) :]])
    return places[: len(vectors)]


def _note(execute_many: ExecuteMany, rows: Sequence[NewVector], places: Sequence[int]) -> None:
    noted = [
        (chunk, place, windows, checksum) for (chunk, _, windows, checksum), place in zip(rows, places, strict=True)
    ]
    execute_many(_PLACE, noted)


def put_from(execute: Execute, execute_many: ExecuteMany, rows: Iterable[NewVector]) -> None:
    """Like `put`, a piece at a time."""
    waiting = iter(rows)
    while piece := list(islice(waiting, _PIECE_BLOCKS * IN_BLOCK)):
        put(execute, execute_many, piece)


def clear(execute: Execute) -> None:
    """Delete every vector in use."""
    execute("DELETE FROM vec_block")
    execute("DELETE FROM vec_place")
    execute("DELETE FROM vec_free")


def pack(execute: Execute, execute_many: ExecuteMany) -> None:
    """Move the vectors into new blocks in chunk order, if there are free places in between."""
    if not execute(_IS_LOOSE)[0][0]:
        return
    before, chunk = int(execute(_LAST)[0][0]), 0
    execute("DELETE FROM vec_free")
    while piece := execute(_PIECE, (chunk,)):
        chunk = piece[-1][0]
        by_size: defaultdict[int, list[tuple[int, bytes]]] = defaultdict(list)
        for each, vector in piece:
            if vector is not None:  # None: its block is lost
                by_size[len(vector)].append((each, vector))
        for size, alike in by_size.items():
            places = _new_places(execute, execute_many, [vector for _, vector in alike], size)
            execute_many(_MOVE, [(each, place) for (each, _), place in zip(alike, places, strict=True)])
    execute("DELETE FROM vec_block WHERE block <= ?", (before,))
