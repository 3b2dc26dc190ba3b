"""Weights that are moved, undone, reset and saved, without a screen."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from recall_core.config import Config
from recall_tui.session import Session, wish
from recall_tui.weighing import current, nudged, raised, reset, share, stored, turned, undone, weighted, why_not

SAVED = Session(saved=Config(bm25_weight=0.9, vector_weight=0.1))


def test_a_nudge_moves_both_weights_in_hundredths_and_stops_at_the_ends() -> None:
    session = nudged(nudged(SAVED, 5), 1)

    assert dict(session.tweaks) == {"bm25_weight": 0.84, "vector_weight": 0.16}
    assert share(current(nudged(session, 500))) == 1.0
    assert share(current(nudged(session, -500))) == 0.0


def test_weights_that_do_not_add_up_to_one_have_a_share_all_the_same() -> None:
    session = Session(saved=Config(bm25_weight=3.0, vector_weight=1.0))

    assert share(current(session)) == 0.25
    assert dict(nudged(session, 5).tweaks) == {"bm25_weight": 0.7, "vector_weight": 0.3}
    assert share(Config(bm25_weight=0.0, vector_weight=0.0)) == 0.5


@pytest.mark.parametrize(
    ("change", "tweaks"),
    [
        (lambda now: turned(now, "fusion"), {"fusion": "rrf"}),
        (lambda now: turned(now, "normalize"), {"normalize": "max"}),
        (lambda now: turned(now, "sparse_recall"), {"sparse_recall": False}),
        (lambda now: raised(now, 5), {"min_score": 0.05}),
        (lambda now: raised(raised(now, 5), -10), {}),
        (lambda now: turned(turned(now, "fusion"), "fusion"), {}),
        (lambda now: nudged(nudged(now, 5), -5), {}),
    ],
)
def test_a_setting_is_a_tweak_while_it_differs_from_the_saved_one(
    change: Callable[[Session], Session], tweaks: dict[str, object]
) -> None:
    assert dict(change(SAVED).tweaks) == tweaks


def test_undo_takes_changes_back_one_by_one_and_a_reset_is_one_of_them() -> None:
    one = nudged(SAVED, 5)
    two = turned(one, "fusion")

    clean = reset(two)

    assert clean.tweaks == {}
    assert undone(clean).tweaks == two.tweaks
    assert undone(undone(clean)).tweaks == one.tweaks
    assert undone(undone(undone(clean))).tweaks == {}
    assert undone(SAVED) is SAVED
    assert reset(SAVED) is SAVED


def test_a_drag_is_undone_in_one_step() -> None:
    session = weighted(turned(SAVED, "fusion"), 0.3)

    session = weighted(weighted(session, 0.4, joins=True), 0.5, joins=True)

    assert dict(undone(session).tweaks) == {"fusion": "rrf"}


def test_a_change_that_changes_nothing_is_none() -> None:
    assert weighted(SAVED, 0.1) is SAVED
    assert raised(SAVED, -5) is SAVED


def test_a_setting_that_the_query_decides_stays_as_it_is() -> None:
    session = SAVED._replace(plain=Config(fusion="rrf"), fixed=("fusion",))

    assert turned(session, "fusion") is session
    assert current(session).fusion == "rrf"


def test_every_change_makes_the_answers_before_it_stale() -> None:
    one = nudged(SAVED, 5)

    assert [each.generation for each in (SAVED, one, undone(one), reset(one))] == [0, 1, 2, 2]


def test_what_was_saved_is_no_tweak_any_more_and_what_moved_meanwhile_still_is() -> None:
    asked = nudged(SAVED, 5)
    meanwhile = turned(asked, "fusion")

    session = stored(meanwhile, asked.tweaks)

    assert dict(session.tweaks) == {"fusion": "rrf"}
    assert session.saved is not None
    assert session.saved.vector_weight == 0.15
    assert wish(session).saved == session.saved
    assert session.undo == ()


def test_without_an_answer_there_is_nothing_to_weigh() -> None:
    assert "Ask something" in why_not(None)
