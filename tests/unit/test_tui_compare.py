"""The lines of the compare tab: where both rows stand, and what their points are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.cells import cell_len

from recall_core.types import Hit, Part
from recall_tui.panes.explain.ledger import compare_lines, ledger_lines
from recall_tui.widgets.draw import ASCII, UNICODE, Glyphs
from tests.builders import fish_store

if TYPE_CHECKING:
    from recall_core.contract.ledger import ExplanationView

PATH = "/home/somebody/.versions/3.11.7/lib/python3.11/xml/etree/ElementTree.py"
LEAVES = [("token", ""), ("token", "\n"), ("token", "fox"), ("residual", "")]


def difference(kind: str, text: str) -> dict[str, Any]:
    return {"signal": "semantic", "kind": kind, "text": text, "points": 0.5, "other_points": 0.25, "delta": 0.25}


def drawn(width: int, glyphs: Glyphs = UNICODE) -> list[str]:
    first = {"id": "a" * 64, "rank": 50827, "score": 0.5, "path": PATH, "line_start": 1012, "line_end": 1044}
    versus = {"winner": "a" * 64, "margin": 0.25, "decided_by": "score"}
    versus["differences"] = [difference(kind, text) for kind, text in LEAVES]
    view = {"chunk": first, "other": {**first, "id": "b" * 64, "rank": 4}, "versus": versus}
    return [line.plain for line in compare_lines(cast("ExplanationView", view), width, glyphs)]


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
@pytest.mark.parametrize("width", [58, 78, 118])
def test_a_long_path_keeps_its_name_and_its_lines(width: int, glyphs: Glyphs) -> None:
    this, marked, *_ = drawn(width, glyphs)

    for head, score in ((this, "0.500"), (marked, "0.500")):
        assert head.endswith(score)
        assert "ElementTree.py:1012-1044 " in head
        assert cell_len(head) == width


def test_the_ranks_of_both_have_their_thousands_apart() -> None:
    this, marked, *_ = drawn(118)

    assert this.split()[:2] == ["this", "#50,827"]
    assert marked.split()[:2] == ["other", "#4"]


def test_a_text_of_nothing_that_is_seen_is_spelt_as_in_the_ledger() -> None:
    (row,) = fish_store().fetch([1])
    leaves = [{"kind": kind, "text": text, "points": 0.125} for kind, text in LEAVES]
    parts = [{"signal": "semantic", "leaves": leaves}]
    view = cast("ExplanationView", {"chunk": {"explain": {"parts": parts}}})
    hit = Hit(1, 0.5, row.doc, row.chunk, (Part("semantic", 0.5, 0.5, 1.0, 1, 0.5),))

    there = [line.plain.split()[0] for line in ledger_lines(hit, view, None, 80, UNICODE) if " token " in line.plain]
    here = [line.split()[2] for line in drawn(80) if line.startswith("sem token")]

    assert here == there == ["''", r"'\n'", "fox"]


def test_what_is_no_text_has_no_quotes() -> None:
    assert [line.split()[:3] for line in drawn(80) if "residual" in line] == [["sem", "residual", "0.500"]]


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
@pytest.mark.parametrize("width", [58, 78, 118])
def test_the_sum_ends_in_its_whole_mark_and_no_line_is_too_wide(width: int, glyphs: Glyphs) -> None:
    lines = drawn(width, glyphs)

    assert lines[-1].endswith(f" {glyphs.no}")
    assert max(map(cell_len, lines)) <= width
