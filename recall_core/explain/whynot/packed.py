"""The stages of packing: the cap on a document, what is there already, the budget, and the cut."""

from __future__ import annotations

from collections.abc import Iterator

from recall_core.explain.whynot.present import is_packed
from recall_core.explain.whynot.stage import Stage, failed, passed, passed_over
from recall_core.explain.whynot.target import Sought
from recall_core.types import Block, Packed, Table

NAMES = ("diversity", "duplicate", "budget", "truncated")


def packed_stages(
    packed: Packed | None, table: Table, sought: Sought, *, cap: int, is_listed: bool
) -> Iterator[Stage]:
    """diversity, duplicate, budget, truncated. cap: the most chunks of one document, 0 for none."""
    if packed is None or not is_listed:
        reason = "the answer is a list, not a context" if packed is None else "it is not on the list that is packed"
        yield from (passed_over(name, reason) for name in NAMES)
        return
    reasons = {each.chunk_id: each.reason for each in packed.omitted}
    reason = reasons.get(sought.row.chunk.id, "")
    yield _diversity(packed, sought, reason, cap)
    yield _duplicate(packed, sought, reason)
    yield _budget(packed, table, sought, is_refused=reason in ("diversity", "duplicate", "dropped"))
    yield _truncated(packed, table, sought)


def holder(packed: Packed, table: Table, sought: Sought) -> Block | None:
    """The block that holds it, or its beginning."""
    for block in packed.blocks:
        if sought.row.chunk.id in block.chunk_ids or (table == "doc" and block.doc.id == sought.row.doc.id):
            return block
    return None


def siblings(packed: Packed, sought: Sought) -> list[str]:
    """The packed chunks of its document."""
    blocks = [block for block in packed.blocks if block.doc.path == sought.row.doc.path]
    return [chunk_id for block in blocks for chunk_id in block.chunk_ids]


def _diversity(packed: Packed, sought: Sought, reason: str, cap: int) -> Stage:
    if not cap:
        return passed_over("diversity", "there is no cap on a document")
    others = siblings(packed, sought)
    if reason == "diversity":
        detail = f"{cap} of its document's chunks are packed, which is the cap"
        return failed("diversity", "diversity", detail, {"cap": cap, "siblings": others})
    return passed("diversity", f"its document keeps to the cap of {cap}", {"cap": cap})


def _duplicate(packed: Packed, sought: Sought, reason: str) -> Stage:
    if reason != "duplicate":
        return passed("duplicate", "its text is not in the context otherwise")
    chunk = sought.row.chunk
    block = next(
        each.number
        for each in packed.blocks
        if each.doc.id == sought.row.doc.id and each.offset <= chunk.offset and chunk.end <= each.end
    )
    return failed("duplicate", "duplicate", f"its text stands in block {block} already", {"block": block})


def _budget(packed: Packed, table: Table, sought: Sought, *, is_refused: bool) -> Stage:
    if is_refused:
        return passed_over("budget", "it was passed over before its size mattered")
    left = packed.budget_tokens - packed.used_tokens
    evidence = {"needed_tokens": sought.row.chunk.tokens, "left_tokens": left}
    if holder(packed, table, sought) is not None:
        return passed("budget", f"it is packed, with {left} of {packed.budget_tokens} tokens left", evidence)
    detail = (
        f"it has {sought.row.chunk.tokens} tokens, and {left} of {packed.budget_tokens} are left when packing ends"
    )
    return failed("budget", "budget", detail, evidence)


def _truncated(packed: Packed, table: Table, sought: Sought) -> Stage:
    block = holder(packed, table, sought)
    if block is None:
        return passed_over("truncated", "it is not packed")
    if not block.truncated:
        return passed("truncated", "it is packed whole")
    size = len(sought.row.chunk.text)
    evidence = {"kept_chars": len(block.text), "of_chars": size}
    told = f"its first {len(block.text)} of {size} characters are packed"
    if is_packed(packed, table, sought):
        return passed("truncated", f"{told}, which hold what was sought", evidence)
    return failed("truncated", "truncated", told, evidence)
