"""What a store answers besides rows: counts of a filter, sizes, judgements, findings, pairs, and a reembed's aim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from recall_core._lazy import np
from recall_core.config import Config
from recall_core.shell import Hint
from recall_core.types import UNIT_TOLERANCE, Root, Vector


class Removed(NamedTuple):
    """What one term of an AND takes away: alone; of the rows that the terms before it leave; of the rows that all the
    others leave."""

    alone: int
    in_order: int
    only_by_this: int


class FilterCounts(NamedTuple):
    """rows: live rows. passing: by printed part of the filter, the rows it lets through. removed: by term of AND."""

    rows: int
    passing: Mapping[str, int]
    missing: Mapping[str, int]
    """By predicate, how many rows have no value in its field."""
    removed: tuple[Removed, ...]

    @property
    def passing_all(self) -> int:
        """Rows that pass the whole filter."""
        return self.rows - sum(each.in_order for each in self.removed)


class Totals(NamedTuple):
    """Tokens of the live chunks, and live documents that have none."""

    tokens: int
    without_text: int


class Sizes(NamedTuple):
    """Bytes of the pages with every chunk and its text, the vectors, the word index."""

    text: int
    vectors: int
    fulltext: int


class Source(NamedTuple):
    """A root, the number of live documents that have their labels from it, and their newest doc.mtime, or ""."""

    root: Root
    documents: int
    newest: str


class KnownRoot(NamedTuple):
    """A root as the store keeps it. left_out: paths of files and records that were removed and are not read again."""

    root: Root
    is_active: bool
    left_out: tuple[str, ...]


ListedDocument: TypeAlias = tuple[str, str, str, str, str | None, int, int]
"""A live document where many are listed: path, id, title, mtime, source or None, how many live chunks it has, and
their tokens. A row as a database gives it, for lists of every document."""


class FolderEntry(NamedTuple):
    """A folder, a file that is one document, or a file of records, with the live documents and chunks in it.

    name: the last part of its path; that of a folder ends in a slash.
    """

    name: str
    kind: Literal["folder", "file", "records"]
    documents: int
    chunks: int


class FolderListing(NamedTuple):
    """What stands right in a folder, folders first, by name. total: how many there are; entries may be fewer."""

    entries: tuple[FolderEntry, ...]
    total: int


class JudgementRow(NamedTuple):
    """A judgement as it is kept: a query's id, a path with a span of code points, (0, -1) for all of it, a grade."""

    query: str
    path: str
    offset: int
    end: int
    grade: int


Capability = Literal["lexical_fts", "estimates", "signatures"]
"""lexical_fts: it understands a RawQuery, in a full-text syntax of its own."""


class Signing(NamedTuple):
    """What signatures of vectors are made with: how many bits, a multiple of 64, and the seed of the hyperplanes."""

    bits: int
    seed: int


def signing_of(config: Config) -> Signing | None:
    """Return what the settings want signatures made with; None where they want none."""
    return Signing(config.ann_bits, config.ann_seed) if config.vector_index == "lsh" else None


class Nearest(NamedTuple):
    """rowid to cosine, the best first. is_exact: False where an index may have passed over some that are nearer."""

    cosines: Mapping[int, float]
    is_exact: bool


READ_AGAIN = f"{Hint('rm', 'PATH')}, then {Hint('add', 'PATH')}"
"""What helps where a document is not what was stored, and its file is."""


class Lost(NamedTuple):
    """What could not be read of a damaged store.

    kind: a text is a chunk; labels are title, source, times, tags or metadata of a document whose texts are there.
    path: of the document, "" where nobody knows it; the folder of a root, the query of a judgement.
    place: which part of it.
    """

    kind: Literal["document", "text", "labels", "root", "judgement"]
    path: str
    place: str = ""


class MadeWith(NamedTuple):
    """What a store is made with, for one that cannot say it any more."""

    embedder: str
    dimension: int
    counter: str
    chunker: str


class Finding(NamedTuple):
    """The answer to one check: how bad it is, what was counted, and a command of its own that helps."""

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
    """How many pairs are near, and the first of them in natural order: by path and offset of one, then the other."""

    pairs: int
    first: tuple[Pair, ...]


class RerankVector(NamedTuple):
    """A vector that a reranker made. text_hash: sha256 of the embedded text, or of the question.

    generation: of the store when a question was asked; nothing for a text.
    """

    text_hash: bytes
    is_query: bool
    vector: Vector
    generation: int = 0


class ReembedTarget(NamedTuple):
    """The embedder whose vectors come in. command: what goes on with it."""

    embedder: str
    dimension: int
    command: str


def find_flaws(vectors: Sequence[Vector], *, dimension: int) -> dict[int, str]:
    """Index to reason, for the vectors that must not be stored: wrong size, NaN or infinity, not of length 1. An
    empty vector, which stands for a text without a feature, has no flaw."""
    found = {
        i: f"{len(vector) / 4:g} components instead of {dimension}"
        for i, vector in enumerate(vectors)
        if len(vector) not in (0, 4 * dimension)
    }
    sized = [i for i, vector in enumerate(vectors) if len(vector) == 4 * dimension]
    matrix = np.frombuffer(b"".join(vectors[i] for i in sized), dtype="<f4").reshape(len(sized), dimension)
    is_finite = np.isfinite(matrix).all(axis=1)
    lengths = np.sqrt((np.where(is_finite[:, None], matrix, 0.0).astype(np.float64) ** 2).sum(axis=1))
    for i, finite, length in zip(sized, is_finite.tolist(), lengths.tolist(), strict=True):
        if not finite:
            found[i] = "a component is NaN or infinite"
        elif abs(length - 1) > UNIT_TOLERANCE:
            found[i] = f"its length is {length:.4g}, not 1"
    return dict(sorted(found.items()))
