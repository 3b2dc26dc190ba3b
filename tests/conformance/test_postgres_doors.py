"""Servers and other doors answer for a collection in Postgres as for a file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from recall_core.api.stores import store_kind, store_url
from recall_core.testing.corpus import files, put
from tests import postgres_server
from tests.conformance.test_postgres import create, open_again
from tests.postgres_server import collection
from tests.unit.test_rest import Server

pytestmark = pytest.mark.skipif(not postgres_server.is_available(), reason=postgres_server.MISSING)

WORDS = {"words": "fish"}


@pytest.fixture
def store(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Make a collection of a few files, outside of every folder with settings."""
    monkeypatch.chdir(tmp_path)
    url = collection(server, "doors")
    own = create(url)
    put(own, *files())
    yield own
    own.close()
    store_kind("postgresql").discard(store_url(url).where)


@pytest.fixture
def served(store: Any) -> Iterator[Server]:
    """Serve the collection over HTTP."""
    served = Server(store.path)
    yield served
    served.pool.close()


def answers(served: Server, **asked: object) -> list[dict[str, Any]]:
    """Return the rows of an answer."""
    response = served.ask("POST", "/v1/search", {**WORDS, **asked})
    assert response.status_code == 200, response.text
    rows: list[dict[str, Any]] = response.json()["results"]
    return rows


def waiting(store: Any) -> list[int]:
    """Return the server's processes that wait for a lock."""
    return [pid for (pid,) in store.execute("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'")]


def wait_until(store: Any, *, is_waiting: bool) -> None:
    """Wait until a statement waits for a lock, or none does."""
    until = time.monotonic() + 20
    while bool(waiting(store)) is not is_waiting:
        assert time.monotonic() < until, f"processes that wait for a lock: {waiting(store)}"
        time.sleep(0.01)


def test_server_survives_lost_connections(store: Any, served: Server) -> None:
    before = answers(served)
    sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    sql += "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    assert store.execute(sql)
    assert answers(served) == before


def test_client_that_leaves_ends_its_statement(store: Any, served: Server) -> None:
    answers(served)

    async def leave() -> None:
        asked = asyncio.create_task(served.send("POST", "/v1/search", b'{"words": "unasked"}'))
        await asyncio.to_thread(wait_until, other, is_waiting=True)
        asked.cancel()
        await asyncio.to_thread(wait_until, other, is_waiting=False)

    other: Any = open_again(store.path)
    store.execute("BEGIN")
    store.execute("LOCK TABLE chunk IN ACCESS EXCLUSIVE MODE")
    asyncio.run(leave())
    store.execute("ROLLBACK")
    other.close()
    assert answers(served)
