"""The JSONL parser: every line is a document of its own, with an id, a text and whatever else it carries."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any, NoReturn

from recall_core._lazy import np
from recall_core.errors import IngestError
from recall_core.ingest.metadata import KeyTwice, unique, why_no_json
from recall_core.ingest.parse.rawjson import Slice, fast_decoder, first_half, lines_of
from recall_core.ingest.parse.text import decode
from recall_core.ports import ParsedDocument
from recall_core.text import nfc

_AT_ONCE = 64  # slices that are asked together whether each of their keys is given once


class Jsonl:
    """Reads one JSON object a line; empty lines are passed over.

    `_id` or `id` (a string or a whole number, else the line's number) names the record, `text` or `content` is what
    is searched, `title` is its title, "" when absent; every other key becomes metadata. Where the text is blank and
    the title is not, the title is the text too.
    """

    version = 2
    reads = "text"

    def parse(self, raw: bytes, *, path: str, digest: str) -> Iterator[ParsedDocument]:
        """The records in file order.

        A record's hash and size are those of its line without the line end.  Raises IngestError `binary_file`,
        `not_utf8`, `bad_record` and `duplicate_record`, the last two with the line's number.
        """
        decode(raw, path=path)
        return records(lines_of(raw.removeprefix(b"\xef\xbb\xbf")), path=path)


def records(slices: Iterable[Slice], *, path: str, in_array: bool = False) -> Iterator[ParsedDocument]:
    """A document for each object, in order. in_array: what has no id is called by its number, not by its line.

    A record's hash and size are those of its bytes.  Raises IngestError as `Jsonl.parse` does.
    """
    first_lines: dict[str, int] = {}
    remaining = iter(slices)
    number = 0
    while some := [*islice(remaining, _AT_ONCE)]:
        for found, (line, raw) in zip(_objects([raw for _, raw in some]), some, strict=True):
            number += 1
            record = _checked(bytes(raw), path, line, in_array=in_array) if found is None else found
            document = _document(record, raw, number if in_array else line, line, path)
            take_name(document, line, first_lines, path=path)
            yield document


def take_name(document: ParsedDocument, line: int, first_lines: dict[str, int], *, path: str) -> None:
    """Notes by which line a record is named. Raises IngestError `duplicate_record` where another has its name."""
    record = document.record or ""
    if not record.isascii():
        record = nfc(record)
    if record in first_lines:
        raise IngestError(
            "duplicate_record",
            f"{path}:{line}: the id {record!r} was given in line {first_lines[record]} already.",
            details={"path": path, "line": line},
        )
    first_lines[record] = line


def _objects(slices: Sequence[bytes]) -> Sequence[dict[str, Any] | None]:
    """What each slice holds where it is seen at little cost to be an object with each key once, else None."""
    try:
        found = [*map(fast_decoder().decode, slices)]
    except (ValueError, RecursionError):
        found = [*map(_value, slices)]
    are_objects = {*map(type, found)} == {dict}
    if are_objects and _has_each_key_once(found, _colons_at_most(b"\n".join(slices))):
        return found
    return [
        value if type(value) is dict and _has_each_key_once([value], len(_COLON.findall(raw))) else None
        for value, raw in zip(found, slices, strict=True)
    ]


def _value(raw: bytes) -> Any:
    try:
        return fast_decoder().decode(raw)
    except (ValueError, RecursionError):
        return None


_COLON = re.compile(rb':(?<=[" \t\r\n]:)')


def _colons_at_most(raw: bytes) -> int:
    """As many as `_COLON` finds, or a few more, in a fraction of the time."""

    characters = np.frombuffer(raw, np.uint8)
    return int(np.count_nonzero((characters[1:] == ord(":")) & (characters[:-1] <= ord('"'))))


def _has_each_key_once(records: Sequence[Any], colons: int) -> bool:
    """Whether no key was given twice in these objects or within them, written with so many colons or fewer.

    Every key is written before a colon, behind its quote or white space: where there are as many keys as there are of
    those, each is there once.
    """
    keys = sum(map(len, records))
    if keys == colons:
        return True
    holders = [*records]
    for holder in holders:  # those within are added meanwhile
        for value in holder.values() if type(holder) is dict else holder:
            if (kind := type(value)) is dict or kind is list:
                holders.append(value)
                keys += len(value) if kind is dict else 0
    return keys == colons


def _checked(raw: bytes, path: str, line: int, *, in_array: bool) -> dict[str, Any]:
    """The object that a slice holds, each of its keys given once."""
    where = f"{path}:{line}"
    try:
        text = raw.decode(json.detect_encoding(raw), "surrogatepass")
        record = _STRICT.decode(text)
        json.dumps(record, ensure_ascii=False).encode()  # an escaped half of a surrogate pair cannot be stored
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
    """Where a slice is no JSON, in code points of its text if that is known, and why."""
    if isinstance(error, json.JSONDecodeError):
        return error.pos, why_no_json(error)
    if isinstance(error, UnicodeEncodeError):
        return len(raw[: first_half(raw)].decode()), "half a surrogate pair is no character"
    if isinstance(error, _NoValueError):
        name = str(error)
        begin = next((each.end() - len(name) for each in _WORD.finditer(text) if each["word"] == name), None)
        return begin, f"{name} is no value of JSON"
    return None, why_no_json(error)


def _spot(before: str, line: int, *, in_array: bool) -> str:
    """The place in the file behind this part of a slice that begins in a line; its column is known where the line
    begins in the slice."""
    further = before.count("\n")
    column = len(before) - before.rfind("\n")
    if further:
        return f" in line {line + further}, column {column}"
    return "" if in_array else f" in column {column}"


class _NoValueError(ValueError):
    """A number that Python writes in JSON and JSON has not."""


def _refuse_constant(name: str) -> NoReturn:
    raise _NoValueError(name)


_WORD = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+|(?P<word>-?[A-Za-z]++)', re.DOTALL)


_MADE: Any = tuple.__new__  # a quarter of the time that the constructor takes
_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=unique)


def _document(record: dict[str, Any], raw: bytes, number: int, line: int, path: str) -> ParsedDocument:
    name = record.pop("_id") if "_id" in record else record.pop("id", number)
    if type(name) is int:
        name = str(name)
    elif type(name) is not str or not name:
        raise _bad(f"{path}:{line}", "its id is neither a string nor a whole number")
    text = record.pop("text") if "text" in record else record.pop("content", None)
    if not isinstance(text, str):
        raise _bad(f"{path}:{line}", 'it has no string under "text" or "content"')
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
