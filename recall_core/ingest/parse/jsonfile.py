"""JSON files: conversations, records, or else the text as it is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from recall_core.ingest.parse.jsonl import records, take_name
from recall_core.ingest.parse.messages import KEYS, Conversation, Shape, conversation_in, conversation_of, shape_of
from recall_core.ingest.parse.rawjson import (
    Slice,
    elements,
    first_elements,
    first_lines,
    key_values,
    lines_of,
    value_of,
    why_broken,
)
from recall_core.ingest.parse.rows import row_marks
from recall_core.ingest.parse.short import short
from recall_core.ingest.parse.text import decode
from recall_core.ingest.parse.transcript import rendered
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument

_BOM = b"\xef\xbb\xbf"
_LINES = (".jsonl", ".ndjson")
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
    if shape is None:
        return (_verbatim(file, form),)
    if shape == "records":
        slices = _slices(file, form)
        if slices is None:
            return (_verbatim(file, "text"),)
        return records(slices, path=file.path, in_array=form == "array")
    return _transcripts(file, form, shape) or (_verbatim(file, "object" if form == "object" else "text"),)


def _layout(file: _File) -> tuple[str, Shape | None]:
    """`array`, `object` or `lines` of JSON, or `text`, with the shape of what is in it."""
    ways = (_by_line, _as_value) if file.path.lower().endswith(_LINES) else (_as_value, _by_line)
    return next((found for way in ways if (found := way(file))), ("text", None))


def _as_value(file: _File) -> tuple[str, Shape | None] | None:
    shape = shape_of(first_elements(file.text))
    if shape:
        return "array", shape
    if why_broken(file.raw) is not None:
        return None
    start = file.text.lstrip(" \t\r\n")[:1]
    return "object" if start == "{" else "array", "conversations" if start == "{" and any(
        _given(file, KEYS)
    ) else None


def _by_line(file: _File) -> tuple[str, Shape | None] | None:
    sample = first_lines(file.raw)
    objects = [value for value in sample if isinstance(value, dict)]
    return ("lines", shape_of(sample)) if len(objects) * 2 > len(sample) else None


def _given(file: _File, keys: Sequence[str]) -> list[bytes]:
    """The values of those keys of a file that is one object, as they are written there."""
    try:
        return [value for value in key_values(file.raw, tuple(keys)) if value[:1] not in (b"", b"n")]
    except (ValueError, RecursionError):
        return []


def _slices(file: _File, form: str) -> Iterator[Slice] | None:
    """The lines or the elements; None where the array turns out to be none."""
    try:
        return (lines_of if form == "lines" else elements)(file.raw)
    except (ValueError, RecursionError):
        return None


def _transcripts(file: _File, form: str, shape: Shape) -> Sequence[ParsedDocument] | None:
    """The conversations; None where there is none after all."""
    if form != "lines" and shape == "turns":
        values = value_of(file.raw)
        return (_whole(file, conversation_in(values)),) if isinstance(values, list) else None
    if form == "object":
        value = value_of(file.raw)
        one = conversation_of(value) if isinstance(value, dict) else None
        return (_whole(file, one),) if one else None
    slices = _slices(file, form)
    if slices is None:
        return None
    if shape == "conversations":
        return _each(file, slices)
    broken: list[int] = []
    told = conversation_in(_readable(slices, broken))
    return (_whole(file, told, notes=_passed(broken, "is no JSON")),)


def _whole(file: _File, told: Conversation, *, notes: tuple[str, ...] = ()) -> ParsedDocument:
    return rendered(told, path=file.path, digest=file.digest, size=file.size, notes=notes)


def _readable(slices: Iterable[Slice], broken: list[int]) -> Iterator[object]:
    for line, raw in slices:
        value = value_of(raw)
        if value is None:
            broken.append(line)
        yield value


def _each(file: _File, slices: Iterable[Slice]) -> list[ParsedDocument] | None:
    """A record for each conversation."""
    found: list[ParsedDocument] = []
    names: dict[str, int] = {}
    broken: list[int] = []
    for i, (line, raw) in enumerate(slices, start=1):
        value = value_of(raw)
        told = conversation_of(value) if isinstance(value, dict) else None
        if told is None or not isinstance(value, dict):
            broken.append(line)
            continue
        name, place, digest = _id(value) or str(i), f"line {line}", sha256(raw).hexdigest()
        document = rendered(told, path=file.path, digest=digest, size=len(raw), record=name, place=place)
        take_name(document, line, names, path=file.path)
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
        title = next((value for raw in _given(file, ("title",)) if isinstance(value := value_of(raw), str)), "")
        marks = tuple(_keys(file.text))
    elif form == "lines":
        marks = row_marks(line.start() for line in _LINE.finditer(file.text))
    elif form == "text" and file.text.strip() and (why := why_broken(file.raw)):
        notes = (f"it is no valid JSON ({why}) and was read as plain text",)
    title = short(title) or file.path.rpartition("/")[2]
    return ParsedDocument(None, file.text, title, file.digest, file.size, {}, marks, notes=notes)


# It begins at a line's start alone: a search from each blank of a long blank line would take quadratic time.
_LINE = re.compile(r"^[^\S\n]*+\S", re.MULTILINE)
_FIRST_KEY = re.compile(r"\s*+\{[ \t]*+\r?\n(?P<indent>[ \t]{1,16})\"")


def _keys(text: str) -> Iterator[Mark]:
    first = _FIRST_KEY.match(text)
    if first is None:
        return
    key = re.compile(rf'^{first["indent"]}(?P<key>"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+")[ \t]*+:', re.MULTILINE)
    for found in key.finditer(text):
        name = value_of(found["key"].encode())
        yield Mark(found.start(), "heading", short(str(name)), 1)
