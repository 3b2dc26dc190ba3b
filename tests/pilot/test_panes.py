"""Panes, states, help, palette and the copied command."""

from __future__ import annotations

import io
import json
import os
import shlex
from pathlib import Path

from textual.command import CommandList

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_tui.screens.help import HelpScreen
from tests.workbench_driver import Driver, workbench

NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"


async def test_digits_tab_and_escape_move_between_panes(shared_store: Path) -> None:
    panes = ("query", "results", "explain", "weights", "context")
    async with workbench(shared_store) as bench:
        await bench.type("q2z")
        assert bench.app.bench.editor.text == "q2z"
        assert bench.session.pane == "query"
        assert "EDIT" in bench.painted("footer")

        for key, pane in enumerate(panes, 1):
            await bench.press("escape", str(key))
            assert bench.session.pane == pane
            assert bench.app.bench.pane_of(bench.app.focused) == pane

        await bench.press("1")
        seen = []
        for _ in range(7):
            await bench.press("tab")
            seen.append(bench.session.pane)
        await bench.press("shift+tab")
        assert seen == ["results", "explain", "weights", "context", "judge", "store", "query"]
        assert bench.session.pane == "store"

        await bench.press("1", "escape")
        assert (bench.session.pane, "NAV" in bench.painted("footer")) == ("results", True)
        await bench.press("5", "z", "escape")
        assert (bench.session.zoomed, bench.session.pane) == (False, "context")
        await bench.press("escape")
        assert bench.session.pane == "results"


async def test_zoom_and_focus_survive_a_tiny_screen(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "3", "z")
        zoomed = bench.app.bench.query_one("#explain").size.height
        assert zoomed > 30
        assert not bench.app.bench.query_one("#results").display
        await bench.press("z")
        assert bench.app.bench.query_one("#results").display
        assert bench.app.bench.query_one("#explain").size.height < zoomed

        places = [("1", "editor", (59, 40)), ("4", "slider", (120, 19))]
        if NIGHTLY:
            panes = {"1": "editor", "2": "results", "4": "slider", "6": "judge"}
            places = [(key, pane, small) for key, pane in panes.items() for small in ((59, 40), (120, 19))]
        for key, pane, small in places:
            await bench.press("escape", key)
            before = bench.session.pane
            await bench.pilot.resize_terminal(*small)
            await bench.until(lambda _: not bench.app.bench.query_one("#body").display)
            await bench.pilot.resize_terminal(120, 40)
            await bench.until(lambda _: bench.app.bench.focused is not None)
            focused = bench.app.bench.focused
            assert focused is not None
            assert (focused.id, bench.session.pane) == (pane, before), (key, small)

        await bench.press("escape", "2")
        await bench.pilot.resize_terminal(50, 15)
        await bench.until(lambda _: not bench.app.bench.query_one("#body").display)
        now = bench.session
        await bench.press("a", "j", "5", "plus", "f5")
        await bench.pilot.pause()
        assert bench.session.judge.gradings == now.judge.gradings
        assert bench.session.results.selected == now.results.selected
        assert bench.session.context.budget_tokens == now.context.budget_tokens
        assert bench.session.query.question == now.query.question
        await bench.press("q")
        await bench.pilot.pause()
        assert bench.app.return_code == 0


async def test_a_narrow_screen_shows_explain_or_context_and_the_gauge(shared_store: Path) -> None:
    async with workbench(shared_store, size=(80, 24)) as bench:
        await bench.ask()
        context, explain = (bench.app.bench.query_one(name) for name in ("#context", "#explain"))
        assert (explain.size.height > 0, context.size.height) == (True, 0)

        await bench.press("escape", "5")

        assert (explain.size.height, context.size.height > 0) == (0, True)
        assert "of 2,000 tokens" in bench.painted("status")


async def test_a_tiny_screen_waits_for_room(shared_store: Path) -> None:
    async with workbench(shared_store, size=(59, 24), is_own=True) as bench:
        assert "60×20" in bench.painted("small")
        assert not bench.app.bench.query_one("#body").display

        await bench.pilot.resize_terminal(60, 20)
        await bench.until(lambda _: bench.app.bench.query_one("#body").display)
        await bench.until(lambda _: bench.app.bench.focused is not None)
        await bench.type("token")
        assert bench.app.bench.editor.text == "token"


async def test_help_and_palette_find_actions(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape")
        for key in ("f1", "question_mark"):
            await bench.press(key)
            assert "Select the next result" in bench.painted("keys"), key
            await bench.press("escape")
            assert not isinstance(bench.app.screen, HelpScreen)

        await bench.press("ctrl+p")
        await bench.write("edit file")
        await bench.found("edit file")
        first = bench.app.screen.query_one(CommandList).get_option_at_index(0)
        assert ": edit file: " in str(first.prompt)
        await bench.press("escape", "ctrl+p")
        await bench.write("lower the budget by 100")
        await bench.found("lower the budget by 100")
        await bench.press("enter")
        await bench.until(lambda now: now.context.budget_tokens == 1_900)


def printed(words: list[str]) -> str:
    """Return the stdout of `recall`, with its own streams: Textual has taken those of the process."""
    out = io.StringIO()
    assert cli.main(words, streams=Streams(io.StringIO(), out, io.StringIO())) == 0
    return out.getvalue()


async def copied(bench: Driver) -> list[str]:
    await bench.press("Y")
    return shlex.split(bench.app.clipboard)


async def test_the_copied_command_gives_the_listed_rows(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        for text in ("SELECT * FROM chunk\nUSING lexical('budget') LIMIT 3 OFFSET 1", "it's a -- 'budget'"):
            await bench.press("escape", "1")
            await bench.ask(text)
            await bench.press("escape")
            session = bench.session

            program, *words = await copied(bench)

            assert program == "recall"
            answer = json.loads(printed(["--json", *words]))
            assert session.results.answer is not None
            rows = [(row["chunk"]["id"], row["score"]) for row in answer["results"]]
            assert rows == [(hit.chunk.id, hit.score) for hit in session.results.hits.values() if hit.chunk], text
            assert answer["stats"]["digest"] == session.results.answer.digest

        bench.app.bench.editor.text = "SELECT nonsense"
        await bench.until(lambda now: now.query.trouble)
        await bench.press("escape")
        assert (await copied(bench))[-1] == text  # the rows shown, which are stale
