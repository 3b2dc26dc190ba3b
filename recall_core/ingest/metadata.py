"""Metadata: what a document carries besides its text, as far as a store and every reader of JSON can hold it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from sys import float_info
from typing import Any

DEEPEST = 500  # levels; SQLite reads 1,000, and so does Python where nothing else is under way


def why_unfit(metadata: Mapping[str, Any]) -> str | None:
    """Return why no store can keep this, None if one can. The words follow a colon and end without a full stop."""
    try:
        json.dumps(dict(metadata), ensure_ascii=False, sort_keys=True).encode()
    except (TypeError, ValueError, RecursionError) as error:
        return f"its metadata is no JSON: {error}"
    level: list[object] = [dict(metadata)]
    deep = 0
    while level:
        if deep > DEEPEST:
            return f"its metadata is nested deeper than {DEEPEST} levels"
        if any(isinstance(each, int | float) and not abs(each) <= float_info.max for each in level):
            return "a number in its metadata is too large, or NaN"
        holders = (each for each in level if isinstance(each, dict | list | tuple))
        level = [inner for each in holders for inner in (each.values() if isinstance(each, dict) else each)]
        deep += 1
    return None


class KeyTwice(ValueError):
    """A key comes twice in one object, so that its value is unclear."""


_FAULTS = (
    ("Expecting property name", "a key in double quotes is missing"),
    ("Illegal trailing comma", "a comma stands behind the last value"),
    ("Expecting ':'", "a colon is missing"),
    ("Expecting ','", "a comma or a closing bracket is missing"),
    ("Expecting value", "no value begins there"),
    ("Extra data", "something stands behind the end of the value"),
    ("Unterminated string", "the string that begins there does not end"),
    ("Invalid control character", "a control character in a string is not escaped"),
    ("Invalid \\", "JSON has no such escape"),
)
"""How the messages of Python's decoder begin, and what they say."""


def why_no_json(error: ValueError | RecursionError) -> str:
    """Return what Python's decoder found wrong, in plain words that follow a colon and end without a full stop."""
    if isinstance(error, json.JSONDecodeError):
        return next((words for begin, words in _FAULTS if error.msg.startswith(begin)), "it ends or goes on wrongly")
    return "it is nested too deep" if isinstance(error, RecursionError) else "a number in it has too many digits"


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, as the `object_pairs_hook` of `json.loads`. Raises KeyTwice with the key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        again = next(key for place, key in enumerate(keys) if key in keys[:place])
        raise KeyTwice(f"the key {again!r} comes twice")
    return found
