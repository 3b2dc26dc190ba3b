"""The MCP server over HTTP on the loopback interface, carried by the official SDK. Clients need its token.

`recall serve` listens in the same way.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing, suppress
from hmac import compare_digest
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import anyio
import h11
import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from recall_core import files, paths
from recall_core.adapters.mcp.offers import SERVER
from recall_core.adapters.mcp.server import PendingCall, ProtocolError, RecallServer
from recall_core.api.serving import ConnectionPool
from recall_core.errors import RecallError, UsageError

HOST = "127.0.0.1"
PATH = "/mcp"
HEADER_SECONDS = 10.0
"""Time limit for the headers of a request, in seconds."""
IDLE_SECONDS = 600.0
"""A session ends after this many seconds without a request."""
BODY_BYTES = 4 << 20
"""Most bytes of a request."""
SOCKETS = 64
"""Most connections without the token. One more closes the oldest idle one."""
_READ_SECONDS = 0.1
"""A new connection closes another one only after this time, in which the request of each is read."""
_LAST_PORT = 65_535
_NAMES = (HOST, "localhost")


class Door(NamedTuple):
    """The listening socket, the token and its file (None if no file has it). path: that of the address."""

    listening: socket.socket
    token: str | None
    token_file: Path | None
    path: str = PATH

    @property
    def port(self) -> int:
        """The actual port, also for port 0."""
        return int(self.listening.getsockname()[1])

    @property
    def address(self) -> str:
        """The URL of the server."""
        return f"http://{HOST}:{self.port}{self.path}"

    @property
    def hosts(self) -> list[str]:
        """The names of the server in a Host header."""
        return [f"{name}:{self.port}" for name in _NAMES]


def door(port: int, *, has_token: bool, name: str = "mcp", path: str = PATH, key: str | None = None) -> Door:
    """Open a port on the loopback interface, and write a token to a file readable by its owner only.

    name: start of the file's name. key: a token that the caller has; no file is written.
    Raises RecallError `port_unavailable`, `token_unkept`; UsageError `bad_value`.
    """
    if port > _LAST_PORT:
        message = f"--port takes 0 to {_LAST_PORT}, not {port}."
        raise UsageError("bad_value", message, hint="--port 0 picks a free one")
    # asyncio sends without delay (TCP_NODELAY) only if the socket names its protocol
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        message = f"Cannot open port {port}: {error.strerror}."
        raise RecallError("port_unavailable", message, hint="--port 0 picks a free one") from error
    made = Door(listening, key if has_token else None, None, path)
    if not has_token or key is not None:
        return made
    token = secrets.token_urlsafe(32)
    folder = paths.state_folder(os.environ)
    if folder is None:
        listening.close()
        raise RecallError("token_unkept", "There is no folder for the token.", hint="set HOME, or use --no-token")
    file = folder / f"{name}-{made.port}.token"
    try:
        files.write_private(file, token + "\n")
    except OSError as error:
        listening.close()
        message = f"{file} cannot be written: {error.strerror}."
        raise RecallError("token_unkept", message, hint="set XDG_STATE_HOME, or use --no-token") from error
    return made._replace(token=token, token_file=file)


def protocol(server: RecallServer, pool: ConnectionPool) -> Server[Any]:
    """Return the SDK's server, which answers as `server` does."""

    def handler(method: str, kind: type[types.Result]) -> Callable[[ServerRequestContext[Any], Any], Awaitable[Any]]:
        async def handle(context: ServerRequestContext[Any], params: types.RequestParams | None) -> types.Result:
            given = {} if params is None else params.model_dump(by_alias=True, mode="json", exclude_none=True)
            try:
                found = server.methods[method](given)
                if isinstance(found, PendingCall):
                    found = await _answer(server, pool, found, context)
            except ProtocolError as error:
                raise MCPError(error.code, error.message, error.data) from error
            return kind.model_validate(found)

        return handle

    return Server(
        SERVER["name"],
        version=SERVER["version"],
        title=SERVER["title"],
        instructions=server.description["instructions"],
        on_list_tools=handler("tools/list", types.ListToolsResult),
        on_call_tool=handler("tools/call", types.CallToolResult),
        on_list_resources=handler("resources/list", types.ListResourcesResult),
        on_list_resource_templates=handler("resources/templates/list", types.ListResourceTemplatesResult),
        on_read_resource=handler("resources/read", types.ReadResourceResult),
        on_list_prompts=handler("prompts/list", types.ListPromptsResult),
        on_get_prompt=handler("prompts/get", types.GetPromptResult),
    )


async def _answer(
    server: RecallServer, pool: ConnectionPool, question: PendingCall, context: ServerRequestContext[Any]
) -> dict[str, Any]:
    """Run the question in the pool. Cancelling this call cancels it. Raises ProtocolError."""
    request = context.request
    session = "" if request is None else str(request.headers.get("mcp-session-id", ""))
    if question.has_progress:
        await context.session.report_progress(0, 1)
    try:
        pending = server.ask(pool, question, session)
        try:
            result = await asyncio.wrap_future(pending.future)
        except asyncio.CancelledError:
            pending.cancel()
            raise
    except Exception as error:  # noqa: BLE001 - outermost frame of a call: report a bug on one line
        return question.settle(error)
    if question.has_progress:
        await context.session.report_progress(1, 1)
    return result


def run(protocol: Server[Any], at: Door, ready: Callable[[], None]) -> None:
    """Serve until the process is stopped. ready: called when it accepts requests."""

    async def serve() -> None:
        app = application(protocol, at, body_bytes=BODY_BYTES)
        await listen(app if at.token is None else _Guarded(app, at.token), at, ready)

    anyio.run(serve)


def application(protocol: Server[Any], at: Door, *, body_bytes: int) -> ASGIApp:
    """Return the application, which needs no token. body_bytes: most bytes of a request."""
    origins = [f"http://{host}" for host in at.hosts]
    return protocol.streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(allowed_hosts=at.hosts, allowed_origins=origins),
        session_idle_timeout=IDLE_SECONDS,
        max_request_body_size=body_bytes,
    )


async def listen(app: ASGIApp, at: Door, ready: Callable[[], None]) -> None:
    """Serve an application until the process is stopped, then remove the token's file."""
    config = uvicorn.Config(
        app, log_level="critical", access_log=False, lifespan="on", timeout_graceful_shutdown=2,
        http=limit_protocol(at.token), ws="none", server_header=False,
    )  # fmt: skip
    running = _Running(config, ready)
    with closing(at.listening):
        try:
            await running.serve(sockets=[at.listening])
        finally:
            if at.token_file is not None:
                with suppress(OSError):
                    at.token_file.unlink()


class _Running(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start accepting requests, then call `ready`."""
        await super().startup(sockets)
        self._ready()


def limit_protocol(token: str | None, header_seconds: float = HEADER_SECONDS) -> type[H11Protocol]:
    """Return an HTTP protocol class with these limits. Without a token every connection counts."""

    class Limited(_LimitedProtocol):
        _token = token
        _seconds = header_seconds
        _waiting: ClassVar[dict[_LimitedProtocol, None]] = {}

    return Limited


class _LimitedProtocol(H11Protocol):
    """HTTP/1.1 with a time limit for headers and a limit on connections without the token."""

    _token: str | None
    _seconds: float
    _waiting: ClassVar[dict[_LimitedProtocol, None]]
    """Connections without the token, oldest first."""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._waiting[self] = None
        self.loop.call_later(_READ_SECONDS, self._close_oldest)
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._waiting.pop(self, None)
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._expect_headers()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._expect_headers()

    def handle_events(self) -> None:
        super().handle_events()
        if self._token is not None and self.headers is not None and shows_token(self.headers, self._token):
            self._waiting.pop(self, None)

    def _close_oldest(self) -> None:
        if self not in self._waiting or len(self._waiting) <= SOCKETS:
            return
        for each in self._waiting:
            if each.cycle is None or each.cycle.response_complete:
                del self._waiting[each]
                each.transport.abort()
                return

    def _expect_headers(self) -> None:
        """Start the timer that closes the connection if the headers are late."""
        is_waiting = self.conn.their_state is h11.IDLE and (self.cycle is None or bool(self.conn.trailing_data[0]))
        if not is_waiting:
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(self._seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def shows_token(headers: Iterable[tuple[bytes, bytes]], token: str) -> bool:
    """Return True if the headers have the token, once, as `Authorization: Bearer TOKEN`."""
    given = [value for name, value in headers if name == b"authorization"]
    scheme, _, credentials = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
    return scheme.lower() == b"bearer" and compare_digest(credentials.strip(b" "), token.encode())


class _Guarded:
    """The application, for requests with the token only."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not shows_token(scope["headers"], self._token):
            body = {"error": "unauthorized", "hint": "send the server's token: Authorization: Bearer TOKEN"}
            refusal = JSONResponse(body, status_code=401, headers={"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)
