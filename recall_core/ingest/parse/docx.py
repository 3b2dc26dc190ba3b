"""The DOCX parser: the paragraphs of a Word document, with its headings, lists, tables and notes."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from recall_core.ingest.parse.docx_styles import Styles
from recall_core.ingest.parse.docx_text import READ, UNREAD, DocxBody, NoteTexts
from recall_core.ingest.parse.html import cut_line
from recall_core.ingest.parse.xml import XmlEvents, XmlHandler
from recall_core.ingest.parse.zipped import Archive
from recall_core.ports import ParsedDocument

_CODE = "bad_docx"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_DOCUMENT, _PROPERTIES = "word/document.xml", "docProps/core.xml"


class Docx:
    """Reads Word's .docx. The title is that of its properties, else of its first paragraph in the style Title, else
    its first heading, else the file's name."""

    version = 2
    reads = "bytes"
    is_verbatim = False
    is_foreign = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """The one document of the file: every paragraph of its body is a place, then every note that it refers to.

        Raises IngestError `bad_docx` (also for a document under a password), `unpacked_too_large` and `too_deep`.
        """
        package = _DocxPackage(raw, path)
        body = DocxBody(package.styles(), package.notes())
        package.read(package.document, body, only=READ, unread=UNREAD)
        if not body.is_document:
            raise package.archive.bad(f"its {package.document} is no Word document")
        body.add_notes()
        flow, properties = body.flow, package.properties()
        text = flow.text()
        title = properties.first("title", 300) or body.title or path.rpartition("/")[2]
        notes = () if text else ("it has no text",)
        meta, tags = properties.meta(), properties.tags()
        return (ParsedDocument(None, text, title, digest, len(raw), meta, tuple(flow.marks), tags=tags, notes=notes),)


class _DocxPackage:
    """The parts of a document by what they are for."""

    def __init__(self, raw: bytes, path: str) -> None:
        self._path = path
        if raw.startswith(_OLE):
            reason = "it is protected by a password" if _ENCRYPTED in raw else "it is an older Word file, no .docx"
            raise Archive.unreadable(path, reason, _CODE)
        self.archive = Archive(raw, path=path, code=_CODE)
        of_all = self._related("")
        self.document = of_all.get("officeDocument", _DOCUMENT)
        self._core = of_all.get("core-properties", _PROPERTIES)
        self._parts = self._related(self.document)

    def _related(self, part: str) -> dict[str, str]:
        folder, name = posixpath.split(part)
        relations = _Relations(folder)
        self.read(posixpath.join(folder, "_rels", f"{name}.rels"), relations, is_needed=False)
        return relations.targets

    def styles(self) -> Styles:
        """Its styles."""
        styles = Styles()
        self.read(self._parts.get("styles", ""), styles, only=Styles.READ, is_needed=False)
        return styles

    def notes(self) -> NoteTexts:
        """Its footnotes and endnotes."""
        notes = NoteTexts()
        for kind in ("footnotes", "endnotes"):
            self.read(self._parts.get(kind, ""), notes, only=READ, unread=UNREAD, is_needed=False)
        return notes

    def properties(self) -> _Properties:
        """What it says of itself."""
        properties = _Properties()
        self.read(self._core, properties, is_needed=False)
        return properties

    def read(
        self,
        name: str,
        handler: XmlHandler,
        *,
        only: frozenset[str] | None = None,
        unread: frozenset[str] = frozenset(),
        is_needed: bool = True,
    ) -> None:
        """Tells a handler all of a part, or of these elements, and nothing of what others hold.

        Raises IngestError `bad_docx` where the part is needed and not there.
        """
        if is_needed or name in self.archive:
            events = XmlEvents(handler, path=self._path, code=_CODE, only=only, unread=unread)
            events.read(self.archive.read(name))


class _Relations:
    """The parts that a part refers to, by the last word of their kind."""

    def __init__(self, folder: str) -> None:
        self.targets: dict[str, str] = {}
        self._folder = folder

    def start(self, name: str, seen: Mapping[str, str]) -> None:
        """A relation."""
        if name == "Relationship" and seen.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", self._folder, seen.get("Target", "")))
            self.targets.setdefault(seen.get("Type", "").rpartition("/")[2], target.lstrip("/"))

    def end(self, name: str) -> None:
        """Its end."""

    def text(self, text: str) -> None:
        """White space."""


class _Properties:
    """Title, author and the like, by the names of their elements."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._value: list[str] = []

    def start(self, name: str, seen: Mapping[str, str]) -> None:
        """A value begins."""
        self._value = []

    def end(self, name: str) -> None:
        """It ends."""
        self._values.setdefault(name, cut_line("".join(self._value), 2000))
        self._value = []

    def text(self, text: str) -> None:
        """A piece of it."""
        self._value.append(text)

    def first(self, name: str, longest: int) -> str:
        """The value of that name, "" where there is none."""
        return self._values.get(name, "")[:longest]

    def meta(self) -> dict[str, Any]:
        """Author, date of creation, description, lang and subject, as far as there are any."""
        names = {"author": "creator", "date": "created", "lang": "language"}
        found = {
            key: self.first(names.get(key, key), 1000) for key in ("author", "date", "description", "lang", "subject")
        }
        return {key: value for key, value in found.items() if value}

    def tags(self) -> tuple[str, ...]:
        """Its keywords."""
        words = self.first("keywords", 2000).replace(";", ",").split(",")
        return tuple(dict.fromkeys(tag for tag in (cut_line(word, 100) for word in words[:50]) if tag))
