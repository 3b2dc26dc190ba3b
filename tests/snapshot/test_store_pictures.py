"""Starting without a store, an ingest run at every stage, and the views of the store."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from recall_core.contract.views import CheckView
from recall_core.errors import StoreError, StoreLocked
from recall_core.types import Progress, Skip
from recall_tui.screens.welcome import WelcomeScreen
from recall_tui.state.events import Ended
from recall_tui.state.records import Analysis
from recall_tui.state.runs import EVERYTHING, Meter, Rates, Run
from recall_tui.state.session import Session, stamp_of
from recall_tui.state.store_pane import CHECKS, Health, StoreOverview, overview
from recall_tui.state.transitions import run_after
from tests.examples import mostly_nightly
from tests.snapshot.conftest import Picture
from tests.workbench_driver import Driver

SMALL, LARGE = (pytest.param(size, marks=pytest.mark.slow) for size in ((80, 24), (200, 60)))
SIZES = pytest.mark.parametrize("size", [SMALL, (120, 40), LARGE], ids=["80x24", "120x40", "200x60"])

SKIPPED = (
    Skip("docs/assets/logo.png", "binary_file", "is a binary file: it has a NUL byte."),
    Skip("docs/old/latin.txt", "not_utf8", "is not UTF-8: byte 0xe9 at offset 3. (re-save it as UTF-8)"),
)
HALFWAY = Progress("embed", "docs/b.md", 784, 1_284, 790, 5_730, 4_410, 802, 120, 600, 64, 0, SKIPPED, waiting=518)
METER = Meter(9.0, HALFWAY, 5_120, 9.0, Rates(120.4, 870.2, 812.6, 799.9, 0.055))
DONE = HALFWAY._replace(stage="done", files_done=1_284, waiting=0)
RUNS = {
    "done": Run(
        "docs", METER._replace(progress=DONE, indexed=5_730), ended="done", summary="664 added, 120 unchanged"
    ),
    "cancelled": run_after(Run("docs", METER), Ended(None, None)),
    "running": Run("docs", METER._replace(seconds=0.0)),
    "left": Run("docs", METER),
    "paused": Run("docs", METER, hold="held"),
    "failed": Run("docs", METER, ended="failed", summary="The server at localhost does not answer. (ollama serve)"),
}


async def opened(bench: Driver, *keys: str) -> None:
    await bench.until(lambda now: now.store.info)
    await bench.press("escape", *keys)


async def ingest_pane(bench: Driver, run: Run) -> None:
    await opened(bench, "7")
    await bench.until(lambda now: isinstance(overview(now), StoreOverview))
    bench.app.become(bench.session._replace(store=bench.session.store._replace(run=run, synced={"docs": "14:02"})))
    await bench.until(lambda _: "read" in bench.painted("ingest"))


def check(code: str, severity: str, evidence: str, fix: str = "") -> CheckView:
    view = {"code": code, "severity": severity, "evidence": evidence}
    return {**view, "fix": fix} if fix else view  # type: ignore[return-value, typeddict-item]


def examined(session: Session) -> Session:
    """Return the session with the checks done: one error, one warning, and fixed versions."""
    found = {code: check(code, "ok", "nothing is wrong here") for code in CHECKS[:-2]}
    found["counts"] = check("counts", "error", "documents says 99, there are 37", "recall doctor --fix")
    found["space"] = check("space", "warning", "31 of 68 documents are tombstones", "recall compact")
    found["environment"] = check("environment", "ok", "Python 3.13.1, SQLite 3.50.4, apsw 3.50.4.0, Linux x86_64")
    found["tokens"] = check("tokens", "ok", "0 chunks have another number of whitespace tokens than they say " * 2)
    analyses = {Analysis("health", code): Health(view) for code, view in found.items()}
    stamped = {analysis: (stamp_of(session, analysis), health) for analysis, health in analyses.items()}
    return session._replace(analyses={**session.analyses, **stamped})


async def checks(bench: Driver) -> None:
    await opened(bench, "8", "C")
    await bench.until(lambda _: f"of {len(CHECKS)}" not in bench.painted("store"))
    bench.app.become(examined(bench.session))
    await bench.press("home")
    await bench.until(lambda _: "doctor --fix" in bench.painted("store"))


async def figures(bench: Driver) -> None:
    """Set the file's name and size, which depend on the machine."""
    await opened(bench, "8")
    await bench.until(lambda now: isinstance(overview(now), StoreOverview))
    session = bench.session
    assert session.store.info is not None
    info = session.store.info._replace(path="/home/you/notes/recall.db", generation=7, digest="9b1c4e70aa31" * 5)
    analysis = Analysis("overview")
    known = overview(session)
    assert isinstance(known, StoreOverview)
    view = {**known.view, "bytes": 90_226_688, "text_bytes": 45_522_944, "vector_bytes": 28_360_704}
    view["index_bytes"] = 11_829_248
    session = session._replace(store=session.store._replace(info=info))
    analysed = {analysis: (stamp_of(session, analysis), known._replace(view=view))}  # type: ignore[arg-type]
    bench.app.become(session._replace(analyses=analysed))


async def first_run(bench: Driver) -> None:
    error = StoreError("no_store", "There is no recall.toml in /home/you or above.", hint="recall init")
    await bench.until(lambda now: now.store.info)
    await bench.app.push_screen(WelcomeScreen(error, "notes", can_create=True))
    bench.app.screen.query_one(Input).cursor_blink = False
    await bench.until(lambda _: "meaning of words" in bench.painted("words"))
    await bench.press("down", "down", "down")
    folders = bench.app.screen.query_one("#folders", OptionList)
    await bench.until(lambda _: all("text file" in str(option.prompt) for option in folders.options))


@pytest.fixture
def at_home(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home with a likely folder."""
    monkeypatch.setenv("HOME", str(store.parent))
    (store.parent / "Documents").mkdir()
    (store.parent / "Documents" / "letter.txt").write_text("Dear reader\n", encoding="utf-8")
    return store


@pytest.mark.parametrize(
    "size",
    [pytest.param((60, 20), marks=pytest.mark.slow), SMALL, (120, 40), LARGE],
    ids=["60x20", "80x24", "120x40", "200x60"],
)
def test_the_first_run(at_home: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(first_run, size)


@pytest.mark.slow
def test_the_first_run_without_colour(at_home: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    assert picture(first_run, (80, 24))


def test_a_locked_store(store: Path, picture: Picture) -> None:
    error = StoreLocked("store_locked", "/home/you/recall.db is locked by another process.", hint="wait, or end it")

    async def steps(bench: Driver) -> None:
        await bench.until(lambda now: now.store.info)
        await bench.app.push_screen(WelcomeScreen(error, None, can_create=False))

    assert picture(steps, (80, 24))


@pytest.mark.slow
def test_a_store_of_another_program(store: Path, picture: Picture) -> None:
    """Show the reason and the command, if no other store can be created there."""
    error = StoreError("not_a_store", "/home/you/recall.db is no store of Recall.", hint="recall init other.db")

    async def steps(bench: Driver) -> None:
        await bench.until(lambda now: now.store.info)
        await bench.app.push_screen(WelcomeScreen(error, None, can_create=False))

    assert picture(steps, (120, 40))


@pytest.mark.slow
def test_the_first_run_in_the_light_theme(light: None, at_home: Path, picture: Picture) -> None:
    assert picture(first_run, (120, 40))


@pytest.mark.slow
def test_the_first_run_in_a_locale_without_unicode(
    at_home: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")

    assert picture(first_run, (80, 24))


@pytest.mark.slow
def test_no_ingest_yet(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await opened(bench, "7")
        await bench.until(lambda _: "Sources" in bench.painted("ingest"))

    assert picture(steps, (80, 24))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["done", "failed"])
def test_the_strip_of_a_finished_run(store: Path, picture: Picture, name: str) -> None:
    async def steps(bench: Driver) -> None:
        await bench.ask()
        await bench.press("escape")
        bench.app.become(
            bench.session._replace(store=bench.session.store._replace(run=RUNS[name], watching=name == "done"))
        )

    assert picture(steps, (100, 30))


@SIZES
def test_a_run_in_the_open_pane(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(lambda bench: ingest_pane(bench, RUNS["running"]), size)


@pytest.mark.parametrize("name", mostly_nightly(["left", "paused", "failed", "done", "cancelled"], "paused"))
def test_a_run_that_is(store: Path, picture: Picture, name: str) -> None:
    assert picture(lambda bench: ingest_pane(bench, RUNS[name]), (120, 40))


@pytest.mark.parametrize("size", [SMALL, (120, 40)], ids=["80x24", "120x40"])
def test_the_strip_of_a_run(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    async def steps(bench: Driver) -> None:
        await bench.ask()
        await bench.press("escape")
        bench.app.become(bench.session._replace(store=bench.session.store._replace(run=RUNS["left"])))

    assert picture(steps, size)


@pytest.mark.slow
def test_watched_folders(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await ingest_pane(bench, RUNS["done"]._replace(folder=EVERYTHING))
        bench.app.become(bench.session._replace(store=bench.session.store._replace(watching=True)))

    assert picture(steps, (120, 40))


@SIZES
def test_the_figures(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(figures, size)


@SIZES
def test_the_checks(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    assert picture(checks, size)


@pytest.mark.slow
def test_the_checks_fill_the_screen(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await checks(bench)
        await bench.press("z")

    assert picture(steps, (80, 24))


@SIZES
def test_the_embedders(store: Path, picture: Picture, size: tuple[int, int]) -> None:
    async def steps(bench: Driver) -> None:
        await opened(bench, "8", "right", "right")
        await bench.until(lambda _: "local" in bench.painted("store"))
        await bench.press("j")

    assert picture(steps, size)


def test_a_running_reembed(store: Path, picture: Picture) -> None:
    async def steps(bench: Driver) -> None:
        await opened(bench, "8", "right", "right")
        await bench.until(lambda _: "local" in bench.painted("store"))
        progress = Progress("embed", "", 37, 37, 37, 1_000, 430, 0, 0, 0, 0, 0, (), waiting=570)
        bench.app.become(
            bench.session._replace(
                store=bench.session.store._replace(task="recall reembed local", task_progress=progress)
            )
        )

    assert picture(steps, (120, 40))


@pytest.mark.parametrize("name", ["checks", "ingest"])
@pytest.mark.slow
def test_in_the_light_theme(light: None, store: Path, picture: Picture, name: str) -> None:
    assert picture(checks if name == "checks" else lambda bench: ingest_pane(bench, RUNS["running"]), (120, 40))


@pytest.mark.parametrize("name", ["checks", "ingest"])
@pytest.mark.slow
def test_without_colour(store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    assert picture(checks if name == "checks" else lambda bench: ingest_pane(bench, RUNS["paused"]), (120, 40))


@pytest.mark.parametrize("name", ["checks", "ingest"])
@pytest.mark.slow
def test_in_a_locale_without_unicode(
    store: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("LC_ALL", "C")

    assert picture(checks if name == "checks" else lambda bench: ingest_pane(bench, RUNS["left"]), (120, 40))
