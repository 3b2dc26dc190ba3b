"""What a server in Postgres refuses has a code and a hint, no password, and leaves no part of a batch."""

from __future__ import annotations

import os
import shutil
import socket
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from threading import Thread, Timer
from typing import Any, cast

import pytest

from recall_core import Recall
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.stores import store_kind, store_url
from recall_core.deadline import within
from recall_core.store.values import JudgementRow
from recall_core.testing.corpus import file_of, files, put
from recall_core.types import Root
from tests import postgres_server
from tests.conformance.test_postgres import code_of, create, open_again
from tests.crash.disk import small_disk
from tests.postgres_server import collection

pytestmark = pytest.mark.skipif(not postgres_server.is_available(), reason=postgres_server.MISSING)
is_given = pytest.mark.skipif("RECALL_TEST_PG_DSN" in os.environ, reason="needs a server on this machine")


@pytest.fixture
def url(server: str) -> Iterator[str]:
    """Name a collection of a few files that is deleted afterwards."""
    named = collection(server, "refused")
    own = create(named)
    put(own, *files())
    own.close()
    yield named
    store_kind("postgresql").discard(store_url(named).where)


@pytest.fixture
def store(url: str) -> Iterator[Any]:
    with opened(url) as own:
        yield own


@contextmanager
def opened(url: str, **settings: str) -> Iterator[Any]:
    """Open a collection, with settings of the server."""
    own = open_again(url + "".join(f"&options=-c{name}%3D{value}" for name, value in settings.items()))
    try:
        yield own
    finally:
        own.close()


@contextmanager
def meanwhile(work: Callable[[], object]) -> Iterator[None]:
    """Do something in another thread during the block."""
    thread = Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def wait_for(store: Any, sql: str) -> tuple[Any, ...]:
    """Return the first row of a statement as soon as it has one."""
    until = time.monotonic() + 20
    while not (rows := store.execute(sql)) and time.monotonic() < until:
        time.sleep(0.01)
    row: tuple[Any, ...] = rows[0]
    return row


def test_unfit_databases_are_named(url: str, store: Any) -> None:
    for name, made, code in [
        ("latin", "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0", "server_unfit"),
        ("old", "TEMPLATE template0", "pgvector_missing"),
    ]:
        store.execute(f"CREATE DATABASE {name} {made}")
        other = url.replace("/postgres", f"/{name}")
        if name == "old":
            own = Recall.open(other, create=True).store  # installs pgvector
            cast(Any, own).execute("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
            own.close()
        assert code_of(lambda other=other: open_again(other)) == code  # type: ignore[misc]
        store.execute(f"DROP DATABASE {name}")


def test_server_that_is_too_old_is_named() -> None:
    def greet() -> None:
        with listening.accept()[0] as client:
            client.recv(1024)
            server = [(b"R", bytes(4)), (b"S", b"server_version\x0013.4\0"), (b"S", b"server_encoding\0UTF8\0")]
            for kind, content in [*server, (b"Z", b"I")]:
                client.sendall(kind + struct.pack("!i", len(content) + 4) + content)
            client.recv(1024)

    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{folder}/.s.PGSQL.5432")
        listening.listen()
        with meanwhile(greet):
            assert code_of(lambda: open_again(f"postgresql://recall@/db?host={folder}")) == "server_unfit"


@is_given
def test_password_is_in_no_answer(
    url: str, store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    store.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
    for wrong in (url.replace("recall@", "locked:s3cret@"), url.replace("recall@", "locked@") + "&password=s3cret"):
        for line in (["stats"], ["search", "fish"], ["doctor"], ["add", "."], ["init"]):
            streams = Streams(StringIO(), out := StringIO(), StringIO())
            assert cli.main([*line, "--store", wrong, "--json"], streams=streams) in (1, 2)
            said = out.getvalue() + streams.stderr.getvalue()  # type: ignore[attr-defined]
            assert ("server_refused" in said or "password_in_settings" in said, "s3cret" in said) == (True, False)
    assert "s3cret" not in caplog.text
    store.execute("DROP ROLE locked")


def test_collection_of_a_newer_recall_is_refused(url: str, store: Any) -> None:
    store.execute("UPDATE store SET schema_version = 99")
    assert code_of(lambda: open_again(url)) == "schema_newer"


def test_limits_of_caller_and_server_are_timeouts(url: str) -> None:
    with opened(url, statement_timeout="300") as store:

        def wait() -> None:
            store.execute("SELECT pg_sleep(20)")

        with within(60):
            store.info()
        assert code_of(wait) == "timed_out"  # the server's limit is in force again
        with within(0.1):
            assert code_of(wait) == "timed_out"
        Timer(0.1, store.interrupt).start()
        assert code_of(wait) == "interrupted"
        assert store.info().documents == 6


def test_connection_lost_in_a_copy_leaves_no_part(url: str, store: Any) -> None:
    waits = "SELECT pid FROM pg_stat_activity WHERE query LIKE '%%COPY chunk%%' AND wait_event_type = 'Lock'"
    before = store.info()
    with opened(url) as other, opened(url) as locking:

        def end() -> None:
            other.execute("SELECT pg_terminate_backend(%s)", wait_for(other, waits))

        locking.execute("BEGIN")
        locking.execute("LOCK TABLE chunk IN SHARE MODE")
        with meanwhile(end):
            assert code_of(lambda: put(store, file_of("new.txt", ["new"]))) == "server_lost"
        locking.execute("ROLLBACK")
    assert store.info() == before
    put(store, file_of("new.txt", ["new"]))
    assert store.info().documents == before.documents + 1


def test_deadlock_refuses_the_batch(url: str, store: Any) -> None:
    with opened(url, deadlock_timeout="60s") as other, opened(url, deadlock_timeout="10ms") as writer:

        def lock_more() -> None:
            wait_for(store, "SELECT 1 FROM pg_locks WHERE NOT granted")
            other.execute("LOCK TABLE store")

        before = store.info()
        other.execute("BEGIN")
        other.execute("LOCK TABLE file")
        with meanwhile(lock_more):
            assert code_of(lambda: put(writer, file_of("new.txt", ["new"]))) == "store_locked"
        other.execute("ROLLBACK")
    assert store.info() == before


@is_given
def test_full_disk_leaves_the_collection_as_it_was(server: str, store: Any) -> None:
    large = file_of("large.txt", [" ".join(os.urandom(4).hex() for _ in range(8_000)) for _ in range(4)])
    folder = Path(tempfile.mkdtemp(prefix="recall-pg-", dir="/tmp"))
    folder.chmod(0o755)
    url = collection(f"{server}&options=-cdefault_tablespace%3Dsmall", "small")
    with small_disk(folder / "small", 1 << 20):
        shutil.chown(folder / "small", postgres_server.NOBODY, postgres_server.NOBODY)
        store.execute(f"CREATE TABLESPACE small LOCATION '{folder}/small'")
        own = create(url)
        put(own, *files())
        before = own.info()
        try:
            assert code_of(lambda: put(own, large)) == "disk_full"
            assert own.info() == before
        finally:
            own.close()
            store_kind("postgresql").discard(store_url(url).where)
            store.execute("DROP TABLESPACE small")
    shutil.rmtree(folder)


def test_tag_that_no_index_takes_is_named(store: Any) -> None:
    before = store.info()
    long = file_of("long.txt", ["long"], tags=(os.urandom(5_000).hex(),))
    assert code_of(lambda: put(store, long)) == "text_unstorable"
    assert store.info() == before


def test_names_are_never_executed(url: str, store: Any) -> None:
    odd = "x'; DROP TABLE chunk; --\" \\ %s {0} $1 \\N\t"
    root = Root(odd, globs=(odd,), tags=(odd,), source=odd)
    put(store, file_of(f"{odd}/a.txt", [odd], title=odd, tags=(odd,), source=odd, meta={odd: odd}, root=root))
    with store.writer() as writer:
        writer.put_root(root)
        writer.leave_out(root, [odd])
        writer.begin_purge([odd])
        writer.judgements.put_query(odd, odd)
        writer.judgements.put(JudgementRow(odd, odd, 0, 3, 2))
    quoted = "'" + odd.replace("'", "''") + "'"
    with Recall.open(url) as recall:
        assert recall.get(f"{odd}/a.txt")["found"]["text"] == odd
        for field in ("source", "tag", "title", f"meta.{quoted}"):
            found = recall.query(f"SELECT * FROM chunk FILTER doc.{field} = {quoted}")
            assert len(found["results"]) == 1, field
        recall.search(odd)
        recall.why_not(odd, odd)
        assert recall.list(odd)["documents"]
        assert recall.doctor()["checks"]
    assert store.info().documents == 7


def test_collation_of_the_database_does_not_matter(store: Any) -> None:
    sql = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'recall_refused' "
    sql += "AND (data_type = 'text' OR udt_name = '_text') AND collation_name IS DISTINCT FROM 'C'"
    assert store.execute(sql) == []
