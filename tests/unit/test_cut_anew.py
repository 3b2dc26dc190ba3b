"""Rechunk: old chunks serve until all new ones exist, no file is read, and nothing else in the store changes."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from operator import le
from pathlib import Path
from shutil import copytree

import pytest

import tests.embedders
from recall_core.adapters.cli import main
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Ask, Recall
from recall_core.contract.responses import RechunkResponse
from recall_core.errors import EmbedError, RecallError, StoreCorrupt, StoreError
from recall_core.ingest import pipeline
from recall_core.maintain import rechunk as module
from recall_core.steps import ChunkPolicy, Piece, Segment, chunk, index
from recall_core.store.values import JudgementRow
from recall_core.types import Progress, Root
from tests.contracts import validator
from tests.embedders import COUNTING
from tests.plug_ins import write_plug_in

HERE = Path(__file__).parents[2]
FILES = 4
SENTENCES = 8
COUNTERS = "use whitespace, approx, approx-2, approx:modern or hf:path/to/tokenizer.json"
NEW = {"chunk_tokens": 20, "overlap_tokens": 6}
FLAGS = ("--chunk-tokens", "20", "--overlap-tokens", "6")


def text_of(n: int) -> str:
    return "".join(f"Note {n} tells in sentence {s} of tide {n * s} and of the moon. " for s in range(SENTENCES))


def store_of_notes(folder: Path, embedding: str) -> Path:
    """Fill a folder with long notes and a short one, and index them."""
    (folder / "docs").mkdir(parents=True)
    for n in range(FILES):
        (folder / f"docs/{n:02}.md").write_text(f"# Note {n}\n\n{text_of(n)}\n\n## Later\n\n{text_of(n + 99)}\n")
    (folder / "docs/short.txt").write_text("only a few words\n")
    settings = ["chunk_tokens=60", "overlap_tokens=10", "embedding_dim=64"]
    with pytest.MonkeyPatch.context() as patch:
        tests.embedders.install(folder.parent / "site", patch)
        patch.chdir(folder)
        Recall.init(embedding=embedding, settings=settings)
        with Recall.open() as recall:
            recall.index("docs", template=Root("", tags=("t",), source="s", meta=(("k", 1),)))
    return folder


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of_notes(tmp_path_factory.mktemp("made") / "home", "hash")


@pytest.fixture(scope="module")
def counting_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of_notes(tmp_path_factory.mktemp("made") / "home", "counting")


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the folder with a store of notes."""
    home = Path(copytree(template, tmp_path / "home"))
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def recall(home: Path) -> Iterator[Recall]:
    with Recall.open(start=home) as recall:
        yield recall


@pytest.fixture
def counting_home(counting_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of that folder with a counting plug-in embedder; slow, because it must be trusted."""
    tests.embedders.install(tmp_path / "site", monkeypatch)
    home = Path(copytree(counting_template, tmp_path / "home"))
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def counting(counting_home: Path) -> Iterator[Recall]:
    with Recall.open(start=counting_home, trust=True) as recall:
        yield recall


def run(work: Iterator[Progress]) -> RechunkResponse:
    """Return the response of the work."""
    while True:
        try:
            next(work)
        except StopIteration as stop:
            response: RechunkResponse = stop.value
            return response


def fresh(home: Path, place: Path, *settings: str) -> Recall:
    """Make a new store of the same files under these settings."""
    copytree(home / "docs", place / "docs")
    Recall.init(str(place), embedding="hash", settings=[*settings, "embedding_dim=64"])
    recall = Recall.open(start=place)
    recall.index(str(place / "docs"), template=Root("", tags=("t",), source="s", meta=(("k", 1),)))
    return recall


def export_text(recall: Recall) -> str:
    out = io.StringIO()
    recall.export(out)
    return out.getvalue()


def answers(recall: Recall) -> list[tuple[str, float]]:
    response = recall.search("tide 7 of the moon", Ask(k=50))
    return [(result["chunk"]["id"], result["score"]) for result in response["results"]]


def cli(*words: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = main(words, streams=streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def test_rechunked_store_equals_a_fresh_store(recall: Recall, home: Path, tmp_path: Path) -> None:
    generation = recall.store.generation()

    run(recall.rechunk(NEW))

    with fresh(home, tmp_path / "fresh", "chunk_tokens=20", "overlap_tokens=6") as other:
        assert export_text(recall) == export_text(other)
        assert [path_and_score(recall, n) for n in range(3)] == [path_and_score(other, n) for n in range(3)]
    assert recall.store.generation() == generation + 1
    assert {each["severity"] for each in recall.doctor()["checks"]} <= {"ok", "warning"}


def path_and_score(recall: Recall, n: int) -> list[tuple[str, int, float]]:
    results = recall.search(f"note {n} of the tide", Ask(k=30))["results"]
    return [(each["doc"]["path"], each["chunk"]["offset"], each["score"]) for each in results]


def test_rechunk_reads_no_file_and_next_sync_finds_nothing(recall: Recall, home: Path) -> None:
    before = [recall.store.known(file.path) for file in recall.store.files()]
    (home / "docs").rename(home / "away")

    run(recall.rechunk(NEW))

    (home / "away").rename(home / "docs")
    after = [recall.store.known(file.path) for file in recall.store.files()]
    assert [each and each._replace(settings="") for each in after] == [
        each and each._replace(settings="") for each in before
    ]
    *_, done = recall.sync()
    assert (done.unchanged, done.updated) == (FILES + 1, 0)


def test_each_unknown_text_is_embedded_once(counting: Recall) -> None:
    view = run(counting.rechunk(NEW))["rechunked"]

    texts = counting.store.texts()
    assert view["embedded"] == sum(COUNTING.embedder.read.values()) == texts - 1  # the short text was known
    assert view["reused"] == view["after"]["chunks"] - view["embedded"]
    assert set(COUNTING.embedder.read.values()) == {1}

    back = run(counting.rechunk({"chunk_tokens": 60, "overlap_tokens": 10}))["rechunked"]

    assert (back["embedded"], back["after"]) == (0, view["before"])


def test_answer_reports_both_chunkings(recall: Recall) -> None:
    chunks, tokens = recall.store.info().chunks, recall.store.totals().tokens

    view = run(recall.rechunk(NEW))["rechunked"]

    info = recall.store.info()
    same = {"max_chunk_chars": 6_000, "counter": "whitespace"}
    assert view["before"] == {
        "chunk_tokens": 60,
        "overlap_tokens": 10,
        **same,
        "chunks": chunks,
        "tokens_per_chunk": round(tokens / chunks, 1),
    }
    assert (view["after"]["chunk_tokens"], view["after"]["chunks"]) == (20, info.chunks)
    assert view["after"]["tokens_per_chunk"] == round(recall.store.totals().tokens / info.chunks, 1) <= 20
    assert (view["documents"], view["left"], view["dry_run"]) == (FILES + 1, [], False)
    assert info.chunker == "boundary-1:20:6:6000"


def test_dry_run_reports_the_same_and_changes_nothing(counting: Recall, counting_home: Path) -> None:
    before, toml = export_text(counting), (counting_home / "recall.toml").read_text()
    generation = counting.store.generation()
    COUNTING.embedder.patience = 0

    planned = run(counting.rechunk(NEW, dry_run=True))["rechunked"]

    assert (export_text(counting), (counting_home / "recall.toml").read_text()) == (before, toml)
    assert counting.store.generation() == generation
    COUNTING.embedder.patience = None
    done = run(counting.rechunk(NEW))["rechunked"]
    done.pop("tokens", None)
    assert {**planned, "dry_run": False} == done


def test_queries_during_a_rechunk_use_the_old_chunks(recall: Recall, home: Path) -> None:
    before, digest = answers(recall), recall.store.info().digest
    moments = 0
    with Recall.open(start=home) as other:
        for event in recall.rechunk(NEW):
            if event.stage in ("chunk", "embed", "index"):
                moments += 1
                assert answers(other) == answers(recall) == before
                assert other.store.info().digest == digest
        assert moments > 3
        assert answers(other) == answers(recall) != before


def test_events_never_go_back(recall: Recall) -> None:
    counts = [event[2:8] for event in recall.rechunk(NEW)]

    for before, after in pairwise(counts):
        assert all(map(le, before, after))
    assert counts[-1][0] == counts[-1][1] == FILES + 1


def test_stopped_rechunk_resumes(counting: Recall, counting_home: Path) -> None:
    before, toml = export_text(counting), (counting_home / "recall.toml").read_text()
    work = counting.rechunk(NEW)
    while next(work).embedded < 10:
        pass
    work.close()
    read = COUNTING.embedder.read.total()

    assert (export_text(counting), (counting_home / "recall.toml").read_text()) == (before, toml)
    view = run(counting.rechunk(NEW))["rechunked"]

    assert 10 <= read < counting.store.texts() - 1
    assert view["embedded"] == counting.store.texts() - 1 - read
    assert set(COUNTING.embedder.read.values()) == {1}


def test_failing_embedder_leaves_the_answers_unchanged(counting: Recall) -> None:
    before = export_text(counting)
    COUNTING.embedder.patience = 20

    with pytest.raises(EmbedError, match="gone home"):
        run(counting.rechunk(NEW))

    assert export_text(counting) == before
    COUNTING.embedder.patience = None
    assert run(counting.rechunk(NEW))["rechunked"]["after"]["chunk_tokens"] == 20
    assert set(COUNTING.embedder.read.values()) == {1}


_KILLED = """
import os
from recall_core.maintain import rechunk
from recall_core.api.recall import Recall
rechunk.COMMIT_SECONDS = 0
with Recall.open() as recall:
    for event in recall.rechunk({"chunk_tokens": 20, "overlap_tokens": 6}):
        if event.embedded >= 10:
            os._exit(9)
"""


def test_killed_rechunk_loses_only_uncommitted_vectors(recall: Recall, home: Path) -> None:
    before = export_text(recall)

    done = subprocess.run([sys.executable, "-c", _KILLED], check=False, env={"PYTHONPATH": str(HERE)}, cwd=home)

    assert done.returncode == 9
    assert export_text(recall) == before
    view = run(recall.rechunk(NEW))["rechunked"]
    assert view["embedded"] <= recall.store.texts() - 1 - 10


def test_vectors_are_committed_along_the_way(recall: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMMIT_SECONDS", 0.0)
    kept = "SELECT count(*) FROM vec_cache"

    seen = [recall.store.execute(kept)[0][0] for event in recall.rechunk(NEW) if event.stage == "embed"]

    assert 0 < seen[0] < seen[1] < seen[-1]


def test_judgements_keep_path_and_span(recall: Recall) -> None:
    rows = [JudgementRow("q", "docs/01.md", 0, -1, 2), JudgementRow("q", "docs/02.md", 30, 90, 1)]
    with recall.store.judging() as writer:
        writer.put_query("q", "the tide")
        for row in rows:
            writer.put(row)

    run(recall.rechunk(NEW))

    assert recall.store.judgements() == rows
    assert recall.store.stray_judgements() == []


def test_removed_documents_stay_removed(recall: Recall) -> None:
    recall.remove(["docs/03.md"])
    left_out = recall.store.known_roots()

    run(recall.rechunk(NEW))

    assert recall.store.known_roots() == left_out
    assert left_out[0].left_out == ("docs/03.md",)
    *_, done = recall.sync()
    assert (done.added, recall.store.document_at("docs/03.md")) == (0, None)


# Settings.


def test_recall_toml_follows_and_keeps_its_words(recall: Recall, home: Path) -> None:
    toml = home / "recall.toml"
    toml.write_text("# my own words\n" + toml.read_text().replace("chunk_tokens = 60", "chunk_tokens = 60  # mine"))

    run(recall.rechunk(NEW))

    text = toml.read_text()
    assert text.startswith("# my own words\n")
    assert "chunk_tokens = 20  # mine\n" in text
    assert "overlap_tokens = 6\n" in text
    with Recall.open(start=home) as other:
        assert other.engine.notes() == ()
    assert run(recall.rechunk())["rechunked"]["documents"] == 0


def test_warning_of_a_disagreeing_recall_toml_names_the_command(home: Path) -> None:
    toml = home / "recall.toml"
    text = toml.read_text().replace("overlap_tokens = 10", "overlap_tokens = 5")
    toml.write_text(text.replace('counter = "whitespace"', 'counter = "approx"'))
    with Recall.open(start=home) as recall:
        warnings = recall.engine.notes()
    assert len(warnings) == 2
    (hint,) = {warning.partition("the store's value applies until ")[2] for warning in warnings}
    assert hint == "recall rechunk --overlap-tokens 5 --counter approx"

    assert cli(*shlex.split(hint)[1:])[0] == 0

    with Recall.open(start=home) as recall:
        assert recall.engine.notes() == ()
        assert (recall.store.info().chunker, recall.store.info().counter) == ("boundary-1:60:5:6000", "approx")


def test_rechunk_without_flags_uses_recall_toml(home: Path) -> None:
    toml = home / "recall.toml"
    toml.write_text(toml.read_text().replace("chunk_tokens = 60", "chunk_tokens = 30"))
    with Recall.open(start=home) as recall:
        view = run(recall.rechunk())["rechunked"]

    assert (view["before"]["chunk_tokens"], view["after"]["chunk_tokens"]) == (60, 30)


def test_unmentioned_settings_keep_their_stored_values(home: Path) -> None:
    (home / "recall.toml").write_text("embedding_dim = 64\n")
    with Recall.open(start=home) as recall:
        view = run(recall.rechunk({"overlap_tokens": 5}))["rechunked"]

    assert (view["after"]["chunk_tokens"], view["after"]["overlap_tokens"]) == (60, 5)
    with Recall.open(start=home) as recall:
        assert recall.engine.notes() == ()


def test_bad_setting_is_refused_before_any_change(home: Path) -> None:
    for line, code, hint in (
        ("--chunk-tokens 5", "bad_value", "recall rechunk --chunk-tokens 5 --overlap-tokens 1"),
        ("--chunk-tokens 5 --overlap-tokens 9", "bad_value", "recall rechunk --chunk-tokens 5 --overlap-tokens 1"),
        ("--chunk-tokens 999999", "bad_value", "chunk_tokens = 400"),
        ("--counter sundial", "unknown_counter", COUNTERS),
    ):
        exit_code, out, _ = cli("rechunk", *line.split(), "--json")

        error = json.loads(out)["error"]
        assert (exit_code, error["code"], error["hint"]) == (2, code, hint), line
        with Recall.open(start=home) as recall:
            assert recall.store.info().chunker == "boundary-1:60:10:6000", line


def test_non_chunking_setting_is_refused(recall: Recall) -> None:
    with pytest.raises(RecallError) as caught:
        run(recall.rechunk({"embedding_dim": 64}))

    assert caught.value.code == "setting_fixed"


def test_new_counter_recounts_every_chunk(recall: Recall, home: Path, tmp_path: Path) -> None:
    run(recall.rechunk({"counter": "approx"}))

    settings = ("chunk_tokens=60", "overlap_tokens=10", "counter=approx")
    with fresh(home, tmp_path / "fresh", *settings) as other:
        assert export_text(recall) == export_text(other)


# Text that the store's own parsers do not chunk.


def test_indexed_pieces_keep_their_cuts_and_are_recounted(recall: Recall) -> None:
    pieces = chunk([Segment("mine", text_of(1), "Mine", ("x",), {"a": 1.5})], ChunkPolicy(9, 0))
    index(pieces, recall, mtime_ns=1)
    doc_id = recall.store.document_at("mine") or ""
    before = recall.store.chunks_of(doc_id)

    run(recall.rechunk(NEW))
    assert recall.store.chunks_of(doc_id) == before
    run(recall.rechunk({"counter": "approx"}))

    after = recall.store.chunks_of(doc_id)
    assert [row.chunk.text for row in after] == [row.chunk.text for row in before]
    assert [row.chunk.tokens for row in after] != [row.chunk.tokens for row in before]
    assert recall.store.check("tokens").severity == "ok"
    assert index(pieces, recall, mtime_ns=1)["unchanged"] == 1


def test_piece_without_a_feature_needs_no_vector(counting: Recall) -> None:
    index([Piece("mine", 0, "the of and", 0)], counting, mtime_ns=1)
    COUNTING.embedder.read.clear()

    run(counting.rechunk({"counter": "approx"}))

    assert "the of and" not in COUNTING.embedder.read
    assert counting.store.check("tokens").severity == "ok"


def test_text_without_a_feature_has_no_vector_after_rechunking(recall: Recall, home: Path) -> None:
    (home / "docs/stop.txt").write_text("the of and")
    *_, _ = recall.sync()

    run(recall.rechunk(NEW))

    info = recall.store.info()
    assert info.vectors == info.chunks - 1


PLUG_IN = """
from recall_core.ingest.parse.text import markdown_marks
from recall_core.ports import ParsedDocument

class Notes:
    def parse(self, raw, *, path, digest):
        text = raw.decode()
        return [ParsedDocument(None, text, path, digest, len(raw), {}, markdown_marks(text))]
"""


@pytest.fixture
def notes(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder read by a third-party parser: a note with headings, and one that any parser cuts alike."""
    site = home.parent / "notes-site"
    write_plug_in(site, "recall_notes", "[recall.parser]\nnotes = recall_notes:Notes\n", source=PLUG_IN)
    monkeypatch.syspath_prepend(site)
    (home / "notes").mkdir()
    (home / "notes/headed.note").write_text(f"# One\n\n{text_of(1)}\n\n# Two\n\n{text_of(2)}")
    (home / "notes/plain.note").write_text(text_of(3))
    with Recall.open(start=home) as recall:
        recall.index("notes", template=Root("", parser="notes"))
    return home


def forget_marks(recall: Recall) -> None:
    """Remove the marks of the notes from the store, as before marks were stored."""
    files = [file for file in recall.store.live_files() if file.path.startswith("notes/")]
    with recall.store.writer() as writer:
        for file in files:
            documents = tuple(document._replace(read_by="", marks=()) for document in file.documents)
            writer.put(file._replace(documents=documents))


def test_file_of_any_parser_is_cut_at_its_marks(notes: Path) -> None:
    with Recall.open(start=notes) as recall:
        response = run(recall.rechunk({**NEW, "chunk_tokens": 30}))
        found = recall.store.chunks_of(recall.store.document_at("notes/headed.note") or "")

    assert "left" not in response["rechunked"] or not response["rechunked"]["left"]
    assert [row.chunk.heading for row in found if row.chunk.text.startswith("#")] == ["One", "Two"]


def test_file_without_stored_marks_is_left_to_a_sync(notes: Path) -> None:
    with Recall.open(start=notes) as recall:
        forget_marks(recall)
        before = recall.store.chunks_of(recall.store.document_at("notes/headed.note") or "")

        response = run(recall.rechunk({**NEW, "counter": "approx"}))

        assert response["rechunked"]["left"] == ["notes/headed.note"]
        start = "W_RECHUNK: only the parser can cut notes/headed.note, "
        assert [each for each in response["warnings"] if each.startswith(start)]
        after = recall.store.chunks_of(recall.store.document_at("notes/headed.note") or "")
        assert [row.chunk.text for row in after] == [row.chunk.text for row in before]
        assert recall.store.check("tokens").severity == "ok"
        *_, done = recall.sync()
        assert (done.updated, done.unchanged) == (1, FILES + 2)
        assert run(recall.rechunk())["rechunked"]["left"] == []


# Concurrent work.


def test_chunks_added_during_a_rechunk_are_rechunked_too(recall: Recall, home: Path) -> None:
    late = 0
    with Recall.open(start=home) as other:
        for event in recall.rechunk(NEW):
            if event.stage == "index" and late < 2:
                late += 1
                (home / f"docs/late{late}.txt").write_text(text_of(500 + late))
                other.index("docs")

    assert late == 2
    assert (
        max(row.chunk.tokens for row in recall.store.chunks_of(recall.store.document_at("docs/late2.txt") or ""))
        <= 20
    )
    assert len({file.settings.partition(" ")[2] for file in recall.store.files()}) == 1


def test_running_sync_cannot_mix_in_old_chunks(recall: Recall, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "EVENT_SECONDS", 0.0)
    (home / "docs/new.txt").write_text(text_of(77))
    with Recall.open(start=home) as other:
        work = other.sync()
        assert next(work).stage != "commit"
        run(recall.rechunk(NEW))

        with pytest.raises(StoreError) as caught:
            run(work)  # type: ignore[arg-type]

        assert caught.value.code == "chunker_changed"
        assert recall.store.document_at("docs/new.txt") is None
        *_, done = other.sync()
    assert (done.added, done.unchanged) == (1, FILES + 1)


def test_two_concurrent_rechunks_do_not_disturb_each_other(recall: Recall, home: Path) -> None:
    with Recall.open(start=home) as other:
        slow = other.rechunk({"chunk_tokens": 30})
        while next(slow).embedded < 4:
            pass
        run(recall.rechunk(NEW))
        view = run(slow)["rechunked"]

    assert view["after"]["chunk_tokens"] == 30
    assert recall.store.info().chunker == "boundary-1:30:10:6000"
    assert len({file.settings.partition(" ")[2] for file in recall.store.files()}) == 1


def test_reembed_that_finishes_first_ends_the_rechunk(recall: Recall, home: Path) -> None:
    with Recall.open(start=home) as other:
        work = recall.rechunk(NEW)
        while next(work).embedded < 4:
            pass
        for _ in other.reembed("hash", ["embedding_dim=128"]):
            pass

        with pytest.raises(StoreError) as caught:
            run(work)

    assert caught.value.code == "embedder_changed"
    assert recall.store.execute("SELECT count(*) FROM vec_cache") == [(0,)]  # type: ignore[attr-defined]
    assert run(recall.rechunk(NEW))["rechunked"]["after"]["chunk_tokens"] == 20


def test_incomplete_document_is_not_accepted(recall: Recall) -> None:
    doc_id = recall.store.document_at("docs/01.md") or ""
    last = recall.store.chunks_of(doc_id)[-1].rowid
    with recall.store.transaction():  # type: ignore[attr-defined]
        recall.store.execute("DELETE FROM chunk WHERE rowid = ?", (last,))
    before = recall.store.info()

    with pytest.raises(StoreCorrupt):
        run(recall.rechunk(NEW))

    assert recall.store.info() == before


@pytest.mark.parametrize(
    ("folders", "documents"),
    [
        (("docs/diff.md", "docs/rql.ebnf", "recall_core/rql/lexer.py"), 2),
        pytest.param(("docs", "recall_core/ingest"), 41, marks=pytest.mark.slow),
    ],
)
def test_rechunked_real_folder_equals_a_fresh_store(tmp_path: Path, folders: tuple[str, ...], documents: int) -> None:
    cuts = []
    for name, first in (("rechunked", 400), ("fresh", 150)):
        base = tmp_path / name
        Recall.init(str(base), settings={"chunk_tokens": first, "overlap_tokens": 30, "embedding_dim": 64})
        with Recall.open(start=base) as recall:
            recall.index(*(str(HERE / folder) for folder in folders), template=Root("", globs=("**/*.*",)))
            done = run(recall.rechunk({"chunk_tokens": 150}))["rechunked"]
            assert (done["documents"] >= documents) == (name == "rechunked")
            cuts.append(export_text(recall))
    assert cuts[0] == cuts[1]


# On the command line.


def test_command_prints_a_summary(counting_home: Path) -> None:
    assert cli("trust", "--yes")[0] == 0
    code, planned, _ = cli("rechunk", *FLAGS, "--dry-run")
    code_of_run, out, err = cli("rechunk", *FLAGS)
    _, again, _ = cli("rechunk")

    limits, figures = out.splitlines()
    assert (code, code_of_run, err) == (0, 0, "")
    assert limits == "chunk_tokens 60 -> 20, overlap_tokens 10 -> 6, max_chunk_chars 6000, counter whitespace"
    assert figures.startswith(f"{FILES + 1} documents rechunked: ")
    assert " texts embedded, 1 reused; " in figures
    assert (
        planned.splitlines()[1]
        == figures.replace(" rechunked:", " would be rechunked:")
        .replace("texts embedded", "texts to embed")
        .rpartition(";")[0]
    )
    assert again.splitlines()[1].startswith("no document changes: ")


def test_response_fits_the_contract(home: Path) -> None:
    for more in (("--dry-run",), ()):
        response: RechunkResponse = json.loads(cli("rechunk", *FLAGS, *more, "--json")[1])

        validator(is_closed=True).validate(response)
        assert response["rechunked"]["dry_run"] == bool(more)


def test_sync_reads_files_whose_root_was_edited_before(recall: Recall) -> None:
    for tag, changed in (("new", NEW), ("newer", {"counter": "approx"})):
        recall.roots(edit=1, changes={"tags": (tag,)})
        run(recall.rechunk(changed))

        for _ in recall.sync():
            pass

        tagged = recall.query(f"SELECT doc.path FROM doc FILTER doc.tag = '{tag}' LIMIT 100")
        assert len(tagged["results"]) == FILES + 1, changed
