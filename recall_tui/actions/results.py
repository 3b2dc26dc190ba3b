"""Going through the results."""

from __future__ import annotations

from recall_tui.actions.action import LISTING, Action, has_rows

ACTIONS = (
    Action("select(1)", ("j", "down"), "", "Select the next result", has_rows, panes=LISTING),
    Action("select(-1)", ("k", "up"), "", "Select the previous result", has_rows, panes=LISTING),
    Action("page(1)", ("pagedown", "space"), "", "Select one page further", has_rows, panes=LISTING),
    Action("page(-1)", ("pageup",), "", "Select one page back", has_rows, panes=LISTING),
    Action("select_first", ("g", "home"), "", "Select the first result", has_rows, panes=LISTING),
    Action("select_last", ("G", "end"), "", "Select the last result", has_rows, panes=LISTING),
)
