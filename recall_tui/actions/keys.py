"""Keys, as people write them."""

from __future__ import annotations

import unicodedata
from functools import cache

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
"""Characters whose keys have shorter names than Unicode gives them."""
_BY_NAME = {name.lower(): key for key, name in _NAMES.items() if len(name) > 1} | {"esc": "escape"}
NAMED = {
    *("escape", "tab", "enter", "space", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown"),
    *("up", "down", "left", "right"),
    *(f"f{number}" for number in range(1, 25)),
}
"""Keys that write no character of their own, or none to be seen."""
SWALLOWED = {
    "ctrl+h": "backspace",
    "ctrl+i": "tab",
    "ctrl+j": "enter",
    "ctrl+m": "enter",
    "ctrl+enter": "enter",
    "ctrl+left_square_bracket": "escape",
}
"""Keys that terminals send as others."""


def key_name(key: str) -> str:
    """A key as people write it: `ctrl+q` is `^q`, `question_mark` is `?`."""
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
    """The key that people write so, or that the table calls so; None where there is no such key."""
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
    """True when the key writes a character, and so belongs to a field while one is edited."""
    return len(key_name(key)) == 1 or key == "space"


def _key(character: str) -> str | None:
    """How a character's key is called; None for one that no key writes."""
    if character == " ":
        return "space"
    if character.isalnum():
        return character
    if not character.isprintable():
        return None
    name = unicodedata.name(character, "").lower().replace("-", "_").replace(" ", "_")
    return next((short for short, long in _SPELT.items() if long == name), name) or None


def _character(key: str) -> str:
    """The character that the key called so writes; "" where it writes none, or none of ASCII."""
    return key if len(key) == 1 else _by_spelling().get(key, "")


@cache
def _by_spelling() -> dict[str, str]:
    characters = map(chr, range(ord("!"), ord("~") + 1))
    return {key: character for character in characters if (key := _key(character)) and len(key) > 1}
