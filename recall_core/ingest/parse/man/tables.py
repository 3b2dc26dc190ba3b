"""Tables of tbl(1): what stands between .TS and .TE becomes a line a row, its cells between bars."""

from __future__ import annotations

import re
from collections.abc import Callable

from recall_core.ingest.parse.man.roff import Roff

_TAB = re.compile(r"\btab\s*+\(\s*+(?:(\S)\s*+|(?<=(\s)))\)", re.IGNORECASE)
_RULE = re.compile(r"\s*+(?:[_=]|\\_|\\\^)?\s*")
_CELL_START, _CELL_END = "T{", "T}"


def rows_of(lines: list[str], told: Callable[[list[str]], str], roff: Roff) -> list[str]:
    """The rows of a table. told: what the lines of one cell say, in one line."""
    table = _ManTable(told, roff)
    for line in lines:
        table.read(line)
    table.close()
    return table.rows


class _ManTable:
    def __init__(self, told: Callable[[list[str]], str], roff: Roff) -> None:
        self.rows: list[str] = []
        self._told = told
        self._roff = roff
        self._tab = "\t"
        self._is_format = True
        self._is_first = True
        self._cells: list[str] = []
        self._inner: list[str] | None = None

    def read(self, line: str) -> None:
        if self._inner is not None:
            if line.startswith(_CELL_END):
                self._end_of_cell(self._roff.expanded(line[len(_CELL_END) :]))
            else:
                self._inner.append(line)
        elif self._is_format:
            self._format(line)
        elif line[:1] in (".", "'") and line[1:2] and not line[1].isdigit():
            self._is_format = line[1:].lstrip().startswith("T&")
        elif line:
            self._cells_of(self._roff.expanded(line))

    def close(self) -> None:
        """The end of the table, within a cell or not."""
        if self._inner is not None:
            self._end_of_cell("")
        elif self._cells:
            self._row()

    def _format(self, line: str) -> None:
        """Lines up to the one that ends with a full stop say how the cells look; the first may hold options."""
        if self._is_first and line.rstrip().endswith(";"):
            tab = _TAB.search(line)
            self._tab = (tab[1] or tab[2]) if tab else "\t"
        elif line.rstrip().endswith("."):
            self._is_format = False
        self._is_first = False

    def _cells_of(self, line: str) -> None:
        cells = line.split(self._tab)
        last = cells.pop()
        self._cells += [self._shown(cell) for cell in cells]
        if last.strip() == _CELL_START:
            self._inner = []
        else:
            self._cells.append(self._shown(last))
            self._row()

    def _end_of_cell(self, rest: str) -> None:
        inner, self._inner = self._inner or [], None
        self._cells.append(self._told(inner))
        if rest.startswith(self._tab):
            self._cells_of(rest[1:])
        else:
            self._row()

    def _shown(self, cell: str) -> str:
        return "" if _RULE.fullmatch(cell) else " ".join(self._roff.plain(cell).split())

    def _row(self) -> None:
        cells, self._cells = self._cells, []
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            self.rows.append(" | ".join(cells))
