"""The results of grades and pins at every weight match `recall tune`."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from recall_core.api.engine import Engine
from recall_core.api.recall import Ask, Recall
from recall_core.config import Config
from recall_core.evaluate.measures import EvalOptions as Evaluation
from recall_core.evaluate.tune import TuneOptions
from recall_core.evaluate.tune_question import PinTarget
from recall_core.explain.sweep import Interval
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import Plan
from recall_core.types import Hit
from recall_tui.analyses import judge
from recall_tui.panes.plot import DIM, figures, target_figures
from recall_tui.state.commands import commands
from recall_tui.state.events import AnalysisDone, AnalysisMoved, Crashed, Event
from recall_tui.state.records import Analysis, QueryState, ResultsState, StoreState, WeightsState
from recall_tui.state.session import Session, stamp_of
from recall_tui.state.transitions import after
from recall_tui.state.tuning import (
    Curve,
    TargetWeights,
    better_weight,
    curve_analysis,
    curve_of,
    heights,
    middle,
    nearest_weight,
    pins_analysis,
    pins_of,
    toggle_target,
    value_at,
    wants,
)
from recall_tui.state.weighing import set_exact_share, step_number, turn_choice
from recall_tui.threads.analysis_thread import AnalysisRun, AnalysisThread
from recall_tui.widgets.draw import ASCII, UNICODE
from tests.builders import opened_by
from tests.workbench_corpus import build_store
from tests.workbench_grades import GRADES, grade

QUESTION = "keep the manual in mind"


@pytest.fixture(scope="module")
def recall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    """Return the small store with grades."""
    folder = tmp_path_factory.mktemp("judged")
    store = build_store(folder)
    grade(store, folder)
    with Recall.open(str(store)) as opened:
        yield opened


def session_of(
    recall: Recall, text: str = QUESTION, filters: str | None = None, **settings: str | float | bool
) -> Session:
    """Return a session whose question is answered under these settings."""
    tweaks = dict(settings)
    asked = Ask(filter=filters, settings=tuple(f"{key}={value}" for key, value in tweaks.items()))
    plan = recall.engine.plan(text, asked)
    answer = recall.engine.answer(plan)
    hits = dict(enumerate(recall.engine.hits(answer, 0, answer.total)))
    return Session(
        query=QueryState(text=text),
        results=ResultsState(answer=answer, hits=hits, hit=hits.get(0)),
        store=StoreState(info=recall.store.info()),
        weights=WeightsState(saved=recall.config, plain=recall.engine.plan(text).config, tweaks=tweaks),
    )


def run_of(
    recall: Recall, session: Session, kept: dict[str, object] | None = None, steps_done: list[int] | None = None
) -> AnalysisRun:
    def say(done: int, _total: int) -> None:
        if steps_done is not None:
            steps_done.append(done)

    return AnalysisRun(recall, session, lambda: None, {} if kept is None else kept, lambda: None, say)


def found_by(session: Session, analysis: Analysis, result: object) -> Session:
    return session._replace(analyses={analysis: (stamp_of(session, analysis), result)})


def curve(recall: Recall, session: Session, kept: dict[str, object] | None = None) -> Curve:
    analysis = curve_analysis(session)
    assert analysis is not None
    return judge.weight_curve(run_of(recall, session, kept), analysis)


def test_the_mean_curve_matches_tune(recall: Recall) -> None:
    for settings in [{}, {"fusion": "rrf"}, {"normalize": "max", "match": "all", "vector_weight": 0.4}]:
        session = (base := session_of(recall, **settings))._replace(weights=base.weights._replace(is_of_all=True))

        found = curve(recall, session)

        assignments = tuple(f"{key}={value}" for key, value in settings.items())
        events = recall.tune(TuneOptions(curve=True), Ask(settings=assignments))
        while True:
            try:
                next(events)
            except StopIteration as end:
                view = end.value["tuning"]["judged"]
                break
        assert list(found.places) == view["curve"]["weights"], settings
        assert list(found.means) == view["curve"]["means"], settings
        assert (found.best, found.judged) == (view["best"], view["queries"]), settings
        assert [dict(zip(("low", "high"), each, strict=True)) for each in found.plateau] == view["plateau"], settings
        assert found.interval == (view["best_weight_interval"]["low"], view["best_weight_interval"]["high"]), settings
        weight = Fraction(str(settings.get("vector_weight", 0.1)))
        weight = weight / (weight + Fraction(str(recall.config.bm25_weight)))
        assert value_at(found, weight) == pytest.approx(view["current"], abs=1e-12), settings


def test_the_curve_of_a_question_matches_an_evaluation(recall: Recall) -> None:
    for semantic in [0.0, 0.1, 0.35, 0.7, 1.0]:
        session = set_exact_share(session_of(recall), semantic)

        found = curve(recall, session)

        settings = (f"bm25_weight={1 - semantic}", f"vector_weight={semantic}", "sparse_recall=false")
        events = recall.evaluate(Evaluation(metrics="ndcg@10", settings=settings, per_query=True))
        while True:
            try:
                next(events)
            except StopIteration as end:
                per_query = end.value["evaluation"]
                break
        values = [row for row in per_query["per_query"] if row["text"] == QUESTION]
        assert value_at(found, Fraction(str(semantic))) == pytest.approx(
            values[0]["values"]["hybrid"]["ndcg@10"], abs=1e-6
        ), semantic


def test_a_question_without_grades_has_no_curve(recall: Recall) -> None:
    assert curve(recall, session_of(recall, "household tea")) == Curve(judged=len(GRADES))


SELECT = f"SELECT * FROM chunk USING lexical('{QUESTION}'), semantic('{QUESTION}')"


def test_the_curve_of_a_question_covers_the_filtered_rows(recall: Recall) -> None:
    for text, filters in [(QUESTION, "doc.path GLOB 'docs/*'"), (f"{SELECT} FILTER doc.path GLOB 'docs/*'", None)]:
        whole, part = session_of(recall), session_of(recall, text, filters)
        kept: dict[str, object] = {}

        of_whole, of_part = curve(recall, whole, kept), curve(recall, part, kept)

        assert of_whole == curve(recall, whole), text
        assert of_part == curve(recall, part), text
        assert of_part != of_whole, text
        assert curve_analysis(part) != curve_analysis(whole), text


def test_the_same_words_have_the_same_curve(recall: Recall) -> None:
    for text in [SELECT, SELECT.replace(" in ", "  in\n"), QUESTION.replace(" ", "  ")]:
        assert curve(recall, session_of(recall, text)) == curve(recall, session_of(recall)), text


def test_the_first_of_two_queries_with_equal_words_counts(recall: Recall, tmp_path: Path) -> None:
    store = build_store(tmp_path)
    grade(store, tmp_path, {QUESTION: GRADES[QUESTION], QUESTION.replace(" ", "  "): {"docs/files.md": 3}})

    with Recall.open(str(store)) as opened:
        found = curve(opened, session_of(opened))

    assert (found.judged, len(found.steps)) == (2, 1)
    assert found.steps == curve(recall, session_of(recall)).steps


def test_a_store_without_grades_has_no_curve(tmp_path: Path) -> None:
    with Recall.open(str(build_store(tmp_path))) as recall:
        assert curve(recall, session_of(recall)) == Curve(judged=0)


def test_steps_are_computed_once_for_the_same_grades(recall: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    session, kept, steps_done = (
        (base := session_of(recall))._replace(weights=base.weights._replace(is_of_all=True)),
        {},
        [],
    )  # type: ignore[var-annotated]
    analysis = curve_analysis(session)
    assert analysis is not None
    first = judge.weight_curve(run_of(recall, session, kept, steps_done), analysis)
    monkeypatch.setattr(Engine, "answer", None)

    assert judge.weight_curve(run_of(recall, session, kept), analysis) == first
    assert steps_done == [1, 2, 3]


def test_only_another_scale_changes_the_curve(recall: Recall) -> None:
    session = session_of(recall)

    analysis = curve_analysis(session)

    assert curve_analysis(set_exact_share(session, 0.7)) == analysis
    assert curve_analysis(turn_choice(session, "normalize")) != analysis
    assert list(wants(session)) == [analysis]
    assert list(wants(session._replace(zoomed=True, pane="results"))) == []


def test_another_pool_has_its_curve_after_its_candidates(recall: Recall) -> None:
    session = session_of(recall)
    moved, searched = step_number(session, "pool", 1), session_of(recall, pool=500)

    assert moved.weights.tweaks == searched.weights.tweaks
    assert curve_analysis(moved) == curve_analysis(session)
    assert curve_analysis(searched) != curve_analysis(session)


def test_the_curve_of_an_answer_ignores_later_store_changes(recall: Recall) -> None:
    session = session_of(recall)
    assert session.results.answer is not None

    later = session._replace(
        results=session.results._replace(
            answer=session.results.answer._replace(generation=session.results.answer.generation + 1)
        )
    )

    assert curve_analysis(later) != curve_analysis(session)


@given(semantic=some.integers(0, 100), rows=some.sampled_from([1, 3, 10]), wanted=some.data())
def test_the_weights_for_all_targets_match_tune(
    recall: Recall, semantic: int, rows: int, wanted: some.DataObject
) -> None:
    text = wanted.draw(
        some.sampled_from([QUESTION, "token budget", "SELECT * FROM chunk USING lexical('file'), semantic('tea')"])
    )
    session = session_of(recall, text)
    assert session.results.answer is not None
    plan = session.results.answer.plan._replace(limit=rows)
    session = session._replace(results=session.results._replace(answer=session.results.answer._replace(plan=plan)))
    for want in wanted.draw(some.lists(some.sampled_from(["in", "out"]), min_size=1, max_size=3)):
        row = wanted.draw(some.sampled_from(sorted(session.results.hits)))
        session = toggle_target(
            session._replace(results=session.results._replace(hit=session.results.hits[row])), want
        )  # type: ignore[arg-type]
    session = set_exact_share(session, semantic / 100)
    analysis = pins_analysis(session)
    if analysis is None:
        assert pins_of(session) == ()
        return

    found = judge.weights_of_pins(run_of(recall, session), analysis)

    wishes = tuple(PinTarget(pin.want, pin.chunk_id) for pin in pins_of(session))
    settings = tuple(f"{key}={value}" for key, value in session.weights.tweaks.items())
    ask = Ask(k=rows, settings=settings)
    view = recall.sweep(text, ask, is_rql=text.startswith("SELECT"), wishes=wishes)["tuning"]["pinned"]
    assert [(float(low), float(high), *ends) for low, high, *ends in found.weights] == [
        (each["low"], each["high"], each["low_open"], each["high_open"]) for each in view["weights"]
    ]
    assert list(found.conflict) == view["conflict"]
    proposed = view["proposed"]
    assert nearest_weight(found_by(session, analysis, found)) == (proposed and proposed["weight"])


def test_targets_count_the_rows_skipped_by_an_offset(recall: Recall) -> None:
    for semantic in [0.1, 0.6]:
        text = f"{SELECT} LIMIT 5 OFFSET 5 OPTION vector_weight {semantic}, bm25_weight {1 - semantic}"
        session = session_of(recall, text)
        for rank, holds in ((10, True), (11, False)):
            wished = toggle_target(
                session._replace(results=session.results._replace(hit=session.results.hits[rank - 1])), "in"
            )
            analysis = pins_analysis(wished)
            assert analysis is not None, semantic

            found = judge.weights_of_pins(run_of(recall, wished), analysis)

            assert any(each.holds(Fraction(str(semantic))) for each in found.weights) is holds, semantic
            shown = target_figures(found_by(wished, analysis, found), UNICODE)
            assert shown[0] == "targets in the top 10: 1 required", semantic
            assert shown[1].startswith(
                f"{UNICODE.yes} all targets met (" if holds else f"{UNICODE.no} targets met at"
            ), semantic
            typed = shlex.split(commands(wished._replace(pane="weights"), None).splitlines()[1])
            assert typed[typed.index("--k") + 1] == "10", semantic
            view = recall.sweep(text, Ask(k=10), is_rql=True, wishes=(PinTarget("in", pins_of(wished)[0].chunk_id),))
            assert view["tuning"]["pinned"]["wishes"][0]["holds"] is holds, semantic


def test_a_chunk_that_is_not_a_candidate_is_always_out(recall: Recall) -> None:
    session = session_of(recall, "café")
    other = session_of(recall, QUESTION)
    chunk = next(hit.chunk.id for hit in other.results.hits.values() if hit.chunk)
    pin = pins_of(toggle_target(session, "in"))[0]._replace(chunk_id=chunk)
    gone = pin._replace(chunk_id="c" * 64)

    for want, at_all in (("in", ()), ("out", (Interval(Fraction(0), Fraction(1)),))):
        wished = session._replace(weights=session.weights._replace(targets=(gone._replace(want=want),)))  # type: ignore[arg-type]
        analysis = pins_analysis(wished)
        assert analysis is not None
        assert judge.weights_of_pins(run_of(recall, wished), analysis).weights == at_all


def test_repeating_a_target_removes_it(recall: Recall) -> None:
    session = session_of(recall)

    once = toggle_target(session, "in")

    assert [pin.want for pin in pins_of(once)] == ["in"]
    assert [pin.want for pin in pins_of(toggle_target(once, "out"))] == ["out"]
    assert pins_of(toggle_target(once, "in")) == ()
    assert (
        pins_of(once._replace(results=once.results._replace(answer=session_of(recall, "tea").results.answer))) == ()
    )


def test_without_a_result_there_is_no_weight(recall: Recall) -> None:
    session = toggle_target(session_of(recall), "in")
    analysis = pins_analysis(session)
    assert analysis is not None

    assert nearest_weight(session) is None
    assert nearest_weight(found_by(session, analysis, TargetWeights(()))) is None
    assert curve_of(session) is None


def test_the_middle_has_few_decimals_and_lies_inside() -> None:
    assert middle([(0.2, 0.4), (0.5, 0.9)]) == 0.7
    assert middle([(0.3331, 0.3334)]) == 0.3332
    assert middle([(0.1, 0.3), (0.5, 0.7)]) == 0.2


def of_pieces(*values: float, at: Sequence[float] = (), plateau: Sequence[tuple[float, float]]) -> Curve:
    """Return one query's curve with these values between fifths.

    at: values at the break points, by default the values on their left.
    """
    places = tuple(Fraction(each, 5) for each in range(len(values) + 1))
    points = at or (values[0], *values)
    pairs = zip(points[:-1], values, strict=True)
    steps = (*(value for pair in pairs for value in pair), points[-1])
    return Curve(
        1, ((places, steps),), tuple(map(float, places)), values, max(values), ((0.8, 1.0),), plateau=tuple(plateau)
    )


PIECES = ((0.0, 0.4), (0.8, 1.0))
"""Return a wide and a narrow piece of a plateau. The mean is lower in the wide one."""


def test_a_weight_on_the_plateau_stays() -> None:
    for now in [Fraction("0.1"), Fraction("0.3"), Fraction("0.85"), Fraction(1)]:
        assert better_weight(of_pieces(0.72, 0.71, 0.5, 0.5, 0.73, plateau=PIECES), now) is None, now


def test_the_best_piece_of_the_plateau_wins() -> None:
    higher = of_pieces(0.72, 0.72, 0.5, 0.5, 0.73, plateau=PIECES)
    equal = of_pieces(0.73, 0.73, 0.5, 0.5, 0.73, plateau=PIECES)

    assert better_weight(higher, Fraction("0.5")) == 0.9
    assert better_weight(equal, Fraction("0.5")) == 0.2


def test_a_weight_on_a_worse_break_point_moves() -> None:
    found = of_pieces(0.73, 0.73, 0.5, 0.5, 0.5, at=(0.1, 0.73, 0.5, 0.5, 0.5, 0.5), plateau=[(0.0, 0.4)])

    assert better_weight(found, Fraction(0)) == 0.2
    assert better_weight(found, Fraction(1, 5)) is None


def test_no_move_lowers_the_measure() -> None:
    falling = of_pieces(0.6, 0.6, 0.7, 0.5, 0.73, plateau=[(0.0, 0.4)])
    spike = of_pieces(0.6, 0.6, 0.7, 0.5, 0.73, at=(0.6, 0.6, 0.6, 0.9, 0.5, 0.73), plateau=[(0.8, 1.0)])

    assert better_weight(falling, Fraction("0.5")) == 0.9  # the middle of the best weights
    assert better_weight(spike, Fraction(3, 5)) is None


def test_the_drawing_uses_the_middle_of_each_column() -> None:
    steps = ((Fraction(0), Fraction(1, 2), Fraction(1)), (0.25, 0.25, 0.5, 0.75, 0.75))

    found = Curve(1, (steps,), (0.0, 0.5, 1.0), (0.25, 0.75))

    assert heights(found, 4) == [0.25, 0.25, 0.75, 0.75]
    assert [value_at(found, Fraction(at, 4)) for at in range(5)] == [0.25, 0.25, 0.5, 0.75, 0.75]


def test_the_measure_names_the_settings_it_ignores(recall: Recall) -> None:
    for width, glyphs in [(46, ASCII), (46, UNICODE), (120, UNICODE)]:
        for is_of_all in [False, True]:
            for settings, said in ({}, ""), ({"min_score": 0.15}, "without min_score"):
                session = (base := session_of(recall, **settings))._replace(
                    weights=base.weights._replace(is_of_all=is_of_all)
                )
                analysis = curve_analysis(session)
                assert analysis is not None, (width, glyphs, is_of_all)

                lines = figures(found_by(session, analysis, curve(recall, session)), width, glyphs)

                remarks = [
                    line.plain[part.start : part.end] for line in lines for part in line.spans if part.style == DIM
                ]
                assert "".join(remarks) == said, (width, glyphs, is_of_all)
                assert all(line.cell_len <= width for line in lines), (width, glyphs, is_of_all)


def test_a_row_without_a_chunk_is_not_pinned(recall: Recall) -> None:
    session = session_of(recall)
    assert session.results.hit is not None

    assert (
        toggle_target(
            session._replace(results=session.results._replace(hit=Hit(1, None, session.results.hit.doc, None, ()))),
            "in",
        ).weights.targets
        == ()
    )
    assert toggle_target(Session(weights=WeightsState(saved=Config())), "in").weights.targets == ()


def test_a_long_curve_yields_and_resumes(tmp_path: Path) -> None:
    store = build_store(tmp_path)
    grade(store, tmp_path)
    asked: list[str] = []
    events: list[Event] = []
    is_done = threading.Event()

    class Interrupting(Engine):
        """Request something else while the second query runs."""

        def answer(self, plan: Plan) -> Answer:
            asked.append(plan.text)
            if len(asked) == 2:
                thread.submit([(other, stamp), (analysis, stamp)], session)
            return super().answer(plan)

    def post(event: Event) -> None:
        events.append(event)
        if (isinstance(event, AnalysisDone) and event.analysis == analysis) or isinstance(event, Crashed):
            is_done.set()

    with Recall.open(str(store)) as opened:
        session = (base := session_of(opened))._replace(weights=base.weights._replace(is_of_all=True))
    analysis = curve_analysis(session)
    assert analysis is not None
    assert session.results.hit is not None
    assert session.results.hit.chunk is not None
    other = Analysis("ledger", session.results.hit.chunk.id)
    stamp = stamp_of(session, analysis)
    thread = AnalysisThread(lambda: opened_by(Interrupting, store), post)
    thread.start()

    thread.submit([(analysis, stamp)], session)
    assert is_done.wait(60)
    thread.stop()

    assert [event.analysis for event in events if isinstance(event, AnalysisDone)] == [other, analysis]
    assert asked == list(GRADES)
    assert [(event.done, event.total) for event in events if isinstance(event, AnalysisMoved)][-1] == (3, 3)


def test_the_progress_of_an_analysis_reaches_the_screen() -> None:
    analysis = Analysis("curve")

    assert after(Session(), AnalysisMoved(analysis, 2, 5)).analysing == (analysis, 2, 5)
