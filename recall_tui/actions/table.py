"""The table of actions: bindings, footer, help, palette and docs/keys.md all read it."""

from __future__ import annotations

from recall_tui.actions import context, panes, query, results, store, support, weights
from recall_tui.actions.action import LISTING, Action, acts_in
from recall_tui.actions.keys import is_printable, key_name
from recall_tui.session import Session

GROUPS: dict[str, tuple[Action, ...]] = {
    "Panes": panes.ACTIONS,
    "Query": query.ACTIONS,
    "Results": results.ACTIONS,
    "Weights": weights.ACTIONS,
    "Context": context.ACTIONS,
    "Store": store.ACTIONS,
    "Help": support.ACTIONS,
}
ACTIONS: tuple[Action, ...] = tuple(action for group in GROUPS.values() for action in group)


def by_key(key: str, session: Session) -> Action | None:
    """The action of a key in the pane in front; None where it has none."""
    return next((action for action in ACTIONS if key in action.keys and acts_in(action, session.pane)), None)


def is_valid(action: Action, session: Session) -> bool:
    """True when the action can do something in this session."""
    return action.when(session)


def footer(session: Session, *, editing: bool) -> list[tuple[str, str]]:
    """(key, label) of what can be pressed now, in table order."""
    shown = []
    for action in ACTIONS:
        keys = [key for key in action.keys if not (editing and is_printable(key))]
        if action.label and keys and acts_in(action, session.pane) and is_valid(action, session):
            shown.append((key_name(keys[0]), action.label))
    return shown


def markdown() -> str:
    """The text of docs/keys.md."""
    lines = [
        "# Keys of the workbench",
        "",
        "Two states: **edit** (a field has the focus and letters are typed) and **nav** (letters are commands).",
        "The footer shows which one holds. Keys that print a character act in nav only. Esc is one step out.",
        "Where a key is said to act in some panes only, one of those has to be in front.",
        "While the query offers words, Up and Down choose one, Tab or Enter takes it and Esc closes the list.",
    ]
    for group, actions in GROUPS.items():
        lines += ["", f"## {group}", "", "| keys | does |", "|---|---|"]
        for action in actions:
            keys = " ".join(f"`{key_name(key)}`" for key in action.keys)
            where = f" ({', '.join(action.panes)})" if action.panes and action.panes != LISTING else ""
            lines.append(f"| {keys} | {action.help}{where} |")
    return "\n".join(lines) + "\n"
