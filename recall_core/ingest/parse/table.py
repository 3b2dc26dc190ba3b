"""The table parser: the text of a delimited file, with its rows as units."""

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

_MADE: Any = tuple.__new__  # takes a third of the constructor's time


def row_marks(offsets: Iterable[int]) -> tuple[Mark, ...]:
    """Return a row mark at each of these offsets."""
    fields = zip(offsets, repeat("row"), repeat(""), repeat(2))
    return tuple(map(_MADE, repeat(Mark), fields))


_SNIFF_LINES = 20  # lines that decide the delimiter
_MOST_QUOTED = 64 * 1024  # characters after an unclosed quote that still count as one value
_MOST_COLUMNS = 500  # column names kept
_DELIMITERS = "\t;|,"  # the comma is last, because it is most common within values
_NUMBER = re.compile(r"[-+]?[.,]?\d")
_SEPARATOR = re.compile(r"sep=([,;\t|:])[\r\n]*$", re.IGNORECASE)
_LINE_ENDS = ("\n", "\r\n", "\r")
_AGREEMENT = 0.9  # share of the first rows with as many values as the very first


class DelimitedTable:
    """Reads values separated by commas, semicolons, tabs or bars (.csv, .tsv), verbatim.

    Each row is a unit. If the first row contains column names, it is the heading of all others.
    """

    version = 1
    reads = "text"
    is_verbatim = True

    def parse(self, raw: bytes, *, path: str, digest: str) -> tuple[ParsedDocument, ...]:
        """Return the file's one document; meta: `columns`, if they have names, and `rows`.

        Raises IngestError `bad_row` for an unclosed quote, `binary_file` and `not_utf8`.
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
    """Raise the csv field size limit for a while. It is global to the interpreter."""
    before = csv.field_size_limit()
    csv.field_size_limit(max(before, most + 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _delimiter(lines: Sequence[str], path: str) -> tuple[str, bool]:
    """Return the delimiter, and True if the first line only declares it, as Excel writes it."""
    if path.lower().endswith((".tsv", ".tab")):
        return "\t", False
    declared = _SEPARATOR.match(lines[0]) if lines else None
    return (declared[1], True) if declared else (_sniff(lines), False)


def _sniff(lines: Sequence[str]) -> str:
    """Return the delimiter that gives most of the first rows as many values as the first; of several, the rarest."""
    sizes = accumulate(map(len, islice(lines, _SNIFF_LINES)))
    sample = [line for line, size in zip(lines, sizes, strict=False) if size <= _MOST_QUOTED] or lines[:1]
    shares = []
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in csv.reader(sample, delimiter=delimiter) if row]
        widths = widths[:-1] if len(widths) > 1 and len(sample) < len(lines) else widths  # the last row may be cut
        shares.append(widths.count(widths[0]) / len(widths) if widths and widths[0] > 1 else 0.0)
    best = next((share for share in shares if share >= _AGREEMENT), max(shares))
    return _DELIMITERS[shares.index(best)] if best else ","


def _rows(text: str, lines: Sequence[str], delimiter: str, path: str) -> tuple[list[int], tuple[str, ...]]:
    """Return the line index at which each non-empty row begins, from 0, and notes."""
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
        return _lines_as_rows(lines), ()  # many programs do not quote values in tab-separated files
    where = f"{path}:{final + 1}"
    if sum(map(len, lines[final:])) > _MOST_QUOTED:
        details = {"path": path, "line": final + 1}
        raise IngestError("bad_row", f"{where}: a quote opens in this row and is never closed.", details=details)
    return [*rows, final], (f"line {final + 1}: a quote opens in this row and is never closed",)


def _lines_as_rows(lines: Sequence[str]) -> list[int]:
    return [number for number, line in enumerate(lines) if line not in _LINE_ENDS]


def _names(lines: Sequence[str], rows: Sequence[int], delimiter: str) -> list[str]:
    """Return the first row's values if they look like column names: not empty, all different, not numbers."""
    if len(rows) < 2:
        return []
    header = next(csv.reader(lines[rows[0] : rows[1]], delimiter=delimiter))
    names = [name.strip() for name in header]
    is_named = all(names) and len({*names}) == len(names) and not any(map(_NUMBER.match, names))
    return names if is_named else []
