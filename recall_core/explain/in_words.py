"""One sentence above a ledger: where a row stands, and what its place rests on most."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from recall_core.contract.ledger import ExplainView, LeafView, PartView
from recall_core.retrieve.answer import Answer
from recall_core.store.port import Store
from recall_core.types import Hit

_NAMED = ("term", "feature", "token", "sentence")

_LONGEST = 60  # letters of a sentence that is quoted

_SIGNALS = {"lexical": "its words", "semantic": "its meaning", "rerank": "the reranker"}


class Among(NamedTuple):
    """A row and those that it stands among."""

    rank: int | None
    """From 1; None where the list does not hold it."""
    of: int
    chunks: int
    """Of the whole store."""
    shown: int = 0
    """Rows that are shown, this one included."""
    terms_of_others: Collection[str] | None = None
    """The phrases for which another row that is shown has points; None where that is not known."""
    lead: float | None = None
    """Of the first row, by how much its score is above that of the second, where that made it first."""
    distance: float | None = None
    """1 - cosine of a row that sparse-document recall gave away."""


class Support(NamedTuple):
    """The leaf, or the whole part where no leaf of it is known, that gives most. leaf: None for a whole part."""

    part: PartView
    leaf: LeafView | None
    points: float


def sentence(view: ExplainView, among: Among) -> str:
    """What the place rests on, true of this answer as it is.

    The largest leaf is named: a phrase of the question, or what gives most to the meaning. `because` is only said
    where the row leads by less than that leaf gives, and no other row that is shown has points for it.
    """
    where = _where(among)
    if among.distance is not None:
        near = f"short and near, at distance {among.distance:g}"
        return f"{where} because sparse-document recall gave it the row: its document is {near}"
    support = support_of(view)
    if support is None:
        return f"{where}, without a point: nothing that was asked speaks for it"
    told, score = _told(support, among.chunks), sum(part["points"] for part in view["parts"])
    share = f"{support.points:.3f} of its {score:.3f}"
    if round(support.points, 3) > round(score, 3):  # and not by what rounding took away
        share = f"{support.points:.3f}, of which the rest takes away until its score is {score:.3f}"
    if not _is_alone(support, among):
        return f"{where}, most of all by {told}: {share}"
    if among.rank == 1 and among.lead is not None and support.points > among.lead:
        return f"{where} because no other row shown has points for {told}: {share}"
    return f"{where}, most of all by {told}: {share}; no other row shown has points for it"


def support_of(view: ExplainView) -> Support | None:
    """What gives most points; None where nothing gives any. Ties go to what stands first."""
    parts = [part for part in view["parts"] if part["points"] > 0]
    if not parts:
        return None
    best = max((each for part in parts for each in _supports(part)), key=lambda each: each.points)
    hidden = max((_hidden(part) for part in parts), default=0.0)
    if best.leaf is None or best.points <= 0 or best.points < hidden:
        part = max(parts, key=lambda part: part["points"])
        return Support(part, None, part["points"])
    return best


def _supports(part: PartView) -> Iterator[Support]:
    named = [leaf for leaf in part.get("leaves", []) if leaf["kind"] in _NAMED]
    yield from (Support(part, leaf, leaf["points"]) for leaf in named)
    if not named:
        yield Support(part, None, part["points"])


def _hidden(part: PartView) -> float:
    """The most that one of the leaves may give that are only told together."""
    leaves = part.get("leaves", [])
    if all(leaf["kind"] != "other" for leaf in leaves):
        return 0.0
    return min(abs(leaf["points"]) for leaf in leaves if leaf["kind"] in (*_NAMED, "collision", "removal"))


def _where(among: Among) -> str:
    if among.rank is None:
        return "not in the list"
    return "first" if among.rank == 1 else f"row {among.rank:,} of {among.of:,}"


def _told(support: Support, chunks: int) -> str:
    leaf = support.leaf
    if leaf is None:
        return _SIGNALS[support.part["signal"]]
    text = " ".join(leaf["text"].split())
    if leaf["kind"] == "term":
        return f"*{text}*, which is in {leaf['df']:,} of {chunks:,} chunk{'' if chunks == 1 else 's'}"
    if leaf["kind"] == "sentence":
        return f"the meaning of “{text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}”"
    return f"the meaning of *{text}*"


def _is_alone(support: Support, among: Among) -> bool:
    leaf = support.leaf
    if leaf is None or leaf["kind"] != "term" or among.terms_of_others is None or among.shown < 2:
        return False
    return leaf["text"] not in among.terms_of_others


def terms_of(view: ExplainView) -> list[str]:
    """The phrases that a row has points for."""
    return [leaf["text"] for part in view["parts"] for leaf in part.get("leaves", []) if leaf["kind"] == "term"]


def add_sentences(views: Sequence[ExplainView], hits: Sequence[Hit], found: Answer, store: Store) -> None:
    """A sentence to the explanation of every hit of a page, which has all of them."""
    chunks, counted = store.info().chunks, [terms_of(view) for view in views]
    for place, (view, hit) in enumerate(zip(views, hits, strict=True)):
        view["summary"] = sentence(
            view,
            Among(
                rank=hit.rank,
                of=found.total,
                chunks=chunks,
                shown=len(hits),
                terms_of_others={text for at, texts in enumerate(counted) if at != place for text in texts},
                lead=_lead(found, hits) if hit.rank == 1 else None,
                distance=None if hit.injection is None else hit.injection.distance,
            ),
        )


def _lead(found: Answer, hits: Sequence[Hit]) -> float | None:
    """By how much the first row leads, where its score is what put it before the second."""
    if len(hits) < 2 or found.plan.order or any(hit.injection is not None or hit.score is None for hit in hits[:2]):
        return None
    first, second = (hit.score for hit in hits[:2])
    return None if first is None or second is None or first <= second else first - second
