"""The weights pane: keys, mouse, what it draws, and the command that reproduces it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from textual.events import MouseScrollDown

from recall_core.config import load
from recall_tui.screens.confirm import ConfirmScreen
from recall_tui.session import Session
from recall_tui.weighing import current, share
from recall_tui.widgets.slider import Slider
from tests.workbench_driver import Driver, workbench


def stands_at(semantic: float) -> object:
    """The rows are those of this share."""

    def holds(now: Session) -> object:
        return now.answer and round(share(now.answer.plan.config), 2) == semantic

    return holds


async def weigh(bench: Driver, text: str = "token budget") -> None:
    """Ask, and go to the weights."""
    await bench.ask(text)
    await bench.press("escape", "4")


@pytest.mark.parametrize(
    ("keys", "semantic"),
    [
        (["right"], 0.15),
        (["right", "right", "left"], 0.15),
        (["shift+right"], 0.11),
        (["shift+left"], 0.09),
        (["left", "left", "left"], 0.0),
        (["right", "right", "u"], 0.15),
        (["right", "right", "r"], 0.1),
        (["right", "right", "r", "u"], 0.2),
    ],
)
async def test_the_ranking_follows_the_slider(shared_store: Path, keys: list[str], semantic: float) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)

        await bench.press(*keys)
        await bench.until(stands_at(semantic))  # type: ignore[arg-type]

        hit = bench.session.hit
        assert hit is not None
        assert [round(part.weight, 2) for part in hit.parts] == [round(1 - semantic, 2), semantic]
        assert f"{semantic:.2f} semantic" in bench.painted("slider")


@pytest.mark.parametrize(
    ("key", "setting", "value"),
    [("f", "fusion", "rrf"), ("n", "normalize", "max"), ("s", "sparse_recall", False), (">", "min_score", 0.05)],
)
async def test_a_letter_changes_its_setting_and_the_rows(
    shared_store: Path, key: str, setting: str, value: object
) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)

        await bench.press({">": "greater_than_sign"}.get(key, key))
        await bench.until(lambda now: now.answer and getattr(now.answer.plan.config, setting) == value)

        assert "*" in bench.painted("board")
        assert "(changed)" in str(bench.app.bench.query_one("#weights").border_title)
        await bench.press("r")
        await bench.until(lambda now: now.answer and getattr(now.answer.plan.config, setting) != value)


async def test_the_least_score_goes_down_again(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)

        await bench.press("greater_than_sign", "greater_than_sign", "less_than_sign")
        await bench.until(lambda now: now.answer and now.answer.plan.config.min_score == 0.05)

        assert bench.session.answer is not None
        assert bench.session.answer.total == 3


async def test_rows_say_how_far_they_have_come(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench, "keep the manual in mind")
        saved = {hit.chunk.id: hit.rank for hit in bench.session.hits.values() if hit.chunk}
        assert "move" not in bench.painted("results")

        await bench.press(*["right"] * 18)
        await bench.until(stands_at(1.0))  # type: ignore[arg-type]

        moves = {row: hit for row, hit in bench.session.hits.items() if hit.chunk and saved[hit.chunk.id] != row + 1}
        assert moves
        assert all(
            bench.session.before[row] == saved[hit.chunk.id] for row, hit in bench.session.hits.items() if hit.chunk
        )
        assert "▲" in bench.painted("results")


async def test_the_context_is_packed_again(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench, "keep the manual in mind")
        before = bench.session.packed

        await bench.press(*["right"] * 18)
        await bench.until(stands_at(1.0))  # type: ignore[arg-type]
        await bench.until(lambda now: now.packed != before)

        assert bench.session.packed is not None


async def test_the_weights_stay_for_the_next_question(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)
        await bench.press("right")

        await bench.ask("household tea")

        assert bench.session.answer is not None
        assert bench.session.answer.plan.config.vector_weight == 0.15
        assert bench.session.before


async def test_a_click_a_drag_and_the_wheel_move_the_slider(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        slider = bench.app.bench.query_one(Slider)
        cell = slider.cell_of(0.5)
        aimed = slider.share_at(cell)

        await bench.pilot.click(Slider, offset=(cell, 0))
        await bench.until(stands_at(aimed))  # type: ignore[arg-type]
        assert bench.session.pane == "weights"

        start, end = slider.cell_of(aimed), slider.track[1]
        await bench.pilot.mouse_down(Slider, offset=(start, 0))
        for at in range(start, end + 1):
            await bench.pilot.hover(Slider, offset=(at, 0))
        await bench.pilot.mouse_up(Slider, offset=(end, 0))
        await bench.until(stands_at(1.0))  # type: ignore[arg-type]
        await bench.press("u")
        await bench.until(stands_at(aimed))  # type: ignore[arg-type]

        slider.post_message(wheel(slider))
        await bench.until(stands_at(round(aimed - 0.05, 2)))  # type: ignore[arg-type]


def wheel(slider: Slider) -> MouseScrollDown:
    return MouseScrollDown(slider, 5, 0, 0, 0, 0, shift=False, meta=False, ctrl=False)


async def test_the_board_draws_a_line_a_rank_and_says_how_stable_the_weight_is(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)
        await bench.until(lambda now: now.chart)

        rows = bench.painted("board").splitlines()

        assert [row[0] for row in rows if row[:2].strip().isdigit()] == list("12345678")
        assert "✓ steady by 0.100 · top 8 order holds" in bench.painted("board")
        assert "▲" in bench.painted("board")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT * FROM chunk", "names no signal"),
        ("SELECT * FROM chunk USING lexical('budget')", "Only words"),
        ("SELECT * FROM chunk USING semantic('budget')", "Only meaning"),
    ],
)
async def test_where_there_is_nothing_to_weigh_the_pane_says_why_and_its_keys_do_nothing(
    shared_store: Path, text: str, reason: str
) -> None:
    async with workbench(shared_store, size=(200, 60)) as bench:
        await weigh(bench, text)

        await bench.press("right", "f")

        assert "Nothing to weigh" in bench.painted("slider")
        assert reason in bench.painted("board")
        assert bench.session.tweaks == {}


async def test_what_the_query_decides_is_said_and_stays(shared_store: Path) -> None:
    text = "SELECT * FROM chunk USING lexical('budget'), semantic('budget') OPTION fusion 'rrf'"
    async with workbench(shared_store) as bench:
        await weigh(bench, text)

        await bench.press("f")

        assert current(bench.session).fusion == "rrf"
        assert bench.session.tweaks == {}
        assert "OPTION decides fusion" in " ".join(bench.painted("board").split())


async def test_saving_asks_first_and_then_writes_what_was_moved(own_store: Path) -> None:
    toml = own_store.parent / "recall.toml"
    before = toml.read_text(encoding="utf-8")
    async with workbench(own_store) as bench:
        await weigh(bench)
        await bench.press("right", "f", "S")
        question = str(bench.app.screen.query_one("Static").render())
        assert "vector_weight = 0.15 (was 0.1)" in question
        assert "fusion = rrf (was weighted)" in question

        await bench.press("n")
        assert toml.read_text(encoding="utf-8") == before
        await bench.press("S", "y")
        await bench.until(lambda now: not now.tweaks and not now.before)

        saved = load(toml)
        assert (saved.vector_weight, saved.bm25_weight, saved.fusion) == (0.15, 0.85, "rrf")
        assert bench.session.answer is not None
        assert bench.session.answer.plan.config.fusion == "rrf"
        await bench.press("S")
        assert not isinstance(bench.app.screen, ConfirmScreen)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("token budget", ["right", "right", "shift+right"]),
        ("keep the manual in mind", ["f", "n", "s", "greater_than_sign"]),
        ("SELECT * FROM chunk USING lexical('budget'), semantic('tea') LIMIT 5", ["right"] * 10),
    ],
)
async def test_the_copied_command_gives_the_rows_of_the_moved_weights(
    shared_store: Path, text: str, keys: list[str]
) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench, text)
        await bench.press(*keys)
        await bench.until(lambda now: now.answer and now.plain and now.answer.plan.config == current(now))
        await bench.press("Y")
        session, typed = bench.session, shlex.split(bench.app.clipboard)

    assert "--set" in typed
    ran = subprocess.run(
        [sys.executable, "-m", "recall_core", "--json", *typed[1:]], capture_output=True, text=True, check=True
    )
    answer = json.loads(ran.stdout)
    rows = [(row["chunk"]["id"], row["score"]) for row in answer["results"]]
    assert rows == [(hit.chunk.id, hit.score) for hit in session.hits.values() if hit.chunk]
    assert session.answer is not None
    assert answer["stats"]["digest"] == session.answer.digest


async def test_a_held_key_ends_at_its_last_weight_and_loses_none(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)

        await bench.press(*["shift+right"] * 40)
        await bench.until(stands_at(0.5))  # type: ignore[arg-type]

        assert share(current(bench.session)) == 0.5


async def test_a_narrow_screen_shows_the_weights_in_the_place_of_the_ledger(shared_store: Path) -> None:
    async with workbench(shared_store, size=(80, 24)) as bench:
        await weigh(bench)
        heights = {
            name: bench.app.bench.query_one(f"#{name}").size.height for name in ("explain", "weights", "context")
        }

        assert heights["weights"] > 0
        assert (heights["explain"], heights["context"]) == (0, 0)
        assert "3 explain 5 context" in bench.painted("status")


async def test_zoom_gives_the_weights_the_screen(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)

        await bench.press("z")
        await bench.pilot.pause()

        assert bench.app.bench.query_one("#board").size.height > 25
        assert bench.app.bench.query_one("#context").size.height == 0
