"""The budget and what it packs."""

from pathlib import Path

import pytest

from tests.workbench_driver import workbench


@pytest.mark.parametrize(
    ("keys", "budget"),
    [
        (["right_square_bracket"], 2100),
        (["plus"], 2100),
        (["left_square_bracket"], 1900),
        (["minus", "minus"], 1800),
        (["left_curly_bracket"], 1000),
        (["right_curly_bracket"], 4000),
        (["b", "3", "0", "0", "enter"], 300),
    ],
)
async def test_the_context_and_its_gauge_follow_the_budget(shared_store: Path, keys: list[str], budget: int) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()

        await bench.press("escape", *keys)
        await bench.until(lambda now: now.packed and now.packed.budget_tokens == budget)

        packed = bench.session.packed
        assert packed is not None
        assert packed.used_tokens <= budget
        assert f"{packed.used_tokens:,}/{budget:,} tok" in bench.painted("context")
        assert f"{packed.used_tokens / budget:.0%}" in bench.painted("context")


async def test_blocks_stand_in_order_and_what_is_left_out_has_its_reason(shared_store: Path) -> None:
    async with workbench(shared_store, size=(120, 60)) as bench:
        await bench.ask()
        await bench.press("escape", "b")
        await bench.type("40")
        await bench.press("enter")
        await bench.until(lambda now: now.packed and now.packed.budget_tokens == 40)

        shown = bench.painted("context")

        assert shown.index("1 docs/budget.md:1-7") < shown.index("over budget")
        assert "more over budget" in " ".join(shown.split())


async def test_a_budget_that_is_no_number_is_refused_in_words(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()
        await bench.press("escape", "b")
        await bench.type("lots")

        await bench.press("enter")

        assert "whole number" in bench.painted("hint")
        await bench.press("escape")
        assert bench.session.budget_tokens == 2_000


async def test_y_copies_the_context_byte_for_byte(shared_store: Path) -> None:
    async with workbench(shared_store) as bench:
        await bench.ask()

        await bench.press("escape", "y")

        assert bench.session.packed is not None
        assert bench.app.clipboard == bench.session.packed.text


async def test_the_budget_starts_as_the_store_is_configured(own_store: Path) -> None:
    toml = own_store.parent / "recall.toml"
    lines = toml.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("budget_tokens")]
    toml.write_text("\n".join(["budget_tokens = 777", *kept]), encoding="utf-8")
    async with workbench(own_store) as bench:
        await bench.until(lambda now: now.info)

        assert bench.session.budget_tokens == 777
