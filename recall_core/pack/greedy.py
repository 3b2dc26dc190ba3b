"""Packing in rank order: take hits from the top until one does not fit."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from recall_core.config import Config
from recall_core.deadline import check
from recall_core.pack.growth import Growth, Span
from recall_core.pack.layout import (
    ALONE,
    Alike,
    Draft,
    Layout,
    Taker,
    chunk_of,
    fits,
    fits_behind,
    join,
    layout,
    omission,
    part,
    place_block,
    render,
    whole,
)
from recall_core.pack.reserve import Injected, Reserve, context, fill, is_shown, least_budget, reserve, unseen_pins
from recall_core.text import Counter
from recall_core.types import Hit, Omission, Packed


class _PackLimits(NamedTuple):
    """The budget and its limits. own: hits with a reserved part of the budget; the ranked rows get the rest."""

    budget_tokens: int
    min_fragment: int
    diversity: int
    dropped: frozenset[str]
    own: Reserve

    @property
    def room_tokens(self) -> int:
        """The tokens available to ranked rows."""
        return self.budget_tokens - self.own.tokens


def pack(
    candidates: Iterable[Hit],
    *,
    total: int,
    budget_tokens: int,
    counter: Counter,
    config: Config,
    pinned: frozenset[str] = frozenset(),
    dropped: frozenset[str] = frozenset(),
    injected: Sequence[Hit] = (),
    alike: Alike = ALONE,
) -> Packed:
    """Return a context of the best candidates: count(text) == used_tokens <= budget_tokens.

    Chunks that touch or overlap blocks of their document are merged into one block, in the first one's place. The
    first chunk that does not fit ends packing. Its longest fitting prefix in `Growth` order becomes a block of its
    own, which is never merged. So a larger budget always shows at least the same code points: the budget decides only
    the first misfit and the size of its part. The prefix is found by bisection. It may be a few characters short for
    a tokenizer that counts less for a longer text. With injected hits the guarantee needs texts that cost at most the
    sum of their parts. Packed chunks plus the counts of omitted add up to total.
    candidates: chunk hits, best first; read at most one chunk past the end of packing, or to the last pinned one.
    total: the number of all candidates.
    pinned, dropped: chunk ids; pinned hits go first, in rank order, and dropped wins over pinned.
    injected: candidates from sparse-document recall, nearest first, with a reserved budget; see `reserve`.
    alike: candidates with the same texts, used only if no earlier one was packed.
    """
    sheet = layout(config, counter)
    pins, rest, absent = _pinned_first(candidates, pinned - dropped)
    own = reserve(injected, budget_tokens=budget_tokens, config=config, settled=pinned | dropped, pins=pins)
    limits = _PackLimits(budget_tokens, config.min_fragment, config.diversity, dropped, own)
    apart = own.ranks
    queue = (hit for hit in chain(pins, rest) if hit.rank not in apart)
    ranked, omitted, misfit = _fill(sheet, queue, limits, alike)
    least, may_cut = config.min_fragment, bool(ranked) or misfit is None
    added = fill(sheet, own, ranked, budget_tokens=budget_tokens, min_fragment=least, widest=total, may_cut=may_cut)
    drafts = [*ranked, *added.drafts]
    omitted += added.omitted
    waiting = _apart(own, added, alike, omitted)
    warnings = unseen_pins(absent)
    if misfit is not None and misfit.hit is not None:
        fragment = _fragment(sheet, ranked, added, misfit.hit, limits)
        drafts += [] if fragment is None else [fragment]
        waiting = chain([misfit.hit] if fragment is None else [], misfit.rest(), queue, waiting)
        if not drafts:
            warnings.append(_too_small(sheet, misfit.hit, limits, config))
    left = total - sum(each.chunks for each in omitted) - sum(len(each.block.ranks) for each in drafts)
    if left > 0 and (first_left := next(waiting, None)) is not None:
        omitted.append(omission("budget", first_left, count=left))
    return context(
        sheet, drafts, own, added, total=total, budget_tokens=budget_tokens, omitted=omitted, warnings=warnings
    )


def _pinned_first(candidates: Iterable[Hit], pinned: frozenset[str]) -> tuple[list[Hit], Iterator[Hit], set[str]]:
    """Return the pinned hits, the other hits, both in packing order, and the pinned ids without a hit."""
    rest = iter(candidates)
    waiting = set(pinned)
    first: list[Hit] = []
    others: list[Hit] = []
    while waiting and (hit := next(rest, None)) is not None:
        chunk_id = chunk_of(hit).id
        (first if chunk_id in waiting else others).append(hit)
        waiting.discard(chunk_id)
    return first, chain(others, rest), waiting


def _apart(own: Reserve, added: Injected, alike: Alike, omitted: list[Omission]) -> Iterator[Hit]:
    """Yield the copies of hits with a reserved budget if such a hit is not packed; else record them as omitted."""
    cut = frozenset(rank for each in added.drafts if each.block.truncated for rank in each.block.ranks)
    out = cut | frozenset(each.rank for each in added.omitted if each.reason == "budget")
    waiting: list[Iterator[Hit]] = []
    for hit in own.hits:
        if hit.rank in out:
            waiting.append(Taker(hit, alike).rest())
        else:
            omitted += Taker(hit, alike).copies()
    return chain.from_iterable(waiting)


def _fill(
    sheet: Layout, queue: Iterator[Hit], limits: _PackLimits, alike: Alike
) -> tuple[list[Draft], list[Omission], Taker | None]:
    """Return the blocks before the first misfit, the hits skipped on the way, and the misfit."""
    drafts: list[Draft] = []
    omitted: list[Omission] = []
    packed_of = Tally(hit.doc.path for hit in limits.own.hits)
    for first in queue:
        check()
        taker = Taker(first, alike)
        while (hit := taker.hit) is not None:
            reason = _refusal(hit, drafts, packed_of, limits)
            if reason is None:
                grown = _add(sheet, drafts, hit)
                if not fits(sheet, grown, limits.room_tokens):
                    return drafts, omitted, taker
                drafts = grown
                packed_of[hit.doc.path] += 1
            else:
                omitted.append(omission(reason, hit))
            if reason in (None, "duplicate"):  # its text is in the context
                omitted += taker.copies()
                break
            taker.pass_over()
    return drafts, omitted, None


def _refusal(
    hit: Hit, drafts: Sequence[Draft], packed_of: Tally[str], limits: _PackLimits
) -> Literal["empty", "dropped", "duplicate", "diversity"] | None:
    chunk = chunk_of(hit)
    if not chunk.text:
        return "empty"
    if chunk.id in limits.dropped:
        return "dropped"
    if any(
        each.block.offset <= chunk.offset and chunk.end <= each.block.end
        for each in drafts
        if each.block.doc.id == hit.doc.id
    ):
        return "duplicate"
    if 0 < limits.diversity <= packed_of[hit.doc.path]:
        return "diversity"
    return None


def _add(sheet: Layout, drafts: Sequence[Draft], hit: Hit) -> list[Draft]:
    """Return the drafts with this hit in a new block, or merged with every block of its document that it touches."""
    chunk = chunk_of(hit)
    touched = [
        place
        for place, each in enumerate(drafts)
        if each.block.doc.id == hit.doc.id and each.block.offset <= chunk.end and chunk.offset <= each.block.end
    ]
    own = whole(sheet, hit, number=len(drafts) + 1)
    if not touched:
        return [*drafts, own]
    merged = _union(sheet, [*(drafts[place] for place in touched), own])
    kept = [merged if place == touched[0] else each for place, each in enumerate(drafts)]
    if len(touched) == 1:
        return kept
    return _renumber(sheet, [each for place, each in enumerate(kept) if place not in touched[1:]])


def _union(sheet: Layout, drafts: Sequence[Draft]) -> Draft:
    """Return touching blocks of one document as one, with the first one's number and the outermost offsets."""
    blocks = [each.block for each in drafts]
    by_offset = sorted(drafts, key=lambda each: (each.block.offset, -each.block.end))
    first, last = by_offset[0], max(by_offset, key=lambda each: each.block.end).block
    texts, tokens = join(sheet, by_offset)
    place = blocks[0].place
    if (place or "").startswith("line "):  # headers count the lines of their block
        begin, end = str(first.block.place), str(last.place)
        place = begin if begin == end else f"{begin.partition('-')[0]}-{end.replace(' ', '-').rpartition('-')[2]}"
    union = blocks[0]._replace(
        offset=first.block.offset,
        end=last.end,
        line_start=first.block.line_start,
        line_end=last.line_end,
        place=place,
        text="",
        chunk_ids=tuple(chunk_id for block in blocks for chunk_id in block.chunk_ids),
        ranks=tuple(rank for block in blocks for rank in block.ranks),
        imitates=any(block.imitates for block in blocks),
    )
    return place_block(sheet, union, texts=texts, text_tokens=tokens)


def _renumber(sheet: Layout, drafts: Sequence[Draft]) -> list[Draft]:
    return [
        each if each.block.number == number else _move(sheet, each, number) for number, each in enumerate(drafts, 1)
    ]


def _move(sheet: Layout, draft: Draft, number: int) -> Draft:
    block = draft.block._replace(number=number)
    return place_block(sheet, block, texts=draft.texts, text_tokens=draft.text_tokens)


def _fragment(
    sheet: Layout, ranked: Sequence[Draft], added: Injected, misfit: Hit, limits: _PackLimits
) -> Draft | None:
    """Return the longest fitting prefix of the misfit's growth that is shorter than the whole and large enough.

    After whole ranked rows, return None while an injected row is cut or left out, because only the last block may be
    cut.
    """
    own = len(limits.own.hits)
    if own and ranked and not added.are_whole:
        return None
    drafts = [*ranked, *added.drafts]
    room = limits.room_tokens - sheet.count(render(sheet, ranked)) if own else 0
    fits_last = fits_behind(sheet, drafts, limits.budget_tokens)

    def fitting(span: Span) -> bool:
        check()
        if own and _cost(sheet, misfit, span, len(ranked) + own + 1) > room:
            return False
        return fits_last(part(sheet, misfit, span, number=len(drafts) + 1))

    wanted = limits.min_fragment if ranked else 1
    span = Growth(misfit, is_prefix=is_shown(misfit, drafts)).longest(sheet.count, wanted, fitting)
    return None if span is None else part(sheet, misfit, span, number=len(drafts) + 1)


def _cost(sheet: Layout, misfit: Hit, span: Span, number: int) -> int:
    """Return a part's cost in the ranked rows' tokens. It does not depend on the previous blocks."""
    return sheet.count(sheet.separator + render(sheet, [part(sheet, misfit, span, number=number)]))


def _too_small(sheet: Layout, misfit: Hit, limits: _PackLimits, config: Config) -> str:
    """Return why nothing could be packed, with the smallest budget for a part."""
    own, growth = len(limits.own.hits), Growth(misfit)
    least = growth.span(growth.least(sheet.count, 1) or len(growth.text))
    if own:
        needed = least_budget(_cost(sheet, misfit, least, own + 1), config)
    else:
        needed = sheet.count(render(sheet, [part(sheet, misfit, least, number=1)]))
    return f"W_BUDGET: a budget of {limits.budget_tokens} is below the first header and a token of text ({needed})"
