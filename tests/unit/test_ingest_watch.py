"""Watching: what counts as a change, what is ignored, and how a watch begins and ends."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

import pytest

from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.errors import IngestError
from recall_core.ingest import watch
from recall_core.ingest.discover import walk
from recall_core.ingest.watch import changes
from recall_core.types import Root
from tests.builders import without_privileges

SECONDS = 20.0


@contextmanager
def watching(base: Path, *roots: Root, store: str = "recall.db") -> Iterator[Queue[tuple[str, ...]]]:
    """Run a watch in a thread, and yield the queue of its reports once it has begun."""
    said: Queue[tuple[str, ...]] = Queue()
    stop = threading.Event()

    def live() -> None:
        for places in changes(roots, base=base, config=Config(store_path=store), stop=stop):
            said.put(places)

    thread = threading.Thread(target=live)
    thread.start()
    try:
        said.get(timeout=SECONDS)
        yield said
    finally:
        stop.set()
        thread.join(SECONDS)
        assert not thread.is_alive()


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a store whose watch polls often: it ends at a poll, and polls single files."""
    monkeypatch.setattr(watch, "_LOOK_MS", 20)
    (tmp_path / "docs").mkdir()
    return tmp_path


def test_new_file_is_reported_with_its_path(base: Path) -> None:
    with watching(base, Root("docs")) as said:
        (base / "docs" / "a.md").write_text("text", encoding="utf-8")

        assert str(base / "docs" / "a.md") in said.get(timeout=SECONDS)


def test_file_in_a_new_folder_is_reported(base: Path) -> None:
    with watching(base, Root("docs")) as said:
        (base / "docs" / "deep").mkdir()
        (base / "docs" / "deep" / "a.md").write_text("text", encoding="utf-8")

        assert any("deep" in place for place in said.get(timeout=SECONDS))


@pytest.mark.parametrize(
    "name", ["recall.db", "recall.db-wal", "recall.toml", ".hidden/a.md", "node_modules/a.js", ".git/index"]
)
def test_ignored_files_wake_no_watch(base: Path, name: str) -> None:
    (base / name).parent.mkdir(exist_ok=True)
    with watching(base, Root(".")) as said:
        (base / name).write_text("noise", encoding="utf-8")
        (base / "docs" / "last.md").write_text("text", encoding="utf-8")

        told = said.get(timeout=SECONDS)

    assert str(base / "docs" / "last.md") in told
    assert str(base / name) not in told


@pytest.mark.parametrize(
    ("store", "names"),
    [
        ("recall.db", ["recall.db-wal.md", "recall.db.bakery.md", "recall.db.md", "recall.toml.md"]),
        ("notes", ["notes-2024/a.md", "notes.md"]),
        ("kept/notes", ["notes.md"]),
    ],
)
def test_document_named_like_the_store_is_reported_and_read(base: Path, store: str, names: list[str]) -> None:
    (base / "notes-2024").mkdir()
    with watching(base, Root("."), store=store) as said:
        for name in names:
            (base / name).write_text("text", encoding="utf-8")

        told: set[str] = set()
        while not told.issuperset(str(base / name) for name in names):
            told.update(said.get(timeout=SECONDS))

    assert [name for name in names if str(base / name) in told] == names
    assert [found.path for found in walk(Root("."), base, Config(store_path=store))] == names


def test_store_companion_files_are_neither_reported_nor_read(base: Path) -> None:
    own = ["recall.db-journal", "recall.db.bak", "recall.db.bak-12", "recall.db.bak-schema-1", "docs/recall.toml"]
    with watching(base, Root(".")) as said:
        for name in (*own, "docs/last.md"):
            (base / name).write_text("noise", encoding="utf-8")

        told = said.get(timeout=SECONDS)

    assert str(base / "docs" / "last.md") in told
    assert [name for name in own if str(base / name) in told] == []
    assert [found.path for found in walk(Root("."), base, Config())] == ["docs/last.md"]


def test_hidden_files_are_reported_for_a_hidden_root(base: Path) -> None:
    with watching(base, Root("docs", hidden=True)) as said:
        (base / "docs" / ".notes.md").write_text("text", encoding="utf-8")

        assert str(base / "docs" / ".notes.md") in said.get(timeout=SECONDS)


def test_gitignore_change_is_reported(base: Path) -> None:
    with watching(base, Root("docs")) as said:
        (base / "docs" / ".gitignore").write_text("*.log\n", encoding="utf-8")

        assert str(base / "docs" / ".gitignore") in said.get(timeout=SECONDS)


def test_single_file_is_followed_through_replacement_by_an_editor(base: Path) -> None:
    (base / "one.txt").write_text("before", encoding="utf-8")
    with watching(base, Root("one.txt")) as said:
        for text in ("after", "after that again"):
            (base / "fresh").write_text(text, encoding="utf-8")
            (base / "fresh").replace(base / "one.txt")

            assert said.get(timeout=SECONDS) == (str(base / "one.txt"),)


def test_simultaneous_changes_are_reported_by_name(base: Path) -> None:
    names = [str(base / f"{n}.txt") for n in range(8)]
    for name in names:
        Path(name).write_text("before", encoding="utf-8")
    with watching(base, *(Root(name) for name in names)) as said:
        told: tuple[str, ...] = ()
        for turn in range(10, 50):
            for name in names:
                Path(name).write_text("x" * turn, encoding="utf-8")
            told = said.get(timeout=SECONDS)
            if len(told) > 1:
                break

        assert len(told) > 1
        assert list(told) == sorted(told)


def test_single_file_edit_of_equal_size_is_reported(base: Path) -> None:
    (base / "one.txt").write_text("before", encoding="utf-8")
    read_ns = (base / "one.txt").stat().st_mtime_ns
    with watching(base, Root("one.txt")) as said:
        (base / "fresh").write_text("behind", encoding="utf-8")
        os.utime(base / "fresh", ns=(read_ns, read_ns + 1))
        (base / "fresh").replace(base / "one.txt")

        assert said.get(timeout=SECONDS) == (str(base / "one.txt"),)


def test_replacement_of_equal_size_and_time_is_reported(base: Path) -> None:
    for name, text in (("one.txt", "before"), ("fresh", "behind")):
        (base / name).write_text(text, encoding="utf-8")
        os.utime(base / name, ns=(1, 1))
    with watching(base, Root("one.txt")) as said:
        (base / "fresh").replace(base / "one.txt")

        assert said.get(timeout=SECONDS) == (str(base / "one.txt"),)


def test_unwatchable_folder_is_an_error_that_names_it(base: Path) -> None:
    shut = base / "docs" / "shut"
    shut.mkdir()
    shut.chmod(0)
    with without_privileges(base), pytest.raises(IngestError) as caught:
        next(changes([Root("docs")], base=base, config=Config()))

    assert (caught.value.code, caught.value.hint) == ("cannot_watch", f"ls -ld {shut}")
    assert caught.value.message.startswith(f"{shut} cannot be watched: Permission denied")


def test_watch_without_roots_is_an_error(base: Path) -> None:
    for roots in ((), (Root("gone"),)):
        with pytest.raises(IngestError) as caught:
            next(changes(roots, base=base, config=Config()))

        assert caught.value.code == "nothing_to_watch"


def test_store_in_a_watched_folder_does_not_wake_its_watch(base: Path) -> None:
    Recall.init(str(base))
    with Recall.open(str(base)) as recall:
        list(recall.add([str(base)], Root("")))
        with watching(base, *recall.store.roots()) as said:
            (base / "docs" / "a.md").write_text("text", encoding="utf-8")
            said.get(timeout=SECONDS)
            list(recall.sync())
            (base / "docs" / "b.md").write_text("text", encoding="utf-8")

            told = said.get(timeout=SECONDS)

    assert all(place.endswith("b.md") for place in told)
