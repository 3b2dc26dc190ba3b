"""A row of the table of actions, the conditions of rows, and the names of keys."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from recall_tui.state import packing
from recall_tui.state import session as state
from recall_tui.state.commands import command
from recall_tui.state.explaining import chosen_remedy, chunk_of, fixes_in_force, other_hit
from recall_tui.state.judging import pointed_line
from recall_tui.state.packing import chosen_entry
from recall_tui.state.runs import may_hold
from recall_tui.state.session import Pane, Session, is_ingesting, is_lingering
from recall_tui.state.store_pane import chosen_check, chosen_embedder, chosen_line, rows_of
from recall_tui.state.tuning import curve_of
from recall_tui.state.weighing import is_hybrid

LISTING: tuple[Pane, ...] = ("results", "weights")
"""Panes where j and k move through the results. In other panes they move through the content of the pane."""


class Requirement(NamedTuple):
    """A condition that an action needs."""

    needs: str
    """Why the action is not possible if the condition is false."""
    holds: Callable[[Session], bool]


always = Requirement("", lambda _: True)


class Action(NamedTuple):
    """An action of the user. Printable keys act in the nav state only; in the edit state they are typed."""

    id: str
    """A name, with arguments in Python syntax if it takes any."""
    keys: tuple[str, ...]
    label: str
    """One or two words for the footer, or "" to leave it out."""
    help: str
    when: Requirement = always
    panes: tuple[Pane, ...] = ()
    """Panes in which its keys act; () for all. A key means one thing in each pane."""
    handler: str = ""
    """The module of recall_tui.handlers, such as `explain`.

    If the function or its arguments differ from the id, also the call, as in `explain:show_view('compare')`.
    """

    step: Callable[..., Session] | None = None
    """The change of the session, if that is all it does. It then needs no handler."""

    @property
    def call(self) -> tuple[str, str, *tuple[str | int, ...]]:
        """The call behind the action: the module, the function and its arguments."""
        module, _, function = self.handler.partition(":")
        name, _, arguments = (function or self.id).partition("(")
        return module, name, *(ast.literal_eval(f"({arguments.rstrip(')')},)") if arguments else ())


def handled_by(module: str, *actions: Action, panes: tuple[Pane, ...] = ()) -> tuple[Action, ...]:
    """Return the actions with this handler and these panes, unless they name their own."""
    return tuple(action._replace(handler=action.handler or module, panes=action.panes or panes) for action in actions)


def acts_in(action: Action, pane: Pane) -> bool:
    """Return True if the action's keys act in this pane."""
    return not action.panes or pane in action.panes


has_rows = Requirement("no results", lambda now: now.results.answer is not None and now.results.answer.total > 0)
has_context = Requirement(
    "the context is empty", lambda now: now.context.packed is not None and now.context.packed.text != ""
)
has_pool = Requirement(
    "no results with scores", lambda now: now.results.answer is not None and now.results.answer.pool is not None
)
has_signals = Requirement("the query has only one signal", lambda now: is_hybrid(now.results.answer))
has_command = Requirement("no command reproduces what is shown", lambda now: command(now, None) != "")
has_selected_chunk = Requirement("no result is selected", lambda now: bool(chunk_of(now)))
has_suspect = Requirement(
    "no result is selected", lambda now: bool(chunk_of(now)) or (now.pane == "context" and bool(_entry_chunks(now)))
)
can_compare = Requirement("there is no other result", lambda now: bool(chunk_of(now)) and other_hit(now) is not None)
has_question = Requirement("there is no answer", lambda now: now.results.answer is not None)
has_fix = Requirement("no fix is selected", lambda now: chosen_remedy(now) is not None)
has_tried = Requirement("no fix was applied", lambda now: bool(fixes_in_force(now)))
has_best = Requirement(
    "there are no grades yet, so no best weight",
    lambda now: is_hybrid(now.results.answer) and (curve := curve_of(now)) is not None and bool(curve.steps),
)
can_undo = Requirement("there is nothing to undo", lambda now: has_pool.holds(now) or bool(now.weights.undo))
can_redo = Requirement("there is nothing to redo", lambda now: has_pool.holds(now) or bool(now.weights.redo))
has_entries = Requirement("the context is empty", lambda now: chosen_entry(now) is not None)
has_chunk = Requirement("no chunk is selected", packing.has_chunk)
has_what_ifs = Requirement("nothing is pinned or excluded", packing.has_what_ifs)
has_tabs = Requirement("there is only one tab", state.has_tabs)
has_grades = Requirement("nothing was graded", lambda now: bool(now.judge.regrades))
may_grade = Requirement("grading is off; {switch_grading} turns it on", lambda now: now.judge.is_grading)
has_queries = Requirement("no judged queries", lambda now: pointed_line(now) is not None)
has_lines = Requirement("the list is empty", lambda now: rows_of(now) > 0)
can_cancel = Requirement(
    "nothing is running", lambda now: is_ingesting(now) or now.store.task_progress is not None or is_lingering(now)
)
can_hold = Requirement("no ingest run is under way", lambda now: may_hold(now.store.run))
has_store = Requirement("there is no store", lambda now: not now.store.is_storeless)
can_repeat = Requirement(
    "no ingest run has ended",
    lambda now: not now.store.is_storeless and now.store.run is not None and now.store.run.ended != "",
)
can_run = Requirement(
    "the selected line has no action", lambda now: not now.store.is_storeless and _offers_action(now)
)


def _entry_chunks(session: Session) -> tuple[str, ...]:
    """Return the chunks of the selected entry of the context."""
    entry = chosen_entry(session)
    return entry.chunk_ids if entry is not None else ()


def _offers_action(session: Session) -> bool:
    check = chosen_check(session)
    has_remedy = check is not None and bool(check.get("fix"))
    return has_remedy or chosen_embedder(session) is not None or chosen_line(session) is not None


_NAMES = {
    "escape": "Esc",
    "enter": "Enter",
    "tab": "Tab",
    "shift+tab": "Shift+Tab",
    "space": "Space",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "home": "Home",
    "end": "End",
    "delete": "Del",
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
_SPELT = {
    "slash": "solidus",
    "backslash": "reverse_solidus",
    "at": "commercial_at",
    "minus": "hyphen_minus",
    "plus": "plus_sign",
    "underscore": "low_line",
}
"""Characters whose keys have shorter names than in Unicode."""
_BY_NAME = {name.lower(): key for key, name in _NAMES.items() if len(name) > 1} | {"esc": "escape"}
NAMED = {
    *("escape", "tab", "enter", "space", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown"),
    *("up", "down", "left", "right"),
    *(f"f{number}" for number in range(1, 25)),
}
"""Keys that write no visible character."""
SWALLOWED = {
    "ctrl+h": "backspace",
    "ctrl+i": "tab",
    "ctrl+j": "enter",
    "ctrl+m": "enter",
    "ctrl+enter": "enter",
    "ctrl+left_square_bracket": "escape",
}
"""Keys that terminals send as other keys."""


def key_name(key: str) -> str:
    """Return a key as people write it: `ctrl+q` is `^q`, `question_mark` is `?`."""
    if key in _NAMES:
        return _NAMES[key]
    if key.startswith("ctrl+"):
        rest = key_name(key[5:])
        return f"^{rest}" if len(rest) == 1 else f"Ctrl+{rest}"
    if key.startswith(("shift+", "alt+")):
        before, _, rest = key.partition("+")
        return f"{before.title()}+{key_name(rest)}"
    if key in NAMED:
        return key.upper() if key[0] == "f" and key[1:].isdigit() else key.title()
    return _character(key) or key


def key_of(written: str) -> str | None:
    """Return the key with this written or internal name, or None."""
    if written.startswith("^") and len(written) == 2:
        written = f"ctrl+{written[1:].lower()}"
    if len(written) == 1:
        return _key(written)
    *modifiers, last = written.split("+") if not written.endswith("+") else [*written[:-2].split("+"), "+"]
    modifiers = [modifier.lower() for modifier in modifiers]
    if not set(modifiers) <= {"ctrl", "shift", "alt"} or len(set(modifiers)) < len(modifiers):
        return None
    base: str | None = _BY_NAME.get(last.lower(), last.lower())
    if base not in NAMED and len(last) == 1:
        base = _key(last.lower() if modifiers else last)
    elif base not in NAMED and not _character(base or ""):
        return None
    if base is None or (modifiers == ["shift"] and base not in NAMED):
        return None
    return "+".join([*sorted(modifiers), base])


def is_printable(key: str) -> bool:
    """Return True if the key writes a character, so that it belongs to a field being edited."""
    return len(key_name(key)) == 1 or key == "space"


def _key(character: str) -> str | None:
    """Return the name of a character's key, or None if no key writes it."""
    if character == " ":
        return "space"
    if character.isalnum():
        return character
    if not character.isprintable():
        return None
    name = unicodedata.name(character, "").lower().replace("-", "_").replace(" ", "_")
    return next((short for short, long in _SPELT.items() if long == name), name) or None


def _character(key: str) -> str:
    """Return the ASCII character that the key writes, or ""."""
    return key if len(key) == 1 else _by_spelling().get(key, "")


@cache
def _by_spelling() -> dict[str, str]:
    characters = map(chr, range(ord("!"), ord("~") + 1))
    return {key: character for character in characters if (key := _key(character)) and len(key) > 1}
