"""The pins of the question: what was wished, and the weights that grant it."""

from __future__ import annotations

from fractions import Fraction

from rich.style import Style
from rich.text import Text

from recall_core.errors import RecallError
from recall_tui.panes.weights.across import LABEL_CELLS, joined, labelled, span
from recall_tui.state.findings import found
from recall_tui.state.session import Session
from recall_tui.state.tuning import Granted, Pin, first_rows, granting, pins_of, pins_study
from recall_tui.state.weighing import current, exact_share
from recall_tui.widgets.draw import Glyphs, fit


def pin_figures(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    """What is wished, and whether a weight grants it: in a sign and in words."""
    study, pins = pins_study(session), pins_of(session)
    if study is None:
        return []
    wanted = [sum(pin.want == want for pin in pins) for want in ("in", "out")]
    counts = [f"{count} must{no}" for count, no in zip(wanted, ("", " not"), strict=True) if count]
    pieces = [f"{', '.join(counts)} be in the top {first_rows(session)}"]
    finding = found(session, study, Granted)
    if isinstance(finding, RecallError):
        pieces.append(finding.message)
    elif finding is not None:
        pieces += _granted(session, finding, pins, glyphs)
    bold = isinstance(finding, Granted) and not _holds(session, finding)
    return [Text(line, Style(bold=bold)) for line in joined(pieces, width, glyphs)]


def pin_band(granted: Granted, weight: Fraction, width: int, glyphs: Glyphs) -> Text:
    """The weights that grant every pin."""
    cells = max(1, width - LABEL_CELLS)
    band = "".join(glyphs.series[0] if _touches(granted, cell, cells) else glyphs.line for cell in range(cells))
    return labelled("w", band, weight, glyphs)


def pin_names(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    """The pinned chunks, a line each."""
    words = {"in": "must", "out": "must not"}
    return [Text(fit(f"  {words[pin.want]:<9}{pin.place}", width, glyphs)) for pin in pins_of(session)]


def _granted(session: Session, granted: Granted, pins: tuple[Pin, ...], glyphs: Glyphs) -> list[str]:
    if granted.conflict:
        names = " and ".join(pins[at].place for at in granted.conflict if at < len(pins))
        return [f"{glyphs.no} no weight grants {names}{' together' if len(granted.conflict) > 1 else ''}"]
    where = ", ".join(
        span(each.low, each.high, low_open=each.low_open, high_open=each.high_open) for each in granted.weights
    )
    if _holds(session, granted):
        return [f"{glyphs.yes} granted at {where}"]
    return [f"{glyphs.no} granted at {where}", f"w goes to {granting(session)}"]


def _holds(session: Session, granted: Granted) -> bool:
    weight = exact_share(current(session))
    return any(each.holds(weight) for each in granted.weights)


def _touches(granted: Granted, cell: int, cells: int) -> bool:
    low, high = Fraction(cell, cells), Fraction(cell + 1, cells)
    return any((each.low < high and low < each.high) or each.low == each.high == low for each in granted.weights)
