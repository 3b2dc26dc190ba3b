"""The budget, what it packs, what a person would have packed, and the bytes that come of it."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.events import MouseScrollDown, MouseScrollUp

from recall_core.config import Config
from recall_tui.panes.context import BudgetSlider, PackedList
from recall_tui.state import packing
from recall_tui.state.packing import Worth
from recall_tui.state.results import result_of
from recall_tui.state.session import Session
from recall_tui.widgets.picture import plain_text
from tests.workbench_driver import Driver, workbench

RQL = "SELECT * FROM chunk USING lexical('budget'), semantic('token') FILTER chunk.tokens > 5 LIMIT 6"
SCANNED = "SELECT * FROM chunk FILTER doc.path GLOB 'docs/**' ORDER BY doc.path DESC"


def packed_for(budget_tokens: int) -> Callable[[Session], object]:
    return lambda now: now.context.packed and now.context.packed.budget_tokens == budget_tokens


def worth_of(session: Session) -> Worth | None:
    """The worth of the context on the screen, once it is known."""
    analysis = packing.worth_analysis(session)
    result = None if analysis is None else result_of(session, analysis, Worth)
    return result if isinstance(result, Worth) else None


async def look_at_context(bench: Driver, text: str = "token budget", *, budget: str = "") -> None:
    """Ask, set the budget and go to the pane."""
    await bench.ask(text)
    await bench.press("escape", "5")
    if budget:
        await bench.press("b", *budget, "enter")
        await bench.until(packed_for(int(budget)))


def printed_by(command: str) -> bytes:
    typed = shlex.split(command)
    assert typed[0] == "recall"
    ran = subprocess.run([sys.executable, "-m", "recall_core", *typed[1:]], capture_output=True, check=True)
    return ran.stdout


def ids_inside(session: Session) -> set[str]:
    assert session.context.packed is not None
    return {chunk_id for block in session.context.packed.blocks for chunk_id in block.chunk_ids}


def chosen_id(session: Session) -> str:
    entry = packing.chosen_entry(session)
    assert entry is not None
    return entry.chunk_ids[0]


@pytest.mark.parametrize(
    ("keys", "budget"),
    [
        (["5", "plus"], 2100),
        (["5", "minus", "minus"], 1800),
        (["b", "3", "0", "0", "enter"], 300),
    ],
)
async def test_the_context_and_its_gauge_follow_the_budget(shared_store: Path, keys: list[str], budget: int) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()

        await bench.press("escape", *keys)
        await bench.until(lambda now: now.context.packed and now.context.packed.budget_tokens == budget)

        packed = bench.session.context.packed
        assert packed is not None
        assert packed.used_tokens <= budget
        shown = bench.painted("context")
        assert f"5 Context  {packed.used_tokens:,} of {budget:,} tokens" in shown
        assert f"▏ {len(packed.blocks)} block" in shown


async def test_blocks_stand_in_order_and_what_is_left_out_has_its_reason(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 60)) as bench:
        await bench.ask()
        await bench.press("escape", "b")
        await bench.type("40")
        await bench.press("enter")
        await bench.until(lambda now: now.context.packed and now.context.packed.budget_tokens == 40)

        shown = bench.painted("context")

        assert shown.index("1 budget.md:1") < shown.index("over budget")
        assert "more over budget" in " ".join(shown.split())


@pytest.mark.parametrize("typed", ["lots", "9" * 5_000], ids=["a word", "5,000 digits"])
async def test_a_budget_that_is_no_number_is_refused_in_words(shared_store: Path, typed: str) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "b")
        await bench.write(typed)

        await bench.press("enter")

        assert "whole number" in bench.painted("hint")
        await bench.press("escape")
        assert bench.session.context.budget_tokens == 2_000


@pytest.mark.parametrize(
    ("text", "budget"), [("token budget", "90"), (RQL, "2000"), (SCANNED, "20")], ids=["words", "rql", "scan"]
)
async def test_the_copy_the_digest_and_the_command_agree_byte_for_byte(
    shared_store: Path, text: str, budget: str
) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench, text, budget=budget)
        await bench.press("y")
        copied = bench.app.clipboard
        await bench.press("Y")

        printed = printed_by(bench.app.clipboard)

        assert printed == copied.encode()
        assert "sha256" not in bench.painted("context")
        await bench.press("D")
        lines = "\n".join(bench.app.bench.query_one(PackedList).lines)
        assert hashlib.sha256(printed).hexdigest() in re.sub(r"\n +", "", lines.partition("sha256")[2])


@pytest.mark.parametrize("text", [RQL, SCANNED], ids=["rql", "scan"])
async def test_the_command_carries_pins_and_what_is_forced_out(shared_store: Path, text: str) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench, text, budget="40")
        await bench.press("x")
        await bench.until(lambda now: now.context.packing and now.context.packing.drops)
        await bench.press("end", "p")
        await bench.until(lambda now: now.context.packing and now.context.packing.pins)
        await bench.press("y")
        copied = bench.app.clipboard
        await bench.press("Y")

        typed = shlex.split(bench.app.clipboard)

        assert ("--pin" in typed, "--drop" in typed) == (True, True)
        assert printed_by(bench.app.clipboard) == copied.encode()
        assert packing.digest(bench.session.context.packed) == hashlib.sha256(copied.encode()).hexdigest()  # type: ignore[arg-type]


async def test_the_command_carries_the_other_packing(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench, budget="60")
        before = bench.session.context.packed

        await bench.press("o")
        await bench.until(lambda now: now.context.packed_at == now.query.generation and now.context.packed != before)
        await bench.press("y")
        copied = bench.app.clipboard
        await bench.press("Y")

        assert "pack=optimal" in bench.app.clipboard
        assert printed_by(bench.app.clipboard) == copied.encode()


async def test_p_packs_for_value_and_back(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench, budget="60")
        by_rank = bench.session.context.packed
        await bench.until(lambda now: (worth := worth_of(now)) and worth.view["pack"] == "rank")

        await bench.press("o")
        await bench.until(lambda now: (worth := worth_of(now)) and worth.view["pack"] == "optimal")
        await bench.press("D")
        await bench.until(lambda _: "filled by value" in bench.painted("context"))
        await bench.press("o")
        await bench.until(lambda now: (worth := worth_of(now)) and worth.view["pack"] == "rank")

        assert bench.session.context.packed == by_rank


async def test_the_worth_is_what_the_command_says(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench, "token budget zebra", budget="60")
        await bench.press("x")
        await bench.until(lambda now: now.context.packing and now.context.packing.drops and worth_of(now))
        await bench.press("Y")
        typed = shlex.split(bench.app.clipboard)

        said = json.loads(printed_by(shlex.join(["recall", "--json", *typed[1:-1], "--explain", typed[-1]])))

        worth = worth_of(bench.session)
        assert worth is not None
        assert worth.view == said["context"]["account"]
        assert worth.model_tokens == said["context"]["estimated_model_tokens"]
        await bench.press("D")
        shown = bench.painted("context")
        assert f"quality {worth.view['efficiency']:.0%}" in shown
        assert re.search(r"query terms \d of \d", shown)


async def test_the_budget_starts_as_the_store_is_configured(own_store: Path) -> None:
    toml = own_store.parent / "recall.toml"
    lines = toml.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("budget_tokens")]
    toml.write_text("\n".join(["budget_tokens = 777", *kept]), encoding="utf-8")
    async with workbench(own_store) as bench:
        await bench.until(lambda now: now.store.info)

        assert bench.session.context.budget_tokens == 777


@pytest.mark.parametrize(
    ("keys", "budget"),
    [
        (["right"], 2100),
        (["left"], 1905),
        (["right", "left"], 2000),
        (["shift+right"], 2020),
        (["shift+left"], 1980),
    ],
)
async def test_keys_move_the_slider_in_percent(shared_store: Path, keys: list[str], budget: int) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench)

        await bench.press("D", *keys)
        await bench.until(packed_for(budget))

        assert f"{budget:,} tok" in bench.painted("budget")


async def test_a_click_a_drag_and_the_wheel_move_the_slider(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench)
        await bench.press("D")
        slider = bench.app.bench.query_one(BudgetSlider)
        first, last = slider.track

        await bench.pilot.click(BudgetSlider, offset=(first, 0))
        await bench.until(packed_for(packing.LEAST_TOKENS))
        await bench.pilot.mouse_down(BudgetSlider, offset=(first, 0))
        for cell in range(first, last + 1, 4):
            await bench.pilot.hover(BudgetSlider, offset=(cell, 0))
        await bench.pilot.hover(BudgetSlider, offset=(last, 0))
        await bench.pilot.mouse_up(BudgetSlider, offset=(last, 0))
        await bench.until(packed_for(packing.MOST_TOKENS))
        slider.post_message(MouseScrollDown(slider, 5, 0, 0, 0, 0, shift=False, meta=False, ctrl=False))
        await bench.until(packed_for(95_238))
        slider.post_message(MouseScrollUp(slider, 5, 0, 0, 0, 0, shift=False, meta=False, ctrl=False))

        await bench.until(packed_for(100_000))
        assert bench.session.pane == "context"


async def test_the_pane_is_never_empty_while_the_slider_is_dragged(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench)
        await bench.press("D")
        await bench.until(worth_of)
        slider, blocks = bench.app.bench.query_one(BudgetSlider), bench.app.bench.query_one(PackedList)
        first, last = slider.track
        seen = []

        await bench.pilot.mouse_down(BudgetSlider, offset=(first, 0))
        for cell in [*range(first, last, 2), *range(last, first, -3)]:
            await bench.pilot.hover(BudgetSlider, offset=(cell, 0))
            seen.append((any("budget.md" in line for line in blocks.lines), bench.painted("sums")))
        await bench.pilot.mouse_up(BudgetSlider, offset=(first, 0))

        assert all(has_blocks for has_blocks, _ in seen)
        assert all(" packed ·" in sums and "quality" in sums for _, sums in seen)


async def test_j_and_k_choose_blocks_here_and_rows_elsewhere(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench)
        second = packing.entries(bench.session)[1].chunk_ids[0]

        await bench.press("j", "down", "k")
        await bench.until(lambda now: packing.cursor(now) == 1)

        assert (chosen_id(bench.session), bench.session.results.selected) == (second, 0)
        assert re.search(r"▶ *2 ", bench.painted("packed"))
        await bench.press("2", "j")
        assert (packing.cursor(bench.session), bench.session.results.selected) == (1, 1)


async def test_g_and_its_capital_go_to_the_ends_and_pages_scroll(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench)
        blocks = bench.app.bench.query_one(PackedList)

        await bench.press("end")
        await bench.until(lambda now: packing.cursor(now) == len(packing.entries(now)) - 1)
        at_end = blocks.scroll_offset.y
        await bench.press("home")
        await bench.until(lambda _: blocks.scroll_offset.y == 0)
        await bench.press("pagedown")
        await bench.until(lambda _: blocks.scroll_offset.y > 0)

        assert at_end > 0
        assert packing.cursor(bench.session) == 0
        await bench.press("pageup")
        await bench.until(lambda _: blocks.scroll_offset.y == 0)


async def test_a_click_chooses_a_line(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench)
        lines = bench.app.bench.query_one(PackedList).lines
        row = next(number for number, line in enumerate(lines) if " 2 " in line)

        await bench.pilot.click(PackedList, offset=(5, row + 1))
        await bench.until(lambda now: packing.cursor(now) == 1)

        assert bench.session.pane == "context"


async def test_enter_opens_the_block_and_selects_its_row(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench)
        assert "Chunks are packed by score" not in bench.painted("packed")

        await bench.press("j", "j", "enter", "k", "k", "enter")
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


async def test_the_zoom_shows_every_block_whole(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench)

        await bench.press("z")
        await bench.until(lambda now: now.zoomed)

        packed = bench.session.context.packed
        assert packed is not None
        lines = {line.strip() for line in bench.app.bench.query_one(PackedList).lines}
        whole = [line.strip() for block in packed.blocks for line in block.text.splitlines()]
        assert [line for line in whole if line and len(line) < 100 and line not in lines] == []


async def test_the_chosen_block_stays_in_sight_when_the_pane_gets_another_width(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench, budget="9000")
        await bench.press(*["j"] * 15)
        await bench.until(lambda now: packing.cursor(now) == 15)
        block = bench.session.context.packed.blocks[packing.entries(bench.session)[15].place]  # type: ignore[union-attr]
        head = rf"▶ *{block.number} \S*{re.escape(block.doc.path.rpartition('/')[2])}:"
        blocks = bench.app.bench.query_one(PackedList)
        await bench.until(lambda _: re.search(head, bench.painted("packed")))

        for is_zoomed in (True, False):
            width = blocks.size.width
            await bench.press("z")
            await bench.until(lambda now, on=is_zoomed, was=width: now.zoomed is on and blocks.size.width != was)

            await bench.until(lambda _: re.search(head, bench.painted("packed")))


async def test_o_brings_in_a_chunk_that_was_left_out_and_lets_it_go_again(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench, budget="40")
        before = bench.session.context.packed
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


async def test_x_takes_a_chunk_out_in_words_and_lets_it_back_in(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 60)) as bench:
        await look_at_context(bench, budget="40")
        before, unwanted = bench.session.context.packed, chosen_id(bench.session)

        await bench.press("x")
        await bench.until(lambda now: now.context.packing and now.context.packing.drops == (unwanted,))

        assert unwanted not in ids_inside(bench.session)
        assert "1 excluded" in bench.painted("context").splitlines()[-1]
        assert re.search(r"▶× \S*budget.md\S*.* excluded", bench.painted("packed"))
        await bench.press("x")
        await bench.until(lambda now: now.context.packing and not now.context.packing.drops)
        assert bench.session.context.packed == before


async def test_a_row_of_the_results_is_pinned_and_excluded_from_there_and_that_is_said(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench, budget="40")
        await bench.press("2", "home", "j", "j", "p")
        third = bench.session.results.hits[2].chunk.id  # type: ignore[union-attr]
        await bench.until(lambda now: now.context.packing and now.context.packing.pins == (third,))
        assert any("Pinned to the context" in note.message for note in bench.app._notifications)

        await bench.press("x")
        await bench.until(lambda now: now.context.packing and now.context.packing.drops == (third,))

        assert bench.session.context.pins == ()
        assert any("Excluded from the context" in note.message for note in bench.app._notifications)


async def test_w_on_a_block_shows_where_its_score_comes_from(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench, budget="300")
        await bench.press("j", "w")

        await bench.until(lambda now: now.pane == "explain" and now.view == "ledger")

        assert bench.session.results.selected == 1


async def test_r_drops_every_what_if(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench, budget="60")
        before = bench.session.context.packed
        await bench.press("x", "end", "p")
        await bench.until(lambda now: now.context.packing and now.context.packing.drops and now.context.packing.pins)

        await bench.press("r")
        await bench.until(
            lambda now: now.context.packing and not now.context.packing.drops and not now.context.packing.pins
        )

        assert bench.session.context.packed == before
        assert "b budget" in bench.painted("context").splitlines()[-1]


async def test_a_pin_waits_where_the_question_does_not_have_it_and_holds_again_where_it_does(
    shared_store: Path,
) -> None:
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
        await bench.press("y")
        copied = bench.app.clipboard
        await bench.press("Y")
        assert printed_by(bench.app.clipboard) == copied.encode()
        await bench.ask("token")
        await bench.until(
            lambda now: now.context.packing and now.context.packing.pins == (pinned,) and not now.context.waiting
        )


async def test_a_pin_whose_document_is_gone_waits_and_the_answer_stands(own_store: Path) -> None:
    async with workbench(own_store) as bench:
        await look_at_context(bench)
        await bench.press("p")
        await bench.until(lambda now: now.context.packing and now.context.packing.pins)
        (own_store.parent / "docs" / "budget.md").unlink()
        subprocess.run(
            [sys.executable, "-m", "recall_core", "--store", str(own_store), "sync"], capture_output=True, check=True
        )

        await bench.press("f5")
        await bench.until(lambda now: now.context.waiting)

        assert bench.session.query.trouble is None
        assert bench.session.context.packed is not None
        assert "pinned, not in the store" in "\n".join(bench.app.bench.query_one(PackedList).lines)
        await bench.press("end", "p")
        await bench.until(lambda now: not now.context.pins and not now.context.waiting)


async def test_the_pins_stay_while_a_weight_moves(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench, budget="40")
        await bench.press("end", "p")
        await bench.until(lambda now: now.context.packing and now.context.packing.pins)
        pinned = chosen_id(bench.session)

        await bench.press("4", "right", "right")
        await bench.until(lambda now: now.query.generation > 2 and now.context.packed_at == now.query.generation)

        assert pinned in ids_inside(bench.session)
        assert bench.session.results.answer is not None
        assert bench.session.results.answer.plan.config != Config()


async def test_a_question_that_cannot_be_answered_leaves_the_figures_of_the_one_before(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench, budget="60")
        await bench.press("D")
        await bench.until(worth_of)
        figures = bench.painted("sums")

        bench.app.bench.editor.text = "SELECT nonsense"
        await bench.until(lambda now: now.query.trouble)

        assert "quality" in figures
        assert bench.painted("sums") == figures


async def test_d_shows_the_details_and_hides_them_again(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await look_at_context(bench)
        await bench.until(worth_of)
        before = bench.painted("context")
        assert ("quality" in before, bench.app.bench.query_one(BudgetSlider).display) == (False, False)

        await bench.press("D")
        await bench.until(lambda _: bench.app.bench.query_one(BudgetSlider).display)
        assert "quality" in bench.painted("sums")
        await bench.press("D")
        await bench.until(lambda _: not bench.app.bench.query_one(BudgetSlider).display)

        assert bench.painted("context") == before


async def test_a_narrow_screen_has_one_gauge(shared_store: Path) -> None:
    async with workbench(shared_store, size=(80, 24)) as bench:
        await look_at_context(bench)
        await bench.until(lambda now: now.tab == "context")

        assert plain_text(bench.app).count("▕") == 1
