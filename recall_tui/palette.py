"""The command palette: the action table, searched by words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from recall_tui.actions.keys import key_name
from recall_tui.actions.table import ACTIONS


class Actions(Provider):
    """The action table, as the command palette searches it."""

    async def discover(self) -> Hits:
        """Every action, before anything is typed."""
        for name, keys, run in self._entries():
            yield DiscoveryHit(name, run, help=keys)

    async def search(self, query: str) -> AsyncIterator[Hit]:
        """The actions whose help matches what was typed."""
        matcher = self.matcher(query)
        for name, keys, run in self._entries():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, matcher.highlight(name), run, help=keys)

    def _entries(self) -> list[tuple[str, str, Callable[[], object]]]:
        return [
            (action.help, " ".join(map(key_name, action.keys)), partial(self.app.run_action, f"app.{action.id}"))
            for action in ACTIONS
            if action.id != "command_palette"
        ]
