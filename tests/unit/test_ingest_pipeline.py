"""Promises of the pipeline, on real folders with an in-memory store and the hash embedder."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from recall_core.embed.hash import HashEmbedder
from recall_core.errors import EmbedError, IngestError, StoreError, UsageError
from recall_core.ingest import pipeline, vectors
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import Root, Vector
from tests.builders import without_privileges
from tests.embedders import CountingEmbedder
from tests.ingest_folder import DIMENSION, PLAIN, IngestFolder

NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"


@pytest.fixture
def folder(tmp_path: Path) -> IngestFolder:
    return IngestFolder(tmp_path)


def test_every_document_can_be_rebuilt_from_its_chunks(folder: IngestFolder) -> None:
    text = "# Title\r\n\r\n" + " ".join(f"Words and 漢字 in row {n}." for n in range(60))
    folder.write("a.md", text)

    done = folder.ingest("a.md")

    (document,) = folder.documents().values()
    assert (done.stage, done.added, done.documents, done.embedded) == ("done", 1, 1, done.chunks)
    assert done.chunks > 5
    assert document.title == "Title"
    assert folder.store.text_of(document.id) == text


def test_lines_count_from_one_and_name_the_last_character(folder: IngestFolder) -> None:
    folder.write("a.txt", "".join(f"line {n} of the file\n" for n in range(1, 41)))

    folder.ingest("a.txt")

    rows = folder.store.fetch([key.rowid for key in folder.store.candidates(None)])
    assert rows[-1].chunk.line_end == 40
    for row in rows:
        assert row.chunk.text.startswith(f"line {row.chunk.line_start} of")
        assert row.chunk.text.endswith(f"line {row.chunk.line_end} of the file\n")


def test_chunk_with_trailing_empty_lines_ends_on_the_last(folder: IngestFolder) -> None:
    text = "\n\n\n".join(f"Paragraph {n}. " + "word " * 40 for n in range(40))
    folder.write("a.txt", text)

    folder.ingest("a.txt")

    chunks = [row.chunk for row in folder.store.fetch([key.rowid for key in folder.store.candidates(None)])]
    assert [chunk.line_end for chunk in chunks] == [1 + text.count("\n", 0, chunk.end - 1) for chunk in chunks]
    assert any(chunk.text.endswith("\n\n") for chunk in chunks)


def test_adding_an_unchanged_folder_again_writes_nothing(folder: IngestFolder) -> None:
    folder.write("docs/a.md")
    folder.write("docs/b.md", "other words\n")
    template = Root("", tags=("guide",), source="manual", meta=(("year", "1999"),))
    folder.ingest("docs", template=template)
    before = folder.state()

    again = folder.ingest("docs", template=template)

    assert (again.unchanged, again.added, again.updated, again.chunks) == (2, 0, 0, 0)
    assert folder.state() == before
    assert folder.sync().unchanged == 2
    assert folder.state() == before


def test_edit_embeds_only_changed_chunks(folder: IngestFolder) -> None:
    first, second = "# One\n\n" + "apple pie " * 15, "\n\n# Two\n\n" + "plum cake " * 15
    folder.write("a.md", first + second)
    folder.ingest("a.md")

    folder.write("a.md", first + second + " and cream")
    done = folder.ingest("a.md")

    assert (done.updated, done.embedded, done.reused) == (1, 1, 1)


def test_restoring_old_bytes_restores_the_old_id(folder: IngestFolder) -> None:
    folder.write("a.md", "old\n")
    folder.ingest("a.md")
    before = folder.documents()["a.md"].id
    folder.write("a.md", "new\n")
    folder.ingest("a.md")
    assert folder.documents()["a.md"].id != before

    folder.write("a.md", "old\n")
    done = folder.ingest("a.md")

    assert folder.documents()["a.md"].id == before
    assert done.embedded == 0


def test_touched_file_is_refreshed_without_embedding(folder: IngestFolder) -> None:
    place = folder.write("a.md")
    folder.ingest("a.md")

    os.utime(place, ns=(1, 1_000_000_000))
    done = folder.ingest("a.md")

    assert (done.unchanged, done.updated) == (1, 0)
    assert folder.documents()["a.md"].mtime == "1970-01-01T00:00:01.000000Z"


def test_sync_reads_a_change_of_equal_size_and_time(folder: IngestFolder) -> None:
    place = folder.write("a.md", "before")
    folder.ingest("a.md")
    status = place.stat()
    folder.write("a.md", "after!")
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert folder.sync().updated == 1


def test_rapidly_read_files_share_progress_events(folder: IngestFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(9):
        folder.write(f"docs/{n}.md")
    monkeypatch.setattr(pipeline, "monotonic", lambda: 1_000.0)

    events = pipeline.ingest(
        [str(folder.base / "docs")],
        template=PLAIN,
        store=folder.store,
        embedder=folder.embedder,
        config=folder.config,
        base=folder.base,
    )

    assert [event.path for event in events if event.stage in ("discover", "read")] == []


def test_mtime_only_trusts_size_and_time_but_default_does_not(folder: IngestFolder) -> None:
    place = folder.write("a.md", "one")
    folder.ingest("a.md")
    status = place.stat()
    folder.write("a.md", "two")
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert folder.ingest("a.md", mtime_only=True).unchanged == 1
    assert folder.ingest("a.md").updated == 1


def test_new_chunk_size_rereads_an_unchanged_file(folder: IngestFolder) -> None:
    folder.write("a.md", "words " * 100)
    folder.ingest("a.md")

    folder.config = folder.config._replace(chunk_tokens=20)

    assert folder.ingest("a.md", mtime_only=True).updated == 1


def test_given_labels_replace_and_missing_labels_stay(folder: IngestFolder) -> None:
    folder.write("a.md")
    folder.ingest("a.md", template=Root("", tags=("b", "a"), source="s", meta=(("k", "1"),)))

    folder.ingest("a.md", template=Root("", tags=("c",)))
    relabelled = folder.documents()["a.md"]
    folder.write("a.md", "changed\n")
    folder.ingest("a.md")
    changed = folder.documents()["a.md"]

    for document in (relabelled, changed):
        assert (document.tags, document.source, document.meta) == (("c",), "s", {"k": "1"})


def test_folder_added_again_loses_vanished_files(folder: IngestFolder) -> None:
    gone = folder.write("docs/a.md")
    folder.write("docs/b.md", "kept\n")
    folder.write("docs/c.txt", "another glob\n").touch()
    folder.ingest("docs", template=Root("", globs=("*.md",)))
    folder.ingest("docs/c.txt")
    gone.unlink()
    (folder.base / "docs/c.txt").unlink()

    done = folder.ingest("docs", template=Root("", globs=("*.md",)))

    assert done.removed == 1
    assert sorted(folder.documents()) == ["docs/b.md", "docs/c.txt"]


def test_newly_ignored_file_has_not_vanished(folder: IngestFolder) -> None:
    folder.write("docs/a.md")
    folder.ingest("docs")
    folder.write("docs/.gitignore", "a.md\n")

    assert folder.ingest("docs").removed == 0
    assert list(folder.documents()) == ["docs/a.md"]


def test_sync_names_a_changed_excluded_file_and_keeps_its_text(folder: IngestFolder) -> None:
    folder.write("docs/a.md")
    folder.write("docs/b.md", "other words\n")
    folder.ingest("docs")
    before = folder.documents()
    folder.write("docs/.gitignore", "*.md\n")
    folder.write("docs/a.md", "changed words\n")

    done = folder.sync()

    assert [(skip.path, skip.code) for skip in done.skipped] == [("docs/a.md", "excluded")]
    assert "recall rm docs/a.md" in done.skipped[0].reason
    assert (done.removed, folder.documents()) == (0, before)


def test_only_sync_names_a_newly_excluded_file(folder: IngestFolder) -> None:
    folder.write("docs/a.md")
    folder.write("docs/b.md", "other words\n")
    folder.ingest("docs")
    before = folder.documents()
    folder.write("docs/.gitignore", "a.md\n")
    folder.write("docs/a.md", "changed words\n")

    assert folder.ingest("docs").skipped == ()
    assert folder.ingest("docs", template=Root("", ignores=("a.*",))).skipped == ()
    assert [skip.code for skip in folder.sync().skipped] == ["excluded"]
    assert folder.documents() == before


def test_excluded_file_is_named_until_restored_or_removed(
    folder: IngestFolder,
) -> None:
    place = folder.write("docs/a.md", "one")
    status = place.stat()
    folder.config = folder.config._replace(max_file_bytes=50)
    folder.ingest("docs")
    folder.write("docs/.gitignore", "a.md\n")
    assert folder.sync().skipped == ()
    changes = {
        "of another size": ("three", status.st_mtime_ns),
        "of equal size": ("two", status.st_mtime_ns + 1),
        "of equal size and time": ("two", status.st_mtime_ns),
        "too large": ("x" * (folder.config.max_file_bytes + 1), status.st_mtime_ns),
    }

    for text, mtime_ns in changes.values():
        folder.write("docs/a.md", text)
        os.utime(place, ns=(status.st_atime_ns, mtime_ns))
        assert [skip.code for skip in (*folder.sync().skipped, *folder.sync().skipped)] == ["excluded", "excluded"]
    folder.write("docs/a.md", "one")
    for later in (0, 1):
        os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns + later))
        assert folder.sync().skipped == ()
    folder.write("docs/a.md", "three")
    with folder.store.writer() as writer:
        writer.tombstone(["docs/a.md"])
    assert folder.sync().skipped == ()


def test_unreadable_file_is_named_as_unreadable_not_as_excluded(
    folder: IngestFolder,
) -> None:
    folder.write("docs/a.md")
    folder.write("docs/b.md", "other words\n")
    folder.ingest("docs")
    before = folder.documents()
    folder.config = folder.config._replace(max_file_bytes=50)
    folder.write("docs/a.md", "x" * 51)
    (folder.base / "docs/b.md").unlink()
    (folder.base / "docs/b.md").symlink_to("nowhere")

    done = folder.sync()

    assert [(skip.path, skip.code) for skip in done.skipped] == [
        ("docs/a.md", "file_too_large"),
        ("docs/b.md", "broken_link"),
    ]
    assert (done.removed, folder.documents()) == (0, before)


def test_file_of_exactly_maximum_size_is_read(folder: IngestFolder) -> None:
    folder.write("docs/a.md", "x" * 50)
    folder.write("docs/b.md", "x" * 51)
    folder.write("c.md", "x" * 50)
    folder.config = folder.config._replace(max_file_bytes=50)

    done = folder.ingest("docs", "c.md")

    assert sorted(folder.documents()) == ["c.md", "docs/a.md"]
    assert [(skip.path, skip.code) for skip in done.skipped] == [("docs/b.md", "file_too_large")]
    assert "51 bytes, more than max_file_bytes (50)" in done.skipped[0].reason


def test_file_read_by_another_root_is_not_skipped(folder: IngestFolder) -> None:
    folder.write("aside.md")
    folder.write("docs/a.md", "other words\n")
    (folder.base / "docs/link.md").symlink_to(folder.base / "aside.md")
    assert [skip.code for skip in folder.ingest("docs").skipped] == ["symlink_outside"]

    assert folder.ingest("docs", template=Root("", follow=True)).skipped == ()
    assert folder.sync().skipped == ()


def test_skips_of_all_roots_are_sorted_by_path(folder: IngestFolder) -> None:
    for path in ("b/2.bin", "a/3.bin", "c/1.bin"):
        folder.write(path, "\0")

    skipped = folder.ingest("c", "a", "b").skipped

    assert [skip.path for skip in skipped] == ["a/3.bin", "b/2.bin", "c/1.bin"]
    assert folder.sync().skipped == skipped


def test_excluded_file_can_be_added_by_name(folder: IngestFolder) -> None:
    for path in (".hidden.md", ".git/a.md", "node_modules/a.md", "__pycache__/a.md", "env/pyvenv.cfg", "env/a.md"):
        folder.write(f"docs/{path}")
    folder.write("docs/.gitignore", "left.md\n")
    folder.write("docs/left.md")
    folder.write("docs/out.txt")
    folder.write("docs/a.md", "other words\n")

    done = folder.ingest("docs", template=Root("", ignores=("*.txt",)))

    assert (done.files_total, list(folder.documents())) == (1, ["docs/a.md"])
    assert folder.ingest("docs/env", "docs/left.md", "docs/out.txt", "docs/.hidden.md").added == 5


def test_file_read_by_another_root_is_not_excluded(folder: IngestFolder) -> None:
    folder.write("docs/.gitignore", "a.md\n")
    folder.write("docs/a.md")
    folder.ingest("docs/a.md")
    folder.write("docs/a.md", "changed words\n")

    done = folder.ingest("docs")

    assert done.skipped == ()
    assert (folder.sync().updated, folder.sync().skipped) == (1, ())


@pytest.mark.parametrize("kind", ["folder", "pipe"])
@pytest.mark.parametrize("target", ["docs", "docs/a.md"])
def test_file_replaced_by_something_else_has_vanished(folder: IngestFolder, target: str, kind: str) -> None:
    place = folder.write("docs/a.md")
    folder.ingest(target)
    place.unlink()
    os.mkfifo(place) if kind == "pipe" else folder.write("docs/a.md/b.md")

    done = folder.sync()

    assert (done.removed, list(folder.documents())) == (1, ["docs/a.md/b.md"] if kind == "folder" else [])
    assert folder.sync().removed == 0


def test_file_that_became_binary_is_skipped_and_keeps_its_text(folder: IngestFolder) -> None:
    place = folder.write("docs/a.md")
    folder.ingest("docs")
    place.write_bytes(b"\0 no text")

    done = folder.sync()

    assert [(skip.path, skip.code) for skip in done.skipped] == [("docs/a.md", "binary_file")]
    assert (done.removed, list(folder.documents())) == (0, ["docs/a.md"])


def test_another_glob_on_the_same_folder_removes_nothing(folder: IngestFolder) -> None:
    folder.write("docs/a.md").touch()
    folder.ingest("docs")
    (folder.base / "docs/a.md").unlink()

    folder.ingest("docs", template=Root("", globs=("*.txt",)))

    assert list(folder.documents()) == ["docs/a.md"]


def test_sync_adds_updates_and_removes(folder: IngestFolder) -> None:
    folder.write("docs/a.md")
    folder.write("docs/b.md", "second\n")
    folder.write("single.md", "on its own\n")
    folder.ingest("docs", "single.md", template=Root("", tags=("t",)))
    folder.write("docs/a.md", "changed words\n")
    (folder.base / "docs/b.md").unlink()
    (folder.base / "single.md").unlink()
    folder.write("docs/new.md", "new\n")

    done = folder.sync()

    assert (done.added, done.updated, done.removed) == (1, 1, 2)
    assert {path: document.tags for path, document in folder.documents().items()} == {
        "docs/a.md": ("t",),
        "docs/new.md": ("t",),
    }
    assert folder.sync().removed == 0


def test_missing_root_is_an_error_and_removes_nothing(folder: IngestFolder) -> None:
    folder.write("disk/a.md")
    folder.write("docs/b.md")
    folder.ingest("docs", "disk")
    (folder.base / "disk").rename(folder.base / "unmounted")
    (folder.base / "docs/b.md").unlink()
    before = folder.state()

    with pytest.raises(IngestError) as caught:
        folder.sync()

    assert caught.value.code == "root_missing"
    assert folder.state() == before


def test_single_file_in_a_missing_folder_is_a_missing_root(folder: IngestFolder) -> None:
    folder.write("disk/a.md")
    folder.ingest("disk/a.md")
    (folder.base / "disk").rename(folder.base / "unmounted")

    with pytest.raises(IngestError) as caught:
        folder.sync()

    assert caught.value.code == "root_missing"


def test_missing_empty_root_does_not_block(folder: IngestFolder) -> None:
    folder.write("a.md").touch()
    (folder.base / "empty").mkdir()
    folder.ingest("a.md", "empty")
    (folder.base / "empty").rmdir()

    assert folder.sync().unchanged == 1


def test_file_found_by_two_roots_belongs_to_the_newer(folder: IngestFolder) -> None:
    folder.write("docs/a.md")
    folder.ingest("docs", template=Root("", tags=("old",)))
    folder.ingest("docs/a.md", template=Root("", tags=("new",)))
    folder.write("docs/a.md", "changed\n")

    folder.sync()
    before = folder.state()

    assert folder.documents()["docs/a.md"].tags == ("new",)
    folder.sync()
    assert folder.state() == before


def test_records_stay_documents_when_the_folder_is_added(folder: IngestFolder) -> None:
    lines = [{"id": n, "text": f"record {n}", "year": n} for n in range(3)]
    folder.write("a.jsonl", "\n".join(map(json.dumps, lines)))
    done = folder.ingest("a.jsonl", template=Root("", parser="jsonl", meta=(("set", "x"),)))
    assert (done.documents, done.added) == (3, 1)

    folder.write("a.jsonl", "\n".join(map(json.dumps, lines[:2])))
    folder.ingest(".")

    found = folder.documents()
    assert sorted(found) == ["a.jsonl#0", "a.jsonl#1"]
    assert found["a.jsonl#1"].meta == {"set": "x", "year": 1}


def test_walk_skips_unreadable_files_with_reasons(folder: IngestFolder) -> None:
    folder.write("docs/a.md")
    (folder.base / "docs/b.bin").write_bytes(b"\0")
    (folder.base / "docs/c.txt").write_bytes(b"caf\xe9")
    (folder.base / "docs/d.md").symlink_to("nowhere")

    done = folder.ingest("docs")

    assert list(folder.documents()) == ["docs/a.md"]
    assert [(skip.path, skip.code) for skip in done.skipped] == [
        ("docs/b.bin", "binary_file"),
        ("docs/c.txt", "not_utf8"),
        ("docs/d.md", "broken_link"),
    ]
    assert done.skipped[1].reason.startswith("is not UTF-8: byte 0xe9 at offset 3.")


COMPOSED, DECOMPOSED = "caf\u00e9.md", "cafe\u0301.md"


@pytest.fixture
def twins(folder: IngestFolder) -> IngestFolder:
    """Return a folder with a read file that gets a second file with its name in another Unicode form."""
    folder.write(f"docs/{COMPOSED}", "the first\n")
    if (folder.base / "docs" / DECOMPOSED).exists():
        pytest.skip("the file system treats both names as one")
    return folder


def test_second_file_with_the_same_name_is_skipped_and_reported(twins: IngestFolder) -> None:
    twins.write(f"docs/{DECOMPOSED}", "the second\n")

    done = twins.ingest("docs")

    assert (done.added, list(twins.documents())) == (1, [f"docs/{COMPOSED}"])
    assert [(skip.path, skip.code) for skip in done.skipped] == [(f"docs/{COMPOSED}", "same_name")]
    assert "'docs/caf\\xe9.md'" in done.skipped[0].reason
    assert "'docs/cafe\\u0301.md'" in done.skipped[0].reason


@pytest.mark.parametrize("named", ["docs", f"docs/{DECOMPOSED}"])
def test_stored_file_keeps_its_name_while_it_exists(twins: IngestFolder, named: str) -> None:
    twins.ingest("docs")
    kept = twins.documents()
    twins.write(f"docs/{DECOMPOSED}", "the second\n")

    done = twins.ingest(named)

    assert (done.updated, [skip.code for skip in done.skipped]) == (0, ["same_name"])
    assert twins.documents() == kept
    (twins.base / "docs" / COMPOSED).unlink()
    again = twins.sync()
    assert (again.updated, again.skipped) == (1, ())
    assert twins.documents() != kept


def test_one_file_with_two_spellings_is_not_a_second_file(twins: IngestFolder) -> None:
    (twins.base / "docs" / DECOMPOSED).hardlink_to(twins.base / "docs" / COMPOSED)

    done = twins.ingest("docs")

    assert (done.added, done.skipped) == (1, ())


def test_unreadable_named_file_stops_before_any_write(folder: IngestFolder) -> None:
    folder.write("good.md")
    (folder.base / "binary").write_bytes(b"\0")
    (folder.base / "latin").write_bytes(b"caf\xe9")
    folder.write("large", "x" * 100)
    folder.write("records", "{")
    os.mkfifo(folder.base / "pipe")
    (folder.base / "loop").symlink_to("loop")
    folder.config = folder.config._replace(max_file_bytes=50)
    before = folder.state()
    expected = {
        "nowhere": "missing_path",
        "good.md/below": "missing_path",
        "pipe": "not_a_file",
        "loop": "unreadable",
        "binary": "binary_file",
        "latin": "not_utf8",
        "large": "file_too_large",
        "bad\udce9": "bad_name",
    }

    for name, code in expected.items():
        with pytest.raises(IngestError) as caught:
            folder.ingest("good.md", name)
        assert caught.value.code == code
    with pytest.raises(IngestError) as caught:
        folder.ingest("records", template=Root("", parser="jsonl"))
    assert caught.value.code == "bad_record"
    assert folder.state() == before


def test_inaccessible_named_folder_is_unreadable_and_not_saved(folder: IngestFolder) -> None:
    closed = folder.write("closed/a.md").parent
    closed.chmod(0o300)

    with without_privileges(folder.base), pytest.raises(IngestError) as caught:
        folder.ingest("closed")
    closed.chmod(0o700)

    assert (caught.value.code, folder.store.roots()) == ("unreadable", ())


def test_inaccessible_named_file_is_unreadable(folder: IngestFolder) -> None:
    folder.write("a.md").chmod(0)

    with without_privileges(folder.base), pytest.raises(IngestError) as caught:
        folder.ingest("a.md")

    assert caught.value.code == "unreadable"


@pytest.mark.parametrize("name", ["docs/a.md", "docs/.hidden"])
def test_meaningless_option_is_a_usage_error(folder: IngestFolder, name: str) -> None:
    folder.write(name)

    for template, code in (
        (Root("", parser="txet"), "unknown_parser"),
        (Root("", globs=("{a,b}" * 9,)), "bad_pattern"),
        (Root("", ignores=("{a,b}" * 9,)), "bad_pattern"),
    ):
        with pytest.raises(UsageError) as caught:
            folder.ingest("docs", template=template)

        assert caught.value.code == code, template


@pytest.mark.parametrize(
    ("asked", "code"), [({"encoding": "klingon"}, "unknown_encoding"), ({"parser": "txet"}, "unknown_parser")]
)
def test_files_of_a_root_with_invalid_settings_are_skipped(
    folder: IngestFolder, asked: dict[str, str], code: str
) -> None:
    folder.write("bad/a.md")
    folder.write("good/b.md")
    with folder.store.writer() as writer:  # as an import writes them
        writer.put_root(Root("bad", **asked))  # type: ignore[arg-type]
        writer.put_root(Root("good"))

    done = folder.sync()

    assert [(skip.path, skip.code) for skip in done.skipped] == [("bad/a.md", code)]
    assert list(folder.documents()) == ["good/b.md"]


def test_unknown_parser_in_settings_ends_a_sync(folder: IngestFolder) -> None:
    folder.write("docs/a.md")
    folder.ingest("docs")
    folder.write("docs/a.md", "other words\n")
    folder.config = folder.config._replace(parsers=(("*.md", "txet"),))

    with pytest.raises(UsageError) as caught:
        folder.sync()

    assert caught.value.code == "unknown_parser"


def test_text_without_a_feature_is_stored_without_a_vector(folder: IngestFolder) -> None:
    folder.write("a.md", "the and of\n")
    folder.write("b.md", "")

    folder.ingest("a.md", "b.md")

    info = folder.store.info()
    assert (info.documents, info.chunks, info.vectors) == (2, 1, 0)


class Overtaken(HashEmbedder):
    """An embedder during whose work another one takes over the store."""

    def __init__(self, store: SqliteStore) -> None:
        super().__init__(DIMENSION)
        self.store = store

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        with self.store.transaction():
            self.store.execute("UPDATE meta SET value = 'another' WHERE key = 'embedder'")
        return super().embed(texts)


def test_vectors_of_a_replaced_embedder_are_not_written(folder: IngestFolder) -> None:
    folder.write("a.md")
    folder.embedder = Overtaken(folder.store)

    with pytest.raises(StoreError) as caught:
        folder.ingest("a.md")

    assert caught.value.code == "embedder_changed"
    assert folder.store.info().documents == 0


class Wrong:
    """An embedder that always answers with the same bytes."""

    identity = HashEmbedder(DIMENSION).identity
    dimension = DIMENSION
    max_input = None

    def __init__(self, answer: list[Vector]) -> None:
        self.answer = answer

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return the fixed answer."""
        assert texts
        return self.answer

    def windows(self, texts: Sequence[str]) -> list[int]:
        """Count windows; never called, because the input is not limited."""
        raise AssertionError(texts)


UNIT = b"\0\0\x80\x3f" + b"\0" * 252


UNFIT: dict[str, list[Vector]] = {
    "short": [UNIT[:-4]],
    "torn": [UNIT[:-1]],
    "many": [UNIT, UNIT],
    "none": [],
    "zero": [b"\0" * 256],
    "nan": [b"\0\0\xc0\x7f" + UNIT[4:]],
    "infinite": [b"\0\0\x80\x7f" + UNIT[4:]],
    "half": [b"\0\0\0\x3f" + UNIT[4:]],
}


def test_invalid_vector_is_never_written(folder: IngestFolder) -> None:
    folder.write("a.md")
    before = folder.state()

    for kind, answer in UNFIT.items():
        folder.embedder = Wrong(answer)
        with pytest.raises(EmbedError) as caught:
            folder.ingest("a.md")

        assert caught.value.code == "embed_invalid", kind
        assert folder.state() == before, kind


def test_valid_vector_is_written(folder: IngestFolder) -> None:
    folder.write("a.md")
    folder.embedder = Wrong([UNIT])

    folder.ingest("a.md")

    assert folder.store.info().vectors == 1


def test_stopped_run_keeps_its_commits_and_can_resume(folder: IngestFolder) -> None:
    files = 60 if NIGHTLY else 45
    for number in range(files):
        folder.write(f"docs/{number:02}.txt", f"file {number}. " + f"word{number} " * 1300)
    events = pipeline.ingest(
        [str(folder.base / "docs")],
        template=PLAIN,
        store=folder.store,
        embedder=folder.embedder,
        config=folder.config,
        base=folder.base,
    )
    first_commit = next(event for event in events if event.stage == "commit")
    events.close()  # type: ignore[attr-defined]  # typed as an iterator, but a generator
    kept = len(folder.documents())
    assert 0 < kept == first_commit.files_done < files

    done = folder.ingest("docs")

    assert (done.unchanged, done.added) == (kept, files - kept)
    whole = IngestFolder(folder.base)
    whole.ingest("docs")
    assert folder.store.info().digest == whole.store.info().digest


class Interrupted(HashEmbedder):
    """The hash embedder with a Ctrl-C at some text."""

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return vectors until the interrupt."""
        if "stop here" in texts:
            raise KeyboardInterrupt
        return super().embed(texts)


def test_ctrl_c_writes_nothing_of_the_current_batch(folder: IngestFolder) -> None:
    folder.write("docs/a.md")
    folder.write("docs/b.md", "stop here")
    folder.embedder = Interrupted(DIMENSION)
    before = folder.state()

    with pytest.raises(KeyboardInterrupt):
        folder.ingest("docs")

    assert folder.state() == before
    folder.embedder = HashEmbedder(DIMENSION)
    assert folder.ingest("docs").added == 2


def test_counters_only_grow_and_the_total_follows_discovery(folder: IngestFolder) -> None:
    for number in range(30):
        folder.write(f"docs/{number:02}.txt", f"word{number} " * 2000)

    events = list(
        pipeline.ingest(
            [str(folder.base / "docs")],
            template=PLAIN,
            store=folder.store,
            embedder=folder.embedder,
            config=folder.config,
            base=folder.base,
        )
    )

    counters = [(event.files_done, event.chunks, event.embedded, event.reused, event.added) for event in events]
    for before, after in pairwise(counters):
        assert all(low <= high for low, high in zip(before, after, strict=True))
    assert {event.files_total for event in events if event.stage != "discover"} == {30}
    assert events[-1].stage == "done"
    assert events[-1].files_done == 30
    assert events[-1].embedded + events[-1].reused == events[-1].chunks


def test_renamed_spelling_of_the_same_name_stays_one_document(folder: IngestFolder) -> None:
    composed, decomposed = "café.md", unicodedata.normalize("NFD", "café.md")
    place = folder.write(composed)
    folder.ingest(".")
    place.rename(folder.base / decomposed)

    folder.ingest(".")

    assert list(folder.documents()) == [composed]
    assert [file.os_path for file in folder.store.files()] == [decomposed]


def test_store_can_be_moved_with_its_folder(folder: IngestFolder, tmp_path: Path) -> None:
    folder.write("box/docs/a.md")
    folder.base = tmp_path / "box"
    folder.ingest("docs")
    (tmp_path / "box").rename(tmp_path / "chest")
    folder.base = tmp_path / "chest"
    before = folder.state()

    assert folder.sync().unchanged == 1
    assert folder.state() == before


def counting(folder: IngestFolder) -> CountingEmbedder:
    """Give the folder a new store for a counting embedder, and return the embedder."""
    embedder = CountingEmbedder()
    folder.embedder = embedder
    folder.store = folder.empty_store()
    return embedder


@pytest.mark.parametrize("chunks", [400, pytest.param(20_000, marks=pytest.mark.slow)])
def test_repeated_ingest_embeds_each_distinct_text_once(folder: IngestFolder, chunks: int) -> None:
    embedder = counting(folder)
    folder.config = folder.config._replace(chunk_tokens=8, overlap_tokens=0)
    half = chunks // 2
    for name in "ab":  # the same texts under two names
        for start in range(0, half, 1_000):
            lines = [f"row {n} of a long list without end." for n in range(start, min(start + 1_000, half))]
            folder.write(f"docs/{name}{start}.txt", "\n\n".join(lines))

    first = folder.ingest("docs")
    with folder.store.writer() as writer:
        writer.tombstone([file.path for file in folder.store.files()])
    second = folder.ingest("docs")

    assert (first.chunks, second.chunks) == (chunks, chunks)
    assert (first.embedded, first.reused) == (half, half)
    assert (second.embedded, second.reused, second.added) == (0, chunks, first.added)
    assert set(embedder.read.values()) == {1}
    assert (len(embedder.read), folder.store.info().vectors) == (half, chunks)


def test_one_line_edit_embeds_only_its_chunks(folder: IngestFolder) -> None:
    embedder = counting(folder)
    lines = [f"Paragraph {n} has a few words that are all its own, such as w{n}.\n\n" for n in range(200)]
    folder.write("a.md", "".join(lines))
    folder.ingest("a.md")
    before = dict(embedder.read)

    lines[100] = lines[100].replace("such as w100", "such as edit")
    folder.write("a.md", "".join(lines))
    done = folder.ingest("a.md")

    new = [text for text in embedder.read if text not in before]
    assert done.embedded == len(new)
    assert 1 <= len(new) <= 3
    assert all("edit" in text for text in new)


class Slow(CountingEmbedder):
    """An embedder of 40 texts a second by its own clock; nothing else takes time."""

    now = 0.0

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        self.now += len(texts) / 40
        return super().embed(texts, is_query=is_query)


def test_slow_embedder_commits_and_reports_progress(folder: IngestFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.embedder = slow = Slow()
    for module in (pipeline, vectors):
        monkeypatch.setattr(module, "monotonic", lambda: slow.now)
    folder.store = folder.empty_store()
    for n in range(100):
        folder.write(f"docs/{n}.txt", f"file number {n}")
    commits, moments = 0, [slow.now]

    events = pipeline.ingest(
        [str(folder.base / "docs")],
        template=PLAIN,
        store=folder.store,
        embedder=folder.embedder,
        config=folder.config,
        base=folder.base,
    )
    for event in events:
        moments.append(slow.now)
        if event.stage == "commit":
            commits += 1
            assert folder.store.info().documents == event.embedded

    assert max(late - early for early, late in pairwise(moments)) < 0.9
    assert commits >= 2


def test_stopped_long_document_keeps_its_vectors(folder: IngestFolder) -> None:
    embedder = counting(folder)
    folder.config = folder.config._replace(chunk_tokens=8, overlap_tokens=0)
    folder.write("long.txt", "\n\n".join(f"row {n} of a long list without end." for n in range(500)))
    embedder.patience = 300
    before = folder.state()

    with pytest.raises(EmbedError, match="gone home"):
        folder.ingest("long.txt")
    assert folder.state() == before
    read = embedder.read.total()
    assert folder.store.execute("SELECT count(*) FROM vec_cache")[0][0] == read > 100
    embedder.patience = None
    done = folder.ingest("long.txt")

    assert (done.embedded, done.reused) == (500 - read, read)
    assert set(embedder.read.values()) == {1}
    assert folder.store.execute("SELECT count(*) FROM vec_cache")[0][0] == 0


def test_long_document_is_saved_along_the_way(folder: IngestFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    counting(folder)
    monkeypatch.setattr(pipeline, "COMMIT_SECONDS", 0.0)
    folder.config = folder.config._replace(chunk_tokens=8, overlap_tokens=0)
    folder.write("long.txt", "\n\n".join(f"row {n} of a long list without end." for n in range(500)))
    generation = folder.store.info().generation
    kept = []
    events = pipeline.ingest(
        [str(folder.base / "long.txt")],
        template=PLAIN,
        store=folder.store,
        embedder=folder.embedder,
        config=folder.config,
        base=folder.base,
    )
    monkeypatch.setattr(pipeline, "EVENT_SECONDS", 0.0)

    for event in events:
        if event.stage == "embed":
            kept.append(folder.store.execute("SELECT count(*) FROM vec_cache")[0][0])
            assert event.embedded + event.waiting == 500
            assert folder.store.info().generation == generation

    assert 0 < kept[0] < kept[1] < kept[2] < 500
    assert folder.store.info().vectors == 500


def test_two_concurrent_runs_count_their_own_work(folder: IngestFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "EVENT_SECONDS", 0.0)
    for name in ("docs/both.md", "docs/gone.md", "docs/edited.md"):
        folder.write(name, f"old words of {name}\n")
    folder.ingest("docs")
    folder.write("docs/both.md", "new words\n")
    folder.write("docs/new.md", "more words\n")
    (folder.base / "docs/gone.md").unlink()
    slow = pipeline.sync(folder.store, folder.embedder, folder.config, folder.base)
    while next(slow).stage != "read":
        pass

    first = folder.sync()
    folder.write("docs/edited.md", "edited while the first run read\n")
    *_, second = slow

    assert (first.added, first.updated, first.removed, first.unchanged) == (1, 1, 1, 1)
    assert (second.added, second.updated, second.removed, second.unchanged) == (0, 1, 0, 2)
    assert second.chunks == 1
    assert set(folder.documents()) == {"docs/both.md", "docs/edited.md", "docs/new.md"}


def test_embedder_tokens_are_reported_for_this_run_only(folder: IngestFolder) -> None:
    assert folder.ingest(folder.write("a.md").name).tokens is None
    counting(folder).tokens_used = 1_000

    assert folder.ingest("a.md").tokens == 2
