"""The command palette: the action table, searched by words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial

from textual import on
from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.widgets import Input, OptionList

from recall_tui.actions.keys import key_name
from recall_tui.actions.table import is_valid
from recall_tui.host import Host
from recall_tui.screens.dialog import is_in_front
from recall_tui.screens.sized import SizedScreen

NOT_NOW = "not possible now"


class Palette(CommandPalette, SizedScreen[None]):
    """The command palette, which takes one action, however many keys arrive together."""

    @on(OptionList.OptionSelected)
    @on(Input.Submitted)
    def _take_no_more(self, event: OptionList.OptionSelected | Input.Submitted) -> None:
        """What is chosen after it has been left is not done as well."""
        if not is_in_front(self):
            event.stop()
            event.prevent_default()

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Leave, unless it has been left already."""
        return super().dismiss(result) if is_in_front(self) else AwaitComplete()


class Actions(Provider):
    """The action table, as the command palette searches it."""

    async def discover(self) -> Hits:
        """Every action, before anything is typed."""
        for name, keys, run, _ in self._entries():
            yield DiscoveryHit(name, run, help=keys)

    async def search(self, query: str) -> AsyncIterator[Hit]:
        """The actions whose help matches what was typed, or their name in the footer, which then stands before it."""
        matcher = self.matcher(query)
        for name, keys, run, label in self._entries():
            found = max((name, f"{label}: {name}" if label else name), key=matcher.match)
            if (score := matcher.match(found)) > 0:
                yield Hit(score, matcher.highlight(found), run, help=keys)

    def _entries(self) -> list[tuple[str, str, Callable[[], object], str]]:
        """What each does, its keys or that it is not possible now, how it is done, and its name in the footer."""
        app = self.app
        assert isinstance(app, Host)  # noqa: S101 - the workbench alone has this palette
        found: list[tuple[str, str, Callable[[], object], str]] = []
        for action in app.table.actions:
            if action.id == "command_palette":
                continue
            keys = " ".join(map(key_name, action.keys)) or "no key"
            note = keys if is_valid(action, app.session) else f"{keys}, {NOT_NOW}"
            found.append((action.help, note, partial(app.perform, action.id), action.label))
        return found
