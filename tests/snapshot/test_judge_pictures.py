"""The judge pane and the grades in the list, state by state and size by size."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from recall_core.api.recall import Recall
from recall_core.evaluate.judgements import Judgement, Spot, put
from recall_tui.screens.dialog import ConfirmScreen
from recall_tui.state import judging, weighing
from recall_tui.state.session import Session, is_seen
from tests.snapshot.conftest import Picture, Steps
from tests.workbench_driver import Driver

SMALL, LARGE = (pytest.param(size, marks=pytest.mark.slow) for size in ((80, 24), (200, 60)))
SIZES = pytest.mark.parametrize("size", [SMALL, (120, 40), LARGE], ids=["80x24", "120x40", "200x60"])

SET = {
    "q1": ("token budget", {"docs/budget.md": 3, "docs/scoring.md": 1, "notes/cafe.txt": 1, "src/pack.py": 2}),
    "q2": ("read a file line by line", {"docs/files.md": 2, "src/read.py": 1, "manual/part09.txt": 0}),
    "q3": ("keep the manual in mind", {"docs/scoring.md": 1, "manual/part28.txt": 2, "manual/part30.txt": 0}),
    "q4": ("how is the budget of a household spent", {"notes/diary.txt": 3}),
}


@pytest.fixture
def judged_store(store: Path) -> Path:
    with Recall.open(str(store)) as recall:
        texts = {query: text for query, (text, _) in SET.items()}
        grades = [Judgement(query, Spot(path), grade) for query, (_, of) in SET.items() for path, grade in of.items()]
        put(recall.store, texts, grades)
    return store


def settled(session: Session) -> bool:
    """Return a condition: everything is measured, and nothing is being written to the store."""
    is_measured = judging.is_current(session) or not is_seen(session, "judge")
    return is_measured and not session.judge.gradings and not session.store.task


async def measured(bench: Driver) -> None:
    await bench.ask("keep the manual in mind")
    await bench.press("escape")
    bench.app.move(weighing.set_exact_share(bench.session, 0.9))
    await bench.press("6")
    await bench.until(
        lambda now: settled(now) and now.weights.tweaks and now.context.packed and now.weights.saved_ranks
    )
    await bench.until(lambda now: now.results.answer and now.context.packed_at == now.query.generation)


async def zoomed(bench: Driver) -> None:
    await measured(bench)
    await bench.press("z", "up", "right")
    await bench.until(lambda _: "Enter explains why" in bench.painted("judge"))


async def graded(bench: Driver) -> None:
    await bench.ask()
    await bench.until(lambda now: judging.judged_queries(now) is not None)
    await bench.press("escape", "g", "a", "s", "f", "d")
    await bench.until(settled)


@SIZES
def test_changed_weights_against_the_saved_ones(judged_store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(measured, size)


@SIZES
def test_the_whole_screen_with_what_a_query_misses(
    judged_store: Path, picture: Picture, size: tuple[int, int]
) -> None:
    assert picture(zoomed, size)


@SIZES
def test_grades_in_the_list(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(graded, size)


def test_no_judgements(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await bench.ask()
        await bench.press("escape", "6")
        await bench.until(lambda now: judging.judged_queries(now) is not None)

    assert picture(steps, (120, 40))


@pytest.mark.slow
def test_the_prompt_for_an_import(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await bench.ask()
        await bench.press("escape", "6")
        await bench.until(lambda now: judging.judged_queries(now) is not None)
        await bench.press("I")
        bench.app.screen.query_one(Input).cursor_blink = False

    assert picture(steps, (80, 24))


def test_no_judged_query_has_a_relevant_document(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await bench.ask()
        await bench.until(lambda now: judging.judged_queries(now) is not None)
        await bench.press("escape", "g", "f", "6")
        await bench.until(lambda _: "a grade above 0" in bench.painted("judge"))

    assert picture(steps, (80, 24))


@pytest.mark.parametrize("size", [SMALL, (120, 40)], ids=["80x24", "120x40"])
def test_a_board_being_measured(judged_store: Path, picture: Picture, size: tuple[int, int]) -> None:
    """Draw a measurement halfway, since a real one ends at any time."""

    async def steps(bench: Driver) -> None:
        await measured(bench)
        session = bench.session
        moved = session._replace(
            weights=session.weights._replace(tweaks={**session.weights.tweaks, "vector_weight": 0.85})
        )
        bench.app.bench.show(moved._replace(analysing=(judging.board_analysis(moved), 2, 4)))

    assert picture(steps, size)


@pytest.mark.slow
def test_the_prompt_for_an_export(judged_store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await measured(bench)
        await bench.press("E")
        bench.app.screen.query_one(Input).cursor_blink = False

    assert picture(steps, (80, 24))


@pytest.mark.slow
def test_an_existing_file_is_not_replaced_without_a_question(judged_store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        Path("dev.qrels").write_text("", encoding="utf-8")
        await measured(bench)
        await bench.press("E", *"dev", "full_stop", *"qrels", "enter")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))

    assert picture(steps, (80, 24))


@pytest.mark.slow
def test_in_the_light_theme(light: None, judged_store: Path, picture: Picture) -> None:
    assert picture(measured, (120, 40))


@pytest.mark.parametrize("steps", [measured, graded], ids=["board", "grades"])
@pytest.mark.slow
def test_without_colour(judged_store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch, steps: Steps) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    assert picture(steps, (120, 40))


@pytest.mark.slow
def test_in_a_locale_without_unicode(judged_store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")

    assert picture(measured, (120, 40))
