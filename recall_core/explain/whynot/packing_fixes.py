"""Fixes of a context: the smallest budget and the smallest cap on a document that pack what is sought."""

from __future__ import annotations

from collections.abc import Iterator

from recall_core.explain.whynot.fix import K_MOST, Change, Start, confirmed, from_start, moved
from recall_core.explain.whynot.present import is_packed, row_of
from recall_core.explain.whynot.question import Asker, Question, assignments, counted
from recall_core.explain.whynot.target import Sought
from recall_core.types import Packed

_MOST_TOKENS = 2**24
_MOST_CAP = 50


def packing_changes(asker: Asker, start: Start, sought: Sought) -> Iterator[Change]:
    """A larger budget, a larger cap on a document, or both; each confirmed. Only for the first K_MOST rows."""
    at = row_of(asker, start.found, sought)
    if at is None or at >= K_MOST:
        return
    if not _is_refused(asker.pack(start.found, start.question), sought):
        change = by_budget(asker, start, sought)
        if change:
            yield change
            return
    wider = _wider(asker, start, sought)
    if wider is None:
        return
    change, capped = wider
    if done := confirmed(asker, change, sought):
        yield done
    elif change_of_both := by_budget(asker, capped, sought):
        yield change_of_both


def _wider(asker: Asker, start: Start, sought: Sought) -> tuple[Change, Start] | None:
    """The smallest cap that does not keep it out of a context of any size, as a change and as a start."""
    question = start.question
    cap = start.found.plan.config.diversity if question.diversity is None else question.diversity
    if not cap:
        return None
    for least in range(cap + 1, cap + _MOST_CAP + 1):
        wider = question._replace(diversity=least)
        if not _is_refused(_at_length(asker, start, wider, sought), sought):
            break
    else:
        return None
    said, values, size = f"allow {least} chunks of a document instead of {cap}", {"diversity": least}, least - cap
    smaller = (question._replace(diversity=least - 1), counted(least - 1, "chunk"))
    change = from_start(start, "diversity", said, wider, size=size, settings=values, smaller=smaller)
    return change, moved(start, "diversity", said, wider, start.found, size=size, settings=assignments(values))


def by_budget(asker: Asker, start: Start, sought: Sought) -> Change | None:
    """The smallest budget, by bisection: one token less does not pack it."""
    low = start.question.budget_tokens or 1
    high = low
    if not is_packed(_at_length(asker, start, start.question, sought), start.found.plan.table, sought):
        return None
    while not _fits(asker, start, high, sought):
        low, high = high, 2 * high
        if high > _MOST_TOKENS:
            return None
    if high == low:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if _fits(asker, start, middle, sought):
            high = middle
        else:
            low = middle
    now = start.question.budget_tokens or 1
    change = from_start(
        start,
        "budget",
        f"allow {counted(high, 'token')} instead of {now}",
        start.question._replace(budget_tokens=high),
        size=high - now,
        settings={"budget_tokens": high},
        smaller=(start.question._replace(budget_tokens=high - 1), counted(high - 1, "token")),
    )
    return confirmed(asker, change, sought)


def _fits(asker: Asker, start: Start, budget_tokens: int, sought: Sought) -> bool:
    packed = asker.pack(start.found, start.question._replace(budget_tokens=budget_tokens))
    return is_packed(packed, start.found.plan.table, sought)


def _at_length(asker: Asker, start: Start, question: Question, sought: Sought) -> Packed:
    """The context without a budget, as far as the row that is sought: what comes behind it cannot keep it out."""
    found, at = start.found, row_of(asker, start.found, sought)
    limit = 0 if at is None else at + 1 - found.plan.offset
    if not found.plan.is_capped or limit < found.plan.limit:
        found = found._replace(plan=found.plan._replace(limit=limit, is_capped=True))
    return asker.pack(found, question._replace(budget_tokens=_MOST_TOKENS))


def _is_refused(packed: Packed, sought: Sought) -> bool:
    """Whether the cap on its document keeps it out of a context."""
    own = sought.row.chunk.id
    return any(each.chunk_id == own and each.reason == "diversity" for each in packed.omitted)
