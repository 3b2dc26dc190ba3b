"""Exports of rows and context: equal to their commands, and no file is replaced without a question."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from recall_tui.screens.dialog import ConfirmScreen, PromptScreen
from recall_tui.state.packing import print_context
from tests.workbench_driver import Driver, workbench


async def exported(bench: Driver, file: Path) -> None:
    """Press E and name the file."""
    await bench.press("E")
    await bench.until(lambda _: isinstance(bench.app.screen, PromptScreen))
    await bench.write(str(file))
    await bench.press("enter")


async def reported(bench: Driver) -> None:
    await bench.until(lambda _: any("Exported" in note.message for note in bench.app._notifications))
    bench.app.clear_notifications()


async def replaced(bench: Driver, file: Path) -> None:
    """Export to an existing file: a no keeps it, a yes replaces it."""
    file.write_text("mine", encoding="utf-8")
    await exported(bench, file)
    await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))
    await bench.press("n")
    assert file.read_text(encoding="utf-8") == "mine"
    await exported(bench, file)
    await bench.until(lambda _: isinstance(bench.app.screen, ConfirmScreen))

    await bench.press("y")
    await reported(bench)

    assert file.read_text(encoding="utf-8") != "mine"


async def test_exports_equal_the_output_of_their_commands(shared_store: Path, tmp_path: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "minus")
        await bench.until(lambda now: now.weights.k == 30 and now.results.ranked_at == now.query.generation)
        paths = [bench.session.results.hits[row].doc.path for row in range(30)]
        written = {}
        for suffix in ("csv", "jsonl", "md"):
            await exported(bench, tmp_path / f"rows.{suffix}")
            await reported(bench)
            written[suffix] = (tmp_path / f"rows.{suffix}").read_text(encoding="utf-8").splitlines()
        await replaced(bench, tmp_path / "rows.csv")

        for name, wrong in (("rows.doc", "must end in"), ("no/where.csv", "cannot be written")):
            await exported(bench, Path(name))
            await bench.until(lambda _, wrong=wrong: wrong in bench.painted("hint"))
            await bench.press("escape")

        await bench.press("5")
        await bench.until(lambda now: now.context.packed_at == now.query.generation)
        assert bench.session.context.packed is not None
        context = print_context(bench.session.context.packed)
        await exported(bench, tmp_path / "context")
        await reported(bench)
        await replaced(bench, tmp_path / "context.txt")

        await bench.press("1")
        await bench.ask("SELECT doc.path FROM chunk USING lexical('budget') LIMIT 2")
        await bench.press("escape")
        await exported(bench, tmp_path / "query.csv")
        await reported(bench)

    assert [row["doc.path"] for row in csv.DictReader(written["csv"])] == paths
    assert [json.loads(line)["doc"]["path"] for line in written["jsonl"]] == paths
    heads = [line for line in written["md"] if line[:1].isdecimal()]
    assert [line.split("`")[1].partition(":")[0] for line in heads] == paths
    assert any("   > " in line for line in written["md"])
    assert (tmp_path / "context").read_bytes() == context.encode()
    assert (tmp_path / "query.csv").read_text(encoding="utf-8").splitlines()[0] == "doc.path"
