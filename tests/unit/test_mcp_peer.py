"""The protocol on stdin and stdout, compared with the official SDK, and with input that is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("mcp")

from mcp.server.stdio import stdio_server
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from recall_core.adapters.mcp import http, stdio
from recall_core.adapters.mcp.server import RecallServer, ServerSettings
from recall_core.api.serving import ConnectionPool, StoreSettings
from tests.mcp_client import INITIALIZE, PATIENCE, filled

ROOT = Path(__file__).parents[2]
PREFIX = "io.modelcontextprotocol/"
CLIENT = {"name": "wire", "version": "1"}
ENVELOPE = {
    PREFIX + "protocolVersion": MODERN_PROTOCOL_VERSIONS[-1],
    PREFIX + "clientCapabilities": {},
    PREFIX + "clientInfo": CLIENT,
}
NEWEST = HANDSHAKE_PROTOCOL_VERSIONS[-1]
COMPLETE = {"ref": {"type": "ref/prompt", "name": "search-first"}, "argument": {"name": "a", "value": "b"}}
NAMES = (
    "name",
    "arguments",
    "cursor",
    "uri",
    "protocolVersion",
    "capabilities",
    "clientInfo",
    "requestId",
    "_meta",
    *ENVELOPE,
)
REQUESTS: list[tuple[str, Any]] = [
    ("server/discover", {}),
    ("ping", {}),
    ("tools/list", {}),
    ("tools/list", {"cursor": "3"}),
    ("tools/list", {"cursor": 3}),
    ("prompts/list", None),
    ("prompts/get", {"name": "search-first"}),
    ("prompts/get", {"name": "nope"}),
    ("prompts/get", {}),
    ("resources/list", {}),
    ("resources/list", {"cursor": "3"}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "recall://notes/a.md"}),
    ("resources/read", {"uri": "recall://nope.md"}),
    ("resources/read", {"uri": "file:///etc/passwd"}),
    ("resources/read", {}),
    ("tools/call", {"name": "status", "arguments": {}}),
    ("tools/call", {"name": "status", "arguments": None}),
    ("tools/call", {"name": "status", "_meta": {"progressToken": 5}}),
    ("tools/call", {"name": "get", "arguments": {}, "_meta": {"progressToken": "p"}}),
    ("tools/call", {"name": "get", "arguments": {"targets": ["notes/größe.md"]}}),
    ("tools/call", {"name": "search", "arguments": {"query": "retries", "rql": 5}}),
    ("tools/call", {"name": "status", "arguments": []}),
    ("tools/call", {"name": 5}),
    ("tools/call", {"name": "nope"}),
    ("tools/call", {}),
    ("tools/call", {"name": "status", "_meta": []}),
    ("completion/complete", COMPLETE),
    ("logging/setLevel", {"level": "info"}),
    ("nonsense/method", {"a": 1}),
    ("initialize", {"protocolVersion": NEWEST, "capabilities": {}, "clientInfo": CLIENT}),
]
NO_MESSAGES = [
    "",
    "garbage",
    "null",
    "[]",
    "[" * 100_000,
    "Content-Length: 9\r",
    '\ufeff{"jsonrpc"',
    '{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
    '{"jsonrpc": "2.0", "id": 1}',
    '{"jsonrpc": "2.0", "id": 1, "method": 5}',
    '{"jsonrpc": "2.0", "id": 1, "result": {}}',
    '{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}',
    '{"jsonrpc": "2.0", "id": true, "method": "ping"}',
    '{"jsonrpc": "2.0", "id": null, "method": "ping"}',
    '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}',
    '{"jsonrpc": "2.0", "method": "notifications/cancelled"}',
    '{"jsonrpc": "2.0", "method": "notifications/odd"}',
    '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}}',
]


def request(number: object, method: str, params: object) -> str:
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return json.dumps(message if params is None else message | {"params": params})


def script(version: str) -> list[str]:
    """Return the lines of a client of this version: every request, and lines that are no message in between."""
    if version in MODERN_PROTOCOL_VERSIONS:
        opening: list[tuple[str, Any]] = [
            ("tools/list", {"_meta": ENVELOPE}),
            ("tools/list", {}),
            ("tools/list", {"_meta": {PREFIX + "protocolVersion": version}}),
            ("tools/list", {"_meta": ENVELOPE | {PREFIX + "protocolVersion": "2099-01-01"}}),
            ("tools/list", {"_meta": ENVELOPE | {PREFIX + "protocolVersion": 5}}),
            ("tools/list", {"_meta": ENVELOPE | {PREFIX + "clientCapabilities": 5}}),
        ]
        asked = [
            (method, {**(params or {}), "_meta": {**ENVELOPE, **((params or {}).get("_meta") or {})}})
            for method, params in REQUESTS
        ]
    else:
        opening = [
            ("tools/list", {}),
            ("ping", {}),
            ("initialize", {}),
            ("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT}),
            ("tools/list", {"_meta": ENVELOPE}),
        ]
        asked = REQUESTS
    lines = [request(number, *each) for number, each in enumerate(opening + asked)]
    return [line for pair in zip(lines, (NO_MESSAGES * 3)[: len(lines)], strict=True) for line in pair]


def is_request(line: str) -> bool:
    return line not in NO_MESSAGES


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectionPool]:
    texts = {"notes/a.md": "# A\n\nRetries wait a second.\n", "notes/größe.md": "Die Größe des Hafens.\n"}
    opened = ConnectionPool(StoreSettings(str(filled(tmp_path_factory.mktemp("peer") / "store", texts))))
    yield opened
    opened.close()


class Lines:
    """Lines for the SDK, each after the answer to the one before."""

    def __init__(self, lines: list[str]) -> None:
        self.answers: list[dict[str, Any]] = []
        self._left = iter(lines)
        self._answered = anyio.Event()
        self._answered.set()

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        with anyio.fail_after(PATIENCE):
            await self._answered.wait()
        line = next(self._left, None)
        if line is None:
            raise StopAsyncIteration
        if is_request(line):
            self._answered = anyio.Event()
        return line

    async def write(self, text: str) -> None:
        self.answers.append(json.loads(text))
        if "id" in self.answers[-1]:
            self._answered.set()

    async def flush(self) -> None:
        pass


def from_sdk(server: RecallServer, pool: ConnectionPool, lines: list[str]) -> list[dict[str, Any]]:
    async def talk() -> list[dict[str, Any]]:
        client: Any = Lines(lines)
        async with stdio_server(client, client) as (reading, writing):
            protocol = http.protocol(server, pool)
            await protocol.run(reading, writing, protocol.create_initialization_options())
        return list(client.answers)

    return anyio.run(talk)


class Wire:
    """A peer whose messages a test writes and reads."""

    def __init__(self, server: RecallServer, pool: ConnectionPool) -> None:
        self._sent: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self.peer = stdio.Peer(server, lambda: pool, self._sent.put)

    def ask(self, line: str) -> list[dict[str, Any]]:
        """Return the messages up to the answer."""
        self.peer.receive([line.encode(errors="surrogatepass")])
        messages = [self.next()]
        while "id" not in messages[-1]:
            messages.append(self.next())
        return messages

    def next(self) -> dict[str, Any]:
        return dict(json.loads(json.dumps(self._sent.get(timeout=PATIENCE))))

    def next_answer(self) -> dict[str, Any]:
        while "id" not in (message := self.next()):
            pass
        return message

    def is_silent(self) -> bool:
        return self._sent.empty()


def from_peer(server: RecallServer, pool: ConnectionPool, lines: list[str]) -> list[dict[str, Any]]:
    wire, answers = Wire(server, pool), list[dict[str, Any]]()
    for line in lines:
        if is_request(line):
            answers += wire.ask(line)
        else:
            wire.peer.receive([line.encode()])
            assert wire.is_silent(), line
    return answers


def comparable(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without the SDK's own words for errors."""
    error = message.get("error")
    if error is None or (isinstance(error.get("data"), dict) and "code" in error["data"]):
        return message
    return {**message, "error": {"code": error["code"], "data": error.get("data") or None}}


@pytest.mark.parametrize(
    "settings", [ServerSettings(), ServerSettings(structured=True, tools=frozenset(("get", "status")))]
)
def test_peer_answers_every_version_like_the_sdk(pool: ConnectionPool, settings: ServerSettings) -> None:
    server = RecallServer(settings)
    for version in (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS, "1999-01-01"):
        lines = script(version)

        expected, found = from_sdk(server, pool, lines), from_peer(server, pool, lines)

        assert len(found) == len(expected) > len(REQUESTS)
        for one, other in zip(found, expected, strict=True):
            assert without_times(comparable(one)) == without_times(comparable(other)), version


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in ("took_ms", "timings")}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def test_peer_knows_the_versions_of_the_sdk() -> None:
    assert stdio.HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert (stdio.VERSION,) == MODERN_PROTOCOL_VERSIONS


def test_overlong_message_gets_an_error_and_costs_no_memory() -> None:
    reading, writing = os.pipe()
    size = stdio.MOST_BYTES + 5 * stdio._READ_BYTES

    def write() -> None:
        with open(writing, "wb") as stream:
            stream.write(b"x" * size + b"\n{}\n" + b"last")

    Thread(target=write).start()
    first, *others = (line for lines in stdio._lines(reading, []) for line in lines)
    os.close(reading)

    assert stdio.MOST_BYTES < len(first) < size
    assert others == [b"{}", b"last"]
    sent: list[dict[str, Any]] = []
    stdio.Peer(RecallServer(), pytest.fail, sent.append).receive([first])
    assert [(each["id"], each["error"]["code"]) for each in sent] == [(None, -32600)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_full_disk_is_reported_at_the_end() -> None:
    broken, breaks = os.pipe()
    writer = stdio._LineWriter(os.open("/dev/full", os.O_WRONLY), breaks)
    writer.send({})

    assert os.read(broken, 1) == b""
    with pytest.raises(OSError, match="No space left"):
        writer.finish()


def test_reading_waits_while_answers_are_unread() -> None:
    reading, writing = os.pipe()
    writer = stdio._LineWriter(writing, writing)
    writer.send({"text": "x" * 2 * stdio._UNREAD_BYTES})
    waiting = Thread(target=writer.wait_for_room, daemon=True)
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()

    left = 2 * stdio._UNREAD_BYTES
    while left > 0:
        left -= len(os.read(reading, stdio._READ_BYTES))
    waiting.join(PATIENCE)
    assert not waiting.is_alive()


def opened(pool: ConnectionPool) -> Wire:
    wire = Wire(RecallServer(), pool)
    wire.ask(json.dumps(INITIALIZE))
    return wire


def test_lone_surrogate_is_an_error_of_the_call(pool: ConnectionPool) -> None:
    wire = opened(pool)
    for query in ("\ud800", "\udfff\ud800"):
        (answer,) = wire.ask(request(1, "tools/call", {"name": "search", "arguments": {"query": query}}))
        assert "bad_arguments" in answer["result"]["content"][0]["text"]


def cancel(number: object) -> bytes:
    params = {"requestId": number}
    return json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).encode()


def test_call_that_comes_with_its_cancel_does_not_start() -> None:
    sent: list[dict[str, Any]] = []
    peer = stdio.Peer(RecallServer(), pytest.fail, sent.append)
    call = request(1, "tools/call", {"name": "status"}).encode()
    peer.receive([json.dumps(INITIALIZE).encode(), call, request(2, "ping", {}).encode(), cancel(1), cancel(2)])

    assert [each["id"] for each in sent] == [0, 2]


def test_cancelled_call_is_neither_started_nor_answered(tmp_path: Path) -> None:
    busy = ConnectionPool(StoreSettings(str(filled(tmp_path / "store", {"a.md": "A.\n"}))), connections=1)
    begun, go = Event(), Event()
    holding = busy.ask(lambda _: begun.set() or go.wait(PATIENCE))
    begun.wait(PATIENCE)
    wire = opened(busy)
    for number in (1, 2, "3"):
        wire.peer.receive([request(number, "tools/call", {"name": "status"}).encode()])
    wire.peer.receive([cancel(number) for number in ("1", 3, 99)])
    go.set()

    assert holding.result()
    assert wire.next()["id"] == 2
    assert busy.ask(lambda _: True).result()
    assert wire.is_silent()
    wire.peer.close()


def test_end_of_input_answers_calls_with_an_error(tmp_path: Path) -> None:
    busy = ConnectionPool(StoreSettings(str(filled(tmp_path / "store", {"a.md": "A.\n"}))), connections=1)
    go = Event()
    busy.ask(lambda _: go.wait(PATIENCE))
    wire = opened(busy)
    wire.peer.receive([request(8, "tools/call", {"name": "status"}).encode()])
    closing = Thread(target=wire.peer.close)
    closing.start()
    answer = wire.next()
    go.set()
    closing.join(PATIENCE)

    assert (answer["id"], answer["error"]["code"]) == (8, -32000)
    assert wire.is_silent()


def test_tools_are_listed_before_anything_slow_is_imported(tmp_path: Path) -> None:
    program = f"""
import sys
from recall_core.adapters import care, cli
from recall_core.adapters.mcp import command, server, stdio
slow = {{"apsw", "argparse", "asyncio", "logging", "mcp", "msgspec", "numpy", "tomllib", "recall_core.api.serving"}}
seen = []
note = lambda message: seen.append((message["id"], slow & {{*sys.modules}}))
peer = stdio.Peer(server.RecallServer(), sys.exit, note)
peer.receive([{json.dumps(INITIALIZE).encode()!r}, {request(1, "tools/list", {}).encode()!r}])
print(seen)
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, check=True)

    assert done.stdout == b"[(0, set()), (1, set())]\n"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES) | st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)
METHODS = st.sampled_from(sorted({method for method, _ in REQUESTS}))
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": METHODS | JSON},
    optional={"id": JSON, "params": JSON | st.dictionaries(st.sampled_from(NAMES), JSON, max_size=5)},
)


@given(messages=st.lists(MESSAGES.map(lambda each: json.dumps(each).encode()) | st.binary(), max_size=6))
def test_no_input_raises_and_every_request_is_answered_once(pool: ConnectionPool, messages: list[bytes]) -> None:
    wire = opened(pool)
    wire.peer.receive(messages)
    asked = [json.loads(line) for line in messages if line.startswith(b'{"jsonrpc"')]
    ids = [each["id"] for each in asked if is_answered(each)]
    answers = [wire.next_answer() for _ in ids]

    assert all(-32_700 <= each["error"]["code"] <= -32_000 for each in answers if "error" in each)
    assert sorted(map(repr, ids)) == sorted(repr(each["id"]) for each in answers)
    assert wire.is_silent()


def is_answered(message: dict[str, Any]) -> bool:
    is_id = isinstance(message.get("id"), int | str) and not isinstance(message["id"], bool)
    return is_id and isinstance(message["method"], str) and isinstance(message.get("params"), dict | None)
