"""What can be done to the store."""

from __future__ import annotations

from recall_tui.actions.action import Action
from recall_tui.session import is_ingesting

ACTIONS = (
    Action("add_folder", ("A",), "add", "Add a folder or a file to the store"),
    Action("cancel", ("ctrl+g",), "cancel", "Cancel the ingest run", is_ingesting),
)
