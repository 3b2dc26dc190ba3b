"""The Org parser: starred headings as sections, with blocks, drawers and tables kept whole."""

from __future__ import annotations

import re

from recall_core.ingest.parse.front_matter import Value
from recall_core.ingest.parse.markup import (
    DEEPEST_HEADING,
    MarkupBlock,
    MarkupLine,
    document,
    emphasis,
    lines_of,
    marks_of,
    short_name,
    strip_markup,
)
from recall_core.ingest.parse.text import decode
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument


class Org:
    """Reads Org. The title is `#+TITLE`, else the first heading, else the file name."""

    version = 1
    reads = "text"
    is_verbatim = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document. Raises IngestError `binary_file` or `not_utf8`."""
        text = decode(raw, path=path)
        outline = _OrgOutline(text)
        marks = marks_of(outline.headings, outline.blocks)
        return document(raw, text, marks, path=path, digest=digest, said=outline.keywords)


_HEADING = re.compile(r"(\*+)[ \t]+(.*)")
_HEADING_TAGS = re.compile(r"[ \t]?:[\w@#%:]+:")
_PRIORITY = re.compile(r"\[#[A-Za-z0-9]{1,2}\](?:[ \t]+|\Z)")
_KEYWORD = re.compile(r"[ \t]*+#\+([A-Za-z_-]+):[ \t]*+(.*)")
_BEGIN = re.compile(r"[ \t]*+#\+begin(?:_(\S+)|:)(?:[ \t]|\Z)", re.IGNORECASE)
_END = re.compile(r"[ \t]*+#\+end(?:_(\S+)|:)\Z", re.IGNORECASE)
_DRAWER = re.compile(r"[ \t]*+:([\w-]+):\Z")
_DAY = re.compile(r"[<\[](\d{4}-\d\d-\d\d)(?: [^>\]]*)?[>\]]")
_STATES = ("todo", "seq_todo", "typ_todo")
_META = ("author", "email", "date", "language", "description", "category", "subtitle")
"""Keywords that describe the document; the others are Org settings."""


class _OrgOutline:
    """Headings, blocks and keywords of a text."""

    def __init__(self, text: str) -> None:
        self.headings: list[Mark] = []
        self.blocks: list[MarkupBlock] = []
        self.keywords: dict[str, Value] = {}
        self._states = {"TODO", "DONE"}
        self._open: dict[str, int] = {}  # start of each open block and drawer, by its end marker
        self._table = -1
        for line in lines_of(text):
            found = _KEYWORD.fullmatch(line.text) if "#+" in line.text else None
            if found and found[1].lower() in _STATES:
                self._states |= {each.partition("(")[0] for each in found[2].split() if each != "|"}
        for line in lines_of(text):
            self._line(line)
        self._end_table(len(text))

    def _line(self, line: MarkupLine) -> None:
        text = line.text
        first = text.lstrip(" \t")[:1]
        if first != "|":
            self._end_table(line.start)
        if first == "*" and (found := _HEADING.fullmatch(text)):
            self._open.clear()
            name = self._name(found[2])
            self.headings.append(Mark(line.start, "heading", name, min(len(found[1]), DEEPEST_HEADING)))
        elif first == "#":
            self._sharp(line)
        elif first == ":" and (drawer := _DRAWER.fullmatch(text)):
            if drawer[1].lower() == "end":
                self._close(":", line.end)
            elif not self._open:
                self._open[":"] = line.start
        elif first == "|" and self._table < 0 and not self._open:
            self._table = line.start

    def _sharp(self, line: MarkupLine) -> None:
        if found := _BEGIN.match(line.text):
            self._open.setdefault(f"_{(found[1] or '').lower()}", line.start)
        elif found := _END.fullmatch(line.text):
            self._close(f"_{(found[1] or '').lower()}", line.end)
        elif not self._open and (found := _KEYWORD.fullmatch(line.text)):
            self._keyword(found[1].lower(), found[2])

    def _close(self, key: str, end: int) -> None:
        """End a block, and drop unfinished blocks inside it."""
        if key not in self._open:
            return
        while True:
            innermost, start = self._open.popitem()
            if innermost == key:
                self.blocks.append(MarkupBlock(start, end))
                return

    def _end_table(self, end: int) -> None:
        if self._table >= 0:
            self.blocks.append(MarkupBlock(self._table, end))
            self._table = -1

    def _keyword(self, key: str, value: str) -> None:
        value = value.strip()
        if not value:
            return
        if key == "title":
            self.keywords[key] = short_name(f"{self.keywords.get(key, '')} {org_name(value)}")
        elif key in ("filetags", "keywords"):
            tags = value.replace(":", " ").split() if key == "filetags" else value.split(",")
            known_tags = self.keywords.setdefault("tags", [])
            if isinstance(known_tags, list):
                known_tags += tags
        elif key in _META:
            day = _DAY.fullmatch(value)
            self.keywords.setdefault(key, day[1] if day else value)

    def _name(self, title: str) -> str:
        """Return a heading without its state, priority and tags."""
        if title.endswith(":"):
            last = max(title.rfind(" "), title.rfind("\t"), 0)
            title = title[:last] if _HEADING_TAGS.fullmatch(title, last) else title
        state, _, rest = title.partition(" ")
        if state in self._states:
            title = rest.lstrip()
        if priority := _PRIORITY.match(title):
            title = title[priority.end() :]
        return org_name(title.removeprefix("COMMENT "))


_TITLE_HAS_MARKUP = re.compile(r"[\[<=~*/_+]")
_TITLE_MARKUP = [
    re.compile(r"\[\[[^\[\]]*\]\[([^\[\]]*)\]\]"),
    re.compile(r"\[\[([^\[\]]*)\]\]"),
    re.compile(r"<<<?([^<>]*)>>>?"),
    *emphasis("=~*/_+"),
]


def org_name(title: str) -> str:
    """Return an Org title without emphasis and link targets."""
    return strip_markup(title, _TITLE_MARKUP) if _TITLE_HAS_MARKUP.search(title) else short_name(title)
