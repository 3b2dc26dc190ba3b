"""Completion: the scripts, and the answers a shell gets for commands, flags and choices."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import recall_core
from recall_core.adapters import parser


def completions(line: str, tmp_path: Path, program: str = "recall_core") -> list[str]:
    answers = tmp_path / "answers"
    env = {
        **os.environ,
        "PYTHONPATH": str(Path(recall_core.__file__).parent.parent),
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answers),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    subprocess.run([sys.executable, "-m", program], cwd=tmp_path, env=env, check=True, capture_output=True)
    return answers.read_text().split("\n")


def test_each_shell_script_names_both_programs() -> None:
    for shell in ["bash", "zsh", "fish"]:
        script = parser.script(shell)

        assert re.search(r"\brecall\b(?!-)", script), shell
        assert "recall-tui" in script, shell
        assert "_ARGCOMPLETE" in script, shell
        assert script.endswith("\n"), shell


def test_shell_completes_commands_flags_and_choices(tmp_path: Path) -> None:
    for line, expected in [
        ("recall sea", "search"),
        ("recall search x --fil", "--filter"),
        ("recall completion z", "zsh"),
        ("recall import --on-conflict re", "replace"),
        ("recall doctor --du", "--dups"),
        ("recall roots fo", "forget"),
        ("recall roots edit 1 --no-gi", "--no-gitignore"),
    ]:
        assert [word.strip() for word in completions(line, tmp_path)] == [expected], line


def test_workbench_flags_and_files_are_completed(tmp_path: Path) -> None:
    (tmp_path / "notes.db").touch()

    assert [word.strip() for word in completions("recall-tui --ser", tmp_path, "recall_tui")] == ["--serve"]
    assert [word.strip() for word in completions("recall-tui not", tmp_path, "recall_tui")] == ["notes.db"]


def test_short_flag_is_completed_like_its_long_form(tmp_path: Path) -> None:
    assert "-n" in {word.strip() for word in completions("recall search x -", tmp_path)}
