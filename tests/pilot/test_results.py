"""Moving through the results, and the ledger that follows."""

import re
from pathlib import Path

from textual.events import MouseDown, MouseUp
from textual.geometry import Offset, Region

from recall_core.api.recall import Recall
from recall_core.types import Root
from recall_tui.panes.results import ResultsPane
from tests.workbench_driver import Driver, workbench


def marked(bench: Driver) -> str:
    """Return the row with the pointer."""
    return next(line for line in bench.painted("results").splitlines() if line.startswith("▶"))


def underlined(bench: Driver) -> list[str]:
    """Return the underlined text in the first line of each row, the words of a row joined by a blank."""
    pane = bench.app.bench.query_one(ResultsPane)
    strips = [pane.render_line(y) for y in range(1, pane.size.height, pane.row_height)]
    return [" ".join(part.text for part in strip if part.style and part.style.underline) for strip in strips]


async def test_words_of_the_query_are_underlined_in_headings_and_titles(
    shared_store: Path,
) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask("tokens, diaries and scoring")
        by_place = dict(zip(places(bench), underlined(bench), strict=False))

        assert by_place["docs/budget.md:3 › Token budget"] == "Token"
        assert by_place["docs/scoring.md:1 › Scoring"] == "Scoring"
        assert by_place["notes/diary.txt:1"] == "diary"
        assert next(words for place, words in by_place.items() if place.startswith("src/pack.py:")) == ""

        await bench.ask("household budget")

        assert dict(zip(places(bench), underlined(bench), strict=False))["notes/diary.txt:1"] == ""


async def test_a_caution_appears_if_no_row_has_a_word(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        for words, is_said in (("zzyzx", True), ("household budget", False)):
            await bench.ask(words)
            above, *rows = bench.painted("results").splitlines()[1:]
            assert ("No row has a query term: ranked by meaning alone" in above) == is_said, words
            assert rows


def places(bench: Driver) -> list[str]:
    """Return path, line and heading of each drawn row."""
    return re.findall(r"\d\.\d{3} \S* +(\S+:\d+.*?)(?= +\d+ *$)", bench.painted("results"), re.MULTILINE)


async def test_keys_and_clicks_select_a_row_and_the_ledger_follows(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "k", "up")
        assert bench.session.results.selected == 0
        await bench.press("j")
        assert bench.session.results.selected == 1
        assert "src/pack.py" in marked(bench)
        assert "3 Explain #2" in bench.painted("explain")

        await bench.press("3", "z")
        await bench.until(lambda now: now.zoomed)
        await bench.press("z")
        await bench.until(lambda now: not now.zoomed)
        await bench.until(lambda _: bench.app.bench.query_one("#results").size.height > 5)
        assert bench.app.bench.query_one("#results").scroll_offset.y == 0

        await bench.press("2", "end", "down", "j")
        assert bench.session.results.answer is not None
        assert bench.session.results.selected == bench.session.results.answer.total - 1
        await bench.press("home")
        assert bench.session.results.selected == 0
        rows = bench.app.bench.query_one(ResultsPane).rows_to_page(1)
        await bench.press("pagedown", "space")
        assert bench.session.results.selected == 2 * rows
        await bench.press("pageup")
        assert bench.session.results.selected == rows
        await bench.press("home")
        assert bench.session.results.selected == 0

        x, y = bench.app.bench.query_one(ResultsPane).region.offset + Offset(20, 6)
        at = {"x": x, "y": y, "screen_x": x, "screen_y": y, "delta_x": 0, "delta_y": 0}
        for button, picked in ((2, 0), (3, 0), (1, 2)):  # through the app, as from a terminal
            for kind in (MouseDown, MouseUp):
                bench.app.post_message(kind(None, **at, button=button, shift=False, meta=False, ctrl=False))
            await bench.pilot.pause()
            await bench.until(lambda now, picked=picked: now.results.selected == picked)
        await bench.press("home", "1")
        await bench.pilot.click(ResultsPane, offset=(20, 6))
        assert bench.session.results.selected == 2
        assert bench.session.pane == "results"

        await bench.press("f5")
        await bench.until(lambda now: not now.query.busy)
        assert bench.session.results.selected == 2
        await bench.ask("cosine")
        assert bench.session.results.selected == 0


async def test_the_last_row_is_fetched_when_visible(own_store: Path) -> None:
    many = own_store.parent / "many"
    many.mkdir()
    for number in range(150):
        (many / f"n{number:03}.txt").write_text(f"The budget of note {number}.\n", encoding="utf-8")
    with Recall.open(str(own_store)) as recall:
        for _ in recall.add([str(many)], Root("")):
            pass
    async with workbench(own_store) as bench:
        await bench.ask("budget note")
        await bench.press("escape", "+", "+", "+")
        await bench.until(lambda now: (answer := now.results.answer) and answer.plan.limit == answer.total)
        total = bench.session.results.answer.total if bench.session.results.answer else 0
        assert total > 150
        assert total - 1 not in bench.session.results.hits

        await bench.press("end")
        await bench.until(lambda now: total - 1 in now.results.hits)

        await bench.until(lambda _: f"▶ {total} " in bench.painted("results"))
        assert f"3 Explain #{total}" in bench.painted("explain")


async def test_no_name_or_text_controls_the_terminal(own_store: Path) -> None:
    steering = own_store.parent / "notes" / "zebra\x1b[31m\u202e\nfdp.md"
    steering.write_text("Zebras \x1b]0;another title\x07 \x9b2J and\u2066 stripes.\n", encoding="utf-8")
    with Recall.open(str(own_store)) as recall:
        for _ in recall.add([str(steering)], Root("")):
            pass

    async with workbench(own_store) as bench:
        await bench.ask("zebras")
        await bench.press("escape", "3", "right")
        await bench.until(lambda _: "stripes" in bench.painted("explain"))
        drawn = "".join(
            segment.text
            for widget in bench.app.screen.walk_children()
            for strip in widget.render_lines(Region(0, 0, *widget.size))
            for segment in strip
        )

    assert "zebra[31mfdp.md" in drawn
    assert not {mark for mark in drawn if mark < " " or "\x7f" <= mark < "\xa0" or mark in "\u202e\u2066"}


async def test_lists_show_the_ends_of_long_paths(own_store: Path) -> None:
    folder = own_store.parent / "a folder with a rather long name" / "and another one in it with a longer one"
    folder.mkdir(parents=True)
    for name in ("first.md", "second.md"):
        (folder / name).write_text(f"# A heading\n\nZebras of the {name}.\n", encoding="utf-8")
    with Recall.open(str(own_store)) as recall:
        for _ in recall.add([str(folder)], Root("")):
            pass

    async with workbench(own_store, size=(120, 40)) as bench:
        await bench.ask("zebras")
        for name in ("first.md", "second.md"):
            assert re.search(rf"/{name}:3 ", bench.painted("results"))
            assert re.search(rf"…/{name}:1 ", bench.painted("packed"))
        await bench.press("escape", "b", "2", "0", "enter")
        await bench.until(lambda now: now.context.packed and now.context.packed.omitted)
        await bench.until(lambda _: re.search(r"× .*(first|second)\.md", bench.painted("packed")))
