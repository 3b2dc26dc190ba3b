"""Fixes of a rank: more rows, another weight, or both; or the proof that no weight works."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from recall_core.config import SettingValue
from recall_core.explain.lines import Lines, leaders, lines_of, order_at, weight_of
from recall_core.explain.sweep import Interval, nearest, weight_inside
from recall_core.explain.whynot.fix import K_MOST, Change, Start, from_start, move_start, try_change
from recall_core.explain.whynot.question import (
    KeptAsker,
    ask_question,
    count_of,
    decimal,
    is_present,
    pack_of,
    position,
    position_in,
    row_of,
    with_limit,
    with_settings,
)
from recall_core.explain.whynot.target import Sought
from recall_core.explain.winning import Winning, ranked_where, winning_weights
from recall_core.retrieve.answer import Answer

_RIVALS = 10
_BEYOND = Fraction(1, 10**7)
"""Distance past the end of an interval of the weight that must fail. Scores with equal decimals differ by more."""


class Never(NamedTuple):
    """The proof that no weight brings the candidate at `position`, or a copy of it, into the first K_MOST."""

    position: int
    winning: Winning
    at: float | None
    ahead: tuple[int, ...]
    """The first candidates ahead at the target's best weight; of copies, the listed one."""
    doubt: str = ""
    """Why this is not a valid proof; "" if it is."""


def by_k(asker: KeptAsker, start: Start, target_chunk: Sought) -> Change | None:
    """Return the smallest k that shows the target: one row less does not. None for a context without a limit."""
    plan = start.answer.plan
    if start.question.budget_tokens is not None and not plan.is_capped:
        return None
    at = row_of(asker, start.answer, target_chunk)
    if at is None or at < plan.offset or at >= start.answer.total:
        return None
    first = at + 1 - plan.offset
    for k in range(first, min(first + plan.config.sparse_max_injections + 1, K_MOST + 1)):
        if k > plan.limit and is_present(asker, with_limit(start.question, k), target_chunk):
            least = k
            while least - 1 > plan.limit and is_present(asker, with_limit(start.question, least - 1), target_chunk):
                least -= 1
            smaller = (with_limit(start.question, least - 1), f"showing {count_of(least - 1, 'result')}")
            description, question = f"show {least} results instead of {plan.limit}", with_limit(start.question, least)
            change = from_start(start, "k", description, question, size=least - plan.limit, smaller=smaller)
            return try_change(asker, change, target_chunk)
    return None


def by_weight(asker: KeptAsker, start: Start, target_chunk: Sought) -> Change | None:
    """Return the weight nearest to the current one that shows the target, from the exact set of such weights."""
    lines, x, plan = lines_for(start.answer), position(start.answer, target_chunk), start.answer.plan
    if (
        lines is None
        or x is None
        or not (start.answer.pool and start.answer.pool.lexical and start.answer.pool.semantic)
    ):
        return None
    first, last = plan.offset + 1, plan.offset + plan.limit
    if start.question.budget_tokens is not None and not plan.is_capped:
        packed = asker.pack(start.answer, pack_of(start.question))
        last = max((rank for block in packed.blocks for rank in block.ranks), default=last)
    wins = ranked_where(lines, x, lambda ranks: (ranks >= first) & (ranks <= last), _texts(start.answer))
    now = weight_of(plan.config)
    chosen = nearest(wins, now)
    if chosen is None or chosen.holds(now):
        return None
    for weight in dict.fromkeys((weight_inside(chosen, now), float((chosen.low + chosen.high) / 2))):
        if weight is not None:
            change = try_change(asker, _weight_change(start, weight, now, chosen, wins), target_chunk)
            if change:
                return change
    return None


def by_weight_and_k(asker: KeptAsker, start: Start, target_chunk: Sought) -> Change | None:
    """Return the weight at which the target ranks best, with the k that it needs there."""
    lines, x = lines_for(start.answer), position(start.answer, target_chunk)
    if lines is None or x is None:
        return None
    best = ranked_where(lines, x, lambda ranks: (ranks == ranks.min()) & (ranks <= K_MOST), _texts(start.answer))
    now = weight_of(start.answer.plan.config)
    chosen = nearest(best, now)
    weight = None if chosen is None else weight_inside(chosen, now)
    if weight is None:
        return None
    values = _weights(weight)
    question = with_settings(start.question, values)
    description = f"set the semantic weight to {decimal(weight)}"
    answer = ask_question(asker, question)
    size = float(abs(Fraction(str(weight)) - now))
    return by_k(
        asker, move_start(start, "weight", description, question, answer, size=size, settings=values), target_chunk
    )


def never(start: Start, target_chunk: Sought) -> Never | None:
    """Return the proof that no weight brings the target into the first K_MOST by score, or None.

    For a copy, the proof covers its text: if no weight brings in the text, no copy can appear.
    """
    answer, config = start.answer, start.answer.plan.config
    lines, x = lines_for(answer), None if answer.pool is None else position_in(answer.pool, target_chunk)
    if lines is None or x is None:
        return None
    if config.min_cosine or (config.rerank and config.rerank_rows > K_MOST):
        return None  # rows ahead of the target may be missing from the list
    texts = _texts(answer)
    winning = winning_weights(lines, x, K_MOST, texts)
    if winning.intervals:
        return None
    chosen = nearest(winning.best_at, weight_of(config))
    at = (
        None
        if chosen is None
        else chosen.low
        if chosen.low == chosen.high
        else weight_inside(chosen, weight_of(config))
    )
    weight = weight_of(config) if at is None else at
    ahead = (
        leaders(lines, x, weight, _RIVALS)
        if texts is None
        else _texts_before(order_at(lines, weight), x, texts)[:_RIVALS]
    )
    return Never(x, winning, None if at is None else float(at), tuple(ahead), _doubt(answer))


def lines_for(answer: Answer) -> Lines | None:
    """Return the pool as lines over the weight, if the score of a chunk decides the order."""
    if answer.pool is None or answer.plan.order or answer.plan.table == "doc":
        return None
    return lines_of(answer.pool, answer.plan.config) if answer.pool.lexical or answer.pool.semantic else None


def _texts(answer: Answer) -> Sequence[int] | None:
    """Return the text number of each candidate, if the list collapses copies."""
    return None if answer.copies is None else answer.copies.text_numbers


def _texts_before(order: Sequence[int], x: int, texts: Sequence[int]) -> list[int]:
    """Return the representatives of the texts before the text of x, in order."""
    firsts: dict[int, int] = {}
    for candidate in order:
        if texts[candidate] == texts[x]:
            break
        firsts.setdefault(texts[candidate], candidate)
    return list(firsts.values())


def _doubt(answer: Answer) -> str:
    """Return why a list that collapses copies allows no proof; "" if it does."""
    if answer.copies is None or answer.pool is None:
        return ""
    if answer.plan.config.fusion == "rrf":
        return "copies are collapsed, which allows a proof only for weighted fusion"
    return "" if answer.pool.exact else "copies are collapsed, which allows a proof only for a complete pool"


def _weight_change(
    start: Start, weight: float, now: Fraction, chosen: Interval, wins: tuple[Interval, ...]
) -> Change:
    values = _weights(weight)
    outside = _outside(chosen, now, wins)
    smaller = None
    if outside is not None:
        smaller = (with_settings(start.question, _weights(outside)), f"weight {decimal(outside, digits=9)}")
    return from_start(
        start,
        "weight",
        f"set the semantic weight to {decimal(weight)} instead of {decimal(float(now))}",
        with_settings(start.question, values),
        size=abs(weight - float(now)),
        settings=values,
        smaller=smaller,
        weights=chosen,
    )


def _outside(chosen: Interval, now: Fraction, wins: tuple[Interval, ...]) -> float | None:
    """Return a weight just past the end that faces the current one, unless another interval begins there."""
    weight = chosen.low - _BEYOND if now <= chosen.low else chosen.high + _BEYOND
    if not 0 <= weight <= 1 or any(each.holds(float(weight)) for each in wins):
        return None
    return float(weight)


def _weights(weight: float) -> dict[str, SettingValue]:
    return {"bm25_weight": round(1 - weight, 9), "vector_weight": weight}
