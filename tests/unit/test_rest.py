"""The operations below /v1, asked in process: answers, bad input, documents without files, and the page."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import jsonschema
import pytest

pytest.importorskip("mcp")

from recall_core import errors
from recall_core.adapters.mcp.http import door
from recall_core.adapters.rest import operations, service
from recall_core.api.recall import Recall
from recall_core.api.serving import ConnectionPool, StoreSettings
from tests.mcp_client import filled

KEY = "k" * 20
TEXTS = {f"notes/n{number}.md": f"# Note {number}\n\nEntry {number} of the diary.\n" for number in range(5)}
WORDS = {"words": "diary"}


class Server:
    """The application on a store, as a client with the token meets it."""

    def __init__(self, folder: Path, *, token: str | None = KEY, is_writable: bool = True) -> None:
        self.pool = ConnectionPool(StoreSettings(str(folder)), connections=1)
        at = door(0, has_token=token is not None, name="serve", path="/", key=token)
        at.listening.close()
        at = at._replace(listening=Bound())

        async def agents(scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"agents"})

        self.app = service.Service(self.pool, agents, at, seconds=60, is_writable=is_writable)

    def ask(self, method: str, path: str, body: object = None, **headers: str | None) -> httpx.Response:
        """Return the response. body: JSON, or bytes as they are. headers: None leaves a header out."""

        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        return asyncio.run(self.send(method, path, content, **headers))

    async def send(
        self, method: str, path: str, content: bytes | AsyncIterator[bytes] | None, **headers: str | None
    ) -> httpx.Response:
        """Return the response to these bytes."""
        known = {"host": "127.0.0.1:1", "authorization": f"Bearer {KEY}", "content-type": "application/json"}
        given = known | {name.replace("_", "-"): value for name, value in headers.items()}
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:1") as client:
            named = {name: value for name, value in given.items() if value}
            return await client.request(method, path, content=content, headers=named)

    def code(self, method: str, path: str, body: object = None, **headers: str | None) -> tuple[int, str]:
        """Return the status and the code of an error."""
        response = self.ask(method, path, body, **headers)
        assert "Traceback" not in response.text
        return response.status_code, response.json()["error"]["code"]


class Bound:
    """A socket that listens on port 1."""

    def getsockname(self) -> tuple[str, int]:
        return "127.0.0.1", 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("rest") / "store", TEXTS)


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    yield server
    server.pool.close()


ASKED: dict[str, tuple[str, object]] = {
    "/v1/search": ("POST", WORDS),
    "/v1/query": ("POST", {"rql": "SELECT doc.path FROM doc LIMIT 2"}),
    "/v1/context": ("POST", {**WORDS, "budget_tokens": 50, "settings": ["fusion=rrf"]}),
    "/v1/explain": ("POST", {**WORDS, "chunk": "notes/n1.md:1", "versus": "notes/n2.md:1"}),
    "/v1/whynot": ("POST", {**WORDS, "k": 1, "target": "notes/n3.md"}),
    "/v1/get": ("POST", {"target": "notes/n3.md:3"}),
    "/v1/documents": ("GET", None),
    "/v1/stats": ("GET", None),
    "/v1/doctor": ("GET", None),
    "/v1/healthz": ("GET", None),
}


def test_every_operation_answers_as_described(server: Server) -> None:
    described = server.ask("GET", "/v1/openapi.json").json()

    for path, (method, body) in ASKED.items():
        response = server.ask(method, path, body)
        assert response.status_code == 200, response.text
        content = described["paths"][path][method.lower()]["responses"]["200"]["content"]["application/json"]
        jsonschema.validate(response.json(), {**content["schema"], "components": described["components"]})

    assert {path for path in described["paths"] if "{" not in path} == {
        *ASKED,
        *(path for path, *_ in operations.TEXTS),
    }


def test_description_is_openapi_with_every_reference(server: Server) -> None:
    text = server.ask("GET", "/v1/openapi.json").text
    described = json.loads(text)

    assert described["openapi"] == "3.1.0"
    for kind, name in set(re.findall(r'"#/components/(\w+)/(\w+)"', text)):
        assert name in described["components"][kind]


@pytest.mark.parametrize("authorization", [None, "Bearer wrong", KEY, f"Basic {KEY}", f"Bearer {KEY} x"])
def test_request_without_the_token_is_refused(server: Server, authorization: str | None) -> None:
    for path in ("/v1/stats", "/v1/documents/a", "/v1/openapi.json", "/v1/healthz", "/v1/nothing", "/mcp", "/x"):
        response = server.ask("GET", path, authorization=authorization)

        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"
        assert KEY not in response.text


def test_token_in_a_url_is_refused(server: Server) -> None:
    for path in (f"/v1/stats?token={KEY}", f"/{KEY}", f"/v1/documents/{KEY}.md", f"/mcp?%6b{KEY[1:]}"):
        assert server.code("GET", path) == (400, "token_in_url")
    assert server.code("GET", f"/v1/stats?token={KEY}", authorization=None) == (401, "unauthorized")
    assert server.code("GET", f"/?token={KEY}") == (422, "bad_arguments")


def test_foreign_host_and_origin_are_refused(server: Server) -> None:
    for host in ("evil.example", "127.0.0.1", "127.0.0.1:2", "localhost.evil.example:1", "[::1"):
        for path in ("/", "/v1/stats", "/mcp"):
            assert server.code("GET", path, host=host) == (421, "foreign_host")
    for origin in ("http://evil.example", "null", "https://127.0.0.1:1"):
        assert server.code("GET", "/v1/stats", origin=origin) == (403, "foreign_origin")
    assert server.ask("GET", "/v1/stats", host="localhost:1", origin="http://localhost:1").status_code == 200


BAD_BODIES: list[tuple[str, object, tuple[int, str]]] = [
    ("/v1/search", {"words": "x", "filtre": ""}, (422, "bad_arguments")),
    ("/v1/search", {"words": 7}, (422, "bad_arguments")),
    ("/v1/search", {"words": "x", "k": -1}, (422, "bad_arguments")),
    ("/v1/search", {"words": "x", "k": 10**30}, (422, "bad_arguments")),
    ("/v1/search", {"words": "x", "k": True}, (422, "bad_arguments")),
    ("/v1/search", {"words": "x", "fresh": True}, (422, "bad_arguments")),
    ("/v1/search", {"words": "x", "settings": {"fusoin": "rrf"}}, (422, "unknown_key")),
    ("/v1/search", {"words": "x", "settings": {"rerank": "onnx:/etc"}}, (422, "bad_value")),
    ("/v1/search", {"words": "x", "filter": "doc.path ="}, (422, "rql_syntax")),
    ("/v1/search", {"words": "x", "snapshot": "0"}, (409, "snapshot_mismatch")),
    ("/v1/search", [], (422, "bad_arguments")),
    ("/v1/search", b"{", (400, "bad_json")),
    ("/v1/search", b"", (400, "bad_json")),
    ("/v1/search", b'{"words": "\\ud800"}', (400, "bad_json")),
    ("/v1/search", b'{"words": "\xff"}', (400, "bad_json")),
    ("/v1/search", b'{"words": "x"', (400, "bad_json")),
    ("/v1/context", {}, (422, "bad_arguments")),
    ("/v1/context", {"words": "x", "rql": "y"}, (422, "bad_arguments")),
    ("/v1/context", {"rql": "SELECT * FROM chunk", "mode": "lexical"}, (422, "bad_arguments")),
    ("/v1/context", {"words": "x", "counter": "hf:/etc/passwd"}, (422, "bad_value")),
    ("/v1/get", {"target": "/etc/passwd"}, (400, "bad_path")),
    ("/v1/get", {"target": "notes/\0.md"}, (400, "bad_path")),
    ("/v1/get", {"target": "nowhere.md"}, (404, "unknown_target")),
    ("/v1/whynot", {"words": "x", "target": "../x"}, (400, "bad_path")),
]


def test_bad_body_gets_a_coded_error(server: Server) -> None:
    for path, body, expected in BAD_BODIES:
        assert server.code("POST", path, body) == expected, (path, str(body)[:80])

    hint = server.ask("POST", "/v1/search", {"words": "x", "filtre": ""}).json()["error"]["hint"]
    assert hint == "did you mean filter?"
    assert server.code("POST", "/v1/search", WORDS, content_type="text/plain") == (415, "bad_content_type")


def test_body_over_one_mebibyte_is_refused(server: Server) -> None:
    most = b'{"words": "' + b"x" * (service.BODY_BYTES - 13) + b'"}'

    assert len(most) == service.BODY_BYTES
    assert server.code("POST", "/v1/search", most) == (422, "query_too_long")
    assert server.code("POST", "/v1/search", most + b" ") == (413, "body_too_large")
    assert server.code("POST", "/mcp", most + b" ") == (413, "body_too_large")


def test_body_longer_than_its_declared_length_is_refused(server: Server) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b" " * (service.BODY_BYTES // 2)

    assert asyncio.run(server.send("POST", "/v1/search", pieces())).json()["error"]["code"] == "body_too_large"


def test_body_that_never_arrives_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "BODY_SECONDS", 0.05)

    async def pieces() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(60)

    assert asyncio.run(server.send("POST", "/v1/search", pieces())).json()["error"]["code"] == "body_late"


def test_wrong_route_method_or_parameter_is_refused(server: Server) -> None:
    assert server.code("GET", "/v1/nothing") == (404, "unknown_route")
    assert server.code("GET", "/v1/stats/") == (404, "unknown_route")
    assert server.code("GET", "/page/index.html") == (404, "unknown_route")
    assert server.code("GET", "/v1/search") == (405, "method_not_allowed")
    assert server.ask("DELETE", "/v1/stats").headers["allow"] == "GET"
    assert server.ask("PATCH", "/v1/documents/a.md").headers["allow"] == "PUT, DELETE"
    for query in (
        "limt=1",
        "limit=x",
        "limit=-1",
        "limit=1&limit=2",
        "prefix=%ff",
        "=",
        "&".join("abcdefghijklmnopqrstuvwxyz"),
    ):
        assert server.code("GET", f"/v1/documents?{query}") == (422, "bad_arguments"), query
    assert server.code("GET", "/v1/stats?x=") == (422, "bad_arguments")


BAD_NAMES = ("", "..", "a/../b", "/a", "a//b", "a/", "./a", "a\0", "a\n", "a\x7f", "a\x85", "x" * 1_025, "é" * 513)


def test_document_cannot_get_a_name_outside(server: Server) -> None:
    for name in BAD_NAMES:
        with pytest.raises(errors.UsageError, match="relative path"):
            operations.read_name(name.encode())
    assert operations.read_name(("é" * 512).encode()) == "é" * 512
    for name in ("%2e%2e/b", "a%2F..%2Fb", "a%00", "%ff", "%"):
        expected = (200, "") if name == "%" else (400, "bad_path")
        response = server.ask("PUT", f"/v1/documents/{name}", {"content": "x"})
        assert (response.status_code, response.json().get("error", {}).get("code", "")) == expected, name
    assert server.ask("DELETE", "/v1/documents/%25").status_code == 200


def test_put_document_is_found_and_kept_by_sync(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store", TEXTS)
    server, name = Server(folder), "notes/n1.md"
    document = {"content": "A quokka writes.", "title": "Quokka", "tags": ["b", "a"], "metadata": {"year": 2026}}

    first, again = (server.ask("PUT", f"/v1/documents/{name}", document).json()["put"] for _ in range(2))
    with Recall.open(str(folder)) as recall:
        for _ in recall.sync():
            pass
    hits = server.ask("POST", "/v1/search", {"words": "quokka", "k": 1}).json()["results"]
    file = server.ask("POST", "/v1/get", {"target": name}).json()["found"]
    changed = server.ask("PUT", f"/v1/documents/{name}", {"content": "It stops."}).json()["put"]
    deleted = [server.ask("DELETE", f"/v1/documents/{name}").status_code for _ in range(2)]
    server.pool.close()

    assert (first["added"], again["unchanged"], changed["updated"]) == (1, 1, 1)
    assert hits[0]["doc"]["path"] == f"put://{name}"
    assert "state" not in hits[0]["doc"]
    assert file["text"] == TEXTS[name]
    assert deleted == [200, 404]


def test_server_without_writable_refuses_changes(folder: Path) -> None:
    server = Server(folder, is_writable=False)

    assert server.code("PUT", "/v1/documents/a.md", {"content": "x"}) == (403, "not_writable")
    assert server.code("DELETE", "/v1/documents/a.md") == (403, "not_writable")


def test_bad_document_gets_a_coded_error(server: Server) -> None:
    for body, code in (
        ({}, "bad_arguments"),
        ({"content": "x", "tags": [1]}, "bad_arguments"),
        ({"content": "x", "embedding": [1.0]}, "dimension_mismatch"),
        ({"content": "x", "embedding": []}, "dimension_mismatch"),
    ):
        assert server.code("PUT", "/v1/documents/a.md", body) == (422, code), body
    for deep, code in ((600, "bad_document"), (100_000, "bad_json")):
        nested = b'{"content": "x", "metadata": {"a": ' + b"[" * deep + b"]" * deep + b"}}"
        assert server.code("PUT", "/v1/documents/a.md", nested)[1] == code, deep
    assert server.code("PUT", "/v1/documents/a.md", b'{"content": "x", "metadata": {"a": 1e999}}')[0] < 500


STATUSES: list[tuple[errors.RecallError, int]] = [
    (errors.Busy("busy", "x", details={"retry_after_seconds": 0.3}), 429),
    (errors.StoreLocked("store_locked", "x"), 503),
    (errors.StoreCorrupt("store_corrupt", "x"), 503),
    (errors.StoreError("no_store", "x"), 503),
    (errors.StoreError("disk_full", "x"), 507),
    (errors.TimedOut("timed_out", "x"), 503),
    (errors.EmbedError("embedder_unavailable", "x"), 503),
    (errors.ConfigError("untrusted_config", "x"), 503),
    (errors.ConfigError("unknown_key", "x"), 422),
    (errors.UsageError("ambiguous_path", "x"), 409),
    (errors.StaleError("stale", "x"), 409),
    (errors.UnknownTarget("unknown_target", "x"), 404),
]


def test_status_follows_from_the_error() -> None:
    for error, status in STATUSES:
        response = service.refuse(error)

        assert response.status_code == status, error.code
        assert response.headers.get("retry-after") == ("1" if status == 429 else None)


def test_missing_store_is_unavailable_and_metrics_go_on(tmp_path: Path) -> None:
    server = Server(tmp_path / "none")

    assert server.code("GET", "/v1/healthz") == (503, "no_store")
    metrics = server.ask("GET", "/v1/metrics").text
    server.pool.close()

    assert 'recall_requests_total{route="/v1/healthz",status="503"} 1' in metrics
    assert "recall_store_documents" not in metrics


def test_metrics_count_without_words_or_names(folder: Path) -> None:
    server = Server(folder)
    server.ask("POST", "/v1/search", {"words": "secretword"})
    server.ask("DELETE", "/v1/documents/secretname")
    server.ask("GET", "/secretroute")
    metrics = server.ask("GET", "/v1/metrics").text
    server.pool.close()

    assert "secret" not in metrics
    assert 'recall_request_seconds_count{route="/v1/search"} 1' in metrics
    assert "recall_store_documents 5" in metrics


def test_every_response_has_the_headers(server: Server) -> None:
    for path in ("/", "/page.js", "/page.css", "/v1/stats", "/v1/nothing", "/mcp", "/v1/metrics"):
        for authorization in (f"Bearer {KEY}", None):
            headers = server.ask("GET", path, authorization=authorization).headers

            assert {name: headers.get_list(name.decode()) for name in service.HEADERS} == {
                name: [value.decode()] for name, value in service.HEADERS.items()
            }


def test_page_makes_no_markup_and_keeps_no_token() -> None:
    page = Path(service.__file__).parent / "page"
    script, markup = (page / "page.js").read_text(), (page / "index.html").read_text()

    assert not re.search(r"HTML|document\.write|eval|Function|[sS]torage|cookie", script)
    assert not re.search(r"<style|style=|\bon\w+=|<script>|https?:", markup)


def test_query_ends_when_its_client_leaves(folder: Path) -> None:
    server, begun, goes_on = Server(folder), Event(), Event()
    blocking = server.pool.ask(lambda _: (begun.set(), goes_on.wait(60)))
    assert begun.wait(60)
    told: list[Any] = []

    async def leave() -> None:
        events = iter([{"type": "http.request", "body": b'{"words": "x"}'}, {"type": "http.disconnect"}])

        async def receive() -> Any:
            return next(events)

        async def send(message: Any) -> None:
            told.append(message)

        headers = [(b"host", b"127.0.0.1:1"), (b"authorization", f"Bearer {KEY}".encode())]
        await server.app(
            {
                "type": "http", "method": "POST", "path": "/v1/search", "raw_path": b"/v1/search",
                "query_string": b"",
                "headers": [*headers, (b"content-type", b"application/json")], "client": ("127.0.0.1", 2),
            },
            receive, send,
        )  # fmt: skip

    asyncio.run(asyncio.wait_for(leave(), 60))
    goes_on.set()
    blocking.result()
    server.pool.close()

    assert json.loads(told[1]["body"])["error"]["code"] == "interrupted"
