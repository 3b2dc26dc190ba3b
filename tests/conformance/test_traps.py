"""Eleven mistakes of an earlier program of this kind, each with an end-to-end test."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from recall_core.api.recall import Ask, Recall
from recall_core.errors import RqlError
from recall_core.types import Root

TEXTS = {
    "docs/retry.md": "# Retry\n\nRetry with backoff.\n\n\n   Indented,\ttabbed   and  spaced.\r\nretry retry retry\n",
    "docs/deploy.md": "# Deploy\n\nDeploy slowly; retry when a node is down.\n",
    "docs/cache.md": "# Cache\n\nA cache answers by key.\n",
    "notes/todo.txt": "buy milk, write the retry test\n",
    "notes/日記.txt": "今日は全文検索を書いた。\n",
    "notes/list.txt": "\n\n".join(f"Entry {n} is about\tnumber  {n * n} and nothing else." for n in range(30)),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("made")
    for name, text in TEXTS.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
        os.utime(path, ns=(1_700_000_000_000_000_000, 1_700_000_000_000_000_000))
    Recall.init(str(tmp_path), settings=("chunk_tokens=12", "overlap_tokens=3"))
    with Recall.open(start=tmp_path) as opened:
        add(opened, tmp_path / "docs", tags=("docs",))
        add(opened, tmp_path / "notes", tags=("notes",))
    return tmp_path


@pytest.fixture
def recall(template: Path, tmp_path: Path) -> Iterator[Recall]:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    with Recall.open(start=tmp_path) as opened:
        yield opened


def add(recall: Recall, *targets: Path, **labels: Any) -> dict[str, Any]:
    work = recall.add([str(target) for target in targets], Root("", **labels))
    while True:
        try:
            next(work)
        except StopIteration as done:
            return dict(done.value["ingest"])


def hits(response: Any) -> list[tuple[str, int]]:
    return [(result["doc"]["path"], result["chunk"]["offset"]) for result in response["results"]]


def test_bm25_hits_have_different_scores(recall: Recall) -> None:
    response = recall.search("retry backoff", Ask(mode="lexical"))

    scores = [result["score"] for result in response["results"]]
    assert len(scores) >= 3
    assert len(set(scores)) == len(scores)
    assert all(0 < score < 1 for score in scores)
    assert scores == sorted(scores, reverse=True)


def test_vector_filter_applies_before_nearest_neighbours(recall: Recall) -> None:
    near = "retry retry retry"
    everything = recall.search(near, Ask(mode="semantic", k=100))
    farthest = everything["results"][-1]["doc"]["path"]

    response = recall.search(near, Ask(mode="semantic", k=1, filter=f"doc.path = '{farthest}'"))

    assert [path for path, _ in hits(response)] == [farthest]
    assert hits(everything)[0][0] != farthest


def test_filter_after_limit_is_applied(recall: Recall) -> None:
    after = recall.query("SELECT * FROM chunk LIMIT 50 FILTER doc.tag = 'notes'")
    before = recall.query("SELECT * FROM chunk FILTER doc.tag = 'notes' LIMIT 50")

    assert hits(after) == hits(before)
    assert {path for path, _ in hits(after)} == {path for path in TEXTS if path.startswith("notes/")}
    with pytest.raises(RqlError, match="Unexpected"):
        recall.query("SELECT * FROM chunk LIMIT 50 doc.tag = 'notes'")


def test_unclosed_string_is_an_error(recall: Recall) -> None:
    for text in ("doc.tag = 'notes", 'doc.tag = "notes', "doc.tag = 'notes\\'"):
        with pytest.raises(RqlError) as caught:
            recall.query(f"SELECT * FROM chunk FILTER {text}")
        assert caught.value.code == "unterminated_string"


def test_unchanged_file_can_be_added_again(recall: Recall, tmp_path: Path) -> None:
    before = recall.stats()["store"]

    again = add(recall, tmp_path / "docs", tags=("docs",))

    assert (again["added"], again["updated"], again["unchanged"]) == (0, 0, 3)
    assert recall.stats()["store"]["generation"] == before["generation"]


def test_import_leaves_no_ghost_rows(recall: Recall, tmp_path: Path) -> None:
    out = io.StringIO()
    recall.export(out)
    (tmp_path / "all.jsonl").write_text(out.getvalue(), newline="\n")

    for _ in range(2):
        recall.import_(tmp_path / "all.jsonl", on_conflict="replace")

    assert {check["severity"] for check in recall.doctor()["checks"]} <= {"ok", "warning"}
    for words in ("retry", "cache", "検索"):
        found = hits(recall.search(words, Ask(mode="lexical", k=100)))
        assert len(found) == len(set(found))
    again = io.StringIO()
    recall.export(again)
    assert again.getvalue() == out.getvalue()


def test_doctor_finds_index_that_mismatches_its_rows(recall: Recall, tmp_path: Path) -> None:
    db = apsw.Connection(str(tmp_path / "recall.db"))
    rowid, title, text = next(db.execute("SELECT id, title, body FROM chunk_search ORDER BY id"))
    db.execute("INSERT INTO chunk_fts(chunk_fts, rowid, title, body) VALUES('delete', ?, ?, ?)", (rowid, title, text))
    db.close()

    severities = [check["severity"] for check in recall.doctor()["checks"]]

    assert "error" in severities


def test_chunk_text_is_a_slice_of_its_document(recall: Recall) -> None:
    response = recall.query("SELECT * FROM chunk LIMIT 100")

    assert len(response["results"]) > len(TEXTS)
    for result in response["results"]:
        chunk, text = result["chunk"], TEXTS[result["doc"]["path"]]
        assert text[chunk["offset"] : chunk["end"]] == chunk["text"]
    for path, text in TEXTS.items():
        assert recall.get(path)["found"]["text"] == text


def test_second_page_continues_the_first(recall: Recall) -> None:
    rql = "SELECT * FROM chunk USING lexical('retry'), semantic('retry later')"
    whole = hits(recall.query(f"{rql} LIMIT 100"))

    pages = [hits(recall.query(f"{rql} LIMIT 2 OFFSET {offset}")) for offset in range(0, len(whole), 2)]

    assert len(whole) > 4
    assert [row for page in pages for row in page] == whole


def test_total_hits_counts_the_full_list(recall: Recall) -> None:
    for using in ("", "USING lexical('retry')", "USING lexical('retry'), semantic('retry')"):
        whole = recall.query(f"SELECT * FROM chunk {using} LIMIT 100")
        for page in ("LIMIT 1", "LIMIT 0", "LIMIT 2 OFFSET 1"):
            assert recall.query(f"SELECT * FROM chunk {using} {page}")["stats"]["total_hits"] == len(whole["results"])


def test_signal_without_hits_keeps_its_weight(recall: Recall) -> None:
    def points(rql: str) -> dict[tuple[str, int], float]:
        response = recall.query(rql, Ask(explain=True))
        found = {}
        for place, result in zip(hits(response), response["results"], strict=True):
            parts = {part["signal"]: part["points"] for part in result["explain"]["parts"]}
            assert result["score"] == pytest.approx(sum(parts.values()), abs=1e-12)
            found[place] = parts["semantic"]
        return found

    full = points("SELECT * FROM chunk USING lexical('retry'), semantic('retry') LIMIT 100")
    empty = points("SELECT * FROM chunk USING lexical('xylophone'), semantic('retry') LIMIT 100")

    assert empty == pytest.approx(full, rel=0, abs=1e-15)
    assert max(empty.values()) <= 0.1 + 1e-12
