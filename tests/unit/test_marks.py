"""Promises of marks: units that end where the next begins, places, and their storage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_core.marks import Mark, Outline, Places, Unit, dump, heading_around, load, runs, stretch, why_unfit
from recall_core.text import behind, cite

MODULE = (
    Mark(0, "statements"),
    Mark(10, "class", "class A", 1),
    Mark(20, "method", "def b", 2),
    Mark(30, "method", "def c", 2),
    Mark(50, "function", "def d", 1),
)


def test_unit_ends_where_the_next_of_its_level_begins() -> None:
    outline = Outline(MODULE, 60)

    assert outline.units_around(25) == [Unit(10, 50), Unit(20, 30)]
    assert outline.units_around(20) == [Unit(10, 50)]
    assert outline.units_around(55) == [Unit(50, 60)]


def test_heading_lists_the_units_around_a_place() -> None:
    outline = Outline(MODULE, 60)

    assert [outline.heading_at(place) for place in (5, 10, 25, 49, 50)] == [
        None,
        "class A",
        "class A › def b",
        "class A › def c",
        "def d",
    ]


def test_ended_unit_no_longer_counts() -> None:
    outline = Outline((Mark(0, "heading", "h"), Mark(5, "block", "", 7), Mark(9, "end", "", 7)), 20)

    assert outline.units_around(7) == [Unit(5, 9)]
    assert outline.units_around(12) == []
    assert outline.heading_at(12) == "h"
    assert outline.joints == (0,)


def test_pages_may_cross_sections() -> None:
    outline = Outline((Mark(0, "page"), Mark(5, "heading", "h"), Mark(10, "page"), Mark(20, "page")), 30)

    assert outline.heading_at(25) == "h"
    assert outline.units_around(15) == [Unit(10, 20)]


def test_pages_without_text_are_counted() -> None:
    for span, place in [((0, 5), "page 1"), ((9, 10), "page 1"), ((9, 11), "page 1-2"), ((12, 30), "page 2-4")]:
        places = Places((Mark(0, "page"), Mark(10, "page"), Mark(20, "page"), Mark(20, "page")))

        assert places.at(*span) == place, (span, place)


def test_line_ranges_end_before_and_byte_ranges_at_next_piece() -> None:
    lines = Places((Mark(0, "line", "3"), Mark(10, "line", "7"), Mark(20, "line", "12")))
    pieces = Places((Mark(0, "bytes", "100"), Mark(10, "bytes", "150"), Mark(20, "bytes", "180")))

    assert [lines.at(0, 10), lines.at(0, 15), lines.at(12, 25)] == ["line 3-6", "line 3-11", "line 7-12"]
    assert [pieces.at(0, 10), pieces.at(5, 20)] == ["bytes 100-150", "bytes 100-180"]


def test_text_without_places_has_none() -> None:
    assert Places(MODULE).at(0, 9) is None


def test_places_select_their_span() -> None:
    for kind, first, last, found in [
        ("page", 2, 2, (10, 20)),
        ("page", 1, 9, (0, 30)),
        ("page", 7, 8, None),
        ("cell", 1, 1, None),
    ]:
        marks = (Mark(0, "page"), Mark(10, "page"), Mark(20, "page"))

        assert stretch(marks, 30, kind, first, last) == found, (kind, first, last, found)


@given(st.integers(1, 40), st.integers(0, 20), st.integers(1, 60))
def test_cited_text_lies_in_the_span_of_its_place(step: int, start: int, length: int) -> None:
    for kind in ("line", "bytes", "page"):
        marks = [Mark(at, kind, str(1 + 3 * at) if kind != "page" else "") for at in range(0, 100, step)]
        marks += [Mark(100, kind, "301")] if kind == "bytes" else []
        _, _, value = (Places(marks).at(start, start + length) or "").partition(" ")
        first, _, last = value.partition("-")

        found = stretch(marks, 100, kind, int(first), int(last or first))

        assert found is not None
        assert found.start <= start
        assert found.end >= min(100, start + length)


MARKS = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from(["heading", "page", "row"]), st.text(max_size=3), st.integers(1, 3)),
    max_size=30,
)


@given(MARKS)
def test_marks_survive_dump_and_load(steps: list[tuple[int, str, str, int]]) -> None:
    at, marks = 0, []
    for step, *rest in steps:
        at += step
        marks.append(Mark(at, *rest))

    assert load(dump(marks)) == load(runs(marks)) == tuple(marks)
    assert why_unfit(marks, at) is None


def test_invalid_marks_are_refused() -> None:
    for text in ["{", "[1]", '[["page"]]', '[["page","",1,"x"]]', '[[1,"",1,0]]', '[["a","",1,1.5]]']:
        with pytest.raises(ValueError, match="invalid marks"):
            load(text)


def test_unordered_or_outside_marks_are_reported() -> None:
    assert why_unfit((Mark(5, "page"), Mark(4, "page")), 9) is not None
    assert why_unfit((Mark(10, "page"),), 9) is not None
    assert why_unfit((Mark(1, "page", "", 0),), 9) is not None
    assert why_unfit((Mark(9, "page"),), 9) is None


def test_citation_has_a_place_or_lines() -> None:
    assert cite("a.md", 3, 9) == "a.md:3-9"
    assert cite("a.pdf", 3, 9, "page 2-3") == "a.pdf#page=2-3"
    assert cite("ls.1", 3, 9, "line 120-131") == "ls.1:120-131"
    assert cite("a.jsonl#x", 1, 2, "line 207") == "a.jsonl#x:1-2"
    assert cite("a.html", 3, 9, "id technical-detail") == "a.html#technical-detail"
    assert cite("a.html", 3, 9, "heading Set up › On a Mac") == "a.html#Set up › On a Mac"
    assert behind("a.md", 3) == ":3"


def test_span_belongs_to_the_units_that_contain_it() -> None:
    for start, end, heading in [
        (0, 5, None),
        (12, 18, "class A"),
        (22, 29, "class A › def b"),
        (20, 30, "class A › def b"),
        (25, 35, "class A"),
        (5, 12, None),
        (30, 30, "class A › def c"),
    ]:
        assert heading_around(MODULE, start, end) == heading, (start, end)


def test_span_after_the_end_of_a_unit_is_outside() -> None:
    marks = (Mark(0, "heading", "A", 1), Mark(5, "block", "", 7), Mark(9, "end", "", 7), Mark(20, "end", "", 1))

    assert heading_around(marks, 10, 12) == "A"
    assert heading_around(marks, 18, 22) is None
    assert heading_around(marks, 20, 22) is None
