"""Compact: a smaller store with identical answers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest

from recall_core.adapters.care import compacted_lines
from recall_core.embed.hash import HashEmbedder
from recall_core.errors import StoreError
from recall_core.maintain.remove import compact
from recall_core.store.sqlite import copying
from recall_core.store.sqlite.store import SqliteStore, create_store, open_store
from recall_core.types import LiteralQuery, NewChunk, NewDocument, NewFile, Phrase, Row, Span

EMBEDDER = HashEmbedder(64)
QUERY = LiteralQuery("alpha", (Phrase("alpha", ("alpha",), ("alpha",)),))
SECRET = "zanzibarium"


def file(path: str, text: str) -> NewFile:
    span = Span(0, len(text), len(text.split()))
    digest = sha256(text.encode())
    chunks = (NewChunk(span, 1, 1, text, digest.digest(), EMBEDDER.embed([text])[0]),)
    content = NewDocument(path, digest.hexdigest(), path, len(text), ("t",), None, {"k": 1}, chunks)
    return NewFile(path, path, len(text), 1, digest.hexdigest(), "s", None, (content,))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = create_store(
        str(tmp_path / "recall.db"),
        embedder=EMBEDDER.identity,
        dimension=64,
        counter="whitespace",
        chunker="c",
    )
    with store.writer() as writer:
        for number in range(200):
            words = " ".join(f"word{number % 17} alpha{number % 5} beta" for _ in range(30))
            writer.put(file(f"{number:03}.md", f"{words} {SECRET if number == 7 else 'alpha'}"))
    with store.writer() as writer:
        writer.tombstone([f"{number:03}.md" for number in range(120)])
    yield store
    store.close()


class Answers(NamedTuple):
    """The visible content of a store."""

    info: object
    lexical: dict[int, float]
    cosines: dict[int, float]
    rows: list[Row]
    frequencies: object


def answers(store: SqliteStore) -> Answers:
    rowids = [key.rowid for key in store.candidates(None)]
    return Answers(
        store.info()._replace(tombstones=0),
        store.lexical(QUERY, where=None, k=10, title_weight=3.0),
        store.cosines(EMBEDDER.embed(["alpha4 word3"])[0], where=None),
        store.fetch(rowids),
        store.term_stats(QUERY),
    )


def test_answers_before_and_after_are_identical(store: SqliteStore) -> None:
    before = answers(store)

    compact(store)

    assert answers(store) == before
    assert len(before.lexical) == 10


def test_file_shrinks_and_freed_bytes_are_reported(store: SqliteStore) -> None:
    view = compact(store)

    assert view["tombstones"] == 120
    assert view["bytes_after"] < view["bytes_before"]
    assert view["bytes_after"] == Path(store.path).stat().st_size
    assert store.info().tombstones == 0


def test_growing_file_is_explained(tmp_path: Path) -> None:
    path = str(tmp_path / "recall.db")
    store = create_store(path, embedder=EMBEDDER.identity, dimension=64, counter="whitespace", chunker="c")
    with store.writer() as writer:
        writer.put(file("a.md", "alpha"))
    store.close()
    store = open_store(path)
    first, second = compact(store), compact(store)
    store.close()

    assert first["bytes_after"] > first["bytes_before"]
    assert first["reason"] == "it now contains statistics of its indexes, which searches use"
    assert "reason" not in second
    grown = first["bytes_after"] - first["bytes_before"]
    assert list(compacted_lines({"ok": True, "compacted": first})) == [
        f"dropped 0 tombstones, {first['bytes_before']} -> {first['bytes_after']} bytes",
        f"the store is {grown} bytes larger: {first['reason']}",
    ]


def test_no_file_contains_removed_text(store: SqliteStore) -> None:
    compact(store)

    for each in Path(store.path).parent.iterdir():
        assert SECRET.encode() not in each.read_bytes()


def test_second_run_drops_nothing(store: SqliteStore) -> None:
    first = compact(store)

    second = compact(store)

    assert (second["tombstones"], second["bytes_after"]) == (0, first["bytes_after"])


def test_full_disk_is_noticed_before_any_change(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")._replace(free=100)
    monkeypatch.setattr(copying.shutil, "disk_usage", lambda _: usage)

    with pytest.raises(StoreError, match="100") as refused:
        compact(store)

    assert refused.value.code == "disk_full"
    assert store.info().tombstones == 120


def test_in_memory_store_can_be_compacted() -> None:
    store = create_store(":memory:", embedder=EMBEDDER.identity, dimension=64, counter="whitespace", chunker="c")

    assert compact(store)["tombstones"] == 0
