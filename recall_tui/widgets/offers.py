"""The list of what may stand at the cursor, over everything else; the editor has the keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.geometry import Offset

from recall_tui.widgets.draw import fit
from recall_tui.widgets.lists import MARGIN, PointedList

if TYPE_CHECKING:
    from recall_core.rql.complete import Completion

MOST_TEXT = 40  # cells for a candidate
MOST_DETAIL = 60  # cells for what it is
MOST_ROWS = 8  # of the style sheet: behind more there is a scroll bar of one cell
FRAME = 1  # cells of the border on each side


class Offers(PointedList, can_focus=False):
    """Candidates, the chosen one marked. Without one chosen, Enter stays a line break."""

    def __init__(self) -> None:
        super().__init__(id="offers")
        self.display = False
        self._candidates: tuple[Completion, ...] = ()

    @property
    def is_open(self) -> bool:
        """True while there is something to take."""
        return bool(self._candidates)

    def open(self, candidates: Sequence[Completion], below: Offset, *, is_chosen: bool) -> None:
        """Show these, their texts in line with the cell above, and choose the first one or none."""
        self._candidates = tuple(candidates)
        width = min(MOST_TEXT, max(cell_len(candidate.text) for candidate in candidates))
        details = min(MOST_DETAIL, max(cell_len(candidate.detail) for candidate in candidates))
        lines = [
            Text(f"{fit(candidate.text, width, self.glyphs)}  ").append(
                fit(candidate.detail, details, self.glyphs), Style(dim=True)
            )
            for candidate in candidates
        ]
        self.fill(lines, chosen=0 if is_chosen else None)
        self.absolute_offset = below + Offset(-MARGIN - FRAME, 1)
        self.styles.width = MARGIN + width + 2 + details + 2 * FRAME + (len(lines) > MOST_ROWS)
        self.display = True
        self.refresh(layout=True)

    def close(self) -> None:
        """Show nothing."""
        self._candidates = ()
        self.display = False

    def taken(self, row: int | None = None) -> Completion | None:
        """The candidate of a row, or the chosen one; None when none is."""
        place = self.highlighted if row is None else row
        return None if place is None or place >= len(self._candidates) else self._candidates[place]
