"""A hit as a block of its own: whole, or the longest beginning of it that fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, cast

from recall_core.pack.graphemes import floor_boundary
from recall_core.pack.layout import Draft, Layout, draft
from recall_core.types import Block, Chunk, Hit, Omission


def chunk_of(hit: Hit) -> Chunk:
    """The chunk of a candidate: a document without text comes with a chunk without text."""
    return cast(Chunk, hit.chunk)


def block_of(hit: Hit, *, number: int) -> Block:
    """The whole chunk as a block."""
    chunk = chunk_of(hit)
    lines = chunk.line_start, chunk.line_end
    ids = (chunk.id,), (hit.rank,)
    return Block(number, hit.doc, chunk.offset, chunk.end, *lines, chunk.text, *ids, False, chunk.place)


def whole(sheet: Layout, hit: Hit, *, number: int) -> Draft:
    """The whole chunk as it will be shown."""
    return draft(sheet, block_of(hit, number=number), chunk_of(hit).heading or "")


def beginning(sheet: Layout, hit: Hit, length: int, *, number: int) -> Draft:
    """A block of the chunk's first `length` code points; its last line is that of its last character."""
    chunk = chunk_of(hit)
    text = chunk.text[:length]
    block = block_of(hit, number=number)._replace(
        end=chunk.offset + length,
        line_end=chunk.line_start + text.count("\n", 0, max(length - 1, 0)),
        text=text,
        truncated=True,
    )
    return draft(sheet, block, chunk.heading or "")


def longest_beginning(sheet: Layout, text: str, wanted: int, fitting: Callable[[int], bool]) -> int | None:
    """The length of the longest beginning, short of the whole, of at least `wanted` tokens that is fitting.

    It ends at a grapheme boundary. It is found by bisection, so that what lets more lengths through, finds no less.
    """
    least = least_beginning(sheet, text, wanted)
    if least is None or least == len(text) or not fitting(least):
        return None
    low, high = least, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        if fitting(floor_boundary(text, middle)):
            low = middle
        else:
            high = middle
    return floor_boundary(text, low)


def least_beginning(sheet: Layout, text: str, wanted: int) -> int | None:
    """The length of the shortest prefix, ending at a grapheme boundary, of so many tokens; None if there is none."""
    if sheet.count(text) < wanted:
        return None
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        if sheet.count(text[: floor_boundary(text, middle)]) >= wanted:
            high = middle
        else:
            low = middle
    return floor_boundary(text, high)


def omission(
    reason: Literal["empty", "budget", "diversity", "duplicate", "dropped", "copy"], hit: Hit, *, count: int = 1
) -> Omission:
    """Why a hit is not packed; count: with so many that come behind it."""
    return Omission(reason, hit.rank, count, chunk_of(hit).id, hit.doc.path)
