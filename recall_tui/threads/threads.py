"""The threads of a workbench: started when needed, and stopped together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from recall_core import api
from recall_core.config import Config
from recall_tui.opening import open_to_ask
from recall_tui.state.events import TaskDone
from recall_tui.state.session import Session
from recall_tui.state.transitions import query_request, wanted_analyses
from recall_tui.threads import Clock, Post
from recall_tui.threads.analysis_thread import AnalysisThread
from recall_tui.threads.query_thread import QueryThread
from recall_tui.threads.writing import CommandThread, IngestThread, WatchThread, WriterTask, WriterThread

if TYPE_CHECKING:
    from recall_core.api.recall import Recall


class Threads:
    """One thread each for answers, analyses and tasks, and one for a running ingest."""

    def __init__(self, store: str | None, post: Post, clock: Clock) -> None:
        self._opener = partial(open_to_ask, store)
        self._store = store
        self._post = post
        self._clock = clock
        self._asking: QueryThread | None = None
        self.analysing: AnalysisThread | None = None
        """The analysis thread, once there was an analysis."""
        self.writer: WriterThread | None = None
        """The writer thread, once there was a task."""
        self._ingesting: IngestThread | None = None
        self._watching: WatchThread | None = None
        self._command: CommandThread | None = None

    @property
    def is_open(self) -> bool:
        """True if the store is open or about to be."""
        return self._asking is not None

    def open(self, session: Session) -> None:
        """Open the store and answer the session's question."""
        self._asking = QueryThread(self._opener, self._post, self._clock, self._set_aside)
        self._asking.submit(query_request(session))
        self._asking.start()

    def lose(self) -> None:
        """Forget the query thread, since the store cannot be opened."""
        self._asking = None

    def serve(self, before: Session, session: Session) -> None:
        """Request what this session wants and the one before did not."""
        if self._asking is None:
            return
        if (request := query_request(session)) != query_request(before):
            self._asking.submit(request)
        analyses = wanted_analyses(session)
        if analyses and self.analysing is None:
            self.analysing = AnalysisThread(self._opener, self._post, self._store)
            self.analysing.start()
        if self.analysing is not None:
            self.analysing.submit(analyses, session)

    def do(self, task: WriterTask) -> None:
        """Run this task on the store, after the waiting tasks."""
        if self.writer is None:
            self.writer = WriterThread(self._opener, self._post, self._clock)
            self.writer.start()
        self.writer.submit(task)

    def mark_reported(self, event: TaskDone) -> None:
        """Mark a task's result as shown."""
        if self.writer is not None:
            self.writer.mark_reported(event)

    def run(self, lines: tuple[str, ...], saved: Config | None) -> None:
        """Run command lines in order."""
        self._command = CommandThread(lines, self._store, api.recall.Recall.open, self._post, saved)
        self._command.start()

    def stop_command(self) -> None:
        """Abort the command line."""
        if self._command is not None:
            self._command.cancel()

    def ingest(self, folder: str, opener: Callable[[], Recall] | None = None) -> None:
        """Add a folder, or sync all folders if it is "". opener: for a store that must be created first."""
        self._ingesting = IngestThread(opener or self._opener, folder, self._post, self._clock)
        self._ingesting.start()

    def end_ingest(self) -> None:
        """Forget the finished run."""
        self._ingesting = None

    def cancel(self) -> None:
        """Cancel the run."""
        if self._ingesting is not None:
            self._ingesting.cancel()

    def hold(self, *, is_held: bool) -> None:
        """Pause or resume the run."""
        if self._ingesting is not None:
            self._ingesting.hold(is_held=is_held)

    def watch(self, *, is_on: bool) -> None:
        """Watch the store's current folders, or stop watching without waiting."""
        if self._watching is not None:
            self._watching.stop(timeout=0)
        self._watching = WatchThread(self._opener, self._post) if is_on else None
        if self._watching is not None:
            self._watching.start()

    def _set_aside(self, is_aside: bool) -> None:
        if self.analysing is not None:
            self.analysing.set_aside(is_aside=is_aside)

    def stop(self) -> None:
        """Stop every thread. The writer first finishes its tasks."""
        for thread in (self._watching, self._command, self._ingesting, self._asking, self.analysing, self.writer):
            if thread is not None:
                thread.stop()
