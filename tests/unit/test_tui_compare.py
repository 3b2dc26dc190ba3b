"""The compare tab: the two rows, the leader, and the parts of their points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from rich.cells import cell_len

from recall_core.types import Hit, Part
from recall_tui.panes.explain import compare_lines
from recall_tui.panes.ledger import ledger_lines
from recall_tui.state.explaining import Ledger
from recall_tui.widgets.draw import ASCII, UNICODE, Glyphs
from tests.builders import fish_store

if TYPE_CHECKING:
    from recall_core.contract.ledger import ExplanationView

PATH = "/home/somebody/.versions/3.11.7/lib/python3.11/xml/etree/ElementTree.py"
LEAVES = [("token", ""), ("token", "\n"), ("token", "fox"), ("residual", "")]


def difference(kind: str, text: str) -> dict[str, Any]:
    return {"signal": "semantic", "kind": kind, "text": text, "points": 0.5, "other_points": 0.25, "delta": 0.25}


def subtotal(signal: str, points: float, other: float) -> dict[str, Any]:
    return {"signal": signal, "points": points, "other_points": other, "delta": points - other}


def drawn(width: int, glyphs: Glyphs = UNICODE, *, winner: str = "a", **more: Any) -> list[str]:
    first = {"id": "a" * 64, "rank": 50827, "score": 2.5, "path": PATH, "line_start": 1012, "line_end": 1044}
    versus = {"winner": winner * 64, "margin": 1.0, "decided_by": "score", **more}
    versus["subtotals"] = [subtotal("lexical", 0.25, 0.5), subtotal("semantic", 2.25, 1.0)]
    versus["differences"] = [difference(kind, text) for kind, text in LEAVES]
    view = {"chunk": first, "other": {**first, "id": "b" * 64, "rank": 4, "score": 1.5}, "versus": versus}
    return [line.plain for line in compare_lines(cast("ExplanationView", view), width, glyphs)]


def test_one_line_names_both_rows_and_keeps_file_names() -> None:
    for glyphs in [UNICODE, ASCII]:
        for width in [78, 118]:
            head = drawn(width, glyphs)[0]

            this, other = head.split(" against ")
            assert this.startswith("#50,827 "), (glyphs, width)
            assert other.startswith("#4 "), (glyphs, width)
            assert "Tree.py:1012" in this, (glyphs, width)
            assert "Tree.py:1012" in other, (glyphs, width)
            assert cell_len(head) <= width, (glyphs, width)


def test_the_verdict_names_the_leader_and_each_lead() -> None:
    for winner, expected in [
        ("a", "#50,827 leads by 1.000: lexical -0.250, semantic +1.250"),
        ("b", "#4 leads by 1.000: lexical +0.250"),
    ]:
        assert drawn(118, winner=winner)[1].startswith(expected), winner


def test_the_verdict_says_where_the_rows_swap() -> None:
    for flips_at, expected in [
        (None, "The other never overtakes it at any weight."),
        (0.25, "They change places at lexical 0.750."),
    ]:
        assert drawn(118, flips_at=flips_at)[1].endswith(expected), flips_at
        assert expected not in " ".join(drawn(118)), flips_at


def test_subtotals_come_before_leaves() -> None:
    names = [line.split()[0] for line in drawn(78)[2:]]

    assert names == ["signal", "lexical", "semantic", "total", "largest", *["sem"] * 4]


def test_an_invisible_text_is_quoted_as_in_the_ledger() -> None:
    (row,) = fish_store().fetch([1])
    leaves = [{"kind": kind, "text": text, "points": 0.125} for kind, text in LEAVES]
    parts = [{"signal": "semantic", "leaves": leaves}]
    view = cast("ExplanationView", {"chunk": {"explain": {"parts": parts}, "of": 1}})
    hit = Hit(1, 0.5, row.doc, row.chunk, (Part("semantic", 0.5, 0.5, 1.0, 1, 0.5),))

    lines = [line.plain for line in ledger_lines(hit, Ledger(view), None, 80, UNICODE)]
    there = [line.split()[0] for line in lines if " token " in line]
    here = [line.split()[2] for line in drawn(80) if line.startswith("sem token")]

    assert here == there == ["''", r"'\n'", "fox"]


def test_other_leaves_have_no_quotes() -> None:
    assert [line.split()[:3] for line in drawn(80) if "residual" in line] == [["sem", "residual", "0.500"]]


def test_the_total_ends_in_its_mark_and_lines_fit() -> None:
    for glyphs in [UNICODE, ASCII]:
        for width in [44, 58, 78, 118]:
            lines = drawn(width, glyphs)

            (total,) = (line for line in lines if line.startswith("total"))
            assert total.endswith(f" {glyphs.yes}"), (glyphs, width)
            assert max(map(cell_len, lines)) <= width, (glyphs, width)


def test_signals_that_do_not_add_up_are_marked() -> None:
    lines = drawn(78)
    assert any(line.startswith("total") and line.endswith(UNICODE.yes) for line in lines)

    versus = {"winner": "a", "margin": 0.5, "decided_by": "score", "subtotals": [], "differences": []}
    first = {"id": "a", "rank": 1, "score": 0.5, "path": "a", "line_start": 1, "line_end": 1}
    view = cast("ExplanationView", {"chunk": first, "other": {**first, "id": "b", "score": 0.0}, "versus": versus})
    lines = [line.plain for line in compare_lines(view, 78, UNICODE)]
    assert any(line.startswith("total") and line.endswith(UNICODE.no) for line in lines)
