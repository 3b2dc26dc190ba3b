"""Tuning the weights: the chart, the curve, the pinned chunks, and the rows under the saved settings. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from recall_core import explain
from recall_core.config import NAMES, Config, assignments
from recall_core.evaluate.measures import FUSION, RETRIEVAL, unswept
from recall_core.evaluate.questions import Unit
from recall_core.text import cite
from recall_core.types import Hit
from recall_tui.state.judging import words_of
from recall_tui.state.records import Analysis, Chart, PinnedChunk, Want
from recall_tui.state.session import Session, is_seen, list_range, value_of
from recall_tui.state.weighing import KEYS, current, exact_share, is_hybrid, is_moved, why_no_lines

if TYPE_CHECKING:
    from recall_core.config import Config
    from recall_core.explain.sweep import Interval, Stability
    from recall_core.retrieve.answer import Answer
    from recall_core.types import Pool

MOST_ROWS = 100  # compared; more than any screen shows


class SavedRows(NamedTuple):
    """The first rows of a question under the saved settings. ids: identify the rows in another list."""

    ids: tuple[int, ...]
    hits: tuple[Hit, ...]
    first_rank: int


class ComparedRow(NamedTuple):
    """A row of either list. other: its rank in the other list, or None."""

    rank: int
    other: int | None
    hit: Hit | None
    """None until the row is fetched."""


class Compared(NamedTuple):
    """Both lists from their first rows."""

    saved: tuple[ComparedRow, ...]
    now: tuple[ComparedRow, ...]


def saved_analysis(session: Session) -> Analysis | None:
    """Return the analysis of the rows under the saved settings, or None if they are hidden or nothing is changed."""
    answer, plain = session.results.answer, session.weights.plain
    if not session.weights.is_beside or not is_moved(session) or answer is None or plain is None:
        return None
    return Analysis("saved", other=" ".join(assignments({key: getattr(plain, key) for key in KEYS})))


def compare_with_saved(session: Session) -> Compared | None:
    """Return the two lists, or None until the saved one is known."""
    result, answer = value_of(session, saved_analysis(session), SavedRows), session.results.answer
    if result is None or answer is None:
        return None
    offset, rows = list_range(answer)
    then = {each: result.first_rank + at for at, each in enumerate(result.ids)}
    now: dict[int, int] = {}
    lines: list[ComparedRow] = []
    for row, each in enumerate(identities(answer, offset, offset + rows)):
        if row < MOST_ROWS:
            other = then.get(each, session.weights.saved_ranks.get(row))
            lines.append(ComparedRow(offset + row + 1, other, session.results.hits.get(row)))
        elif len(now) == len(then):
            break
        if each in then:
            now[each] = offset + row + 1
    saved = [ComparedRow(then[each], now.get(each), hit) for each, hit in zip(result.ids, result.hits, strict=True)]
    return Compared(tuple(saved), tuple(lines))


def identities(answer: Answer, start: int, stop: int) -> Iterator[int]:
    """Yield the identity of the rows from start to stop: their chunk, or the document if rows are documents."""
    if answer.pool is None or answer.ranked is None:
        return
    for position in answer.ranked.order[start:stop]:
        key = answer.pool.keys[position]
        yield key.doc_rowid if answer.plan.table == "doc" else key.rowid


def describe_moves(session: Session) -> list[str]:
    """Return the changed settings, each with its saved and its current value."""
    plain, config = session.weights.plain or session.weights.saved or Config(), current(session)
    words = [
        f"{NAMES.get(key, key)} {_write_value(getattr(plain, key))} to {_write_value(getattr(config, key))}"
        for key in session.weights.tweaks
        if key not in session.weights.fixed
    ]
    return words if session.weights.k is None else [*words, f"top k {session.weights.k}"]


def _write_value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


MEASURE = "nDCG@10"
LEAST_QUERIES = 10  # `recall tune` recommends nothing on fewer
Stretch: TypeAlias = tuple[float, float]
"""Weights between two ends."""


class Curve(NamedTuple):
    """The measure at every weight: of one query, or the mean of several. Without a query only `judged` is set."""

    judged: int
    """Number of queries in the store with a relevant document."""
    steps: tuple[tuple[tuple[Fraction, ...], tuple[float, ...]], ...] = ()
    """For each query its break points, and its values at and between them in turn."""
    places: tuple[float, ...] = ()
    """The break points of all queries together."""
    means: tuple[float, ...] = ()
    """The mean between each two of them."""
    best: float = 0.0
    best_weights: tuple[Stretch, ...] = ()
    plateau: tuple[Stretch, ...] = ()
    """Weights as good as the best, within one standard error of the paired differences."""
    interval: Stretch = (0.0, 0.0)
    """Contains the best weight of 95 % of resamples of the queries."""
    unit: Unit = "doc"
    """The unit measured."""


class TargetWeights(NamedTuple):
    """The weights that meet all targets at once, or the indexes of the conflicting targets."""

    weights: tuple[Interval, ...]
    conflict: tuple[int, ...] = ()


def wants(session: Session) -> Iterator[Analysis]:
    """Yield the rows under the saved settings, the targets' weights, then the curve, which may take long."""
    if not is_seen(session, "weights"):
        return
    yield from filter(None, (saved_analysis(session), pins_analysis(session), curve_analysis(session)))


def curve_analysis(session: Session) -> Analysis | None:
    """Return the analysis of the curve shown, or None if the weight of this question changes no rank."""
    answer = session.results.answer
    if session.weights.is_of_all:
        return Analysis("curve", "", _scale(of_words(session)))
    if answer is None or not is_hybrid(answer) or why_no_lines(answer):
        return None
    return Analysis("curve", words_of(answer), _ranking(answer, current(session)))


def pins_analysis(session: Session) -> Analysis | None:
    """Return the analysis of the weights that meet the targets of this question."""
    answer, pins = session.results.answer, pins_of(session)
    if answer is None or not pins or not is_hybrid(answer) or why_no_lines(answer):
        return None
    scale = f"{_scale(current(session))} k={first_rows(session)}"
    return Analysis("pins", " ".join(f"{pin.want}:{pin.chunk_id}" for pin in pins), scale)


def curve_of(session: Session) -> Curve | None:
    """Return the curve shown, if it is done."""
    return value_of(session, curve_analysis(session), Curve)


def target_weights(session: Session) -> TargetWeights | None:
    """Return the weights that meet the targets, if they are done."""
    return value_of(session, pins_analysis(session), TargetWeights)


def of_words(session: Session) -> Config:
    """Return the settings of a question in words, under which all judged queries are asked."""
    return (session.weights.saved or Config())._replace(**dict(session.weights.tweaks))  # type: ignore[arg-type]


def pins_of(session: Session) -> tuple[PinnedChunk, ...]:
    """Return the pins of the answered question."""
    answer = session.results.answer
    return () if answer is None else tuple(pin for pin in session.weights.targets if pin.question == answer.plan.text)


def toggle_target(session: Session, want: Want) -> Session:
    """Return the session with this target for the selected row, or without it if it was already set."""
    answer, hit = session.results.answer, session.results.hit
    if answer is None or hit is None or hit.chunk is None:
        return session
    place = cite(hit.doc.path, hit.chunk.line_start, hit.chunk.line_end, hit.chunk.place)
    pin = PinnedChunk(answer.plan.text, want, hit.chunk.id, place)
    others = tuple(
        each for each in session.weights.targets if (each.question, each.chunk_id) != (pin.question, pin.chunk_id)
    )
    return session._replace(
        weights=session.weights._replace(targets=others if pin in session.weights.targets else (*others, pin))
    )


def first_rows(session: Session) -> int:
    """Return how many rows count as the first ones, as for `recall tune --k`: all that are asked for."""
    return (
        max(1, session.results.answer.plan.offset + session.results.answer.plan.limit)
        if session.results.answer is not None
        else 1
    )


def nearest_weight(session: Session) -> float | None:
    """Return the weight nearest to the current one that meets all targets, or None."""
    met, now = target_weights(session), exact_share(current(session))
    interval = explain.sweep.nearest(met.weights, now) if met else None
    return None if interval is None else explain.sweep.weight_inside(interval, now)


def value_at(curve: Curve, weight: Fraction) -> float:
    """Return the mean at exactly this weight."""
    values = [of[bisect_left(at, weight) + bisect_right(at, weight) - 1] for at, of in curve.steps]
    return sum(values) / len(values)


def left_out(session: Session) -> str:
    """Return the active settings that the curve ignores, as in `recall tune`, or ""."""
    return ", ".join(unswept(of_words(session) if session.weights.is_of_all else current(session)))


def heights(curve: Curve, columns: int) -> list[float]:
    """Return the mean in the middle of each of `columns` equal intervals. For drawing only."""
    middles = [(2 * column + 1) / (2 * columns) for column in range(columns)]
    return [curve.means[bisect_right(curve.places, at) - 1] for at in middles]


def middle(stretches: Sequence[Stretch]) -> float:
    """Return the middle of the widest of these intervals, with as few decimals as lie inside it."""
    low, high = max(stretches, key=lambda each: (_width(each), -each[0]))
    tried = (round((low + high) / 2, digits) for digits in (2, 3, 4, 5, 6))
    return next((each for each in tried if low < each < high), (low + high) / 2)


def best_weight(curve: Curve) -> float:
    """Return the weight to name as the best: the middle of the widest interval of best weights."""
    return middle(curve.best_weights)


def better_weight(curve: Curve, now: Fraction) -> float | None:
    """Return the weight that the grades recommend, with a mean at least as high as here. None if this one is as good.

    It is the middle of the piece of the plateau with the highest mean there. Ties go to the widest piece.
    """
    here = value_at(curve, now)
    if any(_holds(curve, stretch, now, here) for stretch in curve.plateau):
        return None
    piece = max(curve.plateau, key=lambda each: (round(_within(curve, each), 12), _width(each), -each[0]))
    if _within(curve, piece) >= here:
        return middle([piece])
    top = best_weight(curve)
    return top if value_at(curve, Fraction(str(top))) > here else None


def _holds(curve: Curve, stretch: Stretch, now: Fraction, here: float) -> bool:
    """Return True for a weight inside the interval, or for an end of it whose value is not lower."""
    return stretch[0] < now < stretch[1] or (now in stretch and here >= _within(curve, stretch))


def _width(stretch: Stretch) -> float:
    return round(stretch[1] - stretch[0], 12)


def _within(curve: Curve, stretch: Stretch) -> float:
    """Return the exact mean in the middle of an interval."""
    return value_at(curve, Fraction(str(middle([stretch]))))


def _scale(config: Config) -> str:
    """Return everything that a curve depends on besides the weight and the store."""
    return _settings(config, (*FUSION, *RETRIEVAL))


def _ranking(answer: Answer, config: Config) -> str:
    """Return everything that the curve of an answer depends on besides the weight and the grades.

    That is the source of its candidates, and their current ranking. A setting that needs a new search counts once its
    candidates are there.
    """
    plan = answer.plan
    candidates = (
        answer.generation,
        answer.digest,
        plan.lexical,
        plan.lexical_raw,
        plan.semantic,
        plan.filters,
        plan.exact,
    )
    return f"{candidates} {_settings(config, FUSION)} {_settings(plan.config, RETRIEVAL)}"


def _settings(config: Config, keys: Sequence[str]) -> str:
    return " ".join(assignments({key: getattr(config, key) for key in keys}))


DEPTH = 8  # ranks drawn; more lines cannot be followed by eye


def chart_of(pool: Pool, config: Config, *, limit: int = DEPTH, texts: Sequence[int] | None = None) -> Chart:
    """Return the chart of a pool with two signals under this fusion and normalization. The weights do not matter.

    limit: number of listed rows; at most DEPTH are drawn.
    texts: number of each candidate's text, if copies are listed once.
    """
    swept = explain.sweep.sweep(explain.lines.sweepable(pool, config), max(1, min(limit, DEPTH)), texts)
    return Chart(
        fusion=config.fusion,
        normalize=config.normalize,
        rrf_k=config.rrf_k,
        weights=swept.weights,
        orders=tuple(map(tuple, swept.orders.tolist())),
        same_order=tuple(where for where, _ in explain.sweep.stretches(swept)),
        same_members=tuple(where for where, _ in explain.sweep.stretches(swept, members=True)),
    )


def top_at(chart: Chart, weight: Fraction) -> tuple[int, ...]:
    """Return the first candidates at this weight, best first."""
    return chart.orders[bisect_left(chart.weights, weight) + bisect_right(chart.weights, weight) - 1]


def tops_over(chart: Chart, columns: int) -> list[tuple[int, ...]]:
    """Return the first candidates in the middle of each of `columns` equal intervals. For drawing only."""
    places = [float(weight) for weight in chart.weights]
    middles = [(2 * column + 1) / (2 * columns) for column in range(columns)]
    return [chart.orders[bisect_left(places, at) + bisect_right(places, at) - 1] for at in middles]


def stability_at(chart: Chart, weight: Fraction) -> Stability:
    """Return how far the weight is from changing the first ranks."""
    return explain.sweep.stability_of(chart.same_order, chart.same_members, weight)


def changes(chart: Chart) -> tuple[Fraction, ...]:
    """Return the weights at which the order changes."""
    return tuple(sorted({where.low for where in chart.same_order if where.low > 0 or where.low_open}))
