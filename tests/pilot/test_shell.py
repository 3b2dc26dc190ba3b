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
from recall_tui.handlers.shell import plain_text
from recall_tui.home.crash import keep_query, kept_queries
from recall_tui.screens.dialog import READING_SECONDS, ConfirmScreen, JumpScreen, Label, ThemeScreen
from recall_tui.screens.help import HelpScreen
from recall_tui.screens.target import TargetScreen
from recall_tui.terminal import apart
from recall_tui.widgets.draw import UNICODE
from recall_tui.widgets.lines import PointedList
from tests.workbench_driver import Driver, workbench

NARROW = (80, 24)
NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"


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


async def test_the_keymap_sets_keys_footer_and_help(shared_store: Path, state_home: Path) -> None:
    keymap(state_home, '[keys]\nzoom = ["F6", "F12"]\nhelp = ["F1", "Alt+j"]\n')
    async with workbench(shared_store, size=(240, 40)) as bench:
        await bench.ask()
        assert "F6 zoom" in bench.painted("footer")
        await bench.press("escape", "z")
        assert not bench.session.zoomed
        await bench.press("f12")
        assert bench.session.zoomed
        await bench.press("f6", "f1")
        await bench.type("fill")
        await bench.pilot.pause()
        assert "F6 F12" in bench.painted("keys")
        assert not bench.session.zoomed
        await bench.press("escape", "1")

        bench.app.post_message(Key("alt+j", "j"))
        await bench.until(lambda _: isinstance(bench.app.screen, HelpScreen))
        await bench.press("escape")
        assert bench.session.pane == "query"


async def test_escape_and_a_key_in_one_read_are_two_keys(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.type("tea")
        for letter, pane in (("2", "results"), ("4", "weights")):
            bench.app.post_message(Key(f"alt+{letter}", letter))  # Textual's reading of the two

            await bench.until(lambda now, pane=pane: now.pane == pane)
            assert bench.app.bench.editor.text == "tea", letter
            await bench.press("1")


def test_escape_and_a_sign_in_one_read_are_two_keys() -> None:
    for sign in ("/", ":", "?", "<", "(", "+"):
        parser = XTermParser()
        (read,) = [token for token in (*parser.feed(f"\x1b{sign}"), *parser.feed("")) if isinstance(token, Key)]

        escape, pressed = apart(read, TABLE)

        (alone,) = [token for token in XTermParser().feed(sign) if isinstance(token, Key)]
        assert escape.key == "escape", sign
        assert (pressed.key, pressed.character) == (alone.key, sign)


def test_escape_character_and_arrow_in_one_read_are_three_keys() -> None:
    for typed in ("4", "j", "G", "w", "/"):
        parser = XTermParser()
        read = [token for token in (*parser.feed(f"\x1b{typed}\x1b[C"), *parser.feed("")) if isinstance(token, Key)]

        escape, pressed, arrow = [key for each in read for key in apart(each, TABLE)]

        assert (escape.key, pressed.character, arrow.key) == ("escape", typed, "right"), typed


async def test_a_letter_with_two_verbs_is_reported_at_first_start(shared_store: Path, state_home: Path) -> None:
    keymap(state_home, '[keys]\nsync = ["w"]\n')
    clash = "w is sync there, and why this in results, explain, context"
    heard = []
    for _ in range(2):
        async with workbench(shared_store, is_own=True) as bench:
            await bench.until(lambda now: now.store.info)
            heard.append(any(clash in note.message for note in bench.app._notifications))

    assert heard == [True, False]


async def test_faults_of_a_keymap_are_reported_and_ignored(shared_store: Path, state_home: Path) -> None:
    keymap(state_home, '[keys]\nzoom = ["^i"]\n' + "".join(f"nosuch{number} = []\n" for number in range(9)))
    async with workbench(shared_store, is_own=True) as bench:
        await bench.until(lambda _: list(bench.app._notifications))

        (report,) = bench.app._notifications
        lines = report.message.splitlines()
        assert report.message.count(str(state_home)) == 1
        assert "keymap.toml:2: zoom: terminals send ^i as Tab" in lines[1]
        assert lines[2] == "keymap.toml:3: unknown action 'nosuch0'"
        assert lines[-1] == "4 more, all of them: recall-tui --keys"
        await bench.press("escape", "z")
        assert bench.session.zoomed


# Files left by a defect.


async def test_a_signal_keeps_the_offered_query_and_typed_text(shared_store: Path, state_home: Path) -> None:
    write_private(state_home / "recall" / "interrupted-20250101-000000-1.rql", "token budget")
    async with workbench(shared_store, is_own=True) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        bench.app.bench.editor.text = "tea"

        bench.app._stopped_from_outside()
        await bench.pilot.pause()

    assert {kept.query for kept in kept_queries(os.environ)} == {"token budget", "tea"}


async def test_a_declined_query_is_deleted_and_the_next_offered(shared_store: Path, state_home: Path) -> None:
    folder = state_home / "recall"
    write_private(folder / "interrupted-20250101-000000-1.rql", "household tea")
    write_private(folder / "interrupted-20250101-000001-1.rql", "token budget")
    for query in ("token budget", "household tea"):
        async with workbench(shared_store, is_own=True) as bench:
            await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
            assert query in plain_text(bench.app)
            await asyncio.sleep(READING_SECONDS)
            await bench.press("n")
            await bench.until(lambda _: bench.app.screen is bench.app.bench)

            assert bench.app.bench.editor.text == ""

    assert kept_queries(os.environ) == []


async def test_a_kept_query_is_offered_once_and_keys_wait(shared_store: Path, state_home: Path) -> None:
    keep_query("token budget", os.environ)
    ahead = [Key(letter, letter) for letter in "yny"] + [Key("escape", "\x1b"), Key("Y", "Y")]
    async with workbench(shared_store, is_own=True) as bench:
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
    async with workbench(shared_store, is_own=True) as bench:
        await bench.until(lambda now: now.store.info)

        assert bench.app.screen is bench.app.bench
        assert bench.app.bench.editor.text == ""


async def test_ctrl_q_typed_ahead_quits(shared_store: Path, state_home: Path) -> None:
    keep_query("token budget", os.environ)
    ahead = Key("ctrl+q", "\x11")
    async with workbench(shared_store, is_own=True) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        bench.app.post_message(ahead)
        await bench.pilot.pause()

    assert bench.app.return_code == 0


# Themes.


async def test_a_chosen_theme_is_previewed_and_remembered(shared_store: Path, state_home: Path) -> None:
    async with workbench(shared_store, is_own=True) as bench:
        await bench.press("f9", "down")
        await bench.until(lambda _: bench.app.theme == "light")
        await bench.press("escape")
        await bench.until(lambda _: bench.app.theme == "dark")
        assert not (state_home / "recall" / "workbench.json").exists()
        await bench.press("f9", "down", "down", "enter")
        await bench.until(lambda _: bench.app.theme == "high-contrast")
        assert bench.app.screen is bench.app.bench
    async with workbench(shared_store, is_own=True) as bench:
        assert bench.app.theme == "high-contrast"
        await bench.press("f9")
        await bench.until(lambda _: isinstance(bench.app.screen, ThemeScreen))
        await bench.pilot.click(PointedList, offset=(3, 1))
        await bench.until(lambda _: bench.app.theme == "light" and bench.app.screen is bench.app.bench)


@pytest.mark.slow
async def test_two_workbenches_save_their_preferences_together(shared_store: Path, state_home: Path) -> None:
    async with workbench(shared_store) as one, workbench(shared_store) as other:
        shell.take_theme(one.app, "light")
        await other.press("escape", "ctrl+left")
        await other.until(lambda _: kept(state_home)["layouts"])
        sizes = kept(state_home)["layouts"]

        assert kept(state_home)["theme"] == "light"
        shell.take_theme(one.app, "dark")

    assert kept(state_home) == {"theme": "dark", "layouts": sizes}


async def test_no_color_overrides_a_saved_theme(
    shared_store: Path, state_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_private(state_home / "recall" / "workbench.json", '{"theme": "light"}')
    monkeypatch.setenv("NO_COLOR", "1")
    async with workbench(shared_store, is_own=True) as bench:
        await bench.press("f9")

        assert bench.app.theme == "no-colour"
        assert bench.app.screen is bench.app.bench


# Sizes.


@pytest.mark.slow
async def test_keys_move_borders_for_each_screen_size(shared_store: Path, state_home: Path) -> None:
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


async def test_borders_move_by_key_and_mouse_and_are_saved(shared_store: Path, state_home: Path) -> None:
    async with workbench(shared_store) as bench:
        body, right = bench.app.bench.query_one("#body"), bench.app.bench.query_one("#right")
        explain = bench.app.bench.query_one("#explain")
        before = right.outer_size.width
        await bench.type("two words")
        await bench.press("ctrl+left")
        assert bench.app.bench.editor.cursor == 4
        assert not (state_home / "recall" / "workbench.json").exists()

        await bench.pilot.mouse_down(body, offset=(right.region.x, 20))
        await bench.pilot.hover(body, offset=(59, 20))
        await bench.pilot.mouse_up(body, offset=(60, 20))
        await bench.until(lambda _: right.outer_size.width == 60)
        top = bench.app.bench.query_one("#results").region.bottom - 1
        await bench.pilot.mouse_down(body, offset=(10, top - body.region.y))
        await bench.pilot.mouse_up(body, offset=(10, top - body.region.y - 6))
        await bench.until(lambda _: explain.region.y < top - 3)
        assert kept(state_home)["layouts"]

        await bench.press("escape", "ctrl+right", "ctrl+down", "5", "z")
        await bench.until(lambda _: bench.app.bench.query_one("#context").outer_size.width == 120)
        await bench.press("ctrl+left", "z", "3", "z")
        await bench.until(lambda _: explain.outer_size.height == 37)
        await bench.press("z")
        assert right.outer_size.width != before
    async with workbench(shared_store, is_own=True) as bench:
        right = bench.app.bench.query_one("#right")
        await bench.until(lambda _: right.outer_size.width != before)
        await bench.press("f7")
        await bench.until(lambda _: right.outer_size.width == before)


# Letters.


async def test_a_letter_jumps_to_its_pane_or_row(shared_store: Path) -> None:
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
        await bench.press("ctrl+o")
        await bench.until(lambda _: isinstance(bench.app.screen, JumpScreen))
        label = next(each for each in bench.app.screen.query(Label) if each.mark.pane == "context")
        await bench.pilot.click(label)
        await bench.until(lambda now: now.pane == "context")


@pytest.mark.parametrize("size", [pytest.param(NARROW, marks=pytest.mark.slow), (120, 40)])
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


# The bars, and the mouse in them.


async def test_bars_keep_a_blank_at_the_right_edge(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape")
        for size in (NARROW, *(((100, 30), (120, 40), (200, 60)) if NIGHTLY else ())):
            await bench.pilot.resize_terminal(*size)
            for key in "2345678":
                await bench.press(key)
                await bench.pilot.pause()

                painted = [bench.painted(bar).ljust(size[0]) for bar in ("header", "status", "footer")]
                assert [(line[-1], len(line)) for line in painted] == [(" ", size[0])] * 3, (size, key)


async def test_clicks_in_bars_and_panes_run_their_action(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await click_text(bench, "status", "Y copies")
        await bench.until(lambda _: "recall" in bench.app.clipboard)
        await bench.press("escape")
        await bench.until(lambda _: " why missing" in bench.painted("footer"))
        for bar, text, screen in (("footer", "why missing", TargetScreen), ("header", "? help", HelpScreen)):
            await click_text(bench, bar, text)
            await bench.until(lambda _, screen=screen: isinstance(bench.app.screen, screen))
            await bench.press("escape")

        for pane in ("query", "results", "explain", "weights", "context", "judge"):
            await bench.press("escape", "1" if pane != "query" else "2")
            place = bench.app.bench.query_one(f"#{pane}")
            await bench.pilot.click(place, offset=(place.outer_size.width // 2, 1))
            await bench.until(lambda now, pane=pane: now.pane == pane)


async def test_tabs_and_budget_are_clickable_on_a_narrow_screen(shared_store: Path) -> None:
    async with workbench(shared_store, size=NARROW) as bench:
        await bench.until(lambda now: now.store.info and now.is_narrow)
        for pane in ("weights", "context", "judge", "store"):
            await click_text(bench, "status", pane)
            await bench.until(lambda now, pane=pane: now.pane == pane == now.tab)

        await click_text(bench, "status", "of 2,000 tokens")
        await bench.until(lambda _: bench.app.screen.query("#hint"))


async def test_the_wheel_scrolls_results_and_explain(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 34)) as bench:
        await bench.ask()
        for pane in ("results", "explain"):
            box = bench.app.bench.query_one(f"#{pane}")

            def long(box: Widget = box) -> list[Widget]:
                return [each for each in (box, *box.query(Widget)) if each.is_scrollable and each.max_scroll_y > 0]

            await bench.until(lambda _, long=long: long())
            view = long()[0]
            x, y = view.region.offset
            view.post_message(MouseScrollDown(view, x + 3, y + 3, 0, 1, 0, False, False, False))
            await bench.until(lambda _, view=view: view.scroll_y > 0)


# Help, palette, pictures.


async def test_help_starts_with_the_pane_scrolls_and_searches(shared_store: Path) -> None:
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


async def test_the_palette_lists_possible_actions_first(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.press("ctrl+p")
        await bench.until(lambda _: isinstance(bench.app.screen, CommandPalette))
        copies = next(action.help for action in bench.app.table.actions if action.id == "copy_context")
        await bench.write(copies)
        await bench.until(lambda _: plain_text(bench.app).count(copies) == 2)  # as typed, and as found
        assert "y, not now: the context is empty" in plain_text(bench.app)
        await bench.press("escape")

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
        assert len(list(groupby(order))) == len(set(order)), "each group is in one piece"


def listed_in(bench: Driver) -> list[DiscoveryHit | Hit]:
    """Return the entries of the palette."""
    return [
        each.get_option_at_index(row).hit
        for each in bench.app.screen.query(CommandList)
        for row in range(each.option_count)
    ]


async def test_the_screen_is_saved_as_picture_or_text(
    shared_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.txt").write_text("old", encoding="utf-8")
    Path("loop.txt").symlink_to("loop.txt")
    async with workbench(shared_store) as bench:
        await bench.ask()
        for name, begins in (("shot.svg", "<svg"), ("shot.txt", " recall")):
            await bench.press("f8")
            await bench.write(name)
            await bench.press("enter")
            await bench.until(lambda _, name=name: Path(name).exists())

            text = Path(name).read_text(encoding="utf-8")
            assert text.startswith(begins)
            assert "url(http" not in text.replace('"', "")
            assert "docs/budget.md:1 " in text.replace("&#160;", " ")

        for name in ("loop.txt", "loop.txt/shot.svg"):
            await bench.until(lambda _: bench.app.screen is bench.app.bench)
            bench.app.clear_notifications()
            await bench.press("f8")
            await bench.write(name)
            await bench.press("enter")
            await bench.until(lambda _: list(bench.app._notifications))
            (report,) = bench.app._notifications
            assert report.message.endswith("cannot be written: Too many levels of symbolic links"), name

        await bench.press("f8")
        await bench.write("shot.png")
        await bench.press("enter")
        assert "The name must end in .svg or .txt." in str(bench.app.screen.query_one("#hint", Static).render())
        await bench.write("old.txt")
        await bench.press("enter")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        await bench.press("n")
        await bench.pilot.pause()
    assert Path("old.txt").read_text(encoding="utf-8") == "old"


@pytest.mark.slow
async def test_a_closed_dialog_leaves_nothing_behind(shared_store: Path) -> None:
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


# Quitting, failures and notices.


async def test_notices_are_short_and_failures_stay_longer(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        for keys in (["ctrl+c"], ["escape", "ctrl+c"]):
            bench.app.clear_notifications()
            await bench.press(*keys)
            await bench.until(lambda _: list(bench.app._notifications))
            assert "^q quits" in next(iter(bench.app._notifications)).message, keys
            assert bench.app.is_running

        bench.app.clear_notifications()
        bench.app.warn("it failed")
        bench.app.notify("it is so")
        await bench.until(lambda _: len(bench.app._notifications) == 2)
        seconds = {notice.message: notice.timeout for notice in bench.app._notifications}
        assert seconds["it failed"] >= 10 > seconds["it is so"]

        for text in ("token budget " * 60, "打开文件 " * 60):
            bench.app.clear_notifications()
            bench.app.copy(f"recall search '{text}'\n", f"recall search '{text}'\n")
            await bench.until(lambda _: list(bench.app._notifications))
            (notice,) = bench.app._notifications
            assert bench.app.clipboard == f"recall search '{text}'\n"
            assert notice.message.startswith("Copied: recall search '")
            assert notice.message.endswith(UNICODE.cut)
            assert cell_len(notice.message) <= 70
            assert "\n" not in notice.message

        bench.app.clear_notifications()
        bench.app.copy("recall stats", "recall stats")
        await bench.until(lambda _: list(bench.app._notifications))
        assert [note.message for note in bench.app._notifications] == ["Copied: recall stats"]


async def test_the_smallest_terminal_shows_hits_and_every_pane(shared_store: Path) -> None:
    async with workbench(shared_store, size=(60, 20)) as bench:
        await bench.ask()
        for pane in "34568" if NIGHTLY else "38":
            await bench.press("escape", pane)
            await bench.until(lambda now: now.pane not in ("query", "results"))
            lines = bench.painted("results").splitlines()
            assert sum("docs/" in line or "src/" in line for line in lines) >= 2, pane
            await bench.press("z")
            await bench.until(lambda now: now.zoomed)
            assert bench.app.bench.query_one(f"#{bench.session.pane}").size.height >= 12, pane
            await bench.press("z")
            await bench.until(lambda now: not now.zoomed)


async def test_notices_and_palette_follow_an_ascii_locale(
    shared_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    severities: tuple[Literal["information", "warning", "error"], ...] = ("information", "warning", "error")
    async with workbench(shared_store, is_own=True) as bench:
        bench.app._disable_notifications = False
        for severity in severities:
            bench.app.clear_notifications()
            bench.app.notify("Said.", severity=severity)
            await bench.press("ctrl+p")

            await bench.until(lambda _: all(text in plain_text(bench.app) for text in ("Said.", "Edit the query")))
            assert plain_text(bench.app).isascii(), severity
            await bench.press("escape")
