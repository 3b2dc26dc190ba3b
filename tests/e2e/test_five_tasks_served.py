"""The five tasks of decision 42 in a browser, with keys that a browser passes on, and a reloaded page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.config import load
from tests.browser import Browser, opened
from tests.five_tasks import GRADES, USUAL, Step, Task, is_painted, tasks
from tests.real_pages import QUESTION, build_pages
from tests.served import Served

PIXELS = (1160, 780)
"""At this size the page has a terminal of at least the tested size."""
DOM = {"escape": "Escape", "enter": "Enter", "right": "ArrowRight"}
"""Keys of the tasks with other names in a browser."""

pytestmark = [pytest.mark.chromium, pytest.mark.slow]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    return build_pages(tmp_path)


@pytest.fixture
def served(pages: Path, tmp_path: Path) -> Iterator[Served]:
    served = Served(pages, tmp_path)
    yield served
    served.stop()


@pytest.fixture
def browser(served: Served, tmp_path: Path) -> Iterator[Browser]:
    width, height = PIXELS
    with opened(tmp_path / "profile", width=width, height=height) as browser:
        browser.goto(served.address)
        browser.wait_for(lambda screen: "39 documents" in screen)
        yield browser


def ask(browser: Browser) -> None:
    """Enter a query and wait for its rows, its ledger and its context."""
    browser.type(QUESTION)
    browser.wait_for(lambda screen: "50 of " in screen and "✓ parts sum to score" in screen and "blocks" in screen)


def do(browser: Browser, task: Task) -> None:
    """Do a task, starting at an answered query, and check its end."""
    for step in task.steps:
        take(browser, step)
    for text in task.shown:
        browser.wait_for(lambda screen, text=text: is_painted(text, screen))


def take(browser: Browser, step: Step) -> None:
    """Wait for the label of a step, and take the step."""
    browser.wait_for(lambda screen: is_painted(step.label, screen))
    if not step.is_text:
        browser.key(DOM.get(step.key, step.key))
        if step.key == "escape":
            browser.wait_for(lambda screen: " NAV " in screen)  # followed at once by the next key, it would be Alt
        return
    browser.type(step.key)
    browser.wait_for(lambda screen: step.key in screen)


def count_grades(pages: Path) -> int:
    """Return the number of grades in the store."""
    with Recall.open(str(pages)) as recall:
        return len(recall.store.judgements())


@pytest.mark.parametrize("task", tasks(USUAL), ids=lambda task: task.name)
def test_five_tasks_work_with_browser_keys(browser: Browser, pages: Path, task: Task) -> None:
    ask(browser)

    do(browser, task)

    config = load(pages.with_name("recall.toml"))
    assert config.bm25_weight == (0.85 if "save" in task.name else 0.9)
    # The workbench writes grades in the background.
    browser.wait_for(lambda _: count_grades(pages) == (len(GRADES) if "grade" in task.name else 0))
    assert browser.complaints() == []


def test_reloaded_page_restores_its_query(browser: Browser) -> None:
    ask(browser)
    for key in ("Escape", "4", "ArrowRight"):
        browser.key(key)
    browser.wait_for(lambda screen: "4 Weights (changed)" in screen and "lexical 0.85" in screen)

    browser.reload()

    browser.wait_for(lambda screen: "EDIT" in screen and QUESTION in screen and "50 of " in screen)
    browser.wait_for(lambda screen: "4 Weights (changed)" in screen and "lexical 0.85" in screen)


def test_reload_restores_typed_text_but_not_cleared_text(browser: Browser) -> None:
    browser.type("SELECT * FROM chunk WHERE")
    browser.wait_for(lambda screen: "WHERE" in screen)

    browser.reload()
    browser.reload()
    browser.wait_for(lambda screen: "EDIT" in screen and "SELECT * FROM chunk WHERE" in screen)

    browser.key("Control+u")
    browser.wait_for(lambda screen: "EDIT" in screen and "SELECT" not in screen)
    browser.reload()
    browser.wait_for(lambda screen: "39 documents" in screen)
    browser.type("household")
    browser.wait_for(lambda screen: "household" in screen and "SELECT" not in screen)


def test_new_page_starts_without_a_query(served: Served, browser: Browser, tmp_path: Path) -> None:
    ask(browser)

    assert browser.evaluate("sessionStorage.length") == 0  # where a copy of the page would get its data
    with opened(tmp_path / "other") as other:
        other.goto(served.address)
        other.wait_for(lambda screen: "39 documents" in screen)
        other.type("household")
        other.wait_for(lambda screen: "household" in screen and QUESTION not in screen)
