"""The macros of man(7), and tbl(1) tables, which mdoc(7) uses too."""

from __future__ import annotations

import re
from collections.abc import Callable

from recall_man.escapes import words
from recall_man.layout import HEADING, ManLayout
from recall_man.roff import Roff

SILENT = frozenset(
    """
    AT DT UC TA ad af aln ab asciify backtrace bd blm bp box boxa break brp c2 cc ce cf cflags ch char chop class
    close color composite continue cp cs cu da defcolor dei device devicem di dt ec ecr ecs el em eo EN EQ GE GS G1
    G2 ev evc ex fam fc fchar fcolor fl fp fschar fspecial ft gcolor hc hcode hla hlm hpf hpfa hpfcode hw hy hym hys
    it itc kern lc length lf lg linetabs ll ls lsm lt mc mk mso na ne nf1 nh nhychar nm nn nop nroff ns nx open opena
    os output pc pev pi pl pm pn pnr po ps psbb pso ptr pvs rchar rd recursionlimit rfschar rj rs rt schar shc
    sizes spacewidth spreadwarn ss stringdown stringup sty substring sv sy ta tc ti1 tkf tl tm tm1 tmc troff uf ul
    unformat vpt vs warn warnscale wh write writec writem LINKSTYLE HY AD LINKSTYLE IX PSPIC
    """.split()
)
"""Requests and macros whose arguments are not displayed."""

_PARAGRAPHS = ("PP", "P", "LP", "HP", "IP")
_FONTS = ("B", "I", "R", "SM", "SB", "CW", "BI", "BR", "IB", "IR", "RB", "RI", "C", "L")
_JOINED = ("BI", "BR", "IB", "IR", "RB", "RI")
_SPACE = re.compile(r"\s*([-+]?)\s*(\d*\.?\d*)")
_EMPTY = re.compile(r"\\[&%:|^/,)]|\s")

_TAB = re.compile(r"\btab\s*+\(\s*+(?:(\S)\s*+|(?<=(\s)))\)", re.IGNORECASE)
_RULE = re.compile(r"\s*+(?:[_=]|\\_|\\\^)?\s*")
_CELL_START, _CELL_END = "T{", "T}"


class ManMacros:
    """Passes the content of man(7) macros and lines to a layout."""

    def __init__(self, roff: Roff, layout: ManLayout) -> None:
        self.layout = layout
        self.title: list[str] = []
        """Arguments of .TH."""
        self._roff = roff
        self._heading = 0
        self._links: list[str] = []
        self._number = 0
        self._handlers: dict[str, Callable[[str], None]] = {
            **dict.fromkeys(_PARAGRAPHS[:4], self._paragraph), **dict.fromkeys(_FONTS, self._font),
            **dict.fromkeys(_JOINED, self._joined), "IP": self._indented, "TP": self._tagged, "TQ": self._tagged_too,
            "TH": self._title, "SH": self._section, "SS": self._subsection, "RS": self._enter, "RE": self._leave,
            "nf": self._preformatted, "EX": self._preformatted, "Vb": self._preformatted, "fi": self._running,
            "EE": self._running, "Ve": self._running, "br": self._break, "in": self._break, "ti": self._break,
            "sp": self._space, "Sp": self._space, "PD": self._distance, "UR": self._link, "MT": self._link,
            "UE": self._link_end, "ME": self._link_end, "OP": self._option, "SY": self._synopsis, "YS": self._break,
            "MR": self._reference,
        }  # fmt: skip

    def text(self, line: str, number: int) -> None:
        """Add a line of text."""
        self._add(line, number, may_indent=True)

    def _add(self, line: str, number: int, *, may_indent: bool) -> None:
        layout = self.layout
        self._number = number
        if not line or line.isspace():
            if not layout.in_tag:
                layout.blank(number)
            return
        goes_on = False
        if "\\" in line or self._roff.translates:
            goes_on = line.endswith("\\c")
            line = self._roff.plain(line)
        if self._heading:
            self._head(line)
        elif not layout.filled and not layout.in_tag:
            layout.add(line, number)
            if not goes_on:
                layout.line_break()
        elif line[:1] == " " and may_indent and not layout.in_tag and line.strip():
            layout.indented(line, number)
        else:
            layout.add(line, number)
            if layout.in_tag and not goes_on:
                layout.tag_end()
        if goes_on:
            layout.glue()

    def macro(self, name: str, rest: str, number: int) -> None:
        """Run a macro or a request. The arguments of an unknown one are text."""
        self._number = number
        handler = self._handlers.get(name)
        if handler:
            handler(rest)
        elif name not in SILENT and rest:
            self._add_text(" ".join(words(rest)))

    def table(self, lines: list[str], number: int) -> None:
        """Add a table, one line per row."""

        def render_cell(inner: list[str]) -> str:
            cell = ManMacros(self._roff, ManLayout())
            self._roff.within(inner, cell)
            return " ".join(cell.layout.done().split())

        layout = self.layout
        layout.tag_end()
        layout.block(rows_of(lines, render_cell, self._roff), number)

    def _add_text(self, line: str) -> None:
        if line and _EMPTY.sub("", line):
            self._add(line, self._number, may_indent=False)

    def _font(self, rest: str) -> None:
        self._add_text(" ".join(words(rest)))

    def _joined(self, rest: str) -> None:
        self._add_text("".join(words(rest)))

    def _paragraph(self, rest: str) -> None:
        self._head_end()
        self.layout.end_item()

    def _indented(self, rest: str) -> None:
        self._head_end()
        arguments = words(rest)
        tag = self._roff.plain(arguments[0]) if arguments else ""
        if not tag.strip():
            self.layout.end()
            return
        self.layout.tag(self._number)
        self.layout.add(tag, self._number)
        self.layout.tag_end()

    def _tagged(self, rest: str) -> None:
        self._head_end()
        self.layout.tag(self._number)

    def _tagged_too(self, rest: str) -> None:
        self.layout.tag(self._number, more=True)

    def _title(self, rest: str) -> None:
        if not self.title:
            self.title = [self._roff.plain(word) for word in words(rest)]

    def _section(self, rest: str) -> None:
        self._begin_heading(rest, HEADING)

    def _subsection(self, rest: str) -> None:
        self._begin_heading(rest, HEADING + 1)

    def _begin_heading(self, rest: str, level: int) -> None:
        self._head_end()
        self.layout.end()
        self.layout.filled = True
        self.layout.compact = False
        self._heading = level
        name = " ".join(words(rest))
        if name:
            self._head(self._roff.plain(name))

    def _head(self, name: str) -> None:
        name = " ".join(name.split())
        level, self._heading = self._heading, 0
        if name:
            self.layout.heading(name, level, self._number)

    def _head_end(self) -> None:
        self._heading = 0

    def _enter(self, rest: str) -> None:
        self._head_end()
        self.layout.enter()

    def _leave(self, rest: str) -> None:
        self.layout.leave()

    def _preformatted(self, rest: str) -> None:
        if self.layout.filled:
            self.layout.end()
            self.layout.filled = False

    def _running(self, rest: str) -> None:
        if not self.layout.filled:
            self.layout.end()
            self.layout.filled = True

    def _break(self, rest: str) -> None:
        if not self.layout.in_tag:
            self.layout.line_break()

    def _space(self, rest: str) -> None:
        sign, amount = _SPACE.match(rest).groups() if rest else ("", "1")  # type: ignore[union-attr]
        if self.layout.in_tag:
            return
        if sign == "-" or (amount.strip(".") and float(amount) < 0.2):
            self.layout.line_break()
        else:
            self.layout.blank(self._number)

    def _distance(self, rest: str) -> None:
        amount = rest.strip()
        self.layout.compact = amount.startswith("0") and not amount.strip("0.").strip("vpniu")

    def _link(self, rest: str) -> None:
        self._links.append(self._roff.plain(" ".join(words(rest)[:1])))

    def _link_end(self, rest: str) -> None:
        behind = self._roff.plain("".join(words(rest)))
        link = self._links.pop() if self._links else ""
        if link:
            self._add_text(f"<{link}>{behind}".replace("\\", "\\e"))

    def _option(self, rest: str) -> None:
        self._add_text(f"[{' '.join(words(rest))}]")

    def _synopsis(self, rest: str) -> None:
        self.layout.end()
        self._add_text(" ".join(words(rest)))

    def _reference(self, rest: str) -> None:
        name, section, *behind = [*words(rest), "", ""]
        self._add_text(f"{name}({section}){''.join(behind)}" if section else name)


def rows_of(lines: list[str], render_cell: Callable[[list[str]], str], roff: Roff) -> list[str]:
    """Return the rows of a table. render_cell: returns the content of a cell's lines on one line."""
    table = _ManTable(render_cell, roff)
    for line in lines:
        table.read(line)
    table.close()
    return table.rows


class _ManTable:
    def __init__(self, render_cell: Callable[[list[str]], str], roff: Roff) -> None:
        self.rows: list[str] = []
        self._render_cell = render_cell
        self._roff = roff
        self._tab = "\t"
        self._is_format = True
        self._is_first = True
        self._cells: list[str] = []
        self._inner: list[str] | None = None

    def read(self, line: str) -> None:
        if self._inner is not None:
            if line.startswith(_CELL_END):
                self._end_of_cell(self._roff.expand(line[len(_CELL_END) :]))
            else:
                self._inner.append(line)
        elif self._is_format:
            self._format(line)
        elif line[:1] in (".", "'") and line[1:2] and not line[1].isdigit():
            self._is_format = line[1:].lstrip().startswith("T&")
        elif line:
            self._read_cells(self._roff.expand(line))

    def close(self) -> None:
        """End the table, even within a cell."""
        if self._inner is not None:
            self._end_of_cell("")
        elif self._cells:
            self._row()

    def _format(self, line: str) -> None:
        """Read a line of the format section, which ends with a full stop; the first line may contain options."""
        if self._is_first and line.rstrip().endswith(";"):
            tab = _TAB.search(line)
            self._tab = (tab[1] or tab[2]) if tab else "\t"
        elif line.rstrip().endswith("."):
            self._is_format = False
        self._is_first = False

    def _read_cells(self, line: str) -> None:
        cells = line.split(self._tab)
        last = cells.pop()
        self._cells += [self._display(cell) for cell in cells]
        if last.strip() == _CELL_START:
            self._inner = []
        else:
            self._cells.append(self._display(last))
            self._row()

    def _end_of_cell(self, rest: str) -> None:
        inner, self._inner = self._inner or [], None
        self._cells.append(self._render_cell(inner))
        if rest.startswith(self._tab):
            self._read_cells(rest[1:])
        else:
            self._row()

    def _display(self, cell: str) -> str:
        return "" if _RULE.fullmatch(cell) else " ".join(self._roff.plain(cell).split())

    def _row(self) -> None:
        cells, self._cells = self._cells, []
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            self.rows.append(" | ".join(cells))
