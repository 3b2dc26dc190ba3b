"""The five tasks of decision 42: the number of keys, and the labels that lead to every key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.config import load
from recall_tui.handlers.shell import plain_text
from tests.five_tasks import BUDGET, GRADES, KEYS, KEYS_BEFORE, NARROW, USUAL, WIDE, Step, Task, is_painted, tasks
from tests.real_pages import MISSING, QUESTION, build_pages
from tests.workbench_driver import Driver, is_settled, workbench

SIZES = (NARROW, USUAL, WIDE)
IDS = [f"{width}x{height}" for width, height in SIZES]
DRAWN = (NARROW, *(pytest.param(size, marks=pytest.mark.slow) for size in (USUAL, WIDE)))
"""Sizes of the terminal. The narrow one needs the most keys; wider ones run nightly."""
DECISION = Path(__file__).parents[2] / "docs" / "decisions" / "0042-measure-the-workbench-by-five-tasks.md"


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    return build_pages(tmp_path)


async def answered(bench: Driver) -> None:
    """Ask the question in the field, with the cursor at its end, and wait for all analyses."""
    await bench.ask(QUESTION)
    await bench.until(is_settled)


async def take(bench: Driver, step: Step) -> None:
    """Find the label for a step, and press its key."""
    await painted(bench, step.label)
    if step.is_text:
        await bench.type(step.key)
    else:
        await bench.press(step.key)
    await bench.until(is_settled)


async def painted(bench: Driver, text: str) -> None:
    """Wait until that is on the screen."""
    await bench.until(
        lambda _: is_painted(text, plain_text(bench.app)),
        seconds=20,
        what=lambda: f"{text!r} is not on the screen:\n{plain_text(bench.app)}",
    )


async def do(bench: Driver, task: Task) -> None:
    """Do a task from an answered question to its end."""
    await answered(bench)
    for step in task.steps:
        await take(bench, step)
    for text in task.shown:
        await painted(bench, text)


@pytest.mark.parametrize("size", [NARROW, USUAL, pytest.param(WIDE, marks=pytest.mark.slow)], ids=IDS)
async def test_the_ledger_explains_the_first_row_and_adds_up(pages: Path, size: tuple[int, int]) -> None:
    async with workbench(pages, size=size) as bench:
        await do(bench, tasks(size)[0])


@pytest.mark.parametrize("size", DRAWN, ids=IDS)
async def test_why_not_explains_and_fixes_a_missing_page(pages: Path, size: tuple[int, int]) -> None:
    async with workbench(pages, size=size) as bench:
        await do(bench, tasks(size)[1])

        assert "not in the top" not in plain_text(bench.app)
        assert bench.session.results.sought == f"decisions/{MISSING}"


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=IDS)
async def test_a_weight_is_moved_and_saved(pages: Path, size: tuple[int, int]) -> None:
    async with workbench(pages, size=size) as bench:
        await do(bench, tasks(size)[2])

    config = load(pages.with_name("recall.toml"))
    assert (config.bm25_weight, config.vector_weight) == (0.85, 0.15)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=IDS)
async def test_the_context_for_800_tokens_is_shown(pages: Path, size: tuple[int, int]) -> None:
    async with workbench(pages, size=size) as bench:
        await do(bench, tasks(size)[3])

        context, pane = bench.session.context, bench.painted("context")
    assert context.packed is not None
    assert context.packed.budget_tokens == int(BUDGET)
    listed = re.findall(r"^[▶ ] ?(\d+) .* (\d+)  $", pane, re.MULTILINE)
    assert [int(tokens) for _, tokens in listed] == list(context.block_tokens)
    assert [int(number) for number, _ in listed] == [block.number for block in context.packed.blocks]


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=IDS)
async def test_ten_rows_are_graded_and_measured(pages: Path, size: tuple[int, int]) -> None:
    async with workbench(pages, size=size) as bench:
        await do(bench, tasks(size)[4])

    with Recall.open(str(pages)) as recall:
        graded = [row.grade for row in recall.store.judgements()]
    assert sorted(graded) == sorted("fdsa".index(letter) for letter in GRADES)


def test_grading_needs_one_extra_key_at_first() -> None:
    for size in SIZES:
        counts = tuple(len(task.steps) for task in tasks(size))

        assert counts == KEYS[size]
        *others, grading = zip(counts, KEYS_BEFORE[size], strict=True)
        assert all(now <= before for now, before in others), size
        assert grading[0] == grading[1] + 1, size


@pytest.mark.slow  # a narrow screen needs just these steps for the first task
@pytest.mark.parametrize("size", SIZES, ids=IDS)
async def test_the_footer_leads_to_the_full_ledger(pages: Path, size: tuple[int, int]) -> None:
    async with workbench(pages, size=size) as bench:
        await answered(bench)

        for step in (Step("escape", "Esc out"), Step("w", "w why this"), Step("z", "z zoom")):
            await take(bench, step)

        await painted(bench, "✓ parts sum to score")


def test_the_decision_record_has_these_counts() -> None:
    rows = re.findall(
        r"^\| \d\. .*?\| (\d+ / \d+) \| (\d+ / \d+) \| (\d+ / \d+) \|$", DECISION.read_text(), re.MULTILINE
    )

    for place, size in enumerate(SIZES):
        pairs = zip(KEYS_BEFORE[size], KEYS[size], strict=True)
        assert [row[place] for row in rows] == [f"{before} / {now}" for before, now in pairs]
