"""The README's console sessions, run in a shell in order."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.command_line import ROOT, typed, typed_here

SESSION = re.compile(r"^```console\n(.*?)^```", re.M | re.S)
TIME = re.compile(r"\d+ ms")


class Step(NamedTuple):
    command: str
    output: str
    """As printed in the README; empty if the README omits it."""


def steps() -> list[Step]:
    sessions = "".join(SESSION.findall((ROOT / "README.md").read_text(encoding="utf-8")))
    pieces = re.split(r"^\$ ", sessions, flags=re.M)[1:]
    return [Step(*piece.split("\n", 1)) for piece in pieces]


@pytest.mark.parametrize(
    "is_in_shell", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["here", "in a shell"]
)
def test_readme_commands_print_what_the_readme_shows(tmp_path: Path, is_in_shell: bool) -> None:
    for step in steps():
        done = (typed if is_in_shell else typed_here)(step.command, tmp_path)

        assert done.returncode == 0, step.command + "\n" + done.stdout
        if step.output:
            assert TIME.sub("- ms", done.stdout) == TIME.sub("- ms", step.output), step.command


def test_readme_shows_five_recall_commands_with_four_outputs() -> None:
    shown = [step for step in steps() if step.command.startswith("recall ")]

    assert len(shown) == 5
    assert sum(bool(step.output) for step in shown) == 4
