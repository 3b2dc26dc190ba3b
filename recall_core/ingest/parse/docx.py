"""The DOCX parser: paragraphs of a Word document, with headings, lists, tables and notes."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from recall_core.ingest.parse.flow import LINE, PARAGRAPH, TextFlow, short_name
from recall_core.ingest.parse.html import cut_line
from recall_core.ingest.parse.xml import XmlEvents, XmlHandler
from recall_core.ingest.parse.zipped import Archive
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument

_CODE = "bad_docx"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_DOCUMENT, _PROPERTIES = "word/document.xml", "docProps/core.xml"


class Docx:
    """Reads Word's .docx. The title comes from its properties, else its first paragraph in the style Title, else its
    first heading, else the file name."""

    version = 2
    reads = "bytes"
    is_verbatim = False
    is_foreign = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document. Each paragraph of the body is a place, then each note it refers to.

        Raises IngestError `bad_docx` (also for a password-protected document), `unpacked_too_large` and `too_deep`.
        """
        package = _DocxPackage(raw, path)
        body = DocxBody(package.styles(), package.notes())
        package.read(package.document, body, only=READ, unread=UNREAD)
        if not body.is_document:
            raise package.archive.bad(f"its {package.document} is not a Word document")
        body.add_notes()
        flow, properties = body.flow, package.properties()
        text = flow.text()
        title = properties.first("title", 300) or body.title or path.rpartition("/")[2]
        notes = () if text else ("no text",)
        meta, tags = properties.meta(), properties.tags()
        return (ParsedDocument(None, text, title, digest, len(raw), meta, tuple(flow.marks), tags=tags, notes=notes),)


class _DocxPackage:
    """Parts of a document by purpose."""

    def __init__(self, raw: bytes, path: str) -> None:
        self._path = path
        if raw.startswith(_OLE):
            reason = "it is password-protected" if _ENCRYPTED in raw else "it is an older Word file, not .docx"
            raise Archive.unreadable(path, reason, _CODE)
        self.archive = Archive(raw, path=path, code=_CODE)
        of_all = self._relations("")
        self.document = of_all.get("officeDocument", _DOCUMENT)
        self._core = of_all.get("core-properties", _PROPERTIES)
        self._parts = self._relations(self.document)

    def _relations(self, part: str) -> dict[str, str]:
        folder, name = posixpath.split(part)
        relations = _Relations(folder)
        self.read(posixpath.join(folder, "_rels", f"{name}.rels"), relations, is_needed=False)
        return relations.targets

    def styles(self) -> Styles:
        """Return the document's styles."""
        styles = Styles()
        self.read(self._parts.get("styles", ""), styles, only=Styles.READ, is_needed=False)
        return styles

    def notes(self) -> NoteTexts:
        """Return the document's footnotes and endnotes."""
        notes = NoteTexts()
        for kind in ("footnotes", "endnotes"):
            self.read(self._parts.get(kind, ""), notes, only=READ, unread=UNREAD, is_needed=False)
        return notes

    def properties(self) -> _Properties:
        """Return the document's properties."""
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
        """Pass a part to a handler. only: pass only these elements. unread: skip these with their content.

        Raises IngestError `bad_docx` if a needed part is missing.
        """
        if is_needed or name in self.archive:
            events = XmlEvents(handler, path=self._path, code=_CODE, only=only, unread=unread)
            events.read(self.archive.read(name))


class _Relations(XmlHandler):
    """Parts that a part refers to, by the last word of their type."""

    def __init__(self, folder: str) -> None:
        self.targets: dict[str, str] = {}
        self._folder = folder

    def start(self, name: str, seen: Mapping[str, str]) -> None:
        """Record a relation."""
        if name == "Relationship" and seen.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", self._folder, seen.get("Target", "")))
            self.targets.setdefault(seen.get("Type", "").rpartition("/")[2], target.lstrip("/"))


class _Properties(XmlHandler):
    """Title, author and other properties, by element name."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._value: list[str] = []

    def start(self, name: str, seen: Mapping[str, str]) -> None:
        """Begin a value."""
        self._value = []

    def end(self, name: str) -> None:
        """End a value."""
        self._values.setdefault(name, cut_line("".join(self._value), 2000))
        self._value = []

    def text(self, text: str) -> None:
        """Add text to the value."""
        self._value.append(text)

    def first(self, name: str, longest: int) -> str:
        """Return the first value of that name, or ""."""
        return self._values.get(name, "")[:longest]

    def meta(self) -> dict[str, Any]:
        """Return author, creation date, description, lang and subject, as far as present."""
        names = {"author": "creator", "date": "created", "lang": "language"}
        found = {
            key: self.first(names.get(key, key), 1000) for key in ("author", "date", "description", "lang", "subject")
        }
        return {key: value for key, value in found.items() if value}

    def tags(self) -> tuple[str, ...]:
        """Return the keywords."""
        words = self.first("keywords", 2000).replace(";", ",").split(",")
        return tuple(dict.fromkeys(tag for tag in (cut_line(word, 100) for word in words[:50]) if tag))


_HIGHEST = 6
_LONGEST_CHAIN = 20  # styles, each based on the next


class _Style:
    __slots__ = ("base", "is_list", "level", "name")

    def __init__(self) -> None:
        self.name = self.base = ""
        self.level: int | None = None
        self.is_list: bool | None = None


class Styles(XmlHandler):
    """Styles from styles.xml, by id.

    Ids are in the language of the program that wrote the file; the names of Word's built-in styles are English.
    """

    READ = frozenset(("basedOn", "name", "numId", "outlineLvl", "style"))
    """Elements that this handler needs."""

    def __init__(self) -> None:
        self._styles: dict[str, _Style] = {}
        self._style = _Style()

    def start(self, name: str, seen: Mapping[str, str]) -> None:
        """Record a style or one of its properties."""
        value = seen.get("val", "")
        match name:
            case "style":
                self._style = _Style()
                self._styles.setdefault(seen.get("styleId", ""), self._style)
            case "name":
                self._style.name = value.lower()
            case "basedOn":
                self._style.base = value
            case "outlineLvl":
                self._style.level = outline_level(value)
            case "numId":
                self._style.is_list = value != "0"

    def _chain(self, style: str) -> list[_Style]:
        """Return the style, followed by the styles it is based on."""
        found: list[_Style] = []
        while style in self._styles and len(found) < _LONGEST_CHAIN:
            found.append(self._styles[style])
            style = found[-1].base
        return found

    def level(self, style: str) -> int:
        """Return the heading level of the style, from 1; 0 if it is not a heading."""
        for each in self._chain(style):
            if each.level is not None:
                return each.level
            if each.name.startswith("heading "):
                number = each.name[8:]
                return min(_HIGHEST, int(number)) if len(number) == 1 and number in "123456789" else 0
        return 0

    def is_list(self, style: str) -> bool:
        """Return True if paragraphs of this style are list items."""
        return next((each.is_list for each in self._chain(style) if each.is_list is not None), False)

    def is_title(self, style: str) -> bool:
        """Return True for Word's style for the document title."""
        return any(each.name == "title" for each in self._chain(style)[:1])


def outline_level(value: str) -> int:
    """Return the heading level for Word's number from 0 to 8; 0 for text."""
    return min(_HIGHEST, int(value) + 1) if len(value) == 1 and value in "012345678" else 0


UNREAD = frozenset(
    """Fallback del delInstrText delText instrText moveFrom numberingChange pPrChange rPrChange rt sectPrChange
    tblGridChange tblPrChange tblPrExChange tcPrChange trPrChange""".split()
)
"""Deleted or moved text, field codes, earlier formatting, and duplicates of content."""
READ = frozenset(
    """body br cr endnote endnoteReference footnote footnoteReference ilvl noBreakHyphen numId outlineLvl p pStyle
    ptab r t tab tbl tc tr vanish""".split()
)
"""Elements that matter for the text."""
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_OFF = ("0", "false", "off")


class _Paragraph:
    """An open paragraph. outline, is_item: its own properties, None if its style decides."""

    __slots__ = ("depth", "is_hidden", "is_item", "outline", "pieces", "runs", "style")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.style = ""
        self.outline: int | None = None
        self.is_item: bool | None = None
        self.is_hidden = False
        self.depth = self.runs = 0

    def text(self) -> str:
        text = "".join(self.pieces).replace("\xad", "").strip("\n").rstrip()
        return "" if text.isspace() else text


class _Paragraphs(XmlHandler):
    """Collects paragraphs. A paragraph may contain others in a text box; those end first."""

    def __init__(self) -> None:
        self._open: list[_Paragraph] = []
        self._is_text = False

    def start(self, name: str, seen: Mapping[str, str]) -> None:
        """Begin an element."""
        if name == "t":
            self._is_text = bool(self._open and not self._open[-1].is_hidden)
        elif name == "p":
            self._open.append(_Paragraph())
        elif name == "r":
            if self._open:
                self._open[-1].runs += 1
                self._open[-1].is_hidden = False
        elif self._open:
            self._in_paragraph(self._open[-1], name, seen)
        else:
            self.other(name, seen)

    def _in_paragraph(self, paragraph: _Paragraph, name: str, seen: Mapping[str, str]) -> None:
        value = seen.get("val", "")
        if paragraph.runs:
            if name in _SIGNS:
                paragraph.pieces.append(_SIGNS[name])
            elif name in ("footnoteReference", "endnoteReference"):
                paragraph.pieces.append(self.note_reference(name.removesuffix("Reference"), seen.get("id", "")))
            elif name == "vanish":
                paragraph.is_hidden = value not in _OFF
            else:
                self.other(name, seen)
        elif name == "pStyle":
            paragraph.style = value
        elif name == "outlineLvl":
            paragraph.outline = outline_level(value)
        elif name == "numId":
            paragraph.is_item = value != "0"
        elif name == "ilvl":
            paragraph.depth = int(value) if len(value) == 1 and value in "012345678" else 0
        else:
            self.other(name, seen)

    def end(self, name: str) -> None:
        """End an element."""
        if name == "t":
            self._is_text = False
        elif name == "p":
            self.end_paragraph(self._open.pop())
        elif name == "r":
            if self._open:
                self._open[-1].runs -= 1
        else:
            self.end_other(name)

    def text(self, text: str) -> None:
        """Add text to the open paragraph."""
        if self._is_text:
            self._open[-1].pieces.append(text)

    def end_paragraph(self, paragraph: _Paragraph) -> None:
        """Handle a complete paragraph."""

    def note_reference(self, kind: str, name: str) -> str:
        """Return the text that replaces a reference to a note."""
        return ""

    def other(self, name: str, seen: Mapping[str, str]) -> None:
        """Begin an element outside of a paragraph."""

    def end_other(self, name: str) -> None:
        """End an element outside of a paragraph."""


class NoteTexts(_Paragraphs):
    """Texts of footnotes and endnotes, by (kind, id)."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[tuple[str, str], list[str]] = {}
        self._note: list[str] = []

    def other(self, name: str, seen: Mapping[str, str]) -> None:
        """Begin a note. Separators have a type."""
        if name in ("footnote", "endnote"):
            self._note = []
            if seen.get("type", "normal") == "normal":
                self.texts[name, seen.get("id", "")] = self._note

    def end_paragraph(self, paragraph: _Paragraph) -> None:
        """Add a complete paragraph to the note."""
        text = " ".join(paragraph.text().split())
        if text:
            self._note.append(text)


class DocxBody(_Paragraphs):
    """Converts the body of a document to text."""

    def __init__(self, styles: Styles, notes: NoteTexts) -> None:
        super().__init__()
        self.flow = TextFlow()
        self.is_document = False
        self._styles = styles
        self._notes = notes.texts
        self._referred: dict[tuple[str, str], int] = {}
        self._title = self._first_heading = ""
        self._tables = 0
        self._was_item = False

    @property
    def title(self) -> str:
        """Return the first paragraph in the style Title, else the first heading."""
        return self._title or self._first_heading

    def end_paragraph(self, paragraph: _Paragraph) -> None:
        """Add a complete paragraph."""
        text, flow = paragraph.text(), self.flow
        if not text:
            flow.number("paragraph", is_empty=True)
            return
        level = self._styles.level(paragraph.style) if paragraph.outline is None else paragraph.outline
        is_item = self._styles.is_list(paragraph.style) if paragraph.is_item is None else paragraph.is_item
        is_item = is_item and not level
        if level:
            opened = flow.open_heading()
            self._put(text)
            name = flow.close_heading(opened, level)
            self._first_heading = self._first_heading or name
        else:
            flow.separate(LINE if is_item and self._was_item else PARAGRAPH)
            if is_item:
                flow.bullet(paragraph.depth)
            self._put(text)
            flow.separate(LINE if is_item else PARAGRAPH)
        self._was_item = is_item
        if self._styles.is_title(paragraph.style):
            self._title = self._title or short_name(text)

    def _put(self, text: str) -> None:
        self.flow.number("paragraph", is_empty=False)
        self.flow.verbatim(" ".join(text.split()) if self.flow.is_in_row else text, 0, 0)

    def note_reference(self, kind: str, name: str) -> str:
        """Return the note's number in brackets, counted in order of first reference."""
        if (kind, name) not in self._notes:
            return ""
        return f"[{self._referred.setdefault((kind, name), len(self._referred) + 1)}]"

    def add_notes(self) -> None:
        """Add the notes to the end of the text, each as a paragraph outside of every section."""
        if self._referred:
            self.flow.add("", (Mark(0, "end"),))
        for key, number in self._referred.items():
            self.flow.separate()
            self._put(f"[{number}] {' '.join(self._notes[key])}".rstrip())

    def other(self, name: str, seen: Mapping[str, str]) -> None:
        """Begin a table, a row or a cell."""
        if name == "body":
            self.is_document = True
        elif name == "tbl":
            self._tables += 1
            self.flow.open_table()
        elif name == "tr" and self._tables:
            self.flow.open_row()
        elif name == "tc" and self._tables:
            self.flow.open_cell()

    def end_other(self, name: str) -> None:
        """End a table, a row or a cell."""
        if name == "tbl" and self._tables:
            self._tables -= 1
            self.flow.close_table()
        elif name == "tc" and self._tables:
            self.flow.close_cell()
