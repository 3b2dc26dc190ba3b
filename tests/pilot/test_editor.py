"""The query pane as an editor of RQL: colours, bracket pairs and completions."""

from __future__ import annotations

import math
import os
import random
from pathlib import Path

import pytest
from rich.style import Style
from textual.events import Paste

from recall_core.errors import UsageError
from recall_tui.handlers.query import put_text
from recall_tui.host import Happened
from recall_tui.state.events import Failed
from recall_tui.widgets.editor import FAULT, MOST_READ, PARTNER, STYLES
from tests.workbench_driver import Driver, workbench

RQL = "SELECT * FROM chunk USING lexical('budget') "
SIZES = (
    (60, 20),
    *(pytest.param(each, marks=pytest.mark.slow) for each in ((80, 24), (120, 40), (200, 60))),
)
NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
LINES = "SELECT *\nFROM chunk\nUSING lexical('budget')\nFILTER doc.tag = 'docs'\nORDER BY score\nLIMIT 5\nOFFSET 2"


def styled(bench: Driver, line: int = 0) -> dict[str, list[Style]]:
    """Return the styles of a line of the editor, by styled text."""
    text = bench.app.bench.editor.get_line(line)
    found: dict[str, list[Style]] = {}
    for span in text.spans:
        assert isinstance(span.style, Style)
        found.setdefault(text.plain[span.start : span.end], []).append(span.style)
    return found


def offered(bench: Driver) -> list[str]:
    """Return the candidates in the open list."""
    offers = bench.app.bench.editor.offers
    assert offers.is_open == bool(offers.display)
    return [str(option.prompt).split()[0] for option in offers.options] if offers.is_open else []


async def test_rql_is_coloured_with_errors_and_brackets_marked(shared_store: Path) -> None:
    rql = "SELECT * FROM chunk\nFILTER (doc.path = 'a(' OR doc.path = 'b')"
    async with workbench(shared_store) as bench:
        await bench.ask("token budget FROM chunk 'x'")
        assert styled(bench) == {}
        await bench.ask("SELECT *\nFROM chunk FILTER doc.path GLOB 'src/**'\nLIMIT 2")
        assert styled(bench, 0)["SELECT"] == [STYLES["keyword"]]
        assert styled(bench, 1)["'src/**'"] == [STYLES["string"]]
        assert styled(bench, 2)["2"] == [STYLES["number"]]

        bench.app.bench.editor.text = "SELECT *\nFROM chunk\nFILTER doc.tgas = 'x'"
        await bench.until(lambda now: now.query.trouble)
        assert FAULT in styled(bench, 2)["doc.tgas"]
        assert "3:8 There is no field doc.tgas" in bench.painted("notes")

        await bench.ask(rql)
        editor = bench.app.bench.editor
        assert offered(bench) == []  # a pasted query opens no list
        editor.move_cursor((1, 7))
        line = editor.get_line(1)
        marked = [span.start for span in line.spans if span.style == PARTNER]
        editor.move_cursor((0, 3))
        assert marked == [rql.splitlines()[1].rindex(")")]
        assert PARTNER not in [span.style for span in editor.get_line(1).spans]

        error = UsageError("bad", "No.")
        bench.app.post_message(Happened(Failed(bench.session.query.question, error)))
        await bench.until(lambda now: now.query.trouble)
        for row in range(2):  # an error without a place
            assert all(FAULT not in styles for styles in styled(bench, row).values())


async def test_candidates_are_taken_by_tab_arrows_and_click(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        editor = bench.app.bench.editor
        await bench.write("SELECT * FROM ch")
        assert offered(bench) == ["chunk"]
        await bench.press("tab")
        assert editor.text == "SELECT * FROM chunk"
        assert (offered(bench), bench.session.pane) == ([], "query")
        await bench.press("ctrl+z")
        assert editor.text == "SELECT * FROM ch"
        await bench.press("ctrl+y", "tab")
        assert bench.session.pane == "results"

        await bench.press("1")
        await bench.write(f"{RQL}FILTER doc.t")
        assert offered(bench) == ["doc.tag", "doc.tags", "doc.title"]
        await bench.press("down", "enter")
        assert editor.text == f"{RQL}FILTER doc.tags"
        assert editor.cursor == len(f"{RQL}FILTER doc.tags")

        await bench.write("SELECT * FROM ")
        await bench.pilot.click(editor.offers, offset=(4, 2))
        await bench.pilot.pause()
        assert editor.text == "SELECT * FROM doc"


async def test_enter_tab_and_escape_keep_their_meaning_without_a_choice(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        editor = bench.app.bench.editor
        await bench.write(RQL)
        assert "FILTER" in offered(bench)
        await bench.press("enter")
        assert editor.text == f"{RQL}\n"
        assert offered(bench) == []

        await bench.write(f"{RQL}FILTER doc.tag")
        assert offered(bench) == []
        await bench.press("enter", "tab")
        assert editor.text == f"{RQL}FILTER doc.tag\n"
        assert bench.session.pane == "results"

        await bench.press("1")
        await bench.write("SELECT * FROM ")
        assert offered(bench) == ["chunk", "doc"]
        await bench.press("escape")
        assert (offered(bench), bench.session.pane) == ([], "query")
        await bench.press("escape")
        assert bench.session.pane == "results"

        await bench.press("1")
        await bench.write("from ch")  # words
        assert offered(bench) == []
        await bench.press("enter", "tab")
        assert editor.text == "from ch\n"
        assert bench.session.pane == "results"


async def test_the_list_closes_when_the_cursor_or_screen_changes(shared_store: Path) -> None:
    async with workbench(shared_store, size=(60, 20)) as bench:
        await bench.write("SELECT * FROM chunk USING lexical('a') FILTER doc.")
        await bench.pilot.pause()
        region = bench.app.bench.editor.offers.region
        assert bench.app.bench.region.contains_region(region)
        assert region.height > 3

        await bench.write("SELECT * FROM do")
        await bench.press("backspace", "backspace")
        assert offered(bench) == ["chunk", "doc"]
        await bench.press("left")
        assert offered(bench) == []

        await bench.write("SELECT * FROM ")
        await bench.press("f1", "escape")
        assert offered(bench) == []

        await bench.write(f"{RQL}{' ' * MOST_READ} FIL")  # too long to read at every key
        assert offered(bench) == []
        assert STYLES["keyword"] not in [style for styles in styled(bench).values() for style in styles]


async def test_values_of_the_store_arrive_while_typing(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.write(f"{RQL}FILTER doc.path = 'docs/")

        await bench.until(lambda _: len(offered(bench)) == 3)

        assert offered(bench) == ["'docs/budget.md'", "'docs/files.md'", "'docs/scoring.md'"]
        assert bench.session.query.lookups == ()
        await bench.press("down", "tab")
        await bench.until(lambda now: now.results.answer and now.results.answer.plan.rql and not now.query.busy)
        assert bench.app.bench.editor.text == f"{RQL}FILTER doc.path = 'docs/files.md'"


async def test_known_names_are_offered_without_asking_the_store(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.write(f"{RQL}FILTER doc.path = 'manual/part3")  # too long a list for one lookup
        await bench.until(lambda _: offered(bench) == ["'manual/part30.txt'"])

        await bench.write(f"{RQL}FILTER doc.source = '")
        await bench.until(lambda now: now.query.entries and not now.query.lookups)
        known = bench.session.query.entries

        await bench.type("x")
        await bench.until(lambda now: now.query.trouble)

        assert bench.session.query.entries is known


# Undo and redo with a text that is taller than its box only before, or only after.


def has_cursor_in_sight(bench: Driver) -> bool:
    editor = bench.app.bench.editor
    row = editor.wrapped_document.location_to_offset(editor.cursor_location).y
    return editor.scroll_offset.y <= row < editor.scroll_offset.y + editor.size.height


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_undo_and_redo_restore_line_breaks(shared_store: Path, size: tuple[int, int]) -> None:
    async with workbench(shared_store, size=size) as bench:
        editor = bench.app.bench.editor
        await bench.press(*["enter"] * 5)

        for breaks in range(4, -1, -1):
            await bench.press("ctrl+z")
            assert editor.text == "\n" * breaks
            assert has_cursor_in_sight(bench)
        for breaks in range(1, 6):
            await bench.press("ctrl+y")
            assert editor.text == "\n" * breaks
            assert has_cursor_in_sight(bench)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("lines", [3, pytest.param(7, marks=pytest.mark.slow)])
async def test_undo_and_redo_restore_pasted_lines(shared_store: Path, size: tuple[int, int], lines: int) -> None:
    pasted = "".join(LINES.splitlines(keepends=True)[:lines])
    async with workbench(shared_store, size=size) as bench:
        editor = bench.app.bench.editor
        bench.app.post_message(Paste(pasted))
        await bench.until(lambda _: editor.text == pasted)

        await bench.press("ctrl+z")
        assert editor.text == ""
        await bench.press("ctrl+y")
        assert editor.text == pasted
        editor.select_all()
        await bench.press("delete", "ctrl+z")
        assert editor.text == pasted
        await bench.press("ctrl+y")
        assert editor.text == ""
        assert has_cursor_in_sight(bench)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_undo_and_redo_restore_a_replaced_text(shared_store: Path, size: tuple[int, int]) -> None:
    async with workbench(shared_store, size=size) as bench:
        editor = bench.app.bench.editor
        for text in (LINES, "tea", LINES):
            put_text(bench.app, text)
            await bench.pilot.pause()

        for text in ("tea", LINES, ""):
            await bench.press("ctrl+z")
            assert editor.text == text
        for text in (LINES, "tea", LINES):
            await bench.press("ctrl+y")
            assert editor.text == text
            assert has_cursor_in_sight(bench)


@pytest.mark.parametrize("size", SIZES)
async def test_undo_removes_a_candidate_below_many_lines(shared_store: Path, size: tuple[int, int]) -> None:
    above = "\n" * 4 + "SELECT * FROM "
    async with workbench(shared_store, size=size) as bench:
        editor = bench.app.bench.editor
        editor.history.checkpoint_timer = math.inf
        bench.app.post_message(Paste(above))
        await bench.until(lambda _: editor.text == above)
        await bench.press("c", "h")
        await bench.press("tab")
        assert editor.text == f"{above}chunk"

        for text in (f"{above}ch", above, ""):
            await bench.press("ctrl+z")
            assert editor.text == text
        for text in (above, f"{above}ch", f"{above}chunk"):
            await bench.press("ctrl+y")
            assert editor.text == text


EDITS = (
    *("delete_left", "delete_right", "delete_word_left", "delete_word_right", "delete_line", "cut", "paste"),
    *("delete_to_start_of_line", "delete_to_end_of_line_or_delete_line"),
    *("cursor_up", "cursor_down", "cursor_left", "cursor_right", "cursor_line_start", "cursor_line_end"),
    *("cursor_up(True)", "cursor_down(True)", "select_line", "select_all"),
)
TEXTS = ("a", " ", "(", "\n", "\n\n\n", "two\nlines", LINES, "word " * 50, "漢字🎉\n\tä\r\nend\r\n", "FROM ch")


async def changed_somehow(bench: Driver, chance: random.Random) -> None:
    """Make one undoable change in the editor, or none."""
    editor = bench.app.bench.editor
    editor.history.checkpoint()
    how = chance.random()
    if how < 0.3:
        bench.app.post_message(Paste(chance.choice(TEXTS)))
        await bench.pilot.pause()
    elif how < 0.4:
        put_text(bench.app, chance.choice(TEXTS))
    elif how < 0.5:
        await bench.press(chance.choice(("tab", "enter", "x")) if editor.offers.is_open else "enter")
        bench.app.bench.give_focus("query")
    else:
        await editor.run_action(chance.choice(EDITS))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
async def test_undo_and_redo_restore_every_text(shared_store: Path, size: tuple[int, int], seed: int) -> None:
    chance = random.Random(f"{seed} {size}")
    async with workbench(shared_store, size=size) as bench:
        editor = bench.app.bench.editor
        undone: list[str] = []
        done: list[str] = []
        for _ in range(48 if NIGHTLY else 24):  # no more than the editor remembers
            text, steps = editor.text, len(editor.history.undo_stack)
            await changed_somehow(bench, chance)
            if len(editor.history.undo_stack) > steps:
                done, undone = [*done, text], []
            for _ in range(chance.choice((0, 0, 1, 2, 5)) if chance.random() < 0.5 else 0):
                source, target, act = chance.choice(((done, undone, editor.undo), (undone, done, editor.redo)))
                if source:
                    target.append(editor.text)
                    act()
                    assert editor.text == source.pop()
            if chance.random() < 0.5:
                await bench.pilot.pause()
            assert bench.app._exception is None
        await bench.pilot.pause()
