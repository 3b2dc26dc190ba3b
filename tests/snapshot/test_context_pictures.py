"""The context: its slider, its gauge, pins and exclusions, and its worth."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall_tui.state import packing
from recall_tui.state.packing import Worth
from recall_tui.state.session import Session, result_of
from tests.snapshot.conftest import Picture, Steps
from tests.workbench_driver import Driver

SMALL, LARGE = (pytest.param(size, marks=pytest.mark.slow) for size in ((80, 24), (200, 60)))
SIZES = pytest.mark.parametrize("size", [SMALL, (120, 40), LARGE], ids=["80x24", "120x40", "200x60"])


def is_settled(now: Session) -> object:
    """Return a condition: the worth of the context on the screen is known."""
    analysis = packing.worth_analysis(now)
    return analysis is not None and isinstance(result_of(now, analysis, Worth), Worth)


async def budget_of(bench: Driver, tokens: int) -> None:
    await bench.press("b", *str(tokens), "enter")
    await bench.until(
        lambda now: now.context.packed and now.context.packed.budget_tokens == tokens and is_settled(now)
    )


async def what_ifs(bench: Driver) -> None:
    """Pin a chunk that would be left out, and exclude one that would be packed."""
    await bench.ask("token budget")
    await bench.press("escape", "5")
    await budget_of(bench, 90)
    await bench.press("j", "x")
    await bench.until(lambda now: now.context.packing and now.context.packing.drops)
    await bench.press("end", "p")
    await bench.until(lambda now: now.context.packing and now.context.packing.pins and is_settled(now))


async def zoomed(bench: Driver) -> None:
    await what_ifs(bench)
    await bench.press("z")
    await bench.until(lambda now: now.zoomed and is_settled(now))


async def waiting(bench: Driver) -> None:
    """Pin and exclude chunks of another question."""
    await what_ifs(bench)
    await bench.ask("SELECT * FROM chunk FILTER doc.path GLOB 'notes/*'")
    await bench.until(lambda now: len(now.context.waiting) == 2 and is_settled(now))
    await bench.press("escape", "5", "end")


async def optimal(bench: Driver) -> None:
    """Use the other packing, with one chunk shown in full."""
    await bench.ask("token budget")
    await bench.press("escape", "5")
    await budget_of(bench, 45)
    await bench.press("o", "D")
    await bench.until(
        lambda now: now.context.packed and "filled by value" in bench.painted("context") and is_settled(now)
    )
    await bench.press("j", "enter")
    await bench.until(lambda now: now.context.unfolded)


async def light_from_now_on(bench: Driver) -> None:
    """Change the theme while the pane has a chosen row."""
    await what_ifs(bench)
    await bench.press("f9", "down", "enter")
    await bench.until(lambda _: bench.app.theme == "light" and bench.app.screen is bench.app.bench)


@pytest.mark.slow
def test_no_query_yet(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await bench.until(lambda now: now.store.info)
        await bench.press("escape", "5")

    assert picture(steps, (80, 24))


@pytest.mark.parametrize("size", [SMALL, (120, 40)], ids=["80x24", "120x40"])
def test_the_optimal_packing(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(optimal, size)


@pytest.mark.parametrize("steps", [what_ifs, zoomed], ids=["what-ifs", "whole"])
@pytest.mark.slow
def test_in_the_light_theme(light: None, store: Path, picture: Picture, steps: Steps) -> None:
    assert picture(steps, (120, 40))


@pytest.mark.slow
def test_the_chosen_row_after_a_change_of_theme(store: Path, picture: Picture) -> None:
    assert picture(light_from_now_on, (120, 40))


@SIZES
def test_what_ifs(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(what_ifs, size)


@SIZES
def test_the_whole_context(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(zoomed, size)


@pytest.mark.slow
def test_what_ifs_that_wait(store: Path, picture: Picture) -> None:
    assert picture(waiting, (120, 40))


@pytest.mark.parametrize("steps", [what_ifs, zoomed], ids=["what-ifs", "whole"])
@pytest.mark.slow
def test_without_colour(store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch, steps: Steps) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    assert picture(steps, (120, 40))


@pytest.mark.slow
def test_in_a_locale_without_unicode(store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")

    assert picture(what_ifs, (120, 40))
