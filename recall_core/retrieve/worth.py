"""The account of a packed context: its value, the words it covers, and what the other packing would change."""

from __future__ import annotations

from itertools import islice
from typing import cast

from recall_core.config import OPTIMAL_ROWS, Config
from recall_core.contract.views import AccountView, AlternativeView, CoverageView, SwapView, TermCoverView
from recall_core.pack.account import Account, account, count_spent, coverage, worth_of
from recall_core.pack.optimal import pack_optimal
from recall_core.pack.policy import Terms
from recall_core.retrieve.alike import AlikeInAnswer, Citing
from recall_core.retrieve.answer import Answer, candidate_range, candidates, take_injected
from recall_core.store.port import Store
from recall_core.types import Hit, Packed
from recall_core.words.question import literal


def account_view(packed: Packed, answer: Answer, terms: Terms, store: Store, cite: Citing) -> AccountView:
    """Return the account of a context. answer: the answer it was packed from. cite: as for the packing."""
    hits = _looked_at(packed, answer, store, cite)
    worth = account(packed, hits, counter=terms.counter, config=terms.config)
    view = _worth_view(worth, terms.config)
    covered = _coverage(packed, answer, store)
    if covered is not None:
        view["coverage"] = covered
    view |= {
        "documents": worth.documents,
        "redundancy": worth.redundancy,
        "duplicates": [
            {"ranks": list(twins.ranks), "wasted_tokens": twins.wasted_tokens} for twins in worth.duplicates
        ],
        "truncated_tokens": worth.truncated_tokens,
    }
    view["tokens"] = count_spent(packed, counter=terms.counter, config=terms.config)._asdict()
    other = None
    if terms.config.pack != "optimal":
        ranks = {hit.rank for hit in hits}
        own = tuple(hit for hit in cite(answer, take_injected(answer, store)) if hit.rank in ranks)
        other = _optimal(packed, worth, hits, terms, own)
    if other is not None:
        view["alternative"] = other
    return cast(AccountView, view)


def _worth_view(worth: Account, config: Config) -> dict[str, object]:
    figures = {"value": worth.value, "bound": worth.bound, "efficiency": worth.efficiency}
    return {"pack": config.pack, "candidates": worth.candidates, **figures}


def _looked_at(packed: Packed, answer: Answer, store: Store, cite: Citing) -> list[Hit]:
    """Return the best candidates, at least down to the last packed one. For equal texts, return the packed chunk."""
    start, _ = candidate_range(answer)
    ids = {rank: each for block in packed.blocks for rank, each in zip(block.ranks, block.chunk_ids, strict=True)}
    last = max(ids, default=start)
    alike = AlikeInAnswer(answer, store, [], cite)
    hits = []
    for hit in cite(answer, [*islice(candidates(answer, store), max(OPTIMAL_ROWS, last - start))]):
        own = "" if hit.chunk is None else hit.chunk.id
        others = alike.others(hit) if ids.get(hit.rank, own) != own else ()
        hits.append(next((each for each in others if each.chunk and each.chunk.id == ids[hit.rank]), hit))
    return hits


def _coverage(packed: Packed, answer: Answer, store: Store) -> CoverageView | None:
    """Return the query's phrases and which of them the packed chunks contain; None if none occurs."""
    plan, pool = answer.plan, answer.pool
    if plan.lexical is None or pool is None or not any(term.df for term in pool.terms):
        return None
    ids = {store.rowid("chunk", each): each for block in packed.blocks for each in block.chunk_ids}
    config = plan.config
    query = literal(
        plan.lexical,
        analyzer=store.analyzer,
        index=store,
        match=config.match,
        stop_words=config.stop_words,
        typed=plan.typed,
    )
    occurrences = store.occurrences(query, list(ids))
    holders: dict[str, frozenset[str]] = {}
    for phrase, counts in zip(query.phrases, occurrences.counts, strict=True):
        held = (row for row, (_, body) in counts.items() if (body or phrase.in_title) and row in ids)
        holders[phrase.text] = frozenset(map(ids.__getitem__, held))
    idf = {phrase.text: phrase.idf for phrase in occurrences.phrases if phrase.df}
    share = coverage(packed, idf, holders)
    if share is None:
        return None
    shown = [TermCoverView(text=text, idf=weight, packed=bool(holders[text])) for text, weight in idf.items()]
    return CoverageView(share=share, terms=shown)


def _optimal(
    packed: Packed, worth: Account, hits: list[Hit], terms: Terms, own: tuple[Hit, ...]
) -> AlternativeView | None:
    """Return what packing for value would change, if that is worth more."""
    best = pack_optimal(
        hits,
        total=len(hits),
        budget_tokens=packed.budget_tokens,
        counter=terms.counter,
        config=terms.config._replace(pack="optimal"),
        pinned=terms.pinned,
        dropped=terms.dropped,
        injected=own,
    )
    now, then = _ranks(packed), _ranks(best)
    value = worth_of(best, hits, counter=terms.counter)
    if value <= worth.value:
        return None
    return AlternativeView(
        pack="optimal",
        value=value,
        used_tokens=best.used_tokens,
        adds=[_swap(hit) for hit in hits if hit.rank in then - now],
        drops=[_swap(hit) for hit in hits if hit.rank in now - then],
    )


def _ranks(packed: Packed) -> set[int]:
    return {rank for block in packed.blocks for rank in block.ranks}


def _swap(hit: Hit) -> SwapView:
    return SwapView(rank=hit.rank, id="" if hit.chunk is None else hit.chunk.id, path=hit.doc.path)
