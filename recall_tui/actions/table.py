"""The table of actions: bindings, footer, help, palette and docs/keys.md all read it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from recall_tui.actions import groups
from recall_tui.actions.action import Action, acts_in
from recall_tui.actions.keys import is_printable, key_name
from recall_tui.state.session import Pane, Session

GROUPS: dict[str, tuple[Action, ...]] = {
    "Panes": groups.PANES,
    "Query": groups.QUERY,
    "Results": groups.RESULTS,
    "Explain": groups.EXPLAIN,
    "Weights": groups.WEIGHTS,
    "Context": groups.CONTEXT,
    "Judge": groups.JUDGE,
    "Store": groups.STORE,
    "Screen": groups.SCREEN,
    "Help": groups.HELP,
}
ACTIONS: tuple[Action, ...] = tuple(action for group in GROUPS.values() for action in group)


class Table(NamedTuple):
    """The actions by group, each with the keys that are in force."""

    groups: Mapping[str, tuple[Action, ...]]

    @property
    def actions(self) -> tuple[Action, ...]:
        """All of them, in order."""
        return tuple(action for group in self.groups.values() for action in group)

    def named(self, action: str) -> Action:
        """The action with this id."""
        return next(each for each in self.actions if each.id == action)

    def spelled(self, text: str) -> str:
        """A text with the key of an action in place of `{its id}`; with its name where it has no key."""
        if "{" not in text:
            return text
        by_id = {action.id: action for action in self.actions}

        for name in dict.fromkeys(_PLACE.findall(text)):
            if action := by_id.get(name):
                text = text.replace(f"{{{name}}}", key_name(action.keys[0]) if action.keys else f"“{action.help}”")
        return text


_PLACE = re.compile(r"\{([^{}]+)\}")

TABLE = Table(GROUPS)
"""With the keys that hold where no keymap.toml says otherwise."""


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
"""What is most wanted in front of each pane, in the order in which the footer names it."""
CANCEL = ("cancel",)
"""What is wanted first of all while something takes long."""
GRADES = tuple(f"grade({grade})" for grade in (3, 2, 1, 0))
"""What is wanted before that while grading is on."""
NEXT = ("filter", "command_line", "command_palette")
"""What the footer goes on with everywhere."""
LAST = ("help", "leave")
"""What stands at its end, whatever else there is room for."""


def table_of(app: object) -> Table:
    """The table of actions that is in force in an app."""
    table: Table = getattr(app, "table", TABLE)
    return table


class Offer(NamedTuple):
    """A key that can be pressed, as the footer names it."""

    key: str
    label: str
    action: str
    """The id of its action."""


def by_key(key: str, session: Session, table: Table = TABLE) -> Action | None:
    """The action of a key in the pane in front; None where it has none."""
    return next((action for action in table.actions if key in action.keys and acts_in(action, session.pane)), None)


def is_valid(action: Action, session: Session) -> bool:
    """True when the action can do something in this session."""
    return action.when(session)


_PLACES = {
    pane: {action: place for place, action in enumerate(dict.fromkeys((*CANCEL, *GRADES, *wanted, *NEXT)))}
    for pane, wanted in WANTED.items()
}
"""The place of each action that the footer of a pane names first."""


def wanted_at(action: str, pane: Pane) -> int:
    """The place of an action in the footer of a pane: those that are not named there share one, before the last."""
    places = _PLACES[pane]
    return places.get(action, len(places) + (action in LAST))


def footer(session: Session, *, editing: bool, table: Table = TABLE) -> list[Offer]:
    """What can be pressed now: what is most wanted in front of the pane, what is wanted everywhere, then the rest."""
    shown = []
    named = [action for action in table.actions if action.label and acts_in(action, session.pane)]
    for action in sorted(named, key=lambda action: wanted_at(action.id, session.pane)):
        keys = [key for key in action.keys if not (editing and is_printable(key))]
        if keys and is_valid(action, session):
            shown.append(Offer(key_name(keys[0]), action.label, action.id))
    return shown


def markdown() -> str:
    """The text of docs/keys.md."""
    lines = [
        "# Keys of the workbench",
        "",
        "Two states: **edit** (a field has the focus and letters are typed) and **nav** (letters are commands).",
        "The footer shows which state it is. Keys that print a character act in nav only. Esc is one step out.",
        "Where panes stand in brackets, the key acts only while one of them is in front.",
        "In the query `^z` undoes typing and `^y` redoes it.",
        "While the query lists completions, Up and Down select one, Tab or Enter inserts it and Esc closes the list.",
    ]
    for group, actions in GROUPS.items():
        lines += ["", f"## {group}", "", "| keys | does |", "|---|---|"]
        for action in actions:
            keys = " ".join(f"`{key_name(key)}`" for key in action.keys) or "palette"
            where = f" ({', '.join(action.panes)})" if action.panes else ""
            lines.append(f"| {keys} | {action.help}{where} |")
    return "\n".join(lines) + "\n"
