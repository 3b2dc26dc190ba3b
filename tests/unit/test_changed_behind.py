"""Every way in which a file can change after an answer is marked; a change of no byte is not."""

from __future__ import annotations

import io
import json
import mmap
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CDLL
from itertools import zip_longest
from pathlib import Path
from time import time_ns

import pytest

from recall_core import Ask, Recall, RecallError
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.ingest import reader
from recall_core.retrieve import freshness
from recall_core.steps import Segment, chunk, index
from recall_core.types import Root
from tests.builders import without_privileges

LONG_AGO = 1_600_000_000_000_000_000
YEAR_NS = 31_536_000_000_000_000
ANIMALS = {
    "docs/a.txt": "quokka",
    "docs/b.txt": "numbat",
    "docs/deep/c.txt": "jaguar",
    "kept/d.txt": "monkey",
    "kept/folder/e.txt": "donkey",
    "next/d.txt": "wombat",
    "next/folder/e.txt": "wombat",
    "other.txt": "wombat",
}
"""All names are equally long, so that no change shows in the size."""
READ = ("docs/a.txt", "docs/b.txt", "docs/deep/c.txt", "docs/link.txt", "docs/way/e.txt")
RECORDS = ("data/list.jsonl#one", "data/list.jsonl#two")
DEEP, LINK, WAY = "docs/deep/c.txt", "docs/link.txt", "docs/way/e.txt"
"""A file in a folder, one behind a link, and one behind a link to a folder."""

Change = Callable[[Path], object]
Marks = dict[str, str]


def text(animal: str) -> str:
    return f"a {animal} smiles\n"


def put(place: Path, content: str, *, mtime_ns: int = LONG_AGO) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content, encoding="utf-8")
    os.utime(place, ns=(mtime_ns, mtime_ns))


def records(*animals: str) -> str:
    return "".join(
        json.dumps({"id": name, "text": text(animal)}) + "\n"
        for name, animal in zip(("one", "two"), animals, strict=False)
    )


def pass_a_tick(base: Path) -> None:
    """Wait until a new change gets a later time than earlier changes."""
    probe = base / "probe"
    probe.touch()
    first = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == first:
        os.utime(probe)


def make_base(folder: Path) -> Path:
    base = folder / "base"
    for name, animal in ANIMALS.items():
        put(base / name, text(animal))
    put(base / "data" / "list.jsonl", records("badger", "ferret"))
    put(folder / "far" / "f.txt", text("rabbit"))
    (base / LINK).symlink_to("../kept/d.txt")
    (base / WAY).parent.symlink_to("../kept/folder")
    Recall.init(str(base))
    return base


@contextmanager
def opened_at(base: Path) -> Iterator[Recall]:
    """Open a store and let it read every file. The clock is ahead, so that no file counts as recent."""
    with Recall.open(str(base)) as opened:
        opened.index(str(base / "docs"), template=Root("", follow=True))
        opened.index(str(base / "data"), template=Root("", parser="jsonl"))
        opened.index(str(base.parent / "far"))
        pass_a_tick(base)
        yield opened


@pytest.fixture(autouse=True)
def _no_file_is_young(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (reader, freshness):
        monkeypatch.setattr(module, "time_ns", lambda: time_ns() + 10**10)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return make_base(tmp_path)


@pytest.fixture
def recall(base: Path) -> Iterator[Recall]:
    with opened_at(base) as opened:
        yield opened


# In place


def edited(base: Path) -> None:
    put(base / "docs" / "a.txt", text("wombat"))


def edited_with_its_time(base: Path) -> None:
    (base / "docs" / "a.txt").write_text(text("wombat"))


def edited_and_dated_back(base: Path) -> None:
    put(base / "docs" / "a.txt", text("wombat"), mtime_ns=LONG_AGO - YEAR_NS)


def edited_and_dated_ahead(base: Path) -> None:
    put(base / "docs" / "a.txt", text("wombat"), mtime_ns=time_ns() + YEAR_NS)


def edited_by_a_nanosecond(base: Path) -> None:
    put(base / "docs" / "a.txt", text("wombat"), mtime_ns=LONG_AGO + 1)


def lengthened(base: Path) -> None:
    put(base / "docs" / "a.txt", text("quokka and her child"))


def shortened(base: Path) -> None:
    put(base / "docs" / "a.txt", text("cat"))


def appended(base: Path) -> None:
    with (base / "docs" / "a.txt").open("a") as file:
        file.write("and frowns\n")


def emptied(base: Path) -> None:
    put(base / "docs" / "a.txt", "")


def made_a_hole(base: Path) -> None:
    place = base / "docs" / "a.txt"
    size = place.stat().st_size
    os.truncate(place, 2)
    os.truncate(place, size)
    os.utime(place, ns=(LONG_AGO, LONG_AGO))


def grown_to_a_terabyte_of_nothing(base: Path) -> None:
    os.truncate(base / "docs" / "a.txt", 1 << 40)


def one_byte_written(base: Path) -> None:
    place = base / "docs" / "a.txt"
    with place.open("r+b") as file:
        file.seek(2)
        file.write(b"Q")
    os.utime(place, ns=(LONG_AGO, LONG_AGO))


def written_through_a_map(base: Path) -> None:
    place = base / "docs" / "a.txt"
    with place.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[2:8] = b"wombat"
        mapped.flush()
    os.utime(place, ns=(LONG_AGO, LONG_AGO))


def written_through_another_name(base: Path) -> None:
    (base / "alias.txt").hardlink_to(base / "docs" / "a.txt")
    put(base / "alias.txt", text("wombat"))


# Another file in its place


def moved_over(base: Path) -> None:
    subprocess.run(["mv", base / "other.txt", base / "docs" / "a.txt"], check=True)


def an_older_one_moved_over(base: Path) -> None:
    put(base / "other.txt", text("wombat"), mtime_ns=LONG_AGO - YEAR_NS)
    moved_over(base)


def copied_over_with_its_time(base: Path) -> None:
    subprocess.run(["cp", "-p", base / "other.txt", base / "docs" / "a.txt"], check=True)


def saved_as_an_editor_does(base: Path) -> None:
    put(base / "docs" / ".a.txt.new", text("wombat"))
    (base / "docs" / ".a.txt.new").replace(base / "docs" / "a.txt")


def made_again(base: Path) -> None:
    (base / "docs" / "a.txt").unlink()
    edited(base)


def linked_hard(base: Path) -> None:
    (base / "docs" / "a.txt").unlink()
    (base / "docs" / "a.txt").hardlink_to(base / "other.txt")


def linked(base: Path) -> None:
    (base / "docs" / "a.txt").unlink()
    (base / "docs" / "a.txt").symlink_to(base / "other.txt")


def linked_to_its_neighbour(base: Path) -> None:
    (base / "docs" / "a.txt").unlink()
    (base / "docs" / "a.txt").symlink_to("b.txt")


def swapped(base: Path) -> None:
    one, other = base / "docs" / "a.txt", base / "docs" / "b.txt"
    one.rename(base / "between")
    other.rename(one)
    (base / "between").rename(other)


def exchanged_in_one_step(base: Path) -> None:
    one, other = (os.fsencode(base / "docs" / name) for name in ("a.txt", "b.txt"))
    exchange = getattr(CDLL(None), "renameat2", None)  # only Linux has it, and not on every disk
    if exchange is None or exchange(-100, one, -100, other, 2) != 0:
        swapped(base)


# No file in its place


def deleted(base: Path) -> None:
    (base / "docs" / "a.txt").unlink()


def moved_away(base: Path) -> None:
    (base / "docs" / "a.txt").rename(base / "away.txt")


def turned_into_a_folder(base: Path) -> None:
    (base / "docs" / "a.txt").unlink()
    (base / "docs" / "a.txt").mkdir()


def turned_into_a_pipe(base: Path) -> None:
    (base / "docs" / "a.txt").unlink()
    os.mkfifo(base / "docs" / "a.txt")


def turned_into_a_socket(base: Path) -> None:
    (base / "docs" / "a.txt").unlink()
    os.mknod(base / "docs" / "a.txt", stat.S_IFSOCK | 0o600)


def linked_to_a_device(base: Path) -> None:
    (base / "docs" / "a.txt").unlink()
    (base / "docs" / "a.txt").symlink_to("/dev/zero")


def linked_to_nothing(base: Path) -> None:
    (base / "docs" / "a.txt").unlink()
    (base / "docs" / "a.txt").symlink_to("nothing")


def linked_to_itself(base: Path) -> None:
    (base / "docs" / "a.txt").unlink()
    (base / "docs" / "a.txt").symlink_to("a.txt")


# Links and folders


def link_led_elsewhere(base: Path) -> None:
    (base / LINK).unlink()
    (base / LINK).symlink_to("../next/d.txt")


def what_the_link_leads_to_edited(base: Path) -> None:
    put(base / "kept" / "d.txt", text("wombat"))


def what_the_link_leads_to_replaced(base: Path) -> None:
    (base / "next" / "d.txt").replace(base / "kept" / "d.txt")


def what_the_link_leads_to_deleted(base: Path) -> None:
    (base / "kept" / "d.txt").unlink()


def link_turned_into_a_file(base: Path) -> None:
    (base / LINK).unlink()
    put(base / LINK, text("wombat"))


def folder_link_led_elsewhere(base: Path) -> None:
    (base / WAY).parent.unlink()
    (base / WAY).parent.symlink_to("../next/folder")


def folder_behind_a_link_replaced(base: Path) -> None:
    (base / "kept" / "folder").rename(base / "kept" / "before")
    (base / "next" / "folder").rename(base / "kept" / "folder")


def folder_renamed(base: Path) -> None:
    (base / DEEP).parent.rename(base / "docs" / "deeper")


def folder_deleted(base: Path) -> None:
    shutil.rmtree((base / DEEP).parent)


def folder_replaced(base: Path) -> None:
    folder_deleted(base)
    put(base / DEEP, text("wombat"))


def folder_moved_over(base: Path) -> None:
    put(base / "spare" / "c.txt", text("wombat"))
    folder_renamed(base)
    (base / "spare").rename((base / DEEP).parent)


def folder_turned_into_a_file(base: Path) -> None:
    folder_deleted(base)
    put((base / DEEP).parent, text("wombat"))


def folder_turned_into_a_link(base: Path) -> None:
    put(base / "spare" / "c.txt", text("wombat"))
    folder_deleted(base)
    (base / DEEP).parent.symlink_to("../spare")


# Records, and a file outside the store's folder


def record_edited(base: Path) -> None:
    put(base / "data" / "list.jsonl", records("badger", "wombat"))


def record_removed(base: Path) -> None:
    put(base / "data" / "list.jsonl", records("badger"))


def records_in_another_order(base: Path) -> None:
    put(base / "data" / "list.jsonl", "\n".join(records("badger", "ferret").splitlines()[::-1]) + "\n")


def file_of_records_deleted(base: Path) -> None:
    (base / "data" / "list.jsonl").unlink()


def far_file_edited(base: Path) -> None:
    put(base.parent / "far" / "f.txt", text("wombat"))


A, BOTH, FAR = {"docs/a.txt": "modified"}, {"docs/a.txt": "modified", "docs/b.txt": "modified"}, "FAR"
NO_A = {"docs/a.txt": "missing"}
NO_DEEP, OTHER_DEEP = {DEEP: "missing"}, {DEEP: "modified"}
WAYS: dict[Change, Marks] = {
    edited: A,
    edited_with_its_time: A,
    edited_and_dated_back: A,
    edited_and_dated_ahead: A,
    edited_by_a_nanosecond: A,
    lengthened: A,
    shortened: A,
    appended: A,
    emptied: A,
    made_a_hole: A,
    grown_to_a_terabyte_of_nothing: A,
    one_byte_written: A,
    written_through_a_map: A,
    written_through_another_name: A,
    moved_over: A,
    an_older_one_moved_over: A,
    copied_over_with_its_time: A,
    saved_as_an_editor_does: A,
    made_again: A,
    linked_hard: A,
    linked: A,
    linked_to_its_neighbour: A,
    swapped: BOTH,
    exchanged_in_one_step: BOTH,
    deleted: NO_A,
    moved_away: NO_A,
    turned_into_a_folder: NO_A,
    turned_into_a_pipe: NO_A,
    turned_into_a_socket: NO_A,
    linked_to_a_device: NO_A,
    linked_to_nothing: NO_A,
    linked_to_itself: NO_A,
    link_led_elsewhere: {LINK: "modified"},
    what_the_link_leads_to_edited: {LINK: "modified"},
    what_the_link_leads_to_replaced: {LINK: "modified"},
    what_the_link_leads_to_deleted: {LINK: "missing"},
    link_turned_into_a_file: {LINK: "modified"},
    folder_link_led_elsewhere: {WAY: "modified"},
    folder_behind_a_link_replaced: {WAY: "modified"},
    folder_renamed: NO_DEEP,
    folder_deleted: NO_DEEP,
    folder_replaced: OTHER_DEEP,
    folder_moved_over: OTHER_DEEP,
    folder_turned_into_a_file: NO_DEEP,
    folder_turned_into_a_link: OTHER_DEEP,
    record_edited: dict.fromkeys(RECORDS, "modified"),
    record_removed: dict.fromkeys(RECORDS, "modified"),
    records_in_another_order: dict.fromkeys(RECORDS, "modified"),
    file_of_records_deleted: dict.fromkeys(RECORDS, "missing"),
    far_file_edited: {FAR: "modified"},
}
"""Each change with the documents that must be marked. FAR: the file outside the store's folder."""


def expect(recall: Recall, marks: Marks, case: object = None) -> None:
    """Check that search, context and get mark exactly these documents, and that `strict_fresh` refuses them."""
    far = str(recall.engine.base.parent / "far" / "f.txt")
    marks = {far if path == FAR else path: mark for path, mark in marks.items()}
    each = Ask(settings=("collapse=false",))  # a change can make one file a copy of another
    found, context = recall.search("smiles", each), recall.context("smiles", each)
    assert {hit["doc"]["path"] for hit in found["results"]} == {*READ, *RECORDS, far}
    states = {hit["doc"]["path"]: hit["doc"].get("state", "") for hit in found["results"]}
    blocks = {block["path"]: block.get("state", "") for block in context["context"]["blocks"]}
    gotten = {path: recall.get(path)["found"]["doc"].get("state", "") for path in states}
    every = {**dict.fromkeys(states, ""), **marks}
    assert (states, blocks, gotten) == (every, every, every), case
    for answer in (found, context):
        stale = [warning for warning in answer["warnings"] if warning.startswith("W_STALE")]
        assert len(stale) == len(marks), case
    for ask in (recall.search, recall.context):
        if not marks:
            assert ask("smiles", strict_fresh=True)["ok"]
            continue
        with pytest.raises(RecallError) as caught:
            ask("smiles", strict_fresh=True)
        assert (caught.value.code, caught.value.exit_code) == ("stale", 3)
        assert caught.value.details == {"paths": sorted(marks)}, case


@pytest.mark.slow
@pytest.mark.parametrize("change", WAYS, ids=lambda way: way.__name__)
def test_changed_file_is_marked_in_every_answer(base: Path, recall: Recall, change: Change) -> None:
    expect(recall, {})

    change(base)

    expect(recall, WAYS[change])


OF_A = (
    edited,
    edited_with_its_time,
    edited_and_dated_back,
    lengthened,
    emptied,
    grown_to_a_terabyte_of_nothing,
    moved_over,
    linked,
    swapped,
    deleted,
    turned_into_a_folder,
    turned_into_a_pipe,
    linked_to_a_device,
    linked_to_nothing,
    linked_to_itself,
)
"""The changes of docs/a.txt that differ substantially."""


def test_several_changed_files_are_all_marked(tmp_path: Path) -> None:
    targets = (LINK, WAY, DEEP, RECORDS[0], FAR)
    of_others = [[way for way, marks in WAYS.items() if target in marks] for target in targets]
    for number, together in enumerate(zip_longest(OF_A, *of_others)):
        changes = [change for change in together if change is not None]
        base = make_base(tmp_path / str(number))
        with opened_at(base) as recall:
            if number == 0:
                expect(recall, {})
            for change in changes:
                change(base)

            expect(recall, {path: mark for change in changes for path, mark in WAYS[change].items()}, changes)


def test_strict_command_exits_3_for_a_replaced_file(
    base: Path, recall: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(base)
    quokka = recall.search("quokka", k=1)["results"][0]["chunk"]["id"]
    lines = (
        ("search", "smiles"),
        ("query", "SELECT * FROM doc"),
        ("context", "smiles"),
        ("explain", "smiles", "--chunk", quokka),
    )
    for line in lines:
        streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
        assert cli.main((*line, "--strict-fresh", "--json"), streams=streams) == 0, line
    copied_over_with_its_time(base)

    for line in lines:
        streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
        assert cli.main((*line, "--strict-fresh", "--json"), streams=streams) == 3, line
        answer = json.loads(streams.stdout.getvalue())  # type: ignore[attr-defined]
        assert answer["error"]["details"] == {"paths": ["docs/a.txt"]}, line


def names_turned_around(base: Path) -> None:
    swapped(base)
    swapped(base)


def edited_and_put_back(base: Path) -> None:
    edited(base)
    put(base / "docs" / "a.txt", text("quokka"))


def touched(base: Path) -> None:
    (base / "docs" / "a.txt").touch()


def rights_changed(base: Path) -> None:
    for place in (base / "docs").rglob("*.txt"):
        place.chmod(0o600)


def linked_once_more(base: Path) -> None:
    (base / "alias.txt").hardlink_to(base / "docs" / "a.txt")


def copied_and_moved_over(base: Path) -> None:
    shutil.copy2(base / "docs" / "a.txt", base / "copy.txt")
    (base / "copy.txt").replace(base / "docs" / "a.txt")


def link_led_to_a_copy(base: Path) -> None:
    shutil.copy2(base / "kept" / "d.txt", base / "next" / "d.txt")
    link_led_elsewhere(base)


def folder_made_again(base: Path) -> None:
    folder_deleted(base)
    put(base / DEEP, text("jaguar"))


def neighbour_made(base: Path) -> None:
    put(base / "docs" / "new.txt", "nothing of the kind\n")


KEPT: tuple[Change, ...] = (
    names_turned_around,
    edited_and_put_back,
    touched,
    rights_changed,
    linked_once_more,
    copied_and_moved_over,
    link_led_to_a_copy,
    folder_made_again,
    neighbour_made,
)
"""Changes that leave every file with the bytes already read."""


@pytest.mark.parametrize(
    "changes",
    [
        (names_turned_around, folder_made_again),
        (edited_and_put_back, link_led_to_a_copy),
        (rights_changed,),
        (touched, linked_once_more, copied_and_moved_over, neighbour_made),
        *(pytest.param((change,), marks=pytest.mark.slow) for change in KEPT),
    ],
    ids=lambda changes: changes[0].__name__,
)
def test_touching_a_file_hides_no_later_change(base: Path, recall: Recall, changes: tuple[Change, ...]) -> None:
    for change in changes:
        change(base)
    expect(recall, {})
    pass_a_tick(base)

    edited(base)

    expect(recall, A)


def synced(_base: Path, recall: Recall) -> None:
    list(recall.sync())


def its_neighbour_synced(base: Path, recall: Recall) -> None:
    put(base / "docs" / "b.txt", text("bobcat"))
    list(recall.sync())


def settled_and_written_down(base: Path, recall: Recall) -> None:
    rights_changed(base)
    recall.search("smiles")
    with recall.store.writer():
        pass


def settled_and_synced(base: Path, recall: Recall) -> None:
    rights_changed(base)
    list(recall.sync())


def read_again(base: Path, recall: Recall) -> None:
    edited(base)
    list(recall.sync())
    put(base / "docs" / "a.txt", text("quokka"))
    list(recall.sync())


PASTS = (synced, its_neighbour_synced, settled_and_written_down, settled_and_synced, read_again)


FURTHER = (folder_replaced, link_led_elsewhere)


@pytest.mark.parametrize(
    ("past", "changes"),
    [
        (synced, (edited, *FURTHER)),
        (its_neighbour_synced, (swapped, *FURTHER)),
        (settled_and_written_down, (edited, *FURTHER)),
        (settled_and_synced, (moved_over, *FURTHER)),
        (read_again, (edited, *FURTHER)),
        *(
            pytest.param(past, (change,), marks=pytest.mark.slow)
            for past in PASTS
            for change in (edited, moved_over, swapped, *FURTHER)
        ),
    ],
)
def test_change_is_marked_after_any_earlier_answer(
    base: Path, recall: Recall, past: Callable[[Path, Recall], None], changes: tuple[Change, ...]
) -> None:
    past(base, recall)
    expect(recall, {})
    pass_a_tick(base)

    for change in changes:
        change(base)

    marks = {path: mark for change in changes for path, mark in WAYS[change].items()}
    expect(recall, marks)
    with Recall.open(str(base)) as other:
        expect(other, marks)


def test_sync_unmarks_the_files_it_reads(base: Path, recall: Recall) -> None:
    for change in (edited, link_led_elsewhere, folder_replaced, record_edited, far_file_edited):
        change(base)

    list(recall.sync())

    expect(recall, {})


def test_unreadable_file_is_missing(base: Path, recall: Recall) -> None:
    with without_privileges(base):
        expect(recall, {})
    (base / "docs" / "a.txt").chmod(0)
    (base / DEEP).parent.chmod(0)

    with without_privileges(base):
        expect(recall, {**NO_A, **NO_DEEP})

    (base / DEEP).parent.chmod(0o700)


def test_renamed_case_is_missing_on_case_sensitive_disks(base: Path, recall: Recall) -> None:
    (base / "docs" / "a.txt").rename(base / "docs" / "A.txt")

    expect(recall, {} if (base / "docs" / "a.txt").exists() else NO_A)


def test_moving_a_store_with_its_files_marks_nothing(base: Path, recall: Recall) -> None:
    recall.close()
    base.rename(base.with_name("elsewhere"))

    with Recall.open(str(base.with_name("elsewhere"))) as moved:
        expect(moved, {})


def test_document_added_by_a_program_is_never_marked(base: Path, recall: Recall) -> None:
    index(chunk([Segment("docs/lizard.txt", text("lizard"))]), recall)
    assert recall.search("lizard", Ask(strict_fresh=True))["results"]

    put(base / "docs" / "lizard.txt", text("wombat"))

    (hit,) = recall.search("lizard", Ask(strict_fresh=True, k=1))["results"]
    assert (hit["doc"]["path"], "state" in hit["doc"]) == ("docs/lizard.txt", False)
