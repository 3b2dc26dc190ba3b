"""The account of a context in lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from recall_core.contract import AccountView
from recall_core.contract.packing import AlternativeView, CoverageView, SwapView

SHOWN = 5  # chunks that are named; the rest are counted


def account_lines(view: AccountView, count: Callable[[int], str] = str) -> Iterator[str]:
    """What a context is worth, what it covers and wastes, one line each. count: how a count is written."""
    share = "" if view["efficiency"] is None else f" ({view['efficiency']:.0%})"
    worth = f"{view['value']:.3f} of at most {view['bound']:.3f}{share}"
    yield f"{'value':<11}{worth}, pack = {view['pack']}, documents {count(view['documents'])}"
    if "coverage" in view:
        yield f"{'words':<11}{_words(view['coverage'])}"
    spent = view["tokens"]
    told = f"{count(spent['chunks'])} in chunks + {count(spent['headers'])} in headers"
    yield f"{'tokens':<11}{told} + {count(spent['separators'])} in separators"
    if view["truncated_tokens"]:
        yield f"{'cut':<11}{count(view['truncated_tokens'])} tokens of the last chunk are left out"
    yield f"{'repeats':<11}{view['redundancy']:.0%} of word triples"
    for twins in view["duplicates"]:
        alike = " ".join(f"#{count(rank)}" for rank in twins["ranks"])
        yield f"{'alike':<11}{alike}, {count(twins['wasted_tokens'])} tokens packed twice"
    if "alternative" in view:
        yield f"{'optimal':<11}{_alternative(view['alternative'], count)}"


def _words(view: CoverageView) -> str:
    missing = [term["text"] for term in view["terms"] if not term["packed"]]
    told = f"{view['share']:.0%} of the question's idf"
    return f"{told}; not in the context: {', '.join(missing)}" if missing else told


def _alternative(view: AlternativeView, count: Callable[[int], str]) -> str:
    told = f"pack = optimal would reach {view['value']:.3f} with {count(view['used_tokens'])} tokens"
    for verb, swaps in (("adds", view["adds"]), ("drops", view["drops"])):
        if swaps:
            told += f"; {verb} {_named(swaps, count)}"
    return told


def _named(swaps: Sequence[SwapView], count: Callable[[int], str]) -> str:
    shown = ((count(swap["rank"]), "".join(filter(str.isprintable, swap["path"]))) for swap in swaps[:SHOWN])
    named = ", ".join(f"#{rank} {path}" for rank, path in shown)
    return named if len(swaps) <= SHOWN else f"{named} and {count(len(swaps) - SHOWN)} more"
