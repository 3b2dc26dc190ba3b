"""The account of a context: its value compared with the best possible, its coverage, cost and waste."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from recall_core.config import Config
from recall_core.deadline import check
from recall_core.pack.layout import Layout, draft, layout
from recall_core.pack.optimal import VALUE_SCALE, Thing, bound, cost_of, value_of
from recall_core.text import Counter
from recall_core.types import Chunk, Hit, Packed

SHINGLE_WORDS = 3

NEAR = 0.8

"""Jaccard similarity of word 3-shingles at which two texts count as near-duplicates (Broder 1997)."""


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Return every run of three words in lower case. A shorter text is one shingle, an empty text none."""
    words = text.lower().split()
    if len(words) <= SHINGLE_WORDS:
        return frozenset([tuple(words)] if words else [])
    return frozenset(zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False))


def near_duplicates(texts: Sequence[str], *, near: float = NEAR) -> tuple[tuple[int, ...], ...]:
    """Return groups of positions with similar texts, each led by its first, in order of their leaders.

    Similarity is exact, from an inverted index over shingles. A text joins the group of the first earlier leader it
    is near to. A text near to no leader becomes one.
    """
    numbers: dict[tuple[str, ...], int] = {}
    sets = [[numbers.setdefault(shingle, len(numbers)) for shingle in shingles(text)] for text in texts]
    holders: list[list[int]] = [[] for _ in numbers]
    groups: dict[int, list[int]] = {}
    for position, own in enumerate(sets):
        check()
        shared = Tally(chain.from_iterable(map(holders.__getitem__, own)))
        near_to = [
            leader for leader, common in shared.items() if common >= near * (len(own) + len(sets[leader]) - common)
        ]
        if near_to:
            groups[min(near_to)].append(position)
            continue
        groups[position] = [position]
        for shingle in own:
            holders[shingle].append(position)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


class Spent(NamedTuple):
    """The used tokens in three shares that add up to them.

    chunks: texts of the blocks, counted one by one.
    headers: the lines above the blocks.
    separators: the rest. It may be negative if a tokenizer joins words across a seam.
    """

    chunks: int
    headers: int
    separators: int


def count_spent(packed: Packed, *, counter: Counter, config: Config) -> Spent:
    """Return the shares of a context packed with this counter and config."""
    sheet = layout(config, counter)
    drafts = [draft(sheet, block) for block in packed.blocks]
    texts = sum(each.text_tokens for each in drafts)
    headers = sum(each.lead_tokens for each in drafts)
    return Spent(texts, headers, packed.used_tokens - texts - headers)


class NearDuplicates(NamedTuple):
    """Near-duplicates: ranks, best first, and the tokens of the packed ones after the first."""

    ranks: tuple[int, ...]
    wasted_tokens: int


class Account(NamedTuple):
    """The value of a context compared with the candidates it was chosen from.

    value: the sum of the scores of packed chunks; a cut chunk counts by its packed share.
    bound: no choice of these candidates within this budget has a higher value.
    efficiency: value / bound; None if the bound is 0.
    redundancy: 1 - distinct word 3-shingles / all, over the blocks.
    truncated_tokens: tokens of the cut chunk that are left out.
    """

    candidates: int
    value: float
    bound: float
    efficiency: float | None
    documents: int
    redundancy: float
    duplicates: tuple[NearDuplicates, ...]
    truncated_tokens: int


def account(packed: Packed, hits: Sequence[Hit], *, counter: Counter, config: Config) -> Account:
    """Return the account of a context. hits: the candidates, best first, at least down to the last one packed.

    The bound is the linear relaxation. In a merged block a chunk may cost less than alone. Then its cost counts only
    the text that no other candidate shares, without a header.
    """
    sheet = layout(config, counter)
    kept = _kept_shares(packed, hits, counter)
    value = _value(kept, hits)
    merged = config.pack != "optimal"
    costs = _least_costs(hits, sheet) if merged else [cost_of(sheet, hit, number=len(hits)) for hit in hits]
    room = packed.budget_tokens + (0 if merged else sheet.gap_tokens)
    things = [Thing(value_of(hit), cost) for hit, cost in zip(hits, costs, strict=True)]
    most = bound(things, capacity=room)
    return Account(
        candidates=len(hits),
        value=value / VALUE_SCALE,
        bound=most / VALUE_SCALE,
        efficiency=value / most if most > 0 else None,
        documents=len({block.doc.path for block in packed.blocks}),
        redundancy=_redundancy(packed),
        duplicates=_twins(hits, kept),
        truncated_tokens=_count_truncated(packed, hits, counter),
    )


def worth_of(packed: Packed, hits: Sequence[Hit], *, counter: Counter) -> float:
    """Return only the value of an account."""
    return _value(_kept_shares(packed, hits, counter), hits) / VALUE_SCALE


def _value(kept: Mapping[int, float], hits: Sequence[Hit]) -> float:
    values = {hit.rank: value_of(hit) for hit in hits}
    return sum(values[rank] * share for rank, share in kept.items() if rank in values)


def coverage(packed: Packed, idf: Mapping[str, float], holders: Mapping[str, frozenset[str]]) -> float | None:
    """Return the share of the query's idf whose terms occur in a packed chunk; None if no term is known.

    holders: for each term, the ids of the chunks that contain it.
    """
    whole = sum(idf.values())
    if whole <= 0:
        return None
    inside = {chunk_id for block in packed.blocks for chunk_id in block.chunk_ids}
    return sum(weight for term, weight in idf.items() if holders.get(term, frozenset()) & inside) / whole


def _kept_shares(packed: Packed, hits: Sequence[Hit], counter: Counter) -> dict[int, float]:
    """Return the packed share of each chunk's tokens by rank: 1 unless the chunk was cut."""
    shares = {rank: 1.0 for block in packed.blocks for rank in block.ranks}
    whole = _cut_chunk(packed, hits)
    if whole is not None:
        shares[packed.blocks[-1].ranks[0]] = counter.count(packed.blocks[-1].text) / counter.count(whole.text)
    return shares


def _least_costs(hits: Sequence[Hit], sheet: Layout) -> list[int]:
    """Return for each chunk the fewest tokens that it can add to a context with other candidates."""
    by_document: dict[str, list[tuple[int, int]]] = {}
    for hit in hits:
        chunk = _chunk(hit)
        by_document.setdefault(hit.doc.id, []).append((chunk.offset, chunk.end))
    costs = []
    for hit in hits:
        check()
        chunk = _chunk(hit)
        start, end = chunk.offset, chunk.end
        for offset, other_end in by_document[hit.doc.id]:
            if (offset, other_end) == (chunk.offset, chunk.end):
                continue
            if offset <= start < other_end:
                start = other_end
            if offset < end <= other_end:
                end = offset
        own = chunk.text[start - chunk.offset : end - chunk.offset] if start < end else ""
        costs.append(max(0, sheet.count(own) - sheet.cut_tokens))
    return costs


def _redundancy(packed: Packed) -> float:
    sets = [shingles(block.text) for block in packed.blocks]
    whole = sum(map(len, sets))
    return 1 - len(frozenset().union(*sets)) / whole if whole else 0.0


def _twins(hits: Sequence[Hit], kept: Mapping[int, float]) -> tuple[NearDuplicates, ...]:
    found = []
    for group in near_duplicates([_chunk(hit).text for hit in hits]):
        inside = [hits[position] for position in group if hits[position].rank in kept]
        wasted = sum(_chunk(hit).tokens for hit in inside[1:])
        found.append(NearDuplicates(tuple(hits[position].rank for position in group), wasted))
    return tuple(found)


def _count_truncated(packed: Packed, hits: Sequence[Hit], counter: Counter) -> int:
    whole = _cut_chunk(packed, hits)
    return 0 if whole is None else max(0, counter.count(whole.text) - counter.count(packed.blocks[-1].text))


def _cut_chunk(packed: Packed, hits: Sequence[Hit]) -> Chunk | None:
    """Return the whole chunk if only a part of it is in the context."""
    last = packed.blocks[-1] if packed.blocks else None
    if last is None or not last.truncated:
        return None
    return next(_chunk(hit) for hit in hits if hit.rank == last.ranks[0])


def _chunk(hit: Hit) -> Chunk:
    assert hit.chunk is not None  # noqa: S101 - a candidate for packing always has one
    return hit.chunk
