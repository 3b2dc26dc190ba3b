"""The context: pins and drops, the chosen line, and what it is worth. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from recall_core._lazy import hashlib
from recall_core.config import SEARCH_K
from recall_core.rank.fuse import Same
from recall_core.types import Packed
from recall_tui.state.records import Analysis, Packing
from recall_tui.state.session import Session, is_seen, list_range, move_cursor, set_budget

if TYPE_CHECKING:
    from recall_core.contract.views import AccountView
    from recall_core.retrieve.answer import Answer
    from recall_tui.state.events import Repacked

LIST = "context"
"""The name of the pane's list among the session's cursors."""
LEAST_TOKENS, MOST_TOKENS = 50, 100_000
"""Budgets at the ends of the slider: a paragraph, and most of a large model's window."""


class Entry(NamedTuple):
    """A line that can be chosen: a block, candidates left out, or a waiting pin or drop. place: index in its kind."""

    kind: Literal["block", "omission", "waiting"]
    place: int
    chunk_ids: tuple[str, ...]
    rank: int = 0


class Worth(NamedTuple):
    """The account of a context, as in `recall context --explain --json`.

    model_tokens: estimated, or None if the context's own counter is exact.
    """

    view: AccountView
    model_tokens: int | None


def to_pack(answer: Answer, *, is_k_moved: bool) -> Answer:
    """Return the answer as `recall context` packs it: plain words use their whole ranking without --k."""
    if answer.plan.rql is not None or is_k_moved:
        return answer
    return answer._replace(plan=answer.plan._replace(limit=SEARCH_K, is_capped=False))


def print_context(packed: Packed) -> str:
    """Return the context exactly as `recall context` prints it, with a line break at its end.

    Stray bytes in a path that is not UTF-8 are escaped, as in the command.
    """
    return f"{packed.text}\n".encode("utf-8", "backslashreplace").decode("utf-8")


def digest(packed: Packed) -> str:
    """Return the SHA-256 of the output of `recall context`, in hexadecimal."""
    return _digest(Same(packed))


@lru_cache(maxsize=2)
def _digest(packed: Same[Packed]) -> str:
    """Return the digest from a cache, since a title needs it at every change and hashing waits for other threads."""
    return hashlib.sha256(print_context(packed.value).encode("utf-8")).hexdigest()


def entries(session: Session) -> tuple[Entry, ...]:
    """Return every line that can be chosen, from top to bottom."""
    packed = session.context.packed
    if packed is None:
        return ()
    return (
        *(Entry("block", at, block.chunk_ids, block.ranks[0]) for at, block in enumerate(packed.blocks)),
        *(Entry("omission", at, (left.chunk_id,), left.rank) for at, left in enumerate(packed.omitted)),
        *(Entry("waiting", at, (waiting.chunk_id,)) for at, waiting in enumerate(session.context.waiting)),
    )


def cursor(session: Session) -> int:
    """Return the index of the chosen line among the entries."""
    return min(session.cursors.get(LIST, 0), max(0, len(entries(session)) - 1))


def chosen_entry(session: Session) -> Entry | None:
    """Return the chosen line, or None."""
    lines = entries(session)
    return lines[cursor(session)] if lines else None


def chosen_chunks(session: Session) -> tuple[str, ...]:
    """Return the chunks to pin or exclude: the selected row in the results and explain panes, else the chosen line.

    A line for a tail below the least score, or after 200 rows, names no chunk.
    """
    if session.pane in ("results", "explain"):
        hit = session.results.hit
        return (hit.chunk.id,) if hit is not None and hit.chunk is not None else ()
    entry = chosen_entry(session)
    return entry.chunk_ids if entry is not None and all(entry.chunk_ids) else ()


def has_chunk(session: Session) -> bool:
    """Return True if there is a chunk to pin or exclude."""
    return bool(chosen_chunks(session))


def has_what_ifs(session: Session) -> bool:
    """Return True if a chunk is pinned or excluded."""
    return bool(session.context.pins or session.context.drops)


def is_packed(session: Session) -> bool:
    """Return True if the context is packed for the current budget, pins and drops."""
    waiting = {each.chunk_id for each in session.context.waiting}
    pins, drops = (
        tuple(each for each in ids if each not in waiting) for ids in (session.context.pins, session.context.drops)
    )
    return session.context.packing == Packing(session.context.budget_tokens, pins, drops)


def toggle_pin(session: Session) -> Session:
    """Return the session with the chosen chunks pinned, or unpinned if one of them was pinned."""
    pins, drops = _toggle_marks(session, session.context.pins, session.context.drops)
    fresh = _keep_line(session)
    return fresh._replace(context=fresh.context._replace(pins=pins, drops=drops))


def toggle_drop(session: Session) -> Session:
    """Return the session with the chosen chunks excluded, or included again if one of them was excluded."""
    drops, pins = _toggle_marks(session, session.context.drops, session.context.pins)
    fresh = _keep_line(session)
    return fresh._replace(context=fresh.context._replace(pins=pins, drops=drops))


def clear_what_ifs(session: Session) -> Session:
    """Return the session without pins and drops."""
    return session._replace(context=session.context._replace(pins=(), drops=()))


def toggle_details(session: Session) -> Session:
    """Return the session with the details shown or hidden."""
    return session._replace(context=session.context._replace(details=not session.context.details))


def count_covered(worth: Worth) -> tuple[int, int] | None:
    """Return how many of the query's terms are in the context, and how many there are. None without words."""
    if "coverage" not in worth.view:
        return None
    terms = worth.view["coverage"]["terms"]
    return sum(term["packed"] for term in terms), len(terms)


def toggle_block(session: Session) -> Session:
    """Return the session with the chosen block shown in full or folded, and its row selected if it is listed."""
    entry = chosen_entry(session)
    if entry is None:
        return session
    row = row_of(session, entry)
    is_open = session.context.unfolded in entry.chunk_ids
    session = session._replace(
        context=session.context._replace(unfolded="" if is_open or entry.kind != "block" else entry.chunk_ids[0])
    )
    return (
        session
        if row is None
        else session._replace(
            results=session.results._replace(selected=row, hit=session.results.hits.get(row, session.results.hit))
        )
    )


def row_of(session: Session, entry: Entry) -> int | None:
    """Return the row of an entry's first chunk in the results, or None if it is not listed.

    Fetched rows are compared by chunk, since sparse-document recall can give a rank to another chunk. Other rows are
    found by rank.
    """
    for row, hit in session.results.hits.items():
        if hit.chunk is not None and hit.chunk.id == entry.chunk_ids[0]:
            return row
    if session.results.answer is None or entry.rank == 0:
        return None
    offset, rows = list_range(session.results.answer)
    row = entry.rank - offset - 1
    return row if 0 <= row < rows and row not in session.results.hits else None


def scale_budget(session: Session, percent: int) -> Session:
    """Return the session with the budget changed by a percentage."""
    return set_budget(session, scale_tokens(session.context.budget_tokens, percent))


def scale_tokens(tokens: int, percent: int) -> int:
    """Return tokens plus a percentage, or its inverse for a negative one.

    The result differs by at least 1 and is at least 1.
    """
    factor = 1 + abs(percent) / 100
    if percent > 0:
        return max(tokens + 1, round(tokens * factor))
    return max(1, min(tokens - 1, round(tokens / factor)))


def share_of(budget_tokens: int) -> float:
    """Return the place of a budget on the slider, 0 to 1. The scale is logarithmic."""
    inside = min(max(budget_tokens, LEAST_TOKENS), MOST_TOKENS)
    return math.log(inside / LEAST_TOKENS) / math.log(MOST_TOKENS / LEAST_TOKENS)


def budget_at(share: float) -> int:
    """Return the budget at a place of the slider, rounded to two digits."""
    exact: float = LEAST_TOKENS * (MOST_TOKENS / LEAST_TOKENS) ** share
    return int(float(f"{exact:.1e}"))


def take_context(session: Session, event: Repacked) -> Session:
    """Take another context. A line that was chosen stays with its chunk."""
    before = chosen_entry(session) if LIST in session.cursors else None
    session = session._replace(
        context=session.context._replace(
            packed=event.packed,
            block_tokens=event.block_tokens,
            packing=event.packing,
            packed_at=event.generation,
            waiting=event.waiting,
        )
    )
    if before is None:
        return session
    for row, entry in enumerate(entries(session)):
        if before.chunk_ids[0] in entry.chunk_ids:
            return session._replace(cursors={**session.cursors, LIST: row})
    return session


def worth_analysis(session: Session) -> Analysis | None:
    """Return the analysis of the context's worth, or None while the context belongs to an older ranking."""
    packing = session.context.packing
    shown_at = (
        session.query.generation if session.results.answered == session.query.question else session.results.ranked_at
    )
    if session.context.packed is None or packing is None or session.context.packed_at != shown_at:
        return None
    return Analysis("worth", str(packing.budget_tokens), " ".join((*packing.pins, "-", *packing.drops)))


def wants(session: Session) -> Iterator[Analysis]:
    """Yield the analyses for the pane while it is visible."""
    analysis = worth_analysis(session) if is_seen(session, "context") else None
    if analysis is not None:
        yield analysis


def flags(packing: Packing | None, budget_tokens: int) -> list[str]:
    """Return a packing as flags of `recall context`. budget_tokens: used before the first packing."""
    if packing is None:
        return ["--budget-tokens", str(budget_tokens)]
    pins = [word for chunk_id in packing.pins for word in ("--pin", chunk_id)]
    drops = [word for chunk_id in packing.drops for word in ("--drop", chunk_id)]
    return ["--budget-tokens", str(packing.budget_tokens), *pins, *drops]


def forget_line(session: Session) -> Session:
    """Return the session for another question, without a chosen line."""
    cursors = {name: row for name, row in session.cursors.items() if name != LIST}
    return session._replace(cursors=cursors, context=session.context._replace(unfolded=""))


def _keep_line(session: Session) -> Session:
    """Return the session with the chosen line fixed, so that it stays with its chunk."""
    if not entries(session):
        return session
    return move_cursor(session, LIST, cursor(session), len(entries(session)))


def _toggle_marks(
    session: Session, marked: tuple[str, ...], other: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return both lists of marks with the chosen chunks added to the first, or removed from it."""
    chunks = chosen_chunks(session)
    rest = tuple(each for each in marked if each not in chunks)
    if len(rest) < len(marked):
        return rest, other
    return (*marked, *chunks), tuple(each for each in other if each not in chunks)
