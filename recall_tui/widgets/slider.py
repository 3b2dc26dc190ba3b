"""A number from 0 to 1 on a line that the mouse moves, such as the weight between two signals."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.events import MouseDown, MouseMove, MouseScrollDown, MouseScrollUp, MouseUp
from textual.strip import Strip
from textual.widget import Widget

from recall_tui.widgets import Do
from recall_tui.widgets.draw import COLOURS, Drawing, fit
from recall_tui.widgets.lines import strip_of


class Track(Widget, Drawing):
    """A knob between two labels. Subclasses define the labels and the effect of a move."""

    end_styles: ClassVar[tuple[Style, Style]] = (Style(), Style())
    """Styles of the left and the right label."""

    _share = 0.0
    _hint = ""
    _is_held = False
    _has_moved = False

    @abstractmethod
    def labels(self, width: int) -> tuple[str, str]:
        """Return the labels left and right of the line, for a width in cells."""

    @abstractmethod
    def slide(self, share: float, *, joins: bool) -> None:
        """Handle a knob at this share. joins: part of a drag that has already moved it."""

    @abstractmethod
    def turn(self, steps: int) -> None:
        """Handle a step of the wheel, forwards (1) or back (-1)."""

    def render_line(self, y: int) -> Strip:
        """Return the line between its labels, or the hint if there is nothing to slide."""
        glyphs, width = self.glyphs, self.size.width
        if self._hint:
            return strip_of(Text(fit(self._hint, width, glyphs)), width, self.rich_style, self.app.console)
        first, last = self.track
        knob = self.cell_of(self._share) - first
        left, right = self.labels(width)
        line = Text().append(left, self.end_styles[0]).append(f" {glyphs.ends[0]}")
        line.append(glyphs.track * knob, Style(dim=True))
        line.append(glyphs.knob, Style(bold=True))
        line.append(glyphs.track * (last - first - knob), Style(dim=True))
        line.append(f"{glyphs.ends[1]} ").append(right, self.end_styles[1])
        return strip_of(line, width, self.rich_style, self.app.console)

    @property
    def track(self) -> tuple[int, int]:
        """The cells of 0 and of 1."""
        left, right = self.labels(self.size.width)
        return len(left) + 2, max(len(left) + 3, self.size.width - len(right) - 3)

    def cell_of(self, share: float) -> int:
        """Return the cell of a share."""
        first, last = self.track
        return first + round(share * (last - first))

    def share_at(self, cell: int) -> float:
        """Return the share of a cell, in hundredths."""
        first, last = self.track
        return round(min(1.0, max(0.0, (cell - first) / (last - first))), 2)

    def on_mouse_down(self, event: MouseDown) -> None:
        """Move the knob to the mouse."""
        if self._hint or event.button != 1:
            return
        self._is_held, self._has_moved = True, False
        self.capture_mouse()
        self._put(self.share_at(event.x))

    def on_mouse_move(self, event: MouseMove) -> None:
        """Move the knob with the mouse while the button is down."""
        if self._is_held:
            self._put(self.share_at(event.x))

    def on_mouse_up(self, _event: MouseUp) -> None:
        """Release the knob."""
        self._is_held = False
        self.capture_mouse(False)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Move a step to the right."""
        self._turn_wheel(event, 1)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Move a step to the left."""
        self._turn_wheel(event, -1)

    def _put(self, share: float) -> None:
        """Move the knob. A drag from press to release is one change."""
        self.slide(share, joins=self._has_moved)
        self._has_moved = self._has_moved or share != round(self._share, 2)

    def _turn_wheel(self, event: MouseScrollUp | MouseScrollDown, steps: int) -> None:
        event.stop()
        if not self._hint:
            self.turn(steps)


STEP = 0.05  # one turn of the wheel
WIDE = 36  # width from which both ends have full names


def in_hundredths(share: float) -> tuple[str, str]:
    """Return the lexical and the semantic weight as text. As shown they add up to 1."""
    semantic = round(share * 100)
    return f"{(100 - semantic) / 100:.2f}", f"{semantic / 100:.2f}"


class Slider(Track, can_focus=True):
    """The share of the weight between the lexical signal, on the left, and the semantic one."""

    end_styles: ClassVar[tuple[Style, Style]] = (Style(color=COLOURS["lexical"]), Style(color=COLOURS["semantic"]))
    _is_chosen = False

    def __init__(self) -> None:
        super().__init__(id="slider")

    def show(self, share: float, hint: str, *, is_chosen: bool) -> None:
        """Show this semantic share, or the hint if there is nothing to slide.

        is_chosen: it is the row of the form that the keys change.
        """
        if (share, hint, is_chosen) != (self._share, self._hint, self._is_chosen):
            self._share, self._hint, self._is_chosen = share, hint, is_chosen
            self.refresh()

    def labels(self, width: int) -> tuple[str, str]:
        """Return each signal with its weight. As shown they add up to 1."""
        lexical, semantic = ("lexical ", " semantic") if width >= WIDE else ("l ", " s")
        mark = self.glyphs.pointer if self._is_chosen else " "
        shown = in_hundredths(self._share)
        return f"{mark}{lexical}{shown[0]}", f"{shown[1]}{semantic}"

    def slide(self, share: float, *, joins: bool) -> None:
        """Set the semantic share."""
        self.post_message(Do("slide_weight", share, joins))

    def turn(self, steps: int) -> None:
        """Move towards the semantic signal, or back."""
        self.post_message(Do("slide_weight", self._share + steps * STEP, False))
