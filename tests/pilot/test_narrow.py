"""Every pane can be drawn in any width."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recall_tui.panes import explain
from recall_tui.panes.results import ResultsPane, heads
from recall_tui.state import explaining, judging, store_pane
from recall_tui.state.session import VIEWS, View, is_seen
from recall_tui.state.transitions import wanted_analyses
from recall_tui.widgets.chrome import FooterLine, HeaderLine, StatusLine
from recall_tui.widgets.lines import LineView
from tests.workbench_driver import Driver, workbench

NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
WIDTHS = range(1, 90) if NIGHTLY else (*range(1, 8), 12, 20, 33, 54, 80)
LINES = (HeaderLine, StatusLine, FooterLine)


def draw_at_every_width(bench: Driver, *, within: str = "") -> int:
    """Return the number of lines drawn. Raise if a pane cannot be drawn. within: draw only this pane."""
    drawn, results = 0, bench.app.bench.query_one(ResultsPane)
    views = [
        view
        for view in bench.app.bench.query(LineView)
        if not within or any(each.id == within for each in (view, *view.ancestors))
    ]
    assert views
    for width in WIDTHS:
        drawn += sum(len(view._build(width)) for view in views)
        drawn += sum(bool(bench.app.bench.query_one(line).draw_line(bench.session, width)) for line in LINES)
        for lines in (1, 2):
            frame = results._frame._replace(width=width, lines=lines)
            drawn += sum(len(results._row(row, frame)) for row in range(3)) + bool(heads(frame))
    return drawn


QUICK: tuple[View, ...] = ("ledger", "whynot")
"""The tabs with the most to draw. The others run nightly."""


@pytest.mark.slow
async def test_narrow_screens_show_every_tab_of_explain(shared_store: Path) -> None:
    async with workbench(shared_store, size=(200, 60)) as bench:
        await bench.ask("keep the manual in mind")
        await bench.press("escape", "j", "M", "j", "4", "right", "p", "3")
        bench.app.become(bench.session._replace(results=bench.session.results._replace(sought="notes/diary.txt")))
        for view in VIEWS if NIGHTLY else QUICK:
            bench.app.become(explaining.turn_to(bench.session, view))
            await bench.until(lambda now: now.context.packed and now.weights.chart and not now.query.busy)
            await bench.until(lambda now: explain._result(now) is not None)

            assert draw_at_every_width(bench) > len(WIDTHS), view


@pytest.mark.slow
async def test_narrow_screens_show_the_board_and_the_store_views(own_store: Path) -> None:
    async with workbench(own_store, size=(200, 60)) as bench:
        await bench.ask()
        await bench.until(lambda now: judging.judged_queries(now) is not None)
        await bench.press("escape", "g", "a", "s", "f", "6")
        await bench.until(lambda now: judging.is_current(now) and not now.judge.gradings)
        assert draw_at_every_width(bench) > len(WIDTHS)
        for _ in store_pane.VIEWS:
            await bench.press("8", "right")
            await bench.until(lambda now: is_seen(now, "store") and not wanted_analyses(now))

            assert draw_at_every_width(bench, within="" if NIGHTLY else "store") > len(WIDTHS)
