"""The server over HTTP, on this machine alone, for who has its token."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from contextlib import closing, suppress
from hmac import compare_digest
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from recall_core import files, paths
from recall_core.errors import RecallError, UsageError

HOST = "127.0.0.1"
PATH = "/mcp"
_LAST_PORT = 65_535
_NAMES = (HOST, "localhost")


class Door(NamedTuple):
    """Where the server listens, and the file of its token, None where nobody needs one."""

    listening: socket.socket
    token: str | None
    token_file: Path | None

    @property
    def port(self) -> int:
        """The port, which was free where 0 was asked for."""
        return int(self.listening.getsockname()[1])

    @property
    def address(self) -> str:
        """What a client is given."""
        return f"http://{HOST}:{self.port}{PATH}"


def door(port: int, *, has_token: bool) -> Door:
    """A port that is open on the loopback, and a token in a file that its owner alone reads.

    Raises RecallError `port_unavailable`, `token_unkept`; UsageError `bad_value`.
    """
    if port > _LAST_PORT:
        message = f"--port goes from 0 to {_LAST_PORT}, not {port}."
        raise UsageError("bad_value", message, hint="--port 0 takes a free one")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        message = f"Port {port} cannot be opened: {error.strerror}."
        raise RecallError("port_unavailable", message, hint="--port 0 takes a free one") from error
    if not has_token:
        return Door(listening, None, None)
    token, made = secrets.token_urlsafe(32), Door(listening, None, None)
    folder = paths.state_folder(os.environ)
    if folder is None:
        listening.close()
        raise RecallError("token_unkept", "There is no folder for the token.", hint="set HOME, or --no-token")
    file = folder / f"mcp-{made.port}.token"
    try:
        files.write_private(file, token + "\n")
    except OSError as error:
        listening.close()
        message = f"{file} cannot be written: {error.strerror}."
        raise RecallError("token_unkept", message, hint="set XDG_STATE_HOME, or --no-token") from error
    return made._replace(token=token, token_file=file)


async def serve(protocol: Server[Any], at: Door, ready: Callable[[], None]) -> None:
    """Answer until the process is told to end. ready: called once requests are taken."""
    hosts = [f"{name}:{at.port}" for name in _NAMES]
    security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts])
    app: ASGIApp = protocol.streamable_http_app(streamable_http_path=PATH, transport_security=security)
    if at.token is not None:
        app = _Guarded(app, at.token)
    config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="on", timeout_graceful_shutdown=2)
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
        """Take requests, and say so."""
        await super().startup(sockets)
        self._ready()


class _Guarded:
    """The application for requests that bring the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_known(scope):
            body = {"error": "unauthorized", "hint": "send the server's token: Authorization: Bearer TOKEN"}
            refusal = JSONResponse(body, status_code=401, headers={"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and compare_digest(given[0], self._wanted)
