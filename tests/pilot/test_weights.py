"""The weights pane: keys, mouse, what it draws, and the command that reproduces it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from textual.events import MouseScrollDown

from recall_core.api.engine import Engine
from recall_core.api.recall import Recall
from recall_core.config import Config, load
from recall_core.maintain.settings import write_settings
from recall_core.retrieve import Answer, Plan
from recall_core.types import Root
from recall_tui.panes.weights.pane import WeightsBody
from recall_tui.screens.confirm import ConfirmScreen
from recall_tui.state import form
from recall_tui.state.beside import compared
from recall_tui.state.chart import gauge_at
from recall_tui.state.session import Session, is_stale
from recall_tui.state.tuning import best_weight, curve_of, pins_of, target_weights, value_at
from recall_tui.state.weighing import current, exact_share, share
from recall_tui.widgets.lists import PointedList
from recall_tui.widgets.slider import Slider
from tests.provider_server import ProviderServer, Reply, provider_server
from tests.workbench_corpus import write_corpus
from tests.workbench_driver import Driver, in_form, workbench
from tests.workbench_grades import grade


def stands_at(semantic: float) -> object:
    """The rows are those of this share."""

    def holds(now: Session) -> object:
        return now.results.answer and round(share(now.results.answer.plan.config), 2) == semantic

    return holds


async def settled(bench: Driver) -> None:
    """Wait until the rows are those of the settings on the screen."""
    await bench.until(
        lambda now: (
            not now.query.busy
            and now.results.answer
            and now.results.answer.plan.config == current(now)
            and (now.weights.k is None or now.results.answer.plan.limit == now.weights.k)
        )
    )


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

        hit = bench.session.results.hit
        assert hit is not None
        assert [round(part.weight, 2) for part in hit.parts] == [round(1 - semantic, 2), semantic]
        assert f"{semantic:.2f} semantic" in bench.painted("slider")


@pytest.mark.parametrize(
    ("key", "setting", "value"),
    [
        ("right", "fusion", "rrf"),
        ("left", "fusion", "rrf"),
        ("right", "normalize", "max"),
        ("left", "normalize", "minmax"),
        ("right", "sparse_recall", False),
        ("right", "min_score", 0.05),
        ("shift+right", "min_score", 0.01),
        ("right", "match", "all"),
        ("right", "lexical_model", "bm25f"),
        ("right", "pool", 500),
        ("left", "pool", 100),
    ],
)
async def test_left_and_right_change_the_chosen_setting_and_the_rows(
    shared_store: Path, key: str, setting: str, value: object
) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)

        await bench.press(*in_form(setting, key))
        await bench.until(
            lambda now: now.results.answer and getattr(now.results.answer.plan.config, setting) == value
        )

        assert "*" in bench.painted("board")
        assert "(changed)" in str(bench.app.bench.query_one("#weights").border_title)
        await bench.press("r")
        await bench.until(
            lambda now: now.results.answer and getattr(now.results.answer.plan.config, setting) != value
        )


async def test_the_least_score_goes_down_again(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)

        await bench.press(
            *in_form("min_score", "right"), *in_form("min_score", "right"), *in_form("min_score", "left")
        )
        await bench.until(lambda now: now.results.answer and now.results.answer.plan.config.min_score == 0.05)

        assert bench.session.results.answer is not None
        assert bench.session.results.answer.total == 3


async def test_rows_say_how_far_they_have_come(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench, "keep the manual in mind")
        saved = {hit.chunk.id: hit.rank for hit in bench.session.results.hits.values() if hit.chunk}
        assert "move" not in bench.painted("results")

        await bench.press(*["right"] * 18)
        await bench.until(stands_at(1.0))  # type: ignore[arg-type]

        moves = {
            row: hit
            for row, hit in bench.session.results.hits.items()
            if hit.chunk and saved[hit.chunk.id] != row + 1
        }
        assert moves
        assert all(
            bench.session.weights.saved_ranks[row] == saved[hit.chunk.id]
            for row, hit in bench.session.results.hits.items()
            if hit.chunk
        )
        assert "▲" in bench.painted("results")


async def test_the_context_is_packed_again(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench, "keep the manual in mind")
        before = bench.session.context.packed

        await bench.press(*["right"] * 18)
        await bench.until(stands_at(1.0))  # type: ignore[arg-type]
        await bench.until(lambda now: now.context.packed != before)

        assert bench.session.context.packed is not None


async def test_the_weights_stay_for_the_next_question(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)
        await bench.press("right")

        await bench.ask("household tea")

        assert bench.session.results.answer is not None
        assert bench.session.results.answer.plan.config.vector_weight == 0.15
        assert bench.session.weights.saved_ranks


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


@pytest.mark.parametrize(
    ("setting", "cell", "holds"),
    [
        ("min_score       0.00", 17, lambda now: now.weights.tweaks.get("min_score") == 0.05),
        ("min_score       0.00", 2, lambda now: form.chosen(now) == "min_score" and not now.weights.tweaks),
        ("top k           50", 1, lambda now: form.chosen(now) == "k" and now.weights.k is None),
        ("fusion          weighted", 18, lambda now: now.weights.tweaks.get("fusion") == "rrf"),
        ("(pool)          200", 17, lambda now: now.weights.tweaks.get("pool", 200) > 200),
        ("match           any", 17, lambda now: now.weights.tweaks.get("match") == "all"),
    ],
    ids=["least", "least-by-name", "rows", "fusion", "pool", "match"],
)
async def test_a_click_on_a_setting_chooses_it_and_one_on_its_value_moves_it(
    shared_store: Path, setting: str, cell: int, holds: Callable[[Session], object]
) -> None:
    async with workbench(shared_store, size=(200, 60)) as bench:
        await weigh(bench)
        await bench.press("z")
        board = bench.app.bench.query_one(WeightsBody)
        await bench.until(lambda _: any(setting in line for line in board.lines))
        row, line = next((at, line) for at, line in enumerate(board.lines) if setting in line)

        await bench.pilot.click(WeightsBody, offset=(line.index(setting) + cell, row))

        await bench.until(holds)
        assert bench.session.pane == "weights"


def wheel(slider: Slider) -> MouseScrollDown:
    return MouseScrollDown(slider, 5, 0, 0, 0, 0, shift=False, meta=False, ctrl=False)


async def test_the_board_draws_a_line_a_rank_and_says_how_stable_the_weight_is(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)
        await bench.press("z")
        await bench.until(lambda now: now.weights.chart)

        rows = bench.painted("board").splitlines()

        ranks = [row[0] for row in rows if row[:2].strip().isdigit()]
        assert ranks == [*"12345678", *"123"]  # of the lines, and of those that are named
        assert "✓ stable from 0.0" in bench.painted("board")
        assert "▲ now 0.10" in bench.painted("board")


async def test_where_lines_are_short_the_form_keeps_what_is_moved_and_what_is_near(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)
        await bench.until(lambda now: now.weights.chart)
        assert "fusion          weighted" in bench.painted("board")
        assert "pool" not in bench.painted("board")

        await bench.press(*in_form("pool", "right"))
        await settled(bench)
        await bench.until(lambda _: "pool)          500*" in bench.painted("board"))
        await bench.press(*["down"] * 6)
        await bench.until(lambda _: "▶lexical_model" in bench.painted("board"))
        assert "fusion" not in bench.painted("board")

        await bench.press("z")
        await bench.until(lambda _: "min_score" in bench.painted("board"))


async def test_the_chosen_setting_is_marked_with_its_name_value_and_bar(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)
        await bench.press("z", "down", "down", "down")
        await bench.until(lambda now: now.weights.chart)
        assert "▶min_score       0.00      ──────────" in bench.painted("board")

        await bench.press(*["right"] * 6)
        await bench.until(lambda _: "▶min_score       0.30*     ███───────" in bench.painted("board"))

        await bench.press("up", "k", "j")
        assert form.chosen(bench.session) == "normalize"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT * FROM chunk", "has no signal"),
        ("SELECT * FROM chunk USING lexical('budget')", "Only the lexical signal"),
        ("SELECT * FROM chunk USING semantic('budget')", "Only the semantic signal"),
    ],
)
async def test_where_there_is_nothing_to_weigh_the_pane_says_why_and_its_keys_do_nothing(
    shared_store: Path, text: str, reason: str
) -> None:
    async with workbench(shared_store, size=(200, 60)) as bench:
        await weigh(bench, text)

        await bench.press("B")

        assert reason in bench.painted("slider")
        assert bench.session.weights.tweaks == {}


async def test_what_the_query_decides_is_said_and_stays(shared_store: Path) -> None:
    text = "SELECT * FROM chunk USING lexical('budget'), semantic('budget') OPTION fusion 'rrf'"
    async with workbench(shared_store) as bench:
        await weigh(bench, text)

        await bench.press(*in_form("fusion", "right"))

        assert current(bench.session).fusion == "rrf"
        assert bench.session.weights.tweaks == {}
        assert "OPTION decides fusion" in " ".join(bench.painted("board").split())


async def test_saving_asks_first_and_then_writes_what_was_moved(own_store: Path) -> None:
    toml = own_store.parent / "recall.toml"
    before = toml.read_text(encoding="utf-8")
    async with workbench(own_store) as bench:
        await weigh(bench)
        await bench.press("right", *in_form("fusion", "right"), "S")
        question = str(bench.app.screen.query_one("#question Static").render())
        assert "semantic_weight = 0.15 (was 0.1)" in question
        assert 'fusion = "rrf" (was "weighted")' in question

        await bench.press(*in_form("normalize", "right"))
        assert toml.read_text(encoding="utf-8") == before
        await bench.press("S", "y")
        await bench.until(lambda now: not now.weights.tweaks and not now.weights.saved_ranks)

        saved = load(toml)
        assert (saved.vector_weight, saved.bm25_weight, saved.fusion) == (0.15, 0.85, "rrf")
        assert bench.session.results.answer is not None
        assert bench.session.results.answer.plan.config.fusion == "rrf"
        await bench.press("S")
        assert not isinstance(bench.app.screen, ConfirmScreen)


async def test_saving_asks_anew_where_someone_has_written_something_else_since(own_store: Path) -> None:
    toml = own_store.parent / "recall.toml"
    async with workbench(own_store) as bench:
        await weigh(bench)
        await bench.press("right", "S")
        write_settings(toml, {"bm25_weight": 0.8})

        await bench.press("y")
        await bench.until(
            lambda _: isinstance(bench.app.screen, ConfirmScreen) and "has changed" in bench.painted("question")
        )

        assert load(toml).bm25_weight == 0.8
        assert "lexical_weight = 0.85 (was 0.8)" in bench.painted("question")
        await bench.press("y")
        await bench.until(
            lambda now: now.weights.saved and now.weights.saved.bm25_weight == 0.85 and not now.weights.tweaks
        )
        assert load(toml).bm25_weight == 0.85


async def test_an_undo_after_saving_moves_back_and_writes_nothing(own_store: Path) -> None:
    toml = own_store.parent / "recall.toml"
    async with workbench(own_store) as bench:
        await weigh(bench)
        await bench.press("right", "S", "y")
        await bench.until(
            lambda now: now.weights.saved and now.weights.saved.vector_weight == 0.15 and not now.weights.tweaks
        )

        await bench.press("u")

        await bench.until(stands_at(0.1))  # type: ignore[arg-type]
        assert dict(bench.session.weights.tweaks) == {"bm25_weight": 0.9, "vector_weight": 0.1}
        assert load(toml).vector_weight == 0.15


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("keep the manual in mind", ["fusion", "rrf_k", "sparse_recall", "min_score"]),
        ("keep the manual in mind", ["k", "match", "lexical_model", "pool"]),
        ("SELECT * FROM chunk USING lexical('budget'), semantic('tea') -- few", ["fusion", "rrf_k", "k"]),
    ],
)
async def test_the_copied_command_gives_the_rows_of_the_moved_weights(
    shared_store: Path, text: str, moved: list[str]
) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench, text)
        for setting in moved:
            await bench.press(*in_form(setting, "left" if setting == "k" else "right"))
        await settled(bench)
        await bench.press("Y")
        session, lines = bench.session, bench.app.clipboard.splitlines()
        typed = shlex.split(lines[0])

    assert "--set" in typed
    ran = subprocess.run(
        [sys.executable, "-m", "recall_core", "--json", *typed[1:]], capture_output=True, text=True, check=True
    )
    answer = json.loads(ran.stdout)
    rows = [(row["chunk"]["id"], row["score"]) for row in answer["results"]]
    assert rows == [(hit.chunk.id, hit.score) for hit in session.results.hits.values() if hit.chunk]
    assert session.results.answer is not None
    assert answer["stats"]["digest"] == session.results.answer.digest


async def test_a_held_key_ends_at_its_last_weight_and_loses_none(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)

        await bench.press(*["shift+right"] * 40)
        await bench.until(stands_at(0.5))  # type: ignore[arg-type]

        assert share(current(bench.session)) == 0.5


@pytest.mark.parametrize(("size", "ranks"), [((80, 24), 1), ((100, 30), 1)])
async def test_a_short_board_has_its_figures_whole_and_the_ranks_that_have_room(
    judged_store: Path, size: tuple[int, int], ranks: int
) -> None:
    async with workbench(judged_store, size=size) as bench:
        await weigh(bench, "keep the manual in mind")
        await bench.until(lambda now: now.weights.chart and curve_of(now))
        await bench.until(lambda _: "nDCG@10" in bench.painted("board"))

        rows = [row.rstrip() for row in bench.painted("board").splitlines()]

    assert sum(row[:2].strip().isdigit() for row in rows) == ranks
    assert any("stable" in row for row in rows)
    assert any("nDCG@10 (docs) " in row for row in rows)
    assert any("▲" in row and "●" in row and "semantic" in row for row in rows)


async def test_a_narrow_screen_shows_the_weights_in_the_place_of_the_ledger(shared_store: Path) -> None:
    async with workbench(shared_store, size=(80, 24)) as bench:
        await weigh(bench)
        heights = {
            name: bench.app.bench.query_one(f"#{name}").size.height for name in ("explain", "weights", "context")
        }

        assert heights["weights"] > 0
        assert (heights["explain"], heights["context"]) == (0, 0)
        assert re.search(r"\b3\b.* 5\b.* 6\b", bench.painted("status"))


async def test_zoom_gives_the_weights_the_screen(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)

        await bench.press("z")
        await bench.pilot.pause()

        assert bench.app.bench.query_one("#board").size.height > 25
        assert bench.app.bench.query_one("#context").size.height == 0


async def test_another_pool_is_searched_again_and_a_moved_weight_is_not(
    shared_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[int] = []
    search = Engine.answer

    def counting(engine: Engine, plan: Plan) -> Answer:
        searched.append(plan.config.pool)
        return search(engine, plan)

    async with workbench(shared_store) as bench:
        await weigh(bench)
        await bench.until(lambda now: now.weights.chart)
        monkeypatch.setattr(Engine, "answer", counting)

        await bench.press(*in_form("pool", "right"))
        await settled(bench)
        await bench.until(lambda now: now.weights.chart and now.weights.saved_ranks)
        assert searched == [500, 200]  # with the pool, and with the saved one for the ranks before

        await bench.press(*["right"] * 6, *in_form("fusion", "right"), *in_form("k", "left"))
        await settled(bench)
        await bench.until(lambda now: now.context.packed_at == now.query.generation)
        assert [pool for pool in searched if pool != 200 or searched.count(200) > 1] == [500]


async def test_a_held_key_of_the_pool_ends_at_its_last_stop(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)

        await bench.press(*in_form("pool", *["right"] * 10))
        await bench.until(
            lambda now: not now.query.busy and now.results.answer and now.results.answer.plan.config.pool == 500_000
        )

        assert "500000" in bench.painted("board")


async def test_fewer_rows_are_asked_for_and_listed_and_packed(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench, "keep the manual in mind")

        await bench.press(*in_form("k", *["left"] * 5))
        await bench.until(
            lambda now: (
                now.results.answer
                and now.results.answer.plan.limit == 5
                and now.context.packed_at == now.query.generation
            )
        )

        assert list(bench.session.results.hits) == [0, 1, 2, 3, 4]
        assert bench.session.context.packed is not None
        assert len(bench.session.context.packed.blocks) == 5
        await bench.press(*in_form("k", "right"), *in_form("k", "right"), "u", "U")
        await bench.until(lambda now: now.results.answer and now.results.answer.plan.limit == 15)


async def test_what_was_taken_back_is_made_again(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)

        await bench.press("right", "right", "u", "u", "U")

        await bench.until(stands_at(0.15))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "told"), [("u", "nothing to undo"), ("U", "nothing to redo"), ("r", "Nothing is changed")]
)
async def test_a_key_that_has_nothing_to_do_says_so(shared_store: Path, key: str, told: str) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)

        await bench.press(key)

        await bench.until(lambda _: any(told in note.message for note in bench.app._notifications))
        assert bench.session.weights.tweaks == {}


async def test_the_constant_of_rank_fusion_has_keys_where_ranks_are_fused(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)
        await bench.press(
            *in_form("fusion", "right"),
            *in_form("rrf_k", "right"),
            *in_form("rrf_k", "left"),
            *in_form("rrf_k", "left"),
        )
        await bench.until(lambda now: now.results.answer and now.results.answer.plan.config.rrf_k == 40)
        await bench.until(lambda now: now.weights.chart and now.weights.chart.rrf_k == 40)

        assert "rrf_k 40*" in " ".join(bench.painted("board").split())


async def test_a_scale_that_ranks_make_no_use_of_is_neither_shown_nor_moved(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)
        await bench.press(*in_form("fusion", "right"))
        await bench.until(
            lambda now: now.results.answer and now.results.answer.plan.config.fusion == "rrf" and not now.query.busy
        )
        assert dict(bench.session.weights.tweaks) == {"fusion": "rrf"}
        assert "normalize" not in bench.painted("board")

        await bench.press(*in_form("fusion", "right"), *in_form("normalize", "right"))

        await bench.until(lambda _: "max*" in bench.painted("board"))


async def test_the_constant_of_rank_fusion_moves_where_one_signal_ranks_too(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)
        await bench.press(*in_form("fusion", "right"))
        await bench.ask("SELECT * FROM chunk USING lexical('budget')")
        await bench.until(lambda _: "rrf_k 60" in " ".join(bench.painted("board").split()))

        await bench.press("right")

        await bench.until(lambda _: "rrf_k 80*" in " ".join(bench.painted("board").split()))
        assert list(bench.session.weights.tweaks) == ["fusion", "rrf_k"]


@pytest.fixture
def judged_store(own_store: Path, tmp_path: Path) -> Path:
    grade(own_store, tmp_path)
    return own_store


async def test_the_best_weight_is_offered_only_where_grades_speak_for_one(judged_store: Path) -> None:
    async with workbench(judged_store, size=(200, 60)) as bench:
        await weigh(bench, "keep the manual in mind")
        await bench.until(lambda now: (curve := curve_of(now)) and curve.steps)
        await bench.until(lambda _: " B best " in bench.painted("footer"))

        await bench.press("1")
        await bench.ask("household tea")
        await bench.press("escape", "4")
        await bench.until(lambda now: (curve := curve_of(now)) and not curve.steps)

        await bench.until(lambda _: " B best " not in bench.painted("footer"))
        await bench.press("B")
        assert not bench.session.weights.tweaks


async def test_the_best_weight_is_marked_and_named_with_the_present_one(judged_store: Path) -> None:
    async with workbench(judged_store) as bench:
        await weigh(bench, "keep the manual in mind")
        await bench.press(*["right"] * 18)
        await bench.until(lambda now: curve_of(now) and share(current(now)) == 1.0)
        await bench.until(lambda _: "▲ now 1.00" in bench.painted("board"))

        curve = curve_of(bench.session)
        assert curve is not None
        best = best_weight(curve)
        assert value_at(curve, Fraction(str(best))) == curve.best == max(curve.means)
        assert f"● best {best:.2f}" in bench.painted("board")
        assert f"best {curve.best:.3f} at {best:.2f}" in bench.painted("board")


async def test_v_shows_the_saved_rows_beside_those_of_now(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench, "keep the manual in mind")
        saved = names(bench)
        await bench.press("V")
        await bench.until(lambda _: "Nothing is changed" in bench.painted("board"))

        await bench.press(*["right"] * 18)
        await bench.until(lambda now: compared(now) and stands_at(1.0)(now))  # type: ignore[operator]
        both = compared(bench.session)

        assert both is not None
        assert [row.hit.chunk.id for row in both.saved if row.hit and row.hit.chunk] == saved
        assert [row.hit.chunk.id for row in both.now if row.hit and row.hit.chunk] == names(bench)
        assert {(row.rank, row.other) for row in both.saved if row.other} >= {
            (row.other, row.rank) for row in both.now if row.other and row.other <= len(both.saved)
        }
        board = bench.painted("board")
        assert "semantic_weight 0.1 to 1" in " ".join(board.split())
        assert "saved settings" in board
        assert "▲" in board
        await bench.press("V")
        await bench.until(lambda _: "now 1.00" in bench.painted("board"))


@pytest.mark.parametrize(("setting", "key"), [("min_score", "right"), ("k", "left")])
async def test_v_says_which_rows_are_gone_whatever_was_moved(shared_store: Path, setting: str, key: str) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench, "keep the manual in mind")
        await bench.press("z", "V", *in_form(setting, *[key] * 10))
        await settled(bench)
        await bench.until(compared)

        await bench.until(lambda _: "gone" in bench.painted("board"))
        both = compared(bench.session)
        assert both is not None
        kept = {row.rank for row in both.now}
        assert all((row.other is None) == (row.rank not in kept) for row in both.saved)
        assert all(row.other == row.rank for row in both.now)


def names(bench: Driver) -> list[str]:
    """The ids of the listed chunks, in order."""
    return [hit.chunk.id for _, hit in sorted(bench.session.results.hits.items()) if hit.chunk]


async def test_the_grades_of_a_question_are_a_curve_with_its_best_weights(judged_store: Path) -> None:
    async with workbench(judged_store) as bench:
        await weigh(bench, "keep the manual in mind")
        await bench.press(*["right"] * 18)
        await bench.until(lambda now: curve_of(now) and share(current(now)) == 1.0)

        assert "nDCG@10" in bench.painted("board")
        await bench.press("B")
        await bench.until(lambda now: now.results.answer and now.results.answer.plan.config == current(now))
        await bench.until(lambda _: ", the best" in bench.painted("board"))


async def test_a_weight_that_is_among_the_best_stays_and_that_is_said(judged_store: Path) -> None:
    async with workbench(judged_store) as bench:
        await weigh(bench, "keep the manual in mind")
        await bench.press(*["right"] * 18)
        await bench.until(lambda now: curve_of(now) and share(current(now)) == 1.0)
        await bench.press("B")
        await bench.until(lambda _: ", the best" in bench.painted("board"))
        there = current(bench.session)

        await bench.press("B")

        await bench.until(lambda _: any("among the best: nDCG@10 " in n.message for n in bench.app._notifications))
        assert current(bench.session) == there


async def test_the_mean_of_all_judged_queries_is_told_with_its_band(judged_store: Path) -> None:
    async with workbench(judged_store) as bench:
        await weigh(bench, "household tea")
        await bench.until(curve_of)
        assert "no grades for this query" in bench.painted("board")

        await bench.press("t")
        await bench.until(lambda now: now.weights.is_of_all and curve_of(now))

        said = " ".join(bench.painted("board").split())
        assert "mean nDCG@10" in said
        assert "3 judged, too few to recommend" in said
        assert "95 % 0." in said


async def test_the_curve_follows_the_filter_there_and_back(judged_store: Path) -> None:
    async with workbench(judged_store) as bench:
        await weigh(bench, "keep the manual in mind")
        await bench.until(curve_of)
        await bench.until(lambda _: "nDCG@10" in bench.painted("board"))
        whole, said = curve_of(bench.session), measure_said(bench)

        await bench.press("slash")
        await bench.write("doc.path GLOB 'docs/*'")
        await bench.press("enter")
        await bench.until(lambda now: now.results.answer and now.results.answer.plan.filters and curve_of(now))
        await bench.until(lambda _: (shown := measure_said(bench)) and shown != said)
        part = curve_of(bench.session)

        assert whole is not None
        assert part is not None
        assert part.best != whole.best
        await bench.press("slash")
        await bench.press("end", "ctrl+u", "enter")
        await bench.until(lambda now: now.results.answer and not now.results.answer.plan.filters)
        await bench.until(lambda _: measure_said(bench) == said)
        assert curve_of(bench.session) == whole


def measure_said(bench: Driver) -> str:
    """The line of the measure, "" while there is none."""
    return next((row for row in bench.painted("board").splitlines() if row.startswith("nDCG@10")), "")


async def test_a_query_in_rql_has_the_curve_of_the_words_of_its_signals(judged_store: Path) -> None:
    text = "SELECT * FROM chunk USING lexical('keep the manual in mind'), semantic('keep the manual in mind')"
    async with workbench(judged_store) as bench:
        await weigh(bench, text)
        await bench.until(curve_of)
        await bench.until(lambda _: "nDCG@10" in bench.painted("board"))

        assert "no grades" not in bench.painted("board")


async def test_a_new_grade_changes_the_curve(judged_store: Path, tmp_path: Path) -> None:
    async with workbench(judged_store) as bench:
        await weigh(bench, "household tea")
        await bench.until(curve_of)

        bench.app.do("Judging", lambda recall, _say: grade_one(recall, tmp_path))
        await bench.until(lambda now: now.store.tasks_done and (curve := curve_of(now)) and curve.steps)

        assert "no grades" not in bench.painted("board")


async def test_a_single_judged_query_is_told_as_one(own_store: Path, tmp_path: Path) -> None:
    with Recall.open(str(own_store)) as recall:
        grade_one(recall, tmp_path)
    async with workbench(own_store) as bench:
        await weigh(bench, "keep the manual in mind")
        await bench.until(curve_of)

        await bench.until(lambda _: "no grades for this query" in bench.painted("board"))
        assert "t the judged query" in bench.painted("board")


def grade_one(recall: Recall, folder: Path) -> str:
    queries, qrels = folder / "one.jsonl", folder / "one.tsv"
    queries.write_text('{"_id": "q9", "text": "household tea"}\n')
    qrels.write_text("query-id\tcorpus-id\tscore\nq9\tnotes/diary.txt\t3\n")
    recall.judge_import(queries=queries, qrels=qrels)
    return "judged"


async def test_targets_are_met_by_a_key_that_goes_to_their_nearest_weight(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench, "keep the manual in mind")
        await bench.press(*in_form("k", "left"), "r", *in_form("k", *["left"] * 7))
        await bench.until(lambda now: now.results.answer and now.results.answer.plan.limit == 2)
        await bench.press("x")
        await bench.until(target_weights)
        granted = target_weights(bench.session)
        assert granted is not None
        if not granted.weights:
            pytest.fail("the corpus has no weight without this row; choose another")
        assert "targets in the top 2: 1 excluded" in bench.painted("board")
        pinned = pins_of(bench.session)[0].chunk_id

        await bench.press("T")
        await settled(bench)

        assert pinned not in [hit.chunk.id for hit in bench.session.results.hits.values() if hit.chunk]
        assert "all targets met (" in bench.painted("board")
        await bench.press("Y")
        typed = shlex.split(bench.app.clipboard.splitlines()[1])
        assert pinned in typed
        ran = ran_as_json(typed)
        assert ran["tuning"]["pinned"]["wishes"][0]["holds"]


async def test_a_row_of_a_later_page_is_required_down_to_the_last_row_of_that_page(shared_store: Path) -> None:
    text = "SELECT * FROM chunk USING lexical('manual'), semantic('keep the manual in mind') LIMIT 5 OFFSET 5"
    async with workbench(shared_store) as bench:
        await weigh(bench, text)
        await bench.press("2", "end", "4", "p")
        await bench.until(target_weights)

        await bench.until(lambda _: "targets in the top 10: 1 required" in bench.painted("board"))
        assert bench.session.results.hit is not None
        assert bench.session.results.hit.rank == 10
        await bench.until(lambda _: "✓ all targets met (" in bench.painted("board"))


async def test_targets_that_no_weight_meets_are_named(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench, "keep the manual in mind")
        await bench.press(*in_form("k", *["left"] * 8))
        await bench.until(lambda now: now.results.answer and now.results.answer.plan.limit == 1)
        await bench.press(*in_form("k", "right"), *in_form("k", "right"), "p")
        await bench.until(lambda now: now.results.answer and now.results.answer.plan.limit == 3)
        await bench.press("2", "j", "4", "p", "2", "j", "4", "p", *in_form("k", "left"), *in_form("k", "left"))
        await bench.until(lambda now: (granted := target_weights(now)) and granted.conflict)

        await bench.press("T")

        assert "no weight meets" in " ".join(bench.painted("board").split())


async def test_the_second_copied_command_says_at_every_weight_what_is_drawn(judged_store: Path) -> None:
    async with workbench(judged_store) as bench:
        await weigh(bench, "keep the manual in mind")
        await bench.press("right", *in_form("normalize", "right"))
        await settled(bench)
        await bench.until(lambda now: now.weights.chart and curve_of(now))
        await bench.press("Y")
        of_lines, chart = bench.app.clipboard.splitlines()[1], bench.session.weights.chart
        await bench.press("t")
        await bench.until(lambda now: now.weights.is_of_all and curve_of(now))
        await bench.press("Y")
        of_all, session = bench.app.clipboard.splitlines()[1], bench.session

    order = ran_as_json(shlex.split(of_lines))["tuning"]["sweep"]["order"]
    assert chart is not None
    gauge = gauge_at(chart, exact_share(current(session)))
    assert (float(gauge.order.low), float(gauge.order.high)) == (order["low"], order["high"])
    curve = curve_of(session)
    assert curve is not None
    assert list(curve.means) == ran_as_json(shlex.split(of_all))["tuning"]["judged"]["curve"]["means"]


def ran_as_json(typed: list[str]) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "recall_core", "--json", *typed[1:]], capture_output=True, text=True, check=False
    )
    assert ran.returncode in (0, 7), ran.stderr
    return dict(json.loads(ran.stdout))


async def test_what_was_moved_is_written_into_the_query_which_then_gives_the_same_rows(shared_store: Path) -> None:
    text = "SELECT * FROM chunk -- all\nUSING lexical('budget'), semantic('tea')"
    async with workbench(shared_store) as bench:
        await weigh(bench, text)
        await bench.press(
            *["right"] * 10, *in_form("normalize", "right"), *in_form("k", "left"), *in_form("match", "right")
        )
        await settled(bench)
        rows = [(hit.chunk.id, hit.score) for hit in bench.session.results.hits.values() if hit.chunk]

        await bench.press("W")
        await bench.until(
            lambda now: not now.query.busy and now.results.answer and "OPTION" in now.results.answer.plan.text
        )

        written = bench.app.bench.editor.text
        assert written == (
            "SELECT * FROM chunk -- all\nUSING lexical('budget'), semantic('tea')\nLIMIT 5\n"
            "OPTION normalize max, lexical_weight 0.4, semantic_weight 0.6"
        )
        assert dict(bench.session.weights.tweaks) == {"match": "all"}
        assert rows == [(hit.chunk.id, hit.score) for hit in bench.session.results.hits.values() if hit.chunk]
        await bench.press("1", "ctrl+z")
        await bench.until(lambda now: now.query.text == text)


async def test_words_are_offered_the_query_that_gives_their_rows(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench, "keep the manual in mind")
        await bench.press(*["right"] * 4, *in_form("min_score", "right"))
        await settled(bench)
        rows = [(hit.chunk.id, hit.score) for hit in bench.session.results.hits.values() if hit.chunk]

        await bench.press("W")
        assert "Plain words have no OPTION" in str(bench.app.screen.query_one("#question Static").render())
        await bench.press("y")
        await bench.until(lambda now: not now.query.busy and now.results.answer and now.results.answer.plan.rql)

        assert bench.app.bench.editor.text.startswith("SELECT * FROM chunk USING lexical(")
        assert rows == [(hit.chunk.id, hit.score) for hit in bench.session.results.hits.values() if hit.chunk]
        assert bench.session.weights.tweaks == {}


async def test_a_profile_is_kept_chosen_and_deleted(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)
        await bench.press(*in_form("fusion", "right"), "right", "N")
        await bench.type("ranks")
        await bench.press("enter")
        await bench.until(lambda now: now.weights.profile and now.weights.profile.name == "ranks")
        await bench.until(lambda _: "profile ranks " in bench.painted("header"))
        await bench.press("right")
        await bench.until(lambda _: "profile ranks*" in bench.painted("header"))

        await bench.press("P", "k", "enter")
        await bench.until(lambda now: now.weights.profile is None and not now.weights.tweaks)
        await bench.press("P", "j", "enter")
        await bench.until(
            lambda now: dict(now.weights.tweaks) == {"fusion": "rrf", "bm25_weight": 0.85, "vector_weight": 0.15}
        )

        await bench.press("P", "d", "y")
        await bench.until(lambda now: now.weights.profile is None)
        assert dict(bench.session.weights.tweaks)["fusion"] == "rrf"
        await bench.press("P")
        assert bench.app.screen.query_one(PointedList).option_count == 1


async def test_a_kept_name_is_not_taken_by_other_settings_without_a_yes(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)
        for key, came in (
            ("fusion", lambda now: now.weights.profile),
            ("sparse_recall", lambda _: isinstance(bench.app.screen, ConfirmScreen)),
        ):
            await bench.press(*in_form(key, "right"), "N")
            await bench.type("mine")
            await bench.press("enter")
            await bench.until(came)

        await bench.press("n")
        await bench.until(lambda _: not isinstance(bench.app.screen, ConfirmScreen))

        assert bench.session.weights.profile is not None
        assert dict(bench.session.weights.profile.tweaks) == {"fusion": "rrf"}


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ("token budget", "T", "No target is set"),
        ("token budget", "N", "No setting is changed"),
        ("SELECT * FROM chunk USING lexical('budget'), semantic('budget')", "W", "No changed setting can be written"),
        ("SELECT * FROM doc USING lexical('budget'), semantic('budget')", "p", "rows are documents"),
    ],
)
async def test_a_key_that_can_do_nothing_says_why(shared_store: Path, text: str, key: str, said: str) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench, text)

        await bench.press(key)

        await bench.until(lambda _: any(said in each.message for each in bench.app._notifications))


async def test_the_slider_moves_while_its_ranking_is_still_being_made(
    shared_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)
        ranked, may_go_on = Engine.weigh, threading.Event()

        def slow(engine: Engine, answer: Answer, config: Config) -> Answer:
            assert may_go_on.wait(30)
            return ranked(engine, answer, config)

        monkeypatch.setattr(Engine, "weigh", slow)
        slider = bench.app.bench.query_one(Slider)
        before = slider.labels(80)
        try:
            await bench.press("shift+right")
            await bench.until(
                lambda now: now.query.generation != now.results.ranked_at and slider.labels(80) != before
            )
        finally:
            may_go_on.set()
        await settled(bench)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ProviderServer]:
    """The embedder of the store in this folder; it answers when its gate is set."""
    write_corpus(tmp_path)
    with provider_server(768) as running:
        Recall.init(str(tmp_path), embedding="ollama", settings=(f"embedding_url={running.url}",))
        with Recall.open(str(tmp_path)) as recall:
            for _ in recall.add([str(tmp_path / "docs"), str(tmp_path / "notes")], Root("")):
                pass
        yield running
        running.gate.set()


async def test_a_question_that_fails_after_a_weight_was_moved_says_why(
    tmp_path: Path, server: ProviderServer
) -> None:
    async with workbench(tmp_path / "recall.db") as bench:
        await weigh(bench)
        asked = len(server.seen)
        server.gate.clear()
        server.reply_to = lambda _: Reply(400, b'{"error": {"message": "no such model"}}')
        bench.app.bench.editor.text = "household tea"
        await bench.until(lambda _: len(server.seen) > asked)
        before = bench.session.query.generation
        await bench.press("right")
        await bench.until(lambda now: now.query.generation > before)

        server.gate.set()

        await bench.until(lambda now: now.query.trouble and not now.query.busy)
        assert is_stale(bench.session)
        assert "no such model" in bench.painted("notes")
