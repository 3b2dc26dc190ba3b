"""The JSONL parser: every line is a document of its own, with an id, a text and whatever else it carries."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, NoReturn

from recall_core.errors import IngestError
from recall_core.ingest.metadata import KeyTwice, unique
from recall_core.ingest.parse.rawjson import Slice, fast_decoder, lines_of
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
        return records(((line.line, line) for line in lines), path=path)


def records(slices: Iterable[tuple[int, Slice]], *, path: str) -> Iterator[ParsedDocument]:
    """A document for each object, in order; with it comes what it is called where it has no id.

    A record's hash and size are those of its slice.  Raises IngestError as `Jsonl.parse` does.
    """
    first_lines: dict[str, int] = {}
    for number, (line, raw) in slices:
        where = f"{path}:{line}"
        document = _document(_object(raw, where), raw, number, line, where)
        take_name(document, line, first_lines, path=path)
        yield document


def take_name(document: ParsedDocument, line: int, first_lines: dict[str, int], *, path: str) -> None:
    """Notes by which line a record is named. Raises IngestError `duplicate_record` where another has its name."""
    record = nfc(str(document.record))
    if record in first_lines:
        raise IngestError(
            "duplicate_record",
            f"{path}:{line}: the id {record!r} was given in line {first_lines[record]} already.",
            details={"path": path, "line": line},
        )
    first_lines[record] = line


def _object(raw: bytes, where: str) -> dict[str, Any]:
    """The object that a slice holds, each of its keys given once."""
    record = _plain(raw)
    if record is None:
        record = _checked(raw, where)
    if not isinstance(record, dict):
        raise _bad(where, "not a JSON object")
    return record


_HOLDERS = (dict, list)
_COLON = re.compile(rb'"[ \t\r\n]*+:')


def _plain(raw: bytes) -> dict[str, Any] | None:
    """The object by the fastest way, where it is seen at little cost that there is nothing to refuse in it.

    Every key is written as a quote before a colon: where its objects have as many keys as there are of those, none
    was given twice.
    """
    try:
        record = fast_decoder().decode(raw)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and _keys(record) == len(_COLON.findall(raw)) else None


def _keys(record: dict[str, Any]) -> int:
    """How many keys the object and all within it have."""
    keys = len(record)
    inner = [value for value in record.values() if isinstance(value, _HOLDERS)]
    while inner:
        value = inner.pop()
        keys += len(value) if isinstance(value, dict) else 0
        values = value.values() if isinstance(value, dict) else value
        inner += [each for each in values if isinstance(each, _HOLDERS)]
    return keys


def _checked(raw: bytes, where: str) -> Any:
    try:
        record = _STRICT.decode(raw.decode(json.detect_encoding(raw), "surrogatepass"))
        json.dumps(record, ensure_ascii=False).encode()  # an escaped half of a surrogate pair cannot be stored
    except KeyTwice as error:
        raise _bad(where, str(error)) from error
    except (ValueError, RecursionError) as error:
        raise _bad(where, f"not valid JSON: {error}") from error
    return record


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=unique)


def _document(record: dict[str, Any], raw: bytes, number: int, line: int, where: str) -> ParsedDocument:
    name = record.pop("_id") if "_id" in record else record.pop("id", number)
    if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
        raise _bad(where, "its id is neither a string nor a whole number")
    text = record.pop("text") if "text" in record else record.pop("content", None)
    if not isinstance(text, str):
        raise _bad(where, 'it has no string under "text" or "content"')
    title = record.pop("title", None)
    if not isinstance(title, str | None):
        raise _bad(where, "its title is not a string")
    title = title or ""
    is_title = (not text or text.isspace()) and bool(title.strip())
    digest = sha256(raw).hexdigest()
    own = title if is_title else text
    place = f"line {line}"
    return ParsedDocument(str(name), own, title, digest, len(raw), record, is_title=is_title, place=place)


def _bad(where: str, reason: str) -> IngestError:
    return IngestError("bad_record", f"{where}: {reason}.", hint='{"id": "a", "text": "…"} on one line')
