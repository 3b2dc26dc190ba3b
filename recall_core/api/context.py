"""Contexts: pack a ranked list within a budget, and compute its account."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from recall_core import pack, retrieve
from recall_core.config import Config, replace
from recall_core.errors import UsageError, expect_choice
from recall_core.rank.columns import positions_of
from recall_core.rank.fuse import dropped_by_cosine
from recall_core.retrieve.answer import Answer, candidate_range, candidates, standing_for, take_injected
from recall_core.retrieve.asking import CONTEXT_FORMATS, Pack
from recall_core.shell import AGAIN, Hint, flag
from recall_core.store.port import Store
from recall_core.text import ESTIMATES, MODEL_COUNTER, MODERN_COUNTER, counter
from recall_core.types import Block, Hit, HitPassage, Omission, OmissionReason, Packed, TermStat

if TYPE_CHECKING:
    from recall_core.contract.ledger import PassageView
    from recall_core.contract.views import AccountPart, ContextBlock, ContextChunk, ContextView, SizesView
    from recall_core.pack.layout import Alike
    from recall_core.pack.policy import Terms
    from recall_core.retrieve.alike import Citing
    from recall_core.retrieve.freshness import State

_CITED_ROWS = 8
"""Candidates whose passages are found at a time. Few contexts have more blocks."""


def packing(answer: Answer, options: Pack, *, store: Store, cite: Citing, seen: list[Hit] | None = None) -> Packed:
    """Pack the ranked list. answer: as from `packable`. seen collects every hit whose text was read."""
    config, counting, pinned, dropped = terms(answer, options, store)
    answer, pinned = _led_by_pins(_with_pins(answer, pinned, store), pinned, store)
    own = cite(answer, take_injected(answer, store)) if config.sparse_share else []
    looked_at = [] if seen is None else seen
    looked_at += own
    alike, total = _alike(answer, store, cite, looked_at)
    stream: Iterable[Hit] = _cite(answer, store, cite, looked_at)
    context = pack.policy.pack(
        stream,
        total=total,
        budget_tokens=config.budget_tokens,
        counter=counting,
        config=config,
        pinned=pinned,
        dropped=dropped,
        injected=own,
        alike=alike,
    )
    below = _below(answer)
    added = sum(each.chunks for each in below)
    return context._replace(candidates=context.candidates + added, omitted=(*context.omitted, *below))


def _alike(answer: Answer, store: Store, cite: Citing, looked_at: list[Hit]) -> tuple[Alike, int]:
    """Return the copies of candidates, and the number of all candidates."""
    if not answer.struck:
        start, stop = candidate_range(answer)
        return pack.layout.ALONE, stop - start

    alike = retrieve.alike.AlikeInAnswer(answer, store, looked_at, cite)
    return alike, alike.total()


def _with_pins(answer: Answer, pinned: frozenset[str], store: Store) -> Answer:
    """Return the answer with pinned rows that min_cosine dropped, ordered by score."""
    ranked, pool = answer.ranked, answer.pool
    count = 0 if ranked is None else dropped_by_cosine(ranked, answer.plan.config)
    if ranked is None or pool is None or not (count and pinned):
        return answer
    start, stop = ranked.kept, ranked.kept + count
    wanted = frozenset(positions_of(pool.keys, [store.rowid("chunk", each) for each in pinned]).values())
    back = [position for position in ranked.order[start:stop] if position in wanted]
    listed, scores = list(ranked.order[:start]), ranked.scores
    for position in back:
        listed.insert(
            next((at for at, each in enumerate(listed) if scores[each] < scores[position]), len(listed)), position
        )
    rest = [position for position in ranked.order[start:] if position not in wanted]
    return answer._replace(ranked=ranked.reorder([*listed, *rest], kept=len(listed)), total=len(listed))


def _led_by_pins(answer: Answer, pinned: frozenset[str], store: Store) -> tuple[Answer, frozenset[str]]:
    """Return the answer where pinned chunks represent their texts, at the same rank, with these pins."""
    if answer.copies is None or answer.pool is None or answer.ranked is None or not pinned:
        return answer, pinned
    before = standing_for(answer)
    rowids = {store.rowid("chunk", each): each for each in pinned}
    positions = positions_of(answer.pool.keys, rowids)
    leading = [position for position in positions.values() if before.is_struck(position)]
    if not leading:
        return answer, pinned
    stay = [position for position in positions.values() if position not in leading]
    copies = before.led_by([*stay, *leading])
    led = {before.first(position): copies.first(position) for position in leading}
    ranked = answer.ranked.reorder([led.get(each, each) for each in answer.ranked.order], kept=answer.ranked.kept)
    struck = {rowids[rowid] for rowid, position in positions.items() if copies.is_struck(position)}
    return answer._replace(copies=copies, ranked=ranked), pinned - struck


def terms(answer: Answer, options: Pack, store: Store) -> Terms:
    """Return the packing terms: settings, token counter, pinned and dropped chunks."""
    config = _pack_config(answer.plan.config, options)
    counting = counter(options.counter or config.pack_counter or _default(answer.counter))
    return pack.policy.Terms(config, counting, _ids(options.pins, store), _ids(options.drops, store))


def _default(stored: str) -> str:
    """Return the default counter of a budget: the store's if it is made for the user's models."""
    return MODEL_COUNTER if stored in ESTIMATES and stored != MODERN_COUNTER else stored


def ranges(made: Packed, terms: Terms) -> list[tuple[int, int]]:
    """Return the range of each block's text in the context."""
    sheet = pack.layout.layout(terms.config, terms.counter)
    return pack.layout.text_ranges(sheet, [pack.layout.draft(sheet, block) for block in made.blocks])


def _pack_config(config: Config, options: Pack) -> Config:
    if options.pack is not None:
        config = replace(config, {"pack": options.pack}, where=flag("pack"))
    expect_choice("format", options.format, CONTEXT_FORMATS)
    if own := CONTEXT_FORMATS[options.format]:
        config = replace(config, own, where=flag("format"))
    if options.budget_tokens is not None:
        config = config._replace(budget_tokens=options.budget_tokens)
    if config.budget_tokens < 1:
        message = f"budget_tokens must be at least 1, not {config.budget_tokens}."
        raise UsageError("bad_value", message, hint=Hint(AGAIN, budget_tokens=2000))
    if options.diversity is not None:
        config = config._replace(diversity=options.diversity)
    if config.diversity < 0:
        message = f"{flag('diversity')} must be at least 0, which means no cap."
        raise UsageError("bad_value", message, hint=Hint(AGAIN, diversity=2))
    return config


def _ids(targets: tuple[str, ...], store: Store) -> frozenset[str]:
    chosen = set()
    for target in targets:
        chunks = [full for kind, full in store.resolve(target) if kind == "chunk"]
        if len(chunks) != 1:
            message = f"{target} is not the id of a single chunk."
            raise UsageError("unknown_chunk", message, hint=Hint("search", "WORDS", json=True))
        chosen.add(chunks[0])
    return frozenset(chosen)


def with_passage(hit: Hit, passage: PassageView | None, terms: Sequence[TermStat]) -> Hit:
    """Return the hit with its passage, ready to pack."""
    if passage is None:
        return hit
    idf = {term.text: term.idf for term in terms}
    spans = ((int(start), int(end), idf.get(str(phrase), 0.0)) for start, end, phrase in passage["matches"])
    best = min(spans, key=lambda each: (-each[2], each[0]), default=(passage["offset"], passage["offset"], 0.0))
    own = HitPassage(passage["offset"], passage["end"], best[:2], passage.get("heading"), passage.get("place"))
    return hit._replace(passage=own)


def _cite(answer: Answer, store: Store, cite: Citing, seen: list[Hit]) -> Iterator[Hit]:
    """Yield the candidates with their passages, a few at a time."""
    stream = candidates(answer, store)
    while some := cite(answer, [*islice(stream, _CITED_ROWS)]):
        for hit in some:
            seen.append(hit)
            yield hit


def _below(answer: Answer) -> tuple[Omission, ...]:
    """Return the rows that min_cosine and then min_score drop from a list without a limit."""
    ranked, pool = answer.ranked, answer.pool
    if ranked is None or pool is None or answer.plan.is_capped or len(ranked) <= ranked.kept:
        return ()
    start, stop = ranked.kept, len(ranked)
    distant = start + dropped_by_cosine(ranked, answer.plan.config)
    parts: tuple[tuple[OmissionReason, int, int], ...] = (
        ("below_min_cosine", start, distant),
        ("below_min_score", distant, stop),
    )
    return tuple(
        Omission(reason, first + 1, last - first, "", pool.keys[ranked.order[first]].path)
        for reason, first, last in parts
        if first < last
    )


def context_view(
    packed: Packed, hits: Mapping[str, Hit], states: Mapping[str, State], account: AccountPart
) -> ContextView:
    """Return the view of a context. hits: every packed hit by chunk id."""
    return {
        "text": packed.text,
        "budget_tokens": packed.budget_tokens,
        "used_tokens": packed.used_tokens,
        "counter": packed.counter,
        **_sizes(packed),
        "candidates": packed.candidates,
        "chunks": [_context_chunk(block, hits[chunk_id]) for block in packed.blocks for chunk_id in block.chunk_ids],
        "blocks": [_context_block(block, states) for block in packed.blocks],
        "omitted": [
            {"reason": left.reason, "rank": left.rank, "count": left.chunks, "id": left.chunk_id, "path": left.path}
            for left in packed.omitted
        ],
        **account,
    }


def _sizes(packed: Packed) -> SizesView:
    view: SizesView = {"reserved_tokens": packed.reserved_tokens} if packed.reserved_for else {}
    if packed.counter == "whitespace":
        view["estimated_model_tokens"] = counter("approx").count(packed.text)
    return view


def _context_chunk(block: Block, hit: Hit) -> ContextChunk:
    """Return the view of a packed chunk; for a cut one, only the packed part."""
    chunk = hit.chunk
    assert chunk is not None  # noqa: S101 - documents are not packed
    offset, end = (block.offset, block.end) if block.truncated else (chunk.offset, chunk.end)
    view: ContextChunk = {
        "id": chunk.id,
        "doc_id": chunk.doc_id,
        "offset": offset,
        "tokens": chunk.tokens,
        "text": chunk.text[offset - chunk.offset : end - chunk.offset],
        "path": block.doc.path,
        "hash": block.doc.hash,
        "mtime": block.doc.mtime,
    }
    if hit.injection is not None:
        view["recall_injected"] = True
    return view


def _context_block(block: Block, states: Mapping[str, State]) -> ContextBlock:
    view: ContextBlock = {
        "n": block.number,
        "path": block.doc.path,
        "doc_id": block.doc.id,
        "offset": block.offset,
        "end": block.end,
        "line_start": block.line_start,
        "line_end": block.line_end,
        "text": block.text,
        "hash": block.doc.hash,
        "mtime": block.doc.mtime,
        "chunk_ids": list(block.chunk_ids),
        "ranks": list(block.ranks),
        "truncated": block.truncated,
    }
    if block.cut is not None:
        view["cut"] = block.cut
    if block.heading:
        view["heading"] = block.heading
    if block.place is not None:
        view["place"] = block.place
    if block.doc.id in states:
        view["state"] = states[block.doc.id]
    return view
