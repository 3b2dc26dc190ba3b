"""The chores of docs/chores.md, done in order in a copy of their folder."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.command_line import typed_here
from tests.e2e.test_readme import ROOT, Step

PART = re.compile(r"^```console\n(?P<session>.*?)^```|^### (?P<title>[^\n]+)", re.M | re.S)
VARIES = re.compile(r"\d+ ms|\d+\.\d s")
HOME = "/home/ada/harbour"
"""Where the page has its folder."""

ENDS_WITH = {
    "Check a query before it goes into a script": 2,
    "Why is a file not found": 7,
    "Why is a file not in the store": 7,
    "Why is a line not found": 7,
    "Why is nothing found": 7,
    "Why is a file not in the context": 7,
    "Reject a change for the worse": 7,
}
"""The exit status of a chore's last command if it is not 0."""

ENDS_IN_HELP = {
    "recall whynot 'idempotenzy' --bm25 --target retries.md": 7,
    "recall whynot 'plan of next year' --target drafts/plan.md": 7,
}
"""The exit status of a command of docs/help.md, where it is not 0."""


class Chore(NamedTuple):
    title: str
    steps: list[Step]


def chores() -> list[Chore]:
    page = (ROOT / "docs" / "chores.md").read_text(encoding="utf-8")
    found: list[Chore] = []
    for part in PART.finditer(page):
        if part["title"]:
            found.append(Chore(part["title"], []))
        else:
            pieces = re.split(r"^\$ ", part["session"], flags=re.M)[1:]
            found[-1].steps.extend(Step(*piece.split("\n", 1)) for piece in pieces)
    return found


def test_every_chore_works_as_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "harbour"
    shutil.copytree(ROOT / "examples" / "harbour", folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for title, steps in chores():
        for step in steps:
            done = typed_here(step.command, folder)

            ends = ENDS_WITH.get(title, 0) if step == steps[-1] else 0
            assert done.returncode == ends, f"{title}: {step.command}\n{done.stdout}"
            if step.output:
                printed = done.stdout.replace(str(folder), HOME)
                printed += "" if printed.endswith("\n") else "\n"
                assert VARIES.sub("-", printed) == VARIES.sub("-", step.output), f"{title}: {step.command}"


def test_a_chore_takes_one_command_or_two() -> None:
    found = chores()

    assert len(found) == len({chore.title for chore in found}) >= 60
    assert [chore.title for chore in found if not 1 <= len(chore.steps) <= 2] == []
    assert set(ENDS_WITH) <= {chore.title for chore in found}
    assert sum(bool(step.output) for chore in found for step in chore.steps) >= 45


def test_the_index_names_commands_of_the_chores_it_links_to() -> None:
    page = (ROOT / "docs" / "chores.md").read_text(encoding="utf-8")
    commands = {anchor_of(chore.title): [step.command for step in chore.steps] for chore in chores()}
    rows = re.findall(r"^\| [^|]+ \| \[`([^`]+)`\]\(#([\w-]+)\) \|$", page, re.M)

    assert len(rows) >= 18
    for command, anchor in rows:
        words = command.split()
        assert any(all(word in step.split() for word in words) for step in commands[anchor]), command


def test_help_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "harbour"
    shutil.copytree(ROOT / "examples" / "harbour", folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    sessions = PART.findall((ROOT / "docs" / "help.md").read_text(encoding="utf-8"))
    pieces = [piece for session, _ in sessions for piece in re.split(r"^\$ ", session, flags=re.M)[1:]]

    for command in ("recall init --embedding hash", "recall add docs notes"):
        assert typed_here(command, folder).returncode == 0
    assert len(pieces) >= 10
    for step in (Step(*piece.split("\n", 1)) for piece in pieces):
        done = typed_here(step.command, folder)

        assert done.returncode == ENDS_IN_HELP.get(step.command, 0), f"{step.command}\n{done.stdout}"
        if step.output:
            printed = done.stdout.replace(str(folder), HOME)
            assert VARIES.sub("-", printed) == VARIES.sub("-", step.output), step.command


def anchor_of(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
