"""The part of a budget that is kept for rows which sparse-document recall brought in.

The ranked rows are packed into the rest of the budget, whether they fill it or not; then the injected ones into their
own part, whether they fill that or not. Neither part depends on what the other holds, so both only grow with the
budget. Of all rows one may be cut, the last of the context. It is an injected one where some ranked row stands whole
before it or none was left out; the ranked rows then come whole. It is a ranked one only beside injected rows that are
all whole, which no larger budget changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recall_core.config import Config
from recall_core.deadline import check
from recall_core.pack.growth import Growth, Span
from recall_core.pack.layout import Draft, Layout, chunk_of, finish, fits, omission, part, render
from recall_core.types import Hit, Omission, Packed


class Reserve(NamedTuple):
    """Tokens of the budget, and the injected hits that have them, nearest first. Without hits, no tokens."""

    tokens: int = 0
    hits: tuple[Hit, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Of their chunks."""
        return tuple(chunk_of(hit).id for hit in self.hits)

    @property
    def ranks(self) -> frozenset[int]:
        """Of the hits, which are packed here and nowhere else."""
        return frozenset(hit.rank for hit in self.hits)


class Injected(NamedTuple):
    """What became of the hits of a reserve. used_tokens: of its part, at most."""

    drafts: tuple[Draft, ...]
    omitted: tuple[Omission, ...]
    used_tokens: int
    are_whole: bool
    """Every one of them stands in the context, to its end."""


def reserve(
    injected: Sequence[Hit],
    *,
    budget_tokens: int,
    config: Config,
    settled: frozenset[str],
    pins: Sequence[Hit],
) -> Reserve:
    """What the settings keep for these hits, nearest first. settled: ids that are pinned or dropped. pins: the pinned
    candidates.

    A hit that is settled, has no text, or comes from a document whose pins use up the cap, goes the way of
    every other candidate. Which ones do depends on no budget.
    """
    if not injected or not config.sparse_share:
        return Reserve()
    taken = [hit.doc.path for hit in pins]
    chosen: list[Hit] = []
    for hit in injected:
        chunk, own = chunk_of(hit), hit.doc.path
        if chunk.text and chunk.id not in settled and not 0 < config.diversity <= taken.count(own):
            chosen.append(hit)
            taken.append(own)
    return Reserve(share(budget_tokens, config), tuple(chosen)) if chosen else Reserve()


def share(budget_tokens: int, config: Config) -> int:
    """Whole tokens of the budget that injected rows have: of one token more, at most one more."""
    from fractions import Fraction  # noqa: PLC0415 - few contexts have an injected row

    return int(Fraction(repr(config.sparse_share)) * budget_tokens)


def least_budget(room: int, config: Config) -> int:
    """The smallest budget that leaves the ranked rows this room."""
    budget_tokens = room
    while budget_tokens - share(budget_tokens, config) < room:
        budget_tokens += 1
    return budget_tokens


def fill(
    sheet: Layout,
    own: Reserve,
    ranked: Sequence[Draft],
    *,
    budget_tokens: int,
    min_fragment: int,
    widest: int,
    may_cut: bool,
) -> Injected:
    """The injected hits behind whole ranked blocks, each in a block of its own, up to the first that does not fit.

    Of that one the longest prefix of its growth, if it may be cut. What they cost is counted with the separator above
    them and under the widest number that a header can have, so that it does not depend on the blocks before them.
    """
    taken: list[tuple[Hit, Span]] = []
    omitted: list[Omission] = []
    room, are_whole = own.tokens - seam_tokens(sheet), True
    for hit in own.hits:
        chunk = chunk_of(hit)
        if are_whole and _is_within(hit.doc.id, chunk.offset, chunk.end, ranked):
            omitted.append(omission("duplicate", hit))
            continue

        def fitting(span: Span, hit: Hit = hit) -> bool:
            check()
            more = [*taken, (hit, span)]
            if _cost(sheet, more, widest) > room:
                return False
            return fits(sheet, [*ranked, *_drafts(sheet, more, len(ranked) + 1)], budget_tokens)

        whole, span = (0, len(chunk.text)), None
        if are_whole and fitting(whole):
            span = whole
        elif are_whole:
            are_whole = False
            growth = Growth(hit, is_prefix=is_shown(hit, ranked))
            span = growth.longest(sheet.count, min_fragment, fitting) if may_cut else None
        if span is not None:
            taken.append((hit, span))
        else:
            omitted.append(omission("budget", hit))
    used = _cost(sheet, taken, widest) if taken else 0
    return Injected(tuple(_drafts(sheet, taken, len(ranked) + 1)), tuple(omitted), used, are_whole)


def seam_tokens(sheet: Layout) -> int:
    """What may be lost where a text is joined to others by a separator without white space at its ends.

    A word there runs into the next one, and both together can count one token more than they did.
    """
    spaced = sheet.separator[:1].isspace() and sheet.separator[-1:].isspace()
    return 0 if spaced else 2


def _cost(sheet: Layout, taken: Sequence[tuple[Hit, Span]], number: int) -> int:
    wide = [part(sheet, hit, span, number=number) for hit, span in taken]
    return sheet.count(sheet.separator + render(sheet, wide))


def _drafts(sheet: Layout, taken: Sequence[tuple[Hit, Span]], first: int) -> list[Draft]:
    return [part(sheet, hit, span, number=number) for number, (hit, span) in enumerate(taken, start=first)]


def is_shown(hit: Hit, drafts: Sequence[Draft]) -> bool:
    """Return True if a block of its document contains all of its passage."""
    return hit.passage is not None and _is_within(hit.doc.id, hit.passage.offset, hit.passage.end, drafts)


def _is_within(doc_id: str, offset: int, end: int, drafts: Sequence[Draft]) -> bool:
    blocks = (each.block for each in drafts if each.block.doc.id == doc_id)
    return any(block.offset <= offset and end <= block.end for block in blocks)


def context(
    sheet: Layout,
    drafts: Sequence[Draft],
    own: Reserve,
    added: Injected,
    *,
    total: int,
    budget_tokens: int,
    omitted: Iterable[Omission],
    warnings: Iterable[str],
) -> Packed:
    """The context of these blocks. own, added: who has a part of the budget, and what became of them.
    total: how many candidates there were."""
    text = render(sheet, drafts)
    return Packed(
        text=text,
        budget_tokens=budget_tokens,
        used_tokens=sheet.count(text),
        counter=sheet.counter,
        candidates=total,
        blocks=tuple(map(finish, drafts)),
        omitted=tuple(omitted),
        warnings=tuple(warnings),
        reserved_for=own.ids,
        reserved_tokens=own.tokens,
        reserved_used_tokens=added.used_tokens,
    )


def unseen_pins(ids: Iterable[str]) -> list[str]:
    """The warnings for pinned chunks that are not among the candidates."""
    return [f"W_PIN: {chunk_id} is not among the candidates" for chunk_id in sorted(ids)]
