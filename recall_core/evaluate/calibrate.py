"""The sparse_distance_ceiling that judged queries suggest, and its effect on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from statistics import median
from typing import NamedTuple

from recall_core.config import override
from recall_core.contract.judging import CalibrationView, CeilingView, DistancesView
from recall_core.deadline import check
from recall_core.evaluate.fixture.harness import left_out
from recall_core.evaluate.fixture.rates import rate
from recall_core.evaluate.judgements import names_of
from recall_core.evaluate.measures import with_each_copy
from recall_core.evaluate.questions import questions
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.asking import Ask, Asker, rows_of
from recall_core.retrieve.plan import with_copies
from recall_core.store.port import Store

_STEPS = 10_000  # a ceiling is proposed with four decimals, rounded up


class ShortDocument(NamedTuple):
    """A short document near a query and missing from its list. Documents of a query come nearest first."""

    query: int
    distance: float
    relevant: bool


class JudgedDistances(NamedTuple):
    """Short documents near the judged queries.

    missed: for each query, how many relevant short documents its list lacks.
    near: every candidate.
    injectable: the candidates within the limit on injections, by distance.
    mostly_long: the number of queries with a list of mostly long documents. Other lists get no injection, so near and
    injectable exclude them.
    """

    near: tuple[ShortDocument, ...]
    injectable: tuple[ShortDocument, ...]
    missed: tuple[int, ...]
    mostly_long: int = 0


class Effect(NamedTuple):
    """The effect of a ceiling: the number of injections, and how many of them are relevant."""

    ceiling: float
    injections: int
    relevant: int


def calibrate_judged(
    asker: Asker, ask: Ask, *, queries: Path | None, qrels: Path | None
) -> tuple[CalibrationView, tuple[str, ...]]:
    """Return the calibration of judged queries, and warnings. Without files, the store's queries are used.

    The store is read in one transaction.
    """
    with asker.store.reading():
        judged, warnings = judged_paths(asker.store, queries=queries, qrels=qrels)
        copies = with_each_copy(override(asker.config, ask.settings), asker.store)
        return calibrate(judged, asker, ask), (*warnings, *copies)


def calibrate(judged: Mapping[str, Collection[str]], asker: Asker, ask: Ask) -> CalibrationView:
    """Return the ceiling with the highest F-measure over these queries, next to the current one.

    The F-measure is the harmonic mean of two shares: relevant injections among all injections, and recovered
    documents among the relevant short documents that the list lacks. Ties go to the lowest ceiling. held_out shows
    how reliable the ceiling is: each query is measured with the ceiling from all other queries.
    judged: query text to the paths of its relevant documents.
    """
    config, k = override(asker.config, ask.settings), rows_of(ask)
    gathered = _gather(judged, asker, ask._replace(k=k), allowed=max(1, config.sparse_max_injections))
    missed = sum(gathered.missed)
    nearest = min((each.distance for each in gathered.near), default=None)
    current = effect(gathered.injectable, config.sparse_distance_ceiling)
    view = CalibrationView(
        queries=len(judged),
        k=k,
        embedder=asker.store.info().embedder,
        mostly_long=gathered.mostly_long,
        left_out=missed,
        relevant=_distances(each.distance for each in gathered.near if each.relevant),
        irrelevant=_distances(_nearest_irrelevant(gathered.near)),
        current=_ceiling_view(current, missed),
        can_fire=nearest is not None and nearest <= config.sparse_distance_ceiling,
    )
    proposed = propose(gathered.injectable, missed)
    if proposed is not None:
        view["proposed"] = _ceiling_view(proposed, missed)
        view["held_out"] = _ceiling_view(held_out(gathered, proposed.ceiling), missed)
        view["setting"] = f"sparse_distance_ceiling = {proposed.ceiling:g}"
    return view


def judged_paths(
    store: Store, *, queries: Path | None, qrels: Path | None
) -> tuple[dict[str, set[str]], tuple[str, ...]]:
    """Return the paths of relevant documents by query text, and warnings. Missing files are replaced by the store.

    Raises UsageError `no_judgements`, `bad_queries`, `bad_qrels`.
    """
    asked = questions(store, names_of(store), queries=queries, qrels=qrels, unit="doc")
    judged: dict[str, set[str]] = {}
    for query, grades in asked.grades.items():
        judged.setdefault(asked.texts[query], set()).update(path for path, grade in grades.items() if grade >= 1)
    return judged, asked.warnings


def effect(injectable: Sequence[ShortDocument], ceiling: float) -> Effect:
    """Return the effect of this ceiling."""
    within = [each for each in injectable if each.distance <= ceiling]
    return Effect(ceiling, len(within), sum(each.relevant for each in within))


def propose(injectable: Sequence[ShortDocument], missed: int) -> Effect | None:
    """Return the ceiling with the highest F-measure, the lowest in a tie; None if no ceiling helps any document.

    injectable: by distance. F = 2 * relevant / (injections + missed), and 0 without an injection.
    """
    best: Effect | None = None
    for step in _steps(injectable):
        if step.relevant and (best is None or _f(step, missed) > _f(best, missed)):
            best = step
    return best


def held_out(judged: JudgedDistances, ceiling: float) -> Effect:
    """Return the sum of effects where each query gets the ceiling from the others. ceiling: kept in the result."""
    injections = relevant = 0
    missed = sum(judged.missed)
    for query in dict.fromkeys(each.query for each in judged.injectable):
        check()
        others = [each for each in judged.injectable if each.query != query]
        chosen = propose(others, missed - judged.missed[query])
        if chosen is not None:
            own = effect([each for each in judged.injectable if each.query == query], chosen.ceiling)
            injections, relevant = injections + own.injections, relevant + own.relevant
    return Effect(ceiling, injections, relevant)


def _gather(judged: Mapping[str, Collection[str]], asker: Asker, ask: Ask, *, allowed: int) -> JudgedDistances:
    near: list[ShortDocument] = []
    injectable: list[ShortDocument] = []
    missed: list[int] = []
    mostly_long = 0
    for number, (query, paths) in enumerate(judged.items()):
        answer = asker.answer(with_copies(asker.words_plan(query, ask, is_typed=False)))
        lacks = left_out(answer, asker.store)
        mostly_long += lacks.is_mostly_long
        near_by = lacks.near if lacks.is_mostly_long else ()
        own = [ShortDocument(number, distance, key.path in paths) for key, distance in near_by]
        near += own
        injectable += own[:allowed]
        missed.append(_count_missed(answer, paths, asker.store))
    return JudgedDistances(
        tuple(near),
        tuple(sorted(injectable, key=lambda each: (each.distance, each.query))),
        tuple(missed),
        mostly_long,
    )


def _count_missed(answer: Answer, paths: Collection[str], store: Store) -> int:
    """Return how many of these documents are short and missing from the list."""
    if answer.pool is None or answer.fused is None:
        return 0
    keys = answer.pool.keys
    listed = {
        keys[position].doc_rowid for position in answer.fused.order[: min(answer.plan.limit, answer.fused.kept)]
    }
    live = [named for path in sorted(paths) for named in store.resolve(path)[:1]]
    absent = {store.rowid("doc", full_id) for kind, full_id in live if kind == "doc"} - listed
    counts = store.chunk_counts(sorted(absent))
    return sum(count <= answer.plan.config.sparse_chunk_threshold for count in counts.values())


def _steps(injectable: Sequence[ShortDocument]) -> Iterator[Effect]:
    """Yield the effect of each ceiling that allows more documents than the previous one, lowest first."""
    relevant = 0
    for count, each in enumerate(injectable, start=1):
        relevant += each.relevant
        ceiling = _round_up(each.distance)
        if count == len(injectable) or _round_up(injectable[count].distance) > ceiling:
            yield Effect(ceiling, count, relevant)


def _round_up(distance: float) -> float:
    return min(ceil(round(distance * _STEPS, 2)) / _STEPS, 2.0)


def _f(done: Effect, missed: int) -> float:
    return 2 * done.relevant / (done.injections + missed)


def _nearest_irrelevant(near: Iterable[ShortDocument]) -> Iterator[float]:
    """Yield for each query the distance of its nearest irrelevant document."""
    seen: set[int] = set()
    for each in near:
        if not each.relevant and each.query not in seen:
            seen.add(each.query)
            yield each.distance


def _distances(distances: Iterable[float]) -> DistancesView:
    found = sorted(distances)
    if not found:
        return DistancesView(count=0, least=None, median=None, most=None)
    return DistancesView(count=len(found), least=found[0], median=round(median(found), 6), most=found[-1])


def _ceiling_view(done: Effect, missed: int) -> CeilingView:
    return CeilingView(
        ceiling=done.ceiling,
        injections=done.injections,
        relevant=done.relevant,
        precision=rate(done.relevant, done.injections),
        recall=rate(done.relevant, missed),
        f=round(_f(done, missed), 6) if done.injections + missed else None,
    )
