"""The lines of the ledger tab."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from recall_core.types import Hit, Part
from recall_tui.panes.explain.ledger import ledger_lines
from recall_tui.widgets.draw import UNICODE
from tests.builders import fish_store

if TYPE_CHECKING:
    from recall_core.contract.ledger import ExplanationView


@pytest.mark.parametrize("rank", [3, 109, 1_000, 100_000])
def test_a_neighbour_stands_apart_from_its_rank(rank: int) -> None:
    (row,) = fish_store().fetch([1])
    hit = Hit(rank + 1, 0.5, row.doc, row.chunk, (Part("semantic", 0.5, 0.5, 1.0, rank + 1, 0.5),))
    neighbour = {"side": "above", "rank": rank, "path": "docs/a.md", "margin": 0.25, "decided_by": "score"}
    view = cast("ExplanationView", {"chunk": {"neighbours": [neighbour]}})

    drawn = [line.plain for line in ledger_lines(hit, view, None, 60, UNICODE)]

    (told,) = (line for line in drawn if line.startswith("above"))
    assert told.split()[:2] == ["above", f"#{rank:,}"]
    assert "docs/a.md" in told.split()[2]


def test_the_rank_and_those_by_each_signal_have_their_thousands_apart() -> None:
    (row,) = fish_store().fetch([1])
    parts = (Part("lexical", None, 0.0, 0.5, None, 0.0), Part("semantic", 0.5, 0.5, 0.5, 29_123, 0.5))
    hit = Hit(50_827, 0.5, row.doc, row.chunk, parts)

    drawn = [line.plain for line in ledger_lines(hit, None, None, 60, UNICODE)]

    (told,) = (line for line in drawn if line.startswith("rank"))
    assert told.split() == ["rank", "50,827", "lexical", "none", "·", "semantic", "29,123"]
