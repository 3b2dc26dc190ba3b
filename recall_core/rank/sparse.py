"""Sparse-document recall: a short document near the query takes the last row of a list that it missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from heapq import nlargest
from typing import TYPE_CHECKING, Literal

from recall_core._lazy import np
from recall_core.config import Config
from recall_core.deadline import check
from recall_core.named import NamedTuple
from recall_core.rank.columns import RawColumn, UnsettledColumn, documents_of
from recall_core.rank.fuse import Same
from recall_core.rank.weighing import Ranking
from recall_core.types import Pool

if TYPE_CHECKING:
    from recall_core.rank.copies import Copies

LOOK_AT = 50  # number of nearest chunks to look at, or three times the list's length if that is more
DECIMALS = 6

Reason = Literal[
    "injected",
    "no_vector",
    "whole_list",
    "not_short",
    "too_far",
    "already_present",
    "no_row",
    "not_mostly_long",
    "max_injections",
]


class Report(NamedTuple):
    """Result of a recall. Each count is of documents, among those that the count before it left."""

    injections: int
    reason: Reason
    """"injected", or the first condition that left nothing.

    no_vector: no candidate has a vector.
    whole_list: every candidate is in the list already.
    not_short: no near document is short.
    too_far: no short document is within the ceiling.
    already_present: each of them is in the list.
    no_row: the list has no rows.
    not_mostly_long: at most half of the list's rows belong to long documents.
    max_injections: no injection is allowed.
    """
    looked_at: int
    """Number of nearest chunks looked at."""
    near: int
    """Documents with a chunk among them."""
    short: int
    within_ceiling: int
    present: int
    """Documents within the ceiling that have a row in the list."""
    blocked: int
    """Documents that more allowed injections would have added."""
    rows: int = 0
    """Rows of the list."""
    long_rows: int = 0
    """Rows of the list that belong to documents with more chunks than a short one."""


class Given(NamedTuple):
    """A row given to a short document: 1 - cosine of the document's nearest chunk, and the position displaced."""

    distance: float
    displaced: int | None


class Recalled(NamedTuple):
    """A ranking after sparse-document recall. given: position in the pool to the row it took."""

    ranking: Ranking
    given: Mapping[int, Given]
    report: Report


class NearChunks(NamedTuple):
    """Nearest chunks of a pool. They do not depend on weights."""

    vectors: int
    """Number of candidates with a vector."""
    positions: Mapping[int, int]
    """Document to the position of its nearest chunk, nearest first; ties in natural order."""


def near_documents(pool: Pool, ranking: Ranking, *, limit: int) -> Set[int]:
    """Return the rowids of near and listed documents. `recall_short` needs their numbers of chunks."""
    near = _near(Same(pool), _depth(limit))
    if _reason_to_skip(near, ranking, limit):
        return frozenset()
    return near.positions.keys() | _documents(pool, _list_rows(ranking, limit))


def recall_short(
    pool: Pool,
    ranking: Ranking,
    config: Config,
    *,
    limit: int,
    chunk_counts: Mapping[int, int],
    copies: Copies | None = None,
) -> Recalled:
    """Return the ranking with the last of its first `limit` rows given to near chunks of short documents.

    A document qualifies if it has at most sparse_chunk_threshold chunks, no row in the list, and a chunk among the
    max(3 * limit, 50) nearest of the pool at a distance of at most sparse_distance_ceiling. Its nearest chunk is
    injected (or its own row, if rows are documents), the nearest document first; ties in natural order.

    At most sparse_max_injections rows, and never more than `limit`, are given away. None are given away unless more
    than half of the rows belong to long documents, because otherwise short documents were not crowded out. All other
    rows keep their order, so displaced rows follow the list directly. min_score does not apply to injected chunks.

    copies: the collapsed copies, if the ranking collapses them. Then a document is in the list if a row has the text
    of one of its chunks, and an injected chunk represents its text.
    """
    absent, report = left_out(pool, ranking, config, limit=limit, chunk_counts=chunk_counts, copies=copies)
    if not report.injections:
        return Recalled(ranking, {}, report)
    nearest = absent[: report.injections]
    if copies is not None:
        ranking = copies.led_by(nearest).standing()
    return _inject(pool, ranking, nearest, limit=limit, report=report, is_by_chunk=copies is not None)


def left_out(
    pool: Pool,
    ranking: Ranking,
    config: Config,
    *,
    limit: int,
    chunk_counts: Mapping[int, int],
    copies: Copies | None = None,
) -> tuple[list[int], Report]:
    """Return the nearest chunks (positions) of the documents that meet all of their own conditions, nearest first.

    The report says how many of them are injected, and what keeps the others out.

    chunk_counts: of the documents from `near_documents`.
    """
    near = _near(Same(pool), _depth(limit))
    if reason := _reason_to_skip(near, ranking, limit):
        return [], Report(0, reason, 0, 0, 0, 0, 0, 0)
    nearest, listed = near.positions, _list_rows(ranking, limit)
    most = config.sparse_chunk_threshold
    short = [doc for doc in nearest if chunk_counts[doc] <= most]
    within = [doc for doc in short if distance(pool, nearest[doc]) <= config.sparse_distance_ceiling]
    present = _documents(pool, _with_copies(listed, copies)) if within else frozenset()
    absent = _distinct_texts([nearest[doc] for doc in within if doc not in present], copies)
    long_rows = sum(chunk_counts[document] > most for document in documents_of(pool.keys, listed))
    crowded_out = len(absent) if is_mostly_long(len(listed), long_rows) else 0
    injections = min(crowded_out, config.sparse_max_injections, limit)
    report = Report(
        injections=injections,
        reason=_reason(short, within, absent, limit=limit, crowded_out=crowded_out, injections=injections),
        looked_at=min(_depth(limit), near.vectors),
        near=len(nearest),
        short=len(short),
        within_ceiling=len(within),
        present=len(within) - len(absent),
        blocked=crowded_out - injections,
        rows=len(listed),
        long_rows=long_rows,
    )
    return absent, report


def is_mostly_long(rows: int, long_rows: int) -> bool:
    """Return True if more than half of a list's rows belong to long documents."""
    return 2 * long_rows > rows


def _reason(
    short: list[int], within: list[int], absent: list[int], *, limit: int, crowded_out: int, injections: int
) -> Reason:
    if injections:
        return "injected"
    if not short:
        return "not_short"
    if not within:
        return "too_far"
    if not absent:
        return "already_present"
    if not limit:
        return "no_row"
    return "max_injections" if crowded_out else "not_mostly_long"


def _with_copies(listed: Sequence[int], copies: Copies | None) -> Sequence[int]:
    return listed if copies is None else [each for position in listed for each in copies.alike(position)]


def _distinct_texts(nearest: list[int], copies: Copies | None) -> list[int]:
    """Return the positions without those whose text an earlier one has."""
    if copies is None:
        return nearest
    seen: set[int] = set()
    listed = []
    for position in nearest:
        if position not in seen:
            listed.append(position)
        seen.update(copies.alike(position))
    return listed


def in_place(ranking: Ranking, found: Recalled, copies: Copies | None = None) -> Recalled:
    """Return the recall without displacing a row: each document keeps its place in `ranking`.

    Documents below min_score follow the list directly. copies: see `recall_short`.
    """
    if copies is not None:
        ranking = copies.led_by(found.given).standing()
    given = {row: each._replace(displaced=None) for row, each in found.given.items()}
    below = [row for row in given if ranking.order.index(row) >= ranking.kept]
    if below:
        rest = [row for row in ranking.order[ranking.kept :] if row not in below]
        order = [*ranking.order[: ranking.kept], *below, *rest]
        ranking = ranking.reorder(order, kept=ranking.kept + len(below))
    return Recalled(ranking, given, found.report)


def distance(pool: Pool, position: int) -> float:
    """Return 1 - cosine, rounded to the cosine's precision, so that a distance at the ceiling stays there."""
    check()
    return round(1.0 - (pool.semantic[position] or 0.0), DECIMALS)


def _reason_to_skip(near: NearChunks, ranking: Ranking, limit: int) -> Reason | None:
    """Return the reason why no chunk needs to be looked at, or None."""
    if len(ranking) and not near.vectors:
        return "no_vector"
    return "whole_list" if len(ranking) == ranking.kept <= limit else None


def _list_rows(ranking: Ranking, limit: int) -> Sequence[int]:
    return ranking.order[: min(limit, ranking.kept)]


def _documents(pool: Pool, rows: Sequence[int]) -> frozenset[int]:
    return frozenset(documents_of(pool.keys, rows))


def _depth(limit: int) -> int:
    return max(3 * limit, LOOK_AT)


@lru_cache(maxsize=2)
def _near(pool: Same[Pool], depth: int) -> NearChunks:
    """Return the nearest chunks. Cached for changing weights."""
    cosines = pool.value.semantic
    if isinstance(cosines, RawColumn):
        vectors, positions = _near_column(cosines, depth)
    elif isinstance(cosines, UnsettledColumn):
        vectors, positions = len(cosines) - cosines.count(None), cosines.nearest(depth)
    else:
        vectors, positions = _near_rows(cosines, depth)
    nearest: dict[int, int] = {}
    for document, position in zip(documents_of(pool.value.keys, positions), positions, strict=True):
        nearest.setdefault(document, position)
    return NearChunks(vectors, nearest)


def _near_rows(cosines: Sequence[float | None], depth: int) -> tuple[int, list[int]]:
    """Return the number of values, and the positions of the greatest, best first; ties in natural order."""
    present = [position for position, cosine in enumerate(cosines) if cosine is not None]
    return len(present), nlargest(depth, present, key=lambda position: cosines[position] or 0.0)


def _near_column(cosines: RawColumn, depth: int) -> tuple[int, list[int]]:
    """Compute `_near_rows` from an array: select all that reach the value at the depth, then sort stably."""
    present = np.flatnonzero(~np.isnan(cosines.array))
    values = cosines.array[present]
    if depth < len(values):
        least = np.partition(values, -depth)[-depth]
        present = present[values >= least]
        values = cosines.array[present]
    chosen: list[int] = present[(-values).argsort(kind="stable")][:depth].tolist()
    return len(cosines) - cosines.count(None), chosen


def _inject(
    pool: Pool, ranking: Ranking, nearest: list[int], *, limit: int, report: Report, is_by_chunk: bool
) -> Recalled:
    listed = _list_rows(ranking, limit)
    rows = nearest if is_by_chunk else _rows(pool, ranking, nearest)
    start = min(limit, len(listed) + len(rows)) - len(rows)
    given: dict[int, Given] = {}
    for place, (row, position) in enumerate(zip(rows, nearest, strict=True), start=start):
        given[row] = Given(distance(pool, position), listed[place] if place < len(listed) else None)
    order, kept = list(ranking.order), ranking.kept
    for row in rows:
        kept += ranking.order.index(row) >= ranking.kept
        order.remove(row)
    order[start:start] = rows
    return Recalled(ranking.reorder(order, kept=kept), given, report)


def _rows(pool: Pool, ranking: Ranking, nearest: list[int]) -> list[int]:
    """Return the row of each nearest chunk: itself, or its document's row if the ranking has one row for each
    document."""
    if len(ranking) == len(pool.keys):
        return nearest
    of_document = dict(zip(documents_of(pool.keys, ranking.order), ranking.order, strict=True))
    return [of_document[pool.keys[position].doc_rowid] for position in nearest]
