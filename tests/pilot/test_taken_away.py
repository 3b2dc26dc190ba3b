"""Another program removes what is on the screen, and an analysis runs before the workbench notices."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_tui.state.session import VIEWS
from recall_tui.state.transitions import wanted_analyses
from recall_tui.threads import query_thread
from tests.workbench_corpus import TEXTS
from tests.workbench_driver import Driver, workbench
from tests.workbench_grades import grade


def remove(recall: Recall, _folder: Path) -> None:
    recall.remove(["**"])


def purge(recall: Recall, _folder: Path) -> None:
    recall.remove(["**"], purge=True)


def purge_some(recall: Recall, _folder: Path) -> None:
    recall.remove(["manual/part1*", "docs/budget.md"], purge=True)


def edit(recall: Recall, folder: Path) -> None:
    for path in sorted(folder.glob("*/*")):
        path.write_text(f"Now this stands in {path.name}, with a budget of tokens.\n", encoding="utf-8")
        os.utime(path, ns=(1_800_000_000 * 10**9,) * 2)
    for _ in recall.sync():
        pass
    recall.compact()


async def analysed(bench: Driver) -> None:
    """Wait until all analyses are done."""
    await bench.until(
        lambda now: not now.query.busy and now.results.ranked_at == now.query.generation and not wanted_analyses(now)
    )


@pytest.mark.parametrize(
    "taken", [purge, *(pytest.param(each, marks=pytest.mark.slow) for each in (remove, purge_some, edit))]
)
async def test_a_lost_store_leaves_every_analysis_recoverable(
    own_store: Path, monkeypatch: pytest.MonkeyPatch, taken: Callable[[Recall, Path], None]
) -> None:
    monkeypatch.setattr(query_thread, "LOOK_SECONDS", 3600.0)
    with Recall.open(str(own_store)) as recall:
        grade(own_store, own_store.parent)
        async with workbench(own_store, size=(200, 60)) as bench:
            await bench.ask()
            await analysed(bench)
            taken(recall, own_store.parent)
            await bench.press("escape", "2", "M", "j", "j", "3")
            looked_into = set()
            for _ in VIEWS:
                await bench.press("right")
                looked_into.add(bench.session.view)
                await analysed(bench)
            assert looked_into == set(VIEWS)
            for keys in ("4 right t p", "5 j", "6 t", "8", "2 end", "4 left"):
                await bench.press(*keys.split())
                await analysed(bench)
            await bench.press("2", "g", "m")
            await bench.type("part12")
            await bench.press("enter")
            await analysed(bench)
            assert bench.app.is_running
            monkeypatch.setattr(query_thread, "LOOK_SECONDS", 0.05)
            await bench.press("4", "left")
            await bench.until(
                lambda now: now.results.answer and now.results.answer.generation == recall.store.generation()
            )
            await analysed(bench)


@pytest.mark.slow
async def test_the_workbench_survives_the_loss_of_its_folder(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_in = tmp_path / "started"
    started_in.mkdir()
    monkeypatch.chdir(started_in)
    async with workbench(own_store, is_own=True) as bench:
        started_in.rmdir()
        await bench.ask()
        await analysed(bench)
        assert bench.session.query.trouble is None
        for keys in ("escape 2 j", "4 right J", "5 j", "7", "8"):
            await bench.press(*keys.split())
            await analysed(bench)
        await bench.press("2", "g", "m")
        await bench.type("nowhere.txt")
        await bench.press("enter")
        await analysed(bench)
        assert bench.app.is_running
        assert "budget" in bench.painted("results")


@pytest.mark.slow
async def test_a_store_moved_away_and_back_works_again(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_thread, "LOOK_SECONDS", 0.05)
    away = own_store.with_name("away.db")
    async with workbench(own_store) as bench:
        await bench.ask()
        await analysed(bench)
        own_store.rename(away)
        bench.app.bench.editor.text = "tea"
        await bench.until(lambda now: now.store.is_storeless)
        away.rename(own_store)
        await bench.press("r")
        await bench.until(lambda now: now.store.info and not now.store.is_storeless and not now.query.busy)
        await analysed(bench)

        await asyncio.to_thread(run, ["rm", "docs/files.md"], own_store)
        await bench.until(lambda now: now.store.info and now.store.info.documents == len(TEXTS) - 1)
        await analysed(bench)
        await bench.press("escape", "2", "g", "a")
        await bench.until(lambda now: not now.judge.gradings and not now.store.task)

        ran = await asyncio.to_thread(run, ["--json", "stats"], own_store)
        assert json.loads(ran)["store"]["judgements"] == 1
        assert "damaged" not in " ".join(str(each.message) for each in bench.app._notifications)


def run(words: list[str], store: Path) -> str:
    """Return the output of a command of another process."""
    command = [sys.executable, "-m", "recall_core", "--store", str(store), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
