"""The threads that use the store. Each has its own connection and posts its results to the session."""

from __future__ import annotations

import threading
from collections.abc import Callable

from recall_tui.state.events import Crashed, Event

Post = Callable[[Event], None]
Clock = Callable[[], float]


class WorkbenchThread:
    """A thread of the workbench. A defect in it is posted to the screen."""

    def __init__(self, name: str, post: Post) -> None:
        self._post = post
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread, which opens the store when needed."""
        self._thread.start()

    def _join(self, timeout: float) -> None:
        """Wait for the end of the thread if it was started, at most `timeout` seconds."""
        if self._thread.ident is not None:
            self._thread.join(timeout)

    def _live(self) -> None:
        try:
            self._run()
        except BaseException as error:  # noqa: BLE001 - see the class
            self._post(Crashed(error))

    def _run(self) -> None:
        """Do the work of the thread."""
        raise NotImplementedError
