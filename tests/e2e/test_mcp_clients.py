"""`recall mcp` called by common agent clients, with their ways to send arguments and read answers.

`make clients` installs the clients. Each runs in a separate process (`tests/mcp_clients`) with its version of the
SDK; the server runs with ours.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("mcp")

from recall_core.adapters.mcp import tools
from recall_core.adapters.mcp.offers import TOOLS
from recall_core.adapters.mcp.tools import BY_NAME
from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.embed.registry import kind
from tests.mcp_client import PATIENCE, ROOT, Listening, command, environment, filled

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

NOTES = {f"notes/n{n:02}.md": f"# Note {n}\n\nEntry {n} of the harbour's diary.\n" for n in range(20)}
TEXTS = {**NOTES, "log.txt": "".join(f"Line {number} of the log.\n" for number in range(1, 31))}


class Foreign(NamedTuple):
    """A client: its driver, its package and the SDK that it needs.

    checks_types: the client itself refuses arguments of another type.
    """

    driver: str
    package: str
    sdk: str
    checks_types: bool = False

    @property
    def python(self) -> Path:
        """Interpreter that has the client."""
        return ROOT / ".clients" / self.sdk / "bin" / "python"


CLIENTS = (
    Foreign("with_sdk", "mcp", "sdk1"),
    Foreign("with_sdk", "mcp", "sdk2"),
    Foreign("with_langchain", "langchain_mcp_adapters", "sdk1"),
    Foreign("with_mcp_use", "mcp_use", "sdk1", checks_types=True),
    Foreign("with_fastmcp", "fastmcp", "sdk2"),
    Foreign("with_pydantic_ai", "pydantic_ai", "sdk2"),
    Foreign("with_openai_agents", "agents", "sdk2"),
)


class Call(NamedTuple):
    """A tool call, and the expected content of its answer."""

    tool: str
    arguments: dict[str, Any]
    expected: str


PLAIN = (
    Call("search", {"query": "entry 17 of the diary", "k": 3}, "**notes/n17.md:"),
    Call("search", {"query": "", "rql": "SELECT * FROM chunk USING lexical('diary') LIMIT 2"}, "2 hits"),
    Call("context", {"query": "entry 17", "budgetTokens": 200}, "[1] notes/n17.md:"),
    Call("explain", {"query": "entry 17", "target": "CHUNK"}, "score"),
    Call("whynot", {"query": "log", "target": "notes/n03.md"}, "notes/n03.md"),
    Call("get", {"targets": ["log.txt:3-4"]}, "**log.txt:3-4**\n```\nLine 3 of the log.\nLine 4 of the log.\n```"),
    Call("list", {"prefix": "notes/"}, "notes/n07.md"),
    Call("status", {}, f"{len(TEXTS)} documents, "),
    Call("memory_search", {"query": "entry 17", "maxResults": 2}, "notes/n17.md"),
    Call("memory_get", {"path": "log.txt", "from": 3, "lines": 1}, "Line 3 of the log."),
    Call("memory_get", {"path": "log.txt:3-4"}, "Line 3 of the log."),
)
QUESTION = {"rql": "", "k": 3, "mode": "hybrid", "filter": "", "set": [], "fields": "compact"}
EVERY_ARGUMENT = (
    Call("search", {"query": "entry 17", **QUESTION}, "**notes/n17.md:"),
    Call("context", {"query": "entry 17", **QUESTION, "budgetTokens": 200}, "[1] notes/n17.md:"),
    Call("explain", {"query": "entry 17", **QUESTION, "target": "CHUNK", "versus": ""}, "score"),
    Call("whynot", {"query": "log", **QUESTION, "target": "notes/n03.md", "budgetTokens": 200}, "notes/n03.md"),
    Call(
        "get",
        {"targets": ["log.txt"], "glob": "", "lines": "3-4", "maxBytes": 1000, "fields": "compact"},
        "**log.txt:3-4**\n",
    ),
    Call("list", {"prefix": "", "glob": "notes/n1*", "offset": 0, "fields": "compact"}, "10 of 10 documents"),
    Call("status", {"fields": "compact"}, f"{len(TEXTS)} documents, "),
    Call(
        "memory_search",
        {"query": "entry 17", "maxResults": 1, "minScore": 0, "corpus": "all", "text": True},
        "notes/n17.md",
    ),
    Call("memory_get", {"path": "log.txt", "from": 3, "lines": 1}, "Line 3 of the log."),
)
"""Models with strict schemas send every argument; unwanted ones are empty."""
ODD = (
    Call("search", {"query": "entry 17", "k": "1", "set": '{"min_score": 0}', "mode": None}, "1 hit"),
    Call("context", {"query": "entry 17", "budgetTokens": 200.0, "set": "min_score=0"}, "[1] notes/n17.md:"),
    Call("get", {"targets": "log.txt:3-4"}, "**log.txt:3-4**"),
    Call("get", {"targets": '["log.txt:3-4", "log.txt:6"]', "maxBytes": "900"}, "**log.txt:6**"),
    Call("memory_search", {"query": "entry 17", "text": "true", "maxResults": "1"}, '"text"'),
    Call("memory_get", {"path": "log.txt", "from": "3", "lines": "1"}, "Line 3 of the log."),
)
ERRORS = (
    Call("search", {"query": "x", "k": 0}, "k: Expected int >= 1."),
    Call("search", {"query": "x", "filter": "doc.tgas = 'a'"}, "doc.tags"),
    Call("get", {"targets": ["notes/n99.md"]}, "unknown_target"),
    Call("memory_get", {"path": "log.txt", "from": 31}, "30}"),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with the embedder that `recall init` chooses if it is installed."""
    local = "hash" if kind("local").missing(Config()) else "local"
    return filled(tmp_path_factory.mktemp("clients") / "store", TEXTS, embedding=local)


@pytest.fixture(scope="module")
def chunk(store: Path) -> str:
    with Recall.open(str(store)) as recall:
        return recall.search("entry 17")["results"][0]["chunk"]["id"]


@pytest.fixture(scope="module")
def guarded(store: Path) -> Iterator[Listening]:
    with Listening(store) as server:
        yield server


@pytest.fixture(scope="module")
def open_to_all(store: Path) -> Iterator[Listening]:
    with Listening(store, "--port", "0", "--no-token") as server:
        yield server


@pytest.fixture(params=["stdio", "http", "token"])
def place(request: pytest.FixtureRequest, store: Path) -> dict[str, Any]:
    """Return the address or command of the server for a client."""
    if request.param == "stdio":
        return {"command": command(store), "url": "", "headers": {}}
    server: Listening = request.getfixturevalue("guarded" if request.param == "token" else "open_to_all")
    headers = {"Authorization": f"Bearer {server.token}"} if request.param == "token" else {}
    return {"command": [], "url": server.address, "headers": headers}


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: f"{client.package}-{client.sdk}")
def test_client_calls_every_tool_and_leaves_no_process(
    client: Foreign, place: dict[str, Any], store: Path, chunk: str
) -> None:
    _expect_installed(client)
    calls = [
        call._replace(arguments={key: chunk if value == "CHUNK" else value for key, value in call.arguments.items()})
        for call in (*PLAIN, *EVERY_ARGUMENT, *(() if client.checks_types else ODD), *ERRORS)
    ]

    done = _driven(client, store, calls, place)

    assert sorted(done["schemas"]) == sorted(TOOLS)
    for name, schema in done["schemas"].items():
        own = tools.schema(BY_NAME[name].takes)
        if client.checks_types:  # a schema of a model of Pydantic, and LangChain leaves out Python's keywords
            assert set(schema["properties"]) == own["properties"].keys() - {"from"}, name
            continue
        assert {**schema, "required": own["required"]} == own, name
        assert schema["required"] in (own["required"], list(own["properties"])), name  # the latter if it is strict
    for call, (text, is_error) in zip(calls, done["answers"], strict=True):
        assert is_error == (call in ERRORS), (call, text)
        assert call.expected in text, (call, text)
        assert not is_error or "hint" in text, (call, text)


def _expect_installed(client: Foreign) -> None:
    """Skip the test if the client is not installed."""
    find = f"import sys; from importlib.util import find_spec; sys.exit(find_spec({client.package!r}) is None)"
    if not client.python.exists() or subprocess.run([client.python, "-c", find], check=False).returncode:
        pytest.skip(f"{client.package} is not installed in .clients/{client.sdk}: make clients")


def _driven(client: Foreign, store: Path, calls: list[Call], place: dict[str, Any]) -> dict[str, Any]:
    """Return the output of the client. A server left running keeps stderr open, and the wait times out."""
    home = store.parent
    job = {"calls": [each[:2] for each in calls], "env": environment(home), "cwd": str(home), **place}
    alone = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8", **_SILENT}
    ran = subprocess.run(
        [client.python, ROOT / "tests" / "mcp_clients" / f"{client.driver}.py"], input=json.dumps(job), env=alone,
        cwd=home, text=True, capture_output=True, timeout=2 * PATIENCE, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return dict(json.loads(ran.stdout.splitlines()[-1]))


_SILENT = {"MCP_USE_ANONYMIZED_TELEMETRY": "false", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
"""Settings that stop clients from reporting their use to their makers."""
