"""A measure over every weight and combination of settings, on judged queries, with the change to recommend."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from recall_core.config import Config, override
from recall_core.contract import OK
from recall_core.contract.judging import (
    BandView,
    ChangeView,
    CombinationView,
    CurveView,
    IntervalView,
    JudgedTuningView,
    PowerView,
    RecommendedView,
    SteadyView,
    SurerStepView,
    TuningView,
)
from recall_core.contract.responses import TuneResponse
from recall_core.contract.views import StatsView
from recall_core.errors import UsageError
from recall_core.evaluate.judgements import names_of
from recall_core.evaluate.measures import (
    Measure,
    differing,
    not_swept,
    parse_grid,
    parse_measure,
    retrieval,
    with_each_copy,
)
from recall_core.evaluate.questions import Questions, Unit, items, questions
from recall_core.explain.advice import LEAST_QUERIES, SIGNIFICANT, Advice, Band, advise_among, sure_change
from recall_core.explain.curve import (
    METRICS,
    Floats,
    JudgedQuery,
    Step,
    StepCurve,
    means,
    step,
    step_curve,
    values_at,
)
from recall_core.explain.lines import exact, sweepable, weight_of
from recall_core.explain.sweep import FRAGILE, order_distance, sweep
from recall_core.maintain.embedders import write_settings
from recall_core.retrieve.asking import Ask, Asker
from recall_core.retrieve.plan import Plan
from recall_core.shell import AGAIN, Hint
from recall_core.types import Pool, Progress

DEEPEST = 100
"""The largest cutoff of a swept measure."""

_METRICS = {"nDCG": "ndcg", "R": "recall", "P": "precision", "RR": "mrr", "AP": "map"}


class TuneOptions(NamedTuple):
    """Options of tune. queries and qrels: the store's if None."""

    queries: Path | None = None
    qrels: Path | None = None
    measure: str = "ndcg@10"
    grid: tuple[str, ...] = ()
    curve: bool = False
    """True to return the full curve."""
    apply: bool = False
    """True to save the recommendation."""
    unit: Unit | None = None
    """As in EvalOptions."""


class _TunedSteps(NamedTuple):
    """The steps of every query, one list per combination, and each query's distance from the current weight to a
    change.
    """

    values: list[list[Step]]
    judged: list[list[Step]]
    distances: list[float | None]


def tune(options: TuneOptions, asker: Asker, ask: Ask, *, toml: Path) -> Generator[Progress, None, TuneResponse]:
    """Find the weight and settings of the grid that the judgements support, or why they support none. Yield progress.

    The sweep uses fused ranks. Sparse-document recall only gives away rows below the cutoff. min_score, min_cosine
    and rerank are ignored and copies are not collapsed; warnings report this. The store is read in one transaction.

    Raises UsageError before the first query: `bad_queries`, `bad_qrels`, `no_judgements`, `unknown_metric`,
    `bad_value`.
    """
    started = perf_counter()
    measure = _measure(options.measure)
    config = override(asker.config, ask.settings)
    combinations = parse_grid(options.grid, config)
    with asker.store.reading():
        asked = questions(
            asker.store, names_of(asker.store), queries=options.queries, qrels=options.qrels, unit=options.unit
        )
        info = asker.store.info()
        copies = list(with_each_copy(config, asker.store))
        found = yield from _ask_all(asked, asker, ask, combinations, measure)
    tuned = Tuned(
        measure=measure.name,
        asked=asked,
        combinations=combinations,
        curves=tuple(map(step_curve, found.values)),
        judged=tuple(map(step_curve, found.judged)),
        distances=tuple(found.distances),
    )
    view = judged_view(tuned, curve=options.curve)
    if options.apply and view["recommended"] is not None:
        write_settings(toml, view["recommended"]["settings"])
        view["applied"] = {"path": str(toml), "settings": view["recommended"]["settings"]}
    took_ms = round((perf_counter() - started) * 1000, 3)
    stats = StatsView(took_ms=took_ms, snapshot=info.snapshot, digest=info.digest)
    tuning = TuningView(weight=float(weight_of(config)), judged=view)
    return {**OK, "tuning": tuning, "stats": stats, "warnings": [*asked.warnings, *not_swept(config), *copies]}


def _ask_all(
    asked: Questions, asker: Asker, ask: Ask, combinations: Sequence[Config], measure: Measure
) -> Generator[Progress, None, _TunedSteps]:
    found = _TunedSteps([[] for _ in combinations], [[] for _ in combinations], [])
    for number, (query, text) in enumerate(asked.texts.items(), start=1):
        plan_with = partial(asker.words_plan, text, ask, is_typed=False)
        pools = _pools(asker, plan_with, combinations, asked.grades[query], asked.unit)
        for place, (config, pool) in enumerate(pools):
            values, judged, distance = sweep_query(pool, config, measure, is_current=place == 0)
            found.values[place].append(values)
            found.judged[place].append(judged)
            if place == 0:
                found.distances.append(distance)
        yield Progress("ask", query, number, len(asked.texts), 0, 0, 0, 0, 0, 0, 0, 0, ())
    return found


class JudgedPool(NamedTuple):
    """One query's candidates and their judgements, independent of the ranking."""

    pool: Pool
    documents: tuple[int, ...]
    """The document of each candidate; only its best candidate counts. Each has its own number if chunks are
    measured."""
    grades: JudgedQuery
    known: JudgedQuery
    """1 for a judged candidate, 0 for others."""


def judged_pool(pool: Pool, grades: Mapping[str, int], unit: Unit) -> JudgedPool:
    """Return the pool with these grades of documents or chunks."""
    names = items(pool.keys, unit)
    gains = tuple([float(max(0, grades.get(name, 0))) for name in names])
    ideal = tuple(sorted((float(max(0, grade)) for grade in grades.values()), reverse=True))
    known = tuple([float(name in grades) for name in names])
    documents = tuple([key.doc_rowid if unit == "doc" else place for place, key in enumerate(pool.keys)])
    return JudgedPool(pool, documents, JudgedQuery(gains, ideal), JudgedQuery(known, ()))


def _pools(
    asker: Asker,
    plan: Callable[[], Plan],
    combinations: Sequence[Config],
    grades: Mapping[str, int],
    unit: Unit,
) -> Iterator[tuple[Config, JudgedPool]]:
    """Yield the pool of each combination. Combinations that differ only in ranking share one."""
    pools: dict[tuple[object, ...], JudgedPool] = {}
    for config in combinations:
        key = retrieval(config)
        if key not in pools:
            plain = config._replace(rerank="", sparse_recall=False, collapse=False, min_score=0.0, min_cosine=0.0)
            pool = asker.answer(plan()._replace(config=plain)).pool
            assert pool is not None  # noqa: S101 - a search for words has signals
            pools[key] = judged_pool(pool, grades, unit)
        yield config, pools[key]


def sweep_query(
    judged: JudgedPool, config: Config, measure: Measure, *, is_current: bool
) -> tuple[Step, Step, float | None]:
    """Return the measure and the judged share over all weights, and for current settings the distance to a change."""
    k = measure.cutoff or DEEPEST
    swept = sweep(sweepable(judged.pool, config), k, judged.documents)
    values = step(swept, judged.grades, METRICS[_METRICS[measure.kind]], k)
    distance = order_distance(swept, weight_of(config)) if is_current else None
    return values, step(swept, judged.known, _share, k), distance


def _share(gains: Floats, ideal: Floats, k: int) -> Floats:
    """Return the share of the rows that count."""
    found: Floats = gains.sum(axis=1) / max(1, gains.shape[1])
    return found


def _measure(text: str) -> Measure:
    """Return the measure; its cutoff is the depth of the sweep."""
    measure = parse_measure(text)
    if measure.kind not in _METRICS:
        message = f"{text} cannot be swept. Use one of: {', '.join(_METRICS.values())}."
        raise UsageError("bad_value", message, hint=Hint(AGAIN, metric="ndcg@10"))
    if measure.cutoff is None or measure.cutoff > DEEPEST:
        message = f"{text} cannot be swept: it needs a cutoff from 1 to {DEEPEST}."
        raise UsageError("bad_value", message, hint=Hint(AGAIN, metric="ndcg@10"))
    return measure


REASONS = {
    "few_queries": f"fewer than {LEAST_QUERIES} judged queries are not enough",
    "not_significant": f"chance alone gives as large a gain in more than {SIGNIFICANT:.0%} of cases",
    "no_honest_gain": "weights chosen on the other queries gain nothing on a query left out",
    "plateau_not_better": "the middle of the best range of weights is no better than the current weight",
}
"""Why no weight is recommended, by code."""


class Tuned(NamedTuple):
    """A measure over all weights, for each combination of settings, the current one first."""

    measure: str
    asked: Questions
    combinations: tuple[Config, ...]
    curves: tuple[StepCurve, ...]
    judged: tuple[StepCurve, ...]
    """The share of judged rows, as curves."""
    distances: tuple[float | None, ...]
    """For each query, the distance from the current weight to one that changes the order of its first rows."""


def judged_view(tuned: Tuned, *, curve: bool) -> JudgedTuningView:
    """Return the best combination compared with the current settings. curve: True to include the mean at every
    weight.
    """
    highest = [float(means(each).max()) for each in tuned.curves]
    best = highest.index(max(highest))
    current = values_at(tuned.curves[0], weight_of(tuned.combinations[0]))
    rivals = tuple(each for place, each in enumerate(tuned.curves) if place != best)
    advice = advise_among(tuned.curves[best], current, rivals)
    settings = differing(tuned.combinations[best], tuned.combinations[0])
    asked = tuned.asked
    distances = [each for each in tuned.distances if each is not None]
    widest = max(advice.best_weights, key=lambda band: band.high - band.low)
    weight = (widest.low + widest.high) / 2 if advice.recommended is None else advice.recommended
    now = values_at(tuned.judged[0], weight_of(tuned.combinations[0]))
    view = JudgedTuningView(
        measure=tuned.measure,
        unit=asked.unit,
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
        expected_gain=advice.expected_gain,
        power=_power(advice),
        p=advice.p,
        p_picked=advice.p_picked,
        stability=SteadyView(
            fragile=sum(each < FRAGILE for each in distances), median=median(distances) if distances else None
        ),
        judged={"current": _mean(now), "best": _mean(values_at(tuned.judged[best], weight))},
        combinations=[_combination(tuned, place, advice.current) for place in range(len(tuned.curves))],
        winners=_changes(asked, advice, advice.winners, current),
        losers=_changes(asked, advice, advice.losers, current),
        surer_step=_surer_step(tuned, current, advice),
        recommended=_recommended_view(tuned.curves[best], settings, advice.recommended),
    )
    if advice.refusal is not None:
        view["refused"] = {"code": advice.refusal, "reason": REASONS[advice.refusal]}
    if curve:
        whole = tuned.curves[best]
        view["curve"] = CurveView(weights=whole.places.tolist(), means=means(whole).tolist())
    return view


def weights(share: float) -> dict[str, str | float]:
    """Return the two settings of a semantic weight; their sum is 1."""
    return {"bm25_weight": float(1 - exact(share)), "vector_weight": float(exact(share))}


def bands(found: Iterable[Band]) -> list[BandView]:
    """Return open bands of weights as views."""
    return [BandView(low=each.low, high=each.high) for each in found]


def _recommended_view(
    curve: StepCurve, settings: dict[str, str | float], weight: float | None
) -> RecommendedView | None:
    if weight is None:
        return None
    return RecommendedView(
        weight=weight, mean=_mean(values_at(curve, weight)), settings={**weights(weight), **settings}
    )


def _power(advice: Advice) -> PowerView:
    power = advice.power
    return PowerView(
        deviation=power.deviation,
        detectable=power.detectable,
        more_queries=power.more_queries,
        more_queries_expected=power.more_queries_expected,
    )


def _surer_step(tuned: Tuned, current: Floats, advice: Advice) -> SurerStepView | None:
    if len(current) < LEAST_QUERIES:
        return None
    other = [differing(each, tuned.combinations[0]) for each in tuned.combinations]
    now = weight_of(tuned.combinations[0])
    found = sure_change(tuned.curves, current, now, changed=[len(each) for each in other], largest=advice.largest)
    if found is None:
        return None
    moved = {} if found.weight == float(now) else weights(found.weight)
    return SurerStepView(
        weight=found.weight,
        mean=advice.current + found.gain,
        settings={**moved, **other[found.curve]},
        gain=found.gain,
        gain_interval=_interval(found.gain_ci),
        expected_gain=found.expected_gain,
        p=found.p,
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


def _interval(band: Band) -> IntervalView:
    return IntervalView(low=band.low, high=band.high)


def _mean(values: Floats) -> float:
    return float(values.sum() / len(values))
