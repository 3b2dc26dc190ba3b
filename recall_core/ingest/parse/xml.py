"""XML: extract the text of elements, block by block. Element names identify DocBook, RSS and Atom."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from html.entities import html5
from typing import Any
from xml.parsers import expat

from recall_core.errors import IngestError
from recall_core.ingest.parse.flow import LINE, PARAGRAPH, Opened, TextFlow, short_name
from recall_core.ingest.parse.html import ANNOTATIONS, HtmlReader, cut_line
from recall_core.ports import ParsedDocument

DEEPEST = 500  # open elements

_SUBSET = re.compile(
    rb"(?s)(?:\s++|<!--.*?-->|<\?.*?\?>)*+<!DOCTYPE(?:[^\[>\"']++|\"[^\"]*+\"|'[^']*+')*+"
    rb"(\[(?:[^\]\"'<]++|\"[^\"]*+\"|'[^']*+'|<!--.*?-->|<\?.*?\?>|<(?!!--|\?))*+\])"
)


class XmlHandler:
    """Receives a file's elements. Names come without prefixes, also those of attributes.

    The default methods ignore everything.
    """

    def start(self, name: str, seen: Mapping[str, str]) -> None:
        """Handle the start of an element."""

    def end(self, name: str) -> None:
        """Handle the end of the innermost open element."""

    def text(self, text: str) -> None:
        """Handle text of the open element. It may come in pieces."""


class XmlEvents:
    """One reading of one file.

    code: error code for a file that is not well-formed.
    encoding: encoding of the bytes, overriding the declaration.
    only: names of the elements passed to the handler; None for all.
    unread: names of elements skipped with their content.
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
        self._unread_from = 0  # depth of the skipped element; 0 outside of any
        self._names: dict[str, str | None] = {}  # names without prefixes; None for elements that are not passed on
        self._start, self._end, self._text = handler.start, handler.end, handler.text
        made = self._expat = expat.ParserCreate(encoding)
        made.buffer_text = True
        made.UseForeignDTD(True)  # undefined entities may be defined elsewhere: skip them instead of failing
        made.StartDoctypeDeclHandler = self._doctype
        made.StartElementHandler = self._on_start
        made.EndElementHandler = self._on_end
        made.CharacterDataHandler = self._text
        made.DefaultHandler = self._other

    def read(self, raw: bytes) -> None:
        """Pass the file to the handler. Resolves HTML entities and drops entities that the file defines.

        Raises IngestError `too_deep` beyond 500 levels, and with `code` if the file is not well-formed.
        """
        try:
            self._expat.Parse(without_definitions(raw), True)
        except expat.ExpatError as error:
            reason = f"{expat.errors.messages.get(error.code, 'an error')} in line {error.lineno}"
            raise bad_xml(self._path, reason, self._code) from error
        except (LookupError, ValueError) as error:
            raise bad_xml(self._path, str(error), self._code) from error

    def position(self) -> int:
        """Return the byte offset at which the current tag begins, or the current text ends."""
        return self._expat.CurrentByteIndex

    def _doctype(self, name: str, system: str | None, public: str | None, has_definitions: int) -> None:
        if has_definitions:
            raise bad_xml(self._path, "it defines entities of its own", self._code)

    def _on_start(self, name: str, seen: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            reason = f"its elements are nested deeper than {DEEPEST} levels"
            raise IngestError("too_deep", f"{self._path} cannot be read: {reason}.", details={"path": self._path})
        if self._unread_from:
            return
        try:
            local = self._names[name]
        except KeyError:
            local = _local(name)
            if local in self._unread or (self._only is not None and local not in self._only):
                local = None
            self._names[name] = local
        if local is not None:
            self._start(local, {_local(key): value for key, value in seen.items()} if seen else seen)
        elif self._unread and _local(name) in self._unread:
            self._unread_from = self._depth
            self._expat.CharacterDataHandler = None

    def _on_end(self, name: str) -> None:
        self._depth -= 1
        if not self._unread_from:
            local = self._names[name]
            if local is not None:
                self._end(local)
        elif self._depth < self._unread_from:
            self._unread_from = 0
            self._expat.CharacterDataHandler = self._text

    def _other(self, text: str) -> None:
        if text[0] == "&" and self._depth and not self._unread_from:
            known = html5.get(text[1:])
            if known:
                self._text(known)


@lru_cache(maxsize=2048)
def _local(name: str) -> str:
    """Return a name without its prefix."""
    return name.rpartition(":")[2]


def bad_xml(path: str, reason: str, code: str) -> IngestError:
    """Return the error for a file that is not well-formed."""
    return IngestError(code, f"{path} is not well-formed XML: {reason}.", details={"path": path})


def without_definitions(raw: bytes) -> bytes:
    """Return UTF-8 XML with the doctype's definitions blanked out, so that no entity can expand."""
    found = _SUBSET.match(raw)
    if not found:
        return raw
    start, end = found.span(1)
    return raw[:start] + re.sub(rb"[^\n]", b" ", raw[start:end]) + raw[end:]


_SECTIONS = frozenset(
    """appendix article bibliography book chapter colophon dedication entry glossary index item part preface
    refentry reference refsect1 refsect2 refsect3 refsection refsynopsisdiv sect1 sect2 sect3 sect4 sect5 section set
    simplesect topic""".split()
)
_PARAGRAPHS = frozenset("description encoded formalpara p para simpara summary".split())
_INLINE = frozenset(
    """a abbrev acronym anchor application b citetitle classname code command computeroutput constant em email
    emphasis envar filename firstterm footnoteref function glossterm guibutton guilabel guimenu guimenuitem i
    inlineequation keycap keycombo link literal markup option optional parameter phrase productname prompt property
    quote rb replaceable returnvalue ruby sgmltag small span strong structfield structname sub subscript sup
    superscript symbol systemitem tag token trademark tt type u ulink uri userinput varname xref""".split()
)
_PRE = frozenset(("literallayout", "programlisting", "screen", "synopsis"))
_LISTS = {"itemizedlist": None, "orderedlist": 1, "ul": None, "ol": 1, "procedure": 1}
_ITEMS = frozenset(("listitem", "li", "step"))
_TABLES = frozenset(("table", "informaltable"))
_ROWS = frozenset(("row", "tr"))
_CELLS = frozenset(("entry", "td", "th"))
_UNSEEN = frozenset(("indexterm", "remark", "script", "style"))
_FEEDS = frozenset(("rss", "feed", "RDF"))
_PAGES = frozenset(("content", "description", "encoded", "summary"))
"""Elements of a feed that contain HTML as text."""


class XmlText:
    """Reads well-formed XML. The title is that of the root element, else the file name."""

    version = 3
    reads = "text"
    is_verbatim = False
    is_foreign = False

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document. Raises IngestError `bad_xml` and `too_deep`."""
        elements = _Elements(path)
        events = XmlEvents(elements, path=path, code="bad_xml", encoding="UTF-8")
        elements.position = events.position
        events.read(raw)
        flow = elements.flow
        text = flow.text()
        title = elements.title or path.rpartition("/")[2]
        meta: dict[str, Any] = {"lang": elements.lang} if elements.lang else {}
        notes = () if text else ("no text in its elements",)
        return (ParsedDocument(None, text, title, digest, len(raw), meta, flow.marks_with_places(int), notes=notes),)


class _OpenElement:
    """An open element. pending: gap after its last child, if no text of its own follows."""

    __slots__ = ("at", "close", "has_blocks", "has_text", "is_block", "name", "pending", "values")

    def __init__(self, name: str) -> None:
        self.name = name
        self.at = 0
        self.values = ""
        self.is_block = True
        self.has_text = self.has_blocks = False
        self.pending = ""
        self.close: Callable[[], None] | None = None


class _Elements(XmlHandler):
    def __init__(self, path: str) -> None:
        self.flow = TextFlow()
        self.title = self.lang = ""
        self.position: Callable[[], int] = int
        self._path = path
        self._stack = [_OpenElement("")]
        self._sections = self._unseen = self._pres = self._lists = self._tables = 0
        self._is_feed = self._is_data = False
        self._at = 0
        self._page: list[str] | None = None
        self._page_at = 0

    def start(self, name: str, seen: Mapping[str, str]) -> None:
        self._at = self.position()
        if self._unseen or name in _UNSEEN or (name in ANNOTATIONS and self._stack[-1].name == "ruby"):
            self._unseen += 1
            return
        parent, opened = self._stack[-1], _OpenElement(name)
        if len(self._stack) == 1:
            self._is_feed = name in _FEEDS
            self._is_data = not self._is_feed and name not in _SECTIONS
            self.lang = cut_line(seen.get("lang", ""), 100)
        self._stack.append(opened)
        self._settle(parent)
        is_inline = name in _INLINE and not self._is_data
        if is_inline or self._pres or (parent.has_text and name not in _LISTS and name not in _PRE):
            opened.is_block = False
            return
        parent.has_blocks = True
        if self._is_data and seen:
            opened.at, opened.values = self._at, " ".join(seen.values())
        self.flow.separate(PARAGRAPH if name in _PARAGRAPHS or self._is_section(name) else LINE)
        self._open(name, opened, parent)
        if self._is_feed and name in _PAGES and seen.get("type") != "xhtml":
            self._page, self._page_at = [], self._at

    def end(self, name: str) -> None:
        self._flush_page(name)
        self._at = self.position()
        if self._unseen:
            self._unseen -= 1
            return
        element = self._stack.pop()
        parent = self._stack[-1]
        if element.values and not element.has_text and not element.has_blocks:
            self.flow.words(element.values, element.at, self._at)
        if element.close:
            self._settle(element)
            element.close()
        if element.is_block and self._is_section(name):
            self._sections -= 1
        if element.is_block:
            is_large = element.has_blocks or element.pending == PARAGRAPH or name in _PARAGRAPHS
            parent.pending = PARAGRAPH if is_large and not self._tables else LINE

    def text(self, text: str) -> None:
        at, self._at = self._at, self.position()
        if self._unseen:
            return
        element = self._stack[-1]
        if self._page is not None:
            self._page.append(text)
        elif self._pres:
            self.flow.verbatim(text, at, self._at)
        elif text.isspace():
            self.flow.words(text, at, self._at)
        else:
            element.has_text, element.pending = True, ""
            self.flow.words(text, at, self._at)

    def _settle(self, element: _OpenElement) -> None:
        """Separate what follows if the last child of the element was a block."""
        if element.pending:
            self.flow.separate(element.pending)
            element.pending = ""

    def _open(self, name: str, opened: _OpenElement, parent: _OpenElement) -> None:
        flow = self.flow
        if self._is_section(name):
            self._sections += 1
        elif name == "title":
            self._title(opened, parent)
        elif name in _PRE:
            self._pres += 1
            flow.open_pre()
            opened.close = self._close_pre
        elif name in _LISTS:
            self._lists += 1
            flow.open_list(_LISTS[name])
            opened.close = self._close_list
        elif name in _ITEMS and self._lists:
            flow.open_item()
        elif name in _TABLES:
            self._tables += 1
            flow.open_table()
            opened.close = self._close_table
        elif name in _ROWS and self._tables:
            flow.open_row()
        elif name in _CELLS and self._tables:
            flow.open_cell()
            opened.close = flow.close_cell

    def _is_section(self, name: str) -> bool:
        return name in _SECTIONS and not (name == "entry" and self._tables)

    def _title(self, opened: _OpenElement, parent: _OpenElement) -> None:
        """Read a title: a section's becomes a heading, the root element's the document title."""
        holder = self._stack[-3] if parent.name.endswith("info") and len(self._stack) > 3 else parent
        is_outermost = len(self._stack) - 2 <= 1 + (holder is not parent) or parent.name in ("channel", "feed")
        if holder.name in _SECTIONS:
            start = self.flow.open_heading()
            opened.close = lambda: self._close_title(start, min(6, max(1, self._sections)), is_outermost)
        elif is_outermost:
            start = self.flow.begin_unit()
            opened.close = lambda: self._close_title(start, 0, is_outermost)

    def _close_title(self, start: Opened, level: int, is_outermost: bool) -> None:
        name = self.flow.close_heading(start, level) if level else short_name(self.flow.since(start))
        if is_outermost:
            self.title = self.title or name

    def _close_pre(self) -> None:
        self._pres -= 1
        self.flow.close_pre()

    def _close_list(self) -> None:
        self._lists -= 1
        self.flow.close_list()

    def _close_table(self) -> None:
        self._tables -= 1
        self.flow.close_table()

    def _flush_page(self, name: str) -> None:
        """Add the collected text of a feed element, which may be HTML."""
        if self._page is None or name not in _PAGES:
            return
        source, self._page = "".join(self._page), None
        until = self.position()
        if "<" in source or "&" in source:
            inner = TextFlow()
            HtmlReader(inner, path=self._path).read(source)
            marks = [mark._replace(level=mark.level + self._sections) for mark in inner.marks]
            self.flow.add(inner.text(), marks, self._page_at, until)
        else:
            self.flow.words(source, self._page_at, until)
