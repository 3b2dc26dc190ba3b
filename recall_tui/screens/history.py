"""Ctrl+R: earlier queries, a field to search them, and what moved between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Resize
from textual.widgets import Input, OptionList

from recall_tui.home.history import MOST_DIGITS, PastQuestion, RankMove, describe_changes, moves
from recall_tui.screens.dialog import Dialog
from recall_tui.widgets.draw import Glyphs, cut, figure, fit, fold
from recall_tui.widgets.lines import LineView, PointedList

KEYS = (
    "Enter loads query, filter and settings, F5 the query alone, Tab marks, F6 compares, Esc closes",
    "Enter loads all of it, F5 the query, Tab marks, F6 compares, Esc closes",
    "Enter loads all, F5 query, Tab mark, F6 compare",
    "Enter loads all, F5 query",
)
"""Descriptions of the keys, longest first. The first one that fits is shown."""
CORNERS = 6  # cells of the border that its text cannot use


class HistoryChoice(NamedTuple):
    """The chosen query, and whether to load all of it or only its text."""

    act: Literal["all", "text"]
    past: PastQuestion


class HistoryScreen(Dialog[HistoryChoice | None]):
    """A list that returns the chosen query, or None. past: newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+r", "dismiss", "Close", show=False),
        Binding("down", "step(1)", "Older", show=False, priority=True),
        Binding("up", "step(-1)", "Newer", show=False, priority=True),
        Binding("tab", "mark", "Mark", show=False, priority=True),
        Binding("f5", "take('text')", "Load the query alone", show=False, priority=True),
        Binding("f6", "compare", "Compare", show=False, priority=True),
    ]

    def __init__(self, past: Sequence[PastQuestion]) -> None:
        super().__init__()
        self._past = past
        self._found = list(past)
        self._marked: PastQuestion | None = None

    def compose(self) -> ComposeResult:
        """Yield the search field and the list."""
        with Vertical(id="history") as box:
            box.border_title = "History"
            yield Input(placeholder="words of the query", compact=True)
            yield PointedList(id="past")

    def on_mount(self) -> None:
        """Show all queries and focus the field."""
        self.set_focus(self.query_one(Input))
        self._fill(0)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the queries that contain every typed word."""
        self._found = having(self._past, event.value)
        self._fill(0)

    def on_input_submitted(self) -> None:
        """Return the chosen query."""
        self.action_take("all")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the query that was clicked."""
        self.dismiss(HistoryChoice("all", self._found[event.option_index]))

    def on_resize(self, _event: Resize) -> None:
        """Fit the key descriptions and the list to the new width."""
        self._entitle()
        self.call_after_refresh(self._refill)

    def action_take(self, act: Literal["all", "text"]) -> None:
        """Return the chosen query, or only its text."""
        chosen = self._chosen_question
        if chosen is not None:
            self.dismiss(HistoryChoice(act, chosen))

    def action_step(self, rows: int) -> None:
        """Choose another query."""
        self.query_one(PointedList).step(rows)

    def action_mark(self) -> None:
        """Mark the chosen query for comparison, or remove its mark."""
        self._marked = None if self._chosen_question is self._marked else self._chosen_question
        self._refill()

    def action_compare(self) -> None:
        """Show what moved between the marked and the chosen query, older first."""
        chosen = self._chosen_question
        if chosen is None or self._marked is None or chosen is self._marked:
            self.notify("Mark one with Tab, then choose another.")
        else:
            newer, older = sorted((self._marked, chosen), key=self._past.index)
            self.app.push_screen(MovedScreen(older, newer))

    @property
    def _chosen_question(self) -> PastQuestion | None:
        row = self.query_one(PointedList).highlighted
        return self._found[row] if row is not None else None

    def _refill(self) -> None:
        self._fill(self.query_one(PointedList).highlighted or 0)

    def _fill(self, chosen: int) -> None:
        view = self.query_one(PointedList)
        lines = (entry_line(past, view.glyphs, view.room, is_marked=past is self._marked) for past in self._found)
        view.fill(lines, chosen=chosen if self._found else None)
        self._entitle()

    def _entitle(self) -> None:
        box, count = self.query_one("#history"), f"{figure(len(self._found))} of {figure(len(self._past))}"
        feet = [f"{count}, {keys}" for keys in KEYS]
        box.border_subtitle = next((foot for foot in feet if len(foot) <= box.outer_size.width - CORNERS), feet[-1])


class MovedScreen(Dialog[None]):
    """Two answers next to each other: their settings, and every row among the first of either."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f6", "dismiss", "Close", show=False)]

    def __init__(self, before: PastQuestion, after: PastQuestion) -> None:
        super().__init__()
        self._before = before
        self._after = after

    def compose(self) -> ComposeResult:
        """Yield the list."""
        with Vertical(id="moved") as box:
            box.border_title = "What changed"
            box.border_subtitle = "Esc closes"
            yield LineView(id="moves")

    def on_mount(self) -> None:
        """Fill the list and focus it."""
        view = self.query_one(LineView)
        view.show(lambda width: moved_lines(self._before, self._after, width, view.glyphs))
        self.set_focus(view)


def entry_line(past: PastQuestion, glyphs: Glyphs, width: int, *, is_marked: bool) -> Text:
    """Return one line: a mark, the query, and its settings in at most half of the line."""
    changes = describe_changes(past)
    settings = f"  {glyphs.dot.strip()} {changes}" if changes else ""
    query = f"{glyphs.knob if is_marked else ' '} {' '.join(past.text.split())}"
    line = Text(cut(query, width - min(cell_len(settings), width // 2), glyphs))
    return line.append(cut(settings, width - line.cell_len, glyphs), Style(italic=True))


def moved_lines(before: PastQuestion, after: PastQuestion, width: int, glyphs: Glyphs) -> list[Text]:
    """Return both queries, then the rows of the later answer, then the rows that left."""
    lines = []
    for name, past in (("before", before), ("after", after)):
        query_lines = fold(f"{name:<7} {' '.join(past.text.split())}", width)
        lines += [Text(line, Style(bold=True)) for line in query_lines]
        lines += [Text(fit(f"        {describe_changes(past) or 'saved settings'}", width, glyphs))]
        lines += [Text(fit(f"        store {past.digest[:MOST_DIGITS] or 'unknown'}", width, glyphs))]
    if before.digest != after.digest:
        lines.append(Text(fit(f"{glyphs.no} the store changed between them", width, glyphs), Style(bold=True)))
    if not before.top or not after.top:
        return [*lines, Text(), Text(fit("One of them is too old: its rows were not saved.", width, glyphs))]
    compared = moves(before, after)
    lines += [Text(), Text(fit(f"{'before':>6} {'after':>6} {'move':>5}  row", width, glyphs), Style(bold=True))]
    lines += [Text(fit(_move_line(move, glyphs), width, glyphs)) for move in compared]
    new, left = sum(move.before is None for move in compared), sum(move.after is None for move in compared)
    moved = sum(move.before != move.after for move in compared) - new - left
    counts = [f"{count} {how}" for count, how in ((moved, "moved"), (new, "new"), (left, "left")) if count]
    summary = ", ".join(counts) or f"all {len(compared)} unchanged"
    return [*lines, Text(), Text(fit(summary, width, glyphs))]


def _move_line(move: RankMove, glyphs: Glyphs) -> str:
    if move.before is None:
        how = "new"
    elif move.after is None:
        how = "left"
    elif move.after == move.before:
        how = "="
    else:
        how = f"{glyphs.up if move.after < move.before else glyphs.down}{abs(move.after - move.before)}"
    return f"{move.before or '.':>6} {move.after or '.':>6} {how:>5}  {move.row.where}"


def having(past: Sequence[PastQuestion], words: str) -> list[PastQuestion]:
    """Return the queries that contain all of the words, in any case and order."""
    wanted = words.lower().split()
    return [each for each in past if all(word in f"{each.text} {describe_changes(each)}".lower() for word in wanted)]
