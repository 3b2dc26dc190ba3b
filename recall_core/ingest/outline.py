"""The outline of a text by patterns alone: where its sections begin, what they are called, what belongs together.

It serves texts that no parser of their own reads; what a parser tells of a text are the same marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recall_core.marks import Mark

_BLOCK_LEVEL = 7  # below every heading


def outline_marks(text: str, *, markdown: bool) -> tuple[Mark, ...]:
    """Return the marks of a text: of Markdown, or else of source code."""
    return markdown_marks(text) if markdown else source_marks(text)


def markdown_marks(text: str) -> tuple[Mark, ...]:
    """ATX and one-line setext headings, all of one level; fenced code, up to the end when never closed."""
    marks: list[Mark] = []
    for kind, start, value in _marks(text):
        if kind == "block":
            marks += (Mark(start, "block", "", _BLOCK_LEVEL), Mark(int(value), "end", "", _BLOCK_LEVEL))
        else:
            marks.append(Mark(start, "heading", value))
    return tuple(marks)


def first_heading(text: str) -> str:
    """Return the first Markdown heading that is not empty, or ""."""
    return next((value for kind, _, value in _marks(text) if kind == "heading" and value), "")


def source_marks(text: str) -> tuple[Mark, ...]:
    """Return lines that look like a definition at column 0, below an empty line or at the very top.

    A definition, with the comments and decorators directly above it, ends where the next begins.
    """
    opening = _DEFINITION.match(text)
    starts = [opening.start("definition")] if opening else []
    starts += [found.start("definition") for found in _LATER_DEFINITION.finditer(text)]
    return tuple(Mark(start, "definition") for start in starts)


_MARK = re.compile(
    r"^(?:[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)"
    r"| {0,3}#{1,6}(?P<atx>[ \t][^\n]*|\r?$)"
    r"| {0,3}(?:=+|-{2,})(?P<under>[ \t\r]*)$)",
    re.MULTILINE,
)
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?:(?!---|\.\.\.)[^\n]*\n)*?(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)

_WORDS = "def|class|func|function|fn|struct|enum|trait|impl|interface|module|namespace"
_MODIFIERS = "export|default|public|private|protected|static|abstract|final|async|unsafe|inline|pub(?:\\([a-z]+\\))?"
_DEFINITION = re.compile(
    rf"(?P<definition>(?:(?:[@#*]|//|/\*| \*)[^\n]*\n)*(?:(?:{_MODIFIERS})[ \t]+)*(?:{_WORDS})[ \t]+[\w*(<$])"
)
_LATER_DEFINITION = re.compile(rf"\n[ \t\r]*\n{_DEFINITION.pattern}")


def _marks(text: str) -> Iterator[tuple[str, int, str]]:
    """("heading", offset, title) and ("block", offset, end), in text order; nothing is found inside a block."""
    front = _FRONT_MATTER.match(text)
    fence, start = "", -1
    for mark in _MARK.finditer(text, front.end() if front else 0):
        found = mark["fence"]
        if fence:
            if found and found[0] == fence[0] and len(found) >= len(fence) and not mark["info"].strip():
                yield "block", start, str(min(len(text), mark.end() + 1))
                fence = ""
        elif found:
            if found[0] == "~" or "`" not in mark["info"]:
                fence, start = found, mark.start()
        elif mark["atx"] is not None:
            yield "heading", mark.start(), _atx_title(mark["atx"])
        else:
            yield from _setext(text, mark.start())
    if fence:
        yield "block", start, str(len(text))


def _atx_title(rest: str) -> str:
    title = rest.strip()
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else title


def _setext(text: str, underline: int) -> Iterator[tuple[str, int, str]]:
    """Yield the heading whose underline begins there: exactly one line of text between it and an empty line."""
    start = text.rfind("\n", 0, max(0, underline - 1)) + 1
    title = text[start:underline].strip()
    above = text[text.rfind("\n", 0, max(0, start - 1)) + 1 : start].strip()
    if title and not above and title[0] not in "#>|-*+`~=":
        yield "heading", start, title
