"""A store whose file is moved, replaced, deleted or truncated while it is open: a clear error, and no loss."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from recall_core import Recall, RecallError
from tests.crash.harness import ADD, Stage, errors, expect_whole

NEW = "# New\n\nA walrus sleeps.\n"


def delete(store: Path) -> None:
    store.unlink()


def move(store: Path) -> None:
    store.rename(store.with_name("elsewhere.db"))


def replace(store: Path) -> None:
    store.with_name("other.db").replace(store)


def cut_off(store: Path) -> None:
    with store.open("r+b") as file:
        file.truncate(store.stat().st_size // 2)


def empty(store: Path) -> None:
    with store.open("r+b") as file:
        file.truncate()


CHANGES = (delete, move, replace, cut_off, empty)
Change = Callable[[], None]


def idle_reader(recall: Recall, change: Change) -> None:
    recall.search("quokka")
    change()
    recall.search("quokka")


def reader_in_the_midst(recall: Recall, change: Change) -> None:
    with recall.store.reading():
        recall.store.info()
        change()
        recall.search("quokka")
    recall.search("quokka")


def idle_writer(recall: Recall, change: Change) -> None:
    recall.index(str(recall.engine.base / "before"))
    change()
    recall.index(str(recall.engine.base / "new.md"))


def writer_in_the_midst(recall: Recall, change: Change) -> None:
    with recall.store.writer() as writer:
        writer.tombstone(["before/old.md"])
        change()


def remover(recall: Recall, change: Change) -> None:
    recall.search("quokka")
    change()
    recall.remove([str(recall.engine.base / "before")], purge=True)


USES = (idle_reader, reader_in_the_midst, idle_writer, writer_in_the_midst, remover)


@pytest.mark.parametrize(
    ("change", "use"),
    [
        pytest.param(
            change,
            use,
            id=f"{change.__name__}-{use.__name__}",
            marks=[] if change is replace or row == column else [pytest.mark.slow],
        )
        for row, change in enumerate(CHANGES)
        for column, use in enumerate(USES)
    ],
)
def test_store_reports_moved_file_and_recovers_once_restored(
    change: Callable[[Path], None], use: Callable[[Recall, Change], None], small: Stage
) -> None:
    base = small.trial(ADD)
    store, other = base / "recall.db", base / "other.db"
    shutil.copy2(store, base / "kept.db")
    _other_store(base, other)
    bytes_of_other = other.read_bytes()
    (base / "new.md").write_text(NEW)

    with pytest.raises(RecallError) as caught:
        _play(base, use, lambda: change(store))

    assert caught.value.code == ("store_corrupt" if change in (cut_off, empty) else "store_replaced")
    if change is replace:
        assert _content(store) == bytes_of_other
    if change is delete:
        assert not store.exists()
    _back(base)
    expect_whole(ADD, small, base)
    small.end(base)


def _play(base: Path, use: Callable[[Recall, Change], None], change: Change) -> None:
    with Recall.open(str(base)) as recall:
        recall.store.db.set_busy_timeout(50)  # type: ignore[attr-defined]
        use(recall, change)


def _content(store: Path) -> bytes:
    """Return the content of the store after a new connection has folded its log."""
    assert errors(store.parent) == set()
    return store.read_bytes()


def _other_store(base: Path, place: Path) -> None:
    """Make a small separate store with the same settings."""
    home = base / "home"
    Recall.init(str(home), settings={"embedding_dim": 64})
    (home / "recall.db").rename(place)
    shutil.rmtree(home)


def _back(base: Path) -> None:
    """Put the original file back, without the rest of any log."""
    for path in (*base.glob("recall.db*"), base / "other.db", base / "elsewhere.db", base / "new.md"):
        path.unlink(missing_ok=True)
    (base / "kept.db").rename(base / "recall.db")
