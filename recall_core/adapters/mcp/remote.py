"""Calls of `recall mcp` that recalld answers from the store it keeps open."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

from recall_core.adapters import client

if TYPE_CHECKING:
    from recall_core._lazy import sockets
    from recall_core.adapters.mcp.server import Result, ServerSettings

CALLS = 8
"""Most calls at recalld at a time. Others wait for them."""


class RemoteCall:
    """A call that recalld works on. future: the result, or None if the call must be answered here."""

    def __init__(self, request: str, store: str) -> None:
        self.future: Future[Result | None] = Future()
        self._argv = ("mcp", "--store", store, request)
        self._lock = Lock()
        self._connection: sockets.socket | None = None
        self._is_cancelled = False

    def run(self) -> None:
        """Ask recalld, and store its result."""
        if not self.future.set_running_or_notify_cancel():
            return
        result = None
        with suppress(OSError, ValueError):
            code, pieces = client.fetch(self._argv, os.environ, self._keep) or (1, [])
            result = None if code else json.loads(b"".join(content for _, content in pieces))
        self._keep(None)
        self.future.set_result(result)

    def cancel(self) -> None:
        """End the call. recalld sees the connection close and cancels the query."""
        self.future.cancel()
        with self._lock, suppress(OSError):
            self._is_cancelled = True
            if self._connection is not None:
                self._connection.shutdown(2)

    def _keep(self, connection: sockets.socket | None) -> None:
        with self._lock:
            if self._is_cancelled and connection is not None:
                raise ConnectionAbortedError
            self._connection = connection


class Remote:
    """recalld as a client's server. store: the value of --store, "" without one."""

    def __init__(self, settings: ServerSettings, store: str) -> None:
        self._settings = settings._replace(tools=sorted(settings.tools))  # type: ignore[arg-type]
        self._store = store
        self._threads = ThreadPoolExecutor(CALLS, "recall-remote")

    def ask(self, method: str, params: Mapping[str, Any]) -> RemoteCall:
        """Start a call."""
        request = {"settings": self._settings, "method": method, "params": params}
        call = RemoteCall(json.dumps(request), self._store)
        self._threads.submit(call.run)
        return call

    def close(self) -> None:
        """Start no more calls."""
        self._threads.shutdown(wait=False, cancel_futures=True)
