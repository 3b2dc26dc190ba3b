"""The command line behind `:`: its verbs, its completion and its screen."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from os.path import commonprefix
from typing import ClassVar, NamedTuple

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Paste
from textual.widgets import Input, Static

from recall_core.adapters import parser
from recall_core.adapters.commands import BY_NAME
from recall_core.adapters.flags import GLOBALS
from recall_core.errors import UsageError
from recall_tui.screens.dialog import Dialog
from recall_tui.state.events import Ran
from recall_tui.themes import NAMES
from recall_tui.widgets import Do
from recall_tui.widgets.draw import Glyphs, fit, fold
from recall_tui.widgets.lines import LineView

VERBS = {
    "q": "quit the workbench",
    "quit": "quit the workbench",
    "theme": "apply a theme",
    "tab": "open a tab of queries; tab N goes to tab N, tab close closes the current one",
    "help": "show the keys",
}
"""Verbs of the workbench, besides the commands of `recall`."""
QUESTIONS = ("search", "query", "context", "explain", "trace")
"""Commands whose query can be loaded into the editor."""


class Verb(NamedTuple):
    """A command for the workbench itself."""

    name: str
    words: tuple[str, ...]


class Taken(NamedTuple):
    """The query of a line: the text for the editor, and its filter."""

    text: str
    filter: str


class Output(NamedTuple):
    """The area above the line: the running command, or the result of the last one."""

    running: str = ""
    ran: Ran | None = None


class Offered(NamedTuple):
    """The completions of a line. line: completed as far as all choices agree; choices: the possible last words."""

    line: str
    choices: tuple[str, ...]


def lines_of(text: str) -> tuple[str, ...]:
    """Return the command lines of a text, without prompts. A line break in quotes belongs to its command."""
    lines: list[str] = []
    begun = ""
    for piece in text.split("\n"):
        begun = f"{begun}\n{piece}" if begun else piece
        try:
            shlex.split(begun)
        except ValueError:
            continue  # a quote is open
        lines.append(begun)
        begun = ""
    return tuple(filter(None, map(without_prompt, (*lines, begun))))


def without_prompt(line: str) -> str:
    """Return the line without the prompt `$` and the word `recall`."""
    words = line.strip().removeprefix("$ ").lstrip()
    return words.removeprefix("recall").lstrip() if words.split(" ", 1)[0] == "recall" else words


def verb(line: str) -> Verb | None:
    """Return the workbench command of a line, or None for a command of `recall`."""
    words = line.split()
    return Verb(words[0], tuple(words[1:])) if words and words[0] in VERBS else None


def question(line: str) -> Taken | None:
    """Return the query of a line for the editor, or None. Raises UsageError."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError("bad_value", f"The line cannot be split into words: {error}.") from error
    request = parser.parse(words)
    if request.command is None or request.command.name not in QUESTIONS:
        return None
    flags = vars(request.flags)
    text = flags.get("rql") or " ".join(request.words)
    return Taken(text, flags.get("filter") or "") if text and text[0] not in "@" and text != "-" else None


def complete(line: str, themes: Sequence[str]) -> Offered:
    """Complete the last word of a line as far as all choices agree, and return the remaining choices."""
    before, _, last = line.rpartition(" ")
    choices = tuple(choice for choice in _candidates(before.split(), last, themes) if choice.startswith(last))
    if not choices:
        return Offered(line, ())
    grown = commonprefix(choices)  # noqa: RUF071 - words, compared character by character
    grown += " " if len(choices) == 1 else ""
    return Offered(f"{before} {grown}" if before else grown, choices if len(choices) > 1 else ())


def _candidates(words: list[str], last: str, themes: Sequence[str]) -> list[str]:
    if not words:
        return [*BY_NAME, *VERBS]
    if words[0] in ("theme", "tab"):
        return list(themes) if words[0] == "theme" else ["close"]
    command = next((BY_NAME[word] for word in words if word in BY_NAME), None)
    if command is None:
        return list(BY_NAME)
    flags = (*command.flags, *GLOBALS)
    flag_before = next((flag for flag in flags if flag.name == words[-1] and flag.metavar), None)
    if flag_before is not None:
        return list(flag_before.choices)
    if last.startswith("-"):
        return sorted(flag.name for flag in flags)
    operand = command.operand if words[-1] == command.name else None
    return [*operand.choices, *operand.actions] if operand is not None else []


HINT = "Enter runs, Tab completes, Up and Down go to earlier lines, F5 loads the query, Esc closes"
BREAK = "↵"
"""Shown in the field for a line break."""
MOST_CHOICES = 200  # characters of completions in the hint


class LineInput(Input):
    """An input line that shows line breaks as a mark, since a pasted command may contain some."""

    def paste(self, text: str) -> None:
        """Insert the whole text at the cursor, or replace the selection."""
        self.replace(mark_breaks(text.rstrip()), *self.selection)

    def on_paste(self, event: Paste) -> None:
        """Insert all lines. Textual would insert only the first one."""
        event.prevent_default()
        event.stop()
        self.paste(event.text)

    def action_paste(self) -> None:
        """Paste from the clipboard of the workbench."""
        self.paste(self.app.clipboard)


def mark_breaks(line: str) -> str:
    """Return a command with the mark that the field shows for line breaks."""
    return "\n".join(line.splitlines()).replace("\n", BREAK)


class LineScreen(Dialog[None]):
    """The command line. Stays open until Esc, so that its output can be read. past: newest first."""

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
        """Yield the output, the line and its hint."""
        with Vertical(id="line") as box:
            box.border_title = "Command"
            view = LineView(id="output")
            view.can_focus = False
            yield view
            yield LineInput(placeholder="a recall command, such as: search words --k 5", compact=True)
            yield Static(HINT, id="hint", markup=False)

    def on_mount(self) -> None:
        """Focus the line."""
        self.set_focus(self.query_one(Input))
        self.show_output(self._output)

    def show_output(self, output: Output) -> None:
        """Show the output of the last command, or the running one."""
        self._output = output
        view = self.query_one(LineView)
        ran = output.ran
        state = "running, ^g cancels" if output.running else f"exit {ran.code}" if ran else ""
        self.query_one("#line").border_subtitle = state
        view.show(lambda width: output_lines(output, width, view.glyphs))

    def say(self, text: str) -> None:
        """Show why nothing happens."""
        self.query_one("#hint", Static).update(text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Run the line."""
        event.stop()
        self._enter(takes_up=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Restore the hint, since a message was about the line before."""
        if event.value:
            self.say(HINT)

    def action_take_up(self) -> None:
        """Load the query of the line."""
        self._enter(takes_up=True)

    def action_cancel(self) -> None:
        """Stop the running command."""
        self.post_message(Do("stop_line"))

    def action_complete(self) -> None:
        """Complete the last word as far as it is unambiguous."""
        field = self.query_one(Input)
        offered = complete(field.value, NAMES)
        with self.prevent(Input.Changed):
            field.value = offered.line
            field.cursor_position = len(offered.line)
        names = " ".join(offered.choices)
        self.say(names[:MOST_CHOICES] or (HINT if offered.line else " ".join(VERBS)))

    def action_recall(self, lines: int) -> None:
        """Show an earlier or a later line."""
        field = self.query_one(Input)
        if self._place == -1:
            self._written = field.value
        self._place = max(-1, min(len(self._past) - 1, self._place + lines))
        field.value = mark_breaks(self._past[self._place]) if self._place >= 0 else self._written
        field.cursor_position = len(field.value)

    def action_page(self, pages: int) -> None:
        """Scroll the output by its visible height."""
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
    """Return the command, its stdout, its stderr with a mark on each line, and its exit code."""
    if output.running:
        return [_command_line(output.running, width, glyphs), Text("running")]
    ran = output.ran
    if ran is None:
        return [Text(fit("Any recall command, without the word recall.", width, glyphs), Style(dim=True))]
    lines = [_command_line(ran.line, width, glyphs)]
    lines += [Text(line) for line in fold(ran.stdout, width)]
    lines += [Text(f"! {line}", Style(italic=True)) for line in fold(ran.stderr, width - 2)]
    mark = glyphs.yes if ran.code == 0 else glyphs.no
    return [*lines, Text(f"{mark} exit {ran.code}", Style(bold=True))]


def _command_line(line: str, width: int, glyphs: Glyphs) -> Text:
    """Return the command on one line of the screen."""
    return Text(fit(f"$ recall {line.replace(chr(10), glyphs.newline)}", width, glyphs), Style(bold=True))
