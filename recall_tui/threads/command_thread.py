"""The thread of a command line: the same code as `recall-tui --cmd`, with what it writes caught."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recall_core import adapters
from recall_core.config import Config
from recall_core.errors import Interrupted, RecallError
from recall_tui.state.events import Crashed, Ran, StoreOpened
from recall_tui.threads import Post

if TYPE_CHECKING:
    from recall_core.api.recall import Recall

MOST_CHARACTERS = 2_000_000  # of each stream; nobody reads on, and an export would fill the memory


class Caught(io.StringIO):
    """Takes what is written, up to a size."""

    is_cut = False

    def write(self, text: str, /) -> int:
        """Keep it while there is room."""
        room = MOST_CHARACTERS - self.tell()
        if room < len(text):
            self.is_cut = True
        super().write(text[: max(0, room)])
        return len(text)

    def whole(self) -> str:
        """All that was kept, and whether that is all."""
        return self.getvalue() + ("\n(cut here)\n" if self.is_cut else "")


class CommandThread:
    """Runs command lines in order, up to the first that fails.

    store: the --store value of the workbench; saved: the settings that it knows.
    """

    def __init__(
        self,
        lines: Sequence[str],
        store: str | None,
        opener: Callable[[str | None], Recall],
        post: Post,
        saved: Config | None,
    ) -> None:
        self._lines = lines
        self._store = store
        self._opener = opener
        self._post = post
        self._saved = saved
        self._recall: Recall | None = None
        self._closing = False
        self._has_opened = False
        self._has_steps = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._live, name="recall-command", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def cancel(self) -> None:
        """Abort what runs, or end it at its next step; what was committed stays."""
        with self._lock:
            self._closing = True
            if self._recall is None:
                return
            if self._has_steps:
                self._recall.interrupt()
            else:
                self._recall.end()

    def stop(self, timeout: float = 2.0) -> None:
        """Abort and wait at most `timeout` seconds."""
        self.cancel()
        if self._thread.ident is not None:
            self._thread.join(timeout)

    def _live(self) -> None:
        try:
            self._run()
        except BaseException as error:  # noqa: BLE001 - a defect must reach the screen, not die with the thread
            self._post(Crashed(error))

    def _run(self) -> None:
        stdout, stderr = Caught(), Caught()
        streams = adapters.streams.Streams(io.StringIO(), stdout, stderr, self._is_ending, may_wait=False)
        code = adapters.cli.guard_run(
            lambda: adapters.cli.run_commands(self._lines, store=self._store, streams=streams, opening=self._opened),
            streams=streams,
        )
        if self._has_opened:
            self._tell_store()
        self._post(Ran("\n".join(self._lines), code, stdout.whole(), stderr.whole()))

    def _is_ending(self) -> bool:
        """Long work asks this between its steps, and keeps what it has; any other command is ended within its own."""
        self._has_steps = True
        return self._closing

    @contextmanager
    def _opened(self, store: str | None) -> Iterator[Recall]:
        with self._opener(store) as recall:
            self._has_opened = True
            with self._lock:
                if self._closing:
                    raise Interrupted("interrupted", "Cancelled.")
                self._recall = recall
            try:
                yield recall
            finally:
                with self._lock:
                    self._recall = None  # what is closed cannot be interrupted

    def _tell_store(self) -> None:
        """The store as the command left it, and the settings where they have changed."""
        try:
            with self._opener(self._store) as recall:
                has_changed = recall.config != self._saved
                self._post(
                    StoreOpened(recall.store.info(), recall.config if has_changed else None, recall.engine.toml)
                )
        except RecallError:
            return  # whatever is wrong with it, the next question says so
