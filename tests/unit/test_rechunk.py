"""When documents are rechunked: once after each change of their chunking, and never otherwise."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from recall_core import config as settings
from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.ingest import reader
from recall_core.store.sqlite.check import counts, fulltext
from recall_core.types import Progress, Root
from tests.builders import memory_store, new_file, put
from tests.ingest_folder import DIMENSION, IngestFolder

IS_NIGHT = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
TEXT = "".join(f"Sentence {n} of the long text says a few words, all its own: w{n}.\n" for n in range(40))
LABELS = Root("", tags=("a", "b"), source="wiki", meta=(("year", 1999),))
LIMITS = {
    "chunk_tokens": Config(chunk_tokens=20, overlap_tokens=8),
    "overlap_tokens": Config(chunk_tokens=40, overlap_tokens=20),
    "max_chunk_chars": Config(chunk_tokens=40, overlap_tokens=8, max_chunk_chars=99),
    "counter": Config(chunk_tokens=40, overlap_tokens=8, counter="approx"),
}


@pytest.fixture
def folder(tmp_path: Path) -> IngestFolder:
    """Return a store that has read a long and a short text from a folder with labels."""
    folder = IngestFolder(tmp_path)
    folder.write("docs/long.txt", TEXT)
    folder.write("docs/short.txt")
    return fill(folder)


def fill(folder: IngestFolder, limits: Config | None = None) -> IngestFolder:
    """Read the same folder into an empty store."""
    fresh = IngestFolder(folder.base)
    fresh.config = limits or fresh.config
    fresh.ingest("docs", template=LABELS)
    return fresh


def chunks_of(folder: IngestFolder) -> list[tuple[str, int, int]]:
    """Return every chunk of the long text: its id, offset and tokens."""
    return [(row.chunk.id, row.chunk.offset, row.chunk.tokens) for row in folder.rows("docs/long.txt")]


def run(folder: IngestFolder, verb: str) -> Progress:
    if verb == "sync":
        return folder.sync()
    return folder.ingest("docs", template=LABELS, mtime_only=verb == "add --mtime-only")


def test_new_limit_rechunks_unchanged_files_once(folder: IngestFolder) -> None:
    before, digest = chunks_of(folder), folder.store.info().digest
    for changed, limits in LIMITS.items():
        fresh = fill(folder, limits)
        expected = fresh.store.info()
        for verb in ("sync", "add", "add --mtime-only") if IS_NIGHT or changed == "chunk_tokens" else ("sync",):
            case = (changed, verb)
            again = fill(folder)
            again.config = limits

            done = run(again, verb)

            assert (done.updated, done.unchanged, done.removed) == (2, 0, 0), case
            assert chunks_of(again) == chunks_of(fresh) != before, case
            info = again.store.info()
            assert info.digest == expected.digest != digest, case
            assert (info.documents, info.chunks, info.vectors) == (
                expected.documents, expected.chunks, expected.vectors
            ), case  # fmt: skip
            assert fulltext(again.store).severity == counts(again.store).severity == "ok", case
            for document in again.documents().values():
                assert (document.tags, document.source, document.meta) == (("a", "b"), "wiki", {"year": 1999}), case
            state = again.state()

            done = run(again, verb)

            assert (done.updated, done.unchanged) == (0, 2), case
            assert again.state() == state, case


def test_text_cut_alike_by_both_limits_is_not_reembedded(folder: IngestFolder) -> None:
    folder.config = LIMITS["max_chunk_chars"]

    done = folder.sync()

    assert done.updated == 2
    assert done.reused == 1  # the short text, whole under either limit
    assert done.embedded == done.chunks - 1


@pytest.mark.parametrize(
    ("module", "constant", "value"),
    [(settings, "CHUNKER_VERSION", 99), (reader, "EMBEDDED", "bare")],
    ids=["chunker", "embedded"],
)
def test_new_version_of_chunking_code_reads_every_file_again(
    folder: IngestFolder, monkeypatch: pytest.MonkeyPatch, module: object, constant: str, value: object
) -> None:
    monkeypatch.setattr(module, constant, value)

    assert folder.sync().updated == 2
    assert folder.sync().updated == 0


def records(*texts: str) -> str:
    return "".join(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(texts))


def test_another_parser_reads_an_unchanged_file_again(tmp_path: Path) -> None:
    folder = IngestFolder(tmp_path)
    folder.write("a.jsonl", records("first", "second"))
    folder.ingest("a.jsonl", template=Root("", parser="text"))
    assert list(folder.documents()) == ["a.jsonl"]

    done = folder.ingest("a.jsonl", template=Root("", parser="jsonl"))

    assert (done.updated, sorted(folder.documents())) == (1, ["a.jsonl#0", "a.jsonl#1"])
    assert folder.ingest("a.jsonl", template=Root("", parser="text")).updated == 1
    assert list(folder.documents()) == ["a.jsonl"]


def test_naming_the_current_parser_rechunks_nothing(folder: IngestFolder) -> None:
    before = folder.rows("docs/long.txt")

    done = folder.ingest("docs", template=LABELS._replace(parser="text"))

    assert (done.updated, done.unchanged) == (0, 2)
    assert folder.rows("docs/long.txt") == before


@pytest.mark.parametrize("verb", ["add", "sync"])
def test_parser_inherited_from_an_older_root_is_the_same(tmp_path: Path, verb: str) -> None:
    folder = IngestFolder(tmp_path)
    folder.write("docs/a.jsonl", records("first", "second"))
    folder.ingest("docs/a.jsonl", template=Root("", parser="jsonl"))
    folder.ingest("docs")
    folder.write("docs/a.jsonl", records("first", "changed"))
    folder.sync()
    before = folder.state()

    done = folder.sync() if verb == "sync" else folder.ingest("docs")

    assert (done.updated, done.unchanged, sorted(folder.documents())) == (0, 1, ["docs/a.jsonl#0", "docs/a.jsonl#1"])
    assert folder.state() == before


def test_unchanged_record_keeps_rows_and_gets_new_labels_and_time(tmp_path: Path) -> None:
    folder = IngestFolder(tmp_path)
    folder.write("a.jsonl", records("first", "second"))
    folder.ingest("a.jsonl", template=Root("", parser="jsonl", tags=("old",), source="old", meta=(("k", "old"),)))
    kept = folder.rows("a.jsonl#0")
    new = Root("", parser="jsonl", tags=("new",), source="new", meta=(("k", "new"),))
    folder.write("a.jsonl", records("first", "changed"))

    folder.ingest("a.jsonl", template=new)

    found = folder.documents()
    assert [row.rowid for row in folder.rows("a.jsonl#0")] == [row.rowid for row in kept]
    assert (found["a.jsonl#0"].tags, found["a.jsonl#0"].source, found["a.jsonl#0"].meta) == (
        ("new",), "new", {"k": "new"},
    )  # fmt: skip
    assert found["a.jsonl#0"].mtime == found["a.jsonl#1"].mtime
    fresh = IngestFolder(tmp_path)
    fresh.ingest("a.jsonl", template=new)
    assert folder.store.info().digest == fresh.store.info().digest


def test_unchanged_record_is_rechunked_with_its_file(tmp_path: Path) -> None:
    folder = IngestFolder(tmp_path)
    folder.write("a.jsonl", records(TEXT, "second"))
    folder.ingest("a.jsonl", template=Root("", parser="jsonl"))
    folder.config = LIMITS["chunk_tokens"]
    folder.write("a.jsonl", records(TEXT, "changed"))

    folder.sync()

    assert max(row.chunk.tokens for row in folder.rows("a.jsonl#0")) <= 20


def test_store_rechunks_only_files_with_changed_settings() -> None:
    store = memory_store()
    put(store, new_file("a.txt", ["one ", "two "], settings="old"))
    rows = [key.rowid for key in store.candidates(None)]

    put(store, new_file("a.txt", ["one ", "two "], settings="old", tags=("t",)))
    assert [key.rowid for key in store.candidates(None)] == rows
    put(store, new_file("a.txt", ["one two "], settings="new"))

    assert [row.chunk.text for row in store.fetch([key.rowid for key in store.candidates(None)])] == ["one two "]
    known = store.known("a.txt")
    assert known is not None
    assert known.settings == "new"


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """Return a store with its own limits that has read a folder."""
    template = tmp_path / "made"
    (template / "docs").mkdir(parents=True)
    (template / "docs" / "long.txt").write_text(TEXT)
    Recall.init(str(template), settings=("chunk_tokens=40", "overlap_tokens=8", f"embedding_dim={DIMENSION}"))
    with Recall.open(start=template) as recall:
        list(recall.add([str(template / "docs")], Root("")))
    return template


def test_recall_toml_with_other_limits_rechunks_nothing(template: Path, tmp_path: Path) -> None:
    cases = [
        (written, changed, verb)
        for verb in ("add", "sync")
        for written, changed in [
            ("chunk_tokens = 40", "chunk_tokens = 20"),
            ("overlap_tokens = 8", "overlap_tokens = 20"),
            ("max_chunk_chars = 6000", "max_chunk_chars = 99"),
            ('counter = "whitespace"', 'counter = "approx"'),
        ]
    ]
    for number, (written, changed, verb) in enumerate(cases if IS_NIGHT else cases[:5]):
        case = (changed, verb)
        home = Path(shutil.copytree(template, tmp_path / str(number)))
        toml = home / "recall.toml"
        assert written in toml.read_text(), case
        toml.write_text(toml.read_text().replace(written, changed))
        (home / "docs" / "new.txt").write_text(TEXT)
        with Recall.open(start=home) as recall:
            assert recall.engine.notes()[0].startswith("W_CONFIG: "), case
            before = recall.get("docs/long.txt:1")

            *_, done = recall.sync() if verb == "sync" else recall.add([str(home / "docs")], Root(""))

            assert (done.updated, done.unchanged, done.added) == (0, 1, 1), case
            assert recall.get("docs/long.txt:1") == before, case
            cuts = [
                [(row.chunk.offset, row.chunk.end, row.chunk.tokens) for row in recall.store.chunks_of(doc_id)]
                for doc_id in (recall.store.document_at("docs/long.txt"), recall.store.document_at("docs/new.txt"))
                if doc_id is not None
            ]
            assert cuts[0] == cuts[1], case
