"""The part of a budget reserved for rows from sparse-document recall.

Ranked rows use the rest of the budget, and injected rows their own part, even if either stays unfilled. Neither part
depends on the other, so both only grow with the budget. At most one row is cut, the last of the context. An injected
row is cut only if a whole ranked row comes before it or no ranked row was left out, and all ranked rows are whole. A
ranked row is cut only if all injected rows are whole, which no larger budget changes.
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
    """Reserved tokens, and the injected hits that may use them, nearest first. No tokens without hits."""

    tokens: int = 0
    hits: tuple[Hit, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the chunks."""
        return tuple(chunk_of(hit).id for hit in self.hits)

    @property
    def ranks(self) -> frozenset[int]:
        """The ranks of the hits, which are packed only here."""
        return frozenset(hit.rank for hit in self.hits)


class Injected(NamedTuple):
    """The packed hits of a reserve. used_tokens: at most its part."""

    drafts: tuple[Draft, ...]
    omitted: tuple[Omission, ...]
    used_tokens: int
    are_whole: bool
    """True if each of them is in the context to its end."""


def reserve(
    injected: Sequence[Hit],
    *,
    budget_tokens: int,
    config: Config,
    settled: frozenset[str],
    pins: Sequence[Hit],
) -> Reserve:
    """Return the reserve for these hits, nearest first.

    A hit is packed like any other candidate if it is settled, has no text, or belongs to a document whose pins use up
    the cap. This does not depend on the budget.
    settled: pinned or dropped ids.
    pins: the pinned candidates.
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
    """Return the tokens of the budget reserved for injected rows. One more token of budget adds at most one."""
    from fractions import Fraction  # noqa: PLC0415 - few contexts have an injected row

    return int(Fraction(repr(config.sparse_share)) * budget_tokens)


def least_budget(room: int, config: Config) -> int:
    """Return the smallest budget that leaves this room for ranked rows."""
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
    """Return the injected hits after whole ranked blocks, each in its own block, up to the first misfit.

    If the misfit may be cut, add the longest prefix of its growth. Costs include the separator above and the widest
    number a header can have, so they do not depend on the previous blocks.
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
    """Return the tokens that may be lost where texts join at a separator without white space at its ends.

    A word there runs into the next one, and both together can count one token more.
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
    """Return the context of these blocks. own, added: the reserve and its packed hits; total: all candidates."""
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
    """Return warnings for pinned chunks that are not candidates."""
    return [f"W_PIN: {chunk_id} is not a candidate" for chunk_id in sorted(ids)]
