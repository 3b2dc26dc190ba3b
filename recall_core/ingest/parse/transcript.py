"""Transcripts: who says what, turn by turn, of conversations kept as JSON and of chats that are plain text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from recall_core.ingest import parse
from recall_core.ingest.parse.messages import Conversation
from recall_core.ingest.parse.short import short
from recall_core.ingest.parse.text import decode
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument

_FIRST_LINE = 80  # characters of what the user says first, where it is the title
_BOM = b"\xef\xbb\xbf"

_NAME = r"[^\s:<>\[\]][^:<>\[\]\n]{0,59}"
_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[ \u00a0\u202f]?[AaPp]\.?[Mm]\.?)?"
_DAY = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_FORMS = (
    rf"^[\u200e\u200f]?\[?{_DAY},? {_CLOCK}\]?(?: -)? (?P<name>{_NAME}):",  # 12/03/24, 09:15 - Name: text
    rf"^(?:\[?(?:{_DAY}[T ])?{_CLOCK}\]? ?)?<[ @+%&~]?(?P<name>[^\s<>]{{1,60}})> ",  # [12:03] <nick> text
    rf"^\[(?:{_DAY}[T ])?{_CLOCK}\] (?P<name>{_NAME}):",  # [12:03] Name: text
    rf"^(?P<name>{_NAME}?) {{1,2}}\[?{_CLOCK}\]?[ \r]*$",  # Name 9:15 AM, and the text below it
    r"^(?P<name>(?=[^\s:])[^:\n]{1,40}):(?=[ \r\n])",  # Name: text
)


class Transcript:
    """Reads a conversation, one turn after the other, each with its speaker.

    Of conversations kept as JSON every turn stands below a line with its speaker, and a file of several has a record
    for each. A chat that is plain text stays as it is.
    """

    version = 1
    reads = "text"

    def parse(self, raw: bytes, *, path: str, digest: str) -> Iterable[ParsedDocument]:
        """The conversation, or the records of several. Raises IngestError as the parsers `text` and `json` do."""
        text = decode(raw, path=path)
        if text.lstrip()[:1] in ("{", "["):
            found = parse.jsonfile.conversations(raw.removeprefix(_BOM), text, path=path, digest=digest)
            if found is not None:
                return found
        marks = chat_marks(text)
        notes = () if marks else ("no turns were found in it",)
        title = path.rpartition("/")[2]
        return (ParsedDocument(None, text, title, digest, len(raw), {}, marks, notes=notes),)


def rendered(
    conversation: Conversation,
    *,
    path: str,
    digest: str,
    size: int,
    record: str | None = None,
    place: str | None = None,
    notes: tuple[str, ...] = (),
) -> ParsedDocument:
    """A conversation as a document: each turn below a line that names its speaker."""
    pieces: list[str] = []
    marks: list[Mark] = []
    offset = 0
    for turn in conversation.turns:
        marks += (Mark(offset, "turn"), Mark(offset, "heading", turn.speaker, 1))
        pieces.append(f"{turn.speaker}:\n{turn.text}\n\n" if turn.text else f"{turn.speaker}:\n\n")
        offset += len(pieces[-1])
    title = short(conversation.title) or short(conversation.opening, _FIRST_LINE) or path.rpartition("/")[2]
    meta = dict(conversation.meta)
    return ParsedDocument(record, "".join(pieces), title, digest, size, meta, tuple(marks), place=place, notes=notes)


def chat_marks(text: str) -> tuple[Mark, ...]:
    """A turn for each message of a chat, in the form that most of its lines have; a form needs two of them.

    Where a name stands alone before its colon, only one that says something twice is a speaker, if any does.
    """
    found = max(([*re.finditer(form, text, re.MULTILINE)] for form in _FORMS[:-1]), key=len)
    if len(found) < 2:
        found = _named(text)
    if len(found) < 2:
        return ()
    turns = ((turn.start(), short(turn["name"], 60)) for turn in found)
    return tuple(mark for at, name in turns for mark in (Mark(at, "turn"), Mark(at, "heading", name, 1)))


def _named(text: str) -> list[re.Match[str]]:
    found = [*re.finditer(_FORMS[-1], text, re.MULTILINE)]
    often = Counter(turn["name"] for turn in found)
    return [turn for turn in found if often[turn["name"]] > 1 or max(often.values()) == 1]
