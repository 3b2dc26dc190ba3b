"""Labels: what `add` gives to files that it read before, what a sync keeps, and that no text is read for it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from recall_core.ingest import pipeline
from recall_core.types import Document, Root
from tests.ingest_desk import Desk

OLD = Root("", tags=("b", "a"), source="old", meta=(("k", "old"), ("kept", 1)))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A store that has read two files of a folder with labels."""
    desk = Desk(tmp_path)
    desk.write("docs/a.md", "a quokka\n")
    desk.write("docs/b.md", "a wombat\n")
    desk.ingest("docs", template=OLD)
    return desk


def labels(document: Document) -> tuple[tuple[str, ...], str | None, object]:
    return document.tags, document.source, document.meta


CASES = {
    "tags": (Root("", tags=("c", "d", "c")), (("c", "d"), "old", {"k": "old", "kept": 1})),
    "source": (Root("", source="new"), (("a", "b"), "new", {"k": "old", "kept": 1})),
    "an empty source": (Root("", source=""), (("a", "b"), "", {"k": "old", "kept": 1})),
    "meta": (Root("", meta=(("k", "new"), ("more", 2))), (("a", "b"), "old", {"k": "new", "kept": 1, "more": 2})),
    "all": (Root("", tags=("c",), source="new", meta=(("k", "new"),)), (("c",), "new", {"k": "new", "kept": 1})),
}


@pytest.mark.parametrize("mtime_only", [False, True], ids=["hashed", "mtime-only"])
@pytest.mark.parametrize("name", CASES)
def test_a_folder_added_again_with_other_labels_gives_them_to_every_document(
    desk: Desk, name: str, mtime_only: bool
) -> None:
    template, expected = CASES[name]
    generation, digest = desk.state()

    done = desk.ingest("docs", template=template, mtime_only=mtime_only)

    assert [labels(document) for document in desk.documents().values()] == [expected, expected]
    assert (done.unchanged, done.updated, done.added) == (2, 0, 0)
    assert desk.state()[0] == generation + 1
    assert desk.state()[1] != digest


@pytest.mark.parametrize("name", CASES)
def test_new_labels_cut_and_embed_nothing_again(desk: Desk, name: str) -> None:
    before = [desk.rows(path) for path in desk.documents()]

    done = desk.ingest("docs", template=CASES[name][0])

    after = [desk.rows(path) for path in desk.documents()]
    assert [[(row.rowid, row.chunk) for row in rows] for rows in after] == [
        [(row.rowid, row.chunk) for row in rows] for rows in before
    ]
    assert (done.chunks, done.embedded, done.reused) == (0, 0, 0)


@pytest.mark.parametrize("name", CASES)
def test_documents_labelled_later_are_those_that_were_read_with_their_labels(desk: Desk, name: str) -> None:
    fresh = Desk(desk.base)
    fresh.ingest("docs", template=OLD)
    desk.ingest("docs", template=CASES[name][0])
    desk.write("docs/a.md", "another quokka\n")
    desk.write("docs/b.md", "another wombat\n")

    done = desk.sync()

    assert done.updated == 2
    assert [labels(document) for document in desk.documents().values()] == [CASES[name][1]] * 2
    labelled = Desk(desk.base)
    tags, source, meta = CASES[name][1]
    labelled.ingest("docs", template=Root("", tags=tags, source=source, meta=tuple(sorted(meta.items()))))
    assert desk.store.info().digest == labelled.store.info().digest


def test_labels_that_stand_already_are_not_written_again(desk: Desk) -> None:
    desk.ingest("docs", template=CASES["all"][0])
    before = desk.state()

    desk.ingest("docs", template=CASES["all"][0])

    assert desk.state() == before


def test_a_command_typed_before_gives_its_labels_back_and_the_digest_with_them(desk: Desk) -> None:
    first, stamp = [labels(document) for document in desk.documents().values()], desk.store.info().digest
    desk.ingest("docs", template=CASES["all"][0])
    generation = desk.store.info().generation

    desk.ingest("docs", template=OLD)

    assert [labels(document) for document in desk.documents().values()] == first
    assert desk.state() == (generation + 1, stamp)


@pytest.mark.parametrize("again", ["sync", "the plain folder", "one file without labels"])
def test_labels_stay_when_the_files_are_read_again_without_any(desk: Desk, again: str) -> None:
    desk.ingest("docs", template=CASES["all"][0])
    before = {path: labels(document) for path, document in desk.documents().items()}
    stamp = desk.store.info().digest
    verbs = {
        "sync": desk.sync,
        "the plain folder": lambda: desk.ingest("docs"),
        "one file without labels": lambda: desk.ingest("docs/a.md"),
    }

    assert verbs[again]().unchanged in (1, 2)

    assert {path: labels(document) for path, document in desk.documents().items()} == before
    assert desk.store.info().digest == stamp
    desk.write("docs/a.md", "another quokka\n")
    assert verbs[again]().updated == 1
    assert {path: labels(document) for path, document in desk.documents().items()} == before


def test_every_record_of_a_file_gets_the_labels_and_keeps_its_own_fields(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    lines = [json.dumps({"id": n, "text": f"record {n}", "year": 1990 + n, "k": "its own"}) for n in range(3)]
    desk.write("a.jsonl", "\n".join(lines))
    desk.ingest("a.jsonl", template=Root("", parser="jsonl"))

    desk.ingest("a.jsonl", template=Root("", parser="jsonl", tags=("t",), meta=(("k", "given"),)))

    assert [labels(document) for document in desk.documents().values()] == [
        (("t",), None, {"year": 1990 + n, "k": "given"}) for n in range(3)
    ]


def test_labels_of_one_file_are_given_to_no_other(desk: Desk) -> None:
    before = labels(desk.documents()["docs/b.md"])

    desk.ingest("docs/a.md", template=CASES["all"][0])

    assert labels(desk.documents()["docs/a.md"]) == CASES["all"][1]
    assert labels(desk.documents()["docs/b.md"]) == before


def test_a_new_file_takes_from_older_roots_only_what_its_own_leaves_open(desk: Desk) -> None:
    desk.ingest("docs", template=Root("", source="new", meta=(("k", "new"),)))
    desk.write("docs/c.md", "a numbat\n")
    desk.write("other/d.md", "a bilby\n")

    desk.ingest("docs", "other")

    assert labels(desk.documents()["docs/c.md"]) == (("a", "b"), "new", {"k": "new", "kept": 1})
    assert labels(desk.documents()["other/d.md"]) == ((), None, {})


def test_with_mtime_only_labels_are_given_to_a_file_that_is_not_read(desk: Desk) -> None:
    place = desk.base / "docs/a.md"
    status = place.stat()
    before = desk.documents()["docs/a.md"].hash
    place.write_text("a walrus\n")
    assert place.stat().st_size == status.st_size
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))

    desk.ingest("docs", template=CASES["all"][0], mtime_only=True)

    found = desk.documents()["docs/a.md"]
    assert (labels(found), found.hash) == (CASES["all"][1], before)


def test_labels_that_were_interrupted_are_given_when_the_command_runs_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "COMMIT_SECONDS", 0.0)  # each file is a commit
    events = pipeline.ingest(
        [str(desk.base / "docs")],
        template=CASES["all"][0],
        store=desk.store,
        embedder=desk.embedder,
        config=desk.config,
        base=desk.base,
    )
    next(event for event in events if event.stage == "commit")
    events.close()  # type: ignore[attr-defined]  # a generator behind its promise to be an iterator
    assert [labels(document) for document in desk.documents().values()] == [CASES["all"][1], labels_of(OLD)]

    desk.ingest("docs", template=CASES["all"][0])

    assert [labels(document) for document in desk.documents().values()] == [CASES["all"][1]] * 2


def labels_of(root: Root) -> tuple[tuple[str, ...], str | None, object]:
    return tuple(sorted(root.tags)), root.source, dict(root.meta)
