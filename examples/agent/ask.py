"""Ask a served store ten questions, as an agent would: `python examples/agent/ask.py STORE_OR_FOLDER`.

`--agent ID` asks the memory of that agent of agents.toml, and takes no store.

Starts `recall mcp` over stdio with the official client. For each question it searches, reads the lines that the best
result cites, and compares them with the file on disk. The exit code is 1 if a citation does not match.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from recall_core.api.agents import list_agents

LANTERN, ALLOTMENT = "lantern", "allotment"
QUESTIONS = {
    LANTERN: (
        "How is a deploy undone?",
        "When does nobody deploy?",
        "When does the pager change hands?",
        "What stops the sender when the queue has more than 500 messages?",
        "Who looks after the backups?",
        "How long are copies of the database kept?",
        "Why did every reader get the same message twice?",
        "Why one queue rather than one for each library?",
        "Why did we not take SQLite?",
        "When is the address of a reader deleted?",
    ),
    ALLOTMENT: (
        "Who shares the harvest?",
        "When is the water turned off?",
        "At what time does the gate close?",
        "How many barrows of compost did we dig in?",
        "Who replaced the pane of the greenhouse?",
        "What did we do about the slugs?",
        "Who waters the tomatoes?",
        "Why do we grow no potatoes?",
        "How deep do we sow broad beans?",
        "What keeps the white butterfly away?",
    ),
}


async def answer(client: Client, tool: str, **given: object) -> dict[str, Any]:
    """Return the answer of a tool as an object. Raises ValueError if it is an error."""
    result = await client.call_tool(tool, given)
    text = "".join(each.text for each in result.content if isinstance(each, TextContent))
    content: dict[str, Any] = json.loads(text)
    if result.is_error or content.get("disabled"):
        raise ValueError(text)
    return content


async def cited(client: Client, question: str) -> tuple[str, str]:
    """Return the citation of the best passage, such as notes/a.md:3-4, and its text in the store."""
    found = await answer(client, "memory_search", query=question, maxResults=1)
    if not found["results"]:
        raise ValueError(f"no result for: {question}")
    citation = found["results"][0]["citation"]
    read = await answer(client, "get", targets=[citation], fields="all")
    return citation, read["found"]["text"].rstrip("\n")


def on_disk(folders: Sequence[Path], citation: str) -> str:
    """Return the cited lines of the first such file below the folders, or "" if it has no such lines."""
    path, _, lines = citation.rpartition(":")
    first, _, last = lines.partition("-")
    for folder in folders:
        if (folder / path).is_file():
            text = (folder / path).read_text(encoding="utf-8")
            return "\n".join(text.split("\n")[int(first) - 1 : int(last or first)])
    return ""


async def ask(client: Client, folders: Sequence[Path], questions: Sequence[str]) -> bool:
    """Print each question, its answer and citation. Return True if all citations match."""
    wrong = 0
    for question in questions:
        citation, text = await cited(client, question)
        holds = text in on_disk(folders, citation)
        wrong += not holds
        print(question)
        print("".join(f"  {line}\n" for line in text.split("\n")), end="")
        print(f"  [{citation}]{'' if holds else ' does not match the file'}\n")
    print(f"{len(questions) - wrong} of {len(questions)} citations hold")
    return wrong == 0


async def main(store: Path | None, agent: str) -> int:
    """Return 0 if every citation matches, else 1. store: None for the memory of the agent."""
    if store is None:
        (profile,) = list_agents(agent)["agents"]
        folders = [Path(profile["workspace"]), *(Path(each).parent for each in profile["extra_paths"])]
        served = ["--agent", agent, "mcp"]
    else:
        folders = [store if store.is_dir() else store.parent]
        served = ["mcp", "--store", str(store), "--base", str(folders[0])]
    command = ["-m", "recall_core", *served]
    async with Client(StdioServerParameters(command=sys.executable, args=command, env={**os.environ})) as client:
        try:
            return 0 if await ask(client, folders, QUESTIONS[agent]) else 1
        except ValueError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--agent", agent] if agent in QUESTIONS:
            sys.exit(asyncio.run(main(None, agent)))
        case [store]:
            sys.exit(asyncio.run(main(Path(store).absolute(), LANTERN)))
    sys.exit(f"usage: python examples/agent/ask.py STORE_OR_FOLDER, or --agent {LANTERN} or {ALLOTMENT}")
