"""Weights that are changed, undone, reset and saved, without a screen."""

from __future__ import annotations

from fractions import Fraction

from recall_core.config import Config
from recall_core.retrieve.answer import Answer
from recall_core.retrieve.plan import plan_words
from recall_tui.state.records import Moved, WeightsState
from recall_tui.state.session import WORDS_K, Session, ask
from recall_tui.state.transitions import query_request
from recall_tui.state.weighing import (
    confirm_save,
    current,
    drop_moves,
    exact_share,
    move_settings,
    nudge_share,
    raise_min_score,
    recall_question,
    redo,
    reset,
    set_exact_share,
    set_share,
    share,
    step_k,
    step_number,
    turn_choice,
    undo,
    why_not,
)

SAVED = Session(weights=WeightsState(saved=Config(bm25_weight=0.9, vector_weight=0.1)))


def test_nudge_moves_weights_by_hundredths_and_stops_at_the_ends() -> None:
    session = nudge_share(nudge_share(SAVED, 5), 1)

    assert dict(session.weights.tweaks) == {"bm25_weight": 0.84, "vector_weight": 0.16}
    assert share(current(nudge_share(session, 500))) == 1.0
    assert share(current(nudge_share(session, -500))) == 0.0


def test_weights_with_another_sum_still_have_a_share() -> None:
    session = Session(weights=WeightsState(saved=Config(bm25_weight=3.0, vector_weight=1.0)))

    assert share(current(session)) == 0.25
    assert dict(nudge_share(session, 5).weights.tweaks) == {"bm25_weight": 0.7, "vector_weight": 0.3}
    assert share(Config(bm25_weight=0.0, vector_weight=0.0)) == 0.5


def test_setting_that_differs_from_the_saved_one_is_a_tweak() -> None:
    for change, tweaks in [
        (lambda now: turn_choice(now, "fusion"), {"fusion": "rrf"}),
        (lambda now: turn_choice(now, "normalize"), {"normalize": "max"}),
        (lambda now: turn_choice(now, "sparse_recall"), {"sparse_recall": False}),
        (lambda now: raise_min_score(now, 5), {"min_score": 0.05}),
        (lambda now: raise_min_score(raise_min_score(now, 5), -10), {}),
        (lambda now: turn_choice(turn_choice(now, "fusion"), "fusion"), {}),
        (lambda now: nudge_share(nudge_share(now, 5), -5), {}),
    ]:
        assert dict(change(SAVED).weights.tweaks) == tweaks, change


def test_undo_reverts_changes_one_by_one_including_a_reset() -> None:
    one = nudge_share(SAVED, 5)
    two = turn_choice(one, "fusion")

    clean = reset(two)

    assert clean.weights.tweaks == {}
    assert undo(clean).weights.tweaks == two.weights.tweaks
    assert undo(undo(clean)).weights.tweaks == one.weights.tweaks
    assert undo(undo(undo(clean))).weights.tweaks == {}
    assert undo(SAVED) is SAVED
    assert reset(SAVED) is SAVED


def test_drag_is_undone_in_one_step() -> None:
    session = set_share(turn_choice(SAVED, "fusion"), 0.3)

    session = set_share(set_share(session, 0.4, joins=True), 0.5, joins=True)

    assert dict(undo(session).weights.tweaks) == {"fusion": "rrf"}


def test_change_without_effect_is_not_a_change() -> None:
    assert set_share(SAVED, 0.1) is SAVED
    assert raise_min_score(SAVED, -5) is SAVED


def test_setting_fixed_by_the_query_stays() -> None:
    session = SAVED._replace(weights=SAVED.weights._replace(plain=Config(fusion="rrf"), fixed=("fusion",)))

    assert turn_choice(session, "fusion") is session
    assert current(session).fusion == "rrf"


def test_every_change_makes_earlier_answers_stale() -> None:
    one = nudge_share(SAVED, 5)

    assert [each.query.generation for each in (SAVED, one, undo(one), reset(one))] == [0, 1, 2, 2]


def test_saved_change_is_no_tweak_but_later_changes_are() -> None:
    asked = nudge_share(SAVED, 5)
    meanwhile = turn_choice(asked, "fusion")

    session = confirm_save(meanwhile, asked.weights.tweaks, was=Config())

    assert dict(session.weights.tweaks) == {"fusion": "rrf"}
    assert session.weights.saved is not None
    assert session.weights.saved.vector_weight == 0.15
    assert query_request(session).saved == session.weights.saved


def test_undo_after_saving_restores_only_the_saved_weights() -> None:
    moved = (base := turn_choice(nudge_share(SAVED, 5), "fusion"))._replace(weights=base.weights._replace(k=7))
    assert moved.weights.saved is not None
    known = moved._replace(
        weights=moved.weights._replace(saved=moved.weights.saved._replace(pool=7))
    )  # another program's, meanwhile

    session = confirm_save(known, {"bm25_weight": 0.85, "vector_weight": 0.15}, was=moved.weights.saved)
    back = undo(session)

    assert dict(session.weights.tweaks) == {"fusion": "rrf"}
    assert dict(back.weights.tweaks) == {"fusion": "rrf", "bm25_weight": 0.9, "vector_weight": 0.1}
    assert (back.weights.k, back.weights.undo, current(back).pool) == (7, (), 7)
    assert dict(redo(back).weights.tweaks) == {"fusion": "rrf"}
    assert current(redo(back)).vector_weight == 0.15


def test_saving_the_saved_weights_again_adds_no_undo() -> None:
    assert confirm_save(nudge_share(SAVED, 5), {"vector_weight": 0.1}, was=Config()).weights.undo == ()


def test_weights_need_an_answer() -> None:
    assert why_not(None) == "Run a search to tune its weights."


def answered(text: str = "token budget", total: int = 40) -> Session:
    """Return a session whose query in words has this many rows."""
    plan = plan_words(text, config=Config(), mode="hybrid", filter_text=None, k=WORDS_K, exact=False)
    answer = Answer(plan, None, None, total, "d" * 64, 1, "s1", 0.0, {}, (), "whitespace", {})
    return SAVED._replace(
        query=SAVED.query._replace(text=text),
        results=SAVED.results._replace(answer=answer),
        weights=SAVED.weights._replace(plain=Config()),
    )


def test_only_settings_that_decide_candidates_start_a_new_query() -> None:
    for change, is_new in [
        (lambda now: step_number(now, "pool", 1), True),
        (lambda now: turn_choice(now, "match"), True),
        (lambda now: turn_choice(now, "lexical_model"), True),
        (lambda now: move_settings(now, {"title_weight": 1.0}), True),
        (lambda now: move_settings(now, {"pool": 500, "vector_weight": 0.5}), True),
        (lambda now: nudge_share(now, 5), False),
        (lambda now: turn_choice(now, "fusion"), False),
        (lambda now: step_number(now, "rrf_k", 1), False),
        (lambda now: turn_choice(now, "sparse_recall"), False),
        (lambda now: step_k(now, -1), False),
    ]:
        session = answered()

        moved = change(session)

        assert moved.query.generation == session.query.generation + 1, change
        assert (moved.query.question > session.query.question, moved.query.busy) == (is_new, is_new), change
        assert undo(moved).query.question - moved.query.question == is_new, change
        assert redo(undo(moved)).weights.tweaks == moved.weights.tweaks, change


def test_ts_rank_is_a_choice_only_where_it_is_set() -> None:
    turned = [current(turn_choice(SAVED, "lexical_model", steps)).lexical_model for steps in (1, 2, -1)]
    saved = SAVED._replace(weights=SAVED.weights._replace(saved=Config(lexical_model="ts_rank")))

    assert turned == ["bm25f", "fts5", "bm25f"]
    assert current(turn_choice(turn_choice(saved, "lexical_model"), "lexical_model", -1)).lexical_model == "ts_rank"


def test_another_pool_searches_nothing_before_the_first_query() -> None:
    assert not step_number(SAVED, "pool", 1).query.busy


def test_whole_numbers_stop_at_useful_steps_and_the_ends() -> None:
    assert current(step_number(SAVED, "pool", 1)).pool == 500
    assert current(step_number(SAVED, "pool", -1)).pool == 100
    session = move_settings(SAVED, {"pool": 10})
    assert step_number(session, "pool", -1) is session
    assert current(step_number(move_settings(SAVED, {"rrf_k": 7}), "rrf_k", 1)).rrf_k == 10
    beyond = move_settings(SAVED, {"pool": 900_000})
    assert step_number(beyond, "pool", 1) is beyond


def test_words_list_fifty_rows_by_default_and_all_at_most() -> None:
    session = answered(total=120)

    thirty = step_k(session, -1)
    hundred = step_k(session, 1)
    all_rows = step_k(hundred, 1)

    assert (thirty.weights.k, step_k(thirty, -1).weights.k) == (30, 20)
    assert step_k(thirty, 1).weights.k is None
    assert (hundred.weights.k, all_rows.weights.k) == (100, 120)
    assert step_k(all_rows, 1) is all_rows
    assert (query_request(session).k, query_request(thirty).k) == (50, 30)
    assert reset(thirty).weights.k is None
    assert undo(reset(thirty)).weights.k == 30


def test_query_steps_from_its_own_limit() -> None:
    session = answered()
    assert session.results.answer is not None
    plan = session.results.answer.plan._replace(rql="SELECT * FROM chunk", limit=10, is_capped=True)
    session = session._replace(results=session.results._replace(answer=session.results.answer._replace(plan=plan)))

    assert (step_k(session, 1).weights.k, step_k(session, -1).weights.k) == (15, 5)


def test_change_after_an_undo_leaves_nothing_to_redo() -> None:
    session = undo(nudge_share(nudge_share(SAVED, 5), 5))

    assert redo(session).weights.tweaks == nudge_share(nudge_share(SAVED, 5), 5).weights.tweaks
    assert redo(turn_choice(session, "fusion")).weights.tweaks == turn_choice(session, "fusion").weights.tweaks
    assert redo(SAVED) is SAVED


def test_weight_between_two_hundredths_stays() -> None:
    session = set_exact_share(SAVED, 0.4567)

    assert dict(session.weights.tweaks) == {"bm25_weight": 0.5433, "vector_weight": 0.4567}
    assert exact_share(current(session)) == Fraction(4567, 10000)


def test_options_written_in_the_query_are_no_longer_tweaks() -> None:
    session = drop_moves(
        (base := turn_choice(nudge_share(SAVED, 5), "match"))._replace(weights=base.weights._replace(k=5)),
        ["bm25_weight", "vector_weight"],
    )

    assert (dict(session.weights.tweaks), session.weights.k) == ({"match": "all"}, None)
    assert undo(session).weights.k == 5


def test_recalled_query_is_one_step_there_and_back() -> None:
    asked_first = (base := ask(nudge_share(SAVED, 5), "tea", 0.0))._replace(
        query=base.query._replace(filter="doc.tag = 'x'")
    )

    session = recall_question(asked_first, "budget", "", Moved({"fusion": "rrf", "vector_weight": 0.1}, 7))

    assert (session.query.text, session.query.filter, dict(session.weights.tweaks), session.weights.k) == (
        "budget",
        "",
        {"fusion": "rrf"},
        7,
    )
    assert session.query.question > asked_first.query.question
    back = undo(session)
    assert (back.query.text, back.query.filter, back.weights.tweaks, back.weights.k) == (
        "tea",
        "doc.tag = 'x'",
        asked_first.weights.tweaks,
        None,
    )
    again = redo(back)
    assert (again.query.text, again.query.filter, again.weights.tweaks, again.weights.k) == (
        "budget",
        "",
        session.weights.tweaks,
        7,
    )
    assert undo(undo(again)).weights.tweaks == {}


def test_undo_keeps_a_text_written_since() -> None:
    session = recall_question(ask(SAVED, "tea", 0.0), "budget", "doc.tag = 'x'", Moved({"fusion": "rrf"}))

    back = undo(ask(session, "budgets", 0.0))

    assert (back.query.text, back.query.filter, dict(back.weights.tweaks)) == ("budgets", "", {})
    assert (redo(back).query.text, redo(back).query.filter) == ("budgets", "doc.tag = 'x'")


def test_recalling_the_current_query_is_not_a_step() -> None:
    session = ask(nudge_share(SAVED, 5), "tea", 0.0)

    assert recall_question(session, "tea", "", Moved(session.weights.tweaks)) is session
