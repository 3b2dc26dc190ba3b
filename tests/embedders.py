"""Embedders of a third-party package for tests: they count their calls, fail on demand and need a key."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from recall_core.config import Config
from recall_core.embed.hash import HashEmbedder
from recall_core.errors import EmbedError
from recall_core.ports import Embedder
from recall_core.types import Vector
from tests.plug_ins import write_plug_in

KEY = "STRANGER_API_KEY"
WINDOW_WORDS = 8


class CountingEmbedder(HashEmbedder):
    """The hash embedder under another name. It remembers every text and fails once its patience is used up."""

    def __init__(self, dimension: int = 64, *, name: str = "counting-1") -> None:
        super().__init__(dimension)
        self.identity = f"{name}:{dimension}"
        self.read: Counter[str] = Counter()
        self.calls: list[int] = []
        self.patience: int | None = None
        """Number of texts before it fails; None for never."""
        self.tokens_used = 0

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return hash vectors of the texts. Raises EmbedError when the patience is used up."""
        if self.patience is not None and self.read.total() + len(texts) > self.patience:
            raise EmbedError("embedder_unavailable", "The counting embedder has gone home.", hint="wait")
        if not is_query:
            self.read.update(texts)
            self.calls.append(len(texts))
            self.tokens_used += sum(len(text.split()) for text in texts)
        return super().embed(texts)


class WindowedEmbedder(CountingEmbedder):
    """An embedder that reads 8 words at once."""

    @property
    def max_input(self) -> int:  # type: ignore[override]
        """Number of words that it reads at once."""
        return WINDOW_WORDS

    def windows(self, texts: Sequence[str]) -> list[int]:
        """Count 8 words as one window."""
        return [max(1, -(-len(text.split()) // WINDOW_WORDS)) for text in texts]


class KeyedEmbedder(CountingEmbedder):
    """An embedder that reads nothing without a key and does not report its key."""

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return hash vectors if the key is set."""
        if not os.environ.get(KEY):
            raise EmbedError("embedder_unavailable", f"There is no {KEY}.", hint=f"export {KEY}=…")
        return super().embed(texts, is_query=is_query)


class Kind:
    """The kind of one of these embedders; it always returns the same one, so that a test can inspect it."""

    vector_weight = 0.4

    def __init__(self, name: str, embedder: CountingEmbedder) -> None:
        self.name = name
        self.purpose = f"{name}, for tests"
        self.embedder = embedder

    def sends_text(self, config: Config) -> bool:
        return False

    def missing(self, config: Config) -> str | None:
        return None

    def dimension(self, config: Config) -> int:
        return self.embedder.dimension

    def recognises(self, identity: str, config: Config) -> bool:
        return identity == self.embedder.identity

    def new(self, config: Config, *, dimension: int | None = None) -> Embedder:
        return self.embedder


COUNTING = Kind("counting", CountingEmbedder())
WINDOWED = Kind("windowed", WindowedEmbedder(name="windowed-1"))
KEYED = Kind("keyed", KeyedEmbedder(name="keyed-1"))
_ENTRY_POINTS = """[recall.embedder]
counting = tests.embedders:COUNTING
windowed = tests.embedders:WINDOWED
keyed = tests.embedders:KEYED
"""


def install(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the embedders as a fresh third-party package until the end of the test."""
    write_package(place)
    monkeypatch.syspath_prepend(place)
    for kind in (COUNTING, WINDOWED, KEYED):
        embedder = kind.embedder
        monkeypatch.setattr(kind, "embedder", type(embedder)(name=embedder.identity.partition(":")[0]))


def write_package(place: Path) -> None:
    """Write the files of an installed package of that name."""
    write_plug_in(place, "stranger", _ENTRY_POINTS)
