"""Responses as text: one JSON line for programs, plain stable lines for pipes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, cast

from recall_core.adapters import board
from recall_core.contract import EmbedderView, ReembedView, Response, ResultView
from recall_core.rql.views import FilterView

SNIPPET = 100
_ELSEWHERE = {
    "fixtures": "judging",
    "calibration": "judging",
    "diff": "comparing",
    "explanation": "ledger",
    "tuning": "tuning",
    "whynot": "whynot",
    "trace": "whynot",
}
"""Keys whose lines a module of their own has, which a search need not import."""
_DIGESTS = ("doc.id", "doc.hash", "chunk.id", "chunk.doc_id")
DIGITS = 12  # of an id or a hash, where people read it
_PLAIN = ("score", "doc.path", "chunk.text")  # told from each other by how they look


NOTHING_RECALLED = {
    "no_vector": "no candidate has a vector",
    "whole_list": "every candidate is in the list",
    "not_short": "0 of {near} near documents have at most {threshold} chunks",
    "too_far": "0 of {short} short documents within {ceiling:g}",
    "already_present": "{present} of {within_ceiling} within {ceiling:g} are in the list",
    "no_row": "the list has no row",
    "max_injections": "sparse_max_injections = 0",
}
"""Why sparse-document recall gave no row away, by its reason."""


def json_line(response: Mapping[str, Any]) -> str:
    """The response as one line of JSON; keys stand as they were built, NaN is refused."""
    return json.dumps(response, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def plain(response: Response) -> Iterator[str]:
    """The answer as it goes to stdout, in pieces that are written one after the other."""
    if "report" in response:
        yield from (f"{line}\n" for line in import_module("recall_core.adapters.report.writing").lines(response))
    elif "context" in response:
        yield response["context"]["text"] + "\n"
    elif "found" in response:
        yield response["found"]["text"]
    else:
        yield from (f"{line}\n" for line in lines(response))


def lines(response: Response) -> Iterator[str]:
    """The answer line by line, the same in every terminal and on every run."""
    for result in response.get("results", []):
        yield hit_line(result)
        yield from ledger_lines(result)
    if "ingest" in response:
        yield ingest_line(response)
    if "removed" in response:
        removed = response["removed"]
        did = "would remove" if removed["dry_run"] else "removed"
        yield f"{did} {counted(removed['documents'], 'document')}{', purged' if removed['purged'] else ''}"
        yield from removed["paths"]
        yield from (f"backup  {path}" for path in removed["backups"])
    if "store" in response:
        yield from (f"{name:<16}{value}" for name, value in store_rows(response))
    for check in response.get("checks", []):
        fix = f"  fix: {check['fix']}" if "fix" in check else ""
        yield f"{check['severity']:<9}{check['code']:<24}{check['evidence']}{fix}"
    if "compacted" in response:
        freed = response["compacted"]
        sizes = f"{freed['bytes_before']} -> {freed['bytes_after']} bytes"
        yield f"dropped {counted(freed['tombstones'], 'tombstone')}, {sizes}"
    if "transfer" in response:
        moved = response["transfer"]
        amount = f"{counted(moved['documents'], 'document')}, {counted(moved['chunks'], 'chunk')}"
        yield f"{amount}  sha256 {moved['sha256']}"
    if "rql" in response:
        view = response["rql"]
        yield (
            view["text"]
            if "path" not in view
            else f"{'formatted' if view['changed'] else 'unchanged'}  {view['path']}"
        )
    yield from embedding_lines(response)
    if "explained" in response:
        yield from explained_lines(response)
    yield from _further_lines(response)
    yield from board.lines(response)
    for candidate in response.get("candidates", []):
        yield f"{candidate['text']}  {candidate['kind']}  {candidate['detail']}".rstrip()


def _further_lines(response: Response) -> Iterator[str]:
    for key, module in _ELSEWHERE.items():
        if key in response:
            yield from import_module(f"recall_core.adapters.{module}").lines(response)


def talk(response: Response) -> Iterator[str]:
    """What goes to stderr beside the answer: figures, skips and warnings."""
    if "results" in response:
        yield _results_figures(response)
    if "context" in response:
        context = response["context"]
        model = context.get("estimated_model_tokens")
        about = f", about {model} model tokens" if model is not None else ""
        yield (
            f"{context['used_tokens']} of {context['budget_tokens']} tokens ({context['counter']}{about}), "
            f"{counted(len(context['blocks']), 'block')} from {counted(context['candidates'], 'candidate')}"
        )
        if "account" in context and "report" not in response:
            from recall_core.adapters.packing import account_lines  # noqa: PLC0415 - few contexts are explained

            yield from account_lines(context["account"])
    if "report" not in response and response.get("sparse", {}).get("reason") in NOTHING_RECALLED:
        sparse = response["sparse"]
        why = NOTHING_RECALLED[sparse["reason"]].format_map(sparse)
        yield f"{'sparse':<11}nothing recalled: {sparse['reason']} ({why})"
    if "evaluation" in response:
        yield board.talk(response)
    for view in response.get("ingest", {}).get("skipped", []):
        yield f"skipped {view['path']}: {view['reason']} ({view['code']})"
    yield from (f"warning: {warning}" for warning in response.get("warnings", []))


def hit_line(result: ResultView) -> str:
    """`0.843  docs/a.md:10-24  heading  first words of the text`; of chosen fields, each with its name if need be."""
    if not is_whole(result):
        chosen = [value if name in _PLAIN else f"{name}={value}" for name, value in fields(result).items()]
        return "  ".join([*chosen, *recalled(result)])
    parts = [f"{result['score']:.3f}"] if "score" in result else []
    parts += [part for part in (place(result), heading(result), snippet(result)) if part]
    return "  ".join([*parts, *recalled(result)])


def recalled(result: ResultView) -> list[str]:
    """`[recalled: distance 0.11]` where sparse-document recall gave the hit its row."""
    return [f"[recalled: distance {result['recall']['distance']:g}]"] if "recall" in result else []


def is_whole(result: ResultView) -> bool:
    """False when SELECT chose among the fields: a title and line numbers cannot be chosen."""
    return "title" in result.get("doc", {}) or "line_end" in result.get("chunk", {})


def fields(result: ResultView) -> dict[str, str]:
    """The chosen fields by the names that a query gives them, with texts cut to their first words."""
    found = {"score": f"{result['score']:.3f}"} if "score" in result else {}
    for table in ("doc", "chunk"):
        view = dict(cast(Mapping[str, Any], result.get(table, {})))
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
        path = f"{path}:{chunk['line_start']}-{chunk['line_end']}"
    state = f" ({doc['state']})" if "state" in doc else ""
    return clean(path or (chunk.get("id") or doc.get("id") or "")[:DIGITS]) + state


def heading(result: ResultView) -> str:
    """The heading above the chunk, or ""."""
    return clean(result.get("chunk", {}).get("heading", ""))


def snippet(result: ResultView, width: int = SNIPPET) -> str:
    """The first words of the chunk on one line."""
    return short(result.get("chunk", {}).get("text", ""), width)


def short(text: str, width: int = SNIPPET) -> str:
    """The first words of a text on one line."""
    text = clean(text[: 4 * width])
    return text if len(text) <= width else text[: width - 1] + "…"


def ledger_lines(result: ResultView) -> Iterator[str]:
    """How the score adds up, one line a signal, and what else gave the hit its row; none without an explanation."""
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


def explained_lines(response: Response) -> Iterator[str]:
    """A query's plan: rows, filter, signals, order and steps, each with its name in front."""
    view, echo = response["explained"], response["query"]
    yield f"{'rows':<9}{view['passing']} of {counted(view['rows'], view['table'])} pass the filter"
    if "filter" in view:
        yield from filter_lines(view["filter"], depth=0)
    for signal in echo.get("plan", {}).get("signals", []):
        yield f"{signal['signal']:<9}weight {signal['weight']:g}  {clean(signal['text'])}"
        for term in signal.get("terms", []):
            yield f"{'':<9}{clean(term['text'])}  in {counted(term['df'], 'chunk')}  idf {term['idf']:.3f}"
    yield f"{'order':<9}{clean(', '.join(view['order']))}"
    yield f"{'limit':<9}{echo['limit']} offset {echo['offset']} of {counted(response['stats']['total_hits'], 'row')}"
    yield from (f"{'step':<9}{step}" for step in view["steps"])


def filter_lines(view: FilterView, *, depth: int) -> Iterator[str]:
    """A filter's parts, one a line and indented by depth: the rows it leaves, how it is answered, its text."""
    how = view["kind"].upper()
    if "native" in view:
        how = "native" if view["native"] else "scanned"
    yield f"{'filter':<9}{view['rows']:>8}  {how:<9}{'  ' * depth}{clean(view['text'])}"
    for term in view.get("terms", []):
        yield from filter_lines(term, depth=depth + 1)


def ingest_line(response: Response) -> str:
    """The outcome of add, sync or import on one line."""
    view = response["ingest"]
    counts = [(view["added"], "added"), (view["updated"], "updated")]
    counts += [(view["unchanged"], "unchanged"), (view["removed"], "removed")]
    outcome = "files: " + ", ".join(f"{count} {name}" for count, name in counts)
    skipped = f", {len(view['skipped'])} skipped" if view["skipped"] else ""
    tokens = f"; {counted(view['tokens'], 'token')} embedded" if "tokens" in view else ""
    return f"{outcome}{skipped}; {counted(view['documents'], 'document')}, {counted(view['chunks'], 'chunk')}{tokens}"


def embedding_lines(response: Response) -> Iterator[str]:
    """What embedders and reembed answer."""
    if "embedders" in response:
        yield from embedder_lines(response["embedders"])
    if "reembedded" in response:
        yield reembed_line(response["reembedded"])


def reembed_line(view: ReembedView) -> str:
    """The outcome of reembed on one line."""
    tokens = f"; {counted(view['tokens'], 'token')}" if "tokens" in view else ""
    return (
        f"{view['previous']} -> {view['embedder']}  {counted(view['vectors'], 'vector')}: "
        f"{counted(view['embedded'], 'text')} embedded, {view['reused']} from before{tokens}"
    )


def embedder_lines(views: Sequence[EmbedderView]) -> Iterator[str]:
    """One line an embedder, in columns; what is unknown is a dash."""
    rows = [embedder_row(view) for view in views]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def embedder_row(view: EmbedderView) -> tuple[str, ...]:
    """name, state, dimension, max input, where, weight, pace, and what to know about it."""
    state = "in use" if view["in_use"] else "available" if view["available"] else "unavailable"
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
    for name, value in response["store"].items():
        if isinstance(value, list):
            yield from (("root", clean(str(entry))) for entry in value)
        else:
            yield name.replace("_", " "), clean(str(value))


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
    text = "no hits" if not total else f"{shown} of {counted(total, 'hit')}"
    paged = "next_offset" in response and "rql" in response.get("query", {})
    more = f", next page: OFFSET {response['next_offset']}" if paged else ""
    return f"{text} in {stats['took_ms']:.0f} ms{more}"
