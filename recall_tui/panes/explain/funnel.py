"""The funnel tab: the rows that are left after each step from the store to the context."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core.types import SIGNALS
from recall_tui.panes.explain.figures import BOLD, DIM, fitted
from recall_tui.widgets.draw import COLOURS, Glyphs, bar, figure, fit, folded
from recall_tui.widgets.sanitize import harmless

if TYPE_CHECKING:
    from recall_core.contract.explaining import FunnelStageView, PredicateView, TraceView

STAGES = {
    "store": "in the store",
    "live": "not removed",
    "filter": "pass the filter",
    "lexical": "lexical proposes",
    "semantic": "semantic proposes",
    "union": "are candidates",
    "documents": "as documents",
    "kept": "reach min_score",
    "near": "reach min_cosine",
    "copies": "without copies",
    "top_k": "are listed",
    "packed": "in the context",
}
NAME = max(map(len, STAGES.values()))
ROWS, MS = 9, 9  # cells of the figures, with a blank before them
LEAST_BAR = 4


def funnel_lines(view: TraceView, note: str, width: int, glyphs: Glyphs) -> list[Text]:
    """One line a stage with a bar as long as its rows; below the filter its predicates. note: what it leaves out.

    A bar is a share of the whole store and never longer than the one before; the signals' bars stand apart, since
    both take from what the filter leaves.
    """
    stages = view["stages"]
    whole = max((stage["rows_out"] for stage in stages[:1]), default=0)
    lines = [_row(("step", "rows", "ms"), 0.0, width, glyphs)]
    lines[0].stylize(DIM)
    longest = 1.0
    for stage in stages:
        spent = view["timings"].get(stage["stage"])
        share = min(longest, stage["rows_out"] / whole if whole else 0.0)
        signal = stage["stage"] if stage["stage"] in SIGNALS else ""
        longest = longest if signal else share
        name, ms = _name(stage), "" if spent is None else f"{spent:.1f}"
        lines.append(_row((name, figure(stage["rows_out"]), ms), share, width, glyphs, signal=signal))
        if stage["stage"] == "filter" and "filter" in view:
            lines += _filter(view["filter"], width, glyphs)
    spent = view["timings"].get("answer")
    in_all = "" if spent is None else f"The answer took {spent:.1f} ms."
    said = " ".join(filter(None, [_signals(view), in_all]))
    return [*lines, *(Text(line, DIM) for text in (said, note) for line in folded(text, width))]


def _name(stage: FunnelStageView) -> str:
    return ("  " if stage["stage"] in SIGNALS else "") + STAGES.get(stage["stage"], stage["stage"])


def _row(said: tuple[str, str, str], share: float, width: int, glyphs: Glyphs, *, signal: str = "") -> Text:
    """A step with its rows, and as far as there is room for them its bar and its milliseconds."""
    name, rows, ms = said
    names = min(NAME + 2, max(1, width - ROWS))
    line = Text(f"{fit(name, names, glyphs)}{rows:>{ROWS}}")
    if line.cell_len + MS <= width:
        line.append(f"{ms:>{MS}}", DIM)
    cells = width - line.cell_len - 2
    if cells >= LEAST_BAR:
        series = SIGNALS.index(signal) + 1 if signal else 0
        line.append("  ").append(bar(share, cells, glyphs, series=series), Style(color=COLOURS.get(signal)))
    return fitted(line, width)


def _signals(view: TraceView) -> str:
    """Why rows come in again after the filter; nothing where no signal is asked."""
    asked = [stage["stage"] for stage in view["stages"] if stage["stage"] in SIGNALS]
    if any(stage["stage"] == "union" and stage["rows_out"] == stage["rows_in"] for stage in view["stages"]):
        return "Every row that the filter leaves is a candidate, also one that no signal has a value for."
    if len(asked) > 1:
        return "Both signals take from what the filter leaves; candidates are what either proposes."
    return f"Only {asked[0]} proposes rows, out of what the filter leaves." if asked else ""


def _filter(predicates: list[PredicateView], width: int, glyphs: Glyphs) -> Iterator[Text]:
    heads = f"{'  removes':<10}{'alone':>8}{'in order':>10}{'only it':>9}"
    yield Text(fit(heads, width, glyphs).rstrip(), DIM)
    for predicate in predicates:
        yield from _predicate(predicate, width, 0)


def _predicate(view: PredicateView, width: int, depth: int) -> Iterator[Text]:
    """The figures of a predicate, its text behind them, or folded below where it is too long."""
    missing = f", {figure(view['missing'])} without a value" if view.get("missing") else ""
    text = harmless(view["text"])
    indent, told = " " * (4 + 2 * depth), f"{text}: {figure(view['rows'])} pass{missing}"
    if "removed_alone" in view:
        removed = (view["removed_alone"], view["removed_in_order"], view["removed_only_by_this"])
        figures = f"{'':<10}{figure(removed[0]):>8}{figure(removed[1]):>10}{figure(removed[2]):>9}"
        told = text + missing
        if cell_len(f"{figures}  {told}") <= width:
            yield Text(f"{figures}  ").append(told, BOLD)
            told = ""
        else:
            yield fitted(Text(figures), width)
    for line in folded(told, max(1, width - len(indent))):
        yield Text(indent + line, BOLD if depth == 0 else "")
    for term in view.get("terms", []):
        yield from _predicate(term, width, depth + 1)
