"""Stores for parity tests: files of invented text on disk, with vectors far apart or in a few clusters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

from benchmarks import corpus, prose
from recall_core.api.recall import Recall
from recall_core.embed.hash import HashEmbedder
from recall_core.ingest.pipeline import ingest
from recall_core.types import Root, Vector

CLUSTERED = "clustered"
"""Vectors of the hash embedder, but only a few distinct ones, so that nearly every cosine is a tie."""
CLUSTERS = 24


class Clustered:
    """An embedder that gives each text the vector of one of a few words. `hash`, its name, embeds the queries."""

    identity = HashEmbedder().identity
    dimension = HashEmbedder().dimension
    max_input = None

    def __init__(self) -> None:
        words = [paragraph.split()[-1].strip(".") for paragraph in corpus.paragraphs(CLUSTERS)]
        self._vectors = HashEmbedder().embed(words)

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return one of the few vectors for each text."""
        return [self._vectors[crc32(text.encode()) % CLUSTERS] for text in texts]

    def windows(self, texts: Sequence[str]) -> list[int]:
        """Count one window per text; no text is too long."""
        return [1] * len(texts)


def filled(home: Path, kind: str, chunks: int) -> list[str]:
    """Make a store of `chunks` chunks in a folder and return their texts. kind: an embedder, or CLUSTERED."""
    pieces = list(corpus.paragraphs(chunks))
    prose.write(home / "docs", pieces)
    Recall.init(str(home), embedding="hash" if kind == CLUSTERED else kind, settings=corpus.SETTINGS)
    with Recall.open(start=home) as recall:
        added = (
            ingest(
                [str(home / "docs")],
                template=Root(""),
                store=recall.store,
                embedder=Clustered(),
                config=recall.config,
                base=home,
            )
            if kind == CLUSTERED
            else recall.add([str(home / "docs")], Root(""))
        )
        for _ in added:
            pass
    return pieces
