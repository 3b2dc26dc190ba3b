"""A killed `init` is finished by the next one, and its leftovers are recognisable."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from recall_core import Recall, RecallError
from recall_core.errors import StoreError
from recall_core.store.sqlite.store import create_store

KILLED = """
import os, shutil, signal, sys
import apsw
from recall_core import Recall
from recall_core.errors import StoreError

class Count:
    def __init__(self, last):
        self.last, self.seen = last, 0
    def __call__(self, cursor, sql, bindings):
        self.seen += 1
        if self.seen == self.last:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

def init(last):
    \"\"\"True where it ended; killed before its statement of that number.\"\"\"
    child = os.fork()
    if not child:
        count = Count(last)
        apsw.connection_hooks.append(lambda db: setattr(db, "exec_trace", count))
        Recall.init("base", settings={"chunk_tokens": 100, "overlap_tokens": 10})
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0

last, states = 1, set()
while not init(last):
    state = tuple(sorted((name, os.stat(f"base/{name}").st_size) for name in os.listdir("base")))
    if state not in states:
        states.add(state)
        try:
            Recall.open("base").close()
        except StoreError as error:
            assert error.code == "no_store", error.code
        assert "recall.toml" in os.listdir("base") or init(0), last
        with Recall.open("base") as recall:
            assert recall.config.chunk_tokens == 100
            assert not [each for each in recall.doctor()["checks"] if each["severity"] == "error"]
        assert sorted(os.listdir("base")) == ["recall.db", "recall.toml"]
    shutil.rmtree("base")
    last += int(sys.argv[1])
assert last > 8 and len(states) > 3, (last, states)
"""


def test_next_init_finishes_one_killed_anywhere(tmp_path: Path) -> None:
    step = "1" if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else "2"  # statements from one kill to the next
    done = subprocess.run(
        [sys.executable, "-c", KILLED, step], cwd=tmp_path, stderr=subprocess.PIPE, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


def empty(path: Path) -> None:
    path.touch()


def blank(path: Path) -> None:
    """Begin a log without writing anything."""
    db = apsw.Connection(str(path))
    db.pragma("page_size", 8192)
    db.pragma("journal_mode", "wal")
    db.close()
    assert path.stat().st_size == 8192


@pytest.mark.parametrize("left", [empty, blank])
def test_unfinished_store_is_reported_and_finished_by_init(tmp_path: Path, left) -> None:  # type: ignore[no-untyped-def]
    left(tmp_path / "recall.db")
    (tmp_path / "recall.toml").touch()

    with pytest.raises(StoreError, match="not a store yet") as caught:
        Recall.open(str(tmp_path))
    assert (caught.value.code, caught.value.hint) == ("no_store", f"recall init {tmp_path}")

    Recall.init(str(tmp_path))
    assert (tmp_path / "recall.db").stat().st_mode & 0o777 == 0o600


def test_empty_file_without_settings_is_reported_too(tmp_path: Path) -> None:
    empty(tmp_path / "recall.db")

    with pytest.raises(StoreError, match="not a store yet") as caught:
        Recall.open(start=tmp_path)
    assert caught.value.code == "no_store"


def test_open_with_create_replaces_an_empty_file(tmp_path: Path) -> None:
    empty(tmp_path / "notes.db")
    with Recall.open(str(tmp_path / "notes.db"), create=True) as recall:
        assert recall.stats()["store"]["path"] == str(tmp_path / "notes.db")


def test_empty_store_without_settings_is_kept_if_they_match(tmp_path: Path) -> None:
    Recall.init(str(tmp_path))
    before = (tmp_path / "recall.db").stat().st_ino
    (tmp_path / "recall.toml").unlink()

    with pytest.raises(RecallError) as other:
        Recall.init(str(tmp_path), settings={"chunk_tokens": 50, "overlap_tokens": 5})
    Recall.init(str(tmp_path))

    assert other.value.code == "store_exists"
    assert (tmp_path / "recall.db").stat().st_ino == before


@pytest.mark.parametrize("kind", ["document", "judgement"])
def test_store_with_content_is_never_replaced(tmp_path: Path, kind: str) -> None:
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        if kind == "document":
            (tmp_path / "a.txt").write_text("one")
            recall.index(str(tmp_path / "a.txt"))
        else:
            with recall.store.judging() as writer:
                writer.put_query("q", "quokka?")
    (tmp_path / "recall.toml").unlink()

    with pytest.raises(RecallError) as caught:
        Recall.init(str(tmp_path))
    assert caught.value.code == "store_exists"


def new_store(path: Path) -> None:
    create_store(str(path), embedder="none", dimension=8, counter="whitespace", chunker="none").close()


def test_foreign_empty_database_is_not_replaced(tmp_path: Path) -> None:
    for pragma in ("application_id", "user_version"):
        db = apsw.Connection(str(tmp_path / "other.db"))
        db.pragma(pragma, 7)
        db.close()
        with pytest.raises(StoreError, match="is not a Recall store"):
            new_store(tmp_path / "other.db")
        (tmp_path / "other.db").unlink()


def test_emptied_file_with_a_log_is_damaged_and_log_stays(tmp_path: Path) -> None:
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        (tmp_path / "a.txt").write_text("one")
        recall.index(str(tmp_path / "a.txt"))
    (tmp_path / "recall.db-wal").write_bytes(b"anything")
    (tmp_path / "recall.db").write_bytes(b"")

    with pytest.raises(RecallError) as opened:
        Recall.open(str(tmp_path))
    with pytest.raises(RecallError) as made:
        Recall.init(str(tmp_path))

    assert (opened.value.code, made.value.code) == ("store_corrupt", "store_exists")
    assert (tmp_path / "recall.db-wal").read_bytes() == b"anything"


SECOND = """
import sys
from pathlib import Path
from recall_core import Recall, RecallError
import fcntl, os
folder = os.open(".", os.O_RDONLY)
fcntl.flock(folder, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.readline()
Recall  # the lock goes with the process
"""


def test_empty_file_of_a_running_init_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recall_core.store.sqlite.connect.BUSY_TIMEOUT_MS", 50)
    empty(tmp_path / "recall.db")
    inode = (tmp_path / "recall.db").stat().st_ino
    with subprocess.Popen(
        [sys.executable, "-c", SECOND], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"

        with pytest.raises(RecallError) as caught:
            Recall.init(str(tmp_path))

        assert caught.value.code == "store_locked"
        assert (tmp_path / "recall.db").stat().st_ino == inode
        other.communicate("\n")
    Recall.init(str(tmp_path))


def test_empty_file_is_kept_on_a_disk_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(file: int, operation: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    new_store(tmp_path / "new.db")
    empty(tmp_path / "recall.db")

    with pytest.raises(StoreError, match="is not a Recall store") as caught:
        new_store(tmp_path / "recall.db")
    assert caught.value.code == "store_exists"
