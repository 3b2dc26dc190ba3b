"""The thread that notices when a file of the store's folders changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from recall_core.errors import RecallError
from recall_tui.state.events import Changed, Crashed, Unwatched
from recall_tui.work.ports import Post

if TYPE_CHECKING:
    from recall_core.service import Recall


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
