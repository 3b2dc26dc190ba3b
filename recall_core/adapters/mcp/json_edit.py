"""A value put into a text of JSON, with or without comments, so that the rest of the text keeps its bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from recall_core.named import NamedTuple

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"{_STRING}|[{{\[,]\s*,|,(?=\s*[}}\]])", re.DOTALL)
_NO_SPACE = re.compile(r"[^ \t\r\n]")
_SPACES = re.compile(r"[ \t]*")


class JsonMember(NamedTuple):
    """A key of an object, where in the text it begins, and where its value begins and ends."""

    key: str
    at: int
    start: int
    end: int


class JsonObject(NamedTuple):
    """Where in the text an object has its braces, and its members in between."""

    opening: int
    members: tuple[JsonMember, ...]
    closing: int


def is_blank(text: str, *, has_comments: bool) -> bool:
    """True for a text without any value."""
    return not _plain(text, has_comments).strip()


def decoded(text: str, *, has_comments: bool) -> object:
    """The value of a text; numbers are bytes, as they are written. Raises ValueError, RecursionError."""
    return _JSON.decode(_plain(text, has_comments))


def with_value(text: str, keys: Sequence[str], value: object, *, has_comments: bool) -> str:
    """A text of an object, with this value behind the keys: the last is changed or added, with those that lack above.

    Raises ValueError where the value to change has comments, or an object on the way has the key twice.
    """
    after = _with_value(text, keys, value, has_comments)
    if decoded(after, has_comments=has_comments) != _changed(decoded(text, has_comments=has_comments), keys, value):
        raise ValueError("it is written in a way that cannot be added to surely")
    return after


def line_end(text: str) -> str:
    """What ends the lines that are added to a text."""
    return "\r\n" if "\r\n" in text and not re.search(r"(?<!\r)\n", text) else "\n"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


# Numbers are bytes, because they may have more digits than Python reads.
_JSON = json.JSONDecoder(parse_int=str.encode, parse_float=str.encode, parse_constant=_refuse)


def _plain(text: str, has_comments: bool) -> str:
    """JSON of the same length: comments and trailing commas, where there may be any, are spaces."""
    if not has_comments:
        return text
    return _TRAILING_COMMA.sub(lambda match: " " if match[0] == "," else match[0], _uncommented(text))


def _uncommented(text: str) -> str:
    def blank(match: re.Match[str]) -> str:
        is_comment = match[0].startswith("//") or (match[0].startswith("/*") and match[0].endswith("*/", 2))
        return re.sub(r"[^\r\n]", " ", match[0]) if is_comment else match[0]

    return _COMMENT.sub(blank, text)


def _with_value(text: str, keys: Sequence[str], value: object, has_comments: bool) -> str:
    plain = _plain(text, has_comments)
    holder = _object(plain, plain.index("{"))
    unit = (_indent(text, holder.members[0].at) if holder.members else None) or "  "
    for depth, key in enumerate(keys, 1):
        same = [member for member in holder.members if member.key == key]
        if len(same) > 1:
            raise ValueError(f"it has the key {key} twice")
        if not same:
            for inner in reversed(keys[depth:]):
                value = {inner: value}
            return _inserted(text, holder, key, value, unit=unit)
        if depth < len(keys):
            holder = _object(plain, same[0].start)
    _, at, start, end = same[0]
    if has_comments and _uncommented(text[start:end]) != text[start:end]:
        raise ValueError(f"a comment stands in what would be changed, {keys[-1]}")
    return text[:start] + _spelt(value, text, indent=_indent(text, at), unit=unit) + text[end:]


def _changed(holder: Any, keys: Sequence[str], value: object) -> object:
    """What the text must mean afterwards."""
    key, *rest = keys
    return {**holder, key: _changed(holder.get(key, {}), rest, value) if rest else value}


def _object(plain: str, opening: int) -> JsonObject:
    """The object that opens there, in a text that is known to be JSON."""
    members: list[JsonMember] = []
    at = _after_spaces(plain, opening + 1)
    while plain[at] != "}":
        key, end = _JSON.raw_decode(plain, at)
        start = _after_spaces(plain, _after_spaces(plain, end) + 1)
        _, end = _JSON.raw_decode(plain, start)
        members.append(JsonMember(key, at, start, end))
        at = _after_spaces(plain, end)
        if plain[at] == ",":
            at = _after_spaces(plain, at + 1)
    return JsonObject(opening, tuple(members), at)


def _after_spaces(plain: str, at: int) -> int:
    found = _NO_SPACE.search(plain, at)
    return found.start() if found else len(plain)


def _inserted(text: str, holder: JsonObject, key: str, value: object, *, unit: str) -> str:
    """A text with a member more at the end of that object, laid out as the others are."""
    opening, members, closing = holder
    last = members[-1].end if members else opening + 1
    space = text[last:closing]
    kept = space.rstrip(" \t\r\n")  # and no other space, which may be the end of a comment
    end = space[len(kept) :]
    has_comma = bool(members) and "," in _uncommented(space)
    indent: str | None = None
    if not members or re.search(r"[\r\n]", text[opening:closing]):
        outer = _SPACES.match(text, text.rfind("\n", 0, opening) + 1)
        base = outer[0] if outer else ""
        indent = (_indent(text, members[0].at) if members else None) or base + unit
        end = end if members or "\n" in end else line_end(text) + base
    before = "," if members and not has_comma else ""
    space_before = " " if indent is None else line_end(text) + indent
    member = f"{json.dumps(key, ensure_ascii=False)}: {_spelt(value, text, indent=indent, unit=unit)}"
    return text[:last] + before + kept + space_before + member + "," * has_comma + end + text[closing:]


def _indent(text: str, at: int) -> str | None:
    """The spaces before what begins a line; None for what does not."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before if not before.strip() else None


def _spelt(value: object, text: str, *, indent: str | None, unit: str) -> str:
    """A value as JSON, on one line where it has no indent."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", line_end(text) + indent)
