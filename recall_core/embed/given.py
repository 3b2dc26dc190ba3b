"""Embedders that make no vector: `given:N` of stores whose vectors come from a program, `none` of stores without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from recall_core.config import NO_VECTORS, Config
from recall_core.errors import ConfigError, EmbedError
from recall_core.shell import REST, Hint
from recall_core.types import Vector

MOST = 65_536
"""Most components of a vector."""


class GivenEmbedder(NamedTuple):
    """The embedder of a store whose vectors come from programs, or that has none. It makes none for a text."""

    dimension: int
    identity: str
    max_input: None = None

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> list[Vector]:
        """Return b"" for each text. Raises EmbedError `embedder_unavailable` or `no_vectors` for a query."""
        if is_query and self.identity == NO_VECTORS:
            message = "This store has no vectors, so it cannot search by meaning."
            raise EmbedError("no_vectors", message, hint=Hint("search", REST, mode="lexical"))
        if is_query:
            message = f"The vectors of this store were given ({self.identity}), so words have no vector."
            raise EmbedError("embedder_unavailable", message, hint=Hint("search", REST, mode="lexical"))
        return [b"" for _ in texts]

    def windows(self, texts: Sequence[str]) -> list[int]:
        """Return 1 per text."""
        return [1] * len(texts)


class GivenKind(NamedTuple):
    """The kinds `given:N` and `none`."""

    name: str = "given"
    purpose: str = "vectors that a program gives, of N components: given:N"
    vector_weight: float = 0.5

    def sends_text(self, config: Config) -> bool:
        """Return False."""
        return False

    def missing(self, config: Config) -> str | None:
        """Return why it cannot be used here, or None."""
        return None if self.dimension(config) else f"it needs the number of components, 1 to {MOST}, as in given:256"

    def dimension(self, config: Config) -> int | None:
        """Return the number after `given:`, or None if it is missing or out of range. For `none` it means nothing."""
        if self.name == NO_VECTORS:
            return 1
        size = config.embedding.partition(":")[2]
        return int(size) if size.isdecimal() and len(size) < 6 and 0 < int(size) <= MOST else None

    def recognises(self, identity: str, config: Config) -> bool:
        """Return True for the identity of this dimension, or of any if the settings name none."""
        if self.name == NO_VECTORS:
            return identity == self.name
        name, _, size = identity.partition(":")
        return name == self.name and size == str(self.dimension(config) or size)

    def new(self, config: Config, *, dimension: int | None = None) -> GivenEmbedder:
        """Return the embedder. Raises ConfigError `bad_value` without a dimension."""
        size = dimension or self.dimension(config)
        if size is None:
            message = f"{config.embedding} cannot be used: {self.missing(config)}."
            raise ConfigError("bad_value", message, hint='embedding = "given:256"')
        return GivenEmbedder(size, self.name if self.name == NO_VECTORS else f"{self.name}:{size}")


GIVEN = GivenKind()
NONE = GivenKind(NO_VECTORS, "no vectors: search by words alone", 0.0)
