"""The mail parser: a message's body, as plain text if available, with its headers and attachments."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from recall_core.errors import IngestError
from recall_core.ingest.parse.flow import TextFlow, short_name
from recall_core.ingest.parse.html import HtmlReader, cut_line
from recall_core.ingest.parse.text import decode_part
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument

DEEPEST = 16  # nested parts; the library reads them recursively
MOST_PARTS = 10_000
LONGEST_HEADER = 10_000  # code points; longer headers are cut, because the library takes quadratic time
LONGEST_CONTENT_HEADER = 1000  # smaller, because every part has several of these
MOST_NAMED = 10  # attachments listed in a note

_HEADERS = ("from", "to", "cc", "subject", "date", "message-id", "received", "content-type", "mime-version", "sender")
_BROKEN = (AttributeError, HeaderParseError, IndexError, LookupError, OverflowError, TypeError, ValueError)
"""The library's exceptions for malformed headers."""


class _TooMany(Exception):
    """Too many parts, or parts nested too deep."""


class _MailPart(Message):
    """A message or a part of one. Counts parts, knows its depth, and cuts long headers."""

    def __init__(self, policy: Any = compat32) -> None:
        super().__init__(policy)
        self.depth = 0
        self.parts = [0]

    def attach(self, payload: Any) -> None:
        payload.depth, payload.parts = self.depth + 1, self.parts
        self.parts[0] += 1
        if payload.depth > DEEPEST:
            raise _TooMany("too_deep", f"its parts are nested deeper than {DEEPEST} levels")
        if self.parts[0] > MOST_PARTS:
            raise _TooMany("bad_eml", f"it has more than {MOST_PARTS} parts")
        super().attach(payload)

    def set_raw(self, name: str, value: Any) -> None:
        longest = LONGEST_CONTENT_HEADER if name.lower().startswith("content-") else LONGEST_HEADER
        super().set_raw(name, value[:longest])


class Eml:
    """Reads one message (RFC 5322). The title is its subject, else the file name."""

    version = 3
    reads = "bytes"
    is_verbatim = False
    is_foreign = False

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document. Each part without inner parts is a `part`, in file order.

        Raises IngestError `bad_eml` and `too_deep`.
        """
        message = _message(raw, path)
        reading = _MessageText(path)
        for leaf in _leaves(message):
            reading.see(leaf)
        flow = reading.flow
        text = flow.text()
        notes = reading.notes() + (() if text else ("no text",))
        title = header(message, "subject", 300) or path.rpartition("/")[2]
        meta: dict[str, Any] = {name: header(message, name, 1000) for name in ("from", "to", "cc")}
        meta["date"] = _date(header(message, "date", 100))
        meta = {name: value for name, value in meta.items() if value}
        return (ParsedDocument(None, text, title, digest, len(raw), meta, tuple(flow.marks), notes=notes),)


def _message(raw: bytes, path: str) -> Message:
    details = {"path": path}
    try:
        message = BytesParser(_MailPart, policy=compat32).parsebytes(raw)
    except _TooMany as error:
        code, reason = error.args
        raise IngestError(code, f"{path} cannot be read: {reason}.", details=details) from error
    except _BROKEN as error:
        raise IngestError("bad_eml", f"{path} is not a valid message: {error}.", details=details) from error
    if not any(name in message for name in _HEADERS):
        reason = "it has no mail headers" if raw.strip() else "it is empty"
        raise IngestError("bad_eml", f"{path} is not a message: {reason}.", details=details)
    return message


def header(message: Message, name: str, longest: int) -> str:
    """Return the first header of that name on one line, with encoded words resolved; "" if missing."""
    values = (value for key, value in message.raw_items() if key.lower() == name)
    text = _plain(str(next(values, ""))[: 10 * longest])
    try:
        pieces = decode_header(text)
    except _BROKEN:
        pieces = [(text, None)]
    return cut_line("".join(map(_decode_piece, pieces)), longest)


def _decode_piece(piece: tuple[Any, str | None]) -> str:
    text, charset = piece
    if isinstance(text, str):
        return text
    if charset is None:  # the library returns text between encoded words this way
        return str(text.decode("raw-unicode-escape", "replace")).encode("utf-8", "replace").decode()
    return decode_part(text, charset)[0]


def _plain(text: str) -> str:
    """Return a header with bytes beyond ASCII decoded."""
    return decode_part(text.encode("utf-8", "surrogateescape"), None)[0]


def _date(text: str) -> str:
    try:
        moment = parsedate_to_datetime(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        return f"{moment.replace(microsecond=0, tzinfo=None).isoformat()}Z"
    except _BROKEN:
        return ""


class _Leaf(NamedTuple):
    part: Message
    is_read: bool
    """False if another part that is read has the same content."""
    subject: str | None
    """Subject of the attached message that contains this part."""


def _leaves(message: Message) -> Iterator[_Leaf]:
    """Yield the parts without inner parts, in file order."""
    waiting: list[tuple[Message, bool, str | None]] = [(message, True, None)]
    while waiting:
        part, is_read, subject = waiting.pop()
        payload: Any = part.get_payload() if part.is_multipart() else []
        inner: list[Message] = payload
        if not inner:
            yield _Leaf(part, is_read, subject)
            continue
        if part.get_content_maintype() == "message":
            subject = short_name(header(inner[0], "subject", 200)) or "message"
        chosen = _choose_alternative(inner) if part.get_content_type() == "multipart/alternative" else None
        waiting += reversed([(each, is_read and chosen in (None, each), subject) for each in inner])


def _choose_alternative(alternatives: list[Message]) -> Message:
    """Return the plain text of alternative parts, else the last one that may contain text."""
    plain = [each for each in alternatives if each.get_content_type() == "text/plain" and _payload(each).strip()]
    others = [each for each in alternatives if each.get_content_maintype() in ("multipart", "text")]
    return (plain or others[-1:] or alternatives)[0]


def _payload(part: Message) -> bytes:
    try:
        payload = part.get_payload(decode=True)
    except _BROKEN:
        return b""
    return payload if isinstance(payload, bytes) else b""


class _MessageText:
    """Text of a message, built part by part."""

    def __init__(self, path: str) -> None:
        self.flow = TextFlow()
        self._path = path
        self._parts = 0
        self._strange: list[str] = []
        self._attached: list[str] = []

    def see(self, leaf: _Leaf) -> None:
        """Add the next part."""
        self._parts += 1
        inner = TextFlow()
        part = leaf.part
        if not self._is_attached(part) and leaf.is_read:
            try:
                charset = part.get_content_charset()
            except _BROKEN:
                charset = None
            text, is_whole = decode_part(_payload(part), charset)
            if not is_whole:
                self._strange.append(f"part {self._parts} has bytes invalid in {cut_line(charset or 'utf-8', 40)}")
            if part.get_content_type() == "text/html":
                HtmlReader(inner, path=self._path).read(text)
            elif text.strip():
                inner.verbatim(text.strip("\r\n").rstrip(), 0, 0)
        begin = Mark(0, "heading", leaf.subject) if leaf.subject else Mark(0, "end")
        inner_marks = (mark._replace(level=mark.level + (leaf.subject is not None)) for mark in inner.marks)
        self.flow.add(inner.text(), (Mark(0, "part"), begin, *inner_marks))

    def _is_attached(self, part: Message) -> bool:
        try:
            name = cut_line(_plain(part.get_filename() or ""), 200)
        except _BROKEN:
            name = ""
        is_broken = part.get_content_maintype() == "multipart"  # its parts were not found: read it as text
        is_text = is_broken or part.get_content_type() in ("text/plain", "text/html")
        if is_text and part.get_content_disposition() != "attachment":
            return False
        if not (part.get_content_maintype() == "image" and "content-id" in part):
            self._attached.append(name or part.get_content_type())
        return True

    def notes(self) -> tuple[str, ...]:
        """Return notes on unread parts and on parts with invalid bytes."""
        named = ", ".join(self._attached[:MOST_NAMED])
        rest = len(self._attached) - MOST_NAMED
        unread = [f"not read: {named}{f' and {rest} more' if rest > 0 else ''}"] if named else []
        return (*self._strange[:MOST_NAMED], *unread)
