"""`--meta KEY=VALUE`: the key, and the value that the text means."""

from __future__ import annotations

import json
from collections.abc import Sequence

from recall_core.errors import UsageError
from recall_core.ingest.metadata import why_unfit
from recall_core.types import MetaValue


def read_metadata(pairs: Sequence[str]) -> tuple[tuple[str, MetaValue], ...]:
    """Every `KEY=VALUE` as a key and a value; see `meant`. Raises UsageError `bad_value`."""
    return tuple(map(_pair, pairs))


def meant(text: str) -> MetaValue:
    """A number, true, false, null or a text in double quotes, spelt as in JSON; any other text is itself.

    Raises ValueError for a number that JSON cannot hold: NaN, Infinity, more digits than Python reads.
    """
    if text != text.strip() or text[:1] in "[{":
        return text
    try:
        value: MetaValue = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError:
        return text
    return value


def _refuse(name: str) -> None:
    raise ValueError(name)


def _pair(pair: str) -> tuple[str, MetaValue]:
    key, equals, text = pair.partition("=")
    if not (key and equals):
        raise UsageError("bad_value", f"--meta takes KEY=VALUE, not {pair!r}.", hint="--meta year=2024")
    try:
        value = meant(text)
        reason = why_unfit({key: value})
    except ValueError:
        reason = "no JSON holds this number"
    if reason:
        raise UsageError(
            "bad_value", f"--meta {key}: {reason}.", hint=f"--meta '{key}=\"{text[:40]}\"' keeps it as text"
        )
    return key, value
