"""One sentence above a ledger: why a row stands where it does, by the figures of it and of the rows around."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from recall_core.types import SIGNALS, Hit, Part
from recall_tui.state.explaining import RowsAround
from recall_tui.widgets.draw import figure
from recall_tui.widgets.sanitize import harmless

if TYPE_CHECKING:
    from recall_core.contract.ledger import LeafView, LedgerView, NeighbourView

ORDINALS = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth")

TIES = {
    "path": "equal scores go by path",
    "offset": "equal scores in a document go by place",
    "fused": "equal scores keep their order from before the reranker",
}
"""What decides between rows of the same score."""

BEST = {"lexical": "best match of words", "semantic": "nearest in meaning", "rerank": "first by the reranker"}
BY = {"lexical": "by words", "semantic": "in meaning", "rerank": "by the reranker"}
NONE = {"lexical": "no query term", "semantic": "no vector", "rerank": "not seen by the reranker"}
AHEAD = {
    "lexical": "{} matches the words better",
    "semantic": "{} is nearer in meaning",
    "rerank": "the reranker puts {} higher",
}


class Said(NamedTuple):
    """A piece of a sentence; a word of the question that it names stands out."""

    text: str
    is_word: bool = False


def sentence(hit: Hit, view: LedgerView | None, around: RowsAround | None) -> list[Said]:
    """Why the row stands where it does. view, around: None while only the hit itself is known."""
    place = [Said(f"{_place(hit, view, around)}: ")]
    if hit.injection is not None:
        distance = f"{hit.injection.distance:g}"
        told = f"sparse-document recall gave it the row, since it is short and near, at distance {distance}."
        return [*place, Said(told)]
    if hit.score is None:
        return [*place, Said("the query names no signal, so rows have an order and no score.")]
    above, below = (_neighbour(view, side) for side in ("above", "below"))
    if (rule := _rule(above, below)) is not None:
        return [*place, Said(f"{rule}.")]
    own = _own(hit, view, around, below)
    return [*place, *own, *_rival(hit, around, above), Said(".")]


def _place(hit: Hit, view: LedgerView | None, around: RowsAround | None) -> str:
    if hit.rank <= len(ORDINALS):
        place = ORDINALS[hit.rank - 1]
    else:
        place = f"Row {figure(hit.rank)}" + (f" of {figure(view['of'])}" if view is not None else "")
    return f"{place} of the documents, by its best chunk" if around is not None and around.of_documents else place


def _neighbour(view: LedgerView | None, side: str) -> NeighbourView | None:
    return next(
        (each for each in (view.get("neighbours", []) if view is not None else ()) if each["side"] == side), None
    )


def _rule(above: NeighbourView | None, below: NeighbourView | None) -> str | None:
    """What settled the place where the score did not; None where it did."""
    beside = above or below
    if beside is not None and beside["decided_by"] == "order_by":
        return "ORDER BY sets the place, not the score"
    ties = [each for each in (above, below) if each is not None and each["decided_by"] in TIES]
    if not ties or (above is not None and above not in ties):
        return None
    ranks = " and ".join(f"#{figure(each['rank'])}" for each in ties)
    scores = "its score equals those of" if len(ties) > 1 else "its score equals that of"
    return f"{scores} {ranks}, and {TIES[ties[0]['decided_by']]}"


def _own(hit: Hit, view: LedgerView | None, around: RowsAround | None, below: NeighbourView | None) -> Iterator[Said]:
    """What speaks for the row: a word that it alone holds, else its rank by each signal."""
    parts = sorted((part for part in hit.parts if part.weight > 0), key=lambda part: SIGNALS.index(part.signal))
    terms = _terms(view)
    if all(part.points <= 0 for part in parts):
        yield Said("no signal ranks it")
        return
    alone = _alone(hit, terms, around, below)
    if alone is not None and around is not None:
        chunks, df = figure(around.chunks), alone["df"]
        if df == 1:
            yield from (Said(f"it alone of {chunks} chunks holds "), Said(_word(alone["text"]), is_word=True))
            return
        yield from (
            Said(f"it alone of the first {figure(len(around.first))} holds "),
            Said(_word(alone["text"]), is_word=True),
        )
        yield Said(f", which {figure(df)} of {chunks} chunks hold")
        return
    yield Said(_ranks(parts, is_alone=len(hit.parts) == 1))
    best = max(terms, key=lambda leaf: leaf["points"], default=None)
    lexical = next((part for part in parts if part.signal == "lexical"), None)
    if (
        best is not None
        and around is not None
        and lexical is not None
        and lexical.points >= sum(part.points for part in parts) / 2
    ):
        yield from (Said(", most by "), Said(_word(best["text"]), is_word=True))
        yield Said(f" ({figure(best['df'])} of {figure(around.chunks)})")


def _ranks(parts: Sequence[Part], *, is_alone: bool) -> str:
    """The rank by each signal, the first ones in words; those of one rank together."""
    first = [BEST[part.signal] for part in parts if part.rank == 1]
    others = {
        rank: [BY[part.signal] for part in parts if part.rank == rank]
        for rank in sorted({part.rank for part in parts if part.rank is not None and part.rank > 1})
    }
    told = [" and ".join(first)] if first else []
    told += [f"{ordinal(rank)} {' and '.join(names)}" for rank, names in others.items()]
    told += [NONE[part.signal] for part in parts if part.rank is None]
    return ", ".join([*told, *(["the only signal"] if is_alone else [])])


def ordinal(number: int) -> str:
    """A place in digits.

    >>> [ordinal(place) for place in (1, 2, 3, 11, 21, 1_112)]
    ['1st', '2nd', '3rd', '11th', '21st', '1,112th']
    """
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{figure(number)}{ending}"


def _terms(view: LedgerView | None) -> list[LeafView]:
    """The phrases of the question that give the row points."""
    parts = view["explain"]["parts"] if view is not None and "explain" in view else []
    leaves = [leaf for part in parts for leaf in part.get("leaves", [])]
    return [leaf for leaf in leaves if leaf["kind"] == "term" and leaf["points"] > 0]


def _alone(
    hit: Hit, terms: list[LeafView], around: RowsAround | None, below: NeighbourView | None
) -> LeafView | None:
    """The word that keeps the row above the next one and that no other of the first rows holds."""
    if around is None or below is None or around.of_documents:
        return None
    held = {text for rank, texts in around.first.items() if rank != hit.rank for text in texts}
    is_known = hit.rank in around.first and len(around.first) > 1
    decisive = [leaf for leaf in terms if leaf["points"] > below["margin"]]
    alone = [leaf for leaf in decisive if leaf["df"] == 1 or (is_known and leaf["text"] not in held)]
    return max(alone, key=lambda leaf: leaf["points"], default=None)


def _rival(hit: Hit, around: RowsAround | None, above: NeighbourView | None) -> Iterator[Said]:
    """What the row above has more of: the signal by which it leads most, and the rarest word that this one lacks."""
    rival = around.above if around is not None else None
    if around is None or rival is None or above is None:
        return
    name = f"#{figure(above['rank'])}"
    if rival.injection is not None or above["decided_by"] == "recall":
        yield Said(f"; {name} has its row from sparse-document recall")
        return
    points = {part.signal: part.points for part in hit.parts}
    leads = {part.signal: part.points - points.get(part.signal, 0.0) for part in rival.parts}
    signal = max(leads, key=leads.__getitem__, default=None)
    if signal is None or leads[signal] <= 0:
        return
    missing = [text for text in around.held_above if text not in around.held and text in around.df]
    if signal == "lexical" and missing:
        rarest = min(missing, key=lambda text: around.df[text])
        yield from (Said(f"; {name} {'also ' if around.held else ''}holds "), Said(_word(rarest), is_word=True))
        yield Said(f" ({figure(around.df[rarest])} of {figure(around.chunks)})")
        return
    yield Said("; " + AHEAD[signal].format(name))


def _word(text: str) -> str:
    return harmless(" ".join(text.split()))
