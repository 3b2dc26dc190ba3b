"""Remove from answers what differs from run to run: durations, times of commits, folders."""

from __future__ import annotations

import re
from collections.abc import Mapping

from benchmarks.answers.checkout import Output

MOMENTARY = ("took_ms", "texts_per_second", "generation", "bytes_before")
"""Keys of JSON answers with numbers that depend on the clock: durations, and effects of when a commit happens."""

MOMENTARY_TABLES = ("timings",)
"""Keys with a table of such numbers. The names in the table are part of the answer."""

_STRING = r'"(?:[^"\\]|\\.)*"'
_NUMBER = r"-?[0-9][0-9.eE+-]*"
_IN_JSON = re.compile(
    rf'(?P<key>"(?:{"|".join(MOMENTARY)})"\s*:\s*){_NUMBER}'
    rf'|(?P<table>"(?:{"|".join(MOMENTARY_TABLES)})"\s*:\s*\{{)(?P<rows>[^{{}}]*)'
    rf"|{_STRING}"
)
"""A string matches as a unit, so that only keys are found, never a quotation in a text."""

_IN_TEXT = (
    (re.compile(r"^((?:no hits|[0-9]+ of [0-9]+ hits?) in )[0-9]+( ms)", re.MULTILINE), r"\g<1>0\g<2>"),
    (re.compile(r"( hits deep, in )[0-9.]+( s)$", re.MULTILINE), r"\g<1>0\g<2>"),
    (re.compile(r"^(generation +)[0-9]+$", re.MULTILINE), r"\g<1>0"),
    (re.compile(r"^(dropped .*, )[0-9]+( -> )", re.MULTILINE), r"\g<1>0\g<2>"),
)
"""Lines of plain answers: search, eval, stats, compact."""

_FUNNEL = re.compile(r"^stage +in +out +ms$", re.MULTILINE)
_FUNNEL_MS = re.compile(r"^([a-z_]+ +[0-9]+ +[0-9]+) +[0-9.]+(?=  #|$)", re.MULTILINE)


def normalized(output: Output, *, where: Mapping[str, str]) -> Output:
    """Return the answer without parts that differ from run to run. where: replacements by folder."""
    return Output(output.status, _stream(output.stdout, where), _stream(output.stderr, where))


def _stream(text: str, where: Mapping[str, str]) -> str:
    for folder, name in where.items():
        text = text.replace(folder, name)
    lines = _plain(text).split("\n")  # not splitlines(): a text may contain other line ends
    return "\n".join(_line_of_json(line) if line.startswith("{") else line for line in lines)


def _plain(text: str) -> str:
    if text.startswith("{"):
        return text
    for pattern, kept in _IN_TEXT:
        text = pattern.sub(kept, text)
    return _FUNNEL_MS.sub(r"\g<1>  0.0", text) if _FUNNEL.search(text) else text


def _line_of_json(line: str) -> str:
    return _IN_JSON.sub(_without_numbers, line)


def _without_numbers(found: re.Match[str]) -> str:
    if found["key"]:
        return found["key"] + "0"
    if found["table"]:
        return found["table"] + re.sub(rf"(:\s*){_NUMBER}", r"\g<1>0", found["rows"])
    return found[0]
