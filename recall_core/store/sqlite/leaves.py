"""Texts on pages that nothing leads to any more: a table whose root is spoiled still has its leaves.

They are read from the bytes of a file, as https://www.sqlite.org/fileformat2.html has them. What comes of it is only
as good as its hashes: a page that is free by now may hold rows of the past.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from recall_core.store.sqlite.schema import PAGE_SIZE

_ID_DIGITS = 64
_LEAF = 13  # the first byte of a leaf of a table
_LARGEST = 1 << 26  # bytes of a row: far above any chunk
_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)  # of the serial types of numbers
_WHOLE = PAGE_SIZE - 35  # a payload up to here lies on its page

_COLUMNS = (
    *("rowid", "id", "doc", "offset", "end_offset", "line_start", "line_end", "tokens", "heading", "title", "text"),
    *("search_text", "text_hash", "deleted", "hash", "place"),
)
"""Of a chunk, in the order in which they are kept; the last two came with later versions, one after the other."""


def chunk_rows(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rowid and the columns of every row, on any page of a file, that looks like a chunk; texts as bytes."""
    with Path(path).open("rb") as file:
        for number in range(2, Path(path).stat().st_size // PAGE_SIZE + 1):
            page = _page(file, number)
            if page[:1] == bytes((_LEAF,)):
                yield from _rows(file, page)


def _rows(file: BinaryIO, page: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    for cell in range(min(int.from_bytes(page[3:5], "big"), PAGE_SIZE // 4)):
        try:
            place = int.from_bytes(page[8 + 2 * cell : 10 + 2 * cell], "big")
            size, place = _number(page, place)
            rowid, place = _number(page, place)
            values = _values(_payload(file, page, place, size))
        except (ValueError, IndexError):
            continue  # no row, or a damaged one
        row = dict(zip(_COLUMNS, [*values, None, None], strict=False))
        is_chunk = len(_COLUMNS) - 2 <= len(values) <= len(_COLUMNS) and isinstance(row["id"], bytes)
        if is_chunk and len(row["id"]) == _ID_DIGITS:
            yield rowid, row


def _page(file: BinaryIO, number: int) -> bytes:
    file.seek((number - 1) * PAGE_SIZE)
    return file.read(PAGE_SIZE)


def _payload(file: BinaryIO, page: bytes, place: int, size: int) -> bytes:
    """The bytes of a row, of which the rest may lie on a chain of further pages. Raises ValueError."""
    if size > _LARGEST:
        raise ValueError(size)
    if size <= _WHOLE:
        return page[place : place + size]
    least = (PAGE_SIZE - 12) * 32 // 255 - 23
    local = least + (size - least) % (PAGE_SIZE - 4)
    local = local if local <= _WHOLE else least
    pieces, held = [page[place : place + local]], local
    following = page[place + local : place + local + 4]
    while held < size:
        further = _page(file, int.from_bytes(following, "big") or 1)
        if len(further) < PAGE_SIZE:
            raise ValueError("the chain leads out of the file")
        following = further[:4]
        pieces.append(further[4 : 4 + size - held])
        held += len(pieces[-1])
    return b"".join(pieces)


def _values(payload: bytes) -> list[Any]:
    """The columns of a record. Raises IndexError, ValueError."""
    head, at = _number(payload, 0)
    values: list[Any] = []
    place = head
    while at < head:
        kind, at = _number(payload, at)
        size = _SIZES[kind] if kind < len(_SIZES) else (kind - 12) // 2
        raw = payload[place : place + size]
        if len(raw) < size or kind in (10, 11):
            raise ValueError("a column leads out of its row")
        values.append(_value(kind, raw))
        place += size
    return values


def _value(kind: int, raw: bytes) -> Any:
    if kind >= 12:
        return raw
    return {0: None, 7: None, 8: 0, 9: 1}.get(kind, int.from_bytes(raw, "big", signed=True))


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends. Raises IndexError."""
    value = 0
    for length in range(8):
        byte = data[place + length]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + length + 1
    return value << 8 | data[place + 8], place + 9
