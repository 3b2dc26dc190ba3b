"""The stages behind the pool: rank, ties, min_score, min_cosine, reranking, sparse recall and page; then packing."""

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
    asker: KeptAsker, answer: Answer, sought: Sought, *, is_context: bool, packed: Packed | None = None
) -> Iterator[Stage]:
    """fusion, tie_break, min_score, min_cosine if set, rerank, copy where the list has copies, sparse, page."""
    if answer.pool is None or answer.ranked is None or answer.fused is None:
        for name in ("fusion", "tie_break", "min_score", "rerank"):
            yield skip_stage(name, "the question scores nothing")
        yield from copy_stages(asker, answer, sought)
        yield skip_stage("sparse", "the question scores nothing")
        yield _page(answer, row_of(asker, answer, sought), is_context=is_context)
        return
    if place(answer, sought) is None and standing(answer, sought) is None:
        for name in ("fusion", "tie_break", "min_score", "rerank", "sparse", "page"):
            yield skip_stage(name, "it is not among the candidates")
        return
    order = _fuse(answer, sought)
    yield from _fusion(asker, answer, order, sought, is_context=is_context)
    yield _min_score(answer, sought)
    yield from _min_cosine(answer, sought)
    yield _rerank(answer, order, sought)
    yield from copy_stages(asker, answer, sought, packed=packed)
    yield _sparse(asker, answer, sought, is_taken=answer.plan.is_capped or not is_context)
    yield _page(answer, place(answer, sought), is_context=is_context)


def last_row(answer: Answer, *, is_context: bool) -> int | None:
    """Return the last rank that is shown, or None where a context takes the list as far as its budget goes."""
    if is_context and not answer.plan.is_capped:
        return None
    return answer.plan.offset + answer.plan.limit


def _fuse(answer: Answer, sought: Sought) -> Ranking:
    """Return the order by score before reranking and recall, without other rows that min_cosine drops."""
    pool, config = answer.pool, answer.plan.config
    assert pool is not None  # noqa: S101 - the caller looked
    ordered, is_document = rank(pool, config), answer.plan.table == "doc"
    ordered = best_of_each_document(pool, ordered) if is_document else ordered
    if not config.min_cosine:
        return ordered
    near = cut_by_cosine(pool, ordered, config.min_cosine, by_document=is_document)
    dropped = frozenset(near.order[near.kept : ordered.kept]) - {position(answer, sought)}
    order = [each for each in ordered.order if each not in dropped]
    return ordered.reorder(order, kept=ordered.kept - len(dropped))


def _fusion(asker: KeptAsker, answer: Answer, order: Ranking, sought: Sought, *, is_context: bool) -> Iterator[Stage]:
    if answer.plan.order:
        yield skip_stage("fusion", "ORDER BY decides the order, not the score")
        yield skip_stage("tie_break", "ORDER BY decides the order, not the score")
        return
    text, own = _of_text(answer, order, sought)
    at, whole = text.order.index(own), place(answer, sought, order=order.order)
    assert whole is not None  # noqa: S101 - the candidates are the same
    position, last, order = order.order[whole], last_row(answer, is_context=is_context), text
    score = order.scores[position]
    evidence: dict[str, Any] = {"rank": at + 1, "of": len(order), "score": score}
    told = f"rank {at + 1} of {len(order)} with {score:.6f}"
    if last is None or last < 1 or last > len(order):
        yield pass_stage("fusion", told, evidence)
        yield skip_stage("tie_break", "no other row competes for its place")
        return
    last_position = order.order[last - 1]
    last_score = order.scores[last_position]
    evidence |= {"last": last, "last_score": last_score, "gap": last_score - score}
    is_reached = at < last or (bool(answer.plan.config.rerank) and whole < answer.plan.config.rerank_rows)
    is_tied = score == last_score and own != last_position
    if is_reached or is_tied:
        yield pass_stage("fusion", told, evidence)
    else:
        behind = f", {last_score - score:.6f} behind row {last}"
        yield fail_stage("fusion", "rank", told + behind, evidence)
    if not is_tied:
        yield skip_stage("tie_break", f"row {last} does not have its score")
        return
    yield _tie(asker, answer, last_position, sought, score=score, is_lost=not is_reached)


def _tie(asker: KeptAsker, answer: Answer, other: int, sought: Sought, *, score: float, is_lost: bool) -> Stage:
    assert answer.pool is not None  # noqa: S101 - the caller looked
    rival = asker.store.fetch([answer.pool.keys[other].rowid])[0]
    own = sought.row
    key = "id"
    if rival.doc.path != own.doc.path:
        key = "path"
    elif rival.chunk.offset != own.chunk.offset:
        key = "offset"
    against = RivalView(chunk_id=rival.chunk.id, path=rival.doc.path, score=score)
    evidence = {"score": score, "key": key, "against": against}
    where = rival.where
    if is_lost:
        return fail_stage("tie_break", "tie_break", f"{where} has the same score and comes first by {key}", evidence)
    return pass_stage("tie_break", f"{where} has the same score and comes later by {key}", evidence)


def _own_position(answer: Answer, sought: Sought) -> int | None:
    """Return its position in the pool, also where another row stands for its text."""
    if standing(answer, sought) is not None and answer.pool is not None:
        return position_in(answer.pool, sought)
    return position(answer, sought)


def _min_score(answer: Answer, sought: Sought) -> Stage:
    least, at = answer.plan.config.min_score, _own_position(answer, sought)
    if least <= 0 or at is None or answer.ranked is None:
        return skip_stage("min_score", "no score is too low")
    score = answer.ranked.scores[at]
    evidence = {"score": score, "min_score": least}
    if score >= least:
        return pass_stage("min_score", f"{score:.6f} is not below {least:g}", evidence)
    return fail_stage("min_score", "threshold", f"{score:.6f} is below min_score {least:g}", evidence)


def _min_cosine(answer: Answer, sought: Sought) -> Iterator[Stage]:
    least, at, pool = answer.plan.config.min_cosine, _own_position(answer, sought), answer.pool
    if least <= 0 or at is None or pool is None or not pool.semantic:
        return
    cosine, limits = pool.semantic[at], {"min_cosine": least}
    if has_word(pool, at, by_document=answer.plan.table == "doc"):
        yield pass_stage("min_cosine", "it has a query word", limits)
    elif cosine is None:
        yield fail_stage("min_cosine", "distant", "it has neither a query word nor a vector", limits)
    elif cosine >= least:
        yield pass_stage(
            "min_cosine", f"its cosine {cosine:.6f} is not below {least:g}", {"cosine": cosine, **limits}
        )
    else:
        said = f"it has no query word, and its cosine {cosine:.6f} is below min_cosine {least:g}"
        yield fail_stage("min_cosine", "distant", said, {"cosine": cosine, **limits})


def _rerank(answer: Answer, order: Ranking, sought: Sought) -> Stage:
    config, plan = answer.plan.config, answer.plan
    if not config.rerank or answer.fused is None:
        return skip_stage("rerank", "no reranker is set")
    before, after = place(answer, sought, order=order.order), place(answer, sought, order=answer.fused.order)
    if answer.copies is not None and answer.pool is not None:
        own = position_in(answer.pool, sought)
        after = None if own is None else answer.fused.order.index(answer.copies.first(own))
    if before is None or after is None or before >= config.rerank_rows:
        return skip_stage("rerank", f"it is not among the {config.rerank_rows} rows that are scored again")
    evidence = {"rank_before": before + 1, "rank": after + 1, "depth": config.rerank_rows}
    told = f"from rank {before + 1} to {after + 1}"
    if after >= plan.offset + plan.limit and not plan.order:
        return fail_stage("rerank", "rerank", told, evidence)
    return pass_stage("rerank", told, evidence)


def _of_text(answer: Answer, order: Ranking, sought: Sought) -> tuple[Ranking, int]:
    """Return the order by score, each text once if the list does so, and the target's position in it."""
    assert answer.pool is not None  # noqa: S101 - the caller looked
    if answer.plan.table == "doc":
        at = place(answer, sought, order=order.order)
        return order, order.order[at or 0]
    own = position_in(answer.pool, sought)
    assert own is not None  # noqa: S101 - as above
    copies = collapse(order, answer.known.texts or {}, answer.plan)
    return (order, own) if copies is None else (copies.standing(), copies.first(own))


def copy_stages(asker: KeptAsker, answer: Answer, sought: Sought, *, packed: Packed | None = None) -> Iterator[Stage]:
    """Whether another row stands for its text; nothing where the list has no copies. packed: the context, of one."""
    if not answer.struck:
        return
    rank, rowid = _standing_row(asker, answer, sought)
    if rowid is None:
        yield pass_stage("copy", "no row before it has its text")
        return
    (row,) = asker.store.fetch([rowid])
    evidence = {"rank": rank, "against": RivalView(chunk_id=row.chunk.id, path=row.doc.path)}
    where = row.where
    if packed is None:
        yield fail_stage("copy", "copy", f"{where} has its very text and stands for it, at rank {rank}", evidence)
    elif (holding := holder_of_text(asker, packed, sought)) is None:
        yield pass_stage("copy", f"its text, of which {where} is the first, is not packed elsewhere", evidence)
    else:
        yield fail_stage("copy", "copy", f"its very text is packed, in block {holding.number}", evidence)


def holder_of_text(asker: KeptAsker, packed: Packed, sought: Sought) -> Block | None:
    """Return the block that holds a whole chunk with its very text, and another one than it."""
    own = sought.row.rowid
    alike = frozenset(asker.store.twins([own]).get(own, ())) - {own}
    for block in packed.blocks:
        if not block.truncated and any(asker.store.rowid("chunk", each) in alike for each in block.chunk_ids):
            return block
    return None


def _standing_row(asker: KeptAsker, answer: Answer, sought: Sought) -> tuple[int | None, int | None]:
    """Return the rank of its text and the rowid of the chunk that stands for it; (None, None) where no other does."""
    if answer.pool is None:
        rowid = asker.struck_rows(answer.plan).get(sought.row.rowid)
        return (None, None) if rowid is None else (asker.places(answer.plan)[rowid] + 1, rowid)
    other = standing(answer, sought)
    if other is None or answer.ranked is None:
        return None, None
    return answer.ranked.order.index(other) + 1, answer.pool.keys[other].rowid


def _sparse(asker: KeptAsker, answer: Answer, sought: Sought, *, is_taken: bool) -> Stage:
    """is_taken: whether rows are given away; a context of all rows keeps tokens instead."""
    at = place(answer, sought)
    if at is None:
        return skip_stage("sparse", "another row stands for its text")
    if answer.recall is None or answer.ranked is None or answer.pool is None:
        return skip_stage("sparse", "sparse-document recall is off")
    position = answer.ranked.order[at]
    reason = answer.recall.report.reason
    if position in answer.recall.given:
        told = "a row was given to it" if is_taken else "a part of the budget is kept for it"
        return pass_stage("sparse", f"{told}: its document is short and near", {"reason": reason})
    for taker, given in answer.recall.given.items():
        if given.displaced == position:
            row = asker.store.fetch([answer.pool.keys[taker].rowid])[0]
            against = RivalView(chunk_id=row.chunk.id, path=row.doc.path)
            detail = f"its row was given to {row.doc.path}, a short document that is near"
            return fail_stage("sparse", "displaced", detail, {"against": against, "reason": reason})
    return pass_stage("sparse", f"no row was taken from it ({reason})", {"reason": reason})


def _page(answer: Answer, at: int | None, *, is_context: bool) -> Stage:
    if at is None:
        return skip_stage("page", "it is not in the list")
    first, last = answer.plan.offset + 1, last_row(answer, is_context=is_context)
    if last is None:
        first, last = (candidate_range(answer)[0] + 1, answer.total)
    evidence = {"rank": at + 1, "of": answer.total, "first": first, "last": last}
    if at + 1 < first:
        return fail_stage("page", "offset", f"OFFSET passes over its row, {at + 1}", evidence)
    if at + 1 > last:
        return fail_stage("page", "limit", f"row {at + 1} comes after the last one that is shown, {last}", evidence)
    return pass_stage("page", f"row {at + 1} is between {first} and {last}", evidence)


NAMES = ("diversity", "duplicate", "budget", "truncated")


def packed_stages(
    packed: Packed | None, table: Table, sought: Sought, *, cap: int, is_listed: bool, is_copy: bool = False
) -> Iterator[Stage]:
    """diversity, duplicate, budget, truncated. cap: the most chunks of one document, 0 for none.

    is_copy: it is left out because its text is packed elsewhere.
    """
    if packed is None or not is_listed:
        reason = "the answer is a list, not a context" if packed is None else "it is not on the list that is packed"
        yield from (skip_stage(name, reason) for name in NAMES)
        return
    reasons = {each.chunk_id: each.reason for each in packed.omitted}
    reason = reasons.get(sought.row.chunk.id, "")
    yield _diversity(packed, sought, reason, cap)
    yield _duplicate(packed, sought, reason)
    yield _budget(packed, table, sought, is_refused=is_copy or reason in ("diversity", "duplicate", "dropped"))
    yield _truncated_stage(packed, table, sought)


def holder(packed: Packed, table: Table, sought: Sought) -> Block | None:
    """Return the block that holds it, or its beginning."""
    for block in packed.blocks:
        if sought.row.chunk.id in block.chunk_ids or (table == "doc" and block.doc.id == sought.row.doc.id):
            return block
    return None


def siblings(packed: Packed, sought: Sought) -> list[str]:
    """Return the packed chunks of its document."""
    blocks = [block for block in packed.blocks if block.doc.path == sought.row.doc.path]
    return [chunk_id for block in blocks for chunk_id in block.chunk_ids]


def _diversity(packed: Packed, sought: Sought, reason: str, cap: int) -> Stage:
    if not cap:
        return skip_stage("diversity", "there is no cap on a document")
    others = siblings(packed, sought)
    if reason == "diversity":
        detail = f"{cap} of its document's chunks are packed, which is the cap"
        return fail_stage("diversity", "diversity", detail, {"cap": cap, "siblings": others})
    return pass_stage("diversity", f"its document keeps to the cap of {cap}", {"cap": cap})


def _duplicate(packed: Packed, sought: Sought, reason: str) -> Stage:
    if reason != "duplicate":
        return pass_stage("duplicate", "its text is not in the context otherwise")
    chunk = sought.row.chunk
    block = next(
        each.number
        for each in packed.blocks
        if each.doc.id == sought.row.doc.id and each.offset <= chunk.offset and chunk.end <= each.end
    )
    return fail_stage("duplicate", "duplicate", f"its text stands in block {block} already", {"block": block})


def _budget(packed: Packed, table: Table, sought: Sought, *, is_refused: bool) -> Stage:
    if is_refused:
        return skip_stage("budget", "it was passed over before its size mattered")
    budget, left, which = _part(packed, sought)
    evidence = {"needed_tokens": sought.row.chunk.tokens, "left_tokens": left}
    if holder(packed, table, sought) is not None:
        return pass_stage("budget", f"it is packed, with {left} of {budget} tokens{which} left", evidence)
    detail = f"it has {sought.row.chunk.tokens} tokens, and {left} of {budget}{which} are left when packing ends"
    return fail_stage("budget", "budget", detail, evidence)


def _part(packed: Packed, sought: Sought) -> tuple[int, int, str]:
    """Return the tokens that it competes for, what is left of them, and which part of the budget they are."""
    left = packed.budget_tokens - packed.used_tokens
    if not packed.reserved_for:
        return packed.budget_tokens, left, ""
    own = packed.reserved_tokens - packed.reserved_used_tokens
    if sought.row.chunk.id in packed.reserved_for:
        return packed.reserved_tokens, own, " that are kept for short documents"
    room = packed.budget_tokens - packed.reserved_tokens
    return room, max(0, left - own), f" beside the {packed.reserved_tokens} that are kept for a short document"


def _truncated_stage(packed: Packed, table: Table, sought: Sought) -> Stage:
    block = holder(packed, table, sought)
    if block is None:
        return skip_stage("truncated", "it is not packed")
    if not block.truncated:
        return pass_stage("truncated", "it is packed whole")
    size = len(sought.row.chunk.text)
    evidence = {"kept_chars": len(block.text), "of_chars": size}
    told = f"{len(block.text)} of its {size} characters are packed"
    if is_packed(packed, table, sought):
        return pass_stage("truncated", f"{told}, which contain what was looked for", evidence)
    return fail_stage("truncated", "truncated", told, evidence)
