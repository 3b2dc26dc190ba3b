"""Migrations: an older file is copied, upgraded when opened, and works like a new one."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from recall_core.store.sqlite.connect import _prepare
from recall_core.store.sqlite.schema import MIGRATIONS, SCHEMA_VERSION, migrate
from recall_core.store.sqlite.store import SqliteStore, create_store, open_store
from recall_core.store.values import ReembedTarget
from tests.builders import EMBEDDER, new_file, put

TEXT = "alpha beta"
_COPIED = ("meta", "root", "file", "doc", "doc_tag", "chunk")


@pytest.fixture
def old(tmp_path: Path) -> str:
    """Return a store of schema version 1 with two documents, as the first Recall wrote it."""
    new = create_store(
        str(tmp_path / "new.db"), embedder=EMBEDDER.identity, dimension=64, counter="whitespace", chunker="c"
    )
    put(new, new_file("a.md", [TEXT]), new_file("b.md", ["gamma delta"]))
    new.close()
    path = str(tmp_path / "recall.db")
    db = apsw.Connection(path)
    _prepare(db)
    migrate(db, version=0, steps=MIGRATIONS[:1])
    db.execute("ATTACH ? AS new", (str(tmp_path / "new.db"),))
    for table in _COPIED:
        names = ", ".join(row[1] for row in db.execute(f"PRAGMA main.table_info({table})"))
        db.execute(f"INSERT INTO main.{table}({names}) SELECT {names} FROM new.{table}")
    db.execute("INSERT INTO vec SELECT chunk, embedding FROM new.vec")
    db.execute("INSERT INTO chunk_fts(chunk_fts) VALUES('rebuild')")
    assert db.pragma("user_version") == 1
    db.close()
    return path


def vectors(store: SqliteStore, table: str) -> list[tuple[bytes, int]]:
    rows = store.execute(f"SELECT embedding, windows FROM {table}")
    return [(bytes(vector), windows) for vector, windows in rows]


def test_version_1_file_is_copied_and_upgraded(old: str) -> None:
    store = open_store(old)

    assert store.db.pragma("user_version") == SCHEMA_VERSION
    assert Path(f"{old}.bak-schema-1").exists()
    assert (store.info().documents, store.info().chunks, store.info().vectors) == (2, 2, 2)
    assert [windows for _, windows in vectors(store, "vec")] == [1, 1]
    assert store.info().windowed == store.judgement_count() == 0
    store.close()


def test_migrated_vectors_survive_removal_and_return_of_their_document(old: str) -> None:
    store = open_store(old)
    vector = EMBEDDER.embed([TEXT])[0]

    with store.writer() as writer:
        writer.tombstone(["a.md"])
    assert vectors(store, "vec_cache") == [(vector, 1)]

    file = new_file("a.md", [TEXT])
    document = file.documents[0]
    unembedded = document._replace(chunks=tuple(chunk._replace(vector=None) for chunk in document.chunks))
    put(store, file._replace(documents=(unembedded,)))
    assert (vector, 1) in vectors(store, "vec")
    assert vectors(store, "vec_cache") == []
    store.close()


def test_migrated_file_can_be_reembedded(old: str) -> None:
    store = open_store(old)
    target = ReembedTarget("other-1:64", 64, "recall reembed other")
    vector = EMBEDDER.embed(["anything"])[0]
    store.begin_reembed(target)

    waiting = store.texts_to_reembed(after=b"", limit=9)
    assert not store.finish_reembed(target)
    assert store.save_reembedded(target, dict.fromkeys(waiting, (vector, 3)))

    assert store.finish_reembed(target)
    assert vectors(store, "vec") == [(vector, 3)] * 2
    assert (store.embedder(), store.info().windowed) == ("other-1:64", 2)
    store.close()
