"""Packing in rank order: take hits from the top until one does not fit."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple, cast

from recall_core.config import Config
from recall_core.deadline import check
from recall_core.pack.graphemes import floor_boundary
from recall_core.pack.layout import Draft, Layout, draft, finished, fits, joined, layout, placed, render
from recall_core.text import Counter
from recall_core.types import Block, Chunk, Hit, Omission, Packed


class _Limits(NamedTuple):
    budget_tokens: int
    min_fragment: int
    diversity: int
    dropped: frozenset[str]


def pack(
    candidates: Iterable[Hit],
    *,
    total: int,
    budget_tokens: int,
    counter: Counter,
    config: Config,
    pinned: frozenset[str] = frozenset(),
    dropped: frozenset[str] = frozenset(),
) -> Packed:
    """A context of the best candidates: count(text) == used_tokens <= budget_tokens.

    candidates: chunk hits, best first; read no further than the chunk behind the one that ends packing, or than
    the last pinned one. total: how many there are. pinned, dropped: chunk ids; pinned hits go first, in rank
    order, and dropped wins over pinned.

    A chunk that touches or overlaps emitted blocks of its document becomes one block with them, in the place of
    the first. The first chunk that does not fit ends packing. Its beginning may stand in a block of its own, never
    merged, because only then does every larger budget show at least the same code points: which chunks go in
    whole depends on the budget through a first misfit alone, and the beginning of the misfit only grows. It is
    the longest that fits for every counter that never counts less for a longer text. Where a tokenizer does, it
    may be a few characters short of the longest, because the search is a bisection: of two budgets the larger
    still shows at least as much.

    Chunks in blocks, plus the counts of omitted, add up to total.
    """
    sheet = layout(config, counter)
    limits = _Limits(budget_tokens, config.min_fragment, config.diversity, dropped)
    queue, absent = _pinned_first(candidates, pinned - dropped)
    drafts, omitted, misfit = _fill(sheet, queue, limits)
    warnings = [f"W_PIN: {chunk_id} is not among the candidates" for chunk_id in sorted(absent)]
    if misfit is not None:
        fragment = _fragment(sheet, drafts, misfit, limits)
        first_left: Hit | None = misfit
        if fragment is not None:
            drafts = [*drafts, fragment]
            first_left = next(queue, None)
        elif not drafts:
            warnings.append(_too_small(sheet, misfit, budget_tokens))
        left = total - len(omitted) - sum(len(each.block.ranks) for each in drafts)
        if first_left is not None and left > 0:
            omitted.append(_omission("budget", first_left, count=left))
    text = render(sheet, drafts)
    blocks = tuple(map(finished, drafts))
    used = counter.count(text)
    return Packed(text, budget_tokens, used, counter.name, total, blocks, tuple(omitted), warnings=tuple(warnings))


def _pinned_first(candidates: Iterable[Hit], pinned: frozenset[str]) -> tuple[Iterator[Hit], set[str]]:
    """The hits in packing order, and the pinned ids that none of them has."""
    rest = iter(candidates)
    waiting = set(pinned)
    first: list[Hit] = []
    others: list[Hit] = []
    while waiting and (hit := next(rest, None)) is not None:
        chunk_id = _chunk(hit).id
        (first if chunk_id in waiting else others).append(hit)
        waiting.discard(chunk_id)
    return chain(first, others, rest), waiting


def _fill(sheet: Layout, queue: Iterator[Hit], limits: _Limits) -> tuple[list[Draft], list[Omission], Hit | None]:
    """The blocks before the first misfit, the hits passed over on the way, and the misfit."""
    drafts: list[Draft] = []
    omitted: list[Omission] = []
    packed_of: Tally[str] = Tally()
    for hit in queue:
        check()
        reason = _refusal(hit, drafts, packed_of, limits)
        if reason is not None:
            omitted.append(_omission(reason, hit))
            continue
        grown = _add(sheet, drafts, hit)
        if not fits(sheet, grown, limits.budget_tokens):
            return drafts, omitted, hit
        drafts = grown
        packed_of[hit.doc.path] += 1
    return drafts, omitted, None


def _refusal(
    hit: Hit, drafts: Sequence[Draft], packed_of: Tally[str], limits: _Limits
) -> Literal["empty", "dropped", "duplicate", "diversity"] | None:
    chunk = _chunk(hit)
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
    """The drafts with this hit in a block of its own, or in one with every block of its document it touches."""
    chunk = _chunk(hit)
    touched = [
        place
        for place, each in enumerate(drafts)
        if each.block.doc.id == hit.doc.id and each.block.offset <= chunk.end and chunk.offset <= each.block.end
    ]
    own = draft(sheet, _single(hit, chunk, number=len(drafts) + 1), chunk.heading or "")
    if not touched:
        return [*drafts, own]
    merged = _union(sheet, [*(drafts[place] for place in touched), own])
    kept = [merged if place == touched[0] else each for place, each in enumerate(drafts)]
    if len(touched) == 1:
        return kept
    return _renumbered(sheet, [each for place, each in enumerate(kept) if place not in touched[1:]])


def _single(hit: Hit, chunk: Chunk, *, number: int) -> Block:
    lines = chunk.line_start, chunk.line_end
    return Block(number, hit.doc, chunk.offset, chunk.end, *lines, chunk.text, (chunk.id,), (hit.rank,), False)


def _union(sheet: Layout, drafts: Sequence[Draft]) -> Draft:
    """Touching blocks of one document as one: the first one's number, the text between the outermost offsets."""
    blocks = [each.block for each in drafts]
    by_offset = sorted(drafts, key=lambda each: (each.block.offset, -each.block.end))
    first, last = by_offset[0], max(by_offset, key=lambda each: each.block.end).block
    texts, tokens = joined(sheet, by_offset)
    union = blocks[0]._replace(
        offset=first.block.offset,
        end=last.end,
        line_start=first.block.line_start,
        line_end=last.line_end,
        text="",
        chunk_ids=tuple(chunk_id for block in blocks for chunk_id in block.chunk_ids),
        ranks=tuple(rank for block in blocks for rank in block.ranks),
    )
    return placed(sheet, union, first.heading, texts=texts, text_tokens=tokens)


def _renumbered(sheet: Layout, drafts: Sequence[Draft]) -> list[Draft]:
    return [
        each if each.block.number == number else _moved(sheet, each, number) for number, each in enumerate(drafts, 1)
    ]


def _moved(sheet: Layout, draft: Draft, number: int) -> Draft:
    block = draft.block._replace(number=number)
    return placed(sheet, block, draft.heading, texts=draft.texts, text_tokens=draft.text_tokens)


def _fragment(sheet: Layout, drafts: Sequence[Draft], misfit: Hit, limits: _Limits) -> Draft | None:
    """The longest beginning of the misfit, short of the whole, that fits and is no smaller than a fragment may be."""
    text = _chunk(misfit).text
    wanted = limits.min_fragment if drafts else 1

    def fitting(length: int) -> bool:
        check()
        return fits(sheet, [*drafts, _beginning(sheet, misfit, length, len(drafts) + 1)], limits.budget_tokens)

    least = _least_prefix(sheet, text, wanted)
    if least is None or least == len(text) or not fitting(least):
        return None
    low, high = least, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        if fitting(floor_boundary(text, middle)):
            low = middle
        else:
            high = middle
    return _beginning(sheet, misfit, floor_boundary(text, low), len(drafts) + 1)


def _least_prefix(sheet: Layout, text: str, wanted: int) -> int | None:
    """The length of the shortest prefix, ending at a grapheme boundary, of so many tokens; None if there is none."""
    if sheet.count(text) < wanted:
        return None
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        if sheet.count(text[: floor_boundary(text, middle)]) >= wanted:
            high = middle
        else:
            low = middle
    return floor_boundary(text, high)


def _beginning(sheet: Layout, hit: Hit, length: int, number: int) -> Draft:
    """A block of the chunk's first `length` code points; its last line is that of its last character."""
    chunk = _chunk(hit)
    text = chunk.text[:length]
    block = _single(hit, chunk, number=number)._replace(
        end=chunk.offset + length,
        line_end=chunk.line_start + text.count("\n", 0, max(length - 1, 0)),
        text=text,
        truncated=True,
    )
    return draft(sheet, block, chunk.heading or "")


def _too_small(sheet: Layout, misfit: Hit, budget_tokens: int) -> str:
    """Why nothing could be packed, with the smallest budget that would hold a beginning."""
    text = _chunk(misfit).text
    least = _least_prefix(sheet, text, 1)
    needed = sheet.count(render(sheet, [_beginning(sheet, misfit, least or len(text), 1)]))
    return f"W_BUDGET: a budget of {budget_tokens} is below the first header and a token of text ({needed})"


def _omission(
    reason: Literal["empty", "budget", "diversity", "duplicate", "dropped"], hit: Hit, *, count: int = 1
) -> Omission:
    return Omission(reason, hit.rank, count, _chunk(hit).id, hit.doc.path)


def _chunk(hit: Hit) -> Chunk:
    return cast(Chunk, hit.chunk)  # a document without text comes with a chunk without text
