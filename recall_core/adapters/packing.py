"""The account of a context in lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recall_core.contract import AccountView
from recall_core.contract.packing import AlternativeView, CoverageView, SwapView

SHOWN = 5  # chunks that are named; the rest are counted


def account_lines(view: AccountView) -> Iterator[str]:
    """What a context is worth, what it covers and wastes, one line each."""
    share = "" if view["efficiency"] is None else f" ({view['efficiency']:.0%})"
    worth = f"{view['value']:.3f} of at most {view['bound']:.3f}{share}"
    yield f"{'value':<11}{worth}, pack = {view['pack']}, documents {view['documents']}"
    if "coverage" in view:
        yield f"{'words':<11}{_words(view['coverage'])}"
    spent = view["tokens"]
    told = f"{spent['chunks']} in chunks + {spent['headers']} in headers + {spent['separators']} in separators"
    yield f"{'tokens':<11}{told}"
    if view["truncated_tokens"]:
        yield f"{'cut':<11}{view['truncated_tokens']} tokens of the last chunk are left out"
    yield f"{'repeats':<11}{view['redundancy']:.0%} of word triples"
    for twins in view["duplicates"]:
        alike = " ".join(f"#{rank}" for rank in twins["ranks"])
        yield f"{'alike':<11}{alike}, {twins['wasted_tokens']} tokens packed twice"
    if "alternative" in view:
        yield f"{'optimal':<11}{_alternative(view['alternative'])}"


def _words(view: CoverageView) -> str:
    missing = [term["text"] for term in view["terms"] if not term["packed"]]
    told = f"{view['share']:.0%} of the question's idf"
    return f"{told}; not in the context: {', '.join(missing)}" if missing else told


def _alternative(view: AlternativeView) -> str:
    told = f"pack = optimal would reach {view['value']:.3f} with {view['used_tokens']} tokens"
    for verb, swaps in (("adds", view["adds"]), ("drops", view["drops"])):
        if swaps:
            told += f"; {verb} {_named(swaps)}"
    return told


def _named(swaps: Sequence[SwapView]) -> str:
    named = ", ".join(f"#{swap['rank']} {''.join(filter(str.isprintable, swap['path']))}" for swap in swaps[:SHOWN])
    return named if len(swaps) <= SHOWN else f"{named} and {len(swaps) - SHOWN} more"
