"""The kept settings, to take one or to delete it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import OptionList

from recall_tui.home.profiles import DEFAULT, Profile
from recall_tui.screens.dialog import Dialog
from recall_tui.state.session import assignments
from recall_tui.widgets.pointed import PointedList

NAME_CELLS = 20


class Choice(NamedTuple):
    """What is to be done with a profile; the default one, which cannot be deleted, is None."""

    act: Literal["take", "delete"]
    profile: Profile | None


class ProfilesScreen(Dialog[Choice | None]):
    """Gives back what was chosen, or None. chosen: the name of the profile that the header shows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,P", "dismiss", "Close", show=False),
        Binding("down,j", "step(1)", "Next", show=False),
        Binding("up,k", "step(-1)", "Previous", show=False),
        Binding("enter", "choose('take')", "Take", show=False),
        Binding("d,delete", "choose('delete')", "Delete", show=False),
        Binding("ctrl+q", "app.leave", "Quit", show=False),
    ]

    def __init__(self, profiles: Sequence[Profile], chosen: str) -> None:
        super().__init__()
        self._profiles: tuple[Profile | None, ...] = (None, *profiles)
        names = [DEFAULT if each is None else each.name for each in self._profiles]
        self._row = names.index(chosen) if chosen in names else 0

    def compose(self) -> ComposeResult:
        """The list with its keys."""
        with Vertical(id="history") as box:
            box.border_title = "Profiles"
            box.border_subtitle = "Enter takes, d deletes, Esc closes"
            yield PointedList(id="past")

    def on_mount(self) -> None:
        """Show all of them, the default first."""
        self.query_one(PointedList).fill(map(_line, self._profiles), chosen=self._row)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the one that was clicked."""
        self.dismiss(Choice("take", self._profiles[event.option_index]))

    def action_step(self, rows: int) -> None:
        """Choose another."""
        self.query_one(PointedList).step(rows)

    def action_choose(self, act: Literal["take", "delete"]) -> None:
        """Give back the chosen one; what recall.toml says cannot be deleted here."""
        profile = self._profiles[self.query_one(PointedList).highlighted or 0]
        if act == "take" or profile is not None:
            self.dismiss(Choice(act, profile))


def _line(profile: Profile | None) -> Text:
    if profile is None:
        return Text(f"{DEFAULT:<{NAME_CELLS}} what recall.toml says")
    return Text(f"{profile.name:<{NAME_CELLS}} {' '.join(assignments(profile.tweaks))}")
