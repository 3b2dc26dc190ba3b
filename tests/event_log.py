"""A mailbox for events of workbench threads, without a screen."""

from __future__ import annotations

import threading
from collections.abc import Callable

from recall_tui.state.events import Event


class EventLog:
    """A log that collects events and waits for them."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._arrived = threading.Condition()

    def post(self, event: Event) -> None:
        with self._arrived:
            self.events.append(event)
            self._arrived.notify_all()

    def wait_for(self, holds: Callable[[Event], object], seconds: float = 60.0) -> Event:
        def found() -> Event | None:
            return next((event for event in self.events if holds(event)), None)

        with self._arrived:
            assert self._arrived.wait_for(lambda: found() is not None, seconds), self.events
            event = found()
            assert event is not None
            return event

    def generations(self, kind: type) -> list[int]:
        return [event.generation for event in self.events if isinstance(event, kind)]  # type: ignore[union-attr]
