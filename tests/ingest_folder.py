"""A folder of files and the store they are read into, for tests of ingest."""

from __future__ import annotations

from pathlib import Path
from time import time_ns

from recall_core.config import Config, chunker_identity
from recall_core.embed.hash import HashEmbedder
from recall_core.ingest import pipeline
from recall_core.ports import Embedder
from recall_core.store.sqlite.store import SqliteStore, create_store
from recall_core.types import Document, Progress, Root, Row

DIMENSION = 64
PLAIN = Root("")


class IngestFolder:
    """An in-memory store over one folder, and the verbs that read files into it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.config = Config(chunk_tokens=40, overlap_tokens=8)
        self.embedder: Embedder = HashEmbedder(DIMENSION)
        self.store = self.empty_store()

    def empty_store(self, *, counter: str = "whitespace") -> SqliteStore:
        """Return an in-memory store for this folder's embedder and limits."""
        return create_store(
            ":memory:",
            embedder=self.embedder.identity,
            dimension=DIMENSION,
            counter=counter,
            chunker=chunker_identity(self.config),
        )

    def write(self, name: str, text: str = "some words\n") -> Path:
        """Write a file with this text below the folder."""
        place = self.base / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
        return place

    def ingest(self, *targets: str, template: Root = PLAIN, mtime_only: bool = False) -> Progress:
        """Return the last event of adding these names."""
        events = pipeline.ingest(
            [str(self.base / target) for target in targets],
            template=template,
            store=self.store,
            embedder=self.embedder,
            config=self.config,
            base=self.base,
            mtime_only=mtime_only,
        )
        return list(events)[-1]

    def sync(self) -> Progress:
        """Return the last event of a sync."""
        return list(pipeline.sync(self.store, self.embedder, self.config, self.base, now_ns=time_ns()))[-1]

    def documents(self) -> dict[str, Document]:
        """Return every live document by its path."""
        count, rows = self.store.scan(None, table="doc", order=(), limit=None, offset=0)
        found = self.store.documents([rowid for rowid, _ in rows])
        assert count == len(found)
        return {document.path: document for document in found.values()}

    def rows(self, path: str) -> list[Row]:
        """Return the chunks of the document at this path with their rows, by offset."""
        return self.store.chunks_of(self.documents()[path].id)

    def state(self) -> tuple[int, str]:
        """Return the generation and the digest, which change with every write."""
        info = self.store.info()
        return info.generation, info.digest
