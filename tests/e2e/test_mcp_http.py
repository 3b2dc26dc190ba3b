"""`recall mcp --http`: access, many clients at once, and shutdown."""

from __future__ import annotations

import json
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from tests.mcp_client import INITIALIZE, INITIALIZED, PATIENCE, Listening, filled, over_http

TEXTS = {f"notes/n{number}.md": f"# Note {number}\n\nEntry {number} of the diary.\n" for number in range(20)}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("http") / "store", TEXTS)


@pytest.fixture(scope="module")
def server(store: Path) -> Iterator[Listening]:
    with Listening(store) as server:
        yield server


def messages(body: bytes) -> list[dict[str, Any]]:
    """Return the messages in a stream of events."""
    return [
        json.loads(line[5:]) for line in body.decode().splitlines() if line.startswith("data:") and line[5:].strip()
    ]


def test_client_with_token_gets_answers(server: Listening) -> None:
    with over_http(server.address, server.token) as client:
        assert client.text("status").startswith("20 documents, ")
        assert "notes/n7.md:3" in client.text("search", query="entry 7", k=3)
        assert client.error("get", targets=["../x"])["code"] == "bad_path"


def test_two_clients_are_answered_concurrently(server: Listening) -> None:
    with over_http(server.address, server.token) as one, over_http(server.address, server.token) as other:
        assert one.text("search", query="diary") == other.text("search", query="diary")
        assert one.text("list") == other.text("list")


UNAUTHORIZED: list[list[str]] = [
    [],
    ["Bearer wrong"],
    ["Bearer "],
    ["TOKEN"],
    ["Basic TOKEN"],
    ["BearerTOKEN"],
    ["Bearer TOKEN x"],
    ["Bearer TOKEN", "Bearer TOKEN"],
]


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_request_without_token_is_refused(server: Listening, method: str) -> None:
    for authorization in UNAUTHORIZED:
        given = [each.replace("TOKEN", str(server.token)) for each in authorization]

        status, headers, body = server.asked(method, INITIALIZE, authorization=given)

        assert status == 401, authorization
        assert headers["www-authenticate"] == "Bearer", authorization
        assert str(server.token).encode() not in body, authorization
        assert b"documents" not in body, authorization


def test_scheme_is_case_insensitive_and_server_header_is_absent(server: Listening) -> None:
    for scheme in ("Bearer", "bearer", "BEARER"):
        status, headers, _ = server.asked(body=INITIALIZE, authorization=[f"{scheme} {server.token}"])

        assert status == 200, scheme
        assert "server" not in headers
    assert "server" not in server.asked(authorization=[])[1]
    assert "server" not in server.asked("PUT", "x")[1]


def test_token_file_is_readable_by_its_owner_only(server: Listening) -> None:
    assert server.token
    assert len(server.token) >= 32
    assert stat.S_IMODE(server.token_file.stat().st_mode) == 0o600


def test_foreign_host_is_refused(server: Listening) -> None:
    for host in (
        "evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", "0.0.0.0:{port}", "",
    ):  # fmt: skip
        status, _, body = server.asked(body=INITIALIZE, host=host.format(port=server.port))

        assert status in (400, 403, 421), host
        assert b"documents" not in body, host


def test_foreign_origin_is_refused(server: Listening) -> None:
    for origin in ("http://evil.example", "null", "https://127.0.0.1:{port}", "http://localhost:1", "file://"):
        status, _, body = server.asked(body=INITIALIZE, origin=origin.format(port=server.port))

        assert status == 403, origin
        assert b"documents" not in body, origin


def test_local_page_and_host_names_are_accepted(server: Listening) -> None:
    host = f"localhost:{server.port}"

    status, headers, body = server.asked(body=INITIALIZE, host=host, origin=f"http://{host}")

    assert status == 200
    assert messages(body)[0]["result"]["serverInfo"]["name"] == "recall"
    assert "access-control-allow-origin" not in headers


def test_client_can_end_its_session(server: Listening) -> None:
    _, headers, _ = server.asked(body=INITIALIZE)
    of_session = {"mcp_session_id": headers["mcp-session-id"]}
    assert server.asked(body=INITIALIZED, **of_session)[0] == 202
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert messages(server.asked(body=ping, **of_session)[2]) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]

    assert server.asked("DELETE", **of_session)[0] == 200

    assert server.asked(body=ping, **of_session)[0] == 404
    assert server.asked(body=ping, mcp_session_id="unknown")[0] == 404


NO_MESSAGES: list[tuple[str, object, dict[str, str], int]] = [
    ("PUT", INITIALIZE, {}, 405),
    ("GET", None, {}, 400),
    ("GET", None, {"accept": "text/html"}, 406),
    ("POST", INITIALIZE, {"content_type": "text/plain"}, 400),
    ("POST", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {}, 400),
    ("POST", ["no", "message"], {}, 400),
    ("POST", {**INITIALIZE, "padding": "x" * 5_000_000}, {}, 413),
]


def test_malformed_request_gets_the_right_status(server: Listening) -> None:
    for method, body, headers, status in NO_MESSAGES:
        assert server.asked(method, body, **headers)[0] == status, (method, headers, str(body)[:80])


def test_server_without_token_warns_and_accepts_local_names_only(store: Path) -> None:
    with Listening(store, "--port", "0", "--no-token") as server:
        with over_http(server.address, None) as client:
            assert client.text("status").startswith("20 documents, ")
        foreign = server.asked(body=INITIALIZE, authorization=[], host="evil.example")[0]
        has_token = server.token_file.exists()
        code, errors = server.ended(signal.SIGTERM)

    assert foreign == 421
    assert not has_token
    assert code == 130
    assert errors.startswith("warning: without a token")
    assert "Traceback" not in errors


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_signal_ends_a_busy_server_and_removes_its_token(store: Path, number: signal.Signals) -> None:
    with Listening(store) as server, over_http(server.address, server.token) as client:
        assert client.text("status")
        was_there = server.token_file.exists()
        code, errors = server.ended(number)
        is_there = server.token_file.exists()

    assert (was_there, is_there) == (True, False)
    assert code == 130
    assert errors == f"token in {server.token_file}: send it as Authorization: Bearer TOKEN\nInterrupted.\n"


def test_port_in_use_is_reported(server: Listening, store: Path) -> None:
    second = Listening(store, "--port", str(server.port))
    _, errors = second.process.communicate(timeout=PATIENCE)

    assert second.process.returncode == 1
    assert errors.startswith(f"error: Cannot open port {server.port}: ")
    assert server.token_file.read_text().strip() == server.token
