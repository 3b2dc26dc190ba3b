"""F1: the keys of the pane in front, what it shows, and then all other keys; typed words narrow the list."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from recall_tui.actions.action import Action
from recall_tui.actions.keys import key_name
from recall_tui.actions.table import TABLE, Table, wanted_at
from recall_tui.screens.about import about
from recall_tui.screens.dialog import Dialog
from recall_tui.state.session import Pane, View
from recall_tui.widgets.draw import folded
from recall_tui.widgets.lines import LineView

INTRODUCTION = "Letters are commands in NAV and are typed in EDIT. Esc is one step out."
KEY_CELLS = 14
HELP_COLUMN = KEY_CELLS + 3
MOST_PANES = 3  # that a line names


class HelpScreen(Dialog[None]):
    """The keys by group. table: those in force; pane: the one in front; view: the tab of the explain pane."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "dismiss", "Close", show=False),
        Binding("up", "scroll(-1)", "Up", show=False, priority=True),
        Binding("down", "scroll(1)", "Down", show=False, priority=True),
        Binding("pageup", "page(-1)", "Page up", show=False, priority=True),
        Binding("pagedown", "page(1)", "Page down", show=False, priority=True),
        Binding("ctrl+q", "app.leave", "Quit", show=False),
    ]

    def __init__(self, table: Table, pane: Pane, view: View) -> None:
        super().__init__()
        self._table = table
        self._pane: Pane = pane
        self._view: View = view

    def compose(self) -> ComposeResult:
        """The line above the list."""
        with Vertical(id="help") as box:
            box.border_title = "Keys"
            box.border_subtitle = "Esc closes"
            yield Input(placeholder="words to look for", compact=True)
            view = LineView(id="keys")
            view.can_focus = False
            yield view

    def on_mount(self) -> None:
        """Show all of them and take the next key."""
        self.set_focus(self.query_one(Input))
        self._fill("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show those that have every word typed."""
        self._fill(event.value)

    def action_scroll(self, lines: int) -> None:
        """Move the list."""
        self.query_one(LineView).scroll_relative(y=lines, animate=False, immediate=True)

    def action_page(self, pages: int) -> None:
        """Move the list by what is visible."""
        self.query_one(LineView).scroll_pages(pages)

    def _fill(self, words: str) -> None:
        view = self.query_one(LineView)
        lines = help_lines(self._table, self._pane, words, view=self._view)
        view.show(lambda width: [piece for line in lines for piece in _folded(line, width)])


def help_lines(table: Table = TABLE, pane: Pane = "query", words: str = "", *, view: View = "ledger") -> list[Text]:
    """The keys of this pane, the most wanted first, what it shows, then a heading a group and a line an action.

    words: each is in a line or over it.
    """
    wanted = words.lower().split()
    here = sorted(
        (action for action in table.actions if pane in action.panes), key=lambda action: wanted_at(action.id, pane)
    )
    lines: list[Text] = []
    for group, actions in {f"In the {pane} pane": here, **table.groups}.items():
        its_own = [action for action in actions if action not in here or actions is here]
        of_group = [(_line(action, is_here=actions is here), action.label) for action in its_own]
        shown = [
            line
            for line, label in of_group
            if all(word in f"{group} {label} {line.plain}".lower() for word in wanted)
        ]
        if shown:
            lines += [*([Text()] if lines else []), Text(group, Style(bold=True)), *shown]
        if actions is here and not wanted:
            lines += [Text(), Text(table.spelled(about(pane, view))), Text(), Text(INTRODUCTION, Style(dim=True))]
    return lines or [Text("No key does that.")]


def _folded(line: Text, width: int) -> list[Text]:
    """A line of the list in as many as it takes, the help in its column."""
    if line.cell_len <= width:
        return [line]
    column = HELP_COLUMN if line.plain.startswith(" ") else 0
    first, *others = folded(line.plain[column:], width - column)
    return [Text(line.plain[:column] + first), *(Text(" " * column + other) for other in others)]


def _line(action: Action, *, is_here: bool) -> Text:
    """Keys and help; the panes where that is not said by the heading, and not of what works in most."""
    keys = " ".join(map(key_name, action.keys)) or "no key"
    where = f" ({', '.join(action.panes)})" if 0 < len(action.panes) <= MOST_PANES and not is_here else ""
    return Text(f"  {keys:<{KEY_CELLS}} {action.help}{where}")
