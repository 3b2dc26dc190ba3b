"""An embedder whose vectors are computed in worker processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from threading import Thread
from time import sleep
from typing import NoReturn, Self

from recall_core.config import Config
from recall_core.embed.registry import embedder_of
from recall_core.errors import EmbedError, UsageError
from recall_core.ingest.parse.worker import cores
from recall_core.ingest.vectors import tokens_of
from recall_core.ports import Embedder
from recall_core.shell import REST, Hint
from recall_core.types import Vector

_LOOK_SECONDS = 0.5


class InProcesses:
    """Computes the vectors of an embedder in worker processes, one for each processor. Use it from one thread.

    Every worker loads the embedder again, by its identity and these settings. The first call starts the workers.
    Raises UsageError `conflicting_flags` for an embedder that calls a server, where workers gain nothing.
    """

    def __init__(self, embedder: Embedder, config: Config) -> None:
        if tokens_of(embedder) is not None:
            message = f"{embedder.identity} is computed by a server, not by worker processes."
            raise UsageError("conflicting_flags", message, hint=Hint("add", REST))
        self._embedder = embedder
        self.identity, self.dimension, self.max_input = embedder.identity, embedder.dimension, embedder.max_input
        self.windows = embedder.windows
        self._pool = ProcessPoolExecutor(
            cores(),
            multiprocessing.get_context("spawn"),  # a fork copies locks that other threads hold
            initializer=_begin,
            initargs=(os.getpid(), embedder.identity, config),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return one vector per text, in order; see ports.Embedder.

        Raises EmbedError `embedder_failed` if a worker ends, and the errors of the embedder.
        """
        count = -(-len(texts) // cores())
        parts = [texts[start : start + count] for start in range(0, len(texts), count or 1)]
        try:
            # Workers inherit the mask: Ctrl-C reaches them too, but the parent ends them.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                answers = self._pool.map(_embed, parts, [is_query] * len(parts))
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            return [vector for vectors in answers for vector in vectors]
        except BrokenProcessPool as error:
            message = f"A worker process of {self.identity} ended before it returned its vectors."
            raise EmbedError("embedder_failed", message, hint="run it again without --executor") from error


def _begin(parent: int, identity: str, config: Config) -> None:
    """Prepare a worker, which ends with its parent."""
    Thread(target=_watch, args=(parent,), daemon=True).start()
    global _loading  # noqa: PLW0603 - one embedder for each worker process
    _loading = identity, config


def _watch(parent: int) -> NoReturn:
    while os.getppid() == parent:
        sleep(_LOOK_SECONDS)
    os._exit(1)


_loading: tuple[str, Config]
_loaded: list[Embedder] = []


def _embed(texts: Sequence[str], is_query: bool) -> list[Vector]:
    if not _loaded:  # not in `_begin`, whose errors do not reach the parent
        _loaded.append(embedder_of(*_loading))
    return _loaded[0].embed(texts, is_query=is_query)
