"""The thread that adds one folder, or syncs all of them, and the one that notices when a file of them changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from recall_core import paths
from recall_core.errors import RecallError
from recall_core.types import Progress, Root
from recall_tui.state.events import Advanced, Changed, Crashed, Ended, Held, StoreOpened, Unwatched
from recall_tui.state.rates import Meter, committed, measured
from recall_tui.state.runs import EVERYTHING
from recall_tui.threads import Clock, Post

if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_core.contract.responses import IngestResponse

REPORT_SECONDS = 0.05  # at most 20 progress messages a second: more of them make the keys lag


class IngestThread:
    """Adds one folder, or syncs every one, through a connection of its own.

    Paused, it takes no further step. Between two steps no transaction is open, so that it locks nobody out; what was
    read since the last commit waits in memory.
    """

    def __init__(self, opener: Callable[[], Recall], folder: str, post: Post, clock: Clock) -> None:
        self._opener = opener
        self._folder = folder
        self._post = post
        self._clock = clock
        self._cancelled = threading.Event()
        self._may_go = threading.Event()
        self._may_go.set()
        self._thread = threading.Thread(target=self._live, name="recall-ingest", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def hold(self, *, is_held: bool) -> None:
        """Stand still after the step under way, or go on."""
        if is_held:
            self._may_go.clear()
        else:
            self._may_go.set()

    def cancel(self) -> None:
        """Stop after the step under way; what was committed stays."""
        self._cancelled.set()
        self._may_go.set()

    def stop(self, timeout: float = 2.0) -> None:
        """Cancel and wait, at most `timeout` seconds."""
        self.cancel()
        self._thread.join(timeout)

    def _live(self) -> None:
        try:
            with self._opener() as recall:
                self._post(StoreOpened(recall.store.info()))
                ended = self._ingest(recall)
                self._post(StoreOpened(recall.store.info()))
                self._post(ended)
        except RecallError as error:
            self._post(Ended(None, error))
        except BaseException as error:  # noqa: BLE001 - a defect must reach the screen, not die with the thread
            self._post(Crashed(error))

    def _ingest(self, recall: Recall) -> Ended:
        run = self._run(recall)
        meter, indexed = Meter(self._clock()), 0
        while not self._cancelled.is_set():
            try:
                progress = next(run)
            except StopIteration as end:
                return Ended(end.value["ingest"], None)
            indexed = committed(meter._replace(indexed=indexed), progress)
            now = self._clock()
            if now - meter.at >= REPORT_SECONDS or progress.stage == "done":
                meter = measured(meter, progress, indexed, now)
                self._post(Advanced(meter))
            if not self._may_go.is_set():
                meter = self._stand_still(measured(meter, progress, indexed, now))
        run.close()
        return Ended(None, None)

    def _run(self, recall: Recall) -> Generator[Progress, None, IngestResponse]:
        if self._folder == EVERYTHING:
            return recall.sync()
        folder = str(paths.expanded(self._folder))
        return recall.add([folder], Root(folder))

    def _stand_still(self, meter: Meter) -> Meter:
        """Wait for the end of the pause, which is no time of the run."""
        self._post(Advanced(meter))
        self._post(Held(is_held=True))
        self._may_go.wait()
        if not self._cancelled.is_set():
            self._post(Held(is_held=False))
        return meter._replace(at=self._clock())


class WatchThread:
    """Says that something changed, once it has come to rest; what follows from it is another thread's work."""

    def __init__(self, opener: Callable[[], Recall], post: Post) -> None:
        self._opener = opener
        self._post = post
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._live, name="recall-watch", daemon=True)

    def start(self) -> None:
        """Begin; the first answer comes as soon as the folders are watched."""
        self._thread.start()

    def stop(self, timeout: float = 2.0) -> None:
        """End; waits at most `timeout` seconds."""
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join(timeout)

    def _live(self) -> None:
        try:
            with self._opener() as recall:
                changes = recall.changes(self._stopped)
            for places in changes:
                self._post(Changed(len(places)))
        except RecallError as error:
            self._post(Unwatched(error))
        except BaseException as error:  # noqa: BLE001 - a defect must reach the screen, not die with the thread
            self._post(Crashed(error))
