"""The analysis thread: everything a pane shows besides rows and context, one result after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from recall_core import retrieve
from recall_core.config import EMBEDDING
from recall_core.errors import Interrupted, RecallError
from recall_tui.state.events import AnalysisDone, AnalysisMoved
from recall_tui.state.records import Analysis, Kind, Stamp
from recall_tui.state.store_pane import is_outdated
from recall_tui.state.weighing import KEYS
from recall_tui.threads import Post, WorkbenchThread
from recall_tui.threads.answering import take_over

if TYPE_CHECKING:
    from recall_core.api.recall import Recall
    from recall_tui.state.session import Session

Wanted: TypeAlias = tuple[Analysis, Stamp]
REST_SECONDS = 0.1  # pause after new requests: an analysis slows the drawing of held keys
AGAIN_SECONDS = 1.0  # until a failed store is opened again
MOST_REPORTS = 50  # progress reports of an analysis, since each is drawn

FUNCTIONS: Mapping[Kind, str] = {
    "ledger": "explain:chunk_ledger",
    "compare": "explain:two_chunks",
    "funnel": "explain:row_funnel",
    "whynot": "explain:missing_target",
    "passage": "explain:document_passage",
    "paths": "explain:fitting_paths",
    "worth": "store:context_worth",
    "curve": "judge:weight_curve",
    "pins": "judge:weights_of_pins",
    "saved": "judge:saved_rows",
    "grades": "judge:all_grades",
    "board": "judge:judged_board",
    "line": "judge:judged_line",
    "overview": "store:store_overview",
    "health": "store:store_checks",
    "documents": "store:store_documents",
}
"""`module:function` in recall_tui.analyses by kind of analysis."""


class AnalysisRun(NamedTuple):
    """The arguments of an analysis."""

    recall: Recall
    session: Session
    """The session when the analysis was requested. Its answer belongs to the stamp."""
    checkpoint: Callable[[], None]
    """Called between steps of long work. Raises Interrupted if the result is no longer wanted."""
    kept: dict[str, object]
    """Values cached for later analyses, by name, for the life of the thread."""
    give_way: Callable[[], None]
    """Like checkpoint, for an analysis that keeps its steps: it also stops for an earlier one and resumes later."""
    say: Callable[[int, int], None]
    """Report the steps done and the number of steps."""
    store: str | None = None
    """The --store value for commands."""


def is_due(done: int, total: int, times: int) -> bool:
    """Return True for about `times` of the steps. The steps for a number are among those for its multiples."""
    return (done - 1) * times // total != done * times // total


class AnalysisThread(WorkbenchThread):
    """Runs the wanted analyses in order. New requests replace old ones; an analysis still wanted continues."""

    def __init__(self, opener: Callable[[], Recall], post: Post, store: str | None = None) -> None:
        super().__init__("recall-analyses", post)
        self._opener = opener
        self._store = store
        self._changed = threading.Condition()
        self._wanted: tuple[Wanted, ...] = ()
        self._rests_at = 0.0
        self._held_until = 0.0
        self._session: Session | None = None
        self._under_way: Wanted | None = None
        self._done: set[Wanted] = set()
        self._closing = False
        self._is_open = False
        self._is_aside = False
        """Another thread asked to keep the store closed."""
        self._recall: Recall | None = None

    def submit(self, wanted: Sequence[Wanted], session: Session) -> None:
        """Request these analyses of this session, in this order, and no others. New ones start after a pause."""
        with self._changed:
            if any(each not in self._wanted for each in wanted):
                self._rests_at = time.monotonic() + REST_SECONDS
            self._wanted, self._session = tuple(wanted), session
            self._done.intersection_update(self._wanted)
            if self._recall is not None and self._under_way is not None and self._under_way not in self._wanted:
                self._recall.interrupt()
            self._changed.notify()

    def hold(self, seconds: float) -> None:
        """Pause for this long. The running analysis is aborted, and starts again if still wanted."""
        with self._changed:
            self._held_until = time.monotonic() + seconds
            if self._recall is not None and self._under_way is not None:
                self._recall.interrupt()
            self._changed.notify()

    def stop(self, timeout: float = 2.0) -> None:
        """Abort the running analysis, close the store and end, within `timeout` seconds."""
        with self._changed:
            self._closing = True
            if self._recall is not None and self._under_way is not None:
                self._recall.interrupt()
            self._changed.notify()
        self._join(timeout)

    def set_aside(self, *, is_aside: bool, timeout: float = 2.0) -> None:
        """Close the store and keep it closed until allowed to open, within `timeout` seconds."""
        with self._changed:
            self._is_aside = is_aside
            if is_aside and self._recall is not None and self._under_way is not None:
                self._recall.interrupt()
            self._changed.notify_all()
            self._changed.wait_for(lambda: not (is_aside and self._is_open), timeout)

    def _run(self) -> None:
        while self._next() is not None:
            self._open()

    def _open(self) -> None:
        """Open the store and analyse. If it cannot be opened, try again later."""
        with self._changed:
            if self._is_aside:
                return
            self._is_open = True
        try:
            with self._opener() as recall:
                try:
                    self._analyse_all(recall)
                finally:
                    with self._changed:
                        self._recall = None  # a closed store cannot be interrupted
        except RecallError:  # the query thread reports the same error
            with self._changed:
                self._rests_at = time.monotonic() + AGAIN_SECONDS
        finally:
            with self._changed:
                self._is_open = False
                self._changed.notify_all()

    def _analyse_all(self, recall: Recall) -> None:
        """Analyse until the end, or until another file replaces the store."""
        cache: dict[str, object] = {}
        while (following := self._next()) is not None and not recall.store.is_replaced():
            wanted, session = following
            with self._changed:
                self._under_way, self._recall = wanted, recall
            take_over(recall, session.weights.saved, (*KEYS, *EMBEDDING))
            run = AnalysisRun(recall, session, self._checkpoint, cache, self._give_way, self._say, self._store)
            self._analyse(wanted, run)
            with self._changed:
                self._under_way = None

    def _analyse(self, wanted: Wanted, run: AnalysisRun) -> None:
        analysis, stamp = wanted
        result: object
        try:
            module, _, name = FUNCTIONS[analysis.kind].partition(":")
            function = getattr(import_module(f"recall_tui.analyses.{module}"), name)
            result = function(run, analysis)
        except Interrupted:
            return  # if still wanted, it starts again: an abort can come late
        except RecallError as error:
            result = error
        except LookupError:
            answer = run.session.results.answer
            if answer is None or not is_outdated(
                run.session._replace(store=run.session.store._replace(info=run.recall.store.info()))
            ):
                raise

            result = retrieve.answer.outdated_error(
                answer
            )  # another program purged its rows; the question is asked again
        with self._changed:
            self._done.add(wanted)
        self._post(AnalysisDone(analysis, stamp, result))

    def _next(self) -> tuple[Wanted, Session] | None:
        """Wait for a wanted analysis that is not done. Return None if the store must close or the thread end."""
        with self._changed:
            while not self._closing and not (self._is_aside and self._is_open):
                undone = () if self._is_aside else [each for each in self._wanted if each not in self._done]
                first = next(iter(undone), None)
                left = max(self._rests_at, self._held_until) - time.monotonic()
                if first is not None and self._session is not None and left <= 0:
                    return first, self._session
                self._changed.wait(None if first is None else left)
            return None

    def _checkpoint(self) -> None:
        with self._changed:
            is_held = self._held_until > time.monotonic()
            if self._closing or is_held or self._under_way not in self._wanted:
                raise Interrupted("interrupted", "Cancelled: nothing needs it any more.")

    def _give_way(self) -> None:
        self._checkpoint()
        with self._changed:
            first = next((each for each in self._wanted if each not in self._done), None)
            if first != self._under_way:
                raise Interrupted("interrupted", "Cancelled: something else comes first.")

    def _say(self, done: int, total: int) -> None:
        with self._changed:
            under_way = self._under_way
        if is_due(done, total, MOST_REPORTS) and under_way is not None:
            self._post(AnalysisMoved(under_way[0], done, total))
