"""An answer that is ranked, listed and packed again: its reads of the store, and changes of the store in between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from recall_core.api.recall import Pack, Recall
from recall_core.errors import Outdated
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import Root
from tests.workbench_corpus import build_store

QUESTIONS = ("token budget", "household tea", "SELECT * FROM doc USING lexical('budget'), semantic('tea') LIMIT 20")
WEIGHTS = tuple(number / 20 for number in range(21))


@pytest.fixture
def recall(tmp_path: Path) -> Iterator[Recall]:
    with Recall.open(str(build_store(tmp_path))) as recall:
        yield recall


@contextmanager
def statements(store: SqliteStore) -> Iterator[list[str]]:
    """Record every statement executed inside the block."""
    seen: list[str] = []

    def note(_cursor: Any, sql: str, _bindings: Any) -> bool:
        seen.append(sql)
        return True

    store.db.exec_trace = note
    try:
        yield seen
    finally:
        store.db.exec_trace = None


def test_reweighting_and_packing_do_not_read_the_store(recall: Recall) -> None:
    for settings in [(), ("sparse_recall=on",), ("fusion=rrf",)]:
        for text in QUESTIONS:
            config = recall.under(settings).config
            found = recall.engine.weigh(recall.engine.answer(recall.engine.plan(text)), config)
            recall.engine.hits(found, 0, found.total)
            recall.engine.pack(found)
            with statements(recall.store) as seen:
                for weight in WEIGHTS:
                    found = recall.engine.weigh(found, config._replace(vector_weight=weight))
                    recall.engine.hits(found, 0, 50)
                    recall.engine.pack(found, Pack(budget_tokens=300))
            assert seen == [], (settings, text)


def test_text_is_read_once(recall: Recall) -> None:
    found = recall.engine.answer(recall.engine.plan("token budget"))
    recall.engine.hits(found, 0, 10)
    with statements(recall.store) as seen:
        assert [hit.rank for hit in recall.engine.hits(found, 5, 12)] == list(range(6, 13))
    (sql,) = seen
    assert "json_each" in sql


def test_listed_rows_count_from_one(recall: Recall) -> None:
    for table in ["doc", "chunk"]:
        found = recall.engine.answer(recall.engine.plan(f"SELECT * FROM {table}"))

        assert [hit.rank for hit in recall.engine.hits(found, 0, 3)] == [1, 2, 3], table
        assert [hit.rank for hit in recall.engine.hits(found, 5, 7)] == [6, 7], table


def test_two_answers_share_no_texts(recall: Recall) -> None:
    one, other = (recall.engine.answer(recall.engine.plan(text)) for text in QUESTIONS[:2])
    recall.engine.hits(one, 0, 10)
    assert len(one.rows) == 10
    assert not other.rows


def test_deleted_rows_are_reported(recall: Recall) -> None:
    found = recall.engine.answer(recall.engine.plan("token budget"))
    before = recall.engine.hits(found, 0, 5)
    with Recall.open(recall.store.path) as other:
        other.remove(["manual/*"], purge=True)
    assert recall.engine.hits(found, 0, 5) == before
    with pytest.raises(Outdated) as raised:
        recall.engine.hits(found, 5, 10)
    assert raised.value.code == "outdated"
    with pytest.raises(Outdated):
        recall.engine.pack(found, Pack(budget_tokens=100_000))


def test_answer_with_a_changed_row_is_outdated(tmp_path: Path) -> None:
    Recall.init(str(tmp_path))
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text(f"A budget in {name}.\n")
    with Recall.open(str(tmp_path / "recall.db")) as recall:
        for name in ("a.md", "b.md"):
            list(recall.add([str(tmp_path / name)], Root("")))
        found = recall.engine.answer(recall.engine.plan("budget"))
        with Recall.open(recall.store.path) as other:
            other.remove(["b.md"], purge=True)
            list(other.add([str(tmp_path / "c.md")], Root("")))

        with pytest.raises(Outdated):
            recall.engine.hits(found, 0, 10)


def test_chunk_with_a_reused_rowid_is_not_mistaken(recall: Recall, tmp_path: Path) -> None:
    found = recall.engine.answer(recall.engine.plan("token budget"))
    (tmp_path / "other.md").write_text("\n\n".join(f"# {n}\n\n{'nothing of it ' * 150}" for n in range(80)))
    with Recall.open(recall.store.path) as other:
        other.remove(["manual/*"], purge=True)
        for _ in other.add([str(tmp_path / "other.md")], Root("")):
            pass
    with pytest.raises(Outdated):
        recall.engine.hits(found, 0, 10)
