"""What add, sync and roots answer, and what stats and ls say of a store and its documents."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict


class FileParts(TypedDict, total=False):
    """Sizes of pages in the file of a store, where they were asked for."""

    text_bytes: int
    """Of chunks with their texts."""
    vector_bytes: int
    """Of vectors."""
    index_bytes: int
    """Of the full-text index."""


class VectorIndexView(TypedDict):
    """How vectors are searched where the settings ask for an index."""

    name: Literal["lsh"]
    bits: int
    seed: int
    ready: bool
    """Every vector has its signature."""
    used: bool
    """A question is answered by it."""
    questions: NotRequired[int]
    """Questions of words that its recall was measured with."""
    recall_at_10: NotRequired[float | None]
    """The share of the nearest 10 vectors that it finds, on average over the questions; null where there are none."""
    recall_at_pool: NotRequired[float | None]
    """The same of the nearest `pool` vectors."""
    unmeasured: NotRequired[str]
    """Why its recall is not known."""


class StoreView(FileParts):
    """A store at rest."""

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
    """Of its file."""
    parsers: dict[str, int]
    """How many files each has read."""
    roots: list[str]
    note: NotRequired[str]
    older_settings: NotRequired[list[str]]
    """What recall.toml leaves as it was before new stores were given something else."""
    vector_index: NotRequired[VectorIndexView]


class ListedView(TypedDict):
    """A live document in a list of all."""

    path: str
    id: str
    title: str
    mtime: str
    source: NotRequired[str]
    """Left out where it has none."""
    chunks: int
    """How many it has."""
    tokens: int
    """Of its chunks, by the store's counter."""


class CutView(TypedDict):
    """How a store's texts are cut, and what that comes to."""

    chunk_tokens: int
    overlap_tokens: int
    max_chunk_chars: int
    counter: str
    chunks: int
    tokens_per_chunk: float
    """On average, to one decimal."""


class RechunkView(TypedDict):
    """What rechunk did, or would do."""

    dry_run: bool
    before: CutView
    after: CutView
    documents: int
    """Those that are cut anew."""
    embedded: int
    """Distinct texts that were, or would have to be, embedded."""
    reused: int
    """Chunks whose vector was there by their text."""
    left: list[str]
    """Files that only their parser can cut, which a sync reads anew."""
    tokens: NotRequired[int]
    """As for ingest."""


class SkipView(TypedDict):
    """A file that was found and not ingested."""

    path: str
    code: str
    reason: str
    kind: NotRequired[str]
    """What it is, where its first bytes tell."""


class SkipGroupView(TypedDict):
    """Files that were skipped for one reason."""

    code: str
    kind: str
    """What they are, or the reason in words."""
    files: int
    new: int
    """How many of them nobody was told of before."""
    first: list[str]
    """The first paths of those that are new, else of all."""


class RootChangeView(TypedDict):
    """What an add did to the roots of a folder that was added before: `made` one of its flags, let one be the `last`
    that was added, which decides where several hold a file, or `accepted` one that waited.
    """

    number: int
    folder: str
    change: Literal["made", "last", "accepted"]
    others: list[int]
    """The numbers of the folder's other roots."""


class IngestView(TypedDict):
    """What add or sync did."""

    added: int
    """Files that are new."""
    updated: int
    """Files that changed."""
    unchanged: int
    """Files that are as they were."""
    removed: int
    """Files that are gone."""
    files: int
    """All files."""
    documents: int
    """Of these files."""
    chunks: int
    """Of these documents."""
    embedded: int
    """Chunks whose vector was computed."""
    reused: int
    """Chunks whose vector was found again by their text."""
    skipped: list[SkipView]
    tokens: NotRequired[int]
    """What the embedder's provider charged, where it says so."""
    without_text: NotRequired[int]
    """Documents that were read and have none, where there are any."""
    skipped_by: NotRequired[list[SkipGroupView]]
    """The skipped files by their reason, the largest group first."""
    roots: NotRequired[list[RootChangeView]]
    """What became of the roots of a folder that had one of other flags."""


class RootView(TypedDict):
    """A folder or file that was added."""

    number: int
    """Its place in the order in which they were added, by which it is accepted, edited and forgotten."""
    folder: str
    globs: list[str]
    ignores: list[str]
    parser: str
    encoding: NotRequired[str]
    """Of texts that do not say it, where one was named."""
    tags: list[str]
    source: NotRequired[str]
    meta: dict[str, str | int | float | bool | None]
    hidden: bool
    gitignore: bool
    follow: bool
    active: bool
    """False while it waits to be accepted."""
    documents: int
    left_out: list[str]
    """What was removed and is not read again."""


RootValue: TypeAlias = list[str] | dict[str, str | int | float | bool | None] | str | bool | None


class RootEditView(TypedDict):
    """A root that was edited."""

    number: int
    folder: str
    active: bool
    changes: list[RootFieldView]
    files: int
    """How many the next sync reads as the root asks by now, or lets go."""


class RootFieldView(TypedDict):
    """A field of RootView, as it was and as it is; null where there is no source."""

    field: str
    before: RootValue
    after: RootValue


class ForgottenView(TypedDict):
    """Roots that are forgotten, each as it was."""

    roots: list[RootView]
    documents: int
    """How many of their documents went."""
    paths: list[str]
    """Which documents went."""
    kept: int
    """How many documents stay."""


class RootsPart(TypedDict, total=False):
    """What was done to roots, where anything was."""

    edited: RootEditView
    """The one that was edited."""
    forgotten: ForgottenView
    """Those that were forgotten."""
    ingest: IngestView
    """What a sync brought that came with it."""
