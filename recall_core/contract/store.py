"""What stats says of a store and ls of its documents, and how its texts are cut."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class FileParts(TypedDict, total=False):
    """What the file of a store is made of, where that was asked for."""

    text_bytes: int
    vector_bytes: int
    index_bytes: int


class VectorIndexView(TypedDict):
    """How vectors are searched where the settings ask for an index. ready: every vector has its signature. used: a
    question is answered by it. recall: the share of the nearest 10, or `pool`, vectors that it finds, on average over
    some questions of words; null where there are none. unmeasured: why that is not known."""

    name: Literal["lsh"]
    bits: int
    seed: int
    ready: bool
    used: bool
    questions: NotRequired[int]
    recall_at_10: NotRequired[float | None]
    recall_at_pool: NotRequired[float | None]
    unmeasured: NotRequired[str]


class StoreView(TypedDict):
    """A store at rest. bytes: of its file; the other sizes, told where they are asked for, are of pages in it: chunks
    with their texts, vectors, the full-text index. parsers: how many files each has read. older_settings: what
    recall.toml leaves as it was before new stores were given something else."""

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
    parsers: dict[str, int]
    roots: list[str]
    note: NotRequired[str]
    older_settings: NotRequired[list[str]]
    vector_index: NotRequired[VectorIndexView]


class ListedView(TypedDict):
    """A live document in a list of all. chunks: how many it has; tokens: of these, by the store's counter. source:
    left out where it has none."""

    path: str
    id: str
    title: str
    mtime: str
    source: NotRequired[str]
    chunks: int
    tokens: int


class CutView(TypedDict):
    """How a store's texts are cut, and what that comes to. tokens_per_chunk: on average, to one decimal."""

    chunk_tokens: int
    overlap_tokens: int
    max_chunk_chars: int
    counter: str
    chunks: int
    tokens_per_chunk: float


class RechunkView(TypedDict):
    """What rechunk did, or would do. documents: those that are cut anew.

    embedded: distinct texts that were, or would have to be, embedded; reused: chunks whose vector was there by their
    text. left: files that only their parser can cut, which a sync reads anew. tokens: as for ingest.
    """

    dry_run: bool
    before: CutView
    after: CutView
    documents: int
    embedded: int
    reused: int
    left: list[str]
    tokens: NotRequired[int]
