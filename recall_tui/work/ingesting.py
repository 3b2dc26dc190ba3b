"""The thread that adds one folder, and reports as it goes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from recall_core.errors import RecallError
from recall_core.types import Root
from recall_tui.events import Advanced, Crashed, Ended, Opened
from recall_tui.work.ports import Clock, Post

if TYPE_CHECKING:
    from recall_core.service import Recall

REPORT_SECONDS = 0.05  # at most 20 progress messages a second: more of them make the keys lag
RATE_SMOOTHING = 0.3  # weight of the newest interval in the shown rate


class IngestThread:
    """Adds one folder through a connection of its own and reports as it goes."""

    def __init__(self, opener: Callable[[], Recall], folder: str, post: Post, clock: Clock) -> None:
        self._opener = opener
        self._folder = folder
        self._post = post
        self._clock = clock
        self._cancelled = threading.Event()
        self._thread = threading.Thread(target=self._live, name="recall-ingest", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def cancel(self) -> None:
        """Stop after the step under way; what was committed stays."""
        self._cancelled.set()

    def stop(self, timeout: float = 2.0) -> None:
        """Cancel and wait, at most `timeout` seconds."""
        self.cancel()
        self._thread.join(timeout)

    def _live(self) -> None:
        try:
            with self._opener() as recall:
                ended = self._add(recall)
                self._post(Opened(recall.store.info()))
                self._post(ended)
        except RecallError as error:
            self._post(Ended(None, error))
        except BaseException as error:  # noqa: BLE001 - a defect must reach the screen, not die with the thread
            self._post(Crashed(error))

    def _add(self, recall: Recall) -> Ended:
        folder = str(Path(self._folder).expanduser())
        run = recall.add([folder], Root(folder))
        rate, chunks, last = 0.0, 0, self._clock()
        while not self._cancelled.is_set():
            try:
                progress = next(run)
            except StopIteration as end:
                return Ended(end.value["ingest"], None)
            elapsed = self._clock() - last
            if elapsed >= REPORT_SECONDS or progress.stage == "done":
                rate = smoothed(rate, progress.chunks - chunks, elapsed)
                chunks, last = progress.chunks, last + elapsed
                self._post(Advanced(progress, rate))
        run.close()
        return Ended(None, None)


def smoothed(rate: float, chunks: int, seconds: float) -> float:
    """The exponentially weighted rate after that many chunks in that many seconds; no time passed changes nothing."""
    if seconds <= 0:
        return rate
    newest = chunks / seconds
    return newest if rate == 0 else rate + RATE_SMOOTHING * (newest - rate)
