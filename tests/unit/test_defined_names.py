"""A definition ranks before its uses: full text knows the names that a chunk defines."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core import Recall
from recall_core.marks import Mark, Outline
from recall_core.store.sqlite.check import texts
from recall_core.store.sqlite.schema import MIGRATIONS, without_names
from recall_core.store.sqlite.store import SqliteStore
from recall_core.words.analyzer import Analyzer
from tests.builders import memory_store, new_file, put

WITHOUT_SOURCE = ignore_patterns("source")
"""Leaves nothing for doctor to reread, which would start a parser."""
USES = "for kind in kinds:\n    connections = pool.of(kind)\n    close_all(connections)\n    log(kind)\n"
SESSION = '''\
class HTTPSession:
    """Talks to a server."""

    def open(self):
        return self.pool.take()


def close_all(connections):
    for each in connections:
        each.shut()
'''


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("made")
    source = tmp_path / "source"
    source.mkdir()
    (source / "a_uses.py").write_text(f"from session import close_all\n\n{USES}\n", encoding="utf-8")
    (source / "session.py").write_text(SESSION, encoding="utf-8")
    for n in range(4):
        (source / f"other{n}.py").write_text(f"def other{n}():\n    return {n}\n", encoding="utf-8")
    (source / "plain.txt").write_text("Nothing in particular.\n", encoding="utf-8")
    (source / "notes.md").write_text("# Session\n\nWhat the class is for.\n", encoding="utf-8")
    Recall.init(str(tmp_path), embedding="hash", settings=("chunk_tokens=30", "overlap_tokens=0", "embedding_dim=64"))
    with Recall.open(str(tmp_path)) as recall:
        recall.index(str(source))
    return tmp_path


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    """Return a store of code and notes."""
    return Path(copytree(template, tmp_path / "folder"))


def paths_found(recall: Recall, text: str, **asked: object) -> list[str]:
    return [hit["doc"]["path"] for hit in recall.search(text, mode="lexical", **asked)["results"]]  # type: ignore[arg-type]


def titles(store: Path) -> dict[str, str]:
    db = apsw.Connection(str(store / "recall.db"), flags=apsw.SQLITE_OPEN_READONLY)
    rows = db.execute("SELECT d.path, c.title FROM chunk c JOIN doc d ON d.rowid = c.doc ORDER BY c.offset DESC")
    return {str(path).rpartition("/")[2]: str(title) for path, title in rows}


def test_definition_ranks_before_its_uses(folder: Path) -> None:
    with Recall.open(str(folder)) as recall:
        assert paths_found(recall, "close_all")[0].endswith("session.py")
        assert paths_found(recall.under(["title_weight=0"]), "close_all")[0].endswith("a_uses.py")


def test_name_of_several_words_matches_each_word(folder: Path) -> None:
    with Recall.open(str(folder)) as recall:
        assert [path.rpartition("/")[2] for path in paths_found(recall, "http")] == ["session.py"]


def test_parts_of_a_name_are_not_marked_in_the_text(folder: Path) -> None:
    for match in ["any", "all"]:
        with Recall.open(str(folder)) as recall:
            (hit, *_) = recall.under([f"match={match}"]).search("http server", mode="lexical")["results"]
            text, start = hit["chunk"]["text"], hit["chunk"]["offset"]
            assert [text[first - start : last - start] for first, last, *_ in hit["passage"]["matches"]] == [
                "server"
            ], match
            assert not hit["passage"].get("title_matches"), match


def test_raw_fts5_query_counts_names_but_marks_only_text(folder: Path) -> None:
    with Recall.open(str(folder)) as recall:
        hits = recall.query("SELECT * FROM chunk USING lexical_fts('title:http OR server')")["results"]
        text, start = hits[0]["chunk"]["text"], hits[0]["chunk"]["offset"]
        assert [text[first - start : last - start] for first, last, *_ in hits[0]["passage"]["matches"]] == ["server"]


def test_sections_have_no_name_in_a_title(folder: Path) -> None:
    assert titles(folder)["notes.md"] == "Session"


def test_export_and_import_keep_titles(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    with Recall.open(str(folder)) as recall, file.open("w", encoding="utf-8") as out:
        recall.export(out)
    other = tmp_path / "other"
    other.mkdir()
    Recall.init(str(other), embedding="hash", settings=("chunk_tokens=30", "overlap_tokens=0", "embedding_dim=64"))
    with Recall.open(str(other)) as recall:
        recall.import_(file)
    assert titles(other) == titles(folder)


def errors(answer: Mapping[str, Any]) -> list[str]:
    return [check["code"] for check in answer["checks"] if check["severity"] == "error"]


def spoil(store: Path, sql: str) -> None:
    db = apsw.Connection(str(store / "recall.db"))
    db.execute("DROP TRIGGER chunk_text_is_immutable")
    db.execute(sql)
    db.execute(
        "CREATE TRIGGER chunk_text_is_immutable BEFORE UPDATE OF title, text, search_text ON chunk"
        " BEGIN SELECT RAISE(ABORT, 'chunk text is immutable'); END"
    )
    db.execute("INSERT INTO chunk_fts(chunk_fts) VALUES('rebuild')")
    db.close()


OTHER_NAMES = {
    "another name": "UPDATE chunk SET title = replace(title, 'close_all', 'open_all')",
    "no name": "UPDATE chunk SET title = 'session.py' WHERE title LIKE 'session.py%'",
    "a name where nothing is defined": "UPDATE chunk SET title = 'plain.txt\ndef f' WHERE title = 'plain.txt'",
}


def test_doctor_finds_and_repairs_wrong_names_in_a_title(template: Path, tmp_path: Path) -> None:
    before = titles(template)
    for name, sql in OTHER_NAMES.items():
        store = Path(copytree(template, tmp_path / name, ignore=WITHOUT_SOURCE))
        spoil(store, sql)
        assert titles(store) != before, name
        with Recall.open(str(store)) as recall:
            assert errors(recall.doctor()) == ["texts"], name
            assert errors(recall.doctor(fix=True)) == [], name
        assert titles(store) == before, name


def test_changed_marks_of_the_same_text_rename_its_chunks() -> None:
    file = new_file("a.py", ["def one(): pass ", "def two(): pass "], title="a.py")
    (document,) = file.documents
    store = memory_store()
    for name in ("def one", "def first"):
        marks = (Mark(0, "function", name), Mark(16, "function", "def two"))
        put(store, file._replace(documents=(document._replace(marks=marks),)))
    rows = store.execute("SELECT title FROM chunk WHERE deleted = 0 ORDER BY offset")
    assert rows == [("a.py\ndef first",), ("a.py\ndef two",)]


SPOILT_COLUMNS = [
    "doc_reading SET marks = '[[['",
    "doc_reading SET marks = x'ff'",
    'doc_reading SET marks = \'[["class","\\ud800",1,0]]\'',
    "doc SET title = x'ff00'",
    "doc SET title = CAST(x'61ff' AS TEXT)",
    "chunk SET offset = 'x'",
]


def of_version_8(store: Path, sql: str) -> None:
    """Remove the names from a store and run this SQL on it."""
    spoil(store, "UPDATE chunk SET title = substr(title, 1, instr(title || char(10), char(10)) - 1)")
    db = apsw.Connection(str(store / "recall.db"))
    db.execute(sql)
    db.pragma("user_version", 8)
    db.close()


def test_damaged_document_does_not_block_an_upgrade(template: Path, tmp_path: Path) -> None:
    for number, column in enumerate(SPOILT_COLUMNS):
        store = Path(copytree(template, tmp_path / str(number), ignore=WITHOUT_SOURCE))
        key = "doc" if column.startswith(("doc_reading", "chunk")) else "rowid"
        of_version_8(store, f"UPDATE {column} WHERE {key} = (SELECT rowid FROM doc WHERE path LIKE '%session.py')")
        with Recall.open(str(store)) as recall:
            assert errors(recall.doctor()), column
        assert titles(store)["other1.py"].endswith("other1"), column


def test_upgrade_keeps_a_title_that_differs_from_its_document(folder: Path) -> None:
    of_version_8(folder, "UPDATE doc SET title = 'wrong.py' WHERE title = 'session.py'")
    with Recall.open(str(folder)) as recall:
        assert "texts" in errors(recall.doctor())
    assert titles(folder)["session.py"] == "session.py"


def test_read_only_old_store_is_not_reported_without_names(folder: Path) -> None:
    of_version_8(folder, "SELECT 1")
    path = str(folder / "recall.db")
    with closing(SqliteStore(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY), path, writable=False)) as store:
        assert texts(store).severity == "ok"


def test_upgrade_adds_names_to_existing_documents(folder: Path) -> None:
    before = titles(folder)
    spoil(folder, "UPDATE chunk SET title = substr(title, 1, instr(title || char(10), char(10)) - 1)")
    assert titles(folder) != before
    db = apsw.Connection(str(folder / "recall.db"))
    db.pragma("user_version", len(MIGRATIONS) - 1)
    db.close()
    with Recall.open(str(folder)) as recall:
        assert errors(recall.doctor()) == []
        assert paths_found(recall, "close_all")[0].endswith("session.py")
    assert titles(folder) == before


def test_definitions_in_test_files_have_no_name_in_titles() -> None:
    for title in ["test_auth.py", "auth_test.go", "auth.spec.ts", "AuthTest.java", "tests-of-auth.js"]:
        assert Analyzer().titles(title, (Mark(0, "function", "def test_flow"),), [(0, 9)]) == [title], title


def test_file_named_test_by_chance_has_names() -> None:
    for title in ["test.py", "testing.py", "contest.py", "attestation.go", "latest_auth.py"]:
        assert Analyzer().titles(title, (Mark(0, "function", "def flow"),), [(0, 9)]) == [f"{title}\ndef flow"], title


def test_title_contains_a_name_and_its_words() -> None:
    marks = (Mark(0, "class", "class NetRCAuth"), Mark(10, "method", "def flow", 2), Mark(20, "heading", "Notes"))
    assert Analyzer().titles("auth.py", marks, [(0, 12), (12, 20), (20, 30)]) == [
        "auth.py\nclass NetRCAuth Net RC Auth\ndef flow",
        "auth.py\nclass NetRCAuth Net RC Auth\ndef flow",
        "auth.py",
    ]
    assert without_names("auth.py\ndef flow") == without_names("auth.py") == "auth.py"


@given(
    st.lists(
        st.builds(
            Mark,
            st.integers(0, 40),
            st.sampled_from(["function", "class", "heading", "block", "end", "page", "line"]),
            st.sampled_from(["", "a", "b", "c"]),
            st.integers(1, 3),
        ),
        max_size=12,
    ),
    st.integers(0, 39),
    st.integers(1, 40),
)
def test_chunk_names_are_the_definitions_that_overlap_it(marks: list[Mark], start: int, size: int) -> None:
    marks.sort(key=lambda mark: mark.offset)
    end, total = min(start + size, 41), 41
    units = [mark for mark in marks if mark.kind not in ("page", "line")]
    expected: dict[str, None] = {}
    for i, mark in enumerate(units):
        last = next((later.offset for later in units[i + 1 :] if later.level <= mark.level), total)
        is_part = mark.offset < end and (last > start if mark.offset <= start else True)
        if mark.kind in ("function", "class") and mark.name and is_part:
            expected[mark.name] = None
    assert Outline(marks, total).names_within(start, end) == tuple(expected)


def test_rebuilt_store_has_the_same_titles(folder: Path) -> None:
    before = titles(folder)
    with Recall.open(str(folder)) as recall:
        recall.store.rebuild(copy=None, made_with=lambda: None)
    assert titles(folder) == before
    with Recall.open(str(folder)) as recall:
        assert errors(recall.doctor()) == []


def test_unusual_title_is_checked_and_rebuilt(tmp_path: Path) -> None:
    for number, (title, named) in enumerate((("", ""), ("two\nlines", "two\nlines\ndef one"))):
        file = new_file("a.py", ["def one(): pass "], title=title)
        (document,) = file.documents
        store = memory_store(str(tmp_path / f"{number}.db"))
        put(store, file._replace(documents=(document._replace(marks=(Mark(0, "function", "def one"),)),)))
        for _ in range(2):
            assert store.execute("SELECT title FROM chunk WHERE deleted = 0") == [(named,)], title
            assert texts(store).severity == "ok", title
            store.rebuild(copy=None, made_with=lambda: None)
        store.close()
