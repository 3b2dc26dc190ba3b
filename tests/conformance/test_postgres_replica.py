"""Readers on a streaming replica: one state in each answer, and the primary's answers as soon as it has caught up."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from recall_core import Recall
from recall_core.store.port import Store
from recall_core.testing.corpus import file_of, files, put
from tests import postgres_server
from tests.conformance.test_postgres import code_of, create, open_again
from tests.postgres_server import Server, collection

if not postgres_server.has_binaries():
    pytest.skip(postgres_server.NO_BINARIES, allow_module_level=True)

import psycopg

from recall_core.store.postgres import store as postgres_store
from recall_core.store.postgres.opened import address_of, connect

SECONDS = int(os.environ.get("RECALL_TEST_PG_SECONDS", "600"))
"""Duration of the test at night."""


@pytest.fixture
def primary() -> Iterator[Server]:
    with postgres_server.own() as server:
        create(collection(server.url, "own")).close()
        yield server


@pytest.fixture
def replica(primary: Server) -> Iterator[Server]:
    with postgres_server.replica(primary) as server:
        yield server


def urls(primary: Server, replica: Server) -> tuple[str, str]:
    """Return the collection's URLs for writers and for readers, who prefer the replica."""
    both = f"postgresql://recall@/postgres?host={primary.home},{replica.home}&target_session_attrs="
    return collection(f"{both}read-write", "own"), collection(f"{both}prefer-standby", "own")


def disconnect(replica: psycopg.Connection) -> None:
    """Let a replica receive nothing more."""
    replica.execute("ALTER SYSTEM SET primary_conninfo = ''")
    replica.execute("SELECT pg_reload_conf()")
    while replica.execute("SELECT 1 FROM pg_stat_wal_receiver").fetchone():
        time.sleep(0.01)


def read_while_written(writer: Store, read: str, *, seconds: float) -> tuple[int, int]:
    """Replace all documents again and again, and ask two readers meanwhile. Return numbers of batches and answers.

    Every document has the number of its batch, so an answer of two generations has two numbers.
    """
    is_over = Event()
    answers: list[tuple[str, int]] = []
    names = [f"batch/{name}.txt" for name in "abcdef"]

    def ask(memory_mb: int) -> None:
        with Recall.open(read) as recall:
            recall.store.memory_mb = memory_mb
            while not is_over.is_set():
                for response in (
                    recall.search("batch", k=10),
                    recall.search("batch", mode="lexical", k=10),
                    recall.query("SELECT * FROM chunk FILTER doc.path GLOB 'batch/*'"),
                ):
                    batches = {row["chunk"]["text"].split()[1] for row in response["results"]}
                    assert len(response["results"]) == len(names) * len(batches) == response["stats"]["total_hits"]
                    answers.append((response["stats"]["digest"], int(batches.pop()) if batches else -1))

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(ask, memory_mb) for memory_mb in (100, 0)]
        end, batches = time.monotonic() + seconds, 0
        while time.monotonic() < end and not any(each.done() for each in readers):
            put(writer, *(file_of(name, [f"batch {batches} of {name}"]) for name in names))
            batches += 1
        is_over.set()
        for reader in readers:
            reader.result()
    states = set(answers)
    assert len({digest for digest, _ in states}) == len({batch for _, batch in states}) == len(states)
    with writer.writer() as gone:
        gone.tombstone(names)
    return batches, len(answers)


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 120)
def test_no_answer_has_two_generations(primary: Server, replica: Server, counted: Callable[..., None]) -> None:
    write, read = urls(primary, replica)
    writer = open_again(write)
    batches, answers = read_while_written(writer, read, seconds=SECONDS)
    writer.close()
    counted("postgres", "replica", seconds=SECONDS, batches=batches, answers=answers)


def test_replica_answers_like_its_primary_and_goes_on_after_it(
    primary: Server, replica: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_store, "BUSY_TIMEOUT_MS", 300)
    write, read = urls(primary, replica)
    writer = open_again(write)
    read_while_written(writer, read, seconds=1)
    put(writer, *files())
    with Recall.open(read) as reader:
        answers = Answers(reader)
        answers.expect_digest_of(writer)
        assert code_of(lambda: put(reader.store, file_of("b.txt", ["blue"]))) == "read_only"

        superuser = connect(address_of(f"//recall@/postgres?host={replica.home}"))
        disconnect(superuser)
        put(writer, file_of("lost.txt", ["heron"]))
        with Recall.open(write) as first:
            assert Answers(first).paths("heron") == ["lost.txt"]
            lost = first.store.info()
        for ask in (reader.search, reader.context, reader.trace):
            assert code_of(lambda ask=ask: ask("heron", snapshot=lost.digest)) == "replica_behind"  # type: ignore[misc]

        primary.stop()  # and its last commit is lost
        with reader.store.reading():
            before = reader.store.info()
            superuser.execute("SELECT pg_promote()")
            assert reader.store.info() == before
        assert answers.paths("heron") == []
        put(reader.store, file_of("found.txt", ["heron"]))
        assert reader.store.info().generation == lost.generation
        assert answers.paths("heron") == ["found.txt"]
        assert writer.info().digest == reader.store.info().digest  # its lost connection was opened again
        put(writer, file_of("again.txt", ["heron"]))
        answers.expect_digest_of(writer)
    writer.close()
    superuser.close()


class Answers:
    """Questions to one store."""

    def __init__(self, recall: Recall) -> None:
        self.recall = recall

    def paths(self, words: str) -> list[str]:
        return [each["doc"]["path"] for each in self.recall.search(words, mode="lexical")["results"]]

    def expect_digest_of(self, store: Store) -> None:
        digest = store.info().digest
        assert self.recall.search("fish", snapshot=digest)["stats"]["digest"] == digest
