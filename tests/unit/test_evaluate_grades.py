"""Grades of chunks, the changes needed for a new grade, and their effect in a store."""

from __future__ import annotations

import pytest

from recall_core.errors import UsageError
from recall_core.evaluate.judgements import (
    Judgement,
    Regrade,
    Since,
    Spot,
    apply_change,
    change,
    free_id,
    grade_of_chunk,
    names_of,
    put,
    read_stored,
    regrade_chunk,
    stands_for,
    take_back,
    undo_of,
    words,
)
from recall_core.store.sqlite.store import SqliteStore
from tests.builders import memory_store, new_file
from tests.builders import put as put_files

CHUNK = Spot("a.md", 100, 200)


def judgement(grade: int, offset: int = 0, end: int = -1, *, path: str = "a.md") -> Judgement:
    return Judgement("q1", Spot(path, offset, end), grade)


def judgements_of(store: SqliteStore) -> tuple[Judgement, ...]:
    return read_stored(store, names_of(store)).judgements


@pytest.fixture
def store() -> SqliteStore:
    store = memory_store()
    put_files(store, new_file("a.md", ["alpha ", "beta "]), new_file("b.md", ["gamma"]))
    return store


def test_judgement_counts_for_the_chunk_around_its_middle() -> None:
    for offset, end, counts in [
        (0, -1, True),  # the whole document
        (100, 200, True),
        (120, 130, True),
        (90, 210, True),
        (0, 250, True),  # it contains the chunk
        (0, 110, False),  # a neighbour with its overlap
        (190, 300, False),
        (200, 300, False),
        (100, 300, True),
        (150, 250, False),  # its middle is the first offset of the next
        (149, 250, True),
    ]:
        assert stands_for(Spot("a.md", offset, end), CHUNK) is counts, (offset, end)


def test_document_row_has_the_judgements_of_all_spans() -> None:
    found = [judgement(1, 0, 50), judgement(2, 500, 600), judgement(3, 0, 50, path="b.md")]

    assert grade_of_chunk(found, Spot("a.md")) == 2


def test_highest_grade_counts() -> None:
    assert grade_of_chunk([judgement(1), judgement(3, 100, 200), judgement(0, 120, 130)], CHUNK) == 3
    assert grade_of_chunk([judgement(0)], CHUNK) == 0


def test_unjudged_chunk_has_no_grade() -> None:
    assert grade_of_chunk([judgement(3, 300, 400), judgement(3, path="b.md")], CHUNK) is None
    assert grade_of_chunk([], CHUNK) is None


def test_grade_can_be_given_and_taken_back() -> None:
    for grade in [0, 1, 2, 3]:
        for known in [
            (),
            (judgement(2),),
            (judgement(2, 100, 200),),
            (judgement(1, 100, 200), judgement(3, 110, 120), judgement(2)),
            (judgement(3, 300, 400),),
        ]:
            step = regrade_chunk("q1", "one", known, CHUNK, grade)
            after = apply_change(known, step)

            assert grade_of_chunk(after, CHUNK) == grade, (grade, known)
            assert apply_change(after, undo_of(step)) == tuple(sorted(known)), (grade, known)


def test_grade_leaves_other_chunks_and_lower_spans_unchanged() -> None:
    known = (judgement(3, 300, 400), judgement(1, 110, 120))

    assert set(known) < set(apply_change(known, regrade_chunk("q1", "one", known, CHUNK, 2)))


def test_document_judged_as_a_whole_is_graded_as_a_whole() -> None:
    assert regrade_chunk("q1", "one", (judgement(1),), CHUNK, 2).added == (judgement(2),)


def test_clearing_removes_every_judgement_of_the_chunk() -> None:
    known = (judgement(1), judgement(2, 110, 120), judgement(3, 300, 400))

    assert apply_change(known, regrade_chunk("q1", "one", known, CHUNK, None)) == (judgement(3, 300, 400),)


def test_next_id_is_the_first_free_id() -> None:
    assert free_id([]) == "q1"
    assert free_id(["q1", "q3", "other"]) == "q2"
    assert free_id(["q2", "q1"]) == "q3"


def test_texts_are_compared_by_their_words() -> None:
    assert words("  token\n budget ") == "token budget"


def test_change_is_stored_and_taken_back(store: SqliteStore) -> None:
    step = Regrade("q1", "one", added=(judgement(3, 0, 6),), begins=True)

    change(store, step)
    assert judgements_of(store) == (judgement(3, 0, 6),)
    assert take_back(store, undo_of(step)) is None

    assert judgements_of(store) == ()
    assert store.judged_queries() == {}


def test_query_with_later_judgements_survives_taking_back_the_first(store: SqliteStore) -> None:
    step = Regrade("q1", "one", added=(judgement(3, 0, 6),), begins=True)
    change(store, step)
    put(store, {}, [judgement(1, path="b.md")])

    take_back(store, undo_of(step))

    assert store.judged_queries() == {"q1": "one"}
    assert judgements_of(store) == (judgement(1, path="b.md"),)


def test_judgement_under_another_name_is_found_and_replaced(store: SqliteStore) -> None:
    put(store, {"q1": "one"}, [judgement(1, path="a")])

    change(store, regrade_chunk("q1", "one", judgements_of(store), Spot("a.md", 0, 6), 2))

    assert judgements_of(store) == (judgement(2),)
    assert store.execute("SELECT count(*) FROM judgement") == [(1,)]


def test_query_with_a_changed_text_is_refused(store: SqliteStore) -> None:
    put(store, {"q1": "two"}, [judgement(1)])

    with pytest.raises(UsageError) as caught:
        change(store, Regrade("q1", "one", removed=(judgement(1),), added=(judgement(3, 0, 6),)))

    assert caught.value.code == "query_conflict"
    assert judgements_of(store) == (judgement(1),)


@pytest.mark.parametrize("grade", [1, None])
def test_newer_grade_is_not_taken_back(store: SqliteStore, grade: int | None) -> None:
    step = Regrade("q1", "one", added=(judgement(0, 0, 6),), begins=True)
    change(store, step)
    change(store, regrade_chunk("q1", "one", judgements_of(store), Spot("a.md", 0, 6), grade))
    before = judgements_of(store)

    assert take_back(store, undo_of(step)) == Since(Spot("a.md", 0, 6), grade)

    assert judgements_of(store) == before
    assert store.judged_queries() == {"q1": "one"}


def test_removed_grade_does_not_return_over_a_newer_grade(store: SqliteStore) -> None:
    put(store, {"q1": "one"}, [judgement(3, 0, 6)])
    step = regrade_chunk("q1", "one", judgements_of(store), Spot("a.md", 0, 6), None)
    change(store, step)
    put(store, {}, [judgement(1, 0, 6)])

    assert take_back(store, undo_of(step)) == Since(Spot("a.md", 0, 6), 1)

    assert judgements_of(store) == (judgement(1, 0, 6),)


def test_new_query_with_a_taken_id_gets_the_next_id(store: SqliteStore) -> None:
    put(store, {"q1": "two"}, [judgement(2, 0, 6)])
    first = Regrade("q1", "one", added=(judgement(3, 0, 6),), begins=True)
    second = Regrade("q1", "one", added=(judgement(1, path="b.md"),))

    change(store, first)
    change(store, second)

    assert store.judged_queries() == {"q1": "two", "q2": "one"}
    assert [(each.query, each.grade) for each in judgements_of(store)] == [("q1", 2), ("q2", 3), ("q2", 1)]
    assert take_back(store, undo_of(second)) is None
    assert take_back(store, undo_of(first)) is None
    assert store.judged_queries() == {"q1": "two"}
    assert judgements_of(store) == (judgement(2, 0, 6),)


def test_new_query_joins_an_existing_query_with_equal_words(store: SqliteStore) -> None:
    put(store, {"q1": "two", "q7": " one\n query"}, [judgement(2), Judgement("q7", Spot("b.md"), 1)])

    change(store, Regrade("q1", "one query", added=(judgement(3, 0, 6),), begins=True))

    assert store.judged_queries() == {"q1": "two", "q7": " one\n query"}
    assert [(each.query, each.grade) for each in judgements_of(store)] == [("q1", 2), ("q7", 3), ("q7", 1)]
