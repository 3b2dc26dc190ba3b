"""Lists, questions and split panes in little room: nothing that is needed is hidden."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key
from textual.widgets import Input

from recall_core.api.recall import Recall
from recall_core.types import Root
from recall_tui.handlers.shell import plain_text
from recall_tui.home import history, preferences
from recall_tui.home.crash import keep_query
from recall_tui.home.history import PastQuestion
from recall_tui.home.preferences import PaneSizes, Preferences
from recall_tui.screens.dialog import ConfirmScreen, PromptScreen
from recall_tui.screens.history import HistoryScreen, MovedScreen
from recall_tui.screens.target import TargetScreen
from recall_tui.screens.welcome import WelcomeScreen
from recall_tui.state.explaining import Paths
from recall_tui.state.records import Analysis
from recall_tui.state.session import result_of
from recall_tui.widgets.draw import ASCII, UNICODE
from recall_tui.widgets.lines import PointedList
from tests.workbench_driver import Driver, workbench

DEEP = "/".join(f"a very long name of folder {letter}" for letter in "abcde")


def sizes(*names: str, quick: tuple[str, ...]) -> list[Any]:
    """Return sizes such as 80x24 for parametrize. Those not in `quick` are slow."""
    return [
        pytest.param(tuple(map(int, name.split("x"))), id=name, marks=() if name in quick else pytest.mark.slow)
        for name in names
    ]


def rows(bench: Driver, list_id: str) -> list[str]:
    """Return the rows of a list of the current screen, as drawn."""
    view = bench.app.screen.query_one(f"#{list_id}", PointedList)
    drawn = ["".join(part.text for part in view.render_line(row)).rstrip() for row in range(view.size.height)]
    return [row for row in drawn if row]


async def ask_for_target(bench: Driver, typed: str) -> None:
    await bench.ask()
    await bench.press("escape")
    await type_target(bench, typed)


async def type_target(bench: Driver, typed: str) -> None:
    """Open the prompt for a missing document, and wait for the matching paths."""
    await bench.press("m")
    await bench.until(lambda _: isinstance(bench.app.screen, TargetScreen))
    bench.app.screen.query_one(Input).value = typed
    await bench.until(lambda now: result_of(now, Analysis("paths", typed), of=Paths))


@pytest.fixture(scope="module")
def deep_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with paths wider than every list, and one with a line break in its folder's name."""
    tmp_path = tmp_path_factory.mktemp("deep")
    for name in (*(f"{DEEP}/file number {digit}.md" for digit in "123"), "new\nline/other.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("A token budget.\n", encoding="utf-8")
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        for _ in recall.add([str(tmp_path)], Root("")):
            pass
        return Path(recall.store.info().path)


@pytest.mark.slow
@pytest.mark.parametrize("width", [60, 80])
async def test_the_pointer_is_on_the_path_for_enter(deep_store: Path, width: int) -> None:
    async with workbench(deep_store, size=(width, 40)) as bench:
        await ask_for_target(bench, "very number")
        await point_and_take(bench)


async def point_and_take(bench: Driver) -> None:
    """Go one path down and take it. The pointer and the end of every path are visible."""
    await bench.until(lambda _: len(rows(bench, "targets")) == 4)

    await bench.press("down")

    await bench.until(lambda _: rows(bench, "targets")[2].startswith(UNICODE.pointer))
    ends = [row[-len("number 1.md") :] for row in rows(bench, "targets")[1:]]
    assert ends == ["number 1.md", "number 2.md", "number 3.md"]
    await bench.press("enter")
    await bench.until(lambda now: now.results.sought == f"{DEEP}/file number 2.md")


async def test_a_list_shows_path_ends_and_the_choice_of_enter(
    deep_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench(deep_store, size=(120, 40)) as bench:
        with monkeypatch.context() as patched:
            patched.setattr("recall_tui.analyses.explain.MOST", 3)
            await ask_for_target(bench, "")
            await bench.until(lambda _: edge(bench).startswith("the first 3 paths,"))
            await bench.type("number")
            await bench.until(lambda _: edge(bench).startswith("3 paths,"))
        await bench.press("escape")

        await type_target(bench, "very number")
        await point_and_take(bench)

        await type_target(bench, "very number")
        await bench.press("down")
        await bench.until(lambda _: len(rows(bench, "targets")) == 4)
        await bench.pilot.resize_terminal(60, 40)
        await bench.until(lambda _: all(row.endswith(".md") for row in rows(bench, "targets")[1:]))
        assert rows(bench, "targets")[2].startswith(UNICODE.pointer)
        await bench.press("escape")

        await type_target(bench, "other")
        await bench.until(lambda _: len(rows(bench, "targets")) == 2)
        assert rows(bench, "targets")[1].split() == [UNICODE.pointer, "new", "line/other.md"]
        await bench.press("enter")
        await bench.until(lambda now: now.results.sought == "new\nline/other.md")


def edge(bench: Driver) -> str:
    """Return the text on the lower border of the list of paths."""
    return str(bench.app.screen.query_one("#target").border_subtitle)


async def test_a_line_break_in_a_name_stays_on_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("texts/new\nline", "texts/other"):
        (tmp_path / name).mkdir(parents=True)
    async with workbench(None) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen) and bench.app.screen.chosen_embedder)
        await bench.type("texts/")
        await bench.until(lambda _: "other" in " ".join(rows(bench, "folders")))

        await bench.press("down", "down")

        await bench.until(lambda _: rows(bench, "folders")[1].startswith(UNICODE.pointer))
        assert rows(bench, "folders")[0].split()[:2] == ["texts/new", "line"]
        assert bench.app.screen.query_one(Input).value == "texts/other"


@pytest.mark.parametrize(
    ("locale", "mark"), [pytest.param("C.UTF-8", UNICODE.cut, marks=pytest.mark.slow), ("C", ASCII.cut)]
)
async def test_a_cut_line_ends_in_a_mark(
    shared_store: Path, monkeypatch: pytest.MonkeyPatch, locale: str, mark: str
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    async with workbench(shared_store, size=(60, 24), is_own=True) as bench:
        await bench.ask("budget " * 20)
        await bench.press("f5", "escape", "h")
        await bench.until(lambda _: bench.app.screen.query("#past") and rows(bench, "past"))

        assert rows(bench, "past")[0].endswith(mark)


@pytest.mark.parametrize("size", sizes("60x20", "80x24", "120x40", quick=("60x20",)))
async def test_questions_and_fields_show_their_keys(shared_store: Path, size: tuple[int, int]) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    async with workbench(shared_store, size=size) as bench:
        await bench.ask()
        await bench.press("escape", "4", "W")
        await bench.until(lambda _: "y yes   n no" in plain_text(bench.app))
        assert "PgDn" not in plain_text(bench.app), "a question seen whole has no keys to scroll by"
        await bench.press("n")

        await bench.press("6", "I")
        await bench.until(lambda _: isinstance(bench.app.screen, PromptScreen))
        await bench.until(lambda _: "then Enter" in plain_text(bench.app))
        await bench.press("escape")

        await bench.ask(words)
        await bench.press("4", "W")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        await bench.until(lambda _: "y yes   n no" in plain_text(bench.app))
        assert "LIMIT" not in plain_text(bench.app)
        await bench.until(lambda _: "PgDn" in plain_text(bench.app))
        await bench.press(*["pagedown"] * 9)
        await bench.until(lambda _: "LIMIT" in plain_text(bench.app))
        assert "y yes   n no" in plain_text(bench.app)


async def test_a_long_interrupted_query_is_offered_by_its_start(shared_store: Path) -> None:
    query = " ".join(f"word{number}" for number in range(1000, 1150))
    keep_query(query, os.environ)
    async with workbench(shared_store, size=(80, 24)) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))

        await bench.until(lambda _: "y yes   n no" in plain_text(bench.app))
        shown = plain_text(bench.app)
        assert "word1030" in shown
        assert "word1060" not in shown
        assert UNICODE.cut in shown


async def hold(bench: Driver, key: str) -> None:
    """Hold a key down for twenty steps."""
    for _ in range(20):
        bench.app.post_message(Key(key, None))
    await bench.pilot.pause()


def seen_rows(bench: Driver) -> tuple[int, int]:
    """Return the rows inside the borders of the results and of the pane below, if both are visible."""
    body, results, below = (bench.app.bench.query_one(f"#{pane}").region for pane in ("body", "results", "explain"))
    return results.intersection(body).height - 2, below.intersection(body).height - 2


@pytest.mark.parametrize("size", sizes("60x20", "80x24", "100x30", "120x40", "200x60", quick=("60x20", "120x40")))
async def test_the_lower_border_leaves_rows_in_every_pane(shared_store: Path, size: tuple[int, int]) -> None:
    async with workbench(shared_store, size=size) as bench:
        await bench.ask()
        await bench.press("escape")
        await hold(bench, "ctrl+up")
        await bench.until(lambda _: seen_rows(bench)[0] < 6)
        assert seen_rows(bench)[0] >= 3
        before = seen_rows(bench)
        await bench.press("ctrl+down", "ctrl+down")
        await bench.until(lambda _: seen_rows(bench) != before)  # keys without an effect are not queued

        await hold(bench, "ctrl+down")

        await bench.until(lambda _: seen_rows(bench)[1] < 7)
        assert seen_rows(bench)[1] >= 3


async def test_a_saved_border_leaves_rows_on_a_lower_screen(shared_store: Path) -> None:
    preferences.save(os.environ, Preferences(layouts={"normal-tall": PaneSizes(None, 85)}))
    async with workbench(shared_store, size=(120, 60)) as bench:
        await bench.until(lambda _: seen_rows(bench)[1] > 30)
        assert seen_rows(bench)[0] >= 3

        await bench.pilot.resize_terminal(120, 34)

        await bench.until(lambda _: seen_rows(bench)[1] < 22)
        await bench.until(lambda _: seen_rows(bench)[0] >= 3)
        await bench.pilot.resize_terminal(120, 60)
        await bench.until(lambda _: seen_rows(bench)[1] > 30)


async def test_a_zoomed_pane_gets_its_height_back(shared_store: Path) -> None:
    preferences.save(os.environ, Preferences(layouts={"normal-tall": PaneSizes(None, 60)}))
    async with workbench(shared_store) as bench:
        await bench.until(lambda _: seen_rows(bench)[1] == 20)
        await bench.press("escape", "3", "z")
        await bench.until(lambda _: seen_rows(bench)[1] == 35)

        await bench.press("z")

        await bench.until(lambda _: seen_rows(bench)[1] == 20)


async def test_comparing_puts_the_older_question_first(
    shared_store: Path,
) -> None:
    place = history.place(os.environ)
    assert place is not None
    for text in ("the older", "the newer"):
        history.append(place, PastQuestion(text))
    async with workbench(shared_store) as bench:
        await bench.press("escape")
        for first in ((), ("down",)):
            await bench.press("h")
            await bench.until(lambda _: isinstance(bench.app.screen, HistoryScreen))
            await bench.until(lambda _: len(rows(bench, "past")) == 2)

            await bench.press(*first, "tab", "down", "f6")

            await bench.until(lambda _: isinstance(bench.app.screen, MovedScreen))
            await bench.until(lambda _: "before  the older" in bench.painted("moves"))
            assert "after   the newer" in bench.painted("moves")
            await bench.press("escape", "escape")
            await bench.until(lambda _: bench.app.screen is bench.app.bench)


@pytest.mark.parametrize("width", [60, pytest.param(100, marks=pytest.mark.slow)])
async def test_an_empty_store_shows_its_full_hint(tmp_path: Path, width: int) -> None:
    Recall.init(str(tmp_path))
    async with workbench(tmp_path / "recall.db", size=(width, 30)) as bench:
        await bench.until(lambda _: "The store is empty." in bench.painted("results"))

        assert "then A, to add a folder." in " ".join(bench.painted("results").split())


async def test_the_ingest_pane_leaves_room_for_results(shared_store: Path) -> None:
    async with workbench(shared_store, size=(80, 24)) as bench:
        await bench.ask()
        await bench.press("escape", "7")

        for size in ((80, 24), (100, 24), (100, 32), (120, 36), (200, 34)):
            await bench.pilot.resize_terminal(*size)
            await bench.until(lambda _: "Sources" in bench.painted("ingest"))
            await bench.until(lambda _: "budget" in bench.painted("results"))
            assert bench.app.bench.query_one("#results").size.height >= 1, size
