"""The threads that meet the store: one that answers the newest question, one that ingests."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recall_core.errors import Interrupted, RecallError
from recall_core.text import counter
from recall_core.types import Hit, Root
from recall_tui.lexicon import Entry, Lookup
from recall_tui.session import (
    Advanced,
    Answered,
    Crashed,
    Ended,
    Event,
    Failed,
    Fetched,
    Learned,
    Opened,
    Repacked,
    Unusable,
    Wish,
    listed,
)

if TYPE_CHECKING:
    from recall_core.retrieve import Answer
    from recall_core.retrieve.freshness import State
    from recall_core.service import Recall

Post = Callable[[Event], None]
Clock = Callable[[], float]

REPORT_SECONDS = 0.05  # at most 20 progress messages a second: more of them make the keys lag
RATE_SMOOTHING = 0.3  # weight of the newest interval in the shown rate


class Desk(NamedTuple):
    """What the query thread has made true so far. An answer outlives newer questions that have none."""

    generation: int = 0
    answer: Answer | None = None
    window: tuple[int, int] = (0, 0)
    budget_tokens: int = 0


class QueryThread:
    """Answers the newest wish. The mailbox holds one: a newer wish replaces an older, and aborts its search."""

    def __init__(self, opener: Callable[[], Recall], post: Post, clock: Clock) -> None:
        self._opener = opener
        self._post = post
        self._clock = clock
        self._changed = threading.Condition()
        self._wish: Wish | None = None
        self._closing = False
        self._recall: Recall | None = None
        self._asking = 0
        self._desk = Desk()
        self._thread = threading.Thread(target=self._live, name="recall-query", daemon=True)

    def start(self) -> None:
        """Open the store and begin to listen."""
        self._thread.start()

    def submit(self, wish: Wish) -> None:
        """Make this the newest wish; never waits for the store."""
        with self._changed:
            self._wish = wish
            self._abort_older(wish.generation)
            self._changed.notify()

    def stop(self, timeout: float = 2.0) -> None:
        """Abort what runs, close the store and end; waits at most `timeout` seconds."""
        with self._changed:
            self._closing = True
            self._abort_older(self._asking + 1)
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join(timeout)

    def _abort_older(self, generation: int) -> None:
        # Under the lock the thread cannot take the new wish, so the interrupt meets the old search or nothing.
        if self._recall is not None and 0 < self._asking < generation:
            self._recall.interrupt()

    def _live(self) -> None:
        try:
            with self._opener() as recall:
                self._post(Opened(recall.store.info(), recall.config.budget_tokens))
                self._serve_all(recall)
        except RecallError as error:
            self._post(Unusable(error))
        except BaseException as error:  # noqa: BLE001 - a defect must reach the screen, not die with the thread
            self._post(Crashed(error))

    def _serve_all(self, recall: Recall) -> None:
        self._recall = recall
        while (wish := self._take()) is not None:
            try:
                self._serve(recall, wish)
            except Interrupted:
                self._again(wish)
            except RecallError as error:
                self._desk = self._desk._replace(generation=wish.generation)
                self._post(Failed(wish.generation, error))
            finally:
                with self._changed:
                    self._asking = 0

    def _take(self) -> Wish | None:
        with self._changed:
            self._changed.wait_for(lambda: self._closing or self._wish is not None)
            wish, self._wish = self._wish, None
            if self._closing or wish is None:
                self._recall = None
                return None
            self._asking = wish.generation
            return wish

    def _again(self, wish: Wish) -> None:
        """Put an interrupted wish back, unless a newer one stands there: an abort can arrive a step late."""
        with self._changed:
            self._wish = self._wish or wish

    def _serve(self, recall: Recall, wish: Wish) -> None:
        for lookup in wish.lookups:
            self._post(_learned(recall, lookup))
        if not wish.text.strip():
            self._desk = Desk(wish.generation)
        elif wish.generation != self._desk.generation:
            self._answer(recall, wish)
        answer = self._desk.answer
        if answer is None:
            return
        if wish.window != self._desk.window:
            rows = _rows(recall, answer, wish.window)
            self._post(Fetched(wish.generation, rows, _states(recall, rows)))
            self._desk = self._desk._replace(window=wish.window)
        if wish.budget_tokens != self._desk.budget_tokens and not self._has_newer():
            self._post(_repacked(recall, answer, wish))
            self._desk = self._desk._replace(budget_tokens=wish.budget_tokens)

    def _answer(self, recall: Recall, wish: Wish) -> None:
        answer = recall.answer(recall.plan(wish.text))
        rows = _rows(recall, answer, wish.window)
        before = self._desk.answer
        self._desk = Desk(wish.generation, answer, wish.window)
        self._post(Answered(wish.generation, answer, rows, _states(recall, rows), self._clock()))
        if before is None or before.generation != answer.generation:
            self._post(Opened(recall.store.info()))

    def _has_newer(self) -> bool:
        with self._changed:
            return self._wish is not None or self._closing


def _learned(recall: Recall, lookup: Lookup) -> Learned:
    from recall_core.store.sqlite.vocabulary import MOST, SqliteVocabulary  # noqa: PLC0415 - only while RQL is typed

    vocabulary = SqliteVocabulary(recall.store.execute)
    field, prefix = lookup
    known = vocabulary.keys(prefix) if field is None else vocabulary.values(field, prefix)
    return Learned(lookup, Entry(tuple(known), len(known) < MOST))


def _rows(recall: Recall, answer: Answer, window: tuple[int, int]) -> dict[int, Hit]:
    offset, count = listed(answer)
    first, end = min(window[0], count), min(window[1], count)
    return dict(enumerate(recall.hits(answer, offset + first, offset + end), start=first))


def _states(recall: Recall, rows: dict[int, Hit]) -> dict[str, State]:
    from recall_core.retrieve.freshness import stale_documents  # noqa: PLC0415 - the engine loads behind the first frame

    return stale_documents([hit.doc.id for hit in rows.values()], store=recall.store, base=recall.base)


def _repacked(recall: Recall, answer: Answer, wish: Wish) -> Repacked:
    from recall_core.service import Pack  # noqa: PLC0415 - the engine loads behind the first frame

    packed = recall.pack(answer, Pack(budget_tokens=wish.budget_tokens))
    count = counter(packed.counter).count
    return Repacked(wish.generation, packed, tuple(count(block.text) for block in packed.blocks))


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
