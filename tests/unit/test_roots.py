"""Roots: which added folder a file belongs to, through every change until it vanishes."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.steps import Piece, index
from recall_core.types import Root
from tests.builders import memory_store, new_file, put, without_privileges
from tests.ingest_folder import PLAIN, IngestFolder


@pytest.fixture
def folder(tmp_path: Path) -> IngestFolder:
    """Return a store that has read a folder of two files, another folder, and a file by name."""
    return fill(tmp_path)


def fill(base: Path) -> IngestFolder:
    folder = IngestFolder(base)
    for name in ("docs/a.md", "docs/b.md", "notes/c.md", "top.md"):
        folder.write(name, f"words of {name}\n")
    folder.ingest("docs", "notes", "top.md")
    return folder


def count_owned(folder: IngestFolder) -> dict[str, int]:
    """Return the number of documents of each root."""
    return {source.root.folder: source.documents for source in folder.store.root_sources()}


VERBS = [("sync", "sync"), ("add", "add")]
if os.environ.get("RECALL_HYPOTHESIS") == "nightly":
    VERBS += [("sync", "add"), ("add", "sync")]
OWNED = {"docs": 2, "notes": 1, "top.md": 1}
CHANGES = {
    "other bytes": lambda folder, path: folder.write(path, "changed words\n"),
    "other limits": lambda folder, path: setattr(folder, "config", folder.config._replace(chunk_tokens=20)),
    "another time": lambda folder, path: folder.write(path, f"words of {path}\n"),
    "many edits": lambda folder, path: [folder.sync() for text in ("one", "two") if folder.write(path, text)],
}


def test_changed_file_stays_with_its_root_until_it_vanishes(tmp_path: Path) -> None:
    for number, case in enumerate(product(("docs/a.md", "top.md"), CHANGES, VERBS)):
        path, change, (first, second) = case
        folder = fill(tmp_path / str(number))
        CHANGES[change](folder, path)

        folder.sync() if first == "sync" else folder.ingest("docs", "notes", "top.md")

        assert count_owned(folder) == OWNED, case
        (folder.base / path).unlink()

        done = folder.sync() if second == "sync" or path == "top.md" else folder.ingest("docs")

        assert (done.removed, path in folder.documents(), folder.store.known(path)) == (1, False, None), case
        assert sum(count_owned(folder).values()) == 3, case
        assert folder.sync().removed == 0, case


def test_changed_file_gets_the_later_labels_of_its_root(tmp_path: Path) -> None:
    for number, (change, make) in enumerate(CHANGES.items()):
        folder = fill(tmp_path / str(number))
        make(folder, "docs/a.md")
        folder.sync()

        folder.ingest("docs", template=Root("", tags=("new",)))

        assert {path: document.tags for path, document in folder.documents().items()} == {
            "docs/a.md": ("new",),
            "docs/b.md": ("new",),
            "notes/c.md": (),
            "top.md": (),
        }, change


def test_restored_file_belongs_to_its_root_again(folder: IngestFolder) -> None:
    (folder.base / "docs/a.md").unlink()
    folder.sync()
    assert count_owned(folder) == {**OWNED, "docs": 1}
    folder.write("docs/a.md", "words of docs/a.md\n")

    assert folder.sync().added == 1
    assert count_owned(folder) == OWNED


def test_changed_file_moves_to_the_newest_root_that_finds_it(folder: IngestFolder) -> None:
    folder.ingest("docs/a.md", template=Root("", tags=("new",)))
    folder.write("docs/a.md", "changed words\n")

    folder.sync()

    assert count_owned(folder) == {"docs": 1, "notes": 1, "top.md": 1, "docs/a.md": 1}


def test_labels_inherited_from_an_older_root_create_no_root(folder: IngestFolder) -> None:
    folder.ingest("docs", template=Root("", tags=("guide",)))
    folder.ingest(".")
    before = folder.store.roots()
    folder.write("docs/a.md", "changed words\n")

    folder.sync()

    assert folder.documents()["docs/a.md"].tags == ("guide",)
    assert folder.store.roots() == before


def test_file_put_without_a_root_keeps_its_root() -> None:
    store = memory_store()
    root = Root("docs", tags=("t",))
    put(store, new_file("docs/a.md", ["one "])._replace(root=root), new_file("b.md", ["two "]))

    put(store, new_file("docs/a.md", ["three "]), new_file("b.md", ["four "]))

    assert [(source.root, source.documents) for source in store.root_sources()] == [(root, 1)]
    put(store, new_file("docs/a.md", ["five "])._replace(root=Root("other")))
    assert [(source.root.folder, source.documents) for source in store.root_sources()] == [("docs", 0), ("other", 1)]


def test_new_root_is_a_change_and_known_root_is_not() -> None:
    store = memory_store()
    before, generations = store.info().generation, []
    for root in (Root("docs"), Root("docs"), Root("docs", tags=("t",))):
        with store.writer() as writer:
            writer.put_root(root)
        generations.append(store.info().generation - before)

    assert generations == [1, 1, 2]


def test_sync_reads_a_folder_like_the_last_command(tmp_path: Path) -> None:
    folder = IngestFolder(tmp_path)
    folder.write("docs/a.txt", '{"id": "1", "text": "words"}\n')
    for parser in ("text", "jsonl", "text"):
        folder.ingest("docs", template=Root("", parser=parser))
    before = folder.state()

    assert folder.sync().unchanged == 1

    assert (list(folder.documents()), folder.state()) == (["docs/a.txt"], before)
    assert [root.parser for root in folder.store.roots()] == ["jsonl", "text"]
    assert count_owned(folder) == {"docs": 1}


def test_last_command_counts_even_if_no_file_changes(tmp_path: Path) -> None:
    folder = IngestFolder(tmp_path)
    folder.write("docs/a.txt", '{"id": "1", "text": "words"}\n')
    for parser in ("jsonl", "text"):
        folder.ingest("docs", template=Root("", parser=parser))
    with folder.store.writer() as writer:
        writer.renew_root(Root("docs", parser="jsonl"))

    assert folder.ingest("docs", template=Root("", parser="text")).unchanged == 1

    assert [root.parser for root in folder.store.roots()] == ["jsonl", "text"]
    assert folder.sync().unchanged == 1


def test_new_roots_are_stored_in_the_order_named(folder: IngestFolder) -> None:
    folder.write("new/d.md", "words\n")
    folder.ingest("docs", template=Root("", tags=("a",)))

    folder.ingest("docs", "new", template=Root("", tags=("b",)))

    assert [root.folder for root in folder.store.roots() if root.tags == ("b",)] == ["docs", "new"]


def test_root_is_stored_once(folder: IngestFolder) -> None:
    rows = folder.store.execute("SELECT rowid, spec FROM root ORDER BY rowid")
    folder.write("docs/a.md", "changed words\n")

    folder.ingest("docs", "docs", "top.md")
    folder.sync()

    assert folder.store.execute("SELECT rowid, spec FROM root ORDER BY rowid") == rows


def test_adding_another_folder_removes_nothing_from_this_one(folder: IngestFolder) -> None:
    (folder.base / "docs/a.md").unlink()

    assert folder.ingest("notes").removed == 0
    assert folder.ingest("docs").removed == 1


def test_folder_added_with_new_options_first_removes_nothing(folder: IngestFolder) -> None:
    (folder.base / "docs/a.md").unlink()
    labelled = Root("", tags=("t",))

    assert folder.ingest("docs", template=labelled).removed == 0
    assert folder.ingest("docs", template=labelled).removed == 1


def test_every_root_of_a_vanished_file_may_remove_it(folder: IngestFolder) -> None:
    folder.ingest(".")
    (folder.base / "docs/a.md").unlink()

    assert folder.ingest(".").removed == 1
    assert (folder.sync().removed, "docs/a.md" in folder.documents()) == (0, False)


def test_forgotten_root_releases_only_its_files(folder: IngestFolder) -> None:
    folder.write("docs/a.md", "changed words\n")
    folder.sync()

    with folder.store.writer() as writer:
        writer.forget_roots(["docs"])

    assert count_owned(folder) == {"notes": 1, "top.md": 1}
    (folder.base / "docs/a.md").unlink()
    assert (folder.sync().removed, "docs/a.md" in folder.documents()) == (0, True)


def test_document_replaced_by_a_program_is_read_from_disk_again(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("from the disk\n")
    Recall.init(str(tmp_path))
    with Recall.open(start=tmp_path) as recall:
        list(recall.add([str(tmp_path / "docs")], PLAIN))
        index([Piece("docs/a.md", 0, "from a program\n", 0)], recall)

        assert list(recall.sync())[-1].updated == 1

        assert recall.get("docs/a.md")["found"]["text"] == "from the disk\n"
        assert [(source.root.folder, source.documents) for source in recall.store.root_sources()] == [("docs", 1)]


def test_files_in_an_unreadable_folder_stay_after_a_root_edit(folder: IngestFolder) -> None:
    folder.write("docs/closed/d.md", "words\n")
    folder.ingest("docs")
    with folder.store.writer() as writer:
        writer.edit_root(Root("docs"), Root("docs", tags=("new",)), ["docs/a.md", "docs/closed/d.md"])
    (folder.base / "docs/closed").chmod(0)

    with without_privileges(folder.base):
        done = folder.sync()

    assert (done.removed, [skip.code for skip in done.skipped]) == (0, ["unreadable"])
    assert folder.documents()["docs/a.md"].tags == ("new",)
    (folder.base / "docs/closed").chmod(0o755)
    assert (folder.sync().updated, folder.documents()["docs/closed/d.md"].tags) == (1, ("new",))
