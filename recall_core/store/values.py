"""Values that a store returns besides rows: counts, sizes, judgements, findings, pairs, and reembed targets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import hypot, isfinite
from struct import unpack
from typing import Literal, NamedTuple, TypeAlias

from recall_core._lazy import np
from recall_core.config import Config
from recall_core.errors import StoreError, UsageError
from recall_core.shell import AGAIN, Hint
from recall_core.types import UNIT_TOLERANCE, Root, Vector

_FEW = 16  # vectors that are checked without NumPy


class Removed(NamedTuple):
    """The numbers of rows that one term of an AND removes.

    alone: of all rows.
    in_order: of the rows that earlier terms leave.
    only_by_this: of the rows that all other terms leave.
    """

    alone: int
    in_order: int
    only_by_this: int


class FilterCounts(NamedTuple):
    """Row counts of a filter.

    rows: live rows.
    passing: printed part of the filter to the number of rows it passes.
    removed: one entry for each term of an AND.
    """

    rows: int
    passing: Mapping[str, int]
    missing: Mapping[str, int]
    """Predicate on a field to the number of rows without a value."""
    removed: tuple[Removed, ...]

    @property
    def passing_all(self) -> int:
        """Rows that pass the whole filter."""
        return self.rows - sum(each.in_order for each in self.removed)


class Totals(NamedTuple):
    """Tokens of the live chunks, and the number of live documents without text."""

    tokens: int
    without_text: int


class Sizes(NamedTuple):
    """Bytes of the pages with chunks and their texts, of the vectors, and of the word index."""

    text: int
    vectors: int
    fulltext: int


class Source(NamedTuple):
    """A root, the number of live documents with its labels, and their newest doc.mtime, or ""."""

    root: Root
    documents: int
    newest: str


class KnownRoot(NamedTuple):
    """A root as the store keeps it. left_out: removed files and records that are not read again."""

    root: Root
    is_active: bool
    left_out: tuple[str, ...]


ListedDocument: TypeAlias = tuple[str, str, str, str, str | None, int, int]
"""A live document in a long list: path, id, title, mtime, source or None, number of live chunks, and their tokens. A
plain database row, because lists may contain every document."""


class FolderEntry(NamedTuple):
    """A folder, a file that is one document, or a file of records, with its live documents and chunks.

    name: last part of the path; ends with a slash for a folder.
    """

    name: str
    kind: Literal["folder", "file", "records"]
    documents: int
    chunks: int


class FolderListing(NamedTuple):
    """Entries directly in a folder, folders first, by name. total: number of all entries, which may be more."""

    entries: tuple[FolderEntry, ...]
    total: int


class JudgementRow(NamedTuple):
    """A stored judgement: query id, path, span of code points, grade. The span (0, -1) is the whole document."""

    query: str
    path: str
    offset: int
    end: int
    grade: int


Level = Literal["search", "write", "care"]
"""search: `port.Search` and `port.Catalog`. write: `Store.writer`, judgements, compact and purge. care: the rest of
`care.Maintenance`."""

Capability = Literal["lexical_fts", "estimates", "signatures", "hnsw"]
"""lexical_fts: the store can run a RawQuery in its own full-text syntax."""


class Signing(NamedTuple):
    """Parameters of signatures: number of bits, a multiple of 64, and the seed of the hyperplanes."""

    bits: int
    seed: int


VectorIndex = Signing | Literal["hnsw"]
"""An index of vectors that may miss some: signatures, or a graph that the database keeps."""


def index_of(config: Config, capabilities: Collection[Capability]) -> VectorIndex | None:
    """Return the index that the settings want, or None if they want none or the store cannot have it."""
    if config.vector_index == "lsh" and "signatures" in capabilities:
        return Signing(config.ann_bits, config.ann_seed)
    return "hnsw" if config.vector_index == "hnsw" and "hnsw" in capabilities else None


class Nearest(NamedTuple):
    """rowid to cosine, best first. is_exact: False if an index may have missed nearer rows."""

    cosines: Mapping[int, float]
    is_exact: bool


READ_AGAIN = f"{Hint('rm', 'PATH')}, then {Hint('add', 'PATH')}"
"""Command for a document that differs from what was stored, if its file is sound."""


class Lost(NamedTuple):
    """Data that could not be read from a damaged store.

    kind: a text is a chunk; labels are title, source, times, tags or metadata of a document whose texts are there.
    path: of the document, "" if unknown; the folder of a root; the query of a judgement.
    place: which part of it.
    """

    kind: Literal["document", "text", "labels", "root", "judgement"]
    path: str
    place: str = ""


class MadeWith(NamedTuple):
    """Settings of a store that is too damaged to name them itself."""

    embedder: str
    dimension: int
    counter: str
    chunker: str


class Finding(NamedTuple):
    """Result of one check: severity, evidence, and a command that helps if the default one does not."""

    severity: Literal["ok", "warning", "error"]
    evidence: str
    fix: str = ""
    files: tuple[str, ...] = ()


StoreCheck = Literal[
    "integrity",
    "foreign_keys",
    "schema",
    "fulltext",
    "fulltext_rows",
    "orphan_vectors",
    "vector_values",
    "texts",
    "documents",
    "ids",
    "slices",
    "words",
    "tokens",
    "digest",
    "counts",
    "purge_pending",
    "space",
    "duplicates",
    "environment",
]

Pair = tuple[int, int, float]
"""Two chunk rowids in natural order, and their cosine."""


class NearPairs(NamedTuple):
    """Number of near pairs, and the first ones in natural order: by path and offset of one chunk, then the other."""

    pairs: int
    first: tuple[Pair, ...]


class RerankVector(NamedTuple):
    """A vector that a reranker made.

    text_hash: sha256 of the embedded text or of the query.
    generation: of the store when the query was asked; 0 for a text.
    """

    text_hash: bytes
    is_query: bool
    vector: Vector
    generation: int = 0


class ReembedTarget(NamedTuple):
    """Embedder of an unfinished reembed. command: resumes it."""

    embedder: str
    dimension: int
    command: str


def not_offered_error(what: str) -> UsageError:
    """Return the error for something that this kind of store does not offer."""
    message = f"This kind of store does not offer {what}."
    return UsageError("not_offered", message, hint="use a store in a file, or the server's own tools")


def ts_rank_error() -> UsageError:
    """Return the error for the setting `lexical_model = "ts_rank"` of a store that is not in Postgres."""
    message = "This kind of store does not offer lexical_model = ts_rank, which is a function of Postgres."
    return UsageError("not_offered", message, hint=Hint(AGAIN, set="lexical_model=fts5"))


def given_error(count: int) -> StoreError:
    """Return the error for a reembed that would replace this many given vectors."""
    some = "1 vector was" if count == 1 else f"{count} vectors were"
    message = f"{some} given, and an embedder would replace them."
    return StoreError("vectors_given", message, hint=Hint(AGAIN, given=True))


def find_flaws(vectors: Sequence[Vector], *, dimension: int) -> dict[int, str]:
    """Return index to reason for vectors that must not be stored: wrong size, NaN or infinity, or not of length 1.

    An empty vector means a text without a feature and is valid.
    """
    flaws = {
        i: f"{len(vector) / 4:g} components instead of {dimension}"
        for i, vector in enumerate(vectors)
        if len(vector) not in (0, 4 * dimension)
    }
    sized = [i for i, vector in enumerate(vectors) if len(vector) == 4 * dimension]
    if len(sized) <= _FEW:  # loading NumPy takes longer
        lengths = [hypot(*unpack(f"<{dimension}f", vectors[i])) for i in sized]
    else:
        matrix = np.frombuffer(b"".join(vectors[i] for i in sized), dtype="<f4").reshape(len(sized), dimension)
        lengths = np.sqrt((matrix.astype(np.float64) ** 2).sum(axis=1)).tolist()
    for i, length in zip(sized, lengths, strict=True):
        if not isfinite(length):
            flaws[i] = "a component is NaN or infinite"
        elif abs(length - 1) > UNIT_TOLERANCE:
            flaws[i] = f"its length is {length:.4g}, not 1"
    return dict(sorted(flaws.items()))
