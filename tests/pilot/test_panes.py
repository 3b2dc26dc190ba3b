"""Panes, states, help, palette and the copied command."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from textual.command import CommandList

from recall_tui.screens.help import HelpScreen
from tests.workbench_driver import Driver, workbench


@pytest.mark.parametrize(
    ("key", "pane"), [("1", "query"), ("2", "results"), ("3", "explain"), ("4", "weights"), ("5", "context")]
)
async def test_digits_go_to_panes(shared_store: Path, key: str, pane: str) -> None:
    async with workbench(shared_store) as bench:
        await bench.press("escape", key)

        assert bench.session.pane == pane
        assert bench.app.bench.pane_of(bench.app.focused) == pane


async def test_digits_and_letters_are_typed_while_a_field_is_edited(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.type("q2z")

        assert bench.app.bench.editor.text == "q2z"
        assert bench.session.pane == "query"
        assert "EDIT" in bench.painted("footer")


async def test_tab_goes_round_the_panes_and_back(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        seen = []
        for _ in range(7):
            await bench.press("tab")
            seen.append(bench.session.pane)
        await bench.press("shift+tab")

        assert seen == ["results", "explain", "weights", "context", "judge", "store", "query"]
        assert bench.session.pane == "store"


async def test_escape_is_one_step_out(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.press("escape")
        assert (bench.session.pane, "NAV" in bench.painted("footer")) == ("results", True)
        await bench.press("5", "z", "escape")
        assert (bench.session.zoomed, bench.session.pane) == (False, "context")

        await bench.press("escape")

        assert bench.session.pane == "results"


async def test_zoom_gives_the_pane_the_screen_and_takes_it_back(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "3", "z")
        zoomed = bench.app.bench.query_one("#explain").size.height

        assert zoomed > 30
        assert not bench.app.bench.query_one("#results").display
        await bench.press("z")

        assert bench.app.bench.query_one("#results").display
        assert bench.app.bench.query_one("#explain").size.height < zoomed


async def test_a_narrow_screen_shows_explain_or_context_and_the_gauge(shared_store: Path) -> None:
    async with workbench(shared_store, size=(80, 24)) as bench:
        await bench.ask()
        context, explain = (bench.app.bench.query_one(name) for name in ("#context", "#explain"))
        assert (explain.size.height > 0, context.size.height) == (True, 0)

        await bench.press("escape", "5")

        assert (explain.size.height, context.size.height > 0) == (0, True)
        assert "of 2,000 tokens" in bench.painted("status")


async def test_a_screen_that_is_too_small_says_so_in_one_line(shared_store: Path) -> None:
    async with workbench(shared_store, size=(59, 24)) as bench:
        assert "60×20" in bench.painted("small")
        assert not bench.app.bench.query_one("#body").display

        await bench.pilot.resize_terminal(60, 20)

        await bench.until(lambda _: bench.app.bench.query_one("#body").display)


@pytest.mark.parametrize(("key", "pane"), [("1", "editor"), ("2", "results"), ("4", "slider"), ("6", "judge")])
@pytest.mark.parametrize("small", [(59, 40), (120, 19)])
async def test_the_pane_in_front_has_the_focus_again_after_the_screen_was_too_small(
    shared_store: Path, key: str, pane: str, small: tuple[int, int]
) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", key)
        before = bench.session.pane

        await bench.pilot.resize_terminal(*small)
        await bench.until(lambda _: not bench.app.bench.query_one("#body").display)
        await bench.pilot.resize_terminal(120, 40)
        await bench.until(lambda _: bench.app.bench.focused is not None)

        focused = bench.app.bench.focused
        assert focused is not None
        assert (focused.id, bench.session.pane) == (pane, before)


async def test_a_screen_that_begins_too_small_has_the_cursor_in_the_query_once_there_is_room(
    shared_store: Path,
) -> None:
    async with workbench(shared_store, size=(59, 24)) as bench:
        await bench.pilot.resize_terminal(80, 24)
        await bench.until(lambda _: bench.app.bench.focused is not None)
        await bench.type("token")

        assert bench.app.bench.editor.text == "token"


async def test_on_a_screen_that_is_too_small_keys_do_nothing_unseen_and_q_quits(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await bench.ask()
        await bench.press("escape")
        await bench.pilot.resize_terminal(50, 15)
        await bench.until(lambda _: not bench.app.bench.query_one("#body").display)
        before = bench.session

        await bench.press("a", "j", "5", "plus", "f5")
        await bench.pilot.pause()

        assert (bench.session.judge.gradings, bench.session.results.selected) == (
            before.judge.gradings,
            before.results.selected,
        )
        assert bench.session.context.budget_tokens == before.context.budget_tokens
        assert bench.session.query.question == before.query.question
        await bench.press("q")
        await bench.pilot.pause()
        assert bench.app.return_code == 0


@pytest.mark.parametrize("key", ["f1", "question_mark"])
async def test_help_lists_every_key_and_escape_closes_it(shared_store: Path, key: str) -> None:
    async with workbench(shared_store) as bench:
        await bench.press("escape", key)
        shown = bench.painted("keys")

        assert "Select the next result" in shown
        await bench.press("escape")

        assert not isinstance(bench.app.screen, HelpScreen)


async def test_the_palette_finds_an_action_by_its_words_and_runs_it(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "ctrl+p")
        await bench.type("tokens down")
        await bench.found("tokens down")

        await bench.press("enter")
        await bench.until(lambda now: now.context.budget_tokens == 1_900)


async def test_the_palette_finds_an_action_by_what_the_footer_calls_it(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "ctrl+p")
        await bench.type("edit file")
        await bench.found("edit file")

        first = bench.app.screen.query_one(CommandList).get_option_at_index(0)

        assert ": edit file: " in str(first.prompt)


async def _copied(bench: Driver) -> list[str]:
    await bench.press("Y")
    return shlex.split(bench.app.clipboard)


def _answer_of(typed: list[str]) -> dict[str, object]:
    assert typed[0] == "recall"
    ran = subprocess.run(
        [sys.executable, "-m", "recall_core", "--json", *typed[1:]], capture_output=True, text=True, check=True
    )
    answer: dict[str, object] = json.loads(ran.stdout)
    return answer


@pytest.mark.parametrize(
    "text", ["it's a -- 'budget'", "SELECT * FROM chunk\nUSING lexical('budget') LIMIT 3 OFFSET 1"]
)
async def test_the_copied_command_gives_the_rows_of_the_list(shared_store: Path, text: str) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask(text)
        await bench.press("escape")
        session = bench.session

        answer = _answer_of(await _copied(bench))

        assert session.results.answer is not None
        results = answer["results"]
        assert isinstance(results, list)
        rows = [(row["chunk"]["id"], row["score"]) for row in results]
        assert rows == [(hit.chunk.id, hit.score) for hit in session.results.hits.values() if hit.chunk]
        assert answer["stats"]["digest"] == session.results.answer.digest  # type: ignore[index]


async def test_the_copied_command_is_of_the_rows_shown_while_they_are_stale(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask("token budget")
        bench.app.bench.editor.text = "SELECT nonsense"
        await bench.until(lambda now: now.query.trouble)
        await bench.press("escape")

        assert (await _copied(bench))[-1] == "token budget"
