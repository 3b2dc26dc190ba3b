"""The targets of the question, rows that are required among the first or excluded from them, at every weight."""

from __future__ import annotations

from fractions import Fraction

from rich.text import Text

from recall_core.errors import RecallError
from recall_tui.panes.weights.across import LABEL_CELLS, labelled, span
from recall_tui.state.results import result_of
from recall_tui.state.session import Session
from recall_tui.state.tuning import PinnedChunk, TargetWeights, first_rows, nearest_weight, pins_analysis, pins_of
from recall_tui.state.weighing import current, exact_share
from recall_tui.widgets.draw import Glyphs, fit

WORDS = {"in": "required", "out": "excluded"}


def target_figures(session: Session, glyphs: Glyphs) -> list[str]:
    """How many targets there are, and whether the present weight meets them: in a sign and in words."""
    analysis, pins = pins_analysis(session), pins_of(session)
    if analysis is None:
        return []
    wanted = [(sum(pin.want == want for pin in pins), word) for want, word in WORDS.items()]
    counts = ", ".join(f"{count} {word}" for count, word in wanted if count)
    pieces = [f"targets in the top {first_rows(session)}: {counts}"]
    result = result_of(session, analysis, TargetWeights)
    if isinstance(result, RecallError):
        pieces.append(result.message)
    elif result is not None:
        pieces += _met(session, result, pins, glyphs)
    return pieces


def target_band(met: TargetWeights, weight: Fraction, width: int, glyphs: Glyphs) -> Text:
    """The weights that meet every target."""
    cells = max(1, width - LABEL_CELLS)
    band = "".join(glyphs.series[0] if _touches(met, cell, cells) else glyphs.line for cell in range(cells))
    return labelled("T", band, weight, glyphs)


def target_names(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    """The chunks of the targets, a line each."""
    return [Text(fit(f"  {WORDS[pin.want]:<9}{pin.place}", width, glyphs)) for pin in pins_of(session)]


def _met(session: Session, met: TargetWeights, pins: tuple[PinnedChunk, ...], glyphs: Glyphs) -> list[str]:
    if met.conflict:
        names = " and ".join(pins[at].place for at in met.conflict if at < len(pins))
        return [f"{glyphs.no} no weight meets {names}{' together' if len(met.conflict) > 1 else ''}"]
    where = ", ".join(
        span(each.low, each.high, low_open=each.low_open, high_open=each.high_open) for each in met.weights
    )
    if _holds(session, met):
        return [f"{glyphs.yes} all targets met ({where})"]
    return [f"{glyphs.no} targets met at {where}", f"T goes to {nearest_weight(session)}"]


def _holds(session: Session, met: TargetWeights) -> bool:
    weight = exact_share(current(session))
    return any(each.holds(weight) for each in met.weights)


def _touches(met: TargetWeights, cell: int, cells: int) -> bool:
    low, high = Fraction(cell, cells), Fraction(cell + 1, cells)
    return any((each.low < high and low < each.high) or each.low == each.high == low for each in met.weights)
