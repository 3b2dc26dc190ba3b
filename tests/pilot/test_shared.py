"""A shared workbench, once given back, equals a new one."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App

from recall_tui.app import Workbench
from recall_tui.host import Host
from tests.workbench_driver import CONSTANT, PASSING, RESET, is_settled, workbench


def test_every_attribute_is_reset_or_constant() -> None:
    assert vars(Workbench("a.db")).keys() - vars(App()).keys() == {*RESET, *CONSTANT}
    assert {name for name in vars(Host) if name in Host.__annotations__} == {*PASSING}


async def test_a_shared_workbench_starts_fresh(shared_store: Path) -> None:
    async with workbench(shared_store, is_own=True) as bench:
        await bench.until(lambda now: now.store.info and is_settled(now))
        new = bench.session, bench.app.export_screenshot()
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "3", "right", "z", "4", "right")
    async with workbench(shared_store) as bench:
        await bench.until(lambda now: now.store.info and is_settled(now))
        assert bench.session._asdict() == new[0]._asdict()
        assert bench.app.export_screenshot() == new[1]


async def fail(store: Path) -> None:
    async with workbench(store):
        raise ZeroDivisionError


async def test_a_failed_test_leaves_no_workbench_behind(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        first = bench.app
    with pytest.raises(ZeroDivisionError):
        await fail(shared_store)
    async with workbench(shared_store) as bench:
        second = bench.app
    async with workbench(shared_store) as bench:
        assert bench.app is second is not first
