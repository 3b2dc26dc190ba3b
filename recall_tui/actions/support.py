"""Help, themes, sizes, the command line, and the way out."""

from __future__ import annotations

from recall_tui.actions.action import Action

SCREEN = (
    Action("command_line", ("colon",), "command", "Run any recall command in a line"),
    Action("jump", ("ctrl+o",), "jump", "Put a letter on every pane and row, and go to one"),
    Action("widen(5)", ("ctrl+left",), "", "Give the right column more room"),
    Action("widen(-5)", ("ctrl+right",), "", "Give the left column more room"),
    Action("heighten(5)", ("ctrl+up",), "", "Give what is below the results more room"),
    Action("heighten(-5)", ("ctrl+down",), "", "Give the results more room"),
    Action("reset_layout", ("f7",), "", "Put the borders between the panes back"),
    Action("choose_theme", ("f9",), "", "Choose a theme"),
    Action("export_picture", ("f8",), "", "Save the screen as a picture or as text"),
)
ACTIONS = (
    Action("command_palette", ("ctrl+p",), "palette", "Find an action by its name"),
    Action("help", ("f1", "question_mark"), "help", "Show the keys"),
    Action("leave", ("ctrl+q", "q"), "quit", "Quit"),
)
