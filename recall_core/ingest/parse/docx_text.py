"""The text of a Word document, paragraph by paragraph, from the elements of its parts."""

from __future__ import annotations

from collections.abc import Mapping

from recall_core.ingest.parse.docx_styles import Styles, outline_level
from recall_core.ingest.parse.flow import LINE, PARAGRAPH, TextFlow, short_name
from recall_core.marks import Mark

UNREAD = frozenset(
    """Fallback del delInstrText delText instrText moveFrom numberingChange pPrChange rPrChange rt sectPrChange
    tblGridChange tblPrChange tblPrExChange tcPrChange trPrChange""".split()
)
"""What was deleted or moved away, codes of fields, earlier formatting, and what is there a second time."""
READ = frozenset(
    """body br cr endnote endnoteReference footnote footnoteReference ilvl noBreakHyphen numId outlineLvl p pStyle
    ptab r t tab tbl tc tr vanish""".split()
)
"""The elements of a text that mean something here."""
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_OFF = ("0", "false", "off")


class _Paragraph:
    """One that is being read. outline, is_item: what it says itself, None for what its style says."""

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


class _Paragraphs:
    """Gathers paragraphs; one may hold others, in a text box, which end before it does."""

    def __init__(self) -> None:
        self._open: list[_Paragraph] = []
        self._is_text = False

    def start(self, name: str, seen: Mapping[str, str]) -> None:
        """An element begins."""
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
                paragraph.pieces.append(self.referred(name.removesuffix("Reference"), seen.get("id", "")))
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
        """It ends."""
        if name == "t":
            self._is_text = False
        elif name == "p":
            self.ended(self._open.pop())
        elif name == "r":
            if self._open:
                self._open[-1].runs -= 1
        else:
            self.other_ended(name)

    def text(self, text: str) -> None:
        """A piece of text."""
        if self._is_text:
            self._open[-1].pieces.append(text)

    def ended(self, paragraph: _Paragraph) -> None:
        """A paragraph is whole."""

    def referred(self, kind: str, name: str) -> str:
        """What stands for a reference to a note."""
        return ""

    def other(self, name: str, seen: Mapping[str, str]) -> None:
        """An element begins that is no part of a paragraph."""

    def other_ended(self, name: str) -> None:
        """It ends."""


class NoteTexts(_Paragraphs):
    """The texts of footnotes and endnotes by (kind, id)."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[tuple[str, str], list[str]] = {}
        self._note: list[str] = []

    def other(self, name: str, seen: Mapping[str, str]) -> None:
        """A note begins; separators have a type."""
        if name in ("footnote", "endnote"):
            self._note = []
            if seen.get("type", "normal") == "normal":
                self.texts[name, seen.get("id", "")] = self._note

    def ended(self, paragraph: _Paragraph) -> None:
        """A paragraph of it is whole."""
        text = " ".join(paragraph.text().split())
        if text:
            self._note.append(text)


class DocxBody(_Paragraphs):
    """The body of a document as it becomes text."""

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
        """The first paragraph in the style Title, else the first heading."""
        return self._title or self._first_heading

    def ended(self, paragraph: _Paragraph) -> None:
        """A paragraph is whole."""
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

    def referred(self, kind: str, name: str) -> str:
        """The number of the note in brackets, in the order in which notes are first referred to."""
        if (kind, name) not in self._notes:
            return ""
        return f"[{self._referred.setdefault((kind, name), len(self._referred) + 1)}]"

    def add_notes(self) -> None:
        """Add the notes at the end of the text, each a paragraph of its own and in no section."""
        if self._referred:
            self.flow.add("", (Mark(0, "end"),))
        for key, number in self._referred.items():
            self.flow.separate()
            self._put(f"[{number}] {' '.join(self._notes[key])}".rstrip())

    def other(self, name: str, seen: Mapping[str, str]) -> None:
        """A table, a row or a cell begins."""
        if name == "body":
            self.is_document = True
        elif name == "tbl":
            self._tables += 1
            self.flow.open_table()
        elif name == "tr" and self._tables:
            self.flow.open_row()
        elif name == "tc" and self._tables:
            self.flow.open_cell()

    def other_ended(self, name: str) -> None:
        """It ends."""
        if name == "tbl" and self._tables:
            self._tables -= 1
            self.flow.close_table()
        elif name == "tc" and self._tables:
            self.flow.close_cell()
