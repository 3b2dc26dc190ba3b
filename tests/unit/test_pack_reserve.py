"""A reserved part of the budget for injected rows: which rows are cut, complete or omitted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

import pytest

from recall_core.config import Config
from recall_core.pack.policy import pack
from recall_core.pack.reserve import share
from recall_core.text import Counter, counter
from recall_core.types import Chunk, Document, Hit, Injection, Packed

WORDS = counter("whitespace")
PLAIN = Config(header="", min_fragment=2, sparse_share=0.25)
NUMBERED = Counter("characters", len)


def hit(rank: int, words: int, *, path: str = "", offset: int = 0) -> Hit:
    text = " ".join(f"w{rank}x{n}" for n in range(words))
    name = path or f"{rank}.txt"
    chunk = Chunk(f"{name}@{offset}", name, offset, offset + len(text), 1, 1, words, None, text)
    document = Document(name, name, "h", "2026-01-01T00:00:00.000000Z", 1, "t", None, (), {})
    return Hit(rank, 1 / rank, document, chunk, ())


def brought_in(hit: Hit) -> Hit:
    return hit._replace(injection=Injection(0.1, None))


def pack_hits(
    hits: Sequence[Hit], budget_tokens: int, config: Config = PLAIN, *, counting: Counter = WORDS
) -> Packed:
    own = tuple(each for each in hits if each.injection is not None)
    return pack(
        iter(hits), total=len(hits), budget_tokens=budget_tokens, counter=counting, config=config, injected=own
    )


def block_facts(context: Packed) -> list[tuple[int, int, bool]]:
    """Return rank, words and whether it was cut, for each block."""
    return [(block.ranks[0], len(block.text.split()), block.truncated) for block in context.blocks]


ROWS = [hit(1, 10), hit(2, 10), hit(3, 10)]


def test_ranked_rows_are_cut_after_a_complete_injected_row() -> None:
    context = pack_hits([*ROWS, brought_in(hit(4, 6))], 33)  # 8 tokens are reserved
    assert block_facts(context) == [(1, 10, False), (2, 10, False), (4, 6, False), (3, 5, True)]
    assert (context.used_tokens, context.reserved_tokens, context.reserved_used_tokens) == (31, 8, 6)


def test_cut_injected_row_comes_last_after_complete_ranked_rows() -> None:
    context = pack_hits([*ROWS, brought_in(hit(4, 20))], 33)
    assert block_facts(context) == [(1, 10, False), (2, 10, False), (4, 8, True)]
    assert [(left.reason, left.rank, left.chunks) for left in context.omitted] == [("budget", 3, 1)]


def test_first_ranked_row_is_cut_before_an_unfitting_injected_row() -> None:
    context = pack_hits([*ROWS, brought_in(hit(4, 20))], 12)
    assert block_facts(context) == [(1, 9, True)]
    assert [(left.reason, left.rank, left.chunks) for left in context.omitted] == [("budget", 4, 1), ("budget", 2, 2)]


def test_first_ranked_row_is_cut_after_a_complete_injected_row() -> None:
    assert block_facts(pack_hits([*ROWS, brought_in(hit(4, 3))], 12)) == [(4, 3, False), (1, 9, True)]


def test_unused_reserve_goes_to_ranked_rows() -> None:
    context = pack_hits([hit(1, 10), hit(2, 10), brought_in(hit(3, 2))], 24)
    assert block_facts(context) == [(1, 10, False), (3, 2, False), (2, 8, True)]


def test_lone_injected_row_gets_only_its_reserve() -> None:
    assert block_facts(pack_hits([brought_in(hit(1, 20))], 40)) == [(1, 10, True)]


def test_several_injected_rows_share_the_reserve_in_order() -> None:
    own = [brought_in(hit(4, 6)), brought_in(hit(5, 6)), brought_in(hit(6, 1))]
    context = pack_hits([*ROWS, *own], 40)  # 10 tokens are reserved
    assert block_facts(context) == [(1, 10, False), (2, 10, False), (3, 10, False), (4, 6, False), (5, 4, True)]
    assert [(left.reason, left.rank) for left in context.omitted] == [("budget", 6)]


def test_too_short_beginning_is_not_packed() -> None:
    config = PLAIN._replace(min_fragment=9)
    assert block_facts(pack_hits([*ROWS, brought_in(hit(4, 20))], 33, config)) == [(1, 10, False), (2, 10, False)]


def test_injected_row_inside_a_block_is_a_duplicate() -> None:
    whole, part = hit(1, 10, path="a"), hit(2, 4, path="a")
    context = pack_hits([whole, brought_in(part), hit(3, 10)], 30)
    assert block_facts(context) == [(1, 10, False), (3, 10, False)]
    assert [(left.reason, left.rank) for left in context.omitted] == [("duplicate", 2)]


@pytest.mark.parametrize("mode", ["rank", "optimal"])
def test_injected_row_counts_towards_the_document_cap(mode: str) -> None:
    sibling = hit(1, 5, path="a", offset=100)
    context = pack_hits(
        [sibling, hit(2, 5), brought_in(hit(3, 2, path="a"))], 40, PLAIN._replace(diversity=1, pack=mode)
    )
    assert sorted(rank for block in context.blocks for rank in block.ranks) == [2, 3]
    assert [(left.reason, left.rank) for left in context.omitted] == [("diversity", 1)]


def test_optimal_packing_uses_the_budget_of_ranked_rows() -> None:
    context = pack_hits([*ROWS, brought_in(hit(4, 20))], 33, PLAIN._replace(pack="optimal"))
    assert block_facts(context) == [(1, 10, False), (2, 10, False), (4, 8, True)]


def test_insufficient_budget_names_a_sufficient_one() -> None:
    config = PLAIN._replace(header="[{n}] {path}:{lines} of many words", min_fragment=1)
    rows = [hit(1, 10), brought_in(hit(2, 10))]
    warning = pack_hits(rows, 4, config).warnings[0]
    least = int(warning.rpartition("(")[2].rstrip(")"))
    assert warning.startswith("W_BUDGET: ")
    assert not pack_hits(rows, least - 1, config).blocks
    assert pack_hits(rows, least, config).blocks


def test_reserve_never_grows_faster_than_the_budget() -> None:
    for written in [0.1, 0.15, 0.29, 0.35, 0.5]:
        config, hundredths = Config(sparse_share=written), round(written * 100)
        shares = [share(budget, config) for budget in range(2_001)]
        assert shares == [budget * hundredths // 100 for budget in range(2_001)], written
        assert {later - before for before, later in pairwise(shares)} <= {0, 1}, written


KINDS = [*product((WORDS, NUMBERED), ("", "[{n}] {path}:{lines}"), ((1,), (5,), (14,), (3, 9)), (1, 4))]
QUICK = [
    (WORDS, "", (5,), 1),
    (WORDS, "[{n}] {path}:{lines}", (14,), 4),
    (NUMBERED, "", (3, 9), 1),
    (NUMBERED, "[{n}] {path}:{lines}", (1,), 4),
]


@pytest.mark.parametrize("kinds", [QUICK, pytest.param(KINDS, marks=pytest.mark.slow)], ids=["some", "all"])
def test_larger_budget_keeps_what_a_smaller_one_shows(kinds: list[tuple[Counter, str, tuple[int, ...], int]]) -> None:
    for kind in kinds:
        check_budgets(*kind)


def check_budgets(counting: Counter, header: str, own_words: tuple[int, ...], min_fragment: int) -> None:
    """Check that no budget shows less than a smaller one."""
    case = (counting.name, header, own_words, min_fragment)
    rows = [hit(rank, words) for rank, words in enumerate((7, 3, 11, 2, 6, 5, 9, 1, 4, 8, 3, 2), start=1)]
    rows[9:9] = [brought_in(hit(20 + n, words)) for n, words in enumerate(own_words)]
    config = PLAIN._replace(header=header, min_fragment=min_fragment, sparse_share=0.3)
    before: set[tuple[str, int]] = set()
    for budget in range(1, 150) if counting is WORDS else range(1, 800, 3):
        context = pack_hits(rows, budget, config, counting=counting)
        now = {(block.doc.id, place) for block in context.blocks for place in range(block.offset, block.end)}
        assert before <= now, (budget, case)
        assert context.used_tokens <= budget or not context.blocks, (budget, case)
        assert [block.truncated for block in context.blocks].count(True) <= 1, (budget, case)
        assert not any(block.truncated for block in context.blocks[:-1]), (budget, case)
        packed_rows = sum(len(block.ranks) for block in context.blocks)
        assert packed_rows + sum(left.chunks for left in context.omitted) == len(rows), (budget, case)
        before = now
    assert len(before) == sum(len(each.chunk.text) for each in rows if each.chunk), case
