"""What every thread is given: a way to speak, and a clock."""

from __future__ import annotations

from collections.abc import Callable

from recall_tui.state.events import Event

Post = Callable[[Event], None]

Clock = Callable[[], float]
