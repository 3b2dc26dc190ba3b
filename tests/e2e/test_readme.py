"""The README's console sessions, typed into a shell from top to bottom."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SESSION = re.compile(r"^```console\n(.*?)^```", re.M | re.S)
TIME = re.compile(r"\d+ ms")


class Step(NamedTuple):
    command: str
    output: str
    """As printed in the README; empty where the README leaves it out."""


def steps() -> list[Step]:
    sessions = "".join(SESSION.findall((ROOT / "README.md").read_text(encoding="utf-8")))
    pieces = re.split(r"^\$ ", sessions, flags=re.M)[1:]
    return [Step(*piece.split("\n", 1)) for piece in pieces]


def typed(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    recall = f'recall() {{ {shlex.join([sys.executable, "-m", "recall_core"])} "$@"; }}; '
    return subprocess.run(
        ["sh", "-c", recall + command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )


def test_readme_commands_print_what_the_readme_shows(tmp_path: Path) -> None:
    for step in steps():
        done = typed(step.command, tmp_path)

        assert done.returncode == 0, step.command + "\n" + done.stdout
        if step.output:
            assert TIME.sub("- ms", done.stdout) == TIME.sub("- ms", step.output), step.command


def test_readme_shows_five_recall_commands_with_four_outputs() -> None:
    shown = [step for step in steps() if step.command.startswith("recall ")]

    assert len(shown) == 5
    assert sum(bool(step.output) for step in shown) == 4
