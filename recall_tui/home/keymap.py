"""The user's keymap.toml, which gives actions other keys. Its faults are reported and change nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from recall_core._lazy import difflib, tomllib
from recall_core.errors import why_unread
from recall_core.paths import config_folder
from recall_tui.actions.action import SWALLOWED, Action, acts_in, is_printable, key_name, key_of
from recall_tui.actions.table import TABLE, Table
from recall_tui.state.session import PANES, Pane

FILE = "keymap.toml"
MOST_BYTES = 100_000  # a larger file is not a keymap
MOST_FAULTS = 6  # reported at once
KEPT = {"leave": "ctrl+q", "command_palette": "ctrl+p", "step_out": "escape"}
"""Keys that always stay with these actions, so that every other action can be reached."""


class Keymap(NamedTuple):
    """The keys in force. faults: ignored lines of the file with their numbers and reasons."""

    table: Table
    faults: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    """Letters of the file that mean another action in other panes, with their line numbers."""


class KeymapLine(NamedTuple):
    """The keys of one action in the file. number: its line, from 1."""

    number: int
    keys: tuple[str, ...]


def read(environ: Mapping[str, str]) -> Keymap:
    """Return the user's keymap, or the default keys if there is no file."""
    folder = config_folder(environ)
    path = folder / FILE if folder is not None else None
    try:
        if path is None or not path.is_file():
            return Keymap(TABLE)
        if path.stat().st_size > MOST_BYTES:
            return Keymap(TABLE, (f"{path}: larger than {MOST_BYTES:,} bytes, so it is not read",))
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return Keymap(TABLE, (f"{path}: cannot be read: {why_unread(error)}",))
    return apply(text, str(path))


def apply(text: str, name: str = FILE) -> Keymap:
    """Return the table with the keys of a keymap's text. name: the file's name in faults."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        return Keymap(TABLE, (f"{name}:{at[1] if at else 1}: not TOML: {error}",))
    faults = [f"{name}:{_line_of(text, key)}: only [keys] is known" for key in document if key != "keys"]
    keys = document.get("keys", {})
    if not isinstance(keys, dict):
        return Keymap(TABLE, (*faults, f"{name}:{_line_of(text, 'keys')}: [keys] must be a table"))
    lines: dict[str, KeymapLine] = {}
    for action, written in keys.items():
        number = _line_of(text, action)
        keys_found, wrong = _read_line(action, written)
        faults += [f"{name}:{number}: {fault}" for fault in wrong]
        if not wrong:
            lines[action] = KeymapLine(number, keys_found)
    faults += _settle(lines, name)
    return Keymap(_table(lines), tuple(faults), tuple(_find_shared(lines, name)))


def to_toml(table: Table) -> str:
    """Return the table in force as a keymap.toml to start from."""
    lines = ["# Keys of recall-tui. Actions that are not listed keep their keys; [] removes all keys.", "[keys]"]
    for group, actions in table.groups.items():
        lines += ["", f"# {group}"]
        for action in actions:
            keys = ", ".join(_quote(key_name(key)) for key in action.keys)
            where = f" ({', '.join(action.panes)})" if action.panes else ""
            lines.append(f'"{action.id}" = [{keys}]  # {action.help}{where}')
    return "\n".join(lines) + "\n"


def summarize_faults(faults: Sequence[str]) -> str:
    """Return the first faults of a keymap.toml, after their folder, and the number of others."""
    folder = faults[0].partition(FILE)[0]
    shown = [fault.removeprefix(folder) for fault in faults[:MOST_FAULTS]]
    more = len(faults) - len(shown)
    return "\n".join([f"In {folder}", *shown, *([f"{more} more, all of them: recall-tui --keys"] if more else [])])


def _quote(key: str) -> str:
    return '"\\\\"' if key == "\\" else "'\"'" if key == '"' else f'"{key}"'


def _read_line(action: str, written: object) -> tuple[tuple[str, ...], list[str]]:
    """Return the keys of a line, and its faults."""
    known = [each.id for each in TABLE.actions]
    if action not in known:
        near = difflib.get_close_matches(action, known, n=1)
        return (), [f"unknown action {action!r}" + (f"; did you mean {near[0]!r}?" if near else "")]
    if not isinstance(written, list) or not all(isinstance(each, str) for each in written):
        return (), [f'{action} needs a list of keys, such as ["f6", "x"]']
    wrong = []
    keepers = {key: action for action, key in KEPT.items()}
    keys = dict.fromkeys([KEPT[action]] if action in KEPT else [])
    for each in written:
        key = key_of(each)
        if key is None:
            wrong.append(f"{action}: unknown key {each!r}")
        elif key in SWALLOWED:
            wrong.append(f"{action}: terminals send {each} as {key_name(SWALLOWED[key])}")
        elif (keeper := keepers.get(key, action)) != action:
            wrong.append(f"{action}: {key_name(key)} always stays with {keeper}")
        else:
            keys[key] = None
    return tuple(keys), wrong


def _find_shared(lines: Mapping[str, KeymapLine], name: str) -> Iterator[str]:
    """Yield each letter of the file that means another action in other panes, with both labels."""
    table = _table(lines)
    for action, (number, keys) in lines.items():
        own = table.find(action)
        for key in filter(is_printable, keys):
            others = {
                each.label: each.panes for each in table.actions if key in each.keys and each.label != own.label
            }
            for label, panes in others.items():
                where = f" in {', '.join(panes)}" if panes else ""
                verbs = f"{own.label or own.id} there, and {label or 'a move'}{where}"
                yield f"{name}:{number}: {key_name(key)} is {verbs}"


def _settle(lines: dict[str, KeymapLine], name: str) -> list[str]:
    """Remove lines, lowest first, until no key means two actions in a pane. Return a fault for each."""
    faults = []
    while (clash := _clash(_table(lines), lines)) is not None:
        action, other, pane, key = clash
        keys = " ".join(map(key_name, next(each.keys for each in TABLE.actions if each.id == action)))
        wrong = f"{key_name(key)} is the key of {other} in the {pane} pane, so {action} keeps {keys}"
        faults.append(f"{name}:{lines.pop(action).number}: {wrong}")
    return faults


def _clash(table: Table, lines: Mapping[str, KeymapLine]) -> tuple[str, str, Pane, str] | None:
    """Return a key with two actions: the action on the lowest line, the other action, the pane and the key."""
    worst: tuple[int, str, str, Pane, str] | None = None
    for pane in PANES:
        holders: dict[str, Action] = {}
        for action in table.actions:
            if not acts_in(action, pane):
                continue
            for key in action.keys:
                other = holders.setdefault(key, action)
                if other is action:
                    continue
                for one, two in ((action, other), (other, action)):
                    if one.id in lines and (worst is None or lines[one.id].number > worst[0]):
                        worst = lines[one.id].number, one.id, two.id, pane, key
    return worst[1:] if worst is not None else None


def _table(lines: Mapping[str, KeymapLine]) -> Table:
    return Table(
        {
            group: tuple(
                action._replace(keys=lines[action.id].keys) if action.id in lines else action for action in actions
            )
            for group, actions in TABLE.groups.items()
        }
    )


def _line_of(text: str, key: str) -> int:
    """Return the line, from 1, of a key in the file."""
    spelt = re.compile(rf"""\s*\[*\s*(?:keys\s*\.\s*)?["']?{re.escape(key)}["']?\s*[\]=.]""")
    return next((number for number, line in enumerate(text.splitlines(), start=1) if spelt.match(line)), 1)
