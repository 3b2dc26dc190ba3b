"""What the pane of the weights asks for: the measure of judged queries at every weight and the weights that meet the
targets of a question, exactly, and its rows under the saved settings.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, cast

from recall_core import api, evaluate, explain
from recall_core.config import Config
from recall_core.errors import UsageError
from recall_core.evaluate.judgements import words
from recall_tui.state.analyses import Analysis
from recall_tui.state.session import WORDS_K, filter_of, list_range
from recall_tui.state.tuning import (
    MEASURE,
    MOST_ROWS,
    Curve,
    SavedRows,
    TargetWeights,
    first_rows,
    identities,
    of_words,
    pins_of,
)
from recall_tui.state.weighing import current, exact_share
from recall_tui.threads.analysis_thread import AnalysisRun

if TYPE_CHECKING:
    from recall_core.evaluate.questions import Questions
    from recall_core.explain.curve import Step
    from recall_core.types import Pool

MOST_STEPS = 5_000
"""Queries under settings whose steps are kept, so that one more grade asks one query again and not all."""


def weight_curve(run: AnalysisRun, analysis: Analysis) -> Curve:
    """Return the curve of the judged question with the words of the target; without them, of every judged query."""
    config = current(run.session) if analysis.target else of_words(run.session)
    with run.recall.store.reading():
        asked = _read_questions(run)
        if asked is None:
            return Curve(judged=0)
        wanted = list(asked.texts) if not analysis.target else _find_query(asked, analysis.target)
        steps = []
        for number, query in enumerate(wanted, start=1):
            run.give_way()
            steps.append(_step(run, analysis, asked, query, config))
            run.say(number, len(wanted))
    return _curve(steps, config, asked) if steps else Curve(judged=len(asked.texts), unit=asked.unit)


def _read_questions(run: AnalysisRun) -> Questions | None:
    """Return the judged queries of the store; None where there is none."""
    store = run.recall.store
    try:
        return evaluate.questions.questions(store, evaluate.judgements.names_of(store), queries=None, qrels=None)
    except UsageError as error:
        if error.code != "no_judgements":
            raise
        return None


def _find_query(asked: Questions, said: str) -> list[str]:
    """Return the query with these words, if there is one; of several the first, as everywhere."""
    return [query for query, text in asked.texts.items() if words(text) == said][:1]


def _step(run: AnalysisRun, analysis: Analysis, asked: Questions, query: str, config: Config) -> Step:
    """Return one query's measure, worked out once while its store, its settings and its grades stay."""
    kept = cast(dict[object, "Step"], run.kept.setdefault("curve", {}))
    text, grades = asked.texts[query], asked.grades[query]
    digest = run.recall.store.info().digest
    key = (digest, bool(analysis.target), analysis.other, text, asked.unit, tuple(sorted(grades.items())))
    if key not in kept:
        pool = _pool_on_screen(run) if analysis.target else _pool(run, text)
        kept[key], _, _ = evaluate.tune.sweep_query(
            evaluate.tune.judged_pool(pool, grades, asked.unit),
            config,
            evaluate.measures.parse_measure(MEASURE),
            is_current=False,
        )
        for oldest in list(kept)[: len(kept) - MOST_STEPS]:
            del kept[oldest]
    return kept[key]


def _pool_on_screen(run: AnalysisRun) -> Pool:
    answer = run.session.results.answer
    assert answer is not None and answer.pool is not None  # noqa: S101, PT018 - only a ranked question has a curve
    return answer.pool


def _pool(run: AnalysisRun, text: str) -> Pool:
    """Return the candidates of a judged query, as `recall tune` finds them."""
    plan = run.recall.engine.words_plan(text, api.recall.Ask(settings=run.session.weights.tweaks))
    plain = plan.config._replace(rerank="", sparse_recall=False, collapse=False, min_score=0.0, min_cosine=0.0)
    pool = run.recall.engine.answer(plan._replace(config=plain)).pool
    assert pool is not None  # noqa: S101 - a search for words has signals
    return pool


def _curve(steps: list[Step], config: Config, asked: Questions) -> Curve:
    """Return the steps together, with what may be said of them whatever the present weight is."""
    whole = explain.curve.step_curve(steps)
    advice = explain.advice.advise(whole, exact_share(config))
    return Curve(
        judged=len(asked.texts),
        unit=asked.unit,
        steps=tuple((each.weights, tuple(each.values.tolist())) for each in steps),
        places=tuple(whole.places.tolist()),
        means=tuple(explain.curve.means(whole).tolist()),
        best=advice.best,
        best_weights=tuple((low, high) for low, high in advice.best_weights),
        plateau=tuple((low, high) for low, high in advice.plateau),
        interval=(advice.best_weight_ci.low, advice.best_weight_ci.high),
    )


def weights_of_pins(run: AnalysisRun, _analysis: Analysis) -> TargetWeights:
    """Return every weight at which each pinned chunk stands among the first rows, or does not, as its target asks."""
    answer, store = run.session.results.answer, run.recall.store
    assert answer is not None and answer.pool is not None  # noqa: S101, PT018 - only ranked rows are pinned
    lines, k = explain.lines.lines_of(answer.pool, current(run.session)), first_rows(run.session)
    places = {key.rowid: position for position, key in enumerate(answer.pool.keys)}
    met: dict[int, tuple[explain.intervals.Interval, ...]] = {}
    for number, pin in enumerate(pins_of(run.session)):
        run.checkpoint()
        is_known = ("chunk", pin.chunk_id) in store.resolve(pin.chunk_id)
        position = places.get(store.rowid("chunk", pin.chunk_id)) if is_known else None
        if position is not None:
            met[number] = explain.winning.pin_weights(lines, position, k, pin.want)
        else:  # who is no candidate is never among the rows
            met[number] = () if pin.want == "in" else (explain.intervals.Interval(Fraction(0), Fraction(1)),)
    return TargetWeights(*explain.winning.together(met))


def saved_rows(run: AnalysisRun, _analysis: Analysis) -> SavedRows:
    """Return the first rows of the question as they are when nothing is moved."""
    shown, recall = run.session.results.answer, run.recall
    assert shown is not None  # noqa: S101 - only an answered question has rows
    k = WORDS_K if shown.plan.rql is None else None
    plan = recall.engine.plan(shown.plan.text, api.recall.Ask(filter=filter_of(shown.plan), k=k))
    with recall.store.reading():
        answer = recall.engine.answer(plan)
        first, rows = list_range(answer)
        stop = first + min(rows, MOST_ROWS)
        ids = tuple(identities(answer, first, stop))
        return SavedRows(ids, tuple(recall.engine.hits(answer, first, first + len(ids))), first + 1)
