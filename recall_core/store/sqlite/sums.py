"""What is kept of each small table in `meta`: how many rows it has, and the sum of their hashes.

No row of these tables has a hash of its own, and one page may hold all of them: a page that was lost, or changed
places with another's, would leave a table that looks whole. Triggers of the connection that writes keep the sums, in
the transaction of the rows. A store in which one is missing learns it with the next writer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from recall_core.store.sqlite.records import Execute
from recall_core.store.values import Lost
from recall_core.text import sha256

if TYPE_CHECKING:
    import apsw

COLUMNS = {
    "meta": ("key", "value"),
    "root": ("rowid", "spec", "active"),
    "left_out": ("root", "path"),
    "judged_query": ("id", "text"),
    "judgement": ("query", "path", "offset", "end_offset", "grade"),
}
"""Of each table, what a row of it is."""

LOST = {
    "root": Lost("root", "", "not every folder that was added can be told, or whether it is synced"),
    "left_out": Lost("root", "", "not every file that was left out can be told"),
    "judged_query": Lost("judgement", "", "not every judgement can be told"),
    "judgement": Lost("judgement", "", "not every judgement can be told"),
}
"""What is to be said where a table has not all of its rows any more."""

_KEY = "sum_"
_BITS = 64
_IS_SUMMED = {"meta": f"substr({{}}.key, 1, {len(_KEY)}) <> '{_KEY}'"}
"""Which rows of a table count, where not all do: a sum of the sums would have no end."""

_SUM = "CAST(value AS BLOB)"

_TRIGGER = """
CREATE TEMP TRIGGER IF NOT EXISTS {key}_{event} AFTER {event} ON main.{table} WHEN {condition}
BEGIN UPDATE meta SET value = coalesce({value}, value) WHERE key = '{key}'; END
"""


def key_of(table: str) -> str:
    """The row of `meta` that has the sum of a table."""
    return f"{_KEY}{table}"


def follow(db: apsw.Connection) -> None:
    """Let this connection keep the sums with every row that it writes."""
    db.create_scalar_function("recall_sum", _moved, -1)
    db.pragma("recursive_triggers", True)  # a row that is replaced goes, too
    for table, columns in COLUMNS.items():
        old, new = (_bytes_of(f"{side}.{column}" for column in columns) for side in ("old", "new"))
        values = {
            "INSERT": f"recall_sum({_SUM}, 1, {new})",
            "DELETE": f"recall_sum({_SUM}, -1, {old})",
            "UPDATE": f"recall_sum(recall_sum({_SUM}, -1, {old}), 1, {new})",
        }
        for event, value in values.items():
            condition = _IS_SUMMED.get(table, "1").format("old" if event == "DELETE" else "new")
            db.execute(_TRIGGER.format(key=key_of(table), event=event, table=table, condition=condition, value=value))


def learn(execute: Execute) -> None:
    """Inside a write transaction: take the sums that are not there."""
    known = {key for (key,) in execute("SELECT key FROM meta")}
    for table in COLUMNS:
        if key_of(table) not in known:
            execute("INSERT INTO meta(key, value) VALUES(?, ?)", (key_of(table), taken(execute, table)))


def taken(execute: Execute, table: str) -> str:
    """The sum of a table, as its rows have it."""
    condition = _IS_SUMMED.get(table, "1").format(table)
    rows = execute(f"SELECT {_bytes_of(COLUMNS[table])} FROM {table} WHERE {condition}")
    return _spelled(len(rows), sum(map(_hash, rows)))


def wrong(execute: Execute, meta: Mapping[str, str]) -> list[str]:
    """The tables of which other rows were put than are there."""
    return [table for table in COLUMNS if meta.get(key_of(table)) not in (None, taken(execute, table))]


def _bytes_of(columns: Iterable[str]) -> str:
    """The columns as they are read: a text that is damaged is bytes, and no error."""
    return ", ".join(f"CAST({column} AS BLOB)" for column in columns)


def _moved(*given: Any) -> Any:
    """A sum with a row more (1) or less (-1); None where it is none any more, which stays for doctor to name."""
    kept, sign, *row = given
    try:
        rows, total = (kept.decode() if isinstance(kept, bytes) else str(kept)).split(" ")
        return _spelled(int(rows) + sign, int(total, 16) + sign * _hash(row))
    except ValueError:
        return None


def _spelled(rows: int, total: int) -> str:
    return f"{rows} {total % (1 << _BITS):x}"


def _hash(row: Iterable[Any]) -> int:
    spelled = json.dumps([*row], default=bytes.hex)
    return int.from_bytes(sha256(spelled.encode()).digest()[: _BITS // 8], "big")
