"""Leaving the workbench, by choice or by accident."""

from pathlib import Path

import pytest

from recall_core.errors import StoreLocked
from recall_tui.app import Workbench
from recall_tui.messages import Happened
from recall_tui.state.events import Crashed, Failed
from tests.workbench_driver import workbench


@pytest.mark.parametrize("keys", [["ctrl+q"], ["escape", "q"], ["f1", "ctrl+q"], ["escape", "A", "ctrl+q"]])
async def test_quitting_ends_with_zero_and_no_thread_is_left(shared_store: Path, keys: list[str]) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()

        await bench.press(*keys)
        await bench.pilot.pause()

    assert bench.app.return_code == 0


async def _crash(app_seen: list[Workbench]) -> None:
    async with workbench(None) as bench:
        app_seen.append(bench.app)
        bench.app.post_message(Happened(Crashed(ZeroDivisionError("a defect"))))
        await bench.pilot.pause(0.2)


async def test_a_defect_in_a_worker_ends_the_workbench_with_another_code() -> None:
    seen: list[Workbench] = []

    with pytest.raises(ZeroDivisionError):
        await _crash(seen)

    assert seen[0].return_code == 1


async def test_an_error_of_the_store_is_shown_and_the_workbench_goes_on(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        error = StoreLocked("store_locked", "Another process is writing.", hint="try again")

        bench.app.post_message(Happened(Failed(bench.session.generation, error)))
        await bench.until(lambda now: now.trouble)

        assert "Another process is writing. (try again)" in bench.painted("notes")
        await bench.press("f5")
        await bench.until(lambda now: now.trouble is None)


async def test_what_a_thread_says_while_the_panes_are_taken_down_changes_nothing(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        app, answered = bench.app, bench.session

    app.become(answered._replace(busy=True))

    assert app.session.busy
    assert app.return_code in (None, 0)
