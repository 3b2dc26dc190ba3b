"""The command palette: the action table, searched by words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import NamedTuple

from textual import on
from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.widgets import Input, OptionList

from recall_tui.actions.action import Action
from recall_tui.actions.keys import key_name
from recall_tui.actions.table import WANTED, wanted_at
from recall_tui.host import Host
from recall_tui.screens.dialog import SizedScreen, is_in_front

NOT_NOW = "not now"
LESS = 0.5
"""What a match counts where the action is not possible."""


class PaletteEntry(NamedTuple):
    """An action as the palette lists it. note: its keys, and why it is not possible now where it is not."""

    group: str
    action: Action
    note: str
    is_possible: bool
    run: Callable[[], object]

    @property
    def name(self) -> str:
        """What it does, behind its group."""
        return f"{self.group}: {self.action.help}"

    @property
    def labelled(self) -> str:
        """The same with its name in the footer."""
        label = self.action.label
        return f"{self.group}: {label}: {self.action.help}" if label else self.name

    def shown(self, name: Content) -> Content:
        """A name as it is drawn: dim where the action is not possible."""
        return name if self.is_possible else name.stylize("dim")


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
    """The action table, as the command palette searches it: what is possible first, and in groups."""

    async def discover(self) -> Hits:
        """Every action, before anything is typed."""
        for entry in self._entries():
            yield DiscoveryHit(entry.shown(Content(entry.name)), entry.run, entry.name, entry.note)

    async def search(self, query: str) -> AsyncIterator[Hit]:
        """The actions whose help matches what was typed, or their name in the footer, which then stands before it."""
        matcher = self.matcher(query)
        for entry in self._entries():
            found = max((entry.name, entry.labelled), key=matcher.match)
            if (score := matcher.match(found)) > 0:
                score *= 1 if entry.is_possible else LESS
                yield Hit(score, entry.shown(matcher.highlight(found)), entry.run, found, entry.note)

    def _entries(self) -> list[PaletteEntry]:
        """Every action but this one: what is possible first, and the pane in front, as in the footer."""
        app = self.app
        assert isinstance(app, Host)  # noqa: S101 - the workbench alone has this palette
        pane, found = app.session.pane, []
        for group, actions in app.table.groups.items():
            for action in actions:
                if action.id == "command_palette":
                    continue
                is_possible, keys = action.when.holds(app.session), " ".join(map(key_name, action.keys)) or "no key"
                note = keys if is_possible else f"{keys}, {NOT_NOW}: {app.table.spell(action.when.needs)}"
                own = pane.title() if pane in action.panes or action.id in WANTED[pane] else group
                found.append(PaletteEntry(own, action, note, is_possible, partial(app.perform, action.id)))
        groups = [pane.title(), *app.table.groups]
        return sorted(
            found,
            key=lambda entry: (not entry.is_possible, groups.index(entry.group), wanted_at(entry.action.id, pane)),
        )
