"""Every message that panes and threads post to the application."""

from __future__ import annotations

from textual.message import Message

from recall_tui.events import Event
from recall_tui.lexicon import Lookup


class Happened(Message):
    """A worker thread has something to say."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event


class Typed(Message):
    """The text of the query changed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Chosen(Message):
    """A row of the results was picked, counted from 0."""

    def __init__(self, row: int) -> None:
        super().__init__()
        self.row = row


class LookingAt(Message):
    """The results show rows first to end (exclusive)."""

    def __init__(self, first: int, end: int) -> None:
        super().__init__()
        self.first = first
        self.end = end


class Slid(Message):
    """The slider was moved by the mouse.

    joins: the mouse was already down on it.
    """

    def __init__(self, share: float, *, joins: bool) -> None:
        super().__init__()
        self.share = share
        self.joins = joins


class Lacking(Message):
    """Completion wants to know this of the store."""

    def __init__(self, lookups: tuple[Lookup, ...]) -> None:
        super().__init__()
        self.lookups = lookups
