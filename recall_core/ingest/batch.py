"""A batch: what the next commit of an ingest run writes, and when it is due."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from recall_core.config import COMMIT_SECONDS
from recall_core.ingest.read import RawFile
from recall_core.ingest.vectors import TEXT_CHARS
from recall_core.store.writing import Writer
from recall_core.types import NewFile, Root

_COMMIT_CHARS = 4_000_000  # at most: a slow embedder reads fewer within COMMIT_SECONDS
_COMMIT_CHUNKS = 512


class Batch:
    """What the next commit will write."""

    def __init__(self) -> None:
        self.since = monotonic()
        self.roots: list[Root] = []
        self.renewed: list[Root] = []
        self.files: list[NewFile] = []
        self.touched: list[tuple[str, RawFile]] = []
        self.settled: list[tuple[str, RawFile]] = []
        self.labelled: list[tuple[str, Root]] = []
        self.gone: list[str] = []
        self.taken_back: list[str] = []
        self.chunks = 0
        self.waiting = 0
        self.chars = 0

    def add(self, file: NewFile) -> None:
        """Put a file among what is written, once its texts have their vectors."""
        self.files.append(file)
        chunks = sum(len(document.chunks) for document in file.documents)
        self.chunks += chunks
        self.waiting += chunks
        self.chars += file.size

    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        names = (self.touched, self.settled, self.labelled, self.gone, self.taken_back)
        return not any((self.roots, self.renewed, self.files, *names))

    def is_due(self, chars: float) -> bool:
        """Whether to write it. chars: how many the embedder reads in the time that a commit may take."""
        if self.is_empty():
            return False
        late = monotonic() - self.since >= COMMIT_SECONDS
        read = self.chars + TEXT_CHARS * self.chunks
        return late or self.chunks >= _COMMIT_CHUNKS or read >= min(chars, _COMMIT_CHARS)

    def write(self, writer: Writer, files: Sequence[NewFile]) -> None:
        """Write all of it. files: those of the batch, with their vectors."""
        for root in self.roots:
            writer.put_root(root)
        for root in self.renewed:
            writer.renew_root(root)
        for path, raw in self.touched:
            writer.refresh(path, size=raw.size, mtime_ns=raw.mtime_ns)
        for path, raw in (*self.touched, *self.settled):
            writer.settle(path, raw.digest, raw.stamp)
        for path, root in self.labelled:
            writer.relabel(path, tags=root.tags or None, source=root.source, meta=dict(root.meta) or None)
        writer.tombstone(self.gone)
        writer.take_back(self.taken_back)
        for file in files:
            writer.put(file)
