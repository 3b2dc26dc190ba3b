"""The examples of docs/library.md and docs/interfaces.md run and show the real output; so do examples/."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
PAGE = HOME / "docs" / "library.md"


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a current folder with the five notes of the README."""
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    for text, name in re.findall(r"^\$ echo '(.*)' > (notes/\w+\.md)$", (HOME / "README.md").read_text(), re.M):
        Path(name).write_text(f"{text}\n")
    return tmp_path


def test_every_example_of_the_library_page_runs(notes: Path) -> None:
    result = doctest.testfile(str(PAGE), module_relative=False, verbose=False)
    assert result.attempted >= 15
    assert result.failed == 0


def test_every_example_of_the_interfaces_page_runs(notes: Path) -> None:
    result = doctest.testfile(str(HOME / "docs" / "interfaces.md"), module_relative=False, verbose=False)
    assert result.attempted >= 7
    assert result.failed == 0


def test_index_and_query_prints_the_best_piece_first(notes: Path) -> None:
    script = str(HOME / "examples" / "index_and_query.py")
    command = [sys.executable, script, "notes/deploy.md", "undo", "a", "deploy"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[0].endswith("  notes/deploy.md#chunk=0")
    assert "Undo a deploy" in done.stdout


def test_library_page_starts_with_a_ten_line_example() -> None:
    first = PAGE.read_text().split("```")[1]
    assert all(f"recall.{step}(" in first for step in ("index", "search", "context"))
    assert len(first.strip().splitlines()) <= 11  # the word python among them


def test_example_script_indexes_searches_and_packs(notes: Path) -> None:
    command = [sys.executable, str(HOME / "examples" / "ask.py"), "notes", "undo", "a", "deploy"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[0].endswith("notes/deploy.md:1")
    assert "[1] notes/deploy.md:1-1\nUndo a deploy" in done.stdout
