"""The first rows under the saved settings beside those under the moved ones, with what became of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from recall_core.errors import RecallError
from recall_tui.panes.weights.across import joined
from recall_tui.panes.weights.names import name_of
from recall_tui.panes.weights.settings import moved_settings
from recall_tui.state.beside import Compared, ComparedRow, SavedRows, compared, moved_words, saved_analysis
from recall_tui.state.results import result_of
from recall_tui.state.session import Session
from recall_tui.state.weighing import is_moved
from recall_tui.widgets.draw import Glyphs, cut, fit, folded

if TYPE_CHECKING:
    from recall_core.contract.ledger import PassageView

DIM, BOLD = Style(dim=True), Style(bold=True)
RANK_CELLS, MOVE_CELLS = 2, 5


def beside_lines(session: Session, size: tuple[int, int], glyphs: Glyphs) -> list[Text]:
    """What was moved, then a row each: on the left the saved list, on the right the one that is shown now."""
    width, height = size
    top = moved_settings(session, width, glyphs)
    if not is_moved(session):
        said = "Nothing is changed: the results are those of the saved settings. V goes back to the plot."
        return [*top, *map(Text, folded(said, width))]
    moved = [Text(line) for line in joined(["changed", *moved_words(session)], width, glyphs)]
    both = compared(session)
    if both is None:
        analysis = saved_analysis(session)
        result = result_of(session, analysis, SavedRows) if analysis is not None else None
        said = result.message if isinstance(result, RecallError) else "Ranking under the saved settings."
        return [*top, *moved, *(Text(line, DIM) for line in folded(said, width))]
    rows = max(1, height - len(top) - len(moved) - 2)
    shown = Compared(both.saved[:rows], both.now[:rows])
    return [*top, *moved, summary(shown, width, glyphs), *_table(shown, session.results.passages, width, glyphs)]


def summary(shown: Compared, width: int, glyphs: Glyphs) -> Text:
    """What became of the rows below: those on the right stay, move or come in; some on the left go."""
    saved, now = ({row.rank for row in rows} for rows in shown)
    same = sum(row.other == row.rank for row in shown.now)
    moved = sum(row.other in saved for row in shown.now) - same
    gone = sum(row.other not in now for row in shown.saved)
    counts = (f"{same} same", f"{moved} moved", f"{len(shown.now) - same - moved} new", f"{gone} gone")
    return Text(cut(f"top {len(shown.now)}: {', '.join(counts)}", width, glyphs), BOLD)


def _table(shown: Compared, passages: Mapping[str, PassageView], width: int, glyphs: Glyphs) -> list[Text]:
    left = (width - len(_between(glyphs))) // 2
    right = width - left - len(_between(glyphs))
    heads = Text(f"{'saved settings':<{left}}", DIM).append(_between(glyphs)).append("now")
    lines = [heads]
    for at in range(max(map(len, shown))):
        then, now = (rows[at] if at < len(rows) else None for rows in shown)
        line = Text().append_text(_cell(then, passages, left, glyphs, is_now=False))
        line.append(_between(glyphs), DIM)
        lines.append(line.append_text(_cell(now, passages, right, glyphs, is_now=True)))
    return lines


def _between(glyphs: Glyphs) -> str:
    return f" {glyphs.upright} "


def _cell(
    row: ComparedRow | None, passages: Mapping[str, PassageView], width: int, glyphs: Glyphs, *, is_now: bool
) -> Text:
    if row is None:
        return Text(" " * width)
    name = name_of(row.hit, passages, glyphs) if row.hit else glyphs.cut
    mark = move(row, glyphs, is_now=is_now)
    text = fit(f"{row.rank:>{RANK_CELLS}} {mark:<{MOVE_CELLS}}{name}", width, glyphs)
    return Text(text, BOLD if row.other is None else DIM if row.other == row.rank else "")


def move(row: ComparedRow, glyphs: Glyphs, *, is_now: bool) -> str:
    """How far the row came up or gone down from the saved list to this one."""
    if row.other is None:
        return "new" if is_now else "gone"
    steps = row.other - row.rank if is_now else row.rank - row.other
    return "=" if steps == 0 else f"{glyphs.up if steps > 0 else glyphs.down}{abs(steps)}"
