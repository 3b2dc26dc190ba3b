"""Leaving the workbench, by choice or by accident."""

import io
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.errors import StoreLocked
from recall_core.evaluate.judgements import names_of, put, read_stored
from recall_core.maintain.embedders import write_settings
from recall_core.store.sqlite import connect
from recall_tui.app import Workbench
from recall_tui.host import Happened
from recall_tui.screens.dialog import ConfirmScreen
from recall_tui.state import judging, store_pane
from recall_tui.state.events import Crashed, Failed
from tests.provider_server import provider_server
from tests.workbench_driver import Driver, workbench


class Heard(io.StringIO):
    """A stderr whose first line triggers a call."""

    def __init__(self, then: Callable[[], object]) -> None:
        super().__init__()
        self._then = [then]

    def write(self, text: str, /) -> int:
        written = super().write(text)
        while self._then:
            self._then.pop()()
        return written


def graded(store: Path) -> int:
    with Recall.open(str(store)) as recall:
        return len(read_stored(recall.store, names_of(recall.store)).judgements)


async def open_results(bench: Driver) -> None:
    await bench.ask()
    await bench.until(lambda now: judging.judged_queries(now) is not None)
    await bench.press("escape", "2")


@pytest.mark.parametrize(
    "keys",
    [
        ["escape", "q"],
        ["f1", "ctrl+q"],
        *(pytest.param(keys, marks=pytest.mark.slow) for keys in (["ctrl+q"], ["escape", "A", "ctrl+q"])),
    ],
)
async def test_quitting_exits_zero_and_leaves_no_thread(shared_store: Path, keys: list[str]) -> None:
    async with workbench(shared_store, is_own=True) as bench:
        await bench.ask()

        await bench.press(*keys)
        await bench.pilot.pause()

    assert bench.app.return_code == 0


async def _crash(app_seen: list[Workbench]) -> None:
    async with workbench(None, is_own=True) as bench:
        app_seen.append(bench.app)
        bench.app.post_message(Happened(Crashed(ZeroDivisionError("a defect"))))
        await bench.pilot.pause(0.2)


async def test_a_defect_in_a_worker_exits_with_another_code() -> None:
    seen: list[Workbench] = []

    with pytest.raises(ZeroDivisionError):
        await _crash(seen)

    assert seen[0].return_code == 1


async def test_a_store_error_is_shown_and_late_answers_ignored(shared_store: Path) -> None:
    async with workbench(shared_store, is_own=True) as bench:
        await bench.ask()
        error = StoreLocked("store_locked", "Another process is writing.", hint="try again")

        bench.app.post_message(Happened(Failed(bench.session.query.question, error)))
        await bench.until(lambda now: now.query.trouble)

        assert "Another process is writing. (try again)" in bench.painted("notes")
        await bench.press("f5")
        await bench.until(lambda now: now.query.trouble is None and not now.query.busy)
        app, answered = bench.app, bench.session

    app.become(answered._replace(query=answered.query._replace(busy=True)))  # the panes are gone

    assert app.session.query.busy
    assert app.return_code in (None, 0)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a lock as long as a test may take."""
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_MS", 120_000)


@pytest.mark.usefixtures("patient")
async def test_grades_wait_for_a_locked_store_after_quitting(own_store: Path) -> None:
    async with workbench(own_store, is_own=True) as bench:
        await open_results(bench)
        lock = ExitStack()
        other = lock.enter_context(Recall.open(str(own_store)))
        lock.enter_context(other.store.transaction())
        bench.stderr = Heard(lock.close)

        await bench.press("g", "a", "a", "a", "q")

    assert graded(own_store) == 3
    assert bench.stderr.getvalue() == "Still writing: Grade (3 times). Ctrl-C cancels it.\n"
    assert bench.code == 0


@pytest.mark.usefixtures("patient")
async def test_unwritten_grades_are_reported_after_quitting(
    own_store: Path,
) -> None:
    with Recall.open(str(own_store)) as recall:
        put(recall.store, {"q1": "token budget"}, [])
    async with workbench(own_store, is_own=True) as bench:
        await open_results(bench)
        lock = ExitStack()
        other = lock.enter_context(Recall.open(str(own_store)))
        lock.enter_context(other.store.transaction())
        other.store.execute("UPDATE judged_query SET text = 'something else'")
        bench.stderr = Heard(lock.close)

        await bench.press("g", "a", "a", "q")

    assert graded(own_store) == 0
    assert "error: Grade (2 times): Query q1 is already stored with a different text" in bench.stderr.getvalue()
    assert bench.code == 1


async def test_a_reported_failure_is_not_reported_again(own_store: Path) -> None:
    with Recall.open(str(own_store)) as recall:
        put(recall.store, {"q1": "token budget"}, [])
    async with workbench(own_store, is_own=True) as bench:
        await open_results(bench)
        with Recall.open(str(own_store)) as other, other.store.transaction():
            other.store.execute("UPDATE judged_query SET text = 'something else'")
        await bench.press("g", "a")
        await bench.until(lambda now: not now.judge.gradings)

        await bench.press("q")

    assert (bench.code, bench.stderr.getvalue()) == (0, "")


@pytest.mark.slow
async def test_quitting_stops_a_reembed_and_writes_later_grades(own_store: Path) -> None:
    with provider_server(768) as server:
        write_settings(own_store.parent / "recall.toml", {"embedding": "ollama", "embedding_url": server.url})
        Recall.trust(str(own_store), accept=True)
        with Recall.open(str(own_store)) as recall:
            before = recall.store.embedder()
        server.gate.clear()
        async with workbench(own_store, is_own=True) as bench:
            await open_results(bench)
            await bench.press("8", "right", "right")
            await bench.until(store_pane.embedders)
            names = [each["name"] for each in store_pane.embedders(bench.session)]
            await bench.press("home", *["down"] * names.index("ollama"), "enter")
            await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
            await bench.press("y")
            await bench.until(lambda _: server.seen)
            bench.stderr = Heard(server.gate.set)

            await bench.press("2", "g", "a", "a", "q")

    assert graded(own_store) == 2
    assert bench.code == 0
    with Recall.open(str(own_store)) as recall:
        assert recall.store.embedder() == before
