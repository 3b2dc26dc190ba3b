"""`recall mcp --agent` and `recall serve --agent`: processes that serve the memory of one agent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

pytest.importorskip("mcp")

from tests.mcp_client import PATIENCE, Client, over_http, text_of
from tests.recalld import running

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
    "notes/memory/garden.md": "The heron keeps a garden.\n",
}


def filled(home: Path, **more: str) -> dict[str, str]:
    """Write the files of the agents, and return the environment of this person."""
    for name, text in TEXTS.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")
    own = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT)}
    return {**own, "XDG_CONFIG_HOME": str(home / "agents"), **more}


class Server:
    """`recall mcp --agent ID` of a person with this home folder."""

    def __init__(self, home: Path, agent: str) -> None:
        command = [sys.executable, "-m", "recall_core", "--agent", agent, "mcp"]
        self.process = subprocess.Popen(
            command, cwd=home, env=filled(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
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


class Target(NamedTuple):
    """A document of an agent, by every name that it has."""

    bird: str
    path: str
    id: str
    chunk: str
    text: str


def posts(target: Target) -> dict[str, tuple[str, dict[str, Any] | None]]:
    """Return requests below /v1 that reach for a document."""
    words, rql = {"words": target.bird}, f"SELECT * FROM chunk USING lexical('{target.bird}') LIMIT 9"
    return {
        "search": ("search", words),
        "search by words": ("search", {**words, "mode": "lexical"}),
        "search by meaning": ("search", {**words, "mode": "semantic", "k": 50}),
        "search with a filter": (
            "search",
            {**words, "filter": f"doc.id = '{target.id}' OR doc.path GLOB '*'", "k": 50},
        ),
        "query": ("query", {"rql": rql}),
        "query of documents": ("query", {"rql": "SELECT * FROM doc LIMIT 99"}),
        "context": ("context", words),
        "context with a pin": ("context", {**words, "pins": [target.chunk]}),
        "explain": ("explain", {**words, "chunk": target.chunk}),
        "whynot": ("whynot", {"words": "keeps", "target": target.id}),
        "whynot text": ("whynot", {"words": "keeps", "target": f'"{target.text}"'}),
        "get path": ("get", {"target": target.path}),
        "get id": ("get", {"target": target.id}),
        "get prefix": ("get", {"target": target.id[:8]}),
        "get lines": ("get", {"target": f"{target.path}:1"}),
        "documents": ("documents", None),
        "documents by name": (f"documents?glob=*{target.path.rpartition('/')[2]}", None),
    }


def calls(target: Target) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return calls of tools that reach for a document."""
    return {
        "memory_search": ("memory_search", {"query": target.bird}),
        "memory_search of all": ("memory_search", {"query": target.bird, "corpus": "all", "text": True}),
        "memory_get": ("memory_get", {"path": target.path}),
        "memory_get id": ("memory_get", {"path": target.id}),
        "search": ("search", {"query": target.bird, "fields": "all"}),
        "context": ("context", {"query": target.bird}),
        "explain": ("explain", {"query": target.bird, "target": target.chunk}),
        "whynot": ("whynot", {"query": "keeps", "target": target.id}),
        "get": ("get", {"targets": [target.id], "fields": "all"}),
        "get by glob": ("get", {"glob": "**"}),
        "list": ("list", {"fields": "all"}),
    }


def lines(target: Target) -> dict[str, tuple[str, ...]]:
    """Return command lines that reach for a document."""
    return {
        "search": ("search", target.bird),
        "query": ("query", f"SELECT * FROM chunk USING lexical('{target.bird}') LIMIT 9"),
        "context": ("context", target.bird),
        "explain": ("explain", target.bird, "--chunk", target.chunk),
        "whynot": ("whynot", "keeps", "--target", target.id),
        "get path": ("get", target.path),
        "get id": ("get", target.id),
        "ls": ("ls",),
        "export": ("export",),
    }


@contextmanager
def serving(home: Path, agent: str, environment: dict[str, str]) -> Iterator[tuple[str, Client]]:
    """Yield the address of `recall serve --agent ID`, and a client of its tools."""
    command = [sys.executable, "-m", "recall_core", "--agent", agent, "serve", "--port", "0", "--no-token"]
    process = subprocess.Popen(
        command, cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with over_http(f"{address}mcp", None) as client:
            yield address, client
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def over_both(address: str, client: Client, target: Target) -> Iterator[tuple[str, str]]:
    """Yield each way to the document through a server, and its answer."""
    for way, (path, body) in posts(target).items():
        method = "GET" if body is None else "POST"
        reply = httpx.request(method, f"{address}v1/{path}", json=body, timeout=PATIENCE, trust_env=False)
        yield f"/v1 {way}", reply.text
    for way, (tool, given) in calls(target).items():
        yield f"/mcp {way}", text_of(client.call(tool, **given))


def test_no_door_leads_to_the_memory_of_another_agent(tmp_path: Path) -> None:
    runtime = tmp_path / "run"
    runtime.mkdir(0o700)
    home = tmp_path / "home"
    environment = filled(home, XDG_RUNTIME_DIR=str(runtime))

    def told(*argv: str) -> str:
        command = [sys.executable, "-m", "recall_core", *argv]
        done = subprocess.run(
            command, cwd=home, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        return done.stdout + done.stderr

    def target(agent: str, bird: str) -> Target:
        hit = json.loads(told("--agent", agent, "search", f"{bird} keeps", "--k", "1", "--json"))["results"][0]
        doc, chunk = hit["doc"], hit["chunk"]
        return Target(bird, doc["path"], doc["id"], chunk["id"], chunk["text"].strip())

    with running(runtime, environment):
        targets = {"work": target("work", "kestrel"), "main": target("main", "heron")}
        stores = [str(home / ".local/share/recall/memory" / f"{agent}.db") for agent in targets]
        for store, each in zip(stores, targets.values(), strict=True):
            assert each.text in told("search", each.bird, "--store", store)
        assert sorted(json.loads(told("daemon", "status", "--json"))["daemon"]["stores"]) == sorted(stores)
        answers: dict[tuple[str, str, str], str] = {}
        for agent in targets:
            with serving(home, agent, environment) as (address, client):
                for whose, each in targets.items():
                    for way, answer in over_both(address, client, each):
                        answers[agent, whose, way] = answer
        for whose, each in targets.items():
            for way, argv in lines(each).items():
                answers["work", whose, f"recalld {way}"] = told(*argv, "--agent", "work")

    finds = {"documents", "documents by name", "query of documents", "whynot", "whynot text", "list", "ls"}
    for (agent, whose, way), text in answers.items():
        there = targets[whose]
        words = there.text.removeprefix(f"The {there.bird} ")  # questions repeat the name of the bird
        if agent == whose and way.partition(" ")[2] not in finds:
            assert words in text, (agent, way, text)
        if agent != whose and "whynot text" not in way:
            assert words not in text, (agent, way, text)
    assert len({way for _, _, way in answers}) >= 37  # 23 more are in tests/unit/test_agents.py
