"""What embedders and reembed answer."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class EmbedderView(TypedDict):
    """An embedder by name. available: it can be used here and now; reason: why not, or what to know about it.

    network: texts leave this machine. dimension is absent where only the provider knows. vector_weight: the weight
    that init writes. texts_per_second: measured, with --probe.
    """

    name: str
    purpose: str
    available: bool
    reason: str
    network: bool
    in_use: bool
    dimension: NotRequired[int]
    max_input: NotRequired[int]
    vector_weight: float
    hint: NotRequired[str]
    texts_per_second: NotRequired[float]


class ReembedView(TypedDict):
    """What reembed did. embedded: distinct texts that were sent to the embedder; reused: found in an earlier run."""

    embedder: str
    previous: str
    dimension: int
    chunks: int
    vectors: int
    embedded: int
    reused: int
    tokens: NotRequired[int]
