"""The stages after the pool: rank, ties, min_score, min_cosine, reranking, sparse recall, page and packing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recall_core.contract.explaining import RivalView
from recall_core.explain.whynot.question import KeptAsker, is_packed, place, position, position_in, row_of, standing
from recall_core.explain.whynot.stages import Stage, fail_stage, pass_stage, skip_stage
from recall_core.explain.whynot.target import Sought
from recall_core.rank.fuse import best_of_each_document, cut_by_cosine, has_word, rank
from recall_core.rank.weighing import Ranking
from recall_core.retrieve.answer import Answer, candidate_range
from recall_core.retrieve.copies import collapse
from recall_core.types import Block, Packed, Table


def placed_stages(
    asker: KeptAsker, answer: Answer, target_chunk: Sought, *, is_context: bool, packed: Packed | None = None
) -> Iterator[Stage]:
    """Yield fusion, tie_break, min_score, min_cosine if set, rerank, copy if the list has copies, sparse and page."""
    if answer.pool is None or answer.ranked is None or answer.fused is None:
        for name in ("fusion", "tie_break", "min_score", "rerank"):
            yield skip_stage(name, "the query does not score rows")
        yield from copy_stages(asker, answer, target_chunk)
        yield skip_stage("sparse", "the query does not score rows")
        yield _page(answer, row_of(asker, answer, target_chunk), is_context=is_context)
        return
    if place(answer, target_chunk) is None and standing(answer, target_chunk) is None:
        for name in ("fusion", "tie_break", "min_score", "rerank", "sparse", "page"):
            yield skip_stage(name, "not a candidate")
        return
    order = _fuse(answer, target_chunk)
    yield from _fusion(asker, answer, order, target_chunk, is_context=is_context)
    yield _min_score(answer, target_chunk)
    yield from _min_cosine(answer, target_chunk)
    yield _rerank(answer, order, target_chunk)
    yield from copy_stages(asker, answer, target_chunk, packed=packed)
    yield _sparse(asker, answer, target_chunk, is_taken=answer.plan.is_capped or not is_context)
    yield _page(answer, place(answer, target_chunk), is_context=is_context)


def last_row(answer: Answer, *, is_context: bool) -> int | None:
    """Return the last rank shown; None if a context continues until its budget is used."""
    if is_context and not answer.plan.is_capped:
        return None
    return answer.plan.offset + answer.plan.limit


def _fuse(answer: Answer, target_chunk: Sought) -> Ranking:
    """Return the order by score before reranking and recall, without other rows that min_cosine drops."""
    pool, config = answer.pool, answer.plan.config
    assert pool is not None  # noqa: S101 - the caller checked
    ordered, is_document = rank(pool, config), answer.plan.table == "doc"
    ordered = best_of_each_document(pool, ordered) if is_document else ordered
    if not config.min_cosine:
        return ordered
    near = cut_by_cosine(pool, ordered, config.min_cosine, by_document=is_document)
    dropped = frozenset(near.order[near.kept : ordered.kept]) - {position(answer, target_chunk)}
    order = [each for each in ordered.order if each not in dropped]
    return ordered.reorder(order, kept=ordered.kept - len(dropped))


def _fusion(
    asker: KeptAsker, answer: Answer, order: Ranking, target_chunk: Sought, *, is_context: bool
) -> Iterator[Stage]:
    if answer.plan.order:
        yield skip_stage("fusion", "ORDER BY decides the order, not the score")
        yield skip_stage("tie_break", "ORDER BY decides the order, not the score")
        return
    text, own = _of_text(answer, order, target_chunk)
    at, whole = text.order.index(own), place(answer, target_chunk, order=order.order)
    assert whole is not None  # noqa: S101 - the candidates are the same
    position, last, order = order.order[whole], last_row(answer, is_context=is_context), text
    score = order.scores[position]
    evidence: dict[str, Any] = {"rank": at + 1, "of": len(order), "score": score}
    detail = f"rank {at + 1} of {len(order)}, score {score:.6f}"
    if last is None or last < 1 or last > len(order):
        yield pass_stage("fusion", detail, evidence)
        yield skip_stage("tie_break", "no competing row")
        return
    last_position = order.order[last - 1]
    last_score = order.scores[last_position]
    evidence |= {"last": last, "last_score": last_score, "gap": last_score - score}
    is_reached = at < last or (bool(answer.plan.config.rerank) and whole < answer.plan.config.rerank_rows)
    is_tied = score == last_score and own != last_position
    if is_reached or is_tied:
        yield pass_stage("fusion", detail, evidence)
    else:
        behind = f", {last_score - score:.6f} behind row {last}"
        yield fail_stage("fusion", "rank", detail + behind, evidence)
    if not is_tied:
        yield skip_stage("tie_break", f"row {last} has a different score")
        return
    yield _tie(asker, answer, last_position, target_chunk, score=score, is_lost=not is_reached)


def _tie(asker: KeptAsker, answer: Answer, other: int, target_chunk: Sought, *, score: float, is_lost: bool) -> Stage:
    assert answer.pool is not None  # noqa: S101 - the caller checked
    rival = asker.store.fetch([answer.pool.keys[other].rowid])[0]
    own = target_chunk.row
    key = "id"
    if rival.doc.path != own.doc.path:
        key = "path"
    elif rival.chunk.offset != own.chunk.offset:
        key = "offset"
    against = RivalView(chunk_id=rival.chunk.id, path=rival.doc.path, score=score)
    evidence = {"score": score, "key": key, "against": against}
    where = rival.where
    if is_lost:
        return fail_stage("tie_break", "tie_break", f"{where} has the same score and sorts first by {key}", evidence)
    return pass_stage("tie_break", f"{where} has the same score and sorts later by {key}", evidence)


def _own_position(answer: Answer, target_chunk: Sought) -> int | None:
    """Return the target's position in the pool, even if another row represents its text."""
    if standing(answer, target_chunk) is not None and answer.pool is not None:
        return position_in(answer.pool, target_chunk)
    return position(answer, target_chunk)


def _min_score(answer: Answer, target_chunk: Sought) -> Stage:
    least, at = answer.plan.config.min_score, _own_position(answer, target_chunk)
    if least <= 0 or at is None or answer.ranked is None:
        return skip_stage("min_score", "min_score does not apply")
    score = answer.ranked.scores[at]
    evidence = {"score": score, "min_score": least}
    if score >= least:
        return pass_stage("min_score", f"score {score:.6f} is at least {least:g}", evidence)
    return fail_stage("min_score", "threshold", f"score {score:.6f} is below min_score {least:g}", evidence)


def _min_cosine(answer: Answer, target_chunk: Sought) -> Iterator[Stage]:
    least, at, pool = answer.plan.config.min_cosine, _own_position(answer, target_chunk), answer.pool
    if least <= 0 or at is None or pool is None or not pool.semantic:
        return
    cosine, limits = pool.semantic[at], {"min_cosine": least}
    if has_word(pool, at, by_document=answer.plan.table == "doc"):
        yield pass_stage("min_cosine", "contains a query word", limits)
    elif cosine is None:
        yield fail_stage("min_cosine", "distant", "contains no query word and has no vector", limits)
    elif cosine >= least:
        yield pass_stage("min_cosine", f"cosine {cosine:.6f} is at least {least:g}", {"cosine": cosine, **limits})
    else:
        detail = f"contains no query word, and cosine {cosine:.6f} is below min_cosine {least:g}"
        yield fail_stage("min_cosine", "distant", detail, {"cosine": cosine, **limits})


def _rerank(answer: Answer, order: Ranking, target_chunk: Sought) -> Stage:
    config, plan = answer.plan.config, answer.plan
    if not config.rerank or answer.fused is None:
        return skip_stage("rerank", "no reranker is set")
    before, after = (
        place(answer, target_chunk, order=order.order),
        place(answer, target_chunk, order=answer.fused.order),
    )
    if answer.copies is not None and answer.pool is not None:
        own = position_in(answer.pool, target_chunk)
        after = None if own is None else answer.fused.order.index(answer.copies.first(own))
    if before is None or after is None or before >= config.rerank_rows:
        return skip_stage("rerank", f"not among the first {config.rerank_rows} rows, which the reranker scores")
    evidence = {"rank_before": before + 1, "rank": after + 1, "depth": config.rerank_rows}
    detail = f"moved from rank {before + 1} to {after + 1}"
    if after >= plan.offset + plan.limit and not plan.order:
        return fail_stage("rerank", "rerank", detail, evidence)
    return pass_stage("rerank", detail, evidence)


def _of_text(answer: Answer, order: Ranking, target_chunk: Sought) -> tuple[Ranking, int]:
    """Return the order by score and the target's position in it, with each text once if the list collapses copies."""
    assert answer.pool is not None  # noqa: S101 - the caller checked
    if answer.plan.table == "doc":
        at = place(answer, target_chunk, order=order.order)
        return order, order.order[at or 0]
    own = position_in(answer.pool, target_chunk)
    assert own is not None  # noqa: S101 - as above
    copies = collapse(order, answer.known.texts or {}, answer.plan)
    return (order, own) if copies is None else (copies.standing(), copies.first(own))


def copy_stages(
    asker: KeptAsker, answer: Answer, target_chunk: Sought, *, packed: Packed | None = None
) -> Iterator[Stage]:
    """Yield the copy stage, if the list has copies. packed: the packed context, for a context."""
    if not answer.struck:
        return
    rank, rowid = _standing_row(asker, answer, target_chunk)
    if rowid is None:
        yield pass_stage("copy", "no earlier row has the same text")
        return
    (row,) = asker.store.fetch([rowid])
    evidence = {"rank": rank, "against": RivalView(chunk_id=row.chunk.id, path=row.doc.path)}
    where = row.where
    if packed is None:
        yield fail_stage("copy", "copy", f"{where} at rank {rank} has the same text and is listed instead", evidence)
    elif (holding := holder_of_text(asker, packed, target_chunk)) is None:
        yield pass_stage("copy", f"its text (first in {where}) is not packed elsewhere", evidence)
    else:
        yield fail_stage("copy", "copy", f"the same text is packed in block {holding.number}", evidence)


def holder_of_text(asker: KeptAsker, packed: Packed, target_chunk: Sought) -> Block | None:
    """Return the block that contains another whole chunk with the same text."""
    own = target_chunk.row.rowid
    alike = frozenset(asker.store.twins([own]).get(own, ())) - {own}
    for block in packed.blocks:
        if not block.truncated and any(asker.store.rowid("chunk", each) in alike for each in block.chunk_ids):
            return block
    return None


def _standing_row(asker: KeptAsker, answer: Answer, target_chunk: Sought) -> tuple[int | None, int | None]:
    """Return the rank and rowid of the chunk listed for the target's text; (None, None) for the target itself."""
    if answer.pool is None:
        rowid = asker.struck_rows(answer.plan).get(target_chunk.row.rowid)
        return (None, None) if rowid is None else (asker.places(answer.plan)[rowid] + 1, rowid)
    other = standing(answer, target_chunk)
    if other is None or answer.ranked is None:
        return None, None
    return answer.ranked.order.index(other) + 1, answer.pool.keys[other].rowid


def _sparse(asker: KeptAsker, answer: Answer, target_chunk: Sought, *, is_taken: bool) -> Stage:
    """Return the sparse stage. is_taken: True if recall gives away rows; a context of all rows reserves tokens
    instead.
    """
    at = place(answer, target_chunk)
    if at is None:
        return skip_stage("sparse", "another row represents its text")
    if answer.recall is None or answer.ranked is None or answer.pool is None:
        return skip_stage("sparse", "sparse-document recall is off")
    position = answer.ranked.order[at]
    reason = answer.recall.report.reason
    if position in answer.recall.given:
        gift = "was given a row" if is_taken else "has a reserved part of the budget"
        return pass_stage("sparse", f"{gift}: its document is short and similar", {"reason": reason})
    for taker, given in answer.recall.given.items():
        if given.displaced == position:
            row = asker.store.fetch([answer.pool.keys[taker].rowid])[0]
            against = RivalView(chunk_id=row.chunk.id, path=row.doc.path)
            detail = f"its row was given to {row.doc.path}, a short, similar document"
            return fail_stage("sparse", "displaced", detail, {"against": against, "reason": reason})
    return pass_stage("sparse", f"kept its row ({reason})", {"reason": reason})


def _page(answer: Answer, at: int | None, *, is_context: bool) -> Stage:
    if at is None:
        return skip_stage("page", "not in the list")
    first, last = answer.plan.offset + 1, last_row(answer, is_context=is_context)
    if last is None:
        first, last = (candidate_range(answer)[0] + 1, answer.total)
    evidence = {"rank": at + 1, "of": answer.total, "first": first, "last": last}
    if at + 1 < first:
        return fail_stage("page", "offset", f"OFFSET skips row {at + 1}", evidence)
    if at + 1 > last:
        return fail_stage("page", "limit", f"row {at + 1} is after row {last}, the last one shown", evidence)
    return pass_stage("page", f"row {at + 1} is between {first} and {last}", evidence)


NAMES = ("diversity", "duplicate", "budget", "truncated")


def packed_stages(
    packed: Packed | None,
    table: Table,
    target_chunk: Sought,
    *,
    cap: int,
    is_listed: bool,
    is_copy: bool = False,
) -> Iterator[Stage]:
    """Yield diversity, duplicate, budget and truncated. cap: the most chunks of one document, 0 for no cap.

    is_copy: True if the chunk is left out because its text is packed elsewhere.
    """
    if packed is None or not is_listed:
        reason = "the answer is a list, not a context" if packed is None else "not among the rows to pack"
        yield from (skip_stage(name, reason) for name in NAMES)
        return
    reasons = {each.chunk_id: each.reason for each in packed.omitted}
    reason = reasons.get(target_chunk.row.chunk.id, "")
    yield _diversity(packed, target_chunk, reason, cap)
    yield _duplicate(packed, target_chunk, reason)
    yield _budget(packed, table, target_chunk, is_refused=is_copy or reason in ("diversity", "duplicate", "dropped"))
    yield _truncated_stage(packed, table, target_chunk)


def holder(packed: Packed, table: Table, target_chunk: Sought) -> Block | None:
    """Return the block that contains the target or its beginning."""
    for block in packed.blocks:
        if target_chunk.row.chunk.id in block.chunk_ids or (
            table == "doc" and block.doc.id == target_chunk.row.doc.id
        ):
            return block
    return None


def siblings(packed: Packed, target_chunk: Sought) -> list[str]:
    """Return the packed chunks of the target's document."""
    blocks = [block for block in packed.blocks if block.doc.id == target_chunk.row.doc.id]
    return [chunk_id for block in blocks for chunk_id in block.chunk_ids]


def _diversity(packed: Packed, target_chunk: Sought, reason: str, cap: int) -> Stage:
    if not cap:
        return skip_stage("diversity", "no cap per document")
    others = siblings(packed, target_chunk)
    if reason == "diversity":
        detail = f"its document already has {cap} chunks packed, the cap"
        return fail_stage("diversity", "diversity", detail, {"cap": cap, "siblings": others})
    return pass_stage("diversity", f"its document is within the cap of {cap}", {"cap": cap})


def _duplicate(packed: Packed, target_chunk: Sought, reason: str) -> Stage:
    if reason != "duplicate":
        return pass_stage("duplicate", "its text is not packed elsewhere")
    chunk = target_chunk.row.chunk
    block = next(
        each.number
        for each in packed.blocks
        if each.doc.id == target_chunk.row.doc.id and each.offset <= chunk.offset and chunk.end <= each.end
    )
    return fail_stage("duplicate", "duplicate", f"its text is already in block {block}", {"block": block})


def _budget(packed: Packed, table: Table, target_chunk: Sought, *, is_refused: bool) -> Stage:
    if is_refused:
        return skip_stage("budget", "rejected before the budget check")
    budget, left, which = _part(packed, target_chunk)
    evidence = {"needed_tokens": target_chunk.row.chunk.tokens, "left_tokens": left}
    if holder(packed, table, target_chunk) is not None:
        return pass_stage("budget", f"packed; {left} of {budget} tokens left{which}", evidence)
    detail = f"needs {target_chunk.row.chunk.tokens} tokens; {left} of {budget} left{which}"
    return fail_stage("budget", "budget", detail, evidence)


def _part(packed: Packed, target_chunk: Sought) -> tuple[int, int, str]:
    """Return the tokens that the target competes for, how many are left, and a note on the part of the budget."""
    left = packed.budget_tokens - packed.used_tokens
    if not packed.reserved_for:
        return packed.budget_tokens, left, ""
    own = packed.reserved_tokens - packed.reserved_used_tokens
    if target_chunk.row.chunk.id in packed.reserved_for:
        return packed.reserved_tokens, own, " (reserved for short documents)"
    room = packed.budget_tokens - packed.reserved_tokens
    return room, max(0, left - own), f" (without {packed.reserved_tokens} reserved for a short document)"


def _truncated_stage(packed: Packed, table: Table, target_chunk: Sought) -> Stage:
    block = holder(packed, table, target_chunk)
    if block is None:
        return skip_stage("truncated", "not packed")
    if not block.truncated:
        return pass_stage("truncated", "packed whole")
    size = len(target_chunk.row.chunk.text)
    evidence = {"kept_chars": len(block.text), "of_chars": size}
    detail = f"{len(block.text)} of its {size} characters are packed"
    if is_packed(packed, table, target_chunk):
        return pass_stage("truncated", f"{detail}, including the target", evidence)
    return fail_stage("truncated", "truncated", detail, evidence)
