"""Keys and answers under load: no key is lost or misplaced, and few searches run."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.events import Key

from recall_tui.actions.table import ACTIONS
from recall_tui.app import Workbench
from recall_tui.handlers import query as query_handlers
from recall_tui.handlers import weights
from recall_tui.panes.results import ResultsPane
from recall_tui.state.session import Session
from tests.workbench_driver import NAMES, Driver

pytestmark = pytest.mark.usefixtures("every_frame")

SENTENCE = "what is packed under a token budget "
MOST_SEARCHES = 7
NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
ADD = next(action.keys[0] for action in ACTIONS if action.id == "add_folder")


class Watched(Workbench):
    """The workbench, and every session it has shown with the first row drawn for it."""

    CSS_PATH = str(Path(inspect.getfile(Workbench)).with_name("app.tcss"))

    def __init__(self, store: Path) -> None:
        super().__init__(str(store), clock=lambda: 0.0)
        self.seen: list[tuple[Session, str]] = []

    def _show(self) -> None:
        """Record what is drawn for every session shown."""
        super()._show()
        if self.bench.is_mounted and self.is_running:
            pane = self.bench.query_one(ResultsPane)
            row = "".join(segment.text for segment in pane.render_line(1)) if pane.size.width else ""
            self.seen.append((self.session, row))


@asynccontextmanager
async def watched(store: Path) -> AsyncIterator[tuple[Watched, Driver]]:
    app = Watched(store)
    async with app.run_test(size=(120, 40)) as pilot:
        driver = Driver(app, pilot)
        await driver.until(lambda now: now.store.info)
        yield app, driver


def type_fast(app: Workbench, text: str) -> None:
    """Post a key for every character ahead of all other messages, as a terminal does."""
    for mark in text:
        app.post_message(Key(NAMES.get(mark, mark), mark))


async def key_by_key(app: Workbench, text: str, *, gaps: list[float]) -> None:
    for mark, gap in zip(text, gaps, strict=True):
        type_fast(app, mark)
        await asyncio.sleep(gap)


def write_notes(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        text = f"Note {number} keeps a budget of {number} tokens.\n" * (1 + number % 7)
        (folder / f"n{number:05}.txt").write_text(text, encoding="utf-8")
    return folder


async def start_ingest(driver: Driver, folder: Path) -> None:
    await driver.press("escape", ADD)
    driver.app.screen.query_one("Input").value = str(folder)  # type: ignore[attr-defined]
    await driver.press("enter")
    await driver.until(lambda now: now.store.run)


async def type_while_ingesting(store: Path, files: int, *, seconds: float, keys: int = 200) -> None:
    text = (SENTENCE * 6)[:keys]
    notes = write_notes(store.parent / "many", files)
    async with watched(store) as (app, driver):
        await start_ingest(driver, notes)
        await driver.press("i")
        for start in range(0, keys, 10):
            type_fast(app, text[start : start + 10])
            await asyncio.sleep(0.02)

        await driver.until(lambda _: len(app.bench.editor.text) >= keys, seconds=60)
        assert app.bench.editor.text == text
        await driver.until(lambda now: now.store.run and now.store.run.ended, seconds=seconds)

        run = driver.session.store.run
        assert run is not None
        assert run.ended == "done", run.summary
        assert f"{files} added" in run.summary.replace(",", "")
        await driver.answered(text)
        assert app.bench.editor.text == text


async def test_no_key_is_lost_during_an_ingest(own_store: Path) -> None:
    await type_while_ingesting(own_store, 40, seconds=60, keys=60)


@pytest.mark.slow
async def test_no_key_is_lost_while_ingesting_ten_thousand_files(own_store: Path) -> None:
    await type_while_ingesting(own_store, 10_000, seconds=240)


@pytest.mark.slow
@pytest.mark.parametrize("burst", [1, 5, 10])
async def test_fast_typing_causes_few_searches_and_a_last_answer(shared_store: Path, burst: int) -> None:
    text = (SENTENCE * 2)[:29] + "s"
    pause = 1 / 30 if burst == 1 else burst / 30 - 0.005 * (burst - 1)
    gaps = [pause if place % burst == burst - 1 else 0.005 for place in range(30)]
    async with watched(shared_store) as (app, driver):
        await key_by_key(app, text, gaps=gaps)
        await driver.answered(text)

        answered = {
            session.results.answer.generation for session, _ in app.seen if session.results.answer is not None
        }
        texts = {session.results.answer.plan.text for session, _ in app.seen if session.results.answer is not None}
        assert answered
        assert 1 <= len(texts) <= driver.session.query.question <= MOST_SEARCHES


async def test_the_screen_never_goes_back_to_an_older_answer(
    shared_store: Path,
) -> None:
    questions = ["token budget", "cosine", "café", "file object", "household tea", "manual step", "rare token"]
    async with watched(shared_store) as (app, driver):
        for text in questions * (3 if NIGHTLY else 1):
            app.bench.editor.text = text
            query_handlers.run(app)
            await asyncio.sleep(0.004)
        await driver.answered(questions[-1])

        assert_nothing_stale(app.seen)
        asked = [session.query.text for session, _ in app.seen]
        assert set(asked) >= set(questions)


@pytest.mark.slow
async def test_no_stale_answer_is_drawn_while_the_weight_moves(shared_store: Path) -> None:
    async with watched(shared_store) as (app, driver):
        await driver.ask("token budget")
        for text in ("cosine", "file object", "token budget"):
            weights.change_setting(app, 5)
            app.bench.editor.text = text
            query_handlers.run(app)
            weights.change_setting(app, -5)
            weights.change_setting(app, 5)
            await asyncio.sleep(0.01)
        await driver.answered("token budget")
        await driver.until(
            lambda now: (
                now.results.answer
                and {key: getattr(now.results.answer.plan.config, key) for key in now.weights.tweaks}
                == dict(now.weights.tweaks)
            )
        )

        assert_nothing_stale(app.seen)


def assert_nothing_stale(seen: list[tuple[Session, str]]) -> None:
    """Check that generations only grow, that a settled answer matches the text, and that the list shows its rows."""
    generations = [session.query.generation for session, _ in seen]
    assert generations == sorted(generations)
    painted = 0
    for session, row in seen:
        if session.results.answer is None:
            continue
        if not session.query.busy and session.query.trouble is None:
            assert session.results.answer.plan.text == session.query.text
        if session.results.hits:
            first = session.results.hits[0]
            assert first.score is not None
            assert f"{first.score:.3f}" in row
            assert first.doc.path in row
            painted += 1
    assert painted > 0
