"""The watch over an open store: writes of other programs to it, to its recall.toml, or a replaced file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recall_core import evaluate
from recall_core.config import load
from recall_core.errors import ConfigError, RecallError
from recall_tui.state.events import StoreOpened, Unread, Waits
from recall_tui.threads import Post

if TYPE_CHECKING:
    from recall_core.api.recall import Recall


class Writes(NamedTuple):
    """Counters that show writes of other programs."""

    changes: int = -1
    generation: int = 0
    judged: str = ""


class StoreWatch:
    """Watches an open store and reports what changed since the last report."""

    def __init__(self, recall: Recall, post: Post) -> None:
        self._recall = recall
        self._post = post
        self._reported = self._seen = Writes()
        self._settings: tuple[int, int] | None = None
        """Time and size of the settings file when it was read, to detect later writes."""

    def begin(self, *, is_altered: bool) -> None:
        """Report the store just opened, and its settings. is_altered: it replaced another store."""
        recall = self._recall
        opened = self._news(is_altered=is_altered)
        self._settings = _written_at(recall.engine.toml)
        upgrade = recall.store.upgrade
        self._post(opened._replace(config=recall.config, toml=recall.engine.toml, upgrade=upgrade))
        self._report_untrusted()

    def report(self) -> None:
        """Report the current state of the store."""
        self._post(self._news())

    def look(self) -> bool:
        """Report writes of other programs once they stop. Return True if another store replaced this one.

        An unreadable store is reported by the next question.
        """
        store = self._recall.store
        try:
            if store.is_replaced():
                store.leave()  # before another program opens the new file
                return store.is_there()
            before, self._seen = self._seen, self._read_writes()
            if self._seen == before:
                store.fold(wait_ms=0)  # the writer could not do this while this thread was reading
                if self._seen != self._reported:
                    self._post(self._news(is_altered=self._seen[1:] != self._reported[1:]))
            self.read_settings()
        except RecallError:
            return False
        return False

    def read_settings(self) -> None:
        """Load new settings from recall.toml. If it cannot be read, report that once."""
        engine = self._recall.engine
        settings = _written_at(engine.toml)
        if settings is None or settings == self._settings:
            return
        try:
            config, info = load(engine.toml), self._recall.store.info()
        except ConfigError as error:
            self._post(Unread(error))
        else:
            engine.config = config
            self._post(StoreOpened(info, config, engine.toml))
            self._report_untrusted()
        self._settings = settings

    def _report_untrusted(self) -> None:
        if (error := self._recall.engine.untrusted()) is not None:
            self._post(Waits(error))

    def _news(self, *, is_altered: bool = False) -> StoreOpened:
        """Return the report on the store, and remember it as reported."""
        before = self._reported
        self._reported = self._seen = self._read_writes()
        return StoreOpened(
            self._recall.store.info(),
            is_altered=is_altered,
            judged=self._reported.judged if is_altered else "",
            is_written=self._reported.changes != before.changes,
        )

    def _read_writes(self) -> Writes:
        """Read the counters, but only if something was committed."""
        store = self._recall.store
        changes = store.changes()
        if changes == self._seen.changes:
            return self._seen
        return Writes(changes, store.generation(), evaluate.judgements.digest(store))


def _written_at(toml: Path) -> tuple[int, int] | None:
    """Return the time and size of the file, or None if it does not exist."""
    try:
        status = toml.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
