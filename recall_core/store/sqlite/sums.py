"""Sums that `meta` keeps of each small table: how many rows it has, and the sum of their hashes.

No row of these tables has a hash of its own, and one page may have all of them: a page that is lost, or in the place
of another, would leave a table that looks whole. Triggers of the connection that writes keep the sums, in the
transaction of the rows. A store in which one is missing gets it with the next writer.
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
"""Of each table, what a row of it is."""

_JUDGEMENTS = Lost("judgement", "", "not every judgement can be told")
LOST = {
    "root": Lost("root", "", "not every folder that was added can be told, or whether it is synced"),
    "left_out": Lost("root", "", "not every file that was left out can be told"),
    "judged_query": _JUDGEMENTS,
    "judgement": _JUDGEMENTS,
}
"""What to report where a table does not have all of its rows."""

_IS_SUMMED = {"meta": "substr({}.key, 1, 4) <> 'sum_'"}
"""Which rows of a table count, where not all do: a sum of the sums would have no end."""

_TRIGGER = """
CREATE TEMP TRIGGER IF NOT EXISTS {key}_{event} AFTER {event} ON main.{table} WHEN {condition}
BEGIN UPDATE meta SET value = coalesce({value}, value) WHERE key = '{key}'; END
"""


def key_of(table: str) -> str:
    """Return the key in `meta` of the sum of a table."""
    return f"sum_{table}"


def follow(db: apsw.Connection) -> None:
    """Let this connection keep the sums with every row that it writes."""
    db.create_scalar_function("recall_sum", _move, -1)
    db.pragma("recursive_triggers", True)  # a row that is replaced is deleted, too
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
    """Take the sums that are missing. The caller has begun a write transaction."""
    known = {key for (key,) in execute("SELECT key FROM meta")}
    for table in COLUMNS:
        if key_of(table) not in known:
            execute("INSERT INTO meta(key, value) VALUES(?, ?)", (key_of(table), take_sum(execute, table)))


def take_sum(execute: Execute, table: str) -> str:
    """Return the sum of the rows that a table has."""
    condition = _IS_SUMMED.get(table, "1").format(table)
    rows = execute(f"SELECT {_bytes_of(COLUMNS[table])} FROM {table} WHERE {condition}")
    return _spell(len(rows), sum(map(_hash, rows)))


def wrong(execute: Execute, meta: Mapping[str, str]) -> list[str]:
    """Return the tables that have other rows than were stored."""
    return [table for table in COLUMNS if meta.get(key_of(table)) not in (None, take_sum(execute, table))]


def _bytes_of(columns: Iterable[str]) -> str:
    """Select columns as bytes, so that a text that is not UTF-8 raises no error."""
    return ", ".join(f"CAST({column} AS BLOB)" for column in columns)


def _move(*given: Any) -> Any:
    """Return a sum with one row more (1) or less (-1), or None if it is not a sum: doctor reports that."""
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
