"""The example in examples/agent asks a served store, and notices a citation that does not hold."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from recall_core.api.recall import Recall

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "agent"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the notes of the example, and a store of them."""
    shutil.copytree(EXAMPLE / "notes", tmp_path / "notes")
    Recall.init(str(tmp_path), embedding="hash")
    with Recall.open(str(tmp_path)) as recall:
        recall.index(str(tmp_path / "notes"))
    return tmp_path


def asked(store: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EXAMPLE / "ask.py", store],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_it_answers_ten_questions_each_with_a_citation_that_holds(folder: Path) -> None:
    done = asked(folder)

    assert (done.stdout, done.returncode) == ((EXAMPLE / "answers.txt").read_text(encoding="utf-8"), 0), done.stderr


def test_a_cited_line_that_the_file_has_no_more_ends_it_with_1(folder: Path) -> None:
    note = folder / "notes" / "on-call.md"
    note.write_text(note.read_text(encoding="utf-8").replace("Tuesday", "Wednesday"), encoding="utf-8")

    done = asked(folder / "recall.db")

    assert done.returncode == 1
    assert "  [notes/on-call.md:3] is not what the file has\n" in done.stdout
    assert done.stdout.endswith("9 of 10 citations hold\n")


def test_a_folder_without_a_store_is_told_with_what_makes_one(tmp_path: Path) -> None:
    done = asked(tmp_path)

    assert (done.stdout, done.returncode) == ("", 1)
    assert '"code":"no_store"' in done.stderr
    assert "recall init" in done.stderr
