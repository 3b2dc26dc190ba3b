"""Kills of clients and of the server's own processes leave whole batches only, and no answer in part."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from recall_core import Recall, RecallError
from recall_core.api.stores import store_kind, store_url
from recall_core.store.values import StoreCheck
from tests import postgres_server, warm
from tests.conformance.test_postgres import create, open_again
from tests.parity_stores import filled
from tests.postgres_server import Server, collection

if not postgres_server.has_binaries():
    pytest.skip(postgres_server.NO_BINARIES, allow_module_level=True)

KILLS = int(os.environ.get("RECALL_TEST_PG_KILLS", "1"))
"""Kills of each command; 50 at night."""
CODES: tuple[StoreCheck, ...] = (
    "counts", "fulltext", "fulltext_rows", "vector_values", "texts", "ids", "digest",
)  # fmt: skip
BUSY = """
SELECT pid FROM pg_stat_activity WHERE pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted)
"""
FILES = 30


@pytest.fixture(scope="module")
def own() -> Iterator[Server]:
    with postgres_server.own() as server:
        yield server


@pytest.fixture
def watcher(own: Server) -> Iterator[Any]:
    """Make a collection that shows who is writing, in any collection."""
    store = create(url := collection(own.url, "watch"))
    yield store
    store.close()
    store_kind("postgresql").discard(store_url(url).where)


class Killer:
    """Runs commands, and kills each one or its process in the server, at a random moment of its transaction."""

    def __init__(self, watcher: Any, folder: Path, longest: float) -> None:
        self.watcher = watcher
        self.folder = folder
        self.longest = longest
        self.random = Random(7)
        self.ended = dict.fromkeys(("clients", "connections", "backends", "too_late"), 0)

    def start(self, *line: str) -> warm.Process:
        env = {**os.environ, "HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder / "config")}
        return warm.Process(line, cwd=self.folder, env=env)

    def kill(self, *line: str) -> bool:
        """Return True if the command succeeded, because it ended too early to be killed."""
        process, writers = self.start(*line), []
        while process.poll() is None and not writers:
            writers = self.watcher.execute(BUSY)
        time.sleep(self.random.random() * self.longest)
        how = self.random.choice(["clients", "clients", "connections", "backends"])
        if process.poll() is not None:
            how = "too_late"
        elif how == "clients":
            process.kill()
        elif how == "connections":
            self.watcher.execute("SELECT pg_terminate_backend(%s)", writers[0])
        else:
            with suppress(ProcessLookupError):
                os.kill(writers[0][0], signal.SIGKILL)
        out, err = process.communicate()
        assert process.returncode in (0, 1, -signal.SIGKILL), (out, err)
        self.ended[how] += 1
        self.wait()
        return process.returncode == 0

    def wait(self) -> None:
        """Wait until the server has recovered and has no writer."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with suppress(RecallError):
                if not self.watcher.execute(BUSY):
                    return
            time.sleep(0.02)
        raise AssertionError("the server has not recovered")

    def run(self, *line: str) -> None:
        process = self.start(*line)
        assert process.communicate()[1] is not None
        assert process.returncode == 0, line


def expect_sound(store: Any) -> None:
    """Check everything that is stored, and that no document is there twice."""
    assert {code: store.check(code).severity for code in CODES} == dict.fromkeys(CODES, "ok")
    paths = [path for path, _ in store.document_files()]
    assert len(paths) == len(set(paths)) == store.info().documents


@pytest.mark.timeout(7_200)
@pytest.mark.parametrize(
    "command", [("add", "docs"), pytest.param(("sync",), marks=pytest.mark.slow)], ids=lambda command: command[0]
)
def test_killed_batches_are_stored_whole_or_not_at_all(
    command: tuple[str, ...], own: Server, watcher: Any, tmp_path: Path, counted: Callable[..., None]
) -> None:
    url = collection(own.url, command[0])
    docs = tmp_path / "docs"
    docs.mkdir()

    def write(turn: int) -> None:
        for number in range(FILES):
            (docs / f"{number}.txt").write_text(f"{turn} is the turn of text {number}.\n" * 20, encoding="utf-8")

    killer = Killer(watcher, tmp_path, 0.1)
    killer.run("init", "--store", url, "--embedding", "hash")
    write(-1)
    killer.run("add", "docs")
    stored = -1
    for turn in range(KILLS):
        write(turn)
        is_done = killer.kill(*command)
        store = open_again(url)
        expect_sound(store)
        texts = [store.text_of(store.document_at(path) or "") for path, _ in store.document_files()]
        (found,) = {int(text.split()[0]) for text in texts}
        assert (len(texts), found) in ((FILES, turn), (FILES, turn if is_done else stored))
        stored = found
        store.close()
    killer.run(*command)
    store = open_again(url)
    texts = [store.text_of(store.document_at(path) or "") for path, _ in store.document_files()]
    assert sorted(texts) == sorted(path.read_text(encoding="utf-8") for path in docs.iterdir())
    store.close()
    store_kind("postgresql").discard(store_url(url).where)
    counted("postgres kills", command[0], **killer.ended)


@pytest.mark.slow  # test_postgres.py kills one copy
@pytest.mark.timeout(7_200)
def test_killed_copy_is_whole_or_empty(
    own: Server, watcher: Any, tmp_path: Path, counted: Callable[..., None]
) -> None:
    url = collection(own.url, "copy")
    filled(tmp_path / "source", "hash", 60)
    with Recall.open(start=tmp_path / "source") as recall:
        whole = recall.store.info()
    killer = Killer(watcher, tmp_path, 0.2)
    for turn in range(KILLS):
        is_done = killer.kill("copy", "source", url)
        with suppress(RecallError):  # no_store
            store = open_again(url)
            expect_sound(store)
            assert store.info().documents in ((whole.documents,) if is_done else (0, whole.documents))
            is_done = store.info().documents > 0
            store.close()
        if turn == KILLS - 1 and not is_done:
            killer.run("copy", "source", url)
            store = open_again(url)
            expect_sound(store)
            assert store.info().digest == whole.digest
            store.close()
        store_kind("postgresql").discard(store_url(url).where)
    counted("postgres kills", "copy", **killer.ended)


@pytest.mark.timeout(7_200)
def test_killed_init_can_be_repeated(own: Server, watcher: Any, tmp_path: Path, counted: Callable[..., None]) -> None:
    url = collection(own.url, "init")
    killer = Killer(watcher, tmp_path, 0.1)
    line = ("init", "--store", url, "--embedding", "hash")
    for _ in range(KILLS):
        if not killer.kill(*line):
            with suppress(RecallError):  # no_store
                store = open_again(url)
                expect_sound(store)
                store.close()
            if not (tmp_path / "recall.toml").exists():
                killer.run(*line)
        store = open_again(url)
        expect_sound(store)
        store.close()
        (tmp_path / "recall.toml").unlink()
        store_kind("postgresql").discard(store_url(url).where)
    counted("postgres kills", "init", **killer.ended)
