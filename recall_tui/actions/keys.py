"""Keys, as people write them."""

from __future__ import annotations

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
