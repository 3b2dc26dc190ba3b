"""Responses as text: one JSON line for programs, plain stable lines for pipes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from recall_core.text import cited

if TYPE_CHECKING:
    from recall_core.contract.responses import Response
    from recall_core.contract.views import (
        AccountView,
        AlternativeView,
        CoverageView,
        EmbedderView,
        LostView,
        ResultView,
        SwapView,
    )

SNIPPET = 100
SHOWN = 5  # chunks of an account that are named; the rest are counted
_DIGESTS = ("doc.id", "doc.hash", "chunk.id", "chunk.doc_id")
DIGITS = 12  # of an id or a hash, where people read it
CAUTION = "W_NO_MATCH"
"""Begins the warning to read before the hits: none of them has a query word."""
_PLAIN = ("score", "doc.path", "chunk.text")  # told from each other by how they look


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
    """The response as one line of JSON; keys stand as they were built, NaN is refused."""
    return json.dumps(response, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def context(response: Response) -> Iterator[str]:
    """The packed text."""
    yield response["context"]["text"] + "\n"


def text(response: Response) -> Iterator[str]:
    """The text that was got, byte for byte."""
    yield response["found"]["text"]


def removed(response: Response) -> Iterator[str]:
    """What was, or would be, taken out."""
    view = response["removed"]
    did = "would remove" if view["dry_run"] else "removed"
    yield f"{did} {counted(view['documents'], 'document')}{', purged' if view['purged'] else ''}"
    yield from view["paths"]
    yield from (f"backup  {path}" for path in view["backups"])
    yield from (f"copy    {path}" for path in view.get("copies", []))


def trust(response: Response) -> Iterator[str]:
    """What waits, whether it is accepted, and the digest that says so elsewhere."""
    view = response["trust"]
    if "sha256" not in view:
        yield f"{clean(view['toml'])} says nothing that has to be accepted"
        return
    yield f"{clean(view['toml'])} would"
    yield from (f"  {clean(act)}" for act in view["acts"])
    yield f"sha256  {view['sha256']}"
    yield "accepted" + ("" if view["kept"] else " for this run") if view["accepted"] else "waits to be accepted"


def store(response: Response) -> Iterator[str]:
    """The store's figures, one a line."""
    yield from (f"{name:<16}{value}" for name, value in store_rows(response))


def checks(response: Response) -> Iterator[str]:
    """Every check with what it saw and what mends it."""
    for check in response["checks"]:
        fix = f"  fix: {check['fix']}" if "fix" in check else ""
        yield f"{check['severity']:<9}{check['code']:<24}{check['evidence']}{fix}"
        yield from lost_lines(check.get("lost", []))


def lost_lines(lost: Sequence[LostView]) -> Iterator[str]:
    """What mending could not bring back, one a line."""
    for each in lost:
        yield "  ".join(
            [f"  lost {each['kind']}", *(clean(part) for part in (each["path"], each.get("place", "")) if part)]
        )


def recovered(response: Response) -> Iterator[str]:
    """What the new store holds, what is lost, and the checks that are not good."""
    view = response["recovered"]
    amount = f"{counted(view['documents'], 'document')}, {counted(view['chunks'], 'chunk')}"
    without = f", {view['without_vector']} without a vector" if view["without_vector"] else ""
    yield f"{clean(view['path'])}: {amount}{without}  digest {view['digest']}"
    yield from lost_lines(view["lost"])
    for check in response["checks"]:
        if check["severity"] != "ok":
            yield f"{check['severity']:<9}{check['code']:<24}{check['evidence']}  fix: {check['fix']}"


def compacted(response: Response) -> Iterator[str]:
    """What compact freed."""
    freed = response["compacted"]
    sizes = f"{freed['bytes_before']} -> {freed['bytes_after']} bytes"
    signed = f", {counted(freed['signatures'], 'signature')}" if "signatures" in freed else ""
    yield f"dropped {counted(freed['tombstones'], 'tombstone')}, {sizes}{signed}"
    if "reason" in freed:
        yield f"the file is {freed['bytes_after'] - freed['bytes_before']} bytes larger: {freed['reason']}"


def transferred(response: Response) -> Iterator[str]:
    """What was written or read, and its digest."""
    moved = response["transfer"]
    amount = f"{counted(moved['documents'], 'document')}, {counted(moved['chunks'], 'chunk')}"
    if "unchanged" in moved:
        amount = f"nothing to import: {counted(moved['unchanged'], 'document')} here already"
    yield f"{amount}  sha256 {moved['sha256']}"


def backed_up(response: Response) -> Iterator[str]:
    """What was copied, and its digest."""
    view = response["backup"]
    amount = f"{counted(view['documents'], 'document')}, {counted(view['chunks'], 'chunk')}, {view['bytes']} bytes"
    yield f"{clean(view['path'])}: {amount}  digest {view['digest']}"


def verified(response: Response) -> Iterator[str]:
    """What the file holds, and what was checked."""
    view = response["verified"]
    held = "damaged"
    if "documents" in view and "chunks" in view:
        named = f"digest {view['digest']}" if "digest" in view else f"sha256 {view.get('sha256', '')}"
        held = f"{counted(view['documents'], 'document')}, {counted(view['chunks'], 'chunk')}  {named}"
    yield f"{clean(view['path'])}: {view['kind']}, {held}"
    yield from checks(response)


def talk(response: Response, *, is_verbose: bool = False) -> Iterator[str]:
    """What goes to stderr beside the answer: figures, skips and warnings.

    is_verbose: also each skip of its own, and what was looked at and changed nothing.
    """
    if "results" in response:
        yield _results_figures(response)
    elif "context" not in response and (dropped := _dropped(response)):
        yield f"{'words':<11}{dropped}"
    if "context" in response:
        context = response["context"]
        model = context.get("estimated_model_tokens")
        about = f", about {model} model tokens" if model is not None else ""
        kept = f", {context['reserved_tokens']} kept for what was recalled" if "reserved_tokens" in context else ""
        yield (
            f"{context['used_tokens']} of {context['budget_tokens']} tokens ({context['counter']}{about}{kept}), "
            f"{counted(len(context['blocks']), 'block')} from {counted(context['candidates'], 'candidate')}"
            f"{'' if 'results' in response else _by_words(response)}"
        )
        if "account" in context and "report" not in response:
            yield from account_lines(context["account"])
    if is_verbose and response.get("sparse", {}).get("reason") in NOTHING_RECALLED:
        sparse = response["sparse"]
        why = NOTHING_RECALLED[sparse["reason"]].format_map(sparse)
        yield f"{'sparse':<11}nothing recalled: {sparse['reason']} ({why})"
    if "evaluation" in response:
        yield import_module("recall_core.adapters.board").talk(response)
    if "ingest" in response:
        yield from import_module("recall_core.adapters.roots").ingest_talk(response["ingest"], verbose=is_verbose)
    if "documents" in response:
        yield from import_module("recall_core.adapters.listing").talk(response)
    if "roots" in response:
        yield from import_module("recall_core.adapters.roots").next_step(response)
    yield from (f"warning: {warning}" for warning in response.get("warnings", []) if not warning.startswith(CAUTION))


def weight_of(term: Mapping[str, Any]) -> str:
    """What a phrase weighs: `idf 2.197`, and `phrase of 2 words, idf 5.003` where that is the sum of its words'."""
    words = f"phrase of {term['words']} words, " if "words" in term else ""
    return f"{words}idf {term['idf']:.3f}"


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


def hit_line(result: ResultView) -> str:
    """`0.843  docs/a.md:10-24  heading  first words of the text`; of chosen fields, each with its name if need be."""
    if not is_whole(result):
        chosen = [value if name in _PLAIN else f"{name}={value}" for name, value in fields(result).items()]
        return "  ".join([*chosen, *marks(result)])
    parts = [f"{result['score']:.3f}"] if "score" in result else []
    parts += [part for part in (place(result), heading(result), snippet(result)) if part]
    return "  ".join([*parts, *marks(result)])


def marks(result: ResultView) -> list[str]:
    """`by meaning 0.412` where a hybrid answer has a hit without a query word, `[recalled: distance 0.11]` where
    sparse-document recall gave the hit its row, `+5 identical` where others have its text."""
    shown = [f"by meaning {result['cosine']:.3f}"] if "cosine" in result else []
    shown += [f"[recalled: distance {result['recall']['distance']:g}]"] if "recall" in result else []
    return [*shown, f"+{result['copies']['count']} identical"] if "copies" in result else shown


def is_whole(result: ResultView) -> bool:
    """False when SELECT chose among the fields: line numbers cannot be chosen, and of a document few choose all."""
    return (
        "line_end" in result.get("chunk", {})
        or {"id", "hash", "mtime", "tags", "title"} <= result.get("doc", {}).keys()
    )


def fields(result: ResultView) -> dict[str, str]:
    """The chosen fields by the names that a query gives them; of a text its passage, else its first words."""
    found = {"score": f"{result['score']:.3f}"} if "score" in result else {}
    for table in ("doc", "chunk"):
        view = dict(cast(Mapping[str, Any], result.get(table, {})))
        if table == "chunk" and "passage" in result:
            view["text"] = result["passage"]["text"]
        meta = view.pop("meta", {})
        named = {f"{table}.{key}": value for key, value in view.items()}
        named |= {f"{table}.meta.{key}": value for key, value in meta.items()}
        found |= {name: _field(name, value) for name, value in named.items()}
    return found


def _field(name: str, value: Any) -> str:
    if name == "chunk.text":
        return short(value)
    if name in _DIGESTS:
        return str(value[:DIGITS])
    return clean(", ".join(value) if isinstance(value, list) else str(value))


def place(result: ResultView) -> str:
    """`path:first-last`, as `recall get` reads it; an id where the path was not selected."""
    doc, chunk = result.get("doc", {}), result.get("chunk", {})
    path = doc.get("path", "")
    if path and "line_start" in chunk:
        path = cited(path, chunk["line_start"], chunk["line_end"], chunk.get("place"))
    state = f" ({doc['state']})" if "state" in doc else ""
    return clean(path or (chunk.get("id") or doc.get("id") or "")[:DIGITS]) + state


def heading(result: ResultView) -> str:
    """Return the heading of the passage, of the chunk if the hit has none, or ""."""
    unit = result.get("passage", result.get("chunk", {}))
    return clean(unit.get("heading", ""))


def snippet(result: ResultView, width: int = SNIPPET) -> str:
    """The first words of the chunk on one line."""
    return short(result.get("chunk", {}).get("text", ""), width)


def short(text: str, width: int = SNIPPET) -> str:
    """The first words of a text on one line."""
    text = clean(text[: 4 * width])
    return text if len(text) <= width else text[: width - 1] + "…"


def ledger_lines(result: ResultView) -> Iterator[str]:
    """What its place rests on, how the score adds up, and what else gave it its row; none without an explanation."""
    if summary := result.get("explain", {}).get("summary"):
        yield f"  {clean(summary)}"
    for part in result.get("explain", {}).get("parts", []):
        raw = "-" if part["raw"] is None else f"{part['raw']:.3f}"
        rank = "-" if part["rank"] is None else f"#{part['rank']}"
        yield (
            f"  {part['points']:+.3f}  {part['signal']:<9} value {part['value']:.3f}  "
            f"weight {part['weight']:g}  raw {raw}  rank {rank}"
        )
        if "leaves" in part:
            yield from import_module("recall_core.adapters.ledger").leaf_lines(part)
    if "explain" in result and "recall" in result:
        displaced = result["recall"].get("displaced")
        where = "a free row" if displaced is None else f"the row of {displaced[:DIGITS]}"
        yield f"  recalled: a short document at distance {result['recall']['distance']:g}, in {where}"


def ingested(response: Response) -> Iterator[str]:
    """The outcome of add and sync on one line."""
    view = response["ingest"]
    counts = [(view["added"], "added"), (view["updated"], "updated")]
    counts += [(view["unchanged"], "unchanged"), (view["removed"], "removed")]
    outcome = "files: " + ", ".join(f"{count} {name}" for count, name in counts)
    skipped = f", {len(view['skipped'])} skipped" if view["skipped"] else ""
    tokens = f"; {counted(view['tokens'], 'token')} embedded" if "tokens" in view else ""
    without = f", {view['without_text']} without text" if "without_text" in view else ""
    documents = f"{counted(view['documents'], 'document')}{without}"
    yield f"{outcome}{skipped}; {documents}, {counted(view['chunks'], 'chunk')}{tokens}"


def reembedded(response: Response) -> Iterator[str]:
    """The outcome of reembed on one line."""
    view = response["reembedded"]
    tokens = f"; {counted(view['tokens'], 'token')}" if "tokens" in view else ""
    yield (
        f"{view['previous']} -> {view['embedder']}  {counted(view['vectors'], 'vector')}: "
        f"{counted(view['embedded'], 'text')} embedded, {view['reused']} from before{tokens}"
    )


def rechunked(response: Response) -> Iterator[str]:
    """What texts are cut by, and what that comes to."""
    view = response["rechunked"]
    before, after = view["before"], view["after"]
    limits = ("chunk_tokens", "overlap_tokens", "max_chunk_chars", "counter")
    pairs = [(name, before[name], after[name]) for name in limits]  # type: ignore[literal-required]
    yield ", ".join(f"{name} {old} -> {new}" if old != new else f"{name} {new}" for name, old, new in pairs)
    if not view["documents"]:
        sizes = f"{counted(after['chunks'], 'chunk')}, {after['tokens_per_chunk']:g} tokens each"
        yield f"no document is cut otherwise: {sizes}"
        return
    sizes = f"{before['chunks']} -> {counted(after['chunks'], 'chunk')}"
    tokens = f"{before['tokens_per_chunk']:g} -> {after['tokens_per_chunk']:g} tokens each"
    to_embed = f"{counted(view['embedded'], 'text')} {'to embed' if view['dry_run'] else 'embedded'}"
    spent = f"; {counted(view['tokens'], 'token')}" if "tokens" in view else ""
    did = "would be cut" if view["dry_run"] else "cut"
    yield (
        f"{counted(view['documents'], 'document')} {did}: {sizes}, {tokens}; "
        f"{to_embed}, {view['reused']} from before{spent}"
    )


def warmed(response: Response) -> Iterator[str]:
    """The outcome of warm on one line."""
    view = response["warmed"]
    asked = f"{counted(view['questions'], 'question')} asked, " if view["questions"] else ""
    left = f", {view['left']} left" if view["left"] else ""
    yield (
        f"{view['reranker']}: {asked}{counted(view['embedded'], 'text')} embedded{left}; "
        f"{view['kept']} of {view['texts']} kept, {view['bytes'] / 1e6:.1f} MB"
    )


def embedders(response: Response) -> Iterator[str]:
    """One line an embedder, in columns; what is unknown is a dash."""
    rows = [embedder_row(view) for view in response["embedders"]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def embedder_row(view: EmbedderView) -> tuple[str, ...]:
    """name, state, dimension, max input, where, weight, pace, and what to know about it."""
    usable = "available" if view.get("probed", True) else "not probed"
    state = "in use" if view["in_use"] else usable if view["available"] else "unavailable"
    pace = f"{view['texts_per_second']:g}/s" if "texts_per_second" in view else "-"
    about = view["purpose"] + (f" ({view['reason']})" if view["reason"] else "")
    figures = str(view.get("dimension", "-")), str(view.get("max_input", "-"))
    return (
        view["name"],
        state,
        *figures,
        "network" if view["network"] else "this machine",
        f"{view['vector_weight']:g}",
        pace,
        about,
    )


def store_rows(response: Response) -> Iterator[tuple[str, str]]:
    """The store's figures as (name, value)."""
    without_text = response.get("stats", {}).get("without_text")
    for name, value in response["store"].items():
        if isinstance(value, list):
            yield from ((name.replace("_", " ").removesuffix("s"), clean(str(entry))) for entry in value)
        elif isinstance(value, dict):
            yield name.replace("_", " "), clean(", ".join(f"{key} {each}" for key, each in value.items()))
        else:
            yield name.replace("_", " "), clean(str(value))
        if name == "documents" and without_text:
            yield "without text", str(without_text)


def counted(n: int, noun: str) -> str:
    """`1 chunk`, `2 chunks`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def clean(text: str) -> str:
    """The text on one line, without control characters, which could steer the reader's terminal."""
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())


def _results_figures(response: Response) -> str:
    shown = len(response["results"])
    stats = response["stats"]
    total = stats.get("total_hits", shown)
    copies = stats.get("copies", 0)
    alike = f", {copies:,} of them {'a copy' if copies == 1 else 'copies'}" if copies else ""
    text = "no hits" if not total else f"{shown} of {total:,} hit{'' if total == 1 else 's'}{alike}"
    paged = "next_offset" in response and "rql" in response.get("query", {})
    more = f", next page: OFFSET {response['next_offset']}" if paged else ""
    return f"{text} in {stats['took_ms']:.0f} ms{more}{_by_words(response)}"


def _by_words(response: Response) -> str:
    """How many rows the words match, and which of them were not looked for."""
    told = ""
    if (held := response["stats"].get("word_hits")) is not None:
        told += f" · {held:,} with a query term"
    if dropped := _dropped(response):
        told += f" · {dropped}"
    return told


def _dropped(response: Response) -> str:
    dropped = response.get("query", {}).get("dropped")
    if not dropped or "report" in response:
        return ""
    return f"not looked for: {clean(', '.join(dropped))} (--all-words looks for each)"
