"""Compare adding files to a new store with inserting the texts into a bare full-text table, and weigh the file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import corpus
from benchmarks.speed import peers
from benchmarks.speed.lab import Lab
from benchmarks.speed.rows import Row, in_turns
from recall_core.api.recall import Recall
from recall_core.embed.hash import HashEmbedder
from recall_core.ingest.pipeline import ingest
from recall_core.ports import Embedder
from recall_core.types import Root, Vector

INSERT = "FTS5 insert"
_BATCH = 500
_MANY = 50_000
"""From this many chunks on there is only one round, and it counts."""


class NoVectors:
    """An embedder without features for any text."""

    identity = HashEmbedder().identity
    dimension = HashEmbedder().dimension
    max_input = None

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        return [b""] * len(texts)

    def windows(self, texts: Sequence[str]) -> list[int]:
        return [1] * len(texts)


class Weight(NamedTuple):
    """Size of the file of a store. ratio: to 1.1 times its vectors and 1.85 times its text."""

    embedding: str
    chunks: int
    file_bytes: int
    text_bytes: int
    vector_bytes: int
    ratio: float


def adding(lab: Lab) -> Iterator[Row]:
    """Yield the complete pipeline: discover, read, cut, embed, write."""
    rows = [("", piece) for piece in lab.pieces]
    rounds = 1 if lab.chunks >= _MANY else max(1, lab.rounds // 3) + 1
    with tempfile.TemporaryDirectory(dir=lab.home) as place:
        folder = Path(place)
        peer = {INSERT: lambda _: peers.insert(folder / "bare.db", rows, batch=_BATCH)}
        ways: dict[str, tuple[str, Embedder]] = {
            "add, no vectors": ("hash", NoVectors()),
            "add": (lab.made.embedding, lab.embedder),
        }
        for name, (embedding, embedder) in ways.items():
            ours = _adder(lab, folder, embedding, embedder)
            for _, cost, its, ratio in in_turns(ours, peer, [[None]] * rounds):
                yield Row(name, lab.made.embedding, lab.chunks, INSERT, cost, its, ratio)


def weight(lab: Lab) -> Weight:
    """Return the size of the file after everything was written."""
    info = lab.recall.store.info()
    file_bytes, vector_bytes = lab.recall.store.size_bytes(), 4 * info.dimension * info.vectors
    meant = 1.1 * vector_bytes + 1.85 * lab.made.text_bytes
    ratio = round(file_bytes / meant, 3)
    return Weight(lab.made.embedding, lab.chunks, file_bytes, lab.made.text_bytes, vector_bytes, ratio)


def _adder(lab: Lab, folder: Path, embedding: str, embedder: Embedder) -> Callable[[None], object]:
    def add(_: None) -> None:
        peers.remove(folder / "recall.db")
        (folder / "recall.toml").unlink(missing_ok=True)
        Recall.init(str(folder), embedding=embedding, settings=corpus.SETTINGS)
        with Recall.open(str(folder / "recall.db")) as recall:
            files = [str(lab.home / "docs")]
            steps = ingest(
                files, template=Root(""), store=recall.store, embedder=embedder, config=recall.config, base=lab.home
            )
            for _step in steps:
                pass

    return add
