"""`recall mcp` as a process: called by the official client over stdio or HTTP, or through its pipes line by line."""

from __future__ import annotations

import http.client
import json
import os
import select
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
import mcp_types as types
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from recall_core.api.recall import Recall
from recall_core.types import Root
from tests import warm

Result = TypeVar("Result")

ROOT = Path(__file__).parents[1]
PATIENCE = 120.0
"""Seconds that suffice for an answer on the busiest machine."""
NEWEST = "2025-11-25"
INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": NEWEST, "capabilities": {}, "clientInfo": {"name": "wire", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
ACCEPT = "application/json, text/event-stream"
PROGRAM = "from recall_core.__main__ import program; program()"


def filled(folder: Path, texts: dict[str, str], *, settings: Sequence[str] = (), embedding: str = "hash") -> Path:
    """Make a store of these files in this folder."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    Recall.init(str(folder), embedding=embedding, settings=settings)
    with Recall.open(str(folder)) as recall:
        for _ in recall.add([str(folder)], Root("")):
            pass
    return folder


def command(store: Path, *flags: str, program: str = "") -> list[str]:
    """Return the command line of a server. program: what Python runs instead of `recall`."""
    run = ["-c", program] if program else ["-m", "recall_core"]
    return [sys.executable, *run, "--store", str(store), "mcp", *flags]


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a server, without anything from the test runner."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT)}


class Calls:
    """A client's ways to read the answers of tools."""

    def call(self, tool: str, **arguments: Any) -> types.CallToolResult:
        """Return a tool's answer. from_: the argument of that name without the underscore."""
        raise NotImplementedError

    def text(self, tool: str, **arguments: Any) -> str:
        """Return the text of an answer without an error."""
        result = self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    def json(self, tool: str, **arguments: Any) -> Any:
        """Return the JSON answer of a tool."""
        return json.loads(self.text(tool, **arguments))

    def error(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the error of a failing call."""
        result = self.call(tool, **arguments)
        assert result.is_error, text_of(result)
        told = json.loads(text_of(result))
        assert {"code", "message"} <= set(told) <= {"code", "message", "hint", "details"}
        return dict(told)


class Client(Calls):
    """The official client for synchronous tests. Every call is answered before the next one."""

    def __init__(self, portal: BlockingPortal, session: ClientSession) -> None:
        self._portal = portal
        self.session = session

    def ask(self, asked: Callable[[ClientSession], Coroutine[Any, Any, Result]]) -> Result:
        """Return what the session returns inside its own event loop."""
        return self._portal.call(asked, self.session)

    def call(self, tool: str, **arguments: Any) -> types.CallToolResult:
        given = {name.rstrip("_"): value for name, value in arguments.items()}
        result = self.ask(lambda session: session.call_tool(tool, given))
        assert isinstance(result, types.CallToolResult)
        return result

    def read(self, uri: str) -> str:
        """Return the text of a resource. Raises MCPError."""
        (contents,) = self.ask(lambda session: session.read_resource(uri)).contents
        assert isinstance(contents, types.TextResourceContents)
        return contents.text

    def refused(self, asked: Callable[[ClientSession], Coroutine[Any, Any, Any]]) -> types.ErrorData:
        """Return the protocol error of a failing request."""
        try:
            answered = self.ask(asked)
        except MCPError as error:
            return error.error
        raise AssertionError(f"answered with {answered}")


def text_of(result: types.CallToolResult) -> str:
    """Return the only text of an answer."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@contextmanager
def over_stdio(store: Path, *flags: str, program: str = "") -> Iterator[Client]:
    """Yield a client of a server that it starts. The server may print nothing besides answers."""
    server = command(store, *flags, program=program)
    parameters = StdioServerParameters(
        command=server[0], args=server[1:], env=environment(store.parent), cwd=store.parent
    )
    log = store.parent / f"{store.name}.stderr"

    @asynccontextmanager
    async def session(errors: Any) -> Any:
        async with stdio_client(parameters, errlog=errors) as streams, ClientSession(*streams) as session:
            await session.initialize()
            yield session

    with log.open("w") as errors, _running(session(errors)) as client:
        yield client
    assert "Traceback" not in log.read_text()


@contextmanager
def over_http(address: str, token: str | None) -> Iterator[Client]:
    """Yield a client of a server that listens at this address."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    @asynccontextmanager
    async def session() -> Any:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE, trust_env=False) as http,
            streamable_http_client(address, http_client=http) as streams,
            ClientSession(*streams) as session,
        ):
            await session.initialize()
            yield session

    with _running(session()) as client:
        yield client


@contextmanager
def _running(session: AbstractAsyncContextManager[ClientSession]) -> Iterator[Client]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(session) as entered:
        yield Client(portal, entered)


class Piped(Calls):
    """A server that starts at once; the test writes and reads its pipes."""

    def __init__(self, store: Path, *flags: str, program: str = "") -> None:
        self.process = warm.Process(
            ["--store", str(store), "mcp", *flags], program=program, kind="mcp", env=environment(store.parent),
            cwd=store.parent, stdin=warm.PIPE, text=False, start_new_session=True,
        )  # fmt: skip
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr
        self._read = b""
        self._calls = 0

    def __enter__(self) -> Piped:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for each in (self.stdin, self.stdout, self.stderr):
            with suppress(BrokenPipeError):
                each.close()

    def write(self, line: str | bytes) -> None:
        self.stdin.write(line.encode() if isinstance(line, str) else line)
        self.stdin.flush()

    def send(self, *messages: object) -> None:
        self.write("".join(json.dumps(each) + "\n" for each in messages))

    def request(self, request_id: object, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})

    def line(self) -> str:
        """Return the next line of stdout, or "" once it is closed."""
        while b"\n" not in self._read:
            ready, _, _ = select.select([self.stdout], [], [], PATIENCE)
            assert ready, "no answer"
            got = os.read(self.stdout.fileno(), 65536)
            if not got:
                break
            self._read += got
        line, _, self._read = self._read.partition(b"\n")
        return line.decode()

    def message(self) -> dict[str, Any]:
        """Return the next message."""
        told = json.loads(self.line())
        assert told["jsonrpc"] == "2.0"
        return dict(told)

    def answer(self, request_id: object) -> dict[str, Any]:
        """Return the answer to this request; earlier messages are dropped."""
        while (told := self.message()).get("id") != request_id or "method" in told:
            pass
        return told

    def call(self, tool: str, **arguments: Any) -> types.CallToolResult:
        self._calls += 1
        self.request(f"call {self._calls}", "tools/call", name=tool, arguments=arguments)
        return types.CallToolResult.model_validate(self.answer(f"call {self._calls}")["result"])

    def opened(self) -> Piped:
        """Return the server once it is initialized."""
        self.send(INITIALIZE)
        self.answer(INITIALIZE["id"])
        self.send(INITIALIZED)
        return self

    def ended(self, number: signal.Signals | None = None) -> tuple[int, str]:
        """Return the exit code and stderr once the server has ended. number: signal that ends it."""
        if number is not None:
            os.killpg(self.process.pid, number)
        self.process.wait(PATIENCE)
        return self.process.returncode, self.stderr.read().decode()


class Listening:
    """A server on a port, and the token in its token file."""

    def __init__(self, store: Path, *flags: str) -> None:
        self.home = store.parent
        self.process = warm.Process(
            ["--store", str(store), "mcp", "--http", *(flags or ("--port", "0"))], kind="http",
            env=environment(self.home), cwd=self.home, start_new_session=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        self.port = urlsplit(self.address).port or 0
        self.token_file = self.home / ".local" / "state" / "recall" / f"mcp-{self.port}.token"
        self.token = self.token_file.read_text().strip() if self.token_file.exists() else None

    def __enter__(self) -> Listening:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def ended(self, number: signal.Signals) -> tuple[int, str]:
        """Return the exit code and stderr once this signal has ended the server."""
        os.killpg(self.process.pid, number)
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors

    def asked(
        self, method: str = "POST", body: object = None, *, authorization: list[str] | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of one answer. Authorization defaults to the server's token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, "/mcp", skip_host="host" in headers)
            bearer = [f"Bearer {self.token}"] if authorization is None else authorization
            data = b"" if body is None else json.dumps(body).encode()
            known = {"accept": ACCEPT, "content-type": "application/json", "content-length": str(len(data))}
            for name, value in (known | {name.replace("_", "-"): value for name, value in headers.items()}).items():
                connection.putheader(name, value)
            for each in bearer:
                connection.putheader("Authorization", each)
            connection.endheaders(data)
            answer = connection.getresponse()
            return answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()
