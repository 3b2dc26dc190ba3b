"""What the names of roff stand for: strings and registers that are there from the start, arguments, braces."""

from __future__ import annotations

import re

_BRACES = re.compile(r"\\[\\{}]")

STRINGS = {
    "R": "®", "S": "", "Tm": "™", "lq": "“", "rq": "”", "HF": "", ".T": "utf8", "Lq": "“", "Rq": "”", "q": "\\(dq",
    "<=": "≤", ">=": "≥", "Le": "≤", "Ge": "≥", "Lt": "<", "Gt": ">", "Ne": "≠", "Pm": "±", "If": "∞", "Pi": "π",
    "Am": "&", "Ba": "|", "Na": "NaN", "lp": "(", "rp": ")", "lb": "{", "rb": "}", "ua": "↑",
    "aa": "´", "ga": "`", "Aq": "'",
}  # fmt: skip
NUMBERS = {".g": 1, ".x": 1, ".y": 22, ".V": 40, ".H": 24, ".l": 1872, ".u": 1, ".j": 1, ".s": 10, ".v": 40}


def name_of(text: str) -> str:
    """The name within x, (xx or [name]."""
    if text[:1] == "[":
        return text[1:].removesuffix("]")
    return text[1:] if text[:1] == "(" else text


def argument_of(name: str, arguments: list[str]) -> str:
    """The argument of that number, or all of them for `*` and, in quotes, for `@`."""
    if name == "*":
        return unquoted(" ".join(arguments))
    if name == "@":
        return " ".join(f'"{unquoted(each)}"' for each in arguments)
    i = int(name) if name.isdecimal() and len(name) < 4 else 0
    return unquoted(arguments[i - 1]) if 0 < i <= len(arguments) else ""


def unquoted(value: str) -> str:
    """A value whose quotes delimit no arguments."""
    return value.replace('"', "\\(dq") if '"' in value else value


def is_call_of(name: str, line: str) -> bool:
    """Whether a line calls the macro of that name; the one named `.` is what ends a definition."""
    if not line.startswith((".", "'", "\\.")):
        return False
    called = line[1 + line.startswith("\\") :].lstrip(" \t")
    return called.startswith(name) and called[len(name) : len(name) + 1] in ("", " ", "\t", "\\")


def depth_of(line: str) -> int:
    """How many braces of conditionals a line leaves open."""
    if "\\{" not in line and "\\}" not in line:
        return 0
    found = _BRACES.findall(line)
    return found.count("\\{") - found.count("\\}")
