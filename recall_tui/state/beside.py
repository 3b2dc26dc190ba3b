"""The first rows under the saved settings beside those under the moved ones. Pure, and without a screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from recall_core.config import NAMES, Config, assignments
from recall_core.types import Hit
from recall_tui.state.analyses import Analysis
from recall_tui.state.results import result_of
from recall_tui.state.session import Session, listed
from recall_tui.state.weighing import KEYS, current, is_moved

if TYPE_CHECKING:
    from recall_core.retrieve.answer import Answer

MOST_ROWS = 100  # that are compared: more than any screen shows


class SavedRows(NamedTuple):
    """The first rows of a question under the saved settings, and by what each is found again in another list."""

    ids: tuple[int, ...]
    hits: tuple[Hit, ...]
    first_rank: int


class ComparedRow(NamedTuple):
    """One row of either list. other: its rank in the other one, None where that does not have it."""

    rank: int
    other: int | None
    hit: Hit | None
    """None until the row is fetched."""


class Compared(NamedTuple):
    """Both lists from their first rows on."""

    saved: tuple[ComparedRow, ...]
    now: tuple[ComparedRow, ...]


def saved_analysis(session: Session) -> Analysis | None:
    """The analysis of the rows under the saved settings; None while they are not shown, or nothing was moved."""
    answer, plain = session.results.answer, session.weights.plain
    if not session.weights.is_beside or not is_moved(session) or answer is None or plain is None:
        return None
    return Analysis("saved", other=" ".join(assignments({key: getattr(plain, key) for key in KEYS})))


def compared(session: Session) -> Compared | None:
    """The two lists; None while the saved one is not known."""
    analysis, answer = saved_analysis(session), session.results.answer
    result = result_of(session, analysis, SavedRows) if analysis is not None else None
    if not isinstance(result, SavedRows) or answer is None:
        return None
    offset, rows = listed(answer)
    then = {each: result.first_rank + at for at, each in enumerate(result.ids)}
    now: dict[int, int] = {}
    lines: list[ComparedRow] = []
    for row, each in enumerate(identities(answer, offset, offset + rows)):
        if row < MOST_ROWS:
            other = then.get(each, session.weights.saved_ranks.get(row))
            lines.append(ComparedRow(offset + row + 1, other, session.results.hits.get(row)))
        elif len(now) == len(then):
            break
        if each in then:
            now[each] = offset + row + 1
    saved = [ComparedRow(then[each], now.get(each), hit) for each, hit in zip(result.ids, result.hits, strict=True)]
    return Compared(tuple(saved), tuple(lines))


def identities(answer: Answer, start: int, stop: int) -> Iterator[int]:
    """What tells the rows of a ranking from start to stop from all others: their chunk, or where rows are documents,
    their document.
    """
    if answer.pool is None or answer.ranked is None:
        return
    for position in answer.ranked.order[start:stop]:
        key = answer.pool.keys[position]
        yield key.doc_rowid if answer.plan.table == "doc" else key.rowid


def moved_words(session: Session) -> list[str]:
    """What was moved, each with its saved value and its value now."""
    plain, config = session.weights.plain or session.weights.saved or Config(), current(session)
    words = [
        f"{NAMES.get(key, key)} {_told(getattr(plain, key))} to {_told(getattr(config, key))}"
        for key in session.weights.tweaks
        if key not in session.weights.fixed
    ]
    return words if session.weights.k is None else [*words, f"top k {session.weights.k}"]


def _told(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)
