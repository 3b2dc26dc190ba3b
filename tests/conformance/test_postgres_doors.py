"""Servers and other doors answer for a collection in Postgres as for a file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from recall_core.api.serving import StoreSettings
from recall_core.api.stores import store_kind, store_url
from recall_core.testing.corpus import EMBEDDER, files, put
from tests import postgres_server
from tests.conformance.test_postgres import create, open_again
from tests.postgres_server import collection
from tests.recalld import without_times
from tests.unit.test_rest import Server

pytestmark = pytest.mark.skipif(not postgres_server.is_available(), reason=postgres_server.MISSING)

WORDS = {"words": "fish"}


@pytest.fixture
def store(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Make a collection of a few files, with settings that a file next to them has too."""
    monkeypatch.chdir(tmp_path)
    Path("recall.toml").write_text(f'embedding = "hash"\nembedding_dim = {EMBEDDER.dimension}\n', encoding="utf-8")
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


def test_answers_over_http_equal_those_of_a_file(store: Any, served: Server, tmp_path: Path) -> None:
    info, path = store.info(), tmp_path / "file.db"
    recorded = {"embedder": info.embedder, "counter": info.counter, "chunker": info.chunker}
    own = store_kind("sqlite").create(str(path), dimension=info.dimension, **recorded)
    put(own, *files())
    own.close()
    file = Server(path)
    questions: list[tuple[str, dict[str, object]]] = [
        ("search", {**WORDS, "snapshot": info.digest[:12]}),
        ("search", {**WORDS, "snapshot": "abcdef"}),
        ("search", {**WORDS, "mode": "semantic", "filter": "doc.path GLOB '*.md'"}),
        ("query", {"rql": "SELECT doc.path FROM doc LIMIT 3"}),
        ("context", {**WORDS, "budget_tokens": 40}),
        ("whynot", {**WORDS, "k": 1, "target": "b/c.md"}),
        ("get", {"target": "b/c.md:1"}),
        ("get", {"target": "absent"}),
    ]
    statuses = []
    for name, body in questions:
        ours, theirs = (each.ask("POST", f"/v1/{name}", body) for each in (served, file))
        statuses.append(ours.status_code)
        assert without_times(ours.content) == without_times(theirs.content), (name, body)
    assert statuses == [200, 409, 200, 200, 200, 200, 200, 404]
    file.pool.close()


def test_refused_server_shows_no_password(store: Any, tmp_path: Path) -> None:
    served = Server(tmp_path)
    locked = store.path.replace("recall@", "locked:s3cret@").replace("/postgres?", "/absent?")
    served.pool.settings = StoreSettings(locked)
    response = served.ask("POST", "/v1/search", WORDS)
    assert (response.status_code, response.json()["error"]["code"]) == (503, "server_refused")
    assert "s3cret" not in response.text
    served.pool.close()


def test_unstorable_text_is_not_a_failure_of_the_server(served: Server) -> None:
    assert served.code("PUT", "/v1/documents/nul", {"content": "a\0b"}) == (422, "text_unstorable")


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
