"""What a score is made of, so that the difference between two of them can be split among what changed."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, fsum
from typing import Literal, NamedTuple, get_args

from recall_core.config import Config
from recall_core.rank.normalize import DECIMALS, scale
from recall_core.rank.weighing import Column, Ranking
from recall_core.types import Pool, Signal

MOST = 12

"""Players up to which every coalition is looked at."""


def shapley(worth: Callable[[int], float], players: int) -> list[float]:
    """Each player's share of worth(all) - worth(none), exact over all 2 ** players coalitions (Shapley 1953).

    worth: of a coalition, a bit mask in which bit i stands for player i; asked once each. The shares add up to the
    difference but for the rounding of floats; a player who never matters gets exactly 0.
    """
    if players > MOST:
        raise ValueError(f"{players} players make too many coalitions")
    worths = [worth(coalition) for coalition in range(1 << players)]
    # How many orders of the players put this many of them before a given one, over all orders.
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
    """A signal's raw value and its rank in that signal alone; both None where the candidate has none."""

    value: float | None
    rank: int | None


class Scale(NamedTuple):
    """How raw values become stage values: the method, and for each signal the raw values that become 0 and 1."""

    method: str
    lexical: tuple[float, float]
    semantic: tuple[float, float]


class Inputs(NamedTuple):
    """Everything that one candidate's score depends on, in the order of FACTORS.

    weights: of lexical and semantic, 0 for one that was not asked.  fusion: its name and rrf_k.  rerank: the share of
    a reranker, and what it said; (0, 0) without one.
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
    """What the score of the candidate at this position of a pool was made of under this config."""
    columns = {column.signal: column for column in ranking.columns}
    lexical, semantic = (_raw(columns.get(signal), position) for signal in _SIGNALS)
    lexical_weight, semantic_weight = (_weight(columns.get(signal)) for signal in _SIGNALS)
    rerank = columns.get("rerank")
    return Inputs(
        weights=(lexical_weight, semantic_weight),
        fusion=(config.fusion, config.rrf_k if config.fusion == "rrf" else 0),
        normalizer=Scale(config.normalize, *(scale(pool, signal, config.normalize) for signal in _SIGNALS)),
        lexical=lexical,
        semantic=semantic,
        rerank=(0.0, 0.0) if rerank is None else (rerank.weight, rerank.values[position]),
    )


def score_of(inputs: Inputs) -> float:
    """The score that `rank`, and behind it the reranker, gives to these inputs, but for the last bits of a float."""
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
    """What each signal that was asked gives to the score; together they are `score_of`, but for the last bits."""
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
    """One raw value on this scale; beyond 0 and 1 where the scale was measured on another pool."""
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
    """score_of(b) - score_of(a) as the sum of what each factor that changed did, by Shapley values.

    A factor that is the same on both sides takes no part; one that changed nothing is left out.
    """
    changed = [place for place, factor in enumerate(FACTORS) if a[place] != b[place]]

    def worth(coalition: int) -> float:
        taken = {FACTORS[place]: b[place] for bit, place in enumerate(changed) if coalition >> bit & 1}
        return score_of(a._replace(**taken))  # type: ignore[arg-type]  # each value is of the field it goes into

    shares = shapley(worth, len(changed))
    named = zip(changed, shares, strict=True)
    return tuple(FactorShare(FACTORS[place], points) for place, points in named if points)


_SIGNALS: tuple[Signal, Signal] = ("lexical", "semantic")


def _raw(column: Column | None, position: int) -> RawSignal:
    return RawSignal(None, None) if column is None else RawSignal(column.raw[position], column.ranks[position])


def _weight(column: Column | None) -> float:
    return 0.0 if column is None else column.weight
