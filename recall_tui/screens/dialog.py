"""The base of all screens and dialogs, and the short dialogs: yes or no, a line, a place to go to, a theme."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.events import Click, Key, Resize
from textual.geometry import Offset
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static

from recall_tui.state.session import Pane, Session
from recall_tui.widgets.draw import NOTICE_CELLS, cut, glyphs_in
from recall_tui.widgets.lines import PointedList

Result = TypeVar("Result")


class SizedScreen(Screen[Result]):
    """A screen that is laid out for the terminal's present size alone.

    Textual tells a screen once more of a size that it has just taken. Of two sizes on their way to it, as where a
    terminal becomes narrower by a column and wide again, each would bring the other one back, for ever, and nothing
    else would have its turn.
    """

    def on_resize(self, event: Resize) -> None:
        """Pass over a size that the terminal has no longer."""
        if event.size != self.app.size:
            event.prevent_default()


class Dialog(ModalScreen[Result], SizedScreen[Result]):
    """A modal screen that can be left only while it is in front.

    A key that comes with a click is on its way here before the click has closed it; Textual would then close the
    screen below too.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "app.leave", "Quit", show=False)]
    CSS_PATH = "dialogs.tcss"

    def show_session(self, session: Session) -> None:
        """What the dialog shows of the session, if anything."""

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Leave with this result, unless it has been left already."""
        return super().dismiss(result) if is_in_front(self) else AwaitComplete()


def is_in_front(screen: Screen[Any]) -> bool:
    """True until the screen is left or another one is put above it."""
    return screen in screen.app.screen_stack[-1:]


class Landmark(NamedTuple):
    """A place on the screen that one can go to: a pane, or a row of the results."""

    place: Offset
    pane: Pane
    row: int | None = None


READING_SECONDS = 0.5  # no one reads a question faster, or rests for as long while typing a word


class ConfirmScreen(Dialog[bool]):
    """Gives back True for yes. Nothing but `y` is a yes: Enter may still be on its way from the prompt before.

    command: what does the same in a shell; "" where nothing does.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "Yes", show=False),
        Binding("n,escape", "dismiss(False)", "No", show=False),
        Binding("Y", "copy_command", "Copy the command", show=False),
    ]

    def __init__(self, title: str, question: str, *, command: str = "") -> None:
        super().__init__()
        self._title = title
        self._question = question
        self._command = command

    def compose(self) -> ComposeResult:
        """The question above its keys; it scrolls where it is taller than the screen."""
        with Vertical(id="prompt") as box:
            box.border_title = self._title
            with VerticalScroll(id="question"):
                yield Static(self._question, markup=False)
            yield Static(
                "y yes   n no" + ("   Y copies the command" if self._command else ""), id="hint", markup=False
            )

    def on_resize(self, _event: Resize) -> None:
        """Say how to read on where there is more of the question than can be seen."""

        def say_how_to_scroll() -> None:
            is_longer = self.query_one("#question").max_scroll_y > 0
            self.query_one("#prompt").border_subtitle = "PgDn PgUp scroll" if is_longer else ""

        self.call_after_refresh(say_how_to_scroll)

    def action_copy_command(self) -> None:
        """Put the command on the clipboard, and wait for the answer."""
        if self._command:
            self.app.copy_to_clipboard(self._command)
            glyphs = glyphs_in(self.app)
            self.notify(cut(f"Copied: {self._command}", NOTICE_CELLS, glyphs), markup=False)


class UnaskedScreen(ConfirmScreen):
    """A question that comes by itself: a key is an answer only when all of them had rested while it stood there.

    A letter that answers nothing begins a word, and the keys have to rest again.
    behind: the field below, which gets the characters that were typed before that; None where there is none.
    """

    ANSWERS: ClassVar = frozenset("ynY")

    def __init__(self, title: str, question: str, *, behind: Widget | None, command: str = "") -> None:
        super().__init__(title, question, command=command)
        self._behind = behind
        self._rests_since = Message().time  # by the clock of the keys

    def on_key(self, event: Key) -> None:
        """Pass on what does not answer; keys know when they were pressed, and not all of them had been dealt out."""
        is_typed = event.is_printable and event.key not in self.ANSWERS
        if (is_typed or event.time < self._rests_since + READING_SECONDS) and event.key != "ctrl+q":
            event.stop()
            self._rests_since = max(self._rests_since, event.time)
            if event.is_printable and self._behind is not None:
                self._behind.post_message(Key(event.key, event.character))


Check = Callable[[str], str]
"""What is wrong with an answer, or "" when it will do."""


class PromptScreen(Dialog[str | None]):
    """Gives back the answer that was typed, or None when the person stepped out."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close", show=False)]

    def __init__(self, title: str, value: str, hint: str, check: Check) -> None:
        super().__init__()
        self._title = title
        self._value = value
        self._hint = hint
        self._check = check

    def compose(self) -> ComposeResult:
        """The field above its hint."""
        with Vertical(id="prompt") as box:
            box.border_title = self._title
            yield Input(self._value, select_on_focus=True, compact=True)
            yield Static(self._hint, id="hint", markup=False)

    def on_mount(self) -> None:
        """Take the next key."""
        self.set_focus(self.query_one(Input))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the answer back if it will do, else say why not."""
        wrong = self._check(event.value.strip())
        if wrong:
            self.query_one("#hint", Static).update(wrong)
        else:
            self.dismiss(event.value.strip())


LETTERS = "asdfghjklqwertyuiopzxcvbnm"
"""The home row first: panes are named before rows."""


class Label(Static):
    """One letter at its place."""

    def __init__(self, letter: str, mark: Landmark) -> None:
        super().__init__(f" {letter} ", classes="label", markup=False)
        self.mark = mark
        self.absolute_offset = mark.place


class JumpScreen(Dialog[Landmark | None]):
    """Gives back the place that was named, or None. marks: beyond 26 they have no letter."""

    def __init__(self, marks: Sequence[Landmark]) -> None:
        super().__init__()
        self._marks = dict(zip(LETTERS, marks, strict=False))

    def compose(self) -> ComposeResult:
        """The letters, over what they name."""
        for letter, mark in self._marks.items():
            yield Label(letter, mark)

    def on_key(self, event: Key) -> None:
        """A letter goes there; any other key, Esc among them, goes nowhere."""
        if event.key == "ctrl+q":
            return
        event.stop()
        self.dismiss(self._marks.get(event.key))

    def on_click(self, event: Click) -> None:
        """Go to the letter that is clicked, or nowhere."""
        self.dismiss(event.widget.mark if isinstance(event.widget, Label) else None)


class ThemeScreen(Dialog[str | None]):
    """Gives back the chosen theme, or None; the caller then takes the preview back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", show=False),
        Binding("down,j", "step(1)", "Next", show=False),
        Binding("up,k", "step(-1)", "Previous", show=False),
        Binding("enter", "take", "Apply", show=False),
    ]

    def __init__(self, names: Sequence[str], chosen: str) -> None:
        super().__init__()
        self._names = names
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        """One list."""
        with Vertical(id="themes") as box:
            box.border_title = "Theme"
            box.border_subtitle = "Enter applies, Esc cancels"
            yield PointedList(id="names")

    def on_mount(self) -> None:
        """Begin at the one that is shown."""
        self.query_one(PointedList).fill(map(Text, self._names), chosen=self._names.index(self._chosen))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show it."""
        self.app.theme = self._names[event.option_index]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give back the one that was clicked."""
        self.dismiss(self._names[event.option_index])

    def action_step(self, rows: int) -> None:
        """Choose another."""
        self.query_one(PointedList).step(rows)

    def action_take(self) -> None:
        """Give back the chosen one."""
        row = self.query_one(PointedList).highlighted
        self.dismiss(None if row is None else self._names[row])
