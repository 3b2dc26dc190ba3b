"""All confirmed fixes, the smallest of each kind, or the proof that none exists.

This module covers the query (words, filter, signals, settings, pool, page) and a context's budget and cap.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor
from typing import NamedTuple

from recall_core.config import Settings, SettingValue
from recall_core.contract.explaining import WordsView
from recall_core.explain.whynot.fix import (
    Change,
    Start,
    by_effort,
    from_start,
    is_led_in_deeper_pools,
    move_start,
    try_change,
)
from recall_core.explain.whynot.question import (
    KeptAsker,
    Question,
    ask_question,
    command,
    count_of,
    is_packed,
    is_packed_by_rank,
    is_present,
    is_shown,
    is_struck_unscored,
    keep_reads,
    pack_of,
    packed_until,
    position,
    row_of,
    standing,
    with_filter,
    with_limit,
    with_settings,
)
from recall_core.explain.whynot.ranking_fixes import Never, by_k, by_weight, by_weight_and_k, never
from recall_core.explain.whynot.stages import describe_dropped, drops, full_ranks, given_up, without
from recall_core.explain.whynot.target import Sought
from recall_core.explain.whynot.word_fixes import WordsToAdd, spelling_changes
from recall_core.rank.weighing import DECIMALS
from recall_core.retrieve.answer import Answer, is_distant
from recall_core.retrieve.asking import Asker
from recall_core.rql.match import HasWords, match, without_index
from recall_core.types import Packed

_DROPS_TRIED = 3


class Fixes(NamedTuple):
    """Confirmed changes, the proof about the weights with its query, and the words tried."""

    changes: tuple[Change, ...]
    never: Never | None
    start: Start
    words: WordsView | None = None


def fixes(asker: Asker, question: Question, answer: Answer, target_chunk: Sought) -> Fixes:
    """Return the changes that bring the target chunk into the answer, in the order in which a person tries them.

    Changes are tried lazily, because some are tried only if no earlier change works.
    """
    asker = keep_reads(asker)
    start = Start(question, answer)
    entered = list(_let_in(asker, start, target_chunk))
    listed = [_show_copies(asker, each, target_chunk) for each in entered]
    changes = [change for each in listed for change in _from(asker, each, target_chunk)]
    is_context, words = question.budget_tokens is not None, None
    if not is_filtered_out(start, target_chunk, asker.store.has_words):
        changes += other_changes(asker, start, target_chunk)
        changes += spelling_changes(asker, start, target_chunk)
        words = WordsToAdd(asker, start, target_chunk)
        changes += words.of_name()
    is_enough = is_context and bool(changes)
    if not is_enough:
        changes += [change for each in listed for change in _change_weight(asker, each, target_chunk)]
    if words is not None and not (is_context and changes):
        changes += words.of_text()
    is_weighed = is_enough or any("weight" in change.kind.split("+") for change in changes)
    proofs = ((proof, each) for each in entered if (proof := never(each, target_chunk)))
    proof, proved = (None, start) if is_weighed else next(proofs, (None, start))
    # Keep each changed query once, with its first description.
    distinct = {command(change.question): change for change in reversed(by_effort(changes))}
    return Fixes(tuple(distinct.values())[::-1], proof, proved, None if words is None else words.view)


def is_filtered_out(start: Start, target_chunk: Sought, has_words: HasWords = without_index) -> bool:
    """Return True if the filter alone excludes the chunk. A document passes by any of its chunks."""
    plan = start.answer.plan
    return plan.table == "chunk" and plan.where is not None and not match(plan.where, target_chunk.row, has_words)


def _let_in(asker: KeptAsker, start: Start, target_chunk: Sought) -> Iterator[Start]:
    """Yield the start, or one start for each set of predicates whose removal lets the row pass."""
    where = start.answer.plan.where
    sets = drops(where, target_chunk.row, asker.store.has_words) if where is not None else ()
    if where is None or not sets:
        yield _lower_floors(asker, start, target_chunk)
        return
    for dropped in sets[:_DROPS_TRIED]:
        question = with_filter(start.question, without(where, dropped))
        description = describe_dropped(given_up(where, dropped), start.answer.plan.typed)
        answer = ask_question(asker, question)
        yield _lower_floors(
            asker, move_start(start, "filter", description, question, answer, size=len(dropped)), target_chunk
        )


def _show_copies(asker: KeptAsker, start: Start, target_chunk: Sought) -> Start:
    """Return a start that lists every copy, if another row represents the target's text."""
    is_hidden = standing(start.answer, target_chunk) is not None or is_struck_unscored(
        asker, start.answer, target_chunk
    )
    if not is_hidden:
        return start
    values = {"collapse": False}
    question = with_settings(start.question, values)
    answer = ask_question(asker, question)
    return move_start(start, "collapse", "show every copy", question, answer, size=1, settings=values)


def _lower_floors(asker: KeptAsker, start: Start, target_chunk: Sought) -> Start:
    """Return a start with min_score and min_cosine lowered to the target's values, where those are lower."""
    ranked, at = start.answer.ranked, position(start.answer, target_chunk)
    if ranked is None or at is None:
        return start
    if ranked.scores[at] < start.answer.plan.config.min_score:
        lower = floor(ranked.scores[at] * 10**DECIMALS) / 10**DECIMALS
        start = _lower(asker, start, "min_score", lower)
    if is_distant(start.answer, at) and start.answer.pool is not None:
        start = _lower(asker, start, "min_cosine", max(0.0, start.answer.pool.semantic[at] or 0.0))
    return start


def _lower(asker: KeptAsker, start: Start, key: str, lower: float) -> Start:
    least: float = getattr(start.answer.plan.config, key)
    values = {key: lower}
    question = with_settings(start.question, values)
    answer = ask_question(asker, question)
    description = f"lower {key} from {least:g} to {lower:g}"
    return move_start(start, key, description, question, answer, size=least - lower, settings=values)


def _from(asker: KeptAsker, start: Start, target_chunk: Sought) -> Iterator[Change]:
    """Yield the changes so far if they are enough; else a larger k, or packing changes for a context."""
    if start.kinds and is_shown(asker, start.question, start.answer, target_chunk):
        change = Change(
            "+".join(start.kinds), "; ".join(start.descriptions), start.question, start.settings, start.size
        )
        key = start.kinds[-1]
        if key in ("min_score", "min_cosine"):  # the next smaller change lowers it a millionth less
            least = getattr(start.answer.plan.config, key) + 10**-DECIMALS
            higher = with_settings(start.question, {key: round(least, DECIMALS)})
            change = change._replace(smaller=higher, smaller_description=f"{key} {least:.6f}")
        if confirmed := try_change(asker, change, target_chunk):
            yield confirmed
        return
    more = by_k(asker, start, target_chunk)
    if more:
        yield more
    if start.question.budget_tokens is None:
        return
    longer = _longer(asker, start, target_chunk)
    if longer is start or not more:
        yield from packing_changes(asker, longer, target_chunk)


def _change_weight(asker: KeptAsker, start: Start, target_chunk: Sought) -> Iterator[Change]:
    """Yield the nearest weight, or a weight with a larger k if neither works alone."""
    if start.kinds and is_shown(asker, start.question, start.answer, target_chunk):
        return
    change = by_weight(asker, start, target_chunk)
    if change is None and by_k(asker, start, target_chunk) is None:
        change = by_weight_and_k(asker, start, target_chunk)
    if change:
        yield change


def _longer(asker: KeptAsker, start: Start, target_chunk: Sought) -> Start:
    """Return a start whose list reaches the target, for a context that packs at most the best k rows."""
    at, plan = row_of(asker, start.answer, target_chunk), start.answer.plan
    first = 0 if at is None else at + 1 - plan.offset
    if not plan.is_capped or first <= plan.limit:
        return start
    for k in range(first, first + plan.config.sparse_max_injections + 1):  # recall may give away the last row
        question = with_limit(start.question, k)
        answer = ask_question(asker, question)
        now = row_of(asker, answer, target_chunk)
        if now is not None and now < plan.offset + k:
            return move_start(
                start,
                "k",
                f"pack from the best {k} results instead of {plan.limit}",
                question,
                answer,
                size=k - plan.limit,
            )
    return start


def other_changes(asker: KeptAsker, start: Start, target_chunk: Sought) -> Iterator[Change]:
    """Yield each single change of match, stop words, signals, pool, sparse recall, rerank and offset that works."""
    for change in _other_changes(asker, start, target_chunk):
        if try_change(asker, change, target_chunk):
            yield change


def _other_changes(asker: KeptAsker, start: Start, target_chunk: Sought) -> Iterator[Change]:
    config, plan = start.answer.plan.config, start.answer.plan
    if config.match == "all" and plan.lexical is not None:
        yield _set(start, "match", "any")
    if start.answer.pool is not None and start.answer.pool.dropped:
        yield _set(start, "stop_words", "none")
    if start.question.rql is None and start.question.mode != "hybrid":
        yield from_start(start, "mode", "use both signals", start.question._replace(mode="hybrid"), size=1)
    if start.answer.pool is not None and not start.answer.pool.exact:
        yield from _change_pool(asker, start, target_chunk)
    if position(start.answer, target_chunk) is not None and not plan.order:
        yield from _change_sparse(asker, start, target_chunk)
    if config.rerank:
        yield _set(start, "rerank", "")
    at = row_of(asker, start.answer, target_chunk)
    if start.question.rql is not None and at is not None and at < plan.offset:
        question = with_limit(start.question, plan.limit, offset=at)
        yield from_start(start, "offset", f"start at OFFSET {at}", question, size=plan.offset - at)


def _set(start: Start, key: str, value: SettingValue) -> Change:
    description = f"set {key} to {value}" if value != "" else f"turn {key} off"
    values: Settings = {key: value}
    return from_start(start, key, description, with_settings(start.question, values), size=1, settings=values)


def _change_sparse(asker: KeptAsker, start: Start, target_chunk: Sought) -> Iterator[Change]:
    """Yield a change without sparse recall, or with the fewest extra documents that may take a row."""
    recall, most = start.answer.recall, start.answer.plan.config.sparse_max_injections
    if recall is None:
        return
    if recall.given:
        yield _set(start, "sparse_recall", False)
    for more in range(most + 1, most + 1 + recall.report.blocked):
        values: Settings = {"sparse_max_injections": more}
        question = with_settings(start.question, values)
        if is_present(asker, question, target_chunk):
            description = f"give rows to {more} short documents instead of {most}"
            smaller = (with_settings(start.question, {"sparse_max_injections": more - 1}), f"{more - 1} documents")
            yield from_start(
                start, "sparse", description, question, size=more - most, settings=values, smaller=smaller
            )
            return


def _change_pool(asker: KeptAsker, start: Start, target_chunk: Sought) -> Iterator[Change]:
    """Yield the smallest pool that shows the target, and a search without a bounded pool."""
    depth = start.answer.plan.config.pool
    if is_led_in_deeper_pools(asker, start, target_chunk):
        return
    ranks = full_ranks(asker, start.answer.plan, start.answer, target_chunk).values()
    for rank in sorted(rank for rank in ranks if rank is not None and rank > depth):
        values: Settings = {"pool": rank}
        question = with_settings(start.question, values)
        if is_present(asker, question, target_chunk):
            description = f"let each signal propose {rank} rows instead of {depth}"
            smaller = (with_settings(start.question, {"pool": rank - 1}), f"a pool of {rank - 1}")
            yield from_start(
                start, "pool", description, question, size=rank - depth, settings=values, smaller=smaller
            )
            break
    yield from_start(start, "exact", "score every row", start.question._replace(exact=True), size=1)


_MOST_TOKENS = 2**24
_ROWS_PACKED = 50
"""The last rank for which a budget is computed. Packing more rows takes longer than everything else."""

_MOST_CAP = 50


def packing_changes(asker: KeptAsker, start: Start, target_chunk: Sought) -> Iterator[Change]:
    """Yield a larger budget, a larger cap per document, or both, if it works. Only for the first rows of the list."""
    at = row_of(asker, start.answer, target_chunk)
    if at is None or at >= _ROWS_PACKED:
        return
    if not _is_refused(asker.pack(start.answer, pack_of(start.question)), target_chunk):
        change = by_budget(asker, start, target_chunk)
        if change:
            yield change
            return
    wider = _wider(asker, start, target_chunk)
    if wider is None:
        return
    change, capped = wider
    if confirmed := try_change(asker, change, target_chunk):
        yield confirmed
    elif change_of_both := by_budget(asker, capped, target_chunk):
        yield change_of_both


def _wider(asker: KeptAsker, start: Start, target_chunk: Sought) -> tuple[Change, Start] | None:
    """Return the smallest diversity cap that allows the target under any budget: the change and the new start."""
    question = start.question
    cap = start.answer.plan.config.diversity if question.diversity is None else question.diversity
    if not cap:
        return None
    for least in range(cap + 1, cap + _MOST_CAP + 1):
        wider = question._replace(diversity=least)
        if not _is_refused(_at_length(asker, start, wider, target_chunk), target_chunk):
            break
    else:
        return None
    description, values, size = (
        f"allow {least} chunks per document instead of {cap}",
        {"diversity": least},
        least - cap,
    )
    smaller = (question._replace(diversity=least - 1), count_of(least - 1, "chunk"))
    change = from_start(start, "diversity", description, wider, size=size, settings=values, smaller=smaller)
    return change, move_start(start, "diversity", description, wider, start.answer, size=size, settings=values)


def by_budget(asker: KeptAsker, start: Start, target_chunk: Sought) -> Change | None:
    """Return the smallest budget that packs the target: one token less does not."""
    now = start.question.budget_tokens or 1
    whole = _at_length(asker, start, start.question, target_chunk)
    if not is_packed(whole, start.answer.plan.table, target_chunk):
        return None
    high, is_whole = whole.used_tokens, target_chunk.snippet is None and target_chunk.lines is None
    fits = now < high and _fits(asker, start, high, target_chunk)
    # With one token less, packing by rank stops before the whole chunk. Part of a chunk may need fewer tokens.
    is_least = is_whole and is_packed_by_rank(asker, start.answer, target_chunk)
    if not fits or not (is_least or not _fits(asker, start, high - 1, target_chunk)):
        found = _by_bisection(asker, start, now, target_chunk)
        if found is None:
            return None
        high = found
    return from_start(
        start,
        "budget",
        f"allow {count_of(high, 'token')} instead of {now}",
        start.question._replace(budget_tokens=high),
        size=high - now,
        settings={"budget_tokens": high},
        smaller=(start.question._replace(budget_tokens=high - 1), count_of(high - 1, "token")),
    )


def _by_bisection(asker: KeptAsker, start: Start, low: int, target_chunk: Sought) -> int | None:
    """Return a budget above `low` that packs the target, where one token less does not; None if there is none."""
    high = low
    while not _fits(asker, start, high, target_chunk):
        low, high = high, 2 * high
        if high > _MOST_TOKENS:
            return None
    if high == low:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if _fits(asker, start, middle, target_chunk):
            high = middle
        else:
            low = middle
    return high


def _fits(asker: KeptAsker, start: Start, budget_tokens: int, target_chunk: Sought) -> bool:
    return is_shown(asker, start.question._replace(budget_tokens=budget_tokens), start.answer, target_chunk)


def _at_length(asker: KeptAsker, start: Start, question: Question, target_chunk: Sought) -> Packed:
    """Pack the target and all rows before it, without a budget."""
    return packed_until(asker, question._replace(budget_tokens=_MOST_TOKENS), start.answer, target_chunk)


def _is_refused(packed: Packed, target_chunk: Sought) -> bool:
    """Return True if the cap on its document keeps the target out of a context."""
    own = target_chunk.row.chunk.id
    return any(each.chunk_id == own and each.reason == "diversity" for each in packed.omitted)
