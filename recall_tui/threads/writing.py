"""Threads that write to the store: tasks in order, an ingest run, and command lines."""

from __future__ import annotations

import io
import queue
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recall_core import adapters, paths
from recall_core.adapters.streams import Streams
from recall_core.config import Config, load
from recall_core.errors import ConfigError, Interrupted, RecallError
from recall_core.types import Progress, Root
from recall_tui.state.events import (
    Advanced,
    Changed,
    Ended,
    Held,
    Ran,
    StoreOpened,
    TaskDone,
    TaskMoved,
    Unwatched,
)
from recall_tui.state.runs import EVERYTHING, Meter, chunks_committed, update_meter
from recall_tui.threads import Clock, Post, WorkbenchThread

if TYPE_CHECKING:
    from recall_core.api.recall import Recall

REPORT_SECONDS = 0.05  # at most 20 progress messages a second; more make the keys lag


class IngestThread(WorkbenchThread):
    """Adds one folder, or syncs all folders, through its own connection.

    A paused run does no further step. Between steps no transaction is open, so other programs are not locked out.
    What was read since the last commit stays in memory.
    """

    def __init__(self, opener: Callable[[], Recall], folder: str, post: Post, clock: Clock) -> None:
        super().__init__("recall-ingest", post)
        self._opener = opener
        self._folder = folder
        self._clock = clock
        self._cancelled = threading.Event()
        self._may_go = threading.Event()
        self._may_go.set()

    def hold(self, *, is_held: bool) -> None:
        """Pause after the current step, or resume."""
        if is_held:
            self._may_go.clear()
        else:
            self._may_go.set()

    def cancel(self) -> None:
        """Stop after the current step. Committed files are kept."""
        self._cancelled.set()
        self._may_go.set()

    def stop(self, timeout: float = 2.0) -> None:
        """Cancel, and wait at most `timeout` seconds."""
        self.cancel()
        self._join(timeout)

    def _run(self) -> None:
        try:
            with self._opener() as recall:
                self._post(StoreOpened(recall.store.info()))
                ended = self._ingest(recall)
                self._post(StoreOpened(recall.store.info()))
                self._post(ended)
        except RecallError as error:
            self._post(Ended(None, error))

    def _ingest(self, recall: Recall) -> Ended:
        if self._folder == EVERYTHING:
            run = recall.sync()
        else:
            folder = str(paths.expand(self._folder))
            run = recall.add([folder], Root(folder))
        meter, indexed = Meter(self._clock()), 0
        while not self._cancelled.is_set():
            try:
                progress = next(run)
            except StopIteration as end:
                return Ended(end.value["ingest"], None)
            indexed = chunks_committed(meter._replace(indexed=indexed), progress)
            now = self._clock()
            if now - meter.at >= REPORT_SECONDS or progress.stage == "done":
                meter = update_meter(meter, progress, indexed, now)
                self._post(Advanced(meter))
            if not self._may_go.is_set():
                meter = self._wait_while_paused(update_meter(meter, progress, indexed, now))
        run.close()
        return Ended(None, None)

    def _wait_while_paused(self, meter: Meter) -> Meter:
        """Wait for the end of the pause, which is not counted as time of the run."""
        self._post(Advanced(meter))
        self._post(Held(is_held=True))
        self._may_go.wait()
        if not self._cancelled.is_set():
            self._post(Held(is_held=False))
        return meter._replace(at=self._clock())


class WatchThread(WorkbenchThread):
    """Reports changes below the watched folders once they stop. Other threads act on the report."""

    def __init__(self, opener: Callable[[], Recall], post: Post) -> None:
        super().__init__("recall-watch", post)
        self._opener = opener
        self._stopped = threading.Event()

    def stop(self, timeout: float = 2.0) -> None:
        """End, within `timeout` seconds."""
        self._stopped.set()
        self._join(timeout)

    def _run(self) -> None:
        try:
            with self._opener() as recall:
                changes = recall.changes(self._stopped)
            for places in changes:
                self._post(Changed(len(places)))
        except RecallError as error:
            self._post(Unwatched(error))


Say = Callable[[Progress], None]


class WriterTask(NamedTuple):
    """A task on the store. run: returns the result in a line, and calls `say` with its progress."""

    name: str
    run: Callable[[Recall, Say], str]


class WriterThread(WorkbenchThread):
    """Runs tasks in order, each through its own connection."""

    def __init__(self, opener: Callable[[], Recall], post: Post, clock: Clock) -> None:
        super().__init__("recall-writer", post)
        self._opener = opener
        self._clock = clock
        self._waiting: queue.SimpleQueue[WriterTask | None] = queue.SimpleQueue()
        self._unfinished: deque[str] = deque()
        self._unreported: list[TaskDone] = []
        """Failed tasks that were not shown yet."""
        self._over = threading.Event()
        self._said = 0.0

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Names of the unfinished tasks, the running one first."""
        return tuple(self._unfinished)

    @property
    def unreported(self) -> tuple[TaskDone, ...]:
        """Failed tasks that were not shown."""
        return tuple(self._unreported)

    def submit(self, task: WriterTask) -> None:
        """Add a task after the waiting ones."""
        self._unfinished.append(task.name)
        self._waiting.put(task)

    def mark_reported(self, event: TaskDone) -> None:
        """Mark this task's result as shown."""
        if event in self._unreported:
            self._unreported.remove(event)

    def stop(self, timeout: float = 2.0) -> None:
        """End after all tasks are done. Wait at most `timeout` seconds."""
        self._waiting.put(None)
        self.finish(timeout)

    def finish(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most `timeout` seconds. Return True if it ended."""
        return self._over.wait(timeout)  # join() interrupted by Ctrl-C would mark the thread as ended

    def _run(self) -> None:
        try:
            while (task := self._waiting.get()) is not None:
                self._do(task)
                self._unfinished.popleft()
        finally:
            self._over.set()

    def _do(self, task: WriterTask) -> None:
        """Run a task with its own connection, since an idle one would keep an old state of the store."""
        try:
            with self._opener() as recall:
                before = recall.config
                summary = task.run(recall, lambda progress: self._report(task.name, progress))
                written = None if recall.config is before else _settings_at(recall.engine.toml)
                self._post(StoreOpened(recall.store.info(), written, recall.engine.toml))
                self._post(TaskDone(task.name, summary))
        except RecallError as error:
            failed = TaskDone(task.name, "", error)
            self._unreported.append(failed)
            self._post(failed)

    def _report(self, name: str, progress: Progress) -> None:
        now = self._clock()
        if now - self._said >= REPORT_SECONDS:
            self._said = now
            self._post(TaskMoved(name, progress))


def _settings_at(toml: Path) -> Config | None:
    """Return the saved settings, which the user may have changed during the task."""
    with suppress(ConfigError):
        return load(toml)
    return None


MOST_CHARACTERS = 2_000_000  # of each stream; an export could fill the memory


class Caught(io.StringIO):
    """Collects output up to a size."""

    is_cut = False

    def write(self, text: str, /) -> int:
        """Keep the text while there is room."""
        room = MOST_CHARACTERS - self.tell()
        if room < len(text):
            self.is_cut = True
        super().write(text[: max(0, room)])
        return len(text)

    def whole(self) -> str:
        """Return the collected output, with a note if it was cut."""
        return self.getvalue() + ("\n(cut here)\n" if self.is_cut else "")


class CommandThread(WorkbenchThread):
    """Runs command lines in order, up to the first that fails.

    store: the --store value of the workbench. saved: the settings it knows.
    """

    def __init__(
        self,
        lines: Sequence[str],
        store: str | None,
        opener: Callable[[str | None], Recall],
        post: Post,
        saved: Config | None,
    ) -> None:
        super().__init__("recall-command", post)
        self._lines = lines
        self._store = store
        self._opener = opener
        self._saved = saved
        self._recall: Recall | None = None
        self._closing = False
        self._has_opened = False
        self._has_steps = False
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """Abort the running command, or stop it at its next step. Committed work is kept."""
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
        self._join(timeout)

    def _run(self) -> None:
        stdout, stderr = Caught(), Caught()
        streams = adapters.streams.Streams(
            io.StringIO(), stdout, stderr, self._is_ending, may_wait=False, color="auto"
        )
        code = adapters.cli.guard_run(
            lambda: adapters.cli.run_commands(self._lines, store=self._store, streams=streams, opening=self._open),
            streams=streams,
        )
        if self._has_opened:
            self._report_store()
        self._post(Ran("\n".join(self._lines), code, stdout.whole(), stderr.whole()))

    def _is_ending(self) -> bool:
        """Return True if the command must stop. Long commands call this between steps and keep finished steps."""
        self._has_steps = True
        return self._closing

    @contextmanager
    def _open(self, store: str | None) -> Iterator[Recall]:
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
                    self._recall = None  # a closed store cannot be interrupted

    def _report_store(self) -> None:
        """Report the store after the command, and the settings if they changed."""
        try:
            with self._opener(self._store) as recall:
                has_changed = recall.config != self._saved
                self._post(
                    StoreOpened(recall.store.info(), recall.config if has_changed else None, recall.engine.toml)
                )
        except RecallError:
            return  # the next question reports the error


def finish_tasks(writer: WriterThread | None, streams: Streams) -> int:
    """Wait until all tasks are done, or for Ctrl-C. Print failed tasks to stderr and return the exit code.

    No time limit is needed, since SQLite itself gives up on a lock that another process keeps too long.
    """
    if writer is None:
        return 0
    code = 0
    try:
        if not writer.finish(0):
            with suppress(OSError):  # the terminal may be gone; the store is written anyway
                streams.say(f"Still writing: {_count_names(writer.unfinished)}. Ctrl-C cancels it.")
            writer.finish()
    except KeyboardInterrupt:
        code = Interrupted.exit_code
    undone = _undone(writer)
    for line in undone:
        streams.say(line)
    return code or (RecallError.exit_code if undone else 0)


def _undone(writer: WriterThread) -> list[str]:
    """Return an error for each reason why a task failed, with its hint."""
    lines = []
    reasons = {each.error.message: each.error.hint for each in writer.unreported if each.error}
    for reason, hint in reasons.items():
        names = _count_names(each.name for each in writer.unreported if each.error and each.error.message == reason)
        lines += [f"error: {names}: {reason}", *([f"hint: {hint}"] if hint else [])]
    if writer.unfinished:
        lines.append(f"error: {_count_names(writer.unfinished)}: not done.")
    return lines


def _count_names(names: Iterable[str]) -> str:
    """Return each name once, with its count."""
    return ", ".join(name if times == 1 else f"{name} ({times} times)" for name, times in Counter(names).items())
