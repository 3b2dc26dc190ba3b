"""Imports that a single query must avoid, because each costs more than the answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from recall_core import __version__
from recall_core.api.recall import Recall
from recall_core.types import Root

UNWANTED = {
    "argparse",
    "hashlib",
    "recall_core.adapters.judging",
    "recall_core.adapters.parser",
    "recall_core.adapters.progress",
    "tomllib",
    "difflib",
    "msgspec",
    "numpy",
    "recall_core.contract.responses",
    "recall_core.contract.views",
    "recall_core.ingest.parse",
    "recall_core.pack.greedy",
    "recall_core.rql.parser",
    "rich",
    "shutil",
    "sqlite_vec",
    "textual",
    "yaml",
}

LEAVES = {"recall_core._lazy", "recall_core._version"}
MOST_MODULES = 194  # Python 3.13 imports three more of its own


def test_cold_search_imports_only_what_it_needs(tmp_path: Path) -> None:
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
    assert len(modules) < MOST_MODULES, "each further module delays every first answer"


def test_cold_ls_imports_no_more_than_cold_get(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("zero-downtime deploy")
    with Recall.open(str(tmp_path), create=True) as recall:
        recall.index(str(tmp_path / "a.txt"))
    script = "import sys; from recall_core.__main__ import main\nmain()\nprint(*sys.modules, file=sys.stderr)"
    ls, get = (
        set(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stderr.split())
        for command in ([sys.executable, "-c", script, *words] for words in (["ls"], ["get", "a.txt"]))
    )
    loaded, of_get = (
        {name for name in modules if name in sys.stdlib_module_names or "." in name} for modules in (ls, get)
    )
    assert UNWANTED & loaded == set()
    assert loaded - of_get == set()


def test_cold_search_of_many_chunks_does_not_import_numpy(tmp_path: Path) -> None:
    words = [f"{first}{second}" for first in "bcdfghklmn" for second in ("oat", "eel", "arp", "ice")]
    (tmp_path / "docs").mkdir()
    for n in range(400):
        text = f"{n} " + " ".join(words[(n * step + step) % len(words)] for step in range(1, 12))
        (tmp_path / "docs" / f"{n:03}.txt").write_text(text)
    Recall.init(str(tmp_path))
    with Recall.open(start=tmp_path) as recall:
        for _ in recall.add([str(tmp_path / "docs")], Root("")):
            pass
        expected = recall.search("boat heel carp mice", explain=True)["results"]
    script = (
        "import sys; from recall_core.store.sqlite import vectors; vectors._PLAIN_PRODUCTS = {most}\n"
        "from recall_core.__main__ import main\ncode = main()\nprint(code, *sys.modules, file=sys.stderr)"
    )
    for most, has_numpy in ((8_000, False), (0, True)):
        command = [
            sys.executable,
            "-c",
            script.format(most=most),
            "search",
            "boat heel carp mice",
            "--explain",
            "--json",
        ]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        code, *modules = done.stderr.split("\n")[-2].split()
        assert (code, "numpy" in modules) == ("0", has_numpy)
        assert json.loads(done.stdout)["results"] == expected


def test_version_is_printed_before_any_import() -> None:
    script = "import sys; from recall_core.__main__ import main\nmain()\nprint(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", script, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"recall {__version__}\n"
    modules = {name for name in done.stderr.split() if name.startswith("recall_core")}
    assert (
        modules
        <= {"recall_core", "recall_core.__main__", "recall_core.adapters", "recall_core.adapters.starting"} | LEAVES
    )
    assert "typing" not in done.stderr.split()


def test_exit_handlers_run() -> None:
    script = (
        "import atexit; from recall_core.adapters.starting import leave\n"
        "atexit.register(lambda: print('the end', flush=True))\nleave(3)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "the end\n")


def test_process_waits_for_its_threads() -> None:
    script = (
        "import threading; from recall_core.adapters.starting import leave\n"
        "going = threading.Event()\n"
        "threading.Thread(target=lambda: (going.wait(), print('done', flush=True))).start()\n"
        "threading._register_atexit(going.set)\nleave(3)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "done\n")
