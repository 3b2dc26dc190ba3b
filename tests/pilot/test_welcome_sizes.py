"""The screen without a store, from the smallest terminal on: nothing that is needed is cut."""

import os
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from recall_core.errors import StoreError
from recall_tui.screens.welcome import WelcomeScreen
from recall_tui.widgets.draw import UNICODE
from tests.workbench_driver import Driver, workbench

LEAST = (60, 20)
NIGHTLY = os.environ.get("RECALL_HYPOTHESIS") == "nightly"
SIZES = (LEAST, (80, 20), (80, 24), (100, 31), (60, 40))


@pytest.fixture(autouse=True)
def project(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the start folder, with more folders around it than rows."""
    folder = tmp_path_factory.mktemp("h") / "project"  # a short path, as users have
    for name in ("project/notes", "Documents", "Notes", "notes", "docs"):
        (folder.parent / name).mkdir(parents=True)
    (folder / "notes" / "one.txt").write_text("A quokka has a budget.\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.chdir(folder)
    return folder


def seen(bench: Driver) -> list[str]:
    """Return the rows of the terminal."""
    strips = bench.app.screen._compositor.render_strips(bench.app.size)
    return ["".join(segment.text for segment in strip) for strip in strips]


async def welcomed(bench: Driver) -> None:
    await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen) and bench.app.screen.chosen_embedder)
    await bench.until(lambda _: "Words alone" in bench.painted("words"))


def embedders(bench: Driver) -> list[str]:
    found = bench.app.screen.query_one("#embedders", OptionList)
    return [str(option.prompt) for option in found.options]


async def test_keys_and_embedders_are_visible_at_every_size() -> None:
    async with workbench("notes", size=LEAST) as bench:
        await welcomed(bench)
        for size in SIZES:
            await bench.pilot.resize_terminal(*size)
            await bench.until(
                lambda _: (
                    "Words alone rank at .396 and .704." in " ".join(" ".join(seen(bench)).replace("│", "").split())
                )
            )
            rows = seen(bench)
            assert any("Enter makes the store" in row for row in rows), size
            assert any("^q quits" in row for row in rows), size
            assert [row.split()[4] for row in rows if UNICODE.pointer in row] == ["local"], size


async def test_every_embedder_row_fits_below_its_heading() -> None:
    async with workbench(None, size=LEAST) as bench:
        await welcomed(bench)
        await bench.press("tab")
        for size in SIZES if NIGHTLY else (LEAST,):
            await bench.pilot.resize_terminal(*size)
            await bench.press("home")
            for line in embedders(bench):
                name = line.split()[2]
                await bench.until(lambda _, name=name: name in bench.painted("words"))  # type: ignore[misc]
                pointed = [row for row in seen(bench) if UNICODE.pointer in row]
                assert [line.rstrip() in row.replace(UNICODE.pointer, " ") for row in pointed] == [True], (size, name)
                await bench.press("down")

            heading = next(row for row in seen(bench) if "Embedder" in row)
            figures = next(row for row in seen(bench) if "minilm" in row)
            assert heading.index("dimension") + len("dimension") == figures.index("384") + len("384"), size
            assert heading.index("nDCG@10") == figures.index(".445"), size


async def test_rows_are_drawn_again_for_another_width() -> None:
    async with workbench(None, size=LEAST) as bench:
        await welcomed(bench)
        assert not any("this machine" in line for line in embedders(bench))
        await bench.press("tab", "down")
        await bench.until(lambda _: "minilm" in bench.painted("words"))

        await bench.pilot.resize_terminal(100, 30)
        await bench.until(lambda _: all("machine" in line or "cloud" in line for line in embedders(bench)))
        await bench.until(lambda _: "Cranfield, SciFact" in "\n".join(seen(bench)))
        await bench.pilot.resize_terminal(*LEAST)
        await bench.until(lambda _: not any("this machine" in line for line in embedders(bench)))

        chosen = bench.app.screen
        assert isinstance(chosen, WelcomeScreen)
        assert chosen.chosen_embedder is not None
        assert chosen.chosen_embedder["name"] == "minilm"


async def test_hidden_lines_are_reachable_with_visible_keys() -> None:
    error = StoreError("no_store", f"There is no recall.toml in {'/a-long-way' * 30} or above.", hint="recall init")
    async with workbench("notes", size=LEAST) as bench:
        await welcomed(bench)
        bench.app.pop_screen()
        await bench.app.push_screen(WelcomeScreen(error, None, can_create=True))
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen) and bench.app.screen.chosen_embedder)

        assert any("^q quits" in row for row in seen(bench))
        await bench.press("tab")
        await bench.until(lambda _: "local" in "".join(row for row in seen(bench) if UNICODE.pointer in row))
        assert any("^q quits" in row for row in seen(bench))


async def test_a_tiny_screen_shows_one_line_and_ignores_keys(project: Path) -> None:
    async with workbench(None, size=(55, 18)) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen) and bench.app.screen.chosen_embedder)
        for size in ((55, 18), (59, 20), (60, 19)):
            await bench.pilot.resize_terminal(*size)
            await bench.until(lambda _: "60×20" in seen(bench)[0])
            assert not "".join(seen(bench)[1:]).strip(), size

            await bench.press("x", "down", "enter")
            await bench.pilot.resize_terminal(*LEAST)
            await bench.until(lambda _: any("Enter makes the store" in row for row in seen(bench)))
            await bench.until(lambda _: isinstance(bench.app.focused, Input))

            assert bench.app.screen.query_one(Input).value == "", size
            assert not (project / "recall.db").exists(), size
            assert bench.session.store.run is None, size


async def test_a_tiny_screen_hides_the_reason_too(tmp_path: Path) -> None:
    wrong = tmp_path / "recall.db"
    wrong.write_text("This is not a database, whatever its name says. " * 50, encoding="utf-8")
    async with workbench(wrong, size=(55, 18)) as bench:
        await bench.until(lambda _: isinstance(bench.app.screen, WelcomeScreen) and "60×20" in seen(bench)[0])

        await bench.press("ctrl+q")
        await bench.pilot.pause()
    assert bench.app.return_code == 0


@pytest.mark.parametrize(
    ("store", "expected"),
    [
        (None, "recall.db in the current folder."),
        pytest.param("mine.db", "mine.db in the current folder.", marks=pytest.mark.slow),
        ("sub/mine.db", "sub/mine.db."),
        pytest.param("notes", "notes/recall.db.", marks=pytest.mark.slow),
    ],
)
async def test_the_new_file_is_named(store: str | None, expected: str) -> None:
    async with workbench(store) as bench:
        await welcomed(bench)

        assert bench.painted("offer").endswith(f"you add: {expected}")


async def test_existing_settings_name_the_file(project: Path) -> None:
    (project / "recall.toml").write_text('embedding = "hash"\nstore_path = "kb.db"\n', encoding="utf-8")
    async with workbench(None, size=LEAST) as bench:
        await welcomed(bench)

        assert "recall.db" not in bench.painted("offer")
        assert "recall.toml" in bench.painted("offer")
        assert any("^q quits" in row for row in seen(bench))
