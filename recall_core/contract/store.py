"""What stats says of a store."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class FileParts(TypedDict, total=False):
    """What the file of a store is made of, where that was asked for."""

    text_bytes: int
    vector_bytes: int
    index_bytes: int


class StoreView(TypedDict):
    """A store at rest. bytes: of its file; the other sizes, told where they are asked for, are of pages in it: chunks
    with their texts, vectors, the full-text index. older_settings: what recall.toml leaves as it was before new
    stores were given something else."""

    path: str
    schema_version: int
    embedder: str
    dimension: int
    counter: str
    chunker: str
    tokenizer: str
    documents: int
    chunks: int
    tokens: int
    vectors: int
    without_vector: int
    tombstones: int
    truncated_share: float
    judgements: int
    generation: int
    digest: str
    bytes: int
    text_bytes: NotRequired[int]
    vector_bytes: NotRequired[int]
    index_bytes: NotRequired[int]
    roots: list[str]
    note: NotRequired[str]
    older_settings: NotRequired[list[str]]
