"""Texts from this machine's packages: release notes show the right line, and no licence is packed twice."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from recall_core import Ask, Pack, Recall
from recall_core.adapters import searching
from recall_core.types import Root

DOCUMENTATION = Path("/usr/share/doc")
NOTES = DOCUMENTATION / "git" / "RelNotes"
CLI = Path(__file__).parents[2] / "docs" / "cli.md"
LICENCE = "under which licence may it be redistributed"

pytestmark = pytest.mark.slow


def fill(folder: Path, *globs: str) -> Recall:
    """Return a store of the files in the folder."""
    Recall.init(str(folder))
    recall = Recall.open(str(folder))
    for _ in recall.add([str(folder)], Root("", globs=globs)):
        pass
    return recall


@pytest.mark.skipif(not (NOTES / "2.0.0.txt").is_file(), reason="git's release notes are not installed")
def test_release_notes_search_prints_the_documented_lines(tmp_path: Path) -> None:
    shutil.copytree(NOTES, tmp_path / "RelNotes")
    with fill(tmp_path) as recall:
        response = recall.search("sign commits", Ask(k=4))
    shown = "".join(searching.hit_lines(response))  # type: ignore[arg-type]
    page = CLI.read_text(encoding="utf-8").partition("`recall search 'sign commits'`")[2]
    rows = [re.sub(r"^[0-9.]+  ", "", row) for row in re.split(r"^(?=0\.)", page.split("```")[3].strip(), flags=re.M)]

    assert "can be told to always GPG sign the resulting commit" in shown
    assert [row.strip() for row in rows if row.strip() and row.strip() not in shown] == []


@pytest.mark.skipif(not any(DOCUMENTATION.glob("*/copyright")), reason="no copyright file of a package is installed")
def test_no_licence_is_packed_twice(tmp_path: Path) -> None:
    for file in sorted(DOCUMENTATION.glob("*/copyright")):
        place = tmp_path / "doc" / file.parent.name
        place.mkdir(parents=True)
        shutil.copyfile(file, place / "copyright")
    with fill(tmp_path, "**/copyright") as recall:
        for question in (LICENCE, "GNU general public license", "permission is hereby granted, free of charge"):
            texts, every = (
                [each["text"] for each in recall.context(question, ask, Pack(8_000))["context"]["chunks"]]
                for ask in (Ask(), Ask(settings=("collapse=false",)))
            )
            assert len(texts) == len({*texts}) > 3
            assert len(every) > len({*every})
