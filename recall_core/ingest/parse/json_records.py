"""JSON: records, conversations or plain text; also chats in plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple, NoReturn

import msgspec

from recall_core._lazy import np
from recall_core.errors import IngestError
from recall_core.ingest.metadata import DEEPEST, KeyTwice, unique, why_no_json
from recall_core.ingest.parse.conversations import (
    KEYS,
    Conversation,
    Shape,
    chat_marks,
    conversation_in,
    conversation_of,
    render,
    shape_of,
)
from recall_core.ingest.parse.table import row_marks
from recall_core.ingest.parse.text import decode, short
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument
from recall_core.text import nfc

_SAMPLE = 64  # values examined to decide the layout of a file
_SAMPLED = 256 * 1024  # characters after which sampling stops
_AT_ONCE = 64  # slices checked together for repeated keys
_BOM = b"\xef\xbb\xbf"
_LINES = (".jsonl", ".ndjson")
_IDS = ("_id", "id", "uuid", "conversation_id")
_FAST = msgspec.json.Decoder()
"""Much faster than Python's decoder, but does not accept NaN or lone surrogates."""

Slice = tuple[int, bytes]
"""A value in a file: its first line, from 1, and its bytes as written.

The bytes may be a `msgspec.Raw`, a view that can be hashed and decoded but has no bytes methods.
"""


class _File(NamedTuple):
    raw: bytes
    text: str
    path: str
    digest: str
    size: int


class JsonFile:
    """Reads a JSON file with one value, or one value per line.

    Conversations become transcripts, one record each if there are several. Objects with a text become records, as
    with the parser `jsonl`. Anything else is kept as text.
    """

    version = 2
    reads = "text"

    def parse(self, raw: bytes, *, path: str, digest: str) -> Iterable[ParsedDocument]:
        """Return the documents in file order. A file that is not JSON is read as text, with a note.

        Raises IngestError `binary_file` and `not_utf8`, and for records `bad_record` and `duplicate_record`.
        """
        file = _File(raw.removeprefix(_BOM), decode(raw, path=path), path, digest, len(raw))
        form, shape = _layout(file)
        if shape is None:
            return (_verbatim(file, form),)
        if shape == "records":
            slices = _slices(file, form)
            if slices is None:
                return (_verbatim(file, "text"),)
            return records(slices, path=file.path, in_array=form == "array")
        return _transcripts(file, form, shape) or (_verbatim(file, "object" if form == "object" else "text"),)


class Transcript:
    """Reads a conversation turn by turn, each with its speaker.

    In JSON, a line with the speaker precedes each turn, and several conversations become several records. A plain
    text chat is unchanged.
    """

    version = 2
    reads = "text"

    def parse(self, raw: bytes, *, path: str, digest: str) -> Iterable[ParsedDocument]:
        """Return the conversation, or one record per conversation.

        Raises IngestError as the parsers `text` and `json` do.
        """
        text = decode(raw, path=path)
        if text.lstrip()[:1] in ("{", "["):
            file = _File(raw.removeprefix(_BOM), text, path, digest, len(raw.removeprefix(_BOM)))
            form, shape = _layout(file)
            transcripts = _transcripts(file, form, shape) if shape in ("turns", "conversations") else None
            if transcripts is not None:
                return transcripts
        marks = chat_marks(text)
        notes = () if marks else ("no turns found",)
        title = path.rpartition("/")[2]
        return (ParsedDocument(None, text, title, digest, len(raw), {}, marks, notes=notes),)


def _layout(file: _File) -> tuple[str, Shape | None]:
    """Return the JSON layout (`array`, `object`, `lines`) or `text`, and the shape of the values."""
    ways = (_by_line, _as_value) if file.path.lower().endswith(_LINES) else (_as_value, _by_line)
    return next((found for way in ways if (found := way(file))), ("text", None))


def _as_value(file: _File) -> tuple[str, Shape | None] | None:
    shape = shape_of(first_elements(file.text))
    if shape:
        return "array", shape
    if why_broken(file.raw) is not None:
        return None
    start = file.text.lstrip(" \t\r\n")[:1]
    if start != "{":
        return "array", None
    return "object", "conversations" if any(_read_values(file, KEYS)) else None


def _by_line(file: _File) -> tuple[str, Shape | None] | None:
    sample = first_lines(file.raw)
    objects = [value for value in sample if isinstance(value, dict)]
    return ("lines", shape_of(sample)) if len(objects) * 2 > len(sample) else None


def _read_values(file: _File, keys: Sequence[str]) -> list[bytes]:
    """Return the values of these keys in a file with a single object, as written."""
    try:
        return [value for value in key_values(file.raw, tuple(keys)) if value[:1] not in (b"", b"n")]
    except (ValueError, RecursionError):
        return []


def _slices(file: _File, form: str) -> Iterator[Slice] | None:
    """Return the lines or elements; None if the array is not valid."""
    try:
        return (lines_of if form == "lines" else elements)(file.raw)
    except (ValueError, RecursionError):
        return None


def _transcripts(file: _File, form: str, shape: Shape) -> Sequence[ParsedDocument] | None:
    """Return the conversations; None if the file turns out to contain none."""
    if form != "lines" and shape == "turns":
        values = value_of(file.raw)
        return (_render_one(file, conversation_in(values)),) if isinstance(values, list) else None
    if form == "object":
        value = value_of(file.raw)
        one = conversation_of(value) if isinstance(value, dict) else None
        return (_render_one(file, one),) if one else None
    slices = _slices(file, form)
    if slices is None:
        return None
    if shape == "conversations":
        return _render_each(file, slices)
    broken: list[int] = []
    conversation = conversation_in(_readable(slices, broken))
    return (_render_one(file, conversation, notes=_describe_lines(broken, "is not JSON")),)


def _readable(slices: Iterable[Slice], broken: list[int]) -> Iterator[object]:
    """Yield the value of each line. Add the numbers of lines that are not JSON to `broken`."""
    for line, raw in slices:
        value = value_of(raw)
        if value is None:
            broken.append(line)
        yield value


def _render_one(file: _File, conversation: Conversation, *, notes: tuple[str, ...] = ()) -> ParsedDocument:
    return render(conversation, path=file.path, digest=file.digest, size=file.size, notes=notes)


def _render_each(file: _File, slices: Iterable[Slice]) -> list[ParsedDocument] | None:
    """Return a record for each conversation."""
    found: list[ParsedDocument] = []
    names: dict[str, int] = {}
    broken: list[int] = []
    for i, (line, raw) in enumerate(slices, start=1):
        value = value_of(raw)
        conversation = conversation_of(value) if isinstance(value, dict) else None
        if conversation is None or not isinstance(value, dict):
            broken.append(line)
            continue
        name, place, digest = _id(value) or str(i), f"line {line}", sha256(raw).hexdigest()
        document = render(conversation, path=file.path, digest=digest, size=len(raw), record=name, place=place)
        take_name(document, line, names, path=file.path)
        found.append(document)
    if found:
        found[0] = found[0]._replace(notes=_describe_lines(broken, "contains no conversation"))
    return found or None


def _id(value: dict[str, Any]) -> str:
    ids = (value.get(key) for key in _IDS)
    return next((str(each) for each in ids if each and isinstance(each, str | int) and each is not True), "")


def _describe_lines(lines: Sequence[int], reason: str) -> tuple[str, ...]:
    others = f", like {len(lines) - 1} more" if len(lines) > 1 else ""
    return (f"line {lines[0]} {reason} and was skipped{others}",) if lines else ()


def _verbatim(file: _File, form: str) -> ParsedDocument:
    """Return the text unchanged. Top-level keys become headings if each is on its own line."""
    title = ""
    marks: tuple[Mark, ...] = ()
    notes: tuple[str, ...] = ()
    if form == "object":
        title = next((value for raw in _read_values(file, ("title",)) if isinstance(value := value_of(raw), str)), "")
        marks = tuple(_keys(file.text))
    elif form == "lines":
        marks = row_marks(line.start() for line in _LINE.finditer(file.text))
    elif form == "text" and file.text.strip() and (why := why_broken(file.raw)):
        notes = (f"not valid JSON ({why}): read as plain text",)
    title = short(title) or file.path.rpartition("/")[2]
    return ParsedDocument(None, file.text, title, file.digest, file.size, {}, marks, notes=notes)


# Anchored at line starts: searching from each blank of a long blank line would take quadratic time.
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


class Jsonl:
    """Reads one JSON object per line and skips empty lines.

    `_id` or `id`: name of the record, a string or integer; else the line number.
    `text` or `content`: the searched text. If it is blank and the title is not, the title is the text.
    `title`: title of the record, "" if missing.
    All other keys become metadata.
    """

    version = 2
    reads = "text"

    def parse(self, raw: bytes, *, path: str, digest: str) -> Iterator[ParsedDocument]:
        """Yield the records in file order.

        A record's hash and size are those of its line without the line end. Raises IngestError `binary_file`,
        `not_utf8`, and with the line number `bad_record` and `duplicate_record`.
        """
        decode(raw, path=path)
        return records(lines_of(raw.removeprefix(_BOM)), path=path)


def records(slices: Iterable[Slice], *, path: str, in_array: bool = False) -> Iterator[ParsedDocument]:
    """Yield a document for each object, in order. A record's hash and size are those of its bytes.

    in_array: name a record without id by its position, not its line. Raises IngestError as `Jsonl.parse` does.
    """
    first_lines: dict[str, int] = {}
    remaining = iter(slices)
    number = 0
    while some := [*islice(remaining, _AT_ONCE)]:
        for found, (line, raw) in zip(_objects([raw for _, raw in some]), some, strict=True):
            number += 1
            record = _parse_strictly(bytes(raw), path, line, in_array=in_array) if found is None else found
            document = _document(record, raw, number if in_array else line, line, path)
            take_name(document, line, first_lines, path=path)
            yield document


def take_name(document: ParsedDocument, line: int, first_lines: dict[str, int], *, path: str) -> None:
    """Remember the line of a record's name. Raises IngestError `duplicate_record` if another record has the name."""
    record = document.record or ""
    if not record.isascii():
        record = nfc(record)
    if record in first_lines:
        raise IngestError(
            "duplicate_record",
            f"{path}:{line}: the id {record!r} already appears in line {first_lines[record]}.",
            details={"path": path, "line": line},
        )
    first_lines[record] = line


def _objects(slices: Sequence[bytes]) -> Sequence[dict[str, Any] | None]:
    """Return the object of each slice; None unless a cheap check proves that its keys are unique."""
    try:
        found = [*map(_FAST.decode, slices)]
    except (ValueError, RecursionError):
        found = []
        for each in slices:
            try:
                found.append(_FAST.decode(each))
            except (ValueError, RecursionError):
                found.append(None)
    are_objects = {*map(type, found)} == {dict}
    if are_objects and _has_each_key_once(found, _colons_at_most(b"\n".join(slices))):
        return found
    return [
        value if type(value) is dict and _has_each_key_once([value], len(_COLON.findall(raw))) else None
        for value, raw in zip(found, slices, strict=True)
    ]


_COLON = re.compile(rb':(?<=[" \t\r\n]:)')


def _colons_at_most(raw: bytes) -> int:
    """Return an upper bound for the number of `_COLON` matches, much faster than counting them."""
    characters = np.frombuffer(raw, np.uint8)
    return int(np.count_nonzero((characters[1:] == ord(":")) & (characters[:-1] <= ord('"'))))


def _has_each_key_once(records: Sequence[Any], colons: int) -> bool:
    """Return True if no key repeats in these objects or in nested ones. colons: the `_COLON` matches in them.

    Each key ends in a quote or white space before a colon. If there are as many keys as such colons, no key repeats.
    """
    keys = sum(map(len, records))
    if keys == colons:
        return True
    holders = [*records]
    for holder in holders:  # nested values are added during the loop
        for value in holder.values() if type(holder) is dict else holder:
            if (kind := type(value)) is dict or kind is list:
                holders.append(value)
                keys += len(value) if kind is dict else 0
    return keys == colons


def _parse_strictly(raw: bytes, path: str, line: int, *, in_array: bool) -> dict[str, Any]:
    """Return the object in a slice, and check that no key repeats."""
    where = f"{path}:{line}"
    try:
        text = raw.decode(json.detect_encoding(raw), "surrogatepass")
        record = _STRICT.decode(text)
        json.dumps(record, ensure_ascii=False).encode()  # an escaped lone surrogate cannot be stored
    except KeyTwice as error:
        raise _bad(where, str(error)) from error
    except (ValueError, RecursionError) as error:
        offset, why = _fault(error, text, raw)
        spot = "" if offset is None else _spot(text[:offset], line, in_array=in_array)
        raise _bad(where, f"not valid JSON{spot}: {why}") from error
    if not isinstance(record, dict):
        raise _bad(where, "not a JSON object")
    return record


def _fault(error: ValueError | RecursionError, text: str, raw: bytes) -> tuple[int | None, str]:
    """Return the position of the error in a slice, in code points if known, and the reason."""
    if isinstance(error, json.JSONDecodeError):
        return error.pos, why_no_json(error)
    if isinstance(error, UnicodeEncodeError):
        return len(raw[: first_half(raw)].decode()), "a lone surrogate is not a character"
    if isinstance(error, _NoValueError):
        name = str(error)
        begin = next((each.end() - len(name) for each in _WORD.finditer(text) if each["word"] == name), None)
        return begin, f"{name} is not a JSON value"
    return None, why_no_json(error)


def _spot(before: str, line: int, *, in_array: bool) -> str:
    """Return the place in the file after `before`, the first part of a slice.

    line: first line of the slice. The column is known if its line begins in the slice.
    """
    further = before.count("\n")
    column = len(before) - before.rfind("\n")
    if further:
        return f" in line {line + further}, column {column}"
    return "" if in_array else f" in column {column}"


class _NoValueError(ValueError):
    """A number that Python writes as JSON although JSON does not have it."""


def _refuse_constant(name: str) -> NoReturn:
    raise _NoValueError(name)


_WORD = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+|(?P<word>-?[A-Za-z]++)', re.DOTALL)


_MADE: Any = tuple.__new__  # takes a quarter of the constructor's time
_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=unique)


def _document(record: dict[str, Any], raw: bytes, number: int, line: int, path: str) -> ParsedDocument:
    name = record.pop("_id") if "_id" in record else record.pop("id", number)
    if type(name) is int:
        name = str(name)
    elif type(name) is not str or not name:
        raise _bad(f"{path}:{line}", "its id is not a string or integer")
    text = record.pop("text") if "text" in record else record.pop("content", None)
    if not isinstance(text, str):
        raise _bad(f"{path}:{line}", 'it has no string "text" or "content"')
    title = record.pop("title", None)
    if title is None:
        title = ""
    elif not isinstance(title, str):
        raise _bad(f"{path}:{line}", "its title is not a string")
    is_title = (not text or text.isspace()) and bool(title.strip())
    digest = sha256(raw).hexdigest()
    own = title if is_title else text
    fields = (name, own, title, digest, len(raw), record, (), is_title, f"line {line}", (), ())
    return _MADE(ParsedDocument, fields)  # type: ignore[no-any-return]


def _bad(where: str, reason: str) -> IngestError:
    return IngestError("bad_record", f"{where}: {reason}.", hint='{"id": "a", "text": "…"} on one line')


def decode_json(raw: bytes) -> Any:
    """Return the value of UTF-8 JSON. Accepts NaN, and lone surrogates, which become U+FFFD.

    Raises ValueError if it is not JSON, RecursionError if it is nested too deep for the interpreter.
    """
    try:
        return _FAST.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _LENIENT.decode(mend_surrogates(bytes(raw)).decode())


def is_deeper(value: object, *, most: int = DEEPEST) -> bool:
    """Return True if a JSON value has more than `most` levels of arrays and objects."""
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    deep = 0
    while level and deep <= most:
        deep += 1
        below: list[Any] = []
        for holder in level:
            for each in holder.values() if type(holder) is dict else holder:
                if (kind := type(each)) is dict or kind is list:  # takes half the time of isinstance
                    below.append(each)  # noqa: PERF401 - a loop is faster for short containers
        level = below
    return deep > most


def first_half(raw: bytes) -> int:
    """Return the offset of the first escaped lone surrogate, or -1."""
    return next((each.start() for each in _ESCAPE.finditer(raw) if each["half"]), -1)


def why_broken(raw: bytes) -> str | None:
    """Return the JSON error of a file and its line; None if it is valid, or nested too deep to tell."""
    try:
        _decode_partly(raw, msgspec.Raw)
    except ValueError as error:
        reason, _, where = str(error).removeprefix("JSON is malformed: ").removesuffix(")").rpartition(" (byte ")
        line = raw.count(b"\n", 0, int(where)) + 1 if where.isdecimal() and reason else 0
        return f"line {line}: {reason}" if line else "it is truncated"
    except RecursionError:
        pass
    return None


def elements(raw: bytes) -> Iterator[Slice]:
    """Return the elements of an array in order, as slices of its bytes.

    Raises ValueError and RecursionError like `decode_json`.
    """
    sound, written = _decode_partly(raw, list[msgspec.Raw])
    if sound is raw and b"\n" not in raw:
        return ((1, element) for element in written)
    return _with_lines(raw, sound, written)


def _with_lines(raw: bytes, sound: bytes, written: Iterable[Any]) -> Iterator[Slice]:
    """Yield the slices of raw. written: the elements of `sound`, which is raw with surrogates replaced."""
    line, last = 1, sound.find(b"[") + 1
    gap = b""
    for element in written:
        start = last + len(gap)
        if not sound.startswith(gap, last) or sound[start] in _BETWEEN:  # usually the gap is the same as the last
            gap = _GAP.match(sound, last)[0]  # type: ignore[index]  # matches the empty string, too
            start = last + len(gap)
        line += raw.count(b"\n", last, start)
        last = start + len(element)
        yield line, raw[start:last]
        line += raw.count(b"\n", start, last)


def key_values(raw: bytes, names: tuple[str, ...]) -> list[bytes]:
    """Return the values of these keys of an object as written; b"" for a missing key.

    Raises ValueError, RecursionError.
    """
    _, values = _decode_partly(raw, _keyed_type(names))
    return [bytes(getattr(values, field)) for field in values.__struct_fields__]


def lines_of(raw: bytes) -> Iterator[Slice]:
    """Yield the non-empty lines without their line ends."""
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if line and not line.isspace():
            yield number, line.removesuffix(b"\r")


def first_lines(raw: bytes) -> list[Any]:
    """Return the values of the first non-empty lines; None for lines that are not JSON."""
    found: list[Any] = []
    size = 0
    for _, line in lines_of(raw):
        found.append(value_of(line))
        size += len(line)
        if len(found) == _SAMPLE or size > _SAMPLED:
            break
    return found


def value_of(raw: bytes) -> Any:
    """Return the value as `decode_json` does; None if it is not JSON or nested too deep."""
    try:
        return decode_json(raw)
    except (ValueError, RecursionError):
        return None


def first_elements(text: str) -> list[Any]:
    """Return the first elements of the array at the start of the text, as far as they are valid."""
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


def mend_surrogates(raw: bytes) -> bytes:
    """Return JSON of the same length with each escaped lone surrogate replaced by U+FFFD."""
    if not _HALF.search(raw):
        return raw
    return _ESCAPE.sub(lambda escape: rb"\ufffd" if escape["half"] else escape[0], raw)


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


# Python refuses to parse longer integers; round them.
_LENIENT = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) < 4000 else float(digits))


def _decode_partly(raw: bytes, kind: Any) -> tuple[bytes, Any]:
    """Decode as a type, with surrogates replaced if necessary. Return the decoded bytes too.

    Raises ValueError, RecursionError.
    """
    try:
        return raw, msgspec.json.decode(raw, type=kind)
    except msgspec.MsgspecError:
        sound = mend_surrogates(raw)
        if sound == raw:
            raise
        return sound, msgspec.json.decode(sound, type=kind)


@cache
def _keyed_type(names: tuple[str, ...]) -> Any:
    """Return a type for objects with these keys that leaves their values undecoded."""
    return msgspec.defstruct("Keyed", [(name, msgspec.Raw, msgspec.Raw(b"")) for name in names])
