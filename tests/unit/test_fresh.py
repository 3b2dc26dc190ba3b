"""An answer is marked whatever has put other bytes in a file's place, also at equal size and time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recall_core import Recall

OLD, NEW = "a quokka smiles\n", "a wombat smiles\n"
LONG_AGO = 1_600_000_000_000_000_000


def put(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    os.utime(place, ns=(LONG_AGO, LONG_AGO))


@pytest.fixture
def base(tmp_path: Path) -> Path:
    put(tmp_path / "docs" / "a.txt", OLD)
    put(tmp_path / "docs" / "b.txt", OLD.replace("quokka", "quoll"))
    put(tmp_path / "other.txt", NEW)
    Recall.init(str(tmp_path))
    return tmp_path


@pytest.fixture
def recall(base: Path) -> Iterator[Recall]:
    with Recall.open(str(base)) as opened:
        opened.index(str(base / "docs"))
        yield opened


def states(recall: Recall) -> dict[str, str]:
    hits = recall.search("smiles")["results"]
    return {hit["doc"]["path"]: hit["doc"].get("state", "") for hit in hits}


def moved(base: Path) -> None:
    (base / "other.txt").rename(base / "docs" / "a.txt")


def copied_with_its_time(base: Path) -> None:
    shutil.copy2(base / "other.txt", base / "docs" / "a.txt")


def rewritten_in_place(base: Path) -> None:
    put(base / "docs" / "a.txt", NEW)


def linked_to(base: Path) -> None:
    (base / "docs" / "a.txt").unlink()
    (base / "docs" / "a.txt").symlink_to(base / "other.txt")


def linked_hard(base: Path) -> None:
    (base / "docs" / "a.txt").unlink()
    (base / "docs" / "a.txt").hardlink_to(base / "other.txt")


def written_through_a_map(base: Path) -> None:
    with (base / "docs" / "a.txt").open("r+b") as file:
        file.write(NEW.encode())
    os.utime(base / "docs" / "a.txt", ns=(LONG_AGO, LONG_AGO))


def swapped_folder(base: Path) -> None:
    shutil.copytree(base / "docs", base / "next")
    put(base / "next" / "a.txt", NEW)
    (base / "docs").rename(base / "before")
    (base / "next").rename(base / "docs")
    os.utime(base / "docs" / "b.txt", ns=(LONG_AGO, LONG_AGO))


WAYS: tuple[Callable[[Path], None], ...] = (
    moved,
    copied_with_its_time,
    rewritten_in_place,
    linked_to,
    linked_hard,
    written_through_a_map,
    swapped_folder,
)


@pytest.mark.parametrize("change", WAYS, ids=lambda way: way.__name__)
def test_a_file_of_other_bytes_is_marked_though_size_and_time_are_equal(
    base: Path, recall: Recall, change: Callable[[Path], None]
) -> None:
    assert states(recall) == {"docs/a.txt": "", "docs/b.txt": ""}

    change(base)

    assert states(recall) == {"docs/a.txt": "modified", "docs/b.txt": ""}
    list(recall.sync())
    is_read = change is not linked_to  # a link that leads out of the folder is not
    assert states(recall) == {"docs/a.txt": "" if is_read else "modified", "docs/b.txt": ""}


def test_a_file_that_was_young_when_it_was_read_is_looked_at_again(base: Path, recall: Recall) -> None:
    (file,) = (each for each in recall.store.files() if each.path == "docs/a.txt")
    assert file.ctime_ns == 0

    states(recall)

    (known,) = recall.store.sources([recall.get("docs/a.txt")["found"]["doc"]["id"]]).values()
    assert known.ctime_ns == (base / "docs" / "a.txt").stat().st_ctime_ns


def test_what_was_settled_is_written_down_by_the_next_writer_and_changes_no_digest(
    base: Path, recall: Recall
) -> None:
    before = recall.store.info()
    (base / "docs" / "a.txt").chmod(0o600)
    states(recall)
    with recall.store.writer():
        pass

    with Recall.open(str(base)) as other:
        (file,) = (each for each in other.store.files() if each.path == "docs/a.txt")
        assert file.ctime_ns == (base / "docs" / "a.txt").stat().st_ctime_ns
        assert other.store.info() == before


def test_a_sync_after_a_change_of_rights_settles_every_file(base: Path, recall: Recall) -> None:
    before = recall.store.info()
    for path in (base / "docs").iterdir():
        path.chmod(0o600)

    list(recall.sync())

    kept = {file.path: file.ctime_ns for file in recall.store.files()}
    young = {0, *(path.stat().st_ctime_ns for path in (base / "docs").iterdir())}
    assert set(kept.values()) <= young
    assert recall.store.info() == before


def test_mtime_only_asks_for_size_and_time_alone(base: Path, recall: Recall) -> None:
    moved(base)

    work = recall.add([str(base / "docs")], mtime_only=True)
    last = list(work)[-1]

    assert (last.unchanged, last.updated) == (2, 0)
