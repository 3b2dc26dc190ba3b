"""Around the panes: every theme, the command line, letters, the comparison in the history, help."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.command import CommandPalette
from textual.widgets import Input, OptionList

from recall_core.files import write_private
from recall_tui.home import history
from recall_tui.home.history import KeptRow, PastQuestion
from recall_tui.screens.dialog import JumpScreen
from recall_tui.screens.help import HelpScreen
from recall_tui.screens.line import LineScreen
from recall_tui.themes import NAMES
from tests.examples import mostly_nightly
from tests.snapshot.conftest import Picture, Steps
from tests.workbench_driver import Driver, is_settled

SMALL, LARGE = (pytest.param(size, marks=pytest.mark.slow) for size in ((80, 24), (200, 60)))
SMALL_AND_MIDDLE = pytest.mark.parametrize("size", [SMALL, (120, 40)], ids=["80x24", "120x40"])
RQL = "SELECT doc.path, score FROM chunk\nUSING lexical('budget'), semantic('budget')\nFILTER doc.path GLOB 'docs/**'"


async def second_result(bench: Driver) -> None:
    await bench.ask()
    await bench.press("escape", "j")
    await bench.until(is_settled)  # lay out the screen below the dialog first


async def line(bench: Driver) -> None:
    await second_result(bench)
    await bench.press("colon")
    await bench.until(lambda _: isinstance(bench.app.screen, LineScreen))
    bench.app.screen.query_one(Input).cursor_blink = False
    await bench.type("search 'token budget' --k 3 --filter 'doc.tag = 3'")
    await bench.press("enter")
    await bench.until(lambda _: bench.app.output.ran)
    await bench.type("search tea --e")
    await bench.press("tab")


@pytest.mark.parametrize("theme", mostly_nightly(NAMES, "light", "no-colour"))
def test_the_main_state_in_every_theme(home: Path, store: Path, picture: Picture, theme: str) -> None:
    write_private(home / "state" / "recall" / "workbench.json", f'{{"theme": "{theme}"}}')

    assert picture(second_result, (120, 40))


@pytest.mark.parametrize("theme", ["light", "high-contrast"])
@pytest.mark.slow
def test_a_query_in_the_colours_of_a_theme(home: Path, store: Path, picture: Picture, theme: str) -> None:
    write_private(home / "state" / "recall" / "workbench.json", f'{{"theme": "{theme}"}}')

    async def steps(bench: Driver) -> None:
        await bench.ask(RQL)

    assert picture(steps, (120, 40))


def test_themes_to_choose_from(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await second_result(bench)
        await bench.press("f9", "down")
        await bench.until(lambda _: bench.app.theme == "light")

    assert picture(steps, (80, 24))


@pytest.mark.parametrize("size", [SMALL, (120, 40), LARGE], ids=["80x24", "120x40", "200x60"])
def test_a_command_line(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(line, size)


@pytest.mark.slow
def test_a_command_line_without_colour(store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    assert picture(line, (80, 24))


@SMALL_AND_MIDDLE
def test_letters_to_jump_by(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    async def steps(bench: Driver) -> None:
        await second_result(bench)
        await bench.press("ctrl+o")
        await bench.until(lambda _: isinstance(bench.app.screen, JumpScreen))

    assert picture(steps, size)


def test_the_changes_between_two_answers(home: Path, store: Path, picture: Picture) -> None:
    path = home / "state" / "recall" / "history.jsonl"
    rows = [KeptRow(name, f"docs/{name}.md:1-9") for name in ("budget", "scoring", "files", "packing")]
    history.append(path, PastQuestion("token budget", digest="3f2a91c0ffee", top=tuple(rows[:3])))
    swapped = (rows[1], rows[0], rows[3])
    history.append(
        path, PastQuestion("token budget", "doc.tag = 'docs'", ("vector_weight=0.7",), "3f2a91c0ffee", swapped)
    )

    async def steps(bench: Driver) -> None:
        await bench.until(lambda now: now.store.info)
        await bench.press("ctrl+r", "down", "tab", "up", "f6")
        await bench.until(lambda _: bench.app.screen.query("#moves"))

    assert picture(steps, (80, 24))


@pytest.mark.slow
def test_a_marked_question_of_the_history(home: Path, store: Path, picture: Picture) -> None:
    path = home / "state" / "recall" / "history.jsonl"
    history.append(path, PastQuestion("token budget"))
    history.append(path, PastQuestion("token budget", "doc.tag = 'docs'", ("vector_weight=0.7",)))

    async def steps(bench: Driver) -> None:
        await bench.until(lambda now: now.store.info)
        await bench.press("ctrl+r", "down", "tab", "up")
        bench.app.screen.query_one(Input).cursor_blink = False

    assert picture(steps, (80, 24))


@pytest.mark.slow
def test_a_filter_in_the_title(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await second_result(bench)
        await bench.press("slash")
        await bench.type("doc.path GLOB 'docs/*'")
        await bench.press("enter")
        await bench.until(lambda now: not now.query.busy and now.results.answer and now.results.answer.plan.filters)

    assert picture(steps, (80, 24))


@pytest.mark.slow
def test_keys_of_a_pane_come_first(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await second_result(bench)
        await bench.press("4", "f1")
        await bench.pilot.pause()
        bench.app.screen.query_one(Input).cursor_blink = False

    assert picture(steps, (120, 40))


async def palette(bench: Driver) -> None:
    await second_result(bench)
    await bench.press("ctrl+p")
    await bench.until(lambda _: isinstance(bench.app.screen, CommandPalette))
    bench.app.screen.query_one(Input).cursor_blink = False
    await bench.type("budget")
    await bench.until(lambda _: bench.app.screen.query_one(OptionList).option_count > 3)


async def keys(bench: Driver) -> None:
    await second_result(bench)
    await bench.press("f1")
    await bench.until(lambda _: isinstance(bench.app.screen, HelpScreen))
    bench.app.screen.query_one(Input).cursor_blink = False
    await bench.type("weight")


async def letters(bench: Driver) -> None:
    await second_result(bench)
    await bench.press("ctrl+o")
    await bench.until(lambda _: isinstance(bench.app.screen, JumpScreen))


async def wrong_answer(bench: Driver) -> None:
    """Enter an invalid budget, and show why."""
    await second_result(bench)
    await bench.press("b")
    bench.app.screen.query_one(Input).cursor_blink = False
    await bench.press(*"many", "enter")


@SMALL_AND_MIDDLE
def test_the_palette(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(palette, size)


@SMALL_AND_MIDDLE
@pytest.mark.slow
def test_keys_that_match_a_word(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(keys, size)


def test_an_invalid_answer(store: Path, picture: Picture) -> None:
    assert picture(wrong_answer, (80, 24))


@pytest.mark.slow
def test_an_empty_command_line(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await second_result(bench)
        await bench.press("colon")
        await bench.until(lambda _: isinstance(bench.app.screen, LineScreen))
        bench.app.screen.query_one(Input).cursor_blink = False

    assert picture(steps, (80, 24))


SHELL = pytest.mark.parametrize(
    "steps", [palette, keys, letters, wrong_answer], ids=["palette", "help", "jump", "prompt"]
)


@SHELL
@pytest.mark.slow
def test_the_shell_without_colour(
    store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch, steps: Steps
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    assert picture(steps, (80, 24))


@SHELL
@pytest.mark.slow
def test_the_shell_in_the_light_theme(light: None, store: Path, picture: Picture, steps: Steps) -> None:
    assert picture(steps, (80, 24))


@pytest.mark.parametrize(
    "steps",
    [*(pytest.param(each, marks=pytest.mark.slow) for each in (palette, keys, wrong_answer, line)), letters],
    ids=["palette", "help", "prompt", "line", "jump"],
)
def test_the_shell_in_a_locale_without_unicode(
    store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch, steps: Steps
) -> None:
    monkeypatch.setenv("LC_ALL", "C")

    assert picture(steps, (80, 24))
