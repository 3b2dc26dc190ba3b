"""The weights pane: keys, mouse, drawings, and the command that reproduces it."""

from __future__ import annotations

import io
import json
import re
import shlex
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key, MouseScrollDown

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.engine import Engine
from recall_core.api.recall import Recall
from recall_core.config import Config, load
from recall_core.maintain.embedders import write_settings
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import Plan
from recall_core.types import Root
from recall_tui.panes.weights import WeightsBody
from recall_tui.screens.dialog import ConfirmScreen
from recall_tui.state import weighing
from recall_tui.state.records import Moved, Tweaks
from recall_tui.state.session import Session, is_stale
from recall_tui.state.tuning import (
    best_weight,
    compare_with_saved,
    curve_of,
    pins_of,
    stability_at,
    target_weights,
    value_at,
)
from recall_tui.state.weighing import current, exact_share, share
from recall_tui.widgets.slider import Slider
from tests.provider_server import ProviderServer, Reply, provider_server
from tests.workbench_corpus import build_store, write_corpus
from tests.workbench_driver import Driver, in_form, workbench
from tests.workbench_grades import grade

SMALL = (80, 24)
"""A terminal with the least to draw: one pane below the results."""


def stands_at(semantic: float) -> Callable[[Session], object]:
    """Return a condition: the rows are those of this share."""
    return lambda now: now.results.answer and round(share(now.results.answer.plan.config), 2) == semantic


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


async def strike(bench: Driver, *keys: str) -> None:
    """Press keys faster than they are drawn, as a held key does."""
    for key in keys:
        bench.app.post_message(Key(key, key if len(key) == 1 else None))
    await bench.pilot.pause()


async def move(bench: Driver, tweaks: Tweaks, *, k: int | None = None) -> None:
    """Change just these settings in one step, and wait for their rows."""
    bench.app.become(weighing.set_moves(bench.session, Moved(tweaks, k)))
    await settled(bench)


async def move_to_the_end(bench: Driver) -> None:
    """Give the semantic signal all of the weight."""
    await move(bench, {"bm25_weight": 0.0, "vector_weight": 1.0})


async def notified(bench: Driver, words: str) -> None:
    """Wait for a message with these words, and clear all messages."""
    await bench.until(lambda _: any(words in note.message for note in bench.app._notifications))
    bench.app._notifications.clear()


async def test_keys_move_the_weight_and_the_ranking_follows(shared_store: Path) -> None:
    async with workbench(shared_store, size=SMALL) as bench:
        await weigh(bench)

        for key, semantic in (
            ("right", 0.15),
            ("shift+right", 0.16),
            ("shift+left", 0.15),
            ("u", 0.16),
            ("U", 0.15),
            ("r", 0.1),
            ("u", 0.15),
            ("left", 0.1),
            ("left left left", 0.0),
        ):
            await strike(bench, *key.split())
            await bench.until(stands_at(semantic))

            hit = bench.session.results.hit
            assert hit is not None
            assert [round(part.weight, 2) for part in hit.parts] == [round(1 - semantic, 2), semantic], (
                key,
                semantic,
            )
            assert f"{semantic:.2f} semantic" in bench.painted("slider"), (key, semantic)

        await bench.press("right")
        await bench.ask("household tea")
        assert bench.session.results.answer is not None
        assert bench.session.results.answer.plan.config.vector_weight == 0.05, "weights stay for the next question"
        assert bench.session.weights.saved_ranks


@pytest.mark.parametrize("presses", [10, pytest.param(40, marks=pytest.mark.slow)])
async def test_a_held_key_loses_no_step(shared_store: Path, presses: int) -> None:
    async with workbench(shared_store, size=SMALL) as bench:
        await weigh(bench)

        await strike(bench, *["shift+right"] * presses)
        await bench.until(stands_at(round(0.1 + presses / 100, 2)))

        assert round(share(current(bench.session)), 2) == round(0.1 + presses / 100, 2)


async def test_left_and_right_change_the_chosen_setting(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)
        await bench.until(lambda now: now.weights.chart)
        assert "fusion          ● weighted" in bench.painted("board")
        assert "pool" not in bench.painted("board"), "short lines keep what is near"

        for keys, setting, value in (
            ("down left", "fusion", "rrf"),
            ("down right left left", "rrf_k", 40),
            ("up right", "fusion", "weighted"),
            ("down right", "normalize", "max"),
            ("left left", "normalize", "minmax"),
            ("r down right right left", "min_score", 0.05),
            ("shift+right", "min_score", 0.06),
            ("down right", "sparse_recall", False),
            ("down right", "match", "all"),
            ("down right", "lexical_model", "bm25f"),
            ("down down left", "pool", 100),
            ("right right", "pool", 500),
        ):
            await strike(bench, *keys.split())
            await bench.until(
                lambda now, setting=setting, value=value: (  # type: ignore[misc]
                    now.results.answer
                    and getattr(now.results.answer.plan.config, setting) == value
                    and not now.query.busy
                )
            )

            board = " ".join(bench.painted("board").split())
            if value != getattr(bench.session.weights.saved, setting):
                assert "*" in board, (keys, setting)
                assert "(changed)" in str(bench.app.bench.query_one("#weights").border_title), (keys, setting)
            if (setting, value) == ("fusion", "rrf"):
                assert dict(bench.session.weights.tweaks) == {"fusion": "rrf"}
                assert "normalize" not in board, "ranks have no scale"
            if (setting, value) == ("rrf_k", 40):
                await bench.until(lambda now: now.weights.chart and now.weights.chart.rrf_k == 40)
                assert "rrf_k 40*" in board
            if (setting, value) == ("normalize", "max"):
                assert "max*" in board
            if (setting, value) == ("min_score", 0.05):
                assert bench.session.results.answer is not None
                assert bench.session.results.answer.total == 3
            if (setting, value) == ("lexical_model", "bm25f"):
                assert "▶lexical_model" in bench.painted("board")
                assert "fusion" not in bench.painted("board")
        assert "pool)          500*" in bench.painted("board")
        await bench.press("r")
        await bench.until(
            lambda now: now.results.answer and now.results.answer.plan.config == now.weights.saved == current(now)
        )

        await bench.press("z")
        await bench.until(lambda _: "min_score" in bench.painted("board"))


async def test_moved_rows_show_their_change_and_their_saved_rank(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench, "keep the manual in mind")
        saved, packed = names(bench), bench.session.context.packed
        ranks = {hit.chunk.id: hit.rank for hit in bench.session.results.hits.values() if hit.chunk}
        assert "move" not in bench.painted("results")
        await bench.press("V")
        await bench.until(lambda _: "No setting is changed" in bench.painted("board"))

        await move_to_the_end(bench)
        await bench.until(lambda now: compare_with_saved(now) and now.context.packed != packed)

        assert bench.session.context.packed is not None
        listed = {row: hit.chunk.id for row, hit in bench.session.results.hits.items() if hit.chunk}
        assert any(ranks[chunk_id] != row + 1 for row, chunk_id in listed.items())
        assert {row: bench.session.weights.saved_ranks[row] for row in listed} == {
            row: ranks[chunk_id] for row, chunk_id in listed.items()
        }
        assert "▲" in bench.painted("results")

        both = compare_with_saved(bench.session)
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

        for tweaks, k in (({"min_score": 0.5}, None), ({}, 1)):
            await move(bench, tweaks, k=k)
            await bench.until(lambda now: compare_with_saved(now) and "gone" in bench.painted("board"))
            both = compare_with_saved(bench.session)
            assert both is not None
            kept = {row.rank for row in both.now}
            assert all((row.other is None) == (row.rank not in kept) for row in both.saved), (tweaks, k)
            assert all(row.other == row.rank for row in both.now), (tweaks, k)

        await bench.press("r", "V")
        await bench.until(lambda _: "now 0.10" in bench.painted("board"))


def names(bench: Driver) -> list[str]:
    """Return the ids of the listed chunks, in order."""
    return [hit.chunk.id for _, hit in sorted(bench.session.results.hits.items()) if hit.chunk]


async def test_fewer_rows_apply_to_list_and_context(shared_store: Path) -> None:
    async with workbench(shared_store, size=SMALL) as bench:
        await weigh(bench, "keep the manual in mind")
        bench.app.become(
            weighing.choose_setting(bench.session, weighing.setting_rows(bench.session).index(weighing.TOP_K))
        )

        await strike(bench, *["left"] * 5)
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
        await bench.press("right", "right", "u", "U")
        await bench.until(lambda now: now.results.answer and now.results.answer.plan.limit == 15)


def wheel(slider: Slider) -> MouseScrollDown:
    return MouseScrollDown(slider, 5, 0, 0, 0, 0, shift=False, meta=False, ctrl=False)


CLICKS: dict[tuple[str, int], Callable[[Session], object]] = {
    ("min_score       0.00", 17): lambda now: now.weights.tweaks.get("min_score") == 0.05,
    ("min_score       0.00", 2): lambda now: weighing.chosen_setting(now) == "min_score" and not now.weights.tweaks,
    ("top k           50", 1): lambda now: weighing.chosen_setting(now) == "k" and now.weights.k is None,
    ("fusion          ● weighted", 18): lambda now: now.weights.tweaks.get("fusion") == "rrf",
    ("(pool)          200", 17): lambda now: now.weights.tweaks.get("pool", 200) > 200,
    ("match           ● any", 17): lambda now: now.weights.tweaks.get("match") == "all",
}
"""A line of the form, a cell of it, and the effect of a click there."""


async def test_the_mouse_moves_the_slider_and_the_settings(shared_store: Path) -> None:
    async with workbench(shared_store, size=(200, 60)) as bench:
        await bench.ask()
        slider = bench.app.bench.query_one(Slider)
        cell = slider.cell_of(0.5)
        aimed = slider.share_at(cell)

        await bench.pilot.click(Slider, offset=(cell, 0))
        await bench.until(stands_at(aimed))
        assert bench.session.pane == "weights"

        start, end = slider.cell_of(aimed), slider.track[1]
        await bench.pilot.mouse_down(Slider, offset=(start, 0))
        for at in (*range(start, end, 8), end):
            await bench.pilot.hover(Slider, offset=(at, 0))
        await bench.pilot.mouse_up(Slider, offset=(end, 0))
        await bench.until(stands_at(1.0))
        await bench.press("u")
        await bench.until(stands_at(aimed))
        slider.post_message(wheel(slider))
        await bench.until(stands_at(round(aimed - 0.05, 2)))

        await bench.press("r", "z")
        board = bench.app.bench.query_one(WeightsBody)
        for (setting, cell), holds in CLICKS.items():
            await bench.until(lambda _, setting=setting: any(setting in line for line in board.lines))  # type: ignore[misc]
            row, line = next((at, line) for at, line in enumerate(board.lines) if setting in line)
            await bench.pilot.click(WeightsBody, offset=(line.index(setting) + cell, row))
            await bench.until(holds, what=lambda setting=setting, cell=cell: f"{setting} {cell}")  # type: ignore[misc]
            assert bench.session.pane == "weights"
            await move(bench, {})


async def test_the_zoomed_board_draws_ranks_and_the_chosen_setting(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)
        await bench.press("z")
        await bench.until(lambda now: now.weights.chart)

        assert bench.app.bench.query_one("#board").size.height > 25
        assert bench.app.bench.query_one("#context").size.height == 0
        rows = bench.painted("board").splitlines()
        ranks = [row[0] for row in rows if row[:2].strip().isdigit()]
        assert ranks == [*"12345678", *"123"]  # all lines, and the named ones
        assert "✓ first" in bench.painted("board")
        assert "▲ now 0.10" in bench.painted("board")

        await bench.press("down", "down", "down")
        await bench.until(lambda _: "▶min_score       0.00      ──────────" in bench.painted("board"))
        await move(bench, {"min_score": 0.25})
        await bench.press("right")
        await bench.until(lambda _: "▶min_score       0.30*     ███───────" in bench.painted("board"))
        await bench.press("up", "k", "j")
        assert weighing.chosen_setting(bench.session) == "normalize"


LEXICAL_AND_SEMANTIC = "USING lexical('budget'), semantic('budget')"


async def test_a_key_without_effect_explains(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await weigh(bench)

        for key, words in (
            ("u", "nothing to undo"),
            ("U", "nothing to redo"),
            ("r", "Nothing is changed"),
            ("T", "No target is set"),
            ("S", "Nothing is changed"),
        ):
            await bench.press(key)
            await notified(bench, words)
            assert bench.session.weights.tweaks == {}, key

        for text, key, words in (
            (f"SELECT * FROM chunk {LEXICAL_AND_SEMANTIC}", "W", "No changed setting has an OPTION"),
            (f"SELECT * FROM doc {LEXICAL_AND_SEMANTIC}", "p", "rows are documents"),
        ):
            await bench.ask(text)
            await bench.press(key)
            await notified(bench, words)

        for text, reason in (
            ("SELECT * FROM chunk", "has no signal"),
            ("SELECT * FROM chunk USING lexical('budget')", "Only the lexical signal"),
            ("SELECT * FROM chunk USING semantic('budget')", "Only the semantic signal"),
        ):
            await bench.ask(text)
            await bench.press("B")
            assert reason in bench.painted("slider"), text
            assert bench.session.weights.tweaks == {}, text

        await bench.ask(f"SELECT * FROM chunk {LEXICAL_AND_SEMANTIC} OPTION fusion 'rrf'")
        await strike(bench, *in_form("fusion", "right"))
        assert current(bench.session).fusion == "rrf"
        assert bench.session.weights.tweaks == {}
        assert "OPTION sets fusion" in " ".join(bench.painted("board").split())

        await bench.ask("SELECT * FROM chunk USING lexical('budget')")
        bench.app.become(
            weighing.choose_setting(weighing.set_moves(bench.session, Moved({"fusion": "rrf"}, None)), 0)
        )
        await bench.until(lambda _: "rrf_k 60" in " ".join(bench.painted("board").split()))
        await bench.press("right")
        await bench.until(lambda _: "rrf_k 80*" in " ".join(bench.painted("board").split()))
        assert list(bench.session.weights.tweaks) == ["fusion", "rrf_k"]


async def test_saving_asks_and_asks_again_if_the_file_changed(own_store: Path) -> None:
    toml = own_store.parent / "recall.toml"
    async with workbench(own_store, size=SMALL) as bench:
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

        before = toml.read_text(encoding="utf-8")
        await bench.press("right", *in_form("fusion", "right"), "S")
        question = str(bench.app.screen.query_one("#question Static").render())
        assert "semantic_weight = 0.2 (was 0.15)" in question
        assert 'fusion = "rrf" (was "weighted")' in question
        await bench.press(*in_form("normalize", "right"))
        assert toml.read_text(encoding="utf-8") == before
        await bench.press("S", "y")
        await bench.until(lambda now: not now.weights.tweaks and not now.weights.saved_ranks)
        saved = load(toml)
        assert (saved.vector_weight, saved.bm25_weight, saved.fusion) == (0.2, 0.8, "rrf")
        assert bench.session.results.answer is not None
        assert bench.session.results.answer.plan.config.fusion == "rrf"
        await bench.press("S")
        assert not isinstance(bench.app.screen, ConfirmScreen)

        await bench.press("u")  # the undo changes the weight, but writes nothing
        await bench.until(stands_at(0.15))
        back = {"fusion": "weighted", "bm25_weight": 0.85, "vector_weight": 0.15}
        assert dict(bench.session.weights.tweaks) == back
        assert load(toml) == saved


async def test_the_copied_command_gives_rows_of_changed_weights(shared_store: Path) -> None:
    words = "keep the manual in mind"
    cases: list[tuple[str, Tweaks, int | None]] = [
        (words, {"fusion": "rrf", "rrf_k": 80, "sparse_recall": False, "min_score": 0.05}, None),
        (words, {"match": "all", "lexical_model": "bm25f", "pool": 500}, 30),
        ("SELECT * FROM chunk USING lexical('budget'), semantic('tea') -- few", {"fusion": "rrf", "rrf_k": 80}, 30),
    ]
    async with workbench(shared_store, size=SMALL) as bench:
        for text, tweaks, k in cases:
            await weigh(bench, text)
            await move(bench, tweaks, k=k)
            await bench.press("Y")
            typed = shlex.split(bench.app.clipboard.splitlines()[0])

            assert "--set" in typed
            answer, session = ran_as_json(typed), bench.session
            rows = [(row["chunk"]["id"], row["score"]) for row in answer["results"]]
            listed = [(hit.chunk.id, hit.score) for hit in session.results.hits.values() if hit.chunk]
            assert rows == listed, (text, tweaks)
            assert session.results.answer is not None
            assert answer["stats"]["digest"] == session.results.answer.digest, (text, tweaks)
            await move(bench, {})


async def test_file_refuses_ts_rank_and_says_what_to_type(shared_store: Path) -> None:
    async with workbench(shared_store, size=SMALL) as bench:
        await weigh(bench, "keep the manual in mind")
        bench.app.become(weighing.move_settings(bench.session, {"lexical_model": "ts_rank"}))
        await bench.until(lambda now: now.query.trouble and now.query.trouble.code == "not_offered")
        assert "lexical_model=fts5" in str(bench.session.query.trouble and bench.session.query.trouble.hint)


def ran_as_json(typed: list[str]) -> dict[str, Any]:
    """Run a copied command line, and return its output."""
    streams = Streams(io.StringIO(), out := io.StringIO(), err := io.StringIO())
    assert cli.main(["--json", *typed[1:]], streams=streams) in (0, 7), err.getvalue()
    return dict(json.loads(out.getvalue()))


async def test_only_another_pool_is_searched_again(shared_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    search = Engine.answer

    def counting(engine: Engine, plan: Plan) -> Answer:
        searched.append(plan.config.pool)
        return search(engine, plan)

    async with workbench(shared_store, size=SMALL) as bench:
        await weigh(bench)
        await bench.until(lambda now: now.weights.chart)
        monkeypatch.setattr(Engine, "answer", counting)

        await strike(bench, *in_form("pool", "right"))
        await settled(bench)
        await bench.until(lambda now: now.weights.chart and now.weights.saved_ranks)
        assert searched == [500, 200]  # once for the pool, and once with the saved pool for the ranks before

        await strike(bench, "right", *in_form("fusion", "right"), *in_form("k", "left"))
        await settled(bench)
        await bench.until(lambda now: now.context.packed_at == now.query.generation)
        assert [pool for pool in searched if pool != 200 or searched.count(200) > 1] == [500]

        bench.app.become(weighing.choose_setting(bench.session, weighing.setting_rows(bench.session).index("pool")))
        await strike(bench, *["right"] * 10)
        await bench.until(
            lambda now: not now.query.busy and now.results.answer and now.results.answer.plan.config.pool == 500_000
        )
        await bench.until(lambda _: "500000" in bench.painted("board"))


async def test_the_slider_moves_before_its_ranking_is_done(
    shared_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench(shared_store, size=SMALL) as bench:
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


@pytest.fixture(scope="module")
def judged_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with grades that tests only read."""
    folder = tmp_path_factory.mktemp("judged")
    store = build_store(folder)
    grade(store, tmp_path_factory.mktemp("grades"))
    return store


async def test_grades_give_the_best_weight(judged_store: Path) -> None:
    async with workbench(judged_store, size=(200, 60)) as bench:
        await weigh(bench, "keep the manual in mind")
        await bench.until(lambda now: (curve := curve_of(now)) and curve.steps)
        await bench.until(lambda _: " B best " in bench.painted("footer"))

        await move_to_the_end(bench)
        await bench.until(lambda _: "▲ now 1.00" in bench.painted("board"))
        curve = curve_of(bench.session)
        assert curve is not None
        best = best_weight(curve)
        assert value_at(curve, Fraction(str(best))) == curve.best == max(curve.means)
        assert "nDCG@10" in bench.painted("board")
        assert f"● best {best:.2f}" in bench.painted("board")
        assert f"best {curve.best:.3f} at {best:.2f}" in bench.painted("board")

        await bench.press("B")
        await settled(bench)
        await bench.until(lambda _: ", the best" in bench.painted("board"))
        there = current(bench.session)
        await bench.press("B")
        await notified(bench, "among the best: nDCG@10 ")
        assert current(bench.session) == there, "a weight among the best stays"
        await move(bench, {})

        await bench.ask("household tea")
        await bench.until(lambda now: (curve := curve_of(now)) and not curve.steps)
        await bench.until(lambda _: " B best " not in bench.painted("footer"))
        await bench.press("B")
        assert not bench.session.weights.tweaks
        await bench.until(lambda _: "no grades for this query" in bench.painted("board"))
        await bench.press("t")
        await bench.until(lambda now: now.weights.is_of_all and curve_of(now))
        shown = " ".join(bench.painted("board").split())
        assert "mean nDCG@10" in shown
        assert "3 judged, too few to recommend" in shown
        assert "95 % 0." in shown


async def test_the_curve_belongs_to_the_question_and_its_filter(judged_store: Path) -> None:
    words = "keep the manual in mind"
    async with workbench(judged_store) as bench:
        await weigh(bench, words)
        await bench.until(curve_of)
        await bench.until(lambda _: "nDCG@10" in bench.painted("board"))
        whole, line = curve_of(bench.session), measure_line(bench)
        await bench.press("slash")
        await bench.write("doc.path GLOB 'docs/*'")
        await bench.press("enter")
        await bench.until(lambda now: now.results.answer and now.results.answer.plan.filters and curve_of(now))
        await bench.until(lambda _: (shown := measure_line(bench)) and shown != line)
        part = curve_of(bench.session)
        assert whole is not None
        assert part is not None
        assert part.best != whole.best
        await bench.press("slash")
        await bench.press("end", "ctrl+u", "enter")
        await bench.until(lambda now: now.results.answer and not now.results.answer.plan.filters)
        await bench.until(lambda _: measure_line(bench) == line)
        assert curve_of(bench.session) == whole

        await bench.ask(f"SELECT * FROM chunk USING lexical('{words}'), semantic('{words}')")
        await bench.until(curve_of)
        await bench.until(lambda _: "nDCG@10" in bench.painted("board"))
        assert "no grades" not in bench.painted("board")

        await weigh(bench, words)
        await move(bench, {"bm25_weight": 0.85, "vector_weight": 0.15, "normalize": "max"})
        await bench.until(lambda now: now.weights.chart and curve_of(now))
        await bench.press("Y")
        of_lines, chart = bench.app.clipboard.splitlines()[1], bench.session.weights.chart
        await bench.press("t")
        await bench.until(lambda now: now.weights.is_of_all and curve_of(now))
        await bench.press("Y")
        of_all, session = bench.app.clipboard.splitlines()[1], bench.session
        order = ran_as_json(shlex.split(of_lines))["tuning"]["sweep"]["order"]
        assert chart is not None
        gauge = stability_at(chart, exact_share(current(session)))
        assert (float(gauge.order.low), float(gauge.order.high)) == (order["low"], order["high"])
        curve = curve_of(session)
        assert curve is not None
        assert list(curve.means) == ran_as_json(shlex.split(of_all))["tuning"]["judged"]["curve"]["means"]


def measure_line(bench: Driver) -> str:
    """Return the line of the measure, or ""."""
    return next((row for row in bench.painted("board").splitlines() if row.startswith("nDCG@10")), "")


@pytest.mark.slow
@pytest.mark.parametrize("size", [SMALL, (100, 30)])
async def test_a_short_board_shows_full_figures_first(judged_store: Path, size: tuple[int, int]) -> None:
    async with workbench(judged_store, size=size) as bench:
        await weigh(bench, "keep the manual in mind")
        await bench.until(lambda now: now.weights.chart and curve_of(now))
        await bench.until(lambda _: "nDCG@10" in bench.painted("board"))
        if size == SMALL:  # the weights replace the ledger
            heights = [bench.app.bench.query_one(f"#{pane}").size.height for pane in ("explain", "context")]
            assert bench.app.bench.query_one("#weights").size.height > 0
            assert heights == [0, 0]
            assert re.search(r"\b3\b.* 5\b.* 6\b", bench.painted("status"))

        rows = [row.rstrip() for row in bench.painted("board").splitlines()]

    assert sum(row[:2].strip().isdigit() for row in rows) == 1
    assert any("keep their order" in row for row in rows)
    assert any("nDCG@10 (docs) " in row for row in rows)
    assert any("▲" in row and "●" in row and "semantic" in row for row in rows)


async def test_a_first_grade_adds_the_curve_of_a_query(own_store: Path, tmp_path: Path) -> None:
    async with workbench(own_store) as bench:
        await weigh(bench, "household tea")

        bench.app.do("Judging", lambda recall, _say: grade_one(recall, tmp_path))
        await bench.until(lambda now: now.store.tasks_done and (curve := curve_of(now)) and curve.steps)

        assert "no grades" not in bench.painted("board")
        await bench.ask("keep the manual in mind")
        await bench.until(lambda _: "no grades for this query" in bench.painted("board"))
        assert "t the judged query" in bench.painted("board")


def grade_one(recall: Recall, folder: Path) -> str:
    queries, qrels = folder / "one.jsonl", folder / "one.tsv"
    queries.write_text('{"_id": "q9", "text": "household tea"}\n')
    qrels.write_text("query-id\tcorpus-id\tscore\nq9\tnotes/diary.txt\t3\n")
    recall.judge_import(queries=queries, qrels=qrels)
    return "judged"


async def test_targets_are_met_by_a_key_or_reported(shared_store: Path) -> None:
    page = "SELECT * FROM chunk USING lexical('manual'), semantic('keep the manual in mind') LIMIT 5 OFFSET 5"
    async with workbench(shared_store) as bench:
        await weigh(bench, page)
        await bench.press("2", "end", "4", "p")
        await bench.until(target_weights)
        await bench.until(lambda _: "targets in the top 10: 1 required" in bench.painted("board"))
        assert bench.session.results.hit is not None
        assert bench.session.results.hit.rank == 10, "the last row of its page"
        await bench.until(lambda _: "✓ all targets met (" in bench.painted("board"))

        await weigh(bench, "keep the manual in mind")
        await move(bench, {}, k=2)
        await bench.press("x")
        await bench.until(target_weights)
        granted = target_weights(bench.session)
        assert granted is not None
        assert granted.weights, "the corpus has no weight without this row; choose another"
        assert "targets in the top 2: 1 excluded" in bench.painted("board")
        pinned = pins_of(bench.session)[0].chunk_id

        await bench.press("T")
        await settled(bench)

        assert pinned not in [hit.chunk.id for hit in bench.session.results.hits.values() if hit.chunk]
        assert "all targets met (" in bench.painted("board")
        await bench.press("Y")
        typed = shlex.split(bench.app.clipboard.splitlines()[1])
        assert pinned in typed
        assert ran_as_json(typed)["tuning"]["pinned"]["wishes"][0]["holds"]

        await move(bench, {}, k=3)
        await bench.ask("keep the manual")
        await bench.press("p", "2", "j", "4", "p", "2", "j", "4", "p")
        await move(bench, {}, k=1)
        await bench.until(lambda now: (granted := target_weights(now)) and granted.conflict)
        await bench.press("T")
        assert "no weight meets" in " ".join(bench.painted("board").split())


async def test_changed_settings_become_a_query_with_the_same_rows(shared_store: Path) -> None:
    text = "SELECT * FROM chunk -- all\nUSING lexical('budget'), semantic('tea')"
    async with workbench(shared_store, size=SMALL) as bench:
        await weigh(bench, text)
        await move(bench, {"normalize": "max", "bm25_weight": 0.4, "vector_weight": 0.6, "match": "all"}, k=5)
        rows = [(hit.chunk.id, hit.score) for hit in bench.session.results.hits.values() if hit.chunk]
        await bench.press("W")
        await bench.until(
            lambda now: not now.query.busy and now.results.answer and "OPTION" in now.results.answer.plan.text
        )
        assert bench.app.bench.editor.text == (
            "SELECT * FROM chunk -- all\nUSING lexical('budget'), semantic('tea')\nLIMIT 5\n"
            "OPTION normalize max, lexical_weight 0.4, semantic_weight 0.6"
        )
        assert dict(bench.session.weights.tweaks) == {"match": "all"}
        assert rows == [(hit.chunk.id, hit.score) for hit in bench.session.results.hits.values() if hit.chunk]
        await bench.press("1", "ctrl+z")
        await bench.until(lambda now: now.query.text == text)

        await weigh(bench, "keep the manual in mind")
        await move(bench, {"bm25_weight": 0.7, "vector_weight": 0.3, "min_score": 0.05})
        rows = [(hit.chunk.id, hit.score) for hit in bench.session.results.hits.values() if hit.chunk]
        await bench.press("W")
        assert "Plain words have no OPTION" in str(bench.app.screen.query_one("#question Static").render())
        await bench.press("y")
        await bench.until(lambda now: not now.query.busy and now.results.answer and now.results.answer.plan.rql)
        assert bench.app.bench.editor.text.startswith("SELECT * FROM chunk USING lexical(")
        assert rows == [(hit.chunk.id, hit.score) for hit in bench.session.results.hits.values() if hit.chunk]
        assert bench.session.weights.tweaks == {}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ProviderServer]:
    """Serve the embedder of the store in this folder, which answers when its gate is set."""
    write_corpus(tmp_path)
    with provider_server(768) as running:
        Recall.init(str(tmp_path), embedding="ollama", settings=(f"embedding_url={running.url}",))
        with Recall.open(str(tmp_path)) as recall:
            for _ in recall.add([str(tmp_path / "notes")], Root("")):
                pass
        yield running
        running.gate.set()


async def test_a_failure_after_a_changed_weight_is_explained(tmp_path: Path, server: ProviderServer) -> None:
    async with workbench(tmp_path / "recall.db", size=SMALL) as bench:
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
