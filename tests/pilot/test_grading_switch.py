"""Letters grade only while grading is on: its key, its display, and letters typed by mistake."""

from __future__ import annotations

from pathlib import Path

from recall_core.api.recall import Recall
from recall_tui.app import Workbench
from recall_tui.state import judging
from recall_tui.state.session import Session
from tests.workbench_driver import Driver, workbench


def stored_now(session: Session) -> bool:
    return not session.judge.gradings and not session.store.task


def grades(store: Path) -> list[int]:
    with Recall.open(str(store)) as recall:
        return sorted(row.grade for row in recall.store.judgements())


async def open_results(bench: Driver) -> None:
    await bench.ask()
    await bench.until(lambda now: judging.judged_queries(now) is not None)
    await bench.press("escape")


async def test_letters_grade_only_while_grading_is_on(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await open_results(bench)
        assert " ".join(bench.painted("footer").split()).startswith(
            "NAV w why this m why missing g grade p pin e edit"
        )
        for pane in "62":
            await bench.press(pane, *"fadsa")
            await bench.until(stored_now)
            assert (bench.session.judge.regrades, bench.session.results.selected) == ((), 0), pane
            assert "GRADING" not in bench.painted("footer")
        assert grades(own_store) == []

        await bench.press("g")
        assert "GRADING a 3 s 2 d 1 f 0 w why this" in " ".join(bench.painted("footer").split())
        await bench.press("s")
        path = bench.session.results.hits[0].doc.path
        assert f"2 {path}, u undoes" in bench.painted("footer")
        await bench.press("u")
        await bench.until(stored_now)
        assert "undoes" not in bench.painted("footer")
        assert grades(own_store) == []

        await bench.press("home", "a")
        await bench.until(stored_now)
        assert "GRADING" in bench.painted("footer")
        await bench.press("g", "a")
        await bench.until(stored_now)
        assert "GRADING" not in bench.painted("footer")
        assert bench.session.results.selected == 1
    assert grades(own_store) == [3]


async def test_grades_work_in_every_pane(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await open_results(bench)
        await bench.press("g")
        for pane in "2345678":
            await bench.press(pane, "a")
            await bench.until(stored_now)
            assert "GRADING" in bench.painted("footer"), pane
    assert grades(own_store) == [3] * 7


async def test_grading_ends_with_the_session(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await bench.press("escape", "g")
        assert bench.session.judge.is_grading
    assert not Workbench(str(own_store)).session.judge.is_grading


async def test_a_key_without_effect_explains_once(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await open_results(bench)
        for _ in range(3):
            await bench.press("3", "a")
        assert [each.message for each in bench.app._notifications] == ["Not now: grading is off; g turns it on."]
