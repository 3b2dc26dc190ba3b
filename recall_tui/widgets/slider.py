"""One number from 0 to 1 on a track that the mouse moves; its keys stand in the table of actions."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.events import MouseDown, MouseMove, MouseScrollDown, MouseScrollUp, MouseUp
from textual.strip import Strip
from textual.widget import Widget

from recall_tui.messages import Slid
from recall_tui.widgets.draw import ASCII, UNICODE, Glyphs, fit
from recall_tui.widgets.lines import strip_of

STEP = 0.05  # one turn of the wheel
WIDE = 40  # cells from which both ends have their names


class Slider(Widget, can_focus=True):
    """How the weight is shared between words, on the left, and meaning."""

    def __init__(self) -> None:
        super().__init__(id="slider")
        self._share = 0.0
        self._hint = ""
        self._is_held = False
        self._has_moved = False

    @property
    def glyphs(self) -> Glyphs:
        """What this terminal can draw."""
        return ASCII if self.app.has_class("-ascii") else UNICODE

    def show(self, share: float, hint: str) -> None:
        """Show this semantic share, or the hint in its place when there is nothing to slide."""
        if (share, hint) != (self._share, self._hint):
            self._share, self._hint = share, hint
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The track between the two weights, each with its number."""
        glyphs, width = self.glyphs, self.size.width
        if self._hint:
            return strip_of(Text(fit(self._hint, width, glyphs)), width, self.rich_style, self.app.console)
        first, last = self.track
        knob = self.cell_of(self._share) - first
        left, right = self._labels(width)
        line = Text(f"{left} {glyphs.ends[0]}")
        line.append(glyphs.track * knob, Style(dim=True))
        line.append(glyphs.knob, Style(bold=True))
        line.append(glyphs.track * (last - first - knob), Style(dim=True))
        line.append(f"{glyphs.ends[1]} {right}")
        return strip_of(line, width, self.rich_style, self.app.console)

    @property
    def track(self) -> tuple[int, int]:
        """The cells of 0 and of 1."""
        left, right = self._labels(self.size.width)
        return len(left) + 2, max(len(left) + 3, self.size.width - len(right) - 3)

    def cell_of(self, share: float) -> int:
        """The cell that a share stands in."""
        first, last = self.track
        return first + round(share * (last - first))

    def share_at(self, cell: int) -> float:
        """The share that a cell stands for, in hundredths."""
        first, last = self.track
        return round(min(1.0, max(0.0, (cell - first) / (last - first))), 2)

    def on_mouse_down(self, event: MouseDown) -> None:
        """A click goes there at once."""
        if self._hint or event.button != 1:
            return
        self._is_held, self._has_moved = True, False
        self.capture_mouse()
        self._slide(self.share_at(event.x))

    def on_mouse_move(self, event: MouseMove) -> None:
        """While the button is down the knob follows."""
        if self._is_held:
            self._slide(self.share_at(event.x))

    def on_mouse_up(self, _event: MouseUp) -> None:
        """Let go."""
        self._is_held = False
        self.capture_mouse(False)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """The wheel moves a step towards the meaning."""
        self._turn(event, STEP)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """The wheel moves a step towards the words."""
        self._turn(event, -STEP)

    def _slide(self, share: float) -> None:
        """Everything from pressing the button to letting it go is one change."""
        self.post_message(Slid(share, joins=self._has_moved))
        self._has_moved = self._has_moved or share != round(self._share, 2)

    def _turn(self, event: MouseScrollUp | MouseScrollDown, step: float) -> None:
        event.stop()
        if not self._hint:
            self.post_message(Slid(self._share + step, joins=False))

    def _labels(self, width: int) -> tuple[str, str]:
        words, meaning = ("lexical ", " semantic") if width >= WIDE else ("l ", " s")
        return f"{words}{1 - self._share:.2f}", f"{self._share:.2f}{meaning}"
