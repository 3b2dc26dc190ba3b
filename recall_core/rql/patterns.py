"""LIKE, ILIKE and GLOB: one meaning of each pattern, for filters and file names.

Each pattern becomes a regular expression that finds the text between two wildcards at its first possible place and
never backtracks (an atomic group). For these patterns the first place is always sufficient, and the work is
proportional to pattern times text for any pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from recall_core.errors import UsageError

MAX_ALTERNATIVES = 256  # the most combinations of {a,b} groups in one pattern
MAX_GLOB = 1024  # code points of a pattern; limits the expansion of its groups
_CACHED = 512

_WILD_LIKE = re.compile(r"[%_\\]")
_WILD_GLOB = re.compile(r"[*?\[{\\]")


def like_match(pattern: str, value: str) -> bool:
    r"""Return True if the whole value matches: `%` any text, `_` one code point, `\` makes the next one literal."""
    return _like(pattern).fullmatch(value) is not None


def ilike_match(pattern: str, value: str) -> bool:
    """Return True if LIKE matches after Unicode case folding of both sides. `_` is one folded code point."""
    return like_match(pattern.casefold(), value.casefold())


def glob_match(pattern: str, path: str) -> bool:
    r"""Return True if the whole path matches.

    `*`: any text without `/`.
    `?`: one code point other than `/`.
    `**`: as a whole segment, any number of segments; at the end of a pattern at least one.
    `[a-z]`, `[!a-z]`: one code point, never `/`.
    `{a,b}`: either one.
    `\`: makes the next code point literal.
    A bracket or brace that is never closed is literal.
    Raises UsageError `bad_pattern` if the braces give more than 256 patterns, or the pattern has more than 1,024 code
    points.
    """
    return _glob(pattern).fullmatch(path) is not None


def check_glob(pattern: str) -> None:
    """Raise UsageError `bad_pattern` for an invalid pattern."""
    _glob(pattern)


def compiled_glob(pattern: str) -> re.Pattern[str]:
    """Return the compiled pattern of `glob_match`, to match many paths."""
    return _glob(pattern)


def like_prefix(pattern: str) -> str:
    """Return the literal prefix of every LIKE match."""
    return _before(_WILD_LIKE, pattern)


def glob_prefix(pattern: str) -> str:
    """Return the literal prefix of every GLOB match."""
    return _before(_WILD_GLOB, pattern)


def _before(wild: re.Pattern[str], pattern: str) -> str:
    found = wild.search(pattern)
    return pattern[: found.start()] if found else pattern


@lru_cache(_CACHED)
def _like(pattern: str) -> re.Pattern[str]:
    pieces = [""]
    characters = iter(pattern)
    for character in characters:
        if character == "%":
            pieces.append("")
        elif character == "_":
            pieces[-1] += "."
        else:
            literal = next(characters, "\\") if character == "\\" else character
            pieces[-1] += re.escape(literal)
    return re.compile(_in_order(pieces, anything="."), re.DOTALL)


def _in_order(pieces: list[str], *, anything: str) -> str:
    """Return the pieces in order with any run of `anything` between them. Each piece matches a fixed length."""
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    found = "".join(f"(?>{anything}*?{piece})" for piece in middle if piece)
    return f"{first}{found}{anything}*{last}"


@lru_cache(_CACHED)
def _glob(pattern: str) -> re.Pattern[str]:
    if len(pattern) > MAX_GLOB:
        raise _bad_pattern(f"The GLOB pattern has {len(pattern)} characters; the limit is {MAX_GLOB}.")
    alternatives = _expand(_units(pattern))
    return re.compile("|".join(f"(?:{_path(units)})" for units in alternatives), re.DOTALL)


def _bad_pattern(message: str) -> UsageError:
    return UsageError("bad_pattern", message, hint="write fewer {a,b} groups, or several patterns")


# A unit is the regular expression of one code point, or one of these five, which no escaped literal equals.
_STAR, _SLASH, _OPEN, _COMMA, _CLOSE = "*", "/", "{", ",", "}"


def _units(pattern: str) -> list[str]:
    units: list[str] = []
    position = 0
    while position < len(pattern):
        unit, position = _unit(pattern, position)
        units.append(unit)
    return units


def _unit(pattern: str, position: int) -> tuple[str, int]:
    """Return the unit at `position`, and where the next one begins."""
    character = pattern[position]
    if character == "?":
        return "[^/]", position + 1
    if character in "*/{,}":
        return character, position + 1
    if character == "[" and (end := _class_end(pattern, position)) > 0:
        return _class(pattern[position + 1 : end]), end + 1
    if character == "\\" and position + 1 < len(pattern):
        following = pattern[position + 1]
        return r"\," if following == "," else re.escape(following), position + 2
    return re.escape(character), position + 1


def _class_end(pattern: str, start: int) -> int:
    """Return where the bracket that opens at `start` closes within its segment, or -1. A leading `]` is a member."""
    position = start + 1
    if pattern[position : position + 1] in ("!", "^"):
        position += 1
    first = position
    while position < len(pattern) and pattern[position] != "/":
        if pattern[position] == "]" and position > first:
            return position
        position += 2 if pattern[position] == "\\" else 1
    return -1


def _class(body: str) -> str:
    negated = body[0] in "!^"
    ranges = "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in _members(body[negated:]) if low <= high)
    if negated:
        return f"[^/{ranges}]"
    return f"(?!/)[{ranges}]" if ranges else "(?!)"


def _members(body: str) -> Iterator[tuple[str, str]]:
    """Yield the ranges of a bracket. A single character is a range of one."""
    units: list[str] = re.findall(r"\\.|.", body, re.DOTALL)
    position = 0
    while position < len(units):
        is_range = units[position + 1 : position + 2] == ["-"] and position + 2 < len(units)
        last = position + 2 if is_range else position
        yield units[position][-1], units[last][-1]
        position = last + 1


def _expand(units: list[str]) -> list[list[str]]:
    """Return the pattern with every closed {a,b} expanded, left to right, including inner groups."""
    done: list[list[str]] = []
    waiting = [units]
    while waiting:
        current = waiting.pop()
        group = _first_group(current)
        if group is None:
            done.append(current)
        else:
            before, after = current[: group[0]], current[group[-1] + 1 :]
            choices = [current[low + 1 : high] for low, high in pairwise(group)]
            waiting += [before + choice + after for choice in reversed(choices)]
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            raise _bad_pattern(f"The braces expand to more than {MAX_ALTERNATIVES} patterns.")
    return done


def _first_group(units: list[str]) -> list[int] | None:
    """Return positions of the opening brace, commas and closing brace of the first closed group, or None."""
    waiting: list[list[int]] = []
    closed: list[list[int]] = []
    for position, unit in enumerate(units):
        if unit == _OPEN:
            waiting.append([position])
        elif unit in (_COMMA, _CLOSE) and waiting:
            waiting[-1].append(position)
            if unit == _CLOSE:
                closed.append(waiting.pop())
    return min(closed, default=None)


def _path(units: list[str]) -> str:
    """Return one pattern without groups: runs of segments, with any number of segments for each `**`."""
    runs = [""]
    for segment in _segments(units):
        if segment == [_STAR, _STAR]:
            runs.append("")
        else:
            runs[-1] += _segment(segment) + "/"
    if len(runs) == 1:
        return runs[0][:-1]
    first, *middle, last = runs
    found = first + "".join(f"(?>{_ANY_SEGMENTS}{run})" for run in middle if run)
    return found + (f"{_ANY_SEGMENTS}{last[:-1]}" if last else ".*")


_ANY_SEGMENTS = "(?:[^/]*+/)*?"


def _segments(units: list[str]) -> Iterator[list[str]]:
    segment: list[str] = []
    for unit in units:
        if unit == _SLASH:
            yield segment
            segment = []
        else:
            segment.append(unit)
    yield segment


def _segment(units: list[str]) -> str:
    pieces = [""]
    for unit in units:
        if unit == _STAR:
            pieces.append("")
        else:
            pieces[-1] += f"\\{unit}" if unit in (_OPEN, _CLOSE) else unit
    regex = _in_order(pieces, anything="[^/]")
    return f"(?>{regex}(?![^/]))" if len(pieces) > 1 else regex
