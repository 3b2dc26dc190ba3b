"""What the grades and the pins of a question say of every weight. Pure, and without a screen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from recall_core import explain
from recall_core.config import Config, assignments
from recall_core.evaluate.measures import FUSION, RETRIEVAL, unswept
from recall_core.evaluate.questions import Unit
from recall_core.text import cited
from recall_core.types import Hit
from recall_tui.state.analyses import Analysis
from recall_tui.state.beside import saved_analysis
from recall_tui.state.judging import words_of
from recall_tui.state.results import result_of
from recall_tui.state.session import Session, is_seen
from recall_tui.state.weighing import current, exact_share, is_hybrid, why_no_lines

if TYPE_CHECKING:
    from recall_core.explain.sweep import Interval
    from recall_core.retrieve.answer import Answer

MEASURE = "nDCG@10"
LEAST_QUERIES = 10  # `recall tune` recommends nothing on fewer

Want = Literal["in", "out"]
Stretch: TypeAlias = tuple[float, float]
"""Weights between two ends."""


class PinnedChunk(NamedTuple):
    """A target of one question: a chunk that is required among its first rows, or excluded from them."""

    question: str
    want: Want
    chunk_id: str
    place: str
    """The chunk's path and lines, for people."""


class Curve(NamedTuple):
    """The measure at every weight: of one query, or the mean of several. Without a query there is only `judged`."""

    judged: int
    """Queries with a relevant document, of all that the store holds."""
    steps: tuple[tuple[tuple[Fraction, ...], tuple[float, ...]], ...] = ()
    """For each query its break points, and its values at and between them in turn."""
    places: tuple[float, ...] = ()
    """The break points of all queries together."""
    means: tuple[float, ...] = ()
    """The mean between each two of them."""
    best: float = 0.0
    best_weights: tuple[Stretch, ...] = ()
    plateau: tuple[Stretch, ...] = ()
    """Weights that are as good as the best, within one standard error of the paired differences."""
    interval: Stretch = (0.0, 0.0)
    """95 % of resamples of the queries have their best weight in it."""
    unit: Unit = "doc"
    """What is measured."""


class TargetWeights(NamedTuple):
    """The weights that meet all targets at once; where there are none, the places of those that are in conflict."""

    weights: tuple[Interval, ...]
    conflict: tuple[int, ...] = ()


def wants(session: Session) -> Iterator[Analysis]:
    """The rows under the saved settings, the targets' weights, then the curve: it may take long."""
    if not is_seen(session, "weights"):
        return
    yield from filter(None, (saved_analysis(session), pins_analysis(session), curve_analysis(session)))


def curve_analysis(session: Session) -> Analysis | None:
    """The analysis of the curve that is shown; None where the weight of this question moves no rank."""
    answer = session.results.answer
    if session.weights.is_of_all:
        return Analysis("curve", "", _scale(of_words(session)))
    if answer is None or not is_hybrid(answer) or why_no_lines(answer):
        return None
    return Analysis("curve", words_of(answer), _ranking(answer, current(session)))


def pins_analysis(session: Session) -> Analysis | None:
    """The analysis of the weights that meet the targets of this question."""
    answer, pins = session.results.answer, pins_of(session)
    if answer is None or not pins or not is_hybrid(answer) or why_no_lines(answer):
        return None
    scale = f"{_scale(current(session))} k={first_rows(session)}"
    return Analysis("pins", " ".join(f"{pin.want}:{pin.chunk_id}" for pin in pins), scale)


def curve_of(session: Session) -> Curve | None:
    """The curve that is shown, once it is found out."""
    analysis = curve_analysis(session)
    result = result_of(session, analysis, Curve) if analysis else None
    return result if isinstance(result, Curve) else None


def target_weights(session: Session) -> TargetWeights | None:
    """The weights that meet the targets, once they are found out."""
    analysis = pins_analysis(session)
    result = result_of(session, analysis, TargetWeights) if analysis else None
    return result if isinstance(result, TargetWeights) else None


def of_words(session: Session) -> Config:
    """The settings of a question in words: what all judged queries are asked under."""
    return (session.weights.saved or Config())._replace(**dict(session.weights.tweaks))  # type: ignore[arg-type]


def pins_of(session: Session) -> tuple[PinnedChunk, ...]:
    """The pins of the answered question."""
    answer = session.results.answer
    return () if answer is None else tuple(pin for pin in session.weights.targets if pin.question == answer.plan.text)


def pinned(session: Session, want: Want) -> Session:
    """The session with this target for the selected row; the same one a second time takes it back."""
    answer, hit = session.results.answer, session.results.hit
    if answer is None or hit is None or hit.chunk is None:
        return session
    pin = PinnedChunk(answer.plan.text, want, hit.chunk.id, _place(hit))
    others = tuple(
        each for each in session.weights.targets if (each.question, each.chunk_id) != (pin.question, pin.chunk_id)
    )
    return session._replace(
        weights=session.weights._replace(targets=others if pin in session.weights.targets else (*others, pin))
    )


def first_rows(session: Session) -> int:
    """How many rows count as the first ones, as `recall tune --k` takes it: down to the last that is asked for."""
    return (
        max(1, session.results.answer.plan.offset + session.results.answer.plan.limit)
        if session.results.answer is not None
        else 1
    )


def nearest_weight(session: Session) -> float | None:
    """The weight nearest to the present one that meets all targets; None where there is none, or none is known."""
    met, now = target_weights(session), exact_share(current(session))
    interval = explain.sweep.nearest(met.weights, now) if met else None
    return None if interval is None else explain.sweep.weight_inside(interval, now)


def value_at(curve: Curve, weight: Fraction) -> float:
    """The mean at exactly this weight."""
    values = [of[bisect_left(at, weight) + bisect_right(at, weight) - 1] for at, of in curve.steps]
    return sum(values) / len(values)


def left_out(session: Session) -> str:
    """The settings in force that the curve on the screen knows nothing of, as in `recall tune`; "" without any."""
    return ", ".join(unswept(of_words(session) if session.weights.is_of_all else current(session)))


def heights(curve: Curve, columns: int) -> list[float]:
    """The mean in the middle of each of so many equal stretches of the range: to draw, not to decide."""
    middles = [(2 * column + 1) / (2 * columns) for column in range(columns)]
    return [curve.means[bisect_right(curve.places, at) - 1] for at in middles]


def middle(stretches: Sequence[Stretch]) -> float:
    """The middle of the widest of these stretches, to as few decimals as stay inside of it."""
    low, high = max(stretches, key=lambda each: (_width(each), -each[0]))
    tried = (round((low + high) / 2, digits) for digits in (2, 3, 4, 5, 6))
    return next((each for each in tried if low < each < high), (low + high) / 2)


def best_weight(curve: Curve) -> float:
    """The weight that is named as the best one: of all that are, the middle of the widest stretch."""
    return middle(curve.best_weights)


def better_weight(curve: Curve, now: Fraction) -> float | None:
    """The weight that the grades speak for, its mean no lower than here; None where the present one is as good.

    The middle of the piece of the plateau that has the highest mean there, and of equal ones of the widest.
    """
    here = value_at(curve, now)
    if any(_holds(curve, stretch, now, here) for stretch in curve.plateau):
        return None
    found = max(curve.plateau, key=lambda each: (round(_within(curve, each), 12), _width(each), -each[0]))
    if _within(curve, found) >= here:
        return middle([found])
    top = best_weight(curve)
    return top if value_at(curve, Fraction(str(top))) > here else None


def _holds(curve: Curve, stretch: Stretch, now: Fraction, here: float) -> bool:
    """True for a weight between the ends; for an end, which is a break point, unless its value is lower."""
    return stretch[0] < now < stretch[1] or (now in stretch and here >= _within(curve, stretch))


def _width(stretch: Stretch) -> float:
    return round(stretch[1] - stretch[0], 12)


def _within(curve: Curve, stretch: Stretch) -> float:
    """The mean in the middle of a stretch, exactly."""
    return value_at(curve, Fraction(str(middle([stretch]))))


def _scale(config: Config) -> str:
    """All that a curve depends on besides the weight and the store."""
    return _settings(config, (*FUSION, *RETRIEVAL))


def _ranking(answer: Answer, config: Config) -> str:
    """All that the curve of an answer depends on besides the weight and the grades: what made its candidates, and how
    they are ranked by now. A setting that has to be searched with counts once its candidates are there.
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


def _place(hit: Hit) -> str:
    assert hit.chunk is not None  # noqa: S101 - a row without a chunk is not pinned
    return cited(hit.doc.path, hit.chunk.line_start, hit.chunk.line_end, hit.chunk.place)
