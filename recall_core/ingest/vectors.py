"""Vectors for texts: find missing ones, size the embedder's calls, spread them, and check the answers."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from threading import Thread
from time import monotonic
from typing import NamedTuple

from recall_core._lazy import futures, multiprocessing
from recall_core.config import COMMIT_SECONDS, Config
from recall_core.embed.registry import embedder_of
from recall_core.errors import EmbedError, StoreError, UsageError
from recall_core.ingest.parse.worker import cores
from recall_core.ingest.parse.worker_process import end_with
from recall_core.ports import Embedder
from recall_core.shell import REST, Hint
from recall_core.store.port import Store
from recall_core.store.values import find_flaws
from recall_core.text import embedded_text
from recall_core.types import NewFile, Vector

BATCH_TEXTS = 256
CALL_SECONDS = 0.5  # longest call to an embedder, so that progress stays visible
TEXT_CHARS = 200  # fixed cost per text, in characters
_FIRST_CHARS = 2_800
_MOST_CHARS = 1 << 20
_PAYS = 1.5  # pace gain of a doubled call above which fixed cost per call dominates


class TextVector(NamedTuple):
    """A text's vector. windows: number of windows it averages."""

    vector: Vector
    windows: int = 1


class Pace:
    """Chooses how many texts the next embedder call takes, from how long earlier calls took.

    Calls are measured in characters, because long texts take longer. They grow while they are quick, and while a
    larger call is faster per character, as with a remote provider. They shrink when a call takes longer than
    CALL_SECONDS and a smaller one is as fast per character.
    """

    def __init__(self) -> None:
        self.chars = _FIRST_CHARS
        self.chars_per_second = 0.0
        """0 before the first call."""
        self._least = 1

    def next_call(self, texts: Sequence[str]) -> int:
        """Return how many of these texts to send next, counted from the first; at least one."""
        chars = 0
        for count, text in enumerate(texts[:BATCH_TEXTS]):
            chars += cost((text,))
            if count and chars > self.chars:
                return count
        return min(len(texts), BATCH_TEXTS)

    def note(self, chars: int, seconds: float, *, is_full: bool) -> None:
        """Record a call's duration. is_full: more texts were waiting; a last, partial call says little about pace."""
        before, pace = self.chars_per_second, max(chars, 1) / max(seconds, 1e-9)
        if is_full or not before:
            self.chars_per_second = pace
        if not is_full:
            return
        pays = before > 0 and pace >= _PAYS * before
        if pays:
            self._least = chars
        if seconds < CALL_SECONDS / 2 or (seconds < COMMIT_SECONDS / 2 and (pays or not before)):
            self.chars = min(2 * max(chars, 1), _MOST_CHARS)
        elif seconds > CALL_SECONDS:
            self.chars = max(chars // 2, self._least)


def cost(texts: Sequence[str]) -> int:
    """Return the cost of embedding these texts, in characters."""
    return sum(map(len, texts)) + TEXT_CHARS * len(texts)


def embed_in_calls(texts: Mapping[bytes, str], embedder: Embedder, pace: Pace) -> Iterator[dict[bytes, TextVector]]:
    """Yield text_hash to vector, one embedder call at a time, in order. Raises EmbedError, see `embed`."""
    hashes, waiting = list(texts), list(texts.values())
    while waiting:
        count = pace.next_call(waiting)
        batch, began = waiting[:count], monotonic()
        answers = embed(batch, embedder)
        pace.note(cost(batch), monotonic() - began, is_full=count < len(waiting))
        yield dict(zip(hashes[:count], answers, strict=True))
        hashes, waiting = hashes[count:], waiting[count:]


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
        self.pool = futures.ProcessPoolExecutor(
            cores(),
            multiprocessing.get_context("spawn"),  # a fork copies locks that other threads hold
            initializer=_begin,
            initargs=(os.getpid(), embedder.identity, config),
        )

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
                answers = self.pool.map(_embed, parts, [is_query] * len(parts))
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            return [vector for vectors in answers for vector in vectors]
        except futures.BrokenExecutor as error:
            message = f"A worker process of {self.identity} ended before it returned its vectors."
            raise EmbedError("embedder_failed", message, hint=Hint("add", REST)) from error


def _begin(parent: int, identity: str, config: Config) -> None:
    """Prepare a worker, which ends with its parent."""
    Thread(target=end_with, args=(parent,), daemon=True).start()
    global _loading  # noqa: PLW0603 - one embedder for each worker process
    _loading = identity, config


_loading: tuple[str, Config]
_loaded: list[Embedder] = []


def _embed(texts: Sequence[str], is_query: bool) -> list[Vector]:
    if not _loaded:  # not in `_begin`, whose errors do not reach the parent
        _loaded.append(embedder_of(*_loading))
    return _loaded[0].embed(texts, is_query=is_query)


def missing_texts(files: Sequence[NewFile], store: Store) -> dict[bytes, str]:
    """Return text_hash to text of each distinct text without a stored vector, in order of appearance."""
    texts = {
        chunk.text_hash: embedded_text(document.path, "" if chunk.is_title else document.title, chunk.text)
        for file in files
        for document in file.documents
        for chunk in document.chunks
    }
    cached = store.cached_vectors(list(texts))
    return {text_hash: text for text_hash, text in texts.items() if text_hash not in cached}


def with_vectors(file: NewFile, made: Mapping[bytes, TextVector]) -> NewFile:
    """Return the file with these vectors in its chunks. A chunk whose text has no vector here gets None."""
    documents = tuple(
        document._replace(
            chunks=tuple(
                chunk._replace(vector=found.vector, windows=found.windows)
                if (found := made.get(chunk.text_hash))
                else chunk._replace(vector=None)
                for chunk in document.chunks
            )
        )
        for document in file.documents
    )
    return file._replace(documents=documents)


def embed(texts: Sequence[str], embedder: Embedder) -> list[TextVector]:
    """Return one valid vector per text.

    Raises EmbedError `embed_invalid` for a wrong number or dimension, NaN, infinity or a length other than 1.
    """
    vectors = embedder.embed(texts)
    if len(vectors) != len(texts):
        raise _invalid_error(embedder, f"{len(vectors)} vectors for {len(texts)} texts")
    for reason in find_flaws(vectors, dimension=embedder.dimension).values():
        raise _invalid_error(embedder, reason)
    if embedder.max_input is None:
        return [TextVector(vector) for vector in vectors]
    return [TextVector(vector, windows) for vector, windows in zip(vectors, embedder.windows(texts), strict=True)]


def tokens_of(embedder: Embedder) -> int | None:
    """Return the tokens the embedder's provider has charged so far; None if it does not count them."""
    tokens: int | None = getattr(embedder, "tokens_used", None)
    return tokens


def check_embedder(store: Store, embedder: Embedder) -> None:
    """Raise StoreError `embedder_changed` if the store now has another embedder.

    Call it inside a write transaction. Otherwise a concurrent reembed could leave vectors of two embedders.
    """
    identity = store.embedder()
    if identity != embedder.identity:
        raise StoreError(
            "embedder_changed",
            f"{identity} replaced {embedder.identity} in this store during this run.",
            hint="run the same command again",
        )


class CutBy(NamedTuple):
    """The chunker and counter of a store."""

    chunker: str
    counter: str


def cut_by(store: Store) -> CutBy:
    """Return the store's current chunker and counter."""
    info = store.info()
    return CutBy(info.chunker, info.counter)


def check_cut(store: Store, before: CutBy) -> None:
    """Raise StoreError `chunker_changed` if the store's chunker or counter changed since `before`.

    Call it inside a write transaction. Otherwise chunks cut before a rechunk could be written after it.
    """
    if cut_by(store) != before:
        raise StoreError(
            "chunker_changed",
            "A rechunk changed this store's chunker during this run.",
            hint="run the same command again",
        )


def _invalid_error(embedder: Embedder, reason: str) -> EmbedError:
    return EmbedError("embed_invalid", f"The embedder {embedder.identity} returned an invalid answer: {reason}.")
