"""Folders that were added, with real processes, real pipes and a separate home folder."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import warm

RECALL = shlex.join([sys.executable, "-m", "recall_core"])
IS_NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
FOR_A_SHELL = re.compile(r"[|<>&;]")


class Person:
    """A user with a home folder and a store in one of its folders."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / "work"
        (self.folder / "docs").mkdir(parents=True)

    def run(self, line: str) -> tuple[int, str, str]:
        """Run a shell line in which `recall` is the command; return its exit status, stdout and stderr."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("RECALL_", "XDG_", "GIT_"))}
        if line.startswith("recall ") and not FOR_A_SHELL.search(line):
            plain = warm.run(
                shlex.split(line)[1:], cwd=self.folder, env={**kept, "HOME": str(self.home)}, kind="ingest"
            )
            assert "Traceback" not in plain.stderr
            return plain.returncode, plain.stdout, plain.stderr
        done = subprocess.run(
            ["sh", "-c", f'recall() {{ {RECALL} "$@"; }}; {line}'],
            cwd=self.folder,
            env={**kept, "HOME": str(self.home)},
            capture_output=True,
            check=False,
            timeout=200,
        )
        assert b"Traceback" not in done.stderr
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def ask(self, line: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.run(f"{line} --json")[1])
        return answer


@pytest.fixture
def person(tmp_path: Path) -> Person:
    person = Person(tmp_path)
    assert person.run("recall init")[0] == 0
    return person


def test_folder_is_added_listed_changed_and_removed(person: Person) -> None:
    for name in ("a.md", "b.txt", "a.log"):
        (person.folder / "docs" / name).write_text(f"words of {name}\n")
    (person.home / ".gitconfig").write_text("[core]\n  excludesFile = ~/ignored\n")
    (person.home / "ignored").write_text("*.log\n")
    (person.folder / "docs" / "c.md.gz").write_bytes(b"\x1f\x8b\x08\0")
    (person.folder / "docs" / "d.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0")

    code, out, err = person.run("recall add docs")
    assert (code, out.partition(";")[0]) == (0, "files: 2 added, 0 updated, 0 unchanged, 0 removed, 2 skipped")
    assert err.splitlines() == [
        "skipped docs/c.md.gz: cannot be unpacked: it is truncated. (bad_archive)",
        "skipped docs/d.txt: is a PNG image, not text. (binary_file)",
    ]

    code, out, err = person.run("recall roots edit 1 --no-gitignore --ignore '*.txt' --tag t --sync")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "  1  docs",
        "     ignore  none -> *.txt",
        "     tag  none -> t",
        "     gitignore  true -> false",
        "files: 1 added, 1 updated, 0 unchanged, 1 removed, 1 skipped; 2 documents, 2 chunks",
    ]
    assert person.run("recall roots")[1] == "  1  docs not *.txt  2 documents\n     --tag t --no-gitignore\n"
    assert person.run("recall roots forget 7")[0] == 8
    assert person.run("recall roots forget 1 --rm")[1].endswith("removed 2 documents\n")
    assert person.ask("recall stats")["store"]["documents"] == 0


def test_pipe_is_read_completely_byte_for_byte(person: Person) -> None:
    text = "Zoë said:\r\n\t“words”\n" * (20_000 if IS_NIGHTLY else 4_000)
    (person.home / "text").write_bytes(text.encode())

    assert person.run("cat ../text | recall add - --name notes/zoë.md")[0] == 0

    assert person.run("recall get notes/zoë.md > ../back")[0] == 0
    assert (person.home / "back").read_bytes() == text.encode()


@pytest.mark.parametrize(
    "line",
    ["true | recall add - --name a.md", pytest.param("recall add - --name a.md </dev/null", marks=pytest.mark.slow)],
)
def test_empty_pipe_is_an_empty_document(person: Person, line: str) -> None:
    code, out, _ = person.run(line)

    assert (code, "1 document, 1 without text, 0 chunks" in out) == (0, True)


def test_closed_stdin_is_an_error(person: Person) -> None:
    code, out, err = person.run("recall add - --name a.md <&-")

    assert (code, out, err.startswith("error: ")) == (1, "", True)
    assert person.ask("recall stats")["store"]["documents"] == 0


def test_names_of_skipped_files_stay_on_one_line(person: Person) -> None:
    for number in range(5):
        (person.folder / "docs" / f"{number}\n\x1b[31m.gz").write_bytes(b"\x1f\x8b\x08\0")

    err = person.run("recall add docs")[2]

    assert len(err.splitlines()) == 3
    assert "\x1b" not in err
