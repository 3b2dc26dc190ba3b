"""Answers as a model reads them: omissions from a long answer, and the lines of `memory_get`."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("mcp")

from recall_core.adapters.mcp.tools import MOST_LINES
from recall_core.adapters.mcp.views import AnswerPiece, as_json, fence_text, fitting, join_pieces, memory_text

PIECES = st.lists(
    st.builds(AnswerPiece, st.sampled_from(["", "hit 1", "a.md"]), st.text("ab\n", max_size=60)), max_size=6
)
NOTE = "[left out for length: "


@given(pieces=PIECES, most=st.integers(0, 300))
def test_answer_fits_its_limit_apart_from_the_final_note(pieces: list[AnswerPiece], most: int) -> None:
    whole = "\n".join(piece.text for piece in pieces)

    told = join_pieces(pieces, most)

    if len(whole) <= most:
        assert told == whole
    else:
        kept, _, note = told.rpartition(NOTE)
        assert len(told) <= most or not kept
        assert re.fullmatch(r"(the rest|hit 1|a\.md).*\]", note)
        assert "".join(kept.split()) == "".join(whole.split())[: len("".join(kept.split()))]


def test_omitted_parts_are_named() -> None:
    pieces = [
        AnswerPiece("", "3 hits."),
        AnswerPiece("hit 1", "one"),
        AnswerPiece("hit 2", "two\n" + "two" * 40),
        AnswerPiece("hit 3", "three"),
    ]

    assert join_pieces(pieces, 145) == "\n".join(piece.text for piece in pieces)
    assert join_pieces(pieces, 68) == f"3 hits.\none\ntwo\n{NOTE}the rest of hit 2, hit 3]"
    assert join_pieces(pieces, 53) == f"3 hits.\none\n{NOTE}hit 2, hit 3]"


def test_many_omitted_parts_are_counted() -> None:
    pieces = [AnswerPiece(f"n{number}.md", "x" * 10) for number in range(30)]

    assert join_pieces(pieces, 120).endswith("n2.md, n3.md, n4.md, n5.md, n6.md, n7.md, n8.md, n9.md and 20 more]")


def test_long_single_line_is_cut_within_the_line() -> None:
    note = f"{NOTE}the rest of a.json]"

    told = join_pieces([AnswerPiece("", "**a.json**"), AnswerPiece("a.json", fence_text("x" * 1_000))], 200)

    assert re.fullmatch(rf"\*\*a\.json\*\*\n```\nx+\n```\n{re.escape(note)}", told)
    assert 190 <= len(told) <= 200


TEXTS = st.lists(st.sampled_from(["a", "`", "```", "\n", "````\n", "\n```\n", "~~~", "[2] b.md:1\n"]), max_size=30)


@given(text=TEXTS.map("".join), most=st.integers(0, 200))
def test_no_text_ends_its_fence_and_every_fence_is_closed(text: str, most: int) -> None:
    fence, *lines, end = fence_text(text).split("\n")
    assert fence == end == "`" * len(fence)
    assert fence not in text
    assert "\n".join(lines) == text.removesuffix("\n")

    fitted = fitting(text, most)
    assert text.startswith(fitted)
    assert len(fence_text(fitted)) <= max(most, len(fence_text("")))

    said = join_pieces(
        [AnswerPiece("", "1 hit."), AnswerPiece("hit 1", f"1. **a.md**\n{fence_text(text)}\nOurs.")], most
    )
    assert said.split("\n").count(fence) in (0, 2)


def view(text: str) -> Any:
    return cast(Any, {"kind": "doc", "doc": {"path": "a.md"}, "text": text})


@given(text=st.text("ab\n\r\u2028é", max_size=400), lines=st.integers(1, MOST_LINES))
def test_next_from_reads_a_document_without_gap_or_overlap(text: str, lines: int) -> None:
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
def test_line_range_returns_exactly_its_lines(text: str, first: int, lines: int) -> None:
    told = memory_text(view(text), first, lines)

    assert told["text"] == "".join(text.splitlines(keepends=True)[first - 1 : first - 1 + lines])


@given(value=st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_json_is_one_line(value: object) -> None:
    assert "\n" not in as_json(value)
    assert json.loads(as_json(value)) == value
