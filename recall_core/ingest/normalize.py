"""Normalize the text of a document: one form of each character, one line end, no byte order mark."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from recall_core.ingest.decode import decode_file

# A byte order mark, a line end, or characters that may compose, with the one before them. ASCII never joins what
# precedes it.
_MAY_CHANGE = re.compile("\\A\ufeff+|\r\n?|[^\r]?[\x80-\U0010ffff]+")


class Edit(NamedTuple):
    """A changed stretch of a text, in code points. It corresponds to its source only as a whole."""

    offset: int
    size: int
    source_offset: int
    source_size: int


class Normalized(NamedTuple):
    """A normalized text that knows where each character comes from."""

    text: str
    source: str
    """The decoded text before normalization."""
    encoding: str
    """Encoding of the bytes, by Python's name; "" for a string."""
    edits: tuple[Edit, ...]
    """Every difference between text and source, by offset."""

    def source_offset(self, offset: int) -> int:
        """Return the offset in the source. Inside a changed stretch, it is the beginning of the stretch."""
        last = bisect_right(self.edits, offset, key=lambda edit: edit.offset) - 1
        if last < 0:
            return offset
        edit = self.edits[last]
        inside = offset - edit.offset - edit.size
        return edit.source_offset if inside < 0 else edit.source_offset + edit.source_size + inside


def normalize(content: str | bytes, *, encoding: str = "") -> Normalized:
    """Return the text in NFC, with LF line ends and no leading byte order mark. The locale changes nothing.

    White space, case and control characters stay. Normalizing again changes nothing.
    encoding: of bytes that do not declare one; "" for UTF-8.
    Raises IngestError `not_utf8`, `binary_file`, `encoding_mismatch` for bytes that are not such a text.
    """
    name, source = "", content
    if not isinstance(source, str):
        decoded = decode_file(source, path="The content", parser="text", encoding=encoding)
        name, source = decoded.encoding, decoded.content.decode()
    edits: list[Edit] = []
    texts: list[str] = []
    size = done = 0
    for start, before, after in _changes(source):
        texts += [source[done:start], after]
        size += start - done
        edits.append(Edit(size, len(after), start, len(before)))
        size += len(after)
        done = start + len(before)
    return Normalized("".join([*texts, source[done:]]), source, name, tuple(edits))


def _changes(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield the offset of each stretch that changes, and the stretch before and after."""
    for found in _MAY_CHANGE.finditer(source):
        run = found[0]
        if run.startswith("\r"):
            yield found.start(), run, "\n"
        elif found.start() == 0 and run.startswith("\ufeff"):
            yield 0, run, ""
        elif not unicodedata.is_normalized("NFC", run):
            start = found.start()
            for piece in _pieces(run):
                if (composed := unicodedata.normalize("NFC", piece)) != piece:
                    yield start, piece, composed
                start += len(piece)


def _pieces(run: str) -> Iterator[str]:
    """Yield the shortest parts of a text that are normalized separately."""
    start = 0
    for end in range(1, len(run)):
        own = unicodedata.normalize("NFD", run[end])
        if not unicodedata.combining(own[0]):
            before, character = (unicodedata.normalize("NFC", part) for part in (run[start:end], own))
            if unicodedata.normalize("NFC", run[start:end] + own) == before + character:
                yield run[start:end]
                start = end
    yield run[start:]
