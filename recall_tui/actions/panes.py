"""Going from pane to pane."""

from __future__ import annotations

from recall_tui.actions.action import Action

ACTIONS = (
    Action("focus_pane('query')", ("1", "i"), "query", "Edit the query"),
    Action("focus_pane('results')", ("2",), "", "Go to the results"),
    Action("focus_pane('explain')", ("3",), "", "Go to the score ledger and the passage"),
    Action("focus_pane('weights')", ("4",), "", "Go to the weights of the signals"),
    Action("focus_pane('context')", ("5",), "", "Go to the packed context"),
    Action("focus_pane('judge')", ("6",), "", "Go to the judged queries"),
    Action("focus_pane('ingest')", ("7",), "", "Go to the ingest report and its skipped files"),
    Action("focus_pane('store')", ("8",), "", "Go to the state of the store"),
    Action("next_pane", ("tab",), "next", "Go to the next pane"),
    Action("previous_pane", ("shift+tab",), "", "Go to the previous pane"),
    Action("zoom", ("z",), "zoom", "Give the pane the whole screen, and back"),
    Action("step_out", ("escape",), "out", "One step out: leave the field, the zoom, the dialog"),
)
