"""Table `ann_lsh`: a signature for each vector in use, if switched on, and the search for near signatures.

Switching it on creates the table. From then on, triggers add a row without a signature for every new vector, which is
filled before the transaction ends, and delete the row of every deleted vector. So statements that write vectors need
no change. While any row lacks its signature, no search uses the table; so a program that does not know the table
cannot hide what it adds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from recall_core import store
from recall_core.store.sqlite.blocks import ExecuteMany
from recall_core.store.sqlite.records import Execute
from recall_core.store.values import Signing
from recall_core.types import Vector

_PIECE_ROWS = 1_024

_SCHEMA = (
    "CREATE TABLE ann_lsh(chunk INTEGER PRIMARY KEY, signature BLOB)",
    "CREATE INDEX ann_lsh_unsigned ON ann_lsh(chunk) WHERE signature IS NULL",
    "CREATE TRIGGER ann_lsh_come AFTER INSERT ON vec_place BEGIN INSERT INTO ann_lsh(chunk) VALUES(new.chunk); END",
    "CREATE TRIGGER ann_lsh_leave AFTER DELETE ON vec_place BEGIN DELETE FROM ann_lsh WHERE chunk = old.chunk; END",
    "INSERT INTO ann_lsh(chunk) SELECT chunk FROM vec_place",
)
_DROP = (
    "DROP TRIGGER IF EXISTS ann_lsh_come",
    "DROP TRIGGER IF EXISTS ann_lsh_leave",
    "DROP TABLE IF EXISTS ann_lsh",
    "DELETE FROM meta WHERE key IN ('ann_bits', 'ann_seed')",
)
_PUT_META = "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)"
_MADE_WITH = "SELECT key, CAST(value AS INTEGER) FROM meta WHERE key IN ('ann_bits', 'ann_seed')"
IS_UNSIGNED = "SELECT EXISTS (SELECT 1 FROM ann_lsh WHERE signature IS NULL)"
_UNSIGNED = f"""
SELECT a.chunk, v.embedding FROM ann_lsh a JOIN vec v ON v.chunk = a.chunk
WHERE a.signature IS NULL AND a.chunk > ? AND v.embedding IS NOT NULL ORDER BY a.chunk LIMIT {_PIECE_ROWS}
"""
_SIGN = "UPDATE ann_lsh SET signature = ?2 WHERE chunk = ?1"

# The caller knows the natural order and breaks ties at the cut.
_NEAR = """
WITH near AS MATERIALIZED (
  SELECT a.chunk AS chunk, vec_distance_hamming(vec_bit(a.signature), vec_bit(?)) AS distance FROM {rows}
)
SELECT chunk, distance FROM near
WHERE distance <= coalesce((SELECT distance FROM near ORDER BY distance LIMIT 1 OFFSET ?), 1e9)
"""
_PASSING = "doc d JOIN chunk c ON c.doc = d.rowid JOIN ann_lsh a ON a.chunk = c.rowid WHERE {condition}"

SIGNATURES = "SELECT chunk, signature FROM ann_lsh WHERE signature IS NOT NULL"


def made_with(execute: Execute) -> Signing | None:
    """Return the signing of the stored signatures, or None."""
    found: dict[str, int] = dict(execute(_MADE_WITH))
    return Signing(found["ann_bits"], found["ann_seed"]) if len(found) == len(Signing._fields) else None


def remake_table(execute: Execute, wanted: Signing | None) -> None:
    """Create an empty table of signatures, or drop the table. Call in a transaction."""
    for sql in _DROP:
        execute(sql)
    if wanted is not None:
        for sql in _SCHEMA:
            execute(sql)
        for key, value in zip(("ann_bits", "ann_seed"), wanted, strict=True):
            execute(_PUT_META, (key, str(value)))


def sign(execute: Execute, execute_many: ExecuteMany) -> None:
    """Sign the vectors that came in this transaction, if signatures are switched on."""
    signing = made_with(execute)
    if signing is None:
        return
    last = -1
    while rows := execute(_UNSIGNED, (last,)):
        last = rows[-1][0]
        execute_many(_SIGN, make_signatures(rows, signing))


def make_signatures(rows: Sequence[tuple[Any, ...]], signing: Signing) -> Iterator[tuple[int, bytes]]:
    """Yield chunk and signature of these chunks and vectors. Damaged vectors may differ in length."""
    by_size: defaultdict[int, list[tuple[int, Vector]]] = defaultdict(list)
    for chunk, vector, *_ in rows:
        by_size[len(vector)].append((chunk, vector))
    for size, alike in by_size.items():
        if size % 4 == 0:
            made = store.signatures.signatures([vector for _, vector in alike], signing)
            yield from zip([chunk for chunk, _ in alike], made, strict=True)


def near(execute: Execute, signature: bytes, condition: str, parameters: Sequence[Any], *, k: int) -> dict[int, int]:
    """Return rowid to Hamming distance of the k nearest signatures, and of all that tie with the last.

    condition: "" for all vectors.
    """
    if k == 0:
        return {}
    rows = _PASSING.format(condition=condition) if condition else "ann_lsh a"
    return {chunk: int(far) for chunk, far in execute(_NEAR.format(rows=rows), (signature, *parameters, k - 1))}
