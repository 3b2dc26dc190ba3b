"""Help, and the way out."""

from __future__ import annotations

from recall_tui.actions.action import Action

ACTIONS = (
    Action("command_palette", ("ctrl+p",), "palette", "Find an action by its name"),
    Action("help", ("f1", "question_mark"), "help", "Show the keys"),
    Action("leave", ("ctrl+q", "q"), "quit", "Quit"),
)
