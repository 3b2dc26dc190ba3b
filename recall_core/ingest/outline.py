"""The outline of a text: where its sections begin, what they are called, and which stretches belong together."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple


class Outline(NamedTuple):
    """Offsets in code points, ascending.

    joints: where a section begins, be it a heading or a top-level definition.  titles: runs parallel to joints, ""
    for a section without a title.  blocks: half-open stretches that should not be divided, never overlapping.
    """

    joints: tuple[int, ...]
    titles: tuple[str, ...]
    blocks: tuple[tuple[int, int], ...]

    def joint_before(self, position: int) -> int:
        """The last joint at or before the position, or -1."""
        i = bisect_right(self.joints, position)
        return self.joints[i - 1] if i else -1

    def title_at(self, position: int) -> str | None:
        """The title of the section that holds the position."""
        i = bisect_right(self.joints, position)
        return (self.titles[i - 1] or None) if i else None

    def block_around(self, position: int) -> tuple[int, int] | None:
        """The block that a cut at the position would divide, or None."""
        i = bisect_right(self.blocks, (position, 0))
        if i and self.blocks[i - 1][0] < position < self.blocks[i - 1][1]:
            return self.blocks[i - 1]
        return None


def markdown(text: str) -> Outline:
    """Joints are ATX and one-line setext headings; blocks are fenced code, up to the end when never closed."""
    joints: list[int] = []
    titles: list[str] = []
    blocks: list[tuple[int, int]] = []
    for kind, start, value in _marks(text):
        if kind == "block":
            blocks.append((start, int(value)))
        else:
            joints.append(start)
            titles.append(value)
    return Outline(tuple(joints), tuple(titles), tuple(blocks))


def first_heading(text: str) -> str:
    """The first Markdown heading that is not empty, or ""."""
    return next((value for kind, _, value in _marks(text) if kind == "heading" and value), "")


def source(text: str) -> Outline:
    """Joints are lines that look like a definition at column 0, below an empty line or at the very top.

    A definition, with the comments and decorators directly above it, is a block that ends where the next begins.
    """
    opening = _DEFINITION.match(text)
    joints = [opening.start("definition")] if opening else []
    joints += [found.start("definition") for found in _LATER_DEFINITION.finditer(text)]
    blocks = pairwise([*joints, len(text)])
    return Outline(tuple(joints), ("",) * len(joints), tuple(blocks))


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
    """The heading whose underline begins there: exactly one line of text between it and an empty line."""
    start = text.rfind("\n", 0, max(0, underline - 1)) + 1
    title = text[start:underline].strip()
    above = text[text.rfind("\n", 0, max(0, start - 1)) + 1 : start].strip()
    if title and not above and title[0] not in "#>|-*+`~=":
        yield "heading", start, title
