"""Files whose names the file system encoding cannot spell count as missing and break nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.ingest.discover import Skip, single
from recall_core.ingest.targets import is_gone
from recall_core.retrieve.freshness import stale_documents
from recall_core.types import Root
from tests.builders import memory_store, new_file, put


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a store with a text in a folder and a single file, both with non-ASCII names."""
    (tmp_path / "ö").mkdir()
    (tmp_path / "ö" / "é.md").write_text("a quokka\n", encoding="utf-8")
    (tmp_path / "ß.md").write_text("a wombat\n", encoding="utf-8")
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        for _ in recall.add([str(tmp_path / "ö"), str(tmp_path / "ß.md")], Root("")):
            pass
    return tmp_path


def in_ascii(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command with ASCII as the file system encoding."""
    environ = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "recall_core", *words]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=False)


def test_search_reports_it_as_missing(folder: Path) -> None:
    ran = in_ascii(folder, "search", "quokka", "--bm25")

    assert ran.returncode == 0, ran.stderr
    assert b"(missing)" in ran.stdout


def test_chunk_of_it_is_shown(folder: Path) -> None:
    with Recall.open(str(folder)) as recall:
        chunk = recall.search("quokka")["results"][0]["chunk"]["id"]
    ran = in_ascii(folder, "get", chunk)

    assert ran.returncode == 0, ran.stderr
    assert b"a quokka" in ran.stdout


def test_doctor_reports_it_as_missing(folder: Path) -> None:
    ran = in_ascii(folder, "doctor")

    assert ran.returncode == 0, ran.stderr
    assert b"2 files checked, 2 missing" in ran.stdout


def test_pipe_replacing_a_file_does_not_block(tmp_path: Path) -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["one"]))
    os.mkfifo(tmp_path / "a.txt")
    doc_id = store.execute("SELECT id FROM doc")[0][0]

    assert stale_documents([doc_id], store=store, base=tmp_path) == {doc_id: "missing"}


def test_sync_keeps_it_in_the_store(folder: Path) -> None:
    ran = in_ascii(folder, "sync")

    assert b"0 removed, 2 skipped" in ran.stdout, ran.stderr
    with Recall.open(str(folder)) as recall:
        assert recall.store.info().documents == 2


def test_name_with_nul_is_missing_and_stops_nothing(tmp_path: Path) -> None:
    store = memory_store()
    put(store, new_file("a\0b.txt", ["one"]))
    doc_id = store.execute("SELECT id FROM doc")[0][0]

    assert stale_documents([doc_id], store=store, base=tmp_path) == {doc_id: "missing"}
    assert not is_gone(tmp_path / "a\0b.txt")
    assert isinstance(single(Root("a\0b.txt"), tmp_path), Skip)
