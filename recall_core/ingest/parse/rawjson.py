"""JSON as the bytes of a file: its values however they were written, and the slices that they stand in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from recall_core._lazy import msgspec
from recall_core.ingest.metadata import DEEPEST

_HOLDERS = (dict, list)
_SAMPLE = 64  # values that tell what a file holds
_SAMPLED = 256 * 1024  # characters after which no further one is asked


Slice = tuple[int, bytes]
"""A value in a file: the line where it begins, from 1, and its bytes as they are written there.

They may be a `msgspec.Raw`, a view that can be hashed and decoded; it has no methods of bytes until it is made some.
"""


def decoded(raw: bytes) -> Any:
    """The value, also where half a surrogate pair (which becomes U+FFFD) or NaN stands in it.

    raw: UTF-8.  Raises ValueError where it is no JSON, RecursionError where the interpreter finds it nested too deep.
    """

    try:
        return fast_decoder().decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _LENIENT.decode(mended(bytes(raw)).decode())


def is_deeper(value: object, *, most: int = DEEPEST) -> bool:
    """Whether a value of JSON has more levels of arrays and objects than that."""
    level: list[Any] = [value] if isinstance(value, _HOLDERS) else []
    deep = 0
    while level and deep <= most:
        deep += 1
        below: list[Any] = []
        for holder in level:
            for each in holder.values() if type(holder) is dict else holder:
                if (kind := type(each)) is dict or kind is list:  # half the time of isinstance
                    below.append(each)  # noqa: PERF401 - most hold little, and a loop is faster then
        level = below
    return deep > most


def first_half(raw: bytes) -> int:
    """The offset of the first escaped half of a surrogate pair, -1 where there is none."""
    return next((each.start() for each in _ESCAPE.finditer(raw) if each["half"]), -1)


def why_broken(raw: bytes) -> str | None:
    """What is wrong with a file's JSON, and in which line; None where nothing is, or where its depth hides it."""
    try:
        _skipped(raw, _one())
    except ValueError as error:
        reason, _, where = str(error).removeprefix("JSON is malformed: ").removesuffix(")").rpartition(" (byte ")
        line = raw.count(b"\n", 0, int(where)) + 1 if where.isdecimal() and reason else 0
        return f"line {line}: {reason}" if line else "it ends too early"
    except RecursionError:
        return None
    return None


def elements(raw: bytes) -> Iterator[Slice]:
    """The elements of an array, in order, as slices of its bytes. Raises ValueError, RecursionError as `decoded`."""
    sound, written = _skipped(raw, _slices())
    if sound is raw and b"\n" not in raw:
        return ((1, element) for element in written)
    return _with_lines(raw, sound, written)


def _with_lines(raw: bytes, sound: bytes, written: Iterable[Any]) -> Iterator[Slice]:
    """The slices of raw, given those of what it is mended to."""
    line, last = 1, sound.find(b"[") + 1
    gap = b""
    for element in written:
        start = last + len(gap)
        if not sound.startswith(gap, last) or sound[start] in _BETWEEN:  # mostly it is that of the element before
            gap = _GAP.match(sound, last)[0]  # type: ignore[index]  # it matches nothing, too
            start = last + len(gap)
        line += raw.count(b"\n", last, start)
        last = start + len(element)
        yield line, raw[start:last]
        line += raw.count(b"\n", start, last)


def key_values(raw: bytes, names: tuple[str, ...]) -> list[bytes]:
    """What stands under those keys of an object, b"" where nothing does. Raises ValueError, RecursionError."""
    _, found = _skipped(raw, _keyed(names))
    return [bytes(getattr(found, field)) for field in found.__struct_fields__]


def lines_of(raw: bytes) -> Iterator[Slice]:
    """The lines that are not empty, without their ends."""
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if line and not line.isspace():
            yield number, line.removesuffix(b"\r")


def first_lines(raw: bytes) -> list[Any]:
    """The values of the first lines that are not empty, None for those that are no JSON."""
    found: list[Any] = []
    size = 0
    for _, line in lines_of(raw):
        found.append(value_of(line))
        size += len(line)
        if len(found) == _SAMPLE or size > _SAMPLED:
            break
    return found


def value_of(raw: bytes) -> Any:
    """The value, as `decoded`; None where it is no JSON, or nested too deep."""
    try:
        return decoded(raw)
    except (ValueError, RecursionError):
        return None


def first_elements(text: str) -> list[Any]:
    """The first elements of the array that the text begins with, as far as it is one; nothing further is read."""
    found: list[Any] = []
    begin = _ARRAY.match(text)
    while begin and len(found) < _SAMPLE and begin.start() <= _SAMPLED:
        try:
            value, end = _LENIENT.raw_decode(text, begin.end())
        except (ValueError, RecursionError):
            break
        found.append(value)
        begin = _NEXT.match(text, end)
    return found


def mended(raw: bytes) -> bytes:
    """JSON of the same length in which every escaped half of a surrogate pair is U+FFFD instead."""
    return _ESCAPE.sub(_whole, raw) if _HALF.search(raw) else raw


_HEX = rb"[0-9a-fA-F]{2}"
_LOW = rb"u[dD][c-fC-F]" + _HEX
_HALF = re.compile(rb"\\u[dD][89a-fA-F]" + _HEX)
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB]" + _HEX + rb"\\" + _LOW + rb"|(?P<half>u[dD][89a-fA-F]" + _HEX + rb")|.)", re.DOTALL
)
_ARRAY = re.compile(r"[ \t\r\n]*+\[[ \t\r\n]*+")
_BETWEEN = b" \t\r\n,"
_GAP = re.compile(rb"[ \t\r\n,]*+")
_NEXT = re.compile(r"[ \t\r\n]*+,[ \t\r\n]*+")


def _whole(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if escape["half"] else escape[0]


def _number(digits: str) -> int | float:
    """What Python refuses to read as a whole number is read as a rounded one."""
    return int(digits) if len(digits) < 4000 else float(digits)


_LENIENT = json.JSONDecoder(parse_int=_number)


def _skipped(raw: bytes, wanted: Any) -> tuple[bytes, Any]:
    """The bytes as they can be read, and of them what is wanted. Raises ValueError, RecursionError."""

    try:
        return raw, msgspec.json.decode(raw, type=wanted)
    except msgspec.MsgspecError:
        sound = mended(raw)
        if sound == raw:
            raise
        return sound, msgspec.json.decode(sound, type=wanted)


@cache
def _slices() -> Any:

    return list[msgspec.Raw]


@cache
def _one() -> Any:

    return msgspec.Raw


@cache
def _keyed(names: tuple[str, ...]) -> Any:
    """An object of which only those keys are looked at."""

    return msgspec.defstruct("Keyed", [(name, msgspec.Raw, msgspec.Raw(b"")) for name in names])


@cache
def fast_decoder() -> Any:
    """What reads most JSON in a fraction of the time of Python's own: neither NaN nor halves of surrogate pairs."""

    return msgspec.json.Decoder()
