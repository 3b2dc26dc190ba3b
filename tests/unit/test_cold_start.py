"""What a process that answers one question must not import: each of these costs more than the answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from recall_core.api.recall import Recall
from recall_core.types import Root

UNWANTED = {
    "difflib",
    "msgspec",
    "numpy",
    "recall_core.embed.accepted",
    "recall_core.ingest",
    "recall_core.pack",
    "recall_core.rql.parser",
    "rich",
    "shutil",
    "sqlite_vec",
    "textual",
}


def test_a_cold_search_imports_only_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("zero-downtime deploy")
    Recall.init(str(tmp_path))
    with Recall.open(start=tmp_path) as recall:
        for _ in recall.add([str(tmp_path / "a.txt")], Root("")):
            pass
    script = (
        "import sys; from recall_core.__main__ import main\ncode = main()\nprint(code, *sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", script, "search", "deploy"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    code, *modules = done.stderr.split("\n")[-2].split()
    assert (code, "a.txt" in done.stdout) == ("0", True)
    assert UNWANTED & set(modules) == set()
