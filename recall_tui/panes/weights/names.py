"""Names of rows in few cells, and the lines that are named in the plot: the first three, and the selected row's."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from recall_core.types import Hit
from recall_tui.state.chart import Chart, top_at
from recall_tui.state.records import cited
from recall_tui.state.session import Session, listed
from recall_tui.widgets.draw import Glyphs

if TYPE_CHECKING:
    from recall_core.contract.ledger import PassageView

NAMED = 3  # lines with a colour of their own: more of them cannot be told apart


class NamedLine(NamedTuple):
    """One candidate whose line has a name. rank: at the present weight, from 1."""

    position: int
    rank: int
    name: str


def named_lines(session: Session, chart: Chart, weight: Fraction, glyphs: Glyphs) -> tuple[NamedLine, ...]:
    """The first three at this weight, then the selected row where its line is drawn and none of these."""
    top, answer = top_at(chart, weight), session.results.answer
    if answer is None or answer.pool is None:
        return ()
    hits, keys = _hits(session), answer.pool.keys
    wanted = [*top[:NAMED], *(each for each in top[NAMED:] if each == _selected(session))]
    return tuple(
        NamedLine(
            position,
            top.index(position) + 1,
            name_of(hits[position], session.results.passages, glyphs)
            if position in hits
            else PurePosixPath(keys[position].path).name,
        )
        for position in wanted
    )


def name_of(hit: Hit, passages: Mapping[str, PassageView], glyphs: Glyphs) -> str:
    """Return its file without folders, the line of its passage and the heading above that."""
    line, heading = cited(hit, passages.get(hit.chunk.id) if hit.chunk else None)
    return f"{PurePosixPath(hit.doc.path).name}{line}{glyphs.crumb if heading else ''}{heading}"


def _hits(session: Session) -> Mapping[int, Hit]:
    """The fetched rows by their position in the pool."""
    answer = session.results.answer
    if answer is None or answer.ranked is None:
        return {}
    first, order = listed(answer)[0], answer.ranked.order
    return {order[first + row]: hit for row, hit in session.results.hits.items() if first + row < len(order)}


def _selected(session: Session) -> int | None:
    answer = session.results.answer
    if answer is None or answer.ranked is None:
        return None
    at = listed(answer)[0] + session.results.selected
    return answer.ranked.order[at] if at < len(answer.ranked.order) else None
