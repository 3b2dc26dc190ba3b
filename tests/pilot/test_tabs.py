"""Tabs of queries: each keeps its text and its filter."""

from __future__ import annotations

from pathlib import Path

from tests.workbench_corpus import QUESTION
from tests.workbench_driver import Driver, workbench

FILTER = "doc.path GLOB 'docs/*'"


async def two_tabs(bench: Driver) -> None:
    """Ask the question in the first tab, filtered, and tea in the second."""
    await bench.ask()
    await bench.press("escape", "slash")
    await bench.write(FILTER)
    await bench.press("enter", "ctrl+t")
    await bench.until(lambda now: now.results.answer is None and not now.query.busy)
    await bench.type("tea")
    await bench.answered("tea")


async def test_a_tab_keeps_its_text_filter_and_undo(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await two_tabs(bench)
        assert (bench.session.pane, bench.session.query.filter) == ("query", "")
        title = bench.painted("query").splitlines()[0]
        assert "1 token budget" in title
        assert "▶2 tea" in title

        await bench.press("ctrl+pageup")
        await bench.answered(QUESTION)
        assert bench.app.bench.editor.text == QUESTION
        assert bench.session.query.filter == FILTER
        await bench.press("ctrl+z")
        assert bench.app.bench.editor.text == QUESTION
        await bench.press("ctrl+pagedown")
        await bench.answered("tea")
        assert (bench.app.bench.editor.text, bench.session.query.filter) == ("tea", "")

        await bench.press("escape", "colon")
        await bench.write("tab 7")
        await bench.press("enter")
        assert "goes to one of 2" in bench.painted("hint")
        await bench.write("tab 1")
        await bench.press("enter")
        await bench.answered(QUESTION)
        await bench.press("escape", "colon")
        await bench.write("tab close")
        await bench.press("enter")
        await bench.answered("tea")
        assert len(bench.session.query.tabs) == 1
        assert "▶" not in bench.painted("query").splitlines()[0]


async def test_ctrl_u_clears_the_query_and_ctrl_z_restores_it(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask("SELECT *\nFROM chunk")
        await bench.press("escape", "ctrl+u")
        await bench.until(lambda now: now.results.answer is None)
        assert (bench.app.bench.editor.text, bench.session.pane) == ("", "query")

        await bench.press("ctrl+z")

        await bench.answered("SELECT *\nFROM chunk")
