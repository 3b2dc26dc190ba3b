"""The table parser: the text of a file of delimited values, its rows as units."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import accumulate, chain, islice, repeat
from typing import Any

from recall_core.errors import IngestError
from recall_core.ingest.parse.text import decode, short
from recall_core.marks import Mark
from recall_core.ports import ParsedDocument

_MADE: Any = tuple.__new__  # a third of the time that the constructor takes


def row_marks(offsets: Iterable[int]) -> tuple[Mark, ...]:
    """Return a row at each of these offsets."""
    fields = zip(offsets, repeat("row"), repeat(""), repeat(2))
    return tuple(map(_MADE, repeat(Mark), fields))


_SNIFFED = 20  # lines that decide the delimiter
_SWALLOWED = 64 * 1024  # characters behind a quote that is never closed which are still taken for one value
_MOST_COLUMNS = 500  # whose names are kept
_DELIMITERS = "\t;|,"  # a comma is within values most often, and comes last
_NUMBER = re.compile(r"[-+]?[.,]?\d")
_SEPARATOR = re.compile(r"sep=([,;\t|:])[\r\n]*$", re.IGNORECASE)
_LINE_ENDS = ("\n", "\r\n", "\r")
_AGREED = 0.9  # of the first rows have as many values as the very first


class DelimitedTable:
    """Reads values separated by commas, semicolons, tabs or bars (.csv, .tsv), verbatim.

    Every row is a unit. Where the first row is one of names, they are the heading of all others.
    """

    version = 1
    reads = "text"
    is_verbatim = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the one document of the file; meta: `columns`, where they have names, and `rows`.

        Raises IngestError `bad_row` where a quote is never closed, `binary_file` and `not_utf8`.
        """
        text = decode(raw, path=path)
        lines = list(StringIO(text, newline=""))
        with _any_length(len(text)):
            delimiter, first = _delimiter(lines, path)
            rows, notes = _rows(text, lines, delimiter, path)
            rows = rows[1:] if first and rows and rows[0] == 0 else rows
            names = _names(lines, rows, delimiter)
        starts = list(accumulate(map(len, lines), initial=0))
        body = rows[1:] if names else rows
        marks = row_marks(map(starts.__getitem__, body))
        meta: dict[str, Any] = {"rows": len(body)}
        if names:
            marks = (Mark(0, "heading", short(", ".join(names)), 1), *marks)
            meta = {"columns": [short(name) for name in names[:_MOST_COLUMNS]], **meta}
        title = path.rpartition("/")[2]
        return (ParsedDocument(None, text, title, digest, len(raw), meta, marks, notes=notes),)


@contextmanager
def _any_length(most: int) -> Iterator[None]:
    """Raise the limit of a value's length meanwhile; it is one for all readers of the interpreter."""
    before = csv.field_size_limit()
    csv.field_size_limit(max(before, most + 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _delimiter(lines: Sequence[str], path: str) -> tuple[str, bool]:
    """Return the delimiter, and True if the first line only declares it, as Excel writes."""
    if path.lower().endswith((".tsv", ".tab")):
        return "\t", False
    declared = _SEPARATOR.match(lines[0]) if lines else None
    return (declared[1], True) if declared else (_sniff(lines), False)


def _sniff(lines: Sequence[str]) -> str:
    """Return the delimiter by which the first rows have as many values as the very first; of several, the rarest."""
    sizes = accumulate(map(len, islice(lines, _SNIFFED)))
    sample = [line for line, size in zip(lines, sizes, strict=False) if size <= _SWALLOWED] or lines[:1]
    shares = []
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in csv.reader(sample, delimiter=delimiter) if row]
        widths = widths[:-1] if len(widths) > 1 and len(sample) < len(lines) else widths  # it may go on below
        shares.append(widths.count(widths[0]) / len(widths) if widths and widths[0] > 1 else 0.0)
    best = next((share for share in shares if share >= _AGREED), max(shares))
    return _DELIMITERS[shares.index(best)] if best else ","


def _rows(text: str, lines: Sequence[str], delimiter: str, path: str) -> tuple[list[int], tuple[str, ...]]:
    """Return the lines at which rows begin, from 0, without empty ones, and notes on them."""
    if '"' not in text:
        return _lines_as_rows(lines), ()
    reader = csv.reader(chain(lines, ("end",)), delimiter=delimiter)
    ends = [reader.line_num if row else 0 for row in reader]
    rows, last = [], 0
    for end in ends:
        if end:
            rows.append(last)
        last = end or last + 1
    final = rows.pop()
    if final == len(lines):
        return rows, ()
    if delimiter == "\t":
        return _lines_as_rows(lines), ()  # many programs put no quotes around values there
    where = f"{path}:{final + 1}"
    if sum(map(len, lines[final:])) > _SWALLOWED:
        details = {"path": path, "line": final + 1}
        raise IngestError("bad_row", f"{where}: a quote is opened in this row and never closed.", details=details)
    return [*rows, final], (f"line {final + 1}: a quote is opened in this row and never closed",)


def _lines_as_rows(lines: Sequence[str]) -> list[int]:
    return [number for number, line in enumerate(lines) if line not in _LINE_ENDS]


def _names(lines: Sequence[str], rows: Sequence[int], delimiter: str) -> list[str]:
    """Return the values of the first row where they look like the names of columns: there, different, no numbers."""
    if len(rows) < 2:
        return []
    header = next(csv.reader(lines[rows[0] : rows[1]], delimiter=delimiter))
    names = [name.strip() for name in header]
    is_named = all(names) and len({*names}) == len(names) and not any(map(_NUMBER.match, names))
    return names if is_named else []
