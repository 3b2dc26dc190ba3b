"""The HTML page of `recall report`: one file, no scripts, no external resources, the same bytes every time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from recall_core.adapters.render import account_lines, count_of, weight_of
from recall_core.text import behind_unit, cite

if TYPE_CHECKING:
    from recall_core.contract.explaining import RankLineView, RankStepView, ReportView, TraceView
    from recall_core.contract.ledger import PartView
    from recall_core.contract.responses import ReportResponse
    from recall_core.contract.views import ContextView, QueryEcho, ResultView

_VOID = ("meta", "br", "hr", "circle", "line", "rect", "path")
_TURNS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that make a text look like another text."""
_PICTURES = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys((*range(0x80, 0xA0), *map(ord, _TURNS), 0xFFFE, 0xFFFF), 0xFFFD),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}
"""Characters that a browser interprets or drops, and visible characters to show instead."""


class Html(str):
    """Escaped markup."""

    __slots__ = ()


def visible(text: str) -> str:
    """Return the text with control characters, lone surrogates and direction marks made visible."""
    return text.replace("\r\n", "\n").translate(_PICTURES)


def html(text: str) -> Html:
    """Escape a text. Return Html unchanged."""
    return text if isinstance(text, Html) else Html(escape(visible(text), quote=True))


def tag(name: str, /, *children: str, **attributes: str | float) -> Html:
    """Return an element. In attribute names a trailing `_` is dropped, others become `-`. Floats are shortened."""
    written = ""
    for key, value in attributes.items():
        attribute = key if key == "viewBox" else key.rstrip("_").replace("_", "-")
        text = (
            escape(visible(value), quote=True) if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
        )
        written += f' {attribute}="{text}"'
    return Html(f"<{name}{written}/>" if name in _VOID else f"<{name}{written}>{join(*children)}</{name}>")


def join(*children: str) -> Html:
    """Join the pieces as markup."""
    return Html("".join(map(html, children)))


SIGNAL_COLOURS = {"lexical": "#56b4e9", "semantic": "#e69f00", "rerank": "#009e73"}
"""The colours of Okabe and Ito, safe for colour blindness. The workbench uses the same."""

LINE_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#8c6d31")
LINE_DASHES = ("", "7 3", "2 3", "10 3 2 3")

CSS = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --paper: #fbfbf9; --card: #ffffff;
  --edge: #dcdfe3; --fill: #eef0f2; --lexical: #56b4e9; --semantic: #e69f00; --rerank: #009e73; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ea; --soft: #9aa4af; --paper: #14171a; --card: #1c2024;
  --edge: #343a41; --fill: #262b31; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2.2rem 1.2rem 4rem; }
header p.kind { margin: 0; color: var(--soft); letter-spacing: .08em; text-transform: uppercase; font-size: .75rem; }
h1 { margin: .2rem 0 .8rem; font-size: 1.9rem; line-height: 1.2; font-weight: 650; overflow-wrap: anywhere; }
h2 { margin: 2.6rem 0 .8rem; font-size: 1.15rem; font-weight: 650; border-bottom: 1px solid var(--edge);
  padding-bottom: .3rem; }
p.note { color: var(--soft); margin: .3rem 0 .9rem; font-size: .9rem; }
code, pre, .mono { font-family: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0 0; padding: .7rem .8rem;
  background: var(--fill); border-radius: 6px; font-size: .82rem; line-height: 1.45; }
ul.facts { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .35rem .45rem; }
ul.facts li { background: var(--fill); border-radius: 5px; padding: .1rem .55rem; font-size: .84rem;
  overflow-wrap: anywhere; }
ul.facts b { font-weight: 500; color: var(--soft); margin-right: .35rem; }
ul.plain { padding-left: 1.1rem; margin: .4rem 0; font-size: .9rem; }
article { background: var(--card); border: 1px solid var(--edge); border-radius: 9px; padding: .85rem 1rem;
  margin: 0 0 .8rem; }
.head { display: flex; gap: .8rem; align-items: baseline; }
.rank { font-variant-numeric: tabular-nums; color: var(--soft); min-width: 1.5rem; }
.place { flex: 1; font-weight: 600; overflow-wrap: anywhere; }
.score { font-variant-numeric: tabular-nums; font-weight: 650; }
.heading { color: var(--soft); font-size: .88rem; margin-left: 2.3rem; overflow-wrap: anywhere; }
.excerpt { margin: .45rem 0 .1rem 2.3rem; overflow-wrap: anywhere; }
.bar { display: flex; height: .62rem; background: var(--fill); border-radius: 3px; overflow: hidden;
  margin: .5rem 0 .2rem 2.3rem; }
.lexical { background-color: var(--lexical); } .rerank { background-color: var(--rerank); }
.semantic { background-color: var(--semantic); background-image: repeating-linear-gradient(45deg,
  transparent 0 4px, rgba(0,0,0,.16) 4px 6px); }
.rerank { background-image: radial-gradient(rgba(0,0,0,.25) 1px, transparent 1.4px); background-size: 5px 5px; }
.key { display: inline-block; width: .75rem; height: .75rem; border-radius: 2px; margin-right: .4rem;
  vertical-align: -1px; }
details { margin: .35rem 0 0 2.3rem; } section > details { margin-left: 0; }
summary { cursor: pointer; color: var(--soft); font-size: .86rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 0; font-size: .86rem; }
th, td { text-align: left; padding: .22rem .6rem .22rem 0; border-bottom: 1px solid var(--edge);
  vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 500; color: var(--soft); white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.leaf td:first-child { padding-left: 1.4rem; color: var(--soft); }
tr.sum td { font-weight: 650; border-bottom: 0; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums; }
svg .grid { stroke: var(--edge); } svg .now { stroke: var(--ink); stroke-dasharray: 3 3; }
svg .dot { fill: var(--card); stroke-width: 2.2; }
svg text.mark { fill: var(--ink); font-size: 11px; font-weight: 650; }
svg .block { stroke: var(--card); stroke-width: 1.5; } svg .free { fill: var(--fill); }
ol.legend { list-style: none; padding: 0; margin: .6rem 0 0; columns: 2; column-gap: 2rem; font-size: .86rem; }
ol.legend li { display: flex; gap: .5rem; align-items: center; break-inside: avoid; overflow-wrap: anywhere; }
ol.legend b { min-width: 1.1rem; }
ol.legend svg { width: 2.6rem; flex: none; }
.funnel td.w { width: 45%; } .funnel .bar { margin: .35rem 0 0; }
.funnel .fill { background: var(--lexical); }
footer { margin-top: 3rem; color: var(--soft); font-size: .82rem; overflow-wrap: anywhere; }
@media (max-width: 40rem) { ol.legend { columns: 1; } .heading, .excerpt, .bar, details { margin-left: 0; } }
@media print { article { break-inside: avoid; } }
""".strip()


def question(query: QueryEcho) -> str:
    """Return the query, in words or RQL."""
    return query.get("rql", query.get("text", ""))


def plan_facts(query: QueryEcho) -> Iterator[tuple[str, str]]:
    """Yield the settings that decided the order, as name and value."""
    if "filters" in query:
        yield "filter", query["filters"]
    yield "rows", f"{query['limit']}" + (f" after {query['offset']}" if query["offset"] else "")
    plan = query.get("plan")
    if plan is None:
        return
    for name in ("mode", "fusion", "normalize"):
        yield name, plan[name]
    yield "weights", ", ".join(f"{name} {weight:g}" for name, weight in plan["weights"].items())
    if "rrf_k" in plan:
        yield "rrf k", f"{plan['rrf_k']:g}"
    limits = (("min score", plan["min_score"]), ("min cosine", plan.get("min_cosine", 0)))
    yield from ((name, f"{least:g}") for name, least in limits if least)
    yield "index", plan["index"]
    if "rerank" in plan:
        yield (
            "rerank",
            f"{plan['rerank']['model']}, best {plan['rerank']['rows']}, weight {plan['rerank']['weight']:g}",
        )
    if "lexical_model" in plan:
        yield "words scored by", plan["lexical_model"]["model"]
    for signal in plan["signals"]:
        if "bound" in signal and plan.get("lexical_model", {}).get("model") != "ts_rank":
            yield "bm25 bound", f"{signal['bound']:.3f}"
        for term in signal.get("terms", []):
            yield f"“{term['text']}”", f"in {count_of(term['df'], 'chunk')}{weight_of(term, ', ')}"


def account_facts(view: ContextView) -> Iterator[tuple[str, str]]:
    """Yield the account of the context, as the command line prints it."""
    if "account" in view:
        yield from ((line[:11].rstrip(), line[11:]) for line in account_lines(view["account"]))


CHART_WIDTH, LEFT, RIGHT, TOP, ROW = 860.0, 56.0, 30.0, 30.0, 27.0
_BEND = 7.0  # half the width of a step from one rank to another
_NEAR = 0.03  # marks closer than this overlap
_BLOCK_COLOURS = ("#3a86b8", "#0072b2")
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def rank_chart(lines: Sequence[RankLineView], *, weight: float, depth: int) -> Html:
    """Draw the rank of each result, 1 on top, from lexical only (left) to semantic only (right)."""
    height = TOP + ROW * (depth - 1) + 44
    drawn = [*_axes(weight, depth)]
    for line in lines:
        path = "".join(map(_stretch, _stretches(line["steps"])))
        drawn.append(tag("path", d=path, fill="none", stroke_linejoin="round", **_stroke(line["result"])))
    drawn += [mark for line in lines for mark in _marks(line, weight)]
    return tag("svg", *drawn, viewBox=f"0 0 {CHART_WIDTH:g} {height:g}", role="img", aria_label="rank by weight")


def sample(number: int) -> Html:
    """Return a short line for the legend."""
    stroke = tag("line", x1=2.0, y1=8.0, x2=42.0, y2=8.0, **_stroke(number))
    return tag("svg", stroke, viewBox="0 0 44 16", aria_hidden="true")


def token_gauge(view: ContextView) -> Html:
    """Draw the budget as a bar: a numbered section per block, as long as its tokens, and the free rest."""
    width, height = CHART_WIDTH, 34.0
    used = min(1.0, view["used_tokens"] / view["budget_tokens"]) * width
    letters = sum(len(block["text"]) for block in view["blocks"]) or 1
    pieces = [tag("rect", x=0.0, y=4.0, width=width, height=22.0, rx=3.0, class_="free")]
    start = 0.0
    for block in view["blocks"]:
        span = used * len(block["text"]) / letters
        colour = _BLOCK_COLOURS[block["n"] % 2]
        where = cite(block["path"], block["line_start"], block["line_end"], block.get("place"))
        title = tag("title", f"{block['n']}  {where}")
        pieces.append(
            Html(tag("g", title, tag("rect", x=start, y=4.0, width=span, height=22.0, fill=colour, class_="block")))
        )
        if span > 16:
            pieces.append(_svg_text(f"{block['n']}", start + span / 2, 19.5, anchor="middle", fill="#fff"))
        start += span
    return tag("svg", *pieces, viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label="tokens of the context")


def _axes(weight: float, depth: int) -> Iterator[Html]:
    bottom = TOP + ROW * (depth - 1)
    for rank in range(1, depth + 1):
        yield tag(
            "line", x1=LEFT, y1=_y_of(rank), x2=CHART_WIDTH - RIGHT, y2=_y_of(rank), class_="grid", stroke_width=0.5
        )
        yield _svg_text(f"#{rank}", LEFT - 18, _y_of(rank) + 4, anchor="end")
    for tick in _TICKS:
        yield _svg_text(f"{tick:g}", _x_of(tick), bottom + 24, anchor="middle")
    yield _svg_text("lexical only", LEFT, bottom + 39, anchor="start")
    yield _svg_text("semantic only", CHART_WIDTH - RIGHT, bottom + 39, anchor="end")
    yield tag("line", x1=_x_of(weight), y1=TOP - 12, x2=_x_of(weight), y2=bottom + 10, class_="now")
    anchor = "start" if weight < 0.05 else "end" if weight > 0.95 else "middle"
    yield _svg_text(f"now {weight:.3g}", _x_of(weight), TOP - 17, anchor=anchor)


def _stretches(steps: Sequence[RankStepView]) -> Iterator[list[RankStepView]]:
    """Yield runs of adjacent steps. Between runs the result is below the chart. Steps of zero width are dropped."""
    run: list[RankStepView] = []
    for step in steps:
        if step["high"] <= step["low"]:
            continue
        if run and run[-1]["high"] != step["low"]:
            yield run
            run = []
        run.append(step)
    if run:
        yield run


def _stretch(steps: Sequence[RankStepView]) -> str:
    """Return a path that is level at each rank and slopes between ranks."""
    points = []
    for place, step in enumerate(steps):
        x1, x2 = _x_of(step["low"]), _x_of(step["high"])
        bend = min(_BEND, (x2 - x1) / 2)
        first, last = place == 0, place == len(steps) - 1
        points += [
            (x1 if first else x1 + bend, _y_of(step["rank"])),
            (x2 if last else x2 - bend, _y_of(step["rank"])),
        ]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _marks(line: RankLineView, weight: float) -> Iterator[Html]:
    """Yield the line's number at the current weight and at both ends of the scale."""
    for at, is_now in ((0.0, False), (1.0, False), (weight, True)):
        holding = [step for step in line["steps"] if step["low"] <= at <= step["high"]]
        # Lines that cross have a step of zero width. It counts at the current weight and is not drawn.
        holding.sort(key=lambda step: (step["high"] > step["low"]) == is_now)
        if not holding or (not is_now and abs(at - weight) < _NEAR):
            continue
        rank = holding[0]["rank"]
        yield tag("circle", cx=_x_of(at), cy=_y_of(rank), r=8.5, class_="dot", stroke=_colour(line["result"]))
        yield _svg_text(f"{line['result'] + 1}", _x_of(at), _y_of(rank) + 4, anchor="middle", class_="mark")


def _stroke(number: int) -> dict[str, str | float]:
    dash = LINE_DASHES[number % len(LINE_DASHES)]
    stroke: dict[str, str | float] = {"stroke": _colour(number), "stroke_width": 2.2}
    return {**stroke, "stroke_dasharray": dash} if dash else stroke


def _colour(number: int) -> str:
    return LINE_COLOURS[number % len(LINE_COLOURS)]


def _svg_text(text: str, x: float, y: float, *, anchor: str, **more: str) -> Html:
    style = {"style": f"fill:{more.pop('fill')}"} if "fill" in more else {}
    return tag("text", text, x=x, y=y, text_anchor=anchor, **style, **more)


def _x_of(weight: float) -> float:
    return LEFT + weight * (CHART_WIDTH - LEFT - RIGHT)


def _y_of(rank: int) -> float:
    return TOP + ROW * (rank - 1)


EXCERPT = 260
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(response: ReportResponse) -> str:
    """Return the report as an HTML page, without timings."""
    title = question(response["query"])
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("title", f"Recall: {title}"),
        tag("style", Html(CSS)),
    )
    stats = response["stats"]
    state = [f"{name} {stats[name]}" for name in ("digest", "snapshot", "index") if stats.get(name)]
    sections = (
        _opening(title, response),
        _results(response),
        _lines(response["report"], response["results"]),
        _funnel(response["trace"]),
        _context(response["context"]),
        tag(
            "footer", tag("p", "  ·  ".join(["Made by Recall from one snapshot of the store", *state]), class_="mono")
        ),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', tag('main', *sections)), lang='en')}\n"


def _opening(title: str, response: ReportResponse) -> Html:
    facts = [tag("li", tag("b", name), value) for name, value in plan_facts(response["query"])]
    warnings = [tag("li", warning) for warning in response["warnings"]]
    return tag(
        "header",
        tag("p", "Recall report", class_="kind"),
        tag("h1", title or "(no query)"),
        tag("ul", *facts, class_="facts"),
        tag("ul", *warnings, class_="plain") if warnings else Html(),
    )


def _results(response: ReportResponse) -> Html:
    results = response["results"]
    total = response["stats"].get("total_hits", len(results))
    signals = {part["signal"] for result in results for part in _parts(result)}
    keys = [join(tag("span", class_=f"key {name}"), f"{name} ") for name in SIGNAL_COLOURS if name in signals]
    note = tag("p", f"{len(results)} of {total}. ", *keys, class_="note")
    cards = (_result(result, number) for number, result in enumerate(results, start=response["query"]["offset"] + 1))
    return tag("section", tag("h2", "Results"), note, *cards)


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
    flat = " ".join((passage["text"] if passage else text).split())
    shown = flat if len(flat) <= EXCERPT else flat[: EXCERPT - 1] + "…"
    excerpt = tag("div", shown, class_="excerpt") if text else Html()
    # The scale ends at 1, so points are shares of the bar.
    pieces = [
        tag("span", class_=part["signal"], style=f"width:{100 * max(0.0, part['points']):.2f}%")
        for part in _parts(result)
    ]
    bar = tag("div", *pieces, class_="bar") if pieces else Html()
    full_text = _fold(f"text, {chunk.get('tokens', 0)} tokens", tag("pre", text)) if text else Html()
    return tag("article", head, heading, bar, excerpt, _ledger(result, is_open=number == 1), full_text)


def place(result: Mapping[str, Any]) -> str:
    """Return `path:first-last` and notes."""
    doc, chunk = result.get("doc", {}), result.get("chunk", {})
    path = str(doc.get("path") or chunk.get("id") or doc.get("id") or "")
    lines, unit = "", result.get("passage", chunk)
    if "line_start" in unit:
        lines = behind_unit(path, unit)
    notes = [str(doc["state"])] if "state" in doc else []
    notes += ["recalled"] if result.get("recall_injected") else []
    return path + lines + (f"  ({', '.join(notes)})" if notes else "")


def _ledger(result: ResultView, *, is_open: bool) -> Html:
    """Return the ledger of a result as a table."""
    if not _parts(result):
        return Html()
    names = ("", "points", "value", "weight", "raw", "rank")
    head = tag("tr", *(tag("th", name, class_="n" if name else "") for name in names))
    rows = [row for part in _parts(result) for row in _part_rows(part)]
    total = tag("tr", tag("td", "score"), _figure(f"{result.get('score', 0.0):.6f}"), *[tag("td")] * 4, class_="sum")
    return _fold("how the score adds up", tag("table", head, *rows, total), is_open=is_open)


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
    """Return the figures of a leaf besides its points."""
    notes = [f"{name} {leaf[name]:.3g}" for name in ("idf", "df", "count") if name in leaf]
    notes += ["idf floored"] if leaf.get("floored") else []
    notes += [f"phrase of {leaf['words']} words"] if "words" in leaf else []
    return f" ({', '.join(notes)})" if notes else ""


def _lines(view: ReportView, results: Sequence[ResultView]) -> Html:
    lines = view.get("lines", [])
    if not lines or "weight" not in view:
        return Html()
    legend = [
        tag("li", sample(line["result"]), tag("b", f"{line['result'] + 1}"), place(results[line["result"]]))
        for line in lines
    ]
    return tag(
        "section",
        tag("h2", "Rank by semantic weight"),
        tag("p", "The exact rank of each result at every semantic weight.", class_="note"),
        rank_chart(lines, weight=view["weight"], depth=view["depth"]),
        tag("ol", *legend, class_="legend"),
    )


def _funnel(view: TraceView) -> Html:
    """Return the number of rows that each stage keeps."""
    stages = view["stages"]
    if not stages:
        return Html()
    most = max(1, *(stage["rows_out"] for stage in stages))
    rows = []
    for stage in stages:
        fill = tag("span", class_="fill", style=f"width:{100 * stage['rows_out'] / most:.2f}%")
        figures = [_figure(f"{stage[name]}") for name in ("rows_in", "rows_out")]
        rows.append(
            tag("tr", tag("td", stage["stage"]), *figures, tag("td", tag("div", fill, class_="bar"), class_="w"))
        )
    head = tag("tr", tag("th", "stage"), tag("th", "in", class_="n"), tag("th", "out", class_="n"), tag("th"))
    return tag("section", tag("h2", "Funnel"), tag("table", head, *rows, class_="funnel"))


def _context(view: ContextView) -> Html:
    reserved = f", {view['reserved_tokens']} reserved for recalled documents" if "reserved_tokens" in view else ""
    used = f"{view['used_tokens']} of {view['budget_tokens']} tokens ({view['counter']}{reserved}), "
    note = tag("p", used + f"{len(view['blocks'])} blocks from {view['candidates']} candidates.", class_="note")
    facts = [tag("tr", tag("th", name), tag("td", value)) for name, value in account_facts(view)]
    table = tag("table", *facts) if facts else Html()
    return tag(
        "section",
        tag("h2", "Context"),
        note,
        token_gauge(view),
        _blocks(view),
        table,
        _omitted_list(view),
        _fold("the text, as a model reads it", tag("pre", view["text"])) if view["text"] else Html(),
    )


def _blocks(view: ContextView) -> Html:
    rows = [
        tag(
            "li",
            tag("b", f"{each['n']}"),
            cite(each["path"], each["line_start"], each["line_end"], each.get("place"))
            + ("  (cut)" if each["truncated"] else ""),
        )
        for each in view["blocks"]
    ]
    return tag("ol", *rows, class_="legend") if rows else Html()


def _omitted_list(view: ContextView) -> Html:
    rows = [
        tag(
            "li",
            f"{each['reason']}: #{each['rank']} {each['path']}"
            + (f", {each['count']} in total" * (each["count"] > 1)),
        )
        for each in view["omitted"]
    ]
    return _fold(f"left out, {len(rows)} entries", tag("ul", *rows, class_="plain")) if rows else Html()


def _figure(text: str) -> Html:
    return tag("td", text, class_="n")


def _fold(title: str, inside: Html, *, is_open: bool = False) -> Html:
    return tag("details", tag("summary", title), inside, **({"open": "open"} if is_open else {}))
