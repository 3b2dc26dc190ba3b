"""Widgets that panes consist of, and the message that asks for an action."""

from textual.message import Message


class Do(Message):
    """Ask for an action: an action of the table by its id, or a gesture with its arguments."""

    def __init__(self, action: str, *arguments: object) -> None:
        super().__init__()
        self.action = action
        self.arguments = arguments
