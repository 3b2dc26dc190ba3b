"""What a store remembers between questions is what it holds."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from recall_core.store.sqlite import store as module
from recall_core.store.sqlite.opened import Memo
from recall_core.store.sqlite.store import SqliteStore, open_store
from tests.builders import EMBEDDER, memory_store, new_file, put

ASKED = EMBEDDER.embed(["alpha beta"])[0]


def everything(store: SqliteStore) -> tuple[object, ...]:
    """Every way of asking that may be remembered."""
    found = store.cosines(ASKED, where=None)
    return (
        found,
        store.candidates(None),
        store.candidates(None, rowids=[*found, 999]),
        store.candidates(None, rowids=[]),
    )


def test_the_first_question_keeps_nothing_and_the_second_does() -> None:
    store = memory_store()
    memo = Memo(store, lambda: "read")
    assert [memo.get(), memo.get()] == [None, "read"]


def test_every_further_question_is_answered_like_the_first() -> None:
    store = memory_store()
    put(store, new_file("b.txt", ["alpha", "beta gamma"]), new_file("a.txt", ["delta"]))
    answers = [everything(store) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert [key.path for key in store.candidates(None)] == ["a.txt", "b.txt", "b.txt"]


def test_what_this_connection_writes_is_seen_at_once() -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["alpha"]))
    for _ in range(3):
        everything(store)
    put(store, new_file("b.txt", ["beta"]))
    assert len(store.candidates(None)) == len(store.cosines(ASKED, where=None)) == 2


def test_what_another_connection_writes_is_seen_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "recall.db")
    writing = memory_store(path)
    put(writing, new_file("a.txt", ["alpha"]))
    reading = open_store(path)
    for _ in range(3):
        everything(reading)
    with writing.writer() as writer:
        writer.tombstone(["a.txt"])
    assert everything(reading) == ({}, (), (), ())
    writing.close()
    reading.close()


def test_what_is_rolled_back_is_never_remembered() -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["alpha"]))
    with suppress(ZeroDivisionError), store.writer() as writer:
        writer.put(new_file("b.txt", ["beta"]))
        for _ in range(3):
            assert len(store.candidates(None)) == 2
        raise ZeroDivisionError
    assert [len(store.candidates(None)) for _ in range(3)] == [1, 1, 1]


def test_a_store_too_large_to_hold_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["alpha", "beta"]), new_file("b.txt", ["gamma"]))
    small = [everything(store) for _ in range(3)]
    monkeypatch.setattr(module, "EXACT_VECTORS", 2)
    large = memory_store()
    put(large, new_file("a.txt", ["alpha", "beta"]), new_file("b.txt", ["gamma"]))
    assert [everything(large) for _ in range(3)] == small
    assert (large._keys.is_empty, large._vectors.is_empty) == (True, True)
    assert (store._keys.is_empty, store._vectors.is_empty) == (False, False)
