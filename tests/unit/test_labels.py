"""Labels: what `add` gives to known files, what a sync keeps; no text is read for them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from recall_core.ingest import pipeline
from recall_core.types import Document, Root
from tests.examples import mostly_nightly
from tests.ingest_folder import IngestFolder

OLD = Root("", tags=("b", "a"), source="old", meta=(("k", "old"), ("kept", 1)))


@pytest.fixture
def folder(tmp_path: Path) -> IngestFolder:
    """Return a store that has read two files of a folder with labels."""
    folder = IngestFolder(tmp_path)
    folder.write("docs/a.md", "a quokka\n")
    folder.write("docs/b.md", "a wombat\n")
    folder.ingest("docs", template=OLD)
    return folder


def labels(document: Document) -> tuple[tuple[str, ...], str | None, object]:
    return document.tags, document.source, document.meta


CASES = {
    "tags": (Root("", tags=("c", "d", "c")), (("c", "d"), "old", {"k": "old", "kept": 1})),
    "source": (Root("", source="new"), (("a", "b"), "new", {"k": "old", "kept": 1})),
    "an empty source": (Root("", source=""), (("a", "b"), "", {"k": "old", "kept": 1})),
    "meta": (Root("", meta=(("k", "new"), ("more", 2))), (("a", "b"), "old", {"k": "new", "kept": 1, "more": 2})),
    "all": (Root("", tags=("c",), source="new", meta=(("k", "new"),)), (("c",), "new", {"k": "new", "kept": 1})),
}


@pytest.mark.parametrize(
    "mtime_only", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["hashed", "mtime-only"]
)
@pytest.mark.parametrize("name", CASES)
def test_new_labels_reach_every_document_of_the_folder(folder: IngestFolder, name: str, mtime_only: bool) -> None:
    template, expected = CASES[name]
    generation, digest = folder.state()

    done = folder.ingest("docs", template=template, mtime_only=mtime_only)

    assert [labels(document) for document in folder.documents().values()] == [expected, expected]
    assert (done.unchanged, done.updated, done.added) == (2, 0, 0)
    assert folder.state()[0] == generation + 1
    assert folder.state()[1] != digest


def test_labels_need_no_reading_with_mtime_only(folder: IngestFolder) -> None:
    template, expected = CASES["all"]

    done = folder.ingest("docs", template=template, mtime_only=True)

    assert [labels(document) for document in folder.documents().values()] == [expected, expected]
    assert (done.unchanged, done.updated, done.added) == (2, 0, 0)


@pytest.mark.parametrize("name", mostly_nightly(CASES, "all", "an empty source"))
def test_new_labels_neither_rechunk_nor_embed(folder: IngestFolder, name: str) -> None:
    before = [folder.rows(path) for path in folder.documents()]

    done = folder.ingest("docs", template=CASES[name][0])

    after = [folder.rows(path) for path in folder.documents()]
    assert [[(row.rowid, row.chunk) for row in rows] for rows in after] == [
        [(row.rowid, row.chunk) for row in rows] for rows in before
    ]
    assert (done.chunks, done.embedded, done.reused) == (0, 0, 0)


@pytest.mark.parametrize("name", mostly_nightly(CASES, "all", "an empty source"))
def test_relabelled_documents_equal_documents_read_with_their_labels(folder: IngestFolder, name: str) -> None:
    fresh = IngestFolder(folder.base)
    fresh.ingest("docs", template=OLD)
    folder.ingest("docs", template=CASES[name][0])
    folder.write("docs/a.md", "another quokka\n")
    folder.write("docs/b.md", "another wombat\n")

    done = folder.sync()

    assert done.updated == 2
    assert [labels(document) for document in folder.documents().values()] == [CASES[name][1]] * 2
    labelled = IngestFolder(folder.base)
    tags, source, meta = CASES[name][1]
    labelled.ingest("docs", template=Root("", tags=tags, source=source, meta=tuple(sorted(meta.items()))))
    assert folder.store.info().digest == labelled.store.info().digest


def test_unchanged_labels_are_not_written_again(folder: IngestFolder) -> None:
    folder.ingest("docs", template=CASES["all"][0])
    before = folder.state()

    folder.ingest("docs", template=CASES["all"][0])

    assert folder.state() == before


def test_repeating_the_first_command_restores_labels_and_digest(folder: IngestFolder) -> None:
    first, stamp = [labels(document) for document in folder.documents().values()], folder.store.info().digest
    folder.ingest("docs", template=CASES["all"][0])
    generation = folder.store.info().generation

    folder.ingest("docs", template=OLD)

    assert [labels(document) for document in folder.documents().values()] == first
    assert folder.state() == (generation + 1, stamp)


@pytest.mark.parametrize("mtime_only", [False, True], ids=["hashed", "mtime-only"])
def test_repeated_command_sets_labels_of_later_changed_files(folder: IngestFolder, mtime_only: bool) -> None:
    folder.ingest("docs", template=CASES["all"][0])
    folder.ingest("docs", template=OLD, mtime_only=mtime_only)
    before = {path: labels(document) for path, document in folder.documents().items()}
    folder.write("docs/a.md", "another quokka\n")

    assert folder.sync().updated == 1

    assert {path: labels(document) for path, document in folder.documents().items()} == before
    state = folder.state()
    folder.ingest("docs", template=OLD, mtime_only=mtime_only)
    assert folder.state() == state


@pytest.mark.parametrize("again", ["sync", "the plain folder", "one file without labels"])
def test_labels_stay_when_files_are_read_without_labels(folder: IngestFolder, again: str) -> None:
    folder.ingest("docs", template=CASES["all"][0])
    before = {path: labels(document) for path, document in folder.documents().items()}
    stamp = folder.store.info().digest
    verbs = {
        "sync": folder.sync,
        "the plain folder": lambda: folder.ingest("docs"),
        "one file without labels": lambda: folder.ingest("docs/a.md"),
    }

    assert verbs[again]().unchanged in (1, 2)

    assert {path: labels(document) for path, document in folder.documents().items()} == before
    assert folder.store.info().digest == stamp
    folder.write("docs/a.md", "another quokka\n")
    assert verbs[again]().updated == 1
    assert {path: labels(document) for path, document in folder.documents().items()} == before


def test_every_record_gets_labels_and_keeps_its_fields(tmp_path: Path) -> None:
    folder = IngestFolder(tmp_path)
    lines = [json.dumps({"id": n, "text": f"record {n}", "year": 1990 + n, "k": "its own"}) for n in range(3)]
    folder.write("a.jsonl", "\n".join(lines))
    folder.ingest("a.jsonl", template=Root("", parser="jsonl"))

    folder.ingest("a.jsonl", template=Root("", parser="jsonl", tags=("t",), meta=(("k", "given"),)))

    assert [labels(document) for document in folder.documents().values()] == [
        (("t",), None, {"year": 1990 + n, "k": "given"}) for n in range(3)
    ]


def test_labels_of_one_file_go_to_no_other(folder: IngestFolder) -> None:
    before = labels(folder.documents()["docs/b.md"])

    folder.ingest("docs/a.md", template=CASES["all"][0])

    assert labels(folder.documents()["docs/a.md"]) == CASES["all"][1]
    assert labels(folder.documents()["docs/b.md"]) == before


def test_sync_keeps_program_labels_of_an_unchanged_file(folder: IngestFolder) -> None:
    with folder.store.writer() as writer:
        writer.relabel("docs/a.md", tags=("mine",), source="", meta=None)
    before = folder.state()

    assert folder.sync().unchanged == 2

    assert labels(folder.documents()["docs/a.md"]) == (("mine",), "", {"k": "old", "kept": 1})
    assert folder.state() == before


def test_new_file_inherits_only_what_its_root_leaves_open(folder: IngestFolder) -> None:
    folder.ingest("docs", template=Root("", source="new", meta=(("k", "new"),)))
    folder.write("docs/c.md", "a numbat\n")
    folder.write("other/d.md", "a bilby\n")

    folder.ingest("docs", "other")

    assert labels(folder.documents()["docs/c.md"]) == (("a", "b"), "new", {"k": "new", "kept": 1})
    assert labels(folder.documents()["other/d.md"]) == ((), None, {})


def test_mtime_only_labels_an_unread_file(folder: IngestFolder) -> None:
    place = folder.base / "docs/a.md"
    status = place.stat()
    before = folder.documents()["docs/a.md"].hash
    place.write_text("a walrus\n")
    assert place.stat().st_size == status.st_size
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))

    folder.ingest("docs", template=CASES["all"][0], mtime_only=True)

    found = folder.documents()["docs/a.md"]
    assert (labels(found), found.hash) == (CASES["all"][1], before)


def test_interrupted_labelling_is_completed_by_the_next_run(
    folder: IngestFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "COMMIT_SECONDS", 0.0)  # each file is a commit
    events = pipeline.ingest(
        [str(folder.base / "docs")],
        template=CASES["all"][0],
        store=folder.store,
        embedder=folder.embedder,
        config=folder.config,
        base=folder.base,
    )
    next(event for event in events if event.stage == "commit")
    events.close()  # type: ignore[attr-defined]  # typed as an iterator, but a generator
    assert [labels(document) for document in folder.documents().values()] == [CASES["all"][1], labels_of(OLD)]

    folder.ingest("docs", template=CASES["all"][0])

    assert [labels(document) for document in folder.documents().values()] == [CASES["all"][1]] * 2


def labels_of(root: Root) -> tuple[tuple[str, ...], str | None, object]:
    return tuple(sorted(root.tags)), root.source, dict(root.meta)
