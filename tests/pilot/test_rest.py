"""What the tests of the workbench wait for: that nothing is left to lay out or to draw."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.events import Resize
from textual.widgets import Static

from tests.rest import at_rest


class Told(Static):
    """Keeps the heights that it was told."""

    heights: tuple[int, ...] = ()

    def on_resize(self, event: Resize) -> None:
        self.heights += (event.size.height,)


class Grows(App[None]):
    """One widget, and another below that is shown later."""

    CSS = "Told { height: 1fr; } #below { height: 3; }"

    def compose(self) -> ComposeResult:
        yield Told("above")
        below = Static("below", id="below")
        below.display = False
        yield below


async def test_at_rest_a_widget_has_been_told_its_last_size() -> None:
    app = Grows()
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        below = app.query_one("#below")
        for _ in range(3):  # Textual waits with what comes soon after another layout
            for shown, height in ((True, 7), (False, 10)):
                below.display = shown
                await at_rest()
                assert app.query_one(Told).heights[-1] == height
