"""Where the selected row stands once its question was answered from another state of the store. Pure, no screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_tui.state.session import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall_core.retrieve import Answer


def is_anew(before: Answer, answer: Answer) -> bool:
    """True when the same question was answered from another state of the store."""
    is_other = (before.generation, before.digest) != (answer.generation, answer.digest)
    return is_other and before.plan.text == answer.plan.text


def followed(before: Answer, row: int, answer: Answer) -> tuple[int, bool]:
    """The row that this row of the older answer has become, and whether its document is still listed.

    It is the same place of the document, else the document's first row, else the row of the same number. Rows without
    a signal have nothing to be followed by.
    """
    older, newer = _positions(before), _positions(answer)
    number = max(0, min(row, listed(answer)[1] - 1))
    if before.pool is None or answer.pool is None or row >= len(older):
        return number, True
    was, keys, first = before.pool.keys[older[row]], answer.pool.keys, None
    for place, position in enumerate(newer):
        key = keys[position]
        if key.path == was.path:
            if key.offset == was.offset:
                return place, True
            first = place if first is None else first
    return (number, False) if first is None else (first, True)


def _positions(answer: Answer) -> Sequence[int]:
    """The listed rows, by position in the pool."""
    first, rows = listed(answer)
    return () if answer.ranked is None else answer.ranked.order[first : first + rows]
