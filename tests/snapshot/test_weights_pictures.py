"""The weights pane: grades, pins and other settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall_tui.state.tuning import curve_of, target_weights
from tests.snapshot.conftest import Picture
from tests.workbench_driver import Driver, in_form
from tests.workbench_grades import grade

SMALL, LARGE = (pytest.param(size, marks=pytest.mark.slow) for size in ((80, 24), (200, 60)))
SIZES = pytest.mark.parametrize("size", [SMALL, (120, 40), LARGE], ids=["80x24", "120x40", "200x60"])


@pytest.fixture
def judged(store: Path, tmp_path: Path) -> Path:
    """Return the small store with grades."""
    grade(store, tmp_path)
    return store


async def graded(bench: Driver) -> None:
    await bench.ask("keep the manual in mind")
    await bench.press("escape", "4", *["right"] * 4)
    await bench.until(lambda now: now.results.answer and now.results.answer.plan.config.vector_weight == 0.3)
    await bench.until(
        lambda now: now.weights.chart and curve_of(now) and now.context.packed and now.weights.saved_ranks
    )


async def graded_and_pinned(bench: Driver) -> None:
    await graded(bench)
    await bench.press("p", "j", "j", "x")
    await bench.until(target_weights)


async def mean(bench: Driver) -> None:
    await graded(bench)
    await bench.press("t")
    await bench.until(lambda now: now.weights.is_of_all and curve_of(now))


@SIZES
def test_the_grades_are_a_curve_over_every_weight(judged: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(graded, size)


@SIZES
def test_pins_are_a_band_of_weights(judged: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(graded_and_pinned, size)


@SIZES
def test_the_mean_of_all_judged_queries_has_a_band(judged: Path, picture: Picture, size: tuple[int, int]) -> None:
    async def steps(bench: Driver) -> None:
        await mean(bench)
        await bench.press("z")

    assert picture(steps, size)


@pytest.mark.slow
def test_colour_is_not_needed_for_the_curve(judged: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    assert picture(graded_and_pinned, (120, 40))


@pytest.mark.slow
def test_a_terminal_without_unicode_draws_the_curve(
    judged: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")

    assert picture(graded_and_pinned, (120, 40))


@pytest.mark.slow
def test_the_light_theme_shows_the_curve(judged: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await mean(bench)
        bench.app.theme = "light"

    assert picture(steps, (120, 40))


@pytest.mark.slow
def test_another_fusion_and_another_number_of_rows_are_marked(judged: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await bench.ask("keep the manual in mind")
        await bench.press(
            "escape",
            "4",
            *in_form("fusion", "right"),
            *in_form("k", "left"),
            *in_form("pool", "right"),
            *in_form("match", "right"),
            *in_form("rrf_k", "left"),
        )
        await bench.until(
            lambda now: not now.query.busy and now.results.answer and now.results.answer.plan.config.rrf_k == 40
        )
        await bench.until(
            lambda now: now.weights.chart and now.weights.chart.rrf_k == 40 and curve_of(now) and now.context.packed
        )

    assert picture(steps, (120, 40))
