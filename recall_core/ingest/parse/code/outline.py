"""Definitions by lines alone, for texts without a grammar: by a keyword, and by how far the lines are indented."""

from __future__ import annotations

import re

from recall_core.ingest.parse.code.units import Above, Definition, named

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
"""What decides in Python whether a line goes on. A keyword ends what brackets were never closed."""

_COMMENTS = (b"//", b"/*", b"*", b"#", b"--", b";", b"%", b"!", b"@", b"(*")
_CONTINUED = re.compile(rb"[)\]}{>]|@?end\b|(?:public|private|protected)[ \t]*+:")
"""What stands as far to the left as a definition and still is a part of it."""


def outline_of(source: bytes, language: str | None = None) -> tuple[list[Definition], list[Above]]:
    """Return the definitions of a source in UTF-8, and the comments above them; each in order.

    A definition ends before the next line of code that is indented no further than it is. Lines of Python within a
    string or brackets continue the line before them.
    """
    outline = _ByIndent()
    offset = 0
    for line in (_joined_lines(source) if language == "python" else source).split(b"\n"):
        text = line.strip()
        if text:
            indent = line[: len(line) - len(line.lstrip())]
            outline.add(text, offset + len(indent), len(indent.expandtabs(8)))
        offset += len(line) + 1
    return outline.closed(), outline.above


def _joined_lines(source: bytes) -> bytes:
    """Return Python of the same length, with a blank for every line break that ends no statement."""
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
    """Lines as they come; definitions that are open, each indented further than those before it."""

    def __init__(self) -> None:
        self.above: list[Above] = []
        self._definitions: list[Definition] = []
        self._opened: list[tuple[int, int]] = []  # how far it is indented, and which it is
        self._end = 0  # of the last line of code

    def add(self, text: bytes, start: int, indent: int) -> None:
        """A line that is not empty, without the white space around it."""
        if text.startswith(_COMMENTS):
            if text.startswith(b"@"):
                self._close(indent)  # a decorator belongs to nothing before it
            self.above.append(Above(start, start + len(text), is_bound=text.startswith(b"@")))
            return
        is_continued = _CONTINUED.match(text) is not None
        self._close(indent + 1 if is_continued else indent)
        self._end = start + len(text)
        definition = None if is_continued else self._definition(text, start)
        if definition:
            self._opened.append((indent, len(self._definitions)))
            self._definitions.append(definition)

    def closed(self) -> list[Definition]:
        """All definitions; there are no more lines."""
        self._close(0)
        return self._definitions

    def _definition(self, text: bytes, start: int) -> Definition | None:
        found = _DEFINITION.match(text)
        if found:
            word = found["word"].decode()
            return Definition(start, start, _KINDS[word], named(f"{word} {found['name'].decode(errors='ignore')}"))
        assigned = _ASSIGNED.match(text)
        if assigned:
            return Definition(start, start, "function", named(f"{assigned['name'].decode()}()"))
        return None

    def _close(self, indent: int) -> None:
        """Ends what is indented that far or further, at the last line of code."""
        while self._opened and self._opened[-1][0] >= indent:
            _, i = self._opened.pop()
            self._definitions[i] = self._definitions[i]._replace(end=self._end)
