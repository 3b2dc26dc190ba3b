"""The prompt for a missing document, and names with control characters in every tab."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.geometry import Region
from textual.widget import Widget

from recall_core.api.recall import Recall
from recall_core.types import Root
from recall_tui.handlers.results import miss
from recall_tui.panes.explain import ExplainPane
from recall_tui.screens.target import TargetScreen
from recall_tui.state import explaining
from recall_tui.state.explaining import Paths
from recall_tui.state.records import Analysis
from recall_tui.state.session import VIEWS, result_of, select_row
from tests.workbench_driver import Driver, is_settled, workbench

PATHS = ("docs/notes/budget.md", "docs/my-budget.md", "a/plan.md", "b/plan.md", "b/more-plans.md")
HOSTILE = "evil\x1b[31m\u202e\x07name\u2028.md"


def store_of(folder: Path, *paths: str) -> Path:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"# A title\x1b[2J\u202e of it\n\nThe token budget of {path.split('/')[0]}.\n")
    Recall.init(str(folder), settings=("embedding=hash",))
    with Recall.open(str(folder)) as recall:
        for _ in recall.add([str(folder / path) for path in paths], Root("")):
            pass
        return Path(recall.store.info().path)


@pytest.fixture(scope="module")
def named_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(tmp_path_factory.mktemp("named"), *PATHS)


async def asked(bench: Driver) -> TargetScreen:
    """Ask a question and open the dialog."""
    await bench.ask()
    await bench.press("escape")
    return await opened(bench)


async def opened(bench: Driver) -> TargetScreen:
    await miss(bench.app)
    await bench.until(lambda _: isinstance(bench.app.screen, TargetScreen))
    screen = bench.app.screen
    assert isinstance(screen, TargetScreen)
    return screen


async def test_a_missing_document_is_named_by_ending_or_literally(named_store: Path) -> None:
    async with workbench(named_store) as bench:
        screen = await asked(bench)
        assert screen.query_one("#target").border_title == "Which document is missing?"
        await bench.write("budget.md:1-2")
        assert "literally" in bench.painted("targets")
        await bench.press("enter")
        await bench.until(lambda now: now.results.sought == "budget.md:1-2")

        screen = await opened(bench)
        await bench.write("budget.md")
        await bench.press("enter")
        await bench.until(lambda now: now.results.sought == "docs/notes/budget.md")

        screen = await opened(bench)
        await bench.write("plan.md")
        await bench.press("enter")
        await bench.until(lambda _: "2 paths end with this" in str(screen.query_one("#target").border_subtitle))
        assert bench.app.screen is screen
        assert "b/plan.md" in bench.painted("targets")
        await bench.press("down", "enter")
        await bench.until(lambda now: now.results.sought == "b/plan.md")

        screen = await opened(bench)
        await bench.write("plan.md")
        await bench.until(lambda now: result_of(now, Analysis("paths", "plan.md"), of=Paths))
        screen._typed, screen._is_listed = "budget.md", False  # as between a key and its paths
        screen.on_input_submitted()
        assert bench.app.screen is screen
        assert screen.query_one("#target").border_subtitle == "Looking it up …"
        found = Paths(("docs/my-budget.md", "docs/notes/budget.md"), are_all=True)
        stamp = bench.session.analyses[Analysis("paths", "plan.md")][0]
        analyses = {**bench.session.analyses, Analysis("paths", "budget.md"): (stamp, found)}
        screen.show_session(bench.session._replace(analyses=analyses))
        await bench.until(lambda now: now.results.sought == "docs/notes/budget.md")


async def test_hostile_names_are_neutralised_in_every_tab(
    tmp_path: Path,
) -> None:
    store = store_of(tmp_path, HOSTILE, "other.md", "a\n\x9bb/plan.md")
    async with workbench(store, size=(120, 50)) as bench:
        await bench.ask()
        await bench.press("escape")
        bench.app.become(explaining.seek_target(bench.session, HOSTILE))
        pane = bench.app.bench.query_one(ExplainPane)
        row = next(at for at, hit in bench.session.results.hits.items() if hit.doc.path == HOSTILE)
        bench.app.become(select_row(bench.session, row))
        for view in VIEWS:
            bench.app.become(explaining.turn_to(bench.session, view))
            await bench.until(is_settled)

            assert len(pane.lines) > 1
            assert "Tracing" not in pane.lines[0]
            assert not any(mark in line for line in pane.lines for mark in "\x1b\x07\x9b\n\u2028")
            assert max(map(cell_len, pane.lines)) <= pane.scrollable_content_region.width
            strips = pane.render_lines(Region(0, 0, pane.outer_size.width, pane.outer_size.height))
            assert all(segment.text.isprintable() for strip in strips for segment in strip)
            if view in ("passage", "whynot", "compare"):
                assert shown_in(pane), view
        assert shown_in(bench.app.screen.query_one("#results"))


def shown_in(pane: Widget) -> bool:
    """Return True if the pane shows the hostile name without control characters."""
    strips = pane.render_lines(Region(0, 0, pane.outer_size.width, pane.outer_size.height))
    return any("evil[31mname.md" in segment.text for strip in strips for segment in strip)
