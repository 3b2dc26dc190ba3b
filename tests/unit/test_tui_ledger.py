"""The lines of the ledger tab."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.cells import cell_len

from recall_core.types import Hit, Part, Row
from recall_tui.panes.ledger import ledger_lines
from recall_tui.state.explaining import Ledger
from recall_tui.widgets.draw import ASCII, UNICODE, Glyphs
from tests.builders import fish_store

if TYPE_CHECKING:
    from recall_core.contract.ledger import ExplanationView


@cache
def first_fish() -> Row:
    return fish_store().fetch([1])[0]


def test_a_neighbour_is_separated_from_its_rank() -> None:
    for rank in [3, 109, 1_000, 100_000]:
        row = first_fish()
        hit = Hit(rank + 1, 0.5, row.doc, row.chunk, (Part("semantic", 0.5, 0.5, 1.0, rank + 1, 0.5),))
        neighbour = {"side": "above", "rank": rank, "path": "docs/a.md", "margin": 0.25, "decided_by": "score"}
        view = cast("ExplanationView", {"chunk": {"neighbours": [neighbour], "of": 200_000}})

        drawn = [line.plain for line in ledger_lines(hit, Ledger(view), None, 60, UNICODE)]

        (text,) = (line for line in drawn if line.startswith("above"))
        assert text.split()[:2] == ["above", f"#{rank:,}"], rank
        assert "docs/a.md" in text.split()[2], rank


def test_ranks_have_thousands_separators() -> None:
    row = first_fish()
    parts = (Part("lexical", None, 0.0, 0.5, None, 0.0), Part("semantic", 0.5, 0.5, 0.5, 29_123, 0.5))
    hit = Hit(50_827, 0.5, row.doc, row.chunk, parts)

    drawn = [line.plain for line in ledger_lines(hit, None, None, 60, UNICODE)]

    (text,) = (line for line in drawn if line.startswith("ranks"))
    assert text.split() == ["ranks", "lexical", "none", "·", "semantic", "29,123"]
    assert drawn[0].startswith("Row 50,827: ")


def leaf(text: str, df: int, points: float) -> dict[str, Any]:
    columns = {"title": 1.0, "body": 2.0}
    about = {"idf": 3.9, "tf": columns, "length": columns, "average_length": columns, "floored": df > 1_000}
    return {"kind": "term", "text": text, "df": df, "points": points, "contribution": points, **about}


def word(text: str, points: float) -> dict[str, Any]:
    return {"kind": "feature", "text": text, "points": points, "contribution": points}


def whole(width: int, glyphs: Glyphs = UNICODE, *, most: int | None = 3, residual: float = 0.0) -> list[str]:
    """Return a ledger with everything it can show."""
    row = first_fish()
    parts = (Part("lexical", 1234.5678, 0.777, 1000.0, 3, 0.544), Part("semantic", -0.0004, 0.997, 0.3, 1, 0.299))
    lexical = [leaf("budget", 88, 0.301), leaf("a phrase that is longer than its column is", 240_000, 0.243)]
    semantic = [word("tokens", 0.11), word("", 0.1), word("limit", -0.05), *[word(f"w{n}", 0.007) for n in range(20)]]
    neighbours = [
        {"side": "above", "rank": 1, "path": "docs/a.md", "margin": 0.25, "decided_by": "score", "flips_at": 0.61},
        {"side": "below", "rank": 3, "path": "docs/b.md", "margin": 0.25, "decided_by": "score", "flips_at": None},
    ]
    chunk = {
        "of": 9,
        "neighbours": neighbours,
        "residual": residual,
        "explain": {"parts": [{"signal": "lexical", "leaves": lexical}, {"signal": "semantic", "leaves": semantic}]},
    }
    share = {"low": 0.25, "high": 0.5, "low_open": False, "high_open": False}
    stability = {"k": 10, "weight": 0.3, "order": share, "members": share, "order_distance": 0.01, "fragile": True}
    view = cast("ExplanationView", {"chunk": chunk, "stability": stability})
    hit = Hit(2, 0.843, row.doc, row.chunk, parts)
    return [line.plain for line in ledger_lines(hit, Ledger(view), 14.688, width, glyphs, most=most)]


def test_columns_never_touch_and_every_line_fits() -> None:
    for glyphs in [UNICODE, ASCII]:
        for width in range(44, 201):
            lines = whole(width, glyphs)

            assert max(map(cell_len, lines)) <= width, (glyphs, width)
            (signal,) = (line for line in lines if line.startswith("lexical"))
            assert "0.777  1000.00   0.544" in signal, (glyphs, width)
            for line in lines[lines.index(next(line for line in lines if line.startswith("signal"))) :]:
                if line.startswith(("  budget", "  a phrase")):
                    assert line.rstrip().endswith(("  0.301", "  0.243")), (glyphs, width)
                if line.startswith("total"):
                    break


def test_a_narrow_ledger_drops_raw_values_first() -> None:
    for width, heads in [
        (120, ["signal", "raw", "normalized", "weight", "points", "share"]),
        (56, ["signal", "normalized", "weight", "points", "share"]),
        (44, ["signal", "normalized", "weight", "points"]),
        (34, ["signal", "weight", "points"]),
    ]:
        assert next(line.split() for line in whole(width) if line.startswith("signal")) == heads, width


def test_a_ledger_shows_possible_changes_and_stability() -> None:
    text = " ".join(" ".join(whole(118)).split())

    assert "overtakes #1 where lexical < 0.390 · stays above #3 at any weight" in text
    assert "✗ unstable: first 10 rows keep their order for lexical weight 0.50 to 0.75" in text
    assert "maximum possible BM25 here: 14.688" in text
    assert "above #1 docs/a.md, leads by 0.250" in text


def test_words_share_a_line_until_all_are_shown() -> None:
    (line,) = (line for line in whole(118) if line.startswith("  tokens"))
    shown = [float(points) for points in re.findall(r"[a-z]\w* (-?[.\d]+)(?: ·|$)", line)]
    rest = re.search(r"(\d+) more +(-?[.\d]+)$", line)

    assert line.startswith("  tokens 0.110 · limit -0.050 · w0 0.007")
    assert rest is not None
    assert int(rest[1]) == 23 - len(shown)
    assert float(rest[2]) == pytest.approx(0.11 + 0.1 - 0.05 + 20 * 0.007 - sum(shown), abs=0.001)
    assert sum("feature" in each for each in whole(118, most=None)) == 23


def test_the_total_says_if_parts_sum_to_the_score() -> None:
    (total,) = (line for line in whole(118) if line.startswith("total"))
    assert re.fullmatch(r"total +✓ parts sum to score +0\.843", total)

    missed = " ".join(whole(118, residual=0.001))
    assert "✗ the lines above differ from the score by 1e-03" in missed
    assert "parts sum to score" not in missed
