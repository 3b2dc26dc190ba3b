"""JSON files: conversations, records, or else the text as it is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple

from recall_core.ingest.parse.jsonl import records, take_name
from recall_core.ingest.parse.messages import KEYS, Shape, conversation_in, conversation_of, shape_of
from recall_core.ingest.parse.rawjson import (
    Slice,
    decoded,
    elements,
    first_elements,
    key_values,
    lines_of,
    why_broken,
)
from recall_core.ingest.parse.short import short
from recall_core.ingest.parse.text import decode
from recall_core.ingest.parse.transcript import rendered
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument

_BOM = b"\xef\xbb\xbf"
_LINES = (".jsonl", ".ndjson")
_SAMPLE = 64  # values by which it is told what a file holds
_IDS = ("_id", "id", "uuid", "conversation_id")


class _File(NamedTuple):
    raw: bytes
    text: str
    path: str
    digest: str
    size: int


class JsonFile:
    """Reads what a file of JSON holds, whether it is one value or one a line.

    Conversations become transcripts, a record for each where there are several; objects with a text become records,
    as the parser `jsonl` reads them; anything else is its own text.
    """

    version = 1
    reads = "text"

    def parse(self, raw: bytes, *, path: str, digest: str) -> Iterable[ParsedDocument]:
        """The documents in file order. A file that is no JSON is read as text, with a note.

        Raises IngestError `binary_file` and `not_utf8`, and for records `bad_record` and `duplicate_record`.
        """
        file = _File(raw.removeprefix(_BOM), decode(raw, path=path), path, digest, len(raw))
        return _documents(file)


def conversations(raw: bytes, text: str, *, path: str, digest: str) -> Iterable[ParsedDocument] | None:
    """The conversations of a file of JSON as transcripts; None where it holds none."""
    file = _File(raw, text, path, digest, len(raw))
    form, shape = _layout(file)
    return _transcripts(file, form, shape) if shape in ("turns", "conversations") else None


def _documents(file: _File) -> Iterable[ParsedDocument]:
    form, shape = _layout(file)
    if shape == "records":
        slices = _slices(file, form)
        if slices is not None:
            numbered = ((i if form == "array" else each.line, each) for i, each in enumerate(slices, start=1))
            return records(numbered, path=file.path)
    found = _transcripts(file, form, shape) if shape else None
    return found if found is not None else (_verbatim(file, form),)


def _layout(file: _File) -> tuple[str, Shape | None]:
    """`array`, `object` or `lines` of JSON, or `text`, with the shape of what is in it."""
    ways = (_by_line, _as_value) if file.path.lower().endswith(_LINES) else (_as_value, _by_line)
    return next((found for way in ways if (found := way(file))), ("text", None))


def _as_value(file: _File) -> tuple[str, Shape | None] | None:
    start = file.text.lstrip(" \t\r\n")[:1]
    if start not in ("[", "{") or why_broken(file.raw) is not None:
        return None
    if start == "[":
        return "array", shape_of(first_elements(file.text, _SAMPLE))
    return "object", "conversations" if any(_given(file, KEYS)) else None


def _by_line(file: _File) -> tuple[str, Shape | None] | None:
    sample = [_value(line) for line in islice(lines_of(file.raw), _SAMPLE)]
    objects = [value for value in sample if isinstance(value, dict)]
    return ("lines", shape_of(sample)) if len(objects) * 2 > len(sample) else None


def _value(piece: Slice) -> object:
    """What a piece says; None where it is no JSON."""
    try:
        return decoded(piece.raw)
    except (ValueError, RecursionError):
        return None


def _given(file: _File, keys: Sequence[str]) -> list[bytes]:
    """The values of those keys of a file that is one object, as they are written there."""
    try:
        return [value for value in key_values(file.raw, tuple(keys)) if value[:1] not in (b"", b"n")]
    except (ValueError, RecursionError):
        return []


def _slices(file: _File, form: str) -> list[Slice] | None:
    try:
        return [*(lines_of if form == "lines" else elements)(file.raw)]
    except (ValueError, RecursionError):
        return None


def _transcripts(file: _File, form: str, shape: Shape) -> Iterable[ParsedDocument] | None:
    if form == "object":
        value = _value(Slice(1, file.raw))
        one = conversation_of(value) if isinstance(value, dict) else None
        return one and (rendered(one, path=file.path, digest=file.digest, size=file.size),)
    slices = _slices(file, form)
    if slices is None:
        return None
    if shape == "conversations":
        return _each(file, slices)
    broken: list[int] = []
    told = conversation_in(_readable(slices, broken))
    notes = _passed(broken, "is no JSON")
    return (rendered(told, path=file.path, digest=file.digest, size=file.size, notes=notes),)


def _readable(slices: Iterable[Slice], broken: list[int]) -> Iterator[object]:
    for each in slices:
        value = _value(each)
        if value is None:
            broken.append(each.line)
        yield value


def _each(file: _File, slices: Iterable[Slice]) -> list[ParsedDocument] | None:
    """A record for each conversation."""
    found: list[ParsedDocument] = []
    names: dict[str, int] = {}
    broken: list[int] = []
    for i, each in enumerate(slices, start=1):
        value = _value(each)
        told = conversation_of(value) if isinstance(value, dict) else None
        if told is None or not isinstance(value, dict):
            broken.append(each.line)
            continue
        name, place, digest = _id(value) or str(i), f"line {each.line}", sha256(each.raw).hexdigest()
        document = rendered(told, path=file.path, digest=digest, size=len(each.raw), record=name, place=place)
        take_name(document, each.line, names, path=file.path)
        found.append(document)
    if found:
        found[0] = found[0]._replace(notes=_passed(broken, "holds no conversation"))
    return found or None


def _id(value: dict[str, Any]) -> str:
    ids = (value.get(key) for key in _IDS)
    return next((str(each) for each in ids if each and isinstance(each, str | int) and each is not True), "")


def _passed(lines: Sequence[int], reason: str) -> tuple[str, ...]:
    others = f", as were {len(lines) - 1} more" if len(lines) > 1 else ""
    return (f"line {lines[0]} {reason} and was passed over{others}",) if lines else ()


def _verbatim(file: _File, form: str) -> ParsedDocument:
    """The text as it is, with its outermost keys as headings where each has a line of its own."""
    title = ""
    marks: tuple[Mark, ...] = ()
    notes: tuple[str, ...] = ()
    if form == "object":
        title = next(
            (value for raw in _given(file, ("title",)) if isinstance(value := _value(Slice(1, raw)), str)), ""
        )
        marks = tuple(_keys(file.text))
    elif form == "lines":
        marks = tuple(Mark(line.start(), "row", "", 2) for line in _LINE.finditer(file.text))
    elif form == "text" and file.text.strip() and (why := why_broken(file.raw)):
        notes = (f"it is no valid JSON ({why}) and was read as plain text",)
    title = short(title) or file.path.rpartition("/")[2]
    return ParsedDocument(None, file.text, title, file.digest, file.size, {}, marks, notes=notes)


_LINE = re.compile(r"[^\n]*\S[^\n]*")
_FIRST_KEY = re.compile(r"\s*+\{[ \t]*+\r?\n(?P<indent>[ \t]++)\"")


def _keys(text: str) -> Iterator[Mark]:
    first = _FIRST_KEY.match(text)
    if first is None:
        return
    key = re.compile(rf'^{first["indent"]}(?P<key>"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+")[ \t]*+:', re.MULTILINE)
    for found in key.finditer(text):
        name = _value(Slice(1, found["key"].encode()))
        yield Mark(found.start(), "heading", short(str(name)), 1)
