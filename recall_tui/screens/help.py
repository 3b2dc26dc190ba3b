"""F1: every key, from the action table."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from recall_tui.actions.keys import key_name
from recall_tui.actions.table import GROUPS
from recall_tui.widgets.draw import fit
from recall_tui.widgets.lines import LineView


class HelpScreen(ModalScreen[None]):
    """The keys by group."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,question_mark", "dismiss", "Close", show=False),
        Binding("ctrl+q", "app.leave", "Quit", show=False),
    ]

    def compose(self) -> ComposeResult:
        """One list."""
        yield LineView(id="keys")

    def on_mount(self) -> None:
        """Fill it."""
        view = self.query_one(LineView)
        view.border_title = "Keys"
        view.border_subtitle = "Esc closes"
        view.show(lambda width: [Text(fit(line.plain, width, view.glyphs), line.style) for line in help_lines()])
        self.set_focus(view)


def help_lines() -> list[Text]:
    """A heading a group, then a line an action."""
    lines = [Text("Letters are commands in NAV and are typed in EDIT. Esc is one step out.")]
    for group, actions in GROUPS.items():
        lines += [Text(), Text(group, Style(bold=True))]
        for action in actions:
            keys = " ".join(key_name(key) for key in action.keys)
            lines.append(Text(f"  {keys:<14}{action.help}"))
    return lines
