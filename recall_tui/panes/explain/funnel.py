"""The funnel tab: the rows that are left after each step, and the milliseconds that it took."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core.types import SIGNALS
from recall_tui.panes.explain.ledger import DIM
from recall_tui.widgets.draw import Glyphs, bar, figure, fit, folded

if TYPE_CHECKING:
    from recall_core.contract.whynot import PredicateView, TraceView

FIGURES = 10 + 10 + 10 + 8  # stage, rows in, rows out, milliseconds


def funnel_lines(view: TraceView, note: str, width: int, glyphs: Glyphs) -> list[Text]:
    """One line a stage with a bar as long as its rows; below the filter its predicates. note: what it leaves out."""
    most = max((stage["rows_out"] for stage in view["stages"]), default=0)
    lines = [Text(fit(f"{'stage':<10}{'rows in':>10}{'rows out':>10}{'ms':>8}", width, glyphs), DIM)]
    for stage in view["stages"]:
        spent = view["timings"].get(stage["stage"])
        ms = "" if spent is None else f"{spent:.1f}"
        line = Text(f"{stage['stage']:<10}{figure(stage['rows_in']):>10}{figure(stage['rows_out']):>10}{ms:>8}")
        if width - FIGURES - 2 >= 4:
            line.append("  ").append(bar(stage["rows_out"] / most if most else 0.0, width - FIGURES - 2, glyphs))
        lines.append(line)
        if stage["stage"] == "filter" and "filter" in view:
            lines += _filter(view["filter"], width, glyphs)
    whole = view["timings"].get("answer")
    spent_in_all = "" if whole is None else f"The answer took {whole:.1f} ms."
    told = " ".join(filter(None, [_signals(view), spent_in_all]))
    return [*lines, *(Text(line, DIM) for text in (told, note) for line in folded(text, width))]


def _signals(view: TraceView) -> str:
    """Why rows come in again after the filter; nothing where no signal is asked."""
    asked = [stage["stage"] for stage in view["stages"] if stage["stage"] in SIGNALS]
    if any(stage["stage"] == "union" and stage["rows_out"] == stage["rows_in"] for stage in view["stages"]):
        return "Every row that the filter leaves is a candidate, also one that no signal has a value for."
    if len(asked) > 1:
        return "Both signals take what the filter leaves; union is what they propose together."
    return f"Only {asked[0]} proposes rows, out of what the filter leaves." if asked else ""


def _filter(predicates: list[PredicateView], width: int, glyphs: Glyphs) -> Iterator[Text]:
    heads = f"{'  removed':<10}{'alone':>8}{'in order':>10}{'only by':>9}"
    yield Text(fit(heads, width, glyphs), DIM)
    for predicate in predicates:
        yield from _predicate(predicate, width, 0)


def _predicate(view: PredicateView, width: int, depth: int) -> Iterator[Text]:
    """The figures of a predicate, its text behind them, or folded below where it is too long."""
    missing = f", {figure(view['missing'])} without a value" if view.get("missing") else ""
    indent, told = " " * (4 + 2 * depth), f"{view['text']}: {figure(view['rows'])} pass{missing}"
    if "removed_alone" in view:
        removed = (view["removed_alone"], view["removed_in_order"], view["removed_only_by_this"])
        figures = f"{'':<10}{figure(removed[0]):>8}{figure(removed[1]):>10}{figure(removed[2]):>9}"
        told = view["text"] + missing
        if cell_len(f"{figures}  {told}") <= width:
            yield Text(f"{figures}  ").append(told, Style(bold=True))
            told = ""
        else:
            yield Text(figures)
    for line in folded(told, max(1, width - len(indent))):
        yield Text(indent + line, Style(bold=depth == 0))
    for term in view.get("terms", []):
        yield from _predicate(term, width, depth + 1)
