"""The table of actions. Bindings, footer, help, palette and docs/keys.md all read it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from recall_tui.actions.action import (
    LISTING,
    Action,
    acts_in,
    can_cancel,
    can_compare,
    can_hold,
    can_redo,
    can_repeat,
    can_run,
    can_undo,
    handled_by,
    has_best,
    has_chunk,
    has_command,
    has_context,
    has_entries,
    has_fix,
    has_grades,
    has_lines,
    has_pool,
    has_queries,
    has_question,
    has_rows,
    has_selected_chunk,
    has_signals,
    has_store,
    has_suspect,
    has_tabs,
    has_tried,
    has_what_ifs,
    is_printable,
    key_name,
    may_grade,
)
from recall_tui.state import explaining, judging, packing, weighing
from recall_tui.state.session import PANES as PANES_IN_ORDER
from recall_tui.state.session import Pane, Session, move_selection, select_row, set_budget, want_lookups

SCREEN = handled_by(
    "shell",
    Action("command_line", ("colon",), "command", "Run a recall command", handler="query"),
    Action("jump", ("ctrl+o",), "jump", "Show a letter on every pane and row; type one to go there"),
    Action("widen(5)", ("ctrl+left",), "", "Make the right column wider"),
    Action("widen(-5)", ("ctrl+right",), "", "Make the left column wider"),
    Action("heighten(5)", ("ctrl+up",), "", "Make the panes below the results taller"),
    Action("heighten(-5)", ("ctrl+down",), "", "Make the results taller"),
    Action("reset_layout", ("f7",), "", "Reset pane sizes"),
    Action("choose_theme", ("f9",), "", "Choose a theme"),
    Action("export_picture", ("f8",), "", "Save the screen as a picture or as text"),
)
HELP = handled_by(
    "shell",
    Action("command_palette", ("ctrl+p",), "palette", "Find an action by its name"),
    Action(
        "help",
        ("f1", "question_mark"),
        "explain this",
        "Explain the current pane, and list all keys",
        handler="shell:show_help",
    ),
    Action("leave", ("ctrl+q", "q"), "quit", "Quit"),
    Action(
        "suspend_program",
        ("ctrl+z",),
        "",
        "Suspend the workbench; the shell's fg brings it back",
        panes=tuple(pane for pane in PANES_IN_ORDER if pane != "query"),
    ),
)
PANES = handled_by(
    "shell",
    Action("focus_pane('query')", ("1", "i"), "query", "Edit the query"),
    Action("focus_pane('results')", ("2",), "", "Go to the results"),
    Action("focus_pane('explain')", ("3",), "", "Go to the explanation of the selected result"),
    Action("focus_pane('weights')", ("4",), "", "Go to the weights and the other settings"),
    Action("focus_pane('context')", ("5",), "", "Go to the packed context"),
    Action("focus_pane('judge')", ("6",), "", "Go to the judged queries"),
    Action("focus_pane('ingest')", ("7",), "", "Go to the ingest run and the skipped files"),
    Action("focus_pane('store')", ("8",), "", "Go to the store: stats, checks, embedder, documents"),
    Action("next_pane", ("tab",), "next", "Go to the next pane"),
    Action("previous_pane", ("shift+tab",), "", "Go to the previous pane"),
    Action("zoom", ("z",), "zoom", "Let the pane fill the screen, or restore it"),
    Action("step_out", ("escape",), "out", "Go back one step: leave the field, the zoom, the dialog"),
)
_NOT_INGEST: tuple[Pane, ...] = tuple(pane for pane in PANES_IN_ORDER if pane != "ingest")
"""Panes where F5 runs the query. In the ingest pane it runs the ingest again."""
QUERY = handled_by(
    "query",
    Action(
        "filter",
        ("slash",),
        "filter",
        "Filter plain words by an expression, as --filter does",
        handler="query:ask_filter",
    ),
    Action("copy_command", ("Y",), "copy command", "Copy the shell command that reproduces the pane", has_command),
    Action("run", ("f5",), "run again", "Run the query again", panes=_NOT_INGEST),
    Action("open_history", ("ctrl+r", "h"), "history", "Find an earlier query and load it"),
    Action("clear_query", ("ctrl+u",), "clear", "Clear the query", handler="query:put_text('')"),
    Action("new_tab", ("ctrl+t",), "new tab", "Open a tab for another query"),
    Action("step_tab(1)", ("ctrl+pagedown",), "", "Go to the next tab of queries", has_tabs),
    Action("step_tab(-1)", ("ctrl+pageup",), "", "Go to the previous tab of queries", has_tabs),
    Action("close_tab", (), "", "Close this tab of queries", has_tabs),
    Action("edit_outside", ("f4",), "editor", "Edit the query in $VISUAL or $EDITOR"),
    Action("save_query", ("f2",), "", "Save the query to an .rql file"),
    Action("load_query", ("f3",), "", "Load a query from an .rql file"),
)
RESULTS = handled_by(
    "results",
    Action(
        "select_beside(1)",
        ("J",),
        "next result",
        "Select the next result, without leaving the pane",
        has_rows,
        step=move_selection,
    ),
    Action(
        "select_beside(-1)",
        ("K",),
        "previous result",
        "Select the previous result, without leaving the pane",
        has_rows,
        step=move_selection,
    ),
    Action(
        "select(1)", ("j", "down"), "", "Select the next result", has_rows, panes=("results",), step=move_selection
    ),
    Action(
        "select(-1)", ("k", "up"), "", "Select the previous result", has_rows, panes=("results",), step=move_selection
    ),
    Action("page(1)", ("pagedown", "space"), "", "Select one page further", has_rows, panes=LISTING),
    Action("page(-1)", ("pageup",), "", "Select one page back", has_rows, panes=LISTING),
    Action("select_first", ("home",), "", "Select the first result", has_rows, panes=LISTING),
    Action("select_last", ("end",), "", "Select the last result", has_rows, panes=LISTING),
    Action(
        "group",
        ("G",),
        "group",
        "Group the results by document, or list them by rank again",
        has_rows,
        panes=("results",),
    ),
    Action(
        "export_results",
        ("E",),
        "export",
        "Export the results to a CSV, JSONL or Markdown file",
        has_rows,
        ("results",),
        "results",
    ),
    Action("count(-1)", ("minus",), "fewer", "Show fewer results", has_pool, LISTING, "weights"),
    Action("count(1)", ("plus",), "more", "Show more results", has_pool, LISTING, "weights"),
)
_FROM: tuple[Pane, ...] = ("results", "explain", "context")
EXPLAIN = handled_by(
    "results",
    Action("try_fix", ("enter",), "apply", "Apply the selected fix", has_fix, ("explain",)),
    Action("take_back", ("u",), "undo", "Undo the last fix", has_tried, ("explain",)),
    Action("take_all_back", ("r",), "reset", "Undo all applied fixes", has_tried, ("explain",)),
    *handled_by(
        "results",
        Action("step_view(-1)", ("left",), "", "Go to the tab on the left", step=explaining.step_view),
        Action("step_view(1)", ("right",), "tabs", "Go to the tab on the right", step=explaining.step_view),
        Action("scroll_explain(1)", ("j", "down"), "", "Scroll one line further; among fixes, select the next"),
        Action("scroll_explain(-1)", ("k", "up"), "", "Scroll one line back; among fixes, select the previous"),
        Action("page_explain(1)", ("pagedown", "space"), "", "Scroll one page further"),
        Action("page_explain(-1)", ("pageup",), "", "Scroll one page back"),
        Action("explain_top", ("home",), "", "Scroll to the first line"),
        Action("explain_end", ("end",), "", "Scroll to the last line"),
        panes=("explain",),
    ),
    Action(
        "why_this",
        ("w",),
        "why this",
        "Explain the rank of the selected result; again, or on a chunk left out, why the context lacks it",
        has_suspect,
        _FROM,
    ),
    Action(
        "miss",
        ("m",),
        "why missing",
        "Explain why a document is missing, named by path, lines, id or text",
        has_question,
        _FROM,
    ),
    Action(
        "compare",
        ("c",),
        "compare",
        "Compare with the marked result, or with the one above",
        can_compare,
        _FROM[:2],
        "results:show_view('compare')",
    ),
    Action(
        "mark_hit",
        ("M",),
        "mark",
        "Mark the selected result to compare others with it",
        has_selected_chunk,
        _FROM[:2],
    ),
    Action(
        "open_file",
        ("e",),
        "edit file",
        "Open the file at its line in $VISUAL or $EDITOR; a record, or a text without a file, in $PAGER",
        has_suspect,
        _FROM,
        "results",
    ),
    Action(
        "open_funnel",
        (),
        "",
        "Show how many rows each step leaves",
        has_question,
        handler="results:show_view('funnel')",
    ),
)
WEIGHTS = handled_by(
    "weights",
    Action("choose_setting(1)", ("j", "down"), "", "Select the next setting", has_pool, step=weighing.step_setting),
    Action(
        "choose_setting(-1)", ("k", "up"), "", "Select the previous setting", has_pool, step=weighing.step_setting
    ),
    Action(
        "change_setting(-5)", ("left",), "less", "Change the selected setting: less, or the previous choice", has_pool
    ),
    Action(
        "change_setting(5)", ("right",), "more", "Change the selected setting: more, or the next choice", has_pool
    ),
    Action("change_setting(-1)", ("shift+left",), "", "Change the selected setting in small steps: less", has_pool),
    Action("change_setting(1)", ("shift+right",), "", "Change the selected setting in small steps: more", has_pool),
    Action(
        "undo_weights", ("u",), "undo", "Undo the last change, including a query loaded from the history", can_undo
    ),
    Action("redo_weights", ("U",), "redo", "Redo the change that was undone", can_redo),
    Action("reset_weights", ("r",), "reset", "Go back to the saved settings", has_pool),
    Action(
        "turn_beside",
        ("V",),
        "side by side",
        "Show the results with the saved and the changed settings side by side, or the plot again",
        has_pool,
    ),
    Action("turn_curve", ("t",), "other view", "Show the curve of all judged queries, or of this one"),
    Action("take_best", ("B",), "best", "Go to the best weight by the grades", has_best),
    Action("pin_row('in')", ("p",), "pin", "Require the selected result in the top, or undo that", has_signals),
    Action(
        "pin_row('out')", ("x",), "exclude", "Exclude the selected result from the top, or undo that", has_signals
    ),
    Action("take_granting", ("T",), "meet targets", "Go to the nearest weight that meets all targets", has_signals),
    Action("write_options", ("W",), "write", "Write the changed settings into the query", has_rows),
    Action("save_weights", ("S",), "save", "Save the changed settings to recall.toml, once confirmed", has_pool),
    panes=("weights",),
)
CONTEXT = (
    *handled_by(
        "results",
        Action("type_budget", ("b",), "budget", "Type the budget"),
        Action("copy_context", ("y",), "copy", "Copy the context, exactly as recall context prints it", has_context),
    ),
    *handled_by(
        "results",
        Action("budget(-100)", ("minus",), "fewer", "Lower the budget by 100 tokens"),
        Action("budget(100)", ("plus",), "more", "Raise the budget by 100 tokens"),
        Action("scale_budget(-5)", ("left",), "-5%", "Lower the budget by 5 %", step=packing.scale_budget),
        Action("scale_budget(5)", ("right",), "+5%", "Raise the budget by 5 %", step=packing.scale_budget),
        Action("scale_budget(-1)", ("shift+left",), "", "Lower the budget by 1 %", step=packing.scale_budget),
        Action("scale_budget(1)", ("shift+right",), "", "Raise the budget by 1 %", step=packing.scale_budget),
        Action("point_block(1)", ("j", "down"), "", "Select the next block, or chunk left out", has_entries),
        Action("point_block(-1)", ("k", "up"), "", "Select the previous block, or chunk left out", has_entries),
        Action(
            "point_first_block",
            ("home",),
            "",
            "Select the first block",
            has_entries,
            handler="results:choose_block(0)",
        ),
        Action("point_last_block", ("end",), "", "Select the last line", has_entries),
        Action("scroll_context(1)", ("pagedown", "space"), "", "Scroll the context one page further", has_entries),
        Action("scroll_context(-1)", ("pageup",), "", "Scroll the context one page back", has_entries),
        Action(
            "open_block",
            ("enter",),
            "open",
            "Show the whole block, and select its row in the results",
            has_entries,
            step=packing.toggle_block,
        ),
        Action(
            "export_context",
            ("E",),
            "export",
            "Write the context to a file, exactly as it is",
            has_context,
            handler="results",
        ),
        Action(
            "details",
            ("D",),
            "details",
            "Show the digest, the quality and the slider of the budget, or hide them",
            step=packing.toggle_details,
        ),
        Action(
            "reset_what_ifs",
            ("r",),
            "reset",
            "Undo all pins and exclusions",
            has_what_ifs,
            step=packing.clear_what_ifs,
        ),
        Action("turn('pack')", ("o",), "order", "Fill the context by rank, or by value", has_pool, handler="weights"),
        panes=("context",),
    ),
    *handled_by(
        "results",
        Action("pin_chunk", ("p",), "pin", "Pin the selected chunk to the context, or unpin it", has_chunk),
        Action(
            "drop_chunk", ("x",), "exclude", "Exclude the selected chunk from the context, or undo that", has_chunk
        ),
        panes=_FROM,
    ),
)
JUDGE = (
    *handled_by(
        "judge",
        Action(
            "switch_grading",
            ("g",),
            "grade",
            "Turn grading on or off for this session: the keys for grades act only while it is on",
            step=judging.switch_grading,
        ),
        Action("grade(3)", ("a",), "3", "Grade the selected result 3, and select the next", may_grade),
        Action("grade(2)", ("s",), "2", "Grade the selected result 2, and select the next", may_grade),
        Action("grade(1)", ("d",), "1", "Grade the selected result 1, and select the next", may_grade),
        Action("grade(0)", ("f",), "0", "Grade the selected result 0, and select the next", may_grade),
        Action(
            "clear_grade",
            ("delete",),
            "remove grade",
            "Remove the grade of the selected result",
            has_rows,
            ("results", "judge"),
        ),
        Action("undo_grade", ("u",), "undo", "Undo the last grade", has_grades, ("results", "judge")),
    ),
    *handled_by(
        "judge",
        Action(
            "point_query(1)",
            ("j", "down"),
            "",
            "Select the next query, or missed document",
            has_queries,
            step=judging.step_line,
        ),
        Action(
            "point_query(-1)",
            ("k", "up"),
            "",
            "Select the previous query, or missed document",
            has_queries,
            step=judging.step_line,
        ),
        Action("page_query(1)", ("pagedown", "space"), "", "Go one page further in the list", has_queries),
        Action("page_query(-1)", ("pageup",), "", "Go one page back in the list", has_queries),
        Action("point_first_query", ("home",), "", "Select the first line of the list", has_queries),
        Action("point_last_query", ("end",), "", "Select the last line of the list", has_queries),
        Action(
            "enter_missed", ("right",), "missed", "Go to the relevant documents that the query misses", has_queries
        ),
        Action(
            "leave_missed",
            ("left",),
            "",
            "Go back to the queries",
            has_queries,
            step=partial(judging.choose_side, missed=False),
        ),
        Action(
            "take_query",
            ("enter",),
            "run",
            "Run the selected query; for a missed document, explain why it is missing",
            has_queries,
        ),
        Action("next_measure", ("t",), "other view", "Show the next measure", has_queries, step=judging.next_measure),
        Action("import_judgements", ("I",), "import", "Import judgements from TREC, BEIR or Quepid files"),
        Action("export_judgements", ("E",), "export", "Export the judgements to files"),
        panes=("judge",),
    ),
)
STORE = (
    *handled_by(
        "store",
        Action("add_folder", ("A",), "add", "Add a folder or a file to the store", has_store, handler="ingest"),
        Action(
            "cancel",
            ("ctrl+g",),
            "cancel",
            "Cancel a long search, else the ingest run or the re-embedding",
            can_cancel,
        ),
    ),
    *handled_by(
        "store",
        Action("point_line(1)", ("j", "down"), "", "Select the next line", has_lines),
        Action("point_line(-1)", ("k", "up"), "", "Select the previous line", has_lines),
        Action("point_first", ("home",), "", "Select the first line", has_lines, handler="store:select_line(0)"),
        Action("point_last", ("end",), "", "Select the last line", has_lines),
        Action("sync", ("R",), "sync", "Sync: read the changes in the added folders", has_store, handler="ingest"),
        Action(
            "watch",
            ("F",),
            "follow",
            "Follow the added folders and sync as files change, or stop that",
            has_store,
            handler="ingest",
        ),
        panes=("ingest", "store"),
    ),
    *handled_by(
        "ingest",
        Action("open_skip", ("enter",), "open", "Show why the selected file was skipped, and open it", has_lines),
        Action("hold", ("H",), "pause", "Pause the ingest run, or resume it", can_hold),
        Action("repeat_run", ("f5",), "run again", "Run the last ingest again; a cancelled one resumes", can_repeat),
        panes=("ingest",),
    ),
    *handled_by(
        "store",
        Action("next_store_view", ("t",), "other view", "Show the next view: stats, checks, embedder, documents"),
        Action("turn_store(-1)", ("left",), "", "Show the previous view; among the documents, close the folder"),
        Action("turn_store(1)", ("right",), "", "Show the next view; among the documents, open the folder"),
        Action(
            "open_line",
            ("enter",),
            "run",
            "Run the fix of the selected check; re-embed with the selected embedder; "
            "filter by the folder, file or tag",
            can_run,
        ),
        Action("check", ("C",), "check", "Check the store", has_store),
        Action("reembed", (), "", "Choose an embedder to re-embed all chunks with", has_store),
        Action(
            "compact",
            (),
            "",
            "Compact the store: delete removed documents for good and free the disk space",
            has_store,
        ),
        Action("remove", ("delete",), "remove", "Remove documents from the store; their files stay", has_store),
        panes=("store",),
    ),
)
GROUPS: dict[str, tuple[Action, ...]] = {
    "Panes": PANES,
    "Query": QUERY,
    "Results": RESULTS,
    "Explain": EXPLAIN,
    "Weights": WEIGHTS,
    "Context": CONTEXT,
    "Judge": JUDGE,
    "Store": STORE,
    "Screen": SCREEN,
    "Help": HELP,
}
ACTIONS: tuple[Action, ...] = tuple(action for group in GROUPS.values() for action in group)


class Table(NamedTuple):
    """The actions by group, with the keys in force."""

    groups: Mapping[str, tuple[Action, ...]]

    @property
    def actions(self) -> tuple[Action, ...]:
        """All actions, in order."""
        return tuple(action for group in self.groups.values() for action in group)

    def find(self, action: str) -> Action:
        """Return the action with this id."""
        return next(each for each in self.actions if each.id == action)

    def spell(self, text: str) -> str:
        """Replace each `{action id}` in a text by the action's key, or by its help if it has no key."""
        if "{" not in text:
            return text
        by_id = {action.id: action for action in self.actions}

        for name in dict.fromkeys(_PLACE.findall(text)):
            if action := by_id.get(name):
                text = text.replace(f"{{{name}}}", key_name(action.keys[0]) if action.keys else f"“{action.help}”")
        return text


_PLACE = re.compile(r"\{([^{}]+)\}")
GESTURES: Mapping[str, str | Callable[..., Session]] = {
    "choose_row": select_row,
    "look_at_rows": "results",
    "show_view": "results",
    "choose_fix": "results",
    "list_paths": "results",
    "slide_weight": "weights",
    "choose_setting_at": "weights",
    "set_budget": set_budget,
    "choose_block": "results",
    "choose_query": "judge",
    "point_query": judging.step_line,
    "choose_line": "store",
    "search_as_typed": "query",
    "look_up": want_lookups,
    "restore_question": "query",
    "enter_line": "query",
    "stop_line": "query",
    "drag_border": "shell",
    "create_first_store": "ingest",
    "open_again": "ingest",
}
"""Gestures of panes and dialogs, with arguments: the handler's module, or a step of the session."""
TABLE = Table(GROUPS)
"""The table with the default keys, without a keymap.toml."""
WANTED: dict[Pane, tuple[str, ...]] = {
    "query": ("step_out", "run", "open_history", "clear_query", "new_tab", "edit_outside"),
    "results": ("why_this", "miss", "switch_grading", "pin_chunk", "open_file"),
    "explain": ("try_fix", "take_back", "why_this", "miss", "step_view(1)", "zoom", "compare", "open_file"),
    "weights": ("change_setting(-5)", "change_setting(5)", "undo_weights", "take_best", "save_weights"),
    "context": ("pin_chunk", "drop_chunk", "type_budget", "copy_context", "why_this"),
    "judge": ("switch_grading", "take_query", "next_measure", "import_judgements", "export_judgements"),
    "ingest": ("hold", "cancel", "open_skip", "sync", "add_folder", "watch"),
    "store": ("open_line", "check", "sync", "add_folder", "next_store_view", "remove"),
}
"""Actions that the footer names first in each pane, in order."""
CANCEL = ("cancel",)
"""Named before these while a long task runs."""
GRADES = tuple(f"grade({grade})" for grade in (3, 2, 1, 0))
"""Named before these while grading is on."""
NEXT = ("filter", "command_line", "command_palette")
"""Named after these in every pane."""
LAST = ("help", "leave")
"""Always named last."""


def table_of(app: object) -> Table:
    """Return the table of actions in force in an app."""
    table: Table = getattr(app, "table", TABLE)
    return table


class Offer(NamedTuple):
    """A key in the footer."""

    key: str
    label: str
    action: str
    """The id of its action."""


def by_key(key: str, session: Session, table: Table = TABLE) -> Action | None:
    """Return the action of a key in the active pane, or None."""
    return next((action for action in table.actions if key in action.keys and acts_in(action, session.pane)), None)


_PLACES = {
    pane: {action: place for place, action in enumerate(dict.fromkeys((*CANCEL, *GRADES, *wanted, *NEXT)))}
    for pane, wanted in WANTED.items()
}
"""Places of the actions that the footer of each pane names first."""


def wanted_at(action: str, pane: Pane) -> int:
    """Return the place of an action in the footer of a pane. Unlisted actions share a place before the last ones."""
    places = _PLACES[pane]
    return places.get(action, len(places) + (action in LAST))


def footer(session: Session, *, editing: bool, table: Table = TABLE) -> list[Offer]:
    """Return the keys that act now: those most used in the pane, those used everywhere, then the rest."""
    shown = []
    named = [action for action in table.actions if action.label and acts_in(action, session.pane)]
    for action in sorted(named, key=lambda action: wanted_at(action.id, session.pane)):
        keys = [key for key in action.keys if not (editing and is_printable(key))]
        if keys and action.when.holds(session):
            shown.append(Offer(key_name(keys[0]), action.label, action.id))
    return shown


def markdown() -> str:
    """Return the tables of docs/keys.md, one for each group."""
    lines: list[str] = []
    for group, actions in GROUPS.items():
        lines += [f"## {group}", "", "| keys | does |", "|---|---|"]
        for action in actions:
            keys = " ".join(f"`{key_name(key)}`" for key in action.keys) or "palette"
            where = f" ({', '.join(action.panes)})" if action.panes else ""
            lines.append(f"| {keys} | {action.help}{where} |")
        lines.append("")
    return "\n".join(lines)
