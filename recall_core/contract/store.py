"""What add, sync and roots answer, and what stats and ls say of a store and its documents."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict


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


class SkipView(TypedDict):
    """A file that was found and not ingested. kind: what it is, where its first bytes tell."""

    path: str
    code: str
    reason: str
    kind: NotRequired[str]


class SkipGroupView(TypedDict):
    """Files that were skipped for one reason. kind: what they are, or the reason in words. new: how many of them
    nobody was told of before. first: the first paths of those that are new, else of all."""

    code: str
    kind: str
    files: int
    new: int
    first: list[str]


class RootChangeView(TypedDict):
    """What an add did to the roots of a folder that was added before: `made` one of its flags, let one be the `last`
    that was added, which decides where several hold a file, or `accepted` one that waited. others: the numbers of the
    folder's other roots."""

    number: int
    folder: str
    change: Literal["made", "last", "accepted"]
    others: list[int]


class IngestView(TypedDict):
    """What add or sync did. added, updated, unchanged, removed and files count files; documents and chunks are
    what those files hold, of which embedded were computed and reused found again by their text. tokens: what the
    embedder's provider charged, where it says so. without_text: documents that were read and have none, where there
    are any. skipped_by: the skipped files by their reason, the largest group first. roots: what became of the roots
    of a folder that had one of other flags."""

    added: int
    updated: int
    unchanged: int
    removed: int
    files: int
    documents: int
    chunks: int
    embedded: int
    reused: int
    skipped: list[SkipView]
    tokens: NotRequired[int]
    without_text: NotRequired[int]
    skipped_by: NotRequired[list[SkipGroupView]]
    roots: NotRequired[list[RootChangeView]]


class RootView(TypedDict):
    """A folder or file that was added. number: its place in the order in which they were
    added, by which it is accepted, edited and forgotten; left_out: what was removed and is not read
    again; active: False while it waits to be accepted. encoding: of texts that do not say it, where one was named."""

    number: int
    folder: str
    globs: list[str]
    ignores: list[str]
    parser: str
    encoding: NotRequired[str]
    tags: list[str]
    source: NotRequired[str]
    meta: dict[str, str | int | float | bool | None]
    hidden: bool
    gitignore: bool
    follow: bool
    active: bool
    documents: int
    left_out: list[str]


RootValue: TypeAlias = list[str] | dict[str, str | int | float | bool | None] | str | bool | None


class RootEditView(TypedDict):
    """A root that was edited. files: how many the next sync reads as the root asks by now, or lets go."""

    number: int
    folder: str
    active: bool
    changes: list[RootFieldView]
    files: int


class RootFieldView(TypedDict):
    """A field of RootView, as it was and as it is; null where there is no source."""

    field: str
    before: RootValue
    after: RootValue


class ForgottenView(TypedDict):
    """Roots that are forgotten, each as it was. documents: how many of their documents went; paths: which of them;
    kept: how many stay."""

    roots: list[RootView]
    documents: int
    paths: list[str]
    kept: int


class RootsPart(TypedDict, total=False):
    """What was done to roots, where anything was. ingest: what a sync brought that came with it."""

    edited: RootEditView
    forgotten: ForgottenView
    ingest: IngestView
