"""Front matter: metadata above a Markdown text, between lines of `---` (YAML) or `+++` (TOML).

PyYAML and tomllib read the structure: keys with scalars or lists of scalars. YAML scalars get their type here,
because PyYAML reads `yes` as true, `12:30:45` as 45045 and `0123` as 83.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

from recall_core._lazy import tomllib, yaml

Scalar: TypeAlias = str | int | float | bool
Value: TypeAlias = Scalar | list[Scalar] | None

_MOST = 256 * 1024
"""Code points; anything longer is not front matter."""
_MOST_OF_TITLE = 500
_MOST_NOTES = 8
_FIRST = re.compile(r"(---|\+\+\+)[ \t]*+\r?\n")
_LAST = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*+\r?(?:\n|\Z)", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*+\r?(?:\n|\Z)", re.MULTILINE),
}
_TAGS = ("tags", "keywords", "categories")


class FrontMatter(NamedTuple):
    """Metadata from front matter. end: offset at which the text begins."""

    end: int
    title: str
    tags: tuple[str, ...]
    meta: Mapping[str, Value]
    notes: tuple[str, ...]


NONE = FrontMatter(0, "", (), {}, ())
"""Front matter of a file without any."""


def front_matter(text: str) -> FrontMatter | None:
    """Return the front matter at the top of a text; None if there is none, or only a rule line above a text.

    Values that are not understood are left out and listed in the notes.
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
        notes[_MOST_NOTES:] = [f"{len(notes) - _MOST_NOTES} more lines not understood"]
    return FrontMatter(last.end(), *sorted_out(values), tuple(f"front matter: {note}" for note in notes))


def sorted_out(values: Mapping[str, Value]) -> tuple[str, tuple[str, ...], dict[str, Value]]:
    """Return title, tags and all other metadata."""
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
    """Return the tags from a list or a comma-separated text."""
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
            notes.append(f"{key} not understood")
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

_KEY = re.compile(r"[\w$][\w$ .:/-]{0,99}")
_UNQUOTED = re.compile(r"([\w$][\w$ .:/-]{0,99}?):[ \t]+((?![-?][ \t])[^\s\[\]{}&*!|>%@`\"',#].*?)(?:[ \t]+\#.*)?")
"""A key with an unquoted value that YAML would require quotes for, such as `title: C++: a tour`."""
_READ_DIFFERENTLY = re.compile(r"[\t\x85\u2028\u2029\ufeff]|\\[uU]")
"""Text that PyYAML's fast C parser, missing on some machines, reads differently from its Python parser."""
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_REAL = re.compile(r"[-+]?[0-9]{1,18}\.[0-9]{1,18}(?:[eE][-+]?[0-9]{1,2})?")
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[Tt]|[ \t]+)([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)"
    r"[ \t]*([Zz]|[-+][0-9]{2}(?::?[0-9]{2})?)?"
)
_WORDS: dict[str, Scalar | None] = {"true": True, "false": False, "null": None, "~": None, "": None}


def _yaml(body: str) -> tuple[dict[str, Value], list[str]]:
    """Parse each key on its own: PyYAML stops at the first error, which must not lose the other keys."""
    values: dict[str, Value] = {}
    notes: list[str] = []
    for number, lines in _entries(body):
        try:
            key, value = _pair(lines)
            values[key] = value
        except _NotPlain:
            notes.append(f"line {number} not understood")
    return values, notes


def _entries(body: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each key's line number in the file, with its line and the lines that belong to it."""
    lines, start = list[str](), 0
    for number, line in enumerate(body.split("\n"), start=2):
        text = line.rstrip()
        if not text or text.lstrip()[0] == "#":
            continue
        if lines and (text == "-" or text.startswith((" ", "\t", "- ", "-\t"))):
            lines.append(text)
            continue
        if lines:
            yield start, lines
        lines, start = [text], number
    if lines:
        yield start, lines


def _pair(lines: list[str]) -> tuple[str, Value]:
    """Parse a key and its value. Raises _NotPlain.

    Stops at the first anchor, alias, tag or nested value.
    """
    text = "\n".join(lines)
    is_same = yaml.__with_libyaml__ and not _READ_DIFFERENTLY.search(text)
    events: list[Any] = []
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader if is_same else yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > 2 or getattr(event, "anchor", None) or getattr(event, "tag", None):
                raise _NotPlain
            events.append(event)
        match events[2:-3]:
            case [yaml.MappingStartEvent(flow_style=False), yaml.ScalarEvent() as key, yaml.ScalarEvent() as value]:
                return _key(key), _scalar(value)
            case [
                yaml.MappingStartEvent(flow_style=False),
                yaml.ScalarEvent() as key,
                yaml.SequenceStartEvent(flow_style=is_inline),
                *items,
                yaml.SequenceEndEvent(),
            ] if not (is_inline and len(lines) > 1) and all(isinstance(item, yaml.ScalarEvent) for item in items):
                return _key(key), [item for item in map(_scalar, items) if item is not None]
    except (yaml.YAMLError, ValueError, OverflowError):  # chr() raises the last two for \U with eight digits
        pass
    if len(lines) > 1 or not (unquoted := _UNQUOTED.fullmatch(lines[0])):
        raise _NotPlain
    return unquoted[1].rstrip(), _read_scalar(unquoted[2])


def _key(event: Any) -> str:
    key: str = event.value
    if not (_KEY.fullmatch(key) or (event.style and 0 < len(key) <= 100 and key.isprintable())):
        raise _NotPlain
    return key


def _scalar(event: Any) -> Scalar | None:
    if event.style in ("|", ">") or event.start_mark.line != event.end_mark.line:
        raise _NotPlain
    if event.style:
        text: str = event.value.encode("utf-16", "surrogatepass").decode("utf-16")  # joins \ud83d\ude00
        return text
    return _read_scalar(event.value)


def _read_scalar(text: str) -> Scalar | None:
    """Return the value of an unquoted scalar: a YAML word, a number, a date or time, or the text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _REAL.fullmatch(text):
        return float(text)
    if moment := _MOMENT.fullmatch(text):
        return _moment(*moment.groups("")) or text
    return text


def _moment(day: str, hour: str, zone: str) -> str:
    """Return a date and time in ISO 8601; "" if there is no such time."""
    try:
        return datetime.fromisoformat(f"{day}T{hour}{zone.upper()}").isoformat()
    except ValueError:
        return ""
