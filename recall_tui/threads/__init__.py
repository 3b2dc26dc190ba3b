"""The threads that meet the store. Each has a connection of its own and tells the session what it found."""

from __future__ import annotations

from collections.abc import Callable

from recall_tui.state.events import Event

Post = Callable[[Event], None]

Clock = Callable[[], float]
