"""The prompt for a missing document, and the paths of the store that match it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Resize
from textual.widgets import Input, OptionList

from recall_tui.screens.dialog import Dialog
from recall_tui.state.explaining import Paths
from recall_tui.state.records import Analysis
from recall_tui.state.session import Session, result_of
from recall_tui.widgets import Do
from recall_tui.widgets.draw import blank, fit_place, pluralize
from recall_tui.widgets.lines import PointedList

LITERALLY = "  literally"
_NAMED = re.compile(r'"|.+:[0-9]+(-[0-9]+)?$')
"""Targets that are not paths: a quoted text, or lines of a document."""


class TargetScreen(Dialog[str | None]):
    """A prompt that returns a path, a path with lines, an id or a text, or None if closed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", show=False),
        Binding("down", "step(1)", "Next", show=False, priority=True),
        Binding("up", "step(-1)", "Previous", show=False, priority=True),
        Binding("tab", "complete", "Complete", show=False, priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._typed = ""
        self._listed = Paths((), are_all=True)
        self._is_listed = False
        """The listed paths belong to the typed text."""
        self._is_chosen = False
        """The user moved to the chosen line."""
        self._is_taken = False
        """Enter was pressed and waits for the paths."""

    def compose(self) -> ComposeResult:
        """Yield the field and the list."""
        with Vertical(id="target") as box:
            box.border_title = "Which document is missing?"
            yield Input(placeholder='path, path:lines, id, or some of its text in "quotes"', compact=True)
            yield PointedList(id="targets")

    def on_mount(self) -> None:
        """Focus the field and list all paths."""
        self.set_focus(self.query_one(Input))
        self.post_message(Do("list_paths", ""))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Ask for the paths that contain every typed word."""
        self._typed = event.value.strip()
        self._is_listed = self._is_chosen = self._is_taken = False
        self._fill()
        self.post_message(Do("list_paths", self._typed))

    def on_input_submitted(self) -> None:
        """Return the chosen line, or the typed text once its paths are known."""
        row = self.query_one(PointedList).highlighted
        if self._is_chosen and row is not None:
            self.dismiss(self._lines()[row])
        elif self._typed:
            self._is_taken = True
            self._take()

    def _take(self) -> None:
        """Return the target of the typed text once it is known. If several documents match, let the user choose."""
        if not self._is_listed and not _NAMED.match(self._typed):
            self._say("Looking it up …")
            return
        self._is_taken = False
        endings = ending_with(self._typed, self._paths())
        if len(endings) > 1:
            self._draw(self._lines().index(endings[0]))
            self._is_chosen = True
            self._say(f"{pluralize(len(endings), 'path')} end with this: Up and Down select, Enter chooses")
        elif len(endings) == 1:
            self.dismiss(endings[0])
        else:
            row = self.query_one(PointedList).highlighted
            self.dismiss(self._typed if row is None else self._lines()[row])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the line that was clicked."""
        self.dismiss(self._lines()[event.option_index])

    def on_resize(self, _event: Resize) -> None:
        """Fit the paths to the new width."""
        self.call_after_refresh(lambda: self._draw(self.query_one(PointedList).highlighted))

    def show_session(self, session: Session) -> None:
        """Show the paths that match the typed text. Enter may be waiting for them."""
        result = result_of(session, Analysis("paths", self._typed), of=Paths)
        if result is None or self._is_listed:
            return
        self._is_listed = True
        if isinstance(result, Paths) and result != self._listed:
            self._listed = result
            self._fill()
        if self._is_taken:
            self._take()

    def action_step(self, rows: int) -> None:
        """Choose another line."""
        self._is_chosen = True
        self.query_one(PointedList).step(rows)

    def action_complete(self) -> None:
        """Write the chosen path into the field, so that line numbers can be added."""
        row = self.query_one(PointedList).highlighted
        if row is not None:
            field = self.query_one(Input)
            field.value = self._lines()[row]
            field.cursor_position = len(field.value)

    def _paths(self) -> list[str]:
        """Return the paths that contain every typed word. The listed paths may belong to a shorter text."""
        words = self._typed.lower().split()
        return [path for path in self._listed.paths if all(word in path.lower() for word in words)]

    @property
    def _has_typed(self) -> bool:
        """True if the typed text is the first line, since it is not a listed path."""
        return bool(self._typed) and self._typed not in self._paths()

    def _lines(self) -> list[str]:
        """Return the typed text, unless it is a listed path, and the paths."""
        return [*([self._typed] if self._has_typed else []), *self._paths()]

    def _fill(self) -> None:
        """Show the choices. Typed text is chosen if it names lines or a quoted text, or if no path matches."""
        lines, paths = self._lines(), self._paths()
        is_named = self._has_typed and (_NAMED.match(self._typed) is not None or not paths)
        first = lines.index(self._typed) if self._typed in paths else int(self._has_typed and not is_named)
        self._draw(first if lines else None)
        count = pluralize(len(paths), "path")
        if not self._listed.are_all:
            count = f"the first {count}"
        self._say(f"{count}, Tab completes, Enter chooses, Esc closes")

    def _say(self, text: str) -> None:
        self.query_one("#target").border_subtitle = text

    def _draw(self, chosen: int | None) -> None:
        """Draw each line. Paths are cut at the front, since they differ at the end."""
        view, lines, shown = self.query_one(PointedList), self._lines(), []
        if self._has_typed:
            typed = fit_place(blank(lines.pop(0)), "", view.room - len(LITERALLY), view.glyphs).rstrip()
            shown.append(Text(typed).append(LITERALLY, Style(dim=True)))
        shown += [Text(fit_place(blank(path), "", view.room, view.glyphs).rstrip()) for path in lines]
        view.fill(shown, chosen=chosen)


def ending_with(typed: str, paths: Sequence[str]) -> list[str]:
    """Return the paths that equal the typed text or end with it after a slash. An equal path is returned alone.

    >>> ending_with("budget.md", ["docs/budget.md", "docs/my-budget.md"])
    ['docs/budget.md']
    """
    if typed in paths:
        return [typed]
    return [path for path in paths if path.endswith(f"/{typed}")] if typed else []
