"""The target: a chunk, a document, lines, a text, or a file that is not in the store."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from recall_core.marks import Places, Unit, stretch
from recall_core.retrieve import targets
from recall_core.retrieve.asking import Asker
from recall_core.text import is_storable
from recall_core.types import Row

Kind = Literal["chunk", "document", "lines", "file", "text"]


class Target(NamedTuple):
    """A target as named by the caller. rows: its live chunks in natural order; empty if the store has none."""

    text: str
    kind: Kind
    rows: tuple[Row, ...] = ()
    snippet: str | None = None
    """The text to find."""
    lines: tuple[int, int] | None = None
    """The first and last line to find."""
    absent: Literal["", "not_ingested", "tombstoned", "not_indexed"] = ""
    """Why there are no rows."""
    path: str = ""
    """The path, if absent is set."""


class Sought(NamedTuple):
    """The chunk that represents a target. doc_rowid: its document's."""

    row: Row
    doc_rowid: int
    snippet: str | None
    lines: tuple[int, int] | None = None
    """The document's lines to show. The chunk may contain only part of them."""

    @property
    def wanted_span(self) -> tuple[int, int]:
        """The code points of the chunk's text to show: all of them, or those of the target lines."""
        chunk = self.row.chunk
        if self.lines is None:
            return 0, len(chunk.text)
        ends = [place + 1 for place, mark in enumerate(chunk.text) if mark == "\n"]
        starts = [0, *ends, len(chunk.text)]
        first, last = (min(max(line - chunk.line_start, 0), len(starts) - 2) for line in self.lines)
        return starts[first], len(chunk.text[: starts[last + 1]].rstrip("\r\n"))


def identify(asker: Asker, text: str) -> Target:
    """Find a target: paths first, then ids, lines, files on disk, removed documents, named parts, and texts.

    A target in double quotes is a text. Raises UnknownTarget, UsageError `ambiguous_id`.
    """
    if len(text) > 2 and text[0] == text[-1] == '"':
        return _text(asker, text, text[1:-1])
    readers = (_by_name, _lines, _not_in_store, _by_ending, _named_part)
    return next((found for each in readers if (found := each(asker, text))), None) or _text(asker, text, text)


def _by_ending(asker: Asker, text: str) -> Target | None:
    """Return the only document, or lines of it, whose path has this ending; None if several do."""
    lines = targets.PART.fullmatch(text)
    for name, rest in ((text, ""), *(((lines["path"], text[lines.end("path") :]),) if lines else ())):
        paths = targets.by_ending(asker.store, name, base=asker.base)
        if len(paths) == 1:
            path = str(asker.base / paths[0])
            found = _lines(asker, path + rest) if rest else _by_name(asker, path)
            return None if found is None else found._replace(text=text)
    return None


def _by_name(asker: Asker, text: str) -> Target | None:
    store = asker.store
    one = targets.one(store, text, base=asker.base)
    if one is None:
        return _records(asker, text)
    kind, full_id = one
    if kind == "chunk":
        return Target(text, "chunk", tuple(store.fetch([store.rowid("chunk", full_id)])))
    rows = tuple(store.chunks_of(full_id))
    return Target(text, "document", rows, absent="" if rows else "not_indexed", path=text)


def _records(asker: Asker, text: str) -> Target | None:
    """Return the chunks of a file of records, which has no document of its own."""
    meanings = targets.readings(text, base=asker.base)
    found = (next(filter(None, map(asker.store.chunks_of_file, each.names)), []) for each in meanings)
    files = [rowids for rowids in found if rowids]
    if len(files) > 1:
        raise targets.ambiguous(text, base=asker.base)
    return Target(text, "document", tuple(asker.store.fetch(files[0]))) if files else None


def _lines(asker: Asker, text: str) -> Target | None:
    lines = targets.PART.fullmatch(text)
    if lines is None:
        return None
    first, last = int(lines["first"]), int(lines["last"] or lines["first"])
    one = targets.one(asker.store, lines["path"], base=asker.base, part=text[lines.end("path") :])
    if one is None and lines["last"] is None and lines["kind"] in (None, "line"):
        record = targets.record_at(asker.store, lines["path"], first, base=asker.base)
        if record is not None:
            return Target(text, "document", tuple(asker.store.chunks_of(record)), path=text)
    if one is None or one[0] != "doc":
        return _not_in_store(asker, lines["path"])
    marks = asker.store.marks_of(one[1])
    own = Places(marks).kind
    kind = lines["kind"] if lines["kind"] != "line" or own else None
    if kind or own == "line":
        found = stretch(marks, len(asker.store.text_of(one[1])), kind or own, first, last) if first <= last else None
        if found is None:
            place = f"{kind or own} {first}" + ("" if first == last else f"-{last}")
            raise targets.no_such_place(_path_of(asker, one[1]), place, marks)
        return _stretch(asker, text, one[1], found)
    count = targets.lines_in(asker.store.text_of(one[1]))
    if count == 0:
        return Target(text, "document", absent="not_indexed", path=lines["path"])
    if not 1 <= first <= last or first > count:
        raise targets.no_such_lines(lines["path"], count)
    rowids = asker.store.chunks_of_lines(one[1], first, last)
    return Target(text, "lines", tuple(asker.store.fetch(rowids)), lines=(first, last))


def _named_part(asker: Asker, text: str) -> Target | None:
    """Return the named part of a document, such as a section. Raises UsageError `bad_place`."""
    named = targets.document_of_part(asker.store, text, base=asker.base)
    if named is None:
        return None
    doc_id, name = named
    size, marks = len(asker.store.text_of(doc_id)), asker.store.marks_of(doc_id)
    return _stretch(asker, text, doc_id, targets.named_part(_path_of(asker, doc_id), size, marks, name).unit)


def _path_of(asker: Asker, doc_id: str) -> str:
    return str(asker.store.documents([asker.store.rowid("doc", doc_id)]).popitem()[1].path)


def _stretch(asker: Asker, text: str, doc_id: str, found: Unit) -> Target:
    """Return the lines of a document's text behind a place or a named part."""
    whole = asker.store.text_of(doc_id)
    end = found.start + len(whole[found.start : found.end].rstrip())
    rows = tuple(asker.store.fetch(asker.store.chunks_near(doc_id, found.start, end)))
    if not rows:
        return Target(text, "document", absent="not_indexed", path=_path_of(asker, doc_id))
    before = whole.count("\n", 0, found.start) + 1
    return Target(text, "lines", rows, lines=(before, before + whole.count("\n", found.start, end)))


def _not_in_store(asker: Asker, text: str) -> Target | None:
    meanings = targets.readings(text, base=asker.base)
    for name in dict.fromkeys((*(name for each in meanings for name in each.names), text)):
        path = asker.store.removed_path(name)
        if path is not None:
            return Target(text, "file", absent="tombstoned", path=path)
    for place in (each.place for each in meanings):
        if _is_file(place):
            return Target(text, "file", absent="not_ingested", path=str(place))
    return None


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
    except (OSError, ValueError):  # a name too long or with a NUL names no file
        return False


def _text(asker: Asker, typed: str, snippet: str) -> Target:
    rowids = asker.store.chunks_with(snippet) if snippet.strip() and is_storable(snippet) else []
    if not rowids:
        if typed == snippet and (several := targets.by_ending(asker.store, typed, base=asker.base)):
            raise targets.several(typed, several)
        raise targets.unknown(typed, asker.store)
    return Target(typed, "text", tuple(asker.store.fetch(rowids)), snippet=snippet)
