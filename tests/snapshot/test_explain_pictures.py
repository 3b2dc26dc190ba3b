"""Pictures of the explain pane: every tab, the fixes, and the prompt for a missing document."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.widgets import Input

from recall_core.api.recall import Recall
from recall_core.types import Root
from recall_tui.screens.target import TargetScreen
from recall_tui.state import explaining
from recall_tui.state.explaining import whynot_of
from recall_tui.state.records import Analysis
from recall_tui.state.session import result_of
from tests.snapshot.conftest import Picture, Steps
from tests.workbench_corpus import MODIFIED
from tests.workbench_driver import Driver

SMALL, LARGE = (pytest.param(size, marks=pytest.mark.slow) for size in ((80, 24), (200, 60)))
SIZES = pytest.mark.parametrize("size", [SMALL, (120, 40), LARGE], ids=["80x24", "120x40", "200x60"])
SHORT = "SELECT * FROM chunk USING lexical('token budget'), semantic('token budget') LIMIT 2"
FILTERED = "SELECT * FROM chunk USING lexical('budget') FILTER doc.path GLOB 'docs/*' AND chunk.tokens > 8 LIMIT 2"


async def seen(bench: Driver, analysis: Analysis | None) -> None:
    """Wait until this analysis is done."""
    assert analysis is not None
    await bench.until(lambda now: result_of(now, analysis, of=object) is not None)


async def ledger(bench: Driver) -> None:
    await bench.ask()
    await bench.press("escape", "j", "3")
    await seen(bench, explaining.ledger_analysis(bench.session))
    if bench.app.size.width >= 200:
        await seen(bench, explaining.passage_analysis(bench.session))


async def whole_ledger(bench: Driver) -> None:
    await ledger(bench)
    await bench.press("z")


async def passage(bench: Driver) -> None:
    await bench.ask("step30 word30")
    await bench.press("escape", "b", *"30", "enter")
    await bench.until(lambda now: now.context.packed and now.context.packed.budget_tokens == 30)
    await bench.press("3", "right")
    await seen(bench, explaining.passage_analysis(bench.session))


async def zoomed_passage(bench: Driver) -> None:
    await passage(bench)
    await bench.press("z")


async def why_not(bench: Driver) -> None:
    await bench.ask()
    await bench.press("escape", "b", *"62", "enter")
    await bench.until(lambda now: now.context.packed and now.context.packed.budget_tokens == 62)
    await bench.press("2", "j", "j", "j", "w", "w")
    await bench.until(whynot_of)
    await bench.press("z", "down", "down")
    await bench.until(lambda now: now.cursors.get("fixes") == 2)


async def missed(bench: Driver, text: str, target: str) -> None:
    await bench.ask(text)
    await bench.press("escape", "m")
    await bench.until(lambda _: isinstance(bench.app.screen, TargetScreen))
    await bench.write(target)
    await seen(bench, Analysis("paths", target))
    await bench.press("enter")
    await bench.until(whynot_of)


async def filtered_out(bench: Driver) -> None:
    await missed(bench, FILTERED, "src/pack.py")


async def below_the_limit(bench: Driver) -> None:
    await missed(bench, SHORT, "notes/diary.txt")
    await bench.press("z")


async def funnel(bench: Driver) -> None:
    await bench.ask(FILTERED)
    await bench.press("escape", "3", "left", "left")
    await seen(bench, explaining.funnel_analysis(bench.session))


async def compared(bench: Driver) -> None:
    await bench.ask()
    await bench.press("escape", "M", "j", "c")
    await seen(bench, explaining.compare_analysis(bench.session))
    await bench.until(lambda _: not bench.app._notifications or bench.app.clear_notifications() is None)


@pytest.fixture
def steps_store(home: Path) -> Path:
    """Return a document of many overlapping chunks, in the start folder."""
    lines = [f"def step{number}(budget):  # step {number}\n    return 'word{number}'" for number in range(1, 41)]
    (home / "steps.py").write_text("\n".join(lines), encoding="utf-8")
    os.utime(home / "steps.py", ns=(MODIFIED, MODIFIED))
    Recall.init(str(home), settings=("chunk_tokens=40", "overlap_tokens=10", "pack_counter=whitespace"))
    with Recall.open(str(home)) as recall:
        for _ in recall.add([str(home / "steps.py")], Root("")):
            pass
        return Path(recall.store.info().path)


@SIZES
def test_the_ledger(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(ledger, size)


@pytest.mark.slow
def test_every_leaf_of_a_ledger(store: Path, picture: Picture) -> None:
    assert picture(whole_ledger, (120, 40))


@pytest.mark.slow
def test_a_passage_on_the_light_theme(steps_store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await passage(bench)
        bench.app.theme = "light"

    assert picture(steps, (120, 40))


@pytest.mark.parametrize(
    "steps", [passage, pytest.param(zoomed_passage, marks=pytest.mark.slow)], ids=["pane", "zoomed"]
)
def test_the_passage(steps_store: Path, picture: Picture, steps: Steps) -> None:
    assert picture(steps, (120, 40))


@SIZES
def test_why_not(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(why_not, size)


@pytest.mark.slow
def test_the_failing_stage_is_open(store: Path, picture: Picture) -> None:
    assert picture(filtered_out, (120, 40))


@pytest.mark.slow
def test_fixes_for_a_row_beyond_the_limit(store: Path, picture: Picture) -> None:
    assert picture(below_the_limit, (120, 40))


@SIZES
def test_the_funnel(store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]) -> None:
    monkeypatch.setattr("recall_core.explain.funnel.perf_counter", lambda: 0.0)

    assert picture(funnel, size)


@SIZES
def test_two_hits_compared(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(compared, size)


def test_the_prompt_for_a_missing_document(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await bench.ask()
        await bench.press("escape", "m")
        await bench.until(lambda _: isinstance(bench.app.screen, TargetScreen))
        await bench.write("part 1")
        await seen(bench, Analysis("paths", "part 1"))
        bench.app.screen.query_one(Input).cursor_blink = False

    assert picture(steps, (80, 24))


TABS = pytest.mark.parametrize(
    "steps", [ledger, why_not, compared, funnel], ids=["ledger", "why_not", "compared", "funnel"]
)


@TABS
@pytest.mark.slow
def test_without_colour(store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch, steps: Steps) -> None:
    monkeypatch.setattr("recall_core.explain.funnel.perf_counter", lambda: 0.0)
    monkeypatch.setenv("NO_COLOR", "1")

    assert picture(steps, (120, 40))


@TABS
@pytest.mark.slow
def test_in_the_light_theme(
    light: None, store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch, steps: Steps
) -> None:
    monkeypatch.setattr("recall_core.explain.funnel.perf_counter", lambda: 0.0)

    assert picture(steps, (120, 40))


@pytest.mark.slow
def test_a_passage_without_colour(steps_store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    assert picture(zoomed_passage, (120, 40))


@pytest.mark.slow
def test_a_passage_in_a_locale_without_unicode(
    steps_store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")

    assert picture(zoomed_passage, (120, 40))
