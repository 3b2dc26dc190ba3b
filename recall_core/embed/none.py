"""The embedder `none` of stores without vectors, which search by words alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from recall_core.config import NO_VECTORS, Config
from recall_core.errors import EmbedError
from recall_core.shell import REST, Hint
from recall_core.types import Vector


class NoEmbedder(NamedTuple):
    """Makes no vector. The dimension has no meaning."""

    dimension: int = 1
    identity: str = NO_VECTORS
    max_input: None = None

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return b"" for each text. Raises EmbedError `no_vectors` for a query."""
        if is_query:
            message = "This store has no vectors, so it cannot search by meaning."
            raise EmbedError("no_vectors", message, hint=Hint("search", REST, mode="lexical"))
        return [b"" for _ in texts]

    def windows(self, texts: Sequence[str]) -> list[int]:
        """Return 1 per text."""
        return [1] * len(texts)


class NoKind(NamedTuple):
    """The kind `none`."""

    name: str = NO_VECTORS
    purpose: str = "no vectors: search by words alone"
    vector_weight: float = 0.0

    def sends_text(self, config: Config) -> bool:
        """Return False."""
        return False

    def missing(self, config: Config) -> None:
        """Return None: nothing is needed."""
        return

    def dimension(self, config: Config) -> int:
        """Return 1, which has no meaning."""
        return NoEmbedder().dimension

    def recognises(self, identity: str, config: Config) -> bool:
        """Return True for its own identity."""
        return identity == self.name

    def new(self, config: Config, *, dimension: int | None = None) -> NoEmbedder:
        """Return the embedder."""
        return NoEmbedder()


NONE = NoKind()
