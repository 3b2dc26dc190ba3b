"""An edit that keeps the size of a file: found by time or by bytes, or documented as missed."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Ask, Recall
from recall_core.errors import StaleError
from recall_core.retrieve.freshness import file_state
from recall_core.types import Fingerprint, Progress, Root
from tests.ingest_folder import IngestFolder

BEFORE, AFTER = "a quokka\n", "a wombat\n"
READ_NS = 1_700_000_000_123_456_789
MOVED = {
    "a nanosecond on": 1,
    "a nanosecond back": -1,
    "half a second on": 500_000_000,
    "an hour back": -3_600_000_000_000,
}


def write(place: Path, text: str, *, moved: int = 0) -> None:
    """Write the file with this text, and with its earlier time moved by `moved` nanoseconds."""
    place.write_text(text)
    os.utime(place, ns=(READ_NS, READ_NS + moved))


def make_folder(base: Path) -> IngestFolder:
    """Make a store that has read two files."""
    base.mkdir(exist_ok=True)
    folder = IngestFolder(base)
    for name in ("docs/a.md", "docs/b.md"):
        write(folder.write(name), BEFORE)
    folder.ingest("docs")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> IngestFolder:
    return make_folder(tmp_path)


def known_file(folder: IngestFolder) -> Fingerprint:
    file = folder.store.known("docs/a.md")
    assert file is not None
    return file


def test_equal_size_edit_with_another_time_is_modified(folder: IngestFolder) -> None:
    for name, moved in MOVED.items():
        write(folder.base / "docs/a.md", AFTER, moved=moved)

        assert file_state(known_file(folder), folder.base) == "modified", name


def test_file_with_only_another_time_is_unmodified(folder: IngestFolder) -> None:
    for name, moved in MOVED.items():
        write(folder.base / "docs/a.md", BEFORE, moved=moved)

        assert file_state(known_file(folder), folder.base) is None, name


def test_edit_of_another_size_with_equal_time_is_modified(folder: IngestFolder) -> None:
    write(folder.base / "docs/a.md", AFTER + "and more\n")

    assert file_state(known_file(folder), folder.base) == "modified"


def run(folder: IngestFolder, verb: str) -> Progress:
    return folder.sync() if verb == "sync" else folder.ingest("docs", mtime_only=verb == "add --mtime-only")


def text_of(folder: IngestFolder) -> str:
    return folder.store.text_of(folder.documents()["docs/a.md"].id)


def test_add_and_sync_find_an_edit_of_equal_size(tmp_path: Path) -> None:
    for verb, moved in product(("add", "sync"), (0, *MOVED.values())):
        folder = make_folder(tmp_path / f"{verb}{moved}")
        write(folder.base / "docs/a.md", AFTER, moved=moved)

        done = run(folder, verb)

        assert (done.updated, done.unchanged, text_of(folder)) == (1, 1, AFTER), (verb, moved)
        state = file_state(known_file(folder), folder.base)
        assert (known_file(folder).mtime_ns, state) == (READ_NS + moved, None), (verb, moved)


def test_mtime_only_finds_an_edit_by_its_time(tmp_path: Path) -> None:
    for number, (name, moved) in enumerate(MOVED.items()):
        folder = make_folder(tmp_path / str(number))
        write(folder.base / "docs/a.md", AFTER, moved=moved)

        assert (run(folder, "add --mtime-only").updated, text_of(folder)) == (1, AFTER), name


def test_mtime_only_finds_a_size_change_with_equal_time(folder: IngestFolder) -> None:
    write(folder.base / "docs/a.md", AFTER + "and more\n")

    assert run(folder, "add --mtime-only").updated == 1


def test_mtime_only_misses_equal_size_and_time_until_a_sync(folder: IngestFolder) -> None:
    write(folder.base / "docs/a.md", AFTER)
    before = folder.state()

    missed = run(folder, "add --mtime-only")

    assert (missed.updated, missed.unchanged, text_of(folder), folder.state()) == (0, 2, BEFORE, before)
    assert (run(folder, "sync").updated, text_of(folder)) == (1, AFTER)


@pytest.mark.parametrize("verb", ["add", "add --mtime-only", "sync"])
def test_changed_time_alone_is_stored_once_without_rechunking(folder: IngestFolder, verb: str) -> None:
    rows = [(row.rowid, row.chunk) for row in folder.rows("docs/a.md")]
    write(folder.base / "docs/a.md", BEFORE, moved=10**9)

    first = run(folder, verb)
    after = folder.state()
    again = run(folder, verb)

    assert [(each.updated, each.unchanged, each.chunks) for each in (first, again)] == [(0, 2, 0)] * 2
    assert (known_file(folder).mtime_ns, folder.state()) == (READ_NS + 10**9, after)
    assert [(row.rowid, row.chunk) for row in folder.rows("docs/a.md")] == rows
    fresh = IngestFolder(folder.base)
    fresh.ingest("docs")
    assert folder.store.info().digest == fresh.store.info().digest


@pytest.fixture
def recall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recall]:
    """Yield an open store with one file, since edited to equal size."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECALL_STORE", raising=False)
    write(tmp_path / "a.md", BEFORE)
    Recall.init(str(tmp_path))
    with Recall.open(start=tmp_path) as recall:
        list(recall.add([str(tmp_path / "a.md")], Root("")))
        write(tmp_path / "a.md", AFTER, moved=1)
        yield recall


def test_every_answer_marks_an_edit_of_equal_size(recall: Recall) -> None:
    found = recall.search("quokka")
    assert (found["results"][0]["doc"]["state"], len(found["warnings"])) == ("modified", 1)
    assert recall.get("a.md")["found"]["doc"]["state"] == "modified"
    (check,) = [each for each in recall.doctor()["checks"] if each["code"] == "files"]
    assert (check["severity"], check["fix"]) == ("warning", "recall sync")
    with pytest.raises(StaleError):
        recall.search("quokka", Ask(strict_fresh=True))


def test_fresh_reads_an_edit_of_equal_size_before_answering(recall: Recall) -> None:
    found = recall.search("wombat", Ask(fresh=True, strict_fresh=True))

    assert found["results"][0]["chunk"]["text"] == AFTER


def run_counts(*argv: str) -> dict[str, int]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert cli.main((*argv, "--json"), streams=streams) == 0
    counts: dict[str, int] = json.loads(streams.stdout.getvalue())["ingest"]  # type: ignore[attr-defined]
    return counts


def test_mtime_only_misses_what_the_plain_command_finds(recall: Recall) -> None:
    write(recall.engine.base / "a.md", AFTER)

    assert run_counts("add", "a.md", "--mtime-only")["unchanged"] == 1
    assert run_counts("add", "a.md")["updated"] == 1
