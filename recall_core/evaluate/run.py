"""The evaluation board: run each query in each mode, measure, compare, and check the gate."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from time import perf_counter

from recall_core.config import Settings, override
from recall_core.contract import OK
from recall_core.contract.judging import ConditionView
from recall_core.contract.responses import EvaluationResponse
from recall_core.contract.views import StatsView
from recall_core.evaluate.figures import Setup, Values, evaluation_view, find_fallen, mean, query_views, read_baseline
from recall_core.evaluate.formats import run_lines
from recall_core.evaluate.judgements import Names, Spot, names_of
from recall_core.evaluate.measures import (
    MODES,
    Condition,
    EvalOptions,
    RunWriter,
    bad_gate,
    parse_gate,
    parse_measures,
    parse_modes,
    values,
    with_each_copy,
)
from recall_core.evaluate.questions import Unit, item, items, questions, ranked_as
from recall_core.retrieve.asking import Ask, Asker
from recall_core.shell import AGAIN, Hint
from recall_core.store.port import Store
from recall_core.types import Key, Progress

REGRESSIONS = "regressions"
"""The gate figure that counts queries whose first measure fell."""

_Found = dict[str, dict[str, dict[Key, float]]]
"""Mode to query to hits with scores, best first."""


def evaluate(options: EvalOptions, asker: Asker) -> Generator[Progress, None, EvaluationResponse]:
    """Measure the ranking of chunks, or of documents by their best chunk. Yield progress.

    The store is read in one transaction.

    Raises UsageError before the first query: `bad_queries`, `bad_qrels`, `no_judgements`, `unknown_metric`,
    `bad_gate`, `bad_baseline`, `bad_run`, `eval_unavailable`.
    """
    started = perf_counter()
    with asker.store.reading():
        board = _set_up(options, asker.store)
        found = yield from _ask_all(board, asker, options.settings)
        spots = _spots(found, board, asker.store) if options.write_run is not None else {}
        info = asker.store.info()
        copies = with_each_copy(override(asker.config, options.settings), asker.store)
        warnings = [*board.questions.warnings, *copies]
    rankings = {
        mode: {query: items(keys, board.questions.unit) for query, keys in each.items()}
        for mode, each in found.items()
    }
    grades = board.questions.grades
    measured = {
        mode: {measure.name: each for measure, each in values(board.measures, grades, rankings[mode]).items()}
        for mode in board.modes
    }
    view = evaluation_view(board, rankings, measured)
    if board.conditions:
        view["gate"] = [_condition_view(condition, board, measured) for condition in board.conditions]
    if options.write_run is not None:
        view["runs"] = [_write_run(mode, found[mode], board, options.write_run, spots) for mode in board.modes]
    if options.per_query:
        view["per_query"] = list(query_views(board, measured))
    took_ms = round((perf_counter() - started) * 1000, 3)
    stats = StatsView(took_ms=took_ms, snapshot=info.snapshot, digest=info.digest)
    return {**OK, "evaluation": view, "stats": stats, "warnings": warnings}


def _set_up(options: EvalOptions, store: Store) -> Setup:
    measures = parse_measures(options.metrics)
    modes = parse_modes(options.modes)
    names = names_of(store)
    asked = questions(store, names, queries=options.queries, qrels=options.qrels, unit=options.unit)
    depth = max(options.depth, *(measure.cutoff or 1 for measure in measures))

    def measure_run(run: dict[str, list[str]]) -> Values:
        found = {query: _items(names, hits, asked.unit)[:depth] for query, hits in run.items()}
        chosen = {query: grades for query, grades in asked.grades.items() if query in found}
        return {measure.name: each for measure, each in values(measures, chosen, found).items()}

    baseline = None if options.baseline is None else read_baseline(options.baseline, measure_run, unit=asked.unit)
    conditions = () if options.gate is None else parse_gate(options.gate)
    board = Setup(asked, names, modes, measures, depth, conditions, baseline)
    for condition in conditions:
        _check(condition, board)
    values(measures, {}, {})  # a missing package fails before the first query
    return board


def _items(names: Names, documents: Sequence[str], unit: Unit) -> list[str]:
    """Return the store's names of these documents or spans. Unknown names stay as they are."""
    spots = [names.find(document) for document in documents]
    found = (
        name if spot is None else spot.path if unit == "doc" else item(spot.path, spot.offset)
        for spot, name in zip(spots, documents, strict=True)
    )
    return list(dict.fromkeys(found))


def _check(condition: Condition, board: Setup) -> None:
    """Raise UsageError `bad_gate` if the condition needs a figure that is not computed."""
    mode = condition.mode or board.modes[0]
    if mode not in board.modes:
        raise bad_gate(f"mode {mode} is not evaluated", hint=Hint(AGAIN, modes=",".join((*board.modes, mode))))
    known = [measure.name for measure in board.measures]
    if condition.figure == REGRESSIONS:
        if board.baseline is None:
            raise bad_gate("regressions need a baseline", hint=Hint(AGAIN, baseline="FILE"))
        if not board.baseline.values_for(mode, known[0], board.questions.grades):
            raise bad_gate(
                f"the baseline has no {known[0]} values of these queries for {mode}",
                hint=Hint(AGAIN, baseline="FILE"),
            )
    elif parse_measures(condition.figure)[0].name not in known:
        measures = ",".join((*known, condition.figure))
        raise bad_gate(f"measure {condition.figure} is not evaluated", hint=Hint(AGAIN, metrics=measures))


def _ask_all(board: Setup, asker: Asker, settings: Settings | tuple[str, ...]) -> Generator[Progress, None, _Found]:
    found: _Found = {mode: {} for mode in board.modes}
    texts = board.questions.texts
    for number, (query, text) in enumerate(texts.items(), start=1):
        for mode in board.modes:
            ask = Ask(k=board.depth, mode=MODES[mode], settings=settings)
            found[mode][query] = _best(asker, text, ask, board.questions.unit)
        yield Progress("ask", query, number, len(texts), 0, 0, 0, 0, 0, 0, 0, 0, ())
    return found


def _best(asker: Asker, words: str, ask: Ask, unit: Unit) -> dict[Key, float]:
    """Return the scores of chunks, or of each document's best chunk, best first."""
    answer = asker.answer(ranked_as(asker.words_plan(words, ask, is_typed=False), unit))
    if answer.pool is None or answer.ranked is None:
        return {}
    order = answer.ranked.order[: min(answer.plan.limit, answer.total)]
    return {answer.pool.keys[each]: answer.ranked.scores[each] for each in order}


def _spots(found: _Found, board: Setup, store: Store) -> dict[str, Spot]:
    """Return the spots of the chunks found; empty for documents."""
    if board.questions.unit == "doc":
        return {}
    rowids = dict.fromkeys(key.rowid for each in found.values() for keys in each.values() for key in keys)
    rows = store.fetch(list(rowids))
    return {item(row.doc.path, row.chunk.offset): Spot(row.doc.path, row.chunk.offset, row.chunk.end) for row in rows}


def _condition_view(condition: Condition, board: Setup, measured: Mapping[str, Values]) -> ConditionView:
    mode = condition.mode or board.modes[0]
    value: float
    if condition.figure == REGRESSIONS:
        assert board.baseline is not None  # noqa: S101 - _check has seen to it
        first = board.measures[0].name
        value = len(
            find_fallen(measured[mode][first], board.baseline.values_for(mode, first, board.questions.grades))
        )
    else:
        value = mean(measured[mode][parse_measures(condition.figure)[0].name].values())
    return ConditionView(condition=condition.text, value=value, holds=condition.holds(value))


def _write_run(
    mode: str, found: Mapping[str, Mapping[Key, float]], board: Setup, write: RunWriter, spots: Mapping[str, Spot]
) -> str:
    called = {}
    for query, scores in found.items():
        names = [board.names.name(spots.get(each, Spot(each))) for each in items(scores, board.questions.unit)]
        called[query] = list(zip(names, scores.values(), strict=True))
    return write(mode, run_lines(called, tag=f"recall-{mode}"))
