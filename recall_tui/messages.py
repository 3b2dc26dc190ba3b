"""Every message that panes and threads post to the application."""

from __future__ import annotations

from textual.message import Message

from recall_tui.home.history import PastQuestion
from recall_tui.state.completion import Lookup
from recall_tui.state.events import Event
from recall_tui.state.session import Pane, View


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


class Reloaded(Message):
    """The page in a browser was loaded anew, and before that it had this question."""

    def __init__(self, question: PastQuestion) -> None:
        super().__init__()
        self.question = question


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


class Budgeted(Message):
    """The slider of the budget was moved by the mouse to so many tokens."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.tokens = tokens


class Pointed(Message):
    """A line of the context was picked, counted from 0."""

    def __init__(self, row: int) -> None:
        super().__init__()
        self.row = row


class Picked(Message):
    """A row of the ingest or the store pane was picked, counted from 0."""

    def __init__(self, pane: Pane, row: int) -> None:
        super().__init__()
        self.pane: Pane = pane
        self.row = row


class ViewChosen(Message):
    """A tab of the explain pane was clicked."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view


class FixChosen(Message):
    """A fix was clicked, counted from 0."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self.place = place


class Picking(Message):
    """Something is typed to say what is missed."""

    def __init__(self, typed: str) -> None:
        super().__init__()
        self.typed = typed


class LinePicked(Message):
    """A line of the judge pane was clicked.

    name: its list, `judge` or `missed`. is_meant: it was clicked twice, so that it is to be acted on.
    """

    def __init__(self, name: str, row: int, *, is_meant: bool) -> None:
        super().__init__()
        self.name = name
        self.row = row
        self.is_meant = is_meant


class SettingPicked(Message):
    """A row of the form of weights was clicked. is_meant: on its value, so that it is to be moved."""

    def __init__(self, row: int, *, is_meant: bool) -> None:
        super().__init__()
        self.row = row
        self.is_meant = is_meant


class LineStepped(Message):
    """The wheel was turned over the judge pane."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.rows = rows


class Lacking(Message):
    """Completion wants to know this of the store."""

    def __init__(self, lookups: tuple[Lookup, ...]) -> None:
        super().__init__()
        self.lookups = lookups


class Wanted(Message):
    """An action of the table was clicked, by its id."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self.action = action


class Dragged(Message):
    """A border between panes was moved by the mouse, in percent of the body; None is the one that was not.

    is_over: the button was let go.
    """

    def __init__(self, right: float | None, below: float | None, *, is_over: bool) -> None:
        super().__init__()
        self.right = right
        self.below = below
        self.is_over = is_over
