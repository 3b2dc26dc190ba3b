"""Console sessions of other pages, run in a shell in the folder of the README."""

import re
from pathlib import Path

import pytest

from tests.e2e.command_line import typed_here
from tests.e2e.test_readme import ROOT, SESSION, TIME, Step, steps

PAGES = ("whynot.md", "explain.md", "tuning.md")


def steps_of(page: str) -> list[Step]:
    sessions = "".join(SESSION.findall((ROOT / "docs" / page).read_text(encoding="utf-8")))
    return [Step(*piece.split("\n", 1)) for piece in re.split(r"^\$ ", sessions, flags=re.M)[1:]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("readme")
    for step in steps():
        typed_here(step.command, made)
        if step.command.startswith("recall add"):
            return made
    raise AssertionError("the README adds no folder")


@pytest.mark.parametrize("page", PAGES)
def test_sessions_print_what_the_page_shows(page: str, folder: Path) -> None:
    shown = [step for step in steps_of(page) if step.output]

    assert shown != []
    for step in shown:
        done = typed_here(step.command, folder)
        assert TIME.sub("- ms", done.stdout) == TIME.sub("- ms", step.output), step.command
