"""Reindex: index every chunk with newer words, while searches use the old ones until all are ready."""

from __future__ import annotations

from collections.abc import Generator

from recall_core.contract.views import ReindexView
from recall_core.errors import StoreError, UsageError
from recall_core.shell import Hint
from recall_core.store.port import Store
from recall_core.types import Progress, Stage
from recall_core.words.versions import NEWEST, analyzer_named, is_old

REINDEX = Hint("reindex")


def reindex(store: Store, words: str | None = None) -> Generator[Progress, None, ReindexView]:
    """Index every chunk with these words, then switch to them at once. Vectors stay, and no file is read.

    words: name of an analyzer; by default the newest for a store with older words, else the store's own. A store that
    has these words is indexed only if its indexed forms are wrong.

    Stopping at any event, or a failure, leaves the store answering as before, and the same call resumes. Raises
    UsageError `bad_value`; StoreError `reindex_replaced`; StoreCorrupt; StoreLocked.
    """
    previous = store.analyzer.name
    target = words if words is not None else NEWEST if is_old(store.analyzer) else previous
    if analyzer_named(target).name != target:
        raise UsageError("bad_value", f"There are no words named {target!r}.", hint=REINDEX)
    documents, chunks = store.info().documents, store.info().chunks
    view = ReindexView(words=target, previous=previous, chunks=0)

    def event(stage: Stage) -> Progress:
        waiting = max(0, chunks - view["chunks"])
        counters = (documents, documents, documents, chunks, 0, min(chunks, view["chunks"]))
        return Progress(stage, "", *counters, 0, 0, 0, 0, (), waiting=waiting)

    if target == previous and store.check("words").severity == "ok":
        if store.reindex_target() is not None:
            store.drop_reindex()
        yield event("done")
        return view
    view["chunks"] = store.begin_reindex(target)
    yield event("index")
    while not store.finish_reindex(target):
        after = 0
        while done := store.reindex_some(target, after=after):
            after = done[0]
            view["chunks"] += done[1]
            yield event("index")
        if store.reindex_target() != target:
            if store.analyzer.name == target:
                break  # another process finished the same reindex first
            raise StoreError("reindex_replaced", f"Another reindex replaced the one to {target!r}.", hint=REINDEX)
    view["chunks"] = chunks = store.info().chunks
    yield event("commit")
    yield event("done")
    return view
