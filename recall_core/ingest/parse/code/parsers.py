"""Source code parsers: `code` uses the language's grammar, `outline` uses line patterns."""

from __future__ import annotations

import re

from recall_core.ingest.parse.code.definitions import NoGrammar, definitions_of
from recall_core.ingest.parse.code.languages import GRAMMARS, display_name, language_of
from recall_core.ingest.parse.code.units import Above, Definition, clip_name, marks_of
from recall_core.ingest.parse.text import decode
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument

_MOST_BYTES = 1 << 20  # a syntax tree takes hundreds of times the memory of its source
_LONGEST_LINE = 64 << 10  # bytes
_DEEPEST = 1000  # nested brackets; unclosed ones take quadratic time

_FIRST_LINE_BYTES = 400
_BY_LINES = "outlined by line patterns"

_OPENING, _CLOSING = b"([{", b")]}"
_OTHERS = bytes(byte for byte in range(256) if byte not in _OPENING + _CLOSING)

_CPP = re.compile(
    rb"^[ \t]*(?:class[ \t]+\w|namespace\b|template[ \t]*<|(?:public|private|protected)[ \t]*:|using )", re.MULTILINE
)
_OBJECTIVE_C = re.compile(rb"^[ \t]*(?:@interface|@implementation|@protocol|@class|#import)\b", re.MULTILINE)


class Code:
    """Reads source code, with definitions as units. Without a usable grammar, it outlines by line patterns."""

    version = 2
    reads = "text"
    is_verbatim = True
    is_foreign = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document; meta: `language`, if known.

        Raises IngestError `binary_file` or `not_utf8`.
        """
        text = decode(raw, path=path)
        source = text.encode()
        language = _language(source, path)
        marks, note = _marks(source, language)
        meta = {"language": language.partition(" ")[0]} if language else {}
        notes = (note,) if note else ()
        return (ParsedDocument(None, text, path.rpartition("/")[2], digest, len(raw), meta, marks, notes=notes),)


class SourceOutline:
    """Reads any text. Lines that look like a definition begin a unit; indentation decides where it ends."""

    version = 2
    reads = "text"
    is_verbatim = True
    is_foreign = False

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document. Raises IngestError `binary_file` or `not_utf8`."""
        text = decode(raw, path=path)
        source = text.encode()
        marks = _by_lines(source, _language(source, path))
        return (ParsedDocument(None, text, path.rpartition("/")[2], digest, len(raw), {}, marks),)


def _language(source: bytes, path: str) -> str | None:
    """Return the language of the file. For a suffix shared by several languages, the text decides."""
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
    """Return the marks, and a note if no grammar was used."""
    if language is None or language not in GRAMMARS:
        return _by_lines(source, language), ""
    reason = _why_too_large(source)
    if reason:
        return _by_lines(source, language), f"{reason}: {_BY_LINES}"
    try:
        return marks_of(source, *definitions_of(source, language)), ""
    except NoGrammar:
        return _by_lines(source, language), f"no grammar for {display_name(language)} is installed: {_BY_LINES}"


def _why_too_large(source: bytes) -> str:
    """Return why a grammar would take too much time or memory; "" if it would not."""
    if len(source) > _MOST_BYTES:
        return "larger than 1 MiB"
    if max(map(len, source.split(b"\n"))) > _LONGEST_LINE:
        return "a line is longer than 64 KiB"
    if b"\0" in source:
        return "it contains a NUL byte"
    depth = deepest = 0
    for bracket in source.translate(None, _OTHERS):
        depth = depth + 1 if bracket in _OPENING else max(0, depth - 1)
        deepest = max(deepest, depth)
    return f"brackets nested deeper than {_DEEPEST:,}" if deepest > _DEEPEST else ""


def _by_lines(source: bytes, language: str | None) -> tuple[Mark, ...]:
    return marks_of(source, *outline_of(source, language))


_KINDS = {
    "class": "class",
    "def": "function",
    "defmodule": "module",
    "defp": "function",
    "enum": "enum",
    "fn": "function",
    "fun": "function",
    "func": "function",
    "function": "function",
    "impl": "impl",
    "interface": "interface",
    "message": "struct",
    "module": "module",
    "namespace": "module",
    "object": "object",
    "proc": "function",
    "procedure": "function",
    "protocol": "interface",
    "record": "struct",
    "service": "interface",
    "struct": "struct",
    "sub": "function",
    "subroutine": "function",
    "trait": "trait",
    "type": "type",
    "union": "struct",
}
_MODIFIERS = (
    r"abstract|async|data|declare|default|export|extern|final|inline|internal|local|open|override|partial|private|"
    r"protected|pub(?:\([a-z]+\))?|public|sealed|static|unsafe"
)
_WORDS = "|".join(sorted(_KINDS, key=len, reverse=True))
_NAME = r"(?:\([^()\n]{1,80}\)[ \t]*)?(?:::|[^\s(){}\[\]=;,:<>]){1,120}"
_AFTER = r"[ \t\r]*+(?:[({\[:=<;,]|$|(?:extends|implements|for|where|is|begin|do|then|struct|interface)\b)"
_DEFINITION = re.compile(
    rf"(?:(?:{_MODIFIERS})[ \t]++)*+(?P<word>{_WORDS})\b(?:<[^>\n]{{0,80}}>)?[ \t]++"
    rf"(?P<name>{_NAME})(?={_AFTER})".encode()
)
_ASSIGNED = re.compile(rb"(?P<name>[\w.$:]{1,120})[ \t]*+(?:<-|=|:)[ \t]*+(?:async[ \t]++)?function\b")

_PYTHON = re.compile(
    rb"""\"{3}(?:[^"\\]++|\\.|"(?!""))*+(?:\"{3}|\Z)|'{3}(?:[^'\\]++|\\.|'(?!''))*+(?:'{3}|\Z)"""
    rb"""|"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?|\#[^\n]*+|\\\r?\n|[(\[{]|[)\]}]"""
    rb"""|\n(?P<keyword>[ \t]*+(?:async[ \t]++)?(?:class|def)\b)?""",
    re.DOTALL,
)
"""Tokens that decide whether a Python line continues. A keyword ends brackets that were never closed."""

_COMMENTS = (b"//", b"/*", b"*", b"#", b"--", b";", b"%", b"!", b"@", b"(*")
_CONTINUED = re.compile(rb"[)\]}{>]|@?end\b|(?:public|private|protected)[ \t]*+:")
"""Lines that are part of a definition although they are not indented deeper."""


def outline_of(source: bytes, language: str | None = None) -> tuple[list[Definition], list[Above]]:
    """Return the definitions of a UTF-8 source and the comments above them; both in order.

    A definition ends before the next code line that is not indented deeper. Python lines within a string or brackets
    continue the line before them.
    """
    outline = _ByIndent()
    offset = 0
    for line in (_joined_lines(source) if language == "python" else source).split(b"\n"):
        text = line.strip()
        if text:
            indent = line[: len(line) - len(line.lstrip())]
            outline.add(text, offset + len(indent), len(indent.expandtabs(8)))
        offset += len(line) + 1
    return outline.close(), outline.above


def _joined_lines(source: bytes) -> bytes:
    """Return Python of the same length, with a blank for each line break that does not end a statement."""
    parts: list[bytes] = []
    depth = reached = 0
    for found in _PYTHON.finditer(source):
        token = found[0]
        if token in b"([{":
            depth += 1
        elif token in b")]}":
            depth = max(0, depth - 1)
        elif found["keyword"]:
            depth = 0
        elif b"\n" in token and (depth or token != b"\n"):
            parts += source[reached : found.start()], token.replace(b"\n", b" ")
            reached = found.end()
    return b"".join((*parts, source[reached:]))


class _ByIndent:
    """Collects definitions line by line. Open definitions are nested by indentation."""

    def __init__(self) -> None:
        self.above: list[Above] = []
        self._definitions: list[Definition] = []
        self._opened: list[tuple[int, int]] = []  # indent and index of each open definition
        self._end = 0  # end of the last line of code

    def add(self, text: bytes, start: int, indent: int) -> None:
        """Add a non-empty line, stripped."""
        if text.startswith(_COMMENTS):
            if text.startswith(b"@"):
                self._close(indent)  # a decorator ends the definition before it
            self.above.append(Above(start, start + len(text), is_bound=text.startswith(b"@")))
            return
        is_continued = _CONTINUED.match(text) is not None
        self._close(indent + 1 if is_continued else indent)
        self._end = start + len(text)
        definition = None if is_continued else self._definition(text, start)
        if definition:
            self._opened.append((indent, len(self._definitions)))
            self._definitions.append(definition)

    def close(self) -> list[Definition]:
        """Return all definitions after the last line."""
        self._close(0)
        return self._definitions

    def _definition(self, text: bytes, start: int) -> Definition | None:
        found = _DEFINITION.match(text)
        if found:
            word = found["word"].decode()
            return Definition(
                start, start, _KINDS[word], clip_name(f"{word} {found['name'].decode(errors='ignore')}")
            )
        assigned = _ASSIGNED.match(text)
        if assigned:
            return Definition(start, start, "function", clip_name(f"{assigned['name'].decode()}()"))
        return None

    def _close(self, indent: int) -> None:
        """End open definitions at this indent or deeper, at the last line of code."""
        while self._opened and self._opened[-1][0] >= indent:
            _, i = self._opened.pop()
            self._definitions[i] = self._definitions[i]._replace(end=self._end)
