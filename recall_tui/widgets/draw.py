"""Text in cells: bars, shares, the gauge, dots, cut and folded lines, and their two sets of glyphs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import floor, fsum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.color import Color
from textual.filter import LineFilter

if TYPE_CHECKING:
    from textual.app import App

    from recall_core.contract.ledger import DifferenceView, LeafView

COLOURS: dict[str, str] = {"lexical": "#56b4e9", "semantic": "#e69f00", "rerank": "#009e73"}
"""Three of Okabe and Ito's colours, which people with common kinds of colour blindness can tell apart."""


class Glyphs(NamedTuple):
    """The characters of bars and marks."""

    eighths: str
    """A bar's last cell in growing order. The last one is a full cell."""
    levels: str
    """A share from small to full in one cell."""
    series: str
    """One fill for each series, in order."""
    strokes: str
    """One thin line for each signal, in the order of COLOURS."""
    header: str
    free: str
    left: str
    right: str
    pointer: str
    crumb: str
    dot: str
    yes: str
    no: str
    out: str
    cut: str
    line: str
    up: str
    down: str
    knob: str
    hollow: str
    """A choice that is not selected. The selected one has the knob."""
    track: str
    ends: str
    tick: str
    here: str
    upright: str
    newline: str
    """A line break in a text shown on one line."""
    cut_front: str
    """Replaces the front of a path. No complete path starts with it."""


UNICODE = Glyphs(
    *("▏▎▍▌▋▊▉█", "▁▂▃▄▅▆▇█", "█▓▒░", "━─┄", "┊", " ", "▕", "▏", "▶", " › ", " · ", "✓", "✗", "×", "…", "─"),
    *("▲", "▼", "●", "○", "━", "◀▶", "┴", "▲", "│", "↵", "…"),
)
ASCII = Glyphs(
    *("#", "123456789", "#=+:", "=-~", "|", " ", "[", "]", ">", " > ", " | ", "ok", "!!", "x", "~", "-"),
    *("+", "-", "O", ".", "=", "<>", "'", "^", "|", "\\n", "<"),
)
_COUNT = re.compile(r"(?<![\w.,-])[0-9]{4,}(?![\w.-])")
_BREAKS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029), " ")
NOTICE_CELLS = 70  # of a text quoted in a notice; more would cover the screen


def glyphs_in(app: App[Any]) -> Glyphs:
    """Return the glyphs that the terminal of a running workbench can draw."""
    return ASCII if app.has_class("-ascii") else UNICODE


class InApp(Protocol):
    """A widget or a screen."""

    @property
    def app(self) -> App[Any]:
        """The application it belongs to."""


class Drawing:
    """A widget or a screen that knows the glyphs of its terminal."""

    @property
    def glyphs(self: InApp) -> Glyphs:
        """The glyphs of this terminal."""
        return glyphs_in(self.app)


def glyphs_for(environment: Mapping[str, str]) -> Glyphs:
    """Return ASCII if the locale names an encoding other than UTF-8, else Unicode."""
    locale = next((environment[key] for key in ("LC_ALL", "LC_CTYPE", "LANG") if environment.get(key)), "utf-8")
    return UNICODE if locale.lower().replace("-", "").endswith("utf8") else ASCII


def bar(share: float, width: int, glyphs: Glyphs, *, series: int = 0) -> str:
    """Return a bar of exactly `width` cells, with at least one mark if the share is above 0.

    The first series ends in a fraction of a cell. The others use patterns and end in a whole cell.
    """
    if width <= 0:
        return ""
    share = min(1.0, max(0.0, share))
    fill = glyphs.series[series % len(glyphs.series)]
    steps = len(glyphs.eighths) if series == 0 else 1
    whole, part = divmod(max(round(share * width * steps), 1 if share > 0 else 0), steps)
    last = glyphs.eighths[part - 1] if part else ""
    return (fill * whole + last).ljust(width)


def split(weights: Sequence[float], width: int) -> list[int]:
    """Split `width` cells among the weights by largest remainder. Ties go to the earlier weight.

    >>> split([2, 1, 1], 6)
    [3, 2, 1]
    """
    total = sum(weights)
    if total <= 0:
        return [0] * len(weights)
    exact = [weight * width / total for weight in weights]
    cells = [int(amount) for amount in exact]
    by_remainder = sorted(range(len(weights)), key=lambda place: (cells[place] - exact[place], place))
    for place in by_remainder[: width - sum(cells)]:
        cells[place] += 1
    return cells


def gauge(block_tokens: Sequence[int], used_tokens: int, budget_tokens: int, width: int, glyphs: Glyphs) -> str:
    """Return a budget in `width` cells: a segment for each block, headers and separators, then free space."""
    inner = max(1, width - 2)
    headers = max(0, used_tokens - sum(block_tokens))
    cells = split([*block_tokens, headers, max(0, budget_tokens - used_tokens)], inner)
    fills = [glyphs.series[place % 3] for place in range(len(block_tokens))] + [glyphs.header, glyphs.free]
    body = "".join(fill * count for fill, count in zip(fills, cells, strict=True))
    return f"{glyphs.left}{body:{inner}}{glyphs.right}"


def fit(text: str, width: int, glyphs: Glyphs) -> str:
    """Return the text in exactly `width` cells, with a mark if it is cut."""
    if width <= 0:
        return ""
    if cell_len(text) > width:
        return set_cell_size(text, width - cell_len(glyphs.cut)) + glyphs.cut
    return set_cell_size(text, width)


def fit_place(path: str, lines: str, width: int, glyphs: Glyphs, *, more: str = "") -> str:
    """Return a path with its lines and `more` in exactly `width` cells.

    If they do not fit, `more` is cut at its end, then dropped. Then the path loses its front, whole folders first,
    since paths differ at the end.
    """
    place = path + lines
    spare = width - cell_len(place)
    if spare >= 0:
        return fit(place + more if spare >= min(cell_len(glyphs.cut), cell_len(more)) else place, width, glyphs)
    room = width - cell_len(glyphs.cut_front) - cell_len(lines)
    if room <= 0:
        return fit(lines or path, width, glyphs)
    tail = path
    while cell_len(tail) > room and (at := tail.find("/", 1)) >= 0:
        tail = tail[at:]
    tail = tail if cell_len(tail) <= room else tail.removeprefix("/")
    while cell_len(tail) > room:
        tail = tail[1:]
    return fit(f"{glyphs.cut_front}{tail}{lines}", width, glyphs)


def cut(text: str, width: int, glyphs: Glyphs) -> str:
    """Return the text on one line of at most `width` cells, with a mark if it is cut."""
    line = " ".join(text.split("\n")).rstrip()
    return line if cell_len(line) <= width else fit(line, width, glyphs)


def blank(text: str) -> str:
    """Replace line breaks and control characters by blanks, so the length stays the same."""
    return text if text.isprintable() else text.translate(_BREAKS)


def figure(number: int) -> str:
    """Format a count with thousands separators."""
    return f"{number:,}"


def pluralize(number: int, noun: str) -> str:
    """Return a count with its noun. The plural must end in s.

    >>> pluralize(1, "doc"), pluralize(1200, "doc")
    ('1 doc', '1,200 docs')
    """
    return f"{figure(number)} {noun}{'' if number == 1 else 's'}"


def with_figures(sentence: str) -> str:
    """Add thousands separators to the counts of a sentence. It must not quote names, since a name may be a number."""
    return _COUNT.sub(lambda match: figure(int(match[0])), sentence)


def fold(text: str, width: int) -> list[str]:
    """Break the lines of a text at spaces to at most `width` cells. Control characters become blanks."""
    width = max(1, width)
    lines: list[str] = []
    for line in text.splitlines():
        clean = "".join(mark if mark.isprintable() else " " for mark in line.expandtabs(4)).rstrip()
        lines += [clean] if cell_len(clean) <= width else _broken(clean, width)
    return lines


def _broken(line: str, width: int) -> list[str]:
    pieces = []
    current = ""
    indent = line[: min(len(line) - len(line.lstrip()), width // 2)]
    for word in re.findall(r"\s*\S+", line):
        if current.strip() and cell_len(current + word) > width:
            pieces.append(current.rstrip())
            current, word = indent, word.lstrip()  # noqa: PLW2901 - the break replaces the space
        current += word
        if cell_len(current) > width:
            *full, current = chop_cells(current, width)
            pieces += [piece.rstrip() for piece in full if piece.strip()]
    return [*pieces, current.rstrip()] if current.strip() else pieces


ACROSS, DOWN = 2, 4
"""Dots per cell."""
_BRAILLE = 0x2800
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each dot of a braille character, by row and column."""
_COLUMNS = tuple(sum(_BITS[y][x] for y in range(DOWN)) for x in range(ACROSS))
_ROWS = tuple(sum(row) for row in _BITS)


class Canvas:
    """A grid of dots, `width` by `height` cells. Dots outside are ignored."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self.ink = 0
        """Ink of the next dots. A cell has the ink of its last dot."""
        self.inks = [bytearray(width) for _ in range(height)]
        self._cells = [bytearray(width) for _ in range(height)]

    @property
    def columns(self) -> int:
        """Dots from left to right."""
        return self.width * ACROSS

    @property
    def rows(self) -> int:
        """Dots from top to bottom."""
        return self.height * DOWN

    def dot(self, x: int, y: int) -> None:
        """Set one dot."""
        if 0 <= x < self.columns and 0 <= y < self.rows:
            self._cells[y // DOWN][x // ACROSS] |= _BITS[y % DOWN][x % ACROSS]
            self.inks[y // DOWN][x // ACROSS] = self.ink

    def upright(self, x: int, y: int, to: int) -> None:
        """Set the dots of one column from one row to another."""
        for each in range(min(y, to), max(y, to) + 1):
            self.dot(x, each)

    def lines(self, glyphs: Glyphs) -> list[str]:
        """Return the canvas as text, one string for each row of cells."""
        draw = _stroke if glyphs is ASCII else _braille
        return ["".join(map(draw, row)) for row in self._cells]


def _braille(bits: int) -> str:
    return chr(_BRAILLE + bits) if bits else " "


@cache
def _stroke(bits: int) -> str:
    """Return the ASCII stroke for these dots: upright for two in a column, level for two in a row."""
    if not bits:
        return " "
    is_upright = any((bits & column).bit_count() > 1 for column in _COLUMNS)
    is_level = any((bits & row).bit_count() > 1 for row in _ROWS)
    return "+" if is_upright and is_level else "|" if is_upright else "-"


_TURNS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Direction marks, which can make a text look like another."""
_LINE_BREAKS = "\u2028\u2029"
_OBEYED = {
    **dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), *map(ord, _TURNS + _LINE_BREAKS))),
    **dict.fromkeys(range(0xD800, 0xE000), "?"),
}
"""Control characters, which have no width on the screen, and surrogates, which cannot be written."""


class Harmless(LineFilter):
    """Removes everything from a text that a terminal would obey."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments in the same cells."""
        if all(segment.text.isprintable() for segment in segments):
            return segments  # true for nearly every line
        return [Segment(harmless(text), style, control) for text, style, control in segments]


def harmless(text: str) -> str:
    """Remove control characters and direction marks from a text. Its width stays the same."""
    return text if text.isprintable() else text.translate(_OBEYED)


BOLD = Style(bold=True)
DIM = Style(dim=True)
VISIBLE = 0.0005  # the smallest value that three decimals show
TEXTS = ("feature", "collision", "token", "sentence", "removal")
"""Kinds of leaves that are a piece of a text. The others are terms and arithmetic."""
LABEL = 9  # cells of the name before a line, unless it is longer


def number(value: float) -> str:
    """Format a figure with three decimals. Show only the sign of a value too small for them."""
    if value == 0 or abs(value) >= VISIBLE:
        return f"{value + 0.0:.3f}"  # never -0.000
    return "<.001" if value > 0 else ">-.001"


def with_sign(value: float) -> str:
    """Format a difference with three decimals and its sign, or as = for 0."""
    return "=" if value == 0 else number(value) if value < VISIBLE else f"+{number(value)}"


def round_to_total(values: Sequence[float], total: float) -> list[float]:
    """Round the values to three decimals by largest remainder, so that they add up to the total as shown.

    total: their sum, or the figure shown for it. If the values do not add up to it, each is rounded by itself.

    >>> round_to_total([0.4857, 0.0257], 0.5114)
    [0.486, 0.025]
    """
    if abs(fsum(values) - total) > 2 * VISIBLE:
        return [round(value, 3) for value in values]
    exact = [value * 1_000 for value in values]
    rounded = [floor(value + 1e-6) for value in exact]
    left = round(total * 1_000) - sum(rounded)
    for place in sorted(range(len(values)), key=lambda place: (rounded[place] - exact[place], place))[: max(0, left)]:
        rounded[place] += 1
    return [value / 1_000 for value in rounded]


def keep_sign(value: float, shown: float) -> float:
    """Return the rounded value, or a tiny value with the same sign if rounding gives 0.

    >>> keep_sign(0.0004, 0.0), keep_sign(0.0257, 0.025)
    (1e-06, 0.025)
    """
    return shown if shown or not value else 1e-6 if value > 0 else -1e-6


def raw_number(value: float) -> str:
    """Format a raw score, in scientific notation if it is tiny: tiny scores still matter after normalizing."""
    return f"{value:.0e}" if 0 < abs(value) < VISIBLE else f"{value:.3f}"


def one_line(text: str) -> str:
    """Return a text on one line, with blanks for characters that cannot be printed."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())


def spelt(leaf: LeafView | DifferenceView) -> str:
    """Return the text of a leaf on one line, quoted if it is a piece of a text without visible characters."""
    text = one_line(leaf["text"])
    return text or repr(leaf["text"]) if leaf["kind"] in TEXTS else text


def fold_beside(name: str, text: str, width: int, style: Style | None = None) -> Iterator[Text]:
    """Yield a name with a text next to it, folded in its own column."""
    cells = max(LABEL, len(name) + 1)
    for place, line in enumerate(fold(text, width - cells)):
        yield Text().append(f"{name if place == 0 else '':<{cells}}", DIM).append(line, style)


def truncate(line: Text, width: int) -> Text:
    """Cut the line to at most `width` cells."""
    if line.cell_len > width:
        line.truncate(width)
    return line


def wrap(text: Text, width: int) -> list[tuple[int, Text]]:
    """Break a styled text at blanks to at most `width` cells. Blanks at a break are dropped.

    Each line comes with the code point of the text at which it begins.
    """
    width = max(1, width)
    if text.cell_len <= width:
        return [(0, text)]
    breaks: list[int] = []
    used = at = 0
    for word in re.findall(r"\S+\s*|\s+", text.plain):
        if used and used + cell_len(word.rstrip()) > width:
            breaks.append(at)
            used = 0
        if cell_len(word.rstrip()) > width:
            pieces = chop_cells(word, width)
            for piece in pieces[:-1]:
                at += len(piece)
                breaks.append(at)
            word = pieces[-1]  # noqa: PLW2901 - the rest goes on the next line
        used += cell_len(word)
        at += len(word)
    lines = list(text.divide(breaks))
    for line in lines[:-1]:
        line.rstrip()
    return list(zip([0, *breaks], lines, strict=True))
