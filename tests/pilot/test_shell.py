"""Around the panes: keymap, themes, sizes, letters, pictures, help, palette, and the mouse in the bars."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import weakref
from itertools import groupby
from pathlib import Path
from typing import Literal

import pytest
from rich.cells import cell_len
from textual._xterm_parser import XTermParser
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit
from textual.events import Key, MouseScrollDown
from textual.widget import Widget
from textual.widgets import Static

from recall_core.files import write_private
from recall_tui.actions.table import TABLE
from recall_tui.handlers import shell
from recall_tui.home.crash import keep_query, kept_queries
from recall_tui.screens.choices import JumpScreen, Label, ThemeScreen
from recall_tui.screens.confirm import READING_SECONDS, ConfirmScreen
from recall_tui.screens.help import HelpScreen
from recall_tui.screens.target import TargetScreen
from recall_tui.terminal import apart
from recall_tui.widgets.draw import UNICODE
from recall_tui.widgets.lists import PointedList
from recall_tui.widgets.picture import plain_text
from tests.workbench_driver import Driver, workbench

NARROW = (80, 24)


async def click_text(bench: Driver, widget: str, text: str) -> None:
    """Click the first letter of a text in a bar."""
    line = bench.painted(widget)
    assert text in line
    assert await bench.pilot.click(f"#{widget}", offset=(line.index(text), 0))
    await bench.pilot.pause()


def keymap(home: Path, text: str) -> None:
    write_private(home / "config" / "recall" / "keymap.toml", text)


def kept(home: Path) -> dict[str, object]:
    record = json.loads((home / "recall" / "workbench.json").read_bytes())
    assert isinstance(record, dict)
    return record


# The keymap.


async def test_the_keymap_decides_keys_footer_help_and_palette(shared_store: Path, state_home: Path) -> None:
    keymap(state_home, '[keys]\nzoom = ["F6", "F12"]\nhelp = ["F1"]\n')
    async with workbench(shared_store, size=(240, 40)) as bench:
        await bench.ask()
        assert "F6 zoom" in bench.painted("footer")
        await bench.press("escape", "z")
        assert not bench.session.zoomed
        await bench.press("f12")
        assert bench.session.zoomed
        await bench.press("f6", "f1")
        await bench.type("whole")
        await bench.pilot.pause()
        assert "F6 F12" in bench.painted("keys")
        assert not bench.session.zoomed


@pytest.mark.parametrize(("letter", "pane"), [("2", "results"), ("4", "weights")])
async def test_escape_and_a_key_in_one_read_are_two_keys(shared_store: Path, letter: str, pane: str) -> None:
    async with workbench(shared_store) as bench:
        await bench.type("tea")

        bench.app.post_message(Key(f"alt+{letter}", letter))  # what Textual makes of the two

        await bench.until(lambda now: now.pane == pane)
        assert bench.app.bench.editor.text == "tea"


@pytest.mark.parametrize("sign", ["/", ":", "?", "<", "(", "+"])
def test_escape_and_a_sign_in_one_read_are_two_keys(sign: str) -> None:
    parser = XTermParser()
    (read,) = [token for token in (*parser.feed(f"\x1b{sign}"), *parser.feed("")) if isinstance(token, Key)]

    escape, pressed = apart(read, TABLE)

    (alone,) = [token for token in XTermParser().feed(sign) if isinstance(token, Key)]
    assert escape.key == "escape"
    assert (pressed.key, pressed.character) == (alone.key, sign)


@pytest.mark.parametrize("typed", ["4", "j", "G", "w", "/"])
def test_escape_a_character_and_an_arrow_in_one_read_are_three_keys(typed: str) -> None:
    parser = XTermParser()
    read = [token for token in (*parser.feed(f"\x1b{typed}\x1b[C"), *parser.feed("")) if isinstance(token, Key)]

    escape, pressed, arrow = [key for each in read for key in apart(each, TABLE)]

    assert (escape.key, pressed.character, arrow.key) == ("escape", typed, "right")


async def test_a_key_with_alt_that_a_keymap_gives_to_an_action_is_one_key(
    shared_store: Path, state_home: Path
) -> None:
    keymap(state_home, '[keys]\nhelp = ["Alt+j"]\n')
    async with workbench(shared_store) as bench:
        bench.app.post_message(Key("alt+j", "j"))

        await bench.until(lambda _: isinstance(bench.app.screen, HelpScreen))
        await bench.press("escape")
        assert bench.session.pane == "query"


async def test_a_letter_with_another_verb_elsewhere_is_told_at_the_first_start_alone(
    shared_store: Path, state_home: Path
) -> None:
    keymap(state_home, '[keys]\nsync = ["w"]\n')
    heard = []
    for _ in range(2):
        async with workbench(shared_store) as bench:
            await bench.ask()
            told = "w is sync there, and why this in results, explain, context"
            heard.append(any(told in note.message for note in bench.app._notifications))

    assert heard == [True, False]


async def test_a_faulty_keymap_is_told_and_the_table_holds(shared_store: Path, state_home: Path) -> None:
    keymap(state_home, '[keys]\nzoom = ["^i"]\n')
    async with workbench(shared_store) as bench:
        await bench.until(lambda _: bench.app._notifications)

        (told,) = bench.app._notifications
        assert "keymap.toml:2: zoom: terminals send ^i as Tab" in told.message
        await bench.press("escape", "z")
        assert bench.session.zoomed


async def test_many_faults_of_a_keymap_name_their_folder_once(shared_store: Path, state_home: Path) -> None:
    keymap(state_home, "[keys]\n" + "".join(f"nosuch{number} = []\n" for number in range(9)))
    async with workbench(shared_store) as bench:
        await bench.until(lambda _: list(bench.app._notifications))

        (told,) = bench.app._notifications
        lines = told.message.splitlines()
        assert told.message.count(str(state_home)) == 1
        assert lines[1] == "keymap.toml:2: there is no action 'nosuch0'"
        assert lines[-1] == "3 more, all of them: recall-tui --keys"


# What a defect left.


async def test_the_query_that_a_defect_interrupted_is_offered_once(shared_store: Path, state_home: Path) -> None:
    keep_query("token budget", os.environ)
    async with workbench(shared_store) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        await asyncio.sleep(READING_SECONDS)
        await bench.press("y")
        await bench.answered("token budget")
    async with workbench(shared_store) as bench:
        await bench.until(lambda now: now.store.info)

        assert bench.app.screen is bench.app.bench
        assert bench.app.bench.editor.text == ""


async def test_a_signal_while_the_query_is_offered_loses_neither_it_nor_what_is_typed(
    shared_store: Path, state_home: Path
) -> None:
    write_private(state_home / "recall" / "interrupted-20250101-000000-1.rql", "token budget")
    async with workbench(shared_store) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        bench.app.bench.editor.text = "tea"

        bench.app._stopped_from_outside()
        await bench.pilot.pause()

    assert {kept.query for kept in kept_queries(os.environ)} == {"token budget", "tea"}


async def test_a_query_that_is_not_taken_up_is_gone_and_the_one_before_is_offered_next(
    shared_store: Path, state_home: Path
) -> None:
    folder = state_home / "recall"
    write_private(folder / "interrupted-20250101-000000-1.rql", "household tea")
    write_private(folder / "interrupted-20250101-000001-1.rql", "token budget")
    for query in ("token budget", "household tea"):
        async with workbench(shared_store) as bench:
            await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
            assert query in plain_text(bench.app)
            await asyncio.sleep(READING_SECONDS)
            await bench.press("n")
            await bench.until(lambda _: bench.app.screen is bench.app.bench)

            assert bench.app.bench.editor.text == ""

    assert kept_queries(os.environ) == []


async def test_what_was_typed_ahead_is_no_answer_and_stands_in_the_editor(
    shared_store: Path, state_home: Path
) -> None:
    keep_query("token budget", os.environ)
    ahead = [Key(letter, letter) for letter in "yny"] + [Key("escape", "\x1b"), Key("Y", "Y")]
    async with workbench(shared_store) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))

        for key in ahead:
            bench.app.post_message(key)
        await bench.until(lambda _: bench.app.bench.editor.text == "ynyY")
        assert isinstance(bench.app.screen, ConfirmScreen)

        await asyncio.sleep(READING_SECONDS)
        await bench.press("y")
        await bench.answered("token budget")
        await bench.press("ctrl+z")
        await bench.until(lambda _: bench.app.bench.editor.text == "ynyY")


async def test_typed_ahead_ctrl_q_leaves_all_the_same(shared_store: Path, state_home: Path) -> None:
    keep_query("token budget", os.environ)
    ahead = Key("ctrl+q", "\x11")
    async with workbench(shared_store) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        bench.app.post_message(ahead)
        await bench.pilot.pause()

    assert bench.app.return_code == 0


# Themes.


async def test_a_theme_is_shown_while_it_is_chosen_and_remembered_once_it_is(
    shared_store: Path, state_home: Path
) -> None:
    async with workbench(shared_store) as bench:
        await bench.press("f9", "down")
        await bench.until(lambda _: bench.app.theme == "light")
        await bench.press("escape")
        await bench.until(lambda _: bench.app.theme == "dark")
        assert not (state_home / "recall" / "workbench.json").exists()
        await bench.press("f9", "down", "down", "enter")
        await bench.until(lambda _: bench.app.theme == "high-contrast")
        assert bench.app.screen is bench.app.bench
    async with workbench(shared_store) as bench:
        assert bench.app.theme == "high-contrast"


async def test_two_workbenches_remember_what_was_chosen_in_either(shared_store: Path, state_home: Path) -> None:
    async with workbench(shared_store) as one, workbench(shared_store) as other:
        shell.take_theme(one.app, "light")
        await other.press("escape", "ctrl+left")
        await other.until(lambda _: kept(state_home)["layouts"])
        sizes = kept(state_home)["layouts"]

        assert kept(state_home)["theme"] == "light"
        shell.take_theme(one.app, "dark")

    assert kept(state_home) == {"theme": "dark", "layouts": sizes}


async def test_a_theme_can_be_clicked(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.press("f9")
        await bench.until(lambda _: isinstance(bench.app.screen, ThemeScreen))
        await bench.pilot.click(PointedList, offset=(3, 1))
        await bench.until(lambda _: bench.app.theme == "light" and bench.app.screen is bench.app.bench)


async def test_no_color_wins_over_a_remembered_theme(
    shared_store: Path, state_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_private(state_home / "recall" / "workbench.json", '{"theme": "light"}')
    monkeypatch.setenv("NO_COLOR", "1")
    async with workbench(shared_store) as bench:
        await bench.press("f9")

        assert bench.app.theme == "no-colour"
        assert bench.app.screen is bench.app.bench


# Sizes.


async def test_keys_move_the_borders_and_each_size_of_screen_remembers_its_own(
    shared_store: Path, state_home: Path
) -> None:
    async with workbench(shared_store) as bench:
        right, below = bench.app.bench.query_one("#right"), bench.app.bench.query_one("#explain")
        before = right.size.width, below.size.height
        await bench.press("escape", "ctrl+left", "ctrl+up")
        await bench.until(lambda _: right.size.width > before[0] and below.size.height > before[1])
        await bench.press("ctrl+right", "ctrl+right", "ctrl+down", "ctrl+down")
        await bench.until(lambda _: right.size.width < before[0] and below.size.height < before[1])
    assert kept(state_home)["layouts"] == {"normal-tall": {"right": 35, "below": 33}}
    async with workbench(shared_store, size=(170, 50)) as bench:
        assert bench.app.bench.query_one("#right").outer_size.width == 60
    async with workbench(shared_store) as bench:
        right = bench.app.bench.query_one("#right")
        await bench.until(lambda _: right.outer_size.width == 42)
        await bench.press("f7")
        await bench.until(lambda _: right.size.width == before[0])


async def test_the_borders_can_be_dragged(shared_store: Path, state_home: Path) -> None:
    async with workbench(shared_store) as bench:
        body, right = bench.app.bench.query_one("#body"), bench.app.bench.query_one("#right")
        explain = bench.app.bench.query_one("#explain")
        await bench.pilot.mouse_down(body, offset=(right.region.x, 20))
        await bench.pilot.hover(body, offset=(59, 20))
        await bench.pilot.mouse_up(body, offset=(60, 20))
        await bench.until(lambda _: right.outer_size.width == 60)
        top = bench.app.bench.query_one("#results").region.bottom - 1
        await bench.pilot.mouse_down(body, offset=(10, top - body.region.y))
        await bench.pilot.mouse_up(body, offset=(10, top - body.region.y - 6))
        await bench.until(lambda _: explain.region.y < top - 3)
    assert kept(state_home)["layouts"]


async def test_a_zoomed_pane_has_the_screen_whatever_the_sizes(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.press("escape", "ctrl+right", "ctrl+down", "5", "z")
        await bench.until(lambda _: bench.app.bench.query_one("#context").outer_size.width == 120)
        await bench.press("ctrl+left", "z", "3", "z")
        await bench.until(lambda _: bench.app.bench.query_one("#explain").outer_size.height == 37)


async def test_in_the_editor_the_keys_of_words_stay_with_the_editor(shared_store: Path, state_home: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.type("two words")
        await bench.press("ctrl+left")

        assert bench.app.bench.editor.cursor == 4
        assert not (state_home / "recall" / "workbench.json").exists()


# Letters.


async def test_a_letter_goes_to_its_pane_or_row(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("ctrl+o")
        await bench.until(lambda _: isinstance(bench.app.screen, JumpScreen))
        labels = {str(label.render()).strip(): label for label in bench.app.screen.query(Label)}
        assert labels["d"].region.offset == bench.app.bench.query_one("#explain").region.offset
        await bench.press("d")
        await bench.until(lambda now: now.pane == "explain")
        await bench.press("ctrl+o", "escape")
        await bench.until(lambda now: now.pane == "explain" and bench.app.screen is bench.app.bench)
        row = next(letter for letter, label in labels.items() if label.mark.row == 2)
        await bench.press("ctrl+o", row)
        await bench.until(lambda now: now.pane == "results" and now.results.selected == 2)


@pytest.mark.parametrize("size", [NARROW, (120, 40)])
async def test_no_letter_covers_the_rank_of_its_row(shared_store: Path, size: tuple[int, int]) -> None:
    async with workbench(shared_store, size=size) as bench:
        await bench.ask()
        await bench.press("escape", "end", "ctrl+o")
        await bench.until(lambda now: now.results.selected == 36 and isinstance(bench.app.screen, JumpScreen))

        labels = [label for label in bench.app.screen.query(Label) if label.mark.row is not None]
        results = bench.app.bench.query_one("#results")
        lines = (results.render_line(row).text for row in range(results.size.height))
        line = next(line for line in lines if "▶" in line)
        first_digit = results.content_region.x + line.index("37")
        assert labels
        assert all(label.region.right <= first_digit for label in labels)


async def test_a_letter_can_be_clicked(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.press("ctrl+o")
        await bench.until(lambda _: isinstance(bench.app.screen, JumpScreen))
        label = next(each for each in bench.app.screen.query(Label) if each.mark.pane == "context")
        await bench.pilot.click(label)
        await bench.until(lambda now: now.pane == "context")


# The bars, and the mouse in them.


@pytest.mark.parametrize("size", [NARROW, (100, 30), (120, 40), (200, 60)])
async def test_the_bars_keep_a_blank_at_the_right_edge(shared_store: Path, size: tuple[int, int]) -> None:
    async with workbench(shared_store, size=size) as bench:
        await bench.ask()
        await bench.press("escape")
        for key in "2345678":
            await bench.press(key)
            await bench.pilot.pause()

            painted = [bench.painted(bar).ljust(size[0]) for bar in ("header", "status", "footer")]
            assert [(line[-1], len(line)) for line in painted] == [(" ", size[0])] * 3


async def test_keys_in_the_footer_can_be_clicked(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape")
        await bench.until(lambda _: " why missing" in bench.painted("footer"))

        await click_text(bench, "footer", "why missing")
        await bench.until(lambda _: isinstance(bench.app.screen, TargetScreen))


async def test_the_way_to_the_keys_can_be_clicked(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.until(lambda now: now.store.info)

        await click_text(bench, "header", "? help")
        await bench.until(lambda _: isinstance(bench.app.screen, HelpScreen))


async def test_the_command_can_be_clicked_to_copy_it(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()

        await click_text(bench, "status", "Y copies")
        await bench.until(lambda _: "recall" in bench.app.clipboard)


@pytest.mark.parametrize("pane", ["weights", "context", "judge", "store"])
async def test_the_tabs_of_a_narrow_screen_can_be_clicked(shared_store: Path, pane: str) -> None:
    async with workbench(shared_store, size=NARROW) as bench:
        await bench.until(lambda now: now.store.info and now.is_narrow)

        await click_text(bench, "status", pane)
        await bench.until(lambda now: now.pane == pane == now.tab)


async def test_the_budget_can_be_clicked_on_a_narrow_screen(shared_store: Path) -> None:
    async with workbench(shared_store, size=NARROW) as bench:
        await bench.until(lambda now: now.store.info and now.is_narrow)

        await click_text(bench, "status", "of 2,000 tokens")
        await bench.until(lambda _: bench.app.screen.query("#hint"))


@pytest.mark.parametrize("pane", ["query", "results", "explain", "weights", "context", "judge"])
async def test_a_click_goes_to_a_pane(shared_store: Path, pane: str) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "1" if pane != "query" else "2")
        place = bench.app.bench.query_one(f"#{pane}")

        await bench.pilot.click(place, offset=(place.outer_size.width // 2, 1))
        await bench.until(lambda now: now.pane == pane)


@pytest.mark.parametrize("pane", ["results", "explain"])
async def test_the_wheel_scrolls_a_list(shared_store: Path, pane: str) -> None:
    async with workbench(shared_store, size=(120, 34)) as bench:
        await bench.ask()
        box = bench.app.bench.query_one(f"#{pane}")

        def long() -> list[Widget]:
            return [each for each in (box, *box.query(Widget)) if each.is_scrollable and each.max_scroll_y > 0]

        await bench.until(lambda _: long())
        view = long()[0]
        x, y = view.region.offset
        view.post_message(MouseScrollDown(view, x + 3, y + 3, 0, 1, 0, False, False, False))
        await bench.until(lambda _: view.scroll_y > 0)


# Help, palette, pictures.


async def test_help_begins_with_the_pane_in_front_scrolls_and_is_searched(shared_store: Path) -> None:
    async with workbench(shared_store, size=NARROW) as bench:
        await bench.press("escape", "4", "f1")
        await bench.until(lambda _: "In the weights pane" in bench.painted("keys"))
        await bench.press("pagedown", "down")
        await bench.until(lambda _: "In the weights pane" not in bench.painted("keys"))
        await bench.type("zoom")
        await bench.until(lambda _: "Find an action by its name" not in bench.painted("keys"))
        await bench.press(*["backspace"] * 4)
        await bench.type("palette")
        await bench.until(lambda _: "Find an action by its name" in bench.painted("keys"))
        await bench.press("escape")
        assert bench.app.screen is bench.app.bench


async def test_the_palette_marks_what_is_not_possible_now(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.press("ctrl+p")
        await bench.until(lambda _: isinstance(bench.app.screen, CommandPalette))
        copies = next(action.help for action in bench.app.table.actions if action.id == "copy_context")
        await bench.type(copies)
        await bench.until(lambda _: plain_text(bench.app).count(copies) == 2)  # as typed, and as found

        assert "y, not now: the context is empty" in plain_text(bench.app)


async def test_the_palette_begins_with_what_is_possible_in_the_pane_in_front_and_ends_with_what_is_not(
    shared_store: Path,
) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "5", "ctrl+p")
        await bench.until(lambda _: listed_in(bench))

        hits = listed_in(bench)

    possible = [" not now: " not in str(hit.help) for hit in hits]
    groups = [str(hit.text).partition(":")[0] for hit in hits]
    assert possible == sorted(possible, reverse=True)
    assert not possible[-1]
    assert groups[0] == "Context"
    for half in (True, False):
        order = [group for group, is_so in zip(groups, possible, strict=True) if is_so is half]
        assert len(list(groupby(order))) == len(set(order)), "each group stands together"


def listed_in(bench: Driver) -> list[DiscoveryHit | Hit]:
    """What the palette lists."""
    return [
        each.get_option_at_index(row).hit
        for each in bench.app.screen.query(CommandList)
        for row in range(each.option_count)
    ]


@pytest.mark.parametrize(("name", "begins"), [("shot.svg", "<svg"), ("shot.txt", " recall")])
async def test_the_screen_is_saved_as_picture_or_text(
    shared_store: Path, tmp_path: Path, name: str, begins: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("f8")
        await bench.write(name)
        await bench.press("enter")
        await bench.until(lambda _: (tmp_path / name).exists())

        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.startswith(begins)
        assert "url(http" not in text.replace('"', "")
        assert "docs/budget.md:1 " in text.replace("&#160;", " ")


async def test_a_picture_with_another_ending_is_refused_and_one_that_is_there_is_asked_about(
    shared_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.txt").write_text("old", encoding="utf-8")
    async with workbench(shared_store) as bench:
        await bench.press("f8")
        await bench.write("shot.png")
        await bench.press("enter")
        assert "The name ends in .svg or .txt." in str(bench.app.screen.query_one("#hint", Static).render())
        await bench.write("old.txt")
        await bench.press("enter")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        await bench.press("n")
        await bench.pilot.pause()
    assert (tmp_path / "old.txt").read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("name", ["loop.txt", "loop.txt/shot.svg"])
async def test_a_picture_in_the_place_of_a_link_to_itself_is_refused_in_words(
    shared_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop.txt").symlink_to("loop.txt")
    async with workbench(shared_store) as bench:
        await bench.press("f8")
        await bench.write(name)
        await bench.press("enter")
        await bench.until(lambda _: list(bench.app._notifications))

        (told,) = bench.app._notifications
        assert told.message.endswith("cannot be written: Too many levels of symbolic links")


async def test_a_dialog_that_was_closed_leaves_nothing_behind(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.press("escape", "f1")
        await bench.until(lambda _: bench.app.screen.query("#keys"))
        keys = bench.app.screen.query_one("#keys")
        left = [weakref.ref(keys), weakref.ref(keys._styles_cache)]
        del keys

        await bench.press("escape")
        await bench.until(lambda _: bench.app.screen is bench.app.bench)
        for _ in range(50):
            await bench.pilot.pause(0.02)
            gc.collect()
            if not any(each() for each in left):
                break

        assert [each() for each in left] == [None, None]


# Ways out that nobody finds, and failures that nobody has time to read.


@pytest.mark.parametrize("keys", [["ctrl+c"], ["escape", "ctrl+c"]], ids=["edit", "nav"])
async def test_ctrl_c_without_a_selection_says_how_to_leave(shared_store: Path, keys: list[str]) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press(*keys)
        await bench.until(lambda _: [notice.message for notice in bench.app._notifications])
        assert "^q quits" in next(iter(bench.app._notifications)).message
        assert bench.app.is_running


async def test_a_failure_stays_longer_on_the_screen_than_a_notice(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        bench.app.warn("it failed")
        bench.app.notify("it is so")
        await bench.until(lambda _: len(bench.app._notifications) == 2)
        seconds = {notice.message: notice.timeout for notice in bench.app._notifications}
        assert seconds["it failed"] >= 10 > seconds["it is so"]


@pytest.mark.parametrize("pane", ["3", "4", "5", "6", "8"])
async def test_the_smallest_terminal_has_room_for_hits_beside_every_pane(shared_store: Path, pane: str) -> None:
    async with workbench(shared_store, size=(60, 20)) as bench:
        await bench.ask()
        await bench.press("escape", pane)
        await bench.until(lambda now: now.pane != "query")
        assert sum("docs/" in line or "src/" in line for line in bench.painted("results").splitlines()) >= 2
        await bench.press("z")
        await bench.until(lambda now: now.zoomed)
        assert bench.app.bench.query_one(f"#{bench.session.pane}").size.height >= 12


@pytest.mark.parametrize("text", ["token budget " * 60, "打开文件 " * 60], ids=["narrow", "wide"])
async def test_what_was_copied_is_told_in_one_short_line(shared_store: Path, text: str) -> None:
    async with workbench(shared_store) as bench:
        bench.app.copy(f"recall search '{text}'\n", f"recall search '{text}'\n")
        await bench.until(lambda _: list(bench.app._notifications))

        (told,) = bench.app._notifications
        assert bench.app.clipboard == f"recall search '{text}'\n"
        assert told.message.startswith("Copied: recall search '")
        assert told.message.endswith(UNICODE.cut)
        assert cell_len(told.message) <= 70
        assert "\n" not in told.message


async def test_what_was_copied_is_told_whole_where_it_is_short(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        bench.app.copy("recall stats", "recall stats")
        await bench.until(lambda _: list(bench.app._notifications))

        assert [note.message for note in bench.app._notifications] == ["Copied: recall stats"]


@pytest.mark.parametrize("severity", ["information", "warning", "error"])
async def test_notices_and_the_palette_are_ascii_where_the_locale_is(
    shared_store: Path, monkeypatch: pytest.MonkeyPatch, severity: Literal["information", "warning", "error"]
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    async with workbench(shared_store) as bench:
        bench.app._disable_notifications = False
        bench.app.notify("Said.", severity=severity)
        await bench.press("ctrl+p")

        await bench.until(lambda _: all(text in plain_text(bench.app) for text in ("Said.", "Edit the query")))
        assert plain_text(bench.app).isascii()
