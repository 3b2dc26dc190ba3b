"""Screens to choose on: a letter for every pane and row (^o), the themes, the kept settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click, Key
from textual.widgets import OptionList, Static

from recall_core.config import assignments, named
from recall_tui.home.profiles import DEFAULT, Profile
from recall_tui.screens.bench import Landmark
from recall_tui.screens.dialog import Dialog
from recall_tui.widgets.lists import PointedList

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

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "app.leave", "Quit", show=False)]

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
        mark = self._marks.get(event.key)
        self.dismiss(mark)

    def on_click(self, event: Click) -> None:
        """A letter can be clicked; what is beside it is nowhere."""
        self.dismiss(event.widget.mark if isinstance(event.widget, Label) else None)


class ThemeScreen(Dialog[str | None]):
    """Gives back the chosen theme, or None; whoever asked takes the preview back then."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", show=False),
        Binding("down,j", "step(1)", "Next", show=False),
        Binding("up,k", "step(-1)", "Previous", show=False),
        Binding("enter", "take", "Apply", show=False),
        Binding("ctrl+q", "app.leave", "Quit", show=False),
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


NAME_CELLS = 20


class ProfileChoice(NamedTuple):
    """What is to be done with a profile; the default one, which cannot be deleted, is None."""

    act: Literal["take", "delete"]
    profile: Profile | None


class ProfilesScreen(Dialog[ProfileChoice | None]):
    """Gives back what was chosen, or None. chosen: the name of the profile that the header shows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,P", "dismiss", "Close", show=False),
        Binding("down,j", "step(1)", "Next", show=False),
        Binding("up,k", "step(-1)", "Previous", show=False),
        Binding("enter", "choose('take')", "Apply", show=False),
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
            box.border_subtitle = "Enter loads, d deletes, Esc closes"
            yield PointedList(id="past")

    def on_mount(self) -> None:
        """Show all of them, the default first."""
        self.query_one(PointedList).fill(map(_line, self._profiles), chosen=self._row)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the one that was clicked."""
        self.dismiss(ProfileChoice("take", self._profiles[event.option_index]))

    def action_step(self, rows: int) -> None:
        """Choose another."""
        self.query_one(PointedList).step(rows)

    def action_choose(self, act: Literal["take", "delete"]) -> None:
        """Give back the chosen one; what recall.toml says cannot be deleted here."""
        profile = self._profiles[self.query_one(PointedList).highlighted or 0]
        if act == "take" or profile is not None:
            self.dismiss(ProfileChoice(act, profile))


def _line(profile: Profile | None) -> Text:
    if profile is None:
        return Text(f"{DEFAULT:<{NAME_CELLS}} what recall.toml says")
    return Text(f"{profile.name:<{NAME_CELLS}} {' '.join(assignments(named(profile.tweaks)))}")
