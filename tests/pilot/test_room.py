"""Lists to choose from, questions and split panes: what has no room hides nothing that is needed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.widgets import Input

from recall_core.api.recall import Recall
from recall_core.types import Root
from recall_tui.home import history, preferences
from recall_tui.home.crash import keep_query
from recall_tui.home.history import PastQuestion
from recall_tui.home.preferences import PaneSizes, Preferences
from recall_tui.screens.confirm import ConfirmScreen, PromptScreen
from recall_tui.screens.history import HistoryScreen, MovedScreen
from recall_tui.screens.target import TargetScreen
from recall_tui.screens.welcome import WelcomeScreen
from recall_tui.state.analyses import Analysis
from recall_tui.state.explaining import Paths
from recall_tui.state.results import result_of
from recall_tui.widgets.draw import ASCII, UNICODE
from recall_tui.widgets.lists import PointedList
from recall_tui.widgets.picture import plain_text
from tests.workbench_driver import Driver, in_form, workbench

DEEP = "/".join(f"a very long name of folder {letter}" for letter in "abcde")


def rows(bench: Driver, list_id: str) -> list[str]:
    """The rows of a list of the screen in front, as they are drawn."""
    view = bench.app.screen.query_one(f"#{list_id}", PointedList)
    drawn = ["".join(part.text for part in view.render_line(row)).rstrip() for row in range(view.size.height)]
    return [row for row in drawn if row]


async def ask_for_target(bench: Driver, typed: str) -> None:
    await bench.ask()
    await bench.press("escape", "m")
    await bench.until(lambda _: isinstance(bench.app.screen, TargetScreen))
    await bench.type(typed)
    await bench.until(lambda now: result_of(now, Analysis("paths", typed), of=Paths))


@pytest.fixture
def deep_store(tmp_path: Path) -> Path:
    """Texts with paths that are wider than every list, and one with a line break in its folder's name."""
    for name in (*(f"{DEEP}/file number {digit}.md" for digit in "123"), "new\nline/other.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("A token budget.\n", encoding="utf-8")
    Recall.init(str(tmp_path))
    with Recall.open(str(tmp_path)) as recall:
        for _ in recall.add([str(tmp_path)], Root("")):
            pass
        return Path(recall.store.info().path)


@pytest.mark.parametrize("width", [60, 80, 120])
async def test_the_pointer_stands_on_the_path_that_enter_takes(deep_store: Path, width: int) -> None:
    async with workbench(deep_store, size=(width, 40)) as bench:
        await ask_for_target(bench, "very number")
        await bench.until(lambda _: len(rows(bench, "targets")) == 4)

        await bench.press("down")

        await bench.until(lambda _: rows(bench, "targets")[2].startswith(UNICODE.pointer))
        ends = [row[-len("number 1.md") :] for row in rows(bench, "targets")[1:]]
        assert ends == ["number 1.md", "number 2.md", "number 3.md"]
        await bench.press("enter")
        await bench.until(lambda now: now.results.sought == f"{DEEP}/file number 2.md")


async def test_a_list_is_cut_anew_when_the_screen_becomes_narrow(deep_store: Path) -> None:
    async with workbench(deep_store, size=(120, 40)) as bench:
        await ask_for_target(bench, "very number")
        await bench.press("down")
        await bench.until(lambda _: len(rows(bench, "targets")) == 4)

        await bench.pilot.resize_terminal(60, 40)

        await bench.until(lambda _: all(row.endswith(".md") for row in rows(bench, "targets")[1:]))
        assert rows(bench, "targets")[2].startswith(UNICODE.pointer)


async def test_a_list_of_paths_that_is_not_all_of_them_says_so(
    deep_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recall_tui.analyses.document.MOST", 3)
    async with workbench(deep_store) as bench:
        await ask_for_target(bench, "")
        await bench.until(lambda _: edge(bench).startswith("the first 3 paths,"))
        await bench.type("number")

        await bench.until(lambda _: edge(bench).startswith("3 paths,"))


def edge(bench: Driver) -> str:
    """What stands on the lower edge of the list of paths."""
    return str(bench.app.screen.query_one("#target").border_subtitle)


async def test_a_line_break_in_a_name_makes_no_second_row(deep_store: Path) -> None:
    async with workbench(deep_store) as bench:
        await ask_for_target(bench, "other")

        await bench.until(lambda _: len(rows(bench, "targets")) == 2)

        assert rows(bench, "targets")[1].split() == [UNICODE.pointer, "new", "line/other.md"]
        await bench.press("enter")
        await bench.until(lambda now: now.results.sought == "new\nline/other.md")


async def test_a_line_break_in_a_folder_makes_no_second_row_of_the_first_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("texts/new\nline", "texts/other"):
        (tmp_path / name).mkdir(parents=True)
    async with workbench(None) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen) and bench.app.screen.chosen)
        await bench.type("texts/")
        await bench.until(lambda _: "other" in " ".join(rows(bench, "folders")))

        await bench.press("down", "down")

        await bench.until(lambda _: rows(bench, "folders")[1].startswith(UNICODE.pointer))
        assert rows(bench, "folders")[0].split()[:2] == ["texts/new", "line"]
        assert bench.app.screen.query_one(Input).value == "texts/other"


@pytest.mark.parametrize(("locale", "mark"), [("C.UTF-8", UNICODE.cut), ("C", ASCII.cut)])
async def test_a_line_that_is_too_long_for_its_list_ends_in_a_mark(
    shared_store: Path, monkeypatch: pytest.MonkeyPatch, locale: str, mark: str
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    async with workbench(shared_store, size=(60, 24)) as bench:
        await bench.ask()
        await bench.press(
            "escape",
            "4",
            "right",
            *in_form("fusion", "right"),
            *in_form("match", "right"),
            *in_form("lexical_model", "right"),
            *in_form("sparse_recall", "right"),
            *in_form("min_score", "right"),
            "N",
        )
        await bench.write("mine")
        await bench.press("enter", "P")
        await bench.until(lambda _: bench.app.screen.query("#past") and len(rows(bench, "past")) == 2)

        assert rows(bench, "past")[1].endswith(mark)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_the_keys_of_a_question_are_seen_however_long_it_is_and_its_end_can_be_read(
    shared_store: Path, size: tuple[int, int]
) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    async with workbench(shared_store, size=size) as bench:
        await bench.ask(words)
        await bench.press("escape", "4", "W")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        await bench.until(lambda _: "y yes   n no" in plain_text(bench.app))
        assert "LIMIT" not in plain_text(bench.app)

        await bench.until(lambda _: "PgDn" in plain_text(bench.app))
        await bench.press(*["pagedown"] * 9)

        await bench.until(lambda _: "LIMIT" in plain_text(bench.app))
        assert "y yes   n no" in plain_text(bench.app)


async def test_a_question_that_is_seen_whole_names_no_keys_to_scroll_by(shared_store: Path) -> None:
    async with workbench(shared_store, size=(60, 20)) as bench:
        await bench.ask()
        await bench.press("escape", "4", "W")

        await bench.until(lambda _: "y yes   n no" in plain_text(bench.app))
        assert "PgDn" not in plain_text(bench.app)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_what_a_field_is_for_is_seen_whole(shared_store: Path, size: tuple[int, int]) -> None:
    async with workbench(shared_store, size=size) as bench:
        await bench.ask()
        await bench.press("escape", "6", "I")
        await bench.until(lambda _: isinstance(bench.app.screen, PromptScreen))

        await bench.until(lambda _: "then Enter" in plain_text(bench.app))


async def test_of_a_long_query_that_was_interrupted_the_beginning_is_offered(shared_store: Path) -> None:
    query = " ".join(f"word{number}" for number in range(1000, 1150))
    keep_query(query, os.environ)
    async with workbench(shared_store, size=(80, 24)) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))

        await bench.until(lambda _: "y yes   n no" in plain_text(bench.app))
        shown = plain_text(bench.app)
        assert "word1030" in shown
        assert "word1060" not in shown
        assert UNICODE.cut in shown


def seen_rows(bench: Driver) -> tuple[int, int]:
    """Rows inside the borders of the results, and of what stands below them, as far as both are on the screen."""
    body, results, below = (bench.app.bench.query_one(f"#{pane}").region for pane in ("body", "results", "explain"))
    return results.intersection(body).height - 2, below.intersection(body).height - 2


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (100, 30), (120, 40), (200, 60)])
async def test_the_border_below_the_results_stops_where_a_pane_would_have_no_rows(
    shared_store: Path, size: tuple[int, int]
) -> None:
    async with workbench(shared_store, size=size) as bench:
        await bench.ask()
        await bench.press("escape", *["ctrl+up"] * 20)
        await bench.until(lambda _: seen_rows(bench)[0] < 6)
        assert seen_rows(bench)[0] >= 3
        before = seen_rows(bench)
        await bench.press("ctrl+down", "ctrl+down")
        await bench.until(lambda _: seen_rows(bench) != before)  # no key was kept for what it could not do

        await bench.press(*["ctrl+down"] * 20)

        await bench.until(lambda _: seen_rows(bench)[1] < 7)
        assert seen_rows(bench)[1] >= 3


async def test_a_border_that_is_remembered_leaves_rows_on_a_lower_screen(shared_store: Path) -> None:
    preferences.save(os.environ, Preferences(layouts={"normal-tall": PaneSizes(None, 85)}))
    async with workbench(shared_store, size=(120, 60)) as bench:
        await bench.until(lambda _: seen_rows(bench)[1] > 30)
        assert seen_rows(bench)[0] >= 3

        await bench.pilot.resize_terminal(120, 34)

        await bench.until(lambda _: seen_rows(bench)[1] < 22)
        await bench.until(lambda _: seen_rows(bench)[0] >= 3)
        await bench.pilot.resize_terminal(120, 60)
        await bench.until(lambda _: seen_rows(bench)[1] > 30)


async def test_a_pane_that_was_zoomed_has_its_height_back(shared_store: Path) -> None:
    preferences.save(os.environ, Preferences(layouts={"normal-tall": PaneSizes(None, 60)}))
    async with workbench(shared_store) as bench:
        await bench.until(lambda _: seen_rows(bench)[1] == 20)
        await bench.press("escape", "3", "z")
        await bench.until(lambda _: seen_rows(bench)[1] == 35)

        await bench.press("z")

        await bench.until(lambda _: seen_rows(bench)[1] == 20)


@pytest.mark.parametrize("first", [(), ("down",)], ids=["newer first", "older first"])
async def test_of_two_earlier_questions_the_older_one_is_before_whichever_is_marked_first(
    shared_store: Path, first: tuple[str, ...]
) -> None:
    place = history.place(os.environ)
    assert place is not None
    for text in ("the older", "the newer"):
        history.append(place, PastQuestion(text))
    async with workbench(shared_store) as bench:
        await bench.press("escape", "h")
        await bench.until(lambda _: isinstance(bench.app.screen, HistoryScreen))
        await bench.until(lambda _: len(rows(bench, "past")) == 2)

        await bench.press(*first, "tab", "down", "f6")

        await bench.until(lambda _: isinstance(bench.app.screen, MovedScreen))
        await bench.until(lambda _: "before  the older" in bench.painted("moves"))
        assert "after   the newer" in bench.painted("moves")


@pytest.mark.parametrize("width", [60, 100])
async def test_an_empty_store_says_whole_what_to_do(tmp_path: Path, width: int) -> None:
    Recall.init(str(tmp_path))
    async with workbench(tmp_path / "recall.db", size=(width, 30)) as bench:
        await bench.until(lambda _: "The store is empty." in bench.painted("results"))

        assert "and name a folder to add." in " ".join(bench.painted("results").split())


@pytest.mark.parametrize("size", [(80, 24), (100, 24), (100, 32), (120, 36), (200, 34)])
async def test_the_ingest_pane_leaves_room_for_results(shared_store: Path, size: tuple[int, int]) -> None:
    async with workbench(shared_store, size=size) as bench:
        await bench.ask()

        await bench.press("escape", "7")

        await bench.until(lambda _: "Sources" in bench.painted("ingest"))
        await bench.until(lambda _: "budget" in bench.painted("results"))
        assert bench.app.bench.query_one("#results").size.height >= 1
