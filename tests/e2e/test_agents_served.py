"""`recall mcp --agent`: a process that serves the memory of one agent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

ROOT = Path(__file__).parents[2]
AGENTS = """
[defaults]
embedding = "hash"

[[agents]]
id = "work"
workspace = "~/work"
extra_paths = ["~/wiki"]

[[agents]]
id = "main"
workspace = "~/notes"

[[agents]]
id = "off"
enabled = false
"""
TEXTS = {
    "agents/recall/agents.toml": AGENTS,
    "work/MEMORY.md": "The kestrel keeps tokens.\n",
    "wiki/a.md": "The kestrel wiki.\n",
    "notes/MEMORY.md": "The heron keeps a garden.\n",
}


class Server:
    """`recall mcp --agent ID` of a person with this home folder."""

    def __init__(self, home: Path, agent: str) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT)}
        environment["XDG_CONFIG_HOME"] = str(home / "agents")
        command = [sys.executable, "-m", "recall_core", "--agent", agent, "mcp"]
        self.process = subprocess.Popen(
            command, cwd=home, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        client = {"name": "test", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        assert self.process.stdout is not None
        self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        while "id" not in (message := json.loads(self.process.stdout.readline())):
            pass
        return dict(message["result"])

    def call(self, tool: str, **arguments: Any) -> Any:
        return json.loads(self.ask("tools/call", name=tool, arguments=arguments)["content"][0]["text"])

    def close(self) -> None:
        self.process.communicate(timeout=60)  # closes stdin, which ends the server


def test_server_serves_the_memory_of_its_agent_alone(tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    server = Server(tmp_path, "work")
    try:
        last = time.monotonic() + 60
        while len(found := server.call("memory_search", query="kestrel")["results"]) < 2:  # the first sync
            assert time.monotonic() < last
            time.sleep(0.1)
        assert {each["path"] for each in found} == {"MEMORY.md", "wiki/a.md"}
        assert server.call("memory_get", path="wiki/a.md")["text"] == TEXTS["wiki/a.md"]
        assert "heron" not in str(
            [each["snippet"] for each in server.call("memory_search", query="heron")["results"]]
        )
        assert server.call("memory_search", query="x", agent="main")["code"] == "bad_arguments"
    finally:
        server.close()

    server = Server(tmp_path, "off")
    try:
        answer = server.call("memory_search", query="kestrel")
        assert (answer["disabled"], "switched off" in json.dumps(answer)) == (True, True)
    finally:
        server.close()
