"""What can be done with the query."""

from __future__ import annotations

from recall_tui.actions.action import Action
from recall_tui.state.session import Session
from recall_tui.state.shell import command


def has_command(session: Session) -> bool:
    """While the pane in front shows what a command can give."""
    return command(session, None) != ""


ACTIONS = (
    Action("filter", ("slash",), "filter", "Filter the words by an expression, as --filter does"),
    Action("copy_command", ("Y",), "command", "Copy the shell command that reproduces the pane", has_command),
    Action("run", ("f5",), "run", "Run the query again"),
    Action("open_history", ("ctrl+r", "h"), "history", "Find an earlier query and take it up again"),
    Action("edit_outside", ("f4",), "editor", "Edit the query in $VISUAL or $EDITOR"),
    Action("save_query", ("f2",), "", "Save the query to an .rql file"),
    Action("load_query", ("f3",), "", "Load a query from an .rql file"),
)
