"""Text in cells: bars, shares, the gauge, dots, cut and folded lines, and the two sets of glyphs for them."""

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
"""Three of Okabe and Ito's colours, distinguished by every common kind of colour vision."""


class Glyphs(NamedTuple):
    """What bars and marks are drawn with."""

    eighths: str
    """A bar's last cell in growing order; the last one is a full cell."""
    levels: str
    """A share from small to whole in one cell."""
    series: str
    """One fill a series, in order."""
    strokes: str
    """One thin line a signal, in the order of COLOURS."""
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
    """A choice that is not taken, where the one that is has the knob."""
    track: str
    ends: str
    tick: str
    here: str
    upright: str
    newline: str
    """A line break in a text that is shown on one line."""
    cut_front: str
    """In place of the front of a path: no mark with which a path begins that is whole."""


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
NOTICE_CELLS = 70  # of what a notice repeats: more of it would cover the screen


def glyphs_in(app: App[Any]) -> Glyphs:
    """What the terminal of a running workbench can draw."""
    return ASCII if app.has_class("-ascii") else UNICODE


class InApp(Protocol):
    """A widget or a screen."""

    @property
    def app(self) -> App[Any]:
        """The application it belongs to."""


class Drawing:
    """A widget or a screen that knows what its terminal can draw."""

    @property
    def glyphs(self: InApp) -> Glyphs:
        """What this terminal can draw."""
        return glyphs_in(self.app)


def glyphs_for(environment: Mapping[str, str]) -> Glyphs:
    """ASCII where the locale names another encoding than UTF-8, Unicode elsewhere."""
    locale = next((environment[key] for key in ("LC_ALL", "LC_CTYPE", "LANG") if environment.get(key)), "utf-8")
    return UNICODE if locale.lower().replace("-", "").endswith("utf8") else ASCII


def bar(share: float, width: int, glyphs: Glyphs, *, series: int = 0) -> str:
    """A bar of exactly `width` cells, with something to see wherever the share is not 0.

    The first series ends in a fraction of a cell; the others, drawn in patterns, in a whole one.
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
    """Whole cells for each weight by largest remainder: they add up to `width`; ties go to the earlier.

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
    """A budget in `width` cells: a segment a block, then headers and separators, then the free space."""
    inner = max(1, width - 2)
    headers = max(0, used_tokens - sum(block_tokens))
    cells = split([*block_tokens, headers, max(0, budget_tokens - used_tokens)], inner)
    fills = [glyphs.series[place % 3] for place in range(len(block_tokens))] + [glyphs.header, glyphs.free]
    body = "".join(fill * count for fill, count in zip(fills, cells, strict=True))
    return f"{glyphs.left}{body:{inner}}{glyphs.right}"


def fit(text: str, width: int, glyphs: Glyphs) -> str:
    """The text in exactly `width` cells, cut with a mark where it is too long."""
    if width <= 0:
        return ""
    if cell_len(text) > width:
        return set_cell_size(text, width - cell_len(glyphs.cut)) + glyphs.cut
    return set_cell_size(text, width)


def fit_place(path: str, lines: str, width: int, glyphs: Glyphs, *, more: str = "") -> str:
    """A path with its lines and `more` in exactly `width` cells.

    Where there is not room for all, `more` is cut at its end, then goes, and then the path loses its front:
    whole folders first, since paths differ at their ends.
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
    """The text on one line of at most `width` cells, with a mark where it is too long."""
    line = " ".join(text.split("\n")).rstrip()
    return line if cell_len(line) <= width else fit(line, width, glyphs)


def blank(text: str) -> str:
    """The text with blanks for line breaks and whatever else steers a terminal; as long as before."""
    return text if text.isprintable() else text.translate(_BREAKS)


def figure(number: int) -> str:
    """A count for people: thousands apart."""
    return f"{number:,}"


def pluralize(number: int, noun: str) -> str:
    """A count with its noun, of which the plural has an s.

    >>> pluralize(1, "doc"), pluralize(1200, "doc")
    ('1 doc', '1,200 docs')
    """
    return f"{figure(number)} {noun}{'' if number == 1 else 's'}"


def with_figures(sentence: str) -> str:
    """A sentence whose counts have their thousands apart. It must not quote names: one may be a number."""
    return _COUNT.sub(lambda found: figure(int(found[0])), sentence)


def fold(text: str, width: int) -> list[str]:
    """The text's lines broken at spaces to at most `width` cells; control characters become blanks."""
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
            current, word = indent, word.lstrip()  # noqa: PLW2901 - the break stands for the space
        current += word
        if cell_len(current) > width:
            *full, current = chop_cells(current, width)
            pieces += [piece.rstrip() for piece in full if piece.strip()]
    return [*pieces, current.rstrip()] if current.strip() else pieces


ACROSS, DOWN = 2, 4
"""Dots of a cell."""
_BRAILLE = 0x2800
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each dot of a braille character, by row and column."""
_COLUMNS = tuple(sum(_BITS[y][x] for y in range(DOWN)) for x in range(ACROSS))
_ROWS = tuple(sum(row) for row in _BITS)


class Canvas:
    """A grid of dots, `width` by `height` cells. Dots outside of it are left out."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self.ink = 0
        """What the next dots are drawn in; a cell has the ink of its last dot."""
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
        """The canvas as text, a string a row of cells."""
        draw = _stroke if glyphs is ASCII else _braille
        return ["".join(map(draw, row)) for row in self._cells]


def _braille(bits: int) -> str:
    return chr(_BRAILLE + bits) if bits else " "


@cache
def _stroke(bits: int) -> str:
    """Return the stroke for these dots: two above each other are upright, two next to each other level."""
    if not bits:
        return " "
    is_upright = any((bits & column).bit_count() > 1 for column in _COLUMNS)
    is_level = any((bits & row).bit_count() > 1 for row in _ROWS)
    return "+" if is_upright and is_level else "|" if is_upright else "-"


_TURNS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that make a text look like another."""
_LINE_BREAKS = "\u2028\u2029"
_OBEYED = {
    **dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), *map(ord, _TURNS + _LINE_BREAKS))),
    **dict.fromkeys(range(0xD800, 0xE000), "?"),
}
"""What a terminal obeys, which has no width on the screen, and halves of characters, which cannot be written."""


class Harmless(LineFilter):
    """Shows every text without what a terminal would obey."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments, in the same cells."""
        if all(segment.text.isprintable() for segment in segments):
            return segments  # nearly every line, at every frame
        return [Segment(harmless(text), style, control) for text, style, control in segments]


def harmless(text: str) -> str:
    """The text without control characters and changes of direction; as wide as before."""
    return text if text.isprintable() else text.translate(_OBEYED)


BOLD = Style(bold=True)
DIM = Style(dim=True)
VISIBLE = 0.0005  # the least that three decimals show
TEXTS = ("feature", "collision", "token", "sentence", "removal")
"""The kinds of leaves that are a piece of a text; the others are terms and arithmetic."""
LABEL = 9  # cells of the name before a line, where it is not longer


def number(value: float) -> str:
    """A figure in three decimals; where those would show nothing, on which side of zero it is."""
    if value == 0 or abs(value) >= VISIBLE:
        return f"{value + 0.0:.3f}"  # never -0.000
    return "<.001" if value > 0 else ">-.001"


def with_sign(value: float) -> str:
    """A difference in three decimals with its sign; none at all is =."""
    return "=" if value == 0 else number(value) if value < VISIBLE else f"+{number(value)}"


def round_to_total(values: Sequence[float], total: float) -> list[float]:
    """The values to three decimals, so that they add up to the total as it is shown, by largest remainder.

    total: their sum, or what that is shown as. Values that do not add up to it are rounded each by itself.

    >>> round_to_total([0.4857, 0.0257], 0.5114)
    [0.486, 0.025]
    """
    if abs(fsum(values) - total) > 2 * VISIBLE:
        return [round(value, 3) for value in values]
    exact = [value * 1_000 for value in values]
    whole = [floor(value + 1e-6) for value in exact]
    left = round(total * 1_000) - sum(whole)
    for place in sorted(range(len(values)), key=lambda place: (whole[place] - exact[place], place))[: max(0, left)]:
        whole[place] += 1
    return [value / 1_000 for value in whole]


def keep_sign(value: float, shown: float) -> float:
    """Return the rounded value, or a tiny one with the same sign where rounding leaves nothing to show.

    >>> keep_sign(0.0004, 0.0), keep_sign(0.0257, 0.025)
    (1e-06, 0.025)
    """
    return shown if shown or not value else 1e-6 if value > 0 else -1e-6


def raw_number(value: float) -> str:
    """A signal's own figure, which may be tiny and still be divided by another: in powers of ten then."""
    return f"{value:.0e}" if 0 < abs(value) < VISIBLE else f"{value:.3f}"


def one_line(text: str) -> str:
    """A text without its line breaks and other marks that are not printed."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())


def spelt(leaf: LeafView | DifferenceView) -> str:
    """The text of a leaf on one line; in quotes where it is a piece of a text with nothing to see in it."""
    text = one_line(leaf["text"])
    return text or repr(leaf["text"]) if leaf["kind"] in TEXTS else text


def fold_beside(name: str, said: str, width: int, style: Style | None = None) -> Iterator[Text]:
    """Yield a name with a text next to it, folded in its own column."""
    cells = max(LABEL, len(name) + 1)
    for place, line in enumerate(fold(said, width - cells)):
        yield Text().append(f"{name if place == 0 else '':<{cells}}", DIM).append(line, style)


def truncate(line: Text, width: int) -> Text:
    """The line in at most `width` cells."""
    if line.cell_len > width:
        line.truncate(width)
    return line


def wrap(text: Text, width: int) -> list[tuple[int, Text]]:
    """The text broken at blanks to at most `width` cells, with its styles; blanks at a break go.

    Each line has before it the code point of the text at which it begins.
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
            word = pieces[-1]  # noqa: PLW2901 - what is left of it is on the next line
        used += cell_len(word)
        at += len(word)
    lines = list(text.divide(breaks))
    for line in lines[:-1]:
        line.rstrip()
    return list(zip([0, *breaks], lines, strict=True))
