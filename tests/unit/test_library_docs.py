"""The examples of docs/library.md run, and show what really comes out."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "library.md"
WITH_EXAMPLES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in ("recall_core", "recall_tui")
    for path in (ROOT / package).rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


def test_every_example_of_the_library_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(PAGE), module_relative=False, verbose=False)
    assert result.attempted >= 15
    assert result.failed == 0


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_every_example_of_a_docstring_runs(name: str) -> None:
    result = doctest.testmod(import_module(name))

    assert result.attempted > 0
    assert result.failed == 0
