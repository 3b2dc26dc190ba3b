"""Compare two recordings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import unified_diff
from itertools import islice, zip_longest

from benchmarks.answers.recording import Answer, Recording

SHOWN = 20
"""Most lines shown of each side of a difference."""

_WIDEST = 300


def differences(old: Recording, new: Recording) -> Iterator[tuple[Answer, Answer]]:
    """Yield the answers that are not the same to the byte."""
    for one, other in zip(old.answers, new.answers, strict=True):
        if (one.line, one.output) != (other.line, other.output):
            yield one, other


def incomparable(old: Recording, new: Recording) -> str:
    """Return why the recordings cannot be compared, or "" if they can."""
    for key in ("version", "seed", "count"):
        if old.head[key] != new.head[key]:
            return f"{key} is {old.head[key]} in one and {new.head[key]} in the other"
    for one, other in zip_longest(old.answers, new.answers):
        if one is None or other is None or one.question != other.question:
            return f"different questions: {one and one.question} in one, {other and other.question} in the other"
    return ""


def shown(old: Answer, new: Answer) -> Iterator[str]:
    """Yield the question as a shell command, and the lines in which the two answers differ."""
    yield f"$ {old.line}" + (f"  # stdin: {old.stdin!r}" if old.stdin else "")
    if old.line != new.line:
        yield f"  $ {new.line}"
    if old.output.status != new.output.status:
        yield f"  exit {old.output.status} -> {new.output.status}"
    for name in ("stdout", "stderr"):
        before, after = (_lines(getattr(each.output, name)) for each in (old, new))
        changed = (line for line in unified_diff(before, after, lineterm="", n=0) if line[:3] not in ("---", "+++"))
        rows = list(islice((line for line in changed if not line.startswith("@@")), SHOWN + 1))
        yield from (f"  {name} {_cut(row)}" for row in rows[:SHOWN])
        if len(rows) > SHOWN:
            yield f"  {name} …"


def _lines(text: str) -> list[str]:
    """Return the lines of an answer. JSON gives one line for each value, so that a difference shows its place."""
    return [row for line in text.split("\n") for row in _values(line)]


def _values(line: str) -> list[str]:
    if not line.startswith("{"):
        return [line]
    try:
        return list(_flat("", json.loads(line)))
    except ValueError:
        return [line]


def _flat(path: str, value: object) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(f"{path}.{key}", inner)
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            yield from _flat(f"{path}[{number}]", inner)
    else:
        yield f"{path.lstrip('.')} = {json.dumps(value, ensure_ascii=False)}"


def _cut(row: str) -> str:
    return row if len(row) <= _WIDEST else f"{row[:_WIDEST]}…"
