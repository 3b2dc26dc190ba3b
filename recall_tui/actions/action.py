"""One thing that a person can do, and when it can be done."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import NamedTuple

from recall_tui.state.explaining import chunk_of, other_hit
from recall_tui.state.fixes import chosen_remedy, standing
from recall_tui.state.judging import pointed_line
from recall_tui.state.packing import chosen_entry, has_chunk, has_what_ifs
from recall_tui.state.runs import may_hold
from recall_tui.state.session import Pane, Session, is_ingesting, is_lingering
from recall_tui.state.shell import command
from recall_tui.state.store_pane import chosen_check, chosen_embedder, chosen_line, rows_of
from recall_tui.state.tabs import has_tabs
from recall_tui.state.tuning import curve_of
from recall_tui.state.weighing import is_hybrid

LISTING: tuple[Pane, ...] = ("results", "weights")
"""The panes in front of which j and k go through the results; elsewhere they go through what the pane shows."""


def always(_session: Session) -> bool:
    """At any time."""
    return True


class Action(NamedTuple):
    """One thing a person can do. Printable keys act in the nav state only; in the edit state they are typed."""

    id: str
    """A name, and arguments where it takes any, as Python writes them."""
    keys: tuple[str, ...]
    label: str
    """One or two words for the footer; "" keeps it out of there."""
    help: str
    when: Callable[[Session], bool] = always
    panes: tuple[Pane, ...] = ()
    """The panes in front of which its keys act; () is all of them. A key means one thing in each pane."""
    handler: str = ""
    """What does it: a module of recall_tui.handlers, such as `explain`, or `explain:show_view('compare')` where the
    function or its arguments are not those of the id."""

    @property
    def call(self) -> tuple[str, str, *tuple[str | int, ...]]:
        """What doing it calls: the module, the function and its arguments."""
        module, _, function = self.handler.partition(":")
        name, _, arguments = (function or self.id).partition("(")
        return module, name, *(ast.literal_eval(f"({arguments.rstrip(')')},)") if arguments else ())


def handled_by(module: str, *actions: Action, panes: tuple[Pane, ...] = ()) -> tuple[Action, ...]:
    """Return the actions with this handler and these panes, except where they name their own."""
    return tuple(action._replace(handler=action.handler or module, panes=action.panes or panes) for action in actions)


def acts_in(action: Action, pane: Pane) -> bool:
    """True when the action's keys act in front of this pane."""
    return not action.panes or pane in action.panes


def has_rows(session: Session) -> bool:
    """While the results list something."""
    return session.results.answer is not None and session.results.answer.total > 0


def has_context(session: Session) -> bool:
    """While there is a context with something in it."""
    return session.context.packed is not None and session.context.packed.text != ""


def has_pool(session: Session) -> bool:
    """While the rows have scores."""
    return session.results.answer is not None and session.results.answer.pool is not None


def has_signals(session: Session) -> bool:
    """While two signals share the score."""
    return is_hybrid(session.results.answer)


def has_command(session: Session) -> bool:
    """While the pane in front shows what a command can give."""
    return command(session, None) != ""


def has_selected_chunk(session: Session) -> bool:
    """While a row with a text is selected."""
    return bool(chunk_of(session))


def has_suspect(session: Session) -> bool:
    """While a row is selected, in the results or among what was packed and left out."""
    entry = chosen_entry(session) if session.pane == "context" else None
    return has_selected_chunk(session) or bool(entry and entry.chunk_ids)


def can_compare(session: Session) -> bool:
    """While a row is selected that can be compared: with the marked one, or the one above."""
    return has_selected_chunk(session) and other_hit(session) is not None


def has_question(session: Session) -> bool:
    """While there is an answer that something may be missing from."""
    return session.results.answer is not None


def has_fix(session: Session) -> bool:
    """While a fix is chosen."""
    return chosen_remedy(session) is not None


def has_tried(session: Session) -> bool:
    """While a fix is being tried."""
    return bool(standing(session))


def has_best(session: Session) -> bool:
    """While grades speak for a weight, and one can be moved."""
    curve = curve_of(session)
    return has_signals(session) and curve is not None and bool(curve.steps)


def can_undo(session: Session) -> bool:
    """While the rows have scores, or a query came from the history and its rows have none."""
    return has_pool(session) or bool(session.weights.undo)


def can_redo(session: Session) -> bool:
    """While a change was taken back, or the rows have scores."""
    return has_pool(session) or bool(session.weights.redo)


def has_entries(session: Session) -> bool:
    """While there are blocks, or chunks left out."""
    return chosen_entry(session) is not None


def has_grades(session: Session) -> bool:
    """While there is a grade to take back."""
    return bool(session.judge.regrades)


def may_grade(session: Session) -> bool:
    """While grading is on: a letter typed by mistake writes nothing."""
    return session.judge.is_grading


def has_queries(session: Session) -> bool:
    """While the pane lists judged queries."""
    return pointed_line(session) is not None


def has_lines(session: Session) -> bool:
    """While the pane in front has lines to choose from."""
    return rows_of(session) > 0


def can_cancel(session: Session) -> bool:
    """While a run is under way, or a reembed, or a question for long."""
    return is_ingesting(session) or session.store.task_progress is not None or is_lingering(session)


def can_hold(session: Session) -> bool:
    """While a run can be held, or let go on."""
    return may_hold(session.store.run)


def has_store(session: Session) -> bool:
    """While there is a store, or one may yet be opened."""
    return not session.store.is_storeless


def can_repeat(session: Session) -> bool:
    """Once a run has ended."""
    return has_store(session) and session.store.run is not None and session.store.run.ended != ""


def can_run(session: Session) -> bool:
    """While the chosen line of the store pane offers something."""
    check = chosen_check(session)
    has_fix = check is not None and bool(check.get("fix"))
    has_choice = chosen_embedder(session) is not None or chosen_line(session) is not None
    return has_store(session) and (has_fix or has_choice)


NEEDS: Mapping[Callable[[Session], bool], str] = {
    can_cancel: "nothing is running",
    can_compare: "there is no other result",
    can_hold: "no ingest run is under way",
    can_redo: "there is nothing to redo",
    can_repeat: "no ingest run has ended",
    can_run: "the selected line has no action",
    can_undo: "there is nothing to undo",
    has_best: "there are no grades to find the best weight with",
    has_chunk: "no chunk is selected",
    has_command: "no command reproduces what is shown",
    has_context: "the context is empty",
    has_entries: "the context is empty",
    has_fix: "no fix is selected",
    has_grades: "nothing was graded",
    has_lines: "the list is empty",
    has_pool: "no results with scores",
    has_queries: "no judged queries",
    has_question: "there is no answer",
    has_rows: "no results",
    has_selected_chunk: "no result is selected",
    has_signals: "the query has only one signal",
    has_store: "there is no store",
    has_suspect: "no result is selected",
    has_tabs: "there is only one tab",
    has_tried: "no fix was applied",
    has_what_ifs: "nothing is pinned or excluded",
    may_grade: "grading is off; {switch_grading} turns it on",
}
"""Why an action is not possible, by what it waits for."""
