"""The EPUB parser: chapters of a book in spine order, each read as HTML."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from recall_core.ingest.parse.flow import TextFlow
from recall_core.ingest.parse.html import HtmlReader, cut_line
from recall_core.ingest.parse.text import declared_in_xml, decode_part
from recall_core.ingest.parse.xml import XmlEvents, XmlHandler
from recall_core.ingest.parse.zipped import MOST_ENTRIES, Archive
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Algorithms that obfuscate fonts only, not the text."""
_TYPES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_CODE = "bad_epub"
_MOST_NOTES = 20


class Epub:
    """Reads EPUB 2 and 3. The title is that of the package, else the file name."""

    version = 3
    reads = "bytes"
    is_verbatim = False
    is_foreign = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document, with a chapter for each spine item, in order.

        Raises IngestError `bad_epub` (also for a book under DRM), `unpacked_too_large` and `too_deep`.
        """
        archive = Archive(raw, path=path, code=_CODE)
        package = _package(archive, path)
        encryption = _Encryption()
        if _ENCRYPTION in archive:
            XmlEvents(encryption, path=path, code=_CODE).read(archive.read(_ENCRYPTION))
        flow, notes = TextFlow(), list[str]()
        for number, chapter in enumerate(package.chapters(), start=1):
            if chapter.name in encryption.names:
                raise archive.bad("its chapters are encrypted (DRM)")
            reason = _read_chapter(archive, chapter, flow, path)
            if reason:
                notes.append(f"chapter {number} ({cut_line(chapter.name, 200)}) {reason}")
        text = flow.text()
        notes += [] if text else ["no text in its chapters"]
        if len(notes) > _MOST_NOTES:
            notes[_MOST_NOTES:] = [f"and {len(notes) - _MOST_NOTES} more chapters"]
        title = package.first("title", 300) or path.rpartition("/")[2]
        tags = tuple(dict.fromkeys(cut_line(each, 100) for each in package.values.get("subject", ())[:50]))
        meta = package.meta()
        return (
            ParsedDocument(
                None, text, title, digest, len(raw), meta, tuple(flow.marks), tags=tags, notes=tuple(notes)
            ),
        )


class _Chapter(NamedTuple):
    name: str
    """Name of the archive entry."""
    is_page: bool


def _read_chapter(archive: Archive, chapter: _Chapter, flow: TextFlow, path: str) -> str:
    """Add a chapter. Return why text is missing; "" if none is."""
    inner = TextFlow()
    reason = ""
    if not chapter.is_page:
        reason = "is not text"
    elif chapter.name not in archive:
        reason = "is missing"
    else:
        raw = archive.read(chapter.name)
        source, is_whole = decode_part(raw, declared_in_xml(raw))
        reason = "" if is_whole else "has bytes that are invalid in its character set"
        HtmlReader(inner, path=path, is_xml=True).read(source)
    is_headed = any(mark.kind == "heading" and mark.offset == 0 for mark in inner.marks)
    end = () if is_headed else (Mark(0, "end"),)  # a page that begins without a heading ends the section before it
    flow.add(inner.text(), (Mark(0, "chapter"), *end, *inner.marks))
    return reason


def _package(archive: Archive, path: str) -> _Package:
    if _CONTAINER not in archive:
        raise archive.bad(f"it is not an EPUB: it has no {_CONTAINER}")
    container = _Container()
    XmlEvents(container, path=path, code=_CODE).read(archive.read(_CONTAINER))
    if not container.package:
        raise archive.bad("its container names no package")
    package = _Package(posixpath.dirname(container.package))
    XmlEvents(package, path=path, code=_CODE).read(archive.read(container.package))
    return package


class _Container(XmlHandler):
    package = ""

    def start(self, name: str, seen: Mapping[str, str]) -> None:
        if name == "rootfile" and not self.package:
            self.package = _entry("", seen.get("full-path", ""))


class _Encryption(XmlHandler):
    def __init__(self) -> None:
        self.names: list[str] = []
        self._algorithm = ""

    def start(self, name: str, seen: Mapping[str, str]) -> None:
        if name == "EncryptedData":
            self._algorithm = ""
        elif name == "EncryptionMethod":
            self._algorithm = self._algorithm or seen.get("Algorithm", "")
        elif name == "CipherReference" and self._algorithm not in _FONTS:
            self.names.append(_entry("", seen.get("URI", "")))


class _Package(XmlHandler):
    """Content of the package document. values: its metadata, by name."""

    def __init__(self, folder: str) -> None:
        self.values: dict[str, list[str]] = {}
        self._folder = folder
        self._manifest: dict[str, _Chapter] = {}
        self._spine: list[str] = []
        self._is_in_metadata = False
        self._value: list[str] = []

    def start(self, name: str, seen: Mapping[str, str]) -> None:
        self._value = []
        if name == "metadata":
            self._is_in_metadata = True
        elif name == "item":
            chapter = _Chapter(_entry(self._folder, seen.get("href", "")), seen.get("media-type", "") in _TYPES)
            self._manifest.setdefault(seen.get("id", ""), chapter)
        elif name == "itemref":
            self._spine.append(seen.get("idref", ""))

    def end(self, name: str) -> None:
        if name == "metadata":
            self._is_in_metadata = False
        elif self._is_in_metadata and self._value:
            value = cut_line("".join(self._value), 1000)
            if value:
                self.values.setdefault(name, []).append(value)
        self._value = []

    def text(self, text: str) -> None:
        if self._is_in_metadata:
            self._value.append(text)

    def first(self, name: str, longest: int) -> str:
        """Return the first value of that name, or ""."""
        return self.values.get(name, [""])[0][:longest]

    def chapters(self) -> Iterator[_Chapter]:
        """Yield the chapters of the spine, in order, each once."""
        for name in [*dict.fromkeys(self._spine)][:MOST_ENTRIES]:
            yield self._manifest.get(name, _Chapter(name, is_page=True))

    def meta(self) -> dict[str, Any]:
        """Return author, date, description, lang and publisher, as far as present."""
        found = {
            "author": ", ".join(self.values.get("creator", ())[:20]),
            "date": self.first("date", 100),
            "description": self.first("description", 1000),
            "lang": self.first("language", 100),
            "publisher": self.first("publisher", 300),
        }
        return {key: value for key, value in found.items() if value}


def _entry(folder: str, href: str) -> str:
    """Return the archive entry for a link from a folder of the archive."""
    return posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0]))) if href else ""
