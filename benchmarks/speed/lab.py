"""Stores of real text, made once and kept, with the data that the peers need."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks import corpus, prose
from benchmarks.speed.asked import Asker, Question
from recall_core.api.recall import Recall
from recall_core.config import Config
from recall_core.embed.registry import kind, new_embedder
from recall_core.ports import Embedder
from recall_core.types import Root

_MADE, _PIECES = "made.json", "pieces.json"
_EMBEDDED_AT_ONCE = 512


class Made(NamedTuple):
    """A filled store and the cost of filling it.

    chunks: the requested number.
    held: the number of chunks that the files gave.
    original: how many pieces are text of this machine.
    """

    embedding: str
    chunks: int
    held: int
    original: int
    kind: str
    text_bytes: int
    add_ms: float
    schema_version: int


class Lab:
    """An open store, its questions, and its texts and vectors for the peers."""

    def __init__(self, home: Path, made: Made, recall: Recall, *, rounds: int) -> None:
        self.home, self.made, self.recall, self.rounds = home, made, recall, rounds
        self.asker = Asker(self.pieces)

    @property
    def chunks(self) -> int:
        """The requested number of chunks, which identifies figures of one size."""
        return self.made.chunks

    @cached_property
    def pieces(self) -> list[str]:
        """The text of every chunk."""
        texts: list[str] = json.loads((self.home / _PIECES).read_text(encoding="utf-8"))
        return texts

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder of the store."""
        return new_embedder(Config(embedding=self.made.embedding))

    @cached_property
    def matrix(self) -> Any:
        """The vector of every chunk as a float32 row."""
        kept = self.home / "vectors.npy"
        if not kept.exists():
            vectors = b"".join(
                blob
                for first in range(0, len(self.pieces), _EMBEDDED_AT_ONCE)
                for blob in self.embedder.embed(self.pieces[first : first + _EMBEDDED_AT_ONCE])
            )
            np.save(kept, np.frombuffer(vectors, "<f4").reshape(len(self.pieces), -1))
        return np.load(kept)

    def vector(self, question: Question) -> Any:
        """Return the vector of a question for the peers."""
        return np.frombuffer(self.embedder.embed([question.text], is_query=True)[0], "<f4")


def has(embedding: str) -> bool:
    """Return True if this installation has the embedder."""
    return kind(embedding).missing(Config()) is None


@contextmanager
def opened(stores: Path, embedding: str, chunks: int, *, rounds: int) -> Iterator[Lab]:
    """Yield the store of that size below `stores`. Make it if it is missing or from another version."""
    home = stores / f"{embedding}-{chunks}"
    made = _kept(home) or _make(home, embedding, chunks)
    with Recall.open(start=home) as recall:
        yield Lab(home, made, recall, rounds=rounds)


def _kept(home: Path) -> Made | None:
    if not (home / _MADE).exists():
        return None
    made = Made(**json.loads((home / _MADE).read_text(encoding="utf-8")))
    with Recall.open(start=home) as recall:
        return made if recall.stats()["store"]["schema_version"] == made.schema_version else None


def _make(home: Path, embedding: str, chunks: int) -> Made:
    """Write the files and add them to a new store with `recall add`."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    text = prose.prose(chunks)
    text_bytes = prose.write(home / "docs", text.pieces)
    Recall.init(str(home), embedding=embedding, settings=corpus.SETTINGS)
    with Recall.open(start=home) as recall:
        started = process_time()
        for _ in recall.add([str(home / "docs")], Root("")):
            pass
        add_ms = (process_time() - started) * 1000
        version = recall.stats()["store"]["schema_version"]
        pieces = [text for (text,) in recall.store.execute("SELECT text FROM chunk WHERE deleted = 0 ORDER BY rowid")]
    (home / _PIECES).write_text(json.dumps(pieces), encoding="utf-8")
    made = Made(embedding, chunks, len(pieces), text.original, text.kind, text_bytes, add_ms, version)
    (home / _MADE).write_text(json.dumps(made._asdict()), encoding="utf-8")
    return made


def settle(recall: Recall, ask: Callable[[], object]) -> None:
    """Ask questions until the store has built everything that it keeps in memory."""
    for _ in range(3):
        ask()
    fill_memory = getattr(recall.engine.store, "fill_memory", None)
    if fill_memory is not None:
        fill_memory()
