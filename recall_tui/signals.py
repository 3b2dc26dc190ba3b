"""The signals that end a workbench from outside, from its first moment on."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stops:
    """The signals that came. Before `heed` they wait: an application that is being built up cannot be taken down."""

    def __init__(self) -> None:
        self._then: Callable[[], None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._has_come = False

    def heed(self, then: Callable[[], None]) -> None:
        """Do this in the running loop at every signal from here on, and once for those that came already."""
        self._then, self._loop = then, asyncio.get_running_loop()
        if self._has_come:
            then()

    def arrived(self, _number: int, _frame: FrameType | None) -> None:
        """A signal came; it may have interrupted anything."""
        self._has_come = True
        if self._then is not None and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._then)


@contextmanager
def listening() -> Iterator[Stops]:
    """For the length of this block no signal raises anything."""
    stops = Stops()
    before = {number: signal.signal(number, stops.arrived) for number in NUMBERS}
    try:
        yield stops
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def without_interrupts() -> Iterator[None]:
    """For the length of this block Ctrl-C is another program's, which would inherit SIG_IGN, and no function."""
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
