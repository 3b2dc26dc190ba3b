"""Checksums of each small table, kept in `meta`: the number of rows and the sum of their hashes.

The rows of these tables have no hash of their own, and one page may contain them all. A lost or misplaced page would
leave a table that looks complete. Triggers of the writing connection update the sums in the transaction of the rows.
The next writer adds sums that a store does not have yet.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import apsw

from recall_core.store.sqlite.records import Execute
from recall_core.store.values import Lost
from recall_core.text import sha256

COLUMNS = {
    "meta": ("key", "value"),
    "root": ("rowid", "spec", "active"),
    "left_out": ("root", "path"),
    "judged_query": ("id", "text"),
    "judgement": ("query", "path", "offset", "end_offset", "grade"),
}
"""Columns that make up a row of each table."""

_JUDGEMENTS = Lost("judgement", "", "some judgements may be missing")
LOST = {
    "root": Lost("root", "", "some roots, or whether they are synced, may be missing"),
    "left_out": Lost("root", "", "some files left out of a root may be missing from its list"),
    "judged_query": _JUDGEMENTS,
    "judgement": _JUDGEMENTS,
}
"""Loss to report if a table does not have all of its rows."""

_IS_SUMMED = {"meta": "substr({}.key, 1, 4) <> 'sum_'"}
"""Condition on the rows that count; the sums themselves do not."""

_TRIGGER = """
CREATE TEMP TRIGGER IF NOT EXISTS {key}_{event} AFTER {event} ON main.{table} WHEN {condition}
BEGIN UPDATE meta SET value = coalesce({value}, value) WHERE key = '{key}'; END
"""


def key_of(table: str) -> str:
    """Return the key in `meta` of the sum of a table."""
    return f"sum_{table}"


def follow(db: apsw.Connection) -> None:
    """Create triggers that update the sums with every row this connection writes."""
    db.create_scalar_function("recall_sum", _move, -1)
    db.pragma("recursive_triggers", True)  # a replaced row fires its DELETE trigger
    for table, columns in COLUMNS.items():
        old, new = (_bytes_of(f"{side}.{column}" for column in columns) for side in ("old", "new"))
        without = f"recall_sum(CAST(value AS BLOB), -1, {old})"
        values = {
            "INSERT": f"recall_sum(CAST(value AS BLOB), 1, {new})",
            "DELETE": without,
            "UPDATE": f"recall_sum({without}, 1, {new})",
        }
        for event, value in values.items():
            condition = _IS_SUMMED.get(table, "1").format("old" if event == "DELETE" else "new")
            db.execute(_TRIGGER.format(key=key_of(table), event=event, table=table, condition=condition, value=value))


def learn(execute: Execute) -> None:
    """Compute missing sums. The caller has begun a write transaction."""
    known = {key for (key,) in execute("SELECT key FROM meta")}
    for table in COLUMNS:
        if key_of(table) not in known:
            execute("INSERT INTO meta(key, value) VALUES(?, ?)", (key_of(table), take_sum(execute, table)))


def take_sum(execute: Execute, table: str) -> str:
    """Return the sum of a table's current rows."""
    condition = _IS_SUMMED.get(table, "1").format(table)
    rows = execute(f"SELECT {_bytes_of(COLUMNS[table])} FROM {table} WHERE {condition}")
    return _spell(len(rows), sum(map(_hash, rows)))


def wrong(execute: Execute, meta: Mapping[str, str]) -> list[str]:
    """Return the tables whose rows do not match their sum."""
    return [table for table in COLUMNS if meta.get(key_of(table)) not in (None, take_sum(execute, table))]


def _bytes_of(columns: Iterable[str]) -> str:
    """Select columns as bytes, so that a text that is not UTF-8 raises no error."""
    return ", ".join(f"CAST({column} AS BLOB)" for column in columns)


def _move(*given: Any) -> Any:
    """Return a sum after adding (1) or removing (-1) a row, or None if it is not a sum; doctor reports that."""
    kept, sign, *row = given
    try:
        rows, total = (kept.decode() if isinstance(kept, bytes) else str(kept)).split(" ")
        return _spell(int(rows) + sign, int(total, 16) + sign * _hash(row))
    except ValueError:
        return None


def _spell(rows: int, total: int) -> str:
    return f"{rows} {total % (1 << 64):x}"


def _hash(row: Iterable[Any]) -> int:
    spelled = json.dumps([*row], default=bytes.hex)
    return int.from_bytes(sha256(spelled.encode()).digest()[:8], "big")
