"""Sparse-document recall: a short document that lies near the question takes the last row of a list it missed."""

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

LOOK_AT = 50  # the nearest chunks that are looked at, or three times the list's length where that is more
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
    """What was found. Each count is of documents, and of those that the count before it left."""

    injections: int
    reason: Reason
    """Injected, or the first condition that left nothing: no candidate has a vector; every candidate is in the list
    already; no near document is short; none is within the ceiling; each is in the list; the list has no row; no more
    than half of its rows belong to long documents; no injection is allowed."""
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
    rows: int = 0
    """Of the list."""
    long_rows: int = 0
    """Those of documents with more chunks than a short one has at most."""


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
    """Return the rowids of near and listed documents, of which `recall_short` must know how many chunks they have."""
    near = _near(Same(pool), _depth(limit))
    if _vain(near, ranking, limit):
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
    """The ranking with the last of its first `limit` rows given to near chunks of short documents.

    A document qualifies when it has at most sparse_chunk_threshold chunks, one of them among the max(3 * limit, 50)
    nearest of the pool at a distance of at most sparse_distance_ceiling, and no row in the list. Its nearest chunk
    is injected (its own row, where rows are documents), the nearest document first; ties stand in natural order. At
    most sparse_max_injections rows and never more than `limit` are given away, and none where not more than half of
    the rows belong to documents with more chunks: nobody has crowded the short ones out of such a list. Every other
    row keeps its order, so those displaced come right behind the list. min_score does not keep a chunk from being
    injected.

    copies: whose rows stand in the ranking, where others do not. A document has a row in the list where a row has the
    text of one of its chunks; a chunk that is injected stands for its text.
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
    """The nearest chunks (positions) of the documents that meet every condition of their own, nearest first.

    chunk_counts: of the documents that `near_documents` names. The report says how many of them are injected, and
    what keeps the others out.
    """
    near = _near(Same(pool), _depth(limit))
    if reason := _vain(near, ranking, limit):
        return [], Report(0, reason, 0, 0, 0, 0, 0, 0)
    nearest, listed = near.positions, _list_rows(ranking, limit)
    most = config.sparse_chunk_threshold
    short = [doc for doc in nearest if chunk_counts[doc] <= most]
    within = [doc for doc in short if distance(pool, nearest[doc]) <= config.sparse_distance_ceiling]
    present = _documents(pool, _with_copies(listed, copies)) if within else frozenset()
    absent = _told_once([nearest[doc] for doc in within if doc not in present], copies)
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
    """Whether more than half of a list belongs to long documents. Half is too few, and an empty list has none."""
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


def _told_once(nearest: list[int], copies: Copies | None) -> list[int]:
    """Without those that have the text of one before them."""
    if copies is None:
        return nearest
    told: set[int] = set()
    listed = []
    for position in nearest:
        if position not in told:
            listed.append(position)
        told.update(copies.alike(position))
    return listed


def in_place(ranking: Ranking, found: Recalled, copies: Copies | None = None) -> Recalled:
    """The same documents where no row is taken from anyone: each stands where `ranking`, all of it, has it.

    Those that min_score cut come right behind the list. copies: see `recall_short`.
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
    """1 - cosine at the cosine's own precision, so that a distance at the ceiling is not pushed past it."""
    check()
    return round(1.0 - (pool.semantic[position] or 0.0), DECIMALS)


def _vain(near: NearChunks, ranking: Ranking, limit: int) -> Reason | None:
    """Why nothing has to be looked at, if so."""
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
    """Kept, because a weight that moves asks again."""
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
    """How many have a value, and the positions of the greatest, best first; ties in natural order."""
    present = [position for position, cosine in enumerate(cosines) if cosine is not None]
    return len(present), nlargest(depth, present, key=lambda position: cosines[position] or 0.0)


def _near_column(cosines: RawColumn, depth: int) -> tuple[int, list[int]]:
    """`_near_rows` of an array: all that reach the value at the depth, still in natural order, sorted stably."""
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
    """The row of each nearest chunk: itself, or its document's where the ranking has one row a document."""
    if len(ranking) == len(pool.keys):
        return nearest
    of_document = dict(zip(documents_of(pool.keys, ranking.order), ranking.order, strict=True))
    return [of_document[pool.keys[position].doc_rowid] for position in nearest]
