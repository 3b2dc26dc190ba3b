"""Metadata of documents: checks that a store and every JSON reader can represent it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from sys import float_info
from typing import Any

DEEPEST = 500  # levels; SQLite reads 1,000, and so does Python with an empty stack


def why_unfit(metadata: Mapping[str, Any]) -> str | None:
    """Return why a store cannot keep this metadata, or None. The text follows a colon and has no full stop."""
    try:
        json.dumps(dict(metadata), ensure_ascii=False, sort_keys=True).encode()
    except (TypeError, ValueError, RecursionError) as error:
        return f"metadata is not JSON: {error}"
    level: list[object] = [dict(metadata)]
    deep = 0
    while level:
        if deep > DEEPEST:
            return f"metadata is nested deeper than {DEEPEST} levels"
        if any(isinstance(each, int | float) and not abs(each) <= float_info.max for each in level):
            return "a number in metadata is too large, or NaN"
        holders = (each for each in level if isinstance(each, dict | list | tuple))
        level = [inner for each in holders for inner in (each.values() if isinstance(each, dict) else each)]
        deep += 1
    return None


class KeyTwice(ValueError):
    """A key appears twice in one object, so its value is ambiguous."""


_FAULTS = (
    ("Expecting property name", "expected a key in double quotes"),
    ("Illegal trailing comma", "trailing comma after the last value"),
    ("Expecting ':'", "missing colon"),
    ("Expecting ','", "missing comma or closing bracket"),
    ("Expecting value", "expected a value"),
    ("Extra data", "extra text after the value"),
    ("Unterminated string", "unclosed string"),
    ("Invalid control character", "unescaped control character in a string"),
    ("Invalid \\", "invalid escape"),
)
"""Start of each message of Python's decoder, and its plain text."""


def why_no_json(error: ValueError | RecursionError) -> str:
    """Return what Python's decoder found wrong, in plain words. The text follows a colon and has no full stop."""
    if isinstance(error, json.JSONDecodeError):
        return next((words for begin, words in _FAULTS if error.msg.startswith(begin)), "invalid syntax")
    return "nested too deep" if isinstance(error, RecursionError) else "a number has too many digits"


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, as the `object_pairs_hook` of `json.loads`. Raises KeyTwice with the key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        again = next(key for place, key in enumerate(keys) if key in keys[:place])
        raise KeyTwice(f"the key {again!r} appears twice")
    return found
