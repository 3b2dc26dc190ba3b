"""The points of a score, split by phrase, word or sentence, and a sentence on what a rank depends on most.

A lexical score splits exactly into its phrases, for any expression. A cosine splits into words if the embedder can
separate them, else into sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import factorial, fsum
from operator import mul
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast, get_args

from recall_core.config import Config
from recall_core.contract.ledger import ColumnsView, ExplainView, LeafKind, LeafView, PartView
from recall_core.deadline import check
from recall_core.embed.model_files import components
from recall_core.ports import Additive, Embedder
from recall_core.rank.bm25 import IDF_FLOOR, contributions
from recall_core.rank.weighing import DECIMALS, Ranking, scale
from recall_core.retrieve.answer import Answer, embedded_of
from recall_core.retrieve.pool import lexical_query
from recall_core.store.port import Store
from recall_core.types import Hit, Occurrences, Part, Pool, Signal
from recall_core.views import Leaves

MOST = 12
"""Players up to which every coalition is evaluated."""


def shapley(worth: Callable[[int], float], players: int) -> list[float]:
    """Return each player's share of worth(all) - worth(none), exact over all 2 ** players coalitions (Shapley 1953).

    The shares add up to the difference, except for float rounding. A player that never matters gets exactly 0.
    worth: of a coalition, a bit mask where bit i is player i; called once for each.
    """
    if players > MOST:
        raise ValueError(f"{players} players make too many coalitions")
    worths = [worth(coalition) for coalition in range(1 << players)]
    # The share of all orders in which exactly this many players come before a given one.
    chance = [factorial(size) * factorial(players - 1 - size) / factorial(players) for size in range(players)]
    return [
        fsum(
            chance[coalition.bit_count()] * (worths[coalition | 1 << player] - worths[coalition])
            for coalition in range(1 << players)
            if not coalition >> player & 1
        )
        for player in range(players)
    ]


Factor = Literal["weights", "fusion", "normalizer", "lexical", "semantic", "rerank"]
FACTORS: tuple[Factor, ...] = get_args(Factor)


class RawSignal(NamedTuple):
    """A signal's raw value and the rank by that signal alone; both None if the candidate has none."""

    value: float | None
    rank: int | None


class Scale(NamedTuple):
    """The normalization method, and for each signal the raw values that become 0 and 1."""

    method: str
    lexical: tuple[float, float]
    semantic: tuple[float, float]


class Inputs(NamedTuple):
    """Everything that one candidate's score depends on, in the order of FACTORS.

    weights: of lexical and semantic; 0 for a signal that is not in use.
    fusion: the name and rrf_k.
    rerank: the reranker's weight and its value; (0, 0) without one.
    """

    weights: tuple[float, float]
    fusion: tuple[str, int]
    normalizer: Scale
    lexical: RawSignal
    semantic: RawSignal
    rerank: tuple[float, float]


class FactorShare(NamedTuple):
    """A factor's share of a difference between two scores."""

    factor: Factor
    points: float


def inputs_at(position: int, ranking: Ranking, pool: Pool, config: Config) -> Inputs:
    """Return the inputs to the score of the candidate at this position of a pool, under this config."""
    columns = {column.signal: column for column in ranking.columns}
    lexical, semantic = (
        RawSignal(columns[signal].raw[position], columns[signal].ranks[position])
        if signal in columns
        else RawSignal(None, None)
        for signal in _SIGNALS
    )
    weights = [columns[signal].weight if signal in columns else 0.0 for signal in _SIGNALS]
    rerank = columns.get("rerank")
    return Inputs(
        weights=(weights[0], weights[1]),
        fusion=(config.fusion, config.rrf_k if config.fusion == "rrf" else 0),
        normalizer=Scale(config.normalize, *(scale(pool, signal, config.normalize) for signal in _SIGNALS)),
        lexical=lexical,
        semantic=semantic,
        rerank=(0.0, 0.0) if rerank is None else (rerank.weight, rerank.values[position]),
    )


def score_of(inputs: Inputs) -> float:
    """Return the score of these inputs after fusion and reranking, except for float rounding."""
    fusion, rrf_k = inputs.fusion
    raws = inputs.lexical, inputs.semantic
    total = sum(inputs.weights)
    if fusion == "rrf":
        gained = [w / (rrf_k + raw.rank) for w, raw in zip(inputs.weights, raws, strict=True) if raw.rank is not None]
        fused = sum(gained) * (rrf_k + 1) / total
    else:
        values = [
            stage_value(raw.value, signal, inputs.normalizer) for raw, signal in zip(raws, _SIGNALS, strict=True)
        ]
        fused = sum(w * value for w, value in zip(inputs.weights, values, strict=True)) / total
    share, value = inputs.rerank
    return (1 - share) * fused + share * value


def points_of(inputs: Inputs) -> dict[Signal, float]:
    """Return the points of each signal; they add up to `score_of`, except for float rounding."""
    fusion, rrf_k = inputs.fusion
    share, value = inputs.rerank
    points: dict[Signal, float] = {}
    for signal, weight, raw in zip(_SIGNALS, inputs.weights, (inputs.lexical, inputs.semantic), strict=True):
        if weight:
            gained = stage_value(raw.value, signal, inputs.normalizer)
            if fusion == "rrf":
                gained = 0.0 if raw.rank is None else (rrf_k + 1) / (rrf_k + raw.rank)
            points[signal] = (1 - share) * weight * gained / sum(inputs.weights)
    if share:
        points["rerank"] = share * value
    return points


def stage_value(raw: float | None, signal: Signal, used: Scale) -> float:
    """Return a raw value on this scale. It may leave 0 to 1 if the scale comes from another pool."""
    low, high = used.lexical if signal == "lexical" else used.semantic
    if raw is None:
        return 0.0
    if used.method == "bound":
        if signal == "semantic":
            return max(0.0, raw)
        return min(1.0, round(raw / high, DECIMALS)) if high > 0 else 0.0
    if used.method == "max":
        raw = max(0.0, raw)
    if high <= low:
        return 1.0 if used.method == "minmax" else 0.0
    return round((raw - low) / (high - low), DECIMALS)


def causes(a: Inputs, b: Inputs) -> tuple[FactorShare, ...]:
    """Return score_of(b) - score_of(a) as a sum of the share of each factor that changed, by Shapley values.

    Factors that are equal on both sides, and factors with a share of 0, are left out.
    """
    changed = [place for place, factor in enumerate(FACTORS) if a[place] != b[place]]

    def worth(coalition: int) -> float:
        taken = {FACTORS[place]: b[place] for bit, place in enumerate(changed) if coalition >> bit & 1}
        return score_of(a._replace(**taken))  # type: ignore[arg-type]  # each value is of the field it goes into

    shares = shapley(worth, len(changed))
    named = zip(changed, shares, strict=True)
    return tuple(FactorShare(FACTORS[place], points) for place, points in named if points)


_SIGNALS: tuple[Signal, Signal] = ("lexical", "semantic")


class Contribution(NamedTuple):
    """A summand of a raw value, in the signal's own unit, with its details."""

    kind: LeafKind
    text: str
    value: float
    details: Mapping[str, Any] = MappingProxyType({})

    def leaf(self, points: float) -> LeafView:
        """Return the contribution as a leaf with these points."""
        view = {"kind": self.kind, "text": self.text, "points": points, "contribution": self.value, **self.details}
        return cast(LeafView, view)


def lexical_contributions(answer: Answer, rowids: Sequence[int], store: Store) -> dict[int, list[Contribution]]:
    """Return for each rowid its phrases in query order; their values add up to the row's raw lexical value.

    One pass over the rows, scored by FTS5, or by BM25F if the answer was ranked with it. Empty for ts_rank, which is
    not a sum over words.
    """
    query, _ = lexical_query(answer.plan, store)
    if query is None or answer.pool is None or answer.pool.lexical_model == "ts_rank" or not rowids:
        return {}
    config = answer.plan.config._replace(lexical_model=answer.pool.lexical_model)
    standing = store.phrases(query, answer.pool.terms, rowids)
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
"""Sentences up to which every subset is embedded."""

_SENTENCE = re.compile(r".+?(?:[.!?][\"'”’)\]]*\s+|[。！？]\s*|\n\s*\n|\Z)", re.DOTALL)


def word_contributions(embedder: Embedder, question: str, texts: Sequence[str]) -> list[list[Contribution]] | None:
    """Return for each text the words' contributions to its cosine; None if the embedder cannot separate words."""
    if not isinstance(embedder, Additive):
        return None
    return [[Contribution(*share) for share in shares] for shares in embedder.shares(question, texts)]


def sentence_contributions(embedder: Embedder, question: str, text: str) -> list[Contribution]:
    """Return each sentence's contribution to the cosine of a question and a text, for a black-box embedder.

    Up to 8 sentences: exact Shapley values, which add up to the cosine, from all 2 ** n - 1 subsets, embedded in one
    call (Shapley 1953). More sentences: the cosine lost without each one (kind "removal"), and a residual.
    """
    check()
    pieces = sentences(text)
    (asked,) = embedder.embed([question], is_query=True)
    if not asked or not pieces:
        return []
    axis = components(asked)
    if len(pieces) <= SHAPLEY_SENTENCES:
        subsets = [
            "".join(piece for i, piece in enumerate(pieces) if coalition >> i & 1)
            for coalition in range(1, 1 << len(pieces))
        ]
        worths = [0.0, *_cosines(embedder, axis, subsets)]
        values = shapley(worths.__getitem__, len(pieces))
        return [Contribution("sentence", *each) for each in zip(_tidy(pieces), values, strict=True)]
    without = ["".join(pieces[:i] + pieces[i + 1 :]) for i in range(len(pieces))]
    whole, *rest = _cosines(embedder, axis, [text, *without])
    lost = [whole - cosine for cosine in rest]
    removals = [Contribution("removal", *each) for each in zip(_tidy(pieces), lost, strict=True)]
    return [*removals, Contribution("residual", "sentences together", whole - fsum(lost))]


def sentences(text: str) -> list[str]:
    """Split the text after every sentence and empty line. Joined again, the pieces are the text.

    >>> sentences("Retry once. Then give up!")
    ['Retry once. ', 'Then give up!']
    """
    return _SENTENCE.findall(text) if text.strip() else []


def _tidy(pieces: Sequence[str]) -> list[str]:
    return [" ".join(piece.split()) for piece in pieces]


def _cosines(embedder: Embedder, axis: Sequence[float], texts: Sequence[str]) -> list[float]:
    vectors = embedder.embed(texts)
    return [fsum(map(mul, axis, components(vector))) if vector else 0.0 for vector in vectors]


MOST_WORDS = 8
"""Semantic leaves of a row in a list, largest first. The others become one leaf."""

_OF_TEXT = ("feature", "collision", "token", "sentence", "removal")
_ROUNDING = 2e-6  # half a unit of the sixth decimal, in a raw value and its stage value, and float32 storage
_NOISE = 1e-10
"""Anything smaller comes from rounding floats, not stage values."""


class LedgerRow(NamedTuple):
    """A row of an answer's pool whose parts are split into leaves."""

    rowid: int
    text: str
    """The text that the embedder received."""
    parts: tuple[Part, ...]


def hit_leaves(answer: Answer, hits: Sequence[Hit], *, store: Store, embedder: Embedder | None) -> list[Leaves]:
    """Return the leaves of each hit: lexical ones, and semantic ones if the embedder can separate words.

    The leaves of a part add up to its points within 1e-9.
    """
    if answer.pool is None or answer.ranked is None:
        return [{} for _ in hits]
    keys, order = answer.pool.keys, answer.ranked.order
    rows = [row_to_explain(keys[order[hit.rank - 1]].rowid, hit) for hit in hits]
    return leaves(answer, rows, store=store, embedder=embedder, most=MOST_WORDS)


def row_to_explain(rowid: int, hit: Hit) -> LedgerRow:
    """Return the hit with the text that its embedder received."""
    text = "" if hit.chunk is None else embedded_of(hit.doc, hit.chunk)
    return LedgerRow(rowid, text, hit.parts)


def leaves(
    answer: Answer,
    rows: Sequence[LedgerRow],
    *,
    store: Store,
    embedder: Embedder | None,
    most: int | None = None,
    by_sentence: bool = False,
) -> list[Leaves]:
    """Return the leaves of each row. The leaves of a part add up to its points.

    most: semantic leaves to list one by one; all by default.
    by_sentence: embed every sentence if the embedder does not separate words, which takes many embeddings.
    """
    pool, plan = answer.pool, answer.plan
    if pool is None:
        return [{} for _ in rows]
    made: dict[Signal, Mapping[int, list[Contribution]] | None] = {}
    if plan.config.fusion == "rrf":
        made = {"lexical": {}, "semantic": {}}
    else:
        if pool.lexical_model == "ts_rank":
            raws = {row.rowid: part.raw for row in rows for part in row.parts if part.signal == "lexical"}
            made["lexical"] = {rowid: [Contribution("model", "ts_rank", raw)] for rowid, raw in raws.items() if raw}
        elif pool.lexical:
            made["lexical"] = lexical_contributions(answer, _rows_with_value(rows, "lexical"), store)
        if pool.semantic and plan.semantic is not None and embedder is not None:
            given = set(store.given_vectors([row.rowid for row in rows]))  # the embedder knows nothing of these
            own = [row for row in rows if row.rowid not in given]
            made["semantic"] = _semantic(plan.semantic, own, embedder, by_sentence=by_sentence)
    scales = {signal: scale(pool, signal, plan.config.normalize) for signal in made}
    return [
        {
            part.signal: _leaves(part, row, by_row.get(row.rowid, []), scales[part.signal], answer, most=most)
            for part in row.parts
            if (by_row := made.get(part.signal)) is not None
        }
        for row in rows
    ]


def _rows_with_value(rows: Sequence[LedgerRow], signal: Signal) -> list[int]:
    """Return the rowids with a value for this signal."""
    return [row.rowid for row in rows if any(part.signal == signal and part.raw is not None for part in row.parts)]


def _semantic(
    question: str, rows: Sequence[LedgerRow], embedder: Embedder, *, by_sentence: bool
) -> Mapping[int, list[Contribution]] | None:
    valued = set(_rows_with_value(rows, "semantic"))
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
    answer: Answer,
    *,
    most: int | None,
) -> list[LeafView]:
    """Return a part's leaves; none if the row has no value for the signal."""
    config = answer.plan.config
    if part.raw is None:
        return []
    if config.fusion == "rrf":
        return [LeafView(kind="rank", text=f"rank {part.rank}", points=part.points)]
    low, high = limits
    if high <= low:
        return (
            [
                LeafView(
                    kind="scale", text=f"{config.normalize}: every candidate has the same value", points=part.points
                )
            ]
            if part.points
            else []
        )
    share = _share(part, row.parts, config)
    factor = share / (high - low)
    made = [each.leaf(factor * each.value) for each in contributions]
    if part.signal == "semantic" and most is not None:
        made = largest(made, most)
    if low:
        made.append(LeafView(kind="scale", text=f"minus the pool minimum,  {low:g}", points=-factor * low))
    if part.raw < 0 and config.normalize != "minmax":
        clipped = LeafView(kind="clipped", text="cosine below 0 counts as 0", points=-_sum(made))
        return [*made, clipped] if made else []
    return [*made, *_rest(part.points - _sum(made), _ROUNDING * (factor + share))]


def largest(made: Sequence[LeafView], most: int) -> list[LeafView]:
    """Return the largest words and sentences, then one leaf for the rest, then the arithmetic leaves.

    Ties keep their order.
    """
    words = sorted((leaf for leaf in made if leaf["kind"] in _OF_TEXT), key=lambda leaf: -abs(leaf["points"]))
    rest = words[most:]
    others = [LeafView(kind="other", text=f"{len(rest)} smaller", points=_sum(rest), count=len(rest))] if rest else []
    return [*words[:most], *others, *(leaf for leaf in made if leaf["kind"] not in _OF_TEXT)]


def total(part: Part, made: Leaves) -> float:
    """Return the sum of a part's leaves, or its own points if it has none."""
    return _sum(made[part.signal]) if part.signal in made and part.raw is not None else part.points


def _share(part: Part, parts: Sequence[Part], config: Config) -> float:
    """Return the points of a stage value of 1: the signal's weight times the share that a reranker leaves."""
    share = part.weight / fsum(each.weight for each in parts if each.signal != "rerank")
    return share * (1.0 - config.rerank_weight) if config.rerank else share


def _rest(rest: float, most: float) -> Iterator[LeafView]:
    """Yield the remainder: rounding, or a residual above `most` if a vector was made from another text."""
    if abs(rest) >= _NOISE:
        if abs(rest) <= most:
            yield LeafView(kind="rounding", text="stage values have 6 decimals", points=rest)
        else:
            yield LeafView(kind="residual", text="not accounted for", points=rest)


def _sum(made: Sequence[LeafView]) -> float:
    return fsum(leaf["points"] for leaf in made)


_NAMED = ("term", "feature", "token", "sentence")
_LONGEST = 60  # characters of a quoted sentence
_SIGNALS_IN_WORDS = {"lexical": "its words", "semantic": "its meaning", "rerank": "the reranker"}


class Among(NamedTuple):
    """A row's surroundings in the answer."""

    rank: int | None
    """From 1; None if the list does not contain the row."""
    of: int
    chunks: int
    """Chunks in the whole store."""
    shown: int = 0
    """Rows shown, including this one."""
    terms_of_others: Collection[str] | None = None
    """The phrases for which another row shown has points; None if unknown."""
    lead: float | None = None
    """The first row's lead over the second, if the score decided their order."""
    distance: float | None = None
    """1 - cosine of the document, if sparse-document recall gave it this row."""


class Support(NamedTuple):
    """The leaf that gives most points, or the whole part if it has no leaf (leaf is None)."""

    part: PartView
    leaf: LeafView | None
    points: float


def sentence(view: ExplainView, among: Among) -> str:
    """Return a sentence on what the place depends on most.

    It names the largest leaf: a phrase of the query, or the largest semantic leaf. It uses `because` only if the row
    leads by less than that leaf gives, and no other row shown has points for it.
    """
    where = "not in the list"
    if among.rank is not None:
        where = "first" if among.rank == 1 else f"row {among.rank:,} of {among.of:,}"
    if among.distance is not None:
        short = f"short document at distance {among.distance:g}"
        return f"{where}: sparse-document recall gave it this row ({short})"
    support = support_of(view)
    if support is None:
        return f"{where}, 0 points: nothing in the query matches it"
    source, score = _describe(support, among.chunks), sum(part["points"] for part in view["parts"])
    share = f"{support.points:.3f} of {score:.3f}"
    if round(support.points, 3) > round(score, 3):  # more than rounding explains
        share = f"{support.points:.3f}, reduced to {score:.3f} by other parts"
    if not _is_alone(support, among):
        return f"{where}, mostly from {source}: {share}"
    if among.rank == 1 and among.lead is not None and support.points > among.lead:
        return f"{where} because no other row shown has points for {source}: {share}"
    return f"{where}, mostly from {source}: {share}; no other row shown has points for it"


def support_of(view: ExplainView) -> Support | None:
    """Return the largest source of points, or None. Ties go to the first one."""
    parts = [part for part in view["parts"] if part["points"] > 0]
    if not parts:
        return None
    best = max((each for part in parts for each in _supports(part)), key=lambda each: each.points)
    hidden = max((_most_hidden(part) for part in parts), default=0.0)
    if best.leaf is None or best.points <= 0 or best.points < hidden:
        part = max(parts, key=lambda part: part["points"])
        return Support(part, None, part["points"])
    return best


def _supports(part: PartView) -> Iterator[Support]:
    named = [leaf for leaf in part.get("leaves", []) if leaf["kind"] in _NAMED]
    yield from (Support(part, leaf, leaf["points"]) for leaf in named)
    if not named:
        yield Support(part, None, part["points"])


def _most_hidden(part: PartView) -> float:
    """Return the most points that one leaf inside the combined leaf may have."""
    leaves = part.get("leaves", [])
    if all(leaf["kind"] != "other" for leaf in leaves):
        return 0.0
    return min(abs(leaf["points"]) for leaf in leaves if leaf["kind"] in (*_NAMED, "collision", "removal"))


def _describe(support: Support, chunks: int) -> str:
    leaf = support.leaf
    if leaf is None:
        return _SIGNALS_IN_WORDS[support.part["signal"]]
    text = " ".join(leaf["text"].split())
    if leaf["kind"] == "term":
        return f"*{text}* (in {leaf['df']:,} of {chunks:,} chunk{'' if chunks == 1 else 's'})"
    if leaf["kind"] == "sentence":
        return f"the meaning of “{text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}”"
    return f"the meaning of *{text}*"


def _is_alone(support: Support, among: Among) -> bool:
    leaf = support.leaf
    if leaf is None or leaf["kind"] != "term" or among.terms_of_others is None or among.shown < 2:
        return False
    return leaf["text"] not in among.terms_of_others


def terms_of(view: ExplainView) -> list[str]:
    """Return the phrases for which a row has points."""
    return [leaf["text"] for part in view["parts"] for leaf in part.get("leaves", []) if leaf["kind"] == "term"]


def add_sentences(views: Sequence[ExplainView], hits: Sequence[Hit], answer: Answer, store: Store) -> None:
    """Add a summary sentence to every hit of a page. Each hit needs all the others."""
    chunks, counted = store.info().chunks, [terms_of(view) for view in views]
    for place, (view, hit) in enumerate(zip(views, hits, strict=True)):
        view["summary"] = sentence(
            view,
            Among(
                rank=hit.rank,
                of=answer.total,
                chunks=chunks,
                shown=len(hits),
                terms_of_others={text for at, texts in enumerate(counted) if at != place for text in texts},
                lead=_lead(answer, hits) if hit.rank == 1 else None,
                distance=None if hit.injection is None else hit.injection.distance,
            ),
        )


def _lead(answer: Answer, hits: Sequence[Hit]) -> float | None:
    """Return the first row's lead over the second, or None if their scores did not decide the order."""
    if len(hits) < 2 or answer.plan.order or any(hit.injection is not None or hit.score is None for hit in hits[:2]):
        return None
    first, second = (hit.score for hit in hits[:2])
    return None if first is None or second is None or first <= second else first - second
