"""Keeping a served store up to date: after its start, when files change, and every so often; one writer at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import NamedTuple

from recall_core.api.engine import result_of
from recall_core.api.recall import Recall
from recall_core.api.serving.pool import StoreSettings
from recall_core.contract.responses import IngestResponse
from recall_core.errors import Interrupted, RecallError
from recall_core.text import one_line

REST_MS = 1_500
_AGAIN_SECONDS = 5.0
"""After a failure."""


class Following(NamedTuple):
    """When a served store is synced. on_boot: once, as it starts. interval: every so many seconds, 0 for never."""

    watch: bool = False
    on_boot: bool = False
    interval: float = 0.0


class Follower:
    """Threads that sync a store, each with a connection of its own; questions are answered meanwhile.

    say: is told what each sync changed, and why one failed; the next one is tried all the same.
    """

    def __init__(self, settings: StoreSettings, following: Following, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._following = following
        self._say = say
        self._stop = Event()
        self._writing = Lock()
        self._open: set[Recall] = set()
        self._threads: list[Thread] = []

    def start(self) -> None:
        """Begin."""
        works = []
        if self._following.watch:
            works.append(self._watch)
        if self._following.interval:
            works.append(self._every)
        if self._following.on_boot and not self._following.watch:  # a watch begins with a sync
            works.append(self._once)
        self._threads = [
            Thread(target=work, name=f"recall-{work.__name__.strip('_')}", daemon=True) for work in works
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End, what is being written included; what was committed stays."""
        self._stop.set()
        for recall in tuple(self._open):
            recall.end()
        for thread in self._threads:
            thread.join()

    def _once(self) -> None:
        with self._trying(), self._recall() as recall:
            self._sync(recall)

    def _every(self) -> None:
        while not self._stop.wait(self._following.interval):
            self._once()

    def _watch(self) -> None:
        while not self._stop.is_set():
            with self._trying(), self._recall() as recall:
                for _ in recall.changes(self._stop, rest_ms=REST_MS):
                    if self._stop.is_set():
                        break
                    self._sync(recall)
            self._stop.wait(_AGAIN_SECONDS)  # the store was replaced, or a folder is gone

    def _sync(self, recall: Recall) -> None:
        with self._writing:
            told = _told(result_of(recall.sync()))
        if told:
            self._say(told)

    @contextmanager
    def _trying(self) -> Iterator[None]:
        try:
            yield
        except Interrupted:
            self._stop.set()
        except RecallError as error:
            self._say(f"sync failed: {error.message}")

    @contextmanager
    def _recall(self) -> Iterator[Recall]:
        with Recall.open(self._settings.store, start=self._settings.start, trust=self._settings.trust) as recall:
            self._open.add(recall)
            if self._stop.is_set():  # nobody ends it who did not see it open
                recall.end()
            try:
                yield recall
            finally:
                self._open.discard(recall)


def _told(response: IngestResponse) -> str:
    """Return what a sync changed, and which files its parsers gave up; "" for nothing."""
    view = response["ingest"]
    counts = {name: view[name] for name in ("added", "updated", "removed")}
    slow = [one_line(skip["path"]) for skip in view["skipped"] if skip["code"] == "parser_timeout"]
    return ", ".join(
        [f"{count} {name}" for name, count in counts.items() if count]
        + [f"{path} skipped (parser_timeout)" for path in slow]
    )
