"""The output of examples/agent over a served store, and the answers in docs/agents.md."""

from __future__ import annotations

import asyncio
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from mcp import Client
from mcp.types import TextContent

from recall_core.adapters.mcp import http
from recall_core.adapters.mcp.offers import TOOLS
from recall_core.adapters.mcp.server import RecallServer
from recall_core.api.recall import Recall
from recall_core.api.serving import ConnectionPool, StoreSettings
from tests.pdfs import pdf

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "agent"
CALL = re.compile(r"^````text\n(\w+) (\{[^\n]*\})\n\n(.*?)^````$", re.M | re.S)
DIGEST = re.compile(r'(?<=igest )[0-9a-f]{12}|(?<="digest":")[0-9a-f]{12}|(?<=Newest document: )[0-9-]{10}')
"""The digest, and the day of the newest document, also depend on the times of files."""
WIKI = "# Village\n\nThe library of Underhollow opens on Saturdays.\n"
CONTRACT = (
    "The contract with the hosting company.",
    "It ends on 30 June.",
    "Notice is given three months before, by letter.",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the notes of the example and a store of them."""
    shutil.copytree(EXAMPLE / "notes", tmp_path / "notes")
    Recall.init(str(tmp_path), embedding="hash")
    with Recall.open(str(tmp_path)) as recall:
        recall.index(str(tmp_path / "notes"))
    return tmp_path


def run_agent(*argv: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EXAMPLE / "ask.py", *argv],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_agent_answers_ten_questions_with_valid_citations(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["ask.py", str(folder)])
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(EXAMPLE / "ask.py"), run_name="__main__")

    assert not ended.value.code
    assert capsys.readouterr().out == (EXAMPLE / "answers.txt").read_text(encoding="utf-8")


def test_each_agent_answers_from_its_own_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "agent"
    shutil.copytree(EXAMPLE, folder)
    for name in ("CONFIG", "STATE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    monkeypatch.setenv("RECALL_TRUST", sha256((folder / "agents.toml").read_bytes()).hexdigest())
    monkeypatch.chdir(folder)

    for agent, answers in (("lantern", "answers.txt"), ("allotment", "answers-allotment.txt")):
        done = run_agent("--agent", agent)
        assert (done.stdout, done.returncode) == ((EXAMPLE / answers).read_text(encoding="utf-8"), 0), done.stderr


@pytest.mark.slow
def test_changed_citation_line_exits_1(folder: Path) -> None:
    note = folder / "notes" / "on-call.md"
    note.write_text(note.read_text(encoding="utf-8").replace("Tuesday", "Wednesday"), encoding="utf-8")

    done = run_agent(folder / "recall.db")

    assert done.returncode == 1
    assert "  [notes/on-call.md:3] does not match the file\n" in done.stdout
    assert done.stdout.endswith("9 of 10 citations hold\n")


@pytest.mark.slow
def test_folder_without_store_exits_1_with_init_hint(tmp_path: Path) -> None:
    done = run_agent(tmp_path)

    assert (done.stdout, done.returncode) == ("", 1)
    assert '"code":"no_store"' in done.stderr
    assert "recall init" in done.stderr


def test_agents_page_shows_current_tool_answers(tmp_path: Path) -> None:
    shown_calls = CALL.findall((ROOT / "docs" / "agents.md").read_text(encoding="utf-8"))

    calls = [(tool, json.loads(given)) for tool, given, _ in shown_calls]
    answers = asyncio.run(ask_server(example_of_the_page(tmp_path), calls))

    assert {tool for tool, _, _ in shown_calls} == set(TOOLS)
    for (tool, given, shown), answer in zip(shown_calls, answers, strict=True):
        assert DIGEST.sub("-", answer.rstrip("\n")) == DIGEST.sub("-", shown.rstrip("\n")), f"{tool} {given}"


def example_of_the_page(folder: Path) -> Path:
    """Return the folder behind the answers on the page."""
    home, wiki = folder / "lantern", folder / "wiki"
    shutil.copytree(EXAMPLE / "notes", home / "notes")
    wiki.mkdir()
    (wiki / "underhollow.md").write_text(WIKI, encoding="utf-8")
    (home / "contract.pdf").write_bytes(pdf(CONTRACT))
    Recall.init(str(home), embedding="hash")
    with Recall.open(str(home)) as recall:
        recall.index(str(home / "notes"), str(home / "contract.pdf"), str(wiki))
    return home


async def ask_server(store: Path, calls: Sequence[tuple[str, dict[str, object]]]) -> list[str]:
    """Return the text of the answer to each call, made by the official client to a server in this process."""
    pool = ConnectionPool(StoreSettings(str(store), store))
    try:
        async with Client(http.protocol(RecallServer(), pool)) as client:
            results = [await client.call_tool(tool, given) for tool, given in calls]
    finally:
        pool.close()
    return ["".join(each.text for each in result.content if isinstance(each, TextContent)) for result in results]
