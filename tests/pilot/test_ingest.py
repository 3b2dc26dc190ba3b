"""Pane 7: adding folders, what is told of a run, pausing it, going on with it, and following the folders."""

import re
import shlex
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from textual.widgets import Input

from recall_core.adapters import cli
from recall_core.adapters.streams import standard
from recall_core.api.recall import Recall
from recall_core.errors import Interrupted
from recall_core.store.sqlite import connect
from recall_core.types import Root
from recall_tui.handlers import ingest
from recall_tui.handlers.ingest import UNDER_WAY
from recall_tui.screens.confirm import ConfirmScreen, PromptScreen
from recall_tui.screens.help import HelpScreen
from recall_tui.screens.line import LineScreen
from recall_tui.screens.welcome import WelcomeScreen
from recall_tui.state.runs import EVERYTHING
from recall_tui.state.shell import command
from tests.provider_server import ProviderServer, provider_server
from tests.workbench_driver import Driver, workbench


async def add(bench: Driver, path: Path) -> None:
    await bench.until(lambda now: now.store.info)
    await bench.press("escape", "A")
    bench.app.screen.query_one("Input").value = str(path)  # type: ignore[attr-defined]
    await bench.press("enter")


class Slow(NamedTuple):
    """A store whose embedder is a server that answers when its gate is set, and a folder of 60 files to add to it."""

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
    """Add the folder and wait until the embedder has been asked."""
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
    """Add the folder, and let the store follow it."""
    slow.server.gate.set()
    await add(bench, slow.folder)
    await bench.until(lambda now: now.store.run and now.store.run.ended == "done")
    await bench.press("7", "F")
    await bench.until(
        lambda now: now.store.run and now.store.run.folder == EVERYTHING and now.store.run.ended == "done"
    )


async def changed(bench: Driver, slow: Slow) -> None:
    """Change a followed file, and wait until the run that reads it waits for the embedder."""
    slow.server.gate.clear()
    asked = len(slow.server.seen)
    (slow.folder / "late.txt").write_text("A late note on tea.\n", encoding="utf-8")
    await bench.until(lambda now: now.store.run and not now.store.run.ended and len(slow.server.seen) > asked)


def running() -> int:
    """How many runs are under way."""
    return [thread.name for thread in threading.enumerate()].count("recall-ingest")


@pytest.fixture
def new(own_store: Path) -> Path:
    """A folder with one file that is text and two that are not."""
    folder = own_store.parent / "new"
    folder.mkdir()
    (folder / "fresh.txt").write_text("Quokkas read the token budget.\n", encoding="utf-8")
    (folder / "broken.txt").write_bytes(b"text \xff\xfe text")
    (folder / "picture.txt").write_bytes(b"\0\0\0")
    return folder


@pytest.mark.parametrize("name", ["~old", "~$report.txt"])
async def test_what_has_a_tilde_in_front_of_its_name_is_added_under_that_name(
    own_store: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(own_store.parent)
    place = Path(name)
    if not place.suffix:
        place.mkdir()
        place /= "fresh.txt"
    place.write_text("Quokkas read the token budget.\n", encoding="utf-8")
    async with workbench(own_store) as bench:
        await bench.ask("quokkas")

        await add(bench, Path(name))
        await bench.until(lambda now: 0 in now.results.hits and now.results.hits[0].doc.path == str(place))

        assert name in bench.session.store.synced


async def test_an_added_folder_is_found_by_the_question_that_stands(own_store: Path, new: Path) -> None:
    async with workbench(own_store) as bench:
        await bench.ask("quokkas")

        await add(bench, new)
        await bench.until(lambda now: 0 in now.results.hits and now.results.hits[0].doc.path == "new/fresh.txt")

        assert "1 added" in bench.painted("ingest")
        assert "2 skipped" in bench.painted("ingest")
        assert "38 docs" in bench.painted("header")


async def test_the_opened_pane_has_every_stage_the_skipped_files_and_the_sources(own_store: Path, new: Path) -> None:
    async with workbench(own_store) as bench:
        await add(bench, new)
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done")

        await bench.press("7", "z")
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


async def test_the_pane_opens_before_anything_was_added(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await bench.until(lambda now: now.store.info)

        await bench.press("escape", "7")
        await bench.until(lambda _: "Sources 4" in bench.painted("ingest"))

        assert bench.session.pane == "ingest"
        assert "Nothing was ingested since the start" in bench.painted("ingest")
        await bench.press("2")
        assert not bench.app.bench.query_one("#ingest").display


async def test_keys_and_clicks_choose_a_skipped_file_and_enter_says_why(own_store: Path, new: Path) -> None:
    async with workbench(own_store) as bench:
        await add(bench, new)
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done")
        await bench.press("7", "z", "down")
        await bench.until(lambda _: "Sources" in bench.painted("ingest"))
        assert "▶× new/picture.txt" in bench.painted("ingest")

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


async def test_the_whole_path_of_a_skipped_file_is_read_whatever_its_name(own_store: Path, new: Path) -> None:
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

        told = bench.painted("question > Static")
        assert "new/a folder[draft/with a very long name that no title of a dialog has room for/b].bin" in told
        assert "is a binary file" in told


async def test_a_folder_that_was_typed_from_here_counts_as_synced(
    own_store: Path, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_store.parent / "here").mkdir()
    monkeypatch.chdir(own_store.parent / "here")
    async with workbench(own_store) as bench:
        await add(bench, Path("../new"))
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done")

        await bench.press("7", "z")

        await bench.until(lambda _: "Sources 5" in bench.painted("ingest"))
        line = next(line for line in bench.painted("ingest").splitlines() if line.startswith(" new "))
        assert re.search(r"  synced \d\d:\d\d", line)


async def test_a_path_that_is_not_there_is_refused_where_it_was_typed(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await add(bench, own_store.parent / "nowhere")

        assert "There is no file or folder" in bench.painted("hint")
        assert bench.session.store.run is None


async def test_an_ingest_that_fails_says_why(own_store: Path) -> None:
    binary = own_store.parent / "image.bin"
    binary.write_bytes(b"\0\1\2")
    async with workbench(own_store) as bench:
        await add(bench, binary)
        await bench.until(lambda now: now.store.run and now.store.run.ended)

        assert bench.session.store.run is not None
        assert bench.session.store.run.ended == "failed"
        assert "image.bin" in bench.painted("ingest")


async def test_ctrl_g_cancels_and_r_goes_on_to_the_end(slow: Slow) -> None:
    async with workbench(slow.store) as bench:
        await started(bench, slow)

        await bench.press("ctrl+g")
        slow.server.gate.set()
        await bench.until(lambda now: now.store.run and now.store.run.ended == "cancelled")
        await bench.until(lambda _: "cancelled;" in bench.painted("ingest"))
        assert "wait for the embedder" not in bench.painted("ingest")
        await bench.press("f5")
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done")

        assert bench.session.store.info is not None
        assert bench.session.store.info.documents == 60


async def test_ctrl_g_in_the_command_line_ends_an_add_that_runs_no_statement_just_then(slow: Slow) -> None:
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
        assert "documents are in" in bench.app.output.ran.stderr
    with Recall.open(str(slow.store)) as recall:
        assert recall.store.info().documents < 60


async def test_a_paused_run_stands_still_and_locks_nobody_out(slow: Slow, tmp_path: Path) -> None:
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


async def test_a_store_that_is_being_filled_is_not_said_to_wait_for_a_folder(slow: Slow) -> None:
    async with workbench(slow.store) as bench:
        await bench.until(lambda now: now.store.info and "The store is empty" in bench.painted("results"))
        await started(bench, slow)

        assert "The first files are being added." in bench.painted("results")
        slow.server.gate.set()
        await bench.until(
            lambda now: now.store.run and now.store.run.ended == "done" and now.store.info and now.store.info.chunks
        )
        await bench.until(lambda _: "Type words to search" in bench.painted("results"))


async def test_a_folder_that_is_named_while_a_run_begins_is_asked_for_again_and_only_one_run_is_under_way(
    slow: Slow, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "one.txt").write_text("One more.\n", encoding="utf-8")
    async with workbench(slow.store) as bench:
        await added_and_followed(bench, slow)
        await bench.press("A")
        await bench.until(lambda _: isinstance(bench.app.screen, PromptScreen))
        await changed(bench, slow)

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


async def test_a_compact_that_is_agreed_to_while_a_run_begins_is_not_done_beside_it(slow: Slow) -> None:
    async with workbench(slow.store) as bench:
        await added_and_followed(bench, slow)
        await bench.press("8")
        await bench.app.perform("compact")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        await changed(bench, slow)

        await bench.press("y")
        await bench.until(lambda _: any(UNDER_WAY in note.message for note in bench.app._notifications))

        assert bench.session.store.task == ""
        slow.server.gate.set()
        await bench.until(lambda now: now.store.run and now.store.run.ended)
        assert bench.session.store.tasks_done == 0


async def test_a_lost_store_is_told_once_although_a_run_ends_behind_another_screen(
    slow: Slow, tmp_path: Path
) -> None:
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


async def test_a_paused_run_can_be_cancelled(slow: Slow) -> None:
    async with workbench(slow.store) as bench:
        await held(bench, slow)

        await bench.press("ctrl+g")

        await bench.until(lambda now: now.store.run and now.store.run.ended == "cancelled")


async def test_the_workbench_can_be_left_while_a_run_is_paused(slow: Slow) -> None:
    async with workbench(slow.store) as bench:
        await held(bench, slow)
        await bench.press("ctrl+q")

    assert bench.app.return_code == 0


async def test_sync_reads_every_folder_again(own_store: Path) -> None:
    (own_store.parent / "notes" / "new.txt").write_text("A wombat was here.\n", encoding="utf-8")
    (own_store.parent / "docs" / "files.md").unlink()
    async with workbench(own_store) as bench:
        await bench.ask("wombat")

        await bench.press("escape", "7", "R")
        await bench.until(lambda now: 0 in now.results.hits and now.results.hits[0].doc.path == "notes/new.txt")

        assert "1 added" in bench.painted("ingest")
        assert "1 removed" in bench.painted("ingest")


async def test_a_watched_folder_is_followed_until_it_is_no_longer(own_store: Path) -> None:
    notes = own_store.parent / "notes"
    async with workbench(own_store) as bench:
        await bench.ask("wombat")
        await bench.press("escape", "7", "F")
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done" and now.store.watching)

        (notes / "new.txt").write_text("A wombat was here.\n", encoding="utf-8")
        await bench.until(lambda now: 0 in now.results.hits and now.results.hits[0].doc.path == "notes/new.txt")
        (notes / "new.txt").unlink()
        await bench.until(lambda now: now.store.info and now.store.info.documents == 37 and not now.query.busy)
        assert "following" in bench.painted("ingest")

        await bench.press("F")
        assert not bench.session.store.watching
        (notes / "late.txt").write_text("Nobody looks.\n", encoding="utf-8")
        await bench.pilot.pause(1.0)
        assert bench.session.store.info is not None
        assert bench.session.store.info.documents == 37


async def test_a_file_that_is_saved_during_a_watched_run_is_read_after_it(slow: Slow) -> None:
    async with workbench(slow.store) as bench:
        await added_and_followed(bench, slow)
        await changed(bench, slow)

        (slow.folder / "later.txt").write_text("A later note on tea.\n", encoding="utf-8")
        await bench.until(lambda now: now.store.is_behind)
        slow.server.gate.set()

        await bench.until(lambda now: now.store.info and now.store.info.documents == 62)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long for a lock."""
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_MS", 50)
    monkeypatch.setattr(ingest, "LOCKED_SECONDS", 0.05)


@pytest.mark.usefixtures("impatient")
async def test_a_watched_change_that_finds_the_store_locked_is_read_once_it_is_free(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await bench.ask("wombat")
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


@pytest.mark.usefixtures("impatient")
async def test_a_sync_that_a_person_began_and_that_finds_the_store_locked_keeps_its_error(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await bench.ask("wombat")
        await bench.press("escape", "7", "F")
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done" and now.store.watching)

        with Recall.open(str(own_store)) as other, other.store.transaction():
            (own_store.parent / "new").mkdir()
            (own_store.parent / "new" / "one.txt").write_text("One more.\n", encoding="utf-8")
            await add(bench, own_store.parent / "new")
            await bench.until(lambda now: now.store.run and now.store.run.ended == "failed")
            failed, waited = bench.session.store.run, threading.Event()
            bench.app.set_timer(ingest.LOCKED_SECONDS, waited.set)  # it ends after one that began before it
            await bench.until(lambda _: waited.is_set())

        assert bench.session.store.run is failed
        assert not bench.session.store.is_behind


async def test_a_folder_that_is_added_meanwhile_is_watched_too(own_store: Path, new: Path) -> None:
    async with workbench(own_store) as bench:
        await bench.until(lambda now: now.store.info)
        await bench.press("escape", "7", "F")
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done")
        await add(bench, new)
        await bench.until(lambda now: now.store.info and now.store.info.documents == 38)
        await bench.until(lambda now: now.store.run and now.store.run.folder == "" and now.store.run.ended == "done")

        (new / "more.txt").write_text("A numbat.\n", encoding="utf-8")
        await bench.until(lambda now: now.store.info and now.store.info.documents == 39)


async def test_a_store_without_folders_cannot_be_watched_and_says_so(tmp_path: Path) -> None:
    Recall.init(str(tmp_path))
    async with workbench(tmp_path) as bench:
        await bench.until(lambda now: now.store.info)

        await bench.press("escape", "7", "F")
        await bench.until(lambda now: not now.store.watching)

        assert any("No added folder" in note.message for note in bench.app._notifications)


async def test_the_copied_command_adds_the_same_folder(
    own_store: Path, new: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with workbench(own_store) as bench:
        await add(bench, new)
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done" and now.store.info)
        await bench.press("7")

        typed = command(bench.session, str(own_store))
        digest = bench.session.store.info.digest if bench.session.store.info else ""

    assert cli.main(shlex.split(typed)[1:], streams=standard()) == 0
    assert "1 unchanged" in capsys.readouterr().out
    with Recall.open(str(own_store)) as recall:
        assert recall.store.info().digest == digest
