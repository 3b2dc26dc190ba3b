"""An embedder that reads a question once, however many modes ask it."""

from __future__ import annotations

from collections.abc import Sequence

from recall_core.ports import Embedder
from recall_core.types import Vector


class Once:
    """The embedder, with the vectors of the last texts it was given kept; what it says is what the other says."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._asked: tuple[tuple[str, ...], bool] | None = None
        self._vectors: list[Vector] = []

    @property
    def identity(self) -> str:
        """The embedder's own."""
        return self._embedder.identity

    @property
    def dimension(self) -> int:
        """The embedder's own."""
        return self._embedder.dimension

    @property
    def max_input(self) -> int | None:
        """The embedder's own."""
        return self._embedder.max_input

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """One vector a text; see ports.Embedder."""
        asked = (tuple(texts), is_query)
        if asked != self._asked:
            self._vectors = self._embedder.embed(texts, is_query=is_query)
            self._asked = asked
        return self._vectors

    def windows(self, texts: Sequence[str]) -> list[int]:
        """How many windows each text takes."""
        return self._embedder.windows(texts)
