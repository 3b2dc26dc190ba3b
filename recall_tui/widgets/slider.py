"""The weight of the signals on a line between words and meaning."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style

from recall_tui.messages import Slid
from recall_tui.widgets.draw import COLOURS
from recall_tui.widgets.track import Track

STEP = 0.05  # one turn of the wheel
WIDE = 40  # cells from which both ends have their names


class Slider(Track, can_focus=True):
    """How the weight is shared between words, on the left, and meaning."""

    end_styles: ClassVar[tuple[Style, Style]] = (Style(color=COLOURS["lexical"]), Style(color=COLOURS["semantic"]))

    def __init__(self) -> None:
        super().__init__(id="slider")

    def show(self, share: float, hint: str) -> None:
        """Show this semantic share, or the hint in its place when there is nothing to slide."""
        if (share, hint) != (self._share, self._hint):
            self._share, self._hint = share, hint
            self.refresh()

    def labels(self, width: int) -> tuple[str, str]:
        """Each signal with its weight."""
        words, meaning = ("lexical ", " semantic") if width >= WIDE else ("l ", " s")
        return f"{words}{1 - self._share:.2f}", f"{self._share:.2f}{meaning}"

    def slide(self, share: float, *, joins: bool) -> None:
        """The semantic share is to be this."""
        self.post_message(Slid(share, joins=joins))

    def turn(self, steps: int) -> None:
        """The wheel moves towards the meaning, or back."""
        self.post_message(Slid(self._share + steps * STEP, joins=False))
