"""A record with a title and no text is found by its title; records with neither are counted."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from recall_core import Recall
from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.contract.views import CheckView
from recall_core.embed.rescore import EmbedderReranker
from recall_core.errors import StoreError
from recall_core.maintain.doctor import examine
from recall_core.maintain.transfer import export
from recall_core.store.port import Store
from recall_core.text import chunk_id, document_id, embedded_hash
from recall_core.types import Root
from tests.ingest_folder import IngestFolder

JSONL = Root("", parser="jsonl", tags=("t",))
SHORT = {"_id": "short", "title": "## 色 A quokka's burrow beside a quokka", "text": " \n"}
LONG = {"_id": "long", "title": "".join(f"Part {n} of a long title, say w{n}.\n" for n in range(30)), "text": ""}
FULL = {"_id": "full", "title": "Wombat", "text": "A wombat digs beside a quokka."}
BARE = {"_id": "bare", "text": "\t"}
RECORDS = (SHORT, LONG, FULL, BARE)


def lines(*records: dict[str, str]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


@pytest.fixture
def folder(tmp_path: Path) -> IngestFolder:
    """Return a store that has read a file of records and an empty one."""
    folder = IngestFolder(tmp_path)
    folder.write("a.jsonl", lines(*RECORDS))
    folder.write("empty.txt", "")
    return folder


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base: Path = tmp_path_factory.mktemp("made")
    (base / "a.jsonl").write_text(lines(*RECORDS), encoding="utf-8")
    (base / "empty.txt").write_text("")
    Recall.init(str(base), settings={"chunk_tokens": 40, "overlap_tokens": 8})
    with Recall.open(str(base)) as recall:
        recall.index(str(base / "a.jsonl"), template=JSONL)
        recall.index(str(base / "empty.txt"))
    return base


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    """Return the same files, added to a separate store."""
    return Path(shutil.copytree(template, tmp_path / "home"))


@pytest.fixture
def recall(home: Path) -> Iterator[Recall]:
    with Recall.open(str(home)) as opened:
        yield opened


def as_version_1_read_it(store: Store) -> None:
    """Change a store as version 1 of the record parser left it, without titles as texts."""
    with store.writer() as writer:
        for file in list(store.live_files()):
            documents = tuple(
                document._replace(chunks=tuple(chunk for chunk in document.chunks if not chunk.is_title))
                for document in file.documents
            )
            writer.put(file._replace(settings=file.settings.replace("jsonl@2 ", "jsonl "), documents=documents))


def test_title_is_chunked_and_located_like_any_text(folder: IngestFolder) -> None:
    done = folder.ingest("a.jsonl", template=JSONL)

    (short,) = folder.rows("a.jsonl#short")
    assert (short.doc.title, short.chunk.text) == (SHORT["title"], SHORT["title"])
    assert (short.chunk.offset, short.chunk.line_start, short.chunk.line_end) == (0, 1, 1)
    long = folder.rows("a.jsonl#long")
    assert folder.store.text_of(long[0].doc.id) == long[0].doc.title == LONG["title"]
    assert len(long) > 1
    assert [row.chunk.line_start for row in long] == [
        1 + LONG["title"].count("\n", 0, row.chunk.offset) for row in long
    ]
    assert folder.rows("a.jsonl#bare") == []
    assert (done.documents, done.without_text) == (4, 1)


def test_title_used_as_text_is_counted_and_embedded_once(folder: IngestFolder) -> None:
    folder.ingest("a.jsonl", template=JSONL)

    for row in (*folder.rows("a.jsonl#short"), *folder.rows("a.jsonl#long")):
        ((title, hashed),) = folder.store.execute("SELECT title, text_hash FROM chunk WHERE rowid = ?", (row.rowid,))
        assert (title, hashed) == ("", embedded_hash(row.doc.path, "", row.chunk.text))
        assert folder.store.vectors([row.rowid])[row.rowid] == folder.embedder.embed([row.chunk.text])[0]
    ((title,),) = folder.store.execute("SELECT c.title FROM chunk c JOIN doc d ON d.rowid = c.doc WHERE d.path = ?",
                                       ("a.jsonl#full",))  # fmt: skip
    assert title == "Wombat"


def test_id_is_made_of_path_and_bytes_for_title_records(folder: IngestFolder) -> None:
    folder.ingest("a.jsonl", template=JSONL)

    for path, document in folder.documents().items():
        assert document.id == document_id(path, document.hash, "jsonl@2;utf-8")
        assert [row.chunk.id for row in folder.rows(path)] == [
            chunk_id(document.id, row.chunk.offset) for row in folder.rows(path)
        ]


@pytest.mark.parametrize("verb", ["add", "sync"])
def test_file_read_by_version_1_is_read_again_once(folder: IngestFolder, verb: str) -> None:
    folder.ingest("a.jsonl", template=JSONL)
    as_version_1_read_it(folder.store)
    assert folder.rows("a.jsonl#short") == []
    before, (full,) = folder.documents(), folder.rows("a.jsonl#full")

    done = folder.sync() if verb == "sync" else folder.ingest("a.jsonl", template=JSONL)

    (short,) = folder.rows("a.jsonl#short")
    assert (done.updated, short.chunk.text, short.doc.tags) == (1, SHORT["title"], ("t",))
    assert folder.documents() == before
    (kept,) = folder.rows("a.jsonl#full")
    assert kept._replace(rowid=0) == full._replace(rowid=0)
    assert done.embedded == 0
    assert [check["code"] for check in examine(folder.store) if check["severity"] == "error"] == []
    state = folder.state()
    assert folder.sync().updated == 0
    assert folder.state() == state
    fresh = IngestFolder(folder.base)
    fresh.ingest("a.jsonl", template=JSONL)
    assert folder.store.info().digest == fresh.store.info().digest


def test_text_read_by_version_1_is_not_embedded_again(folder: IngestFolder) -> None:
    folder.write("b.jsonl", lines(FULL, {"_id": "new", "title": "Numbat", "text": ""}))
    folder.ingest("b.jsonl", template=JSONL)
    as_version_1_read_it(folder.store)
    with folder.store.transaction():
        folder.store.execute("DELETE FROM vec_cache")

    done = folder.sync()

    assert (done.updated, done.chunks, done.reused, done.embedded) == (1, 2, 1, 1)


def doctor_check(recall: Recall, code: str = "files") -> CheckView:
    return next(check for check in recall.doctor()["checks"] if check["code"] == code)


def sync(recall: Recall) -> None:
    for _ in recall.sync():
        pass


def firsts(recall: Recall, *questions: str) -> list[str]:
    return [recall.search(question)["results"][0]["doc"]["path"] for question in questions]


def test_doctor_names_files_of_earlier_versions_and_the_command(recall: Recall) -> None:
    as_version_1_read_it(recall.store)
    check = doctor_check(recall)
    assert (check["severity"], check["fix"]) == ("warning", "recall sync")
    assert check["evidence"] == (
        "2 files checked, 1 read by an earlier version of their parser: a.jsonl was read by an earlier version"
    )
    (stage,) = (each for each in recall.why_not("burrow", "a.jsonl#short")["whynot"]["stages"] if "code" in each)
    assert (stage["code"], stage["hint"]) == ("not_indexed", "recall sync")

    sync(recall)

    assert doctor_check(recall)["severity"] == "ok"
    assert firsts(recall, "burrow") == ["a.jsonl#short"]


def test_doctor_reports_changed_and_outdated_files_together(home: Path, recall: Recall) -> None:
    (home / "b.jsonl").write_text(lines(SHORT), encoding="utf-8")
    recall.index(str(home / "b.jsonl"), template=JSONL)
    as_version_1_read_it(recall.store)
    (home / "a.jsonl").write_text(lines(SHORT, FULL), encoding="utf-8")

    check = doctor_check(recall)

    assert check["fix"] == "recall sync"
    assert check["evidence"] == (
        "3 files checked, 0 missing, 1 modified, 1 read by an earlier version of their parser: "
        "a.jsonl is modified, b.jsonl was read by an earlier version"
    )


def test_outdated_file_without_a_root_is_added_as_before(home: Path, recall: Recall) -> None:
    as_version_1_read_it(recall.store)
    with recall.store.writer() as writer:
        writer.forget_roots(["a.jsonl"])
    assert doctor_check(recall)["fix"] == f"recall add {home}/a.jsonl --parser jsonl"

    run(home, "add", f"{home}/a.jsonl", "--parser", "jsonl")

    assert doctor_check(recall)["severity"] == "ok"
    assert firsts(recall, "burrow") == ["a.jsonl#short"]


def export_text(recall: Recall) -> str:
    out = io.StringIO()
    recall.export(out)
    return out.getvalue()


def import_export(base: Path, raw: str) -> Recall:
    """Make a new store from an export."""
    base.mkdir()
    (base / "in.jsonl").write_text(raw, encoding="utf-8", newline="\n")
    Recall.init(str(base), settings={"chunk_tokens": 40, "overlap_tokens": 8})
    recall = Recall.open(str(base))
    recall.import_(base / "in.jsonl")
    return recall


def test_imported_older_store_waits_for_its_root_then_rereads(recall: Recall, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_text(lines(*RECORDS), encoding="utf-8")
    recall.remove(["a.jsonl", "empty.txt"])
    recall.index(str(outside), template=JSONL)
    as_version_1_read_it(recall.store)
    raw = export_text(recall)

    with import_export(tmp_path / "new", raw) as other:
        assert export_text(other) == raw
        assert firsts(other, "wombat") == [f"{outside}#full"]
        (root,) = (root for root in other.roots()["roots"] if root["folder"] == str(outside))
        assert doctor_check(other)["fix"] == f"recall roots accept {root['number']}, then recall sync"

        other.roots(accept=[root["number"]])
        sync(other)

        assert doctor_check(other)["severity"] == "ok"
        assert firsts(other, "burrow", "wombat") == [f"{outside}#short", f"{outside}#full"]


def answers(recall: Recall) -> list[Any]:
    """Return answers that must not depend on the history of a store."""
    found: list[Any] = []
    for words in ("burrow", "a quokka's burrow", "w7", "色", "wombat", "long title"):
        hits = recall.search(words, explain=True)["results"]
        found += [(hit["chunk"]["id"], hit["score"], hit["explain"]) for hit in hits]
        found.append(recall.context(words, budget_tokens=60)["context"]["text"])
    return found


def test_imported_store_answers_like_its_origin(recall: Recall, tmp_path: Path) -> None:
    raw = export_text(recall)

    with import_export(tmp_path / "new", raw) as other:
        assert export_text(other) == raw
        assert list(other.store.live_files()) == list(recall.store.live_files())
        assert answers(other) == answers(recall)
        assert [check["code"] for check in examine(other.store) if check["severity"] != "ok"] == []


def test_chunk_outside_its_title_is_refused(recall: Recall, tmp_path: Path) -> None:
    body = export_text(recall).rpartition('{"type":"end"')[0]
    forged = body.replace('"title":"## 色 A quokka\'s burrow beside a quokka"', '"title":"Another"')
    assert forged != body
    end = json.dumps({"type": "end", "sha256": sha256(forged.encode()).hexdigest()}, separators=(",", ":"))

    with pytest.raises(StoreError, match="is marked as the title") as caught:
        import_export(tmp_path / "new", f"{forged}{end}\n")

    assert caught.value.code == "import_invalid"


def test_export_mentions_titles_only_if_a_record_lacks_text(tmp_path: Path) -> None:
    folder = IngestFolder(tmp_path)
    folder.write("a.jsonl", lines(FULL, BARE))
    folder.ingest("a.jsonl", template=JSONL)

    out = io.StringIO()

    export(folder.store, out)

    assert "is_title" not in out.getvalue()


def test_explanation_of_a_title_adds_up(recall: Recall) -> None:
    for words in ("quokka burrow", "long w12 title"):
        for hit in recall.search(words, explain=True)["results"]:
            for part in hit["explain"]["parts"]:
                assert sum(leaf["points"] for leaf in part["leaves"]) == pytest.approx(part["points"], abs=1e-9)


def test_reranker_and_embedder_get_the_same_text(recall: Recall) -> None:
    given = {"a.jsonl#short": SHORT["title"], "a.jsonl#full": f"Wombat\n\n{FULL['text']}"}
    reranker = EmbedderReranker(recall.engine.embedder)

    hits = recall.search("quokka burrow", explain=True, settings={"rerank": "hash"})["results"]

    parts = {(hit["doc"]["path"], part["signal"]): part["value"] for hit in hits for part in hit["explain"]["parts"]}
    for path, text in given.items():
        assert parts[path, "rerank"] == round(reranker.score("quokka burrow", [text])[0], 6)


def test_documents_without_text_are_counted_and_reported(recall: Recall, tmp_path: Path) -> None:
    assert recall.stats()["stats"]["without_text"] == 2
    recall.remove(["empty.txt"])
    assert recall.stats()["stats"]["without_text"] == 1

    (tmp_path / "more.jsonl").write_text(lines(FULL, BARE, {"_id": "e", "text": ""}), encoding="utf-8")
    (tmp_path / "full.txt").write_text("words\n")
    assert recall.index(str(tmp_path / "more.jsonl"), template=JSONL)["ingest"]["without_text"] == 2
    assert "without_text" not in recall.index(str(tmp_path / "full.txt"))["ingest"]


def run(home: Path, *argv: str) -> str:
    streams = Streams(io.StringIO(), out := io.StringIO(), io.StringIO())
    assert cli.main(["--store", str(home), *argv], streams=streams) == 0
    return out.getvalue()


def test_command_line_reports_documents_without_text(home: Path) -> None:
    assert "documents       5\nwithout text    2\n" in run(home, "stats")
    (home / "b.jsonl").write_text(lines(FULL, BARE), encoding="utf-8")
    assert "; 2 documents, 1 without text, 1 chunk\n" in run(home, "add", f"{home}/b.jsonl", "--parser", "jsonl")
    run(home, "rm", *(f"{home}/{name}" for name in ("a.jsonl", "b.jsonl", "empty.txt")))
    assert "without text" not in run(home, "stats")
    assert "without text" not in run(home, "add", f"{home}/b.jsonl", "--parser", "text")


def test_rebuilt_damaged_store_keeps_its_titles(home: Path, tmp_path: Path) -> None:
    with Recall.open(str(home)) as recall:
        before = export_text(recall)

    Recall.recover(home / "recall.db", tmp_path / "new.db")

    with Recall.open(str(tmp_path / "new.db")) as recall:
        assert export_text(recall).splitlines()[1:-1] == before.splitlines()[1:-1]
        assert [check["code"] for check in examine(recall.store) if check["severity"] != "ok"] == []


def test_reembed_gives_a_title_the_vector_of_its_words(recall: Recall) -> None:
    for _ in recall.reembed("hash", settings={"embedding_dim": 256}):
        pass

    (row,) = recall.store.chunks_of(recall.store.document_at("a.jsonl#short") or "")
    assert recall.store.vectors([row.rowid])[row.rowid] == recall.engine.embedder.embed([row.chunk.text])[0]
