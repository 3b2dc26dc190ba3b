"""Embedders by name: how a setting or a store's record becomes an embedder."""

from __future__ import annotations

from recall_core.config import Config
from recall_core.embed.hash import HashEmbedder
from recall_core.errors import EmbedError
from recall_core.ports import Embedder

HASH_NOTE = "hash vectors match spelling, not meaning; they help with typos and word forms"


def new_embedder(config: Config) -> Embedder:
    """The embedder that these settings name. Raises EmbedError `unknown_embedder`, `embedder_unavailable`."""
    if config.embedding == "hash":
        return HashEmbedder(config.embedding_dim)
    raise EmbedError(
        "unknown_embedder", f"There is no embedder named {config.embedding!r}.", hint="recall init --embedding hash"
    )


def embedder_of(identity: str, config: Config = Config()) -> Embedder:
    """The embedder that made a store's vectors, from the identity recorded there.

    Raises EmbedError `embedder_unavailable` when this installation cannot make such vectors.
    """
    name, _, rest = identity.partition("-")
    dimension = rest.rpartition(":")[2]
    if name == "hash" and dimension.isdigit():
        embedder = HashEmbedder(int(dimension))
        if embedder.identity == identity:
            return embedder
    raise EmbedError(
        "embedder_unavailable", f"This installation cannot make vectors of {identity}.", hint="recall search --bm25 …"
    )


def agrees(config: Config, identity: str) -> bool:
    """Whether these settings name the embedder behind a store's vectors; found out without loading any model."""
    return config.embedding == "hash" and HashEmbedder(config.embedding_dim).identity == identity
