"""Analyses over the judged queries: the board, the grades, and the effect of every weight."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, cast

from recall_core import api, evaluate, explain, retrieve
from recall_core.config import Config, override
from recall_core.errors import UsageError
from recall_core.evaluate.judgements import words
from recall_tui.state.judging import MEASURES, TOP, Board, Figure, JudgedQueries, Missed, QueryLine
from recall_tui.state.records import Analysis
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
from recall_tui.threads.analysis_thread import AnalysisRun, is_due

if TYPE_CHECKING:
    from recall_core.evaluate.judgements import Judgement
    from recall_core.evaluate.questions import Questions, Unit
    from recall_core.explain.curve import Step
    from recall_core.retrieve.answer import Answer
    from recall_core.types import Pool

KEPT = "board"
MOST_CANDIDATES = 1_000_000
"""Candidates in all cached answers, some hundred megabytes. Other queries are searched again."""
MOST_REPORTS = 10
"""Number of progress reports. Each is painted, which takes as long as some rankings."""
Ranked = tuple[str, ...]
"""Documents or chunks as grades name them, best first."""


class BoardCache:
    """The cache between boards of the same store generation. An interrupted board resumes from it.

    answers: by text, settings of retrieval and unit, so that a moved weight only ranks their pools again.
    candidates: number in all answers.
    rankings: by text, settings and unit.
    """

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.answers: dict[tuple[str, tuple[object, ...], Unit], Answer] = {}
        self.candidates = 0
        self.rankings: dict[tuple[str, Config, Unit], Ranked] = {}


class MeasuredRun(NamedTuple):
    """Values by measure and query, and the rankings behind them."""

    values: Mapping[str, Mapping[str, float]]
    rankings: Mapping[str, Ranked]


def judged_board(run: AnalysisRun, _analysis: Analysis) -> Board:
    """Return the board. Raises UsageError `no_judgements`, `eval_unavailable`."""
    store, saved = run.recall.store, run.recall.config
    config = override(saved, run.session.weights.tweaks)
    with store.reading():
        questions = evaluate.questions.questions(store, evaluate.judgements.names_of(store), queries=None, qrels=None)
        cache = cache_of(run, config)
        for done, text in enumerate(questions.texts.values()):
            if is_due(done, len(questions.texts), MOST_REPORTS):
                run.say(done, len(questions.texts))
            run.give_way()
            rank(run, cache, text, (config, saved), questions.unit)
    run.give_way()
    return _board(questions, cache, config, saved)


def cache_of(run: AnalysisRun, config: Config) -> BoardCache:
    """Return the cache without rankings under outdated settings."""
    cache, generation = run.kept.get(KEPT), run.recall.store.info().generation
    if not isinstance(cache, BoardCache) or cache.generation != generation:
        cache = BoardCache(generation)
    for key in list(cache.rankings):
        if key[1] not in (config, run.recall.config):
            del cache.rankings[key]
    run.kept[KEPT] = cache
    return cache


def rank(run: AnalysisRun, cache: BoardCache, text: str, settings: tuple[Config, Config], unit: Unit) -> None:
    """Add the rankings of a text under each of these settings to the cache."""
    for config in dict.fromkeys(settings):
        if (text, config, unit) not in cache.rankings:
            cache.rankings[text, config, unit] = _rank_text(run, cache, text, config, unit)


def _rank_text(run: AnalysisRun, cache: BoardCache, text: str, config: Config, unit: Unit) -> Ranked:
    """Return the chunks for a text, or the documents by their best chunks, ranked as in `recall eval`."""
    key = text, evaluate.measures.retrieval(config), unit
    answer = cache.answers.get(key)
    if answer is not None:
        answer = run.recall.engine.weigh(
            answer, evaluate.questions.ranked_as(answer.plan._replace(config=config), unit).config
        )
    else:
        plan = retrieve.plan.plan_words(
            text, config=config, mode="hybrid", filter_text=None, k=evaluate.measures.DEPTH, exact=False
        )
        answer = run.recall.engine.answer(evaluate.questions.ranked_as(plan, unit))
        _keep(cache, key, answer)
    if answer.pool is None or answer.ranked is None:
        return ()
    return evaluate.questions.items(
        (answer.pool.keys[each] for each in answer.ranked.order[: min(evaluate.measures.DEPTH, answer.total)]), unit
    )


def _keep(cache: BoardCache, key: tuple[str, tuple[object, ...], Unit], answer: Answer) -> None:
    """Cache an answer if there is room. Pools of other settings of retrieval are dropped first."""
    size = 0 if answer.pool is None else len(answer.pool.keys)
    for other in [other for other in cache.answers if other[1:] != key[1:]]:
        if cache.candidates + size > MOST_CANDIDATES:
            pool = cache.answers.pop(other).pool
            cache.candidates -= len(pool.keys) if pool else 0
    if cache.candidates + size <= MOST_CANDIDATES:
        cache.answers[key] = answer
        cache.candidates += size


def line_of(questions: Questions, cache: BoardCache, query: str, settings: tuple[Config, Config]) -> QueryLine:
    """Return one query under the current and the saved settings. The cache has its rankings."""
    only = questions._replace(texts={query: questions.texts[query]}, grades={query: questions.grades[query]})
    return _lines(only, *_both(only, cache, *settings))[0]


def _both(
    questions: Questions, cache: BoardCache, config: Config, saved: Config
) -> tuple[MeasuredRun, MeasuredRun | None]:
    """Return the queries measured under the current settings, and under the saved ones if they differ."""
    now = _measure(questions, cache, config)
    return now, None if config == saved else _measure(questions, cache, saved)


def _measure(questions: Questions, cache: BoardCache, config: Config) -> MeasuredRun:
    rankings = {query: cache.rankings[text, config, questions.unit] for query, text in questions.texts.items()}
    by_measure = evaluate.measures.values(
        evaluate.measures.parse_measures(",".join(MEASURES)), questions.grades, rankings
    )
    return MeasuredRun({measure.name: each for measure, each in by_measure.items()}, rankings)


def _board(questions: Questions, cache: BoardCache, config: Config, saved: Config) -> Board:
    now, before = _both(questions, cache, config, saved)
    lines = _lines(questions, now, before)
    shares = [line.judged for line in lines if line.judged is not None]
    return Board(
        unit=questions.unit,
        lines=tuple(lines),
        figures=_figures(now, before),
        judged=evaluate.figures.mean(shares) if shares else None,
        passed_over=questions.unjudged + questions.without_relevant,
        depth=evaluate.measures.DEPTH,
        is_moved=before is not None,
    )


def _figures(now: MeasuredRun, before: MeasuredRun | None) -> dict[str, Figure]:
    """Return the means with their intervals, and the paired differences from the saved settings."""
    columns = [list(now.values[measure].values()) for measure in MEASURES]
    figures = [
        Figure(evaluate.figures.mean(column), *ends)
        for column, ends in zip(columns, evaluate.figures.intervals(columns), strict=True)
    ]
    if before is not None:
        pairs = evaluate.figures.compare_columns(
            columns, [list(before.values[measure].values()) for measure in MEASURES]
        )
        figures = [
            figure._replace(
                difference=pair.difference,
                difference_low=pair.low,
                difference_high=pair.high,
                wins=pair.wins,
                losses=pair.losses,
                ties=pair.ties,
                verdict=pair.verdict,
            )
            for figure, pair in zip(figures, pairs, strict=True)
        ]
    return dict(zip(MEASURES, figures, strict=True))


def _lines(questions: Questions, now: MeasuredRun, before: MeasuredRun | None) -> list[QueryLine]:
    lines = []
    for query, text in questions.texts.items():
        grades, ranking = questions.grades[query], now.rankings[query]
        lines.append(
            QueryLine(
                query=query,
                text=words(text),
                values={measure: by_query[query] for measure, by_query in now.values.items()},
                before={measure: by_query[query] for measure, by_query in before.values.items()} if before else {},
                judged=evaluate.measures.judged_share(grades, ranking, TOP),
                relevant=sum(grade > 0 for grade in grades.values()),
                missed=tuple(_list_missed(grades, ranking, questions)),
            )
        )
    return lines


def _list_missed(grades: Mapping[str, int], ranking: Ranked, questions: Questions) -> list[Missed]:
    """Return relevant documents or chunks outside the top ten: most relevant first, then by rank and path."""
    ranks = {name: rank for rank, name in enumerate(ranking, start=1)}
    cut = evaluate.measures.DEPTH if len(ranking) >= evaluate.measures.DEPTH else None
    missed = [
        _as_missed(name, grade, ranks.get(name), cut, questions)
        for name, grade in grades.items()
        if grade > 0 and ranks.get(name, TOP + 1) > TOP
    ]
    return sorted(missed, key=lambda each: (-each.grade, each.rank is None, each.rank or 0, each.path, each.lines))


def _as_missed(name: str, grade: int, rank: int | None, cut: int | None, questions: Questions) -> Missed:
    path, *lines = questions.lines.get(name, (name,))
    return Missed(
        str(path), grade, rank, None if rank else cut, lines=(int(lines[0]), int(lines[1])) if lines else None
    )


def judged_line(run: AnalysisRun, analysis: Analysis) -> QueryLine:
    """Return the query with this id. Raises UsageError `no_judgements`, `eval_unavailable`."""
    store, saved = run.recall.store, run.recall.config
    settings = (override(saved, run.session.weights.tweaks), saved)
    with store.reading():
        questions = evaluate.questions.questions(store, evaluate.judgements.names_of(store), queries=None, qrels=None)
        if analysis.target not in questions.texts:
            raise UsageError("no_judgements", f"Query {analysis.target} has no document that is judged relevant.")
        cache = cache_of(run, settings[0])
        rank(run, cache, questions.texts[analysis.target], settings, questions.unit)
    return line_of(questions, cache, analysis.target, settings)


def all_grades(run: AnalysisRun, _analysis: Analysis) -> JudgedQueries:
    """Return every judged query with its judgements, by the current path of their documents."""
    store = run.recall.store
    with store.reading():
        texts = store.judged_queries()
        judgements = (
            evaluate.judgements.read_stored(store, evaluate.judgements.names_of(store)).judgements if texts else ()
        )
        state = evaluate.judgements.digest(store)
    places: dict[str, dict[str, list[Judgement]]] = {}
    for judgement in judgements:
        places.setdefault(judgement.query, {}).setdefault(judgement.spot.path, []).append(judgement)
    grouped = {query: {path: tuple(each) for path, each in paths.items()} for query, paths in places.items()}
    return JudgedQueries(texts, evaluate.judgements.ids_of(texts), grouped, state)


MOST_STEPS = 5_000
"""Number of cached steps, so that another grade evaluates one query again and not all."""


def weight_curve(run: AnalysisRun, analysis: Analysis) -> Curve:
    """Return the curve of the judged query with the target's words, or of all judged queries without a target."""
    config = current(run.session) if analysis.target else of_words(run.session)
    with run.recall.store.reading():
        questions = _read_questions(run)
        if questions is None:
            return Curve(judged=0)
        wanted = list(questions.texts)
        if analysis.target:  # the first of several queries with these words, as everywhere
            wanted = [query for query, text in questions.texts.items() if words(text) == analysis.target][:1]
        steps = []
        for number, query in enumerate(wanted, start=1):
            run.give_way()
            steps.append(_step(run, analysis, questions, query, config))
            run.say(number, len(wanted))
    return _curve(steps, config, questions) if steps else Curve(judged=len(questions.texts), unit=questions.unit)


def _read_questions(run: AnalysisRun) -> Questions | None:
    """Return the judged queries of the store, or None if there are none."""
    store = run.recall.store
    try:
        return evaluate.questions.questions(store, evaluate.judgements.names_of(store), queries=None, qrels=None)
    except UsageError as error:
        if error.code != "no_judgements":
            raise
        return None


def _step(run: AnalysisRun, analysis: Analysis, questions: Questions, query: str, config: Config) -> Step:
    """Return one query's measure, cached while its store, settings and grades stay the same."""
    cache = cast(dict[object, "Step"], run.kept.setdefault("curve", {}))
    text, grades = questions.texts[query], questions.grades[query]
    digest = run.recall.store.info().digest
    key = (digest, bool(analysis.target), analysis.other, text, questions.unit, tuple(sorted(grades.items())))
    if key not in cache:
        pool = _pool_on_screen(run) if analysis.target else _pool(run, text)
        cache[key], _, _ = evaluate.tune.sweep_query(
            evaluate.tune.judged_pool(pool, grades, questions.unit),
            config,
            evaluate.measures.parse_measure(MEASURE),
            is_current=False,
        )
        for oldest in list(cache)[: len(cache) - MOST_STEPS]:
            del cache[oldest]
    return cache[key]


def _pool_on_screen(run: AnalysisRun) -> Pool:
    answer = run.session.results.answer
    assert answer is not None and answer.pool is not None  # noqa: S101, PT018 - only a ranked question has a curve
    return answer.pool


def _pool(run: AnalysisRun, text: str) -> Pool:
    """Return the candidates of a judged query, as `recall tune` finds them."""
    plan = run.recall.engine.words_plan(text, api.recall.Ask(settings=run.session.weights.tweaks), is_typed=False)
    plain = plan.config._replace(rerank="", sparse_recall=False, collapse=False, min_score=0.0, min_cosine=0.0)
    pool = run.recall.engine.answer(plan._replace(config=plain)).pool
    assert pool is not None  # noqa: S101 - a search for words has signals
    return pool


def _curve(steps: list[Step], config: Config, questions: Questions) -> Curve:
    """Return the combined steps, with the advice that holds at any current weight."""
    curve = explain.curve.step_curve(steps)
    advice = explain.advice.advise(curve, exact_share(config))
    return Curve(
        judged=len(questions.texts),
        unit=questions.unit,
        steps=tuple((each.weights, tuple(each.values.tolist())) for each in steps),
        places=tuple(curve.places.tolist()),
        means=tuple(explain.curve.means(curve).tolist()),
        best=advice.best,
        best_weights=tuple((low, high) for low, high in advice.best_weights),
        plateau=tuple((low, high) for low, high in advice.plateau),
        interval=(advice.best_weight_ci.low, advice.best_weight_ci.high),
    )


def weights_of_pins(run: AnalysisRun, _analysis: Analysis) -> TargetWeights:
    """Return the weights at which every pinned chunk meets its target."""
    answer, store = run.session.results.answer, run.recall.store
    assert answer is not None and answer.pool is not None  # noqa: S101, PT018 - only ranked rows are pinned
    lines, k = explain.lines.lines_of(answer.pool, current(run.session)), first_rows(run.session)
    places = {key.rowid: position for position, key in enumerate(answer.pool.keys)}
    met: dict[int, tuple[explain.sweep.Interval, ...]] = {}
    for number, pin in enumerate(pins_of(run.session)):
        run.checkpoint()
        is_known = ("chunk", pin.chunk_id) in store.resolve(pin.chunk_id)
        position = places.get(store.rowid("chunk", pin.chunk_id)) if is_known else None
        if position is not None:
            met[number] = explain.winning.pin_weights(lines, position, k, pin.want)
        else:  # a chunk that is not a candidate is never among the rows
            met[number] = () if pin.want == "in" else (explain.sweep.Interval(Fraction(0), Fraction(1)),)
    return TargetWeights(*explain.winning.together(met))


def saved_rows(run: AnalysisRun, _analysis: Analysis) -> SavedRows:
    """Return the first rows of the question with the saved settings."""
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
