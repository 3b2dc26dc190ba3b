"""XML read by expat as events, with every door that a file could misuse closed: entities, depth, external parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
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

    encoding: what its bytes are in, whatever it declares itself.
    """

    def __init__(self, handler: XmlHandler, *, path: str, code: str, encoding: str | None = None) -> None:
        self._path, self._code = path, code
        self._depth = 0
        self._names: dict[str, str] = {}
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
        if seen:
            seen = {self._local(key): value for key, value in seen.items()}
        self._start(self._local(name), seen)

    def _ended(self, name: str) -> None:
        self._depth -= 1
        self._end(self._names[name])

    def _local(self, name: str) -> str:
        local = self._names.get(name)
        if local is None:
            local = self._names[name] = name.rpartition(":")[2]
        return local

    def _other(self, text: str) -> None:
        if text[0] == "&" and self._depth:
            known = html5.get(text[1:])
            if known:
                self._text(known)


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
