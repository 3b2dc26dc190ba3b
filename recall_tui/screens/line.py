"""The line behind `:`: what it means, what may follow, and where it is typed."""

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
    "tab": "open a tab of queries; tab N goes to one, tab close closes the current one",
    "help": "show the keys",
}
"""What the line does besides the commands of `recall`."""
QUESTIONS = ("search", "query", "context", "explain", "trace")
"""Commands whose question the editor can take up."""


class Verb(NamedTuple):
    """Something for the workbench itself."""

    name: str
    words: tuple[str, ...]


class Taken(NamedTuple):
    """A question that a line asks: the text for the editor, and its filter."""

    text: str
    filter: str


class Output(NamedTuple):
    """What is above the line: the command under way, or what the last one did."""

    running: str = ""
    ran: Ran | None = None


class Offered(NamedTuple):
    """How a line may go on. line: completed as far as all agree; choices: what its last word may become."""

    line: str
    choices: tuple[str, ...]


def lines_of(text: str) -> tuple[str, ...]:
    """Return the command lines of a text, without prompts; a line break in quotes is part of one."""
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
    """Return the line as it is meant where it was pasted as a shell takes it, or with the prompt that `Y` shows."""
    words = line.strip().removeprefix("$ ").lstrip()
    return words.removeprefix("recall").lstrip() if words.split(" ", 1)[0] == "recall" else words


def verb(line: str) -> Verb | None:
    """Return what the line asks of the workbench itself; None where it is a command of `recall`."""
    words = line.split()
    return Verb(words[0], tuple(words[1:])) if words and words[0] in VERBS else None


def question(line: str) -> Taken | None:
    """Return the question of a line, for the editor; None where it has none. Raises UsageError."""
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
    """Return the line with its last word completed as far as all choices agree, and the choices that are left."""
    before, _, last = line.rpartition(" ")
    choices = tuple(choice for choice in _candidates(before.split(), last, themes) if choice.startswith(last))
    if not choices:
        return Offered(line, ())
    grown = commonprefix(choices)  # noqa: RUF071 - words, compared by their characters
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
    asked = next((flag for flag in flags if flag.name == words[-1] and flag.metavar), None)
    if asked is not None:
        return list(asked.choices)
    if last.startswith("-"):
        return sorted(flag.name for flag in flags)
    operand = command.operand if words[-1] == command.name else None
    return [*operand.choices, *operand.actions] if operand is not None else []


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
