"""`:`, a command line over the workbench: what was run, what it wrote on each stream, and its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Paste
from textual.widgets import Input, Static

from recall_tui.commandline import VERBS, Output, complete
from recall_tui.messages import Do
from recall_tui.screens.dialog import Dialog
from recall_tui.themes import NAMES
from recall_tui.widgets.draw import Glyphs, fit, fold
from recall_tui.widgets.lines import LineView

HINT = "Enter runs, Tab completes, Up and Down go to earlier lines, F5 loads the query, Esc closes"
BREAK = "↵"
"""What stands for a line break in the field."""
MOST_CHOICES = 200  # characters of the names that may follow


class LineInput(Input):
    """A line in which a break shows as a mark, since a command that is pasted may have some."""

    def paste(self, text: str) -> None:
        """Insert all of it at the cursor, or replace the selection."""
        self.replace(mark_breaks(text.rstrip()), *self.selection)

    def on_paste(self, event: Paste) -> None:
        """Textual's own takes the first line and drops the others."""
        event.prevent_default()
        event.stop()
        self.paste(event.text)

    def action_paste(self) -> None:
        """From the clipboard of the workbench."""
        self.paste(self.app.clipboard)


def mark_breaks(line: str) -> str:
    """Return a command with its line breaks as the field shows them."""
    return "\n".join(line.splitlines()).replace("\n", BREAK)


class LineScreen(Dialog[None]):
    """Stays open until Esc, so that its output can be read. past: earlier lines, the newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", show=False),
        Binding("up", "recall(1)", "Older line", show=False, priority=True),
        Binding("down", "recall(-1)", "Newer line", show=False, priority=True),
        Binding("pageup", "page(-1)", "Page up", show=False, priority=True),
        Binding("pagedown", "page(1)", "Page down", show=False, priority=True),
        Binding("tab", "complete", "Complete", show=False, priority=True),
        Binding("f5", "take_up", "Load the query", show=False, priority=True),
        Binding("ctrl+g", "cancel", "Cancel", show=False, priority=True),
    ]

    def __init__(self, past: Sequence[str], output: Output) -> None:
        super().__init__()
        self._past = list(past)
        self._place = -1
        self._written = ""
        self._output = output

    def compose(self) -> ComposeResult:
        """The output above the line and its hint."""
        with Vertical(id="line") as box:
            box.border_title = "Command"
            view = LineView(id="output")
            view.can_focus = False
            yield view
            yield LineInput(placeholder="a recall command, such as: search words --k 5", compact=True)
            yield Static(HINT, id="hint", markup=False)

    def on_mount(self) -> None:
        """Take the next key."""
        self.set_focus(self.query_one(Input))
        self.show_output(self._output)

    def show_output(self, output: Output) -> None:
        """Show what the last command did, or which one is under way."""
        self._output = output
        view = self.query_one(LineView)
        ran = output.ran
        state = "running, ^g cancels" if output.running else f"exit {ran.code}" if ran else ""
        self.query_one("#line").border_subtitle = state
        view.show(lambda width: output_lines(output, width, view.glyphs))

    def say(self, text: str) -> None:
        """Say why nothing happens."""
        self.query_one("#hint", Static).update(text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Hand the line over."""
        event.stop()
        self._enter(takes_up=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """What was said belonged to the line before."""
        if event.value:
            self.say(HINT)

    def action_take_up(self) -> None:
        """Hand its question over."""
        self._enter(takes_up=True)

    def action_cancel(self) -> None:
        """Stop what runs."""
        self.post_message(Do("stop_line"))

    def action_complete(self) -> None:
        """Go on as far as there is one way."""
        field = self.query_one(Input)
        offered = complete(field.value, NAMES)
        with self.prevent(Input.Changed):
            field.value = offered.line
            field.cursor_position = len(offered.line)
        names = " ".join(offered.choices)
        self.say(names[:MOST_CHOICES] or (HINT if offered.line else " ".join(VERBS)))

    def action_recall(self, lines: int) -> None:
        """Take an earlier or a later line."""
        field = self.query_one(Input)
        if self._place == -1:
            self._written = field.value
        self._place = max(-1, min(len(self._past) - 1, self._place + lines))
        field.value = mark_breaks(self._past[self._place]) if self._place >= 0 else self._written
        field.cursor_position = len(field.value)

    def action_page(self, pages: int) -> None:
        """Move the output by what is visible."""
        self.query_one(LineView).scroll_pages(pages)

    def _enter(self, *, takes_up: bool) -> None:
        field = self.query_one(Input)
        line = field.value.strip().removeprefix(":").replace(BREAK, "\n").strip()
        if not line:
            return
        if not takes_up:
            self._past.insert(0, line)
            self._place = -1
            field.value = ""
        self.post_message(Do("enter_line", line, takes_up))


def output_lines(output: Output, width: int, glyphs: Glyphs) -> list[Text]:
    """The command, its stdout as it is, its stderr behind a mark, and how it ended."""
    if output.running:
        return [_command_line(output.running, width, glyphs), Text("running")]
    ran = output.ran
    if ran is None:
        return [Text(fit("Any command of recall, without the word recall.", width, glyphs), Style(dim=True))]
    lines = [_command_line(ran.line, width, glyphs)]
    lines += [Text(line) for line in fold(ran.stdout, width)]
    lines += [Text(f"! {line}", Style(italic=True)) for line in fold(ran.stderr, width - 2)]
    mark = glyphs.yes if ran.code == 0 else glyphs.no
    return [*lines, Text(f"{mark} exit {ran.code}", Style(bold=True))]


def _command_line(line: str, width: int, glyphs: Glyphs) -> Text:
    """What was run, on one line of the screen."""
    return Text(fit(f"$ recall {line.replace(chr(10), glyphs.newline)}", width, glyphs), Style(bold=True))
