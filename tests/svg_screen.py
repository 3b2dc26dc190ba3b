"""The characters of a screen that was saved as a picture, and the boxes on it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import NamedTuple

from rich.cells import cell_len

CELL = 12.2
"""The width of a cell in Rich's pictures."""
_TEXT = re.compile(r'<text class="terminal-[\d-]*r\d+" x="([\d.]+)" y="[\d.]+"[^>]*?-line-(\d+)\)">(.*?)</text>')


class Box(NamedTuple):
    """A pane or a dialog: the text on its edges, and its lines."""

    title: str
    lines: tuple[str, ...]
    foot: str


def screen_of(picture: Path) -> list[str]:
    """Return the lines of the screen, cell by cell; the second cell of a wide character is empty."""
    rows: dict[int, list[str]] = {}
    for x, row, text in _TEXT.findall(picture.read_text("utf-8")):
        cells = rows.setdefault(int(row), [])
        place = round(float(x) / CELL)
        cells.extend(" " * (place - len(cells)))
        for character in unescape(text).replace("\xa0", " "):
            cells.extend([character, *([""] * (cell_len(character) - 1))])
    return ["".join(cell or " " for cell in rows.get(row, [])) for row in range(max(rows, default=-1) + 1)]


def boxes(screen: list[str]) -> list[Box]:
    """Return every uncovered box."""
    found = []
    for top, line in enumerate(screen):
        for edge in re.finditer(r"[╭┏][^╭┏]*?[╮┓]", line):
            first, end = edge.start(), edge.end()
            inner = []
            for below in screen[top + 1 :]:
                left, right = below[first : first + 1], below[end - 1 : end]
                if left in "│┃" and left and right in "│┃" and right:
                    inner.append(below[first + 1 : end - 1])
                    continue
                if left in "╰┗" and left and right in "╯┛" and right:
                    found.append(Box(_edge_text(edge.group()), tuple(inner), _edge_text(below[first:end])))
                break
    return found


def _edge_text(edge: str) -> str:
    return re.sub(r"[╭╮╰╯┏┓┗┛─━]+", " ", edge).strip()
