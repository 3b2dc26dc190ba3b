"""What swept queries say, as the contract spells it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from recall_core.config import Config
from recall_core.contract.evaluation import IntervalView
from recall_core.contract.tuning import (
    BandView,
    ChangeView,
    CombinationView,
    CurveView,
    JudgedTuningView,
    RecommendedView,
    SteadyView,
)
from recall_core.evaluate.questions import Questions
from recall_core.explain.advice import LEAST_QUERIES, SIGNIFICANT, Advice, Band, advise_among
from recall_core.explain.curve import Floats, StepCurve, means, values_at
from recall_core.explain.lines import exact, weight_of
from recall_core.explain.stability import FRAGILE
from recall_core.tuning.grid import differing

REASONS = {
    "few_queries": f"fewer than {LEAST_QUERIES} judged queries say too little",
    "not_significant": f"chance gives as large a gain somewhere in more than {SIGNIFICANT:.0%} of all cases",
    "no_honest_gain": "the weight that is best for the other queries gains nothing on the one left out",
    "plateau_not_better": "the middle of the weights that are as good as the best is no better than the current one",
}
"""Why nothing is recommended, by code."""


class Tuned(NamedTuple):
    """A measure over all weights, for each combination of settings, the current ones first."""

    measure: str
    asked: Questions
    combinations: tuple[Config, ...]
    curves: tuple[StepCurve, ...]
    judged: tuple[StepCurve, ...]
    """The share of judged rows in place of the measure."""
    distances: tuple[float | None, ...]
    """Of each query, from the current weight to one at which its first rows change their order."""


def judged_view(tuned: Tuned, *, curve: bool) -> JudgedTuningView:
    """The best combination against the current settings. curve: with the mean at every weight."""
    highest = [float(means(each).max()) for each in tuned.curves]
    best = highest.index(max(highest))
    current = values_at(tuned.curves[0], weight_of(tuned.combinations[0]))
    rivals = tuple(each for place, each in enumerate(tuned.curves) if place != best)
    advice = advise_among(tuned.curves[best], current, rivals)
    settings = differing(tuned.combinations[best], tuned.combinations[0])
    asked = tuned.asked
    view = JudgedTuningView(
        measure=tuned.measure,
        queries=len(asked.texts),
        unjudged=asked.unjudged,
        without_relevant=asked.without_relevant,
        judgements=asked.judgements,
        unknown=asked.unknown,
        current=advice.current,
        best=advice.best,
        settings=settings,
        best_weights=bands(advice.best_weights),
        plateau=bands(advice.plateau),
        best_weight_interval=_interval(advice.best_weight_ci),
        gain=advice.gain,
        gain_interval=_interval(advice.gain_ci),
        honest_gain=advice.honest_gain,
        p=advice.p,
        p_picked=advice.p_picked,
        stability=_steady(tuned.distances),
        judged=_judged(tuned, best, advice),
        combinations=[_combination(tuned, place, advice.current) for place in range(len(tuned.curves))],
        winners=_changes(asked, advice, advice.winners, current),
        losers=_changes(asked, advice, advice.losers, current),
        recommended=_recommended(tuned.curves[best], settings, advice.recommended),
    )
    if advice.refusal is not None:
        view["refused"] = {"code": advice.refusal, "reason": REASONS[advice.refusal]}
    if curve:
        whole = tuned.curves[best]
        view["curve"] = CurveView(weights=whole.places.tolist(), means=means(whole).tolist())
    return view


def weights(share: float) -> dict[str, str | float]:
    """The two settings that stand for a share of the weight; their sum is 1."""
    return {"bm25_weight": float(1 - exact(share)), "vector_weight": float(exact(share))}


def bands(found: Iterable[Band]) -> list[BandView]:
    """Open bands of weights."""
    return [BandView(low=each.low, high=each.high) for each in found]


def _recommended(curve: StepCurve, settings: dict[str, str | float], weight: float | None) -> RecommendedView | None:
    if weight is None:
        return None
    return RecommendedView(
        weight=weight, mean=_mean(values_at(curve, weight)), settings={**weights(weight), **settings}
    )


def _combination(tuned: Tuned, place: int, current: float) -> CombinationView:
    curve = tuned.curves[place]
    mean = means(curve)
    top = mean == mean.max()
    chosen = [Band(*curve.places[at : at + 2].tolist()) for at in top.nonzero()[0].tolist()]
    return CombinationView(
        settings=differing(tuned.combinations[place], tuned.combinations[0]),
        cells=curve.cells,
        best=float(mean.max()),
        best_weights=bands(chosen),
        gain=float(mean.max()) - current,
    )


def _judged(tuned: Tuned, best: int, advice: Advice) -> dict[str, float]:
    widest = max(advice.best_weights, key=lambda band: band.high - band.low)
    weight = (widest.low + widest.high) / 2 if advice.recommended is None else advice.recommended
    now = values_at(tuned.judged[0], weight_of(tuned.combinations[0]))
    return {"current": _mean(now), "best": _mean(values_at(tuned.judged[best], weight))}


def _changes(asked: Questions, advice: Advice, chosen: Sequence[int], current: Floats) -> list[ChangeView]:
    queries = list(asked.texts.items())
    return [
        ChangeView(
            query=queries[each][0],
            text=queries[each][1],
            before=float(current[each]),
            after=float(current[each]) + advice.gains[each],
        )
        for each in chosen
    ]


def _steady(distances: Sequence[float | None]) -> SteadyView:
    known = [each for each in distances if each is not None]
    fragile = sum(each < FRAGILE for each in known)
    return SteadyView(fragile=fragile, median=median(known) if known else None)


def _interval(band: Band) -> IntervalView:
    return IntervalView(low=band.low, high=band.high)


def _mean(values: Floats) -> float:
    return float(values.sum() / len(values))
