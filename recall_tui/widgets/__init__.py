"""Parts that panes are made of, and the message by which they ask for an action."""

from textual.message import Message


class Do(Message):
    """Ask for an action: one of the table by its id, or a gesture with its arguments."""

    def __init__(self, action: str, *arguments: object) -> None:
        super().__init__()
        self.action = action
        self.arguments = arguments
