"""A purge is one act: once begun it is finished, and then no byte of any version of the text remains."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core import Recall, RecallError
from recall_core.errors import UnknownTarget
from recall_core.store.values import JudgementRow
from recall_core.types import Root
from tests.builders import letters, pieces_left


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "keep.md").write_text("# Kept\n\nA quokka smiles.\n")
    Recall.init(str(tmp_path), settings={"chunk_tokens": 20, "overlap_tokens": 0})
    return tmp_path


@pytest.fixture
def recall(base: Path) -> Iterator[Recall]:
    with Recall.open(str(base)) as opened:
        opened.store.db.set_busy_timeout(50)  # type: ignore[attr-defined]
        yield opened


def written(base: Path, name: str, text: str) -> str:
    (base / "notes" / name).write_text(text)
    return f"notes/{name}"


def held_up(base: Path, recall: Recall, target: str) -> None:
    """Run a purge that a reader blocks: the documents are gone, but their text is not."""
    recall.store.db.set_busy_timeout(50)  # type: ignore[attr-defined]
    with Recall.open(str(base)) as reader, reader.store.reading():
        reader.store.info()
        with pytest.raises(RecallError, match="old pages") as caught:
            recall.remove([str(base / target)], purge=True)
    assert caught.value.code == "purge_incomplete"


def pending(recall: Recall) -> str:
    (check,) = (check for check in recall.doctor()["checks"] if check["code"] == "purge_pending")
    return check["severity"]


def test_blocked_purge_is_reported_by_doctor_and_resumed_by_command(base: Path, recall: Recall) -> None:
    text, title = letters("text"), letters("title")
    target = written(base, "secret.md", f"# {title}\n\n{text}\n")
    labels = Root("", tags=(letters("tag"),), meta=(("key", letters("meta")),), source=letters("source"))
    recall.index(str(base / target), template=labels)
    held_up(base, recall, target)

    assert pending(recall) == "error"
    assert recall.remove([str(base / target)], purge=True)["removed"]["purged"]
    assert pending(recall) == "ok"
    recall.close()
    assert pieces_left(base, text, title, *(letters(label) for label in ("tag", "meta", "source"))) == []


@pytest.mark.parametrize("kind", ["add", "judge", "compact", "doctor"])
def test_next_writer_finishes_a_blocked_purge(base: Path, recall: Recall, kind: str) -> None:
    text = letters("text")
    target = written(base, "secret.md", text)
    recall.index(str(base / "notes"))
    held_up(base, recall, target)

    with Recall.open(str(base)) as other:
        match kind:
            case "add":
                other.index(str(base / "notes" / written(base, "new.md", "A wombat digs.\n").rpartition("/")[2]))
            case "judge":
                with other.store.judging() as writer:
                    writer.put_query("q", "quokka?")
            case "compact":
                other.compact()
            case "doctor":
                other.doctor(fix=True)
        assert pending(other) == "ok"
    recall.close()
    assert pieces_left(base, text) == []


def test_either_command_finishes_its_own_blocked_purge(base: Path, recall: Recall) -> None:
    first, second = (written(base, name, letters(name)) for name in ("first.md", "second.md"))
    recall.index(str(base / "notes"))
    held_up(base, recall, first)
    held_up(base, recall, second)

    assert recall.store.pending_purge() == (first, second)
    assert recall.remove([str(base / first)], purge=True)["removed"]["purged"]
    recall.close()
    assert pieces_left(base, letters("first.md"), letters("second.md")) == []


def test_purge_removes_every_version_of_the_path(base: Path, recall: Recall) -> None:
    versions = [letters(f"version {n}") for n in range(3)]
    for text in versions:
        target = written(base, "secret.md", text)
        recall.index(str(base / "notes"))

    recall.remove([str(base / target)], purge=True)

    recall.close()
    assert pieces_left(base, *versions) == []


def test_document_removed_long_ago_by_sync_can_be_purged(base: Path, recall: Recall) -> None:
    names = ("id", "notes/gone1.md", "notes/gone2.*", "notes")
    texts = [letters(name) for name in names]
    for number, (name, text) in enumerate(zip(names, texts, strict=True)):
        path = written(base, f"gone{number}.md", text)
        target = base / path
        recall.index(str(base / "notes"))
        doc_id = recall.get(str(target))["found"]["doc"]["id"]
        target.unlink()
        list(recall.sync())
        named = doc_id[:12] if name == "id" else str(base / name)
        with pytest.raises(UnknownTarget):
            recall.remove([str(target)])

        assert recall.remove([named], purge=True, dry_run=True)["removed"]["paths"][0] == path, name
        assert recall.remove([named], purge=True)["removed"]["purged"], name

    recall.close()
    assert pieces_left(base, *texts) == []


def test_purge_without_a_match_is_refused(recall: Recall) -> None:
    with pytest.raises(UnknownTarget):
        recall.remove(["notes/never.md"], purge=True)
    assert pending(recall) == "ok"


def test_purge_removes_judgements_of_earlier_removed_documents(base: Path, recall: Recall) -> None:
    target = base / written(base, "gone.md", letters("text"))
    recall.index(str(base / "notes"))
    with recall.store.judging() as writer:
        writer.put_query("q", "quokka?")
        writer.put_query("kept", "wombat?")
        writer.put(JudgementRow("q", "notes/gone.md", 0, -1, 2))
        writer.put(JudgementRow("kept", "notes/keep.md", 0, -1, 1))
    target.unlink()
    list(recall.sync())

    recall.remove([str(target)], purge=True)

    assert [row.path for row in recall.store.judgements()] == ["notes/keep.md"]


def test_purge_names_other_files_that_contain_the_text(base: Path, recall: Recall) -> None:
    target = base / written(base, "secret.md", letters("text"))
    recall.index(str(target))
    left = [base / "recall.db.bak-1", base / ".recall-0123456789abcdef", base / ".recall-0123456789abcdef-wal"]
    for path in (*left, base / ".recall-mine"):
        path.write_text("what a killed process has left")

    assert recall.remove([str(target)], purge=True)["removed"]["backups"] == sorted(map(str, left))


def test_purge_names_other_documents_with_the_text(base: Path, recall: Recall) -> None:
    text = letters("text")
    target = written(base, "secret.md", text)
    written(base, "copy.md", text)
    written(base, "part.md", f"{text[:260]}")
    recall.index(str(base / "notes"))

    assert recall.remove([str(base / target)], purge=True)["removed"]["copies"] == ["notes/copy.md", "notes/part.md"]
    assert "copies" not in recall.remove([str(base / "notes" / "part.md")])["removed"]


def test_empty_document_has_no_copies(base: Path, recall: Recall) -> None:
    target = written(base, "empty.md", "")
    written(base, "also_empty.md", "")
    recall.index(str(base / "notes"))

    assert recall.remove([str(base / target)], purge=True)["removed"]["copies"] == []


def test_purge_keeps_no_vector_of_the_text(base: Path, recall: Recall) -> None:
    target = written(base, "secret.md", letters("text"))
    recall.index(str(base / "notes"))
    recall.remove([str(base / target)])
    assert recall.store.execute("SELECT count(*) > 0 FROM vec_cache") == [(1,)]  # type: ignore[attr-defined]

    recall.remove([str(base / target)], purge=True)

    assert recall.store.execute("SELECT count(*) FROM vec_cache") == [(0,)]  # type: ignore[attr-defined]


def test_purge_of_a_single_file_root_removes_its_path(base: Path, recall: Recall) -> None:
    name = letters("name")[:24].replace(" ", "")
    target = base / f"{name}.md"
    target.write_text(letters("text"))
    recall.index(str(target))

    recall.remove([str(target)], purge=True)

    recall.close()
    assert pieces_left(base, name) == []


def test_purged_file_below_a_live_root_does_not_return(base: Path, recall: Recall) -> None:
    text = letters("text")
    target = written(base, "secret.md", text)
    recall.index(str(base / "notes"))

    recall.remove([str(base / target)], purge=True)
    list(recall.sync())

    (root,) = recall.roots()["roots"]
    assert (root["folder"], root["left_out"], root["active"]) == ("notes", ["notes/secret.md"], True)
    assert recall.store.known("notes/secret.md") is None
    recall.close()
    assert pieces_left(base, text) == []


def test_whynot_reports_that_a_file_was_removed(base: Path, recall: Recall) -> None:
    target = written(base, "secret.md", "A wombat digs.\n")
    recall.index(str(base / "notes"))
    recall.remove([str(base / target)])
    recall.compact()

    view = recall.why_not("wombat", str(base / target))["whynot"]

    assert "removed from the store" in json.dumps(view)
    assert f"recall add {base / target}" in json.dumps(view)


def test_repeated_purge_succeeds(base: Path, recall: Recall) -> None:
    targets = [str(base / written(base, "first.md", letters("text"))), str(base / "notes" / "sec*.md")]
    written(base, "second.md", letters("more"))
    recall.index(str(base / "notes"))
    doc_id = recall.get("notes/second.md")["found"]["doc"]["id"]
    for asked in (targets, [doc_id]):
        if asked == [doc_id]:
            recall.index(str(base / "notes" / "second.md"))
        for documents in (len(asked), 0):
            removed = recall.remove(asked, purge=True)["removed"]
            assert (removed["documents"], removed["purged"]) == (documents, True), asked
    for never in ("notes/never.md", "first.md"):
        with pytest.raises(UnknownTarget):
            recall.remove([never], purge=True)
    with pytest.raises(UnknownTarget):
        recall.remove([doc_id])
    assert pending(recall) == "ok"
    recall.close()
    assert pieces_left(base, letters("text"), letters("more")) == []
