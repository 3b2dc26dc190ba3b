"""`recall sync --watch`: the store follows its folders until somebody stops it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from recall_core.adapters.progress import follow
from recall_core.adapters.streams import Streams
from recall_core.contract import Response
from recall_core.errors import Interrupted
from recall_core.service import Recall

_COUNTS = ("added", "updated", "removed")


def watch(recall: Recall, streams: Streams, emit: Callable[[Response], None]) -> NoReturn:
    """Sync now and after every change; emit the first answer, and each later one that changed anything.

    Raises Interrupted on Ctrl-C and SIGTERM, and whatever ends a sync.
    """
    is_first = True
    try:
        for _ in recall.changes():
            response = follow(recall.sync(), streams=streams)
            if is_first or any(response["ingest"][count] for count in _COUNTS):  # type: ignore[literal-required]
                emit(response)
                streams.stdout.flush()
            is_first = False
    except KeyboardInterrupt:
        pass
    raise Interrupted("interrupted", "Stopped watching; what was told is in the store.", hint="recall sync --watch")
