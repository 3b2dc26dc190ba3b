"""Pictures as inline SVG: rank lines over the weight, and the tokens of a context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recall_core.adapters.report.markup import Html, tag
from recall_core.adapters.report.style import LINE_COLOURS, LINE_DASHES
from recall_core.contract.explaining import RankLineView, RankStepView
from recall_core.contract.views import ContextView
from recall_core.text import cited

WIDTH, LEFT, RIGHT, TOP, ROW = 860.0, 56.0, 30.0, 30.0, 27.0
_BEND = 7.0  # half the width in which a line changes its rank
_NEAR = 0.03  # marks at weights closer than this would cover each other
_BLOCK_COLOURS = ("#3a86b8", "#0072b2")
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def rank_chart(lines: Sequence[RankLineView], *, weight: float, depth: int) -> Html:
    """Every line's rank, 1 on top, from lexical only (left) to semantic only (right); a number marks each line."""
    height = TOP + ROW * (depth - 1) + 44
    drawn = [
        *_axes(weight, depth),
        *(_line(line) for line in lines),
        *(m for each in lines for m in _marks(each, weight)),
    ]
    return tag("svg", *drawn, viewBox=f"0 0 {WIDTH:g} {height:g}", role="img", aria_label="rank over weight")


def sample(number: int) -> Html:
    """A short stretch of a line, for the legend."""
    stroke = tag("line", x1=2.0, y1=8.0, x2=42.0, y2=8.0, **_stroke(number))
    return tag("svg", stroke, viewBox="0 0 44 16", aria_hidden="true")


def token_gauge(view: ContextView) -> Html:
    """The budget as a bar: a numbered stretch for each block, by length, and what is free."""
    width, height = WIDTH, 34.0
    used = min(1.0, view["used_tokens"] / view["budget_tokens"]) * width
    letters = sum(len(block["text"]) for block in view["blocks"]) or 1
    pieces = [tag("rect", x=0.0, y=4.0, width=width, height=22.0, rx=3.0, class_="free")]
    start = 0.0
    for block in view["blocks"]:
        span = used * len(block["text"]) / letters
        colour = _BLOCK_COLOURS[block["n"] % 2]
        where = cited(block["path"], block["line_start"], block["line_end"], block.get("place"))
        title = tag("title", f"{block['n']}  {where}")
        pieces.append(
            Html(tag("g", title, tag("rect", x=start, y=4.0, width=span, height=22.0, fill=colour, class_="block")))
        )
        if span > 16:
            pieces.append(_text(f"{block['n']}", start + span / 2, 19.5, anchor="middle", fill="#fff"))
        start += span
    return tag("svg", *pieces, viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label="tokens of the context")


def _axes(weight: float, depth: int) -> Iterator[Html]:
    bottom = TOP + ROW * (depth - 1)
    for rank in range(1, depth + 1):
        yield tag("line", x1=LEFT, y1=_y(rank), x2=WIDTH - RIGHT, y2=_y(rank), class_="grid", stroke_width=0.5)
        yield _text(f"#{rank}", LEFT - 18, _y(rank) + 4, anchor="end")
    for tick in _TICKS:
        yield _text(f"{tick:g}", _x(tick), bottom + 24, anchor="middle")
    yield _text("lexical only", LEFT, bottom + 39, anchor="start")
    yield _text("semantic only", WIDTH - RIGHT, bottom + 39, anchor="end")
    yield tag("line", x1=_x(weight), y1=TOP - 12, x2=_x(weight), y2=bottom + 10, class_="now")
    anchor = "start" if weight < 0.05 else "end" if weight > 0.95 else "middle"
    yield _text(f"now {weight:.3g}", _x(weight), TOP - 17, anchor=anchor)


def _line(line: RankLineView) -> Html:
    path = "".join(_stretch(steps) for steps in _stretches(line["steps"]))
    return tag("path", d=path, fill="none", stroke_linejoin="round", **_stroke(line["result"]))


def _stretches(steps: Sequence[RankStepView]) -> Iterator[list[RankStepView]]:
    """Runs of steps that touch; between two runs the line is below the picture. Single weights are too thin."""
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
    """Level at each rank, with a slope from one to the next."""
    points = []
    for place, step in enumerate(steps):
        x1, x2 = _x(step["low"]), _x(step["high"])
        bend = min(_BEND, (x2 - x1) / 2)
        first, last = place == 0, place == len(steps) - 1
        points += [(x1 if first else x1 + bend, _y(step["rank"])), (x2 if last else x2 - bend, _y(step["rank"]))]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _marks(line: RankLineView, weight: float) -> Iterator[Html]:
    """The line's number where the weight stands, and beside both ends of the scale."""
    for at, is_now in ((0.0, False), (1.0, False), (weight, True)):
        holding = [step for step in line["steps"] if step["low"] <= at <= step["high"]]
        # A single weight has a step of its own where lines meet; it counts where the weight stands, and is not drawn.
        holding.sort(key=lambda step: (step["high"] > step["low"]) == is_now)
        if not holding or (not is_now and abs(at - weight) < _NEAR):
            continue
        rank = holding[0]["rank"]
        yield tag("circle", cx=_x(at), cy=_y(rank), r=8.5, class_="dot", stroke=_colour(line["result"]))
        yield _text(f"{line['result'] + 1}", _x(at), _y(rank) + 4, anchor="middle", class_="mark")


def _stroke(number: int) -> dict[str, str | float]:
    dash = LINE_DASHES[number % len(LINE_DASHES)]
    stroke: dict[str, str | float] = {"stroke": _colour(number), "stroke_width": 2.2}
    return {**stroke, "stroke_dasharray": dash} if dash else stroke


def _colour(number: int) -> str:
    return LINE_COLOURS[number % len(LINE_COLOURS)]


def _text(text: str, x: float, y: float, *, anchor: str, **more: str) -> Html:
    style = {"style": f"fill:{more.pop('fill')}"} if "fill" in more else {}
    return tag("text", text, x=x, y=y, text_anchor=anchor, **style, **more)


def _x(weight: float) -> float:
    return LEFT + weight * (WIDTH - LEFT - RIGHT)


def _y(rank: int) -> float:
    return TOP + ROW * (rank - 1)
