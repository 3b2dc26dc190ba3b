"""`recall embedders` and `recall reembed`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from recall_core.adapters.parser import Request
from recall_core.adapters.progress import follow
from recall_core.adapters.streams import Streams
from recall_core.api.recall import Recall
from recall_core.contract import AnyResponse
from recall_core.errors import NO_STORE, StoreError
from recall_core.types import Progress

Opener = Callable[[str | None], AbstractContextManager[Recall]]


def list_embedders(request: Request, opener: Opener) -> AnyResponse:
    """Every embedder, under the settings of the store where there is one."""
    probe = request.flags.probe
    try:
        with opener(request.store) as recall:
            return Recall.embedders(recall.config, in_use=recall.store.embedder(), probe=probe)
    except StoreError as error:
        if error.code not in NO_STORE or request.store is not None:
            raise
        return Recall.embedders(probe=probe)


def reembed(recall: Recall, request: Request, streams: Streams) -> AnyResponse:
    """Every vector anew, watched."""
    work = recall.reembed(request.words[0], tuple(request.flags.set or ()))
    return follow(work, streams=streams, kept=_kept)


def _kept(last: Progress | None) -> str:
    done, texts = (last.embedded + last.reused, last.chunks) if last else (0, 0)
    return f"{done} of {texts} texts have their new vector, questions use the old ones"
