"""A folder of hostile files is added: each is read or named in finite time, and the others are added."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile_files import HostileFile, hostile_files

MOST_MEMORY = 3 << 30  # of the command; 1 GiB more is for its worker
GOOD = "rest.md"

PROGRAM = """
import resource, sys
from recall_core.__main__ import main
code = main()
open("rss", "w").write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
sys.exit(code)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("hostile")
    (home / "files").mkdir()
    for each in hostile_files():
        (home / "files" / each.name).write_bytes(each.content)
    (home / "files" / GOOD).write_text("# The rest\n\nIt is in.\n")
    recall(home, "init", "--embedding", "hash")
    return home


def recall(home: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", PROGRAM, *words], cwd=home, capture_output=True, check=False)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_hostile_files_are_read_or_named_and_others_added(home: Path) -> None:
    files: dict[str, HostileFile] = {each.name: each for each in hostile_files()}
    assert len(files) >= 60

    done = recall(home, "add", "files", "--json")

    assert done.returncode == 0, done.stderr[-2000:]
    ingest = json.loads(done.stdout)["ingest"]
    skipped = {skip["path"].removeprefix("files/"): skip["code"] for skip in ingest["skipped"]}
    names = {name.encode("unicode_escape").decode() if not name.isprintable() else name: name for name in files}
    wrong = {
        name: (skipped.get(name), files[names.get(name, name)].codes)
        for name in names
        if (skipped.get(name) is not None) != bool(files[names[name]].codes)
        or (skipped.get(name) is not None and skipped[name] not in files[names[name]].codes)
    }
    assert wrong == {}
    assert ingest["added"] == len(files) + 1 - len(skipped)
    assert int((home / "rss").read_text()) * 1024 < MOST_MEMORY
    found = json.loads(recall(home, "search", "The rest", "--json").stdout)
    assert any(result["doc"]["path"] == f"files/{GOOD}" for result in found["results"])
    assert json.loads(recall(home, "doctor", "--json").stdout)["ok"]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_hostile_files_send_no_control_codes_to_a_terminal(home: Path) -> None:
    done = recall(home, "add", "files", "--verbose")

    assert b"\x1b" not in done.stdout + done.stderr
    assert b"Traceback" not in done.stderr
