"""The process of a workbench: the signals that end it, and when its garbage is collected."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from recall_tui.threads import Clock

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

    def take(self, _number: int, _frame: FrameType | None) -> None:
        """A signal came; it may have interrupted anything."""
        self._has_come = True
        if self._then is not None and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._then)


@contextmanager
def listening() -> Iterator[Stops]:
    """For the length of this block no signal raises anything."""
    stops = Stops()
    before = {number: signal.signal(number, stops.take) for number in NUMBERS}
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


REST_SECONDS = 1.0  # without a change; then nobody sees that the screen stands still
ENOUGH = 10  # smaller collections since the last full one, after which Python would begin another
SELDOM = 100  # as many where no rest comes, as in a long ingest


class Tidying:
    """The full collections of a workbench. Each takes as long as a frame or two: a dragged slider would stick."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._moved_at = clock()

    def begin(self) -> None:
        """Leave alone what has been loaded so far, which stays; from now on full collections wait for `look`."""
        gc.freeze()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, SELDOM)
        gc.enable()

    def mark_change(self) -> None:
        """Something changes on the screen."""
        self._moved_at = self._clock()

    def look(self) -> None:
        """Collect if there is a rest, and something to collect."""
        if self._clock() - self._moved_at >= REST_SECONDS and gc.get_count()[2] >= ENOUGH:
            gc.collect()
