"""The columns of panes, with borders that the mouse moves."""

from __future__ import annotations

from math import ceil
from typing import Literal

from textual.containers import Container
from textual.events import MouseDown, MouseMove, MouseUp, Resize

from recall_tui.home import preferences
from recall_tui.home.preferences import PaneSizes
from recall_tui.messages import Do

Border = Literal["right", "below"]
BELOW = ("#explain", "#store")
"""The panes below the results, one of which is seen."""
LEAST_ROWS = 5  # of the results and of the pane below them, with two for the border
LEAST_QUERY_ROWS = 3  # one of text, with two for the border


class Body(Container):
    """Sizes its columns by a layout, and says where a border was dragged to."""

    def __init__(self) -> None:
        super().__init__(id="body")
        self._held: Border | None = None
        self._wanted = self._laid_out = PaneSizes(), False

    def lay_out(self, layout: PaneSizes, *, is_narrow: bool) -> None:
        """Give the panes their sizes. On a narrow screen all other panes are below the results."""
        self._wanted = layout, is_narrow
        self._lay_out()

    def on_resize(self, _event: Resize) -> None:
        """The same share of another height may leave too few rows."""
        self._lay_out()

    def limit(self, below: float) -> int:
        """Limit a share of the height in percent, so that rows are left for the results and the pane below them."""
        height = self.size.height
        if height == 0:
            return preferences.clamp(below)
        query = max(LEAST_QUERY_ROWS, self.query_one("#query").outer_size.height)
        most = 100 * (height - query - LEAST_ROWS) // height
        return preferences.clamp(max(ceil(100 * LEAST_ROWS / height), min(most, below)))

    def measure(self) -> PaneSizes:
        """Return where the borders are."""
        right = 100 * self.query_one("#right").outer_size.width / max(1, self.size.width)
        heights = [self.query_one(pane).outer_size.height for pane in (*BELOW, "#right") if self._is_below(pane)]
        below = 100 * max(heights, default=0) / max(1, self.size.height)
        return PaneSizes(round(right), round(below))

    def on_mouse_down(self, event: MouseDown) -> None:
        """Take hold of the border under the pointer."""
        self._held = self._border_at(event.screen_x, event.screen_y) if event.button == 1 else None
        if self._held is not None:
            event.stop()
            self.capture_mouse()

    def on_mouse_move(self, event: MouseMove) -> None:
        """While the button is down the border follows."""
        if self._held is not None:
            self._drag(event, is_over=False)

    def on_mouse_up(self, event: MouseUp) -> None:
        """Let go."""
        if self._held is not None:
            self.capture_mouse(False)
            self._drag(event, is_over=True)
            self._held = None

    def _lay_out(self) -> None:
        (layout, is_narrow) = self._wanted
        if layout.below is not None:
            layout = layout._replace(below=self.limit(layout.below))
        if (layout, is_narrow) == self._laid_out:
            return
        self._laid_out = layout, is_narrow
        below, most = _percent(layout.below), None if layout.below is None else "100%"
        right = self.query_one("#right")
        right.styles.width = None if is_narrow else _percent(layout.right)
        right.styles.height, right.styles.max_height = (below, most) if is_narrow else (None, None)
        for pane in map(self.query_one, BELOW):
            pane.styles.height, pane.styles.max_height = below, most

    def _drag(self, event: MouseMove | MouseUp, *, is_over: bool) -> None:
        if self._held == "right":
            share = 100 * (self.region.right - event.screen_x) / max(1, self.size.width)
            self.post_message(Do("drag_border", share, None, is_over))
        else:
            share = 100 * (self.region.bottom - 1 - event.screen_y) / max(1, self.size.height)
            self.post_message(Do("drag_border", None, share, is_over))

    def _border_at(self, x: int, y: int) -> Border | None:
        """The border between the columns, or the lower one of the results. The title of a pane is none."""
        right, results = self.query_one("#right").region, self.query_one("#results").region
        is_beside = right.width > 0 and right.x > self.region.x
        if is_beside and x in (right.x - 1, right.x) and y > right.y:
            return "right"
        if results.bottom < self.region.bottom and y == results.bottom - 1 and results.x < x < results.right - 1:
            return "below"
        return None

    def _is_below(self, pane: str) -> bool:
        widget, results = self.query_one(pane), self.query_one("#results")
        return widget.is_on_screen and widget.region.y >= results.region.bottom


def _percent(share: int | None) -> str | None:
    return None if share is None else f"{share}%"
