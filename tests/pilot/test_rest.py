"""The condition that tests of the workbench wait for: nothing is left to lay out or draw."""

from __future__ import annotations

from pathlib import Path

from textual.app import App, ComposeResult
from textual.events import Resize
from textual.widgets import Static

from tests.rest import apply_rules, at_rest
from tests.workbench_driver import workbench


class Told(Static):
    """Records the heights it received."""

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


async def test_widgets_know_their_last_size() -> None:
    app = Grows()
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        below = app.query_one("#below")
        for _ in range(3):  # Textual delays what comes soon after another layout
            for shown, height in ((True, 7), (False, 10)):
                below.display = shown
                await at_rest()
                assert app.query_one(Told).heights[-1] == height


async def test_cached_styles_match_the_rules(shared_store: Path) -> None:
    for _ in range(2):  # the second workbench has the styles of the first one
        async with workbench(shared_store, size=(80, 40)) as bench:
            await bench.ask()
            for keys in ("escape 4", "z", "z 5", "3", "1", "escape f1", "escape", "J right"):
                await bench.press(*keys.split())
                for widget in bench.app.screen.walk_children(with_self=True):
                    kept = widget.styles.base.get_rules()
                    parts = {name: each.base.get_rules() for name, each in widget._component_styles.items()}

                    apply_rules(bench.app.stylesheet, widget)

                    assert widget.styles.base.get_rules() == kept, (keys, widget)
                    assert {name: each.base.get_rules() for name, each in widget._component_styles.items()} == parts
