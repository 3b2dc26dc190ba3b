"""One question as one HTML file: no script, nothing from elsewhere, the same bytes every time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recall_core.adapters.report.chart import rank_chart, sample, token_gauge
from recall_core.adapters.report.facts import account_facts, plan_facts, question
from recall_core.adapters.report.markup import Html, join, tag
from recall_core.adapters.report.style import CSS, SIGNAL_COLOURS
from recall_core.contract.ledger import PartView
from recall_core.contract.responses import Response
from recall_core.contract.views import ContextBlock, ContextView, ResultView
from recall_core.text import behind_unit, cited

EXCERPT = 260
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(response: Response) -> str:
    """The page of a response to `report`, whose timings it leaves out."""
    title = question(response)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("title", f"Recall: {title}"),
        tag("style", Html(CSS)),
    )
    sections = (
        _opening(title, response),
        _results(response),
        _lines(response),
        _funnel(response),
        _context(response),
        _closing(response),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', tag('main', *sections)), lang='en')}\n"


def _opening(title: str, response: Response) -> Html:
    facts = [tag("li", tag("b", name), value) for name, value in plan_facts(response)]
    warnings = [tag("li", warning) for warning in response.get("warnings", [])]
    return tag(
        "header",
        tag("p", "Recall report", class_="kind"),
        tag("h1", title or "(nothing asked)"),
        tag("ul", *facts, class_="facts"),
        tag("ul", *warnings, class_="plain") if warnings else Html(),
    )


def _results(response: Response) -> Html:
    results = response.get("results", [])
    total = response["stats"].get("total_hits", len(results))
    offset = response.get("query", {}).get("offset", 0)
    keys = [join(tag("span", class_=f"key {name}"), f"{name} ") for name in SIGNAL_COLOURS if _has(results, name)]
    note = tag("p", f"{len(results)} of {total}. ", *keys, class_="note")
    cards = (_result(result, number) for number, result in enumerate(results, start=offset + 1))
    return tag("section", tag("h2", "Results"), note, *cards)


def _has(results: Sequence[ResultView], signal: str) -> bool:
    return any(part["signal"] == signal for result in results for part in _parts(result))


def _parts(result: Mapping[str, Any]) -> Sequence[PartView]:
    parts: Sequence[PartView] = result.get("explain", {}).get("parts", [])
    return parts


def _result(result: ResultView, number: int) -> Html:
    score = f"{result['score']:.3f}" if "score" in result else ""
    head = tag(
        "div",
        tag("span", f"{number}", class_="rank"),
        tag("span", place(result), class_="place mono"),
        tag("span", score, class_="score"),
        class_="head",
    )
    chunk, passage = result.get("chunk", {}), result.get("passage")
    text = chunk.get("text", "")
    name = (passage or chunk).get("heading")
    heading = tag("div", name, class_="heading") if name else Html()
    excerpt = tag("div", _short(passage["text"] if passage else text), class_="excerpt") if text else Html()
    whole = _folded(f"text, {chunk.get('tokens', 0)} tokens", tag("pre", text)) if text else Html()
    return tag("article", head, heading, _score_bar(result), excerpt, _ledger(result, is_open=number == 1), whole)


def place(result: Mapping[str, Any]) -> str:
    """`path:first-last`, with what is to be known of it."""
    doc, chunk = result.get("doc", {}), result.get("chunk", {})
    path = str(doc.get("path") or chunk.get("id") or doc.get("id") or "")
    lines, unit = "", result.get("passage", chunk)
    if "line_start" in unit:
        lines = behind_unit(path, unit)
    notes = [str(doc["state"])] if "state" in doc else []
    notes += ["recalled"] if result.get("recall_injected") else []
    return path + lines + (f"  ({', '.join(notes)})" if notes else "")


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= EXCERPT else flat[: EXCERPT - 1] + "…"


def _score_bar(result: ResultView) -> Html:
    """Each signal's points as a share of the whole scale, which ends at 1."""
    pieces = [
        tag("span", class_=part["signal"], style=f"width:{100 * max(0.0, part['points']):.2f}%")
        for part in _parts(result)
    ]
    return tag("div", *pieces, class_="bar") if pieces else Html()


def _ledger(result: ResultView, *, is_open: bool) -> Html:
    """How the score adds up, down to its leaves."""
    if not _parts(result):
        return Html()
    names = ("", "points", "value", "weight", "raw", "rank")
    head = tag("tr", *(tag("th", name, class_="n" if name else "") for name in names))
    rows = [row for part in _parts(result) for row in _part_rows(part)]
    total = tag("tr", tag("td", "score"), _figure(f"{result.get('score', 0.0):.6f}"), *[tag("td")] * 4, class_="sum")
    return _folded("how the score adds up", tag("table", head, *rows, total), is_open=is_open)


def _part_rows(part: PartView) -> Iterator[Html]:
    raw = "-" if part["raw"] is None else f"{part['raw']:.3f}"
    rank = "-" if part["rank"] is None else f"#{part['rank']}"
    figures = (f"{part['points']:+.6f}", f"{part['value']:.3f}", f"{part['weight']:g}", raw, rank)
    name = tag("td", tag("span", class_=f"key {part['signal']}"), part["signal"])
    yield tag("tr", name, *map(_figure, figures))
    for leaf in part.get("leaves", []):
        name = tag("td", tag("b", leaf["text"]), f"  {leaf['kind']}{_leaf_note(leaf)}")
        yield tag("tr", name, _figure(f"{leaf['points']:+.6f}"), *[tag("td")] * 4, class_="leaf")


def _leaf_note(leaf: Mapping[str, Any]) -> str:
    """What is known of a leaf beside its points."""
    told = [f"{name} {leaf[name]:.3g}" for name in ("idf", "df", "count") if name in leaf]
    told += ["idf floored"] if leaf.get("floored") else []
    told += [f"phrase of {leaf['words']} words"] if "words" in leaf else []
    return f" ({', '.join(told)})" if told else ""


def _lines(response: Response) -> Html:
    view = response.get("report", {})
    lines = view.get("lines", [])
    if not lines or "weight" not in view:
        return Html()
    results = response.get("results", [])
    legend = [
        tag("li", sample(line["result"]), tag("b", f"{line['result'] + 1}"), place(results[line["result"]]))
        for line in lines
    ]
    return tag(
        "section",
        tag("h2", "Rank over the weight"),
        tag("p", "Where each result would stand at every share of the semantic weight, exactly.", class_="note"),
        rank_chart(lines, weight=view["weight"], depth=view["depth"]),
        tag("ol", *legend, class_="legend"),
    )


def _funnel(response: Mapping[str, Any]) -> Html:
    """From the store to the answer, where the response tells it."""
    stages = response.get("trace", {}).get("stages", [])
    if not stages:
        return Html()
    most = max(1, *(stage["rows_out"] for stage in stages))
    rows = [
        tag(
            "tr",
            tag("td", stage["stage"]),
            _figure(f"{stage['rows_in']}"),
            _figure(f"{stage['rows_out']}"),
            tag("td", _fill(stage["rows_out"] / most), class_="w"),
        )
        for stage in stages
    ]
    head = tag("tr", tag("th", "stage"), tag("th", "in", class_="n"), tag("th", "out", class_="n"), tag("th"))
    return tag("section", tag("h2", "Funnel"), tag("table", head, *rows, class_="funnel"))


def _fill(share: float) -> Html:
    return tag("div", tag("span", class_="fill", style=f"width:{100 * share:.2f}%"), class_="bar")


def _context(response: Response) -> Html:
    view = response.get("context")
    if view is None:
        return Html()
    kept = f", {view['reserved_tokens']} kept for what was recalled" if "reserved_tokens" in view else ""
    used = f"{view['used_tokens']} of {view['budget_tokens']} tokens ({view['counter']}{kept}), "
    note = tag("p", used + f"{len(view['blocks'])} blocks from {view['candidates']} candidates.", class_="note")
    facts = [tag("tr", tag("th", name), tag("td", value)) for name, value in account_facts(view)]
    table = tag("table", *facts) if facts else Html()
    return tag(
        "section", tag("h2", "Context"), note, token_gauge(view), _blocks(view), table, _omitted(view), *_texts(view)
    )


def _blocks(view: ContextView) -> Html:
    rows = [
        tag(
            "li",
            tag("b", f"{each['n']}"),
            cited(each["path"], each["line_start"], each["line_end"], each.get("place")) + _cut(each),
        )
        for each in view["blocks"]
    ]
    return tag("ol", *rows, class_="legend") if rows else Html()


def _cut(block: ContextBlock) -> str:
    return "  (cut)" if block["truncated"] else ""


def _omitted(view: ContextView) -> Html:
    rows = [
        tag(
            "li",
            f"{each['reason']}: #{each['rank']} {each['path']}" + (f", {each['count']} in all" * (each["count"] > 1)),
        )
        for each in view["omitted"]
    ]
    return _folded(f"left out, {len(rows)} entries", tag("ul", *rows, class_="plain")) if rows else Html()


def _texts(view: ContextView) -> Iterator[Html]:
    if view["text"]:
        yield _folded("the text, as a model reads it", tag("pre", view["text"]))


def _closing(response: Response) -> Html:
    stats = response["stats"]
    told = [f"{name} {stats[name]}" for name in ("digest", "snapshot", "index") if stats.get(name)]
    return tag("footer", tag("p", "  ·  ".join(["Made by Recall from one state of the store", *told]), class_="mono"))


def _figure(text: str) -> Html:
    return tag("td", text, class_="n")


def _folded(title: str, inside: Html, *, is_open: bool = False) -> Html:
    return tag("details", tag("summary", title), inside, **({"open": "open"} if is_open else {}))
