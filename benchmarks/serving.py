"""`recall mcp` as a process of its own: a client of it, and what an answer and the server itself cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PROTOCOL = "2025-06-18"


class Client:
    """A server on its stdin and stdout, and its client; use it in a `with` block, which ends it by force."""

    def __init__(self, store: Path, *flags: str, environment: dict[str, str] | None = None) -> None:
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "recall_core", "--store", str(store), "mcp", *flags],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
            env={**variables, "PYTHONPATH": str(Path(__file__).parents[1]), **(environment or {})},
        )  # fmt: skip
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        client = {"name": "benchmark", "version": "0"}
        begun = self.send("initialize", protocolVersion=PROTOCOL, capabilities={}, clientInfo=client)
        self.instructions = str(self.receive(begun)["result"].get("instructions"))
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def send(self, method: str, **params: Any) -> int:
        """Send a request, and say which number its answer will have. Raises OSError where nobody reads it."""
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def cancel(self, number: int) -> None:
        """Say that nobody waits for that answer."""
        params = {"requestId": number}
        self._write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def receive(self, number: int) -> dict[str, Any]:
        """The answer of that number, whatever comes before it. Raises EOFError where the server has ended."""
        assert self.process.stdout is not None
        while number not in self._answers:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError(f"the server has ended with {self.process.wait()}")
            message = json.loads(line)
            if "id" in message and "method" not in message:
                self._answers[message["id"]] = message
        return self._answers.pop(number)

    def ask(self, tool: str, **arguments: Any) -> int:
        """Call a tool without waiting for its answer."""
        return self.send("tools/call", name=tool, arguments=arguments)

    def call(self, tool: str, **arguments: Any) -> str:
        """The text that a tool answers, an error's too."""
        return text_of(self.receive(self.ask(tool, **arguments)))

    def cpu_ms(self) -> float:
        """Processor time of the server until now, that of ended threads included."""
        return time.clock_gettime(((~self.process.pid) << 3) | 2) * 1000  # the clock of another process

    def pss_mb(self) -> float:
        """Memory of the server; what others have mapped, too, counts in parts."""
        told = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text(encoding="ascii")
        return next(int(line.split()[1]) / 1e3 for line in told.splitlines() if line.startswith("Pss:"))

    def kill(self) -> None:
        """End the server so that it has no last word."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError):  # what it had not read
                    stream.close()

    def _write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()


def text_of(message: dict[str, Any]) -> str:
    """The text of the answer to a call. Raises AssertionError for an error of the protocol."""
    assert "result" in message, message
    return "".join(each["text"] for each in message["result"]["content"])
