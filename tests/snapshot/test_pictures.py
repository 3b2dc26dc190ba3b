"""The screen, state by state and size by size."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from recall_core.api.recall import Recall
from recall_tui.state import weighing
from tests.snapshot.conftest import Picture, Steps, is_settled
from tests.workbench_driver import Driver

SMALL, LARGE = (pytest.param(size, marks=pytest.mark.slow) for size in ((80, 24), (200, 60)))
SIZES = pytest.mark.parametrize("size", [SMALL, (120, 40), LARGE], ids=["80x24", "120x40", "200x60"])


async def second_result(bench: Driver) -> None:
    await bench.ask()
    await bench.press("escape", "j")


async def waits(bench: Driver, text: str) -> None:
    """Show a question whose answer is still running while the picture is taken."""
    with bench.app.bench.editor.prevent(TextArea.Changed):
        bench.app.bench.editor.text = text
    bench.app.become(bench.session._replace(query=bench.session.query._replace(text=text, busy=True)))


async def answered(bench: Driver) -> None:
    """Wait for the first answer and everything that follows from it."""
    await bench.ask()
    await bench.until(lambda now: not now.query.busy and is_settled(now))


async def misspelt_field(bench: Driver) -> None:
    await answered(bench)
    bench.app.bench.editor.text = "SELECT * FROM chunk FILTER doc.tgas = 'x'"
    await bench.until(lambda now: now.query.trouble)


async def small_context(bench: Driver) -> None:
    await bench.ask()
    await bench.press("escape", "5")
    await bench.press("b", "6", "2", "enter")
    await bench.until(lambda now: now.context.packed and now.context.packed.budget_tokens == 62)


async def moved_weights(bench: Driver) -> None:
    await bench.ask("keep the manual in mind")
    await bench.press("escape", "j", "j", "4")
    bench.app.move(weighing.set_exact_share(bench.session, 0.71))
    await bench.until(
        lambda now: now.weights.chart and now.results.answer and now.results.answer.plan.config.vector_weight == 0.71
    )
    await bench.until(lambda now: now.context.packed and now.weights.saved_ranks)


async def coloured_query(bench: Driver) -> None:
    await bench.ask(
        "SELECT doc.path, score FROM chunk  -- what the manual says\nUSING lexical('budget'), semantic('budget')\n"
        "FILTER (doc.path GLOB 'docs/**' OR chunk.tokens > 8) AND NOT doc.path = 'a(b' LIMIT 5"
    )
    bench.app.bench.editor.move_cursor((2, 7))


async def offered_values(bench: Driver) -> None:
    await answered(bench)
    await bench.write("SELECT * FROM chunk USING lexical('budget') FILTER doc.path = 'docs/")
    await bench.until(lambda now: now.query.trouble and len(bench.app.bench.editor.offers.options) == 3)
    await bench.press("down")


@SIZES
def test_results_ledger_and_context(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(second_result, size)


@pytest.mark.parametrize("size", [SMALL, (120, 40)], ids=["80x24", "120x40"])
def test_no_query_yet(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    async def steps(bench: Driver) -> None:
        await bench.until(lambda now: now.store.info)

    assert picture(steps, size)


def test_an_empty_store_says_how_to_fill_it(home: Path, picture: Picture) -> None:
    Recall.init(str(home))

    async def steps(bench: Driver) -> None:
        await bench.until(lambda now: now.store.info)

    assert picture(steps, (80, 24))


@pytest.mark.slow
def test_a_first_answer_being_searched(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await bench.until(lambda now: now.store.info and is_settled(now))
        await waits(bench, "token budget")

    assert picture(steps, (120, 40), is_answered=False)


def test_a_slow_answer_can_be_cancelled(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await bench.until(lambda now: now.store.info and is_settled(now))
        await waits(bench, "token budget")
        bench.app.become(
            bench.session._replace(query=bench.session.query._replace(lingers=bench.session.query.question))
        )

    assert picture(steps, (120, 40), is_answered=False)


def test_old_rows_stay_until_the_next_answer(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await second_result(bench)
        await bench.until(is_settled)
        await waits(bench, "token budget of a household")

    assert picture(steps, (120, 40), is_answered=False)


@pytest.mark.slow
def test_nothing_matches(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await bench.ask("SELECT * FROM chunk USING lexical('budget') FILTER doc.path = 'docs/none.md'")
        await bench.press("escape")

    assert picture(steps, (120, 40))


@pytest.mark.slow
def test_rows_without_a_score(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await bench.ask("SELECT * FROM doc FILTER doc.path GLOB 'docs/*'")
        await bench.press("escape", "j")

    assert picture(steps, (120, 40))


@pytest.mark.parametrize(
    "asked", [pytest.param(second_result, marks=pytest.mark.slow), coloured_query], ids=["results", "query"]
)
def test_the_whole_screen(store: Path, picture: Picture, asked: Steps) -> None:
    async def steps(bench: Driver) -> None:
        await asked(bench)
        await bench.app.perform("zoom")
        await bench.until(lambda now: now.zoomed)

    assert picture(steps, (120, 40))


@SIZES
def test_an_error_marks_the_old_results_stale(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(misspelt_field, size)


@SIZES
def test_a_small_budget_leaves_most_out(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(small_context, size)


@SIZES
def test_changed_weights(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(moved_weights, size)


def test_no_weights_to_tune(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await bench.ask("SELECT * FROM chunk USING lexical('budget') LIMIT 5")
        await bench.press("escape", "4")

    assert picture(steps, (120, 40))


def test_weights_are_saved_after_a_question(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await moved_weights(bench)
        await bench.press("S")

    assert picture(steps, (80, 24))


@pytest.mark.slow
def test_a_query_in_colours(store: Path, picture: Picture) -> None:
    assert picture(coloured_query, (120, 40))


def test_completions_from_the_store(store: Path, picture: Picture) -> None:
    assert picture(offered_values, (120, 40))


def test_the_search_for_an_earlier_query(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        for text in ("token budget", "SELECT *\nFROM chunk\nLIMIT 3", "household tea"):
            await bench.ask(text)
            await bench.press("escape", "1")
        await bench.press("ctrl+r")
        await bench.type("to")
        bench.app.screen.query_one(Input).cursor_blink = False

    assert picture(steps, (80, 24))


@pytest.mark.parametrize(
    "steps",
    [second_result, misspelt_field, coloured_query, offered_values, moved_weights],
    ids=["results", "stale", "rql", "offers", "weights"],
)
@pytest.mark.slow
def test_without_colour(store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch, steps: object) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    assert picture(steps, (120, 40))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "steps", [second_result, pytest.param(moved_weights, marks=pytest.mark.slow)], ids=["results", "weights"]
)
def test_in_a_locale_without_unicode(
    store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch, steps: Steps
) -> None:
    monkeypatch.setenv("LC_ALL", "C")

    assert picture(steps, (120, 40))


def test_help(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await second_result(bench)
        await bench.press("f1")

    assert picture(steps, (80, 24))


@pytest.mark.slow
def test_a_finished_ingest_lists_what_it_skipped(store: Path, picture: Picture) -> None:
    (store.parent / "broken").mkdir()
    (store.parent / "broken" / "latin.txt").write_bytes(b"caf\xe9")

    async def steps(bench: Driver) -> None:
        await second_result(bench)
        await bench.press("A")
        await bench.type("broken")
        await bench.press("enter")
        await bench.until(lambda now: now.store.run and now.store.run.ended and not now.query.busy)
        await bench.press("7")

    assert picture(steps, (120, 40))


def test_a_tiny_terminal(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await bench.until(lambda now: now.store.info)

    assert picture(steps, (50, 10))
