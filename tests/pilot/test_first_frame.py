"""Costs of the first frame that were once paid twice, noticeably."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from textual.css import stylesheet
from textual.css.styles import RulesMap
from textual.dom import DOMNode
from textual.events import Key, Paste

from recall_tui import app as app_module
from recall_tui.app import Workbench
from recall_tui.home.crash import keep_query
from recall_tui.home.history import PastQuestion
from recall_tui.screens.bench import Bench
from recall_tui.screens.dialog import UnaskedScreen
from tests.workbench_driver import Driver, workbench

pytestmark = pytest.mark.usefixtures("every_frame")
EACH = ((120, 40), *(pytest.param(size, marks=pytest.mark.slow) for size in ((80, 24), (200, 60))))
SIZES = pytest.mark.parametrize("size", EACH)


@SIZES
async def test_the_style_sheet_is_parsed_once(
    size: tuple[int, int], shared_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = Path(app_module.__file__).with_name("app.tcss").read_text(encoding="utf-8")
    parsed: list[str] = []
    parse = stylesheet.parse

    def counted(scope: str, css: str, *rest: Any, **named: Any) -> Any:
        parsed.append(css)
        return parse(scope, css, *rest, **named)

    monkeypatch.setattr(stylesheet, "parse", counted)
    app = Workbench(str(shared_store))

    async with app.run_test(size=size) as pilot:
        await pilot.pause()

    assert parsed.count(sheet) == 1


@SIZES
async def test_the_first_frame_equals_the_second(
    size: tuple[int, int], shared_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first: list[frozenset[str]] = []
    show = Bench.on_mount

    def noted(bench: Bench) -> None:
        show(bench)
        first.append(bench.classes)

    monkeypatch.setattr(Bench, "on_mount", noted)
    app = Workbench(str(shared_store))

    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.pause()

        assert first == [app.bench.classes]


@pytest.mark.parametrize("size", [pytest.param((50, 10), marks=pytest.mark.slow), *EACH])
async def test_widgets_are_styled_only_once(
    size: tuple[int, int], shared_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many: list[int] = []
    update = stylesheet.Stylesheet.update_nodes

    def counted(sheet: stylesheet.Stylesheet, nodes: Iterable[DOMNode], animate: bool = False) -> None:
        listed = list(nodes)
        many.append(len(listed))
        update(sheet, listed, animate)

    monkeypatch.setattr(stylesheet.Stylesheet, "update_nodes", counted)
    app = Workbench(str(shared_store))

    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        first = _rules(app)
        assert max(many) < len(first) / 2

        app.bench.update_node_styles(animate=False)

        assert _rules(app) == first


def _rules(app: Workbench) -> list[tuple[str, RulesMap]]:
    return [(str(node), node.styles.base.get_rules()) for node in app.bench.walk_children(with_self=True)]


class Hasty(Workbench):
    """Post keys and a paste before anything is on the screen."""

    CSS_PATH = str(Path(app_module.__file__).with_name("app.tcss"))

    def on_load(self) -> None:
        for letter in "qjh":
            self.post_message(Key(letter, letter))
        self.post_message(Paste(" tea"))
        for key in (Key("home", None), Key("a", "a"), Key("end", None), Key("z", "z")):
            self.post_message(key)


async def test_text_typed_before_the_first_frame_is_asked(shared_store: Path) -> None:
    app = Hasty(str(shared_store))

    async with app.run_test() as pilot:
        driver = Driver(app, pilot)
        await driver.until(lambda now: app.bench.editor.text == "aqjh teaz")  # the last key may come after an answer
        await driver.until(lambda now: now.results.answer is not None and not now.query.busy)

        assert app.screen is app.bench


async def test_a_workbench_can_open_with_a_question(shared_store: Path) -> None:
    app = Workbench(str(shared_store))
    app.given = PastQuestion("token budget")

    async with app.run_test() as pilot:
        await Driver(app, pilot).until(lambda now: now.results.answer is not None and not now.query.busy)

        assert app.session.results.answer is not None
        assert app.session.results.answer.plan.text == app.bench.query_text == "token budget"


async def test_keys_typed_before_the_first_frame_answer_no_question(shared_store: Path) -> None:
    keep_query("household", os.environ)
    app = Hasty(str(shared_store))

    async with app.run_test() as pilot:
        driver = Driver(app, pilot)
        await driver.until(lambda now: app.bench.editor.text == "aqjh teaz")
        await driver.until(lambda now: now.results.answer is not None and isinstance(app.screen, UnaskedScreen))

        assert app.bench.editor.cursor == len("aqjh teaz")


async def test_the_cursor_of_the_query_does_not_blink(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        assert not bench.app.bench.editor.cursor_blink  # a blink draws the screen twice a second
