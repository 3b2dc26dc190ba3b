"""Any value in a column of a damaged store is reported as damage, repaired or named, without a traceback."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import apsw
import pytest

from recall_core import Ask, Recall, RecallError
from tests.damage import copied, make_store

VALUES = ("'zzz'", "x'00ff80'", "1.5", "-1", "9000000000000000000", "NULL")

SEEN: tuple[tuple[str, str, str], ...] = (
    ("chunk", "offset", "'zzz'"),
    ("chunk", "tokens", "x'00ff80'"),
    ("doc", "mtime", "x'00ff80'"),
    ("doc_tag", "tag", "x'00ff80'"),
    ("file", "rowid", "-1"),
    ("judgement", "path", "x'00ff80'"),
    ("vec_block", "block", "-1"),
    ("vec_block", "block", "9000000000000000000"),
    ("vec_block", "embeddings", "'zzz'"),
    ("vec_place", "windows", "'zzz'"),
    ("vec_place", "windows", "-1"),
)
"""Table, column and value that once caused a traceback."""

USES: tuple[Callable[[Recall], object], ...] = (
    lambda recall: recall.search("quokka"),
    lambda recall: recall.search("quokka", Ask(mode="semantic")),
    lambda recall: recall.query("SELECT * FROM doc"),
    lambda recall: recall.context("quokka"),
    lambda recall: recall.get("docs/page-02.md"),
    lambda recall: recall.why_not("quokka", "notes/page-00.md"),
    lambda recall: recall.export(io.StringIO()),
    lambda recall: recall.stats(),
    lambda recall: [*recall.sync()],
    lambda recall: recall.compact(),
)


@pytest.fixture(scope="module")
def sound_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a store in one file."""
    base = make_store(tmp_path_factory.mktemp("sound"), documents=3, words=60)
    with closing(apsw.Connection(str(base / "recall.db"))) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return base


def columns(db: apsw.Connection) -> Iterator[tuple[str, str]]:
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'chunk\\_fts%' ESCAPE '\\'"
    for (table,) in db.execute(f"{tables} AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name").fetchall():
        for row in db.execute(f"PRAGMA table_info({table})").fetchall():
            yield table, row[1]


def has_put(path: Path, table: str, column: str, value: str) -> bool:
    """Put a value into the first row of a table; return False if the schema refuses it."""
    with closing(apsw.Connection(str(path))) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        db.execute("PRAGMA ignore_check_constraints = ON")
        first = db.execute(f"SELECT {column} FROM {table} LIMIT 1").fetchall()
        if not first:
            return False
        try:
            db.execute(f"UPDATE {table} SET {column} = {value} WHERE {column} IS ?", first[0])
        except apsw.Error:  # an existing key, a NULL not allowed there, a non-numeric rowid
            return False
        return bool(db.changes())


def use(base: Path, *, at_once: bool = False) -> None:
    """Query, write, check and repair. Each step succeeds or raises an error with a code.

    at_once: query and write through one connection instead of one each.
    """
    for together in (USES,) if at_once else [(each,) for each in USES]:
        with suppress(RecallError), Recall.open(str(base)) as recall:
            for each in together:
                with suppress(RecallError):
                    each(recall)
    codes: list[set[str]] = []
    for fix in (False, True, False):
        with Recall.open(str(base)) as recall:
            found = recall.doctor(fix=fix)
        codes.append({check["code"] for check in found["checks"] if check["severity"] == "error"})
    assert codes[2] <= codes[0]


def check(sound: Path, base: Path, table: str, column: str, value: str, *, at_once: bool) -> None:
    copied(sound, base)
    assert has_put(base / "recall.db", table, column, value), (table, column, value)
    try:
        use(base, at_once=at_once)
    except BaseException as error:
        error.add_note(f"{table}.{column} was {value}")
        raise


def test_value_of_a_wrong_type_is_damage(sound_store: Path, tmp_path: Path) -> None:
    for number, seen in enumerate(SEEN):
        check(sound_store, tmp_path / str(number), *seen, at_once=True)


@pytest.mark.slow
def test_value_of_a_wrong_type_is_damage_to_every_command(sound_store: Path, tmp_path: Path) -> None:
    for number, seen in enumerate(SEEN):
        check(sound_store, tmp_path / str(number), *seen, at_once=False)


@pytest.mark.slow
@pytest.mark.parametrize("value", VALUES)
def test_any_value_in_any_column_is_damage_or_harmless(sound_store: Path, tmp_path: Path, value: str) -> None:
    tried = 0
    with closing(apsw.Connection(str(sound_store / "recall.db"))) as db:
        every = [*columns(db)]
    for i, (table, column) in enumerate(every):
        base = copied(sound_store, tmp_path / str(i))
        if has_put(base / "recall.db", table, column, value):
            tried += 1
            try:
                use(base)
            except BaseException as error:
                error.add_note(f"{table}.{column} was {value}")
                raise
        shutil.rmtree(base)
    assert tried > 9, every
