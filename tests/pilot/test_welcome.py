"""Starting without a store: the reason, the choices, and creating a store."""

import gc
import os
import warnings
from pathlib import Path

import pytest
from textual.command import CommandList, CommandPalette
from textual.content import Content
from textual.events import Key
from textual.widgets import Input, OptionList

from recall_core.api.recall import Recall
from recall_core.errors import StoreError
from recall_tui.host import Happened
from recall_tui.screens.bench import Bench
from recall_tui.screens.dialog import ConfirmScreen
from recall_tui.screens.help import HelpScreen
from recall_tui.screens.welcome import WelcomeScreen
from recall_tui.state.events import Unusable
from tests.workbench_corpus import build_store
from tests.workbench_driver import Driver, workbench

NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
PALETTE = ("sync: read the changes", "add a folder or a file", "follow the added folders")
"""Actions that need a store."""


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the start folder, with its own home above it."""
    here = tmp_path / "home" / "project"
    here.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(here.parent))
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def texts(empty_folder: Path) -> Path:
    folder = empty_folder / "texts"
    folder.mkdir()
    (folder / "one.txt").write_text("A quokka has a budget.\n", encoding="utf-8")
    return folder


async def welcomed(bench: Driver) -> None:
    """Wait for the screen with all its choices."""
    await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen))
    if bench.app.screen.query("#embedders"):
        await bench.until(lambda _: chosen(bench, "embedders"))


def options(bench: Driver, name: str) -> list[str]:
    found = bench.app.screen.query_one(f"#{name}", OptionList)
    return [str(option.prompt) for option in found.options]


def chosen(bench: Driver, name: str) -> str:
    found = bench.app.screen.query_one(f"#{name}", OptionList)
    return "" if found.highlighted is None else str(found.options[found.highlighted].prompt)


def offered(bench: Driver) -> str:
    """Return the first line of the palette, with its keys."""
    option = bench.app.screen.query_one(CommandList).highlighted_option
    return "" if option is None else str(option.prompt)


def field(bench: Driver) -> Input:
    return bench.app.screen.query_one("#folder", Input)


async def made(bench: Driver) -> None:
    """Wait until the store exists and contains the added files."""
    await bench.until(lambda now: now.store.run and now.store.run.ended == "done" and now.store.info)


async def test_the_first_run_offers_and_completes_folders(texts: Path) -> None:
    documents = texts.parent.parent / "Documents"
    documents.mkdir()
    (documents / "a.md").write_text("text\n", encoding="utf-8")
    (documents / "b.md").write_text("text\n", encoding="utf-8")
    (documents / "c.png").write_bytes(b"\0\1\2")
    for name in ("deep", "deeper", ".hidden", "empty"):
        (texts / name).mkdir()
    async with workbench(None) as bench:
        await welcomed(bench)
        assert "recall.toml" in bench.painted("reason")
        assert "recall.db" in bench.painted("offer")
        assert "the current folder" in bench.painted("offer")
        await bench.until(lambda _: "2 text files" in "".join(options(bench, "folders")))
        here, home = (" ".join(line.split()) for line in options(bench, "folders"))
        assert here == ". 1 text file"
        assert home == "~/Documents 2 text files"

        await bench.press("down", "down")
        assert field(bench).value == "~/Documents"
        assert "~/Documents" in chosen(bench, "folders")

        box = bench.app.screen.query_one("#welcome")
        field(bench).value = "[/b]"
        await bench.until(lambda _: Content.from_markup(box.border_subtitle or "").plain == "[/b]: not found")
        field(bench).value = "texts/de"
        await bench.until(lambda _: len(options(bench, "folders")) == 2)
        await bench.press("down", "down")
        assert field(bench).value == "texts/deeper"
        field(bench).value = "texts/empt"
        await bench.until(lambda _: box.border_subtitle == "texts/empt: not found")
        field(bench).value = "texts/empty"
        await bench.until(lambda _: "0 text files" in "".join(options(bench, "folders")))

        field(bench).value = ""
        await bench.until(lambda _: len(options(bench, "folders")) == 2)
        await bench.pilot.click("#folders", offset=(4, 0))
        assert field(bench).value == "."
        assert isinstance(bench.app.screen, WelcomeScreen)
        assert sorted(path.name for path in texts.parent.iterdir()) == ["texts"], "nothing is made"


async def test_embedders_are_described_and_not_loaded(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not a real one")
    async with workbench(None) as bench:
        await welcomed(bench)
        lines = options(bench, "embedders")
        names = [line.split()[2] for line in lines]
        assert names[:3] == ["hash", "local", "minilm"]
        assert [" ".join(line.split()[4:6]) for line in lines[:3]] == [".397 .704", ".406 .722", ".445 .739"]
        await bench.press("tab", "home")
        await bench.until(lambda _: "spelling, not meaning" in bench.painted("words"))

        await bench.press(*["down"] * names.index("sentence-transformers"))
        await bench.until(lambda _: "not installed" in bench.painted("words"))
        await bench.press("enter")
        assert isinstance(bench.app.screen, WelcomeScreen)

        await bench.press("home", *["down"] * names.index("openai"))
        await bench.until(lambda _: "sent to the cloud" in bench.painted("words"))
        await bench.press("enter")
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        await bench.press("n")
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen))

        await bench.press("home", "escape")
        await bench.until(lambda _: bench.app.focused is field(bench))
        assert not [note for note in bench.app._notifications if "^q quits" in note.message]
        await bench.type("nowhere")
        await bench.press("enter")
        assert isinstance(bench.app.screen, WelcomeScreen)
        await bench.press("escape")
        await bench.until(lambda _: any("^q quits" in note.message for note in bench.app._notifications))
        assert isinstance(bench.app.screen, WelcomeScreen)
        assert field(bench).value == "nowhere"
        assert "^q quits" in bench.painted("create")
        await bench.press("ctrl+q")

    assert bench.app.return_code == 0
    assert sorted(path.name for path in texts.parent.iterdir()) == ["texts"], "nothing is made"


async def test_a_named_folder_becomes_a_searchable_store(texts: Path) -> None:
    async with workbench(None) as bench:
        await welcomed(bench)
        await bench.type("texts")
        await bench.press("tab", "home", "enter")
        await made(bench)

        assert bench.session.pane == "query"
        await bench.type("quokka")
        await bench.until(lambda now: now.results.hit)

        assert bench.session.results.hit is not None
        assert bench.session.results.hit.doc.path == "texts/one.txt"
    with Recall.open(str(texts.parent)) as recall:
        assert recall.store.embedder().startswith("hash-")


async def test_a_folder_named_with_a_tilde_becomes_a_store(texts: Path) -> None:
    texts.rename("~old")
    async with workbench(None) as bench:
        await welcomed(bench)
        await bench.type("~old")
        await bench.press("tab", "home", "enter")
        await bench.until(lambda now: now.store.run and now.store.run.ended and now.store.info)

        assert bench.session.store.run is not None
        assert (bench.session.store.run.ended, bench.session.store.info and bench.session.store.info.documents) == (
            "done",
            1,
        )


async def test_no_palette_action_blocks_a_new_store(texts: Path) -> None:
    async with workbench(None) as bench:
        await welcomed(bench)
        for words in PALETTE if NIGHTLY else PALETTE[:1]:
            await bench.press("ctrl+p")
            await bench.until(lambda _: isinstance(bench.app.screen, CommandPalette))
            await bench.write(words)
            await bench.until(lambda _, words=words: words in offered(bench).lower())  # type: ignore[misc]
            assert "not now: there is no store" in offered(bench)
            await bench.press("enter")
            await welcomed(bench)
        assert "local" in chosen(bench, "embedders")

        await bench.press("enter")
        await made(bench)

        assert bench.app.screen is bench.app.bench
        assert bench.session.store.info is not None
        assert bench.session.store.info.embedder.startswith("local-"), "the chosen embedder makes the vectors"
        await bench.ask("quokka")


async def test_clicking_the_last_line_creates_the_store(texts: Path) -> None:
    async with workbench(None, size=(80, 24)) as bench:
        await welcomed(bench)
        await bench.pilot.click("#embedders", offset=(6, 0))
        await bench.until(lambda _: "hash" in chosen(bench, "embedders"))

        await bench.pilot.click("#create")
        await made(bench)

        assert bench.session.store.info is not None
        assert bench.session.store.info.embedder.startswith("hash-")
        assert bench.session.store.info.documents == 1


async def test_a_failed_creation_explains_and_keeps_the_choices(empty_folder: Path) -> None:
    (empty_folder / "one.txt").write_text("text\n", encoding="utf-8")
    (empty_folder / "recall.toml").write_text('embedding = "sentence-transformers"\n', encoding="utf-8")
    async with workbench(None) as bench:
        await welcomed(bench)
        await bench.type("one.txt")
        await bench.press("enter")
        await bench.until(lambda now: now.store.run is None and "sentence-transformers" in bench.painted("reason"))
        await welcomed(bench)

        assert field(bench).value == "one.txt"
        assert not (empty_folder / "recall.db").exists()


async def test_a_named_database_is_created_under_its_name(empty_folder: Path) -> None:
    (empty_folder / "one.txt").write_text("A quokka has a budget.\n", encoding="utf-8")
    async with workbench("notes/mine.db") as bench:
        await welcomed(bench)
        assert "notes/mine.db" in bench.painted("offer")
        await bench.type("one.txt")
        await bench.press("enter")
        await bench.until(lambda now: now.store.run and now.store.run.ended == "done")

    assert (empty_folder / "notes" / "mine.db").exists()


async def test_a_folder_name_with_a_dot_is_a_folder(texts: Path) -> None:
    folder = texts.rename(texts.parent / "docs.v2")
    async with workbench("docs.v2") as bench:
        await welcomed(bench)
        await bench.press("tab", "home", "enter")
        await bench.until(lambda now: now.store.run and now.store.run.ended and now.store.info)

        assert bench.session.store.run is not None
        assert bench.session.store.run.ended == "done"
    with Recall.open(str(folder)) as recall:
        assert recall.stats()["store"]["documents"] == 1


async def test_the_folder_of_a_named_store_is_the_default(texts: Path) -> None:
    (texts.parent / "other").mkdir()
    (texts.parent / "other" / "private.txt").write_text("Nobody named this.\n", encoding="utf-8")
    async with workbench("texts") as bench:
        await welcomed(bench)
        await bench.until(lambda _: "counting" not in "".join(options(bench, "folders")))
        offered = [" ".join(line.split()) for line in options(bench, "folders")]
        assert offered == ["texts 1 text file", ". 2 text files"]
        assert field(bench).placeholder == "texts"

        await bench.press("tab", "home", "enter")
        await made(bench)

        assert bench.session.store.info is not None
        assert bench.session.store.info.documents == 1


async def test_a_named_store_without_its_folder_is_not_filled(texts: Path) -> None:
    async with workbench("elsewhere") as bench:
        await welcomed(bench)
        await bench.press("enter")
        await bench.until(lambda _: any("'elsewhere'" in note.message for note in bench.app._notifications))

        assert isinstance(bench.app.screen, WelcomeScreen)
        assert not (texts.parent / "elsewhere").exists()


async def test_a_named_database_ignores_the_name_in_old_settings(empty_folder: Path) -> None:
    (empty_folder / "kept").mkdir()
    settings = empty_folder / "kept" / "recall.toml"
    settings.write_text('store_path = "recall.db"\nembedding = "hash"\n', encoding="utf-8")
    (empty_folder / "one.txt").write_text("A quokka has a budget.\n", encoding="utf-8")
    before = settings.read_bytes()
    async with workbench("kept/notes.db") as bench:
        await welcomed(bench)
        await bench.type("one.txt")
        await bench.press("enter")
        await made(bench)

        assert bench.app.screen is bench.app.bench
        await bench.ask("quokka")
        assert bench.session.store.info is not None
        assert bench.session.store.info.embedder.startswith("hash-")
    assert sorted(path.name for path in settings.parent.glob("*.db")) == ["notes.db"]
    assert settings.read_bytes() == before


async def test_existing_settings_are_announced_and_kept(texts: Path) -> None:
    (texts.parent / "recall.toml").write_text('embedding = "hash"\n', encoding="utf-8")
    async with workbench(None) as bench:
        await welcomed(bench)
        assert "kept" in bench.painted("ranks")

        await bench.type("texts")
        await bench.press("enter")
        await made(bench)

        assert bench.session.store.info is not None
        assert bench.session.store.info.embedder.startswith("hash-")


async def test_a_file_that_is_not_a_store_can_be_retried(tmp_path: Path) -> None:
    good = build_store(tmp_path / "good")
    wrong = tmp_path / "recall.db"
    wrong.write_text("This is not a database, whatever its name says. " * 50, encoding="utf-8")
    async with workbench(wrong) as bench:
        await welcomed(bench)
        assert not bench.app.screen.query("#folder")
        assert "recall.db" in bench.painted("reason")
        assert "r tries again" in bench.painted("offer")

        await bench.press("r")
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen))
        wrong.write_bytes(good.read_bytes())
        await bench.press("r")
        await bench.until(lambda now: now.store.info)

        assert bench.app.screen is bench.app.bench
        await bench.ask("quokka")


async def test_a_removed_store_is_reported_and_r_reopens_it(tmp_path: Path) -> None:
    store = build_store(tmp_path / "kept")
    aside = tmp_path / "aside.db"
    async with workbench(store) as bench:
        await bench.ask("token budget")
        await bench.press("escape", "j")
        await bench.until(lambda _: "parts sum to score" in bench.painted("explain"))

        store.rename(aside)
        await bench.press("f5")
        await welcomed(bench)
        assert "There is no store at" in bench.painted("reason")
        assert "^q quits" in bench.painted("offer")
        await bench.press("f1")
        await bench.until(lambda _: isinstance(bench.app.screen, HelpScreen))
        bench.app.post_message(Happened(Unusable(StoreError("no_store", "There is no store."))))
        await bench.until(lambda _: bench.app.message_queue_size == 0)
        shown = [type(screen) for screen in bench.app.screen_stack]
        assert shown == [Bench, WelcomeScreen, HelpScreen], "a second report brings no second screen"
        await bench.press("escape")
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen))

        aside.rename(store)
        await bench.press("r")
        await bench.until(lambda _: bench.app.screen is bench.app.bench)
        await bench.ask("quokka")
        await bench.ask("household tea")
        await bench.press("escape")
        await bench.until(lambda _: "parts sum to score" in bench.painted("explain"))

        store.rename(aside)
        await bench.press("f5")
        await welcomed(bench)
        await bench.type("quokka")
        await bench.press("escape")
        await bench.until(lambda _: any("^q quits" in note.message for note in bench.app._notifications))
        assert isinstance(bench.app.screen, WelcomeScreen)
        assert bench.app.bench.editor.text == "household tea", "typing on does not leave"
        await bench.press("ctrl+q")
        await bench.pilot.pause()
    assert bench.app.return_code == 0


async def test_unfinished_work_prints_nothing_to_the_shell(texts: Path) -> None:
    async with workbench(None, is_own=True) as bench:
        await welcomed(bench)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for letter in "tex":
                bench.app.post_message(Key(letter, letter))
            await bench.until(lambda _: field(bench).value == "tex" and "texts" in str(options(bench, "folders")))
            bench.app.post_message(Key("s", "s"))
            bench.app.post_message(Key("ctrl+q", "\x11"))
            for _ in range(5):
                await bench.pilot.pause(0.02)
            gc.collect()

    assert [str(each.message) for each in caught] == []
