"""The table of named actions: the bindings, the footer, the help screen, the palette and docs/keys.md all read it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from recall_tui.session import Session, is_ingesting
from recall_tui.weighing import is_hybrid

When = Literal["always", "rows", "context", "ingesting", "weights", "signals"]


class Action(NamedTuple):
    """One thing a person can do. Printable keys act in the nav state only; in the edit state they are typed."""

    id: str
    keys: tuple[str, ...]
    label: str
    """One or two words for the footer; "" keeps it out of there."""
    help: str
    when: When = "always"
    group: str = "View"


ACTIONS: tuple[Action, ...] = (
    Action("focus_pane('query')", ("1", "i"), "query", "Edit the query", group="Panes"),
    Action("focus_pane('results')", ("2",), "", "Go to the results", group="Panes"),
    Action("focus_pane('explain')", ("3",), "", "Go to the score ledger and the passage", group="Panes"),
    Action("focus_pane('weights')", ("4",), "", "Go to the weights of the signals", group="Panes"),
    Action("focus_pane('context')", ("5",), "", "Go to the packed context", group="Panes"),
    Action("focus_pane('ingest')", ("7",), "", "Go to the ingest report and its skipped files", group="Panes"),
    Action("next_pane", ("tab",), "next", "Go to the next pane", group="Panes"),
    Action("previous_pane", ("shift+tab",), "", "Go to the previous pane", group="Panes"),
    Action("zoom", ("z",), "zoom", "Give the pane the whole screen, and back", group="Panes"),
    Action("step_out", ("escape",), "out", "One step out: leave the field, the zoom, the dialog", group="Panes"),
    Action("run", ("f5",), "", "Run the query again", group="Query"),
    Action("open_history", ("ctrl+r", "h"), "", "Find an earlier query and take it up again", group="Query"),
    Action("save_query", ("f2",), "", "Save the query to an .rql file", group="Query"),
    Action("load_query", ("f3",), "", "Load a query from an .rql file", group="Query"),
    Action("edit_outside", ("f4",), "", "Edit the query in $VISUAL or $EDITOR", group="Query"),
    Action("select(1)", ("j", "down"), "", "Select the next result", "rows", "Results"),
    Action("select(-1)", ("k", "up"), "", "Select the previous result", "rows", "Results"),
    Action("page(1)", ("pagedown", "space"), "", "Select one page further", "rows", "Results"),
    Action("page(-1)", ("pageup",), "", "Select one page back", "rows", "Results"),
    Action("select_first", ("g", "home"), "", "Select the first result", "rows", "Results"),
    Action("select_last", ("G", "end"), "", "Select the last result", "rows", "Results"),
    Action("nudge(-5)", ("left",), "words", "Move the weight .05 towards the words", "signals", "Weights"),
    Action("nudge(5)", ("right",), "meaning", "Move the weight .05 towards the meaning", "signals", "Weights"),
    Action("nudge(-1)", ("shift+left",), "", "Move the weight .01 towards the words", "signals", "Weights"),
    Action("nudge(1)", ("shift+right",), "", "Move the weight .01 towards the meaning", "signals", "Weights"),
    Action("turn('fusion')", ("f",), "fusion", "Take the other fusion of the signals", "signals", "Weights"),
    Action("turn('normalize')", ("n",), "scale", "Take the next normalisation", "weights", "Weights"),
    Action("turn('sparse_recall')", ("s",), "", "Turn sparse-document recall on or off", "weights", "Weights"),
    Action("least(-5)", ("less_than_sign",), "", "Lower the least score of a result by .05", "weights", "Weights"),
    Action("least(5)", ("greater_than_sign",), "", "Raise the least score of a result by .05", "weights", "Weights"),
    Action("undo_weights", ("u",), "undo", "Take the last change of the weights back", "weights", "Weights"),
    Action("reset_weights", ("r",), "reset", "Go back to the saved weights", "weights", "Weights"),
    Action(
        "save_weights", ("S",), "save", "Write the weights into recall.toml, after a question", "weights", "Weights"
    ),
    Action("budget(-100)", ("left_square_bracket", "minus"), "less", "Budget 100 tokens down", "always", "Context"),
    Action("budget(100)", ("right_square_bracket", "plus"), "more", "Budget 100 tokens up", "always", "Context"),
    Action("budget_half", ("left_curly_bracket",), "", "Halve the budget", "always", "Context"),
    Action("budget_double", ("right_curly_bracket",), "", "Double the budget", "always", "Context"),
    Action("type_budget", ("b",), "budget", "Type a budget", "always", "Context"),
    Action("copy_context", ("y",), "copy", "Copy the packed context, byte for byte", "context", "Context"),
    Action("copy_command", ("Y",), "command", "Copy the shell command that reproduces the pane", "rows", "Query"),
    Action("add_folder", ("a",), "add", "Add a folder or a file to the store", group="Store"),
    Action("cancel", ("ctrl+g",), "cancel", "Cancel the ingest run", "ingesting", "Store"),
    Action("command_palette", ("ctrl+p",), "palette", "Find an action by its name", group="Help"),
    Action("help", ("f1", "question_mark"), "help", "Show the keys", group="Help"),
    Action("leave", ("ctrl+q", "q"), "quit", "Quit", group="Help"),
)

_NAMES = {
    "escape": "Esc",
    "tab": "Tab",
    "shift+tab": "Shift+Tab",
    "space": "Space",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "home": "Home",
    "end": "End",
    "left": "Left",
    "right": "Right",
    "shift+left": "Shift+Left",
    "shift+right": "Shift+Right",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "up": "Up",
    "down": "Down",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "minus": "-",
    "plus": "+",
    "question_mark": "?",
}


def key_name(key: str) -> str:
    """A key as people write it: `ctrl+q` is `^q`, `question_mark` is `?`."""
    if key in _NAMES:
        return _NAMES[key]
    if key.startswith("ctrl+"):
        return f"^{key[5:]}"
    return key.upper() if key[0] == "f" and key[1:].isdigit() else key


def is_printable(key: str) -> bool:
    """True when the key writes a character, and so belongs to a field while one is edited."""
    return len(_NAMES.get(key, key)) == 1 or key == "space"


def by_key(key: str) -> Action:
    """The action of a key."""
    return next(action for action in ACTIONS if key in action.keys)


def is_valid(action: Action, session: Session) -> bool:
    """True when the action can do something in this session."""
    match action.when:
        case "rows":
            return session.answer is not None and session.answer.total > 0
        case "context":
            return session.packed is not None and session.packed.text != ""
        case "ingesting":
            return is_ingesting(session)
        case "weights":
            return session.pane == "weights" and session.answer is not None and session.answer.pool is not None
        case "signals":
            return session.pane == "weights" and is_hybrid(session.answer)
        case "always":
            return True


def footer(session: Session, *, editing: bool) -> list[tuple[str, str]]:
    """(key, label) of what can be pressed now, in table order."""
    shown = []
    for action in ACTIONS:
        keys = [key for key in action.keys if not (editing and is_printable(key))]
        if action.label and keys and is_valid(action, session):
            shown.append((key_name(keys[0]), action.label))
    return shown


def groups() -> dict[str, list[Action]]:
    """The actions by group, both in table order."""
    by_group: dict[str, list[Action]] = {}
    for action in ACTIONS:
        by_group.setdefault(action.group, []).append(action)
    return by_group


def markdown() -> str:
    """The text of docs/keys.md."""
    lines = [
        "# Keys of the workbench",
        "",
        "Two states: **edit** (a field has the focus and letters are typed) and **nav** (letters are commands).",
        "The footer shows which one holds. Keys that print a character act in nav only. Esc is one step out.",
        "The keys of Weights act while that pane is in front.",
        "While the query offers words, Up and Down choose one, Tab or Enter takes it and Esc closes the list.",
    ]
    for group, actions in groups().items():
        lines += ["", f"## {group}", "", "| keys | does |", "|---|---|"]
        for action in actions:
            keys = " ".join(f"`{key_name(key)}`" for key in action.keys)
            lines.append(f"| {keys} | {action.help} |")
    return "\n".join(lines) + "\n"
