"""Another program changes the settings, or replaces the open store."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.config import NAMES
from recall_core.contract.responses import SearchResponse
from recall_core.types import Root
from recall_tui.host import Happened
from recall_tui.screens.dialog import ConfirmScreen
from recall_tui.screens.welcome import WelcomeScreen
from recall_tui.state.events import StoreOpened
from recall_tui.state.weighing import current
from recall_tui.threads import query_thread
from tests.workbench_driver import in_form, workbench


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_thread, "LOOK_SECONDS", 0.05)


def rewrite(toml: Path, **values: float) -> None:
    """Write settings as an editor would. values: by key."""
    values = {NAMES.get(key, key): value for key, value in values.items()}
    lines = [line for line in toml.read_text(encoding="utf-8").splitlines() if line.split(" ")[0] not in values]
    toml.write_text(
        "\n".join([*(f"{key} = {value}" for key, value in values.items()), *lines]) + "\n", encoding="utf-8"
    )


def fill(folder: Path, *texts: str) -> Path:
    """Create a store of these texts. Every store filled once has the same generation."""
    folder.mkdir(exist_ok=True)
    (folder / "d").mkdir()
    for number, text in enumerate(texts):
        (folder / "d" / f"{number}.txt").write_text(f"{text}\n", encoding="utf-8")
    Recall.init(str(folder))
    with Recall.open(str(folder)) as recall:
        for _ in recall.add([str(folder / "d")], Root("")):
            pass
        return Path(recall.store.path)


async def test_settings_written_by_others_apply_and_are_reported(own_store: Path) -> None:
    toml = own_store.parent / "recall.toml"
    async with workbench(own_store) as bench:
        await bench.ask()
        for key, value in (("vector_weight", 0.75), ("pool", 7)):
            bench.app.clear_notifications()
            rewrite(toml, **{key: value})
            await bench.until(
                lambda now, key=key, value=value: (
                    now.results.answer
                    and getattr(now.results.answer.plan.config, key) == value
                    and now.results.ranked_at == now.query.generation
                )
            )
            assert getattr(current(bench.session), key) == value
            assert not bench.session.weights.tweaks
            assert any("recall.toml has changed" in each.message for each in bench.app._notifications)

        await bench.press("escape", "4", *in_form("normalize", "right"))
        moved = current(bench.session).normalize
        rewrite(toml, vector_weight=0.5)
        await bench.until(lambda now: now.weights.saved and now.weights.saved.vector_weight == 0.5)
        assert current(bench.session).normalize == moved
        assert set(bench.session.weights.tweaks) == {"normalize"}

        before = bench.session.weights.saved
        broken = own_store.parent / "broken.toml"
        broken.write_text("vector_weight = \n", encoding="utf-8")
        broken.replace(toml)  # a half-written file has another content
        await bench.until(
            lambda _: any("previous settings still apply" in each.message for each in bench.app._notifications)
        )
        await bench.press("1")
        await bench.ask("household tea")
        assert bench.session.weights.saved == before
        assert bench.session.query.trouble is None


@pytest.mark.slow
async def test_settings_written_by_the_workbench_are_not_reported(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await bench.ask()
        await bench.press("escape", "4", "right", "S")
        await bench.pilot.pause(0.3)
        await bench.press("y")
        await bench.until(lambda now: now.weights.saved and not now.weights.tweaks)
        await bench.pilot.pause(0.3)

        assert not any("recall.toml has changed" in each.message for each in bench.app._notifications)


@pytest.mark.slow
async def test_settings_saved_during_a_compaction_still_apply(
    own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compact, began, may_end = Recall.compact, threading.Event(), threading.Event()

    def slow(recall: Recall) -> SearchResponse:
        began.set()
        assert may_end.wait(60)
        return compact(recall)

    monkeypatch.setattr(Recall, "compact", slow)
    async with workbench(own_store) as bench:
        await bench.ask()
        await bench.press("escape", "8")
        await bench.app.perform("compact")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        await bench.press("y")
        await bench.until(lambda _: began.is_set())
        await bench.press("4", "right", "S")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        await bench.press("y")
        await bench.until(lambda now: now.weights.saved and not now.weights.tweaks)
        saved = bench.session.weights.saved

        may_end.set()
        await bench.until(lambda now: not now.store.task)

        assert bench.session.weights.saved == saved
        assert not any("recall.toml has changed" in each.message for each in bench.app._notifications)


async def test_a_replaced_store_of_the_same_generation_is_asked(tmp_path: Path) -> None:
    place = fill(tmp_path / "one", "A token budget.", "Another budget of tokens.")
    other = fill(tmp_path / "two", "The token budget of a quokka.", "A quokka.", "Tea.")
    async with workbench(place) as bench:
        await bench.ask()
        before = bench.session.results.answer
        other.replace(place)

        await bench.until(
            lambda now: (
                now.results.answer and before and now.results.answer.digest != before.digest and now.context.packed
            )
        )

        assert bench.session.results.answer
        assert bench.session.results.answer.generation == before.generation if before else False
        assert {hit.doc.path for hit in bench.session.results.hits.values()} <= {"d/0.txt", "d/1.txt", "d/2.txt"}
        assert any("results refreshed" in each.message for each in bench.app._notifications)
        await bench.press("escape", "3", "right", "right", "right", "4", "left", "5")
        await bench.until(lambda now: now.results.ranked_at == now.query.generation)
        assert bench.app.is_running


async def test_a_run_in_a_moved_store_opens_no_second_screen(own_store: Path) -> None:
    away = own_store.with_name("away.db")
    async with workbench(own_store) as bench:
        await bench.ask()
        known = bench.session.store.info
        assert known is not None
        own_store.rename(away)
        bench.app.bench.editor.text = "household tea"
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen))
        bench.app.post_message(Happened(StoreOpened(known)))  # as the ingest thread reports at its end
        await bench.pilot.pause(0.3)
        assert [type(each) for each in bench.app.screen_stack].count(WelcomeScreen) == 1
        away.rename(own_store)

        await bench.press("r")

        await bench.answered("household tea")
        assert bench.app.screen is bench.app.bench
