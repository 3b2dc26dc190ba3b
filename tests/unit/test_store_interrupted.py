"""An interrupt at any statement raises a RecallError and leaves the store unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from recall_core.errors import Interrupted
from recall_core.store.sqlite.store import SqliteStore
from recall_core.words.question import literal
from tests.builders import EMBEDDER, memory_store, new_file, put


def ask(store: SqliteStore) -> None:
    with store.reading():
        found = store.cosines(EMBEDDER.embed(["alpha"])[0], where=None)
        store.occurrences(literal("alpha", analyzer=store.analyzer, match="any"), list(found))
        store.candidates(None)


def written(store: SqliteStore) -> None:
    put(store, new_file("b.txt", ["beta", "gamma"]))


def backed_up(store: SqliteStore) -> None:
    Path(f"{store.path}.bak-{store.info().generation}").unlink(missing_ok=True)
    store.back_up()


WORK: tuple[Callable[[SqliteStore], Any], ...] = (ask, written, SqliteStore.purge, backed_up, SqliteStore.info)


class Abort:
    """A tracer that counts statements and interrupts one of them by number."""

    def __init__(self, number: int | None) -> None:
        self.number = number
        self.seen = 0

    def __call__(self, _cursor: apsw.Cursor, _sql: str, _bindings: object) -> bool:
        self.seen += 1
        if self.seen - 1 == self.number:
            raise apsw.InterruptError("interrupted")
        return True


@contextmanager
def aborting(store: SqliteStore, number: int | None) -> Iterator[Abort]:
    abort = Abort(number)
    store.db.exec_trace = abort
    try:
        yield abort
    finally:
        store.db.exec_trace = None


@pytest.mark.parametrize("work", WORK, ids=lambda work: work.__name__)
def test_store_stays_sound_after_interrupting_any_statement(
    work: Callable[[SqliteStore], Any], tmp_path: Path
) -> None:
    store = memory_store(str(tmp_path / "recall.db"))
    put(store, new_file("a.txt", ["alpha", "alpha beta"]))
    for _ in range(3):
        ask(store)  # the memory is read from now on
    with aborting(store, None) as counted:
        work(store)

    for number in range(counted.seen):
        with aborting(store, number), suppress(Interrupted):
            work(store)
        assert not store.db.in_transaction, number
        assert store.execute("PRAGMA query_only") == [(1,)], number
        ask(store)

    work(store)
