"""F1: the keys of the active pane and what it shows, then all other keys. Typing narrows the list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from recall_tui.actions.action import Action, key_name
from recall_tui.actions.table import TABLE, Table, wanted_at
from recall_tui.screens.dialog import Dialog
from recall_tui.state.session import Pane, View
from recall_tui.widgets.draw import fold
from recall_tui.widgets.lines import LineView

INTRODUCTION = "Letters are commands in NAV and text in EDIT. Esc goes back one step."
KEY_CELLS = 14
HELP_COLUMN = KEY_CELLS + 3
MOST_PANES = 3  # named on a line
PANES: Mapping[Pane, str] = {
    "query": (
        "Type plain words, or a query in RQL that begins with SELECT. The results follow as you type. Plain words "
        "list the chunks that match best; {filter} filters them by an expression. In RQL, fields, tags and values "
        "are completed as you type, and errors are marked in place. {step_out} leaves the field, so that "
        "letters are commands."
    ),
    "results": (
        "The chunks that answer the query, best first. A result has its rank, its score with a line split by "
        "the signals that made it, its grade, its tokens, its place and the passage that answers. Up and Down "
        "select one, and the other panes explain it. If settings are changed, an arrow shows how "
        "far a result has moved from its rank with the saved settings. {count(-1)} and {count(1)} show fewer and "
        "more, {group} lists them below their documents."
    ),
    "weights": (
        "The settings of the ranking, one per row, under their names in recall.toml. Up and Down select one, Left "
        "and Right change it, and the results follow at once. The lines below show where each of the first "
        "results would rank at every weight of lexical and semantic. With grades, a curve shows the measure at "
        "every weight. Nothing is saved until {save_weights}."
    ),
    "context": (
        "What an agent receives: the best chunks, packed until the token budget is used up. Each line is a "
        "block of text, in order; below them is what was left out, with the reason. {pin_chunk} pins a chunk, so "
        "that it is always packed; {drop_chunk} excludes one. {copy_context} copies the text, exactly as recall "
        "context prints it."
    ),
    "judge": (
        "Queries with graded results, and how well the current settings rank them, compared with the saved "
        "settings. While grading is on ({switch_grading}), {grade(3)}, {grade(2)}, {grade(1)} and {grade(0)} "
        "grade the selected result 3, 2, 1 and 0. Right goes to the relevant documents that the selected query "
        "misses. {import_judgements} and {export_judgements} import and export files of judgements."
    ),
    "ingest": (
        "Reading files into the store: the current step, the progress, and which files were skipped and "
        "why. {open_skip} on a skipped file explains it and can open it. {hold} pauses the run, {cancel} cancels it; "
        "what was read is kept, and {repeat_run} resumes. Below are the folders that were added: {sync} reads the "
        "changes in them, {watch} follows them."
    ),
    "store": (
        "The store in four views, which {next_store_view} goes through: stats; checks, with what fixes a problem; "
        "the embedders that can make its vectors; and its documents, as a tree. {open_line} does what the "
        "selected line offers, and asks before it changes the store. {remove} removes documents from the store; "
        "their files stay."
    ),
}
VIEWS: Mapping[View, str] = {
    "ledger": (
        "Where the score of the selected result comes from. Each signal has its raw score, the score normalized to "
        "between 0 and 1, its weight, and the resulting points; below are the words that earned them. The "
        "parts sum to the score, and the last lines say at which weights the result changes places with its "
        "neighbours."
    ),
    "passage": (
        "The document around the selected chunk. A rule marks the start of each chunk; text that two chunks share "
        "is shaded. Query terms are marked. {open_file} opens the file at this place in your editor."
    ),
    "whynot": (
        "Why a document is not in the results or not in the context. {miss} asks which one; {why_this} takes "
        "the selected result. Fixes come first, each confirmed to bring it in: Up and Down select one, {try_fix} "
        "applies it, {take_back} undoes it. Below are the stages a chunk goes through: the one that stopped it, "
        "and those it passed."
    ),
    "funnel": (
        "How many rows are left after each step, from the whole store to the context: what each filter removes, "
        "what each signal finds, and what the limit and the budget leave. Each step has its time."
    ),
    "compare": (
        "Two results side by side, with every part of their scores and the difference; the largest comes first, "
        "and the parts sum to the difference of the scores. {mark_hit} marks a result to compare others with; "
        "without a mark it is the one above."
    ),
}


class HelpScreen(Dialog[None]):
    """The keys by group. table: keys in force; pane: the active pane; view: the tab of the explain pane."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "dismiss", "Close", show=False),
        Binding("up", "scroll(-1)", "Up", show=False, priority=True),
        Binding("down", "scroll(1)", "Down", show=False, priority=True),
        Binding("pageup", "page(-1)", "Page up", show=False, priority=True),
        Binding("pagedown", "page(1)", "Page down", show=False, priority=True),
    ]

    def __init__(self, table: Table, pane: Pane, view: View) -> None:
        super().__init__()
        self._table = table
        self._pane: Pane = pane
        self._view: View = view

    def compose(self) -> ComposeResult:
        """Yield the search field and the list."""
        with Vertical(id="help") as box:
            box.border_title = "Keys"
            box.border_subtitle = "Esc closes"
            yield Input(placeholder="search the keys", compact=True)
            view = LineView(id="keys")
            view.can_focus = False
            yield view

    def on_mount(self) -> None:
        """Show all keys and focus the field."""
        self.set_focus(self.query_one(Input))
        self._fill("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the keys whose lines contain every typed word."""
        self._fill(event.value)

    def action_scroll(self, lines: int) -> None:
        """Scroll the list."""
        self.query_one(LineView).scroll_relative(y=lines, animate=False, immediate=True)

    def action_page(self, pages: int) -> None:
        """Scroll the list by its visible height."""
        self.query_one(LineView).scroll_pages(pages)

    def _fill(self, words: str) -> None:
        view = self.query_one(LineView)
        lines = help_lines(self._table, self._pane, words, view=self._view)
        view.show(lambda width: [piece for line in lines for piece in _fold(line, width)])


def help_lines(table: Table = TABLE, pane: Pane = "query", words: str = "", *, view: View = "ledger") -> list[Text]:
    """Return the keys of this pane, most used first, what the pane shows, then the keys of each group.

    words: keep lines that contain all of them, in the line or its group.
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
            lines += [Text(), Text(table.spell(about(pane, view))), Text(), Text(INTRODUCTION, Style(dim=True))]
    return lines or [Text("No key does that.")]


def _fold(line: Text, width: int) -> list[Text]:
    """Fold a line of the list, with the help in its own column."""
    if line.cell_len <= width:
        return [line]
    column = HELP_COLUMN if line.plain.startswith(" ") else 0
    first, *others = fold(line.plain[column:], width - column)
    return [Text(line.plain[:column] + first), *(Text(" " * column + other) for other in others)]


def _line(action: Action, *, is_here: bool) -> Text:
    """Return the keys and the help, and the panes if the heading does not name them and there are few."""
    keys = " ".join(map(key_name, action.keys)) or "no key"
    where = f" ({', '.join(action.panes)})" if 0 < len(action.panes) <= MOST_PANES and not is_here else ""
    return Text(f"  {keys:<{KEY_CELLS}} {action.help}{where}")


def about(pane: Pane, view: View) -> str:
    """Return what the active pane shows, or what its tab shows in the explain pane."""
    return VIEWS[view] if pane == "explain" else PANES[pane]
