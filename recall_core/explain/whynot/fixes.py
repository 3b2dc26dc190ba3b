"""Every fix that could be confirmed, the smallest of its kind each, or the proof that none of them can exist."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor
from typing import NamedTuple

from recall_core.explain.whynot.fix import Change, Start, confirmed, moved, reweighed
from recall_core.explain.whynot.other_fixes import added_words, other_changes
from recall_core.explain.whynot.packing_fixes import packing_changes
from recall_core.explain.whynot.predicates import drops, without
from recall_core.explain.whynot.present import answered, is_shown, place, row_of
from recall_core.explain.whynot.question import Asker, Question, assignments, with_filter, with_limit, with_settings
from recall_core.explain.whynot.ranking_fixes import Never, never, ranked_changes
from recall_core.explain.whynot.target import Sought
from recall_core.rank.normalize import DECIMALS
from recall_core.retrieve import Answer

_DROPS_TRIED = 3


class Fixes(NamedTuple):
    """Confirmed changes, and the proof about the weights, with the question that it speaks of."""

    changes: tuple[Change, ...]
    never: Never | None
    start: Start


def fixes(asker: Asker, question: Question, found: Answer, sought: Sought) -> Fixes:
    """What brings the sought chunk into the answer: filter and score, rank, packing, the rest, then words."""
    start = Start(question, found)
    changes: list[Change] = []
    proof: Never | None = None
    proved = start
    for entered in _entered(asker, start, sought):
        changes += _from(asker, entered, sought)
        if proof is None:
            proof, proved = never(entered, sought), entered
    changes += other_changes(asker, start, sought)
    changes += added_words(asker, start, sought)
    is_weighed = any("weight" in change.kind.split("+") for change in changes)
    return Fixes(_distinct(changes), None if is_weighed else proof, proved)


def _entered(asker: Asker, start: Start, sought: Sought) -> Iterator[Start]:
    """The question as it is, or with what keeps the row out of the list altogether taken away."""
    where = start.found.plan.where
    sets = drops(where, sought.row) if where is not None else ()
    if where is None or not sets:
        yield _scored(asker, start, sought)
        return
    for dropped in sets[:_DROPS_TRIED]:
        question = with_filter(start.question, without(where, dropped))
        said = f"drop {' and '.join(dropped)}"
        found = answered(asker, question)
        yield _scored(asker, moved(start, "filter", said, question, found, size=len(dropped)), sought)


def _scored(asker: Asker, start: Start, sought: Sought) -> Start:
    """With min_score lowered to what it scores, where it scores less."""
    ranked, least = start.found.ranked, start.found.plan.config.min_score
    at = place(start.found, sought)
    if ranked is None or at is None or least <= 0 or ranked.scores[ranked.order[at]] >= least:
        return start
    lower = floor(ranked.scores[ranked.order[at]] * 10**DECIMALS) / 10**DECIMALS
    values = {"min_score": lower}
    question = with_settings(start.question, values)
    found = answered(asker, question)
    said = f"lower min_score from {least:g} to {lower:g}"
    return moved(start, "min_score", said, question, found, size=least - lower, settings=assignments(values))


def _from(asker: Asker, start: Start, sought: Sought) -> Iterator[Change]:
    if start.kinds and is_shown(asker, start.question, start.found, sought):
        change = Change("+".join(start.kinds), "; ".join(start.said), start.question, start.settings, start.size)
        smaller = _smaller(start)
        if smaller is not None:
            change = change._replace(smaller=smaller[0], smaller_said=smaller[1])
        if done := confirmed(asker, change, sought):
            yield done
        return
    found = list(ranked_changes(asker, start, sought))
    yield from found
    if start.question.budget_tokens is None:
        return
    longer = _longer(asker, start, sought)
    if longer is start or not found:
        yield from packing_changes(asker, longer, sought)


def _longer(asker: Asker, start: Start, sought: Sought) -> Start:
    """A list that reaches down to it, for a context that may pack no more than the best k."""
    at, plan = row_of(asker, start.found, sought), start.found.plan
    first = 0 if at is None else at + 1 - plan.offset
    if not plan.is_capped or first <= plan.limit:
        return start
    for k in range(first, first + plan.config.sparse_max_injections + 1):  # recall may give the last row away
        question = with_limit(start.question, k)
        found = reweighed(asker, start, question)
        now = row_of(asker, found, sought)
        if now is not None and now < plan.offset + k:
            return moved(
                start, "k", f"take the best {k} instead of {plan.limit}", question, found, size=k - plan.limit
            )
    return start


def _smaller(start: Start) -> tuple[Question, str] | None:
    """A millionth more of min_score, where lowering it was the last change."""
    if start.kinds[-1] != "min_score":
        return None
    least = start.found.plan.config.min_score + 10**-DECIMALS
    return with_settings(start.question, {"min_score": round(least, DECIMALS)}), f"min_score {least:.6f}"


def _distinct(changes: list[Change]) -> tuple[Change, ...]:
    """Each changed question once, as it was first said."""
    return tuple({change.question: change for change in reversed(changes)}.values())[::-1]
