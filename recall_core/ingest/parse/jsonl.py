"""The JSONL parser: every line is a document of its own, with an id, a text and whatever else it carries."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, NoReturn

from recall_core.errors import IngestError
from recall_core.ingest.metadata import KeyTwice, unique
from recall_core.ingest.parse.rawjson import fast_decoder, lines_of
from recall_core.ingest.parse.text import decode
from recall_core.ports import ParsedDocument
from recall_core.text import nfc


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
        lines = lines_of(raw.removeprefix(b"\xef\xbb\xbf"))
        return records(((line, line, written) for line, written in lines), path=path)


def records(slices: Iterable[tuple[int, int, bytes]], *, path: str) -> Iterator[ParsedDocument]:
    """A document for each object, in order, of (what it is called where it has no id, its line, its bytes).

    A record's hash and size are those of its bytes.  Raises IngestError as `Jsonl.parse` does.
    """
    first_lines: dict[str, int] = {}
    read = fast_decoder().decode
    for number, line, raw in slices:
        try:
            record = read(raw)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or not _has_each_key_once(record, raw):
            record = _checked(raw, f"{path}:{line}")
        document = _document(record, raw, number, line, path)
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


_COLON = re.compile(rb':(?<=[" \t\r\n]:)')


def _has_each_key_once(record: dict[str, Any], raw: bytes) -> bool:
    """Whether it is seen at little cost that no key was given twice, in the object that was read from this or within.

    Every key is written before a colon, behind its quote or white space: where there are as many keys as there are of
    those, each is there once.
    """
    colons = len(_COLON.findall(raw))
    if colons == len(record):
        return True
    keys = 0
    holders: list[Any] = [record]
    for holder in holders:  # those within are added meanwhile
        is_object = type(holder) is dict
        keys += len(holder) if is_object else 0
        for value in holder.values() if is_object else holder:
            if (kind := type(value)) is dict or kind is list:
                holders.append(value)  # noqa: PERF401 - most hold little, and a loop is faster then
    return keys == colons


def _checked(raw: bytes, where: str) -> dict[str, Any]:
    """The object that a slice holds, each of its keys given once."""
    try:
        record = _STRICT.decode(raw.decode(json.detect_encoding(raw), "surrogatepass"))
        json.dumps(record, ensure_ascii=False).encode()  # an escaped half of a surrogate pair cannot be stored
    except KeyTwice as error:
        raise _bad(where, str(error)) from error
    except (ValueError, RecursionError) as error:
        raise _bad(where, f"not valid JSON: {error}") from error
    if not isinstance(record, dict):
        raise _bad(where, "not a JSON object")
    return record


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_MADE: Any = tuple.__new__  # a quarter of the time that the constructor takes
_NAMES = (str, int)
_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=unique)


def _document(record: dict[str, Any], raw: bytes, number: int, line: int, path: str) -> ParsedDocument:
    name = record.pop("_id") if "_id" in record else record.pop("id", number)
    if isinstance(name, bool) or not isinstance(name, _NAMES) or name == "":
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
    fields = (str(name), own, title, digest, len(raw), record, (), is_title, f"line {line}", (), ())
    return _MADE(ParsedDocument, fields)  # type: ignore[no-any-return]


def _bad(where: str, reason: str) -> IngestError:
    return IngestError("bad_record", f"{where}: {reason}.", hint='{"id": "a", "text": "…"} on one line')
