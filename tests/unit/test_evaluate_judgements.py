"""Judgements in a store: found by many names, kept by path and span."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from recall_core.errors import UsageError
from recall_core.evaluate.formats import Qrel
from recall_core.evaluate.grades import Judgement
from recall_core.evaluate.judgements import (
    by_document,
    located,
    names_of,
    put,
    stored,
    stored_queries,
)
from recall_core.evaluate.judging import export, import_
from recall_core.evaluate.names import Names, Spot
from recall_core.store.sqlite.store import SqliteStore
from tests.builders import memory_store, new_file
from tests.builders import put as put_files

QUERIES = '{"_id": "q2", "text": "two"}\n{"_id": "q1", "text": "one"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\tdocs/a.md\t1\nq1\tb\t2\nq1\tgone\t1\nq9\tb\t1\n"

NAMES = Names(
    [
        ("docs/a.md", "docs/a.md"),
        ("docs/b.txt", "docs/b.txt"),
        ("old/b.md", "old/b.md"),
        ("corpus.jsonl#184", "corpus.jsonl"),
        ("corpus.jsonl#c#7", "corpus.jsonl"),
        ("two words.md", "two words.md"),
        ("100%25.md", "100%25.md"),
    ]
)


@pytest.fixture
def store() -> SqliteStore:
    store = memory_store()
    put_files(store, new_file("docs/a.md", ["alpha"]), new_file("docs/b.md", ["beta ", "gamma"]))
    return store


@pytest.mark.parametrize(
    ("name", "spot"),
    [
        ("docs/a.md", Spot("docs/a.md")),
        ("a.md", Spot("docs/a.md")),
        ("a", Spot("docs/a.md")),
        ("b.txt", Spot("docs/b.txt")),
        ("b", None),
        ("184", Spot("corpus.jsonl#184")),
        ("c#7", Spot("corpus.jsonl#c#7")),
        ("two%20words", Spot("two words.md")),
        ("100%25.md", Spot("100%25.md")),
        ("a.md[3:9]", Spot("docs/a.md", 3, 9)),
        ("a.md[9:3]", None),
        ("nothing", None),
    ],
)
def test_a_document_is_found_by_path_record_and_file_name(name: str, spot: Spot | None) -> None:
    assert NAMES.find(name) == spot


@pytest.mark.parametrize(
    ("spot", "name"),
    [
        (Spot("corpus.jsonl#184"), "184"),
        (Spot("docs/a.md", 3, 9), "docs/a.md[3:9]"),
        (Spot("two words.md"), "two%20words.md"),
        (Spot("gone\n.md"), "gone%0A.md"),
    ],
)
def test_a_document_is_called_by_one_word_that_finds_it(spot: Spot, name: str) -> None:
    assert NAMES.name(spot) == name
    assert NAMES.find(name) in (spot, None)


def test_a_record_id_in_two_files_names_neither() -> None:
    names = Names([("a.jsonl#1", "a.jsonl"), ("b.jsonl#1", "b.jsonl"), ("c.jsonl#1", "c.jsonl")])

    assert names.find("1") is None
    assert names.name(Spot("a.jsonl#1")) == "a.jsonl#1"


def test_unknown_documents_are_counted_and_kept(store: SqliteStore) -> None:
    found = located([Qrel("q", "a", 1), Qrel("q", "zzz", 2)], names_of(store))

    assert found.judgements == (Judgement("q", Spot("docs/a.md"), 1), Judgement("q", Spot("zzz"), 2))
    assert found.unknown == 1


def test_a_judgement_of_an_unknown_document_counts_once_however_often_a_file_has_it(
    store: SqliteStore, tmp_path: Path
) -> None:
    (tmp_path / "q").write_text(QUERIES)
    (tmp_path / "r").write_text("q1 0 gone 1\nq1 0 gone 2\nq9 0 docs/a.md 1\nq9 0 docs/a.md 1\n")

    response = import_(store, queries=tmp_path / "q", qrels=tmp_path / "r")

    assert response["judged"] == {"queries": 2, "judgements": 1, "unknown": 1}
    assert [warning.partition(": ")[2].partition(",")[0] for warning in response["warnings"]] == [
        "1 of the judgements names no document of this store",
        "1 judgement is of a query whose text is not given",
    ]


def test_importing_twice_changes_nothing_and_the_last_grade_wins(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(QUERIES)
    (tmp_path / "r").write_text(QRELS)

    first = import_(store, queries=tmp_path / "q", qrels=tmp_path / "r")
    before = stored(store, names_of(store))
    again = import_(store, queries=tmp_path / "q", qrels=tmp_path / "r")
    (tmp_path / "r").write_text("q1 0 docs/a.md 1\nq1 0 a.md 3\n")
    import_(store, queries=None, qrels=tmp_path / "r")

    assert first == again
    assert first["judged"] == {"queries": 2, "judgements": 3, "unknown": 1}
    assert [warning.split(":")[0] for warning in first["warnings"]] == ["W_UNKNOWN_DOCUMENT", "W_UNKNOWN_QUERY"]
    assert (len(before.judgements), before.unknown) == (3, 1)
    assert by_document(stored(store, names_of(store)).judgements) == {
        "q1": {"docs/a.md": 3, "docs/b.md": 2, "gone": 1}
    }


def test_a_query_with_another_text_is_refused_and_nothing_is_written(store: SqliteStore) -> None:
    put(store, {"q": "one"}, [])

    with pytest.raises(UsageError) as caught:
        put(store, {"p": "new", "q": "two"}, [Judgement("p", Spot("docs/a.md"), 1)])

    assert caught.value.code == "query_conflict"
    assert stored_queries(store) == {"q": "one"}
    assert store.judgements() == 0


def test_a_judgement_of_a_document_that_comes_later_finds_it(store: SqliteStore) -> None:
    put(store, {"q": "one"}, [Judgement("q", Spot("late[0:3]"), 1)])
    assert stored(store, names_of(store)).unknown == 1

    put_files(store, new_file("docs/late.md", ["later"]))

    assert stored(store, names_of(store)).judgements == (Judgement("q", Spot("docs/late.md", 0, 3), 1),)


@pytest.mark.parametrize("form", ["beir", "trec"])
def test_an_export_is_the_same_every_time_and_can_be_imported(store: SqliteStore, form: str, tmp_path: Path) -> None:
    grades = [Judgement("q2", Spot("docs/b.md", 2, 8), 2), Judgement("q1", Spot("my notes.md", 3, 9), 0)]
    put(store, {"q2": "two", "q1": "one"}, [*grades, Judgement("q2", Spot("docs/a.md"), -1)])

    texts, rows = io.StringIO(), io.StringIO()
    response = export(store, queries=texts, qrels=rows, form=form)  # type: ignore[arg-type]
    (tmp_path / "q").write_text(texts.getvalue())
    (tmp_path / "r").write_text(rows.getvalue())
    copy = memory_store()
    put_files(copy, new_file("docs/a.md", ["alpha"]), new_file("docs/b.md", ["beta ", "gamma"]))
    import_(copy, queries=tmp_path / "q", qrels=tmp_path / "r")
    again = io.StringIO()
    export(copy, queries=None, qrels=again, form=form)  # type: ignore[arg-type]

    assert response["judged"] == {"queries": 2, "judgements": 3, "unknown": 1}
    assert [line.split()[0] for line in rows.getvalue().splitlines()[-3:]] == ["q1", "q2", "q2"]
    assert stored_queries(copy) == stored_queries(store)
    assert again.getvalue() == rows.getvalue()


def test_a_document_has_the_highest_grade_of_its_spans() -> None:
    grades = [Judgement("q", Spot("a", 0, 5), 1), Judgement("q", Spot("a", 5, 9), 3), Judgement("q", Spot("a"), 2)]

    assert by_document(grades) == {"q": {"a": 3}}
    assert by_document([*grades, Judgement("q", Spot("a", 5, 9), 0)]) == {"q": {"a": 2}}
