"""Drawing: a step of the slider with its ranking, reports of threads together, everything else at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from textual.timer import Timer

from recall_tui.host import RANKING_SECONDS, Showing
from recall_tui.state.records import QueryState, ResultsState
from recall_tui.state.session import Session

RANKED = Session(query=QueryState(question=3, generation=5), results=ResultsState(answered=3, ranked_at=5))
MOVED = RANKED._replace(query=RANKED.query._replace(generation=6))


class Clockwork:
    """Timers like Textual's, run by hand."""

    def __init__(self) -> None:
        self.shown = 0
        self.waits: list[float] = []
        self.running: list[Callable[[], None]] = []
        self.behind: list[Callable[[], None]] = []
        self.rows = 0
        self.after_rows: list[Callable[[], None]] = []
        self.is_typing = False
        self.showing = Showing(self._show, self._show_rows, self._later, self.behind.append, lambda: self.is_typing)

    def _show(self) -> None:
        self.shown += 1

    def _show_rows(self, then: Callable[[], None]) -> None:
        self.rows += 1
        self.after_rows.append(then)

    def _later(self, seconds: float, call: Callable[[], None]) -> Timer:
        self.waits.append(seconds)
        self.running.append(call)
        return cast("Timer", self)

    def stop(self) -> None:
        self.running.clear()


def test_a_step_waits_for_its_ranking_and_is_drawn_once() -> None:
    clockwork = Clockwork()
    clockwork.showing.follow(RANKED, MOVED)
    assert clockwork.shown == 0
    clockwork.showing.follow(MOVED, MOVED._replace(results=MOVED.results._replace(ranked_at=6)))
    assert clockwork.shown == 1
    assert clockwork.running == []


def test_a_slow_ranking_is_not_waited_for() -> None:
    clockwork = Clockwork()
    clockwork.showing.follow(RANKED, MOVED)
    clockwork.showing.follow(MOVED, MOVED._replace(query=MOVED.query._replace(generation=7)))
    assert clockwork.waits == [RANKING_SECONDS]  # from the first step on
    clockwork.running[0]()
    assert clockwork.shown == 1
    clockwork.showing.follow(MOVED, MOVED._replace(query=MOVED.query._replace(generation=8)))
    assert len(clockwork.waits) == 2


def test_other_changes_are_drawn_at_once() -> None:
    clockwork = Clockwork()
    clockwork.showing.follow(MOVED, MOVED._replace(results=MOVED.results._replace(selected=2)))
    clockwork.showing.follow(RANKED, MOVED._replace(pane="weights" if MOVED.pane != "weights" else "judge"))
    clockwork.showing.follow(
        RANKED, RANKED._replace(query=RANKED.query._replace(question=4, generation=6))
    )  # a search may take long
    assert clockwork.shown == 3
    assert clockwork.waits == []


def test_reports_of_one_turn_are_drawn_once() -> None:
    clockwork = Clockwork()
    for selected in (1, 2, 3):
        changed = MOVED._replace(results=MOVED.results._replace(selected=selected))
        clockwork.showing.follow(MOVED, changed, is_reported=True)
    assert clockwork.shown == 0
    [draw] = clockwork.behind
    draw()
    clockwork.after_rows[0]()
    assert (clockwork.rows, clockwork.shown) == (1, 1)
    clockwork.showing.follow(MOVED, MOVED, is_reported=True)
    assert len(clockwork.behind) == 2


def test_an_action_is_drawn_at_once_with_waiting_reports() -> None:
    clockwork = Clockwork()
    clockwork.showing.follow(MOVED, MOVED, is_reported=True)
    clockwork.showing.follow(MOVED, MOVED._replace(results=MOVED.results._replace(selected=2)))
    assert clockwork.shown == 1
    clockwork.behind[0]()
    assert (clockwork.rows, clockwork.shown) == (0, 1)


def test_results_wait_while_the_user_types() -> None:
    clockwork = Clockwork()
    clockwork.is_typing = True
    clockwork.showing.follow(MOVED, MOVED, is_reported=True)
    clockwork.behind[0]()
    assert (clockwork.rows, clockwork.shown) == (0, 0)
    clockwork.is_typing = False
    clockwork.showing.catch_up()
    assert clockwork.shown == 1
    clockwork.showing.catch_up()
    assert clockwork.shown == 1


def test_a_key_after_the_rows_delays_the_other_panes() -> None:
    clockwork = Clockwork()
    clockwork.showing.follow(MOVED, MOVED, is_reported=True)
    clockwork.behind[0]()
    clockwork.is_typing = True
    clockwork.after_rows[0]()
    assert (clockwork.rows, clockwork.shown) == (1, 0)
    clockwork.is_typing = False
    clockwork.showing.catch_up()
    assert clockwork.shown == 1
