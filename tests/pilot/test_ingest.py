"""Pane 7: adding folders, reports of a run, pausing, resuming, and following folders."""

import io
import re
import shlex
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from textual.widgets import Input

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.errors import Interrupted
from recall_core.store.sqlite import connect
from recall_core.types import Root
from recall_tui.handlers import ingest
from recall_tui.handlers.ingest import UNDER_WAY
from recall_tui.screens.dialog import ConfirmScreen, PromptScreen
from recall_tui.screens.help import HelpScreen
from recall_tui.screens.line import LineScreen
from recall_tui.screens.welcome import WelcomeScreen
from recall_tui.state.commands import command
from recall_tui.state.runs import EVERYTHING
from tests.provider_server import ProviderServer, provider_server
from tests.workbench_driver import Driver, workbench


async def add(bench: Driver, path: Path) -> None:
    await bench.until(lambda now: now.store.info)
    await bench.press("escape", "A")
    bench.app.screen.query_one("Input").value = str(path)  # type: ignore[attr-defined]
    await bench.press("enter")


class Slow(NamedTuple):
    """A store whose embedder is a server that answers when its gate is set, and a folder of 60 files to add."""

    store: Path
    folder: Path
    server: ProviderServer


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Slow]:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(60):
        (folder / f"n{number:02}.txt").write_text(f"Note {number} has a budget.\n", encoding="utf-8")
    with provider_server(768) as server:
        Recall.init(str(tmp_path), embedding="ollama", settings=(f"embedding_url={server.url}",))
        server.gate.clear()
        yield Slow(tmp_path / "recall.db", folder, server)
        server.gate.set()


async def started(bench: Driver, slow: Slow) -> None:
    """Add the folder and wait until the embedder is asked."""
    asked = len(slow.server.seen)
    await add(bench, slow.folder)
    await bench.until(lambda now: now.store.run and len(slow.server.seen) > asked)
    await bench.press("7")


async def held(bench: Driver, slow: Slow) -> None:
    await started(bench, slow)
    await bench.press("H")
    slow.server.gate.set()
    await bench.until(lambda now: now.store.run and now.store.run.hold == "held")


async def added_and_followed(bench: Driver, slow: Slow) -> None:
    """Add the folder and follow it."""
    slow.server.gate.set()
    await add(bench, slow.folder)
    await bench.until(lambda now: now.store.run and now.store.run.ended == "done")
    await bench.press("7", "F")
    await bench.until(
        lambda now: now.store.run and now.store.run.folder == EVERYTHING and now.store.run.ended == "done"
    )


async def changed(bench: Driver, slow: Slow, name: str) -> None:
    """Write a followed file, and wait until its run waits for the embedder."""
    slow.server.gate.clear()
    asked = len(slow.server.seen)
    (slow.folder / name).write_text(f"A late note on tea: {name}.\n", encoding="utf-8")
    await bench.until(lambda now: now.store.run and not now.store.run.ended and len(slow.server.seen) > asked)


def printed(words: list[str]) -> str:
    """Return the stdout of `recall`, with its own streams: Textual has taken those of the process."""
    out = io.StringIO()
    assert cli.main(words, streams=Streams(io.StringIO(), out, io.StringIO())) == 0
    return out.getvalue()


def running() -> int:
    """Return the number of running runs."""
    return [thread.name for thread in threading.enumerate()].count("recall-ingest")


@pytest.fixture
def new(own_store: Path) -> Path:
    """Return a folder with one text file and two others."""
    folder = own_store.parent / "new"
    folder.mkdir()
    (folder / "fresh.txt").write_text("Quokkas read the token budget.\n", encoding="utf-8")
    (folder / "broken.txt").write_bytes(b"text \xff\xfe text")
    (folder / "picture.txt").write_bytes(b"\0\0\0")
    return folder


async def test_a_tilde_name_is_kept_and_a_binary_file_fails(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own_store.parent)
    Path("~old").mkdir()
    Path("image.bin").write_bytes(b"\0\1\2")
    async with workbench(own_store) as bench:
        await bench.ask("quokkas")
        for name, place in (("~old", "~old/fresh.txt"), ("~$report.txt", "~$report.txt")):
            Path(place).write_text(f"Quokkas read {name}.\n", encoding="utf-8")
            await add(bench, Path(name))
            await bench.until(
                lambda now, place=place: place in {hit.doc.path for hit in now.results.hits.values() if hit.doc}
            )
            assert name in bench.session.store.synced
            await bench.until(lambda now: now.store.run and now.store.run.ended == "done")

        await add(bench, own_store.parent / "image.bin")
        await bench.until(lambda now: now.store.run and now.store.run.ended == "failed")
        assert "image.bin" in bench.painted("ingest")


async def test_an_added_folder_is_searchable_and_skips_are_explained(
    own_store: Path, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_store.parent / "here").mkdir()
    monkeypatch.chdir(own_store.parent / "here")
    async with workbench(own_store) as bench:
        await bench.ask("quokkas")
        await bench.press("escape", "7")
        await bench.until(lambda _: "Sources 4" in bench.painted("ingest"))
        assert bench.session.pane == "ingest"
        assert "No ingest run yet" in bench.painted("ingest")
        await bench.press("2")
        assert not bench.app.bench.query_one("#ingest").display

        await add(bench, own_store.parent / "nowhere")
        assert "There is no file or folder" in bench.painted("hint")
        assert bench.session.store.run is None
        await bench.press("escape")

        await add(bench, Path("../new"))
        await bench.until(lambda now: 0 in now.results.hits and now.results.hits[0].doc.path == "new/fresh.txt")
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done")
        assert "1 added" in bench.painted("ingest")
        assert "2 skipped" in bench.painted("ingest")
        assert "38 documents" in bench.painted("header")

        await bench.press("7")
        typed = command(bench.session, str(own_store))
        digest = bench.session.store.info.digest if bench.session.store.info else ""
        await bench.press("z")
        await bench.until(lambda _: "Sources" in bench.painted("ingest"))
        shown = bench.painted("ingest")
        for stage in ("read", "chunk", "embed", "index"):
            assert any(line.startswith(stage) and "100%" in line for line in shown.splitlines())
        assert "3 of 3 files" in shown
        assert "new/broken.txt" in shown
        assert "new/picture.txt" in shown
        assert "Sources 5" in shown
        new_line = next(line for line in shown.splitlines() if line.startswith(" new "))
        assert re.search(r"  synced \d\d:\d\d", new_line)
        assert "not synced here yet" in next(line for line in shown.splitlines() if line.startswith(" docs "))

        await bench.press("down")
        await bench.until(lambda _: "▶× new/picture.txt" in bench.painted("ingest"))
        line = next(
            row for row, text in enumerate(bench.painted("ingest").splitlines()[1:]) if "new/broken.txt" in text
        )
        await bench.pilot.click("#ingest", offset=(5, line + 1))
        await bench.until(lambda _: "▶× new/broken.txt" in bench.painted("ingest"))
        await bench.press("end", "enter")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        assert "binary_file" in bench.painted("question > Static")
        await bench.press("n")
        assert bench.app.screen is bench.app.bench

    assert "1 unchanged" in printed(shlex.split(typed)[1:])
    with Recall.open(str(own_store)) as recall:
        assert recall.store.info().digest == digest


async def test_the_full_path_of_a_skipped_file_is_readable(own_store: Path, new: Path) -> None:
    folder = new / "a folder[draft" / "with a very long name that no title of a dialog has room for"
    folder.mkdir(parents=True)
    (folder / "b].bin").write_bytes(b"\0")
    async with workbench(own_store, size=(80, 24)) as bench:
        await add(bench, new)
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done")
        await bench.press("7")
        await bench.until(lambda _: "Sources" in bench.painted("ingest") or "Skipped" in bench.painted("ingest"))

        await bench.press("home", "enter")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))

        text = bench.painted("question > Static")
        assert "new/a folder[draft/with a very long name that no title of a dialog has room for/b].bin" in text
        assert "is a binary file" in text


async def test_a_cancelled_run_resumes_to_the_end(slow: Slow) -> None:
    async with workbench(slow.store) as bench:
        await bench.until(lambda now: now.store.info and "The store is empty" in bench.painted("results"))
        await started(bench, slow)
        assert "The first files are being added." in bench.painted("results")

        await bench.press("ctrl+g")
        slow.server.gate.set()
        await bench.until(lambda now: now.store.run and now.store.run.ended == "cancelled")
        await bench.until(lambda _: "cancelled;" in bench.painted("ingest"))
        assert "wait for the embedder" not in bench.painted("ingest")
        await bench.press("f5")
        await bench.until(
            lambda now: now.store.run and now.store.run.ended == "done" and now.store.info and now.store.info.chunks
        )

        assert bench.session.store.info is not None
        assert bench.session.store.info.documents == 60
        await bench.until(lambda _: "Type words to search" in bench.painted("results"))


async def test_ctrl_g_cancels_an_add_in_the_command_line(slow: Slow) -> None:
    async with workbench(slow.store) as bench:
        await bench.until(lambda now: now.store.info)
        await bench.press("escape", "colon")
        await bench.until(lambda _: isinstance(bench.app.screen, LineScreen))
        asked = len(slow.server.seen)
        await bench.write(f"add {shlex.quote(str(slow.folder))}")
        await bench.press("enter")
        await bench.until(lambda _: bench.app.output.running and len(slow.server.seen) > asked)

        await bench.press("ctrl+g")
        slow.server.gate.set()
        await bench.until(lambda _: bench.app.output.ran)

        assert bench.app.output.ran is not None
        assert (bench.app.output.ran.code, bench.app.output.ran.stdout) == (Interrupted.exit_code, "")
        assert "documents saved" in bench.app.output.ran.stderr
    with Recall.open(str(slow.store)) as recall:
        assert recall.store.info().documents < 60


async def test_a_paused_run_stops_and_locks_no_other_program(slow: Slow, tmp_path: Path) -> None:
    async with workbench(slow.store) as bench:
        await held(bench, slow)
        assert "PAUSED" in bench.painted("ingest")
        assert "/s" not in bench.painted("ingest")
        assert bench.session.store.run is not None
        before = bench.session.store.run.progress
        asked = len(slow.server.seen)

        (tmp_path / "elsewhere.txt").write_text("Somebody else writes.\n", encoding="utf-8")
        with Recall.open(str(slow.store)) as other:
            list(other.add([str(tmp_path / "elsewhere.txt")], Root("")))
        await bench.pilot.pause(0.3)
        assert bench.session.store.run.progress is before
        assert len(slow.server.seen) == asked + 1

        await bench.press("H")
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done")
        assert bench.session.store.info is not None
        assert bench.session.store.info.documents == 61


@pytest.mark.slow
async def test_only_one_run_or_task_runs_at_a_time(slow: Slow, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "one.txt").write_text("One more.\n", encoding="utf-8")
    async with workbench(slow.store) as bench:
        await added_and_followed(bench, slow)
        await bench.press("A")
        await bench.until(lambda _: isinstance(bench.app.screen, PromptScreen))
        await changed(bench, slow, "late.txt")

        await bench.write(str(tmp_path / "other"))
        await bench.press("enter")
        await bench.until(
            lambda _: isinstance(bench.app.screen, PromptScreen) and "under way" in bench.painted("hint")
        )
        assert bench.app.screen.query_one(Input).value == str(tmp_path / "other")
        assert (running(), bench.session.store.run and bench.session.store.run.folder) == (1, EVERYTHING)

        slow.server.gate.set()
        await bench.until(lambda now: now.store.run and now.store.run.ended)
        await bench.press("enter")
        await bench.until(lambda now: now.store.info and now.store.info.documents == 62)
        await bench.until(lambda now: not running() and now.store.run and now.store.run.ended == "done")

        await bench.press("8")
        await bench.app.perform("compact")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        await changed(bench, slow, "later.txt")
        await bench.press("y")
        await bench.until(lambda _: any(UNDER_WAY in note.message for note in bench.app._notifications))
        assert bench.session.store.task == ""

        (slow.folder / "latest.txt").write_text("The latest note on tea.\n", encoding="utf-8")
        await bench.until(lambda now: now.store.is_behind)
        slow.server.gate.set()
        await bench.until(lambda now: now.store.info and now.store.info.documents == 64)
        assert bench.session.store.tasks_done == 0


@pytest.mark.slow
async def test_a_lost_store_is_reported_once(slow: Slow, tmp_path: Path) -> None:
    async with workbench(slow.store) as bench:
        await started(bench, slow)
        slow.store.rename(tmp_path / "aside.db")
        bench.app.bench.editor.text = "SELECT * FROM chunk"
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen))
        await bench.press("f1")
        await bench.until(lambda _: isinstance(bench.app.screen, HelpScreen))

        slow.server.gate.set()
        await bench.until(lambda now: not running() and not (now.store.run and not now.store.run.ended))
        await bench.press("escape")
        (tmp_path / "aside.db").rename(slow.store)
        await bench.press("r")

        await bench.until(lambda _: bench.app.screen is bench.app.bench)


@pytest.mark.slow
async def test_a_paused_run_can_be_cancelled(slow: Slow) -> None:
    async with workbench(slow.store) as bench:
        await held(bench, slow)

        await bench.press("ctrl+g")

        await bench.until(lambda now: now.store.run and now.store.run.ended == "cancelled")


async def test_the_workbench_quits_while_a_run_is_paused(slow: Slow) -> None:
    async with workbench(slow.store) as bench:
        await held(bench, slow)
        await bench.press("ctrl+q")

    assert bench.app.return_code == 0


async def test_sync_reads_every_folder_and_following_keeps_up(own_store: Path, new: Path) -> None:
    notes = own_store.parent / "notes"
    (notes / "new.txt").write_text("A wombat was here.\n", encoding="utf-8")
    (own_store.parent / "docs" / "files.md").unlink()
    async with workbench(own_store) as bench:
        await bench.ask("wombat")
        await bench.press("escape", "7", "R")
        await bench.until(lambda now: 0 in now.results.hits and now.results.hits[0].doc.path == "notes/new.txt")
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done")
        assert "1 added" in bench.painted("ingest")
        assert "1 removed" in bench.painted("ingest")
        (notes / "new.txt").unlink()

        await bench.press("F")
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done" and now.store.watching)
        await bench.until(lambda now: now.store.info and now.store.info.documents == 36 and not now.query.busy)
        (notes / "new.txt").write_text("A wombat was here again.\n", encoding="utf-8")
        await bench.until(lambda now: 0 in now.results.hits and now.results.hits[0].doc.path == "notes/new.txt")
        (notes / "new.txt").unlink()
        await bench.until(lambda now: now.store.info and now.store.info.documents == 36 and not now.query.busy)
        assert "following" in bench.painted("ingest")

        await add(bench, new)
        await bench.until(lambda now: now.store.info and now.store.info.documents == 37)
        await bench.until(lambda now: now.store.run and now.store.run.folder == "" and now.store.run.ended == "done")
        (new / "more.txt").write_text("A numbat.\n", encoding="utf-8")
        await bench.until(lambda now: now.store.info and now.store.info.documents == 38)

        await bench.until(lambda now: now.store.run and now.store.run.ended == "done")
        await bench.press("7", "F")
        assert not bench.session.store.watching
        (notes / "late.txt").write_text("Not looked at.\n", encoding="utf-8")
        await bench.pilot.pause(1.0)
        assert bench.session.store.info is not None
        assert bench.session.store.info.documents == 38


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait only briefly for a lock."""
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_MS", 50)
    monkeypatch.setattr(ingest, "LOCKED_SECONDS", 0.05)


@pytest.mark.usefixtures("impatient")
async def test_a_locked_store_fails_a_sync_and_delays_changes(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await bench.until(lambda now: now.store.info)
        await bench.press("escape", "7", "F")
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done" and now.store.watching)

        with Recall.open(str(own_store)) as other, other.store.transaction():
            (own_store.parent / "notes" / "new.txt").write_text("A wombat was here.\n", encoding="utf-8")
            await bench.until(lambda now: now.store.run and now.store.run.ended == "failed")
            failed = bench.session.store.run
            await bench.until(
                lambda now: now.store.run and now.store.run is not failed and now.store.run.ended == "failed"
            )

        await bench.until(lambda now: now.store.info and now.store.info.documents == 38)
        await bench.until(lambda now: not now.store.is_behind and now.store.run and now.store.run.ended == "done")

        with Recall.open(str(own_store)) as other, other.store.transaction():
            (own_store.parent / "new").mkdir()
            (own_store.parent / "new" / "one.txt").write_text("One more.\n", encoding="utf-8")
            await add(bench, own_store.parent / "new")
            await bench.until(lambda now: now.store.run and now.store.run.ended == "failed")
            failed, waited = bench.session.store.run, threading.Event()
            bench.app.set_timer(ingest.LOCKED_SECONDS, waited.set)  # it ends after a run that started before it
            await bench.until(lambda _: waited.is_set())

        assert bench.session.store.run is failed
        assert not bench.session.store.is_behind


async def test_following_needs_a_folder(tmp_path: Path) -> None:
    Recall.init(str(tmp_path))
    async with workbench(tmp_path) as bench:
        await bench.until(lambda now: now.store.info)

        await bench.press("escape", "7", "F")
        await bench.until(lambda now: not now.store.watching)

        assert any("No added folder" in note.message for note in bench.app._notifications)
