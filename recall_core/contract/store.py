"""Response parts of add, sync, roots, rechunk, stats and ls."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict


class FileParts(TypedDict, total=False):
    """Bytes in the store's file, with --sizes."""

    text_bytes: int
    """Bytes of chunks with their texts."""
    vector_bytes: int
    """Bytes of vectors."""
    index_bytes: int
    """Bytes of the full-text index."""


class VectorIndexView(TypedDict):
    """The vector index, if the settings use one."""

    name: Literal["lsh", "hnsw"]
    bits: NotRequired[int]
    seed: NotRequired[int]
    """Of signatures (lsh)."""
    ready: bool
    """True if every vector is in the index."""
    used: bool
    """True if searches use the index."""
    questions: NotRequired[int]
    """Queries used to measure the recall of the index."""
    recall_at_10: NotRequired[float | None]
    """Mean share of the nearest 10 vectors that the index finds. null without queries."""
    recall_at_pool: NotRequired[float | None]
    """Mean share of the nearest `pool` vectors that the index finds."""
    unmeasured: NotRequired[str]
    """Why the recall is unknown."""


class StoreView(FileParts):
    """The figures of a store."""

    path: str
    schema_version: int
    embedder: str
    dimension: int
    counter: str
    chunker: str
    tokenizer: str
    language: str
    """The language whose stems the full-text index has, or `none`."""
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
    """Size of the file."""
    parsers: dict[str, int]
    """Number of files per parser."""
    roots: list[str]
    note: NotRequired[str]
    older_settings: NotRequired[list[str]]
    """Settings that recall.toml does not set and that are different in new stores."""
    vector_index: NotRequired[VectorIndexView]
    lexical_model: NotRequired[str]
    """Formula that scores matching words, unless it is FTS5's."""
    not_offered: NotRequired[list[str]]
    """Levels that this kind of store does not offer: `write` or `care`."""


class ListedView(TypedDict):
    """A live document in a list."""

    path: str
    id: str
    title: str
    mtime: str
    source: NotRequired[str]
    """Left out if the document has none."""
    chunks: int
    """Number of chunks."""
    tokens: int
    """Tokens of its chunks, by the store's counter."""


class CutView(TypedDict):
    """The chunking settings of a store, and the resulting chunks."""

    chunk_tokens: int
    overlap_tokens: int
    max_chunk_chars: int
    counter: str
    chunks: int
    tokens_per_chunk: float
    """Mean, to one decimal."""


class RechunkView(TypedDict):
    """The outcome of rechunk, or its forecast in a dry run."""

    dry_run: bool
    before: CutView
    after: CutView
    documents: int
    """Documents whose chunks change."""
    embedded: int
    """Distinct texts that were embedded, or would be."""
    reused: int
    """Chunks whose vector is reused."""
    left: list[str]
    """Files that only their parser can split. The next sync reads them again."""
    tokens: NotRequired[int]
    """As in `ingest`."""


class SkipView(TypedDict):
    """A file that was skipped."""

    path: str
    code: str
    reason: str
    kind: NotRequired[str]
    """Kind of file, if its first bytes reveal it."""


class SkipGroupView(TypedDict):
    """Files skipped for the same reason."""

    code: str
    kind: str
    """Kind of files, or the reason in words."""
    files: int
    new: int
    """Number of files not reported before."""
    first: list[str]
    """The first paths of the new files, else of all."""


class RootChangeView(TypedDict):
    """The change of a folder's roots by an add.

    `made`: a new root with other rules. `last`: an existing root counts as added last, so its rules win for shared
    files. `accepted`: a root that was not accepted yet.
    """

    number: int
    folder: str
    change: Literal["made", "last", "accepted"]
    others: list[int]
    """Numbers of the folder's other roots."""


class LanguageView(TypedDict):
    """The language of a store, decided from a part of its first prose files."""

    language: str
    files: int
    """Files that were looked at."""
    words: int
    """Words that were looked at."""
    function_words: int
    """Function words of any language among them."""
    german: int
    """German function words among these."""


class IngestView(TypedDict):
    """The outcome of add or sync."""

    added: int
    """New files."""
    updated: int
    """Changed files."""
    unchanged: int
    """Unchanged files."""
    removed: int
    """Deleted files."""
    files: int
    """All files."""
    documents: int
    """Documents in these files."""
    chunks: int
    """Chunks of these documents."""
    embedded: int
    """Chunks whose vector was computed."""
    reused: int
    """Chunks whose vector was reused."""
    skipped: list[SkipView]
    language: NotRequired[LanguageView]
    """How `auto` decided, if most function words are German."""
    tokens: NotRequired[int]
    """Tokens that the embedder's provider charged, if it reports them."""
    without_text: NotRequired[int]
    """Documents without text, if there are any."""
    purged: NotRequired[int]
    """Old sessions whose text was erased, if any."""
    skipped_by: NotRequired[list[SkipGroupView]]
    """Skipped files by reason, largest group first."""
    roots: NotRequired[list[RootChangeView]]
    """Changes of roots, if a folder already had a root with other rules."""


class RootView(TypedDict):
    """A root: an added folder or file."""

    number: int
    """Position in the order of adding. Identifies the root in accept, edit and forget."""
    folder: str
    globs: list[str]
    ignores: list[str]
    parser: str
    encoding: NotRequired[str]
    """Encoding of files that do not declare one, if set."""
    tags: list[str]
    source: NotRequired[str]
    meta: dict[str, str | int | float | bool | None]
    hidden: bool
    gitignore: bool
    follow: bool
    active: bool
    """False until the root is accepted."""
    documents: int
    left_out: list[str]
    """Removed paths, which sync does not read again."""


RootValue: TypeAlias = list[str] | dict[str, str | int | float | bool | None] | str | bool | None


class RootEditView(TypedDict):
    """An edited root."""

    number: int
    folder: str
    active: bool
    changes: list[RootFieldView]
    files: int
    """Files that the next sync reads again or removes."""


class RootFieldView(TypedDict):
    """A field of RootView, before and after. null means no source."""

    field: str
    before: RootValue
    after: RootValue


class ForgottenView(TypedDict):
    """The forgotten roots."""

    roots: list[RootView]
    documents: int
    """Number of removed documents."""
    paths: list[str]
    """Paths of the removed documents."""
    kept: int
    """Number of documents that stay in the store."""


class RootsPart(TypedDict, total=False):
    """The changes of roots, if any."""

    edited: RootEditView
    """The edited root."""
    forgotten: ForgottenView
    """The forgotten roots."""
    ingest: IngestView
    """The outcome of the sync that followed."""
