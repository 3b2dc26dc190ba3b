"""Grades and judged queries without a screen: analyses, pending grades, undo, and the choice."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall_core.api.recall import Recall
from recall_core.errors import StoreError, UsageError
from recall_core.evaluate.judgements import Judgement, Spot
from recall_tui.panes.judge import layout
from recall_tui.state import judging
from recall_tui.state.events import AnalysisDone, TaskDone
from recall_tui.state.judging import GRADE, Board, Figure, JudgedQueries, Missed, QueryLine
from recall_tui.state.records import Analysis, StoreState, WeightsState
from recall_tui.state.runs import Run
from recall_tui.state.session import Session, ask, focus_pane, stamp_of
from recall_tui.state.transitions import after, wanted_analyses
from recall_tui.widgets.draw import ASCII, UNICODE
from tests.workbench_corpus import build_store

NOTHING = JudgedQueries({}, {}, {})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("judging"))


@pytest.fixture
def session(store: Path) -> Session:
    """Return a session with three rows of an answer and no judgements."""
    return learned(answered(store, "token budget"), NOTHING)


def answered(store: Path, text: str) -> Session:
    with Recall.open(str(store)) as recall:
        answer = recall.engine.answer(recall.engine.plan(text))
        hits = dict(enumerate(recall.engine.hits(answer, 0, 3)))
        info = recall.store.info()
        saved = recall.config
    session = ask(Session(store=StoreState(info=info), weights=WeightsState(saved=saved)), text, 0.0)
    return session._replace(
        query=session.query._replace(busy=False),
        results=session.results._replace(answer=answer, hits=hits, hit=hits[0]),
    )


def analysed(session: Session, analysis: Analysis, result: object) -> Session:
    return after(session, AnalysisDone(analysis, stamp_of(session, analysis), result))


def learned(session: Session, known: JudgedQueries) -> Session:
    return analysed(session, Analysis("grades"), known)


def given(session: Session, grade: int | None) -> Session:
    return judging.add_grade(session, judging.change_for(session, grade))


def grades(session: Session) -> list[int | None]:
    here = judging.judgements_here(session)
    return [judging.grade_of(here, session.results.hits[row], "chunk") for row in range(3)]


def line(query: str, *missed: Missed, value: float = 0.5, before: float | None = None) -> QueryLine:
    values = dict.fromkeys(judging.MEASURES, value)
    return QueryLine(query, f"text {query}", values, {} if before is None else {"ndcg@10": before}, 0.4, 3, missed)


def board_of(*lines: QueryLine) -> Board:
    return Board(lines, dict.fromkeys(judging.MEASURES, Figure(0.5, 0.4, 0.6)), 0.4, 0, 100, False)


def with_board(session: Session, *lines: QueryLine) -> Session:
    """Return the session with a board, which needs judgements with a relevant document."""
    if (known := judging.judged_queries(session)) is None or not judging.has_relevant(known):
        session = learned(session, judged_first_row(session, 3))
    return analysed(session, judging.board_analysis(session), board_of(*lines))


def test_a_grade_is_shown_before_it_is_stored(session: Session) -> None:
    assert grades(given(session, 3)) == [3, None, None]


def test_a_first_grade_makes_a_judged_query(session: Session) -> None:
    change = judging.change_for(session, 2)

    assert (change.query, change.text, change.begins) == ("q1", "token budget", True)


def test_the_same_words_are_the_same_query(store: Path, session: Session) -> None:
    known = JudgedQueries({"other": " token\n budget"}, {"token budget": "other"}, {})

    change = judging.change_for(learned(session, known), 2)

    assert (change.query, change.text, change.begins) == ("other", " token\n budget", False)


def test_a_second_grade_joins_the_query_of_the_first(session: Session) -> None:
    second = given((base := given(session, 3))._replace(results=base.results._replace(selected=1)), 1)

    assert grades(second) == [3, 1, None]
    assert [each.change.query for each in second.judge.gradings] == ["q1", "q1"]
    assert [each.change.begins for each in second.judge.gradings] == [True, False]


def test_a_new_query_survives_the_loss_of_its_id(session: Session) -> None:
    both = given((base := given(session, 3))._replace(results=base.results._replace(selected=1)), 1)
    elsewhere = JudgedQueries({"q1": "something else"}, {"something else": "q1"}, {})

    read = learned(both, elsewhere)

    known = judging.judged_queries(read)
    assert known is not None
    assert known.texts == {"q1": "something else", "q2": "token budget"}
    assert grades(read) == [3, 1, None]


def test_a_grade_stays_shown_until_it_is_read_back(session: Session) -> None:
    shown = given(session, 3)
    written = after(shown, TaskDone(GRADE, ""))
    assert grades(written) == [3, None, None]

    stored = JudgedQueries({"q1": "token budget"}, {"token budget": "q1"}, {})
    read = learned(written, stored)

    assert read.judge.gradings == ()
    assert grades(read) == [None, None, None]


def test_an_older_result_does_not_hide_a_new_grade(session: Session) -> None:
    shown = given(session, 3)

    assert grades(learned(shown, NOTHING)) == [3, None, None]
    assert learned(shown, NOTHING).judge.gradings == shown.judge.gradings


def test_an_older_result_that_arrives_late_hides_no_grade(session: Session) -> None:
    shown = given(session, 3)
    early = AnalysisDone(Analysis("grades"), stamp_of(shown, Analysis("grades")), NOTHING)
    written = after(shown, TaskDone(GRADE, ""))

    late = after(written, early)

    assert grades(late) == [3, None, None]
    assert late.judge.gradings == written.judge.gradings


def test_an_outdated_result_confirms_no_grade(session: Session) -> None:
    both = given((base := given(session, 3))._replace(results=base.results._replace(selected=1)), 1)
    first = after(both, TaskDone(GRADE, ""))
    holds_it = JudgedQueries({"q1": "token budget"}, {"token budget": "q1"}, {})
    between = AnalysisDone(Analysis("grades"), stamp_of(first, Analysis("grades")), holds_it)
    second = after(first, TaskDone(GRADE, ""))

    late = after(second, between)

    assert grades(late) == [3, 1, None]
    assert late.judge.gradings == second.judge.gradings


def test_a_grade_that_was_not_stored_is_reverted(session: Session) -> None:
    both = given((base := given(session, 3))._replace(results=base.results._replace(selected=1)), 1)
    error = StoreError("store_locked", "Another process writes.")

    failed = after(after(both, TaskDone(GRADE, "", error)), TaskDone(GRADE, ""))

    assert grades(failed) == [None, 1, None]
    assert len(failed.judge.regrades) == 1


def test_another_failed_task_reverts_no_grade(session: Session) -> None:
    shown = given(session, 3)

    assert grades(after(shown, TaskDone("Repair", "", StoreError("read_only", "No.")))) == [3, None, None]


def test_undo_removes_the_newest_grade_at_once(session: Session) -> None:
    both = given((base := given(session, 3))._replace(results=base.results._replace(selected=1)), 1)

    once, _ = judging.take_grade_back(both)
    twice, _ = judging.take_grade_back(once)

    assert grades(once) == [3, None, None]
    assert grades(twice) == [None, None, None]
    assert twice.judge.regrades == ()
    known = judging.judged_queries(twice)
    assert known is not None
    assert known.texts == {}


def test_an_undo_that_was_not_stored_can_be_repeated(session: Session) -> None:
    written = after(given(session, 3), TaskDone(GRADE, ""))
    undone, _ = judging.take_grade_back(written)

    failed = after(undone, TaskDone(GRADE, "", StoreError("store_locked", "Another process writes.")))

    assert grades(failed) == [3, None, None]
    assert failed.judge.regrades == written.judge.regrades


def test_removing_a_missing_grade_changes_nothing(session: Session) -> None:
    assert not judging.changes(judging.change_for(session, None))


def test_the_same_grade_again_changes_nothing(session: Session) -> None:
    assert not judging.changes(judging.change_for(given(session, 3), 3))


def test_an_rql_query_is_judged_by_its_signal_words(store: Path) -> None:
    for text, words in [
        ("  token   budget ", "token budget"),
        ("SELECT * FROM chunk USING lexical('token'), semantic('budget') LIMIT 3", "token budget"),
        ("SELECT * FROM chunk USING lexical('token budget'), semantic('token budget') LIMIT 3", "token budget"),
        ("SELECT * FROM chunk LIMIT 3", ""),
    ]:
        session = learned(answered(store, text), NOTHING)

        assert judging.words_of(session.results.answer) == words, text
        assert bool(judging.why_not_gradable(session)) == (words == ""), text


def test_no_grade_is_given_before_the_judgements_load(store: Path) -> None:
    session = answered(store, "token budget")

    assert judging.why_not_gradable(session) == "The judgements are still loading."
    assert judging.judgements_here(session) == {}


def test_a_row_that_is_loading_is_not_graded(session: Session) -> None:
    assert (
        judging.why_not_gradable(session._replace(results=session.results._replace(selected=9)))
        == "The row is still loading."
    )


def test_an_error_of_the_judgements_is_shown(session: Session) -> None:
    failed = analysed(session, Analysis("grades"), StoreError("corrupt", "The file is damaged."))

    assert judging.why_not_gradable(failed) == "The file is damaged."
    assert judging.judged_queries(failed) is None


def test_the_board_is_wanted_once_a_relevant_grade_is_stored(session: Session) -> None:
    def kinds(session: Session) -> set[str]:
        return {analysis.kind for analysis, _ in wanted_analyses(focus_pane(session, "judge"))} & {
            "grades",
            "line",
            "board",
        }

    relevant = learned(after(given(session, 3), TaskDone(GRADE, "")), judged_first_row(session, 3))
    assert kinds(session) == set()
    assert kinds(given(session, 3)) == set()
    assert kinds(after(given(session, 3), TaskDone(GRADE, ""))) == {"grades"}
    assert kinds(learned(session, judged_first_row(session, 0))) == set()
    assert kinds(relevant) == {"line", "board"}
    assert kinds(relevant._replace(store=relevant.store._replace(run=Run("docs")))) == set()


def judged_first_row(session: Session, grade: int) -> JudgedQueries:
    spot = judging.spot_of(session.results.hits[0], "chunk")
    places = {"q1": {spot.path: (Judgement("q1", spot, grade),)}}
    return JudgedQueries({"q1": "token budget"}, {"token budget": "q1"}, places)


def test_an_outdated_board_stays_until_the_next_one(session: Session) -> None:
    shown = with_board(session, line("q1"))
    moved = shown._replace(
        weights=shown.weights._replace(tweaks={"vector_weight": 0.7}),
        query=shown.query._replace(generation=shown.query.generation + 1),
    )

    assert judging.is_current(shown)
    assert not judging.is_current(moved)
    assert judging.pointed_line(moved) == line("q1")
    assert judging.pointed_line(with_board(moved, line("q1", value=0.6))) == line("q1", value=0.6)


def test_the_board_disappears_if_nothing_can_be_measured(session: Session) -> None:
    for grade in [None, 0]:
        measured = with_board(learned(session, judged_first_row(session, 3)), line("q1"))
        assert judging.board(measured) is not None, grade
        assert judging.lines_of(measured), grade
        nothing = JudgedQueries({}, {}, {})

        left = learned(measured, nothing if grade is None else judged_first_row(session, grade))

        assert judging.board(left) is None, grade
        assert judging.lines_of(left) == (), grade
        assert judging.pointed_line(left) is None, grade
        assert judging.headway(left._replace(analysing=(judging.board_analysis(left), 0, 1))) is None, grade


def test_the_current_question_is_newer_than_the_board(session: Session) -> None:
    known = with_board(learned(session, judged_first_row(session, 3)), line("q0"), line("q1"))
    analysis = judging.line_analysis(known)
    assert analysis is not None

    fresh = analysed(known, analysis, line("q1", value=0.9))

    assert judging.lines_of(fresh) == (line("q0"), line("q1", value=0.9))


def test_a_failed_board_lists_nothing(session: Session) -> None:
    failed = analysed(session, judging.board_analysis(session), UsageError("eval_unavailable", "No ir-measures."))

    assert judging.lines_of(failed) == ()
    assert judging.pointed_line(failed) is None
    assert judging.step_line(failed, 1) == failed


def test_the_choice_stays_inside_the_list(session: Session) -> None:
    known = with_board(session, line("q1"), line("q2"))

    assert judging.pointed_line(judging.step_line(known, 5)) == line("q2")
    assert judging.pointed_line(judging.step_line(known, -5)) == line("q1")


def test_keys_move_through_the_open_list_of_missed_documents(session: Session) -> None:
    missed = Missed("a.md", 2, 12), Missed("b.md", 1, None)
    known = with_board(session, line("q1", *missed), line("q2"))

    inside = judging.step_line(judging.choose_side(known, missed=True), 1)

    assert judging.pointed_missed(known) is None
    assert judging.pointed_missed(inside) == missed[1]
    assert judging.pointed_line(inside) == line("q1", *missed)
    assert judging.pointed_missed(judging.choose_side(inside, missed=False)) is None


def test_a_query_without_misses_has_no_list(session: Session) -> None:
    known = with_board(session, line("q1"), line("q2"))

    assert not judging.is_at_missed(judging.choose_side(known, missed=True))


def test_missed_documents_are_counted() -> None:
    for missed, said in [
        ((), "all 3 relevant chunks are in the top 10"),
        ((Missed("a.txt", 1, 12),), "1 of 3 relevant chunks not in the top 10"),
    ]:
        assert judging.in_top(line("q1", *missed), "chunk") == said, missed


def test_a_single_relevant_document_uses_the_singular() -> None:
    assert judging.in_top(line("q1")._replace(relevant=1), "doc") == "the only relevant doc is in the top 10"


def test_a_missed_document_shows_its_rank_or_search_depth(session: Session) -> None:
    for missed, said in [
        (Missed("a.txt", 1, 12), "rank 12"),
        (Missed("a.txt", 1, None, 100), "not in 100"),
        (Missed("a.txt", 1, None), "not ranked"),
    ]:
        lines = layout(with_board(session, line("q1", missed)), (60, 24), UNICODE, 0).lines

        assert [each.plain.split(maxsplit=2)[2] for each in lines if "a.txt" in each.plain] == [said], missed


def test_the_pane_takes_one_row_until_active_with_a_board(session: Session) -> None:
    graded = learned(session, judged_first_row(session, 3))
    measured = with_board(graded, line("q1"))
    in_front = measured._replace(pane="judge")

    lower = (session, session._replace(pane="judge"), graded, measured)
    assert [judging.judge_rows(each) for each in lower] == [1] * 4
    assert judging.judge_rows(in_front) == judging.BOARD_ROWS


def test_one_row_counts_judged_queries_and_their_unit(session: Session) -> None:
    graded = learned(session, judged_first_row(session, 3))
    measured = with_board(graded, line("q1"))

    def only_line(session: Session, width: int, height: int = 1) -> str:
        (shown,) = layout(session, (width, height), UNICODE, 0).lines
        return shown.plain.rstrip()

    assert only_line(learned(session, NOTHING), 42, 5) == "No grades yet. g starts grading."
    assert only_line(learned(session, NOTHING), 60, 5) == "No grades yet. g starts grading: a s d f give 3 2 1 0."
    assert only_line(graded, 42, 5) == "1 of 1 query judged (chunks)"
    assert only_line(measured, 60).startswith("1 of 1 query judged (docs) · nDCG@10 ")
    assert only_line(measured, 30) == "1 of 1 query judged (docs)"


def test_names_are_neutralised(session: Session) -> None:
    for glyphs in [UNICODE, ASCII]:
        graded = learned(session, judged_first_row(session, 3))
        hostile = "evil\x1b[2J\nname"
        measured = with_board(graded, line(hostile, Missed(hostile, 1, 12))._replace(text=hostile))

        lines = [each.plain for each in layout(measured, (70, 24), glyphs, 0).lines]

        assert all(each.isprintable() for each in lines), glyphs
        assert sum("evil [2J name" in each for each in lines) == 3, glyphs


def test_measures_wrap_around(session: Session) -> None:
    shown = [session]
    for _ in judging.MEASURES:
        shown.append(judging.next_measure(shown[-1]))

    assert [judging.measure_of(each) for each in shown] == [*judging.MEASURES, judging.MEASURES[0]]


def test_a_grade_has_one_cell() -> None:
    for grade, sign in [(None, "."), (0, "0"), (3, "3"), (10, "+"), (-1, "-")]:
        assert judging.sign(grade) == sign, grade


def test_a_document_row_is_graded_as_a_document(store: Path) -> None:
    session = learned(answered(store, "SELECT * FROM doc USING lexical('budget') LIMIT 3"), NOTHING)

    spot = judging.change_for(session, 1).added[0].spot

    assert spot == Spot(session.results.hits[0].doc.path)


def test_the_progress_belongs_to_the_wanted_board(session: Session) -> None:
    session = learned(session, judged_first_row(session, 3))
    under_way = session._replace(analysing=(judging.board_analysis(session), 14, 225))

    assert judging.headway(under_way) == (14, 225)
    assert judging.headway(under_way._replace(weights=under_way.weights._replace(tweaks={"min_score": 0.1}))) is None
    assert judging.headway(with_board(under_way, line("q1"))) is None
