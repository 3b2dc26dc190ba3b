"""The exact sweep where rows are documents, each of them standing where its best chunk stands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recall_core.explain.lines import Integers, Lines, contenders
from recall_core.explain.sweep import Sweep, sweep


def sweep_documents(lines: Lines, documents: Sequence[int], k: int) -> Sweep:
    """The top k documents over all weights, each as the position of the chunk that stands for it.

    documents: of each candidate. A document's score is the highest of several lines, which bends where another
    of its chunks takes over; ties fall as for chunks. Exact at every weight, break points included: a chunk that some
    other chunk of its document leads at both ends never stands for it and is left out; the others are swept as deep
    as it takes for every piece to show k documents, which is looked at and not assumed. Neighbouring pieces may be
    equal, where only a hidden chunk moved.
    """
    standing = _standing(lines, documents)
    part = Lines(tuple(lines.a[i] for i in standing), tuple(lines.b[i] for i in standing), lines.scale)
    owners = np.array([documents[i] for i in standing], dtype=np.int64)
    wanted = min(k, len(set(owners.tolist())))
    depth = k if len(standing) == len(set(owners.tolist())) else 2 * k
    while True:
        swept = sweep(part, depth)
        rows = _firsts(swept.orders, owners, wanted)
        if rows is not None:
            return Sweep(swept.weights, np.array(standing, dtype=np.int64)[rows])
        depth *= 2


def _standing(lines: Lines, documents: Sequence[int]) -> list[int]:
    """The candidates that stand for their document at some weight, in natural order; a few more do no harm."""
    chunks: dict[int, list[int]] = {}
    for position, document in enumerate(documents):
        chunks.setdefault(document, []).append(position)
    kept: list[int] = []
    for own in chunks.values():
        if len(own) == 1:
            kept += own
        else:
            part = Lines(tuple(lines.a[i] for i in own), tuple(lines.b[i] for i in own), lines.scale)
            kept += [own[i] for i in contenders(part, 1)]
    return sorted(kept)


def _firsts(orders: Integers, owners: Integers, wanted: int) -> Integers | None:
    """The first `wanted` documents of every row, as positions; None where a row shows fewer."""
    if orders.shape[1] == 0:
        return orders
    rows = owners[orders]
    repeats = np.zeros(rows.shape, dtype=np.bool_)
    for place in range(1, rows.shape[1]):
        repeats[:, place] = (rows[:, :place] == rows[:, place, None]).any(axis=1)
    if int((~repeats).sum(axis=1).min()) < wanted:
        return None
    firsts = np.argsort(repeats, axis=1, kind="stable")[:, :wanted]
    return np.take_along_axis(orders, firsts, axis=1)
