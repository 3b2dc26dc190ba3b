"""Sparse-document recall: a short document that lies near the question takes the last row of a list it missed."""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import lru_cache
from heapq import nlargest
from typing import Literal, NamedTuple

from recall_core.config import Config
from recall_core.rank.fuse import Ranking, Same
from recall_core.types import Pool

LOOK_AT = 50  # the nearest chunks that are looked at, or three times the list's length where that is more
DECIMALS = 6

Reason = Literal[
    "injected", "no_vector", "whole_list", "not_short", "too_far", "already_present", "no_row", "max_injections"
]


class Report(NamedTuple):
    """What was found. Each count is of documents, and of those that the count before it left."""

    injections: int
    reason: Reason
    """Injected, or the first condition that left nothing: no candidate has a vector; every candidate is in the list
    already; no near document is short; none is within the ceiling; each is in the list; the list has no row; no
    injection is allowed."""
    looked_at: int
    """Chunks: the nearest that were looked at."""
    near: int
    """Documents with a chunk among them."""
    short: int
    within_ceiling: int
    present: int
    """Of those within the ceiling, how many have a row in the list."""
    blocked: int
    """How many would have been injected if more were allowed."""


class Given(NamedTuple):
    """A row that was given away: 1 - cosine of the document's nearest chunk, and the position that stood there."""

    distance: float
    displaced: int | None


class Recalled(NamedTuple):
    """A ranking after sparse-document recall. given: position in the pool to the row it was given."""

    ranking: Ranking
    given: Mapping[int, Given]
    report: Report


class NearChunks(NamedTuple):
    """The chunks of a pool that are looked at. No weight changes them."""

    vectors: int
    """How many candidates have one."""
    positions: Mapping[int, int]
    """Document to the position of its nearest chunk, nearest first; ties in natural order."""


def near_documents(pool: Pool, ranking: Ranking, *, limit: int) -> Set[int]:
    """The documents (rowids) whose numbers of chunks `recalled` has to know."""
    near = _near(Same(pool), _depth(limit))
    return frozenset() if _vain(near, ranking, limit) else near.positions.keys()


def recalled(
    pool: Pool, ranking: Ranking, config: Config, *, limit: int, chunk_counts: Mapping[int, int]
) -> Recalled:
    """The ranking with the last of its first `limit` rows given to near chunks of short documents.

    A document qualifies when it has at most sparse_chunk_threshold chunks, one of them among the max(3 * limit, 50)
    nearest of the pool at a distance of at most sparse_distance_ceiling, and no row in the list. Its nearest chunk
    is injected (its own row, where rows are documents), the nearest document first; ties stand in natural order. At
    most sparse_max_injections rows and never more than `limit` are given away. Every other row keeps its order, so
    those displaced come right behind the list. min_score does not keep a chunk from being injected.
    """
    near = _near(Same(pool), _depth(limit))
    if reason := _vain(near, ranking, limit):
        return Recalled(ranking, {}, Report(0, reason, 0, 0, 0, 0, 0, 0))
    nearest = near.positions
    short = [doc for doc in nearest if chunk_counts[doc] <= config.sparse_chunk_threshold]
    within = [doc for doc in short if _distance(pool, nearest[doc]) <= config.sparse_distance_ceiling]
    absent = _absent(pool, ranking, within, limit)
    chosen = absent[: min(config.sparse_max_injections, limit)]
    report = Report(
        injections=len(chosen),
        reason=_reason(short, within, absent, limit=limit, injections=len(chosen)),
        looked_at=min(_depth(limit), near.vectors),
        near=len(nearest),
        short=len(short),
        within_ceiling=len(within),
        present=len(within) - len(absent),
        blocked=len(absent) - len(chosen),
    )
    if not chosen:
        return Recalled(ranking, {}, report)
    return _injected(pool, ranking, [nearest[doc] for doc in chosen], limit=limit, report=report)


def _vain(near: NearChunks, ranking: Ranking, limit: int) -> Reason | None:
    """Why nothing has to be looked at, if so."""
    if len(ranking) and not near.vectors:
        return "no_vector"
    return "whole_list" if len(ranking) == ranking.kept <= limit else None


def _absent(pool: Pool, ranking: Ranking, documents: list[int], limit: int) -> list[int]:
    """Those that have no row in the list."""
    if not documents:
        return []
    rows = {pool.keys[position].doc_rowid for position in ranking.order[: min(limit, ranking.kept)]}
    return [document for document in documents if document not in rows]


def _reason(short: list[int], within: list[int], absent: list[int], *, limit: int, injections: int) -> Reason:
    if injections:
        return "injected"
    if not short:
        return "not_short"
    if not within:
        return "too_far"
    if not absent:
        return "already_present"
    return "max_injections" if limit else "no_row"


def _depth(limit: int) -> int:
    return max(3 * limit, LOOK_AT)


@lru_cache(maxsize=2)
def _near(pool: Same[Pool], depth: int) -> NearChunks:
    """Kept, because a weight that moves asks again."""
    keys, cosines = pool.value.keys, pool.value.semantic
    present = [position for position, cosine in enumerate(cosines) if cosine is not None]
    nearest: dict[int, int] = {}
    for position in nlargest(depth, present, key=lambda position: cosines[position] or 0.0):
        nearest.setdefault(keys[position].doc_rowid, position)
    return NearChunks(len(present), nearest)


def _distance(pool: Pool, position: int) -> float:
    """1 - cosine at the cosine's own precision, so that a distance at the ceiling is not pushed past it."""
    return round(1.0 - (pool.semantic[position] or 0.0), DECIMALS)


def _injected(pool: Pool, ranking: Ranking, nearest: list[int], *, limit: int, report: Report) -> Recalled:
    listed = ranking.order[: min(limit, ranking.kept)]
    rows = _rows(pool, ranking, nearest)
    start = min(limit, len(listed) + len(rows)) - len(rows)
    given: dict[int, Given] = {}
    for place, (row, position) in enumerate(zip(rows, nearest, strict=True), start=start):
        given[row] = Given(_distance(pool, position), listed[place] if place < len(listed) else None)
    order, kept = list(ranking.order), ranking.kept
    for row in rows:
        kept += ranking.order.index(row) >= ranking.kept
        order.remove(row)
    order[start:start] = rows
    return Recalled(ranking.reordered(order, kept=kept), given, report)


def _rows(pool: Pool, ranking: Ranking, nearest: list[int]) -> list[int]:
    """The row of each nearest chunk: itself, or its document's where the ranking has one row a document."""
    if len(ranking) == len(pool.keys):
        return nearest
    of_document = {pool.keys[position].doc_rowid: position for position in ranking.order}
    return [of_document[pool.keys[position].doc_rowid] for position in nearest]
