"""The parsers of source code: `code` by the grammar of its language, `outline` by lines."""

from __future__ import annotations

import re

from recall_core.ingest.parse.code.definitions import NoGrammar, definitions_of
from recall_core.ingest.parse.code.languages import GRAMMARS, language_of, shown
from recall_core.ingest.parse.code.outline import outline_of
from recall_core.ingest.parse.code.units import marks_of
from recall_core.ingest.parse.text import decode
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument

_MOST_BYTES = 1 << 20  # a syntax tree takes hundreds of times the memory of its source
_LONGEST_LINE = 64 << 10  # bytes
_DEEPEST = 1000  # brackets in each other: what is never closed takes quadratic time

_FIRST_LINE_BYTES = 400
_BY_LINES = "outline by lines"

_OPENING, _CLOSING = b"([{", b")]}"
_OTHERS = bytes(byte for byte in range(256) if byte not in _OPENING + _CLOSING)

_CPP = re.compile(
    rb"^[ \t]*(?:class[ \t]+\w|namespace\b|template[ \t]*<|(?:public|private|protected)[ \t]*:|using )", re.MULTILINE
)
_OBJECTIVE_C = re.compile(rb"^[ \t]*(?:@interface|@implementation|@protocol|@class|#import)\b", re.MULTILINE)


class Code:
    """Reads source code: its definitions are units. Where no grammar can be used, it outlines by lines."""

    version = 2
    reads = "text"
    is_verbatim = True
    is_foreign = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """The one document of the file; its metadata has the `language`, if one is known.

        Raises IngestError `binary_file` or `not_utf8`.
        """
        text = decode(raw, path=path)
        source = text.encode()
        language = _language(source, path)
        marks, note = _marks(source, language)
        meta = {"language": language.partition(" ")[0]} if language else {}
        notes = (note,) if note else ()
        return (ParsedDocument(None, text, _title(path), digest, len(raw), meta, marks, notes=notes),)


class SourceOutline:
    """Reads any text: lines that look like a definition begin a unit, which ends by how far lines are indented."""

    version = 2
    reads = "text"
    is_verbatim = True
    is_foreign = False

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """The one document of the file.  Raises IngestError `binary_file` or `not_utf8`."""
        text = decode(raw, path=path)
        source = text.encode()
        marks = _by_lines(source, _language(source, path))
        return (ParsedDocument(None, text, _title(path), digest, len(raw), {}, marks),)


def _title(path: str) -> str:
    return path.rpartition("/")[2]


def _language(source: bytes, path: str) -> str | None:
    """The language of the file; of suffixes that several languages use the one that the text looks like."""
    first_line = source[:_FIRST_LINE_BYTES].partition(b"\n")[0].decode(errors="ignore")
    language = language_of(path, first_line)
    if language == "c" and path.lower().endswith(".h"):
        if _OBJECTIVE_C.search(source):
            return "objc"
        return "cpp" if _CPP.search(source) else "c"
    if language == "objc" and path.lower().endswith(".m") and not _OBJECTIVE_C.search(source):
        return "matlab"
    return language


def _marks(source: bytes, language: str | None) -> tuple[tuple[Mark, ...], str]:
    """The marks, and what to say of how they were found."""
    if language is None or language not in GRAMMARS:
        return _by_lines(source, language), ""
    reason = _too_much(source)
    if reason:
        return _by_lines(source, language), f"{reason}: {_BY_LINES}"
    try:
        return marks_of(source, *definitions_of(source, language)), ""
    except NoGrammar:
        return _by_lines(source, language), f"no grammar for {shown(language)} is installed: {_BY_LINES}"


def _too_much(source: bytes) -> str:
    """Why no grammar should read this: it would take too much time or memory; "" where it would not."""
    if len(source) > _MOST_BYTES:
        return "larger than 1 MiB"
    if max(map(len, source.split(b"\n"))) > _LONGEST_LINE:
        return "a line is longer than 64 KiB"
    if b"\0" in source:
        return "a NUL byte in it"
    depth = deepest = 0
    for bracket in source.translate(None, _OTHERS):
        depth = depth + 1 if bracket in _OPENING else max(0, depth - 1)
        deepest = max(deepest, depth)
    return f"brackets nested deeper than {_DEEPEST:,}" if deepest > _DEEPEST else ""


def _by_lines(source: bytes, language: str | None) -> tuple[Mark, ...]:
    return marks_of(source, *outline_of(source, language))
