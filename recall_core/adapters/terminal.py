"""Drawing on a terminal: tables, and lines wrapped to its width. Wrapped commands can still be pasted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recall_core import caller
from recall_core.text import one_line

__all__ = [
    "Console",
    "Group",
    "Measurement",
    "Padding",
    "RenderableType",
    "Table",
    "Text",
    "cell",
    "fit",
    "join_with_dots",
    "new_console",
    "new_table",
    "width_of",
]

_COMMAND = re.compile(r"(?P<label>\s*(?:fix|[\w ,]+:)?\s*)(?P<line>(?:recall|pipx|uv|git|\S*/python[\w.]*) .+)")
_LABEL = re.compile(r"\s*\S.*?\s{2,}(?=\S)")
_DEEPEST = 3  # continuation lines are indented by at most a third of the width


def new_console(stream: TextIO, color: str | None) -> Console:
    """Return a console for drawings. It finds the width by itself.

    color: "never", "always" (even if the stream is not a terminal), else as the terminal and its variables want.
    """
    forced = {"never": True, "always": False}.get(color or "")
    is_terminal = True if color == "always" else None
    return Console(
        file=stream,
        highlight=False,
        emoji=False,
        no_color=forced,
        force_terminal=is_terminal,
        _environ=caller.environ(),
    )


def new_table() -> Table:
    """Return an empty table with a line below its header."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False)


def cell(text: str) -> Text:
    """Return the text on one line, without control characters."""
    return Text(one_line(text))


def width_of(stream: TextIO) -> int:
    """Return the width of the stream's terminal in columns."""
    return Console(file=stream, _environ=caller.environ()).width


def fit(line: str, width: int) -> Iterator[str]:
    """Wrap a line to `width` cells. Continuation lines start below its second column."""
    if cell_len(line) <= width:
        yield line
    elif command := _COMMAND.fullmatch(line):
        yield from _command(command["label"], command["line"], width)
    else:
        yield from _fold_line(line, width)


def join_with_dots(parts: Sequence[str], width: int, *, head: str = "", indent: int | None = None) -> Iterator[str]:
    """Join the parts with ` · ` and wrap them. indent: of continuation lines (default: the length of the head)."""
    blank = " " * min(len(head) if indent is None else indent, width // _DEEPEST)
    line = head or blank
    is_empty = True
    for part in parts:
        if not is_empty and cell_len(line) + cell_len(part) + 3 > width:
            yield line
            line, is_empty = blank, True
        line += part if is_empty else f" · {part}"
        is_empty = False
    yield from fit(line, width)


def _fold_line(line: str, width: int) -> Iterator[str]:
    indent = " " * _hang(line, width)
    rest = line
    while cell_len(rest) > width:
        at = _break(rest, width, least=len(indent))
        yield rest[:at].rstrip()
        rest = indent + rest[at:].lstrip()
        if cell_len(rest) > width and (command := _COMMAND.fullmatch(rest)):
            yield from _command(command["label"], command["line"], width)
            return
    yield rest


def _hang(line: str, width: int) -> int:
    """Return the start of the second column if the first is short, else the start of the text."""
    most = width // _DEEPEST
    label = _LABEL.match(line)
    if label and len(label[0].rstrip()) < most:
        return min(len(label[0]), most)
    return min(len(line) - len(line.lstrip()), most)


def _break(text: str, width: int, *, least: int) -> int:
    """Return where to break: the last fitting gap between columns if the line is half full, else the last space."""
    most = _within(text, width)
    columns = text.rfind("  ", least + 1, most + 2)
    if columns > max(least, width // 2) and text[:columns].strip():
        return columns
    blank = text.rfind(" ", least + 1, most + 1)
    return blank if blank > least and text[:blank].strip() else max(most, least + 1)


def _within(text: str, width: int) -> int:
    """Return how many characters fit into `width` cells."""
    cells = 0
    for place, mark in enumerate(text):
        cells += cell_len(mark)
        if cells > width:
            return place
    return len(text)


def _command(label: str, line: str, width: int) -> Iterator[str]:
    """Wrap a command with backslashes at line ends, so that it can be pasted into a shell."""
    indent, now = " " * min(len(label), width // _DEEPEST), label
    for whole, is_last in _words(line):
        word = whole
        room = width - (0 if is_last else 2)
        if cell_len(now) + cell_len(word) > room and now.strip():
            yield f"{now.rstrip()} \\"
            now = indent
        while cell_len(now) + cell_len(word) > room:
            head, word = _cut(word, room - 2 - cell_len(now))
            yield f"{now}{head}\\"
            now = ""  # a split word continues in the first column
        now += word + " "
    yield now.rstrip()


def _words(line: str) -> Iterator[tuple[str, bool]]:
    """Yield each word with its quotes, and whether it is the last."""
    words, quoted, start = [], "", 0
    for place, mark in enumerate(line):
        if quoted:
            quoted = "" if mark == quoted else quoted
        elif mark in "'\"":
            quoted = mark
        elif mark == " ":
            words.append(line[start:place])
            start = place + 1
    words.append(line[start:])
    yield from ((word, place == len(words) - 1) for place, word in enumerate(words))


def _cut(word: str, cells: int) -> tuple[str, str]:
    """Split a word in two that a shell joins again. In single quotes, quote both halves."""
    at = max(2, _within(word, cells - 1))
    quoted = ""
    for mark in word[:at]:
        if quoted:
            quoted = "" if mark == quoted else quoted
        elif mark in "'\"":
            quoted = mark
    while at > 1 and word[at - 1] == "\\":
        at -= 1
    return (f"{word[:at]}'", f"'{word[at:]}") if quoted == "'" else (word[:at], word[at:])
