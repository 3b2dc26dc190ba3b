"""The base of all screens and dialogs, and the short dialogs: confirm, prompt, jump, theme."""

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
    """A screen that is laid out only for the current size of the terminal.

    Textual reports a size to a screen twice. If the terminal quickly becomes narrower and wide again, each of the two
    reports would undo the other forever and block all input.
    """

    def on_resize(self, event: Resize) -> None:
        """Ignore a size that the terminal no longer has."""
        if event.size != self.app.size:
            event.prevent_default()


class Dialog(ModalScreen[Result], SizedScreen[Result]):
    """A modal screen that closes only while it is in front.

    A key and a click may arrive together. If the click closed the dialog, the key would otherwise make Textual close
    the screen below.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "app.leave", "Quit", show=False)]
    CSS_PATH = "dialogs.tcss"

    def show_session(self, session: Session) -> None:
        """Show the session. Does nothing unless a dialog overrides it."""

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close with this result, unless already closed."""
        return super().dismiss(result) if is_in_front(self) else AwaitComplete()


def is_in_front(screen: Screen[Any]) -> bool:
    """Return True if the screen is the topmost one."""
    return screen in screen.app.screen_stack[-1:]


class Landmark(NamedTuple):
    """A place on the screen to jump to: a pane, or a row of the results."""

    place: Offset
    pane: Pane
    row: int | None = None


READING_SECONDS = 0.5  # shorter than reading a question, longer than a pause while typing


class ConfirmScreen(Dialog[bool]):
    """A question that returns True for yes. Only `y` means yes, since Enter may still be on its way from a prompt.

    command: the shell command that does the same, or "".
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
        """Yield the question and its keys. The question scrolls if it is taller than the screen."""
        with Vertical(id="prompt") as box:
            box.border_title = self._title
            with VerticalScroll(id="question"):
                yield Static(self._question, markup=False)
            yield Static(
                "y yes   n no" + ("   Y copies the command" if self._command else ""), id="hint", markup=False
            )

    def on_resize(self, _event: Resize) -> None:
        """Show the scroll keys if the question is longer than its view."""

        def say_how_to_scroll() -> None:
            is_longer = self.query_one("#question").max_scroll_y > 0
            self.query_one("#prompt").border_subtitle = "PgDn PgUp scroll" if is_longer else ""

        self.call_after_refresh(say_how_to_scroll)

    def action_copy_command(self) -> None:
        """Copy the command and keep the question open."""
        if self._command:
            self.app.copy_to_clipboard(self._command)
            glyphs = glyphs_in(self.app)
            self.notify(cut(f"Copied: {self._command}", NOTICE_CELLS, glyphs), markup=False)


class UnaskedScreen(ConfirmScreen):
    """A question that opens without a key press. It takes an answer only after all keys rested for READING_SECONDS.

    A letter that is not an answer starts a word, so the keys must rest again.
    behind: the field below, which gets the characters typed before an answer, or None.
    """

    ANSWERS: ClassVar = frozenset("ynY")

    def __init__(self, title: str, question: str, *, behind: Widget | None, command: str = "") -> None:
        super().__init__(title, question, command=command)
        self._behind = behind
        self._rests_since = Message().time  # on the clock of the key events

    def on_key(self, event: Key) -> None:
        """Pass on keys that are not answers. Compare the times of key presses, since older keys may arrive later."""
        is_typed = event.is_printable and event.key not in self.ANSWERS
        if (is_typed or event.time < self._rests_since + READING_SECONDS) and event.key != "ctrl+q":
            event.stop()
            self._rests_since = max(self._rests_since, event.time)
            if event.is_printable and self._behind is not None:
                self._behind.post_message(Key(event.key, event.character))


Check = Callable[[str], str]
"""Return what is wrong with an answer, or ""."""


class PromptScreen(Dialog[str | None]):
    """A prompt that returns the typed answer, or None if closed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close", show=False)]

    def __init__(self, title: str, value: str, hint: str, check: Check) -> None:
        super().__init__()
        self._title = title
        self._value = value
        self._hint = hint
        self._check = check

    def compose(self) -> ComposeResult:
        """Yield the field and its hint."""
        with Vertical(id="prompt") as box:
            box.border_title = self._title
            yield Input(self._value, select_on_focus=True, compact=True)
            yield Static(self._hint, id="hint", markup=False)

    def on_mount(self) -> None:
        """Focus the field."""
        self.set_focus(self.query_one(Input))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the answer if it is valid, else show why not."""
        wrong = self._check(event.value.strip())
        if wrong:
            self.query_one("#hint", Static).update(wrong)
        else:
            self.dismiss(event.value.strip())


LETTERS = "asdfghjklqwertyuiopzxcvbnm"
"""The home row first, since panes get letters before rows."""


class Label(Static):
    """One letter at its place."""

    def __init__(self, letter: str, mark: Landmark) -> None:
        super().__init__(f" {letter} ", classes="label", markup=False)
        self.mark = mark
        self.absolute_offset = mark.place


class JumpScreen(Dialog[Landmark | None]):
    """Letters on places, which returns the chosen place or None. marks: those beyond 26 have no letter."""

    def __init__(self, marks: Sequence[Landmark]) -> None:
        super().__init__()
        self._marks = dict(zip(LETTERS, marks, strict=False))

    def compose(self) -> ComposeResult:
        """Yield the letters at their places."""
        for letter, mark in self._marks.items():
            yield Label(letter, mark)

    def on_key(self, event: Key) -> None:
        """Go to the place of the letter. Any other key, including Esc, closes the screen."""
        if event.key == "ctrl+q":
            return
        event.stop()
        self.dismiss(self._marks.get(event.key))

    def on_click(self, event: Click) -> None:
        """Go to the letter that was clicked, or close the screen."""
        self.dismiss(event.widget.mark if isinstance(event.widget, Label) else None)


class ThemeScreen(Dialog[str | None]):
    """A list that returns the chosen theme, or None. The caller then restores the theme from before."""

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
        """Yield the list."""
        with Vertical(id="themes") as box:
            box.border_title = "Theme"
            box.border_subtitle = "Enter applies, Esc cancels"
            yield PointedList(id="names")

    def on_mount(self) -> None:
        """Fill the list and choose the current theme."""
        self.query_one(PointedList).fill(map(Text, self._names), chosen=self._names.index(self._chosen))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Preview the theme."""
        self.app.theme = self._names[event.option_index]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the theme that was clicked."""
        self.dismiss(self._names[event.option_index])

    def action_step(self, rows: int) -> None:
        """Choose another theme."""
        self.query_one(PointedList).step(rows)

    def action_take(self) -> None:
        """Return the chosen theme."""
        row = self.query_one(PointedList).highlighted
        self.dismiss(None if row is None else self._names[row])
