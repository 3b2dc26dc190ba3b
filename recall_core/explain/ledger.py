"""The ledger's leaves: what the points of each part of a score add up from.

A lexical score into its phrases, exactly, whatever the shape of the expression; a cosine into words where an embedder
can tell them apart, else into sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from operator import mul
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from recall_core.config import Config
from recall_core.contract.ledger import ColumnsView, LeafKind, LeafView
from recall_core.deadline import check
from recall_core.embed.tokens import components
from recall_core.explain.factors import shapley
from recall_core.ports import Additive, Embedder
from recall_core.rank.bm25 import IDF_FLOOR, contributions
from recall_core.rank.normalize import scale
from recall_core.retrieve.answer import Answer, embedded_of
from recall_core.retrieve.pool import lexical_query
from recall_core.store.port import Store
from recall_core.types import Hit, Occurrences, Part, Signal
from recall_core.views import Leaves


class Contribution(NamedTuple):
    """A summand of a raw value, in the signal's own unit, with what is known of it."""

    kind: LeafKind
    text: str
    value: float
    details: Mapping[str, Any] = MappingProxyType({})

    def leaf(self, points: float) -> LeafView:
        """The same as a leaf of that many points."""
        view = {"kind": self.kind, "text": self.text, "points": points, "contribution": self.value, **self.details}
        return cast(LeafView, view)


def lexical_contributions(found: Answer, rowids: Sequence[int], store: Store) -> dict[int, list[Contribution]]:
    """rowid to its phrases that count there, in query order; together they are the row's raw lexical value.

    One pass over the rows, in FTS5's own counting or, where the answer was ranked so, by BM25F.
    """
    query, _ = lexical_query(found.plan, store)
    if query is None or found.pool is None or not rowids:
        return {}
    config = found.plan.config._replace(lexical_model=found.pool.lexical_model)
    standing = store.phrases(query, found.pool.terms, rowids)
    return {rowid: list(_terms(standing, rowid, config)) for rowid in rowids if rowid in standing.lengths}


def _terms(standing: Occurrences, rowid: int, config: Config) -> Iterator[Contribution]:
    check()
    given = contributions(standing, rowid, config)
    for phrase, counts, value in zip(standing.phrases, standing.counts, given, strict=True):
        if value:
            details: dict[str, Any] = {"df": phrase.df, "idf": phrase.idf}
            if phrase.idf <= IDF_FLOOR:
                details["floored"] = True
            if phrase.words > 1:
                details["words"] = phrase.words
            details |= {
                "tf": _columns(counts[rowid]),
                "length": _columns(standing.lengths[rowid]),
                "average_length": _columns(standing.averages),
            }
            yield Contribution("term", phrase.text, value, details)


def _columns(pair: tuple[float, float]) -> ColumnsView:
    return ColumnsView(title=pair[0], body=pair[1])


SHAPLEY_SENTENCES = 8

"""Sentences up to which every subset of them is embedded."""

_SENTENCE = re.compile(r".+?(?:[.!?][\"'”’)\]]*\s+|[。！？]\s*|\n\s*\n|\Z)", re.DOTALL)


def word_contributions(embedder: Embedder, question: str, texts: Sequence[str]) -> list[list[Contribution]] | None:
    """For each text what its words give to its cosine with the question; None where the embedder cannot tell."""
    if not isinstance(embedder, Additive):
        return None
    return [[Contribution(*share) for share in shares] for shares in embedder.shares(question, texts)]


def sentence_contributions(embedder: Embedder, question: str, text: str) -> list[Contribution]:
    """What each sentence gives to the cosine of the question and a text, for an embedder that is a black box.

    Up to 8 sentences: their exact Shapley values, which add up to the cosine, from all 2 ** n - 1 subsets, embedded
    in one call (Shapley 1953). More: what the cosine loses without each (kind "removal"), and a residual.
    """
    check()
    pieces = sentences(text)
    (asked,) = embedder.embed([question], is_query=True)
    if not asked or not pieces:
        return []
    axis = components(asked)
    if len(pieces) <= SHAPLEY_SENTENCES:
        subsets = ["".join(_members(pieces, coalition)) for coalition in range(1, 1 << len(pieces))]
        worths = [0.0, *_cosines(embedder, axis, subsets)]
        values = shapley(worths.__getitem__, len(pieces))
        return [Contribution("sentence", *each) for each in zip(_shown(pieces), values, strict=True)]
    without = ["".join(pieces[:i] + pieces[i + 1 :]) for i in range(len(pieces))]
    whole, *rest = _cosines(embedder, axis, [text, *without])
    lost = [whole - cosine for cosine in rest]
    removals = [Contribution("removal", *each) for each in zip(_shown(pieces), lost, strict=True)]
    return [*removals, Contribution("residual", "sentences together", whole - fsum(lost))]


def sentences(text: str) -> list[str]:
    """The text cut behind every sentence and empty line; put together again they are the text.

    >>> sentences("Retry once. Then give up!")
    ['Retry once. ', 'Then give up!']
    """
    return _SENTENCE.findall(text) if text.strip() else []


def _members(pieces: Sequence[str], coalition: int) -> list[str]:
    return [piece for i, piece in enumerate(pieces) if coalition >> i & 1]


def _shown(pieces: Sequence[str]) -> list[str]:
    return [" ".join(piece.split()) for piece in pieces]


def _cosines(embedder: Embedder, axis: Sequence[float], texts: Sequence[str]) -> list[float]:
    vectors = embedder.embed(texts)
    return [fsum(map(mul, axis, components(vector))) if vector else 0.0 for vector in vectors]


MOST_WORDS = 8

"""Semantic leaves of a row in a list, the largest; the others are one leaf together."""

_OF_TEXT = ("feature", "collision", "token", "sentence", "removal")

_ROUNDING = 2e-6  # half a unit of the sixth decimal, of a raw value and of its stage value, and float32 storage

_NOISE = 1e-10

"""Less than this is the rounding of floats, not of stage values."""


class LedgerRow(NamedTuple):
    """A row of an answer's pool whose parts are to be taken apart."""

    rowid: int
    text: str
    """As the embedder was given it."""
    parts: tuple[Part, ...]


def hit_leaves(found: Answer, hits: Sequence[Hit], *, store: Store, embedder: Embedder | None) -> list[Leaves]:
    """The leaves of each hit of this answer: lexical ones, and semantic ones where the embedder tells words apart.

    The leaves of a part add up to its points within 1e-9.
    """
    if found.pool is None or found.ranked is None:
        return [{} for _ in hits]
    keys, order = found.pool.keys, found.ranked.order
    rows = [weighed(keys[order[hit.rank - 1]].rowid, hit) for hit in hits]
    return leaves(found, rows, store=store, embedder=embedder, most=MOST_WORDS)


def weighed(rowid: int, hit: Hit) -> LedgerRow:
    """A hit with the text that its embedder was given."""
    text = "" if hit.chunk is None else embedded_of(hit.doc, hit.chunk)
    return LedgerRow(rowid, text, hit.parts)


def leaves(
    found: Answer,
    rows: Sequence[LedgerRow],
    *,
    store: Store,
    embedder: Embedder | None,
    most: int | None = None,
    by_sentence: bool = False,
) -> list[Leaves]:
    """The leaves of each row. most: semantic leaves that are told apart, all by default.

    by_sentence: ask an embedder that does not tell words apart about every sentence, which takes many embeddings.
    """
    pool, plan = found.pool, found.plan
    if pool is None:
        return [{} for _ in rows]
    made: dict[Signal, Mapping[int, list[Contribution]] | None] = {}
    if plan.config.fusion == "rrf":
        made = {"lexical": {}, "semantic": {}}
    else:
        if pool.lexical:
            made["lexical"] = lexical_contributions(found, _valued(rows, "lexical"), store)
        if pool.semantic and plan.semantic is not None and embedder is not None:
            made["semantic"] = _semantic(plan.semantic, rows, embedder, by_sentence=by_sentence)
    scales = {signal: scale(pool, signal, plan.config.normalize) for signal in made}
    return [
        {
            part.signal: _leaves(part, row, by_row.get(row.rowid, []), scales[part.signal], found, most=most)
            for part in row.parts
            if (by_row := made.get(part.signal)) is not None
        }
        for row in rows
    ]


def _valued(rows: Sequence[LedgerRow], signal: Signal) -> list[int]:
    """The rows that have a value for this signal."""
    return [row.rowid for row in rows if any(part.signal == signal and part.raw is not None for part in row.parts)]


def _semantic(
    question: str, rows: Sequence[LedgerRow], embedder: Embedder, *, by_sentence: bool
) -> Mapping[int, list[Contribution]] | None:
    valued = set(_valued(rows, "semantic"))
    asked = [row for row in rows if row.rowid in valued]
    made = word_contributions(embedder, question, [row.text for row in asked])
    if made is None and by_sentence:
        made = [sentence_contributions(embedder, question, row.text) for row in asked]
    return None if made is None else {row.rowid: each for row, each in zip(asked, made, strict=True)}


def _leaves(
    part: Part,
    row: LedgerRow,
    contributions: Sequence[Contribution],
    limits: tuple[float, float],
    found: Answer,
    *,
    most: int | None,
) -> list[LeafView]:
    """A part's leaves; none where the row has no value for the signal."""
    config = found.plan.config
    if part.raw is None:
        return []
    if config.fusion == "rrf":
        return [LeafView(kind="rank", text=f"rank {part.rank}", points=part.points)]
    low, high = limits
    if high <= low:
        return [LeafView(kind="scale", text=_flat(config), points=part.points)] if part.points else []
    share = _share(part, row.parts, config)
    factor = share / (high - low)
    made = [each.leaf(factor * each.value) for each in contributions]
    if part.signal == "semantic" and most is not None:
        made = largest(made, most)
    if low:
        made.append(LeafView(kind="scale", text=f"minus the pool's lowest, {low:g}", points=-factor * low))
    if part.raw < 0 and config.normalize != "minmax":
        clipped = LeafView(kind="clipped", text="a cosine below 0 counts 0", points=-_sum(made))
        return [*made, clipped] if made else []
    return [*made, *_rest(part.points - _sum(made), _ROUNDING * (factor + share))]


def largest(made: Sequence[LeafView], most: int) -> list[LeafView]:
    """The words and sentences of most points, the largest first, and one for all others; then the arithmetic.

    Ties stay in their order.
    """
    words = sorted((leaf for leaf in made if leaf["kind"] in _OF_TEXT), key=lambda leaf: -abs(leaf["points"]))
    rest = words[most:]
    others = [LeafView(kind="other", text=f"{len(rest)} smaller", points=_sum(rest), count=len(rest))] if rest else []
    return [*words[:most], *others, *(leaf for leaf in made if leaf["kind"] not in _OF_TEXT)]


def total(part: Part, made: Leaves) -> float:
    """What a part's leaves add up to; a part without leaves is its own."""
    return _sum(made[part.signal]) if part.signal in made and part.raw is not None else part.points


def _share(part: Part, parts: Sequence[Part], config: Config) -> float:
    """What a stage value of 1 gives in points: the signal's share of the weights, and of what a reranker leaves."""
    share = part.weight / fsum(each.weight for each in parts if each.signal != "rerank")
    return share * (1.0 - config.rerank_weight) if config.rerank else share


def _rest(rest: float, most: float) -> Iterator[LeafView]:
    """What is left: the sixth decimals; more than `most` where a vector was made of something else than this text."""
    if abs(rest) >= _NOISE:
        if abs(rest) <= most:
            yield LeafView(kind="rounding", text="stage values have 6 decimals", points=rest)
        else:
            yield LeafView(kind="residual", text="not accounted for", points=rest)


def _flat(config: Config) -> str:
    return f"{config.normalize}: every candidate has the same value"


def _sum(made: Sequence[LeafView]) -> float:
    return fsum(leaf["points"] for leaf in made)
