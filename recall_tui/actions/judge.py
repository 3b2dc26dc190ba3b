"""Grading results, and going through the judged queries."""

from __future__ import annotations

from recall_tui.actions.action import Action, has_rows
from recall_tui.state.judging import pointed_line
from recall_tui.state.session import Pane, Session

GRADING: tuple[Pane, ...] = ("results", "judge")
"""The panes in front of which the home row gives grades."""


def has_grades(session: Session) -> bool:
    """While there is a grade to take back."""
    return bool(session.regrades)


def has_queries(session: Session) -> bool:
    """While the pane lists judged queries."""
    return pointed_line(session) is not None


_GRADES = (
    Action("grade(3)", ("a",), "3", "Grade the selected result 3, and select the next", has_rows),
    Action("grade(2)", ("s",), "2", "Grade the selected result 2, and select the next", has_rows),
    Action("grade(1)", ("d",), "1", "Grade the selected result 1, and select the next", has_rows),
    Action("grade(0)", ("f",), "0", "Grade the selected result 0, and select the next", has_rows),
    Action("clear_grade", ("x",), "clear", "Take the grade of the selected result away", has_rows),
    Action("undo_grade", ("u",), "undo", "Take the last grade back", has_grades),
)
_QUERIES = (
    Action("point_query(1)", ("j", "down"), "", "Choose the next query, or document it misses", has_queries),
    Action("point_query(-1)", ("k", "up"), "", "Choose the previous query, or document it misses", has_queries),
    Action("page_query(1)", ("pagedown", "space"), "", "Go one page further in the list", has_queries),
    Action("page_query(-1)", ("pageup",), "", "Go one page back in the list", has_queries),
    Action("point_first_query", ("g", "home"), "", "Choose the first line of the list", has_queries),
    Action("point_last_query", ("G", "end"), "", "Choose the last line of the list", has_queries),
    Action("enter_missed", ("right",), "missed", "Go to the relevant documents that the query misses", has_queries),
    Action("leave_missed", ("left",), "", "Go back to the queries", has_queries),
    Action(
        "take_query", ("enter",), "ask", "Ask the chosen query; of a missed document, why it is missed", has_queries
    ),
    Action("next_measure", ("n",), "measure", "Show the next measure", has_queries),
    Action("import_judgements", ("I",), "import", "Read judgements from files: TREC, BEIR or Quepid"),
    Action("export_judgements", ("E",), "export", "Write the judgements to files"),
)

ACTIONS = (
    *(action._replace(panes=GRADING) for action in _GRADES),
    *(action._replace(panes=("judge",)) for action in _QUERIES),
)
