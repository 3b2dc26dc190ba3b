"""The JSONL parser: every line is a document of its own, with an id, a text and whatever else it carries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NoReturn

from recall_core.errors import IngestError
from recall_core.ingest.metadata import KeyTwice, unique
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
        first_lines: dict[str, int] = {}
        for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
            line = line.removesuffix(b"\r")  # noqa: PLW2901 - a line end of two bytes is still a line end
            if not line.strip():
                continue
            document = _document(_object(line, f"{path}:{number}"), line, number, f"{path}:{number}")
            record = nfc(str(document.record))
            if record in first_lines:
                raise IngestError(
                    "duplicate_record",
                    f"{path}:{number}: the id {record!r} was given in line {first_lines[record]} already.",
                    details={"path": path, "line": number},
                )
            first_lines[record] = number
            yield document


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line, parse_constant=_refuse_constant, object_pairs_hook=unique)
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


def _document(record: dict[str, Any], line: bytes, number: int, where: str) -> ParsedDocument:
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
    is_title = not text.strip() and bool(title.strip())
    digest = sha256(line).hexdigest()
    own = title if is_title else text
    place = f"line {number}"
    return ParsedDocument(str(name), own, title, digest, len(line), record, is_title=is_title, place=place)


def _bad(where: str, reason: str) -> IngestError:
    return IngestError("bad_record", f"{where}: {reason}.", hint='{"id": "a", "text": "…"} on one line')
