"""Files of three agents, and command lines that use them."""

from __future__ import annotations

import io
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.agents.profiles import Agents, parse, resolve
from recall_core.errors import RecallError

CREATED = """
[agents.defaults]
model = "anthropic/claude-opus-4"
[agents.defaults.memorySearch]
provider = "hash"

[[agents.list]]
id = "main"
default = true
workspace = "~/openclaw"

[[agents.list]]
id = "work"
name = "Work Assistant"
workspace = "~/work-projects"
tools = { deny = ["exec"] }
memorySearch = { extraPaths = ["~/docs/work"] }

[[agents.list]]
id = "support"
memorySearch = { sources = ["memory", "sessions"], extraPaths = ["~/docs/support-kb"] }

[[bindings]]
agentId = "work"
match = { channel = "slack", accountId = "company-workspace" }

[[bindings]]
agentId = "support"
match = { channel = "telegram", peer = { kind = "group", id = "support-channel" } }

[[bindings]]
agentId = "main"
"""
"""The first example of the description, with an embedder that needs no network."""
SHARED = """
[agents.defaults.memorySearch]
provider = "hash"
sources = ["memory"]
extraPaths = ["~/docs/shared"]

[[agents.list]]
id = "support-agent"
memorySearch = { sources = ["memory", "sessions"], extraPaths = ["~/docs/support-kb"] }

[[agents.list]]
id = "dev-agent"
memorySearch = { provider = "local", extraPaths = ["~/code/internal-docs"] }

[[agents.list]]
id = "public-agent"
memorySearch = { extraPaths = [] }
"""
POWER = """
[agents.defaults.memorySearch]
provider = "local"
extraPaths = ["~/docs/team-wiki"]
query = { hybrid = { vectorWeight = 0.5, textWeight = 0.5 } }
"""
TEXTS = {
    "openclaw/MEMORY.md": "The heron tends the garden.\n",
    "openclaw/memory/2024-01.md": "# January\n\nThe heron planted a garden of mint.\n",
    "openclaw/README.md": "The heron is not part of the memory.\n",
    "work-projects/MEMORY.md": "The kestrel tends the garden of tokens.\n",
    "work-projects/memory/2024/02.md": "# February\n\nWe chose JWT for the kestrel garden.\n",
    "docs/work/plan.md": "The kestrel plan is in the wiki garden.\n",
    "docs/support-kb/faq.md": "The plover answers questions in the garden.\n",
    ".local/share/recall/workspace/support/MEMORY.md": "The plover tends the garden desk.\n",
    ".local/share/recall/workspace/support/sessions/a.jsonl": (
        '{"role": "user", "content": "where is the plover garden"}\n'
        '{"role": "assistant", "content": "the plover garden is upstairs"}\n'
    ),
}
BIRDS = {"main": "heron", "work": "kestrel", "support": "plover"}


def new_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a new home folder with the files of three agents; the current folder is elsewhere."""
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    for name, folder in (("CONFIG", ".config"), ("STATE", ".local/state"), ("DATA", ".local/share")):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / folder))
    for name, text in TEXTS.items():
        write(home / name, text)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    write(home / ".config/recall/agents.toml", CREATED)
    return home


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def run(*argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return cli.main(argv, streams=Streams(io.StringIO(), out, err)), out.getvalue(), err.getvalue()


def answer(*argv: str) -> dict[str, Any]:
    return dict(json.loads(run(*argv, "--json")[1]))


def agents_of(text: str) -> Agents:
    return resolve([parse(tomllib.loads(text), Path("/c/agents.toml"))], data=Path("/data"))


def refusal(text: str) -> tuple[str, str]:
    with pytest.raises(RecallError) as caught:
        agents_of(text)
    return caught.value.code, caught.value.message
