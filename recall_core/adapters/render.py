"""What answers have in common as text: JSON, figures beside the answer, places, short texts, counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from recall_core.text import cite

if TYPE_CHECKING:
    from recall_core.contract.responses import ContextResponse, ReportResponse, SearchResponse
    from recall_core.contract.views import (
        AccountView,
        ContextView,
        QueryEcho,
        ResultView,
    )


SNIPPET = 100
SHOWN = 5  # chunks of an account that are named; the rest are counted
DIGITS = 12  # of an id or a hash, where people read it
INDENT = 7
"""As wide as a score, so that a passage stands below the place it is from."""
CAUTION = "W_NO_MATCH"
"""Begins the warning to read before the hits: none of them has a query word."""

NOTHING_RECALLED = {
    "no_vector": "no candidate has a vector",
    "whole_list": "every candidate is in the list",
    "not_short": "0 of {near} near documents have at most {threshold} chunks",
    "too_far": "0 of {short} short documents within {ceiling:g}",
    "already_present": "{present} of {within_ceiling} within {ceiling:g} are in the list",
    "no_row": "the list has no row",
    "not_mostly_long": "{long_rows} of {rows} rows are of documents with more than {threshold} chunks",
    "max_injections": "sparse_max_injections = 0",
}
"""Why sparse-document recall gave no row away, by its reason."""


def json_line(response: Mapping[str, Any]) -> str:
    """Return the response as one line of JSON; keys stand as they were built, NaN is refused."""
    return json.dumps(response, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def talk_of_hits(response: SearchResponse, is_verbose: bool) -> Iterator[str]:
    """Yield the figures of search and query."""
    yield f"{_results_figures(response)}{_words_not_looked_for(response)}"
    if is_verbose:
        yield from _nothing_recalled(response)


def talk_of_context(response: ContextResponse, is_verbose: bool) -> Iterator[str]:
    """Yield the figures of a context, and its account if --explain asks for it."""
    yield f"{_context_figures(response['context'])}{_rows_with_words(response)}{_words_not_looked_for(response)}"
    if "account" in response["context"]:
        yield from account_lines(response["context"]["account"])
    if is_verbose:
        yield from _nothing_recalled(response)


def talk_of_report(response: ReportResponse, is_verbose: bool) -> Iterator[str]:
    """Yield the figures of the hits and of the context on the page."""
    yield _results_figures(response)
    yield _context_figures(response["context"])


def talk_of_question(response: Mapping[str, Any], is_verbose: bool) -> Iterator[str]:
    """Yield the words of the question, if there is one, that were not looked for."""
    if dropped := _dropped_words(response.get("query", {})):
        yield f"{'words':<11}{dropped}"


def weight_of(term: Mapping[str, Any]) -> str:
    """Return what a phrase weighs: `idf 2.197`, or `phrase of 2 words, idf 5.003`, the sum of its words'."""
    words = f"phrase of {term['words']} words, " if "words" in term else ""
    return f"{words}idf {term['idf']:.3f}"


def account_lines(view: AccountView, count: Callable[[int], str] = str) -> Iterator[str]:
    """Yield what a context is worth, what it covers and wastes, one line each. count: how a count is written."""
    share = "" if view["efficiency"] is None else f" ({view['efficiency']:.0%})"
    worth = f"{view['value']:.3f} of at most {view['bound']:.3f}{share}"
    yield f"{'value':<11}{worth}, pack = {view['pack']}, documents {count(view['documents'])}"
    if "coverage" in view:
        missing = ", ".join(term["text"] for term in view["coverage"]["terms"] if not term["packed"])
        lacking = f"; not in the context: {missing}" if missing else ""
        yield f"{'words':<11}{view['coverage']['share']:.0%} of the question's idf{lacking}"
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
        other = view["alternative"]
        better = f"pack = optimal would reach {other['value']:.3f} with {count(other['used_tokens'])} tokens"
        for verb, swaps in (("adds", other["adds"]), ("drops", other["drops"])):
            named = [f"#{count(swap['rank'])} {''.join(filter(str.isprintable, swap['path']))}" for swap in swaps]
            more = f" and {count(len(swaps) - SHOWN)} more" if len(swaps) > SHOWN else ""
            better += f"; {verb} {', '.join(named[:SHOWN])}{more}" if named else ""
        yield f"{'optimal':<11}{better}"


def place(result: ResultView) -> str:
    """`path:first-last`, as `recall get` reads it; an id where the path was not selected."""
    doc, chunk = result.get("doc", {}), result.get("chunk", {})
    path = doc.get("path", "")
    if path and "line_start" in chunk:
        path = cite(path, chunk["line_start"], chunk["line_end"], chunk.get("place"))
    state = f" ({doc['state']})" if "state" in doc else ""
    return clean(path or (chunk.get("id") or doc.get("id") or "")[:DIGITS]) + state


def short(text: str, width: int = SNIPPET) -> str:
    """Return the first words of a text on one line."""
    text = clean(text[: 4 * width])
    return text if len(text) <= width else text[: width - 1] + "…"


def count_of(n: int, noun: str) -> str:
    """`1 chunk`, `2 chunks`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def clean(text: str) -> str:
    """Return the text on one line, without control characters, which could steer the reader's terminal."""
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())


def _results_figures(response: SearchResponse | ReportResponse) -> str:
    shown = len(response["results"])
    stats = response["stats"]
    total = stats.get("total_hits", shown)
    copies = stats.get("copies", 0)
    alike = f", {copies:,} of them {'a copy' if copies == 1 else 'copies'}" if copies else ""
    text = "no hits" if not total else f"{shown} of {total:,} hit{'' if total == 1 else 's'}{alike}"
    following = response.get("next_offset") if "rql" in response["query"] else None
    more = "" if following is None else f", next page: OFFSET {following}"
    return f"{text} in {stats['took_ms']:.0f} ms{more}{_rows_with_words(response)}"


def _context_figures(context: ContextView) -> str:
    model = context.get("estimated_model_tokens")
    about = f", about {model} model tokens" if model is not None else ""
    kept = f", {context['reserved_tokens']} kept for what was recalled" if "reserved_tokens" in context else ""
    return (
        f"{context['used_tokens']} of {context['budget_tokens']} tokens ({context['counter']}{about}{kept}), "
        f"{count_of(len(context['blocks']), 'block')} from {count_of(context['candidates'], 'candidate')}"
    )


def _nothing_recalled(response: SearchResponse | ContextResponse) -> Iterator[str]:
    """Yield why sparse-document recall gave no row away, if it gave none."""
    if "sparse" in response and (reason := response["sparse"]["reason"]) in NOTHING_RECALLED:
        yield f"{'sparse':<11}nothing recalled: {reason} ({NOTHING_RECALLED[reason].format_map(response['sparse'])})"


def _rows_with_words(response: SearchResponse | ContextResponse | ReportResponse) -> str:
    """Return how many rows the words match."""
    count = response["stats"].get("word_hits")
    return "" if count is None else f" · {count:,} with a query term"


def _words_not_looked_for(response: SearchResponse | ContextResponse) -> str:
    dropped = _dropped_words(response["query"])
    return f" · {dropped}" if dropped else ""


def _dropped_words(query: QueryEcho) -> str:
    dropped = query.get("dropped")
    return f"not looked for: {clean(', '.join(dropped))} (--all-words looks for each)" if dropped else ""
