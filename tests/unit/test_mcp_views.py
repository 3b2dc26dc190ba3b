"""Answers as a model reads them: what is left out of a long one, and the lines of `memory_get`."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("mcp")

from recall_core.adapters.mcp.arguments import MOST_LINES
from recall_core.adapters.mcp.views import AnswerPiece, as_json, joined, memory_text

PIECES = st.lists(
    st.builds(AnswerPiece, st.sampled_from(["", "hit 1", "a.md"]), st.text("ab\n", max_size=60)), max_size=6
)


@given(pieces=PIECES, most=st.integers(0, 200))
def test_an_answer_has_no_more_characters_than_it_may_but_for_what_names_the_rest(
    pieces: list[AnswerPiece], most: int
) -> None:
    whole = "\n".join(piece.text for piece in pieces)

    told = joined(pieces, most)

    if sum(len(piece.text) + 1 for piece in pieces) <= most:
        assert told == whole
    else:
        kept, _, note = told.rpartition("[left out, the answer is long: ")
        assert len(kept) <= most + 1
        assert re.fullmatch(r"(the rest|hit 1|a\.md).*\]", note)
        assert "".join(kept.split()) == "".join(whole.split())[: len("".join(kept.split()))]


def test_what_is_left_out_is_named_by_its_parts() -> None:
    pieces = [
        AnswerPiece("", "3 hits."),
        AnswerPiece("hit 1", "one"),
        AnswerPiece("hit 2", "two\ntwo\ntwo"),
        AnswerPiece("hit 3", "three"),
    ]

    assert joined(pieces, 100) == "3 hits.\none\ntwo\ntwo\ntwo\nthree"
    assert joined(pieces, 18) == "3 hits.\none\ntwo\n[left out, the answer is long: hit 2 after 1 line, hit 3]"
    assert joined(pieces, 13) == "3 hits.\none\n[left out, the answer is long: hit 2, hit 3]"


def test_many_that_are_left_out_are_counted() -> None:
    pieces = [AnswerPiece(f"n{number}.md", "x" * 10) for number in range(30)]

    assert joined(pieces, 11).endswith("n1.md, n2.md, n3.md, n4.md, n5.md, n6.md, n7.md, n8.md and 21 more]")


def test_a_long_text_of_one_line_is_cut_within_it() -> None:
    told = joined([AnswerPiece("", "**a.json**"), AnswerPiece("a.json", "x" * 1_000)], 111)

    assert told == f"**a.json**\n{'x' * 100}\n[left out, the answer is long: a.json after 100 characters]"


def view(text: str) -> Any:
    return cast(Any, {"kind": "doc", "doc": {"path": "a.md"}, "text": text})


@given(text=st.text("ab\n\r\u2028é", max_size=400), lines=st.integers(1, MOST_LINES))
def test_following_next_from_reads_all_of_a_document_without_gap_or_overlap(text: str, lines: int) -> None:
    first: int | None = 1
    read, counted = [], 0
    while first is not None:
        told = memory_text(view(text), first, lines)
        assert told["from"] == first
        assert told["lines"] <= lines
        read.append(told["text"])
        counted += told["lines"]
        first = told.get("nextFrom")
        assert ("nextFrom" in told) == ("truncated" in told) == ("linesLeft" in told)

    assert "".join(read) == text
    assert counted == text.count("\n") + (not text.endswith("\n") and text != "")


@given(text=st.text("ab\n", max_size=100), first=st.integers(1, 50), lines=st.integers(1, 50))
def test_some_lines_are_those_that_the_text_has_there(text: str, first: int, lines: int) -> None:
    told = memory_text(view(text), first, lines)

    assert told["text"] == "".join(text.splitlines(keepends=True)[first - 1 : first - 1 + lines])


@given(value=st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_json_is_one_line(value: object) -> None:
    assert "\n" not in as_json(value)
    assert json.loads(as_json(value)) == value
