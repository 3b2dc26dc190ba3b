"""The messages that panes, dialogs and threads post to the application."""

from __future__ import annotations

from textual.message import Message

from recall_tui.state.events import Event


class Do(Message):
    """Ask for an action: one of the table by its id, or a gesture with its arguments."""

    def __init__(self, action: str, *arguments: object) -> None:
        super().__init__()
        self.action = action
        self.arguments = arguments


class Happened(Message):
    """A worker thread reports an event."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event
