"""The budget, the packed context, pins and exclusions, and the exact bytes."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.events import MouseScrollDown, MouseScrollUp

from recall_core.adapters import cli
from recall_core.adapters.streams import Streams
from recall_core.config import Config
from recall_tui.handlers.shell import plain_text
from recall_tui.panes.context import BudgetSlider, PackedList
from recall_tui.state import packing
from recall_tui.state.packing import Worth
from recall_tui.state.session import Session, move_cursor, result_of, set_budget
from tests.workbench_driver import Driver, workbench

RQL = "SELECT * FROM chunk USING lexical('budget'), semantic('token') FILTER chunk.tokens > 5 LIMIT 6"
SCANNED = "SELECT * FROM chunk FILTER doc.path GLOB 'docs/**' ORDER BY doc.path DESC"
SMALL = (80, 24)
"""A terminal with the least to draw: one pane below the results."""
STEP = 2 if os.environ.get("RECALL_HYPOTHESIS") == "nightly" else 10
"""Cells between two places of the mouse while it drags."""


def packed_for(budget_tokens: int) -> Callable[[Session], object]:
    return lambda now: now.context.packed and now.context.packed.budget_tokens == budget_tokens


def worth_of(session: Session) -> Worth | None:
    """Return the worth of the context on the screen, if known."""
    analysis = packing.worth_analysis(session)
    result = None if analysis is None else result_of(session, analysis, Worth)
    return result if isinstance(result, Worth) else None


async def look_at_context(bench: Driver, text: str = "token budget", *, budget: str = "") -> None:
    """Ask, set the budget and go to the pane."""
    await bench.ask(text)
    await bench.press("escape", "5")
    if budget:
        bench.app.become(set_budget(bench.session, int(budget)))
        await bench.until(packed_for(int(budget)))


def printed_by(command: str) -> bytes:
    """Return the output of a command line."""
    typed = shlex.split(command)
    assert typed[0] == "recall"
    streams = Streams(io.StringIO(), out := io.StringIO(), err := io.StringIO())
    assert cli.main(typed[1:], streams=streams) == 0, err.getvalue()
    return out.getvalue().encode()


async def copied(bench: Driver) -> bytes:
    """Copy the context, then its command, and return the context."""
    await bench.press("y")
    text = bench.app.clipboard.encode()
    await bench.press("Y")
    return text


def ids_inside(session: Session) -> set[str]:
    assert session.context.packed is not None
    return {chunk_id for block in session.context.packed.blocks for chunk_id in block.chunk_ids}


def chosen_id(session: Session) -> str:
    entry = packing.chosen_entry(session)
    assert entry is not None
    return entry.chunk_ids[0]


async def test_the_context_follows_the_budget(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape")
        for keys, budget in (
            (["5", "plus"], 2100),
            (["minus", "minus", "minus"], 1800),
            (["b", "3", "0", "0", "enter"], 300),
        ):
            await bench.press(*keys)
            await bench.until(packed_for(budget))
            packed = bench.session.context.packed
            assert packed is not None
            assert packed.used_tokens <= budget
            shown = bench.painted("context")
            assert f"5 Context  {packed.used_tokens:,} of {budget:,} tokens" in shown
            assert f" {len(packed.blocks)} block" in shown

        for typed in ("lots", "9" * 5_000):
            await bench.press("b")
            await bench.write(typed)
            await bench.press("enter")
            assert "whole number" in bench.painted("hint"), typed
            await bench.press("escape")
            assert bench.session.context.budget_tokens == 300, typed

        await bench.press("D")
        for start, key, budget in (
            (2000, "right", 2100),
            (2100, "left", 2000),
            (2000, "left", 1905),
            (2000, "shift+right", 2020),
            (2000, "shift+left", 1980),
        ):
            bench.app.become(set_budget(bench.session, start))
            await bench.press(key)
            await bench.until(packed_for(budget))
            assert f"{budget:,} tok" in bench.painted("budget"), key

        bench.app.become(set_budget(bench.session, 60))
        await bench.until(lambda now: packed_for(60)(now) and worth_of(now))
        figures = bench.painted("sums")
        bench.app.bench.editor.text = "SELECT nonsense"
        await bench.until(lambda now: now.query.trouble)
        assert "quality" in figures
        assert bench.painted("sums") == figures, "a faulty query leaves the figures"


async def test_the_mouse_moves_the_slider_and_never_empties_the_pane(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench)
        await bench.press("D")
        await bench.until(worth_of)
        slider, blocks = bench.app.bench.query_one(BudgetSlider), bench.app.bench.query_one(PackedList)
        first, last = slider.track

        await bench.pilot.click(BudgetSlider, offset=(first, 0))
        await bench.until(packed_for(packing.LEAST_TOKENS))
        seen = []
        await bench.pilot.mouse_down(BudgetSlider, offset=(first, 0))
        for cell in [*range(first, last, STEP), *range(last, first, -STEP), last]:
            await bench.pilot.hover(BudgetSlider, offset=(cell, 0))
            seen.append((any("budget.md" in line for line in blocks.lines), bench.painted("sums")))
        await bench.pilot.mouse_up(BudgetSlider, offset=(last, 0))
        assert all(has_blocks for has_blocks, _ in seen)
        assert all(" packed ·" in sums and "quality" in sums for _, sums in seen)
        await bench.until(packed_for(packing.MOST_TOKENS))

        slider.post_message(MouseScrollDown(slider, 5, 0, 0, 0, 0, shift=False, meta=False, ctrl=False))
        await bench.until(packed_for(95_238))
        slider.post_message(MouseScrollUp(slider, 5, 0, 0, 0, 0, shift=False, meta=False, ctrl=False))
        await bench.until(packed_for(100_000))
        assert bench.session.pane == "context"


async def test_the_copy_the_digest_and_the_command_agree(shared_store: Path) -> None:
    async with workbench(shared_store, size=SMALL) as bench:
        for text, budget in (("token budget", "90"), (RQL, "2000"), (SCANNED, "20")):
            await look_at_context(bench, text, budget=budget)
            context = await copied(bench)
            printed = printed_by(bench.app.clipboard)
            assert printed == context, text
            assert "sha256" not in bench.painted("context")
            await bench.press("D")
            lines = "\n".join(bench.app.bench.query_one(PackedList).lines)
            assert hashlib.sha256(printed).hexdigest() in re.sub(r"\n +", "", lines.partition("sha256")[2]), text
            await bench.press("D")

        for text in (RQL, SCANNED):
            await look_at_context(bench, text, budget="40")
            await bench.press("home", "x")
            await bench.until(lambda now: now.context.packing and now.context.packing.drops)
            await bench.press("end", "p")
            await bench.until(lambda now: now.context.packing and now.context.packing.pins)
            context = await copied(bench)
            typed = shlex.split(bench.app.clipboard)
            assert ("--pin" in typed, "--drop" in typed) == (True, True), text
            assert printed_by(bench.app.clipboard) == context, text
            assert packing.digest(bench.session.context.packed) == hashlib.sha256(context).hexdigest()  # type: ignore[arg-type]
            await bench.press("r")
            await bench.until(lambda now: now.context.packing and not now.context.packing.drops)


async def test_o_packs_for_value_and_back(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench, budget="60")
        by_rank = bench.session.context.packed
        await bench.until(lambda now: (worth := worth_of(now)) and worth.view["pack"] == "rank")

        await bench.press("o")
        await bench.until(lambda now: (worth := worth_of(now)) and worth.view["pack"] == "optimal")
        assert bench.session.context.packed != by_rank
        context = await copied(bench)
        assert "pack=optimal" in bench.app.clipboard
        assert printed_by(bench.app.clipboard) == context
        await bench.press("D")
        await bench.until(lambda _: "filled by value" in bench.painted("context"))
        await bench.press("o")
        await bench.until(lambda now: (worth := worth_of(now)) and worth.view["pack"] == "rank")
        assert bench.session.context.packed == by_rank

        await look_at_context(bench, "token budget zebra", budget="60")
        await bench.press("x")
        await bench.until(lambda now: now.context.packing and now.context.packing.drops and worth_of(now))
        await bench.press("Y")
        typed = shlex.split(bench.app.clipboard)
        printed = json.loads(printed_by(shlex.join(["recall", "--json", *typed[1:-1], "--explain", typed[-1]])))
        worth = worth_of(bench.session)
        assert worth is not None
        assert worth.view == printed["context"]["account"]
        assert worth.model_tokens == printed["context"]["estimated_model_tokens"]
        shown = bench.painted("context")
        assert f"quality {worth.view['efficiency']:.0%}" in shown
        assert re.search(r"query terms \d of \d", shown)


async def test_keys_and_clicks_select_blocks(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench)
        await bench.until(worth_of)
        blocks = bench.app.bench.query_one(PackedList)
        before = bench.painted("context")
        assert ("quality" in before, bench.app.bench.query_one(BudgetSlider).display) == (False, False)
        await bench.press("D")
        await bench.until(lambda _: bench.app.bench.query_one(BudgetSlider).display)
        assert "quality" in bench.painted("sums")
        await bench.press("D")
        await bench.until(lambda _: not bench.app.bench.query_one(BudgetSlider).display)
        assert bench.painted("context") == before

        second = packing.entries(bench.session)[1].chunk_ids[0]
        await bench.press("j", "down", "k")
        await bench.until(lambda now: packing.cursor(now) == 1)
        assert (chosen_id(bench.session), bench.session.results.selected) == (second, 0)
        assert re.search(r"▶ *2 ", bench.painted("packed"))
        await bench.press("2", "j")
        assert (packing.cursor(bench.session), bench.session.results.selected) == (1, 1)

        await bench.press("5", "end")
        await bench.until(lambda now: packing.cursor(now) == len(packing.entries(now)) - 1)
        assert blocks.scroll_offset.y > 0
        await bench.press("home")
        await bench.until(lambda _: blocks.scroll_offset.y == 0)
        await bench.press("pagedown")
        await bench.until(lambda _: blocks.scroll_offset.y > 0)
        assert packing.cursor(bench.session) == 0
        await bench.press("pageup")
        await bench.until(lambda _: blocks.scroll_offset.y == 0)

        await bench.press("2")
        row = next(number for number, line in enumerate(blocks.lines) if " 2 " in line)
        await bench.pilot.click(PackedList, offset=(5, row + 1))
        await bench.until(lambda now: packing.cursor(now) == 1)
        assert bench.session.pane == "context"

        assert "Chunks are packed by score" not in bench.painted("packed")
        await bench.press("home", "enter")
        await bench.until(lambda now: now.results.selected == 0 and now.context.unfolded)
        assert "Chunks are packed by score" in " ".join(bench.painted("packed").split())
        await bench.press("j", "j", "enter")
        await bench.until(lambda now: now.results.selected == 2)
        hit = bench.session.results.hit
        assert hit is not None
        assert hit.chunk is not None
        assert hit.chunk.id == chosen_id(bench.session)
        await bench.press("enter")
        await bench.until(lambda now: not now.context.unfolded)

        await bench.press("home", "j", "w")
        await bench.until(lambda now: now.pane == "explain" and now.view == "ledger")
        assert bench.session.results.selected == 1


async def test_the_zoom_shows_full_blocks_and_keeps_the_choice_visible(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench)
        blocks = bench.app.bench.query_one(PackedList)
        await bench.press("z")
        await bench.until(lambda now: now.zoomed)
        packed = bench.session.context.packed
        assert packed is not None
        lines = {line.strip() for line in blocks.lines}
        whole = [line.strip() for block in packed.blocks for line in block.text.splitlines()]
        assert [line for line in whole if line and len(line) < 100 and line not in lines] == []

        await bench.press("z")
        bench.app.become(move_cursor(set_budget(bench.session, 9_000), packing.LIST, 15, 37))
        await bench.until(lambda now: packed_for(9_000)(now) and packing.cursor(now) == 15)
        block = bench.session.context.packed.blocks[packing.entries(bench.session)[15].place]  # type: ignore[union-attr]
        head = rf"▶ *{block.number} \S*{re.escape(block.doc.path.rpartition('/')[2])}:"
        await bench.until(lambda _: re.search(head, bench.painted("packed")))
        for is_zoomed in (True, False):
            width = blocks.size.width
            await bench.press("z")
            await bench.until(lambda now, on=is_zoomed, was=width: now.zoomed is on and blocks.size.width != was)  # type: ignore[misc]

            await bench.until(lambda _: re.search(head, bench.painted("packed")))


async def test_chunks_are_pinned_excluded_and_released(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 60)) as bench:
        await look_at_context(bench, budget="40")
        shown = bench.painted("context")
        assert shown.index("1 budget.md:1") < shown.index("over budget")
        assert "more over budget" in " ".join(shown.split())

        before, unwanted = bench.session.context.packed, chosen_id(bench.session)
        await bench.press("x")
        await bench.until(lambda now: now.context.packing and now.context.packing.drops == (unwanted,))
        assert unwanted not in ids_inside(bench.session)
        assert "1 excluded" in bench.painted("context").splitlines()[-1]
        assert re.search(r"▶× \S*budget.md\S*.* excluded", bench.painted("packed"))
        await bench.press("x")
        await bench.until(lambda now: now.context.packing and not now.context.packing.drops)
        assert bench.session.context.packed == before

        await bench.press("end")
        wanted = chosen_id(bench.session)
        assert wanted not in ids_inside(bench.session)
        await bench.press("p")
        await bench.until(lambda now: now.context.packing and now.context.packing.pins == (wanted,))
        assert wanted in ids_inside(bench.session)
        assert chosen_id(bench.session) == wanted
        assert "1 pinned" in bench.painted("context").splitlines()[-1]
        assert re.search(r"▶.* pinned", bench.painted("packed"))
        await bench.press("p")
        await bench.until(lambda now: now.context.packing and not now.context.packing.pins)
        assert bench.session.context.packed == before

        await bench.press("home", "x", "end", "p")
        await bench.until(lambda now: now.context.packing and now.context.packing.drops and now.context.packing.pins)
        await bench.press("r")
        await bench.until(
            lambda now: now.context.packing and not now.context.packing.drops and not now.context.packing.pins
        )
        assert bench.session.context.packed == before
        assert "b budget" in bench.painted("context").splitlines()[-1]

        await bench.press("2", "home", "j", "j", "p")
        third = bench.session.results.hits[2].chunk.id  # type: ignore[union-attr]
        await bench.until(lambda now: now.context.packing and now.context.packing.pins == (third,))
        assert any("Pinned to the context" in note.message for note in bench.app._notifications)
        await bench.press("x")
        await bench.until(lambda now: now.context.packing and now.context.packing.drops == (third,))
        assert bench.session.context.pins == ()
        assert any("Excluded from the context" in note.message for note in bench.app._notifications)


@pytest.mark.slow
async def test_a_pin_waits_for_its_chunk_and_survives_a_weight(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 60)) as bench:
        await look_at_context(bench)
        await bench.press("p")
        await bench.until(lambda now: now.context.packing and now.context.packing.pins)
        pinned = chosen_id(bench.session)
        await bench.ask("SELECT * FROM chunk FILTER doc.path GLOB 'notes/*'")
        await bench.until(lambda now: now.context.waiting)
        assert "1 waiting" in bench.painted("context").splitlines()[-1]
        assert re.search(r"\? docs/budget.md +pinned, not in this answer", bench.painted("packed"))
        await bench.press("5", "Y")
        assert "--pin" not in bench.app.clipboard
        context = await copied(bench)
        assert printed_by(bench.app.clipboard) == context
        await bench.ask("token")
        await bench.until(
            lambda now: now.context.packing and now.context.packing.pins == (pinned,) and not now.context.waiting
        )

        await look_at_context(bench, budget="40")
        await bench.press("r")
        await bench.until(lambda now: now.context.packing and not now.context.packing.pins)
        before = bench.session.query.generation
        await bench.press("end", "p")
        await bench.until(lambda now: now.context.packing and now.context.packing.pins)
        last = chosen_id(bench.session)
        await bench.press("4", "right", "right")
        await bench.until(
            lambda now: now.query.generation > before + 1 and now.context.packed_at == now.query.generation
        )
        assert last in ids_inside(bench.session)
        assert bench.session.results.answer is not None
        assert bench.session.results.answer.plan.config != Config()


async def test_the_context_uses_the_saved_budget_and_a_lost_pin(own_store: Path) -> None:
    toml = own_store.parent / "recall.toml"
    lines = toml.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("budget_tokens")]
    toml.write_text("\n".join(["budget_tokens = 777", *kept]), encoding="utf-8")
    async with workbench(own_store, size=SMALL) as bench:
        await bench.until(lambda now: now.store.info)
        assert bench.session.context.budget_tokens == 777

        await look_at_context(bench)
        await bench.press("p")
        await bench.until(lambda now: now.context.packing and now.context.packing.pins)
        (own_store.parent / "docs" / "budget.md").unlink()
        printed_by(f"recall --store {own_store} sync")
        await bench.press("f5")
        await bench.until(lambda now: now.context.waiting)
        assert bench.session.query.trouble is None
        assert bench.session.context.packed is not None
        assert "pinned, not in the store" in "\n".join(bench.app.bench.query_one(PackedList).lines)
        await bench.press("end", "p")
        await bench.until(lambda now: not now.context.pins and not now.context.waiting)


async def test_a_narrow_screen_has_one_gauge(shared_store: Path) -> None:
    async with workbench(shared_store, size=SMALL) as bench:
        await look_at_context(bench)
        await bench.until(lambda now: now.tab == "context")

        assert plain_text(bench.app).count("▕") == 1
