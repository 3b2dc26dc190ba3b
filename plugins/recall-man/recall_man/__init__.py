"""The parser for manual pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from recall_core.ports import ParsedDocument
from recall_man.layout import ManLayout
from recall_man.macros import ManMacros
from recall_man.mdoc import Mdoc
from recall_man.roff import Roff

_DESCRIPTION_CHARS = 200
_NAME_CHARS = 100
_DASH = re.compile(r" [-–—−]{1,3}(?: |$)")
_CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f]")
_MDOC = ("Dd", "Dt", "Os", "Sh", "Ss")
_MAN = ("TH", "SH", "SS")


class Man:
    """Reads manual pages in man(7) and mdoc(7), with the text that `man` displays."""

    version = 1
    reads = "text"

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the page. A page that only includes another has no text, and a note names the other page."""
        source = raw.decode(errors="replace").replace("\r\n", "\n")
        source = _CONTROLS.sub("", source)
        page = ManPage(source)
        file = path.rpartition("/")[2]
        notes = tuple(page.notes)
        if not page.text and page.sources:
            alias = page.sources[0][:500]
            note = f"alias of {alias}"
            return (ParsedDocument(None, "", file, digest, len(raw), {"alias_of": alias}, notes=(note,)),)
        title, meta = _describe(page, file)
        return (ParsedDocument(None, page.text, title, digest, len(raw), meta, tuple(page.marks), notes=notes),)


class ManPage:
    """A parsed manual page: its text, marks, and title line."""

    def __init__(self, source: str) -> None:
        roff, layout = Roff(len(source)), ManLayout()
        reader = _ManReader(roff, layout)
        roff.run(source.split("\n"), reader)
        self.text = layout.done()
        self.marks = layout.marks
        self.notes, self.sources = roff.notes, roff.sources
        name, section, date = reader.title()
        self.name, self.section, self.date = name, section, date


class _ManReader:
    """Passes lines to the macro package that the page uses."""

    def __init__(self, roff: Roff, layout: ManLayout) -> None:
        self._man, self._mdoc = ManMacros(roff, layout), Mdoc(roff, layout)
        self._now: ManMacros | Mdoc = self._man
        self.text = self._now.text

    def macro(self, name: str, rest: str, number: int) -> None:
        if name in _MDOC and self._now is self._man:
            self._switch(self._mdoc)
        elif name in _MAN and self._now is self._mdoc:
            self._switch(self._man)
        self._now.macro(name, rest, number)

    def table(self, lines: list[str], number: int) -> None:
        self._now.table(lines, number)

    def title(self) -> tuple[str, str, str]:
        """Return name, section and date."""
        man, mdoc = [*self._man.title, "", "", ""], [*self._mdoc.title, "", ""]
        return (man[0] or mdoc[0], man[1] or mdoc[1], man[2] or self._mdoc.date)

    def _switch(self, other: ManMacros | Mdoc) -> None:
        self._now = other
        self.text = other.text


def _describe(page: ManPage, file: str) -> tuple[str, Mapping[str, Any]]:
    """Return title and metadata."""
    names, description = _names(page)
    meta: dict[str, Any] = {}
    if page.section:
        meta["section"] = page.section[:_NAME_CHARS]
    if page.date:
        meta["date"] = page.date[:_NAME_CHARS]
    if names:
        meta["names"] = names
    name = _page_spelling(page.name, names, file)
    if not name:
        return file, meta
    title = f"{name}({page.section})" if page.section else name
    return (f"{title} - {description}" if description else title), meta


def _page_spelling(name: str, names: list[str], file: str) -> str:
    """Return the name in the page's own capitalization, because title lines are often in capitals."""
    stem = file.rpartition(".")[0]
    for each in (*names, stem):
        if each.casefold() == name.casefold():
            return each[:_NAME_CHARS]
    return (names[0] if names and (not name or name.isupper()) else name)[:_NAME_CHARS]


def _names(page: ManPage) -> tuple[list[str], str]:
    """Return the names before the dash in the first section, and the description after it."""
    headings = [mark for mark in page.marks if mark.kind == "heading"][:2]
    if not headings:
        return [], ""
    end = headings[1].offset if len(headings) > 1 else len(page.text)
    section = page.text[headings[0].offset : min(end, headings[0].offset + 20_000)]
    names: list[str] = []
    description = ""
    is_next = False
    for line in section.partition("\n")[2].split("\n"):
        before, *behind = _DASH.split(" ".join(line.split()), maxsplit=1)
        if behind:
            names += _split_names(before, page.name)
        elif is_next:
            behind = [before]
        is_next = bool(behind) and not description and not behind[0]
        description = description or "".join(behind)[:_DESCRIPTION_CHARS].rstrip()
    return list(dict.fromkeys(names)), description


def _split_names(text: str, first: str) -> list[str]:
    """Return names separated by commas, or by spaces if the first one is the page's own."""
    words = text.split()
    names = words if words and "," not in text and words[0].casefold() == first.casefold() else text.split(",")
    return [name for name in map(str.strip, names) if name and len(name) <= _NAME_CHARS]
