"""Calls of `recall mcp` that recalld answers from the store it keeps open."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from recall_core.adapters import client

if TYPE_CHECKING:
    from recall_core._lazy import sockets
    from recall_core.adapters.mcp.server import Result, ServerSettings

_THREADS = ThreadPoolExecutor(8, "recall-remote")
"""One for each call at recalld. More calls wait."""


class RemoteCall:
    """A call that recalld works on. future: the result, or None if the call must be answered here."""

    def __init__(self, request: str, store: str) -> None:
        self.future: Future[Result | None] = Future()
        self._argv = ("mcp", "--store", store, request)
        self._connections: list[sockets.socket] = []

    def run(self) -> None:
        """Ask recalld, and store its result."""
        if not self.future.set_running_or_notify_cancel():
            return
        result = None
        with suppress(OSError, ValueError):
            code, pieces = client.fetch(self._argv, os.environ, self._connections.append) or (1, [])
            result = None if code else json.loads(b"".join(content for _, content in pieces))
        self.future.set_result(result)

    def cancel(self) -> None:
        """End the call. recalld sees the connection close and cancels the query."""
        self.future.cancel()
        for connection in self._connections:
            with suppress(OSError):  # it is closed
                connection.shutdown(2)


class Remote(NamedTuple):
    """recalld as the server of a client. store: the value of --store, "" without one."""

    settings: ServerSettings
    store: str

    def ask(self, method: str, params: Mapping[str, Any]) -> RemoteCall:
        """Start a call."""
        request = {"settings": self.settings, "method": method, "params": params}
        call = RemoteCall(json.dumps(request, default=sorted), self.store)  # tools is a set
        _THREADS.submit(call.run)
        return call
