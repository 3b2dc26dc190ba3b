"""Vectors from worker processes: the same bytes, the same errors, and no worker that stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recall_core import Recall, RecallError
from recall_core.config import Config
from recall_core.embed.hash import HashEmbedder
from recall_core.errors import EmbedError, UsageError
from recall_core.ingest.vectors import InProcesses
from recall_core.types import Root

TEXTS = ["red fish", "", "色 blue", "the of and", "one fish two fish " * 400]


def workers_of(pid: int) -> list[int]:
    """Return the processes that have this parent."""
    stats = (path.read_text(errors="replace") for path in Path("/proc").glob("[0-9]*/stat"))
    fields = [(text.split(" ", 1)[0], text.rpartition(")")[2].split()) for text in stats]
    return [int(own) for own, rest in fields if int(rest[1]) == pid and rest[0] != "Z"]


def test_workers_give_the_bytes_of_one_process(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for number in range(9):
        (tmp_path / "docs" / f"{number}.txt").write_text(f"{number} red fish\n\n" * 50)
    digests = []
    for where in ("inline", "process"):
        with Recall.open(str(tmp_path / f"{where}.db"), create=True) as recall:
            list(recall.add([str(tmp_path / "docs")], Root(""), executor=where))
            rowids = [key.rowid for key in recall.store.candidates(None)]
            digests.append((recall.store.info().digest, recall.store.vectors(rowids)))
    assert digests[0] == digests[1]
    embedder = InProcesses(own := HashEmbedder(64), Config())
    with embedder.pool:
        assert embedder.embed(TEXTS) == own.embed(TEXTS)
        assert embedder.embed([]) == []


def test_error_in_a_worker_is_the_error_of_the_embedder() -> None:
    embedder = HashEmbedder(64)
    embedder.identity = "absent-1:64"
    processes = InProcesses(embedder, Config())
    with processes.pool, pytest.raises(EmbedError) as raised:
        processes.embed(TEXTS)
    assert (raised.value.code, raised.value.hint is None) == ("embedder_unavailable", False)


def test_worker_that_dies_is_a_coded_error() -> None:
    processes = InProcesses(HashEmbedder(64), Config())
    with processes.pool:
        processes.embed(TEXTS)
        for pid in processes.pool._processes:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(RecallError) as raised:
            processes.embed(TEXTS)
    assert raised.value.code == "embedder_failed"


def test_embedder_of_a_server_has_no_workers() -> None:
    embedder = HashEmbedder(64)
    embedder.tokens_used = 0  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="computed by a server"):
        InProcesses(embedder, Config())


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_workers_end_with_the_command(how: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for number in range(200):
        (tmp_path / "docs" / f"{number}.txt").write_text(f"{number} red fish\n\n" * 300)
    with Recall.open(str(tmp_path / "recall.db"), create=True):
        pass
    command = [sys.executable, "-m", "recall_core", "--store", "recall.db", "add", "docs", "--executor", "process"]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True, text=True)
    try:
        workers = []
        while len(workers) < 3 and running.poll() is None:  # with the tracker of multiprocessing
            workers = workers_of(running.pid)
        assert running.poll() is None, "the command ended before its workers started"
        if how == signal.SIGINT:
            os.killpg(running.pid, how)  # as a terminal does
        else:
            running.kill()
        _, errors = running.communicate()
    finally:
        running.kill()
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        time.sleep(0.05)
    assert "Traceback" not in errors
    assert running.returncode == (130 if how == signal.SIGINT else -how)
