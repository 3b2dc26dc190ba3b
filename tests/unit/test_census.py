"""The disk space used by the parts of a store, and the documents of each root."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.store.sqlite import census
from recall_core.types import Root
from tests.workbench_corpus import build_store


def test_texts_vectors_and_index_fit_in_the_file_size(tmp_path: Path) -> None:
    with Recall.open(str(build_store(tmp_path))) as recall:
        found = recall.store.sizes()
        page = int(recall.store.execute("PRAGMA page_size")[0][0])

        assert found.vectors >= 37 * 512 * 4
        assert all(size > 0 and size % page == 0 for size in (found.text, found.vectors, found.fulltext))
        assert found.text + found.vectors + found.fulltext < recall.store.size_bytes()


def test_token_count_covers_live_chunks(tmp_path: Path) -> None:
    with Recall.open(str(build_store(tmp_path))) as recall:
        before = recall.store.totals().tokens
        rows = recall.store.execute(
            "SELECT sum(c.tokens) FROM chunk c JOIN doc d ON d.rowid = c.doc WHERE d.path LIKE 'manual/%'"
        )
        recall.remove(["manual"])

        assert recall.store.totals().tokens == before - rows[0][0]


def test_each_root_reports_its_documents_and_newest_time(tmp_path: Path) -> None:
    with Recall.open(str(build_store(tmp_path))) as recall:
        found = {source.root.folder: source for source in recall.store.root_sources()}

    assert {folder: source.documents for folder, source in found.items()} == {
        "docs": 3,
        "manual": 30,
        "notes": 2,
        "src": 2,
    }
    assert {source.newest[:10] for source in found.values()} == {"2023-11-14"}


def test_empty_root_has_no_newest_time(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        list(recall.add([str(tmp_path / "empty")], Root("")))

        assert [(source.documents, source.newest) for source in recall.store.root_sources()] == [(0, "")]


def test_stats_reports_the_same_sizes_on_request(tmp_path: Path) -> None:
    with Recall.open(str(build_store(tmp_path))) as recall:
        view, found = recall.stats(sizes=True)["store"], recall.store.sizes()
        plain = recall.stats()["store"]

    assert (view["text_bytes"], view["vector_bytes"], view["index_bytes"]) == found
    assert [key for key in view if key not in plain] == ["text_bytes", "vector_bytes", "index_bytes"]


def found_wrong(recall: Recall) -> tuple[list[str], bool]:
    """Return the stored counts that differ from counted rows, and whether the census is of the current store."""
    execute = recall.store.execute
    meta = dict(execute("SELECT key, value FROM meta"))
    return census.find_wrong(execute, meta), census.read_census(meta) is not None


def _sync(recall: Recall) -> None:
    list(recall.sync())


def _change(recall: Recall) -> None:
    (recall.engine.base / "docs" / "budget.md").write_text("# Budget\n\nAll of it is another text.\n")
    (recall.engine.base / "docs" / "empty.md").write_text("")
    (recall.engine.base / "notes" / "cafe.txt").unlink()
    _sync(recall)


def _cut_otherwise(recall: Recall) -> None:
    with recall.store.transaction():
        recall.store.execute("UPDATE file SET settings = 'of an older chunker'")
    _sync(recall)


def _empty_again(recall: Recall) -> None:
    _change(recall)
    (recall.engine.base / "docs" / "empty.md").unlink()
    _sync(recall)


ACTS: dict[str, Callable[[Recall], object]] = {
    "nothing": lambda recall: None,
    "change": _change,
    "empty": _empty_again,
    "cut": _cut_otherwise,
    "remove": lambda recall: recall.remove(["manual", "docs/budget.md"]),
    "purge": lambda recall: recall.remove(["manual"], purge=True),
    "compact": lambda recall: (recall.remove(["manual"]), recall.compact()),
    "again": lambda recall: (recall.remove(["docs/budget.md"]), list(recall.add(["docs/budget.md"], Root("")))),
    "fix": lambda recall: recall.doctor(fix=True),
}


def test_stored_counts_equal_counted_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, act in ACTS.items():
        folder = tmp_path / name
        store = str(build_store(folder))
        monkeypatch.chdir(folder)
        with Recall.open(store) as recall:
            act(recall)

        with Recall.open(store) as recall:
            assert found_wrong(recall) == ([], True), name


def older(recall: Recall, *statements: str) -> None:
    """Write as a version that does not know the census."""
    with recall.store.transaction():
        for statement in statements:
            recall.store.execute(statement)
        recall.store.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")


def test_older_version_leaves_no_wrong_count(tmp_path: Path) -> None:
    store = str(build_store(tmp_path))
    with Recall.open(store) as recall:
        before = recall.stats()
        older(recall, "UPDATE doc SET mtime = '2030-01-01T00:00:00.000000Z' WHERE rowid = 1")
    with Recall.open(store) as recall:
        after = recall.stats()
        assert after["stats"]["snapshot"] == "2030-01-01T00:00:00.000000Z" != before["stats"]["snapshot"]
        assert after["store"]["tokens"] == before["store"]["tokens"]
        assert found_wrong(recall) == ([], False)
        recall.remove(["manual"])
        assert found_wrong(recall) == ([], True)


def test_store_without_counts_gains_them_at_next_change(tmp_path: Path) -> None:
    store = str(build_store(tmp_path))
    with Recall.open(store) as recall:
        before = recall.stats()["store"]
        with recall.store.transaction():
            recall.store.execute("DELETE FROM meta WHERE key = 'census'")
        assert recall.stats()["store"] == {**before, "bytes": recall.store.size_bytes()}
        assert found_wrong(recall) == ([], False)
        recall.remove(["manual"])
        assert found_wrong(recall) == ([], True)


def test_doctor_names_and_repairs_a_wrong_count(tmp_path: Path) -> None:
    with Recall.open(str(build_store(tmp_path))) as recall:
        [(kept,)] = recall.store.execute("SELECT value FROM meta WHERE key = 'census'")
        for place, name in enumerate(census.NAMES, 1):
            parts = kept.split(" ")
            parts[place] = "2031" if name == "snapshot" else "7"
            with recall.store.transaction():
                recall.store.execute("UPDATE meta SET value = ? WHERE key = 'census'", (" ".join(parts),))

            check = recall.store.check("counts")
            assert (check.severity, check.evidence) == ("error", f"wrong: {name}")
        checks = {check["code"]: check for check in recall.doctor()["checks"]}
        assert (checks["counts"]["severity"], checks["counts"]["evidence"]) == ("error", f"wrong: {name}")
        mended = {check["code"]: check["severity"] for check in recall.doctor(fix=True)["checks"]}
        assert mended["counts"] == "ok"
        assert found_wrong(recall) == ([], True)


def test_stats_reads_no_document_chunk_or_vector_table(tmp_path: Path) -> None:
    asked: list[str] = []
    with Recall.open(str(build_store(tmp_path))) as recall:
        recall.store.db.set_exec_trace(lambda _cursor, sql, _bindings: asked.append(sql) is None)
        recall.stats()

    assert any("meta" in sql for sql in asked)
    walked = [sql for sql in asked if {"doc", "chunk", "vec", "dbstat"} & set(re.findall("[a-z_]+", sql))]
    assert [sql for sql in walked if "FROM judgement" not in sql] == []
