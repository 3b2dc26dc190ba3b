"""XML read by expat as events, with every door that a file could misuse closed: entities, depth, external parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from html.entities import html5
from typing import Protocol
from xml.parsers import expat

from recall_core.errors import IngestError

DEEPEST = 500  # open elements

_SUBSET = re.compile(
    rb"(?s)(?:\s++|<!--.*?-->|<\?.*?\?>)*+<!DOCTYPE(?:[^\[>\"']++|\"[^\"]*+\"|'[^']*+')*+"
    rb"(\[(?:[^\]\"'<]++|\"[^\"]*+\"|'[^']*+'|<!--.*?-->|<\?.*?\?>|<(?!!--|\?))*+\])"
)


class XmlHandler(Protocol):
    """Who is told of a file's elements. Names are without their prefixes, of attributes too."""

    def start(self, name: str, seen: Mapping[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """The element that began last and is open ends."""

    def text(self, text: str) -> None:
        """Text of the element that is open; a run of it may come in pieces."""


class XmlEvents:
    """One reading of one file. code: of the error for what is not well formed.

    encoding: what its bytes are in, whatever it declares itself. only: the names of the elements that the handler is
    told of, None for all. unread: those that are left out with all they hold.
    """

    def __init__(
        self,
        handler: XmlHandler,
        *,
        path: str,
        code: str,
        encoding: str | None = None,
        only: frozenset[str] | None = None,
        unread: frozenset[str] = frozenset(),
    ) -> None:
        self._path, self._code = path, code
        self._only, self._unread = only, unread
        self._depth = 0
        self._unread_from = 0  # the depth of an element that is left out; 0 outside of all of them
        self._names: dict[str, str | None] = {}  # of elements as they are told, None where they are not
        self._start, self._end, self._text = handler.start, handler.end, handler.text
        made = self._expat = expat.ParserCreate(encoding)
        made.buffer_text = True
        made.UseForeignDTD(True)  # what is not defined here may be defined elsewhere: it is left out
        made.StartDoctypeDeclHandler = self._doctype
        made.StartElementHandler = self._began
        made.EndElementHandler = self._ended
        made.CharacterDataHandler = self._text
        made.DefaultHandler = self._other

    def read(self, raw: bytes) -> None:
        """Tells the handler all of the file. Entities that it defines are left out, those of HTML are known.

        Raises IngestError `too_deep` beyond 500 levels, and with the code for what is not well formed.
        """
        try:
            self._expat.Parse(without_definitions(raw), True)
        except expat.ExpatError as error:
            reason = f"{expat.errors.messages.get(error.code, 'an error')} in line {error.lineno}"
            raise bad_xml(self._path, reason, self._code) from error
        except (LookupError, ValueError) as error:
            raise bad_xml(self._path, str(error), self._code) from error

    def position(self) -> int:
        """The byte at which the tag begins that a handler is told of; of text, the byte at which it ends."""
        return self._expat.CurrentByteIndex

    def _doctype(self, name: str, system: str | None, public: str | None, has_definitions: int) -> None:
        if has_definitions:
            raise bad_xml(self._path, "it defines entities of its own", self._code)

    def _began(self, name: str, seen: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            reason = f"its elements are nested more than {DEEPEST} deep"
            raise IngestError("too_deep", f"{self._path} is not read: {reason}.", details={"path": self._path})
        if self._unread_from:
            return
        try:
            told = self._names[name]
        except KeyError:
            told = self._named(name)
        if told is not None:
            self._start(told, {_local(key): value for key, value in seen.items()} if seen else seen)
        elif self._unread and _local(name) in self._unread:
            self._unread_from = self._depth
            self._expat.CharacterDataHandler = None

    def _ended(self, name: str) -> None:
        self._depth -= 1
        if not self._unread_from:
            told = self._names[name]
            if told is not None:
                self._end(told)
        elif self._depth < self._unread_from:
            self._unread_from = 0
            self._expat.CharacterDataHandler = self._text

    def _named(self, name: str) -> str | None:
        local = _local(name)
        is_told = local not in self._unread and (self._only is None or local in self._only)
        told = self._names[name] = local if is_told else None
        return told

    def _other(self, text: str) -> None:
        if text[0] == "&" and self._depth and not self._unread_from:
            known = html5.get(text[1:])
            if known:
                self._text(known)


@lru_cache(maxsize=2048)
def _local(name: str) -> str:
    """A name without its prefix."""
    return name.rpartition(":")[2]


def bad_xml(path: str, reason: str, code: str) -> IngestError:
    """What is raised for a file that is not well formed."""
    return IngestError(code, f"{path} is not well-formed XML: {reason}.", details={"path": path})


def without_definitions(raw: bytes) -> bytes:
    """UTF-8 XML with blanks where its document type defines entities, so that there are none to expand."""
    found = _SUBSET.match(raw)
    if not found:
        return raw
    start, end = found.span(1)
    return raw[:start] + re.sub(rb"[^\n]", b" ", raw[start:end]) + raw[end:]
