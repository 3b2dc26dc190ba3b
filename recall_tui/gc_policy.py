"""When the garbage collector looks at everything: not while somebody waits for a frame."""

from __future__ import annotations

import gc

from recall_tui.threads import Clock

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

    def moved(self) -> None:
        """Something changes on the screen."""
        self._moved_at = self._clock()

    def look(self) -> None:
        """Collect if there is a rest, and something to collect."""
        if self._clock() - self._moved_at >= REST_SECONDS and gc.get_count()[2] >= ENOUGH:
            gc.collect()
