"""The query thread: a mailbox for the newest question, the watch over the store, and the answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from recall_core.errors import Interrupted, Outdated, RecallError
from recall_tui.state.events import Failed, Unusable
from recall_tui.state.transitions import QueryRequest
from recall_tui.threads import Clock, Post, WorkbenchThread
from recall_tui.threads.answering import Answering
from recall_tui.threads.store_watch import StoreWatch

if TYPE_CHECKING:
    from recall_core.api.recall import Recall

LOOK_SECONDS = 2.0  # longer than the gaps in a writer's batches: two equal looks mean that it is idle


class Mailbox:
    """Contains the newest request. A new one replaces it and aborts the search for an older one."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._request: QueryRequest | None = None
        self._asking = 0
        """The generation being answered, or 0."""
        self._recall: Recall | None = None
        """The store being searched."""
        self.is_closing = False

    def put(self, request: QueryRequest, answered: int) -> None:
        """Make this the newest request, without waiting for the store. answered: number of the answered question."""
        with self._changed:
            self._request = request
            if self._asking < request.generation or (request.is_given_up and request.question != answered):
                self._abort()
            self._changed.notify()

    def put_back(self, request: QueryRequest) -> None:
        """Put an interrupted request back unless there is a newer one, since an abort can arrive late."""
        with self._changed:
            self._request = self._request or request

    def close(self) -> None:
        """Abort the search and accept no more requests."""
        with self._changed:
            self.is_closing = True
            self._abort()
            self._changed.notify()

    def wait(self, seconds: float) -> bool:
        """Wait for a request or the end. Return False after a timeout."""
        with self._changed:
            return self._changed.wait_for(self._is_called, seconds)

    def take(self, recall: Recall) -> QueryRequest | None:
        """Take the request and search in this store. Return None without a request or at the end."""
        with self._changed:
            request, self._request = self._request, None
            if self.is_closing or request is None:
                self._recall = None
                return None
            self._recall, self._asking = recall, request.generation
            return request

    def finish(self) -> None:
        """Mark the request as served."""
        with self._changed:
            self._asking = 0

    def let_go(self) -> None:
        """Stop interrupting the store, which is about to close."""
        with self._changed:
            self._recall, self._asking = None, 0

    def has_newer(self) -> bool:
        """Return True if another request waits, or the end."""
        with self._changed:
            return self._is_called()

    def _is_called(self) -> bool:
        return self.is_closing or self._request is not None

    def _abort(self) -> None:
        # Under the lock the thread cannot take a new request, so the interrupt hits only the old search.
        if self._recall is not None and self._asking > 0:
            self._recall.interrupt()


class QueryThread(WorkbenchThread):
    """Answers the newest request, and watches the store in between."""

    def __init__(
        self,
        opener: Callable[[], Recall],
        post: Post,
        clock: Clock,
        set_aside: Callable[[bool], None] = lambda _is_aside: None,
    ) -> None:
        """set_aside: make the other threads close the store, or let them open it again."""
        super().__init__("recall-query", post)
        self._opener = opener
        self._set_aside = set_aside
        self._clock = clock
        self._mailbox = Mailbox()
        self._answering: Answering | None = None

    def submit(self, request: QueryRequest) -> None:
        """Make this the newest request, without waiting for the store."""
        self._mailbox.put(request, self._answering.question if self._answering is not None else 0)

    def stop(self, timeout: float = 2.0) -> None:
        """Abort the search, close the store and end, within `timeout` seconds."""
        self._mailbox.close()
        self._join(timeout)

    def _run(self) -> None:
        is_another = False
        try:
            while not self._mailbox.is_closing:
                with self._opener() as recall:
                    self._set_aside(False)
                    watch = StoreWatch(recall, self._post)
                    watch.begin(is_altered=is_another)
                    self._serve_all(recall, watch)
                    is_another = True
        except RecallError as error:
            self._post(Unusable(error))

    def _serve_all(self, recall: Recall, watch: StoreWatch) -> None:
        """Answer until the end, or until another file replaces the store and all answers start over."""
        answering = Answering(recall, self._post, self._clock, self._mailbox.has_newer, watch.report)
        self._answering = answering
        while (request := self._take(recall, watch)) is not None:
            if recall.store.is_replaced():
                self._mailbox.put_back(request)
                self._let_go()
                recall.store.leave()
                return
            try:
                watch.read_settings()
                answering.serve(request)
            except Interrupted:
                self._mailbox.put_back(request)
            except Outdated:
                answering.forget()
                self._mailbox.put_back(request)
            except RecallError as error:
                answering.mark_served(request)
                self._post(Failed(request.question, error))
            finally:
                self._mailbox.finish()

    def _take(self, recall: Recall, watch: StoreWatch) -> QueryRequest | None:
        while not self._mailbox.wait(LOOK_SECONDS):
            if watch.look():
                self._let_go()
                return None
        return self._mailbox.take(recall)

    def _let_go(self) -> None:
        """Stop all use of a store that is about to close, and drop its answers.

        If another connection stayed open, SQLite would hand its log, which no longer exists, to the next one.
        """
        self._set_aside(True)
        self._answering = None
        self._mailbox.let_go()
