"""When a file is read again and what is stored about it; test_changed_behind has every way to change one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from hashlib import file_digest, sha256
from pathlib import Path
from typing import IO, Any, cast

import pytest

from recall_core import Recall
from recall_core.config import Config
from recall_core.ingest import reader
from recall_core.retrieve import freshness
from recall_core.retrieve.freshness import file_state, tick_ns
from recall_core.types import Fingerprint, Stamp

OLD, NEW = "a quokka smiles\n", "a wombat smiles\n"
LONG_AGO = 1_600_000_000_000_000_000
SECOND_NS = 1_000_000_000

At = Callable[[float], None]


def write(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    os.utime(place, ns=(LONG_AGO, LONG_AGO))


@pytest.fixture
def base(tmp_path: Path) -> Path:
    write(tmp_path / "docs" / "a.txt", OLD)
    write(tmp_path / "docs" / "b.txt", OLD.replace("quokka", "quoll"))
    write(tmp_path / "other.txt", NEW)
    Recall.init(str(tmp_path))
    return tmp_path


@pytest.fixture
def at(base: Path, monkeypatch: pytest.MonkeyPatch) -> At:
    """Return a function that sets the clock to some seconds after the last change of docs/a.txt."""

    def at(seconds: float) -> None:
        now_ns = ctime_of(base) + int(seconds * SECOND_NS)
        for module in (reader, freshness):
            monkeypatch.setattr(module, "time_ns", lambda: now_ns)

    return at


@pytest.fixture
def recall(base: Path, at: At) -> Iterator[Recall]:
    """Yield an open store that read its files when they were no longer recent."""
    at(10)
    with Recall.open(str(base)) as opened:
        opened.index(str(base / "docs"))
        yield opened


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of files that answers read to check for changes, in order."""
    names: list[str] = []

    def noted(file: IO[bytes], size: int) -> str:
        names.append(Path(file.name).name)
        return file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]

    monkeypatch.setattr(freshness, "_digest", noted)
    return names


def ctime_of(base: Path) -> int:
    return (base / "docs" / "a.txt").stat().st_ctime_ns


def states(recall: Recall) -> dict[str, str]:
    hits = recall.search("smiles")["results"]
    return {hit["doc"]["path"]: hit["doc"].get("state", "") for hit in hits}


def kept_ctime(recall: Recall) -> int | None:
    (ctime_ns,) = (file.ctime_ns for file in recall.store.files() if file.path == "docs/a.txt")
    return ctime_ns


def settled_ctime(recall: Recall) -> int | None:
    (known,) = recall.store.sources([recall.store.document_at("docs/a.txt") or ""]).values()
    return known.ctime_ns


def change_rights(base: Path) -> None:
    for path in (base / "docs").iterdir():
        path.chmod(0o600)


@pytest.mark.parametrize(("age", "is_kept"), [(-5, False), (0, False), (1.9, False), (2, True)])
def test_ctime_of_a_recently_changed_file_is_not_stored(base: Path, at: At, age: float, is_kept: bool) -> None:
    at(age)
    with Recall.open(str(base)) as recall:
        recall.index(str(base / "docs" / "a.txt"))

        assert kept_ctime(recall) == (ctime_of(base) if is_kept else 0)


class SlowlyRead:
    """A file whose reading takes a minute on the clock."""

    def __init__(self, place: Path, at: At) -> None:
        self._place = place
        self._at = at

    def open(self, mode: str) -> IO[Any]:
        self._at(61)
        return self._place.open(mode)


def test_file_age_counts_from_the_start_of_reading(base: Path, at: At) -> None:
    at(1)

    raw = reader.read_raw(cast("Path", SlowlyRead(base / "docs" / "a.txt", at)), path="a.txt", config=Config())

    assert raw.ctime_ns == 0


def test_recently_changed_file_is_read_by_every_answer(base: Path, recall: Recall, at: At, reads: list[str]) -> None:
    change_rights(base)
    at(0.01)
    for _ in range(3):
        assert set(states(recall).values()) == {""}
    assert reads.count("a.txt") == 3

    at(1)
    for _ in range(3):
        states(recall)
    assert reads.count("a.txt") == 4
    assert settled_ctime(recall) == ctime_of(base)


def test_clock_set_back_makes_every_answer_read_files(base: Path, recall: Recall, at: At, reads: list[str]) -> None:
    change_rights(base)
    at(-3600)

    for _ in range(3):
        states(recall)

    assert reads.count("a.txt") == 3


def test_disk_with_coarse_times_has_ticks_of_two_seconds() -> None:
    assert tick_ns(LONG_AGO) == tick_ns(LONG_AGO + 10_000_000) == 2 * SECOND_NS
    assert tick_ns(LONG_AGO + 1) == tick_ns(LONG_AGO + 123_456_789) < SECOND_NS


def test_edit_right_after_an_answer_is_marked(base: Path) -> None:
    """With the real clock: some kernels give both changes the same time."""
    with Recall.open(str(base)) as recall:
        for _ in range(20):
            write(base / "docs" / "a.txt", OLD)
            recall.index(str(base / "docs" / "a.txt"))
            assert states(recall) == {"docs/a.txt": ""}
            write(base / "docs" / "a.txt", NEW)
            assert states(recall) == {"docs/a.txt": "modified"}


def test_next_writer_stores_verified_times_without_changing_the_digest(base: Path, recall: Recall, at: At) -> None:
    before = recall.store.info()
    change_rights(base)
    at(1)
    states(recall)
    assert kept_ctime(recall) != ctime_of(base)

    with recall.store.writer():
        pass

    with Recall.open(str(base)) as other:
        assert kept_ctime(other) == ctime_of(base)
        assert other.store.info() == before


def test_open_store_reads_each_file_once_after_chmod(base: Path, recall: Recall, at: At, reads: list[str]) -> None:
    change_rights(base)
    at(1)

    for _ in range(5):
        states(recall)
        recall.context("smiles")
        recall.get("docs/a.txt")

    assert sorted(reads) == ["a.txt", "b.txt"]


def test_no_answer_reads_a_file_after_chmod_and_sync(base: Path, recall: Recall, at: At, reads: list[str]) -> None:
    before = recall.store.info()
    change_rights(base)
    at(5)

    list(recall.sync())

    assert recall.store.info() == before
    with Recall.open(str(base)) as other:
        for asked in (recall, other):
            assert set(states(asked).values()) == {""}
            asked.context("smiles")
            asked.get("docs/a.txt")
    assert reads == []


def test_sync_fills_in_times_that_an_import_lacks(base: Path, recall: Recall) -> None:
    (file,) = (each for each in recall.store.files() if each.path == "docs/a.txt")
    with recall.store.writer() as writer:
        writer.settle(file.path, file.hash, Stamp(file.size, file.mtime_ns))
    before = recall.store.info()
    assert kept_ctime(recall) is None

    list(recall.sync())

    assert kept_ctime(recall) == ctime_of(base)
    assert recall.store.info() == before


def test_mtime_only_compares_size_and_time_but_answers_do_not(base: Path, recall: Recall) -> None:
    (base / "other.txt").rename(base / "docs" / "a.txt")

    last = list(recall.add([str(base / "docs")], mtime_only=True))[-1]

    assert (last.unchanged, last.updated) == (2, 0)
    assert states(recall) == {"docs/a.txt": "modified", "docs/b.txt": ""}


def test_unknown_file_attributes_are_not_compared(base: Path) -> None:
    status = (base / "docs" / "a.txt").stat()
    known = Fingerprint("", status.st_size, LONG_AGO, sha256(OLD.encode()).hexdigest(), "", 1, "docs/a.txt")
    write(base / "docs" / "a.txt", NEW)

    assert file_state(known, base) is None
    assert file_state(known._replace(inode=status.st_ino + 1), base) == "modified"
    assert file_state(known._replace(ctime_ns=0), base) == "modified"


def test_folder_with_matching_size_and_time_is_not_a_file(base: Path) -> None:
    status = (base / "docs").stat()
    known = Fingerprint("docs", status.st_size, status.st_mtime_ns, "", "", 1, "docs")

    assert file_state(known, base) == "missing"
