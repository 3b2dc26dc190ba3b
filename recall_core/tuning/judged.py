"""A measure over every weight and every combination of settings, on judged queries: what to change, if anything."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from recall_core import respond
from recall_core.config import Config
from recall_core.contract import Response, StatsView
from recall_core.contract.tuning import TuningView
from recall_core.errors import UsageError
from recall_core.evaluate.asker import Asker
from recall_core.evaluate.judgements import names_of
from recall_core.evaluate.measures import Measure, parse_measure
from recall_core.evaluate.questions import Questions, questions
from recall_core.explain.curve import METRICS, Floats, Judged, Step, step, step_curve
from recall_core.explain.documents import sweep_documents
from recall_core.explain.lines import lines_of, weight_of
from recall_core.explain.stability import stability
from recall_core.maintain.settings import write_settings
from recall_core.tuning.advised import Tuned, judged_view
from recall_core.tuning.grid import not_swept, parse_grid, retrieval
from recall_core.types import Pool, Progress

DEEPEST = 100
"""Rows that a swept measure may look at."""

_METRICS = {"nDCG": "ndcg", "R": "recall", "P": "precision", "RR": "mrr", "AP": "map"}


class Options(NamedTuple):
    """What tune is told. queries and qrels: without a file, those in the store."""

    queries: Path | None = None
    qrels: Path | None = None
    measure: str = "ndcg@10"
    grid: tuple[str, ...] = ()
    curve: bool = False
    """Give the whole curve."""
    apply: bool = False
    """Write what is recommended."""


class _Found(NamedTuple):
    """Every query's steps, a list a combination; and how far the current weight is from changing each query."""

    values: list[list[Step]]
    judged: list[list[Step]]
    distances: list[float | None]


def tune(options: Options, asker: Asker, *, toml: Path) -> Generator[Progress, None, Response]:
    """The weight, and the settings of the grid, that the judgements speak for; or why they speak for none.

    The sweep is of fused ranks. Sparse-document recall gives away a last row that lies below what is measured;
    min_score and rerank take no part, which a warning says. The store is read at one state.

    Raises UsageError before anything is asked: `bad_queries`, `bad_qrels`, `no_judgements`, `unknown_metric`,
    `bad_value`.
    """
    started = perf_counter()
    measure = _measure(options.measure)
    combinations = parse_grid(options.grid, asker.config)
    with asker.store.reading():
        asked = questions(asker.store, names_of(asker.store), queries=options.queries, qrels=options.qrels)
        info = asker.store.info()
        found = yield from _asked(asked, asker, combinations, measure)
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
    tuning = TuningView(weight=float(weight_of(asker.config)), judged=view)
    return respond.ok(tuning=tuning, stats=stats, warnings=[*asked.warnings, *not_swept(asker.config)])


def _asked(
    asked: Questions, asker: Asker, combinations: Sequence[Config], measure: Measure
) -> Generator[Progress, None, _Found]:
    found = _Found([[] for _ in combinations], [[] for _ in combinations], [])
    for number, (query, text) in enumerate(asked.texts.items(), start=1):
        for place, (config, pool) in enumerate(_pools(text, asker, combinations)):
            values, judged, distance = swept(pool, config, asked.grades[query], measure, is_current=place == 0)
            found.values[place].append(values)
            found.judged[place].append(judged)
            if place == 0:
                found.distances.append(distance)
        yield Progress("ask", query, number, len(asked.texts), 0, 0, 0, 0, 0, 0, 0, 0, ())
    return found


def _pools(text: str, asker: Asker, combinations: Sequence[Config]) -> Iterator[tuple[Config, Pool]]:
    """The pool under each combination; those that differ in ranking alone share one."""
    pools: dict[tuple[object, ...], Pool] = {}
    for config in combinations:
        key = retrieval(config)
        if key not in pools:
            plain = config._replace(rerank="", sparse_recall=False, min_score=0.0)
            pool = asker.answer(asker.plan(text)._replace(config=plain)).pool
            assert pool is not None  # noqa: S101 - a search for words has signals
            pools[key] = pool
        yield config, pools[key]


def swept(
    pool: Pool, config: Config, grades: Mapping[str, int], measure: Measure, *, is_current: bool
) -> tuple[Step, Step, float | None]:
    """The measure and the judged share over all weights; and, of the current settings, the distance to a change."""
    k = measure.cutoff or DEEPEST
    lines = lines_of(pool, config)
    swept = sweep_documents(lines, [key.doc_rowid for key in pool.keys], k)
    gains = tuple(float(max(0, grades.get(key.path, 0))) for key in pool.keys)
    ideal = tuple(sorted((float(max(0, grade)) for grade in grades.values()), reverse=True))
    known = tuple(float(key.path in grades) for key in pool.keys)
    values = step(swept, Judged(gains, ideal), METRICS[_METRICS[measure.kind]], k)
    distance = stability(lines, swept, weight_of(config)).order_distance if is_current else None
    return values, step(swept, Judged(known, ()), _share, k), distance


def _share(gains: Floats, ideal: Floats, k: int) -> Floats:
    """The share of the rows that count."""
    found: Floats = gains.sum(axis=1) / max(1, gains.shape[1])
    return found


def _measure(text: str) -> Measure:
    """The measure, whose cutoff is how deep the sweep goes."""
    measure = parse_measure(text)
    if measure.cutoff is None or measure.cutoff > DEEPEST:
        raise UsageError(
            "bad_value", f"{text} cannot be swept: it needs a cutoff from 1 to {DEEPEST}.", hint="--metric ndcg@10"
        )
    return measure
