"""Escapes of roff that make characters, and the words of a control line."""

from __future__ import annotations

import re
from functools import lru_cache

from recall_core.ingest.parse.man.glyphs import code_point, glyph

NAME = r"(?:\[[^\]]{0,200}\]?|\((?:..?)?|.|$)"
"""The name of a string, a register, a font or a glyph behind its letter: x, (xx or [name]."""

_QUOTED = r"(?:'(?:[^'\\]|\\.){0,400}+'|\"(?:[^\"\\]|\\.){0,400}+\"|\||.)?"
_ESCAPE = re.compile(
    r"\\(?:f" + NAME + r"|\(..?|\[[^\]]{0,200}\]|s(?:[-+]?(?:\[[^\]]{0,20}\]|\(..|'[^']{0,20}')|[-+]\d?|[1-3]\d|\d|)"
    r"|[CNhvlLDobxXZABHSRw]" + _QUOTED + r"|[mMFkgVYO]" + NAME + r"|z|[\s\S]|$)"
)
_TOKEN = re.compile(r"\\(?:\(..?|\[[^\]]{0,200}\]|[CN]'[^']{0,100}'|.)|.")

_PLAIN = {
    "\\-": "-", "\\ ": " ", "\\~": " ", "\\0": " ", "\\e": "\\", "\\\\": "\\", "\\.": ".", "\\'": "´", "\\`": "`",
    "\\_": "_", "\\t": "\t", '\\"': "", "\\E": "\\", "\\@": "@", "\\#": "", "\\=": "=", "\\+": "+", "\\;": ";",
    "\\<": "<", "\\>": ">", "\\*": "*", "\\/": "", "\\]": "]", "\\q": "q", "\\?": "?", "\\j": "j", "\\i": "i",
}  # fmt: skip
_FREQUENT = (("\\-", "-"), ("\\fB", ""), ("\\fR", ""), ("\\fI", ""), ("\\fP", ""), ("\\&", ""))
_MOVED = re.compile(r"\+?0*(\d*\.?\d*)")


def plain(text: str) -> str:
    """A line as a reader sees it: fonts, sizes and movements left out, glyphs as characters."""
    if "\\" not in text:
        return text
    if "\\\\" not in text:
        for escape, shown in _FREQUENT:
            text = text.replace(escape, shown)
        if "\\" not in text:
            return text
    return _ESCAPE.sub(_meaning_of, text)


def tokens(text: str) -> list[str]:
    """The characters and named glyphs of a line, one each."""
    return _TOKEN.findall(text)


def _meaning_of(found: re.Match[str]) -> str:
    return _meaning(found[0])


@lru_cache(maxsize=4096)
def _meaning(escape: str) -> str:
    if escape in _PLAIN:
        return _PLAIN[escape]
    kind, argument = escape[1:2], escape[3:-1]
    match kind:
        case "(" | "[":
            shown = glyph(escape[2:].removesuffix("]"))
        case "C":
            shown = glyph(argument)
        case "N":
            shown = code_point(int(argument)) if argument.isdecimal() and len(argument) < 8 else ""
        case "h":
            shown = " " if _moves_right(escape[2:].strip("'\"")) else ""
        case "o" | "b" | "Z":
            shown = _simple(argument)
        case "l":
            shown = "_" if "'" in escape else ""
        case "w":
            shown = "24"
        case _:
            shown = kind if kind.isalnum() and kind not in _SILENT else ""
    return shown


_SILENT = "AHSRDLxvBXacdprufsmMFkgVYOz"


def _simple(text: str) -> str:
    """An escape's argument without its own escapes, but for the simple ones."""
    return "".join(_PLAIN.get(each, "") if each.startswith("\\") else each for each in tokens(text))


def _moves_right(distance: str) -> bool:
    if distance.startswith("|"):
        return True
    amount = _MOVED.match(distance)
    return bool(amount and amount[1].strip(".") and float(amount[1]) >= (10 if distance.endswith("u") else 0.5))


_WORD = re.compile(r' *(?:"((?:[^"]|"")*+)"?|((?:[^ \\]|\\[\s\S]?)++))')


def words(text: str) -> list[str]:
    """The arguments of a macro: between spaces, or in double quotes."""
    if '"' not in text and "\\ " not in text:
        return [word for word in text.split(" ") if word] if "\t" in text else text.split()
    return [
        bare or quoted.replace('""', '"')
        for quoted, bare in _WORD.findall(text.rstrip(" ") if text[-2:] != "\\ " else text)
    ]
