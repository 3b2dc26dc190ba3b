"""The compare tab: two rows, signal by signal and leaf by leaf."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core.text import behind
from recall_tui.panes.explain.figures import BOLD, DIM, VISIBLE, keep_sign, number, round_to_total, spelt, with_sign
from recall_tui.panes.explain.ledger import lead_of
from recall_tui.widgets.draw import COLOURS, Glyphs, bar, figure, fit, fit_place, fold, harmless

if TYPE_CHECKING:
    from recall_core.contract.ledger import DifferenceView, ExplanationView, LedgerView, SubtotalView, VersusView

BAR_CELLS = 12
WIDE = 66  # cells from which a bar is next to the figures
LEAST = 9  # cells of a figure with the blanks before it
ABSENCES = {
    "not_in_pool": "no signal proposed it",
    "filtered": "the filter does not let it through",
    "below_min_score": "its score is below min_score",
    "below_min_cosine": "it has no query word, and its cosine is below min_cosine",
    "copy": "an earlier result has the same text",
    "document": "another chunk of its document stands for it",
    "no_score": "the query asks for no score",
}


class _Shape(NamedTuple):
    """Names of the rows, cells of the first column and of each figure."""

    this: str
    other: str
    names: int
    cells: int
    has_bar: bool
    glyphs: Glyphs


def compare_lines(view: ExplanationView, width: int, glyphs: Glyphs) -> list[Text]:
    """Which two rows, who leads by what, the subtotals of the signals with their checked sum, then the leaves."""
    first, second = view["chunk"], view["other"]
    lines = [_heads(first, second, width, glyphs)]
    for each in (first, second):
        if "absent" in each:
            lines += [Text(line) for line in fold(f"{_rank(each)}: {ABSENCES[each['absent']]}.", width)]
    if "versus" not in view:
        return lines
    versus = view["versus"]
    sides = _sides(versus, first, second)
    lines += [Text(line, BOLD) for line in fold(_verdict(versus, first, second, sides), width)]
    names = _rank(first), _rank(second)
    has_bar = width >= WIDE
    cells = max(LEAST, *(cell_len(name) + 2 for name in names))
    mark = 1 + max(cell_len(glyphs.yes), cell_len(glyphs.no))
    after = 3 * cells + (2 + BAR_CELLS if has_bar else mark)
    shape = _Shape(*names, max(1, width - after), cells, has_bar, glyphs)
    most = max((abs(each["delta"]) for each in versus["subtotals"]), default=0.0)
    lines.append(Text(_row("signal", (*names, "differ"), shape), DIM))
    for subtotal, points, others in zip(versus["subtotals"], *sides, strict=True):
        line = Text(_row(subtotal["signal"], _figures(subtotal, points, others), shape), BOLD)
        lines.append(_with_bar(line, subtotal["delta"], most, subtotal["signal"], shape))
    lines += _sum(versus, first, second, shape)
    lines.append(Text(fit("largest differences", width, glyphs).rstrip(), DIM))
    most = max((abs(each["delta"]) for each in versus["differences"]), default=0.0)
    leaves = zip(versus["differences"], _leaf_sides(versus, sides), strict=True)
    return [*lines, *(_difference(each, *points, most, shape) for each, points in leaves)]


def _rank(view: LedgerView) -> str:
    return f"{view['id'][:6]}, not listed" if view["rank"] is None else f"#{figure(view['rank'])}"


def _heads(first: LedgerView, second: LedgerView, width: int, glyphs: Glyphs) -> Text:
    """Both rows in one line."""
    against = " against "
    room = width - len(against)
    rest = room // 2
    return Text.assemble(
        (_place(first, room - rest, glyphs), BOLD), (against, DIM), (_place(second, rest, glyphs), BOLD)
    )


def _place(view: LedgerView, room: int, glyphs: Glyphs) -> str:
    rank, unit = f"{_rank(view)} ", view.get("passage", view)
    place = fit_place(
        harmless(view["path"]),
        behind(view["path"], unit["line_start"], place=unit.get("place")),
        max(1, room - cell_len(rank)),
        glyphs,
    )
    return fit(rank + place.rstrip(), min(room, cell_len(rank + place.rstrip())), glyphs)


def _sides(versus: VersusView, first: LedgerView, second: LedgerView) -> tuple[list[float], list[float]]:
    """The points that each signal gives to either row, rounded so that they add up to its score."""
    ours = [each["points"] for each in versus["subtotals"]]
    theirs = [each["other_points"] for each in versus["subtotals"]]
    return round_to_total(ours, first.get("score", fsum(ours))), round_to_total(
        theirs, second.get("score", fsum(theirs))
    )


def _leaf_sides(versus: VersusView, sides: tuple[list[float], list[float]]) -> list[tuple[float, float]]:
    """The points that each leaf gives to either row, rounded so that they add up to those of its signal."""
    found = [(round(each["points"], 3), round(each["other_points"], 3)) for each in versus["differences"]]
    for place, subtotal in enumerate(versus["subtotals"]):
        at = [at for at, each in enumerate(versus["differences"]) if each["signal"] == subtotal["signal"]]
        leaves = [versus["differences"][each] for each in at]
        ours = round_to_total([leaf["points"] for leaf in leaves], sides[0][place])
        theirs = round_to_total([leaf["other_points"] for leaf in leaves], sides[1][place])
        for each, *points in zip(at, ours, theirs, strict=True):
            found[each] = points[0], points[1]
    return found


def _difference_of(delta: float, points: float, others: float) -> float:
    """The difference of two figures as they are shown."""
    return keep_sign(delta, round(points - others, 3))


def _verdict(
    versus: VersusView, first: LedgerView, second: LedgerView, sides: tuple[list[float], list[float]]
) -> str:
    """Who leads and by how much, what each signal gives to that, and the weight at which they change places."""
    is_first = versus["winner"] == first["id"]
    sign = 1 if is_first else -1
    deltas = [_difference_of(each["delta"], *two) for each, *two in zip(versus["subtotals"], *sides, strict=True)]
    by = ", ".join(
        f"{each['signal']} {with_sign(sign * delta)}" for each, delta in zip(versus["subtotals"], deltas, strict=True)
    )
    lead = keep_sign(versus["margin"], round(abs(sum(sides[0]) - sum(sides[1])), 3))
    text = f"{_rank(first if is_first else second)} leads{lead_of(versus, lead)}: {by}"
    if "flips_at" not in versus:
        return f"{text}."
    weight = versus["flips_at"]
    if weight is None:
        return f"{text}. The other never overtakes it at any weight."
    return f"{text}. They change places at lexical {1 - weight:.3f}."


def _row(name: str, figures: tuple[str, str, str], shape: _Shape) -> str:
    """Return a name and three figures with blanks between them."""
    return f"{fit(name, shape.names, shape.glyphs)}{''.join(f'{each:>{shape.cells}}' for each in figures)}"


def _figures(view: SubtotalView | DifferenceView, points: float, others: float) -> tuple[str, str, str]:
    """The points of either row as they are shown, and by how much they differ."""
    return (
        number(keep_sign(view["points"], points)),
        number(keep_sign(view["other_points"], others)),
        with_sign(_difference_of(view["delta"], points, others)),
    )


def _difference(view: DifferenceView, points: float, others: float, most: float, shape: _Shape) -> Text:
    about = "" if view["kind"] == "rounding" else spelt(view)
    named = about if about.startswith(view["kind"]) else f"{view['kind']} {about}"
    figures = _figures(view, points, others)
    line = Text(_row(f"{view['signal'][:3]} {named}", figures, shape))
    return _with_bar(line, view["delta"], most, view["signal"], shape)


def _with_bar(line: Text, delta: float, most: float, signal: str, shape: _Shape) -> Text:
    if shape.has_bar and most > 0 and abs(delta) >= VISIBLE:
        drawn = bar(abs(delta) / most, BAR_CELLS, shape.glyphs, series=0 if delta >= 0 else 2)
        line.append("  ").append(drawn, Style(color=COLOURS.get(signal), bold=False))
    return line


def _sum(versus: VersusView, first: LedgerView, second: LedgerView, shape: _Shape) -> Iterator[Text]:
    """The scores and their difference, which the signals and the leaves both have to add up to."""
    if "score" not in first or "score" not in second:
        return
    delta = first["score"] - second["score"]
    sums = [fsum(each["delta"] for each in views) for views in (versus["subtotals"], versus["differences"])]
    mark = shape.glyphs.yes if all(abs(each - delta) < 1e-9 for each in sums) else shape.glyphs.no
    shown = _difference_of(delta, round(first["score"], 3), round(second["score"], 3))
    figures = number(first["score"]), number(second["score"]), with_sign(shown)
    yield Text(_row("total", figures, shape), BOLD).append(f" {mark}")
