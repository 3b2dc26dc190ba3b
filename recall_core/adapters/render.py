"""Shared text output: JSON, figures next to an answer, places, short texts, counts."""

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
        ResultView,
    )


SNIPPET = 100
SHOWN = 5  # chunks listed in an account; the rest are counted
DIGITS = 12  # digits shown of an id or a hash
INDENT = 7
"""The width of a score column, so that a passage lines up with its place."""
CAUTION = "W_NO_MATCH"
"""Start of the warning that is printed before the hits: no hit has a query word."""

NOTHING_RECALLED = {
    "no_vector": "no candidate has a vector",
    "whole_list": "every candidate is in the list",
    "not_short": "0 of {near} near documents have at most {threshold} chunks",
    "too_far": "0 of {short} short documents are within {ceiling:g}",
    "already_present": "{present} of {within_ceiling} documents within {ceiling:g} are already in the list",
    "no_row": "the list is empty",
    "not_mostly_long": "{long_rows} of {rows} rows are of documents with more than {threshold} chunks",
    "max_injections": "sparse_max_injections = 0",
}
"""Why sparse-document recall added nothing, by reason."""


def as_json(value: object) -> str:
    """Return the value as JSON on one line, keys in insertion order. Raises ValueError for NaN."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def json_line(response: Mapping[str, Any]) -> str:
    """Return the response as JSON with the end of its line."""
    return as_json(response) + "\n"


def talk_of_hits(response: SearchResponse, is_verbose: bool) -> Iterator[str]:
    """Yield the totals of search and query."""
    yield _results_figures(response)
    if is_verbose:
        yield from _nothing_recalled(response)


def talk_of_context(response: ContextResponse, is_verbose: bool) -> Iterator[str]:
    """Yield the totals of a context, and its account with --explain."""
    yield f"{_context_figures(response['context'])}{_rows_with_words(response)}"
    if "account" in response["context"]:
        yield from account_lines(response["context"]["account"])
    if is_verbose:
        yield from _nothing_recalled(response)


def talk_of_report(response: ReportResponse, is_verbose: bool) -> Iterator[str]:
    """Yield the totals of the hits and of the context on the page."""
    yield _results_figures(response)
    yield _context_figures(response["context"])


def weight_of(term: Mapping[str, Any], joint: str = "  ") -> str:
    """Return the weight of a term after the joint: `idf 2.197`, or `phrase of 2 words, idf 5.003` (the sum over its
    words). Return "" if no word has a weight, as with ts_rank."""
    words = f"phrase of {term['words']} words, " if "words" in term else ""
    return f"{joint}{words}idf {term['idf']:.3f}" if "idf" in term else ""


def account_lines(view: AccountView, count: Callable[[int], str] = str) -> Iterator[str]:
    """Yield the value, coverage, token use and repetition of a context, one line each. count: formats a count."""
    share = "" if view["efficiency"] is None else f" ({view['efficiency']:.0%})"
    worth = f"{view['value']:.3f} of at most {view['bound']:.3f}{share}"
    yield f"{'value':<11}{worth}, pack = {view['pack']}, documents {count(view['documents'])}"
    if "coverage" in view:
        missing = ", ".join(term["text"] for term in view["coverage"]["terms"] if not term["packed"])
        lacking = f"; not in the context: {missing}" if missing else ""
        yield f"{'words':<11}{view['coverage']['share']:.0%} of the query's idf{lacking}"
    tokens = view["tokens"]
    parts = f"{count(tokens['chunks'])} in chunks + {count(tokens['headers'])} in headers"
    yield f"{'tokens':<11}{parts} + {count(tokens['separators'])} in separators"
    if view["truncated_tokens"]:
        yield f"{'cut':<11}{count(view['truncated_tokens'])} tokens cut from the last chunk"
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
    """Return `path:first-last`, as `recall get` takes it, or an id if SELECT left out the path."""
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
    """Return a count with its noun: `1 chunk`, `2 chunks`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def clean(text: str) -> str:
    """Return the text on one line, without control characters that could change the terminal."""
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
    reserved = (
        f", {context['reserved_tokens']} reserved for recalled documents" if "reserved_tokens" in context else ""
    )
    return (
        f"{context['used_tokens']} of {context['budget_tokens']} tokens ({context['counter']}{about}{reserved}), "
        f"{count_of(len(context['blocks']), 'block')} from {count_of(context['candidates'], 'candidate')}"
    )


def _nothing_recalled(response: SearchResponse | ContextResponse) -> Iterator[str]:
    """Yield why sparse-document recall added nothing, if so."""
    if "sparse" in response and (reason := response["sparse"]["reason"]) in NOTHING_RECALLED:
        yield f"{'sparse':<11}nothing recalled: {reason} ({NOTHING_RECALLED[reason].format_map(response['sparse'])})"


def _rows_with_words(response: SearchResponse | ContextResponse | ReportResponse) -> str:
    """Return the number of rows that contain a query word."""
    count = response["stats"].get("word_hits")
    return "" if count is None else f" · {count:,} with a query word"
