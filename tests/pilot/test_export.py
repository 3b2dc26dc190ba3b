"""Exports of rows and of the context: as the commands print them, and over nothing without a question."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from recall_tui.screens.confirm import ConfirmScreen, PromptScreen
from recall_tui.state.packing import printed
from tests.workbench_driver import Driver, workbench


async def exported(bench: Driver, file: Path) -> None:
    """Press E and name the file."""
    await bench.press("E")
    await bench.until(lambda _: isinstance(bench.app.screen, PromptScreen))
    await bench.write(str(file))
    await bench.press("enter")


async def told(bench: Driver) -> None:
    await bench.until(lambda _: any("Exported" in note.message for note in bench.app._notifications))


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "md"])
async def test_rows_are_exported_in_their_order_in_each_form(shared_store: Path, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"rows.{suffix}"
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "minus")
        await bench.until(lambda now: now.weights.k == 30 and now.results.ranked_at == now.query.generation)
        paths = [bench.session.results.hits[row].doc.path for row in range(30)]

        await exported(bench, file)
        await told(bench)

    text = file.read_text(encoding="utf-8")
    match suffix:
        case "csv":
            assert [row["doc.path"] for row in csv.DictReader(text.splitlines())] == paths
        case "jsonl":
            assert [json.loads(line)["doc"]["path"] for line in text.splitlines()] == paths
        case _:
            heads = [line for line in text.splitlines() if line[:1].isdecimal()]
            assert [line.split("`")[1].partition(":")[0] for line in heads] == paths
            assert "   > " in text


async def test_a_query_in_rql_is_exported_too(shared_store: Path, tmp_path: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask("SELECT doc.path FROM chunk USING lexical('budget') LIMIT 2")
        await bench.press("escape")

        await exported(bench, tmp_path / "rows.csv")
        await told(bench)

    assert (tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines()[0] == "doc.path"


async def test_the_context_is_exported_as_the_command_prints_it(shared_store: Path, tmp_path: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "5")
        assert bench.session.context.packed is not None
        text = printed(bench.session.context.packed)

        await exported(bench, tmp_path / "context")
        await told(bench)

    assert (tmp_path / "context").read_bytes() == text.encode()


@pytest.mark.parametrize(("pane", "name"), [("2", "rows.csv"), ("5", "context.txt")])
async def test_a_file_is_replaced_only_after_a_yes(shared_store: Path, tmp_path: Path, pane: str, name: str) -> None:
    file = tmp_path / name
    file.write_text("mine", encoding="utf-8")
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", pane)
        await exported(bench, file)
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
        await bench.press("n")
        assert file.read_text(encoding="utf-8") == "mine"
        await exported(bench, file)
        await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))

        await bench.press("y")
        await told(bench)

    assert file.read_text(encoding="utf-8") != "mine"


@pytest.mark.parametrize(("name", "wrong"), [("rows.doc", "ends in .csv"), ("no/where.csv", "cannot be written")])
async def test_a_name_that_will_not_do_is_asked_for_again(shared_store: Path, name: str, wrong: str) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape")

        await exported(bench, Path(name))

        await bench.until(lambda _: wrong in bench.painted("hint"))
