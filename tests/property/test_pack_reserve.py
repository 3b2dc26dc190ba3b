"""The laws of packing while injected rows have a reserved part of the budget."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from recall_core.config import Config
from recall_core.pack.account import account
from recall_core.pack.policy import pack
from recall_core.types import Hit, Packed
from tests.property.test_pack import COUNTERS, Case, cases, configs


class Wanted(NamedTuple):
    """A packing case; everything except the budget."""

    case: Case
    injected: tuple[Hit, ...]
    counter: str
    config: Config
    pinned: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()

    def pack(self, budget_tokens: int) -> Packed:
        return pack(
            iter(self.case.hits),
            total=len(self.case.hits),
            budget_tokens=budget_tokens,
            counter=COUNTERS[self.counter],
            config=self.config,
            pinned=self.pinned,
            dropped=self.dropped,
            injected=self.injected,
        )


@st.composite
def wanted(draw: st.DrawFn, *, modes: tuple[str, ...] = ("rank", "optimal"), choices: int = 2) -> Wanted:
    """Return a case with up to three injected hits, in any order. choices: largest number of pins and drops."""
    case = draw(cases())
    ids = [hit.chunk.id for hit in case.hits if hit.chunk]
    some = st.lists(st.sampled_from(ids), max_size=choices).map(frozenset) if ids else st.just(frozenset[str]())
    config = draw(configs)._replace(
        sparse_share=draw(st.sampled_from([0.01, 0.15, 0.29, 0.333, 0.5])), pack=draw(st.sampled_from(modes))
    )
    injected = tuple(hit for hit in draw(st.permutations(case.hits))[: draw(st.integers(0, 3))])
    return Wanted(case, injected, draw(st.sampled_from(sorted(COUNTERS))), config, draw(some), draw(some))


budgets = st.integers(1, 160)


def shown_points(context: Packed) -> set[tuple[str, int]]:
    return {(block.doc.id, place) for block in context.blocks for place in range(block.offset, block.end)}


def whole_ranks(context: Packed) -> set[int]:
    return {rank for block in context.blocks if not block.truncated for rank in block.ranks}


@given(wanted(), budgets)
def test_budget_holds_and_only_the_last_block_is_cut(asked: Wanted, budget_tokens: int) -> None:
    context = asked.pack(budget_tokens)

    assert COUNTERS[asked.counter].count(context.text) == context.used_tokens
    assert context.used_tokens <= budget_tokens or not context.blocks
    assert not any(block.truncated for block in context.blocks[:-1])
    for number, block in enumerate(context.blocks, 1):
        text = asked.case.texts[block.doc.path]
        assert block.number == number
        assert block.text == text[block.offset : block.end] != ""
        assert block.line_start == text.count("\n", 0, block.offset) + 1
        assert block.line_end == text.count("\n", 0, block.end - 1) + 1
        assert asked.config.line_numbers or block.text in context.text


@given(wanted(), budgets)
def test_every_candidate_is_packed_or_omitted_with_one_reason(asked: Wanted, budget_tokens: int) -> None:
    context = asked.pack(budget_tokens)

    told = [rank for block in context.blocks for rank in block.ranks]
    told += [left.rank for left in context.omitted]
    behind = sum(left.chunks - 1 for left in context.omitted)
    assert len(told) + behind == len(asked.case.hits) == context.candidates
    assert len(set(told)) == len(told)
    assert set(told) <= {hit.rank for hit in asked.case.hits}
    assert all(left.chunks == 1 for left in context.omitted[:-1])


@given(wanted(modes=("rank",)))
def test_raising_the_budget_never_loses_a_packed_code_point(asked: Wanted) -> None:
    before: set[tuple[str, int]] = set()
    for budget_tokens in range(1, 90):
        now = shown_points(asked.pack(budget_tokens))
        assert before <= now, budget_tokens
        before = now


@given(wanted(choices=0), budgets)
def test_neither_part_depends_on_the_other(asked: Wanted, budget_tokens: int) -> None:
    asked = asked._replace(config=asked.config._replace(diversity=0))
    context = asked.pack(budget_tokens)

    share = int(Fraction(repr(asked.config.sparse_share)) * budget_tokens) if asked.injected else 0
    assert (context.reserved_tokens, len(context.reserved_for)) == (share, len(asked.injected))
    assert context.reserved_used_tokens <= share
    own = {hit.rank for hit in asked.injected}
    others = Case(asked.case.texts, [hit for hit in asked.case.hits if hit.rank not in own])
    alone = asked._replace(case=others, injected=()).pack(budget_tokens - share)
    assert whole_ranks(context) - own == whole_ranks(alone)


@given(wanted(), budgets)
def test_same_query_gives_the_same_context(asked: Wanted, budget_tokens: int) -> None:
    assert asked.pack(budget_tokens) == asked.pack(budget_tokens)


@given(wanted(), budgets)
def test_nothing_is_reserved_without_injected_rows(asked: Wanted, budget_tokens: int) -> None:
    plain = asked._replace(injected=())
    assert plain.pack(budget_tokens) == _without_share(plain).pack(budget_tokens)


@given(wanted(), budgets)
def test_injected_row_without_share_is_packed_at_its_rank(asked: Wanted, budget_tokens: int) -> None:
    plain = _without_share(asked)
    assert plain.pack(budget_tokens) == plain._replace(injected=()).pack(budget_tokens)


@given(wanted(), budgets)
def test_pinned_and_dropped_rows_have_no_reserved_part(asked: Wanted, budget_tokens: int) -> None:
    ids = frozenset(hit.chunk.id for hit in asked.injected if hit.chunk)
    for settled in ({"pinned": ids, "dropped": frozenset[str]()}, {"pinned": frozenset[str](), "dropped": ids}):
        chosen = asked._replace(**settled)
        assert chosen.pack(budget_tokens) == chosen._replace(injected=()).pack(budget_tokens)


@given(wanted(), budgets)
def test_no_context_is_worth_more_than_its_bound(asked: Wanted, budget_tokens: int) -> None:
    if asked.counter not in ("whitespace", "approx"):
        return
    context = asked.pack(budget_tokens)
    told = account(context, asked.case.hits, counter=COUNTERS[asked.counter], config=asked.config)
    assert told.value <= told.bound + 1e-9


def _without_share(asked: Wanted) -> Wanted:
    return asked._replace(config=asked.config._replace(sparse_share=0.0))
