"""What can still be read of a damaged database: every table row by row, past the pages that cannot be read.

No index is asked for a row: a damaged one would hide it. Where a table itself is gone, its indexes still tell some of
its columns. A text comes as its bytes, because damaged ones are no text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import apsw

from recall_core.store.sqlite.blocks import BITS, IN_BLOCK
from recall_core.store.sqlite.schema import SCHEMA_VERSION

_HIGHEST = 1 << 62  # of a rowid; no store comes near it

_NO_DAMAGE = (
    apsw.InterruptError,
    apsw.BusyError,
    apsw.LockedError,
    apsw.FullError,
    apsw.IOError,  # a disk that cannot read now hides what is there
    apsw.CantOpenError,
)

_TEXTS = frozenset(
    """key value spec path os_path hash settings id mtime title source meta digest tag heading text query
    place read_by marks""".split()
)
"""Columns that hold texts, but for those of `_NO_TEXTS`."""

_NO_TEXTS = {("chunk", "hash"), ("vec_place", "place")}

Row = tuple[Any, ...]


class Salvage:
    """Reads from a connection whose file may be damaged anywhere; nothing is written.

    damaged: names of the tables of which a page could not be read.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self.damaged: set[str] = set()
        self._is_older = self._read("PRAGMA user_version")[0] in [[(each,)] for each in range(1, SCHEMA_VERSION)]

    def rows(self, table: str, columns: Iterable[str], known: Collection[int] = ()) -> Iterator[Row]:
        """(rowid, *columns) of every row that can be read; of several with one rowid, some are another table's.

        known: rowids that other tables tell of.
        """
        select = self._select(table, columns)
        seen: set[int] = set()
        start: int | None = 1
        is_damaged = False
        while start is not None:
            last = start - 1
            try:
                for row in self._db.execute(f"{select} WHERE rowid >= ? ORDER BY rowid", (start,)):
                    last = row[0]
                    seen.add(last)
                    yield row
                break
            except apsw.Error as error:
                _expect_damage(error)
            is_damaged = True
            start = self._behind(select, max(last, start))
        missed = sorted({*known} - seen) if seen or not is_damaged else []
        for rowid in missed:
            found, is_read = self._read(f"{select} WHERE rowid = ?", (rowid,))
            is_damaged |= not is_read
            yield from found
        if is_damaged:
            self.damaged.add(table)

    def _behind(self, select: str, last: int) -> int | None:
        """The least rowid above the last that leads past what cannot be read, as far as pages lie in one piece."""
        step, bad, good = 1, last, 0
        while not good and last + step < _HIGHEST:
            if self._read(f"{select} WHERE rowid >= ? ORDER BY rowid LIMIT 1", (last + step,))[1]:
                good = last + step
            else:
                bad = last + step
                step *= 2
        while good - bad > 1:
            middle = (good + bad) // 2
            if self._read(f"{select} WHERE rowid >= ? ORDER BY rowid LIMIT 1", (middle,))[1]:
                good = middle
            else:
                bad = middle
        return good or None

    def keyed(self, table: str, columns: Iterable[str], key: str) -> list[Row]:
        """The columns of every row of a table without rowids that can be read, from either end."""
        select = self._select(table, columns).replace("SELECT rowid, ", "SELECT ", 1).replace(" NOT INDEXED", "")
        found: dict[Row, None] = {}
        for order in (key, ", ".join(f"{each} DESC" for each in key.split(", "))):
            rows, is_read = self._read(f"{select} ORDER BY {order}")
            found |= dict.fromkeys(rows)
            if is_read:
                return list(found)
            self.damaged.add(table)
        return list(found)

    def told(self, sql: str) -> list[Row]:
        """What an index tells of a table, as far as it can be read: a rowid, and values of the index alone.

        A rowid below 1 is none that was given.
        """
        return [row for row in self._read(sql)[0] if isinstance(row[0], int) and row[0] > 0]

    def has(self, table: str) -> bool:
        """Whether there is such a table, as far as can be told."""
        return bool(self._read(f"PRAGMA table_info({table})")[0])

    def _read(self, sql: str, parameters: tuple[Any, ...] = ()) -> tuple[list[Row], bool]:
        """The rows until the first that cannot be read, and whether there is none such."""
        found: list[Row] = []
        try:
            found.extend(self._db.execute(sql, parameters))
        except apsw.SQLError:  # an earlier version has not every table
            return found, self._is_older
        except apsw.Error as error:
            _expect_damage(error)
            return found, False
        return found, True

    def _select(self, table: str, columns: Iterable[str]) -> str:
        """Columns that an earlier version of the table does not have are null."""
        there: set[str] = set()
        try:
            there = {row[1] for row in self._db.execute(f"PRAGMA table_info({table})")}
        except apsw.Error as error:
            _expect_damage(error)
        named = ", ".join(_column(table, each, is_there=each in there) for each in columns)
        return f"SELECT rowid, {named} FROM {table} NOT INDEXED"


def vectors(old: Salvage, known: Collection[int] = ()) -> Iterator[Row]:
    """(chunk rowid, vector, windows, checksum) of every vector in use that can be read, as `Salvage.rows` does."""
    if not old.has("vec_block"):
        yield from old.rows("vec", ("embedding", "windows", "checksum"), known)
        return
    places: defaultdict[int, list[Row]] = defaultdict(list)
    for chunk, place, *rest in old.rows("vec_place", ("place", "windows", "checksum"), known):
        if isinstance(place, int):
            places[place >> BITS].append((chunk, place & (IN_BLOCK - 1), *rest))
    for block, content in old.rows("vec_block", ("embeddings",), places.keys()):
        size = len(content) >> BITS if isinstance(content, bytes) else 0
        for chunk, slot, *rest in places.pop(block, ()):
            yield (chunk, content[slot * size : (slot + 1) * size] if size else None, *rest)


def _column(table: str, name: str, *, is_there: bool) -> str:
    if not is_there:
        return "NULL"
    is_text = name in _TEXTS and (table, name) not in _NO_TEXTS
    return f'CAST("{name}" AS BLOB)' if is_text else f'"{name}"'


def _expect_damage(error: apsw.Error) -> None:
    if isinstance(error, _NO_DAMAGE):
        raise error


def text_of(value: object) -> str | None:
    """The text of these bytes; None where they are none."""
    if not isinstance(value, bytes):
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None
