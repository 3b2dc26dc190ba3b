"""Embedders by name: how a setting or a store's record becomes an embedder."""

from __future__ import annotations

from recall_core.embed.hash import HashEmbedder
from recall_core.errors import EmbedError
from recall_core.ports import Embedder

HASH_NOTE = "hash vectors match spelling, not meaning; they help with typos and word forms"


def new_embedder(name: str, *, dimension: int) -> Embedder:
    """The embedder a new store is made with. Raises EmbedError `unknown_embedder`."""
    if name == "hash":
        return HashEmbedder(dimension)
    raise EmbedError("unknown_embedder", f"There is no embedder named {name!r}.", hint="recall init --embedding hash")


def embedder_of(identity: str) -> Embedder:
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
