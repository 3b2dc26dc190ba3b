"""The benchmarks' client of `recall mcp`, for a server that starts at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from benchmarks import serving
from tests import warm


class Client(serving.Client):
    """A server and its client on stdin and stdout. Leaving its `with` block kills the server."""

    def __init__(self, store: Path, *flags: str) -> None:
        self.process = warm.Process(  # type: ignore[assignment]
            ["--store", str(store), "mcp", *flags], kind="mcp", cwd=Path.cwd(), env=os.environ, stdin=warm.PIPE,
            stderr=warm.DEVNULL,
        )  # fmt: skip
        self._number = 0
        self.answers: dict[int, dict[str, Any]] = {}
        client = {"name": "test", "version": "0"}
        begun = self.send("initialize", protocolVersion=serving.PROTOCOL, capabilities={}, clientInfo=client)
        self.receive(begun)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
