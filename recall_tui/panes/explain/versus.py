"""The compare tab: the selected hit beside the marked one, leaf by leaf, the largest difference first."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from recall_core.types import SIGNALS
from recall_tui.panes.explain.ledger import ABSENCES, DIM, VISIBLE, lead_of, number, spelt
from recall_tui.widgets.draw import COLOURS, Glyphs, bar, figure, fit, fit_place, folded

if TYPE_CHECKING:
    from recall_core.contract.ledger import DifferenceView, ExplanationView, LedgerView, VersusView

FIGURES = 9 + 9 + 9
BAR_CELLS = 14
WIDE = 66  # cells from which a bar stands beside the figures


def versus_lines(view: ExplanationView, width: int, glyphs: Glyphs) -> list[Text]:
    """Where both stand, then each leaf with its points here, there, and the difference; their sum is checked."""
    first, second = view["chunk"], view["other"]
    lines = [_head("this", first, width, glyphs), _head("marked", second, width, glyphs)]
    for each in (first, second):
        if "absent" in each:
            lines += [Text(line) for line in folded(f"#{each['id'][:12]}: {ABSENCES[each['absent']]}.", width)]
    if "versus" not in view:
        return lines
    versus = view["versus"]
    lines += [Text(line, Style(bold=True)) for line in folded(_verdict(versus, first["id"]), width)]
    mark = 1 + max(cell_len(glyphs.yes), cell_len(glyphs.no))
    names = max(1, width - FIGURES - mark - (BAR_CELLS if width >= WIDE else 0))
    lines.append(Text(fit(f"{'leaf':<{names}}{'this':>9}{'marked':>9}{'differ':>9}", width, glyphs), DIM))
    most = max((abs(each["delta"]) for each in versus["differences"]), default=0.0)
    lines += [_difference(each, most, names, width, glyphs) for each in versus["differences"]]
    return [*lines, *_sum(versus, first, second, names, glyphs)]


def _head(name: str, view: LedgerView, width: int, glyphs: Glyphs) -> Text:
    rank = "not listed" if view["rank"] is None else f"#{figure(view['rank'])}"
    score = f"{view['score']:>9.3f}" if "score" in view else ""
    head = f"{name:<7}{rank} "
    span = f":{view['line_start']}-{view['line_end']}"
    where = fit_place(view["path"], span, width - len(head) - len(score), glyphs)
    return Text(fit(head + where, width - len(score), glyphs) + score)


def _verdict(view: VersusView, first: str) -> str:
    side = "This" if view["winner"] == first else "The marked one"
    return f"{side} leads{lead_of(view)}."


def _difference(view: DifferenceView, most: float, names: int, width: int, glyphs: Glyphs) -> Text:
    about = "" if view["kind"] == "rounding" else spelt(view)
    named = about if about.startswith(view["kind"]) else f"{view['kind']} {about}"
    name = fit(f"{view['signal'][:3]} {named}", names - 1, glyphs)
    figures = f"{number(view['points']):>9}{number(view['other_points']):>9}{_signed(view['delta']):>9}"
    line = Text(f"{name} {figures}")
    if width >= WIDE and abs(view["delta"]) >= VISIBLE:
        series = 0 if view["delta"] >= 0 else 2
        drawn = bar(abs(view["delta"]) / most, BAR_CELLS, glyphs, series=series)
        line.append("  ").append(drawn, Style(color=COLOURS[view["signal"]] if view["signal"] in SIGNALS else None))
    return line


def _sum(versus: VersusView, first: LedgerView, second: LedgerView, names: int, glyphs: Glyphs) -> list[Text]:
    if "score" not in first or "score" not in second:
        return []
    delta = fsum(each["delta"] for each in versus["differences"])
    is_right = abs(delta - (first["score"] - second["score"])) < 1e-9
    figures = f"{first['score']:>9.3f}{second['score']:>9.3f}{_signed(delta):>9}"
    return [Text(f"{'sum':<{names}}{figures}", Style(bold=True)).append(f" {glyphs.yes if is_right else glyphs.no}")]


def _signed(value: float) -> str:
    return "=" if value == 0 else number(value) if value < VISIBLE else f"+{number(value)}"
