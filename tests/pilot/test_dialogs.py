"""Two keys that arrive in one read: the first one closes a dialog, the second one does no harm."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from textual.command import CommandList, CommandPalette
from textual.events import Key
from textual.screen import Screen

from recall_tui.handlers import shell
from recall_tui.home import history
from recall_tui.home.history import PastQuestion
from recall_tui.screens.dialog import ConfirmScreen, JumpScreen, PromptScreen, ThemeScreen
from recall_tui.screens.help import HelpScreen
from recall_tui.screens.history import HistoryScreen, MovedScreen
from recall_tui.screens.line import LineScreen
from recall_tui.screens.target import TargetScreen
from recall_tui.screens.welcome import WelcomeScreen
from recall_tui.widgets.draw import UNICODE
from recall_tui.widgets.lines import PointedList
from tests.workbench_driver import Driver, workbench

ENTER, ESCAPE = Key("enter", "\r"), Key("escape", "\x1b")


class Dialog(NamedTuple):
    """A screen over the panes, and the keys that open it from the results."""

    screen: type[Screen[object]]
    keys: tuple[str, ...]
    closes: bool = True
    """False if Enter leaves it open."""


DIALOGS = {
    "confirm": Dialog(ConfirmScreen, ("4", "right", "S"), closes=False),
    "help": Dialog(HelpScreen, ("f1",), closes=False),
    "history": Dialog(HistoryScreen, ("ctrl+r",)),
    "jump": Dialog(JumpScreen, ("ctrl+o",)),
    "line": Dialog(LineScreen, ("colon",), closes=False),
    "moved": Dialog(MovedScreen, ("ctrl+r", "tab", "down", "f6"), closes=False),
    "palette": Dialog(CommandPalette, ("ctrl+p",)),
    "prompt": Dialog(PromptScreen, ("slash",)),
    "target": Dialog(TargetScreen, ("m",), closes=False),
    "theme": Dialog(ThemeScreen, ("f9",)),
}


QUICK = {name: DIALOGS[name] for name in ("history", "prompt", "theme")}
"""A list that is searched, a field, and a choice with a preview. The palette has its own test."""


def is_filled(screen: Screen[object]) -> bool:
    """Return True if the dialog has something for Enter to take."""
    if isinstance(screen, CommandPalette):
        return screen.query_one(CommandList).highlighted is not None
    return all(view.highlighted is not None for view in screen.query(PointedList))


async def opened(bench: Driver, dialog: Dialog) -> None:
    if bench.session.results.answer is None:
        await bench.ask()
    shell.focus_pane(bench.app, "results")
    await bench.pilot.pause()
    await bench.press(*dialog.keys)
    await bench.until(lambda _: isinstance(bench.app.screen, dialog.screen) and is_filled(bench.app.screen))


async def at_once(bench: Driver, *keys: Key) -> None:
    """Post all keys before the first of them is handled."""
    for key in keys:
        bench.app.post_message(Key(key.key, key.character))
    await bench.pilot.pause()


async def closed(bench: Driver) -> None:
    """Close every dialog and wait for the rows."""
    while bench.app.screen is not bench.app.bench:
        await bench.press("escape")
    await bench.until(lambda now: not now.query.busy)


@pytest.fixture
def kept_questions(state_home: Path) -> None:
    for text in ("tea", "household"):
        history.append(state_home / "recall" / "history.jsonl", PastQuestion(text))


@pytest.mark.usefixtures("kept_questions")
async def test_a_second_enter_does_no_harm(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        for name, dialog in QUICK.items():
            await opened(bench, dialog)

            await at_once(bench, ENTER, ENTER)
            await bench.until(
                lambda _, dialog=dialog: isinstance(bench.app.screen, dialog.screen) is not dialog.closes
            )

            assert bench.app._exception is None, name
            assert bench.app.is_running, name
            await closed(bench)


@pytest.mark.usefixtures("kept_questions")
async def test_a_second_escape_does_no_harm(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        for name, dialog in QUICK.items():
            await opened(bench, dialog)

            await at_once(bench, ESCAPE, ESCAPE)

            assert bench.app._exception is None, name
            assert bench.app.is_running, name
            assert not isinstance(bench.app.screen, dialog.screen), name
            await closed(bench)


@pytest.mark.slow
@pytest.mark.usefixtures("kept_questions")
@pytest.mark.parametrize("name", DIALOGS)
async def test_a_second_key_does_no_harm_after_start(shared_store: Path, name: str) -> None:
    for key in (ENTER, ESCAPE):
        async with workbench(shared_store, is_own=True) as bench:
            await opened(bench, DIALOGS[name])

            await at_once(bench, key, key)
            closes = key is ESCAPE or DIALOGS[name].closes
            await bench.until(
                lambda _, closes=closes: isinstance(bench.app.screen, DIALOGS[name].screen) is not closes
            )

            assert bench.app._exception is None
            assert bench.app.is_running


async def test_a_long_question_takes_one_line_in_the_history(shared_store: Path, state_home: Path) -> None:
    for text in ("tea", "quokka\n" * 800, "household"):
        history.append(state_home / "recall" / "history.jsonl", PastQuestion(text))
    async with workbench(shared_store) as bench:
        for width in (80, 120):
            await bench.pilot.resize_terminal(width, 40)
            await bench.press("ctrl+r")
            await bench.until(lambda _: isinstance(bench.app.screen, HistoryScreen) and is_filled(bench.app.screen))

            def shown() -> list[str]:
                view = bench.app.screen.query_one(PointedList)
                return ["".join(part.text for part in view.render_line(row)).rstrip() for row in range(3)]

            await bench.until(lambda _, shown=shown: "tea" in shown()[2])
            first, long, last = shown()
            assert first.split()[-1] == "household"
            assert long.endswith(UNICODE.cut)
            assert long.count("quokka") > 8, width
            assert last.split() == ["tea"]
            await bench.press("escape")


async def test_a_second_enter_runs_a_palette_choice_once(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await opened(bench, DIALOGS["palette"])
        await bench.type("fill the screen")
        await bench.until(lambda _: "fill the screen" in str(_offered(bench)))

        await at_once(bench, ENTER, ENTER)

        assert list(bench.app.trail).count("zoom") == 1
        assert bench.session.zoomed


async def test_a_second_enter_makes_no_second_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.txt").write_text("A quokka has a budget.\n", encoding="utf-8")
    async with workbench(None) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen) and bench.app.screen.chosen_embedder)

        await at_once(bench, ENTER, ENTER)
        await bench.until(lambda now: now.store.info and now.store.info.documents == 1)

        assert bench.app._exception is None
        assert bench.app.screen is bench.app.bench


async def test_a_second_r_opens_the_store_once(tmp_path: Path) -> None:
    wrong = tmp_path / "recall.db"
    wrong.write_text("This is not a database, whatever its name says. " * 50, encoding="utf-8")
    async with workbench(wrong) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen))

        await at_once(bench, Key("r", "r"), Key("r", "r"))
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen))

        assert bench.app._exception is None


def _offered(bench: Driver) -> object:
    """Return the first entry of the palette."""
    row = bench.app.screen.query_one(CommandList)
    return row.highlighted_option.prompt if row.highlighted_option is not None else ""
