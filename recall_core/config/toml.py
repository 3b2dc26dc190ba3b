"""The file recall.toml: the keys and values that it says, and how a value is written."""

import re
from pathlib import Path
from typing import Any

from recall_core._lazy import tomllib
from recall_core.errors import ConfigError, why_unread

_ESCAPED = {"n": "\n", "t": "\t"}
_PLAIN_LINES, _DIGITS = 1_000, 300  # beyond, tomllib has to say what a file means


def written(path: Path) -> dict[str, Any]:
    """What a recall.toml says, unchecked; a missing file says nothing. Raises ConfigError `config_invalid`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("config_invalid", f"{path} cannot be read: {why_unread(error)}.") from error
    said = plain(text)
    if said is not None:
        return said

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("config_invalid", f"{path}: {error}", hint=f"edit {path}") from error


def plain(text: str) -> dict[str, Any] | None:
    """What a file says that has a key with one simple value a line, as `render` writes it; None of any other."""
    said: dict[str, Any] = {}
    for number, line in enumerate(text.split("\n")):
        line = line.strip(" \t")  # noqa: PLW2901 - what stands around it says nothing
        if not line.isprintable() or number > _PLAIN_LINES:
            return None
        if line and not line.startswith("#"):
            key, _, value = (part.strip(" ") for part in line.partition("="))
            is_name = key.isascii() and key.replace("_", "a").isalnum()
            simple = _simple(value)
            if not is_name or simple is None or key in said:
                return None
            said[key] = simple
    return said


def _simple(value: str) -> bool | int | float | str | None:
    """A whole number, a decimal, a truth value or a text that escapes nothing but ends of line and tabs, or None."""
    if value in ("true", "false"):
        return value == "true"
    if len(value) > 1 and value[0] == value[-1] == '"':
        first, *others = value[1:-1].split("\\")
        is_plain = '"' not in value[1:-1] and all(each[:1] in ("n", "t") for each in others)
        return first + "".join(_ESCAPED[each[0]] + each[1:] for each in others) if is_plain else None
    whole, point, part = value.removeprefix("-").partition(".")
    is_number = value.isascii() and whole.isdigit() and (whole[0] != "0" or whole == "0") and len(value) < _DIGITS
    if not is_number or (point and not part.isdigit()):
        return None
    return float(value) if point else int(value)


def spelled(value: object) -> str:
    """A value as the file has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        return '"' + re.sub(r"[\0-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'
    return repr(value)
