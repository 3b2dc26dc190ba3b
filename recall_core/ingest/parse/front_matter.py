"""Front matter: what a Markdown file says of itself above its text, between lines of `---` (YAML) or `+++` (TOML).

Of YAML a small part is read: `key: scalar`, quoted strings, lists of scalars. No anchor, alias or tag is followed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

from recall_core._lazy import tomllib

Scalar: TypeAlias = str | int | float | bool
Value: TypeAlias = Scalar | list[Scalar] | None

_MOST = 256 * 1024
"""Code points; whatever is longer is no front matter."""
_MOST_OF_TITLE = 500
_MOST_NOTES = 8
_FIRST = re.compile(r"(---|\+\+\+)[ \t]*+\r?\n")
_LAST = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*+\r?(?:\n|\Z)", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*+\r?(?:\n|\Z)", re.MULTILINE),
}
_TAGS = ("tags", "keywords", "categories")


class FrontMatter(NamedTuple):
    """What a file says of itself. end: the offset at which its text begins."""

    end: int
    title: str
    tags: tuple[str, ...]
    meta: Mapping[str, Value]
    notes: tuple[str, ...]


NONE = FrontMatter(0, "", (), {}, ())
"""Of a file that says nothing."""


def front_matter(text: str) -> FrontMatter | None:
    """The front matter at the very top of a text; None where there is none, a mere line above a text included.

    What is not understood is left out and named in the notes.
    """
    first = _FIRST.match(text)
    if not first:
        return None
    last = _LAST[first[1]].search(text, first.end(), first.end() + _MOST)
    if not last:
        return None
    body = text[first.end() : last.start()]
    values, notes = _yaml(body) if first[1] == "---" else _toml(body)
    if not values and body.strip() and first[1] == "---":
        return None
    if len(notes) > _MOST_NOTES:
        notes[_MOST_NOTES:] = [f"{len(notes) - _MOST_NOTES} further lines were not understood"]
    return FrontMatter(last.end(), *sorted_out(values), tuple(f"front matter: {note}" for note in notes))


def sorted_out(values: Mapping[str, Value]) -> tuple[str, tuple[str, ...], dict[str, Value]]:
    """Title, tags and everything else of what a file says of itself, by key."""
    title, tags, meta = "", list[str](), dict[str, Value]()
    for key, value in values.items():
        if key.lower() == "title" and not isinstance(value, list):
            title = _text(value)[:_MOST_OF_TITLE] if value is not None else ""
        elif key.lower() in _TAGS:
            tags += tags_of(value)
        elif value is not None:
            meta[key] = value
    return title, tuple(dict.fromkeys(tags)), meta


def tags_of(value: Value) -> list[str]:
    """The tags in a list, or in a text where they are divided by commas."""
    values: Sequence[Scalar | None] = value if isinstance(value, list) else [value]
    if isinstance(value, str):
        values = value.split(",")
    return [text for each in values if each is not None and (text := _text(each))]


def _text(value: Scalar) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return " ".join(text.split())


# --- TOML


def _toml(body: str) -> tuple[dict[str, Value], list[str]]:

    try:
        table = tomllib.loads(body.replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:
        return {}, [f"not understood: {' '.join(str(error).split())[:200]}"]
    values: dict[str, Value] = {}
    notes = []
    for key, value in table.items():
        try:
            values[key] = [_plain(each) for each in value] if isinstance(value, list) else _plain(value)
        except _NotPlain:
            notes.append(f"{key} was not understood")
    return values, notes


class _NotPlain(ValueError):
    """A value that is neither a scalar nor a list of them."""


def _plain(value: Any) -> Scalar:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, float) and not isfinite(value):
        raise _NotPlain
    if isinstance(value, int) and abs(value) >= 2**63:
        raise _NotPlain
    if isinstance(value, str | int | float):
        return value
    raise _NotPlain


# --- YAML

_KEY = re.compile(r"[\w$][\w$ .:/-]{0,99}|\"[^\"\\]{1,100}\"|'[^']{1,100}'")
_ITEM = re.compile(r"([ \t]*)-(?:[ \t]+|\Z)")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_REAL = re.compile(r"[-+]?[0-9]{1,18}\.[0-9]{1,18}(?:[eE][-+]?[0-9]{1,2})?")
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[Tt]|[ \t]+)([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)"
    r"[ \t]*([Zz]|[-+][0-9]{2}(?::?[0-9]{2})?)?"
)
_WORDS: dict[str, Scalar | None] = {"true": True, "false": False, "null": None, "~": None, "": None}
_NO_PLAIN = "[]{}&*!|>%@`\"',"
"""What no plain scalar of YAML begins with."""
_NUMERIC = "+-0123456789"


def _yaml(body: str) -> tuple[dict[str, Value], list[str]]:
    values: dict[str, Value] = {}
    notes: list[str] = []
    for number, first, below in _entries(body):
        try:
            key, rest = _pair(first)
            values[key] = _value(rest, below)
        except _NotPlain:
            notes.append(f"line {number} was not understood")
    return values, notes


def _entries(body: str) -> Iterator[tuple[int, str, list[str]]]:
    """Of each key the number of its line in the file, the line, and the lines below it that belong to it."""
    first, below, began = "", list[str](), 0
    for number, line in enumerate(body.split("\n"), start=2):
        text = line.rstrip()
        if not text or text.lstrip()[0] == "#":
            continue
        if first and (text[0] in " \t" or (text[0] == "-" and _ITEM.match(text))):
            below.append(text)
            continue
        if first:
            yield began, first, below
        first, below, began = text, [], number
    if first:
        yield began, first, below


def _pair(line: str) -> tuple[str, str]:
    """The key of a line and what stands behind it."""
    key, colon, rest = line.replace(":\t", ": ", 1).partition(": ") if line[-1] != ":" else (line[:-1], ":", "")
    key = key.rstrip()
    if not colon or not _KEY.fullmatch(key):
        raise _NotPlain
    return key.strip("\"'"), rest.strip()


def _value(rest: str, below: Sequence[str]) -> Value:
    if rest and rest[0] == "#":
        rest = ""
    if not below:
        return _inline_list(rest) if rest and rest[0] == "[" else _scalar(rest)
    items = [_ITEM.match(line) for line in below]
    indents = {item and item[1] for item in items}
    if rest or len(indents) > 1 or None in indents:
        raise _NotPlain  # a text of several lines, of which there are many kinds, or a mapping
    return _listed([_item(line[item.end() :]) for line, item in zip(below, items, strict=True) if item])


def _item(text: str) -> Scalar | None:
    if _is_mapping(text):
        raise _NotPlain
    return _scalar(text.strip())


def _is_mapping(text: str) -> bool:
    try:
        return bool(text) and text[0] not in "\"'" and bool(_pair(text))
    except _NotPlain:
        return False


def _listed(values: Sequence[Scalar | None]) -> list[Scalar]:
    return [value for value in values if value is not None]


_PIECE = re.compile(
    r"[ \t]*+(\"(?:[^\"\\]|\\.)*+\"|'(?:[^']|'')*+'|[^,\[\]{}\"'][^,\[\]{}]*+|)"
    r"[ \t]*+(?:,|(?P<end>\])[ \t]*+(?:\#.*)?\Z)"
)


def _inline_list(text: str) -> list[Scalar]:
    values: list[Scalar | None] = []
    found, position = None, 1
    while not (found and found["end"]):
        found = _PIECE.match(text, position)
        if not found:
            raise _NotPlain
        values.append(_scalar(found[1].strip()))
        position = found.end()
    return _listed(values)


def _scalar(text: str) -> Scalar | None:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text[0] in "\"'":
        return _quoted(text)
    if "#" in text:
        text = _COMMENT.sub("", text, count=1).strip()
    if not text or text[0] in _NO_PLAIN or text.startswith(("- ", "? ")):
        raise _NotPlain
    if text[0] in _NUMERIC:
        if _INTEGER.fullmatch(text):
            return int(text)
        if _REAL.fullmatch(text):
            return float(text)
        if moment := _MOMENT.fullmatch(text):
            return _moment(*moment.groups("")) or text
    return _WORDS.get(text.lower(), text)


def _quoted(text: str) -> str:
    end = text.rfind(text[0])
    behind = text[end + 1 :].strip()
    if end == 0 or (behind and behind[0] != "#"):
        raise _NotPlain
    inner = text[1:end]
    if text[0] == "'":
        if "'" in inner.replace("''", ""):
            raise _NotPlain
        return inner.replace("''", "'")
    try:
        value: str = json.loads(text[: end + 1], strict=False)
        value.encode()
    except ValueError as error:
        raise _NotPlain from error
    return value


def _moment(day: str, hour: str, zone: str) -> str:
    """A time of a day as ISO 8601 has it, or "" where there is no such time."""
    try:
        return datetime.fromisoformat(f"{day}T{hour}{zone.upper()}").isoformat()
    except ValueError:
        return ""
