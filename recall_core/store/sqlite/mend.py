"""Mending a damaged database file: into another one, or where it lies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from recall_core import files
from recall_core.config import BUSY_TIMEOUT_MS
from recall_core.errors import StoreCorrupt, StoreError, StoreLocked
from recall_core.parts import part_of
from recall_core.store.sqlite import records, sums
from recall_core.store.sqlite.connect import MEMORY, damage_error, discard, making_sense, reaching, translated
from recall_core.store.sqlite.copying import STEP_PAGES, copy_aside
from recall_core.store.sqlite.opened import OpenStore
from recall_core.store.sqlite.rebuild import rebuild
from recall_core.store.sqlite.salvage import text_of
from recall_core.store.sqlite.schema import MIGRATIONS, PAGE_SIZE, SCHEMA_VERSION, migrate
from recall_core.store.values import Lost, MadeWith, StoreCheck

if TYPE_CHECKING:
    from recall_core.store.sqlite.store import SqliteStore

_TABLES = frozenset(("doc", "chunk"))

_SOUND: tuple[StoreCheck, ...] = (
    *("integrity", "foreign_keys", "fulltext", "fulltext_rows", "orphan_vectors", "vector_values"),
    *("texts", "documents", "ids", "counts"),
)
"""What holds of a new store, whatever the old one has lost."""

_INDEXED = ("root", "file", "doc", "doc_tag", "chunk", "vec_place")

_HEAD = {0: b"SQLite format 3\0" + PAGE_SIZE.to_bytes(2, "big") + bytes((2, 2, 0, 64, 32, 32)), 56: b"\0\0\0\1"}
"""Offset to bytes: the name of the format, the size of a page, that there may be a log, and UTF-8."""

_TRIES = 5


def recover(
    where: str, target: str, *, made_with: Callable[[], MadeWith | None], create: Callable[..., SqliteStore]
) -> tuple[SqliteStore, tuple[Lost, ...]]:
    """A new store at target of what can be read of the file at where, and what cannot.

    The file is copied byte for byte and only the copy is opened.
    """
    base = Path(where).absolute().parent
    with (
        reaching(Path(target)),
        files.scratch(Path(target).absolute()) as folder,
    ):
        copy = str(folder / "old.db")
        copy_aside(where, copy)
        with translated(where), closing(_opened(copy, where)) as db:
            new, lost = rebuild(db, target, base=base, copy=copy, made_with=made_with, create=create)
    try:
        _expect_sound(new, where)
    except BaseException:
        new.close()
        raise
    return new, lost


def _opened(copy: str, where: str) -> apsw.Connection:
    """A connection to a file that may be damaged anywhere. Raises StoreCorrupt where it has no tables to be read."""
    with suppress(apsw.Error, UnicodeDecodeError):
        _redefine(copy)
    db = apsw.Connection(copy, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        db.pragma("writable_schema", True)  # a damaged definition does not hide the others
        named = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if not named & _TABLES:
            raise damage_error(where, "it has no table of documents")
    except (apsw.Error, UnicodeDecodeError) as error:
        db.close()
        if isinstance(error, apsw.IOError | apsw.FullError | apsw.CantOpenError):  # of the disk that holds the copy
            raise
        raise damage_error(where, f"its list of tables cannot be read ({error})") from error
    except BaseException:
        db.close()
        raise
    return db


def _redefine(copy: str) -> None:
    """Give the file the head, and tables and indexes the definitions, that every store is made with, where a letter
    is another by now."""
    with Path(copy).open("r+b") as file:
        for at, head in _HEAD.items():
            file.seek(at)
            file.write(head)
    with closing(apsw.Connection(copy, flags=apsw.SQLITE_OPEN_READWRITE)) as db:
        db.pragma("writable_schema", True)
        version = db.pragma("user_version")
        made = _definitions(version if 0 < version < SCHEMA_VERSION else SCHEMA_VERSION)
        found = db.execute("SELECT rowid, CAST(name AS BLOB), CAST(sql AS BLOB) FROM sqlite_schema").fetchall()
        missing = made.keys() - {text_of(name) for _, name, _ in found}
        for rowid, raw, sql in found:
            name = text_of(raw)
            if name not in made:  # its name may be what is damaged
                name = next((each for each in missing if sql and made[each][2] == text_of(sql)), None)
            if name is not None:
                columns = "name = ?, type = ?, tbl_name = ?, sql = ?"
                db.execute(f"UPDATE sqlite_schema SET {columns} WHERE rowid = ?", (name, *made[name], rowid))


def _definitions(version: int) -> dict[str, tuple[str, str, str | None]]:
    """Name to type, table and SQL of everything in a store of this version."""
    with closing(apsw.Connection(MEMORY)) as db:
        migrate(db, version=0, steps=MIGRATIONS[:version])
        rows = db.execute("SELECT name, type, tbl_name, sql FROM sqlite_schema")
        return {name: (kind, table, sql) for name, kind, table, sql in rows}


def rebuild_in_place(
    store: OpenStore,
    *,
    copy: str | None,
    made_with: Callable[[], MadeWith | None],
    create: Callable[..., SqliteStore],
) -> tuple[Lost, ...]:
    """Put a new store of what can be read of this one in its place; what could not be read.

    Nobody writes from the first thing that is read to the last that is written, and whoever reads sees the one or the
    other: the pages of the new one are written through SQLite into the file, as one transaction.
    """
    place = Path(os.path.realpath(store.path))
    part = str(part_of(place))
    for _ in range(_TRIES):
        try:
            with store.without_writers(), translated(store.path):
                new, lost = rebuild(store.db, part, base=place.parent, copy=copy, made_with=made_with, create=create)
            seen = store.changes()
            with closing(new):
                _expect_sound(new, store.path)
            if _is_written_over(store, part, seen):
                return lost
        finally:
            discard(part)
    raise StoreLocked(
        "store_locked", f"{store.path} is being written all the time.", hint="wait for it and try again"
    )


def _is_written_over(store: OpenStore, part: str, seen: int) -> bool:
    """Whether the content of a file has taken the place of the store's; False where somebody has written since."""
    with (
        translated(store.path),
        closing(apsw.Connection(part)) as source,
        closing(apsw.Connection(store.path, flags=apsw.SQLITE_OPEN_READWRITE)) as target,
    ):
        target.set_busy_timeout(BUSY_TIMEOUT_MS)
        with target.backup("main", source, "main") as work:
            work.step(0)  # from here on nobody else writes
            if store.changes() != seen:
                return False
            while not work.done:
                work.step(STEP_PAGES)
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return True


def _expect_sound(new: SqliteStore, path: str) -> None:
    """Raises StoreCorrupt where what was made is not fit to take the place of anything."""
    for code in _SOUND:
        finding = new.check(code)
        if finding.severity == "error":
            raise damage_error(path, f"what can be read of it makes no store: {finding.evidence} ({code})")


def is_reindexed(store: OpenStore) -> bool:
    """Make every index and the full text anew, where the tables hold all that there is; whether that mended it.

    Of a table that has lost rows, its indexes are what tells which.
    """
    try:
        with store.transaction():
            if has_lost_rows(store):
                raise damage_error(store.path, "a table has lost rows")
            store.execute("REINDEX")
            store.execute("INSERT INTO chunk_fts(chunk_fts) VALUES('rebuild')")
            is_whole = store.execute("PRAGMA integrity_check") == [("ok",)]
            if not is_whole or any(held != listed for held, listed in _rows(store)):
                raise damage_error(store.path, "more than its indexes")
    except StoreCorrupt:
        return False
    except StoreError as error:
        if error.code != "store_failed":  # two rows where an index takes one
            raise
        return False
    return True


def has_lost_rows(store: OpenStore) -> bool:
    """Whether a table cannot be read to its end, has fewer rows than one of its indexes, or others than were put."""
    try:
        is_less = any(listed is not None and listed > held for held, listed in _rows(store))
        return is_less or _has_other_rows(store)
    except StoreCorrupt:
        return True


def _has_other_rows(store: OpenStore) -> bool:
    """Whether a small table has other rows than were put. Raises StoreCorrupt."""
    with making_sense(store.path):
        meta = {records.text_of(key): records.text_of(value) for key, value in store.execute("SELECT * FROM meta")}
    return not meta or bool(sums.wrong(store.execute, meta))


def _rows(store: OpenStore) -> Iterator[tuple[int, int | None]]:
    """For each index, how many rows of its table it is to have, and how many it has; None where it is damaged."""
    for table in _INDEXED:
        for _, index, _, origin, _ in store.execute(f"PRAGMA index_list({table})"):
            if origin == "pk":
                continue
            definition = str(store.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (index,))[0][0])
            where = definition.partition(" WHERE ")[2] or "1"
            held = store.execute(f"SELECT count(*) FROM {table} NOT INDEXED WHERE {where}")[0][0]
            listed = None
            with suppress(StoreCorrupt):
                listed = store.execute(f"SELECT count(*) FROM {table} INDEXED BY {index} WHERE {where}")[0][0]
            yield held, listed
