"""Adding folders from the workbench, and starting without a store."""

from pathlib import Path

import pytest

from recall_tui.screens.welcome import WelcomeScreen
from tests.workbench_driver import Driver, workbench


async def add(bench: Driver, path: Path) -> None:
    await bench.until(lambda now: now.info)
    await bench.press("escape", "A")
    bench.app.screen.query_one("Input").value = str(path)  # type: ignore[attr-defined]
    await bench.press("enter")


async def test_an_added_folder_is_found_by_the_question_that_stands(own_store: Path) -> None:
    new = own_store.parent / "new"
    new.mkdir()
    (new / "fresh.txt").write_text("Quokkas read the token budget.\n", encoding="utf-8")
    (new / "broken.txt").write_bytes(b"text \xff\xfe text")
    async with workbench(own_store) as bench:
        await bench.ask("quokkas")

        await add(bench, new)
        await bench.until(lambda now: now.hit and now.hit.doc.path == "new/fresh.txt")

        assert "1 added" in bench.painted("ingest")
        assert "1 skipped" in bench.painted("ingest")
        assert "38 docs" in bench.painted("header")
        await bench.press("7")
        assert "new/broken.txt" in bench.painted("ingest")


async def test_a_path_that_is_not_there_is_refused_where_it_was_typed(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await add(bench, own_store.parent / "nowhere")

        assert "There is no file or folder" in bench.painted("hint")
        assert bench.session.run is None


async def test_an_ingest_that_fails_says_why(own_store: Path) -> None:
    binary = own_store.parent / "image.bin"
    binary.write_bytes(b"\0\1\2")
    async with workbench(own_store) as bench:
        await add(bench, binary)
        await bench.until(lambda now: now.run and now.run.ended)

        assert bench.session.run is not None
        assert bench.session.run.ended == "failed"
        assert "image.bin" in bench.painted("ingest")


async def test_ctrl_g_cancels_an_ingest_and_keys_work_meanwhile(own_store: Path) -> None:
    many = own_store.parent / "many"
    many.mkdir()
    for number in range(300):
        (many / f"n{number}.txt").write_text(f"The budget of note {number}.\n" * 4_000, encoding="utf-8")
    async with workbench(own_store) as bench:
        await add(bench, many)
        await bench.until(lambda now: now.run and "cancel" in bench.painted("footer"))

        await bench.press("ctrl+g")
        await bench.until(lambda now: now.run and now.run.ended)

        assert bench.session.run is not None
        assert bench.session.run.ended == "cancelled"
        await bench.ask("token budget")


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_without_a_store_the_screen_says_how_to_make_one(empty_folder: Path) -> None:
    assert not list(empty_folder.iterdir())
    async with workbench(None) as bench:
        await bench.pilot.pause(0.2)
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen))

        assert "recall init" in bench.painted("offer")
        assert "recall.toml" in bench.painted("reason")
        assert not list(empty_folder.iterdir())


async def test_a_folder_named_there_becomes_a_store_that_answers(empty_folder: Path) -> None:
    (empty_folder / "texts").mkdir()
    (empty_folder / "texts" / "one.txt").write_text("A quokka has a budget.\n", encoding="utf-8")
    async with workbench(None) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen))
        await bench.type("texts")
        await bench.press("enter")
        await bench.until(lambda now: now.run and now.run.ended == "done")

        await bench.ask("quokka")

        assert bench.session.hit is not None
        assert bench.session.hit.doc.path == "texts/one.txt"
        assert (empty_folder / "recall.db").exists()


async def test_a_folder_that_is_not_there_makes_no_store(empty_folder: Path) -> None:
    async with workbench(None) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen))
        await bench.type("nowhere")

        await bench.press("enter")

        assert isinstance(bench.app.screen, WelcomeScreen)
        assert not list(empty_folder.iterdir())


async def test_a_file_that_is_no_store_is_named_and_nothing_is_offered(tmp_path: Path) -> None:
    wrong = tmp_path / "recall.db"
    wrong.write_text("This is not a database, whatever its name says. " * 50, encoding="utf-8")
    async with workbench(wrong) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen))

        assert not bench.app.screen.query("#folder")
        assert "recall.db" in bench.painted("reason")
        await bench.press("escape")

    assert bench.app.return_code == 0


async def test_a_database_named_on_the_command_line_is_made_under_its_name(empty_folder: Path) -> None:
    (empty_folder / "one.txt").write_text("A quokka has a budget.\n", encoding="utf-8")
    async with workbench("notes/mine.db") as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen))
        assert "notes/mine.db" in bench.painted("offer")
        await bench.type("one.txt")
        await bench.press("enter")
        await bench.until(lambda now: now.run and now.run.ended == "done")

    assert (empty_folder / "notes" / "mine.db").exists()
