"""Judgements in a store: found under many names, stored by path and span."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from recall_core.errors import UsageError
from recall_core.evaluate.formats import Qrel
from recall_core.evaluate.judgements import (
    Judgement,
    Names,
    Regrade,
    Spot,
    by_document,
    change,
    count,
    locate,
    names_of,
    put,
    read_stored,
    regrade_chunk,
)
from recall_core.evaluate.questions import export, import_
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


def export_text(store: SqliteStore) -> str:
    rows = io.StringIO()
    export(store, queries=None, qrels=rows, form="trec")
    return rows.getvalue()


def store_rows(store: SqliteStore) -> list[tuple[str, str, int, int, int]]:
    return store.execute("SELECT query, path, offset, end_offset, grade FROM judgement ORDER BY 1, 2, 3, 4")


def test_document_is_found_by_path_record_and_file_name() -> None:
    for name, spot in [
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
    ]:
        assert NAMES.find(name) == spot, name


def test_document_name_is_one_word_that_finds_it() -> None:
    for spot, name in [
        (Spot("corpus.jsonl#184"), "184"),
        (Spot("docs/a.md", 3, 9), "docs/a.md[3:9]"),
        (Spot("two words.md"), "two%20words.md"),
        (Spot("gone\n.md"), "gone%0A.md"),
    ]:
        assert NAMES.name(spot) == name, spot
        assert NAMES.find(name) in (spot, None), spot


def test_record_id_in_two_files_names_neither() -> None:
    names = Names([("a.jsonl#1", "a.jsonl"), ("b.jsonl#1", "b.jsonl"), ("c.jsonl#1", "c.jsonl")])

    assert names.find("1") is None
    assert names.name(Spot("a.jsonl#1")) == "a.jsonl#1"


def test_unknown_documents_are_counted_and_kept(store: SqliteStore) -> None:
    found = locate([Qrel("q", "a", 1), Qrel("q", "zzz", 2)], names_of(store))

    assert found.judgements == (Judgement("q", Spot("docs/a.md"), 1), Judgement("q", Spot("zzz"), 2))
    assert found.unknown == 1


def test_repeated_judgement_of_an_unknown_document_counts_once(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(QUERIES)
    (tmp_path / "r").write_text("q1 0 gone 1\nq1 0 gone 2\nq9 0 docs/a.md 1\nq9 0 docs/a.md 1\n")

    response = import_(store, queries=tmp_path / "q", qrels=tmp_path / "r")

    assert response["judged"] == {"queries": 2, "judgements": 1, "unknown": 1}
    assert [warning.partition(": ")[2].partition(",")[0] for warning in response["warnings"]] == [
        "1 of the judgements names no document of this store",
        "1 judgement is of a query without a text",
    ]


def test_repeated_import_changes_nothing_and_last_grade_wins(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(QUERIES)
    (tmp_path / "r").write_text(QRELS)

    first = import_(store, queries=tmp_path / "q", qrels=tmp_path / "r")
    before = read_stored(store, names_of(store))
    again = import_(store, queries=tmp_path / "q", qrels=tmp_path / "r")
    (tmp_path / "r").write_text("q1 0 docs/a.md 1\nq1 0 a.md 3\n")
    import_(store, queries=None, qrels=tmp_path / "r")

    assert first == again
    assert first["judged"] == {"queries": 2, "judgements": 3, "unknown": 1}
    assert [warning.split(":")[0] for warning in first["warnings"]] == ["W_UNKNOWN_DOCUMENT", "W_UNKNOWN_QUERY"]
    assert (len(before.judgements), before.unknown) == (3, 1)
    assert by_document(read_stored(store, names_of(store)).judgements) == {
        "q1": {"docs/a.md": 3, "docs/b.md": 2, "gone": 1}
    }


def test_query_with_another_text_is_refused_without_writing(store: SqliteStore) -> None:
    put(store, {"q": "one"}, [])

    with pytest.raises(UsageError) as caught:
        put(store, {"p": "new", "q": "two"}, [Judgement("p", Spot("docs/a.md"), 1)])

    assert caught.value.code == "query_conflict"
    assert store.judged_queries() == {"q": "one"}
    assert store.judgement_count() == 0


def test_judgement_finds_a_document_added_later(store: SqliteStore) -> None:
    put(store, {"q": "one"}, [Judgement("q", Spot("late[0:3]"), 1)])
    assert read_stored(store, names_of(store)).unknown == 1

    put_files(store, new_file("docs/late.md", ["later"]))

    assert read_stored(store, names_of(store)).judgements == (Judgement("q", Spot("docs/late.md", 0, 3), 1),)


def test_judgement_replaces_one_made_before_its_document_was_added(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(QUERIES)
    (tmp_path / "r").write_text("q1 0 late 1\nq2 0 late 1\nq1 0 late.md[0:3] 2\nq1 0 gone 1\n")
    import_(store, queries=tmp_path / "q", qrels=tmp_path / "r")
    put_files(store, new_file("docs/late.md", ["later"]))
    before = export_text(store)
    (tmp_path / "r").write_text("q1 0 late 3\n")

    import_(store, queries=None, qrels=tmp_path / "r")

    assert before == "q1 0 docs/late.md 1\nq1 0 docs/late.md[0:3] 2\nq1 0 gone 1\nq2 0 docs/late.md 1\n"
    assert export_text(store) == before.replace("docs/late.md 1", "docs/late.md 3", 1)
    assert store.judgement_count() == count(store) == 4


def test_importing_before_and_after_documents_equals_importing_once(tmp_path: Path) -> None:
    (tmp_path / "q").write_text(QUERIES)
    (tmp_path / "r").write_text("q1 0 a 1\nq2 0 b 2\nq2 0 a.md 1\n")
    files = (new_file("docs/a.md", ["alpha"]), new_file("docs/b.md", ["beta"]))
    early, late = memory_store(), memory_store()
    import_(early, queries=tmp_path / "q", qrels=tmp_path / "r")
    for store in (early, late):
        put_files(store, *files)

        import_(store, queries=tmp_path / "q", qrels=tmp_path / "r")

    assert store_rows(early) == store_rows(late)


def test_names_shared_by_several_documents_remove_no_judgement(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(QUERIES)
    (tmp_path / "r").write_text("q1 0 c 1\n")
    import_(store, queries=tmp_path / "q", qrels=tmp_path / "r")
    put_files(store, new_file("new/c.md", ["one"]), new_file("old/c.md", ["two"]))
    (tmp_path / "r").write_text("q1 0 new/c.md 2\nq1 0 old/c.md 0\n")

    import_(store, queries=None, qrels=tmp_path / "r")

    assert export_text(store) == "q1 0 c 1\nq1 0 new/c.md 2\nq1 0 old/c.md 0\n"
    assert count(store) == 3


def test_document_judged_under_two_names_keeps_one_grade() -> None:
    for name in ["a", "z"]:
        store = memory_store()
        put(store, {"q": "one"}, [Judgement("q", Spot(name), 1), Judgement("q", Spot(f"m/{name}.md"), 3)])
        put(store, {}, [Judgement("q", Spot(f"{name}.md"), 2)])
        assert count(store) == 3, name

        put_files(store, new_file(f"m/{name}.md", ["text"]))

        assert read_stored(store, names_of(store)).judgements == (Judgement("q", Spot(f"m/{name}.md"), 3),), name
        assert export_text(store) == f"q 0 m/{name}.md 3\n", name
        assert count(store) == 1, name


def test_changed_grade_does_not_return_from_another_name() -> None:
    for grade in [None, 0]:
        store = memory_store()
        put(store, {"q": "one"}, [Judgement("q", Spot(name), 2) for name in ("late", "late.md", "docs/late.md")])
        put_files(store, new_file("docs/late.md", ["later"]))
        known = read_stored(store, names_of(store)).judgements

        change(store, regrade_chunk("q", "one", known, Spot("docs/late.md"), grade))

        assert [row[-1] for row in store_rows(store)] == ([] if grade is None else [grade]), grade


def test_added_grade_replaces_one_under_another_name(store: SqliteStore) -> None:
    put(store, {"q": "one"}, [Judgement("q", Spot("a"), 1), Judgement("q", Spot("gone"), 1)])

    change(store, Regrade("q", "one", added=(Judgement("q", Spot("docs/a.md"), 3),)))

    assert store_rows(store) == [("q", "docs/a.md", 0, -1, 3), ("q", "gone", 0, -1, 1)]


def test_export_is_reproducible_and_can_be_imported(store: SqliteStore, tmp_path: Path) -> None:
    for form in ["beir", "trec"]:
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

        assert response["judged"] == {"queries": 2, "judgements": 3, "unknown": 1}, form
        assert [line.split()[0] for line in rows.getvalue().splitlines()[-3:]] == ["q1", "q2", "q2"], form
        assert copy.judged_queries() == store.judged_queries(), form
        assert again.getvalue() == rows.getvalue(), form


def test_document_has_the_highest_grade_of_its_spans() -> None:
    grades = [Judgement("q", Spot("a", 0, 5), 1), Judgement("q", Spot("a", 5, 9), 3), Judgement("q", Spot("a"), 2)]

    assert by_document(grades) == {"q": {"a": 3}}
    assert by_document([*grades, Judgement("q", Spot("a", 5, 9), 0)]) == {"q": {"a": 2}}
